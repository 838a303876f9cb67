"""
Orders of convergence
=====================

Pose error along the tapered rod (1 N at its tip) over the number of control poses. Degree 1 has order
2. From degree 2 on the asymptotic order is 3: twists about different axes do not commute, and a product
of exponentials has an error of that order for any degree. Higher degrees start with much smaller
errors, and their errors fall faster as long as the spline error dominates; with twenty control poses
degree 5 is a thousand times more accurate than degree 1. At the tip, the errors of the spans partly
cancel.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from pliant.view import draw_convergence, style

S = (np.arange(331) + 0.5) / 331
SPANS = (8, 16, 32, 64, 128, 256, 512)
MORE = (2048, 8192, 16384)  # what order 2 needs for 1e-9
ORDER = {1: 2, 2: 3, 3: 3, 4: 3, 5: 3}
EXPECTED = {
    **{f"order of degree {k}": (order, 0.1) for k, order in ORDER.items()},
    **{f"best error of degree {k}": (0.0, 1e-9) for k in ORDER},
    "order of the tip, degree 1": (2, 0.1),
    "order of the tip, degree 2": (4, 0.2),
}


def integrated(force: float = 1.0):
    """Shoot the plane rod: x, z and angle at S and at the tip to about 13 digits."""
    E, G = 2e5, 2e5 / 2.9

    def slope(s, y):
        r = 0.03 - 0.015 * s
        area, (sin, cos) = np.pi * r**2, (np.sin(y[2]), np.cos(y[2]))
        stretch, shear = 1.0 + force * sin / (E * area), force * cos / (G * area)
        dx = stretch * cos - shear * sin
        dz = stretch * sin + shear * cos
        return [dx, dz, y[3] / (E * np.pi * r**4 / 4), -force * dx]

    def shoot(moment):
        where = [*S, 1.0]
        options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15, "max_step": 0.01}
        return solve_ivp(slope, (0, 1), [0, 0, 0, moment], t_eval=where, **options).y

    return shoot(brentq(lambda moment: shoot(moment)[3, -1], 0.40, 0.43, xtol=1e-16))


def errors(still: pl.Equilibrium, truth) -> tuple[float, float]:
    poses = still.pose("arm", [*S, 1.0])
    turn = np.arctan2(poses[:, 2, 2], poses[:, 0, 2]) - truth[2]
    gap = np.array([turn, poses[:, 0, 3] - truth[0], poses[:, 2, 3] - truth[1]])
    size = np.linalg.norm(gap, axis=0)
    return np.sqrt(np.mean(size[:-1] ** 2)), size[-1]


def main() -> dict[str, float]:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=2e5, nu=0.45)
    arm = robot.add_rod("arm", 1.0, pl.Circle((0.03, 0.015)), material, pose=pl.along("x"))
    robot.add_load("force", arm.tip, force=(0, 0, 1))
    truth = integrated()
    points, along, tip = {}, {}, {}
    for degree in ORDER:
        label = f"degree {degree}"
        points[label] = [n + degree for n in (SPANS + MORE if degree == 1 else SPANS)]
        rows = [
            errors(robot.statics(formulation=pl.BSpline(degree, n), tolerance=1e-12), truth)
            for n in points[label]
        ]
        along[label], tip[label] = np.array(rows).T
    with style():
        _, axes = plt.subplots(1, 2, figsize=(9.0, 4.4), layout="constrained", sharey=True)
    text = "number of control poses"
    slopes = {"order 2": 2, "degree 2": 3}
    draw_convergence(points, along, slopes, text, "pose error / length", "along the rod", axes[0])
    slopes = {"order 2": 2, "degree 2": 4}
    tips = {label: np.where(e > 1e-12, e, 0.0) for label, e in tip.items()}
    draw_convergence(points, tips, slopes, text, "", "at the tip", axes[1])
    axes[0].set_ylim(1e-12, 3e-2)
    with style():
        handles, labels = axes[1].get_legend_handles_labels()
        axes[1].legend(handles[-2:], labels[-2:])

    def order(values, last=7):
        return np.log2(values[last - 4 : last - 1] / values[last - 3 : last]).mean()

    return {
        **{f"order of degree {k}": order(along[f"degree {k}"]) for k in ORDER},
        "order of the tip, degree 1": order(tip["degree 1"]),
        "order of the tip, degree 2": order(tip["degree 2"], 5),
        **{f"best error of degree {k}": along[f"degree {k}"].min() for k in ORDER},
    }


if __name__ == "__main__":
    main()
    plt.show()
