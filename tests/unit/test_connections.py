"""Connections: hidden parts and their joints, the world as a side, robot files, bad input."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import so3
from pliant.solve.redundancy import find_redundancy

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
    assert set(still.reactions) == {"loop", "crank", "coupler", "rocker"}
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


# -- redundant and open loops ----------------------------------------------------------------------


def test_redundant_rows_are_named_and_the_linkage_moves_all_the_same() -> None:
    """A planar linkage of four hinges in space: three rows too many, and no self-stress reported."""
    robot = four_bar(stiffness=20.0)
    with pytest.warns(
        pl.RedundancyWarning, match="3 redundant .* 'coupler' and 'rocker' in rx, rz, y"
    ):
        still = robot.statics()
    wrench = still.reactions["loop"]
    assert wrench[[0, 2, 4]] == pytest.approx(0.0, abs=1e-10)
    # the rocker hangs on two hinges: its weight and the force of the loop have no moment about one
    tip, weight = ROCKER * still.pose("rocker")[:3, 0], np.array([0, 0, -9.81])
    force = still.pose("rocker")[:3, :3] @ wrench[3:]
    assert np.cross(tip, force)[1] == pytest.approx(-np.cross(0.5 * tip, weight)[1], rel=1e-9)


@pytest.mark.parametrize(
    ("joint", "count"), [(None, 3), (pl.Revolute("y"), 3), (pl.Revolute("x"), 2), (pl.Free(), 0)]
)
def test_number_of_redundant_rows(joint: pl.Joint | None, count: int) -> None:
    """Rows less the rank of the planar motions: three joints move two bars in three directions.

    A hinge across the plane cannot turn: its coordinate takes one row of the six, and of the rest one
    holds the turn in the plane and two the shifts.
    """
    robot = four_bar()
    robot.remove("loop")
    robot.connect("loop", "coupler", "rocker", joint)
    effects = robot._compiler.compiled(None).effects
    found = find_redundancy(effects, effects.tree.rest)
    assert len(found) == count


def test_redundancy_of_a_singular_configuration_is_told_as_such() -> None:
    """A flat parallelogram has all its bars in line: one more row than elsewhere."""
    robot = pl.Robot()
    moments = (1e-3, 1e-3, 1e-3)
    hinge = {"joint": pl.Revolute("y")}
    a = robot.add_body("a", 1.0, moments, **hinge)
    b = robot.add_body("b", 1.0, moments, on=a.at((0.2, 0, 0)), **hinge)
    c = robot.add_body("c", 1.0, moments, pose=pl.pose((0.4, 0, 0)), **hinge)
    robot.connect("loop", b.at((0.4, 0, 0)), c.at((0.2, 0, 0)), pl.Revolute("y"))
    with pytest.warns(pl.RedundancyWarning, match=r"^4 redundant .* in this configuration only"):
        robot._compiler.compiled(None)


def test_joints_close_a_loop_that_is_open_at_rest() -> None:
    """Bars described one by one come together by their joints; a crank that is given stays."""
    robot = four_bar()
    robot.remove("loop")
    coupler, rocker = (robot.description.bodies[name] for name in ("coupler", "rocker"))
    places = coupler.at((COUPLER, 0, 0)), rocker.at((ROCKER, 0, 0))
    robot.connect("loop", *places, pl.Revolute("y"), pose=pl.pose())
    motion = robot.simulate(0.01, 1e-3, joints={"crank": -0.4})
    rest, now = four_bar_angles(1.0), four_bar_angles(1.4)
    wanted = [0.4, now[0] - rest[0] - 0.4, now[1] - rest[1]]
    assert -angles(motion)[0, :3] == pytest.approx(wanted, abs=1e-9)
    gap = motion.pose(places[0])[:, :3, 3] - motion.pose(places[1])[:, :3, 3]
    assert gap == pytest.approx(0.0, abs=1e-9)


def test_loop_that_cannot_close_is_refused_with_its_gap() -> None:
    """The bars are 0.5 m apart and 0.2 m, 0.05 m and 0.1 m long: 0.15 m are missing."""
    robot = pl.Robot()
    moments, hinge = (1e-3, 1e-3, 1e-3), pl.Revolute("y")
    a = robot.add_body("a", 1.0, moments, joint=hinge, pose=pl.pose((0, 0, 0), (0, -0.3, 0)))
    b = robot.add_body("b", 1.0, moments, on=a.at((0.2, 0, 0)), joint=hinge)
    c = robot.add_body("c", 1.0, moments, joint=hinge, pose=pl.pose((0.5, 0, 0), (0, -2.0, 0)))
    robot.connect("loop", b.at((0.05, 0, 0)), c.at((0.1, 0, 0)), pl.Revolute("y"), pose=pl.pose())
    for solve in (robot.statics, lambda: robot.simulate(0.1, 1e-3)):
        with pytest.raises(pl.DescriptionError, match="'b' and 'c' stay so far apart") as refused:
            solve()
        assert "gap = '0.15 m'" in str(refused.value)


def test_places_far_apart_are_told() -> None:
    robot = four_bar()
    robot.connect("arm", "crank", "rocker", pl.Free())
    with pytest.warns(pl.PlausibilityWarning) as told:
        robot.add_body("weight", 1.0, on="rocker")
        robot.connect("far", "crank", "rocker", pl.Revolute("y", stiffness=1.0))
        robot._compiler.compiled(None)
    assert any("'crank' and 'rocker' are 0.5 m apart at rest" in str(item.message) for item in told)


def rods_under_a_plate(count: int, joint: pl.Joint | None = None) -> pl.Robot:
    """Rods all round that carry a plate, as many as you like."""
    robot = pl.Robot()
    material = pl.Material(E=1e7, nu=0.45, rho=1000.0, viscosity=1e3)
    at = pl.pose((0, 0, 0.2))
    plate = robot.add_body("plate", 0.005 * count, (1e-5,) * 3, pose=at, joint=pl.Free())
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        place = 0.1 * np.array([np.cos(angle), np.sin(angle), 0.0])
        rod = robot.add_rod(f"rod{k}", 0.2, pl.Circle(0.005), material, pose=pl.pose(place))
        robot.connect(f"loop{k}", rod.tip, plate.at(place), joint)
    robot.add_load("push", "plate", force=(0.02 * count, 0.01 * count, 0))
    return robot


def test_factorisation_grows_with_the_number_of_rods_under_a_plate() -> None:
    """Each rod is eliminated for itself: twice the rods, twice the multiplications."""
    products = [
        rods_under_a_plate(count)
        ._compiler.compiled(pl.BSpline(3, 6))
        .effects.tangent(symmetric)
        .matrix.elimination.products
        for symmetric in (True, False)
        for count in (8, 16)
    ]
    assert products[1] < 2.02 * products[0]
    assert products[3] < 2.02 * products[2]


@pytest.mark.parametrize("joint", [None, pl.Spherical()])
def test_plate_on_rods_is_the_same_however_the_loop_is_cut(joint: pl.Joint | None) -> None:
    """The plate may hang on the first rod instead: the same robot with one loop less."""
    robot = rods_under_a_plate(4, joint)
    still = robot.statics(formulation=pl.BSpline(3, 6))
    assert still.stable
    other = rods_under_a_plate(4, joint)
    for name in ["push", *(f"loop{k}" for k in range(4)), "plate"]:
        other.remove(name)
    # a ball joint is at the origin of the part that it carries
    shift = np.zeros(3) if joint is None else np.array([0.1, 0, 0])
    at = pl.pose(np.array([-0.1, 0, 0]) + shift)
    other.add_body("plate", 0.02, (1e-5,) * 3, on="rod0.tip", joint=joint, pose=at, centre=-shift)
    plate = other.description.bodies["plate"]
    for k in range(1, 4):
        place = 0.1 * np.array([np.cos(0.5 * np.pi * k), np.sin(0.5 * np.pi * k), 0.0])
        other.connect(f"loop{k}", f"rod{k}.tip", plate.at(place - shift), joint)
    other.add_load("push", plate.at(-shift), force=(0.08, 0.04, 0))
    found = other.statics(formulation=pl.BSpline(3, 6))
    assert found.pose(plate.at(-shift)) == pytest.approx(still.pose("plate"), abs=1e-8)
    assert found.reactions["loop2"] == pytest.approx(still.reactions["loop2"], abs=1e-7)
    motion = robot.simulate(0.02, 1e-3, formulation=pl.BSpline(3, 6))
    moved = other.simulate(0.02, 1e-3, formulation=pl.BSpline(3, 6))
    ends = motion.pose("plate")[-1], moved.pose(plate.at(-shift))[-1]
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_loops_of_rods_that_cannot_close_are_named_with_their_gap() -> None:
    """An inextensible rod too short, and a tip in two places."""
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    robot = pl.Robot()
    rod = robot.add_rod("short", 0.2, pl.Circle(0.005), soft, theory="kirchhoff")
    robot.connect("pull", rod.tip, pl.pose((0, 0, 0.3)), pl.Spherical(), pose=pl.pose())
    with pytest.raises(
        pl.ConvergenceError, match="'pull' between the world and 'short' is still open"
    ):
        robot.statics()
    robot = pl.Robot()
    rod = robot.add_rod("rod", 0.2, pl.Circle(0.005), soft)
    robot.connect("here", rod.tip)
    robot.connect("there", rod.tip, pl.pose((0.02, 0, 0.2)), pose=pl.pose())
    with (
        pytest.warns(pl.RedundancyWarning, match=r"'there' .* contradict each other by 0\.01"),
        pytest.raises(pl.ConvergenceError, match=r"'there' .* open by 0\.02 m"),
    ):
        robot.statics()


def test_strong_forms_refuse_connections_by_name() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("rod", 0.2, pl.Circle(0.005), soft)
    robot.connect("pin", rod.tip, "world", pl.Spherical())
    for strong in (pl.Shooting(), pl.MultipleShooting(), pl.Collocation()):
        with pytest.raises(pl.DescriptionError, match="connection 'pin'"):
            robot.statics(formulation=strong)


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark()], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize(
    "joint",
    [
        pl.Revolute("y", stiffness=5.0, damping=0.05),
        pl.Revolute("y", limits=(-0.1, 0.1)),
        pl.Revolute("y", limits=(-0.1, 0.1), limit_stiffness=200.0),
        pl.Revolute("y", friction=0.5),
    ],
    ids=["spring", "stop", "bumper", "friction"],
)
def test_joint_of_a_loop_has_springs_stops_and_friction(
    joint: pl.Joint, integrator: pl.Integrator
) -> None:
    """As a twin of a joint in the tree: the linkage cut at the rocker's pivot moves the same.

    Up to the way by which a joint with friction gives way before it slides.
    """
    motion = four_bar(joint=joint).simulate(0.3, 1e-3, integrator=integrator)
    twin = four_bar_cut_below(joint).simulate(0.3, 1e-3, integrator=integrator)
    sticks = 1e-3 if getattr(joint, "friction", 0.0) else 2e-4
    assert motion.joint("loop") == pytest.approx(twin.joint("rocker"), abs=sticks)
    assert motion.energy["dissipated"][-1] == pytest.approx(twin.energy["dissipated"][-1], abs=2e-3)
    assert motion.energy_gap.share_taken + motion.energy_gap.share_added < 2e-3


def four_bar_cut_below(joint: pl.Joint) -> pl.Robot:
    """The linkage with the rocker on the coupler by a joint, closed at the pivot of the rocker."""
    coupler, rocker = four_bar_angles(1.0)
    robot = four_bar()
    for name in ("loop", "rocker"):
        robot.remove(name)
    base = robot.description.bodies["coupler"]
    moments = (1e-5, ROCKER**2 / 12.0, ROCKER**2 / 12.0)
    turn, middle = pl.pose((0, 0, 0), (0, coupler - rocker, 0)), (-0.5 * ROCKER, 0, 0)
    bar = robot.add_body(
        "rocker", 1.0, moments, base.at((COUPLER, 0, 0)), middle, pose=turn, joint=joint
    )
    robot.connect("pivot", bar.at((-ROCKER, 0, 0)), "world", pl.Revolute("y"))
    return robot


def test_files_name_what_is_wrong_with_a_connection(tmp_path: Path) -> None:
    four_bar(joint=pl.Revolute("y", stiffness=2.0)).save(tmp_path / "good.yaml")
    text = (tmp_path / "good.yaml").read_text()
    for old, new, told in (
        ("part: rocker", "part: rokcer", "rokcer"),
        ("stiffness: 2", "stiffness: -2", "stiffness"),
        ("  loop:", "  loop: {c: 3}\n  other:", "c"),
    ):
        assert old in text
        (tmp_path / "bad.yaml").write_text(text.replace(old, new))
        with pytest.raises(pl.FileError, match=told):
            pl.Robot.from_file(tmp_path / "bad.yaml")


def test_fit_finds_the_spring_of_a_loop() -> None:
    motion = four_bar(joint=pl.Revolute("y", stiffness=5.0, damping=0.05)).simulate(0.2, 4e-3)
    columns = {"t": motion.t, "loop.joint.angle": motion.joint("loop")[:, 0]}
    start = four_bar(joint=pl.Revolute("y", stiffness=4.0, damping=0.03))
    data = pl.Measurement(columns, time="t")
    found = pl.fit(start, data, ["loop.joint.stiffness", "loop.joint.damping"], dt=4e-3)
    assert found["loop.joint.stiffness"].value == pytest.approx(5.0, rel=1e-5)
    assert found["loop.joint.damping"].value == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"friction": 0.3},
        {"stiffness": 5.0, "damping": 0.2},
        {"limits": (-0.05, 0.05), "limit_stiffness": 500.0},
        {"drive": "force", "input": "push"},
        {"drive": "position", "input": "push"},
    ],
    ids=lambda options: ", ".join(options),
)
@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()], ids=repr)
def test_a_joint_that_closes_a_loop_has_all_that_joints_have(options: Any, integrator: Any) -> None:
    """A slider crank whose slider is the connection: its energy balance closes."""
    robot = pl.Robot()
    crank = robot.add_body(
        "crank", 0.5, (1e-3,) * 3, centre=(0.05, 0, 0), pose=pl.pose(rotation=(0, -0.8, 0)),
        joint=pl.Revolute("y"),
    )  # fmt: skip
    across, up = 0.35 - 0.1 * np.cos(0.8), 0.1 * np.sin(0.8)
    length, turn = float(np.hypot(across, up)), float(np.arctan2(up, across))
    coupler = robot.add_body(
        "coupler", 0.5, (1e-3,) * 3, on=crank.at((0.1, 0, 0)), centre=(length / 2, 0, 0),
        pose=pl.pose(rotation=(0, 0.8 + turn, 0)), joint=pl.Revolute("y"),
    )  # fmt: skip
    slide = robot.add_body(
        "slide", 0.3, (1e-4,) * 3, on=coupler.at((length, 0, 0)),
        pose=pl.pose(rotation=(0, -turn, 0)), joint=pl.Revolute("y"),
    )  # fmt: skip
    ground = robot.add_body("ground", 1.0, (1.0, 1.0, 1.0), pose=pl.pose((0.35, 0, 0)))
    robot.connect("rail", ground.at((0, 0, 0)), slide.at((0, 0, 0)), pl.Prismatic("x", **options))
    size = 0.02 if options.get("drive") == "position" else 1.0
    inputs = {"push": pl.Sine(size, 1.0)} if "drive" in options else None
    motion = robot.simulate(0.5, 2e-3, inputs=inputs, integrator=integrator)
    energy = motion.energy
    total = energy["kinetic"] + energy["gravity"] + energy["elastic"] + energy["dissipated"]
    gap = np.abs(total - total[0] - energy["work"]).max()
    assert gap < 1e-3 * np.ptp(energy["kinetic"])
    way = motion.joint("rail")[:, 0]
    assert np.ptp(way) > 0.01
    if options.get("drive") == "position":
        assert way == pytest.approx(0.02 * np.sin(2 * np.pi * motion.t), abs=1e-9)


def test_a_linkage_at_its_dead_centre_is_told_as_such() -> None:
    robot = pl.Robot()
    link = {"inertia": (1e-3, 1e-3, 1e-5), "centre": (0.0, 0.0, 0.1), "joint": pl.Revolute("y")}
    first = robot.add_body("first", 0.1, pose=pl.along("x"), **link)
    second = robot.add_body("second", 0.1, on=first.at((0.0, 0.0, 0.2)), **link)
    robot.connect("loop", second.at((0.0, 0.0, 0.2)), pl.pose((0.3, 0.0, -0.1)), pl.Revolute("y"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pl.ConvergenceError, match=r"'loop' depend on each other.*dead centre"):
            robot.simulate(0.1, 2e-3)
