"""Drag, mass damping, bodies and moving bases: kernels by differences, statics, refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.model import Array, Body
from pliant.physics import inertia
from pliant.physics.contract import Moment
from pliant.physics.drag import Drag, add_drag, add_step_drag
from pliant.physics.effects import effects_of
from pliant.physics.mass_damping import MassDamping, add_step_damping
from pliant.results.shapes_and_arrows import body_shapes
from pliant.rods.contract import Capabilities
from pliant.tree.work import Work
from tests.unit.test_contract_toy import Toy

RUBBER = pl.Material(E=2e5, nu=0.45, rho=1000.0)
FORMULATIONS = [pl.BSpline(3, 6), pl.Hermite(3), pl.Spectral(3, 2), pl.Strain(1, 3), Toy(3)]
GRAVITY = (0.5, 1.0, -9.81)


def arm_robot(**more: object) -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot(gravity=GRAVITY)
    return robot, robot.add_rod("arm", 0.4, pl.Circle(0.02), RUBBER, **more)


# -- kernels ---------------------------------------------------------------------------------------


class Resisted:
    """Drag and mass damping of one rod, at given twists of its sections."""

    def __init__(self) -> None:
        robot, self.rod = arm_robot(drag=(0.3, 0.9, 0.5), mass_damping=3.0)
        self.effects = effects_of(robot.description, {"arm": pl.Strain(1, 2)})
        self.terms = [term for term in self.effects.terms if isinstance(term, (Drag, MassDamping))]
        part = self.effects.tree.parts[0]
        self.C = self.rod.drag_coefficients() * part.mass_w[:, None]
        self.d = 3.0 * self.rod.inertia(part.mass_s) * part.mass_w[:, None]

    def act(self, eta: Array, speed: float = 1.0) -> tuple[Array, Array, float]:
        """Gradients (Q, 6), `speed` times their derivatives (Q, 6, 6) in eta (Q, 6), power lost, W."""
        tree = self.effects.tree
        work, tangent, nothing = Work(tree), self.effects.tangent(False), np.zeros(tree.total)
        w = work.parts[0]
        w.eta[: len(eta)] = eta
        u = self.effects.nothing.u
        moment = Moment(tree, tree.rest, work, u, nothing, nothing, speed, tangent)
        for term in self.terms:
            term.act(moment)
        lost = sum(term.power_lost(moment) for term in self.terms)
        return w.p[: len(eta)], w.k[: len(eta)], lost


def test_resistance_tangent_and_power() -> None:
    resisted = Resisted()
    assert len(resisted.terms) == 2
    C, d = resisted.C, resisted.d
    eta = np.random.default_rng(0).normal(size=(len(C), 6))
    p, k, lost = resisted.act(eta)
    expected = d * eta
    expected[:, 3:] += C * eta[:, 3:] * np.abs(eta[:, 3:])
    np.testing.assert_allclose(p, expected, rtol=1e-14)
    step = 1e-6
    for j in range(6):
        x = np.zeros(6)
        x[j] = step
        slope = (resisted.act(eta + x)[0] - resisted.act(eta - x)[0]) / (2 * step)
        np.testing.assert_allclose(k[:, :, j], slope, atol=1e-8)
    np.testing.assert_allclose(resisted.act(eta, 7.0)[1], 7.0 * k, rtol=1e-14)
    assert lost == pytest.approx(np.sum(p * eta), rel=1e-14)
    # at rest the drag is smooth: no force, no slope but that of the damping
    p, k, lost = resisted.act(np.zeros_like(eta))
    assert not p.any()
    assert lost == 0.0
    np.testing.assert_allclose(k[0], np.diag(d[0]), rtol=1e-14)


def resistance(C: Array, d: Array, eta: Array) -> Array:
    p, k = d * eta, np.zeros((len(eta), 6, 6))
    add_drag(C, np.arange(len(eta)), eta, 1.0, False, p, k)
    return p


def test_tangent_of_the_impulse_of_a_step() -> None:
    rng = np.random.default_rng(1)
    count, h = 3, 0.02
    C, d = rng.uniform(0.1, 1, (count, 3)), rng.uniform(0.1, 1, (count, 6))
    ga = se3.exp(rng.normal(size=(count, 6)))
    gb = ga @ se3.exp(h * rng.normal(size=(count, 6)) * 10)

    def impulse(end: Array) -> tuple[Array, Array, Array]:
        eta, pa, pb = np.zeros((3, count, 6))
        k = np.zeros((count, 6, 6))
        inertia.step_momentum(np.zeros((count, 6)), ga, end, h, True, eta, pa, pb, k)
        add_step_drag(C, np.arange(count), ga, end, h, 0.5, True, pa, pb, k)
        add_step_damping(d, eta, h, 0.5, True, pa, pb, k)
        return pa, pb, k

    pa, pb, k = impulse(gb)
    np.testing.assert_allclose(pa, -pb, rtol=1e-14)
    np.testing.assert_allclose(
        pa, 0.5 * h * resistance(C, d, se3.log(se3.inverse(ga) @ gb) / h), rtol=1e-9
    )
    step = 1e-6
    for j in range(6):
        x = np.zeros(6)
        x[j] = step
        slope = (impulse(gb @ se3.exp(x))[0] - impulse(gb @ se3.exp(-x))[0]) / (2 * step)
        np.testing.assert_allclose(k[:, :, j], slope, atol=1e-7 * np.max(np.abs(k)))


def test_principal_frame_of_a_body_has_the_inertia_of_the_body() -> None:
    tensor = (4e-4, 5e-4, 6e-4, 1e-4, -5e-5, 2e-5)
    body = Body("b", 0.3, tensor, pl.Frame("arm", 0.1, (0.01, 0.02)), centre=(0.0, 0.03, -0.01))
    diagonal, axes = body.principal()
    T = body.placement() @ axes
    A = se3.Ad(se3.inverse(T))
    np.testing.assert_allclose(A.T @ np.diag(diagonal) @ A, body.spatial_inertia(), atol=1e-16)
    assert np.linalg.det(T[:3, :3]) == pytest.approx(1.0)


# -- bodies in statics -----------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_weight_of_a_body_acts_at_its_centre_of_mass(formulation: pl.Formulation) -> None:
    """Also off the axis, where it bends and twists: as a dead force at that place does."""
    laden, arm = arm_robot(pose=pl.along("x"))
    laden.add_body("b", 0.05, on=arm.at(0.3, offset=(0.01, 0.0)), centre=(0.0, 0.04, 0.02))
    loaded, arm = arm_robot(pose=pl.along("x"))
    force = 0.05 * np.array(GRAVITY)
    loaded.add_load("w", arm.at(0.3, offset=(0.01, 0.04, 0.02)), force=force)
    a, b = (robot.statics(formulation=formulation) for robot in (laden, loaded))
    np.testing.assert_allclose(a.tip("arm"), b.tip("arm"), atol=1e-11)
    rounding = 1e-10 if isinstance(formulation, Toy) else 0.0  # its derivatives are differences
    np.testing.assert_allclose(a.reactions["arm"], b.reactions["arm"], rtol=1e-8, atol=rounding)
    s = np.array([0.0, 0.1, 0.299, 0.35])
    np.testing.assert_allclose(a.wrench("arm", s), b.wrench("arm", s), atol=1e-9)
    # what is gravity for one is the potential of a load for the other
    assert a.energy["loads"] == 0.0
    assert a.energy["gravity"] == pytest.approx(b.energy["gravity"] + b.energy["loads"], rel=1e-10)


def test_base_reaction_carries_the_weight_and_its_moment() -> None:
    robot, arm = arm_robot()
    robot.add_body("b", 0.05, on=arm.tip, centre=(0.03, 0.0, 0.0))
    still = robot.statics()
    pose = still.tip("arm")
    centre = pose[:3, 3] + pose[:3, :3] @ (0.03, 0.0, 0.0)
    s = np.linspace(0.0, 0.4, 4001)
    w = np.full(4001, 0.4 / 4000) * arm.mass_per_length(s)
    w[[0, -1]] *= 0.5
    weight = 0.05 * np.array(GRAVITY)
    sections = w[:, None] * np.array(GRAVITY)
    moment = np.cross(centre, weight) + np.cross(still.position("arm", s), sections).sum(axis=0)
    force = weight + sections.sum(axis=0)
    # the clamp stands at the origin, its frame along the world's axes
    np.testing.assert_allclose(still.reactions["arm"], -np.r_[moment, force], rtol=1e-6)


# -- moving bases in statics -----------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_base_moved_by_an_input_is_a_rod_described_there(formulation: pl.Formulation) -> None:
    pose = pl.pose((0.1, 0.2, 0.3), (0.2, 0.3, -0.4))
    moving, arm = arm_robot(pose=pose)
    moving.add_base_motion("lift", arm, translation=(0.5, -1.0, 2.0), rotation=(0.5, 0.2, -0.3))
    moving.add_base_motion("tilt", arm, rotation=(0.0, 1.0, 0.0))
    there = pl.pose(0.3 * np.array((0.5, -1.0, 2.0))) @ pose
    for turn in (0.3 * np.array((0.5, 0.2, -0.3)), np.array((0.0, 1.2, 0.0))):
        there = there @ pl.pose(rotation=turn)
    fixed, arm = arm_robot(pose=there)
    a = moving.statics({"lift": 0.3, "tilt": 1.2}, formulation=formulation)
    b = fixed.statics(formulation=formulation)
    np.testing.assert_allclose(a.tip("arm"), b.tip("arm"), atol=1e-10)
    np.testing.assert_allclose(a.pose("arm", 0.0), there, atol=1e-15)
    np.testing.assert_allclose(a.reactions["arm"], b.reactions["arm"], atol=1e-8)
    assert a.stable == b.stable
    rel = 1e-3 if isinstance(formulation, Toy) else 1e-7  # its second derivatives are differences
    frequencies = [moving.modes(3, at=a).frequencies, fixed.modes(3, at=b).frequencies]
    np.testing.assert_allclose(*frequencies, rtol=rel)
    # without the inputs the base is where it is described
    np.testing.assert_allclose(moving.statics().pose("arm", 0.0), pose, atol=1e-15)


def test_branch_is_followed_while_the_base_turns() -> None:
    robot, arm = arm_robot()
    robot.add_base_motion("tilt", arm, rotation=(0.0, 1.0, 0.0))
    at_once = robot.statics({"tilt": 1.5})
    half = robot.statics({"tilt": 0.7})
    followed = robot.statics({"tilt": 1.5}, start=half)
    np.testing.assert_allclose(followed.tip("arm"), at_once.tip("arm"), atol=1e-9)


def test_loop_closes_while_its_base_moves() -> None:
    """A rod held at its far end, its base pushed inwards: the same as one described so."""

    def robot(x: float, moving: bool) -> pl.Equilibrium:
        found = pl.Robot(gravity=(0, 0, -9.81))
        pose = pl.along("x", (0.0 if moving else x, 0.0, 0.0))
        arm = found.add_rod("arm", 0.4, pl.Circle(0.01), RUBBER, pose=pose)
        found.add_constraint("clamp", arm.tip, to=pl.along("x", (0.4, 0.0, 0.0)))
        if moving:
            found.add_base_motion("push", arm, translation=(1, 0, 0))
            return found.statics({"push": x})
        return found.statics()

    a, b = robot(0.05, True), robot(0.05, False)
    np.testing.assert_allclose(a.tip("arm")[:3, 3], (0.4, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(a.position("arm", 0.2), b.position("arm", 0.2), atol=1e-7)
    assert a.energy["elastic"] == pytest.approx(b.energy["elastic"], rel=1e-6)


# -- inputs ----------------------------------------------------------------------------------------


def shaken() -> pl.Robot:
    robot, arm = arm_robot()
    robot.add_base_motion("shake", of=arm, translation=(0, 0, 1))
    return robot


@pytest.mark.parametrize("value", [(1.0, 2.0, 3.0), float("nan"), "far"])
def test_input_of_a_base_motion_is_one_number(value: object) -> None:
    with pytest.raises(pl.DescriptionError, match="one finite number, for it moves a base"):
        shaken().statics({"shake": value})
    with pytest.raises(pl.DescriptionError, match="one finite number, for it moves a base"):
        shaken().simulate(0.1, 0.01, {"shake": lambda t: value})


def test_base_motion_that_leaves_the_numbers_is_refused() -> None:
    with pytest.raises(pl.DescriptionError, match="first derivative at t = 0 s = nan"):
        shaken().simulate(0.1, 0.01, {"shake": lambda t: np.nan if 0 < t < 0.005 else 0.0})


def test_misspelt_input_is_refused() -> None:
    with pytest.raises(pl.DescriptionError, match="did you mean 'shake'"):
        shaken().statics({"shaek": 1.0})


def test_result_without_moving_base_is_no_start_for_one_with() -> None:
    robot, arm = arm_robot()
    still = robot.statics()
    robot.add_base_motion("shake", of=arm, translation=(0, 0, 1))
    with pytest.raises(pl.DescriptionError, match="moving bases"):
        robot.simulate(0.1, 0.01, start=still)


# -- what a formulation cannot carry ---------------------------------------------------------------


@dataclass(frozen=True)
class Plain(pl.BSpline):
    """A spline that declares to carry drag only."""

    capabilities: ClassVar[Capabilities] = Capabilities(effects=("drag",))


def test_effect_that_a_formulation_does_not_carry_is_refused_by_name() -> None:
    robot, arm = arm_robot(drag=1.0)
    robot.statics(formulation=Plain())
    robot.add_body("camera", mass=0.1, on=arm.tip)
    with pytest.raises(pl.DescriptionError, match=r"bodies = 'camera'.*left out with Plain"):
        robot.statics(formulation=Plain())
    robot, arm = arm_robot(mass_damping=1.0)
    with pytest.raises(pl.DescriptionError, match=r"mass_damping = 1\.0.*left out with Plain"):
        robot.statics(formulation=Plain())
    with pytest.raises(pl.DescriptionError, match=r"base_motions = 'shake'.*left out with Plain"):
        shaken().statics(formulation=Plain())


def test_rod_without_rotary_inertia_has_modes_but_no_motion_in_time() -> None:
    robot, _ = arm_robot(rotary=False)
    assert robot.modes(1).frequencies[0] > 0
    with pytest.raises(pl.DescriptionError, match="rotary = False: must be True with BSpline"):
        robot.simulate(0.1, 0.01)


def test_body_is_drawn_at_its_centre_with_the_size_of_its_moments() -> None:
    robot, arm = arm_robot()
    half = np.array((0.01, 0.02, 0.03))
    moments = 0.1 / 5 * (np.sum(half**2) - half**2)
    robot.add_body("block", mass=0.1, inertia=moments, on=arm.tip, centre=(0.0, 0.0, 0.05))
    still = robot.statics()
    (shape,) = body_shapes(still._compiled, [still._solution.q])
    tip = still.tip("arm")
    assert shape.points[0].mean(axis=0) == pytest.approx(tip[:3, 3] + 0.05 * tip[:3, 2])
    axes = [*shape.half_widths.max(axis=0), 0.5 * np.linalg.norm(np.ptp(shape.points[0], axis=0))]
    assert sorted(axes) == pytest.approx(half)
    assert still.plot() is not None
