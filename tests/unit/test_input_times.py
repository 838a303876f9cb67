"""How often integrators with steps of their own are given inputs that change."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve.input_times import COUNTS, STEADY, input_intervals
from pliant.solve.schedule import Inputs


def arm() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, 0))
    return robot


def count(push: Any) -> int:
    return input_intervals(Inputs(arm().description, {"push": push}, [], {}), 2.0, 1e-3)


def along_z(value: Callable[[float], float]) -> Callable[[float], tuple[float, float, float]]:
    return lambda t: (0.0, 0.0, value(t))


def test_inputs_that_do_not_change_need_no_more_times() -> None:
    assert count((0.0, 0.0, 1.0)) == STEADY
    assert count(along_z(lambda t: 0.3)) == COUNTS[0]
    assert count(along_z(lambda t: 0.3 * t)) == COUNTS[0]


@pytest.mark.parametrize("hertz", [0.5, 5.0, 20.0])
def test_vibrations_get_some_sixty_times_in_a_period(hertz: float) -> None:
    found = count(along_z(lambda t: math.sin(2.0 * math.pi * hertz * t)))
    periods = 2.0 * hertz
    assert 50.0 * periods <= found < 130.0 * periods or found == COUNTS[0]


def test_jumps_get_times_in_a_thousandth_of_the_motion() -> None:
    assert 1000 <= count(along_z(lambda t: float(t > 0.3033))) <= 6000


def test_inputs_too_fast_for_any_interval_are_told() -> None:
    with pytest.warns(pl.ResolutionWarning, match=r"input 'push' changes faster than 0\.0002 s"):
        assert count(along_z(lambda t: math.sin(1e5 * t))) == COUNTS[-1]


@pytest.mark.parametrize("hertz", [20.0, 100.0])
def test_no_vibration_is_lost_between_two_times(hertz: float) -> None:
    """With 200 even times in 2 s a load of 100 Hz was zero at all of them."""
    times, inputs = np.linspace(0.0, 0.4, 21), {}
    inputs["push"] = along_z(lambda t: 0.3 * math.sin(2.0 * math.pi * hertz * t))
    found = arm().simulate(0.4, inputs=inputs, accuracy=2e-3, output_times=times)
    true = arm().simulate(
        0.4, 5e-5, inputs, formulation=pl.Spectral(3, 12), integrator=pl.Explicit(0.5),
        output_times=times,
    )  # fmt: skip
    off = np.linalg.norm(found.position("arm") - true.position("arm"), axis=-1).max() / 0.3
    assert float(np.ptp(true.position("arm", 0.3)[:, 2])) / 0.3 > 0.01
    assert found.error is not None and off < 2e-3
