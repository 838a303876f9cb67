"""Derivatives of equilibria and inverse statics, against differences of equilibria solved anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3

SILICONE = pl.Material(E=1e6, nu=0.45, rho=1000.0)
CHAMBERS = ["north", "west", "south", "east"]
VALUES: dict[str, Any] = {
    "lift": 0.7,
    "air": 2e4,
    "push": (0.0, 0.1, 0.2),
    "turn": 1.5,
    "poke": 0.5,
    "crank": 0.4,
}


def tree() -> pl.Robot:
    """A rod on a moving base with a chamber and a follower moment; a hinged hand with a finger, whose
    tip slides in a plane; a crank that is turned.
    """
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
    robot.add_base_motion("lift", arm, translation=(0, 0, 0.05), rotation=(0.3, 0.2, 0.5))
    robot.add_chamber("air", arm, 3e-5, offset=(0.006, 0.0))
    robot.add_load("push", arm.tip, force=(0, 0.1, 0.05))
    robot.add_load("turn", arm.at(0.2), moment=(0.002, 0.001, 0.003), frame="body")
    hand = robot.add_body(
        "hand", 0.02, (1e-6,) * 3, on=arm.tip, joint=pl.Revolute("x", stiffness=0.02)
    )
    robot.add_body(
        "crank",
        0.02,
        (1e-6,) * 3,
        on=arm.at(0.15),
        centre=(0.02, 0, 0.01),
        joint=pl.Revolute("y", drive="angle"),
    )
    finger = robot.add_rod("finger", 0.1, pl.Circle(0.004), SILICONE, base=hand.at((0, 0.01, 0)))
    robot.add_load("poke", finger.tip, force=(0.0, 0.01, 0.02))
    robot.add_constraint("guide", finger.tip, hold=("x",))
    return robot


def differences(
    robot: pl.Robot, still: pl.Equilibrium, place: str, values: dict[str, Any], step: float = 1e-4
) -> Any:
    """Twists (6, n) per unit of each number of the inputs, by equilibria on both sides."""
    here, columns = se3.inverse(still.pose(place)), []
    for name, value in values.items():
        given = np.asarray(value, dtype=float)
        for k in range(given.size):
            change = np.zeros(given.size)
            change[k] = step * max(1.0, abs(given.flat[k]))
            sides = [
                robot.statics(
                    {**values, name: given + sign * change.reshape(given.shape)},
                    start=still,
                    tolerance=1e-13,
                )
                for sign in (1.0, -1.0)
            ]
            moved = [se3.log(here @ side.pose(place)) for side in sides]
            columns.append((moved[0] - moved[1]) / (2.0 * change[k]))
    return np.array(columns).T


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "formulation", [pl.BSpline(3, 8), pl.Hermite(4), pl.Strain(), pl.BSpline(1, 12)], ids=repr
)
def test_jacobian_is_the_difference_of_equilibria(formulation: pl.Formulation) -> None:
    robot = tree()
    still = robot.statics(VALUES, formulation, tolerance=1e-13)
    for place in ("finger.0.07", "crank"):
        found = still.jacobian(place, list(VALUES))
        truth = differences(robot, still, place, VALUES)
        scale = np.abs(truth).max(axis=0)
        assert found.shape == (6, 8)
        assert np.abs(found - truth).max(axis=0) == pytest.approx(0.0, abs=1e-6 * scale.max())
        moving = scale > 1e-9
        assert (np.abs(found - truth)[:, moving] / scale[moving]).max() < 2e-6


def test_jacobian_of_planar_rods_and_of_laws_of_your_own() -> None:
    """ANCF, and a muscle whose stress is not linear in its input."""
    from dataclasses import dataclass

    from pliant.model.fields import holds
    from pliant.model.places import OnRod

    @dataclass(frozen=True, eq=False)
    class Muscle(pl.StrainEffect):
        on: str = holds(OnRod())

        def inputs(self) -> Any:
            return {self.name: 0.0}

        def density(self, s: Any, e: Any, u: Any) -> Any:
            return -0.01 * np.sin(u[0]) * e[:, 1]

    for formulation in (pl.ANCF(6), None):
        robot = pl.Robot()
        arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
        robot.add_load("push", arm.tip, force=(0.1, 0, 1))
        values: dict[str, Any] = {"push": 0.2}
        if formulation is None:
            robot.add(Muscle("muscle", "arm"))
            values["muscle"] = 0.8
        still = robot.statics(values, formulation, tolerance=1e-13)
        truth = differences(robot, still, "arm.tip", values)
        assert still.jacobian("arm.tip", list(values)) == pytest.approx(truth, rel=1e-5, abs=1e-7)


def test_jacobian_in_world_axes_is_the_derivative_of_the_position() -> None:
    robot = tree()
    still = robot.statics(VALUES, tolerance=1e-13)
    body, world = (still.jacobian("hand", "push", frame=frame) for frame in ("body", "world"))
    R = still.pose("hand")[:3, :3]
    assert world == pytest.approx(np.concatenate([R @ body[:3], R @ body[3:]]))
    step = np.array([0.0, 1e-4, 0.0])
    sides = [
        robot.statics({**VALUES, "push": np.array(VALUES["push"]) + sign * step}, start=still)
        for sign in (1, -1)
    ]
    change = (sides[0].position("hand") - sides[1].position("hand")) / 2e-4
    assert world[3:, 1] == pytest.approx(change, rel=1e-5, abs=1e-8)


def test_compliance_of_a_cantilever_is_that_of_beam_theory() -> None:
    """L / EI, L^2 / 2 EI, L^3 / 3 EI + L / GA, L / GJ and L / EA."""
    robot = pl.Robot(gravity=(0, 0, 0))
    stiffness = pl.Stiffness(bending=(2.0, 3.0), twist=1.5, shear=500.0, axial=1000.0, mass=1.0)
    robot.add_rod("arm", 0.5, stiffness)
    C, L = robot.statics().compliance("arm.tip"), 0.5
    truth = np.diag([L / 2, L / 3, L / 1.5, L**3 / 9 + L / 500, L**3 / 6 + L / 500, L / 1000])
    truth[1, 3] = truth[3, 1] = L**2 / 6
    truth[0, 4] = truth[4, 0] = -(L**2) / 4
    assert pytest.approx(truth, rel=1e-9, abs=1e-12) == C


def test_compliance_is_the_response_to_a_wrench_and_reciprocal() -> None:
    robot = tree()
    robot.remove("turn")
    values = {name: value for name, value in VALUES.items() if name != "turn"}
    finger = robot.description.rods["finger"]
    robot.add_load("probe", finger.at(0.05), frame="body")
    still = robot.statics({**values, "probe": np.zeros(6)}, tolerance=1e-13)
    C = still.compliance("arm.0.2", at="finger.0.05")
    assert pytest.approx(still.compliance("finger.0.05", at="arm.0.2").T, rel=1e-7, abs=1e-9) == C
    columns = differences(robot, still, "arm.0.2", {**values, "probe": np.zeros(6)}, 1e-5)[:, -6:]
    assert pytest.approx(columns, rel=1e-5, abs=1e-6 * np.abs(C).max()) == C
    world = still.compliance("arm.0.2", frame="world")
    R = still.pose("arm", 0.2)[:3, :3]
    T = np.kron(np.eye(2), R)
    assert world == pytest.approx(T @ still.compliance("arm.0.2") @ T.T)


# -- reach -----------------------------------------------------------------------------------------


def trunk() -> pl.Robot:
    """A hanging arm with four chambers on a slide."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE, pose=pl.along("-z"))
    for k, name in enumerate(CHAMBERS):
        at = 0.006 * np.array([np.cos(k * np.pi / 2), np.sin(k * np.pi / 2)])
        robot.add_chamber(name, arm, 3e-5, offset=at)
    robot.add_base_motion("slide", arm, translation=(0, 0, 1))
    return robot


def test_reach_finds_the_pressures_of_a_position() -> None:
    robot = trunk()
    truth = robot.statics({"north": 8e4, "west": 3e4})
    found = robot.reach({"arm.tip": truth.position("arm.tip")}, CHAMBERS, bounds=(0, 2e5))
    assert found.reached
    assert np.linalg.norm(found.position("arm.tip") - truth.position("arm.tip")) < 3e-7
    # opposite chambers would cost more: those of the truth are of least effort
    assert [found.inputs[name] for name in CHAMBERS] == pytest.approx([8e4, 3e4, 0, 0], abs=10.0)
    assert set(found.at_bounds) == {"south", "east"}
    assert found.stable
    again = robot.statics(found.found)
    assert again.tip("arm") == pytest.approx(found.tip("arm"), abs=1e-9)


def test_reach_shares_effort_between_inputs_of_the_same_effect() -> None:
    """Two loads that do the same: the stronger one does more, f_i = w_i f / (w_1^2 + w_2^2)."""
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE)
    robot.add_load("one", arm.tip, force=(1, 0, 0))
    robot.add_load("two", arm.tip, force=(2, 0, 0))
    target = {"arm.tip": robot.statics({"one": 0.1, "two": 0.0}).position("arm.tip")}
    start = {"one": 0.0, "two": 0.0}
    found = robot.reach(target, ["one", "two"], values=start).found
    assert [found["one"], found["two"]] == pytest.approx([0.02, 0.04], rel=1e-4)
    weighted = robot.reach(
        target, ["one", "two"], values=start, sizes={"one": 2.0, "two": 1.0}
    ).found
    assert [weighted["one"], weighted["two"]] == pytest.approx([0.05, 0.025], rel=1e-4)


def test_reach_takes_poses_directions_single_coordinates_and_several_places() -> None:
    robot = trunk()
    truth = robot.statics({"north": 6e4, "west": 4e4, "slide": -0.03})
    inputs = [*CHAMBERS, "slide"]
    pose = robot.reach({"arm.tip": truth.tip("arm")}, inputs)
    assert pose.reached
    assert pose.tip("arm") == pytest.approx(truth.tip("arm"), abs=1e-6)
    level = robot.reach({"arm.tip": {"direction": (0.2, 0.1, -1)}}, CHAMBERS)
    pointing = np.array([0.2, 0.1, -1]) / np.linalg.norm([0.2, 0.1, -1])
    assert level.tip("arm")[:3, 2] == pytest.approx(pointing, abs=1e-5)
    both = robot.reach(
        {"arm.tip": (-0.02, None, None), "arm.0.15": (None, None, -0.2)}, inputs, bounds=(-1e6, 1e6)
    )
    assert both.reached
    assert both.position("arm.tip")[0] == pytest.approx(-0.02, abs=1e-6)
    assert both.position("arm", 0.15)[2] == pytest.approx(-0.2, abs=1e-6)


def test_reach_says_how_far_a_target_is() -> None:
    """An arm that only slides: the closest point is the foot of the perpendicular."""
    robot = trunk()
    rest = robot.statics().position("arm.tip")
    target = rest + np.array([0.05, 0.0, -0.4])
    with pytest.warns(pl.ReachWarning, match=r"'arm.tip' is 0.05 m and 0 rad off"):
        found = robot.reach({"arm.tip": target}, "slide")
    assert not found.reached
    assert found.inputs["slide"] == pytest.approx(-0.4, abs=1e-6)
    assert found.misses["arm.tip"].distance == pytest.approx(0.05, rel=1e-6)
    with pytest.warns(pl.ReachWarning, match="'slide' at their bounds"):
        bound = robot.reach({"arm.tip": target}, ["slide"], bounds={"slide": (-0.1, None)})
    assert bound.inputs["slide"] == pytest.approx(-0.1)


def test_reach_finds_tensions_that_only_pull() -> None:
    """A tendon arm; what a tendon refuses, a negative tension, is a bound without being given."""
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE, pose=pl.along("-z"))
    names = [f"t{k}" for k in range(4)]
    for k, name in enumerate(names):
        at = (0.007 * np.cos(k * np.pi / 2), 0.007 * np.sin(k * np.pi / 2))
        holes = [arm.at(s, offset=at) for s in np.linspace(0.0, 0.3, 6)]
        robot.add_tendon(name, path=holes)
    target = robot.statics({"t0": 3.0, "t1": 1.0}).position("arm.tip")
    found = robot.reach({"arm.tip": (*target[:2], None)}, names)
    assert found.reached
    tensions = np.array([found.inputs[name] for name in names])
    assert tensions == pytest.approx([3.0, 1.0, 0.0, 0.0], abs=1e-3)
    assert tensions.min() >= 0.0


def test_reach_keeps_to_what_an_input_takes() -> None:
    """A chamber behind a pressure line takes no less than vacuum."""
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE)
    robot.add_chamber("air", arm, 3e-5, offset=(0.006, 0), line=pl.Flow(1e-6, 1e-4))
    goal = robot.statics({"air": 3e5}).position("arm.tip") * (-1, 1, 1)
    with pytest.warns(pl.ReachWarning):
        found = robot.reach({"arm.tip": goal}, "air")
    owner = robot.description.input_owner("air")
    owner.check_input("air", "value", np.array(found.inputs["air"]))
    assert found.at_bounds == ["air"]


def column() -> tuple[pl.Robot, pl.Equilibrium]:
    """A strip between clamps that come closer, pushed aside in the middle; and the buckled strip."""
    robot = pl.Robot(gravity=(0, 0, 0))
    stiff = pl.Material(E=2e9, nu=0.3, rho=1000.0)
    strip = robot.add_rod("strip", 0.3, pl.Circle(0.002), stiff, pose=pl.along("x"))
    robot.add_load("push", strip.at(0.15), force=(0, 0, 1))
    end = pl.along("x")
    end[0, 3] = 0.3
    slide = pl.Prismatic("z", drive="position", input="squeeze")
    robot.connect("end", end, strip.tip, joint=slide)
    aside = robot.statics({"push": 0.3, "squeeze": -0.01})
    return robot, robot.statics({"push": 0.0, "squeeze": -0.01}, start=aside)


def test_reach_prefers_a_stable_equilibrium_and_tells_of_an_unstable_one() -> None:
    """A buckled strip pushed through its middle is unstable there; pulled straight it is stable."""
    robot, buckled = column()
    target = {"strip.0.15": (None, None, -0.001)}
    with pytest.warns(pl.ReachWarning, match="unstable, so the robot does not stay there"):
        held = robot.reach(target, "push", start=buckled, tries=1)
    assert held.reached and held.stable is False
    found = robot.reach(target, ["push", "squeeze"], {"squeeze": (-0.02, 5e-4)}, start=buckled)
    assert found.reached and found.stable
    assert found.inputs["squeeze"] > -2e-5  # what buckles it: -4 (pi r / 2 L)^2 L = -1.3e-4


def test_reach_ends_where_a_pendulum_would_fall() -> None:
    """A torque holds a pendulum up to a right angle; beyond, and turns away, it is unstable."""
    robot = pl.Robot()
    hinge = pl.Revolute("y", drive="torque", input="turn")
    robot.add_body("bob", 1.0, (1e-2,) * 3, centre=(0, 0, -0.5), joint=hinge)
    target = {"bob": {"direction": (np.sin(2.0), 0, np.cos(2.0))}}
    with pytest.warns(pl.ReachWarning, match="'bob' is 0 m and 0.429 rad off"):
        found = robot.reach(target, "turn")
    assert found.stable
    assert found.joint("bob")[0] == pytest.approx(np.pi / 2, abs=1e-3)
    assert found.inputs["turn"] == pytest.approx(9.81 * 0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": {"arm": (0, 0, 1)}}, r"arm\.tip"),
        ({"targets": {"arm.tip": (0, 0)}}, "position"),
        ({"targets": {"arm.tip": {"pos": 1}}}, "'position'"),
        ({"targets": {}}, "dict of targets"),
        ({"inputs": ["nort"]}, "'north'"),
        ({"inputs": ["north", "north"]}, "once"),
        ({"bounds": (1, 0)}, "lowest, highest"),
        ({"bounds": {"slide": (0, 1)}}, "slide"),
        ({"sizes": {"north": -1}}, "above zero"),
        ({"formulation": pl.Shooting()}, "with coordinates"),
    ],
)
def test_reach_refuses_bad_input(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"targets": {"arm.tip": (0, 0, -0.2)}, "inputs": CHAMBERS, **change}
    with pytest.raises(pl.DescriptionError, match=words):
        trunk().reach(**given)


def test_strong_forms_refuse_derivatives_by_name() -> None:
    still = trunk().statics(formulation=pl.Shooting())
    with pytest.raises(pl.DescriptionError, match="Shooting"):
        still.jacobian("arm.tip")


# -- workspace -------------------------------------------------------------------------------------


def test_workspace_holds_the_equilibria_of_all_combinations(tmp_path: Any) -> None:
    robot = trunk()
    found = pl.workspace(
        robot,
        {"north": np.linspace(0, 1e5, 3), "slide": [0.0, 0.1]},
        "arm.tip",
        values={"west": 1e4},
    )
    assert len(found) == 6 and found.failed == 0 and all(found.stable)
    for k in (0, 3, 5):
        values = {name: row[k] for name, row in found.inputs.items()}
        still = robot.statics({**values, "west": 1e4})
        assert found.poses[k] == pytest.approx(still.tip("arm"), abs=1e-9)
    assert pl.load(found.save(tmp_path / "map.nc")).sizes["point"] == 6
    found.plot(tmp_path / "map.png")
    some = pl.workspace(robot, {"north": (0, 1e5), "slide": (0, 0.1)}, "arm.tip", samples=20)
    assert len(some) == 20
    assert np.ptp(some.inputs["slide"]) > 0.08
    with pytest.raises(pl.DescriptionError, match="'north'"):
        pl.workspace(robot, {"nort": [0, 1]}, "arm.tip")
