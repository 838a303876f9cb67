"""Results go through pickle and copy with all that can be asked of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl

FORMS = [pl.BSpline(3, 6), pl.ANCF(4, planar=False), pl.Shooting(40), pl.Collocation(8)]


def arm() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=200.0)
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_load("push", rod.tip, force=(0.0, 0.05, 0.01))
    robot.add_body("bob", 0.005, (1e-6,) * 3, on=rod.tip)
    return robot


def same_answers(result: Any, ask: Callable[[Any], list[Any]]) -> None:
    expected = ask(result)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        for found, value in zip(ask(other), expected, strict=True):
            np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("form", FORMS, ids=lambda x: type(x).__name__)
def test_equilibria_and_motions_are_pickled(form: Any) -> None:
    robot = arm()

    def shape(x: Any) -> list[Any]:
        held = [x.reactions["arm"], x.wrench("arm", 0.1), x.energy["elastic"]]
        return [x.tip("arm"), x.strain("arm", 0.1), *held]

    still = robot.statics({"push": 1.2}, formulation=form)
    same_answers(still, lambda x: [*shape(x), x.stable, x.summary()])
    motion = robot.simulate(0.02, 2e-3, {"push": lambda t: 50.0 * t}, still, formulation=form)
    same_answers(motion, lambda x: [*shape(x), x.energy["numerical"], x.velocity("arm", 0.2)])
    same_answers(motion, lambda x: [x.energy_gap.taken, x.inputs["push"], x.summary()])
    state = robot.stepper(2e-3, start=motion, formulation=form).step({"push": 0.5})
    same_answers(state, lambda x: [*shape(x), x.velocity("arm", 0.2)])


def test_a_motion_goes_on_from_a_pickle_of_robot_and_result() -> None:
    robot = arm()
    motion = robot.simulate(0.02, 2e-3)
    other, reached = pickle.loads(pickle.dumps((robot, motion)))
    ways = [
        x.simulate(0.01, 2e-3, start=y).tip("arm") for x, y in ((robot, motion), (other, reached))
    ]
    np.testing.assert_array_equal(*ways)


def test_modes_and_fits_are_pickled() -> None:
    robot = arm()
    same_answers(robot.modes(3), lambda x: [x.frequencies, x.shape(0, "arm", 0.2), x.summary()])
    forces = np.linspace(0.0, 2.0, 5)
    tips = [robot.statics({"push": x}).tip("arm")[1, 3] for x in forces]
    data = pl.Measurement({"push": forces, "arm.tip.y": tips})
    fit = pl.fit(robot, data, [pl.Parameter("arm.E", 8e5)])
    same_answers(fit, lambda x: [str(x), x.robot.statics().tip("arm")])
    same_answers(fit, lambda x: [x.validate(data)[0].predicted, x.covariance])
