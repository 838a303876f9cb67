"""Calibration of the steel rod from the noisy motion of its tip after a weight is cut off."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant as pl
from tests.validation.steel_rod import ALPHA, AREA, MOMENT, TABLE_2, WEIGHT

FORM = pl.Shooting(steps=20)
DT, EVERY, DURATION, NOISE = 0.005, 0.015, 0.6, 3e-4
BENDING, RHO, DRAG = TABLE_2["rk4"]
TRUTH = {
    "rod.bending": BENDING,
    "rod.mass": RHO * AREA,
    "rod.drag": DRAG,
    "rod.retardation": 2e-4,
}
GUESS = {
    "rod.bending": 0.0392,
    "rod.mass": 1.03 * RHO * AREA,
    "rod.drag": 0.0032,
    "rod.retardation": 1.8e-4,
}


def rod(given: dict[str, float]) -> pl.Robot:
    """The rod of the weight release, with some damping of its own."""
    spin = RHO * MOMENT
    section = pl.Stiffness(
        bending=given["rod.bending"],
        twist=0.03,
        shear=7e4,
        axial=1.8e5,
        mass=given["rod.mass"],
        inertia=(spin, spin, 2 * spin),
        retardation=given["rod.retardation"],
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    part = robot.add_rod(
        "rod", 0.408, section, pose=pl.along("x"), drag=given["rod.drag"], theory="kirchhoff"
    )
    robot.add_load("weight", part.tip, force=(0, -WEIGHT, 0))
    return robot


def released() -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) and heights of the tip (N,), m, of the true rod."""
    robot = rod(TRUTH)
    held = robot.statics(formulation=FORM)
    motion = robot.simulate(
        DURATION, DT, {"weight": 0.0}, held, integrator=ALPHA, output_every=EVERY
    )
    return motion.t, motion.tip("rod")[:, 1, 3]


def calibrated(t: np.ndarray, tip: np.ndarray, tolerance: float = 1e-4) -> pl.Fit:
    data = pl.Measurement(
        {"t": t, "rod.tip.y": tip}, "t", inputs={"weight": 0.0}, start={"weight": 1.0}
    )
    with warnings.catch_warnings():
        # stiffness and mass, drag and damping go together in one swing: that is what is reported
        warnings.simplefilter("ignore", pl.FitWarning)
        return pl.fit(
            rod(GUESS),
            data,
            list(TRUTH),
            formulation=FORM,
            integrator=ALPHA,
            dt=DT,
            tolerance=tolerance,
        )


def test_calibration_by_shooting_covers_the_truth_over_twenty_seeds() -> None:
    """EI, mass, drag and damping: what is reported as a standard error is one."""
    t, tip = released()
    scores = []
    for seed in range(20):
        found = calibrated(t, tip + np.random.default_rng(seed).normal(0.0, NOISE, tip.shape))
        assert found.converged
        scores.append(
            [(found[name].value - truth) / found[name].error for name, truth in TRUTH.items()]
        )
        assert found["rod.bending"].error < 0.01 * BENDING
        assert found["rod.drag"].error < 0.3 * DRAG
    z = np.array(scores)
    assert np.mean(np.abs(z) < 2.0) >= 0.9 and np.abs(z).max() < 4.0
    # 20 draws of each: the mean square of a unit normal lies within 0.4 and 1.9 in 99 of 100 cases
    squares = np.mean(z**2, axis=0)
    assert (squares > 0.4).all() and (squares < 1.9).all(), squares
    assert 0.65 < np.mean(z**2) < 1.5
    assert np.abs(z.mean(axis=0)).max() < 0.6


def test_calibration_without_noise_returns_the_truth() -> None:
    t, tip = released()
    found = calibrated(t, tip, 1e-10)
    for name, truth in TRUTH.items():
        assert found[name].value == pytest.approx(truth, rel=1e-4), name
