"""
Thin rods do not lock
=====================

A cantilever with a given bending stiffness is made thinner and thinner: its shear and axial stiffness
grow with the square of length over radius. A naive model gets worse, because it cannot bend without a
small spurious stretch, which costs more and more energy. Pliant's splines treat the forces as
independent unknowns, and their error does not depend on the slenderness. The rod is bent far out of its
plane; all curves have twelve control poses or as many coordinates.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.lie import se3
from pliant.view import draw_convergence, style

SLENDERNESS = (20, 50, 100, 200, 400, 1000)
S = (np.arange(61) + 0.5) / 61
FORMULATIONS = {
    **{f"BSpline, degree {k}": pl.BSpline(k, 12) for k in (2, 3, 4, 5)},
    "Hermite": pl.Hermite(6),
}
EXPECTED = {
    "largest growth of the error": (1.0, 0.1),
    "error of cubic splines": (0.0, 5e-5),
    "most iterations": (6, 2),
}


def cantilever(slenderness: float) -> pl.Robot:
    axial = 4.0 * slenderness**2
    section = pl.Stiffness(bending=1.0, twist=1 / 1.3, shear=axial / 2.6, axial=axial)
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 1.0, section, pose=pl.along("x"))
    robot.add_load("tip", arm.tip, force=(0, 0.6, 1.2))
    robot.add_load("wind", arm, force=(0, -8, 4))
    return robot


def pose_error(still: pl.Equilibrium, truth) -> float:
    pairs = zip(truth, still.pose("arm", S), strict=True)
    return np.sqrt(np.mean([np.sum(se3.log(se3.inverse(a) @ b) ** 2) for a, b in pairs]))


def main() -> dict[str, float]:
    errors = {label: [] for label in FORMULATIONS}
    most = 0
    for slenderness in SLENDERNESS:
        robot = cantilever(slenderness)
        truth = robot.statics(formulation=pl.BSpline(5, 120)).pose("arm", S)
        for label, formulation in FORMULATIONS.items():
            still = robot.statics(formulation=formulation)
            errors[label].append(pose_error(still, truth))
            most = max(most, still.iterations)
    figure = draw_convergence(
        SLENDERNESS, errors, xlabel="length / radius", ylabel="pose error / length"
    )
    figure.axes[0].set_ylim(3e-7, 1e-3)
    with style():
        figure.axes[0].legend(ncols=2, loc="upper center")
    cantilever(100).statics(formulation=FORMULATIONS["BSpline, degree 3"]).plot()
    growth = [values[-1] / values[0] for values in errors.values()]
    return {
        "largest growth of the error": max(growth),
        "error of cubic splines": errors["BSpline, degree 3"][-1],
        "most iterations": most,
    }


if __name__ == "__main__":
    main()
    plt.show()
