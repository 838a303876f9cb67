"""
From a CSV file to the parameters of a rod
==========================================

The height of a rod's tip after a weight is cut off, filmed 125 times per second with an error of a
third of a millimetre, is written to a file with the columns ``t`` and ``rod.tip.y``. `pliant.fit` reads
the file, simulates the rod by shooting and returns bending stiffness, mass per length and drag with
their standard errors. The deflection under the weight determines the stiffness, the frequency the mass,
and the decay the drag. Here the file comes from a rod with known values.
"""

# sphinx_gallery_group = "identification"

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

DIAMETER = 1.42e-3
AREA, MOMENT = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
TRUTH = {"rod.bending": 0.03803, "rod.mass": 7621.0 * AREA, "rod.drag": 0.003556}
START = {"rod.bending": 0.0399, "rod.mass": 7800.0 * AREA, "rod.drag": 0.003}
FORM, TIME = pl.Shooting(steps=30), pl.BDFAlpha(-0.48)
EXPECTED = {
    "bending stiffness": (0.03803, 2e-4),
    "mass per length": (7621.0 * AREA, 1e-4),
    "drag": (0.003556, 3e-4),
    "largest deviation in standard errors": (0.0, 2.5),
}


def rod(given: dict[str, float]) -> pl.Robot:
    spin = 7800.0 * MOMENT
    section = pl.Stiffness(
        bending=given["rod.bending"],
        twist=0.03,
        shear=1.2e5,
        axial=3e5,
        mass=given["rod.mass"],
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    part = robot.add_rod(
        "rod", 0.408, section, pose=pl.along("x"), drag=given["rod.drag"], theory="kirchhoff"
    )
    robot.add_load("weight", part.tip, force=(0, -0.02 * 9.81, 0))
    return robot


def film(path: Path) -> None:
    """Write what a camera would see of the true rod."""
    robot = rod(TRUTH)
    held = robot.statics(formulation=FORM)
    motion = robot.simulate(1.0, 4e-3, {"weight": 0.0}, held, integrator=TIME, output_every=8e-3)
    seen = motion.tip("rod")[:, 1, 3] + np.random.default_rng(3).normal(0.0, 3e-4, len(motion.t))
    rows = np.column_stack([motion.t, seen])
    np.savetxt(path, rows, delimiter=",", header="t,rod.tip.y", comments="", fmt="%.6f")


def main() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tip.csv"
        film(path)
        data = pl.read_measurement(path, time="t", inputs={"weight": 0.0}, start={"weight": 1.0})
    result = pl.fit(
        rod(START), data, list(TRUTH), formulation=FORM, integrator=TIME, dt=4e-3, tolerance=1e-6
    )
    print(result)
    result.plot()
    scores = [(result[name].value - truth) / result[name].error for name, truth in TRUTH.items()]
    return {
        "bending stiffness": result["rod.bending"].value,
        "mass per length": result["rod.mass"].value,
        "drag": result["rod.drag"].value,
        "largest deviation in standard errors": float(np.abs(scores).max()),
    }


if __name__ == "__main__":
    main()
    plt.show()
