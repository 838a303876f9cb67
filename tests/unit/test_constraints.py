"""Constraints between frames: gaps, Jacobians, second derivatives, multipliers as reactions."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3, so3
from pliant.model import (
    Circle,
    Constraint,
    ConvergenceError,
    Description,
    DescriptionError,
    Frame,
    Load,
    Material,
    Rod,
    along,
    pose,
)
from pliant.physics import frame_gap
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.robot import Robot
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Formulation
from pliant.rods.hermite import Hermite
from pliant.rods.strain import Strain
from pliant.solve.branch_checks import unstable_directions
from pliant.solve.energy import potential, reactions
from pliant.solve.integrators.contract import Integrator
from pliant.solve.integrators.midpoint import Midpoint
from pliant.solve.integrators.newmark import Newmark
from pliant.solve.load_steps import StaticSolver
from pliant.solve.sampling import Sampler
from pliant.solve.statics import StaticSolution
from pliant.tree.state import State

RUBBER = Material(E=2e6, nu=0.45, rho=1000.0)


def jacobian(g1: Array, g2: Array) -> tuple[Array, Array]:
    """Derivatives (6, 6) of the gap in the body twists of both frames."""
    b, A = np.zeros(6), np.zeros((6, 12))
    frame_gap.set_gap(g1, g2, np.arange(6), b, A)
    return A[:, :6], A[:, 6:]


def second(g1: Array, g2: Array, lam: Array) -> Array:
    """Second derivative (12, 12) of lam . gap."""
    H = np.zeros((12, 12))
    frame_gap.set_curvature(g1, g2, np.arange(6), lam, H)
    return H


@pytest.fixture(params=[0.3, 1.0, 1.5], ids=lambda size: f"turn-{size}")
def pair(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two poses, the second some way from the first."""
    g1 = se3.exp(rng.normal(size=6))
    return g1, g1 @ se3.exp(request.param * rng.uniform(-1, 1, size=6))


def gap_along(pair: tuple[Array, Array], x: Array, t: float) -> Array:
    g1, g2 = pair
    return frame_gap.residual(g1 @ se3.exp(t * x[:6]), g2 @ se3.exp(t * x[6:]))


# -- two frames -----------------------------------------------------------------------------------


def test_the_gap_is_the_rotation_vector_and_the_position_seen_from_the_first_frame(
    pair: tuple[Array, Array],
) -> None:
    g1, g2 = pair
    b = frame_gap.residual(g1, g2)
    assert g1[:3, :3] @ so3.exp(b[:3]) == pytest.approx(g2[:3, :3], abs=1e-13)
    assert g1[:3, :3] @ b[3:] == pytest.approx(g2[:3, 3] - g1[:3, 3], abs=1e-13)
    assert frame_gap.residual(g1, g1) == pytest.approx(0.0, abs=1e-15)


def test_the_jacobian_is_the_derivative_of_the_gap(
    pair: tuple[Array, Array], rng: np.random.Generator
) -> None:
    x, step = rng.normal(size=12), 1e-6
    A1, A2 = jacobian(*pair)
    slope = (gap_along(pair, x, step) - gap_along(pair, x, -step)) / (2 * step)
    assert A1 @ x[:6] + A2 @ x[6:] == pytest.approx(slope, abs=1e-8)


def test_the_second_derivative_of_the_gap(
    pair: tuple[Array, Array], rng: np.random.Generator
) -> None:
    x, lam, step = rng.normal(size=12), rng.normal(size=6), 1e-3
    near = gap_along(pair, x, step) + gap_along(pair, x, -step)
    far = gap_along(pair, x, 2 * step) + gap_along(pair, x, -2 * step)
    bend = lam @ (16 * near - far - 30 * frame_gap.residual(*pair)) / (12 * step**2)
    H = second(*pair, lam)
    assert x @ H @ x == pytest.approx(bend, rel=1e-6, abs=1e-7)
    assert pytest.approx(H.T, abs=1e-14) == H


def test_a_common_rigid_motion_opens_no_gap(
    pair: tuple[Array, Array], rng: np.random.Generator
) -> None:
    g1, g2 = pair
    h = se3.exp(3 * rng.normal(size=6))
    assert frame_gap.residual(h @ g1, h @ g2) == pytest.approx(
        frame_gap.residual(g1, g2), abs=1e-12
    )
    A1, A2 = jacobian(g1, g2)
    twist = rng.normal(size=6)
    moved = [se3.Ad(se3.inverse(g)) @ twist for g in pair]
    assert A1 @ moved[0] + A2 @ moved[1] == pytest.approx(0.0, abs=1e-12)


def test_multipliers_of_closed_frames_are_equal_and_opposite_wrenches(
    rng: np.random.Generator,
) -> None:
    g = se3.exp(rng.normal(size=6))
    A1, A2 = jacobian(g, g)
    lam = rng.normal(size=6)
    assert A2.T @ lam == pytest.approx(lam, abs=1e-14)
    assert A1.T @ lam == pytest.approx(-lam, abs=1e-14)


# -- robots in equilibrium ------------------------------------------------------------------------

FORMULATIONS = [BSpline(3, 7), BSpline(1, 7), Hermite(3), Strain(1, 3)]


def solve(
    description: Description, formulation: Formulation
) -> tuple[Effects, Inputs, StaticSolution]:
    effects = effects_of(description, dict.fromkeys(description.rods, formulation))
    inputs = effects.at({})
    return effects, inputs, StaticSolver(effects).solve(inputs)


def arm(base: object = "world", gravity: Array = (0, 0, -9.81)) -> tuple[Description, Rod]:
    description = Description(gravity=gravity)
    rod = description.add(Rod("arm", 1.0, Circle(0.02), RUBBER, pose=along("x"), base=base))
    return description, rod


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_a_free_rod_held_fixed_at_its_base_is_a_clamped_rod(formulation: Formulation) -> None:
    clamped, rod = arm()
    clamped.add(Load("tip", rod.tip, force=(0.3, 0.5, 0.2)))
    held, rod = arm(base=None)
    held.add(Load("tip", rod.tip, force=(0.3, 0.5, 0.2)))
    held.add(Constraint("clamp", rod.base_frame))
    s = np.linspace(0, 1, 9)
    answers = []
    for description in (clamped, held):
        effects, _, found = solve(description, formulation)
        answers.append(
            (
                Sampler(effects).poses(found.q, "arm", s),
                reactions(effects, found),
            )
        )
    assert answers[0][0] == pytest.approx(answers[1][0], abs=1e-9)
    assert answers[1][1]["clamp"] == pytest.approx(answers[0][1]["arm"], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_reactions_carry_the_weight(formulation: Formulation) -> None:
    """A beam on two supports, one of them free to slide: force and moment balance of the whole."""
    description, rod = arm(base=None)
    description.add(Constraint("pin", rod.base_frame, hold=("rx", "x", "y", "z")))
    description.add(Constraint("roller", rod.tip, to=np.eye(4), hold=("y", "z")))
    effects, _, found = solve(description, formulation)
    exerted = reactions(effects, found)
    weight = 9.81 * float(effects.tree.parts[0].M[:, 3].sum())
    pin = along("x")[:3, :3] @ exerted["pin"][3:]
    roller = exerted["roller"][3:]
    assert pin + roller == pytest.approx((0, 0, weight), rel=1e-8, abs=1e-8)
    part, at = effects.tree.parts[0], State(effects.tree).place(found.q).parts[0]
    mass = part.M[: len(part.mass_w), 3]
    centre = mass @ at.mass.g[:, :3, 3] / mass.sum()
    tip = Sampler(effects).poses(found.q, "arm", np.array([1.0]))[0, :3, 3]
    moment = np.cross(tip, roller) + np.cross(centre, (0, 0, -weight))
    assert moment[1] == pytest.approx(0.0, abs=1e-8)
    assert centre[2] < -1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
@pytest.mark.parametrize("kind", ["fixed", "articulated", "sliding"])
def test_the_kinds_hold_what_they_say_and_leave_the_rest(
    kind: str, formulation: Formulation
) -> None:
    description, rod = arm()
    description.add(Load("push", rod.at(0.6), force=(0.0, 0.6, 0.8)))
    target = pose((0.9, 0.1, 0.05), (0.1, 1.4, 0.2))
    description.add(Constraint("held", rod.tip, to=target, kind=kind))
    effects, _, found = solve(description, formulation)
    tip = Sampler(effects).poses(found.q, "arm", np.array([1.0]))[0]
    gap = np.abs(frame_gap.residual(target, tip))
    held = {"fixed": range(6), "articulated": range(3, 6), "sliding": range(3)}[kind]
    free = [i for i in range(6) if i not in held]
    assert gap[list(held)] == pytest.approx(0.0, abs=1e-9)
    assert np.all(gap[free] > 1e-4)
    wrench = reactions(effects, found)["held"]
    assert np.all(wrench[free] == 0.0)
    assert np.linalg.norm(wrench[list(held)]) > 1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_reactions_are_the_derivative_of_energy_in_the_held_place(formulation: Formulation) -> None:
    """Castigliano: moving the support by d costs the work of what it exerts."""
    energies = []
    step = 1e-4
    for shift in (-step, 0.0, step):
        description, rod = arm(gravity=(0, 0, 0))
        target = pose((0.9, 0.1 + shift, 0.05))
        description.add(Constraint("pull", rod.tip, to=target, kind="articulated"))
        effects, inputs, found = solve(description, formulation)
        state = State(effects.tree).place(found.q)
        energies.append(potential(effects, state, inputs)["elastic"])
        if shift == 0.0:
            force = reactions(effects, found)["pull"][3:]
    slope = (energies[2] - energies[0]) / (2 * step)
    assert force[1] == pytest.approx(slope, rel=1e-5)


def test_two_rods_closed_into_a_loop_meet_and_pull_on_each_other() -> None:
    """Rods stiff enough to stand upright, bent over until their tips are joined."""
    description = Description()
    stiff = Material(E=5e7, nu=0.45, rho=1000.0)
    left = description.add(Rod("left", 1.0, Circle(0.02), stiff, pose=pose((-0.4, 0, 0))))
    right = description.add(Rod("right", 1.0, Circle(0.03), stiff, pose=pose((0.4, 0, 0))))
    offset = right.at(1.0, offset=(0.0, 0.02))
    description.add(Constraint("joint", left.tip, to=offset, kind="articulated"))
    effects, _, found = solve(description, BSpline(3, 8))
    sampler = Sampler(effects)
    tips = [sampler.poses(found.q, name, np.array([1.0]))[0] for name in ("left", "right")]
    assert tips[0][:3, 3] == pytest.approx((tips[1] @ (0, 0.02, 0, 1))[:3], abs=1e-9)
    bases = reactions(effects, found)
    total = bases["left"][3:] + bases["right"][3:]
    weight = 9.81 * sum(float(b.M[:, 3].sum()) for b in effects.tree.parts)
    assert total == pytest.approx((0, 0, weight), rel=1e-8, abs=1e-8)
    pull = tips[1][:3, :3] @ bases["joint"][3:]
    carried = np.array([0, 0, -9.81 * float(effects.tree.part("left").M[:, 3].sum())])
    assert bases["left"][3:] + pull + carried == pytest.approx(0.0, abs=1e-8)


def test_a_frame_on_a_mounted_rod_can_be_held() -> None:
    """Its position depends on the carrier as well: the constraint Jacobian has to know."""
    description, rod = arm(gravity=(0, 0, 0))
    twig = Rod("twig", 0.4, Circle(0.01), RUBBER, pose=pose(rotation=(0.9, 0, 0)), base=rod.at(0.4))
    description.add(twig)
    rest = effects_of(description, {"arm": BSpline(3, 6), "twig": BSpline(3, 5)})
    place = Sampler(rest).poses(rest.tree.q_rest, "twig", np.array([0.4]))[0]
    target = place.copy()
    target[:3, 3] += (0.02, 0.03, -0.04)
    description.add(Constraint("held", twig.tip, to=target, kind="articulated"))
    effects = effects_of(description, {"arm": BSpline(3, 6), "twig": BSpline(3, 5)})
    inputs = effects.at({})
    found = StaticSolver(effects).solve(inputs)
    tip = Sampler(effects).poses(found.q, "twig", np.array([0.4]))[0]
    assert tip[:3, 3] == pytest.approx(target[:3, 3], abs=1e-9)
    exerted = reactions(effects, found)
    force = target[:3, :3] @ exerted["held"][3:] + along("x")[:3, :3] @ exerted["arm"][3:]
    assert force == pytest.approx(0.0, abs=1e-8)
    assert np.linalg.norm(exerted["held"]) > 1e-2


def test_a_rod_that_nothing_holds_is_said_to_move_as_a_rigid_body() -> None:
    description, _ = arm(base=None)
    with pytest.raises(ConvergenceError, match=r"move as a rigid body.*Clamp"):
        solve(description, BSpline(3, 6))


def tip_to_tip(kind: str) -> Robot:
    """Two rods from both sides, whose tips meet half a turn apart."""
    robot = Robot()
    back = np.eye(4)
    back[:3, :3] = along("x")[:3, :3] @ np.diag([-1.0, 1.0, -1.0])
    back[:3, 3] = 0.6, 0.0, 0.0
    for name, place in (("left", along("x")), ("right", back)):
        robot.add_rod(name, 0.3, Circle(0.01), RUBBER, pose=place)
    robot.add_constraint("meet", Frame("left", 0.3), Frame("right", 0.3), kind=kind)
    return robot


@pytest.mark.parametrize("integrator", [Midpoint(), Newmark()])
def test_tips_that_meet_half_a_turn_apart_can_be_joined(integrator: Integrator) -> None:
    robot = tip_to_tip("articulated")
    still = robot.statics()
    assert np.allclose(still.tip("left")[:3, 3], still.tip("right")[:3, 3], atol=1e-9)
    assert np.isclose(still.tip("left")[0, 3], 0.3, atol=1e-9)
    move = robot.simulate(0.01, 0.002, integrator=integrator)
    assert np.allclose(move.tip("left")[:, :3, 3], move.tip("right")[:, :3, 3], atol=1e-9)
    assert move.tip("left")[-1, 2, 3] < -1e-4


def test_frames_held_half_a_turn_apart_are_refused_by_name() -> None:
    with pytest.raises(DescriptionError, match=r"constraint 'meet'.*half a turn"):
        tip_to_tip("fixed").statics()


def test_directions_that_do_not_exist_are_not_looked_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rough factor may count negative pivots of a stable robot; statics hung for minutes then.
    Lanczos gives up, then each coordinate is looked at once."""
    description, _ = arm()
    effects = effects_of(description, dict.fromkeys(description.rods, Hermite(60)))
    solver = StaticSolver(effects)
    solver.solve(effects.at({}))
    solver.tangent.matrix.factorise()
    matrix, solved = type(solver.tangent.matrix), []
    solve_once = matrix.solve
    monkeypatch.setattr(matrix, "solve", lambda self, b: solved.append(1) or solve_once(self, b))
    assert unstable_directions(solver.tangent.matrix, effects.tree.coordinates, 2).shape[1] == 0
    assert 0 < len(solved) < 1000 + len(effects.tree.coordinates)
