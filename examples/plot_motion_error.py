"""
The error of a motion
=====================

A soft rod is released under its weight. `simulate(..., error=True)` repeats the motion with half the
elements and twice the step, which takes less than half as long, and estimates how far the whole shape
is off, and what elements and step contribute. Left: the estimate against the true error, the distance
from a much finer motion, for several steps with 12 elements; right: for several numbers of elements
with a step of 2 ms, where the true error levels off as soon as the step dominates. The parts of the
estimate tell which of the two to refine.
"""

# sphinx_gallery_group = "methods"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, DURATION = 0.5, 0.48
STEPS = (16e-3, 8e-3, 4e-3, 2e-3, 1e-3)
ELEMENTS = (2, 4, 6, 8, 12)
TIMES = np.linspace(0.0, DURATION, 31)
EXPECTED = {
    "largest estimated over true error": (3.48, 0.3),
    "least estimated over true error": (0.75, 0.1),
    "share of the step at 16 ms": (0.996, 0.01),
    "share of elements with 2": (0.965, 0.02),
}


def simulate(elements: int, dt: float, error: bool) -> pl.Motion:
    robot = pl.Robot()
    material = pl.Material(E=2e6, nu=0.45, rho=1000.0)
    robot.add_rod("rod", LENGTH, pl.Circle(0.01), material, pl.along("x"))
    form = pl.Hermite(elements)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.ResolutionWarning)  # coarse on purpose
        return robot.simulate(DURATION, dt, formulation=form, output_times=TIMES, error=error)


def main() -> dict[str, float]:
    s = np.linspace(0.0, LENGTH, 21)
    truth = simulate(24, 2.5e-4, False).position("rod", s)
    sides = {
        "step / ms": (1e3 * np.array(STEPS), [simulate(12, dt, True) for dt in STEPS]),
        "elements": (np.array(ELEMENTS), [simulate(n, 2e-3, True) for n in ELEMENTS]),
    }
    ratios: list[float] = []
    with style():
        _, axes = plt.subplots(1, 2, figsize=(8.4, 4.0), sharey=True, layout="constrained")
        for ax, (label, (x, motions)) in zip(axes, sides.items(), strict=True):
            true = [np.linalg.norm(m.position("rod", s) - truth, axis=-1).max() for m in motions]
            errors = [m.error for m in motions if m.error is not None]
            parts = {
                "estimated": ("o-", [e.shape for e in errors]),
                "by the step": ("--", [e.time for e in errors]),
                "by elements": (":", [e.space for e in errors]),
            }
            ax.loglog(x, 1e3 * np.array(true), "ks-", markersize=4, label="true")
            for name, (line, values) in parts.items():
                ax.loglog(x, 1e3 * np.array(values), line, markersize=4, label=name)
            ax.set(xlabel=label, ylim=(8e-3, 30.0))
            ax.set_xticks(x, [f"{value:g}" for value in x], minor=False)
            ax.set_xticks([], minor=True)
            ratios += [e.shape / t for e, t in zip(errors, true, strict=True)]
        axes[0].set_ylabel("error of the shape / mm")
        axes[0].legend()
    slow, few = sides["step / ms"][1][0].error, sides["elements"][1][0].error
    assert slow is not None and few is not None
    return {
        "largest estimated over true error": float(max(ratios)),
        "least estimated over true error": float(min(ratios)),
        "share of the step at 16 ms": slow.time / slow.shape,
        "share of elements with 2": few.space / few.shape,
    }


if __name__ == "__main__":
    main()
    plt.show()
