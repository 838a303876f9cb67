"""Kernels that come with a wheel are used where they fit, and nowhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numba
import pytest
from llvmlite import binding

from pliant import _kernel_cache
from pliant._kernel_cache import Shipped, python_tag
from pliant.study.ship_kernels import NEEDS, TARGET

ROOT = Path(_kernel_cache.__file__).resolve().parents[1]
SCRIPT = """
import sys
from pathlib import Path
from pliant import _kernel_cache
if sys.argv[1] == "lacks avx2":
    features = _kernel_cache.binding.get_host_cpu_features()
    features["avx2"] = False
    _kernel_cache.binding.get_host_cpu_features = lambda: features
_kernel_cache.SHIPPED_FOLDER = Path(sys.argv[2])
magic = _kernel_cache.shipped_magic
_kernel_cache.shipped_magic = lambda: magic(_kernel_cache.SHIPPED_FOLDER)
from pliant._numba import announce
heard = []
announce(lambda name, seconds: heard.append(name))
import numpy as np
from pliant.lie.se3_kernels import log_relative_array
out = np.empty(6)
log_relative_array(np.eye(4), np.eye(4), out)
print(len(heard) // 2, float(abs(out).max()))
"""
avx2 = pytest.mark.skipif(
    not all(binding.get_host_cpu_features().get(name) for name in NEEDS),
    reason="this processor is below x86-64-v3",
)


def made(**changes: object) -> Shipped:
    here = Shipped(python_tag(), numba.__version__, (binding.get_default_triple(), "x", ""), NEEDS)
    return replace(here, **changes)  # type: ignore[arg-type]


def run(word: str, shipped: Path, cache: Path, **more: str) -> str:
    given = {**os.environ, "PYTHONPATH": str(ROOT), "PLIANT_CACHE_DIR": str(cache), **more}
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT, word, str(shipped)],
        env=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return answer.stdout.strip()


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One kernel compiled for x86-64-v3, in a folder that cannot be written to."""
    cache = tmp_path_factory.mktemp("cache")
    assert run("compile", cache / "none", cache, **TARGET) == "1 0.0"
    folder = cache.parent / "shipped"
    shutil.copytree(cache, folder)
    made(magic=(binding.get_default_triple(), "x86-64-v3", "")).write(folder)
    return folder


@avx2
def test_a_fresh_user_compiles_nothing(shipped: Path, tmp_path: Path) -> None:
    assert run("", shipped, tmp_path) == "0 0.0"
    assert not list(tmp_path.glob("kernels-*/*.nbc"))


@avx2
def test_a_processor_without_avx2_compiles(shipped: Path, tmp_path: Path) -> None:
    assert run("lacks avx2", shipped, tmp_path) == "1 0.0"


@avx2
def test_another_numba_compiles(shipped: Path, tmp_path: Path) -> None:
    other = tmp_path / "shipped"
    shutil.copytree(shipped, other)
    text = (other / "manifest.json").read_text()
    (other / "manifest.json").write_text(text.replace(numba.__version__, "0.1"))
    assert run("", other, tmp_path / "cache") == "1 0.0"


@avx2
def test_a_damaged_file_is_compiled_again_and_left_alone(shipped: Path, tmp_path: Path) -> None:
    other = tmp_path / "shipped"
    shutil.copytree(shipped, other)
    (file,) = other.glob("kernels-*/*.nbc")
    file.write_bytes(file.read_bytes()[:-5])
    assert run("", other, tmp_path / "cache") == "1 0.0"
    assert file.exists()


def test_versions_and_features_decide() -> None:
    able = dict.fromkeys(NEEDS, True)
    assert made().fits(able)
    assert not made().fits({**able, "avx2": False})
    assert not made().fits({})
    assert not made(python="3.9").fits(able)
    assert not made(numba="0.1").fits(able)
    assert not made(magic=("aarch64-apple-darwin", "x", "")).fits(able)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"python": 3})])
def test_an_unreadable_manifest_is_no_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert Shipped.read(tmp_path) is None
    assert Shipped.read(tmp_path / "missing") is None
