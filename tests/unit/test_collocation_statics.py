"""Equilibria by Chebyshev collocation against exact and independent solutions."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.chain import Chain
from pliant.bvp.collocation import Collocation
from pliant.bvp.contract import BasePath, State, StrongSolver
from pliant.model import ConvergenceError
from tests.reference import PointLoad, RodProblem, circular_stiffness, solve_cantilever, values

TOLERANCE = 1e-11


def solver_of(robot: pl.Robot, **settings) -> StrongSolver:
    return Collocation(**settings).solver(Chain(robot.description, "Collocation()"))


def equilibrium(solver: StrongSolver, inputs: dict, start: State | None = None) -> State:
    return solver.statics(inputs, start, BasePath.fixed(solver.chain.base.pose), TOLERANCE)


def test_two_nodes_bend_a_rod_into_a_circle():
    """Paper V-A: 100 moments up to the full circle; exact, since the moment is constant."""
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=2.0, twist=1 / 2.6, shear=0.25 / 2.6, axial=0.25)
    rod = robot.add_rod("rod", 1.0, section, pose=pl.along("x"))
    robot.add_load("moment", rod.tip, moment=(0, 2.0, 0))
    solver = solver_of(robot, nodes=2)
    for turn in np.linspace(0.0, 2 * np.pi, 100):
        tip = equilibrium(solver, {"moment": turn}).pose[-1, :3, 3]
        drop = (1 - np.cos(turn)) / turn if turn else 0.0
        assert tip == pytest.approx([np.sinc(turn / np.pi), 0.0, -drop], abs=1e-12)


@pytest.mark.parametrize("lam", values.HELIX_TIP)
def test_force_and_moment_wind_a_rod_into_a_helix(lam):
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=100.0, twist=100.0, shear=1e4, axial=1e4)
    rod = robot.add_rod("rod", 10.0, section, pose=pl.along("x"))
    robot.add_load("both", rod.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    chosen, papers = solver_of(robot), solver_of(robot, nodes=(2, 43))
    for solver, accuracy in ((chosen, 1e-9), (papers, 2e-8)):
        found = equilibrium(solver, {"both": lam})
        assert found.pose[-1, :3, 3] == pytest.approx(values.HELIX_TIP[lam], abs=accuracy)
        assert solver.record.rescues["load steps"] == len(solver.record.levels)


def bend() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    pose = pl.along("y")
    curvature = pose[:3, :3].T @ (0.0, 0.0, -0.01)
    material = pl.Material(E=1e7, nu=0.0)
    section = pl.Section(1.0, 1 / 12, 1 / 12, 1 / 6)
    rod = robot.add_rod("rod", 25 * np.pi, section, material, pose, natural=tuple(curvature))
    robot.add_load("up", rod.tip, force=(0, 0, 1.0))
    return robot


@pytest.mark.parametrize("settings", [{}, {"nodes": (2, 18)}], ids=["auto", "paper"])
def test_45_degree_bend_arrives_from_zero_and_from_the_last_load(settings):
    cold, warm = solver_of(bend(), **settings), solver_of(bend(), **settings)
    last = None
    for load in np.arange(300.0, 3001.0, 300.0):
        last = equilibrium(warm, {"up": load}, last)
        found = equilibrium(cold, {"up": load})
        tip = found.pose[-1, :3, 3]
        # of a length of 78.5; the paper's numbers of nodes resolve 3000 N to six digits
        assert last.pose[-1, :3, 3] == pytest.approx(tip, abs=1e-8 if not settings else 1e-4)
        if load in values.BEND_TIP:
            assert tip == pytest.approx(values.BEND_TIP[load], abs=1e-9)
    assert cold.record.levels[-1] == 1.0
    assert cold.record.rescues["load steps"] > 1


def curved() -> tuple[pl.Robot, RodProblem]:
    """Tapered, naturally curved rod with weight, force, moment and a follower force in the middle."""
    robot = pl.Robot()
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0)
    natural = (1.0, -0.5, 2.0)
    rod = robot.add_rod(
        "rod", 0.5, pl.Circle((0.02, 0.012)), material, pl.along("x"), natural=natural
    )
    robot.add_load("tip", rod.tip, force=(0.1, 0.15, -0.05), moment=(0.01, 0.02, -0.01))
    robot.add_load("mid", rod.at(0.3), force=(0.2, 0.1, 0.0), frame="body")

    def radius(s):
        return 0.02 - 0.016 * s

    problem = RodProblem(
        0.5,
        circular_stiffness(2e5, 0.45, radius),
        lambda s: np.array([*natural, 0, 0, 1.0]),
        pl.along("x"),
        lambda s: np.array([0, 0, -9.81 * 1000 * np.pi * radius(s) ** 2]),
        tip_force=(0.1, 0.15, -0.05),
        tip_moment=(0.01, 0.02, -0.01),
        point_loads=(PointLoad(0.3, (0.2, 0.1, 0.0), frame="body"),),
    )
    return robot, problem


def test_error_falls_faster_than_any_power():
    robot, problem = curved()
    truth = solve_cantilever(problem).tip
    inputs = {"tip": 1.0, "mid": 1.0}
    nodes = np.array([3, 5, 7, 9, 11])
    errors = []
    for count in nodes:
        found = equilibrium(solver_of(robot, nodes=int(count), history_nodes=40), inputs)
        errors.append(np.abs(found.pose[-1] - truth).max())
    # a straight line in semilogarithmic axes: each two nodes gain about the same factor
    factors = np.divide(errors[:-1], errors[1:])
    assert (factors > 4.0).all()
    assert errors[-1] < 1e-7
    chosen = equilibrium(solver_of(robot), inputs)
    assert chosen.pose[-1] == pytest.approx(truth, abs=1e-9)


def test_a_grid_too_coarse_for_the_histories_converges_spectrally_too():
    robot, problem = curved()
    truth = solve_cantilever(problem).tip
    errors = []
    for count in (6, 9, 12, 15):
        found = equilibrium(
            solver_of(robot, nodes=6, history_nodes=count), {"tip": 1.0, "mid": 1.0}
        )
        errors.append(np.abs(found.pose[-1] - truth).max())
    assert errors[-1] < 1e-4
    assert errors[-1] < errors[0]


def test_state_obeys_law_and_balance_between_the_knots():
    robot, problem = curved()
    state = equilibrium(solver_of(robot), {"tip": 1.0, "mid": 1.0})
    expected = problem.stiffness(state.s) * (state.strain - problem.natural(0.0))
    assert state.wrench == pytest.approx(expected, abs=1e-8)
    truth = solve_cantilever(problem).pose(state.s)
    assert state.pose == pytest.approx(truth, abs=1e-9)


HELD = {
    "fixed": ({"kind": "fixed"}, "world"),
    "articulated": ({"kind": "articulated"}, "world"),
    "hinge": ({"hold": ("rx", "ry", "x", "y", "z")}, "world"),
    "both": ({"hold": ("rx", "x", "y", "z")}, None),
}


@pytest.mark.parametrize("case", HELD)
def test_held_ends_agree_with_splines(case):
    kind, base = HELD[case]
    robot = pl.Robot()
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0)
    rod = robot.add_rod(
        "rod", 0.7, pl.Circle((0.03, 0.02)), material, pl.along("x"), base, (0.3, -0.2, 0.5)
    )
    place = np.array(pl.along("x"))
    place[:3, 3] = 0.55, 0.1, 0.1
    robot.add_constraint("tip", rod.tip, to=place, **kind)
    if base is None:
        robot.add_constraint("base", rod.base_frame, to=pl.along("x"), kind="articulated")
    robot.add_load("along", "rod", force=(0.0, 0.4, 0.2))
    found = equilibrium(solver_of(robot), {"along": 1.0})
    truth = robot.statics(formulation=pl.BSpline(degree=3, points=160))
    knots = slice(None, None, 8)
    expected = truth.pose("rod", found.s[knots])
    assert found.pose[knots] == pytest.approx(expected, abs=1e-7)


def test_rods_joined_end_to_end_are_one_rod():
    states = []
    for cut in (False, True):
        robot = pl.Robot()
        material = pl.Material(E=2e5, nu=0.45, rho=1000.0)
        first = robot.add_rod(
            "first", 0.2 if cut else 0.5, pl.Circle(0.02), material, pl.along("x")
        )
        last = first
        if cut:
            last = robot.add_rod("second", 0.3, pl.Circle(0.02), material, base=first.tip)
        robot.add_load("tip", last.tip, force=(0.0, 0.1, 0.05), frame="body")
        robot.add_body("hand", 0.05, (1e-5, 1e-5, 1e-5), on=last.tip, centre=(0.0, 0.01, 0.02))
        states.append(equilibrium(solver_of(robot), {"tip": 1.0}))
    assert states[1].pose[-1] == pytest.approx(states[0].pose[-1], abs=1e-10)


def test_a_rod_that_nothing_holds_is_refused_in_words():
    robot = pl.Robot()
    robot.add_rod("loose", 0.5, pl.Circle(0.02), pl.Material(E=2e5, nu=0.45, rho=1e3), base=None)
    with pytest.raises(ConvergenceError, match=r"'loose'.*Clamp the base"):
        equilibrium(solver_of(robot), {})
