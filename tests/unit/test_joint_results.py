"""Joints in results: coordinates, rates, reactions, forces of drives; in files, tables and fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

GRAVITY = 9.81


def two_links(**crank: Any) -> pl.Robot:
    """A driven crank about y with a rod between bodies hung on it by a hinge."""
    robot = pl.Robot()
    upper = robot.add_body(
        "crank", 2.0, (0.02,) * 3, centre=(0.1, 0.0, 0.0), joint=pl.Revolute("y", **crank)
    )
    robot.add_body(
        "bob", 1.0, (0.01,) * 3, on=upper.at((0.3, 0.0, 0.0)), centre=(0.0, 0.0, -0.2),
        joint=pl.Revolute("y", damping=0.01),
    )  # fmt: skip
    return robot


def test_reaction_between_parts_carries_all_that_hangs_below() -> None:
    still = two_links(drive="angle", input="turn").statics()
    assert set(still.reactions) == {"crank", "bob"}
    assert still.reactions["bob"] == pytest.approx([0, 0, 0, 0, 0, GRAVITY], abs=1e-9)
    moment = -GRAVITY * (2.0 * 0.1 + 1.0 * 0.3)
    assert still.reactions["crank"] == pytest.approx([0, moment, 0, 0, 0, 3 * GRAVITY], abs=1e-9)
    assert still.drive_forces == {"turn": pytest.approx(moment)}


def test_drive_force_of_a_spring_loaded_joint_is_what_the_motor_adds() -> None:
    still = two_links(drive="angle", stiffness=4.0, rest=0.5).statics({"crank": 0.2})
    turned = -GRAVITY * np.cos(0.2) * (2.0 * 0.1 + 1.0 * 0.3)
    assert still.drive_forces["crank"] == pytest.approx(turned + 4.0 * (0.2 - 0.5), abs=1e-9)


@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_torque_of_a_prescribed_motion_is_that_of_newton_and_euler(friction: float) -> None:
    robot = pl.Robot()
    joint = pl.Revolute("y", drive="angle", damping=0.3, friction=friction)
    robot.add_body("arm", 2.0, (0.02,) * 3, centre=(0.1, 0.0, 0.0), joint=joint)
    motion = robot.simulate(0.5, 1e-3, inputs={"arm": pl.Sine(0.4, 2.0)})
    w = 4 * np.pi
    angle, rate = 0.4 * np.sin(w * motion.t), 0.4 * w * np.cos(w * motion.t)
    inertia = 0.02 + 2.0 * 0.1**2
    # at rest friction is unknown, and told as none
    lost = 0.3 * rate + friction * np.sign(np.where(np.abs(rate) > 1e-3, rate, 0.0))
    exact = -(w**2) * angle * inertia - 2.0 * GRAVITY * 0.1 * np.cos(angle) + lost
    assert motion.drive_forces["arm"] == pytest.approx(exact, abs=1e-3 * np.ptp(exact))
    assert motion.joint_rate("arm")[:, 0] == pytest.approx(rate, abs=1e-9)
    # the wrench of the joint has the torque of motor and damper about its axis
    about = motion.reactions["arm"][:, 1]
    assert about == pytest.approx(exact - lost, abs=1e-3 * np.ptp(exact))


@pytest.mark.parametrize("friction", [0.0, 50.0])
def test_reactions_of_a_joint_that_swings_or_sticks(friction: float) -> None:
    robot = pl.Robot()
    joint = pl.Revolute("y", friction=friction)
    robot.add_body("bob", 2.0, (0.02,) * 3, centre=(0.3, 0.0, 0.0), joint=joint)
    motion = robot.simulate(0.2, 1e-3)
    moment = motion.reactions["bob"][:, 1]
    if friction:
        assert moment == pytest.approx(-0.3 * 2.0 * GRAVITY, rel=1e-4)
        return
    angle, rate = motion.joint("bob")[:, 0], motion.joint_rate("bob")[:, 0]
    assert np.abs(moment).max() < 1e-4  # of 5.9 N m, by the acceleration that a step resolves
    along = motion.reactions["bob"][:, 3]  # what pulls the bob towards the hinge
    exact = -2.0 * 0.3 * rate**2 - 2.0 * GRAVITY * np.sin(angle)
    assert along == pytest.approx(exact, abs=1e-3 * np.abs(exact).max())


def test_files_and_tables_hold_joints(tmp_path: Any) -> None:
    robot = two_links(drive="angle")
    robot.add_body("ball", 1.0, (0.01,) * 3, joint=pl.Spherical(stiffness=1.0))
    motion = robot.simulate(0.1, 1e-2, inputs={"crank": pl.Sine(0.1, 1.0)})
    data = pl.load(motion.save(tmp_path / "motion.nc"))
    assert data["joint_bob"].values == pytest.approx(motion.joint("bob"))
    assert data["joint_ball"].shape == (11, 3) and data["joint_ball"].attrs["names"] == "rx, ry, rz"
    assert data["joint_rate_crank"].values == pytest.approx(motion.joint_rate("crank"))
    table = (tmp_path / "motion.csv").resolve()
    motion.to_csv(table)
    header = table.read_text().splitlines()[0].split(",")
    assert {"bob.joint.angle", "bob.joint_rate.angle", "ball.joint.rz"} <= set(header)
    assert pl.load(robot.statics().save(tmp_path / "still.nc"))["joint_bob"].shape == (1,)


def test_fit_finds_stiffness_and_friction_of_a_joint(tmp_path: Any) -> None:
    def robot(stiffness: float, friction: float) -> pl.Robot:
        found = pl.Robot(gravity=(0.0, 0.0, 0.0))
        joint = pl.Revolute("x", stiffness=stiffness, friction=friction, drive="torque")
        found.add_body("hand", 1.0, (0.1,) * 3, joint=joint)
        return found

    loads = [1.0, 1.5, 2.0]
    angles = [float(robot(2.0, 0.5).statics({"hand": u}).joint("hand")[0]) for u in loads]
    rows = [f"{u},{x!r}" for u, x in zip(loads, angles, strict=True)]
    table = tmp_path / "angles.csv"
    table.write_text("\n".join(["hand,hand.joint.angle", *rows]))
    fit = pl.fit(robot(1.0, 0.2), table, ["hand.joint.stiffness", "hand.joint.friction"])
    values = {item.name: item.value for item in fit.estimates}
    assert values["hand.joint.stiffness"] == pytest.approx(2.0, rel=1e-3)
    assert values["hand.joint.friction"] == pytest.approx(0.5, rel=1e-3)


def test_fit_finds_friction_from_a_motion(tmp_path: Any) -> None:
    """Joints that stick and slide have no neighbours to follow: each is simulated from the start."""

    def robot(stiffness: float, friction: float) -> pl.Robot:
        found = pl.Robot()
        joint = pl.Revolute("x", stiffness=stiffness, friction=friction, drive="torque")
        found.add_body("bob", 1.0, (0.02,) * 3, centre=(0, 0, -0.5), joint=joint)
        return found

    motion = robot(2.0, 0.4).simulate(2.0, 1e-2, inputs={"bob": pl.Sine(3.0, 0.7)})
    columns = (motion.t, motion.inputs["bob"], motion.joint("bob")[:, 0])
    rows = [",".join(map(repr, row)) for row in np.column_stack(columns).tolist()]
    table = tmp_path / "swing.csv"
    table.write_text("\n".join(["t,bob,bob.joint.angle", *rows]))
    fit = pl.fit(robot(1.5, 0.3), table, ["bob.joint.stiffness", "bob.joint.friction"])
    assert [item.value for item in fit.estimates] == pytest.approx([2.0, 0.4], rel=1e-4)
