"""Steps far longer and far shorter than the fast motion of a rod: energy, order, no wrong motion."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.tree.part import Part

PRESSURES = {
    "chamber1": pl.Sine(2e4, 0.7, offset=2e4),
    "chamber2": pl.Sine(1e4, 1.0, offset=1e4),
}
FAMILY = [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.8)]


def finger() -> pl.Robot:
    """The actuator of Rong and Gu (2024), which neither shears nor stretches, 30 g at its tip."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12038, mass_damping=2.4)
    rod = robot.add_actuator("finger", part, pl.along("x"))
    robot.add_body("weight", 0.03, on=rod.tip)
    robot.add_load("string", rod.tip, force=(0, 0, -9.81))
    return robot


# -- long steps ------------------------------------------------------------------------------------


def imbalance(dt: float, formulation: pl.Formulation, integrator: pl.Integrator) -> float:
    """Energy that is not accounted for over the work of the pressures, in 0.5 s."""
    robot, still = finger(), {name: ask(0.0) for name, ask in PRESSURES.items()}
    start = robot.statics({"string": 0.0, **still}, formulation)
    energy = robot.simulate(
        0.5, dt, {"string": 0.0, **PRESSURES}, start=start, formulation=formulation,
        integrator=integrator,
    ).energy  # fmt: skip
    assert np.abs(energy["work"]).max() > 1e-3
    return float(np.abs(energy["balance"]).max() / np.abs(energy["work"]).max())


@pytest.mark.parametrize("formulation", [pl.ANCF(4), pl.ANCF(8), pl.BSpline(3, 8)], ids=str)
def test_work_of_moving_pressures_is_accounted_for_at_second_order(
    formulation: pl.Formulation,
) -> None:
    """Bending modes far faster than the step follow the pressures; nothing excites them."""
    found = [imbalance(dt, formulation, pl.Midpoint(1e-10)) for dt in (1e-2, 5e-3, 1e-3)]
    assert found[0] < 5e-5 and found[2] < 1e-6
    assert found[0] / found[1] == pytest.approx(4.0, rel=0.1)
    assert found[1] / found[2] == pytest.approx(25.0, rel=0.1)
    assert imbalance(1e-3, formulation, pl.Midpoint()) < 2e-6, "and at the usual tolerance"


def test_a_rod_stiffer_than_the_step_follows_a_load_that_grows() -> None:
    """Stretch waves pass in 0.05 ms, steps take 10 ms: the rod has the length that statics gives it.

    By the trapezoidal rule for the load the length lags a step behind, and then alternates.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=1e9, nu=0.3, rho=1000.0)
    rod = robot.add_rod("rod", 0.05, pl.Circle(0.005), material)
    robot.add_load("pull", rod.tip, force=(0, 0, 1.0))
    motion = robot.simulate(
        0.2, 0.01, {"pull": lambda t: 1e3 * t}, formulation=pl.Strain(0, 1),
        integrator=pl.Midpoint(1e-12),
    )  # fmt: skip
    compliance = 0.05 / (1e9 * np.pi * 0.005**2)
    stretch = motion.tip("rod")[:, 2, 3] - 0.05
    in_a_step = compliance * 10.0
    assert stretch == pytest.approx(compliance * 1e3 * motion.t, abs=2e-3 * in_a_step)
    energy = motion.energy
    assert np.abs(energy["balance"]).max() < 1e-9 * np.abs(energy["work"]).max()


# -- short steps -----------------------------------------------------------------------------------


def released(dt: float, integrator: pl.Integrator, points: int = 6) -> pl.Motion:
    """10 ms after 100 g are cut off."""
    robot, form = finger(), pl.BSpline(3, points)
    held = robot.statics({"string": 0.1}, form)
    times = np.linspace(0.0, 0.01, 3)
    return robot.simulate(
        0.01, dt, {"string": 0.0}, start=held, integrator=integrator, output_times=times
    )


@functools.cache
def reference() -> Array:
    """Tip by steps of 4 and 8 microseconds, extrapolated at second order."""
    fine, coarse = (released(dt, pl.Midpoint(1e-11)).tip("finger") for dt in (1 / 256e3, 1 / 128e3))
    return (4.0 * fine - coarse)[:, :3, 3] / 3.0


def error(motion: pl.Motion) -> float:
    return float(np.abs(motion.tip("finger")[:, :3, 3] - reference()).max())


@pytest.mark.parametrize("tolerance", [3e-7, 1e-4])
def test_halved_steps_converge_at_second_order_whatever_the_tolerance(tolerance: float) -> None:
    """Down to where the error is a part in 10^7 of the length; what one step leaves the next one takes
    up, so that even a poor tolerance does not add up over a thousand steps."""
    dts = [1 / 16e3, 1 / 32e3, 1 / 64e3, 1 / 128e3]
    motions = [released(dt, pl.Midpoint(tolerance)) for dt in dts]
    errors = np.array([error(motion) for motion in motions])
    assert errors[0] < 1e-5 * 0.175 and errors[-1] < 1.5e-7 * 0.175
    assert errors[:-1] / errors[1:] == pytest.approx(4.0, rel=0.2)
    for motion in motions:
        energy = motion.energy
        exchanged = np.ptp(energy["kinetic"] + energy["elastic"])
        assert np.abs(energy["balance"]).max() < 1e-5 * exchanged


@pytest.mark.parametrize("integrator", FAMILY, ids=str)
def test_short_steps_of_a_rod_that_cannot_stretch_are_cheap_and_right(
    integrator: pl.Integrator,
) -> None:
    """The shorter the step, the closer it is predicted; held strains are no exception."""
    motion = released(1 / 256e3, integrator)
    assert error(motion) < 1e-7 * 0.175
    assert motion.iterations < 2.2 * motion.steps


def test_compiled_short_steps_are_cheap_and_right() -> None:
    """ANCF under Newmark, whose steps are taken in one compiled call."""
    robot, form = finger(), pl.ANCF(4)
    held = robot.statics({"string": 0.1}, form)

    def end(dt: float, integrator: pl.Integrator) -> tuple[Array, float]:
        motion = robot.simulate(0.01, dt, {"string": 0.0}, start=held, integrator=integrator)
        return motion.tip("finger")[-1, :3, 3], motion.iterations / motion.steps

    short, iterations = end(1 / 256e3, pl.Newmark())
    assert iterations < 3.0
    for dt, integrator in ((1 / 64e3, pl.Newmark()), (1 / 256e3, pl.Midpoint())):
        assert end(dt, integrator)[0] == pytest.approx(short, abs=1e-6 * 0.175)


@pytest.mark.parametrize("integrator", FAMILY, ids=str)
def test_a_step_that_hardly_converges_fails_rather_than_being_taken(
    integrator: pl.Integrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a tangent made poor on purpose iterations close a gap slowly: all the way, or not at all."""

    reference()  # by the good one

    monkeypatch.setattr(Part, "inertial_share", lambda part, mobility: 1.0)
    monkeypatch.setattr(type(integrator), "halves", False)
    for dt in (1 / 128e3, 1 / 256e3):
        try:
            assert error(released(dt, integrator)) < 1e-6 * 0.175
        except ConvergenceError as refused:
            assert "no convergence" in str(refused)
