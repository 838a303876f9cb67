"""
Equations of motion in C
========================

A soft arm that falls and is pulled by a tendon, integrated by a program in C. Pliant derives the
equations with symbols (``pliant.symbolic``) and writes them as ``arm.c`` and ``arm.h``; the program
``examples/c/swing.c`` takes Runge-Kutta steps with them. The motion is that of ``simulate``.

Needs CasADi and a C compiler.
"""

# sphinx_gallery_group = "methods"

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.symbolic import equations
from pliant.view import style

try:
    HERE = Path(__file__).parent
except NameError:  # in a notebook, or where the gallery is built
    HERE = Path.cwd()
PROGRAM = HERE / "c" / "swing.c"
END, STEP, TENSION, MODEL = 0.5, 1e-4, 2.0, pl.EBR(2)
EXPECTED = {
    "final height of the tip / mm": (-99.146, 0.01),
    "largest difference / mm": (0.0008, 0.0004),
}


def arm() -> pl.Robot:
    robot = pl.Robot()
    silicone = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=2000.0)
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), silicone, pose=pl.along("x"))
    robot.add_tendon("pull", path=[rod.at(s, (0.006, 0)) for s in (0.0, 0.05, 0.1, 0.15, 0.2)])
    return robot


def run_in_c(robot: pl.Robot, folder: Path) -> np.ndarray:
    """Times and positions (T, 4) of the tip that the program prints."""
    eq = equations(robot, formulation=MODEL)
    wanted = ("rates", "accelerations")
    source = eq.export_c(folder, "arm", functions=wanted, places={"tip": "arm.tip"})
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    program = folder / "swing"
    files = ["-I", str(folder), str(PROGRAM), str(source)]
    subprocess.run([compiler, "-O1", "-std=c99", *files, "-lm", "-o", str(program)], check=True)
    given = [str(program), str(END), str(STEP), str(TENSION)]
    printed = subprocess.run(given, check=True, capture_output=True, text=True).stdout
    return np.array([line.split() for line in printed.splitlines()], dtype=float)


def main() -> dict[str, float]:
    robot = arm()
    with tempfile.TemporaryDirectory() as folder:
        in_c = run_in_c(robot, Path(folder))
    exact = pl.Radau(1e-7)
    with warnings.catch_warnings():  # two segments are few; here they are compared with themselves
        warnings.simplefilter("ignore", pl.ResolutionHint)
        motion = robot.simulate(END, 5e-3, {"pull": TENSION}, formulation=MODEL, integrator=exact)
    tip = motion.position("arm.tip")
    gap = np.linalg.norm(in_c[:, 1:] - tip, axis=1)
    with style():
        _, (height, difference) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
        height.plot(1e3 * motion.t, 1e3 * tip[:, 2], label="simulate, Radau")
        height.plot(1e3 * in_c[::4, 0], 1e3 * in_c[::4, 3], "o", ms=4, label="C, Runge-Kutta")
        height.set(xlabel="time / ms", ylabel="height of the tip / mm")
        height.legend()
        difference.semilogy(1e3 * in_c[1:, 0], 1e3 * gap[1:])
        difference.set(xlabel="time / ms", ylabel="difference / mm")
        difference.yaxis.set_minor_formatter("")
    return {
        "final height of the tip / mm": float(1e3 * in_c[-1, 3]),
        "largest difference / mm": float(1e3 * gap.max()),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
