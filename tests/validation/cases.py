"""Robots and measures that several validation tests share."""

from __future__ import annotations

import functools

import numpy as np

import pliant as pl
from pliant.lie import se3
from pliant.model import Array
from tests.reference import RodProblem, RodSolution, circular_stiffness, solve_path

FORCES = (0.25, 0.5, 0.75, 1.0)
MOMENTS = (0.05, 0.1, 0.15, 0.2)
BEYOND = (2.0, 5.0)
"""Forces in N beyond those of the paper."""


def tapered_robot() -> pl.Robot:
    """Weightless soft cantilever along x of 1 m, radius 3 cm to 1.5 cm; inputs force and moment.

    force : N along z at the tip.  moment : N m about -y at the tip.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod(
        "arm", 1.0, pl.Circle((0.03, 0.015)), pl.Material(E=2e5, nu=0.45), pose=pl.along("x")
    )
    robot.add_load("force", arm.tip, force=(0, 0, 1))
    robot.add_load("moment", arm.tip, moment=(0, -1, 0))
    return robot


@functools.cache
def tapered_references() -> dict[tuple[str, float], RodSolution]:
    """Shooting solutions of the tapered rod, by load and size, each on the connected branch."""
    stiffness = circular_stiffness(2e5, 0.45, lambda s: 0.03 - 0.015 * s)
    rod = {"length": 1.0, "stiffness": stiffness, "base": pl.along("x")}
    pushed = RodProblem(**rod, tip_force=(0, 0, 1))
    turned = RodProblem(**rod, tip_moment=(0, -1, 0))
    pushes = (*FORCES, *BEYOND)
    found = {("force", f): one for f, one in zip(pushes, solve_path(pushed, pushes), strict=True)}
    turns = zip(MOMENTS, solve_path(turned, MOMENTS), strict=True)
    return {**found, **{("moment", m): one for m, one in turns}}


def only(load: str, size: float) -> dict[str, float]:
    """Inputs of `tapered_robot` with one load and not the other."""
    return {"force": 0.0, "moment": 0.0, load: size}


def pose_errors(found: Array, truth: Array, length: float = 1.0) -> Array:
    """|log(truth^-1 found)| / length of poses (S, 4, 4), each."""
    logs = [se3.log(se3.inverse(g) @ h) for g, h in zip(truth, found, strict=True)]
    return np.asarray(np.linalg.norm(logs, axis=-1) / length)
