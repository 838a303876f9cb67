"""Cold statics lies on the branch that continuation from the unloaded robot follows.

Turns that are held count in full. The reference is the exact twist of a rod, or the same path in many
short steps.
"""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.contract import StrongSolver
from pliant.results.equilibrium import Equilibrium
from pliant.solve.load_steps import StaticOptions, StaticSolver
from tests.reference.random_robots import distance, random_robot

STEEL = pl.Material(E=1e8, nu=0.5, rho=1000.0)
LENGTH, RADIUS = 0.3, 0.01
TWIST = STEEL.E / 3.0 * np.pi * RADIUS**4 / 2.0 / LENGTH
"""Torque for a radian between the ends, N m/rad."""
ORIENTATION = ("rx", "ry", "rz")


def held_rod(axis=(0.0, 0.0, 1.0), natural=(0.0, 0.0, 0.0), gravity=0.0, radius=RADIUS):
    robot = pl.Robot(gravity=(0.0, 0.0, -gravity))
    section = pl.Circle(radius)
    arm = robot.add_rod("arm", LENGTH, section, STEEL, natural=natural)
    robot.add_base_motion("turn", arm, rotation=axis)
    robot.add_constraint("held", arm.tip, hold=ORIENTATION)
    return robot


@pytest.mark.parametrize(
    "formulation",
    [None, pl.Hermite(), pl.Strain(), pl.Shooting(), pl.MultipleShooting(), pl.Collocation()],
    ids=lambda f: type(f).__name__,
)
@pytest.mark.parametrize("angle", [3.0, 5.0, -7.0, 20.0])
def test_rod_whose_base_turns_and_whose_tip_is_held_twists_by_all_turns(formulation, angle):
    still = held_rod().statics({"turn": angle}, formulation)
    assert still.wrench("arm", 0.1)[2] == pytest.approx(-angle * TWIST, rel=2e-6)


@pytest.mark.parametrize("formulation", [None, pl.Shooting(), pl.Collocation()])
def test_start_follows_a_far_base_motion_in_full(formulation):
    robot = held_rod()
    first = robot.statics({"turn": 4.0}, formulation)
    still = robot.statics({"turn": -3.0}, formulation, start=first)
    assert still.wrench("arm", 0.1)[2] == pytest.approx(3.0 * TWIST, rel=1e-6)


def test_prescribed_hinge_twists_a_rod_by_all_turns():
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    hinge = pl.Revolute("z", drive="angle")
    crank = robot.add_body("crank", mass=1.0, inertia=(1.0, 1.0, 1.0), joint=hinge)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), STEEL, base=crank.at((0.0, 0.0, 0.0)))
    robot.add_constraint("held", arm.tip, hold=ORIENTATION)
    still = robot.statics({"crank": 14.0})
    assert still.wrench("arm", 0.1)[2] == pytest.approx(-14.0 * TWIST, rel=1e-9)


def test_two_rods_in_a_loop_share_all_turns_of_one_base():
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    first, second = (
        robot.add_rod(name, LENGTH, pl.Circle(RADIUS), STEEL) for name in ("first", "second")
    )
    robot.add_base_motion("turn", first, rotation=(0.0, 0.0, 1.0))
    robot.add_constraint("joined", first.tip, second.tip)
    still = robot.statics({"turn": 9.0})
    assert still.wrench("first", 0.1)[2] == pytest.approx(-4.5 * TWIST, rel=1e-9)
    assert still.wrench("second", 0.1)[2] == pytest.approx(4.5 * TWIST, rel=1e-9)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.3, 0.4, 0.8)])
def test_bent_rod_turned_about_any_axis_lies_on_the_path_of_short_steps(axis):
    robot = held_rod(axis, natural=(1.0, 0.4, 0.0), gravity=9.81, radius=0.005)
    cold, path = robot.statics({"turn": 5.0}), None
    for turn in np.linspace(0.25, 5.0, 20):
        path = robot.statics({"turn": turn}, start=path)
    s = np.linspace(0.0, LENGTH, 7)
    assert cold.position("arm", s) == pytest.approx(path.position("arm", s), abs=1e-9)
    assert cold.wrench("arm", s) == pytest.approx(path.wrench("arm", s), abs=1e-7)


@pytest.mark.parametrize("stiffness", [1e5, 2e11])
def test_fine_cable_meshes_end_at_rounding_error(stiffness):
    robot = pl.Robot()
    section, material = pl.Circle(0.01), pl.Material(E=stiffness, nu=0.5, rho=1000.0)
    robot.add_rod("arm", LENGTH, section, material, pose=pl.along("x"))
    coarse, fine = (robot.statics(formulation=pl.ANCF(n)) for n in (100, 800))
    assert fine.tip("arm")[:3, 3] == pytest.approx(coarse.tip("arm")[:3, 3], abs=1e-6 * LENGTH)
    assert fine.stable


def test_follower_and_weight_lead_to_the_branch_of_short_steps():
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    rubber = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    natural = (0.0387, -0.1281, -0.1302)
    arm = robot.add_rod("arm", 0.5, pl.Circle(0.00535), rubber, natural=natural)
    robot.add_load("push", arm.tip, force=(-0.00195, 0.002565, -0.000422), frame="body")
    robot.add_load("weight", arm, force=(-0.0773, -0.1835, -0.358))
    cold, path = robot.statics(), None
    for share in np.linspace(0.0, 1.0, 61)[1:]:
        path = robot.statics({"push": share, "weight": share}, start=path)
    s = np.linspace(0.0, 0.5, 9)
    assert cold.position("arm", s) == pytest.approx(path.position("arm", s), abs=1e-8)
    assert cold.stable and path.stable


def test_chain_like_rod_hangs_from_its_clamp():
    """A boundary layer of width sqrt(EI / w L) turns the tangent from the clamp to the weight."""
    robot = pl.Robot()
    E, radius, length, angle = 1e4, 0.004, 0.8, np.radians(105.0)
    pose = np.eye(4)
    pose[:3, 2] = np.sin(angle), 0.0, -np.cos(angle)
    pose[:3, :3] = np.column_stack([np.cross((0, 1, 0), pose[:3, 2]), (0, 1, 0), pose[:3, 2]])
    soft = pl.Material(E=E, nu=0.5, rho=1000.0)
    robot.add_rod("arm", length, pl.Circle(radius), soft, pose, theory="kirchhoff")
    still = robot.statics(formulation=pl.BSpline(3, 400))
    weight = 9.81 * 1000.0 * np.pi * radius**2 * length
    width = np.sqrt(E * np.pi * radius**4 / 4.0 / weight)
    x, z = 2.0 * width * np.sin(angle / 2.0), 2.0 * width * (1.0 - np.cos(angle / 2.0))
    assert still.tip("arm")[[0, 2], 3] == pytest.approx([x, z - length], abs=2e-5)
    assert still.stable


@pytest.mark.parametrize("formulation", [None, pl.Shooting(), pl.Collocation()])
def test_column_beyond_its_buckling_load_is_told_to_be_unstable(formulation):
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.005), pl.Material(E=1e7, nu=0.5, rho=1000.0))
    robot.add_load("press", arm.tip, force=(0.0, 0.0, -1.0))
    buckling = np.pi**2 * 1e7 * np.pi * 0.005**4 / 4.0 / (4.0 * LENGTH**2)
    assert robot.statics({"press": 0.9 * buckling}, formulation).stable
    with pytest.warns(pl.StabilityWarning, match="loses its stability"):
        still = robot.statics({"press": 1.1 * buckling}, formulation)
    assert not still.stable


@pytest.mark.parametrize("share", [1.05, 1.1, 1.5, 2.0])
@pytest.mark.parametrize("formulation", [None, pl.Spectral(), pl.Strain()])
def test_imperfect_column_bends_to_the_side_of_its_imperfection(formulation, share):
    """All motion is in a plane: pivots alone do not show the equilibrium on the other side."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    stiff = pl.Material(E=1e7, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.005), stiff, natural=(0.02, 0.0, 0.0))
    robot.add_load("press", arm.tip, force=(0.0, 0.0, -1.0))
    load = share * np.pi**2 * 1e7 * np.pi * 0.005**4 / 4.0 / (4.0 * LENGTH**2)
    cold, path = robot.statics({"press": load}, formulation), None
    for part in np.linspace(0.0, 1.0, 61)[1:]:
        path = robot.statics({"press": part * load}, formulation, start=path)
    s = np.linspace(0.0, LENGTH, 9)
    assert cold.position("arm", s) == pytest.approx(path.position("arm", s), abs=1e-7)
    assert cold.stable and cold.position("arm", LENGTH)[1] < -0.1


@pytest.mark.parametrize("seed", [67, 83])
def test_follower_loads_stay_on_the_branch_from_no_load(seed: int) -> None:
    """Cold statics of these robots ended on unstable branches, 0.36 and 0.51 of the length away."""
    robot = random_robot(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cold = robot.statics(formulation=pl.BSpline(3, 15))
    problem = cold._compiled
    solver = StaticSolver(problem.effects, StaticOptions(largest_step=1.0 / 300.0))
    followed = solver.solve(problem.effects.at(cold.inputs))
    assert cold.stable
    assert distance(cold, Equilibrium(problem, followed, [(1.0, cold.inputs)], 0.0)) < 1e-6


@pytest.mark.parametrize(
    ("seed", "form"),
    [
        (770003, pl.Collocation()),
        (770024, pl.Shooting()),
        (770001, pl.Shooting(20, scheme="adaptive", tolerance=1e-3)),
    ],
    ids=str,
)
def test_strong_forms_begin_again_where_coordinates_tell_that_they_left_the_branch(
    seed: int, form: object
) -> None:
    """Under follower loads, or many weights on soft rods, conjugate points do not tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.StabilityWarning)
        still = random_robot(seed).statics(formulation=form)
        fine = random_robot(seed).statics(formulation=pl.BSpline(5, 40))
    assert still.stable
    assert still.rescues["branch of coordinates"] == 1
    assert distance(still, fine) < 2e-4


@pytest.mark.parametrize(("seed", "form"), [(770010, pl.Shooting(12)), (770007, pl.Collocation(5))])
def test_coarse_strong_forms_tell_how_far_they_are_from_the_branch_of_coordinates(
    seed: int, form: object
) -> None:
    with pytest.warns(pl.StabilityWarning, match="another branch than that from no load"):
        still = random_robot(seed).statics(formulation=form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine = random_robot(seed).statics(formulation=pl.BSpline(5, 40))
    assert distance(still, fine) > 0.01
    assert still.error is not None
    assert still.error.relative == pytest.approx(distance(still, fine), rel=0.1)


def test_an_error_that_no_finer_strong_form_tells_is_that_against_coordinates():
    """Its equilibrium with four more points is not found from this one."""
    robot = random_robot(5512035)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fine = robot.statics(formulation=pl.BSpline(5, 40))
    with pytest.warns(pl.ResolutionWarning, match=r"estimated error is .* mm"):
        still = robot.statics(formulation=pl.Collocation(8))
    assert still.error.relative == pytest.approx(distance(still, fine), rel=0.2)


def test_load_steps_end_where_many_do_not_arrive():
    """Robot 3012 needs eight load steps: with four it ends with how far it came."""
    robot = random_robot(3012)
    problem = robot.statics()._compiled
    options = StaticOptions(attempts=0, arclength=False)
    with pytest.raises(pl.ConvergenceError, match=r"% of the load .*many load steps did not lead"):
        StaticSolver(problem.effects, options).solve(problem.effects.at({}))


def test_load_steps_of_strong_forms_end_where_many_do_not_arrive(monkeypatch):
    monkeypatch.setattr(StrongSolver, "attempts", 0)
    with pytest.raises(pl.ConvergenceError, match=r"% of the load .*many load steps did not lead"):
        random_robot(3012).statics(formulation=pl.Shooting())


# -- folds under loads without potential ----------------------------------------------------------


def toggle(tilt: float = 0.4) -> pl.Robot:
    """A bar of 0.5 m on a hinge, tilted from the line to an anchor at 1 m, pushed across it by a force
    that turns with the bar. A spring between its end and the anchor is relaxed at rest.
    """
    robot = pl.Robot(gravity=(0, 0, 0))
    c, s = np.cos(tilt), np.sin(tilt)
    pose = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])
    bar = robot.add_body("bar", 0.1, (1e-3,) * 3, pose=pose, joint=pl.Revolute("y"))
    robot.add_spring("spring", bar.at((0, 0, 0.5)), (0, 0, 1.0), stiffness=100.0)
    robot.add_load("push", bar.at((0, 0, 0.5)), force=(-1.0, 0, 0), frame="body")
    return robot


def toggle_force(angle: np.ndarray, tilt: float = 0.4) -> np.ndarray:
    """The force (N) that balances the spring where the bar is at an angle (rad) from the line."""
    length = np.sqrt(1.25 - np.cos(angle))
    stretch = length - np.sqrt(1.25 - np.cos(tilt))
    return -100.0 * stretch * np.sin(angle) / (2.0 * length) / 0.5


@pytest.mark.parametrize("elements", [5, 6, 10])
def test_short_waves_that_buckle_in_a_load_step_are_not_taken(elements: int) -> None:
    """Their flexibility is a thousandth of that of the robot, where iterations do not find them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        still = random_robot(3047).statics(formulation=pl.Hermite(elements))
        fine = random_robot(3047).statics(formulation=pl.BSpline(5, 40))
    assert still.stable
    assert distance(still, fine) < 5e-4
    assert len(still._solution.levels) < 30


@pytest.mark.parametrize("push", [2.2, 3.0, 4.0, 8.0, 20.0, 60.0])
def test_a_bar_pushed_across_its_toggle_by_a_follower_force_does_not_jump(push: float) -> None:
    """The far side is stable too, so that only the way there tells of the fold."""
    angles = np.linspace(0.4, 0.0, 4001)
    fold = float(toggle_force(angles).max())
    assert fold == pytest.approx(2.0836, abs=1e-4)
    with pytest.raises(pl.ConvergenceError, match="a fold") as failure:
        toggle().statics({"push": push})
    level = float(str(failure.value).split("ends at ")[1].split(" %")[0]) / 100.0
    assert level * push == pytest.approx(fold, rel=2e-2)


def test_a_bar_pushed_by_a_follower_force_below_the_fold_is_where_the_spring_balances_it() -> None:
    angles = np.linspace(0.4, 0.0, 4001)
    forces = toggle_force(angles)
    for share in (0.2, 0.6, 0.9, 0.99):
        push = share * forces.max()
        turned = toggle().statics({"push": push}).joint("bar")[0]
        exact = np.interp(push, forces[: forces.argmax()], angles[: forces.argmax()])
        assert 0.4 + turned == pytest.approx(exact, abs=1e-5)


def test_an_unstable_equilibrium_under_a_follower_force_is_told_after_one_load_step() -> None:
    """An upright bar stands in an unstable equilibrium; a small follower force leaves it there."""
    robot = pl.Robot()
    bar = robot.add_body("bar", 1.0, (1e-3,) * 3, centre=(0, 0, 0.5), joint=pl.Revolute("y"))
    robot.add_load("push", bar.at((0, 0, 1.0)), force=(0.2, 0, 0), frame="body")
    with pytest.warns(pl.StabilityWarning, match="unstable"):
        still = robot.statics()
    assert still.stable is False
    assert still.joint("bar")[0] == pytest.approx(-np.arcsin(0.2 / (9.81 * 0.5)), rel=1e-6)


def test_a_soft_robot_under_a_follower_force_does_not_go_to_another_branch_in_one_load_step() -> (
    None
):
    """Its second correction is small, and yet the equilibrium that it finds is an unstable one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.ResolutionWarning)
        still = random_robot(640036).statics()
    problem = still._compiled
    solver = StaticSolver(problem.effects, StaticOptions(largest_step=0.01))
    steps = solver.solve(problem.effects.at(still.inputs))
    assert distance(still, Equilibrium(problem, steps, [(1.0, still.inputs)], 0.0)) < 1e-6
    assert still.stable
