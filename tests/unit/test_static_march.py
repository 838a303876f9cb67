"""Maps of many equilibria in compiled calls agree with those that are solved one by one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve.load_steps import StaticSolver
from pliant.solve.static_march import StaticMarch
from pliant.study.workspace import grid

SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def tendon_arm() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("-z"))
    robot.add_tendon("a", along=arm, offset=(0.007, 0.0))
    robot.add_tendon("b", [arm.at(s, (0.0, 0.007)) for s in np.linspace(0.0, 0.3, 5)])
    return robot


def pushed_arm() -> pl.Robot:
    """A load without potential, so that pivots tell nothing, on a body at the tip."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    robot.add_body("hand", 0.01, on=arm.tip)
    robot.add_load("a", arm.tip, force=(0.0, 0.02, 0.0), frame="body")
    robot.add_load("b", arm.tip, moment=(0.0, 0.001, 0.0))
    return robot


def held_arm() -> pl.Robot:
    """A constraint, whose multipliers are left to single solutions."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    robot.add_constraint("pin", arm.tip, kind="articulated")
    robot.add_load("a", arm.at(0.1), force=(0.0, 0.0, 0.02))
    robot.add_load("b", arm.at(0.2), force=(0.0, 0.02, 0.0))
    return robot


def one_by_one(robot: pl.Robot, values: list[Any], **options: Any) -> list[pl.Equilibrium]:
    found: list[pl.Equilibrium] = []
    for a, b in grid([np.asarray(column, dtype=float) for column in values]):
        start = found[-1] if found else None
        found.append(robot.statics({"a": a, "b": b}, start=start, **options))
    return found


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("make", [tendon_arm, pushed_arm, held_arm])
def test_maps_agree_with_single_solutions(make: Any, workers: int) -> None:
    values = [np.linspace(0.0, 4.0, 11), np.linspace(0.5, 3.0, 10)]
    singles = one_by_one(make(), values)
    found = pl.workspace(make(), {"a": values[0], "b": values[1]}, "arm.tip", workers=workers)
    assert found.failed == 0
    tips = np.array([still.tip("arm") for still in singles])
    assert found.poses == pytest.approx(tips, abs=1e-8)
    last = found.last
    assert last.position("arm", 0.2) == pytest.approx(singles[-1].position("arm", 0.2), abs=1e-9)
    assert last.inputs["a"] == singles[-1].inputs["a"]


@pytest.mark.parametrize(("make", "possible"), [(tendon_arm, True), (held_arm, False)])
def test_marches_are_made_where_nothing_has_multipliers(make: Any, possible: bool) -> None:
    problem: Any = make()._compiler.compiled(None)
    table = np.zeros((3, problem.effects.inputs))
    march = StaticMarch(StaticSolver(problem.effects), table, problem.effects.nothing.drive)
    assert march.possible is possible


def test_column_is_told_to_be_unstable_beyond_its_buckling_load() -> None:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.005), pl.Material(E=1e7, nu=0.5, rho=1000.0))
    robot.add_load("press", arm.tip, force=(0.0, 0.0, -1.0))
    buckling = np.pi**2 * 1e7 * np.pi * 0.005**4 / 4.0 / (4.0 * 0.3**2)
    loads = buckling * np.linspace(0.5, 1.5, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pl.workspace(robot, {"press": loads}, "arm.tip", workers=1)
    # stretch and shear lower the load by less than 1 %
    clear = np.abs(loads / buckling - 1.0) > 0.02
    assert np.array_equal(np.array(found.stable)[clear], (loads < buckling)[clear])


def test_bent_columns_stay_on_their_branch() -> None:
    """The load grows past buckling of the straight rod; each shape bends on from the one before."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    stiff = pl.Material(E=1e7, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.005), stiff, natural=(0.02, 0.0, 0.0))
    robot.add_load("press", arm.tip, force=(0.0, 0.0, -1.0))
    buckling = np.pi**2 * 1e7 * np.pi * 0.005**4 / 4.0 / (4.0 * 0.3**2)
    loads = buckling * np.linspace(0.0, 2.0, 81)
    found = pl.workspace(robot, {"press": loads}, "arm.tip", workers=1)
    for k in (20, 40, 60, 80):
        still = robot.statics({"press": loads[k]})
        assert found.poses[k] == pytest.approx(still.tip("arm"), abs=1e-7)


def test_poses_of_a_motion_are_those_of_its_states() -> None:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    hand = robot.add_rod("hand", 0.1, pl.Circle(0.008), SOFT, base=arm.tip)
    robot.add_body("ball", 0.01, on=hand.tip)
    motion = robot.simulate(0.1, 0.01, formulation=pl.BSpline(3, 6))
    s = np.linspace(0.0, 0.1, 4)
    problem: Any = motion._compiled
    rows = [problem.sampler.poses(q, "hand", s) for q in motion._configurations]
    assert motion.pose("hand", s) == pytest.approx(np.array(rows), abs=1e-14)
    frames = problem.sampler.frame_along(motion._configurations, hand.tip)
    assert frames == pytest.approx(motion.tip("hand"), abs=1e-14)
