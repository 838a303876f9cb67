"""Steel cantilever whose tip is loaded at once, and the same motion by every way to solve it."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from tests.reference import values

LOADS = tuple(values.STEEL_STEP_X)
TIMES = values.STEEL_STEP_T
FORMULATIONS = (
    pl.BSpline(degree=3, points=12),
    pl.BSpline(degree=3, points=12, map="cayley"),
    pl.BSpline(degree=5, points=12),
    pl.Hermite(elements=6),
    pl.Strain(order=2, segments=4),
)
SECOND_ORDER = (pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha())
SMOOTH = {"tip": pl.Ramp(0.0, 1.0, 0.0, 0.12)}
"""The load grows over one period of the first mode, which leaves the fast modes asleep."""


@functools.cache
def steel_cantilever() -> pl.Robot:
    given = values.STEEL_BEAM
    robot = pl.Robot(gravity=(0, 0, 0))
    beam = robot.add_rod(
        "beam",
        given["length"],
        pl.Rectangle(given["side"], given["side"]),
        pl.Material(E=given["E"], nu=given["nu"], rho=given["rho"]),
        pose=pl.along("x"),
    )
    robot.add_load("tip", beam.tip, force=(0, 0, -10.0))
    return robot


def step_errors(force: float, dt: float) -> np.ndarray:
    """Distance of the tip from the reference at TIMES, m."""
    move = steel_cantilever().simulate(
        TIMES[-1],
        dt,
        inputs={"tip": force / -10.0},
        formulation=FORMULATIONS[0],
        output_times=TIMES,
    )
    known = np.column_stack([values.STEEL_STEP_X[force], values.STEEL_STEP_Z[force]])
    return np.linalg.norm(move.tip("beam")[:, [0, 2], 3] - known, axis=1)


@functools.cache
def smooth_tip(formulation: pl.Formulation, integrator: pl.Integrator, dt: float) -> np.ndarray:
    """Tip x and z at 0.05 and 0.1 s under the smooth load, m."""
    move = steel_cantilever().simulate(
        0.1,
        dt,
        inputs=SMOOTH,
        formulation=formulation,
        integrator=integrator,
        output_times=[0.05, 0.1],
    )
    return move.tip("beam")[:, [0, 2], 3]


def test_tip_follows_the_reference_after_a_sudden_load():
    """The sudden load wakes modes up to the highest, whose phase a step of dt cannot keep.

    So the error falls more slowly than dt^2: the largest over the five times was 6.8e-4 m at 1 ms,
    1.4e-4 at 0.25 ms and 4e-5 at 0.1 ms, of a swing of 38 mm. The bounds are about twice that.
    """
    assert step_errors(-10.0, 1e-3).max() < 1.4e-3
    assert step_errors(-10.0, 2.5e-4).max() < 3e-4
    assert step_errors(-10.0, 1e-4).max() < 1e-4


def test_tip_follows_the_reference_through_large_deflections():
    coarse, fine = step_errors(-100.0, 1e-3).max(), step_errors(-100.0, 2.5e-4).max()
    assert fine < 3e-3  # of a swing of 0.34 m
    assert fine < 0.5 * coarse


@pytest.mark.parametrize("formulation", FORMULATIONS[1:], ids=str)
def test_formulations_agree_on_a_smooth_motion(formulation):
    expected = smooth_tip(FORMULATIONS[0], pl.Midpoint(), 1e-3)
    found = smooth_tip(formulation, pl.Midpoint(), 1e-3)
    # of a deflection of 14 mm; the same steps, so only the rods differ
    assert found == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("integrator", SECOND_ORDER[1:], ids=lambda i: type(i).__name__)
def test_second_order_integrators_agree_on_a_smooth_motion(integrator):
    formulation = FORMULATIONS[0]
    exact = _extrapolated(pl.Midpoint(), 2)
    errors = [
        np.abs(smooth_tip(formulation, integrator, dt) - exact).max() for dt in (2e-3, 1e-3, 5e-4)
    ]
    assert errors[1] < 1e-4
    assert errors[-1] < 3e-5
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx(2.0, abs=0.4)


def test_implicit_euler_agrees_to_first_order():
    exact = _extrapolated(pl.Midpoint(), 2)
    assert _extrapolated(pl.ImplicitEuler(), 1) == pytest.approx(exact, abs=1e-4)
    error = np.abs(smooth_tip(FORMULATIONS[0], pl.ImplicitEuler(), 5e-4) - exact).max()
    assert 1e-5 < error < 1e-3


def _extrapolated(integrator: pl.Integrator, order: int) -> np.ndarray:
    """Richardson's value for no step at all, from 1 ms and 0.5 ms."""
    coarse, fine = (smooth_tip(FORMULATIONS[0], integrator, dt) for dt in (1e-3, 5e-4))
    return fine + (fine - coarse) / (2**order - 1)
