"""Robots that no load can be put on: the message names the cause, not just any remedy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pliant as pl

SOFT = pl.Material(E=5e5, nu=0.45, rho=1100.0)


def arm_of(robot: pl.Robot, **more: object) -> pl.Rod:
    return robot.add_rod("arm", 0.3, pl.Circle(0.008), SOFT, pose=pl.along("x"), **more)  # type: ignore[arg-type]


def contradicting(robot: pl.Robot) -> None:
    arm = arm_of(robot)
    robot.add_constraint("one", arm.tip, to=pl.pose((0.25, 0, 0.05)), kind="articulated")
    robot.add_constraint("two", arm.tip, to=pl.pose((0.2, 0.1, 0.05)), kind="articulated")


def out_of_reach(robot: pl.Robot) -> None:
    arm = arm_of(robot, theory="kirchhoff")
    robot.add_constraint("far", arm.tip, to=pl.pose((0.5, 0, 0)), kind="articulated")


def level_pendulum(robot: pl.Robot) -> None:
    robot.add_body("bob", 1.0, (1e-3,) * 3, centre=(0.1, 0, 0), joint=pl.Revolute("y"))


def hinged_bob(robot: pl.Robot) -> None:
    on = arm_of(robot).tip
    robot.add_body("bob", 0.1, (1e-5,) * 3, on=on, centre=(0, 0, 0.05), joint=pl.Revolute("y"))


def level_rod(robot: pl.Robot) -> None:
    arm_of(robot, joint=pl.Revolute("y"))


def loose(robot: pl.Robot) -> None:
    arm_of(robot, base=None)


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (contradicting, "constraint 'one' and constraint 'two' contradict each other"),
        (out_of_reach, "constraint 'far' between the world and 'arm' is still open by 0.2 m"),
        (level_pendulum, "body 'bob' can move in its joint without resistance"),
        (hinged_bob, "body 'bob' can move in its joint without resistance"),
        (level_rod, "rod 'arm' can move in its joint without resistance"),
        (loose, "Clamp a rod"),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_the_message_names_what_is_loose_or_contradicts(
    add: Callable[[pl.Robot], None], words: str
) -> None:
    robot = pl.Robot()
    add(robot)
    with pytest.raises(pl.ConvergenceError, match=words) as told:
        robot.statics()
    assert ("Clamp a rod" in str(told.value)) is (add is loose)
