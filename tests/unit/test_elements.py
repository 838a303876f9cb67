"""Constraints and loads in chosen frames, held on one side, moved by inputs; bushings; integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

SPIN = 5.0
STEPS = [pl.Midpoint(), pl.GeneralizedAlpha(0.9), pl.Newmark(), pl.Radau(1e-8)]


def table(gravity: float = 0.0) -> tuple[pl.Robot, Any]:
    """A table that turns about z, and a bead that moves on it."""
    robot = pl.Robot(gravity=(0.0, 0.0, -gravity))
    plate = robot.add_body("table", 1.0, (0.1,) * 3, joint=pl.Revolute("z", drive="angle"))
    joint = pl.FreeDirections(("x", "y", "z"))
    robot.add_body("bead", 0.2, (1e-4,) * 3, pose=pl.pose((0.1, 0, 0)), joint=joint)
    return robot, plate


def turning(t: float) -> float:
    return SPIN * t


def unbalanced(motion: Any) -> float:
    """Gap of the energy balance relative to the largest energy."""
    energy = motion.energy
    stored = energy["kinetic"] + energy["elastic"] + energy["gravity"]
    gap = stored - stored[0] + energy["dissipated"] - energy["work"]
    return float(np.abs(gap).max() / np.ptp(energy["kinetic"]))


# -- constraints in a frame ----------------------------------------------------------------------


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
def test_a_bead_is_driven_along_a_spoke_of_a_turning_table(integrator: Any) -> None:
    """Position, and the forces of polar coordinates: centripetal, Coriolis, weight."""
    robot, plate = table(gravity=9.81)
    hold = ("x", "y", "z")
    robot.add_constraint("spoke", "bead", plate.at((0, 0, 0)), hold=hold, moves={"x": "slide"})
    slide = pl.Sine(0.03, 2.0, offset=0.1)
    inputs = {"table": turning, "slide": slide}
    motion = robot.simulate(0.4, 1e-3, inputs=inputs, integrator=integrator)
    r, rate, bend = np.array(
        [[f(t) for t in motion.t] for f in (slide, slide.rate, slide.acceleration)]
    )
    angle = SPIN * motion.t
    exact = np.stack([r * np.cos(angle), r * np.sin(angle), 0.0 * r], axis=1)
    assert motion.position("bead") == pytest.approx(exact, abs=1e-8)
    radial, sideways = 0.2 * (bend - r * SPIN**2), 0.2 * 2.0 * rate * SPIN
    wanted = np.stack([radial, sideways, np.full(len(r), 0.2 * 9.81)], axis=1)
    assert motion.reactions["spoke"][5:, 3:] == pytest.approx(wanted[5:], abs=1e-4)
    assert motion.drive_forces["slide"][5:] == pytest.approx(radial[5:], abs=1e-4)
    if not isinstance(integrator, pl.Radau):
        assert unbalanced(motion) < 2e-4


def test_a_motion_may_be_given_by_its_acceleration() -> None:
    robot, plate = table()
    hold = ("x", "y", "z")
    robot.add_constraint("spoke", "bead", plate.at((0, 0, 0)), hold=hold, moves={"x": "slide"})
    slide = pl.Integral(pl.Integral(pl.Sine(2.0, 1.5), 0.1), 0.1)
    motion = robot.simulate(0.5, 5e-3, inputs={"slide": slide})
    w = 3.0 * np.pi
    exact = 0.1 + (0.1 + 2.0 / w) * motion.t - 2.0 / w**2 * np.sin(w * motion.t)
    assert motion.position("bead")[:, 0] == pytest.approx(exact, abs=1e-9)
    force = 0.2 * 2.0 * np.sin(w * motion.t)
    assert motion.drive_forces["slide"] == pytest.approx(force, abs=1e-3)


def test_integrals_are_exact_across_jumps_and_keep_their_derivatives(tmp_path: Any) -> None:
    jump = pl.Integral(pl.Step(0.0, 3.0, 0.1234), 1.0)
    assert jump(1.0) == pytest.approx(1.0 + 3.0 * (1.0 - 0.1234), abs=1e-9)
    assert jump.rate(0.5) == 3.0 and jump(0.0) == 1.0
    smooth = pl.Integral(lambda t: t**2)
    assert [smooth(t) for t in (0.3, 2.0, 0.7)] == pytest.approx([0.009, 8 / 3, 0.343 / 3])
    with pytest.raises(pl.DescriptionError, match=r"Integral"):
        pl.Integral("fast")  # type: ignore[arg-type]
    robot, _ = table()
    path = robot.save(tmp_path / "robot.yaml")
    text = path.read_text() + "inputs:\n  table: {integral: {of: {constant: 2.0}, initial: 0.5}}\n"
    path.write_text(text)
    motion = pl.Robot.from_file(path).simulate(0.2, 0.1)
    assert motion.joint("table")[:, 0] == pytest.approx([0.5, 0.7, 0.9])


def test_a_moving_stop_pushes_and_lets_go() -> None:
    """A bead on a table that rises and falls faster than the bead can follow."""
    robot, _ = table(gravity=9.81)
    floor = {"to": pl.pose((0.0, 0.0, 0.0)), "hold": ("z >= 0",), "moves": {"z": "rise"}}
    robot.add_constraint("floor", "bead", **floor)
    amplitude, frequency = 0.02, 4.0
    motion = robot.simulate(0.4, 5e-4, inputs={"rise": pl.Sine(amplitude, frequency)})
    w = 2.0 * np.pi * frequency
    leaves = np.arcsin(9.81 / (amplitude * w**2)) / w
    z, floor_z = motion.position("bead")[:, 2], amplitude * np.sin(w * motion.t)
    before = motion.t < leaves - 1e-3
    assert z[before] == pytest.approx(floor_z[before], abs=1e-9)
    t = motion.t - leaves
    flies = amplitude * np.sin(w * leaves) + amplitude * w * np.cos(w * leaves) * t - 4.905 * t**2
    airborne = (t > 2e-3) & (flies > floor_z + 1e-4) & (t < 0.15)
    assert airborne.sum() > 100
    assert z[airborne] == pytest.approx(flies[airborne], abs=2e-5)
    assert (z >= floor_z - 1e-9).all()
    force = motion.reactions["floor"][:, 5]
    assert force[before][5:] == pytest.approx(0.2 * (9.81 - w**2 * floor_z[before][5:]), rel=1e-2)
    assert force[airborne] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("push", "held"), [(0.5, False), (-0.5, True)])
def test_one_side_is_held_in_the_axes_of_the_frame(push: float, held: bool) -> None:
    robot, plate = table()
    robot.add_bushing("soft", "bead", stiffness={"x": 50.0, "y": 50.0, "z": 50.0})
    hold = ("y >= 0", "z")
    robot.add_constraint("rail", "bead", plate.at((0.1, 0, 0)), hold=hold)
    robot.add_load("push", "bead", force=(0.0, push, 0.3), frame="table")
    still = robot.statics({"table": 0.0})
    moved = still.position("bead") - (0.1, 0.0, 0.0)
    assert moved == pytest.approx([0.0, 0.0 if held else 0.01, 0.0], abs=1e-9)
    wanted = [0.0, 0.5 if held else 0.0, -0.3]
    assert still.reactions["rail"][3:] == pytest.approx(wanted, abs=1e-8)


# -- loads in a frame ----------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
def test_a_load_turns_with_the_frame_of_another_part(integrator: Any) -> None:
    robot, _ = table()
    robot.add_load("push", "bead", force=(0.5, 0, 0), frame="table")
    motion = robot.simulate(1.0, 1e-3, inputs={"table": turning}, integrator=integrator)
    a, t = 0.5 / 0.2 / SPIN**2, SPIN * motion.t
    exact = np.stack([0.1 + a * (1.0 - np.cos(t)), a * (t - np.sin(t))], axis=1)
    assert motion.position("bead")[:, :2] == pytest.approx(exact, abs=2e-6)
    assert unbalanced(motion) < 1e-5


def test_axes_of_its_own_section_are_those_of_a_follower_load(tmp_path: Any) -> None:
    tips = []
    for frame in ("body", "arm.tip", "arm.0.15"):
        robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
        soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
        robot.add_rod("arm", 0.3, pl.Circle(0.01), soft)
        wrench = {"force": (0.1, 0.05, 0.02), "moment": (0.002, 0.01, 0.003)}
        robot.add_load("push", "arm.tip", **wrench, frame=frame)
        still = robot.statics()
        assert still.iterations < 40
        tips.append(still.tip("arm"))
        again = pl.Robot.from_file(robot.save(tmp_path / "arm.yaml"))
        assert again.statics().tip("arm") == pytest.approx(tips[-1], abs=1e-9)
    assert tips[0] == pytest.approx(tips[1], abs=1e-9)
    assert np.abs(tips[0] - tips[2]).max() > 1e-3
    # the same tip under a dead load that has the direction of the middle of the arm
    turn = still.pose("arm", [0.15])[0, :3, :3]
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft)
    turned = {name: tuple(turn @ value) for name, value in wrench.items()}
    robot.add_load("push", "arm.tip", **turned)
    assert robot.statics().tip("arm") == pytest.approx(tips[2], abs=1e-7)


# -- bushings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
def test_a_bushing_acts_along_one_axis_of_a_turned_frame_on_one_side(integrator: Any) -> None:
    """A quarter of a vibration, then free flight."""
    k, m, turn = 80.0, 0.2, 0.5
    robot, plate = table()
    law = {"stiffness": {"x": k}, "kinds": {"x": "compression"}, "rest": {"x": 0.0}}
    robot.add_bushing("mount", "bead", plate.at((0, 0, 0)), **law)
    axis = np.array([np.cos(turn), np.sin(turn), 0.0])
    joints = {"bead": -0.05 * axis - (0.1, 0.0, 0.0)}
    inputs = {"table": turn}
    motion = robot.simulate(0.3, 1e-3, inputs=inputs, joints=joints, integrator=integrator)
    rate = np.sqrt(k / m)
    free = np.pi / 2.0 / rate
    exact = np.where(
        motion.t < free, -0.05 * np.cos(rate * motion.t), 0.05 * rate * (motion.t - free)
    )
    assert motion.position("bead") @ axis == pytest.approx(exact, abs=2e-5)
    assert motion.reading("mount", "force")[0, 3] == pytest.approx(0.05 * k)
    assert unbalanced(motion) < 1e-3


def test_bushings_damp_by_powers_and_close_the_energy_balance() -> None:
    """The secant of the potential makes the balance of Midpoint exact but for Newton's tolerance."""
    robot, plate = table()
    stiffness = dict.fromkeys(("x", "y", "z"), 60.0)
    law = {"stiffness": stiffness, "damping": {"x": 3.0, "z": 0.5}, "power": 2.0}
    robot.add_bushing("mount", "bead", plate.at((0, 0, 0)), **law)
    motion = robot.simulate(0.4, 4e-3, joints={"bead": (0.03, -0.02, 0.05)})
    assert motion.energy["dissipated"][-1] > 1e-3
    assert unbalanced(motion) < 1e-6


def damped(by: str, power: float) -> tuple[pl.Robot, str]:
    """A cart of 0.2 kg on a slide along x whose only force is 0.6 |v|^power against its velocity."""
    robot, damping = pl.Robot(gravity=(0.0, 0.0, 0.0)), 0.6 if by == "joint" else 0.0
    joint = pl.Prismatic("x", damping=damping, power=power)
    cart = robot.add_body("cart", 0.2, joint=joint, pose=pl.pose((0.5, 0.0, 0.0)))
    limp = pl.Stiffness(bending=1e-12, twist=1e-12, shear=1e-12, axial=1e-12, mass=1.0)
    if by == "link":
        loss = pl.Damping(axial=0.6 * 0.5**power)
        robot.add_link(
            "link", (0, 0, 0), cart.at((0, 0, 0)), limp, strain_damping=loss, power=power
        )
    return robot, "cart"


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("by", ["joint", "link"])
def test_a_cart_slows_down_by_the_power_of_its_velocity(
    by: str, power: float, integrator: Any
) -> None:
    """v' = -3 v^power in closed form, and what is lost is what was there."""
    robot, cart = damped(by, power)
    motion = robot.simulate(0.2, 1e-3, velocity={cart: 1.0}, integrator=integrator)
    t = motion.t
    exact = {0.5: (1.0 - 1.5 * t) ** 2, 1.0: np.exp(-3.0 * t), 2.0: 1.0 / (1.0 + 3.0 * t)}[power]
    assert motion.joint_rate(cart)[:, 0] == pytest.approx(exact, abs=2e-5)
    lost = 0.1 * (1.0 - exact[-1] ** 2)
    assert motion.energy["dissipated"][-1] == pytest.approx(lost, rel=1e-4)


def test_joints_and_links_with_powers_are_in_files_and_damp_each_coordinate(tmp_path: Any) -> None:
    robot, cart = damped("link", 2.0)
    joint = pl.Planar("z", damping=(0.6, 0.3, 0.1), power=(2.0, 1.0, 0.5))
    robot.add_body("puck", 0.2, (1e-3,) * 3, joint=joint)
    again = pl.Robot.from_file(robot.save(tmp_path / "robot.yaml"))
    speed = {cart: 1.0, "puck": (1.0, 1.0, 1.0)}
    one, two = (x.simulate(0.1, 1e-3, velocity=speed) for x in (robot, again))
    assert two.joint_rate("puck")[-1] == pytest.approx(one.joint_rate("puck")[-1], abs=1e-12)
    assert two.joint_rate(cart)[-1] == pytest.approx(one.joint_rate(cart)[-1], abs=1e-12)
    assert one.joint_rate("puck")[-1, 1] == pytest.approx(np.exp(-0.15), abs=1e-5)
    assert one.joint_rate("puck")[-1, 0] == pytest.approx(1.0 / 1.3, abs=1e-5)
    with pytest.raises(pl.DescriptionError, match=r"power.*one for all, or 3"):
        pl.Planar("z", damping=0.1, power=(2.0, 1.0))


def sprung(by_mount: bool) -> pl.Robot:
    stiffness = {"x": 50.0, "y": 40.0, "z": 60.0, "rz": 0.3}
    robot = pl.Robot()
    joint = pl.FreeDirections(
        tuple(stiffness), stiffness=0.0 if by_mount else tuple(stiffness.values())
    )
    robot.add_body("bead", 0.2, (1e-4,) * 3, joint=joint, centre=(0.01, 0.0, 0.0))
    if by_mount:
        robot.add_bushing("mount", "bead", stiffness=stiffness)
    robot.add_load("push", "bead", force=(1.0, 0.5, 0.0), moment=(0.0, 0.0, 0.05))
    return robot


def test_a_bushing_has_the_equilibrium_and_modes_of_a_sprung_joint() -> None:
    mount, joint = sprung(True), sprung(False)
    wanted = [1.0 / 50.0, 0.5 / 40.0, -0.2 * 9.81 / 60.0, 0.05 / 0.3]
    assert mount.statics().joint("bead") == pytest.approx(wanted, rel=1e-6)
    assert joint.statics().joint("bead") == pytest.approx(wanted, rel=1e-6)
    assert mount.modes(4).frequencies == pytest.approx(joint.modes(4).frequencies, rel=1e-9)


def test_a_spring_is_stretched_by_its_compression_ratio() -> None:
    """Two springs of 0.2 m at rest, one of them shortened to 0.9: the bead goes half way."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_body("bead", 0.2, joint=pl.Prismatic("x"))
    robot.add_spring("left", "bead", (-0.2, 0, 0), stiffness=100.0, compression=0.9)
    robot.add_spring("right", "bead", (0.2, 0, 0), stiffness=100.0)
    still = robot.statics()
    assert still.position("bead")[0] == pytest.approx(-0.01, abs=1e-9)
    assert still.tension("left") == pytest.approx(1.0, abs=1e-7)
    with pytest.raises(pl.DescriptionError, match=r"compression = 0.9.*rest is given"):
        robot.add_spring("both", "bead", (0, 0, 1.0), stiffness=1.0, rest=0.5, compression=0.9)


# -- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (
            lambda r: r.add_constraint("c", "bead", hold=("z", "z >= 0")),
            ("hold", "one side or on both"),
        ),
        (lambda r: r.add_constraint("c", "bead", hold=("z > 0",)), ("hold", "z > 0")),
        (
            lambda r: r.add_constraint("c", "bead", hold=("z",), moves={"z": "up"}),
            ("to", "a frame or a pose"),
        ),
        (
            lambda r: r.add_constraint("c", "bead", "table", hold=("z",), moves={"x": "up"}),
            ("moves", "directions that it holds: z"),
        ),
        (
            lambda r: r.add_constraint("c", "bead", "table", moves={"x": "table"}),
            ("input", "'table'"),
        ),
        (lambda r: r.add_load("l", "bead", force=(1, 0, 0), frame="tabel"), ("frame", "tabel")),
        (lambda r: r.add_bushing("b", "bead"), ("bushing 'b'", "stiffness", "or with damping")),
        (lambda r: r.add_bushing("b", "bead", stiffness={"q": 1.0}), ("stiffness", "'q'")),
        (lambda r: r.add_bushing("b", "bead", stiffness={"x": -1.0}), ("stiffness.x", "-1")),
        (
            lambda r: r.add_bushing("b", "bead", stiffness={"x": 1.0}, kinds={"y": "tension"}),
            ("kinds", "directions with stiffness"),
        ),
        (
            lambda r: r.add_bushing("b", "bead", stiffness={"x": 1.0}, kinds={"x": "up"}),
            ("kinds.x", "up"),
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(add: Any, words: tuple[str, ...]) -> None:
    robot, _ = table()
    with pytest.raises(pl.DescriptionError) as told:
        add(robot)
    assert all(word in str(told.value) for word in words), told.value


def test_strong_forms_refuse_loads_in_other_frames_and_moved_constraints() -> None:
    def arm() -> pl.Robot:
        robot = pl.Robot()
        soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
        robot.add_rod("arm", 0.3, pl.Circle(0.01), soft)
        return robot

    turned, moved = arm(), arm()
    turned.add_load("push", "arm.tip", force=(0.1, 0, 0), frame="arm.0.1")
    moved.add_constraint("hand", "arm.tip", pl.pose((0, 0, 0.3)), hold=("x",), moves={"x": "slide"})
    for robot, name in ((turned, "push"), (moved, "hand")):
        with pytest.raises(pl.DescriptionError, match=name):
            robot.statics(formulation=pl.Shooting())


def test_elements_survive_a_robot_file_and_are_drawn(tmp_path: Any) -> None:
    robot, plate = table(gravity=9.81)
    hold, moves = ("y", "z >= 0"), {"y": "slide"}
    robot.add_constraint("rail", "bead", plate.at((0.1, 0, 0)), hold=hold, moves=moves)
    law = {"stiffness": {"x": 50.0, "z": 10.0}, "damping": {"x": 0.2}, "kinds": {"z": "tension"}}
    robot.add_bushing("mount", "bead", plate.at((0.05, 0, 0)), **law)
    robot.add_load("push", "bead", force=(0.5, 0, 0), frame="table")
    again = pl.Robot.from_file(robot.save(tmp_path / "table.yaml"))
    inputs = {"table": 0.3, "slide": 0.01}
    one, two = (x.statics(inputs) for x in (robot, again))
    assert one.position("bead") == pytest.approx(two.position("bead"), abs=1e-12)
    assert one.plot() is not None and robot.plot() is not None


def mounted(stiffness: float, damping: float) -> pl.Robot:
    robot = pl.Robot()
    robot.add_body("block", 0.2, (1e-4,) * 3, joint=pl.FreeDirections(("x", "z")))
    law = {"stiffness": {"x": 50.0, "z": stiffness}, "damping": {"z": damping}}
    robot.add_bushing("mount", "block", **law)
    robot.add_load("push", "block", force=(0, 0, -1.0))
    return robot


def test_fit_finds_the_numbers_of_a_bushing() -> None:
    push = np.array([0.1, 0.5, 1.0])
    rest = {"push": push, "block.joint.z": -(0.2 * 9.81 + push) / 70.0}  # exact
    found = pl.fit(mounted(60.0, 0.2), pl.Measurement(rest), ["mount.stiffness.z"])
    assert found.values["mount.stiffness.z"] == pytest.approx(70.0, rel=1e-6)
    motion = mounted(70.0, 0.5).simulate(0.3, 1e-3)
    columns = {"t": motion.t, "block.joint.z": motion.joint("block")[:, 1]}
    both = ["mount.stiffness.z", "mount.damping.z"]
    data = pl.Measurement(columns, "t", inputs={"push": 1.0})
    found = pl.fit(mounted(60.0, 0.2), data, both, dt=1e-3)
    assert list(found.values.values()) == pytest.approx([70.0, 0.5], rel=1e-5)


@pytest.mark.parametrize("rate", [lambda t: np.nan, lambda t: np.inf, lambda t: np.ones(3)])
def test_an_integral_of_what_is_no_number_is_refused(rate: Any) -> None:
    with pytest.raises(pl.DescriptionError, match=r"Integral: of at t = .*finite number"):
        pl.Integral(rate, 0.0)(0.1)


def test_motion_that_would_begin_behind_a_one_sided_constraint_is_refused() -> None:
    robot = pl.Robot()
    robot.add_body("block", 0.2, (1e-4,) * 3, joint=pl.Free())
    robot.add_constraint("floor", "block", pl.pose((0, 0, 0)), hold=("z >= 0",))
    with pytest.raises(
        pl.DescriptionError, match=r"constraint 'floor': gap at the start = 0.01.*wrong side"
    ):
        robot.simulate(0.1, 1e-3, joints={"block": pl.pose((0, 0, -0.01))})
    above = robot.simulate(0.1, 1e-3, joints={"block": pl.pose((0, 0, 0.01))})
    assert above.position("block")[-1][2] == pytest.approx(0.0, abs=1e-9)
