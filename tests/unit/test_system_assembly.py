"""Whole robots: gradient, exact tangent, mass matrix, for every way of joining rods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from pliant.system.balance import balance
from pliant.system.energy import potential, reactions
from pliant.system.linearise import linearise
from pliant.system.loading import make_loading
from pliant.system.sampling import Sampler
from pliant.system.system import System
from pliant.system.tangent import make_tangent, tangent_of

from pliant.lie import se3
from pliant.model import (
    BaseMotion,
    Body,
    Circle,
    Constraint,
    Description,
    DescriptionError,
    Load,
    Material,
    Rectangle,
    Rod,
    along,
    pose,
)
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Capabilities
from pliant.rods.hermite import Hermite
from pliant.rods.strain import Strain
from pliant.solve.compiled import choose_formulations
from pliant.solve.statics import StaticSolver
from pliant.system.linear import Sparse

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
}


class Case:
    """A robot under conservative loads, bent at random and out of balance."""

    def __init__(self, name: str, seed: int = 5) -> None:
        build, special = ROBOTS[name]
        description = Description(gravity=(1.0, 2.0, -9.81))
        build(description)
        last = list(description.rods.values())[-1]
        description.add(Load("tip", last.tip, force=(0.3, 0.2, -0.1)))
        description.add(Load("side", last.at(0.3, offset=(0.01, 0.02)), force=(-0.2, 0.1, 0.1)))
        formulations = {rod: special.get(rod, SPLINE) for rod in description.rods}
        self.system = System(description, formulations)
        self.loading = make_loading(self.system, {})
        self.rng = np.random.default_rng(seed)
        self.q = self.bent()
        self.lam = 0.2 * self.rng.normal(size=self.system.m)

    def bent(self) -> Array:
        system = self.system
        system.place(system.q_rest)
        x = np.zeros(system.n)
        for block in system.blocks:
            own = block.x_index[block.x_index >= 0]
            size = 1.0 if isinstance(block.map, type(Strain().discretise(block.rod))) else 0.1
            x[own] = size * self.rng.normal(size=len(own))
        return system.moved(system.q_rest, x, newton=False)

    def direction(self) -> Array:
        x = self.rng.normal(size=self.system.n)
        x[self.system.mode_unknowns] = 0.0
        x[self.system.driven] = 0.0
        return x

    def unknowns(self) -> Array:
        """Stress modes in balance with the strains, and the multipliers."""
        system = self.system
        mult = np.concatenate([np.zeros(system.n), self.lam])
        system.place(self.q)
        for block in system.blocks:
            if block.modes is not None:
                mult[block.mode_index] = block.settled_modes(block.level.strain.e)
        return mult

    def residual(self) -> Array:
        return balance(self.system, self.unknowns(), self.loading, False)

    def tangent(self, chart: bool) -> Array:
        filled = make_tangent(self.system, Sparse)
        mult = self.unknowns()
        balance(self.system, mult, self.loading, True, False, chart, filled)
        return filled.matrix.matrix.toarray()

    def condensed(self, chart: bool) -> Array:
        """Second derivative (n, n) of energy plus multipliers times gaps, stress modes following."""
        system, K = self.system, self.tangent(chart)
        modes = system.mode_unknowns
        out = K[: system.n, : system.n].copy()
        if len(modes):
            A = K[modes][:, : system.n]
            out -= A.T @ np.linalg.solve(K[np.ix_(modes, modes)], A)
            out[modes] = out[:, modes] = 0.0
        return out

    def moved(self, x: Array, newton: bool) -> Array:
        self.system.place(self.q)
        return self.system.moved(self.q, x, newton=newton)

    def lagrangian(self, x: Array, newton: bool) -> float:
        """Energy, work of the multipliers, and the springs the solver puts into the gaps."""
        q = self.moved(x, newton)
        energy = sum(potential(self.system, q, self.loading).values())
        gaps = self.gaps(q)
        stiffness = [self.system.link_stiffness[link.rows] for link in self.system.links]
        penalty = 0.5 * float(gaps**2 @ np.concatenate([*stiffness, np.zeros(0)]))
        return energy + float(self.lam @ gaps) + penalty

    def gaps(self, q: Array) -> Array:
        system = self.system
        system.place(q)
        return balance(system, np.zeros(system.n + system.m), self.loading, False)[system.n :]


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
    x = case.direction()
    slope = difference(lambda x: case.lagrangian(x, newton), x)
    r = case.residual()
    assert r[: case.system.n] @ x == pytest.approx(slope, rel=1e-6)
    assert r[case.system.mode_unknowns] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("newton", [True, False], ids=["newton", "retract"])
def test_the_tangent_is_the_second_derivative_away_from_equilibrium(
    case: Case, newton: bool
) -> None:
    K = case.condensed(newton)
    for _ in range(2):
        x = case.direction()
        bend = second_difference(lambda x: case.lagrangian(x, newton), x)
        assert x @ K @ x == pytest.approx(bend, rel=1e-5)
    assert np.linalg.norm(case.residual()[case.system.coordinates]) > 1e-2


@pytest.mark.parametrize("chart", [True, False], ids=["newton", "retract"])
def test_the_tangent_is_symmetric_for_conservative_loads_away_from_equilibrium(
    case: Case, chart: bool
) -> None:
    assert case.loading.conservative
    K = case.tangent(chart)
    assert np.max(np.abs(K - K.T)) < 1e-9 * np.max(np.abs(K))


def test_rows_of_the_multipliers_are_the_derivative_of_the_gaps(case: Case) -> None:
    system = case.system
    A = case.tangent(True)[system.n :, : system.n]
    x = case.direction()
    for newton in (True, False):
        slope = difference(lambda x, newton=newton: case.gaps(case.moved(x, newton)), x)
        assert A @ x == pytest.approx(slope, abs=1e-7 * max(1.0, np.max(np.abs(A @ x), initial=0)))


def test_symmetric_and_general_storage_hold_the_same_tangent(case: Case) -> None:
    system, mult = case.system, case.unknowns()
    x = case.rng.normal(size=system.n + system.m)
    b = case.tangent(True) @ x
    for symmetric in (True, False):
        system.place(case.q)
        balance(system, mult, case.loading, True, symmetric)
        matrix = tangent_of(system, symmetric).matrix
        matrix.factorise()
        assert matrix.solve(b) == pytest.approx(x, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["single", "chained", "turned-mount", "mid-mount-on-strain", "free-and-held"]
)
def test_newton_converges_quadratically(name: str) -> None:
    """Residual exponents of the last iterations double, as only an exact tangent lets them."""
    case = Case(name)
    found = StaticSolver(case.system).solve(case.loading)
    history = [size for size in found.history if 1e-13 < size < 1e-1]
    last = np.log10(history[-2:]) if len(history) > 1 else np.array([-1.0, -13.0])
    assert found.residual < 1e-10
    assert last[1] < 1.6 * last[0] or found.history[-1] < 1e-13


def test_reactions_balance_all_loads() -> None:
    for name in ("single", "three-in-a-row", "two-branches", "branch-on-branch"):
        case = Case(name)
        system = case.system
        found = StaticSolver(system).solve(case.loading)
        force = (
            along("x")[:3, :3] @ reactions(system, found.q, found.mult, case.loading)["trunk"][3:]
        )
        mass = sum(float(b.line_mass.sum()) for b in system.blocks)
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
        one = System(whole, {"arm": make(6)})
        two = System(halves, {"first": make(3), "second": make(3)})
        qs = [StaticSolver(system).solve(make_loading(system, {})).q for system in (one, two)]
        arm = Sampler(one).poses(qs[0], "arm", s)
        parts = [Sampler(two).poses(qs[1], name, s[:7]) for name in ("first", "second")]
        assert parts[0] == pytest.approx(arm[:7], abs=1e-10)
        assert parts[1] == pytest.approx(arm[6:], abs=1e-10)


# -- mass -----------------------------------------------------------------------------------------


def station_twists(case: Case, x: Array, step: float = 1e-5) -> list[Array]:
    """Body twists (Q, 6) of all sections with inertia, then bodies, from poses alone."""
    poses = []
    for sign in (-1, 1):
        case.system.place(case.moved(sign * step * x, False), mass=True)
        poses.append([block.level.inertial.g.copy() for block in case.system.blocks])
    return [se3.log(se3.inverse(a) @ b) / (2 * step) for a, b in zip(*poses, strict=True)]


def test_the_mass_matrix_gives_the_kinetic_energy_of_the_sections(case: Case) -> None:
    system = case.system
    M = linearise(system, case.q, case.unknowns(), case.loading)[1].toarray()[
        : system.n, : system.n
    ]
    x = case.direction()
    energy = 0.0
    for block, eta in zip(system.blocks, station_twists(case, x), strict=True):
        rho = block.rod.inertia(block.mass_s) * block.mass_w[:, None]
        energy += 0.5 * float(np.sum(rho * eta[: len(rho)] ** 2))
        for (body, _), T, twist in zip(block.bodies, block.body_T, eta[len(rho) :], strict=True):
            # from the centre and principal axes of the body back to the section
            section = se3.Ad(T) @ twist
            energy += 0.5 * float(section @ body.spatial_inertia() @ section)
    assert 0.5 * x @ M @ x == pytest.approx(energy, rel=1e-7)
    assert np.max(np.abs(M - M.T)) < 1e-13 * np.max(np.abs(M))
    kept = M[np.ix_(system.coordinates, system.coordinates)]
    assert np.min(np.linalg.eigvalsh(kept)) > 0


def test_velocities_of_the_sampler_are_those_of_the_poses(case: Case) -> None:
    system, x = case.system, case.direction()
    sampler = Sampler(system)
    for block, eta in zip(system.blocks, station_twists(case, x), strict=True):
        found = sampler.velocities(case.q, x, block.rod.name, block.mass_s)
        assert found == pytest.approx(eta[: len(found)], abs=1e-6 * np.max(np.abs(eta)))


def test_a_rod_moving_as_a_rigid_body_has_the_mass_of_one() -> None:
    case = Case("free-and-held")
    system = case.system
    M = linearise(system, system.q_rest, np.zeros(system.n + system.m), case.loading)[1].toarray()
    system.place(system.q_rest)
    block = system.blocks[0]
    twist = np.array([0, 0, 0, 0.3, -0.2, 0.5])
    x = np.zeros(system.n)
    body = np.einsum("nij,j->ni", se3.Ad(se3.inverse(block.level.c.controls)), twist)
    x[block.x_index] = body.ravel()
    energy = 0.5 * float(block.line_mass.sum()) * float(twist[3:] @ twist[3:])
    assert 0.5 * x @ M[: system.n, : system.n] @ x == pytest.approx(energy, rel=1e-10)


# -- building -------------------------------------------------------------------------------------


def test_rods_that_share_a_pose_share_its_coordinates() -> None:
    alone, chain = Case("single").system, Case("chained").system
    own = 6 * (SPLINE.points - 1)
    assert len(alone.coordinates) == own
    assert len(chain.coordinates) == 2 * own
    assert not chain.mounted()
    child = chain.by_name["branch"]
    assert np.array_equal(child.x_index[:6], chain.by_name["trunk"].x_index[-6:])
    assert len(Case("turned-mount").system.mounted()) == 1


def test_unknowns_are_coordinates_modes_and_multipliers_without_overlap(case: Case) -> None:
    system = case.system
    every = np.concatenate([system.coordinates, system.mode_unknowns, system.driven])
    assert np.array_equal(np.sort(every), np.arange(system.n))
    assert system.m == len(case.lam)


def test_a_base_pose_moves_the_whole_robot() -> None:
    case = Case("two-branches")
    names = list(case.system.by_name)
    h = se3.exp(np.array([0.3, -1.0, 0.5, 1.0, 2.0, -1.0]))
    description = Description()
    for rod in case.system.description.rods.values():
        values = {field: getattr(rod, field) for field in rod.__dataclass_fields__}
        if rod.name == "trunk":
            values["pose"] = h @ rod.pose
        description.add(Rod(**values))
    formulations = {"trunk": SPLINE, "branch": SPLINE, "end": Strain(0, 2)}
    moved = System(description, formulations)
    s = np.array([0.0, 0.13, 0.4])
    for name in names:
        before = Sampler(case.system).poses(case.q, name, s)
        assert Sampler(moved).poses(case.q, name, s) == pytest.approx(h @ before, abs=1e-12)


@dataclass(frozen=True)
class OnlyCosserat(Strain):
    """Strain modes that pretend to know one theory."""

    capabilities: ClassVar[Capabilities] = Capabilities()


def test_a_theory_the_formulation_cannot_carry_is_refused() -> None:
    description = Description()
    description.add(trunk(theory="kirchhoff"))
    with pytest.raises(DescriptionError, match="theory"):
        System(description, {"trunk": OnlyCosserat()})
    with pytest.raises(DescriptionError, match="kirchhoff"):
        choose_formulations(description, OnlyCosserat())
