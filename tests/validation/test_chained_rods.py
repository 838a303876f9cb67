"""A rod cut in two and joined end to end is the same rod, for every pair of formulations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant as pl

FINE = {
    "bspline": pl.BSpline(3, 40),
    "cayley": pl.BSpline(4, 40, map="cayley"),
    "hermite": pl.Hermite(30),
    "strain": pl.Strain(order=3, segments=8),
}
PAIRS = list(itertools.product(FINE, repeat=2))
RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0)
CUT = 0.25


def radius(s: float) -> float:
    return 0.02 - 0.015 * s


def loaded(robot: pl.Robot, middle: pl.Frame, tip: pl.Frame) -> pl.Robot:
    """Loads in space: at the tip, at the cut, a moment, and a force that follows the section."""
    robot.add_load("tip", tip, force=(0.0, 0.3, 0.1), moment=(0.02, 0, 0.01))
    robot.add_load("middle", middle, force=(0, -0.4, 0.2))
    robot.add_load("follow", tip, force=(0.1, 0, 0.1), frame="body")
    return robot


@pytest.fixture(scope="module")
def whole() -> pl.Equilibrium:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.6, pl.Circle(radius), RUBBER, pose=pl.along("x"))
    return loaded(robot, arm.at(CUT), arm.tip).statics(formulation=pl.Strain(order=4, segments=12))


def chained() -> pl.Robot:
    robot = pl.Robot()
    first = robot.add_rod("first", CUT, pl.Circle(radius), RUBBER, pose=pl.along("x"))
    second = robot.add_rod(
        "second", 0.6 - CUT, pl.Circle(lambda s: radius(CUT + s)), RUBBER, base=first.tip
    )
    return loaded(robot, first.tip, second.tip)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_a_rod_cut_in_two_has_the_same_shape(whole: pl.Equilibrium, one: str, other: str) -> None:
    found = chained().statics(formulation={"first": FINE[one], "second": FINE[other]})
    for s in (0.1, CUT):
        assert found.pose("first", s) == pytest.approx(whole.pose("arm", s), abs=1e-6)
    for s in (0.0, 0.2, 0.35):
        assert found.pose("second", s) == pytest.approx(whole.pose("arm", CUT + s), abs=1e-6)
    scale = np.abs(whole.reactions["arm"]).max()
    assert found.reactions["first"] == pytest.approx(whole.reactions["arm"], abs=1e-5 * scale)
    assert found.energy["total"] == pytest.approx(whole.energy["total"], abs=1e-7)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_the_wrench_is_carried_across_the_joint(one: str, other: str) -> None:
    robot = chained()
    found = robot.statics({"middle": 0.0}, {"first": FINE[one], "second": FINE[other]})
    before, after = found.wrench("first", CUT), found.wrench("second", 0.0)
    assert before == pytest.approx(after, abs=1e-6 * np.abs(after).max())


@pytest.mark.parametrize(("one", "other"), [("bspline", "hermite"), ("strain", "bspline")])
def test_a_chain_bent_at_the_joint_by_a_given_angle(one: str, other: str) -> None:
    """A rod can stand on another at an angle: without load each half is straight."""
    robot = pl.Robot(gravity=(0, 0, 0))
    first = robot.add_rod("first", 0.5, pl.Circle(0.01), RUBBER)
    turn = pl.pose(rotation=(0, np.pi / 2, 0))
    second = robot.add_rod("second", 0.5, pl.Circle(0.01), RUBBER, base=first.tip, pose=turn)
    robot.add_load("pull", second.tip, force=(0, 0, -1))
    found = robot.statics({"pull": 0.0}, {"first": FINE[one], "second": FINE[other]})
    assert found.tip("second")[:3, 3] == pytest.approx([0.5, 0, 0.5], abs=1e-10)
    # a small force: moment F L over the first, then the second as a cantilever
    bending, axial = 1e6 * np.pi * 0.01**4 / 4, 1e6 * np.pi * 0.01**2
    shear = axial / 2 / 1.45
    force = 1e-6
    found = robot.statics({"pull": force}, {"first": FINE[one], "second": FINE[other]})
    drop = force * (0.5**3 / 3 / bending + 0.5 / shear + 0.5**2 * 0.5 / bending + 0.5 / axial)
    assert 0.5 - found.tip("second")[2, 3] == pytest.approx(drop, rel=1e-4)
