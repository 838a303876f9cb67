"""
Local support: narrow bands
===========================

Which coordinates move which section? In a rod of strain modes, every segment moves everything beyond
it, and the Jacobian is a full triangle. A control pose of a B-spline moves only nearby sections: at
most degree + 1 poses affect a section, however long the rod is. The cost of a solve therefore grows
linearly with the number of control poses, not with its square.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import draw_band, style

EXPECTED = {
    "widest row, cubic spline": (4, 0),
    "widest row, 80 poses": (4, 0),
    "widest row, strain": (24, 0),
    "share of entries, cubic spline": (0.167, 0.02),
    "share of entries, strain": (0.54, 0.03),
}


def bent_rod(formulation: pl.Formulation) -> pl.Equilibrium:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", 1.0, pl.Circle(0.02), rubber, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 1, 0))
    return robot.statics(formulation=formulation)


def pattern(formulation: pl.Formulation, stations: int = 36):
    """Which groups of six coordinates (columns) move the sections along the rod (rows)."""
    still = bent_rod(formulation)
    tree, q = still._compiled.tree, still._solution.q
    s = (np.arange(stations) + 0.5) / stations
    columns = []
    for coordinate in tree.coordinates:
        rate = np.zeros(tree.total)
        rate[coordinate] = 1.0
        twists = still._compiled.sampler.velocities(q, rate, "arm", s)
        columns.append(np.linalg.norm(twists, axis=1) > 1e-12)
    return np.array(columns).reshape(-1, 6, stations).any(axis=1).T


def main() -> dict[str, float]:
    strain = pattern(pl.Strain(order=1, segments=12))
    linear = pattern(pl.BSpline(degree=1, points=25))
    cubic = pattern(pl.BSpline(degree=3, points=25))
    titles = ["Strain, order 1", "BSpline, degree 1", "BSpline, degree 3"]
    draw_band([strain, linear, cubic], titles, "six coordinates each", "section along the rod")
    counts = (10, 20, 40, 80)
    spline = [pattern(pl.BSpline(3, n)).sum(axis=1).max() for n in counts]
    modes = [pattern(pl.Strain(1, n // 2)).sum(axis=1).max() for n in counts]
    with style():
        _, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
        ax.plot(counts, modes, "o-", label="Strain, order 1")
        ax.plot(counts, spline, "s-", label="BSpline, degree 3")
        ax.set(xlabel="groups of six coordinates", ylabel="groups that move one section", ylim=0)
        ax.legend()
    return {
        "widest row, cubic spline": cubic.sum(axis=1).max(),
        "widest row, 80 poses": spline[-1],
        "widest row, strain": strain.sum(axis=1).max(),
        "share of entries, cubic spline": cubic.mean(),
        "share of entries, strain": strain.mean(),
    }


if __name__ == "__main__":
    main()
    plt.show()
