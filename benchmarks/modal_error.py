"""Estimated against true errors of frequencies of random soft robots.

Run ``python benchmarks/modal_error.py [--seed 0] [--count 30]``. The truth is a fine solution of the
same theory: 40 control points of degree 5, or 60 elements for cables. Robots that a formulation refuses
or that land on another branch, and frequencies that are wrong by less than 1e-7, do not count.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from _common import pl

from tests.reference.random_robots import distance, random_robot

FINE: Any = pl.BSpline(5, 40)
CABLE: Any = pl.ANCF(60, planar=False)
METHODS: dict[str, tuple[Any, Any]] = {
    "default": (None, FINE),
    "BSpline(3, 8)": (pl.BSpline(3, 8), FINE),
    "Hermite(8)": (pl.Hermite(8), FINE),
    "Hermite(4)": (pl.Hermite(4), FINE),
    "Strain(2, 6)": (pl.Strain(order=2, segments=6), FINE),
    "Strain(1, 4)": (pl.Strain(order=1, segments=4), FINE),
    "ANCF(8)": (pl.ANCF(8, planar=False), CABLE),
}
MODES = 6
SAME_BRANCH = 0.05
"""Distance of two equilibria over the length within which they are on one branch."""
SMALL, LARGE = 1e-7, 1e-3
"""Relative errors below which nothing counts, and above which none may be missed."""

Found = dict[tuple[int, str], tuple[pl.Equilibrium, pl.Modes]]


def solve(seed: int, formulation: Any) -> tuple[pl.Equilibrium, pl.Modes] | None:
    """Equilibrium and modes of a robot; None if it is refused or not found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = random_robot(seed)
            return robot.statics(formulation=formulation), robot.modes(
                MODES, formulation=formulation
            )
        except pl.PliantError:
            return None


def ratios(seeds: range, formulation: Any, fine: Any, kept: Found) -> tuple[np.ndarray, np.ndarray]:
    """True relative errors of all frequencies that count, and estimated over true ones."""
    true, ratio = [], []
    for seed in seeds:
        key = seed, repr(fine)
        if key not in kept:
            kept[key] = solve(seed, fine)  # type: ignore[assignment]
        truth, found = kept[key], solve(seed, formulation)
        if truth is None or found is None or distance(found[0], truth[0]) > SAME_BRANCH:
            continue
        off = np.abs(found[1].frequencies / np.maximum(truth[1].frequencies, 1e-12) - 1.0)
        known = (off > SMALL) & (truth[1].frequencies > 0.0) & (found[1].frequencies > 0.0)
        true.append(off[known])
        ratio.append(found[1].error[known] / off[known])
    return np.concatenate(true), np.concatenate(ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    given = parser.parse_args()
    seeds, kept = range(given.seed, given.seed + given.count), Found()
    for name, (formulation, fine) in METHODS.items():
        true, ratio = ratios(seeds, formulation, fine, kept)
        near = np.mean((ratio > 0.2) & (ratio < 5.0))
        print(
            f"{name:14s} {len(ratio):4d} frequencies, within a factor of 5: {100 * near:.0f} %, below "
            f"{np.mean(ratio < 0.2) * 100:.0f} %, lowest {ratio.min():.2f}; of {np.sum(true > LARGE)} "
            f"that are wrong by {LARGE:g} or more, estimated below a tenth: "
            f"{np.sum((true > LARGE) & (ratio < 0.1))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
