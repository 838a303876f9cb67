"""How long first use waits for kernels, and later starts for their first result, in seconds of CPU.

Each row is a process of its own: with an empty kernel cache, with what that left in it, and, if a wheel
is given, installed from it into an environment of its own with an empty cache.

    python benchmarks/startup.py
    python benchmarks/startup.py dist/pliant-0.1.0-py3-none-any.whl     # after `make wheel`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import ROOT, Report, Timing

STATIC = """
import time
import pliant as pl
robot = pl.Robot()
soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=500.0)
robot.add_rod("rod", 0.3, pl.Circle(0.01), soft, pl.along("x"))
robot.statics().tip("rod")
"""
FIVE = """
import warnings
warnings.simplefilter("ignore")
for method in (pl.BSpline(), pl.Hermite(), pl.ANCF(), pl.Strain(), pl.Spectral()):
    robot.statics(formulation=method)
    robot.simulate(0.01, 0.001, formulation=method)
"""
IMPORT = "import time, pliant"
TELL = "\nprint(time.process_time())"


def cpu(script: str, cache: Path, python: str = sys.executable, source: str = str(ROOT)) -> float:
    """Seconds of CPU of a fresh process; it finds the bytecode of earlier ones, as that of pip."""
    given = os.environ | {"PLIANT_CACHE_DIR": str(cache), "PYTHONPATH": source}
    given["PYTHONDONTWRITEBYTECODE"] = ""
    if python == sys.executable:  # environments of their own have the bytecode that pip wrote
        given["PYTHONPYCACHEPREFIX"] = str(cache.parent / "bytecode")
    done = subprocess.run(
        [python, "-c", script + TELL],
        env=given,
        capture_output=True,
        text=True,
        check=True,
        cwd=cache.parent,
    )
    return float(done.stdout.split()[-1])


def installed(wheel: str, folder: Path) -> str:
    """The interpreter of an environment with a wheel in it."""
    python = str(folder / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(Path(wheel).resolve())], check=True
    )
    return python


def main() -> None:
    report = Report("CPU time of processes, imports included")

    def add(what: str, seconds: list[float], goal: float | None = None) -> None:
        timing = Timing(tuple(seconds))
        ratio, limit = (None, "") if goal is None else (timing.median / goal, "<=1")
        report.add(what if goal is None else f"{what}, over {goal:g} s", timing, ratio, limit)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        add("five formulations, statics and simulate", [cpu(STATIC + FIVE, folder / "five")], 90.0)
        add("first static result, empty cache", [cpu(STATIC, folder / "fresh")], 15.0)
        add("import pliant", [cpu(IMPORT, folder / "fresh") for _ in range(3)])
        add("second process, first result", [cpu(STATIC, folder / "fresh") for _ in range(3)], 1.0)
        for wheel in sys.argv[1:]:
            python = installed(wheel, folder / "environment")
            size = Path(wheel).stat().st_size / 1e6
            add(
                f"first static result, wheel of {size:.0f} MB",
                [cpu(STATIC, folder / "w", python, "")],
                2.0,
            )
            add("five formulations, wheel", [cpu(STATIC + FIVE, folder / "w", python, "")])
    report.print()


if __name__ == "__main__":
    main()
