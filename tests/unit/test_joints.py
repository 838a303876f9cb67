"""Every joint against differences of its pose, and what inputs and files make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.model import Array
from pliant.model.registry import Joint, variants

ASKEW = (1.0, 2.0, -0.5)
JOINTS: dict[str, JointMap] = {
    "fixed": pl.Fixed(),
    "revolute": pl.Revolute(ASKEW),
    "prismatic": pl.Prismatic(ASKEW),
    "cylindrical": pl.Cylindrical(ASKEW),
    "universal": pl.Universal("x", ASKEW),
    "spherical": pl.Spherical(),
    "planar": pl.Planar(ASKEW),
    "free": pl.Free(),
    "free_directions": pl.FreeDirections(
        ("z", ("x", 0.1), "rx", ("turn", ASKEW, 0.4), "y", ("turn", ASKEW), ("rz", -0.3))
    ),
}
MOVING = [name for name in JOINTS if name != "fixed"]


def test_every_joint_is_looked_at_here() -> None:
    known = {
        name for name, cls in variants(Joint).items() if cls.__module__.startswith("pliant.joints")
    }
    assert known == set(JOINTS)


def somewhere(joint: JointMap, rng: np.random.Generator, size: float = 0.7) -> Array:
    return joint.retract(joint.origin(), size * rng.normal(size=joint.nv))


@pytest.mark.parametrize("name", MOVING)
def test_axes_second_and_bias_are_derivatives_of_the_pose(name: str) -> None:
    joint, rng, step = JOINTS[name], np.random.default_rng(3), 1e-4
    q, v, r = somewhere(joint, rng), rng.normal(size=joint.nv), rng.normal(size=6)
    here = se3.inverse(joint.pose(q))
    if name != "free_directions":
        assert joint.pose(joint.origin()) == pytest.approx(np.eye(4), abs=1e-15)

    def twist(x: Array) -> Array:
        return np.asarray(se3.log(here @ joint.pose(joint.retract(q, x))))

    ahead, behind = twist(step * v), twist(-step * v)
    pose, axes = np.eye(4), np.array(joint.axes(joint.origin()), order="C")
    joint.place(q, pose, axes)
    assert pose == pytest.approx(joint.pose(q), abs=1e-14)
    assert axes @ v == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)
    H = np.zeros((joint.nv, joint.nv))
    joint.add_second(q, r, H)
    assert pytest.approx(H.T, abs=1e-14) == H
    assert v @ H @ v == pytest.approx(r @ (ahead + behind) / step**2, abs=1e-6)
    bias = np.ones(6)
    joint.set_bias(q, v, np.arange(joint.nv), bias)
    ends = [joint.axes(joint.retract(q, t * v)) @ v for t in (step, -step)]
    assert bias == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


@pytest.mark.parametrize("name", MOVING)
def test_values_of_a_joint_and_their_derivatives(name: str) -> None:
    joint, rng, step = JOINTS[name], np.random.default_rng(5), 1e-4
    q, v, r = somewhere(joint, rng), rng.normal(size=joint.nv), rng.normal(size=joint.nv)
    values = [joint.values(joint.retract(q, t * v)) for t in (step, 0.0, -step)]
    d, T, H = np.zeros(joint.nv), np.zeros((joint.nv, joint.nv)), np.zeros((joint.nv, joint.nv))
    joint.set_values(q, d, T)
    joint.add_curvature(q, r, H)
    assert d == pytest.approx(values[1], abs=1e-14)
    assert T @ v == pytest.approx((values[0] - values[2]) / (2 * step), abs=1e-7)
    second = r @ (values[0] - 2 * values[1] + values[2]) / step**2
    assert v @ H @ v == pytest.approx(second, abs=1e-6)
    other = somewhere(joint, rng)
    joint.set_change(other, q, d, T)
    assert d == pytest.approx(joint.difference(other, q), abs=1e-14)
    ends = [joint.difference(other, joint.retract(q, t * v)) for t in (step, -step)]
    assert T @ v == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)
    assert joint.retract(other, d) == pytest.approx(q, abs=1e-13)


@pytest.mark.parametrize("name", MOVING)
def test_motion_of_values_is_a_motion_of_the_joint(name: str) -> None:
    joint, rng, step = JOINTS[name], np.random.default_rng(7), 1e-4
    x = rng.normal(size=(joint.nv, 3)) * 0.4

    def at(t: float) -> Array:
        now = x[:, 0] + t * x[:, 1] + 0.5 * t**2 * x[:, 2]
        return joint.motion(np.stack([now, x[:, 1] + t * x[:, 2], x[:, 2]], axis=1))

    (q, v, a), ahead, behind = at(0.0), at(step), at(-step)
    assert joint.values(q) == pytest.approx(x[:, 0], abs=1e-13)
    rate = (joint.difference(q, ahead[0]) - joint.difference(q, behind[0])) / (2 * step)
    assert v == pytest.approx(rate, abs=1e-7)
    assert a == pytest.approx((ahead[1] - behind[1]) / (2 * step), abs=1e-6)


# -- drives ------------------------------------------------------------------------------------------


def carried(joint: JointMap, **more: Any) -> pl.Robot:
    robot = pl.Robot()
    robot.add_body(
        "hand", 1.0, (1e-2, 2e-2, 1.5e-2), centre=(0.03, 0.02, -0.1), joint=joint, **more
    )
    return robot


@pytest.mark.parametrize("joint", [pl.Revolute, pl.Prismatic, pl.Cylindrical, pl.Planar])
def test_an_axis_with_a_sign_is_the_opposite_one(joint: Any) -> None:
    for k, name in enumerate("xyz"):
        opposite = tuple(-np.eye(3)[k])
        np.testing.assert_array_equal(joint(f"-{name}").twists(), joint(opposite).twists())


def test_each_driven_coordinate_has_an_input_of_its_own() -> None:
    hinge = carried(pl.Revolute("x", drive="angle"))
    assert hinge.description.inputs() == {"hand": 0.0}
    both = carried(pl.Planar("z", drive=("position", None, "angle")))
    assert list(both.description.inputs()) == ["hand x", "hand angle"]
    named = carried(pl.Cylindrical("z", drive=("angle", "position"), input=("turn", "push")))
    assert list(named.description.inputs()) == ["turn", "push"]


MOTIONS = {
    "revolute": pl.Revolute(ASKEW, drive="angle"),
    "prismatic": pl.Prismatic(ASKEW, drive="position"),
    "cylindrical": pl.Cylindrical(ASKEW, stiffness=(2.0, 50.0), drive=(None, "position")),
    "universal": pl.Universal("x", ASKEW, stiffness=2.0, drive=("angle", None)),
    "spherical": pl.Spherical(drive="angle"),
    "planar": pl.Planar("y", stiffness=(50.0, 50.0, 2.0), drive=("position", None, "angle")),
    "free_directions": pl.FreeDirections(
        ("rx", ("y", 0.1), "z", ("turn", ASKEW, 0.3), "ry"),
        stiffness=(3.0, 1.0, 1.0),
        drive=(None, "position", "angle"),
    ),
}


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.9)], ids=repr)
@pytest.mark.parametrize("name", MOTIONS)
def test_prescribed_coordinates_follow_their_inputs_and_work_is_counted(
    name: str, integrator: Any
) -> None:
    joint = MOTIONS[name]
    robot = carried(joint)
    names = list(robot.description.inputs())
    signals = {n: pl.Sine(0.2 + 0.1 * k, 0.8 + 0.2 * k) for k, n in enumerate(names)}
    motion = robot.simulate(0.5, 2e-3, inputs=signals, integrator=integrator)
    values = np.array([joint.values(q) for q in motion.joint("hand")])
    for k, n in joint.driven_inputs("hand").items():
        wanted = [float(signals[n](t)) for t in motion.t]
        assert values[:, k] == pytest.approx(wanted, abs=1e-12)
    energy = motion.energy
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"]
    gap = total - total[0] + energy["dissipated"] - energy["work"]
    assert np.abs(gap).max() < 2e-3 * max(np.ptp(total), np.ptp(energy["work"]))


def test_statics_hold_prescribed_values() -> None:
    joint = pl.Spherical(drive="angle")
    still = carried(joint).statics({"hand rx": 0.3, "hand ry": -1.0, "hand rz": 2.0})
    assert joint.values(still.joint("hand")) == pytest.approx([0.3, -1.0, 2.0], abs=1e-12)


# -- messages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Revolute("w"), ("Revolute", "axis", "'w'")),
        (lambda: pl.Prismatic((0, 0, 0)), ("Prismatic", "axis", "not zero")),
        (lambda: pl.Universal("x", (2, 0, 0)), ("Universal", "second_axis")),
        (lambda: pl.Revolute("x", drive="position"), ("Revolute", "drive", "angle")),
        (lambda: pl.Cylindrical("x", stiffness=(1, 2, 3)), ("stiffness", "angle, position")),
        (lambda: pl.Planar("x", drive=("position",)), ("drive", "x, y, angle")),
        (lambda: pl.Revolute("x", input="turn"), ("input", "nothing drives it")),
        (lambda: pl.FreeDirections(("rx", "q")), ("FreeDirections", "directions[1]", "one of rx")),
        (lambda: pl.FreeDirections(("x", "x")), ("FreeDirections", "in different ways")),
        (lambda: pl.FreeDirections(("rz", ("z", 0.1), "rz")), ("directions", "different ways")),
        (lambda: pl.FreeDirections((("z", 0.1),)), ("directions", "at least one that is free")),
        (lambda: pl.FreeDirections(("x", ("turn", (0, 0, 0)))), ("directions[1]", "not zero")),
        (lambda: pl.FreeDirections(("x", ("z", "far"))), ("directions[1]", "far")),
        (lambda: pl.FreeDirections(()), ("FreeDirections", "directions", "a list of")),
        (lambda: pl.Revolute("x", stiffness=-1.0), ("Revolute", "stiffness", "-1")),
        (lambda: pl.Spherical(drive=("angle", None, None)), ("Spherical", "drive", "all")),
    ],
)
def test_bad_joints_are_refused_by_name(make: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(pl.DescriptionError) as told:
        make()
    assert all(word in str(told.value) for word in words), told.value


def test_an_input_that_drives_two_joints_is_refused() -> None:
    robot = carried(pl.Revolute("x", drive="angle", input="turn"))
    with pytest.raises(pl.DescriptionError, match=r"'turn'.*'hand' is driven by"):
        robot.add_body(
            "other", 1.0, (1, 1, 1), joint=pl.Prismatic("x", drive="position", input="turn")
        )
    with pytest.raises(pl.DescriptionError, match="one of the two inputs another name"):
        robot.add_load("turn", on="hand", force=(1, 0, 0))


# -- robot files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MOTIONS)
def test_joints_survive_a_robot_file(name: str, tmp_path: Any) -> None:
    robot = carried(MOTIONS[name])
    again = pl.Robot.from_file(robot.save(tmp_path / "robot.yaml"))
    assert again.description.bodies["hand"].joint == MOTIONS[name]


# -- chains of turns and shifts ---------------------------------------------------------------------


def by_a_chain() -> pl.Robot:
    """A pendulum on one joint: a shift, a turn, and another turn about an axis askew."""
    robot = pl.Robot()
    steps = ("x", ("z", -0.1), "ry", ("rx", 0.3), ("y", 0.05), ("turn", ASKEW), ("z", -0.2))
    joint = pl.FreeDirections(steps, stiffness=(40.0, 0.1, 0.2), damping=(0.2, 0.01, 0.02))
    robot.add_body("bob", 1.0, (1e-2, 2e-2, 1.5e-2), centre=(0.03, 0.0, 0.0), joint=joint)
    return robot


def by_single_joints() -> pl.Robot:
    """The same as three joints with massless bodies between them."""
    robot = pl.Robot()
    cart = robot.add_body("cart", 0.0, joint=pl.Prismatic("x", stiffness=40.0, damping=0.2))
    swing = pl.Revolute("y", stiffness=0.1, damping=0.01)
    arm = robot.add_body("arm", 0.0, on=cart.at((0.0, 0.0, -0.1)), joint=swing)
    turned = pl.pose((0, 0, 0), (0.3, 0, 0)) @ pl.pose((0.0, 0.05, 0.0))
    last = pl.Revolute(ASKEW, stiffness=0.2, damping=0.02)
    hand = robot.add_body("hand", 0.0, on=arm.at((0, 0, 0)), pose=turned, joint=last)
    robot.add_body(
        "bob", 1.0, (1e-2, 2e-2, 1.5e-2), on=hand.at((0.0, 0.0, -0.2)), centre=(0.03, 0.0, 0.0)
    )
    return robot


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.9), pl.Radau(1e-8)], ids=repr
)
def test_a_chain_of_steps_moves_as_single_joints_do(integrator: Any) -> None:
    chain, single = by_a_chain(), by_single_joints()
    one, three = (robot.simulate(0.4, 2e-3, integrator=integrator) for robot in (chain, single))
    moved = np.concatenate([three.joint(name) for name in ("cart", "arm", "hand")], axis=1)
    assert np.abs(one.joint("bob") - moved).max() < 2e-6 * np.abs(moved).max()
    assert one.energy_gap.share_taken < 2e-3


def test_a_chain_of_steps_has_the_equilibrium_and_modes_of_single_joints(tmp_path: Any) -> None:
    chain, single = by_a_chain(), by_single_joints()
    still, other = chain.statics(), single.statics()
    assert still.pose("bob") == pytest.approx(other.pose("bob"), abs=1e-10)
    assert chain.modes(3).frequencies == pytest.approx(single.modes(3).frequencies, rel=1e-9)
    again = pl.Robot.from_file(chain.save(tmp_path / "chain.yaml"))
    assert again.description.bodies["bob"].joint == chain.description.bodies["bob"].joint
    assert chain.plot() is not None


# -- torques and forces ------------------------------------------------------------------------------


FORCED = {
    "revolute": pl.Revolute(ASKEW, stiffness=0.8, damping=0.02, drive="torque"),
    "prismatic": pl.Prismatic(ASKEW, stiffness=40.0, damping=0.5, drive="force"),
    "planar": pl.Planar("y", stiffness=(50, 50, 2.0), damping=0.1, drive=("force", None, "torque")),
    "spherical": pl.Spherical(stiffness=(1.0, 2.0, 1.5), rest=(0.2, 0, -0.1), drive="torque"),
}


@pytest.mark.parametrize("name", FORCED)
def test_drives_by_force_do_the_work_that_the_balance_has(name: str) -> None:
    joint = FORCED[name]
    robot = carried(joint)
    signals = {n: pl.Sine(1.0, 2.0 + k) for k, n in enumerate(robot.description.inputs())}
    gaps = []
    for dt in (4e-3, 2e-3):
        energy = robot.simulate(0.4, dt, inputs=signals).energy
        total = energy["kinetic"] + energy["gravity"] + energy["elastic"] + energy["dissipated"]
        gaps.append(np.abs(total - total[0] - energy["work"]).max() / np.ptp(energy["kinetic"]))
    assert gaps[1] < 2e-3 and gaps[1] < max(0.3 * gaps[0], 1e-12)


@pytest.mark.parametrize("name", FORCED)
def test_statics_under_drives_balance_gradients_of_the_energy(name: str) -> None:
    """Weight, springs and drive: the sum of all generalised forces, from energies by differences."""
    joint = FORCED[name]
    robot = carried(joint)
    inputs = dict.fromkeys(robot.description.inputs(), 0.3)
    still = robot.statics(inputs)
    assert still.iterations < 8
    q, k, rest = still.joint("hand"), joint.each("stiffness"), joint.each("rest")

    def potential(x: Array) -> float:
        place = joint.retract(q, x)
        height = (joint.pose(place) @ (0.03, 0.02, -0.1, 1.0))[2]
        return 9.81 * height + 0.5 * float(k @ (joint.values(place) - rest) ** 2)

    force = np.zeros(joint.nv)
    for n in joint.driven_inputs("hand"):
        force[n] = 0.3
    step = 1e-5 * np.eye(joint.nv)
    slope = [(potential(e) - potential(-e)) / 2e-5 for e in step]
    assert slope == pytest.approx(force, abs=2e-7)


@pytest.mark.parametrize(
    ("mass", "joint", "words"),
    [
        (0.0, pl.Prismatic("x"), "body 'hand': mass.*position"),
        (0.0, pl.Revolute("x", stiffness=1.0), "body 'hand': mass.*angle"),
        (1.0, pl.Spherical(), "body 'hand': inertia.*give it a mass and an inertia"),
    ],
)
def test_a_body_without_inertia_where_it_can_move_is_refused(
    mass: float, joint: JointMap, words: str
) -> None:
    robot = pl.Robot()
    robot.add_body("hand", mass, centre=(0.0, 0.0, -0.1), joint=joint)
    with pytest.raises(pl.DescriptionError, match=words):
        robot.simulate(0.1, 1e-2)


def test_a_massless_body_may_move_by_an_input_or_carry_others() -> None:
    robot = pl.Robot()
    cart = robot.add_body("cart", 0.0, joint=pl.Prismatic("x", drive="position"))
    gimbal = robot.add_body("gimbal", 0.0, on=cart.at((0, 0, 0)), joint=pl.Revolute("x"))
    robot.add_body(
        "bob",
        1.0,
        (0.01,) * 3,
        on=gimbal.at((0, 0, 0)),
        centre=(0, 0, -0.2),
        joint=pl.Revolute("y"),
    )
    motion = robot.simulate(0.5, 5e-3, inputs={"cart": pl.Sine(0.1, 1.0)})
    assert motion.energy_gap.share_taken < 1e-3


def test_robot_file_has_joints_with_all_options(tmp_path: Any) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(
        """
bodies:
  cart:
    shape: {box: {size: [0.1, 0.05, 0.02]}}
    density: 2700
    joint:
      planar: {axis: z, stiffness: [5, 5, 1], friction: 0.1, limits: [[-0.1, null], null, [-1, 1]],
               limit_stiffness: 100, drive: [force, null, angle], input: [push, turn]}
  knob:
    mass: 0.1
    inertia: [1e-4, 1e-4, 1e-4]
    on: {part: cart}
    joint: {free_directions: {directions: [rz, z], rest: [0.1, 0.0], stiffness: [1, 10]}}
"""
    )
    robot = pl.Robot.from_file(file)
    cart = robot.description.bodies["cart"]
    assert cart.mass == pytest.approx(0.27)
    assert list(robot.description.inputs()) == ["push", "turn"]
    bounds = cart.joint.bounds  # type: ignore[union-attr]
    assert bounds == pytest.approx(np.array([[-0.1, np.inf], [-np.inf, np.inf], [-1, 1]]))
    still = robot.statics({"push": 0.6, "turn": 0.3})
    assert still.joint("cart") == pytest.approx([0.1, 0.0, 0.3], abs=2e-5)
    wrong = file.read_text().replace("drive: [force, null, angle]", "drive: [torque, null, angle]")
    file.write_text(wrong)
    with pytest.raises(pl.FileError, match=r"robot.yaml:8.*joint.planar.drive = 'torque'.*'force'"):
        pl.Robot.from_file(file)
