"""Estimated against true errors of frequencies of random soft robots.

Run ``python benchmarks/modal_error.py [--seed 0] [--count 100] [--methods SRL EBR]``; methods are
chosen by how their names begin. The truth is a fine solution of the
same theory: 40 control points of degree 5, or 60 elements for cables. Robots that a formulation refuses
or that land on another branch, and frequencies that are wrong by less than 1e-7, do not count.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from _common import pl

from tests.reference.random_robots import SECTIONS, random_robot

FINE: Any = pl.BSpline(5, 40)
CABLE: Any = pl.ANCF(60, planar=False)
METHODS: dict[str, tuple[Any, Any]] = {
    "default": (None, FINE),
    "BSpline(3, 8)": (pl.BSpline(3, 8), FINE),
    "Hermite(8)": (pl.Hermite(8), FINE),
    "Hermite(4)": (pl.Hermite(4), FINE),
    "Spectral(3, 6)": (pl.Spectral(3, 6), FINE),
    "Strain(2, 6)": (pl.Strain(order=2, segments=6), FINE),
    "Strain(1, 4)": (pl.Strain(order=1, segments=4), FINE),
    "SRL(20)": (pl.SRL(20), FINE),
    "EBR(20)": (pl.EBR(20), FINE),
    "EBA(20)": (pl.EBA(20), FINE),
    "ROM(8)": (pl.ROM(8, rotation="free"), FINE),
    "ANCF(8)": (pl.ANCF(8, planar=False), CABLE),
}
MODES = 6
SAME_BRANCH = 0.05
"""Distance of two equilibria over the length within which they are on one branch."""
SMALL, LARGE = 1e-7, 1e-3
"""Relative errors below which nothing counts, and above which none may be missed."""


@dataclass
class Solved:
    """Frequencies, Hz, with their estimated errors, the shape, and costs in processor seconds."""

    frequencies: np.ndarray
    error: np.ndarray
    shape: np.ndarray
    seconds: float
    estimating: float


Found = dict[tuple[int, str], Solved | None]


def solve(seed: int, formulation: Any, estimate: bool) -> Solved | None:
    """Modes of a robot; None if it is refused or not found."""
    robot, error = random_robot(seed), np.zeros(MODES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if estimate:
                robot.modes(MODES, formulation=formulation)  # records its programs
            began = time.process_time()
            modes = robot.modes(MODES, formulation=formulation)
            middle = time.process_time()
            if estimate:
                error = modes.error
            spent = time.process_time() - middle
        except pl.PliantError:
            return None
    rods = robot.description.rods.values()
    length = max(rod.length for rod in rods)
    places = [
        modes.equilibrium.position(rod.name, np.linspace(0.0, rod.length, SECTIONS)) for rod in rods
    ]
    shape = np.concatenate(places) / length
    return Solved(modes.frequencies, error, shape, middle - began, spent)


def ratios(seeds: range, formulation: Any, fine: Any, kept: Found) -> list[np.ndarray]:
    """True relative errors of all frequencies that count, estimated over true ones, their robots, and
    the costs of the estimates.
    """
    rows: list[tuple[np.ndarray, ...]] = []
    for seed in seeds:
        key = seed, repr(fine)
        if key not in kept:
            kept[key] = solve(seed, fine, False)
        truth, found = kept[key], solve(seed, formulation, True)
        if truth is None or found is None:
            continue
        if np.linalg.norm(found.shape - truth.shape, axis=1).max() > SAME_BRANCH:
            continue
        off = np.abs(found.frequencies / np.maximum(truth.frequencies, 1e-12) - 1.0)
        known = (off > SMALL) & (truth.frequencies > 0.0) & (found.frequencies > 0.0)
        cost = np.full(np.sum(known), found.estimating / found.seconds)
        rows.append((off[known], found.error[known] / off[known], np.full(len(cost), seed), cost))
    return [np.concatenate(column) for column in zip(*rows, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--methods", nargs="*", default=[""])
    given = parser.parse_args()
    seeds, kept = range(given.seed, given.seed + given.count), Found()
    chosen = {k: v for k, v in METHODS.items() if k.startswith(tuple(given.methods))}
    for name, (formulation, fine) in chosen.items():
        true, ratio, robots, cost = ratios(seeds, formulation, fine, kept)
        near = (ratio > 0.2) & (ratio < 5.0)
        whole = [near[robots == robot].all() for robot in np.unique(robots)]
        print(
            f"{name:14s} {len(ratio):4d} frequencies, within a factor of 5: {100 * near.mean():.0f} %, "
            f"all of a robot {100 * np.mean(whole):.0f} % of {len(whole)}, below "
            f"{np.mean(ratio < 0.2) * 100:.1f} %, lowest {ratio.min():.2f}; of {np.sum(true > LARGE)} "
            f"that are wrong by {LARGE:g} or more, estimated below a tenth: "
            f"{np.sum((true > LARGE) & (ratio < 0.1))}; cost {np.median(cost):.1f} times that of modes",
            flush=True,
        )


if __name__ == "__main__":
    main()
