"""Trees of rods, bodies and joints against independent solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.work import Work
from tests.reference import tree_cases, tree_values
from tests.reference.tree_problem import BodyPart, Joint, RodPart, TreeProblem

RUBBER = pl.Material(
    E=tree_cases.RUBBER["young"], nu=tree_cases.RUBBER["poisson"], rho=tree_cases.RUBBER["density"]
)
FORMULATIONS = {
    "bspline": pl.BSpline(4, 30),
    "hermite": pl.Hermite(25),
    "strain": pl.Strain(order=4, segments=5),
}
COARSE = {
    "bspline": pl.BSpline(4, 14),
    "hermite": pl.Hermite(8),
    "strain": pl.Strain(order=4, segments=2),
}
STATIC = {
    "ROD_BODY_ROD": tree_cases.rod_body_rod(),
    "ROD_HINGED_BODY_ROD": tree_cases.rod_body_rod(tree_cases.STATIC_HINGE),
    "BODY_ROD_BODY": tree_cases.body_rod_body(),
    "WELDED_RODS": tree_cases.welded_rods(),
    "STAR": tree_cases.star(),
}


def joint_of(joint: Joint, drive: str | None = None) -> Any:
    if joint.axis is None:
        return pl.Fixed()
    return pl.Revolute(joint.axis, stiffness=joint.stiffness, damping=joint.damping, drive=drive)


def as_robot(tree: TreeProblem, driven: str | None = None) -> pl.Robot:
    """The robot of a reference tree; loads are inputs named after their part with ``_load``."""
    robot, parts = pl.Robot(gravity=tree.gravity), {}
    for part in tree.parts:
        place = None
        if part.on is not None:
            carrier = parts[part.on]
            place = carrier.at(part.s) if part.s is not None else carrier.at((0.0, 0.0, 0.0))
        joint = joint_of(part.joint, "angle" if part.name == driven else None)
        pose = np.eye(4) if part.pose is None else part.pose
        if isinstance(part, RodPart):
            radius = 2.0 * np.sqrt(part.stiffness[0] / part.stiffness[5])
            added: Any = robot.add_rod(
                part.name, part.length, pl.Circle(radius), RUBBER, pose=pose,
                base="world" if place is None else place, joint=joint,
            )  # fmt: skip
            where = added.tip
        else:
            assert isinstance(part, BodyPart)
            added = robot.add_body(
                part.name,
                part.mass,
                part.inertia,
                pose=pose,
                on=place,
                centre=part.centre,
                joint=joint,
            )
            where = added.at((0.0, 0.0, 0.0))
        if np.any(part.force) or np.any(part.moment):
            robot.add_load(f"{part.name}_load", where, force=part.force, moment=part.moment)
        parts[part.name] = added
    return robot


def pose_of(found: Any, part: RodPart | BodyPart) -> Any:
    """World pose (..., 4, 4) of the tip of a rod or the frame of a body."""
    return found.tip(part.name) if isinstance(part, RodPart) else found.pose(part.name)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", STATIC)
def test_equilibria_of_trees(name: str, formulation: str) -> None:
    """In the star the moment of the spine jumps at a hub: only strains by segments can jump there."""
    tree = STATIC[name]
    close = 3e-3 if name == "STAR" and formulation != "strain" else 1e-6
    found = as_robot(tree).statics(formulation=FORMULATIONS[formulation])
    for part in tree.parts:
        exact = np.array(getattr(tree_values, name)[part.name])
        assert pose_of(found, part)[:3] == pytest.approx(exact, abs=close)
    for part_name, angle in getattr(tree_values, f"{name}_ANGLES", {}).items():
        assert found.joint(part_name) == pytest.approx(angle, abs=close)


def test_rods_welded_at_a_right_angle_rest_at_a_right_angle() -> None:
    tree = tree_cases.welded_rods(loaded=False)
    tip = as_robot(tree).statics().tip("beam")
    expected = np.array([[0, 0, 1, 0.25], [0, 1, 0, 0], [-1, 0, 0, 0.2], [0, 0, 0, 1]])
    assert tip == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("corner", tree_cases.planar_rods()),
        ("straight", tree_cases.planar_rods(0.0)),
        ("hinge", tree_cases.planar_rods(joint=tree_cases.PLANAR_HINGE)),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_frequencies_of_trees(name: str, tree: TreeProblem, formulation: str) -> None:
    """All modes of the robot in space: those in the plane and those across it, merged."""
    stored = tree_values.TREE_HZ[name]
    below = min(stored["in-plane"][-1], stored["across"][-1])
    exact = np.sort([f for f in (*stored["in-plane"], *stored["across"]) if f <= below])
    modes = as_robot(tree).modes(exact.size, formulation=FORMULATIONS[formulation])
    assert modes.frequencies == pytest.approx(exact, rel=1e-5)


def order_two(errors: list[float]) -> None:
    """Halving the step quarters the error."""
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert ratios == pytest.approx(4.0, abs=0.5), errors


@pytest.mark.parametrize("springs", [False, True])
@pytest.mark.parametrize("spatial", [False, True])
def test_double_pendulum_converges_with_order_two(spatial: bool, springs: bool) -> None:
    robot = as_robot(tree_cases.pendulum(spatial, springs))
    exact = np.array(tree_values.PENDULUM_MOTION[spatial, springs])[1]  # at 0.5 s
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        motion = angles_at(robot, tree_cases.PENDULUM_ANGLES, tree_cases.PENDULUM_RATES, 0.5, dt)
        errors.append(float(np.abs(motion - exact).max()))
    order_two(errors)
    assert errors[-1] < 4e-4


def angles_at(robot: pl.Robot, angles: Any, rates: Any, duration: float, dt: float) -> Any:
    """Angles (2,) of "upper" and "lower" at the end."""
    start = {"upper": angles[0], "lower": angles[1]}
    motion = robot.simulate(
        duration, dt, joints=start, velocity={"upper": rates[0], "lower": rates[1]}
    )
    return np.array([motion.joint(name)[-1, 0] for name in start])


@pytest.mark.parametrize("spatial", [False, True])
def test_driven_pendulum(spatial: bool) -> None:
    """The first hinge follows its input, the second swings (start at 0.5 rad, -3 rad/s)."""
    robot = as_robot(tree_cases.pendulum(spatial, True), driven="upper")
    motion = robot.simulate(
        0.5, 1e-3, inputs={"upper": lambda t: tree_cases.drive(t)[0]},
        joints={"lower": 0.5}, velocity={"lower": -3.0},
    )  # fmt: skip
    exact = tree_values.DRIVEN_PENDULUM[spatial][1]
    assert motion.joint("lower")[-1, 0] == pytest.approx(exact, abs=2e-4)


def test_free_top() -> None:
    top = tree_cases.TOP
    robot = pl.Robot(gravity=top["gravity"])
    robot.add_body("top", top["mass"], top["inertia"], centre=top["centre"], joint=pl.Free())
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        motion = robot.simulate(0.5, dt, velocity={"top": (*top["spin"], *top["velocity"])})
        exact = np.array(tree_values.TOP_POSES)[1]
        errors.append(float(np.abs(motion.pose("top")[-1][:3] - exact).max()))
    order_two(errors)
    assert errors[-1] < 2e-4


MOTION = {
    "PULSED": tree_cases.pulsed(),
    "PULSED_HINGE": tree_cases.pulsed(tree_cases.DAMPED_HINGE),
    "SWING": tree_cases.swing(),
}


@pytest.mark.parametrize("formulation", COARSE)
@pytest.mark.parametrize("name", MOTION)
def test_large_motion_of_trees(name: str, formulation: str) -> None:
    """Pushed from rest, or turned from equilibrium under gravity, by a smooth pulse."""
    tree = MOTION[name]
    robot, stored = as_robot(tree), getattr(tree_values, f"{name}_TIP")
    load = next(iter(robot.description.loads))
    last = tree.parts[-1]
    motion = robot.simulate(
        0.5, 1e-3, inputs={load: tree_cases.pulse}, start="statics",
        formulation=COARSE[formulation], output_times=(0.0, *tree_values.MOTION_T),
    )  # fmt: skip
    found = pose_of(motion, last)[1:][:, [0, 2], 3]
    assert found == pytest.approx(np.array(stored), abs=2e-4)


def test_motion_of_a_tree_has_order_two() -> None:
    """A rod, a body on a damped hinge and a rod, pushed and let go: the error of the tip."""
    tree = MOTION["PULSED_HINGE"]
    robot, exact = as_robot(tree), np.array(tree_values.PULSED_HINGE_TIP)[1]
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        motion = robot.simulate(
            0.2, dt, inputs={"second_load": tree_cases.pulse}, formulation=pl.Strain(4, 2),
            output_times=(0.2,),
        )  # fmt: skip
        errors.append(float(np.abs(motion.tip("second")[-1][[0, 2], 3] - exact).max()))
    order_two(errors)


def floating(formulation: pl.Formulation | None = None) -> pl.Robot:
    """A free body with an arm of two rods and a body on hinges, and a body welded to a rod."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    hub = robot.add_body("hub", 0.08, (3e-5, 5e-5, 4e-5), centre=(0.01, 0.0, 0.0), joint=pl.Free())
    arm = robot.add_rod(
        "arm", 0.2, pl.Circle(0.01), RUBBER, base=hub.at((0.02, 0.0, 0.0)), pose=pl.along("x"),
        joint=pl.Revolute("y", stiffness=0.01), formulation=formulation,
    )  # fmt: skip
    elbow = robot.add_body(
        "elbow", 0.02, (2e-6, 3e-6, 4e-6), on=arm.tip, centre=(0.0, 0.01, 0.0),
        joint=pl.Revolute((0.0, 0.6, 0.8)),
    )  # fmt: skip
    hand = robot.add_rod(
        "hand",
        0.1,
        pl.Circle(0.008),
        RUBBER,
        base=elbow.at((0.0, 0.0, 0.01)),
        formulation=formulation,
    )
    robot.add_body("payload", 0.01, (1e-6, 1e-6, 1e-6), on=hand.at(0.06))
    return robot


def momenta(motion: pl.Motion) -> Any:
    """World momenta (T, P, 6) about the origin, angular first, of every part at its own stations."""
    tree = motion._compiled.tree  # type: ignore[attr-defined]
    state, work = State(tree), Work(tree)
    rows = []
    for q, v in zip(motion._trajectory.q, motion._trajectory.v, strict=True):
        set_rates(tree, state.place(q), work, v)
        row = []
        for part, at, w in zip(tree.parts, state.parts, work.parts, strict=True):
            outward = se3.Ad(se3.inverse(at.g[: part.inertial]))
            row.append(np.einsum("sji,sj->i", outward, part.M * w.eta[: part.inertial]))
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("formulation", COARSE)
def test_free_trees_keep_their_momentum(formulation: str) -> None:
    robot = floating(COARSE[formulation])
    motion = robot.simulate(
        0.1, 1e-3, velocity={"hub": (3.0, -2.0, 4.0, 0.2, 0.1, -0.3), "elbow": 8.0},
        integrator=pl.Midpoint(tolerance=1e-12), output_every=0.01,
    )  # fmt: skip
    parts = momenta(motion)
    total = parts.sum(axis=1)
    for rows in (slice(0, 3), slice(3, 6)):
        largest = np.linalg.norm(parts[..., rows], axis=-1).max()
        assert np.abs(total[:, rows] - total[0, rows]).max() < 1e-10 * largest
    # the parts exchange momentum all the while
    assert np.abs(parts[-1, 0] - parts[0, 0]).max() > 0.1 * np.abs(parts[0, 0]).max()


def test_robot_of_bodies_alone(tmp_path: Path) -> None:
    """A physical pendulum with a spring: frequency, equilibrium, files, pictures and film."""
    robot = pl.Robot()
    inertia, mass, arm, spring = 2e-3, 0.5, 0.2, 0.4
    robot.add_body(
        "crank", mass, (1e-3, inertia, 1e-3), centre=(0.0, 0.0, -arm),
        joint=pl.Revolute("y", stiffness=spring),
    )  # fmt: skip
    still = robot.statics()
    assert still.joint("crank") == pytest.approx([0.0], abs=1e-12) and still.stable
    exact = np.sqrt((spring + mass * 9.81 * arm) / (inertia + mass * arm**2)) / (2.0 * np.pi)
    modes = robot.modes(1)
    assert modes.frequencies == pytest.approx([exact], rel=1e-10)
    motion = robot.simulate(0.2, 0.01, joints={"crank": 0.3}, velocity={"crank": -1.0})
    assert motion.joint("crank")[0] == pytest.approx([0.3])
    assert motion.velocity("crank")[0] == pytest.approx([0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    assert motion.pose("crank").shape == (21, 4, 4) and motion.position("crank").shape == (21, 3)
    for result in (still, modes, motion):
        assert result.plot(tmp_path / "picture.png") is not None
        assert "body_position" in pl.load(result.save(tmp_path / "result.nc"))
        assert "rigid bodies" in result.summary() and "crank" in repr(result)
    assert motion.animate(tmp_path / "film.gif", fps=10).exists()


def test_parts_are_asked_for_what_they_have() -> None:
    robot = floating()
    motion = robot.simulate(0.01, 0.005, start="rest")
    with pytest.raises(pl.DescriptionError, match=r"body .hub.: s = 0\.1.*no arclength"):
        motion.pose("hub", 0.1)
    assert motion.pose("arm").shape == (3, 51, 4, 4)
    with pytest.raises(pl.DescriptionError, match="did you mean 'hub'"):
        motion.velocity("hubb")
    for fixed in ("hand", "payload"):
        with pytest.raises(pl.DescriptionError, match=f"{fixed}'.*one that moves"):
            motion.joint(fixed)
    assert motion.joint("hub").shape == (3, 16) and motion.joint("arm").shape == (3, 1)
    for wrong in ({"velocity": {"payload": np.zeros(6)}}, {"joints": {"hand": 0.1}}):
        with pytest.raises(pl.DescriptionError, match="filed under the name of a part"):
            robot.simulate(0.01, 0.005, **wrong)
    with pytest.raises(pl.DescriptionError, match=r"velocity.*six finite numbers"):
        robot.simulate(0.01, 0.005, velocity={"hub": 1.0})
    with pytest.raises(pl.DescriptionError, match=r"joints.*4x4"):
        robot.simulate(0.01, 0.005, joints={"hub": 1.0})
