"""A cable whose tangent turns against that of its base: told by name, place and remedy."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.rods.ancf_nodes import reversal

CABLE = pl.ANCF(8, planar=False)
REMEDY = r"split the rod before that place into two joined rods, or use BSpline\(\)"
INTEGRATORS = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.8)]


def bent(viscosity: float = 0.0) -> pl.Robot:
    """A rod of 1 m with a moment that turns its tip by the input "turn" in rad, and a side force."""
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=1e7, nu=0.45, rho=1000.0, viscosity=viscosity)
    rod = robot.add_rod("arm", 1.0, pl.Circle(0.01), material)
    bending = rod.stiffness(np.array([0.0]))[0, 1]
    robot.add_load("turn", rod.tip, moment=(0.0, bending, 0.0))
    robot.add_load("side", rod.tip, force=(0.0, 1.0, 0.0))
    return robot


def place(text: object) -> float:
    """Arclength named in a sentence, m."""
    found = re.search(r"(?:^|\. )At s = ([\d.]+) m of rod 'arm' .*" + REMEDY, str(text))
    assert found is not None, text
    return float(found[1])


def quiet(call: object) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.ResolutionWarning)
        return call()  # type: ignore[operator]


@pytest.mark.parametrize("turn", [0.5, 0.9, 0.96])
def test_a_cable_that_stays_away_is_not_spoken_of(turn: float) -> None:
    found = quiet(lambda: bent().statics({"turn": turn * np.pi, "side": 0.0}, CABLE))
    assert isinstance(found, pl.Equilibrium)


@pytest.mark.parametrize("turn", [0.98, 1.02, 1.1, 1.4])
def test_equilibrium_near_or_beyond_the_reversal_is_told_where(turn: float) -> None:
    """A moment bends the rod into a circle: the tangent has turned by pi at s = 1 / turn."""
    with pytest.warns(pl.ResolutionWarning, match="frames of ANCF") as caught:
        bent().statics({"turn": turn * np.pi, "side": 0.0}, CABLE)
    assert place(caught[0].message) == pytest.approx(min(1.0, 1.0 / turn), abs=2e-3)
    assert caught[0].filename == __file__


def test_solve_that_fails_at_the_reversal_says_so() -> None:
    with pytest.raises(pl.ConvergenceError, match="no equilibrium was found beyond") as caught:
        bent().statics({"turn": 1.001 * np.pi, "side": 1e-3}, CABLE)
    assert place(caught.value) == pytest.approx(1.0, abs=0.01)


def test_solve_that_fails_elsewhere_does_not() -> None:
    robot = bent()
    with pytest.raises(pl.ConvergenceError) as caught:
        robot.statics({"side": (0.0, 0.0, -5e3)}, CABLE)
    assert "reverse" not in str(caught.value)


@pytest.mark.parametrize("formulation", [pl.ANCF(8), pl.BSpline(3, 10)], ids=str)
def test_other_rods_may_turn_as_they_like(formulation: pl.Formulation) -> None:
    quiet(lambda: bent().statics({"turn": 1.4 * np.pi, "side": 0.0}, formulation))


def test_two_joined_cables_turn_further_than_one() -> None:
    """The remedy works: each half turns by less than pi against its own base."""
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=1e7, nu=0.45, rho=1000.0)
    first = robot.add_rod("arm", 0.5, pl.Circle(0.01), material)
    second = robot.add_rod("end", 0.5, pl.Circle(0.01), material, base=first.tip)
    turn = 1.4 * np.pi
    robot.add_load("turn", second.tip, moment=(0.0, turn * first.stiffness(np.zeros(1))[0, 1], 0.0))
    found = quiet(lambda: robot.statics(formulation=CABLE))
    assert isinstance(found, pl.Equilibrium)
    circle = (np.array([1.0 - np.cos(turn), 0.0, np.sin(turn)])) / turn
    assert found.tip("end")[:3, 3] == pytest.approx(circle, abs=1e-4)


# -- in motion ----------------------------------------------------------------------------------


def rolling(integrator: pl.Integrator, turn: float, side: float) -> pl.Motion:
    """Rolled up by a moment that grows slowly to `turn`."""
    ramp = {"turn": lambda t: turn * min(1.0, t / 2.0), "side": side}
    return bent(viscosity=2e5).simulate(
        2.5, 5e-3, ramp, formulation=CABLE, integrator=integrator, output_every=0.05
    )


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_motion_past_the_reversal_is_told_where(integrator: pl.Integrator) -> None:
    """Whether the steps get across or not is up to rounding: in this plane nothing turns over."""
    quiet(lambda: rolling(integrator, 0.7 * np.pi, 0.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            motion = rolling(integrator, 1.2 * np.pi, 0.0)
        except pl.ConvergenceError as error:
            motion, text = error.last, str(error)
        else:
            text = str(caught[0].message)
            assert caught[0].category is pl.ResolutionWarning and caught[0].filename == __file__
    tangents = motion.pose("arm", place(text))[:, :3, 2]
    assert tangents[-1, 2] < -0.99


def failing(robot: pl.Robot) -> tuple[pl.Equilibrium, dict]:
    """A state beside the reversal and inputs that no step can follow from there."""
    with pytest.warns(pl.ResolutionWarning):
        start = robot.statics({"turn": 0.98 * np.pi, "side": 0.0}, CABLE)
    return start, {"turn": 1e9, "side": 0.0}


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_step_that_fails_at_the_reversal_says_so(integrator: pl.Integrator) -> None:
    robot = bent()
    start, inputs = failing(robot)
    # or it is followed to the end, stretched beyond anything
    with pytest.raises(pl.ConvergenceError, match=r"simulation stopped|is impossible") as caught:
        robot.simulate(0.1, 1e-2, inputs, start, formulation=CABLE, integrator=integrator)
    tangents = caught.value.last.pose("arm", place(caught.value))[:, :3, 2]
    assert tangents[:, 2].min() < -0.99


def test_streamed_step_that_fails_at_the_reversal_says_so() -> None:
    robot = bent()
    start, inputs = failing(robot)
    stepper = robot.stepper(
        1e-2,
        inputs={"turn": 0.98 * np.pi, "side": 0.0},
        start=start,
        formulation=CABLE,
        integrator=pl.Newmark(),
    )
    state = stepper.step(inputs)
    assert not state.converged
    assert place(state.message) == pytest.approx(1.0, abs=0.01)


# -- the measure --------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0.0, 0.03, -0.05])
def test_closest_approach_between_samples_is_found(side: float) -> None:
    """One element whose slope goes from one side of -z past it to the other."""
    robot = pl.Robot()
    rod = robot.add_rod("arm", 1.0, pl.Circle(0.01), pl.Material(E=1e7, nu=0.45, rho=1000.0))
    # p = (a (s^2 / 2 - c s), side s, -s): p' = (a (s - c), side, -1) is closest at s = c
    a, c = 0.8, 0.37
    rows = [[a * (s * s / 2 - c * s), side * s, -s, a * (s - c), side, -1.0] for s in (0.0, 1.0)]
    text = reversal(rod, np.array([0.0, 1.0]), np.array(rows))
    assert place(text) == pytest.approx(c, abs=2e-3)
    found = re.search(r"within ([\d.e-]+) degrees", text)
    assert found is not None
    assert float(found[1]) == pytest.approx(np.degrees(np.arctan(abs(side))), abs=0.1)
