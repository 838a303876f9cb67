"""The compile cache: keyed by the sources, private, pruned, and announced on first use."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np

from pliant import _numba

ROOT = Path(_numba.__file__).resolve().parents[1]
SCRIPT = """
import numpy as np
from pliant._numba import CACHE_FOLDER, announce
heard = []
announce(lambda name, seconds: heard.append((name, seconds)))
from pliant.lie.se3_kernels import log_relative_array
log_relative_array(np.eye(4), np.eye(4), np.empty(6))
print(CACHE_FOLDER)
print([(name, seconds is None or seconds > 0) for name, seconds in heard])
"""


def run(folder, **more):
    environment = {**os.environ, "PLIANT_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), **more}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    cache, heard = answer.stdout.splitlines()
    return Path(cache), heard


def test_first_use_is_announced_and_the_second_process_finds_the_cache(tmp_path):
    cache, heard = run(tmp_path)
    name = "pliant.lie.se3_kernels.log_relative_array"
    assert cache == tmp_path
    assert _numba.source_key("pliant.lie.se3_kernels") in {path.name for path in cache.iterdir()}
    assert heard == str([(name, True), (name, True)])
    assert run(tmp_path) == (cache, "[]")


def test_unwritable_cache_falls_back_to_a_temporary_folder(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache, _ = run(blocked / "below", TMPDIR=str(tmp_path))
    assert tmp_path in cache.parents
    assert cache.stat().st_mode & 0o077 == 0


def test_old_siblings_are_removed_and_nothing_else(tmp_path):
    names = {"current": "0" * 16, "old": "1" * 16, "recent": "2" * 16}
    names = {name: f"kernels-{key}" for name, key in names.items()} | {"foreign": "1" * 16}
    for name in names.values():
        (tmp_path / name).mkdir()
    for name in ("old", "foreign", "current"):
        os.utime(tmp_path / names[name], (0, 0))
    os.utime(tmp_path / names["current"])
    _numba.prune(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names.values()) - {names["old"]}


def test_an_edit_recompiles_what_depends_on_it_and_nothing_else(monkeypatch):
    """Keys follow imports of kernels from file to file, however deep."""
    sources = {
        "pliant.a": b"from pliant._numba import kernel\n",
        "pliant.b": b"from pliant.a import (\n    f,\n)\n_numba",
        "pliant.c": b"    from pliant import b, d\n_numba",
        "pliant.e": b"_numba",
    }
    modules = ("pliant.a", "pliant.b", "pliant.c", "pliant.e")

    def keys(changed):
        _numba.source_key.cache_clear()
        monkeypatch.setattr(_numba, "_kernel_sources", lambda: {**sources, **changed})
        return [_numba.source_key(module) for module in modules]

    try:
        before, after = keys({}), keys({"pliant.a": b"_numba, edited"})
    finally:
        _numba.source_key.cache_clear()
    assert [old == new for old, new in zip(before, after, strict=True)] == [False] * 3 + [True]


def test_listener_can_be_stopped():
    heard = []
    listener = _numba.CompileListener(lambda name, seconds: heard.append((name, seconds)))
    with listener:
        numba.njit(lambda x: x + 1.0)(1.0)
    numba.njit(lambda x: x + 2.0)(1.0)
    listener.stop()
    assert [seconds is None for _, seconds in heard] == [True, False]


def test_nan_survives_in_kernels():
    @numba.njit(fastmath=_numba.FASTMATH, error_model="numpy")
    def is_nan(x):
        return x != x

    assert is_nan(np.nan)


def test_whoever_waits_for_kernels_in_python_is_told_once(tmp_path):
    """Without a listener a line on standard error; nothing where another one tells, or a cache is."""
    quiet = SCRIPT.replace("announce(lambda", "(lambda")
    twice = "from pliant.lie import so3\nso3.exp(np.ones(3))\n"

    def said(script):
        environment = {**os.environ, "PLIANT_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert "compiling" not in said(SCRIPT)
    assert said(quiet) == ""
    shutil.rmtree(tmp_path / _numba.source_key("pliant.lie.se3_kernels"))
    assert said(quiet + twice).count("compiling kernels, on first use only") == 1
