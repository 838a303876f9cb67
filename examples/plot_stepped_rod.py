"""
A rod of two radii
==================

A soft rod that is thick up to 37 % of its length, thin beyond, and bent the other way there: radius and
natural curvature are given as functions of s that jump. Left: its shape under its weight. Right: the
largest distance from two rods joined at the step, over the number of coordinates. Pliant finds the jump
and puts a knot there at which strains may jump (full lines), so that the error falls as fast as on a
smooth rod. The same formulations on knots that ignore the jump (dashed) need hundreds of coordinates
for a thousandth of the length, whatever their order.
"""

# sphinx_gallery_group = "methods"

import warnings
from copy import copy
from dataclasses import fields

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.model.breaks import Breaks
from pliant.view import rod_color, style

LENGTH, STEP = 0.6, 0.2221
RADII, BENDS = (0.014, 0.009), (2.0, -3.0)
RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0)
S = np.linspace(0.0, LENGTH, 61)
SIZES = {
    "BSpline(3)": (lambda n: pl.BSpline(3, n), (6, 9, 15, 24, 40)),
    "Hermite": (lambda n: pl.Hermite(n), (3, 5, 8, 13, 20)),
    "Strain(2)": (lambda n: pl.Strain(2, n), (2, 3, 5, 8, 12)),
}
EXPECTED = {
    "error of BSpline(), knots at the jump": (3.7e-5, 4e-6),
    "error of BSpline(), even knots": (3.0e-3, 2e-4),
    "order with a knot at the jump": (3.4, 0.2),
    "jump / mm": (222.1, 1e-6),
}


def stepped() -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod(
        "arm",
        LENGTH,
        pl.Circle(lambda s: RADII[0] if s < STEP else RADII[1]),
        RUBBER,
        pl.along("x"),
        natural=lambda s: (0.0, BENDS[0] if s < STEP else BENDS[1], 0.0),
    )
    return robot


def joined() -> np.ndarray:
    """Centres (61, 3) of two rods joined at the step, by many strain modes."""
    robot = pl.Robot()
    first = robot.add_rod(
        "first", STEP, pl.Circle(RADII[0]), RUBBER, pl.along("x"), natural=(0, BENDS[0], 0)
    )
    robot.add_rod(
        "second",
        LENGTH - STEP,
        pl.Circle(RADII[1]),
        RUBBER,
        base=first.tip,
        natural=(0, BENDS[1], 0),
    )
    still = robot.statics(formulation=pl.Strain(4, 10))
    parts = [still.position("first", S[S <= STEP]), still.position("second", S[S > STEP] - STEP)]
    return np.concatenate(parts)


def without_knots(form: pl.BSpline | pl.Hermite | pl.Strain) -> pl.BSpline | pl.Hermite | pl.Strain:
    """The same formulation, which does not see where the data of its rod jump."""

    class Even(type(form)):
        def discretise(self, rod):
            blind = copy(rod)
            object.__setattr__(blind, "breaks_along", lambda length: Breaks())
            return super().discretise(blind)

    return Even(**{item.name: getattr(form, item.name) for item in fields(form)})


def main() -> dict[str, float]:
    robot, truth = stepped(), joined()
    rows = {}
    for name, (make, sizes) in SIZES.items():
        for with_knots in (True, False):
            forms = [make(n) if with_knots else without_knots(make(n)) for n in sizes]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pl.ResolutionWarning)  # coarse ones warn, rightly
                solved = [robot.statics(formulation=form) for form in forms]
            gaps = [np.linalg.norm(still.position("arm", S) - truth, axis=1) for still in solved]
            rows[name, with_knots] = (
                [form.discretise(robot.description.rods["arm"]).nq for form in forms],
                [float(gap.max()) / LENGTH for gap in gaps],
            )
    draw(truth, rows)
    fine, even = rows["BSpline(3)", True][1], rows["BSpline(3)", False][1]
    (jump,) = robot.description.rods["arm"].breaks_along(LENGTH).jumps
    return {
        "error of BSpline(), knots at the jump": fine[2],
        "error of BSpline(), even knots": even[2],
        "order with a knot at the jump": np.log(fine[1] / fine[4]) / np.log(40 / 9),
        "jump / mm": 1e3 * jump,
    }


def draw(truth: np.ndarray, rows: dict) -> None:
    with style():
        _, (left, right) = plt.subplots(
            1, 2, figsize=(9.0, 4.8), layout="constrained", width_ratios=(1, 3)
        )
        for part, radius in ((S <= STEP, RADII[0]), (S >= STEP - 0.01, RADII[1])):
            left.plot(*truth[part][:, [0, 2]].T, linewidth=500 * radius, solid_capstyle="butt")
        left.set(xlabel="x / m", ylabel="z / m", aspect="equal", title="under its weight")
        left.margins(0.3, 0.08)
        lines = (("o-", True, "knots at the jump"), ("o--", False, "even knots"))
        for mark, with_knots, text in lines:
            for k, name in enumerate(SIZES):
                label = f"{name}, {text}"
                right.loglog(*rows[name, with_knots], mark, color=rod_color(k), label=label)
        right.set(xlabel="number of coordinates", ylabel="largest error / length")
        right.set(ylim=(1e-7, 1.0), xticks=(50, 100, 200), xticklabels=("50", "100", "200"))
        right.minorticks_off()
        right.legend(ncols=2, loc="upper right", fontsize=9)


if __name__ == "__main__":
    main()
    plt.show()
