"""Numba set-up shared by every compiled file of Pliant.

Import the decorators from here, never from Numba directly: importing this module decides where
compiled kernels are kept on disk, and this has to happen before any kernel is decorated.

Numba itself does not notice an edit of a helper in another file, so that its cache could return the
numbers of old code. Here every file with kernels has a folder of its own, named by a hash of the file
and of all files with kernels that it imports: ``<user cache>/pliant/kernels-<hash>``. An edit
recompiles what depends on it and nothing else; copies of Pliant with the same sources share their
kernels. The environment variable ``PLIANT_CACHE_DIR`` replaces ``<user cache>/pliant``; where neither
can be written, a private temporary folder is used, or none. `_kernel_cache` writes and reads the files.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching, event as numba_event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

from pliant._kernel_cache import KernelCache, remove_abandoned, say_once

CACHE_VARIABLE = "PLIANT_CACHE_DIR"
CACHE_LIFETIME = 30 * 24 * 3600.0
"""Seconds after its last use at which the cache folder of another version is removed."""

# NaN and infinity must propagate, so "nnan" and "ninf" are left out: a diverging solve is
# recognised by a non-finite residual.
FASTMATH = {"contract", "reassoc", "arcp", "nsz"}


PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(
    rb"^\s*from (pliant[\w.]*) import (\([^)]*\)|[^\n]*)|^\s*import (pliant[\w.]*)", re.M
)


@cache
def _kernel_sources() -> dict[str, bytes]:
    """The source of every file with kernels, by module name.

    Kernels call only kernels and leaves, so that files without any cannot change what they compute.
    """
    sources = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if b"_numba" in text:
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            sources[name.removesuffix(".__init__")] = text
    return sources


def _imported_kernels(module: str) -> set[str]:
    """Modules with kernels that a module with kernels imports."""
    known = _kernel_sources()
    names = set()
    for package, imported, plain in _IMPORT.findall(known[module]):
        parent = (package or plain).decode()
        members = re.findall(r"\w+", imported.decode())
        names |= {parent, *(f"{parent}.{member}" for member in members)} & known.keys()
    return names


@cache
def source_key(module: str) -> str:
    """Name of the cache folder of a module with kernels: a hash of all that its kernels are made of."""
    needed, waiting = set(), {module}
    while waiting:
        needed |= waiting
        waiting = set().union(*map(_imported_kernels, waiting)) - needed
    digest = hashlib.sha256(numba.__version__.encode())
    for name in [module, *sorted(needed)]:
        digest.update(name.encode())
        digest.update(_kernel_sources()[name])
    return f"kernels-{digest.hexdigest()[:16]}"


def user_cache_folder() -> Path:
    """Return Pliant's folder in the user's cache, or the one named by ``PLIANT_CACHE_DIR``."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "pliant"


def _is_writable(folder: Path) -> bool:
    """Create the folder and a file in it; tell whether both worked."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_temporary_folder() -> Path:
    """Return a temporary cache folder that no other user can have filled.

    A compiled cache is executable code, so a folder of a predictable name is taken only when this
    user owns it and nobody else may write to it.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    base = Path(tempfile.gettempdir()) / f"pliant-{user}"
    with suppress(OSError):
        base.mkdir(mode=0o700, exist_ok=True)
        status = base.lstat()
        open_to_others = os.name == "posix" and status.st_mode & 0o022
        owned = os.name != "posix" or status.st_uid == user
        if stat.S_ISDIR(status.st_mode) and owned and not open_to_others and _is_writable(base):
            return base
    with suppress(OSError):
        return Path(tempfile.mkdtemp(prefix="pliant-"))
    return Path(os.devnull) / "pliant"  # there is none: kernels are not kept


def cache_folder() -> Path:
    """Return an existing, writable folder for the caches of all modules, if there is any."""
    try:
        folder = user_cache_folder()
        if _is_writable(folder):
            return folder
        where = f"in {folder}"
    except RuntimeError:
        where = "in a home directory, for there is none"
    other = _private_temporary_folder()
    if other.is_dir():
        say_once("folder", f"kernels cannot be kept {where}; they are kept in {other}")
    return other


def prune(folder: Path, lifetime: float = CACHE_LIFETIME) -> None:
    """Remove the caches in `folder` not used for `lifetime` seconds, and half-written files."""
    remove_abandoned(folder)
    oldest = time.time() - lifetime
    for path in folder.glob("kernels-*"):
        named_by_hash = re.fullmatch("kernels-[0-9a-f]{16}", path.name) is not None
        with suppress(OSError):
            if named_by_hash and path.is_dir() and path.stat().st_mtime < oldest:
                shutil.rmtree(path, ignore_errors=True)


CACHE_FOLDER = cache_folder()
prune(CACHE_FOLDER)


class SourceLocator(caching._CacheLocator):  # type: ignore[misc]
    """Where Numba keeps the compiled functions of one file of Pliant."""

    def __init__(self, line: int, key: str) -> None:
        self._line = line
        self._key = key

    def get_cache_path(self) -> str:
        return str(CACHE_FOLDER / self._key)

    def ensure_cache_path(self) -> None:
        super().ensure_cache_path()
        os.utime(self.get_cache_path())

    def get_source_stamp(self) -> str:
        return self._key

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> SourceLocator | None:
        module = py_func.__module__
        if PACKAGE not in Path(py_file).resolve().parents or module not in _kernel_sources():
            return None
        return cls(py_func.__code__.co_firstlineno, source_key(module))


caching.CacheImpl._locator_classes.insert(0, SourceLocator)


class _LeafLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only linked into other code: there is no machine code of it."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> _LeafLibrary:
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Set nothing: there is no machine code to tell its environment."""


class _InnerLibrary(_LeafLibrary):
    """Code that is optimised as a part of the code it is linked into, and not before.

    Leaves are optimised first: they end up in kernels so large that some of it would be given up.
    """

    def _optimize_final_module(self) -> None:
        """Leave it to the caller."""


class _LeafCompiler(Compiler):  # type: ignore[misc]
    library_class: ClassVar[type] = _LeafLibrary

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        library = self.library_class(target.codegen(), "linked")
        super().__init__(typing, target, library, *others)


class _InnerCompiler(_LeafCompiler):
    library_class: ClassVar[type] = _InnerLibrary


class _Linked(CPUDispatcher):  # type: ignore[misc]
    """A function that only kernels call. Called from Python, it runs in Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Take constants for numbers of their type: one version serves all of them."""
        return super().get_call_template(tuple(map(unliteral, args)), kws)


def _linked(**options: Any) -> Any:
    """Decorator of functions that become part of the kernels that call them."""
    compiled = numba.njit(
        fastmath=FASTMATH,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        **options,
    )

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        if isinstance(dispatcher, CPUDispatcher):
            dispatcher.__class__ = _Linked
        return dispatcher

    return decorate


leaf: Any = _linked(forceinline=True, pipeline_class=_LeafCompiler)
"""Decorator of small functions on scalars and tuples, inlined into every caller."""

inner: Any = _linked(pipeline_class=_InnerCompiler)
"""Decorator of functions on arrays that only kernels call: no code of their own, nothing cached."""

_compiled = numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy", no_cfunc_wrapper=True)


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator of functions on arrays: compiled once per type, cached on disk, without the GIL."""
    dispatcher = _compiled(function)
    if isinstance(dispatcher, CPUDispatcher):
        dispatcher._cache = KernelCache(function)
    return dispatcher


driver: Any = numba.njit(inline="always")
"""Decorator of functions that only call kernels in turn: they become part of their one caller, and a
long chain of calls is not compiled again at each of its links."""


Announcement = Callable[[str, float | None], None]


class CompileListener(numba_event.Listener):
    """Tell a callback when a kernel is being compiled because no cache of it exists.

    The callback receives the kernel's name and None before, and the name and the seconds it took
    after.  Kernels compiled on behalf of another kernel are not announced.  Nothing is added to
    the cost of a call.  Use `start` and `stop`, or a ``with`` block.
    """

    listening: ClassVar[int] = 0
    """How many listen now."""

    def __init__(self, callback: Announcement) -> None:
        self.callback = callback
        self._thread = threading.local()
        self._running = False

    def start(self) -> CompileListener:
        """Begin to listen; a second call changes nothing."""
        if not self._running:
            numba_event.register("numba:compile", self)
            self._running = True
            CompileListener.listening += 1
        return self

    def stop(self) -> None:
        """Stop listening; safe to call twice."""
        if self._running:
            numba_event.unregister("numba:compile", self)
            self._running = False
            CompileListener.listening -= 1

    def __enter__(self) -> CompileListener:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def on_start(self, event: Any) -> None:
        """Announce the outermost compilation of this thread."""
        depth = getattr(self._thread, "depth", 0)
        self._thread.depth = depth + 1
        if depth == 0:
            self._thread.began = time.perf_counter()
            self.callback(_kernel_name(event), None)

    def on_end(self, event: Any) -> None:
        """Report the seconds of the outermost compilation of this thread."""
        self._thread.depth = max(getattr(self._thread, "depth", 0) - 1, 0)
        if self._thread.depth == 0:
            began = getattr(self._thread, "began", time.perf_counter())
            self.callback(_kernel_name(event), time.perf_counter() - began)


def _kernel_name(event: Any) -> str:
    """Return ``module.function`` of the dispatcher that a compile event is about."""
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__qualname__}"


def announce(callback: Announcement) -> CompileListener:
    """Start and return a listener that tells `callback` of every first-use compilation."""
    return CompileListener(callback).start()


class _Word:
    """One line on standard error when the first kernel is compiled, unless someone else tells of it."""

    said = False

    def __call__(self, kernel: str, seconds: float | None) -> None:
        if self.said:
            return
        self.said = True
        if CompileListener.listening == 1:
            text = "pliant: compiling kernels, on first use only; this can take a minute or two ..."
            print(text, file=sys.stderr, flush=True)


class _WithoutCollection(numba_event.Listener):  # type: ignore[misc]
    """No garbage collection while Numba compiles, which takes a tenth longer with it.

    Numba compiles in one thread at a time.
    """

    depth = 0
    was_enabled = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()


announce(_Word())
numba_event.register("numba:compile", _WithoutCollection())
