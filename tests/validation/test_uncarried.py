"""What formulations cannot carry is refused or told, from whatever effect it comes.

Planar rods do not bend out of their plane, cables do not twist. The displacement that a warning names
is that of beam theory.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model.fields import holds
from pliant.model.places import OnRod
from pliant.solve.compiled import make_problem
from pliant.solve.uncarried import Missed, missed_at_rest, missed_in_motion

L, EI, GJ, MASS = 0.2, 0.02, 0.015, 0.1
SECTION = pl.Stiffness(bending=EI, twist=GJ, shear=1e4, axial=1e4, mass=MASS)
TOLD = "(?s).*(does not bend that way|has no twist|is left out|spins about its own axis)"
PLANAR, CABLE = pl.ANCF(6), pl.ANCF(6, planar=False)


def robot_with(gravity: Any = (0.0, 0.0, 0.0), **rod: Any) -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot(gravity=gravity)
    return robot, robot.add_rod("arm", L, SECTION, **rod)


def missed(robot: pl.Robot, formulation: Any, **simulate: Any) -> list[Missed]:
    """What is left out of the equilibrium of a robot, or of its motion."""
    problem: Any = make_problem(
        robot.description, {name: formulation for name in robot.description.rods}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if simulate:
            path = robot.simulate(formulation=formulation, **simulate)._path
            return missed_in_motion(problem.effects, path)
        found = problem.statics({}, None, 1e-10, None).solution
    return missed_at_rest(problem.effects, found)


@dataclass(frozen=True, eq=False)
class SideMuscle(pl.StrainEffect):
    """A constant moment about both axes and along the axis."""

    on: str = holds(OnRod())
    moment: tuple[float, ...] = (0.0, 0.0, 0.0)

    def stress(self, s: Any, e: Any, u: Any) -> Any:
        return np.tile([*self.moment, 0.0, 0.0, 0.0], (len(s), 1))


@dataclass(frozen=True, eq=False)
class Wind(pl.LineEffect):
    """A constant force per metre along world y."""

    on: str = holds(OnRod())

    def density(self, s: Any, g: Any, u: Any) -> Any:
        return -0.5 * g[:, 1, 3]


def hung_rod(robot: pl.Robot, arm: pl.Rod) -> object:
    """A rod that stands out from the tip along y, under weight along x."""
    side = pl.Stiffness(bending=1e3, twist=1e3, shear=1e6, axial=1e6, mass=MASS)
    return robot.add_rod(
        "side", 0.1, side, base=arm.tip, pose=pl.along("y"), formulation=pl.BSpline()
    )


def guided(robot: pl.Robot, arm: pl.Rod) -> object:
    """A tip force in the plane, held beside the axis by a guide."""
    robot.add_load("push", arm.at(0.5 * L), force=(0.4, 0.0, 0.0))
    return robot.add_constraint("guide", arm.at(L, (0.0, 0.02)), hold=("x",))


def test_weight_across_a_plane_bends_as_in_beam_theory() -> None:
    robot, _ = robot_with((0.0, 2.0, 0.0))
    (found,) = missed(robot, PLANAR)
    assert found.row == 0
    assert found.size * L == pytest.approx(MASS * 2.0 * L**4 / (8 * EI), rel=0.01)


def test_line_effect_across_a_plane_is_told() -> None:
    robot, _ = robot_with()
    robot.add(Wind("wind", "arm"))
    (found,) = missed(robot, PLANAR)
    assert found.size * L == pytest.approx(0.5 * L**4 / (8 * EI), rel=0.01)


@pytest.mark.parametrize(("formulation", "moment", "rows"), [
    (PLANAR, (3e-3, 1e-3, 2e-3), {0: 3e-3 / EI * L / 2, 2: 2e-3 / GJ * L}),
    (CABLE, (3e-3, 1e-3, 2e-3), {2: 2e-3 / GJ * L}),
])  # fmt: skip
def test_muscle_that_bends_or_twists_where_the_map_does_not(
    formulation: Any, moment: Any, rows: dict[int, float]
) -> None:
    robot, _ = robot_with()
    robot.add(SideMuscle("muscle", "arm", moment))
    found = {item.row: item.size for item in missed(robot, formulation)}
    assert found == pytest.approx(rows, rel=1e-6)


def test_part_that_hangs_beside_the_axis_twists_a_cable() -> None:
    robot = pl.Robot(gravity=(3.0, 0.0, 0.0))
    arm = robot.add_rod("arm", L, SECTION, formulation=CABLE)
    hung_rod(robot, arm)
    problem: Any = make_problem(robot.description, {"arm": CABLE, "side": pl.BSpline()})
    with pytest.warns(pl.ResolutionWarning, match="formulation has no twist"):
        found = problem.statics({}, None, 1e-10, None).solution
    (item,) = missed_at_rest(problem.effects, found)
    moment = MASS * 0.1 * 3.0 * 0.05
    assert item.row == 2
    assert item.size == pytest.approx(moment * L / GJ, rel=0.02)


def test_reaction_of_a_guide_beside_the_axis_twists_a_cable() -> None:
    """A propped cantilever pushed in its middle by F has the reaction 5 F / 16 at its tip."""
    robot, arm = robot_with()
    guided(robot, arm)
    (item,) = missed(robot, CABLE)
    assert item.size == pytest.approx(5.0 / 16.0 * 0.4 * 0.02 * L / GJ, rel=0.02)


def test_base_shaken_across_the_plane_is_told_with_its_time_and_size() -> None:
    """At 2 rad/s the rod follows as in equilibrium with the acceleration of its base."""
    robot, arm = robot_with()
    robot.add_base_motion("shake", arm, translation=(0.0, 1.0, 0.0))
    inputs = {"shake": lambda t: 5.0 * np.sin(2.0 * t)}
    run = {"duration": 0.8, "dt": 5e-3, "inputs": inputs}
    (item,) = missed(robot, PLANAR, **run)
    expected = MASS * 20.0 * np.sin(2.0 * item.t) * L**4 / (8 * EI)  # type: ignore[operator]
    assert item.size * L == pytest.approx(expected, rel=0.02)
    assert item.t == pytest.approx(0.25 * np.pi, abs=0.05)
    with pytest.warns(
        pl.ResolutionWarning, match=r"rod 'arm'.* at t = 0\.785 s it would bend about"
    ):
        robot.simulate(0.8, 5e-3, inputs, formulation=PLANAR)


@pytest.mark.parametrize("middle", [0.2, 0.43, 0.5, 0.9])
def test_one_short_push_across_the_plane_is_told_whenever_it_comes(middle: float) -> None:
    """It ends between the few output times that are looked at anyway."""
    robot, arm = robot_with()
    robot.add_base_motion("shake", arm, translation=(0.0, 1.0, 0.0))
    inputs = {"shake": lambda t: 0.02 * np.exp(-(((t - middle) / 0.03) ** 2))}
    (item,) = missed(robot, PLANAR, duration=1.0, dt=5e-3, inputs=inputs)
    assert item.t == pytest.approx(middle, abs=0.01)
    assert item.size * L == pytest.approx(MASS * 0.04 / 0.03**2 * L**4 / (8 * EI), rel=0.1)


def test_short_blow_across_the_plane_is_told() -> None:
    """A ball strikes a planar rod from the side and is gone before the next even output time."""
    robot, arm = robot_with()
    aside, still = pl.pose((0.0, 0.012, 0.15)), (0.0, 0.0, 0.0)
    robot.add_body("ball", 0.05, (1e-6,) * 3, pose=aside, joint=pl.Free())
    robot.add_contact("blow", arm, pl.Sphere(0.006, on="ball"), stiffness=500.0, radius=0.004)
    velocity = {"ball": (*still, 0.0, -0.2, 0.0)}
    (item,) = missed(robot, PLANAR, duration=1.0, dt=1e-3, velocity=velocity)
    assert item.row == 0
    assert 0.01 < item.t < 0.2  # type: ignore[operator]


def test_hinge_that_turns_a_planar_rod_out_of_its_plane_is_told() -> None:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    robot.add_rod("arm", L, SECTION, joint=pl.Revolute("x", drive="angle", input="turn"))
    with pytest.warns(pl.ResolutionWarning, match="planar formulation does not bend that way"):
        robot.simulate(
            0.1, 1e-3, {"turn": lambda t: 2.0 * np.sin(10.0 * t) ** 2}, formulation=PLANAR
        )


@pytest.mark.parametrize("formulation", [PLANAR, CABLE])
@pytest.mark.parametrize("effect", ["weight", "shaken", "turned", "body"])
def test_what_acts_in_the_plane_is_not_told(effect: str, formulation: Any) -> None:
    robot, arm = robot_with((1.0, 0.0, -9.81))
    inputs: dict[str, Any] = {}
    if effect == "shaken":
        robot.add_base_motion("shake", arm, translation=(0.02, 0.0, 0.0))
        inputs = {"shake": lambda t: np.sin(40.0 * t)}
    if effect == "turned":
        robot.add_base_motion("shake", arm, rotation=(0.0, 0.4, 0.0))
        inputs = {"shake": lambda t: np.sin(20.0 * t)}
    if effect == "body":
        robot.add_body("bob", 0.01, (1e-6, 2e-6, 3e-6), on=arm.tip, centre=(0.0, 0.0, 0.02))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", TOLD, pl.ResolutionWarning)
        robot.statics(formulation=formulation)
        robot.simulate(0.05, 1e-3, inputs, formulation=formulation)


def test_cable_bent_in_space_is_not_told_of_twist() -> None:
    """Equal bending stiffnesses and no torque: a straight rod does not twist, however it bends."""
    robot, arm = robot_with((3.0, -4.0, -9.81))
    robot.add_load("push", arm.tip, force=(0.2, 0.1, 0.3))
    robot.add_load("pull", arm.at(0.1), force=(-0.3, 0.4, 0.1))
    robot.add_base_motion("shake", arm, translation=(0.0, 0.01, 0.0), rotation=(0.2, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", TOLD, pl.ResolutionWarning)
        robot.statics(formulation=CABLE)
        robot.simulate(0.05, 1e-3, {"shake": lambda t: np.sin(30 * t)}, formulation=CABLE)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(("formulation", "centre"), [
    (CABLE, (0.01, 0.0, 0.0)), (CABLE, (0.0, 0.01, 0.0)), (PLANAR, (0.0, 0.01, 0.0)),
    (pl.ANCF(6, plane="yz"), (0.01, 0.0, 0.0)),
])  # fmt: skip
def test_body_beside_the_axis_is_refused_as_its_weight_would_be(
    formulation: Any, centre: Any
) -> None:
    robot, arm = robot_with()
    robot.add_body("bob", 0.01, (1e-6, 1e-6, 1e-6), on=arm.tip, centre=centre)
    with pytest.raises(pl.DescriptionError, match=r"body 'bob': centre.*rod 'arm'.*cannot do"):
        robot.statics(formulation=formulation)
    robot.statics(formulation=pl.BSpline(3, 8))


def test_body_with_slanted_inertia_is_refused_by_a_cable() -> None:
    """Products of inertia about the axis of the rod twist it as soon as it swings."""
    robot, arm = robot_with()
    robot.add_body("bob", 0.01, (2e-6, 2e-6, 2e-6, 0.0, 1e-6, 0.0), on=arm.tip)
    with pytest.raises(pl.DescriptionError, match="symmetric to the axis"):
        robot.statics(formulation=CABLE)


@pytest.mark.parametrize("hold", [("rz",), ("rx", "ry", "rz"), ("x", "y", "z", "rx", "ry", "rz")])
def test_twist_of_a_cable_cannot_be_held(hold: Any) -> None:
    robot, arm = robot_with()
    robot.add_load("push", arm.at(0.5 * L), force=(0.1, 0.1, 0.0))
    robot.add_constraint("grip", arm.tip, hold=hold)
    with pytest.raises(pl.DescriptionError, match=r"constraint 'grip': held direction = 'rz'"):
        robot.statics(formulation=CABLE)


def test_what_a_planar_rod_keeps_by_itself_may_be_held() -> None:
    """A beam clamped at both ends with F in its middle: F L^3 / (192 EI), no reaction across."""
    robot, arm = robot_with()
    robot.add_load("push", arm.at(0.5 * L), force=(0.01, 0.0, 0.0))
    robot.add_constraint("grip", arm.tip)
    still = robot.statics(formulation=pl.ANCF(8))
    assert still.position("arm", 0.5 * L)[0] == pytest.approx(0.01 * L**3 / (192 * EI), rel=1e-3)
    assert still.reactions["grip"][[0, 2, 4]] == pytest.approx(0.0, abs=1e-12)


def test_gap_across_the_plane_cannot_be_closed() -> None:
    robot, arm = robot_with()
    robot.add_constraint("grip", arm.tip, pl.pose((0.0, 0.01, L)), hold=("y",))
    with pytest.raises(pl.DescriptionError, match=r"held direction = 'y'.*planar formulation"):
        robot.statics(formulation=PLANAR)


def test_free_cable_without_rotary_inertia_is_refused_in_motion() -> None:
    robot, _ = robot_with(base=None)
    with pytest.raises(
        pl.DescriptionError, match=r"rotary inertia = 0\.0.*spin about its own axis"
    ):
        robot.simulate(0.01, 1e-3, formulation=CABLE)


def test_free_planar_rod_that_spins_without_inertia_is_told() -> None:
    robot, arm = robot_with(base=None)
    robot.add_load("push", arm.tip, force=(0.01, 0.005, 0.0))
    with pytest.warns(pl.ResolutionWarning, match="its orientation is arbitrary"):
        robot.simulate(0.02, 1e-3, formulation=PLANAR)


@pytest.mark.parametrize("velocity", [lambda s: (0, 0, 0, 0, s, 0), (0.0, 0.0, 3.0, 0.0, 0.0, 0.0)])
def test_velocity_that_a_planar_rod_cannot_have_is_told(velocity: Any) -> None:
    robot, _ = robot_with()
    with pytest.warns(pl.ResolutionWarning, match="rod 'arm': 100 % of its velocity"):
        robot.simulate(0.01, 1e-3, formulation=PLANAR, velocity={"arm": velocity})
    with warnings.catch_warnings():
        warnings.filterwarnings("error", TOLD, pl.ResolutionWarning)
        robot.simulate(
            0.01, 1e-3, formulation=PLANAR, velocity={"arm": lambda s: (0, 0, 0, s, 0, 0)}
        )
