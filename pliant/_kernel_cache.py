"""Compiled kernels on disk: one file for each function and signature, with a checksum.

A file holds a mark, the hash of all that follows, and the pickled key and machine code. What does not
match is removed and compiled again, so that damage never becomes a crash. Files are named by their key:
processes that compile different signatures of a function at the same time never write the same file.
Where nothing can be written, kernels are compiled in every run.

A wheel may bring compiled kernels along (`Shipped`), for a fixed set of processor features. They
are looked for first, and used only by the same versions of Python and Numba on a processor with
these features.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from pliant._interrupts import uninterrupted

with uninterrupted():
    import numba
    from llvmlite import binding
    from numba.core import caching
    from numba.core.codegen import JITCodeLibrary

_MARK = b"pliant-kernel-1\n"
_DIGEST = 32
_ABANDONED = 3600.0
"""Seconds after which a file that is still being written was abandoned."""


_finalize = JITCodeLibrary._finalize_final_module


def _finalize_whole(library: Any) -> None:
    """Make machine code, all of it or none: what Ctrl-C raises in callbacks of LLVM is swallowed."""
    with uninterrupted():
        _finalize(library)


JITCodeLibrary._finalize_final_module = _finalize_whole


class DamagedError(Exception):
    """A file of the cache is not what was written."""


class _Once:
    """Lines on standard error, each kind of them once in a process."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, kind: str, text: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            print(f"pliant: {text}", file=sys.stderr, flush=True)


say_once = _Once()


SHIPPED_FOLDER = Path(__file__).resolve().parent / "_kernels"
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Shipped:
    """Compiled kernels that came with the package: what they were compiled by and for.

    magic : target triple, name of the processor and its features, as in Numba's keys.
    needs : features that the processor must have.
    """

    python: str
    numba: str
    magic: tuple[str, str, str]
    needs: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path) -> Shipped | None:
        """What a folder holds, None if it holds no kernels."""
        try:
            with open(folder / _MANIFEST) as stream:
                found = json.load(stream)
            return cls(
                found["python"], found["numba"], tuple(found["magic"]), tuple(found["needs"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Say in a folder what its kernels were compiled by and for."""
        (folder / _MANIFEST).write_text(json.dumps(asdict(self), indent=1) + "\n")

    def fits(self, features: Mapping[str, bool]) -> bool:
        """Whether this interpreter can run the kernels on a processor with these features."""
        here = python_tag(), numba.__version__, binding.get_default_triple()
        able = all(features.get(name) for name in self.needs)
        return able and here == (self.python, self.numba, self.magic[0])


def python_tag() -> str:
    """The version of Python that compiled code belongs to, such as "3.11"."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


@cache
def shipped_magic(folder: Path = SHIPPED_FOLDER) -> tuple[str, str, str] | None:
    """The target of the kernels that came with the package, None if they cannot be used here."""
    shipped = Shipped.read(folder)
    if shipped is None:
        return None
    try:
        usable = shipped.fits(binding.get_host_cpu_features())
    except RuntimeError:  # a processor that LLVM does not know
        usable = False
    return shipped.magic if usable else None


class KernelFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of one function."""

    def path(self, key: Any) -> str:
        """Return the path of the file for a key: a signature, the processor and a hash of the code."""
        return os.path.join(self._cache_path, self._name(key))

    def _name(self, key: Any) -> str:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return str(self._index_name.replace(".nbi", f".{name}.nbc"))

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code for a key."""
        content = self._dump((self._version, self._source_stamp, key, data))
        with self._open_for_write(self.path(key)) as stream:
            stream.write(_MARK + hashlib.sha256(content).digest() + content)

    def load(self, key: Any) -> Any:
        """Return the machine code for a key, None if there is none; raises DamagedError."""
        shipped = self._load_shipped(key)
        return self._load(Path(self.path(key)), key) if shipped is None else shipped

    def _load_shipped(self, key: Any) -> Any:
        """The machine code that came with the package, None if there is none or it is damaged."""
        magic = shipped_magic()
        if magic is None:
            return None
        signature, _, code = key
        other = signature, magic, code
        folder = SHIPPED_FOLDER / os.path.basename(self._cache_path)
        try:
            return self._load(folder / self._name(other), other)
        except Exception:  # an unreadable pickle raises anything
            return None

    def _load(self, path: Path, key: Any) -> Any:
        if not path.is_file():  # nothing, or a pipe, whose reading does not end
            return None
        try:
            whole = path.read_bytes()
        except OSError:
            return None
        content = whole[len(_MARK) + _DIGEST :]
        if whole[: -len(content) or None] != _MARK + hashlib.sha256(content).digest():
            raise DamagedError
        *made_for, data = pickle.load(BytesIO(content))
        if made_for != [self._version, self._source_stamp, key]:
            raise DamagedError
        return data


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The compiled versions of one kernel."""

    writable: ClassVar[bool] = True
    """False after something could not be written: nothing else is tried in this process."""

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled version, None if it has to be compiled."""
        with uninterrupted():
            return self._loaded(sig, target_context)

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # an unreadable pickle raises anything
            target_context.refresh()
            path = self._cache_file.path(self._index_key(sig, target_context.codegen()))
            with suppress(OSError):
                os.unlink(path)
            text = f"a damaged file in the kernel cache is compiled again ({path})"
            say_once("damaged", text)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled version, where it can be kept."""
        if not KernelCache.writable:
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            KernelCache.writable = False
            say_once(
                "unwritable",
                f"kernels cannot be kept in {self._cache_path} ({error.strerror or error}) and are "
                "compiled in every run; set PLIANT_CACHE_DIR to a folder with space",
            )


def remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed left half-written in the caches below a folder."""
    oldest = time.time() - _ABANDONED
    for path in folder.glob("kernels-*/*.tmp.*"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
