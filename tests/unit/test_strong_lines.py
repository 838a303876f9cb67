"""Pressure lines in motions by strong forms: the same pressures and motions as with coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

FORMS = [pl.Shooting(steps=40), pl.Collocation(nodes=14)]
LINES = [pl.Lag(0.03), pl.Flow(3e-4, dead_volume=2e-6)]
PRESSURES = {"chamber1": pl.Sine(2e4, 2.0, offset=1e4), "chamber2": lambda t: 1e4 * np.sin(9.0 * t)}


def named(item: object) -> str:
    return type(item).__name__


def finger(line: object) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, retardation=2e-3)
    rod = robot.add_actuator("finger", part, pl.along("-z"), line=line)
    robot.add_body("weight", 0.01, on=rod.tip)
    return robot


def inflated(line: object) -> pl.Robot:
    """A rod that stretches, with a chamber along a part of it that pushes."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    material = pl.Material(E=5e5, nu=0.45, rho=1000.0, viscosity=2000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), material, pose=pl.along("x"))
    robot.add_chamber("air", "arm", area=4e-5, offset=(0.004, 0.0), over=(0.05, 0.17), line=line)
    return robot


@pytest.mark.parametrize("line", LINES, ids=named)
@pytest.mark.parametrize("form", FORMS, ids=named)
def test_actuator_behind_a_line_moves_as_with_coordinates(form: object, line: object) -> None:
    robot = finger(line)
    start = {name: ask(0.0) for name, ask in PRESSURES.items()}
    found, other = (
        robot.simulate(
            0.2,
            1e-3,
            PRESSURES,
            start=robot.statics(start, one),
            formulation=one,
            output_every=0.02,
        )
        for one in (form, pl.Strain(order=4))
    )
    for name in PRESSURES:
        pressure, asked = other.inputs[name], np.array([PRESSURES[name](t) for t in other.t])
        assert found.inputs[name] == pytest.approx(pressure, abs=1e-4 * np.ptp(asked))
        assert np.abs(pressure - asked).max() > 0.05 * np.ptp(asked)
    tips, expected = (motion.tip("finger")[:, :3, 3] for motion in (found, other))
    assert np.ptp(expected[:, 0]) > 5e-3
    assert tips == pytest.approx(expected, abs=2e-4 * 0.175)
    energy = found.energy
    assert np.abs(energy["balance"]).max() < 5e-3 * np.abs(energy["work"]).max()


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_gas_is_kept_while_a_chamber_swells(form: object) -> None:
    """Hardly anything flows, so that (p + p0) V stays what it is while a pull stretches the rod."""
    robot = inflated(pl.Flow(1e-30, atmosphere=1e5))
    robot.add_load("pull", pl.Frame("arm", 0.3), force=(1.0, 0.0, 0.0))
    motion = robot.simulate(
        0.1, 1e-3, {"air": 2e4, "pull": lambda t: 200.0 * t}, start="statics", formulation=form
    )
    x, w = np.polynomial.legendre.leggauss(8)
    strain = motion.strain("arm", 0.11 + 0.06 * x)
    volume = 4e-5 * 0.06 * (strain[:, :, 5] - 0.004 * strain[:, :, 1]) @ w
    assert np.ptp(volume) > 0.03 * volume[0]
    gas = (motion.inputs["air"] + 1e5) * volume
    assert gas == pytest.approx(gas[0], rel=1e-5)


@pytest.mark.parametrize("line", LINES, ids=named)
@pytest.mark.parametrize("form", FORMS, ids=named)
def test_steps_behind_a_line_are_those_of_simulate(form: object, line: object) -> None:
    robot = finger(line)
    ask = PRESSURES["chamber2"]
    motion = robot.simulate(0.02, 1e-3, {"chamber2": ask}, start="statics", formulation=form)
    stepper = robot.stepper(1e-3, start="statics", formulation=form)
    for k in range(1, 21):
        state = stepper.step({"chamber2": ask(1e-3 * k)})
        assert state.tip("finger") == pytest.approx(motion.tip("finger")[k], abs=1e-9)


def test_pressure_inside_a_step_lies_between_its_ends() -> None:
    robot = finger(pl.Lag(0.03))
    times = np.array([0.0, 1e-3, 1.4e-3, 2e-3])
    form = FORMS[0]
    motion = robot.simulate(
        2e-3, 1e-3, {"chamber1": 1e4}, start="statics", formulation=form, output_times=times
    )
    assert motion.inputs["chamber1"] == pytest.approx(1e4, rel=1e-12)
    ramp = robot.simulate(
        2e-3, 1e-3, {"chamber1": lambda t: 1e7 * t}, formulation=form, output_times=times
    )
    pressure = ramp.inputs["chamber1"]
    expected = 0.6 * pressure[1] + 0.4 * pressure[3]
    assert pressure[2] == pytest.approx(expected, rel=1e-12)
