"""Tendons and springs along paths: derivatives by differences, on a tree of rods and bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.linalg.matrices import Sparse
from pliant.model import Array
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.effects import Effects, effects_of
from pliant.physics.muscles import HillMuscle
from pliant.physics.path_rows import PathRow
from pliant.physics.paths import PathTerm
from pliant.physics.springs import SpringTerm
from pliant.tree.backward import gather, gather_form, gather_tangent
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.work import Work

RUBBER = pl.Material(E=2e5, nu=0.45, rho=1000.0)
SPLINES = {"a": pl.BSpline(3, 5), "b": pl.Hermite(2)}
STRAINS = {"a": pl.Strain(1, 2), "b": pl.Strain(0, 2)}
"""The second derivative of their frames is exact at large rotations, too."""
H = 0.01


def tree_robot() -> tuple[pl.Robot, list[Any]]:
    """Two rods and a hinged body; points on all of them, two on one section, and one in the world."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    a = robot.add_rod("a", 0.3, pl.Circle(0.02), RUBBER)
    plate = robot.add_body("plate", 0.05, (1e-4,) * 3, on=a.tip, joint=pl.Revolute("x"))
    b = robot.add_rod("b", 0.2, pl.Circle(0.02), RUBBER, base=plate.at((0.0, 0.02, 0.0)))
    holes = [a.at(0.1, (0.02, 0.0)), a.at(0.1, (0.02, 0.01)), a.at(0.22, (0.0, 0.02))]
    ends = [plate.at((0.03, 0.0, 0.01)), b.at(0.15, (0.01, 0.01)), b.at(0.02, (0.0, 0.01))]
    return robot, [(0.02, -0.01, 0.0), *holes, *ends]


def tendon(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path)


def spring(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_spring("pull", path[1], path[5], stiffness=30.0, rest=0.1, damping=0.4, power=1.5)


def rope(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_spring("pull", path[0], path[4], 30.0, rest=0.1, damping=0.4, kind="tension")


def bumper(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_spring("pull", path[2], path[4], 30.0, rest=0.9, kind="compression")


def reel(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path, drive="length")


def stretched(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path, drive="length", stiffness=20.0)


def cable(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path[3:5], drive="none", stiffness=20.0)


def rubbing(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path, friction=0.3, creep=0.5)


def rubbing_reel(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_tendon("pull", path, drive="length", stiffness=20.0, friction=0.3, creep=0.5)


def muscle(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_muscle("pull", path, strength=3.0, optimum=0.8, speed=2.0)


def own_muscle(robot: pl.Robot, path: list[Any]) -> None:
    robot.add_muscle("pull", path, law=lambda L, V, a: 2.0 * a * L**2 * (1.0 + 0.1 * np.tanh(V)))


STORING: list[Callable[..., None]] = [tendon, spring, rope, bumper, muscle, own_muscle]
HOLDING: list[Callable[..., None]] = [reel, stretched, cable]
LOSING: list[Callable[..., None]] = [rubbing, rubbing_reel]


class Deformed:
    """One effect on the tree at two random configurations, H seconds apart, with random rates."""

    def __init__(
        self, add: Callable[[pl.Robot, list[Any]], None], formulations: Any = SPLINES
    ) -> None:
        robot, path = tree_robot()
        add(robot, path)
        self.effects: Effects = effects_of(robot.description, formulations)
        self.tree = tree = self.effects.tree
        kinds = (PathTerm, PathRow)
        self.term: Term = next(x for x in self.effects.terms if isinstance(x, kinds))
        self.u = self.effects.at({"pull": 0.7} if self.term.input else {}).u
        rng = np.random.default_rng(3)
        self.x, self.z, self.v = 0.1 * rng.normal(size=tree.total), np.zeros(tree.total), 0.0
        self.a, self.b, self.other = State(tree), State(tree), State(tree)
        tree.retract(tree.rest, 0.2 * rng.normal(size=tree.total), self.a)
        tree.retract(self.a, 0.05 * rng.normal(size=tree.total), self.b)
        self.trial = rng.normal(size=tree.total)
        self.z[self.term.rows] = 1.5
        if hasattr(self.term, "elastic"):
            self.term.elastic[1] -= 0.5  # taut in all configurations

    def energy(self, state: State, x: Array) -> float:
        self.tree.retract(state, x, self.other)
        return self.term.energy(self.other, self.u)

    def act(self, state: State) -> tuple[Array, Array]:
        """Gradient (total,) and symmetric tangent (n, n) at rest."""
        work, tangent = Work(self.tree), self.effects.tangent(True)
        work.clear(True)
        self.term.act(Moment(self.tree, state, work, self.u, self.z, tangent=tangent))
        gather(self.tree, state, work, work.residual)
        gather_tangent(self.tree, state, work, tangent)
        return work.residual, whole(tangent.matrix)

    def moving(self, state: State, v: Array | None, tangent: bool) -> tuple[Array, Array]:
        """Gradient (total,) and tangent (n, n) at rates v (total,), which grow by 20 / s."""
        work, filled = Work(self.tree), self.effects.tangent(False)
        work.clear(True)
        if v is not None:
            set_rates(self.tree, state, work, v, strains=False)
        given = (self.tree, state, work, self.u, self.z, v, 20.0)
        self.term.act(Moment(*given, tangent=filled if tangent else None))
        gather(self.tree, state, work, work.residual)
        if tangent:
            gather_tangent(self.tree, state, work, filled)
        return work.residual.copy(), whole(filled.matrix)

    def go(self, b: State, tangent: bool, implicit: bool = True) -> tuple[Array, Array, Array]:
        """Impulse that leaves a and that arrives at b (total,), tangent (n, n) in b."""
        work, filled = Work(self.tree), self.effects.tangent(False) if tangent else None
        work.clear(True)
        first = 0.5 if implicit else 1.0
        step = Step(self.tree, self.a, b, work, H, first, implicit, self.u, self.z, filled)
        for w in work.parts:
            w.pb[...] = 0.0
        self.term.go(step)
        gather(self.tree, self.a, work, work.residual)
        matrix = np.zeros((0, 0))
        if filled is not None:
            gather_form(self.tree, self.a, b, work, filled)
            matrix = whole(filled.matrix)
        leaving = work.residual.copy()
        work.clear(False)
        for w in work.parts:
            w.p[...] = w.pb
        gather(self.tree, b, work, work.residual)
        return leaving, work.residual, matrix


def whole(matrix: Any) -> Array:
    """All entries of a tangent (n, n)."""
    if isinstance(matrix, Sparse):
        return np.asarray(matrix.matrix.todense())
    rows, cols = np.indices((matrix.n, matrix.n))
    inside = np.abs(rows - cols) <= matrix.bandwidth
    slots = np.where(inside, matrix.slots(rows, cols), -1)
    dense = np.where(slots >= 0, matrix.data[slots], 0.0)
    if matrix.symmetric:
        dense = dense + dense.T - np.diag(np.diag(dense))
    return dense


@pytest.mark.parametrize("add", STORING, ids=lambda add: add.__name__)
def test_gradient_and_tangent_are_derivatives_of_the_energy(add: Any) -> None:
    case = Deformed(add, STRAINS)
    r, K = case.act(case.a)
    assert np.abs(r).max() > 0.01
    step = 1e-4
    for x in (case.trial, np.roll(case.trial, 7)):
        x = x / np.abs(x).max()
        x[len(K) :] = 0.0
        ends = [case.energy(case.a, k * step * x) for k in (-2, -1, 0, 1, 2)]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[3] - ends[4]) / (12 * step)
        bend = (-ends[0] + 16 * ends[1] - 30 * ends[2] + 16 * ends[3] - ends[4]) / (12 * step**2)
        assert r @ x == pytest.approx(slope, rel=1e-8, abs=1e-9)
        assert x[: len(K)] @ K @ x[: len(K)] == pytest.approx(bend, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("implicit", [True, False], ids=["implicit", "explicit"])
@pytest.mark.parametrize("add", [*STORING, *HOLDING, *LOSING], ids=lambda add: add.__name__)
def test_tangent_of_a_step_is_that_of_differences(add: Any, implicit: bool) -> None:
    case = Deformed(add)
    _, _, K = case.go(case.b, True, implicit)
    step, free = 1e-6, case.tree.coordinates
    x = case.trial.copy()
    x[len(K) :] = 0.0
    ends, free = [], np.concatenate([free, case.term.rows])
    z = case.z.copy()
    for sign in (step, -step):
        other = State(case.tree)
        case.tree.retract(case.b, sign * x, other)
        case.z[case.term.rows] = (z + sign * x)[case.term.rows]
        ends.append(case.go(other, False, implicit)[0])
    slope = (ends[0] - ends[1]) / (2 * step)
    scale = max(np.abs(slope).max(), 1e-9)
    np.testing.assert_allclose((K @ x[: len(K)])[free], slope[free], atol=2e-5 * scale)


@pytest.mark.parametrize("rates", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("add", [rope, *LOSING], ids=lambda add: add.__name__)
def test_tangent_of_what_loses_energy_is_that_of_differences(add: Any, rates: bool) -> None:
    """From zero rates: the change of directions at given rates is left out. All is additive here."""
    case, step = Deformed(add, STRAINS), 1e-6
    zero = np.zeros(case.tree.total) if rates else None
    r, K = case.moving(case.a, zero, True)
    x = case.trial.copy()
    x[len(K) :] = 0.0
    ends = []
    for sign in (step, -step):
        case.tree.retract(case.a, sign * x, case.other)
        ends.append(case.moving(case.other, 20.0 * sign * x if rates else None, False)[0])
    slope = ((ends[0] - ends[1]) / (2 * step))[: len(K)]
    assert np.abs(r).max() > 0.01
    np.testing.assert_allclose(K @ x[: len(K)], slope, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("add", HOLDING, ids=lambda add: add.__name__)
def test_gap_has_its_derivatives(add: Any) -> None:
    """With a constant tension the tangent is that of the length; stretched ones store its square."""
    case, step = Deformed(add, STRAINS), 1e-4
    assert isinstance(case.term, PathRow)
    case.term.stiffness = 1e-12 * case.term.stiffness  # nothing is added to the multiplier
    _, K = case.act(case.a)
    row = int(case.term.rows[0])
    x = case.trial / np.abs(case.trial).max()
    x[len(K) :] = x[row] = 0.0
    ends = []
    for k in (-1, 0, 1):
        case.tree.retract(case.a, k * step * x, case.other)
        ends.append(float(case.term.gaps(case.other)[0]))
    assert K[row] @ x[: len(K)] == pytest.approx((ends[2] - ends[0]) / (2 * step), rel=1e-6)
    bend = 1.5 * (ends[2] - 2 * ends[1] + ends[0]) / step**2
    assert x[: len(K)] @ K @ x[: len(K)] == pytest.approx(bend, rel=1e-4)


def losing(case: Deformed) -> float:
    """Power lost in the step."""
    work, v = Work(case.tree), np.zeros(case.tree.total)
    given = (case.tree, case.b, work, case.u, case.z, v)
    return case.term.power_lost(Moment(*given, ahead=0.5 * H, start=case.a))


@pytest.mark.parametrize("add", STORING, ids=lambda add: add.__name__)
def test_impulses_of_a_step_do_the_work_of_the_potential(add: Any) -> None:
    """The stress is a secant and the direction a mean: sum of impulses . displacements of points."""
    case = Deformed(add)
    term = case.term
    assert isinstance(term, PathTerm)
    spans = term.path.spans(case.a, case.b)
    if isinstance(term, SpringTerm):
        term.rule[2] = 0.0  # without its damper
    tension = term.pull(spans, case.u, None, 0.0, H, True).tension
    xa, xb = (term.path.points(state)[0] for state in (case.a, case.b))
    spread = tension[:, None] * spans.n
    force = np.zeros_like(xa)
    force[:-1] -= spread
    force[1:] += spread
    change = term.energy(case.b, case.u) - term.energy(case.a, case.u)
    if isinstance(term, HillMuscle):  # the law at the mean, as its work is counted
        change = -term.work_done(case.a, case.b, case.u) + H * losing(case)
    assert np.sum(force * (xb - xa)) == pytest.approx(change, rel=1e-10)
    assert np.abs(np.cross(xa + xb, force).sum(axis=0)).max() < 1e-12 * np.abs(force).max()
