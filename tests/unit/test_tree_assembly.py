"""Whole robots: gradient, exact tangent, mass matrix, for every way of joining rods and bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from pliant.joints.contract import JointMap
from pliant.joints.free import Free
from pliant.joints.revolute import Revolute
from pliant.lie import se3
from pliant.linalg.matrices import Sparse
from pliant.model import (
    BaseMotion,
    Body,
    Circle,
    Constraint,
    Description,
    DescriptionError,
    Frame,
    Load,
    Material,
    Rectangle,
    Rod,
    along,
    pose,
)
from pliant.physics.constraints import FrameConstraint
from pliant.physics.effects import effects_of
from pliant.physics.force_fields import ForceFields
from pliant.rods.ancf import ANCF
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Capabilities
from pliant.rods.hermite import Hermite
from pliant.rods.strain import Strain, StrainMap
from pliant.solve.balance import balance
from pliant.solve.compiled import choose_formulations
from pliant.solve.energy import potential, reactions
from pliant.solve.linearise import linearise
from pliant.solve.load_steps import StaticSolver
from pliant.solve.mass import Mass
from pliant.solve.sampling import Sampler
from pliant.tree.forward import kinetic_energy, set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work
from tests.unit.test_contract_toy import Toy

RUBBER = Material(E=2e5, nu=0.45, rho=1000.0)
SPLINE = BSpline(3, 5)
TURN = pose((0.0, 0.0, 0.01), (0.5, -0.3, 0.8))


def trunk(length: float = 0.6, **more: object) -> Rod:
    more = {"pose": along("x"), **more}
    return Rod("trunk", length, Circle((0.02, 0.015)), RUBBER, natural=(0.4, 0.0, 0.3), **more)


def branch(base: object, name: str = "branch", **more: object) -> Rod:
    return Rod(name, 0.4, Rectangle(0.02, 0.01), RUBBER, natural=(0, 1.0, 0), base=base, **more)


def single(description: Description) -> None:
    description.add(trunk())


def chained(description: Description) -> None:
    description.add(branch(description.add(trunk()).tip))


def three_in_a_row(description: Description) -> None:
    middle = description.add(branch(description.add(trunk()).tip))
    description.add(branch(middle.tip, "end"))


def turned_mount(description: Description) -> None:
    description.add(branch(description.add(trunk()).tip, pose=TURN))


def mid_mount(description: Description) -> None:
    description.add(branch(description.add(trunk()).at(0.24)))


def offset_mount(description: Description) -> None:
    on = description.add(trunk()).at(0.24, offset=(0.02, -0.01, 0.005))
    description.add(branch(on, pose=TURN))


def two_branches(description: Description) -> None:
    root = description.add(trunk())
    description.add(branch(root.at(0.24), pose=TURN))
    description.add(branch(root.tip, "end"))


def branch_on_branch(description: Description) -> None:
    first = description.add(branch(description.add(trunk()).at(0.24), pose=TURN))
    description.add(branch(first.at(0.1), "twig", pose=TURN))


def chain_on_branch(description: Description) -> None:
    first = description.add(branch(description.add(trunk()).at(0.24), pose=TURN))
    description.add(branch(first.tip, "twig"))


def free_and_held(description: Description) -> None:
    rod = description.add(trunk(base=None))
    description.add(Constraint("clamp", rod.base_frame))
    description.add(Constraint("ring", rod.at(0.3, offset=(0.01, 0.0)), hold=("x", "y")))


def free_chain(description: Description) -> None:
    rod = description.add(trunk(base=None))
    description.add(branch(rod.tip))
    description.add(Constraint("pin", rod.at(0.2), kind="articulated"))
    description.add(Constraint("slide", rod.tip, kind="sliding"))


def loop(description: Description) -> None:
    rod = description.add(trunk())
    other = description.add(branch("world", pose=pose((0.5, 0.1, 0.2))))
    description.add(Constraint("joint", rod.tip, to=other.at(0.35, offset=(0, 0.01))))


def held_branch(description: Description) -> None:
    first = description.add(branch(description.add(trunk()).at(0.24), pose=TURN))
    description.add(Constraint("held", first.tip, kind="articulated"))


def held_to_its_carrier(description: Description) -> None:
    root = description.add(trunk())
    first = description.add(branch(root.at(0.24), pose=TURN))
    description.add(Constraint("strut", first.tip, to=root.tip, kind="fixed"))


def laden(description: Description) -> None:
    offset_mount(description)
    on = description.rods["trunk"].at(0.4, offset=(0.02, 0.01))
    tensor = (4e-4, 5e-4, 6e-4, 1e-4, -5e-5, 2e-5)
    description.add(Body("payload", 0.1, tensor, on, centre=(0.01, -0.02, 0.03)))
    description.add(Body("tool", 0.02, (1e-5, 2e-5, 2e-5), description.rods["branch"].tip))


def driven(description: Description) -> None:
    laden(description)
    description.add(BaseMotion("turn", "trunk", (1.0, 0.0, 0.0), (0.0, 1.0, 0.4)))


def driven_loop(description: Description) -> None:
    loop(description)
    description.add(BaseMotion("turn", "branch", (1.0, 0.0, 0.0), (0.0, 1.0, 0.4)))


# -- joints, bodies and turned frames ---------------------------------------------------------------


@dataclass(frozen=True)
class Screw(JointMap):
    """A screw along z, written as a user would: what is not here comes by differences."""

    pitch: float = 0.1
    stiffness: float = 0.0
    drive: str | None = None
    input: str | None = None

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def origin(self) -> Array:
        return np.zeros(1)

    def pose(self, q: Array) -> Array:
        return pose((0.0, 0.0, self.pitch * q[0]), (0.0, 0.0, q[0]))

    def axes(self, q: Array) -> Array:
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, self.pitch]]).T


@dataclass(frozen=True)
class Cardan(JointMap):
    """Turned about x, then about the y that this makes: its axes depend on its coordinates."""

    stiffness: float = 0.0

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    def pose(self, q: Array) -> Array:
        return pose(rotation=(q[0], 0.0, 0.0)) @ pose(rotation=(0.0, q[1], 0.0))

    def axes(self, q: Array) -> Array:
        S = np.zeros((6, 2))
        S[:, 0] = np.cos(q[1]), 0.0, np.sin(q[1]), 0.0, 0.0, 0.0
        S[1, 1] = 1.0
        return S


TENSOR = (4e-4, 5e-4, 6e-4, 1e-4, -5e-5, 2e-5)


def link(on: object, joint: object, name: str = "link", **more: object) -> Body:
    more = {"pose": TURN, "centre": (0.01, -0.02, 0.03), **more}
    return Body(name, 0.1, TENSOR, on, joint=joint, **more)


def pendulum(description: Description) -> None:
    description.add(link(None, Revolute("y")))


def three_links(description: Description) -> None:
    """Hinges with springs, one of them with any axis, each in a turned frame of the link before."""
    turn = (0.3, 0.0, -0.5)
    first = description.add(link(None, Revolute("x", stiffness=2.0)))
    second = link(first.at((0.1, 0.0, 0.05), turn), Revolute("y", stiffness=1.0), "second")
    description.add(second)
    third = link(second.at((0.0, 0.1, 0.05), turn), Revolute((1.0, 2.0, -1.0), 0.5), "third")
    description.add(third)


def held_free_body(description: Description) -> None:
    body = description.add(link(None, Free()))
    at = body.at((0.05, 0.02, 0.0), (0.2, -0.4, 0.1))
    description.add(Constraint("pin", at, hold=("x", "y", "z", "rx")))


def free_body_on_rod(description: Description) -> None:
    """A body that nothing holds but a constraint with the rod it moves with."""
    rod = description.add(trunk())
    body = description.add(link(rod.tip, Free()))
    description.add(Constraint("ball", body.at((0.0, 0.0, -0.04)), to=rod.tip))


def rod_on_hinged_body(description: Description) -> None:
    body = description.add(link(None, Revolute("x", stiffness=0.3)))
    on = body.at((0.02, 0.01, 0.05), (0.4, 0.0, -0.7))
    description.add(branch(on, pose=TURN))


def rod_on_free_body(description: Description) -> None:
    body = description.add(link(None, Free()))
    rod = description.add(branch(body.at((0.02, 0.01, 0.05), (0.4, 0.0, -0.7))))
    description.add(Constraint("held", rod.at(0.3), kind="fixed"))


def rod_body_rod(description: Description) -> None:
    root = description.add(trunk())
    body = description.add(link(root.tip, Revolute("y", stiffness=0.05)))
    description.add(branch(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7))))


def straight_rod_body_rod(description: Description) -> None:
    """With a rod that a cable without twist can be."""
    root = description.add(Rod("straight", 0.6, Circle(0.02), RUBBER, pose=along("x")))
    body = description.add(link(root.tip, Revolute("y", stiffness=0.05)))
    description.add(branch(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7))))


def rod_on_fixed_bodies(description: Description) -> None:
    """A rod on a body on a body, both welded to the middle of another rod."""
    root = description.add(trunk())
    first = description.add(link(root.at(0.24, (0.02, 0.01), (0.2, 0.1, -0.3)), None))
    second = description.add(link(first.at((0.02, 0.0, 0.04), (0.5, 0.0, 0.1)), None, "lid"))
    description.add(branch(second.at((0.0, 0.01, 0.02), (0.0, 0.8, 0.0))))


def hinged_rods(description: Description) -> None:
    root = description.add(trunk(joint=Revolute("x", stiffness=0.5)))
    on = root.at(0.24, (0.02, 0.01), (0.2, 0.1, -0.3))
    first = description.add(branch(on, pose=TURN, joint=Revolute("y", stiffness=0.05)))
    description.add(branch(first.tip, "end", joint=Revolute("z", stiffness=0.02)))


def turned_frames(description: Description) -> None:
    """A rod on a turned frame at the tip, another on one on the way."""
    root = description.add(trunk())
    first = description.add(branch(root.at(0.6, (0.01, 0.02), (0.5, 1.0, 0.2)), pose=TURN))
    description.add(branch(first.at(0.1, (0.01, 0.0, 0.02), (0.0, -0.7, 0.2)), "end"))
    description.add(
        Constraint("held", first.at(0.3, (0.0, 0.01), (0.4, 0.3, 0.0)), hold=("x", "rx"))
    )


def driven_hinges(description: Description) -> None:
    """Angles prescribed at the root and between a rod and a body that carries another rod."""
    root = description.add(trunk(joint=Revolute("y", drive="angle", input="tilt")))
    hinge = Revolute("x", stiffness=0.1, drive="angle")
    body = description.add(link(root.tip, hinge, "crank"))
    description.add(branch(body.at((0.0, 0.02, 0.05), (0.4, 0.0, -0.7))))


def driven_hinge_loop(description: Description) -> None:
    """A prescribed crank whose coupler closes a loop with a rod."""
    rod = description.add(trunk())
    crank = description.add(link(None, Revolute("x", drive="angle"), "crank"))
    coupler = link(crank.at((0.0, 0.1, 0.0)), Revolute("x", stiffness=0.1), "coupler")
    description.add(coupler)
    at = coupler.at((0.0, 0.1, 0.0), (0.1, 0.2, 0.3))
    description.add(Constraint("closed", at, to=rod.tip, kind="articulated"))


def screws(description: Description) -> None:
    """A user's joints at the root, between rods, under a body, and one of them prescribed."""
    root = description.add(trunk(joint=Screw(stiffness=0.5)))
    first = description.add(branch(root.at(0.24), pose=TURN, joint=Screw(-0.05, 0.1)))
    body = description.add(link(first.tip, Screw(drive="angle", input="feed")))
    description.add(branch(body.at((0.0, 0.02, 0.05)), "end"))


def screw_alone(description: Description) -> None:
    description.add(link(None, Screw()))


def universal(description: Description) -> None:
    root = description.add(trunk(joint=Cardan(0.5)))
    body = description.add(link(root.at(0.24), Cardan(0.1)))
    description.add(branch(body.at((0.0, 0.02, 0.05)), joint=Cardan(0.2)))


ROBOTS: dict[str, tuple[Callable[[Description], None], dict[str, object]]] = {
    "single": (single, {}),
    "single-cayley": (single, {"trunk": BSpline(2, 5, map="cayley")}),
    "single-hermite": (single, {"trunk": Hermite(2)}),
    "chained": (chained, {}),
    "chained-hermite": (chained, {"trunk": Hermite(2), "branch": BSpline(1, 4)}),
    "chained-on-strain": (chained, {"trunk": Strain(1, 2)}),
    "strain-on-spline": (chained, {"branch": Strain(1, 2)}),
    "three-in-a-row": (three_in_a_row, {"branch": BSpline(1, 3)}),
    "turned-mount": (turned_mount, {}),
    "turned-mount-strain": (turned_mount, {"branch": Strain(1, 2), "trunk": Strain(0, 3)}),
    "mid-mount": (mid_mount, {}),
    "mid-mount-hermite": (mid_mount, {"trunk": Hermite(2), "branch": Hermite(1)}),
    "mid-mount-on-strain": (mid_mount, {"trunk": Strain(1, 2)}),
    "offset-mount": (offset_mount, {}),
    "two-branches": (two_branches, {"end": Strain(0, 2)}),
    "branch-on-branch": (branch_on_branch, {"twig": BSpline(2, 4)}),
    "chain-on-branch": (chain_on_branch, {}),
    "free-and-held": (free_and_held, {}),
    "free-and-held-strain": (free_and_held, {"trunk": Strain(1, 2)}),
    "free-chain": (free_chain, {}),
    "loop": (loop, {}),
    "held-branch": (held_branch, {}),
    "held-to-its-carrier": (held_to_its_carrier, {}),
    "laden": (laden, {"branch": Hermite(1)}),
    "laden-strain": (laden, {"trunk": Strain(1, 2)}),
    "driven": (driven, {}),
    "driven-strain": (driven, {"trunk": Strain(1, 2)}),
    "driven-loop": (driven_loop, {}),
    "pendulum": (pendulum, {}),
    "three-links": (three_links, {}),
    "held-free-body": (held_free_body, {}),
    "free-body-on-rod": (free_body_on_rod, {}),
    "free-body-on-strain": (free_body_on_rod, {"trunk": Strain(1, 2)}),
    "rod-on-hinged-body": (rod_on_hinged_body, {}),
    "strain-on-hinged-body": (rod_on_hinged_body, {"branch": Strain(1, 2)}),
    "rod-on-free-body": (rod_on_free_body, {"branch": Hermite(2)}),
    "rod-body-rod": (rod_body_rod, {}),
    "rod-body-rod-strain": (rod_body_rod, {"trunk": Strain(1, 2), "branch": Strain(0, 2)}),
    "straight-rod-body-rod-ancf": (straight_rod_body_rod, {"straight": ANCF(2, planar=False)}),
    "rod-on-fixed-bodies": (rod_on_fixed_bodies, {}),
    "hinged-rods": (hinged_rods, {"end": Hermite(1)}),
    "hinged-rods-strain": (hinged_rods, {"trunk": Strain(1, 2), "end": Strain(0, 2)}),
    "turned-frames": (turned_frames, {"end": Strain(0, 2)}),
    "driven-hinges": (driven_hinges, {}),
    "driven-hinges-strain": (driven_hinges, {"trunk": Strain(1, 2)}),
    "driven-hinge-loop": (driven_hinge_loop, {}),
    "screws": (screws, {"end": Strain(0, 2)}),
    "screw-alone": (screw_alone, {}),
    "universal": (universal, {"branch": Strain(1, 2)}),
}


class Case:
    """A robot under conservative loads, bent at random and out of balance."""

    def __init__(self, name: str, seed: int = 5) -> None:
        build, special = ROBOTS[name]
        description = Description(gravity=(1.0, 2.0, -9.81))
        build(description)
        ends = _places(list(description.members().values())[-1])
        description.add(Load("tip", ends[0], force=(0.3, 0.2, -0.1)))
        description.add(Load("side", ends[1], force=(-0.2, 0.1, 0.1)))
        formulations = {rod: special.get(rod, SPLINE) for rod in description.rods}
        self.effects = effects_of(description, formulations)
        self.tree = self.effects.tree
        self.inputs = self.effects.at({})
        self.rng = np.random.default_rng(seed)
        self.q = self.bent()
        self.lam = 0.2 * self.rng.normal(size=self.tree.m)

    def bent(self) -> Array:
        """A configuration away from rest in all coordinates, also in prescribed ones."""
        tree = self.tree
        x = np.zeros(tree.total)
        for part in tree.parts:
            size = 1.0 if isinstance(part.map, StrainMap) else 0.1
            x[part.x_index] = size * self.rng.normal(size=part.map.nv)
            x[part.joint_index] = 0.3 * self.rng.normal(size=part.joint.nv)
        return tree.moved(State(tree).place(tree.q_rest), x, newton=False)

    def state(self, q: Array | None = None) -> State:
        return State(self.tree).place(self.q if q is None else q)

    def direction(self, prescribed: bool = False) -> Array:
        """Rates (total,) of all coordinates; prescribed ones stand still unless asked for."""
        x = np.zeros(self.tree.total)
        x[self.tree.coordinates] = self.rng.normal(size=len(self.tree.coordinates))
        if prescribed:
            x[self.tree.prescribed] = self.rng.normal(size=len(self.tree.prescribed))
        return x

    def unknowns(self) -> Array:
        """Force fields in balance with the strains, and the multipliers."""
        z = np.zeros(self.tree.total)
        z[self.tree.multipliers] = self.lam
        state = self.state()
        for term in self.effects.of_kind(ForceFields):
            z[term.part.field_index] = term.settled(state.parts[term.i].strain.e)
        return z

    def residual(self) -> Array:
        work = Work(self.tree)
        return balance(self.effects, self.state(), work, self.inputs, self.unknowns())

    def tangent(self, chart: bool) -> Array:
        filled = Tangent(self.tree, Sparse, self.effects.pairs())
        balance(
            self.effects, self.state(), Work(self.tree), self.inputs, self.unknowns(), filled, chart
        )
        return filled.matrix.matrix.toarray()

    def condensed(self, chart: bool) -> Array:
        """Second derivative (n, n) of energy plus multipliers times gaps, force fields following."""
        n, fields, K = self.tree.n, self.tree.fields, self.tangent(chart)
        out = K[:n, :n].copy()
        if len(fields):
            A = K[fields][:, :n]
            out -= A.T @ np.linalg.solve(K[np.ix_(fields, fields)], A)
            out[fields] = out[:, fields] = 0.0
        return out

    def moved(self, x: Array, newton: bool) -> Array:
        return self.tree.moved(self.state(), x, newton=newton)

    def lagrangian(self, x: Array, newton: bool) -> float:
        """Energy, work of the multipliers, and the springs the solver puts into the gaps."""
        state = self.state(self.moved(x, newton))
        energy = sum(potential(self.effects, state, self.inputs).values())
        for term in self.constraints():
            gaps = term.gaps(state)
            energy += float((self.lam[term.rows - self.tree.n] + 0.5 * term.augmented(gaps)) @ gaps)
        return energy

    def constraints(self) -> list[FrameConstraint]:
        return list(self.effects.of_kind(FrameConstraint))

    def gaps(self, q: Array) -> Array:
        state = self.state(q)
        return np.concatenate([np.zeros(0), *(term.gaps(state) for term in self.constraints())])


def _places(part: Rod | Body) -> tuple[Frame, Frame]:
    """Two frames of a part, one of them off its axis and turned."""
    if isinstance(part, Rod):
        return part.tip, part.at(0.3, offset=(0.01, 0.02), rotation=(0.2, 0.0, 0.5))
    return part.at((0.0, 0.0, 0.1)), part.at((0.05, 0.02, 0.0), (0.2, 0.0, 0.5))


@pytest.fixture(scope="module", params=list(ROBOTS))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def difference(function: Callable[[Array], Array], x: Array, step: float = 1e-3) -> Array:
    near = function(step * x) - function(-step * x)
    far = function(2 * step * x) - function(-2 * step * x)
    return (8 * near - far) / (12 * step)


def second_difference(function: Callable[[Array], float], x: Array, step: float = 2e-3) -> float:
    near = function(step * x) + function(-step * x)
    far = function(2 * step * x) + function(-2 * step * x)
    return (16 * near - far - 30 * function(0 * x)) / (12 * step**2)


# -- statics --------------------------------------------------------------------------------------


@pytest.mark.parametrize("newton", [True, False], ids=["newton", "retract"])
def test_the_residual_is_the_gradient_of_energy_and_constraint_work(
    case: Case, newton: bool
) -> None:
    """In prescribed coordinates too: there it is what the drive has to exert."""
    x = case.direction(prescribed=True)
    slope = difference(lambda x: case.lagrangian(x, newton), x)
    r = case.residual()
    assert r @ x == pytest.approx(slope, rel=1e-6)
    assert r[case.tree.fields] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("newton", [True, False], ids=["newton", "retract"])
def test_the_tangent_is_the_second_derivative_away_from_equilibrium(
    case: Case, newton: bool
) -> None:
    K = case.condensed(newton)
    for _ in range(2):
        x = case.direction()
        bend = second_difference(lambda x: case.lagrangian(x, newton), x)
        free = x[: case.tree.n]
        assert free @ K @ free == pytest.approx(bend, rel=1e-5)
    assert np.linalg.norm(case.residual()[case.tree.coordinates]) > 1e-2


@pytest.mark.parametrize("chart", [True, False], ids=["newton", "retract"])
def test_the_tangent_is_symmetric_for_conservative_loads_away_from_equilibrium(
    case: Case, chart: bool
) -> None:
    assert case.effects.conservative(case.inputs.u)
    K = case.tangent(chart)
    assert np.max(np.abs(K - K.T)) < 1e-9 * np.max(np.abs(K))


def test_rows_of_the_multipliers_are_the_derivative_of_the_gaps(case: Case) -> None:
    n, x = case.tree.n, case.direction()
    A = case.tangent(True)[n:, :n]
    for newton in (True, False):
        slope = difference(lambda x, newton=newton: case.gaps(case.moved(x, newton)), x)
        rate = A @ x[:n]
        assert rate == pytest.approx(slope, abs=1e-7 * max(1.0, np.max(np.abs(rate), initial=0)))


def test_symmetric_and_general_storage_hold_the_same_tangent(case: Case) -> None:
    x = case.rng.normal(size=case.tree.size)
    b = case.tangent(True) @ x
    for symmetric in (True, False):
        tangent = case.effects.tangent(symmetric)
        balance(case.effects, case.state(), Work(case.tree), case.inputs, case.unknowns(), tangent)
        matrix = tangent.matrix
        matrix.factorise()
        assert matrix.solve(b) == pytest.approx(x, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "single",
        "chained",
        "turned-mount",
        "mid-mount-on-strain",
        "free-and-held",
        "three-links",
        "rod-body-rod",
        "hinged-rods",
        "screws",
    ],
)
def test_newton_converges_quadratically(name: str) -> None:
    """Residual exponents of the last iterations double, as only an exact tangent lets them."""
    case = Case(name)
    found = StaticSolver(case.effects).solve(case.inputs)
    history = [size for size in found.history if 1e-13 < size < 1e-1]
    last = np.log10(history[-2:]) if len(history) > 1 else np.array([-1.0, -13.0])
    assert found.residual < 1e-10
    assert last[1] < 1.6 * last[0] or found.history[-1] < 1e-13


@pytest.mark.parametrize(
    "name",
    [
        "single",
        "three-in-a-row",
        "two-branches",
        "branch-on-branch",
        "laden",
        "three-links",
        "rod-on-hinged-body",
        "rod-body-rod",
        "rod-on-fixed-bodies",
        "hinged-rods",
        "driven-hinges",
        "screws",
    ],
)
def test_reactions_balance_all_loads(name: str) -> None:
    case = Case(name)
    tree = case.tree
    found = StaticSolver(case.effects).solve(case.inputs)
    root = tree.parts[0]
    base = case.state(found.q).parts[0].c.base
    force = base[:3, :3] @ reactions(case.effects, found)[root.name][3:]
    mass = sum(float(part.M[: len(part.mass_w), 3].sum()) for part in tree.parts)
    mass += sum(body.mass for body in tree.description.bodies.values())
    loads = mass * np.array((1.0, 2.0, -9.81)) + (0.3, 0.2, -0.1) + np.array((-0.2, 0.1, 0.1))
    assert force + loads == pytest.approx(0.0, abs=1e-7)


def test_two_chained_rods_are_one_rod_cut_in_two() -> None:
    """With piecewise constant strain the cut changes nothing at all."""
    s = np.linspace(0, 0.6, 13)
    whole, halves = Description(), Description()
    first = Rod("first", 0.3, Circle(0.02), RUBBER, pose=along("x"), natural=(0.5, 1, 0))
    for description, rods in (
        (whole, [Rod("arm", 0.6, Circle(0.02), RUBBER, pose=along("x"), natural=(0.5, 1, 0))]),
        (
            halves,
            [first, Rod("second", 0.3, Circle(0.02), RUBBER, base=first.tip, natural=(0.5, 1, 0))],
        ),
    ):
        for rod in rods:
            description.add(rod)
        description.add(Load("tip", rods[-1].tip, force=(0.0, 0.3, 0.0)))
    for make in (lambda n: BSpline(1, n + 1), lambda n: Strain(0, n)):
        one = effects_of(whole, {"arm": make(6)})
        two = effects_of(halves, {"first": make(3), "second": make(3)})
        qs = [StaticSolver(effects).solve(effects.at({})).q for effects in (one, two)]
        arm = Sampler(one).poses(qs[0], "arm", s)
        parts = [Sampler(two).poses(qs[1], name, s[:7]) for name in ("first", "second")]
        assert parts[0] == pytest.approx(arm[:7], abs=1e-9)  # each solved to 1e-10
        assert parts[1] == pytest.approx(arm[6:], abs=1e-9)


# -- mass -----------------------------------------------------------------------------------------


def twists(case: Case, x: Array, name: str, s: Array, step: float = 1e-5) -> Array:
    """Body twists (S, 6) of sections of a rod, or of a body, from poses alone."""
    sampler = Sampler(case.effects)
    before, after = (sampler.poses(case.moved(t * x, False), name, s) for t in (-step, step))
    return np.asarray(se3.log(se3.inverse(before) @ after) / (2 * step))


def body_energy(body: Body, twist: Array) -> float:
    """Kinetic energy of a body from its mass, its inertia about its centre, and its body twist (6,)."""
    w, speed = twist[:3], twist[3:] + np.cross(twist[:3], body.centre)
    return 0.5 * float(w @ body.inertia @ w + body.mass * speed @ speed)


def energy_of_twists(case: Case, x: Array) -> float:
    """Kinetic energy of all sections (of a cable without that of its twist) and bodies at rates x."""
    energy = 0.0
    for name in case.tree.description.rods:
        rod_map = case.tree.part(name).map
        s, w = rod_map.mass_rule()
        eta = twists(case, x, name, s)
        energy += 0.5 * float(np.sum(rod_map.inertia(s) * w[:, None] * eta**2))
    for body in case.tree.description.bodies.values():
        energy += body_energy(body, twists(case, x, body.name, np.zeros(1))[0])
    return energy


def test_the_mass_matrix_gives_the_kinetic_energy_of_sections_and_bodies(case: Case) -> None:
    tree, n = case.tree, case.tree.n
    M = linearise(case.effects, case.q, case.unknowns(), case.inputs)[1].toarray()[:n, :n]
    x = case.direction()
    energy = energy_of_twists(case, x)
    assert 0.5 * x[:n] @ M @ x[:n] == pytest.approx(energy, rel=1e-7)
    assert np.max(np.abs(M - M.T)) < 1e-13 * np.max(np.abs(M))
    kept = M[np.ix_(tree.coordinates, tree.coordinates)]
    assert np.min(np.linalg.eigvalsh(kept)) > 0


def test_momentum_and_kinetic_energy_know_prescribed_coordinates(case: Case) -> None:
    """v . M v is twice the kinetic energy, also where inputs prescribe rates."""
    v = case.direction(prescribed=True)
    state = case.state()
    energy = kinetic_energy(case.tree, state, Work(case.tree), v)
    assert v @ Mass(case.effects).momentum(state, v) == pytest.approx(2.0 * energy, rel=1e-12)
    assert energy == pytest.approx(energy_of_twists(case, v), rel=1e-7)


def test_velocities_of_the_sampler_are_those_of_the_poses(case: Case) -> None:
    x = case.direction(prescribed=True)
    sampler = Sampler(case.effects)
    for part in case.tree.description.members().values():
        s = np.zeros(1)
        if isinstance(part, Rod):
            s = case.tree.part(part.name).mass_s
        found = sampler.velocities(case.q, x, part.name, s)
        eta = twists(case, x, part.name, s)
        assert found == pytest.approx(eta, abs=1e-6 * np.max(np.abs(eta)))


def test_accelerations_are_the_rates_of_the_twists(case: Case) -> None:
    """Along a path with known rates and accelerations, at all stations, by differences of twists."""
    tree, h = case.tree, 1e-4
    v, acc = case.direction(prescribed=True), case.direction(prescribed=True)
    work, ends = Work(tree), []
    set_rates(tree, case.state(), work, v, acc)
    for t in (-h, h):
        # rates in the chart at its foot, where it is of second order, are v + t acc
        near = [case.state(case.moved(x * v + 0.5 * x * x * acc, False))
                for x in (t - h, t + h)]  # fmt: skip
        ends.append([
            se3.log(se3.inverse(a.g) @ b.g) / (2 * h)
            for a, b in zip(near[0].parts, near[1].parts, strict=True)
        ])  # fmt: skip
    for w, before, after in zip(work.parts, *ends, strict=True):
        found = (after - before) / (2 * h)
        assert w.acceleration == pytest.approx(found, abs=1e-5 * np.max(np.abs(found)))


def test_a_rod_moving_as_a_rigid_body_has_the_mass_of_one() -> None:
    case = Case("free-and-held")
    tree, n = case.tree, case.tree.n
    z = np.zeros(tree.total)
    M = linearise(case.effects, tree.q_rest, z, case.inputs)[1].toarray()
    part, at = tree.parts[0], tree.rest.parts[0]
    twist = np.array([0, 0, 0, 0.3, -0.2, 0.5])
    x = np.zeros(n)
    body = np.einsum("nij,j->ni", se3.Ad(se3.inverse(at.c.controls)), twist)
    x[part.joint_index], x[part.x_index] = body[0], body[1:].ravel()
    energy = 0.5 * float(part.M[:, 3].sum()) * float(twist[3:] @ twist[3:])
    assert 0.5 * x @ M[:n, :n] @ x == pytest.approx(energy, rel=1e-10)


# -- building -------------------------------------------------------------------------------------


def test_a_rod_on_the_tip_of_a_spline_hangs_on_its_last_control_pose() -> None:
    """It has no coordinates of its base, and six numbers of its carrier move it."""
    alone, repeated = Case("single").tree, 6 * (SPLINE.degree - 1)
    own = 6 * (SPLINE.points - 1) + repeated  # a load inside its only rod repeats a knot
    assert len(alone.coordinates) == own
    assert not len(alone.base_columns(0))
    for name in ("chained", "turned-mount"):
        chain = Case(name).tree
        assert len(chain.coordinates) == 2 * own - repeated
        trunk, child = chain.part("trunk"), chain.number_of("branch")
        assert np.array_equal(chain.base_columns(child), trunk.x_index[-6:])
    middle = Case("mid-mount").tree
    columns = middle.base_columns(middle.number_of("branch"))
    assert len(columns) > 6
    assert set(columns) <= set(middle.part("trunk").x_index)


def test_a_joint_adds_its_coordinates_to_those_that_move_its_carrier() -> None:
    tree = Case("rod-body-rod").tree
    trunk, link, branch = tree.parts
    assert [part.name for part in tree.parts] == ["trunk", "link", "branch"]
    moves = np.concatenate([trunk.x_index[-6:], link.joint_index])
    assert np.array_equal(tree.base_columns(1), moves)
    assert np.array_equal(tree.base_columns(2), moves)
    assert len(tree.coordinates) == trunk.map.nv + 1 + branch.map.nv


def test_a_welded_body_has_no_coordinates_and_is_no_part() -> None:
    tree = Case("rod-on-fixed-bodies").tree
    assert [part.name for part in tree.parts] == ["trunk", "branch"]
    assert tree.number_of("link") == tree.number_of("lid") == 0


def test_every_number_is_a_coordinate_a_force_field_a_multiplier_or_prescribed(case: Case) -> None:
    tree = case.tree
    every = np.concatenate([tree.coordinates, tree.fields, tree.multipliers, tree.prescribed])
    assert np.array_equal(np.sort(every), np.arange(tree.total))
    owned = [np.concatenate([part.x_index, part.joint_index]) for part in tree.parts]
    assert np.array_equal(
        np.sort(np.concatenate(owned)),
        np.sort(np.concatenate([tree.coordinates, tree.prescribed])),
    )
    assert tree.m == len(case.lam)
    assert tree.size == tree.n + tree.m == tree.total - len(tree.prescribed)


def test_a_base_pose_moves_the_whole_robot() -> None:
    case = Case("two-branches")
    rods = case.tree.description.rods
    h = se3.exp(np.array([0.3, -1.0, 0.5, 1.0, 2.0, -1.0]))
    description = Description()
    for part in case.tree.description.parts.values():
        moved = replace(part, pose=h @ part.pose) if part.name == "trunk" else part
        description.add(moved)
    formulations = {"trunk": SPLINE, "branch": SPLINE, "end": Strain(0, 2)}
    other = effects_of(description, formulations)
    s = np.array([0.0, 0.13, 0.4])
    for name in rods:
        before = Sampler(case.effects).poses(case.q, name, s)
        assert Sampler(other).poses(case.q, name, s) == pytest.approx(h @ before, abs=1e-12)


def test_rods_welded_at_a_right_angle_rest_at_a_right_angle() -> None:
    description = Description(gravity=(0.0, 0.0, 0.0))
    first = description.add(Rod("first", 0.3, Circle(0.02), RUBBER))
    corner = first.at(0.3, rotation=(0.0, np.pi / 2, 0.0))
    description.add(Rod("second", 0.3, Circle(0.02), RUBBER, base=corner))
    for formulation in (SPLINE, Hermite(2), Strain(1, 2), ANCF(2, planar=False)):
        effects = effects_of(description, dict.fromkeys(description.rods, formulation))
        found = StaticSolver(effects).solve(effects.at({}))
        tip = Sampler(effects).poses(found.q, "second", np.array([0.3]))[0]
        assert tip[:3, 2] == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)
        assert tip[:3, 3] == pytest.approx((0.3, 0.0, 0.3), abs=1e-12)


def test_a_prescribed_hinge_goes_where_its_input_says() -> None:
    """And its reaction, by the axis of the hinge, is the derivative of the energy in the angle."""
    case = Case("driven-hinges")
    energies, torque = [], 0.0
    for angle in (0.3 - 1e-4, 0.3, 0.3 + 1e-4):
        inputs = case.effects.at({"tilt": angle, "crank": -0.4})
        found = StaticSolver(case.effects).solve(inputs)
        energies.append(sum(potential(case.effects, case.state(found.q), inputs).values()))
        if angle == 0.3:
            base = Sampler(case.effects).poses(found.q, "trunk", np.zeros(1))[0]
            torque = reactions(case.effects, found)["trunk"][1]
    assert base == pytest.approx(along("x") @ pose(rotation=(0.0, 0.3, 0.0)), abs=1e-14)
    assert torque == pytest.approx((energies[2] - energies[0]) / 2e-4, rel=1e-5)


@pytest.mark.parametrize("name", ["trunk", "branch"])
def test_toy_formulation_and_toy_joint_in_one_tree(name: str) -> None:
    """A user's rod and joint, both in plain Python, rest where a built-in rod on the joint does."""
    ends = []
    for formulation in (Toy(2), Strain(0, 2)):
        description = Description(gravity=(0.0, 0.0, -0.3))
        root = description.add(Rod("trunk", 0.6, Circle(0.02), RUBBER, joint=Screw(0.1, 0.5)))
        body = description.add(link(root.tip, Screw(-0.05, 0.1)))
        description.add(branch(body.at((0.0, 0.02, 0.05))))
        description.add(Load("tip", description.rods["branch"].tip, force=(0.02, 0.01, 0.0)))
        effects = effects_of(
            description, {"trunk": Strain(0, 2), "branch": Strain(0, 2)} | {name: formulation}
        )
        found = StaticSolver(effects).solve(effects.at({}))
        ends.append(Sampler(effects).poses(found.q, "branch", np.array([0.1, 0.4])))
        assert np.min(np.abs([found.q[part.joint_slice] for part in effects.tree.parts[:2]])) > 1e-3
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


@dataclass(frozen=True)
class OnlyCosserat(Strain):
    """Strain modes that pretend to know one theory."""

    capabilities: ClassVar[Capabilities] = Capabilities()


def test_a_theory_the_formulation_cannot_carry_is_refused() -> None:
    description = Description()
    description.add(trunk(theory="kirchhoff"))
    with pytest.raises(DescriptionError, match="theory"):
        effects_of(description, {"trunk": OnlyCosserat()})
    with pytest.raises(DescriptionError, match="kirchhoff"):
        choose_formulations(description, OnlyCosserat())
