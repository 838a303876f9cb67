"""Compiled kernels on disk: one file for each function and signature, with a checksum.

A file holds a mark, the hash of all that follows, and the pickled key and machine code. What does not
match is removed and compiled again, so that damage never becomes a crash. Files are named by their key:
processes that compile different signatures of a function at the same time never write the same file.
Where nothing can be written, kernels are compiled in every run.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import time
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from numba.core import caching

_MARK = b"pliant-kernel-1\n"
_DIGEST = 32
_ABANDONED = 3600.0
"""Seconds after which a file that is still being written was abandoned."""


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


class KernelFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of one function."""

    def path(self, key: Any) -> str:
        """Return the path of the file for a key: a signature, the processor and a hash of the code."""
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return os.path.join(self._cache_path, self._index_name.replace(".nbi", f".{name}.nbc"))

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code for a key."""
        content = self._dump((self._version, self._source_stamp, key, data))
        with self._open_for_write(self.path(key)) as stream:
            stream.write(_MARK + hashlib.sha256(content).digest() + content)

    def load(self, key: Any) -> Any:
        """Return the machine code for a key, None if there is none; raises DamagedError."""
        try:
            whole = Path(self.path(key)).read_bytes()
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
