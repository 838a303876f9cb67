"""Connections: hidden parts and their joints, the world as a side, robot files, bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.lie import so3

GROUND, CRANK, COUPLER, ROCKER = 0.5, 0.2, 0.4, 0.3


def four_bar_angles(theta: float) -> tuple[float, float]:
    """Angles of coupler and rocker in the plane x-z for an angle of the crank, from two circles."""
    A = CRANK * np.array([np.cos(theta), np.sin(theta)])
    way = np.array([GROUND, 0.0]) - A
    d = np.linalg.norm(way)
    along = (COUPLER**2 - ROCKER**2 + d**2) / (2.0 * d)
    across = np.sqrt(COUPLER**2 - along**2)
    B = A + (along * way + across * np.array([-way[1], way[0]])) / d
    return np.arctan2(*(B - A)[::-1]), np.arctan2(B[1], B[0] - GROUND)


def four_bar(theta: float = 1.0, joint: pl.Joint | None = None, **hinge: float) -> pl.Robot:
    """A planar linkage of three bars in the plane x-z, each of 1 kg, closed by a hinge."""
    coupler, rocker = four_bar_angles(theta)
    robot = pl.Robot()

    def bar(name: str, length: float, **place: object) -> pl.Body:
        moments = (1e-5, length**2 / 12.0, length**2 / 12.0)
        return robot.add_body(name, 1.0, moments, centre=(0.5 * length, 0, 0), **place)

    def turned(angle: float, x: float = 0.0) -> np.ndarray:
        return pl.pose((x, 0, 0), (0, -angle, 0))

    a = bar("crank", CRANK, pose=turned(theta), joint=pl.Revolute("y", **hinge))
    b = bar("coupler", COUPLER, on=a.at((CRANK, 0, 0)), pose=turned(coupler - theta),
            joint=pl.Revolute("y"))  # fmt: skip
    c = bar("rocker", ROCKER, pose=turned(rocker, GROUND), joint=pl.Revolute("y"))
    joint = pl.Revolute("y") if joint is None else joint
    robot.connect("loop", b.at((COUPLER, 0, 0)), c.at((ROCKER, 0, 0)), joint)
    return robot


def angles(result: pl.Equilibrium | pl.Motion) -> np.ndarray:
    """Angles (..., 4) of crank, coupler, rocker and loop from their rest."""
    names = ("crank", "coupler", "rocker", "loop")
    return np.concatenate([result.joint(name) for name in names], axis=-1)


def test_a_four_bar_linkage_turns_as_two_circles_say() -> None:
    """The joint of the loop has coordinates like all others; the crank is prescribed."""
    robot = four_bar(drive="angle")
    for turn in (0.3, -0.5):
        still = robot.statics({"crank": -turn})
        rest, now = four_bar_angles(1.0), four_bar_angles(1.0 + turn)
        coupler, rocker = now[0] - rest[0] - turn, now[1] - rest[1]
        found = -angles(still)
        assert found == pytest.approx([turn, coupler, rocker, rocker - coupler - turn], abs=1e-9)


def test_the_joint_of_a_loop_can_be_driven() -> None:
    """The input has the name of the connection; the linkage follows, and the drive does its work."""
    robot = four_bar(joint=pl.Revolute("y", drive="angle"))
    assert robot.description.inputs() == {"loop": 0.0}
    still = robot.statics({"loop": 0.2})
    turn = -still.joint("crank")[0]
    coupler, rocker = np.subtract(four_bar_angles(1.0 + turn), four_bar_angles(1.0))
    assert rocker - coupler == pytest.approx(-0.2, abs=1e-9)
    motion = robot.simulate(0.3, 2e-3, {"loop": lambda t: 0.2 * np.sin(5.0 * t) ** 2})
    assert motion.joint("loop")[:, 0] == pytest.approx(0.2 * np.sin(5.0 * motion.t) ** 2)
    assert motion.energy_gap.share_taken < 1e-4
    assert motion.energy_gap.share_added < 1e-4


def test_hidden_parts_are_no_parts_of_the_robot(tmp_path: Path) -> None:
    robot = four_bar(stiffness=20.0)
    still = robot.statics()
    assert list(robot.description.bodies) == ["crank", "coupler", "rocker"]
    assert set(still.reactions) == {"loop", "crank", "rocker"}
    assert still.to_xarray()["body"].values.tolist() == ["crank", "coupler", "rocker"]
    robot.save(tmp_path / "linkage.yaml")
    again = pl.Robot.from_file(tmp_path / "linkage.yaml")
    assert angles(again.statics()) == pytest.approx(angles(still), abs=1e-12)
    robot.plot(tmp_path / "linkage.png")
    robot.remove("loop")
    assert "loop" not in robot.description.inputs()


@pytest.mark.parametrize("side", ["a", "b", "none"])
def test_the_world_may_be_a_side(side: str) -> None:
    """A bar on two hinges in the world: the second one carries half of the weight, by symmetry."""
    robot = pl.Robot()
    bar = robot.add_body("bar", 2.0, (1e-3, 1e-3, 1e-3), centre=(0.5, 0, 0), joint=pl.Revolute("y"))
    end, place, joint = bar.at((1, 0, 0)), pl.pose((1, 0, 0)), pl.Revolute("y")
    ends = {"a": (place, end), "b": (end, place), "none": (end,)}[side]
    robot.connect("pin", *ends, joint=joint)
    still = robot.statics()
    assert still.joint("pin") == pytest.approx([0.0], abs=1e-12)
    assert still.reactions["pin"][3:] == pytest.approx([0, 0, 9.81], rel=1e-9)


def test_connection_of_rotated_frames_keeps_their_angle_at_rest() -> None:
    """Two rods clamped side by side at an angle, welded at their tips, rest as they were made."""
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=2e6, nu=0.45, rho=1000.0)
    tips = []
    for name, turn in (("left", 0.3), ("right", -0.4)):
        R = so3.exp(np.array([0.0, turn, 0.0]))
        base = pl.pose(np.array([0, 0, 0.2]) - 0.2 * R[:, 2], R)
        rod = robot.add_rod(name, 0.2, pl.Circle(0.005), soft, pose=base)
        tips.append(rod.tip)
    robot.connect("weld", *tips)
    still = robot.statics()
    assert still.tip("left")[:3, 3] == pytest.approx([0, 0, 0.2], abs=1e-12)
    assert still.strain("right")[:, :3] == pytest.approx(0.0, abs=1e-9)
    robot.add_load("push", "left.tip", force=(0.05, 0.02, 0.0))
    still = robot.statics()
    relative = np.linalg.solve(still.tip("left"), still.tip("right"))
    assert relative[:3, :3] == pytest.approx(so3.exp(np.array([0, -0.7, 0])), abs=1e-9)
    assert relative[:3, 3] == pytest.approx(0.0, abs=1e-10)


def test_wrong_connections_are_refused() -> None:
    robot = four_bar()
    with pytest.raises(pl.DescriptionError, match="another frame than 'a'"):
        robot.connect("same", "crank", "crank")
    with pytest.raises(pl.DescriptionError, match="for 'a' is in the world"):
        robot.connect("nowhere", np.eye(4))
    with pytest.raises(pl.DescriptionError, match="did you mean 'crank'"):
        robot.connect("typo", "crnk", "rocker")
    with pytest.raises(pl.DescriptionError, match="unique in the robot"):
        robot.connect("loop", "crank", "rocker")
