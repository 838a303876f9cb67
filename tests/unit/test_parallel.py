"""Many robots in parallel: the same results as one by one, in order; failures are separate."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

SHOT = pl.MultipleShooting(intervals=2, steps=20)
SPLINE = pl.BSpline(points=5)


def arm(radius: float = 0.01, force: float = 0.02) -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=500.0)
    rod = robot.add_rod("arm", 0.3, pl.Circle(radius), soft, pose=pl.along("x"))
    robot.add_load("push", rod.tip, force=(0.0, force, 0.0))
    return robot


@pytest.mark.parametrize("formulation", [SHOT, SPLINE], ids=repr)
def test_parallel_motions_equal_sequential_ones(formulation: object) -> None:
    radii = [0.010, 0.012, 0.014, 0.011, 0.013]
    told: list[tuple[int, int]] = []
    found = pl.simulate_many(
        [arm(r) for r in radii],
        0.2,
        0.01,
        formulation=formulation,
        output_every=0.1,
        workers=3,
        progress=lambda done, of: told.append((done, of)),
    )
    assert told == [(k + 1, 5) for k in range(5)]
    for radius, motion in zip(radii, found, strict=True):
        alone = arm(radius).simulate(0.2, 0.01, formulation=formulation, output_every=0.1)
        np.testing.assert_array_equal(motion.t, alone.t)
        np.testing.assert_array_equal(motion.tip("arm"), alone.tip("arm"))


@pytest.mark.parametrize("formulation", [SHOT, SPLINE], ids=repr)
def test_one_robot_under_many_inputs_keeps_them_apart(formulation: object) -> None:
    robot = arm()
    inputs = [{"push": float(k)} for k in range(6)]
    stills = pl.statics_many([robot] * 6, inputs, formulation, workers=4)
    moved = pl.simulate_many(
        [robot] * 6, 0.05, 0.01, [{"push": 0.0}] * 6, stills, formulation=formulation, workers=4
    )
    for given, still, motion in zip(inputs, stills, moved, strict=True):
        alone = robot.statics(given, formulation)
        np.testing.assert_array_equal(still.tip("arm"), alone.tip("arm"))
        again = robot.simulate(0.05, 0.01, {"push": 0.0}, alone, formulation=formulation)
        np.testing.assert_array_equal(motion.tip("arm"), again.tip("arm"))


def test_failing_robot_does_not_stop_the_others() -> None:
    robots = [arm(), arm(), arm(0.012)]
    robots[1].add_load("turn", robots[1].description.rods["arm"].tip, moment=(0.0, 0.0, 1e6))
    with pytest.raises(pl.ConvergenceError, match=r"1 of 3 robots failed. robots\[1\]: ") as told:
        pl.statics_many(robots, formulation=SPLINE)
    first, failed, last = told.value.last
    assert isinstance(failed, pl.ConvergenceError)
    assert first.tip("arm")[2, 3] < last.tip("arm")[2, 3] < 0.0


def test_wrong_input_names_the_robot() -> None:
    with pytest.raises(pl.DescriptionError, match=r"robots\[1\], .*pusch = 1.0: .*'push'"):
        pl.simulate_many([arm(), arm()], 0.1, 0.01, [{}, {"pusch": 1.0}], formulation=SPLINE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"robots": []}, "robots = .*a list of one robot or more"),
        ({"robots": [3]}, r"robots\[0\] = 3: must be a Robot"),
        ({"inputs": [{}]}, "inputs = '1 entries': must be one for all, or a list"),
        ({"workers": 0}, "workers = 0: must be a whole number"),
    ],
)
def test_lists_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    given = {"robots": [arm(), arm()], "duration": 0.1, "dt": 0.01, **change}
    with pytest.raises(pl.DescriptionError, match=message):
        pl.simulate_many(**given)
