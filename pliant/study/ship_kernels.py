"""Compile kernels for a wheel: ``python -m pliant.study.ship_kernels``, as `make wheel` does.

The kernels are those of `pliant warm-up`, for the processor level x86-64-v3 (AVX2 and FMA; Intel
since 2013, AMD since 2015). They are put into ``pliant/_kernels``, where an installed package looks
for them by the hash of its sources; other processors and other versions of Python or Numba compile
as usual.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LEVEL = "x86-64-v3"
NEEDS = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
"""What this level has beyond x86-64-v2, in LLVM's names."""
TARGET = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ""}


def compile_into(folder: Path, groups: tuple[str, ...] = ()) -> int:
    """Compile groups of kernels (all by default) into a folder; return how many files it then holds."""
    import numba
    from numba.core.registry import cpu_target

    from pliant._kernel_cache import Shipped, python_tag

    if any(os.environ.get(name) != value for name, value in TARGET.items()):
        raise RuntimeError(f"the environment has to hold {TARGET}")
    from pliant.study.warm_up import warm_up

    warm_up(
        list(groups) or None, progress=lambda name, k, n: print(f"  {k} of {n}: {name}", flush=True)
    )
    magic = cpu_target.target_context.codegen().magic_tuple()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = 0
    for path in sorted(Path(os.environ["PLIANT_CACHE_DIR"]).glob("kernels-*/*.nbc")):
        (folder / path.parent.name).mkdir(exist_ok=True)
        shutil.copyfile(path, folder / path.parent.name / path.name)
        count += 1
    Shipped(python_tag(), numba.__version__, magic, NEEDS).write(folder)
    return count


def main() -> None:
    """Compile in a process of its own, whose environment names the processor."""
    from pliant._kernel_cache import SHIPPED_FOLDER

    if TARGET.items() <= os.environ.items():
        print(f"{compile_into(SHIPPED_FOLDER, tuple(sys.argv[1:]))} kernels in {SHIPPED_FOLDER}")
        return
    if platform.machine() not in ("x86_64", "AMD64"):
        print(f"no kernels are shipped for {platform.machine()}: the wheel compiles on first use")
        return
    shutil.rmtree(SHIPPED_FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        given = {**os.environ, **TARGET, "PLIANT_CACHE_DIR": cache}
        command = [sys.executable, "-m", "pliant.study.ship_kernels", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=given, check=False).returncode)


if __name__ == "__main__":
    main()
