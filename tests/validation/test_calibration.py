"""Calibration of the steel rod from the noisy motion of its tip after a weight is cut off."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

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


SEEDS = range(200, 220)


def test_calibration_by_shooting_covers_the_truth_over_twenty_seeds() -> None:
    """EI, mass, drag and damping: what is reported as a standard error is one.

    The noise is estimated from n - p = 37 residuals to spare, so that an estimate less the truth, in
    standard errors, follows Student's distribution, and d^T C^-1 d / p, with the reported covariance C,
    follows F(p, n - p) for each seed; single scores of one seed go together (EI with mass, drag with
    damping). Bounds are those that one in a thousand sets of seeds would break.
    """
    t, tip = released()
    truth = np.array(list(TRUTH.values()))
    spare = len(t) - len(TRUTH)
    scores, sizes, inside = [], [], []
    for seed in SEEDS:
        found = calibrated(t, tip + np.random.default_rng(seed).normal(0.0, NOISE, tip.shape))
        assert found.converged
        d = np.array([found[name].value for name in TRUTH]) - truth
        scores.append(d / [found[name].error for name in TRUTH])
        sizes.append(d @ np.linalg.solve(found.covariance, d) / len(TRUTH))
        ends = np.array([found[name].interval(0.95) for name in TRUTH])
        inside.append((ends[:, 0] < truth) & (truth < ends[:, 1]))
        assert found["rod.bending"].error < 0.01 * BENDING
        assert found["rod.drag"].error < 0.3 * DRAG
    count = len(SEEDS)
    draws = stats.f.rvs(len(TRUTH), spare, size=(200_000, count), random_state=1).mean(axis=1)
    low, high = np.quantile(draws, [0.0005, 0.9995])
    assert low < np.mean(sizes) < high
    assert np.sum(inside, axis=0).min() >= stats.binom.ppf(0.001 / len(TRUTH), count, 0.95)
    most = stats.norm.ppf(1 - 0.0005 / len(TRUTH)) * np.sqrt(spare / (spare - 2) / count)
    assert np.abs(np.mean(scores, axis=0)).max() < most


def test_calibration_without_noise_returns_the_truth() -> None:
    t, tip = released()
    found = calibrated(t, tip, 1e-10)
    for name, truth in TRUTH.items():
        assert found[name].value == pytest.approx(truth, rel=1e-4), name
