"""Joints of one's own: pose and axes that do not belong together are refused, not solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import pliant as pl


@dataclass(frozen=True)
class Cam(pl.MovingJoint):
    """Slides along x while it rises by height x^2; q is the position, m."""

    height: float = 0.0
    stiffness: float = 0.0
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def pose(self, q: Any) -> Any:
        return pl.pose((q[0], 0, self.height * q[0] ** 2))

    def axes(self, q: Any) -> Any:
        return np.array([[0, 0, 0, 1.0, 0, 2.0 * self.height * q[0]]]).T


def test_a_joint_of_ones_own_rests_where_its_energy_is_least() -> None:
    robot = pl.Robot()
    robot.add_body("follower", 0.2, (1e-4,) * 3, joint=Cam(5.0, stiffness=3.0, rest=0.1))
    exact = 3.0 * 0.1 / (3.0 + 2.0 * 0.2 * 9.81 * 5.0)
    assert robot.statics().joint("follower") == pytest.approx([exact], rel=1e-6)


class Level(Cam):
    """Axes that forget the rise: the same as those of the pose at the origin only."""

    def axes(self, q: Any) -> Any:
        return np.array([[0, 0, 0, 1.0, 0, 0]]).T


class Swapped(Cam):
    def axes(self, q: Any) -> Any:
        return np.array([[1.0, 0, 2.0 * self.height * q[0], 0, 0, 0]]).T


class Flat(Cam):
    def axes(self, q: Any) -> Any:
        return np.array([0, 0, 0, 1.0, 0, 0])


class Scaled(Cam):
    def pose(self, q: Any) -> Any:
        return 2.0 * np.eye(4)


class Endless(Cam):
    def pose(self, q: Any) -> Any:
        return np.full((4, 4), np.nan)


class Double(Cam):
    nv: ClassVar[int] = 2


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (Level, "Level: axes = .*differences of the pose.*column 0"),
        (Swapped, "Swapped: axes = .*differences of the pose"),
        (Flat, r"Flat: axes = .*shape \(6,\).*\(6, 1\)"),
        (Scaled, "Scaled: pose = .*rotation and a position"),
        (Endless, "Endless: pose = .*finite numbers"),
        (Double, "Double: nq = 1.*as many as nv"),
    ],
)
def test_pose_and_axes_that_do_not_fit_are_refused(joint: Any, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        joint(5.0, stiffness=3.0)
