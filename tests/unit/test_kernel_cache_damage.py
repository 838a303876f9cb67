"""Damaged, full and read-only kernel caches cost time, one line on standard error, and nothing else."""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from pliant import _kernel_cache, _numba
from pliant._kernel_cache import KernelCache
from pliant.linalg.scatter import largest

ROOT = Path(_numba.__file__).resolve().parents[1]
VALUES = np.array([1.0, -3.0, 2.0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_numba, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(KernelCache, "writable", True)
    monkeypatch.setattr(_kernel_cache.say_once, "_said", set())
    return tmp_path


def fresh_kernel() -> Any:
    """A kernel that nothing has been compiled of in this process."""
    return _numba.kernel(_total)


def _total(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for value in values:
        total += value
    return total


_total.__module__ = largest.__module__


@pytest.fixture(autouse=True)
def inside_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the locator take the kernel of this file for one of the package."""
    monkeypatch.setattr(_numba, "PACKAGE", Path(__file__).resolve().parent)


def the_file(folder: Path) -> Path:
    (file,) = folder.glob("kernels-*/*")
    return file


def hits(dispatcher: Any) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def test_second_kernel_comes_from_the_cache(folder: Path, capfd: Any) -> None:
    assert fresh_kernel()(VALUES) == 0.0
    again = fresh_kernel()
    assert again(VALUES) == 0.0
    assert hits(again) == 1
    assert "pliant: a damaged" not in capfd.readouterr().err


def damages() -> dict[str, Any]:
    chance = random.Random(5)

    def flipped(whole: bytes) -> bytes:
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    def sealed(content: bytes) -> bytes:
        return _kernel_cache._MARK + hashlib.sha256(content).digest() + content

    return {
        "empty": lambda whole: b"",
        "header only": lambda whole: whole[:48],
        "truncated": lambda whole: whole[: len(whole) // 2],
        "flipped": flipped,
        "last byte": lambda whole: whole[:-1] + b"?",
        "garbage": lambda whole: bytes(chance.randrange(256) for _ in range(len(whole))),
        "zeros": lambda whole: bytes(len(whole)),
        "no pickle": lambda whole: sealed(b"not a pickle"),
        "other pickle": lambda whole: sealed(pickle.dumps({"a": 1})),
    }


@pytest.mark.parametrize("damage", damages())
def test_damaged_file_is_compiled_again_with_one_line(
    folder: Path, capfd: Any, damage: str
) -> None:
    fresh_kernel()(VALUES)
    whole = the_file(folder).read_bytes()
    the_file(folder).write_bytes(damages()[damage](whole))
    again, third = fresh_kernel(), fresh_kernel()
    assert again(VALUES) == 0.0
    assert hits(again) == 0
    told = [line for line in capfd.readouterr().err.splitlines() if "damaged" in line]
    assert len(told) == 1
    assert third(VALUES) == 0.0
    assert hits(third) == 1


def test_pipe_in_place_of_a_file_is_replaced(folder: Path) -> None:
    fresh_kernel()(VALUES)
    file = the_file(folder)
    file.unlink()
    os.mkfifo(file)
    assert fresh_kernel()(VALUES) == 0.0
    again = fresh_kernel()
    assert again(VALUES) == 0.0
    assert hits(again) == 1


def test_full_disk_runs_uncached_with_one_line(
    folder: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    for _ in range(2):
        kernel = fresh_kernel()
        assert kernel(VALUES) == 0.0
        assert hits(kernel) == 0
    told = [line for line in capfd.readouterr().err.splitlines() if "cannot be kept" in line]
    assert len(told) == 1
    assert "No space left" in told[0]
    assert not list(folder.glob("kernels-*/*"))


def test_place_that_cannot_be_written_runs_uncached_with_one_line(
    folder: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "file"
    file.write_text("not a folder")
    monkeypatch.setattr(_numba, "CACHE_FOLDER", file / "below")
    assert fresh_kernel()(VALUES) == fresh_kernel()(VALUES) == 0.0
    assert capfd.readouterr().err.count("cannot be kept") == 1


def test_versions_compiled_at_the_same_time_do_not_mix(folder: Path) -> None:
    """Each signature has a file of its own, so that two processes cannot write each other's."""
    fresh_kernel()(VALUES)
    fresh_kernel()(np.arange(3))
    assert len(list(folder.glob("kernels-*/*.nbc"))) == 2
    both = fresh_kernel()
    assert both(VALUES) == 0.0
    assert both(np.arange(3)) == 3.0
    assert hits(both) == 2


def test_half_written_files_of_killed_processes_are_removed(folder: Path) -> None:
    fresh_kernel()(VALUES)
    old, new = (the_file(folder).with_suffix(f".tmp.{name}") for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    _numba.prune(folder)
    assert new.exists()
    assert not old.exists()


def test_ctrl_c_while_llvm_calls_back_leaves_a_kernel_that_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where machine code is noted: what a callback raises is swallowed, and half of it was kept."""

    def note(library: Any, done: bool) -> None:
        if done:
            signal.raise_signal(signal.SIGINT)
        library.__dict__["noted"] = done

    with monkeypatch.context() as patch:
        seen = property(lambda library: library.__dict__["noted"], note)
        patch.setattr(JITCodeLibrary, "_compiled", seen, raising=False)
        with pytest.raises(KeyboardInterrupt):
            fresh_kernel()(VALUES)
    assert fresh_kernel()(VALUES) == 0.0
    the_file(folder)


def test_ctrl_c_while_a_kernel_is_loaded_acts_at_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_kernel()(VALUES)
    load = _kernel_cache.KernelFiles.load

    def interrupted(self: Any, key: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return load(self, key)

    with monkeypatch.context() as patch:
        patch.setattr(_kernel_cache.KernelFiles, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fresh_kernel()(VALUES)
    again = fresh_kernel()
    assert again(VALUES) == 0.0 and hits(again) == 1


def test_no_writable_place_at_all_still_computes(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    script = (
        f"import tempfile; tempfile.tempdir = {str(blocked / 'tmp')!r}\n"
        "import numpy as np\n"
        "from pliant.engine.arrays import copy\n"
        "x = np.empty(1); copy(np.ones(1), x); print(x[0])"
    )
    environment = {
        **os.environ,
        "PLIANT_CACHE_DIR": str(blocked / "cache"),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1.0"
    assert done.stderr.count("kernels cannot be kept") == 1
