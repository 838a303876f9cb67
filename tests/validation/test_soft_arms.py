"""Soft arms in motion: shooting finds the motion, not another solution of a time step's equations.

In a step of dt = 10 ms what is wrong at the base of a soft arm grows by exp(10) and more towards the
tip. Far guesses then lead simple shooting to solutions of the step's equations that no motion leads to.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl

ALPHA = pl.BDFAlpha(-0.2)
FORMS = (pl.Shooting(steps=120), pl.MultipleShooting(4, 120), pl.Collocation())
CASES = [
    (theory, radius, dt)
    for theory in ("cosserat", "kirchhoff")
    for radius, dt in ((0.005, 0.01), (0.0075, 0.01), (0.01, 0.01), (0.01, 0.005))
]


@functools.cache
def arm(theory: str, radius: float) -> pl.Robot:
    """A rod of 0.3 m with E = 1 MPa that falls from straight while a force shakes its tip."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    rod = robot.add_rod("arm", 0.3, pl.Circle(radius), soft, pl.along("x"), theory=theory)
    robot.add_load("shake", rod.tip, force=(0, 0.005, -0.02))
    return robot


def motion(
    theory: str, radius: float, dt: float, form: object, integrator: object, steps: int = 40
) -> pl.Motion:
    return arm(theory, radius).simulate(
        steps * dt,
        dt,
        {"shake": pl.Sine(1.0, 20.0 / (2 * np.pi))},
        formulation=form,
        integrator=integrator,
    )


@pytest.mark.parametrize(("theory", "radius", "dt"), CASES)
def test_strong_forms_find_the_same_motion_of_a_soft_arm(
    theory: str, radius: float, dt: float
) -> None:
    """The same time rule, so that only the way along the arm differs: 1e-5 of its length."""
    simple, several, nodes = (motion(theory, radius, dt, form, ALPHA) for form in FORMS)
    for other in (several, nodes):
        gap = np.linalg.norm(simple.tip("arm")[:, :3, 3] - other.tip("arm")[:, :3, 3], axis=1)
        assert gap.max() < 1e-5 * 0.3
        energy = np.abs(simple.energy["total"] - other.energy["total"])
        assert energy.max() < 1e-4 * np.ptp(other.energy["kinetic"])


@pytest.mark.parametrize(("theory", "radius"), [("cosserat", 0.01), ("kirchhoff", 0.01)])
def test_soft_arm_moves_as_with_coordinates(theory: str, radius: float) -> None:
    """Another integrator and another rod: what differs falls with the square of the step."""
    gaps = []
    for dt, steps in ((0.005, 20), (0.0025, 40)):
        strong = motion(theory, radius, dt, FORMS[0], pl.BDFAlpha(-0.5), steps)
        other = motion(theory, radius, dt, pl.BSpline(degree=3, points=15), pl.Midpoint(), steps)
        tips = [move.tip("arm")[:, :3, 3] for move in (strong, other)]
        gaps.append(np.linalg.norm(tips[0] - tips[1], axis=1).max())
    assert gaps[0] < 1e-3
    assert gaps[1] < 0.4 * gaps[0]
