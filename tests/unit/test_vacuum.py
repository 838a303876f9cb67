"""Gauge pressures below vacuum: refused where a line lets gas flow, allowed down to it."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

VACUUM = 101325.0


def breathing(line: object) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, retardation=0.01)
    robot.add_actuator("finger", part, pl.along("x"), line=line)
    return robot


@pytest.mark.parametrize(
    "asked",
    [-1.2e5, lambda t: -2e6 * t, pl.Ramp(0.0, -1.2e5, 0.0, 0.05), np.float64(-VACUUM * 1.001)],
    ids=["number", "function", "signal", "just below"],
)
@pytest.mark.parametrize("form", [pl.ANCF(3), pl.Strain(order=1)], ids=repr)
def test_pressure_below_vacuum_is_refused_of_a_flow(asked: object, form: object) -> None:
    robot = breathing(pl.Flow(2e-3, 1e-6))
    with pytest.raises(pl.DescriptionError, match=r"chamber1.*-101325 Pa or more.*vacuum.*gauge"):
        robot.simulate(0.1, 1e-3, inputs={"chamber1": asked}, formulation=form)


def test_pressure_below_vacuum_is_refused_wherever_it_is_given() -> None:
    robot = breathing(pl.Flow(2e-3, 1e-6))
    with pytest.raises(pl.DescriptionError, match="vacuum"):
        robot.statics({"chamber2": -1.2e5}, pl.ANCF(3))
    with robot.stepper(1e-3, formulation=pl.ANCF(3)) as stepper:
        stepper.step({"chamber1": -1e4})
        for value in (-1.2e5, np.float64(-1.2e5), -2 * 10**5):
            with pytest.raises(pl.DescriptionError, match="vacuum"):
                stepper.step({"chamber1": value})
    with pytest.raises(pl.DescriptionError, match=r"pressure = -120000.*vacuum"):
        pl.Chamber("c", "arm", 1e-4, pressure=-1.2e5, line=pl.Flow(1e-3))
    with pytest.raises(pl.DescriptionError, match="-50000 Pa or more"):
        pl.Chamber("c", "arm", 1e-4, pressure=-6e4, line=pl.Flow(1e-3, atmosphere=5e4))
    pl.Chamber("c", "arm", 1e-4, pressure=-1.2e5)


def test_chamber_may_be_emptied_to_vacuum() -> None:
    robot = breathing(pl.Flow(2e-3, 1e-6))
    for form in (pl.ANCF(3), pl.Strain(order=1)):
        move = robot.simulate(0.05, 1e-3, inputs={"chamber1": lambda t: -VACUUM}, formulation=form)
        assert np.isfinite(move.tip("finger")).all() and move.complete
