"""Numba set-up shared by every compiled file of Pliant.

Import the decorators from here, never from Numba directly: importing this module points Numba's
disk cache at a folder named by a hash of the files with kernels, and this has to happen before any
kernel is decorated.  Numba itself does not notice an edit of a helper in another file, so a cache
without the hash can return the numbers of old code.

The folder is ``<user cache>/pliant/kernels-<hash>``.  The environment variable ``PLIANT_CACHE_DIR``
replaces ``<user cache>/pliant``; where neither can be written, a private temporary folder is used.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import event as numba_event

CACHE_VARIABLE = "PLIANT_CACHE_DIR"
CACHE_LIFETIME = 30 * 24 * 3600.0
"""Seconds after its last use at which the cache folder of another version is removed."""

# NaN and infinity must propagate, so "nnan" and "ninf" are left out: a diverging solve is
# recognised by a non-finite residual.
FASTMATH = {"contract", "reassoc", "arcp", "nsz"}


def source_key() -> str:
    """Return the name of the cache folder: a hash of all files with kernels and Numba's version.

    Kernels call only kernels and leaves, so that files without any cannot change what they compute.
    """
    package = Path(__file__).resolve().parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"_numba" in source:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(source)
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


def _private_temporary_folder(key: str) -> Path:
    """Return a temporary cache folder that no other user can have filled.

    A compiled cache is executable code, so a folder of a predictable name is taken only when this
    user owns it and nobody else may write to it.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    base = Path(tempfile.gettempdir()) / f"pliant-{user}"
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        status = base.lstat()
        open_to_others = os.name == "posix" and status.st_mode & 0o022
        owned = os.name != "posix" or status.st_uid == user
        if stat.S_ISDIR(status.st_mode) and owned and not open_to_others:
            folder = base / key
            if _is_writable(folder):
                return folder
    except OSError:
        pass
    folder = Path(tempfile.mkdtemp(prefix="pliant-")) / key
    folder.mkdir()
    return folder


def cache_folder() -> Path:
    """Return an existing, writable cache folder for exactly these sources."""
    key = source_key()
    try:
        folder = user_cache_folder() / key
    except RuntimeError:  # no home directory
        return _private_temporary_folder(key)
    return folder if _is_writable(folder) else _private_temporary_folder(key)


def prune(folder: Path, lifetime: float = CACHE_LIFETIME) -> None:
    """Mark `folder` as used now and remove sibling caches unused for `lifetime` seconds."""
    oldest = time.time() - lifetime
    try:
        os.utime(folder)
        siblings = [path for path in folder.parent.iterdir() if path != folder]
    except OSError:
        return
    for path in siblings:
        try:
            named_by_hash = re.fullmatch("kernels-[0-9a-f]{16}", path.name) is not None
            if named_by_hash and path.is_dir() and path.stat().st_mtime < oldest:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


CACHE_FOLDER = cache_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]
prune(CACHE_FOLDER)

leaf: Any = numba.njit(fastmath=FASTMATH, error_model="numpy", forceinline=True)
"""Decorator of small functions on scalars and tuples, inlined into every caller."""

kernel: Any = numba.njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
"""Decorator of functions on arrays: compiled once per type, cached on disk, without the GIL."""

driver: Any = numba.njit(inline="always")
"""Decorator of functions that only call kernels in turn: they become part of their one caller, and a
long chain of calls is not compiled again at each of its links."""


def handed(signature: str, function: Callable[..., None]) -> Any:
    """Compile `function` for a signature such as "void(float64[::1])", now or from the cache.

    A kernel that takes what is returned as an argument is compiled once for all functions of that
    signature, not once for each function.
    """
    options = {"fastmath": FASTMATH, "error_model": "numpy"}
    return numba.cfunc(signature, cache=True, **options)(function)


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


announce(_Word())
