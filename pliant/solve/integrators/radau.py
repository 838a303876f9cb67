"""Radau IIA with three stages: fifth order, L-stable, steps whose length follows an error estimate.

A step leads from a configuration q_0 along the chart q(t) = q_0 o exp(X(t)), in which motion is an
ordinary differential equation, or with constraints b(q) = 0 an algebraic one of index 3. At each of the
three stages balance holds with the rates and accelerations that the chart makes of X' and X'':

    J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0,      b(q) = 0.

The coefficients are in `radau_rule`. Newton's method has one tangent in a step, at the second stage as
it is predicted, and stops after a correction when the next one would move no station by more than a
small part of the tolerance. The prediction alone never does: in short steps all that happens is less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops, modes
from pliant.engine.arrays import clear, combine, copy, put, put_values
from pliant.engine.newton import Policy
from pliant.engine.program import Shared, run, when
from pliant.lie.charts import set_chart_rates
from pliant.linalg.scatter import largest
from pliant.model import DescriptionError
from pliant.model.fields import Number, Whole, holds
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import NO_TURNS, NO_TWISTS, Array
from pliant.solve.integrators import radau_rule as rule
from pliant.solve.integrators.contract import Integrator, StepError, Stepper, step_failed
from pliant.solve.integrators.drives import set_driven
from pliant.solve.integrators.motion_balance import dynamic_balance
from pliant.solve.integrators.radau_account import StageAccount
from pliant.solve.integrators.radau_inside import InsideStep
from pliant.solve.integrators.radau_systems import StageSystems
from pliant.solve.mass import Mass
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

POLICY = Policy(
    iterations=20, least=1, contraction=0.3, stalled=1e-12, progress=0.9, patience=6, lost=1e4
)
_SOLVED = 0.05
"""Part of the tolerance at which Newton's method stops."""
_TURN = 0.1
"""Radius, in lengths of the robot, at which turns count as displacements."""
_CHOICE = 5.0
"""Power of the step with which the error falls by which its length is chosen."""
_NOMINAL = 0.1
"""Step, relative to the first one, for which tangents are filled before they are mixed."""


@dataclass(frozen=True)
class Radau(Integrator):
    """Implicit Runge-Kutta method Radau IIA of order 5, with steps chosen for a tolerance.

    For stiff rods, and wherever a motion is smooth: steps are as long as the motion allows, whatever
    the fastest vibration. Vibrations that a step does not resolve die out. Outputs are interpolated
    with the accuracy of the steps. In `simulate`, dt is the time between stored states and bounds the
    first step only, inputs are asked at the stages of each step, and steps whose error is too large are
    rejected (`Motion.rescues`). A stepper takes steps of its own fixed length.

    tolerance : error that a step may make, relative to the length of the longest part.
    largest : longest step, s; give one where inputs act for a short time that steps could miss.
    most : steps, rejected ones included, after which the motion is given up; None for any number.
    """

    tolerance: float = holds(Number(limits=(1e-13, 0.1), example="1e-4"), 1e-4)
    largest: float | None = holds(Number(unit="s", sign="positive", example="0.01"), None)
    most: int | None = holds(Whole(least=1, example="10000"), None)
    damped: ClassVar[str] = "GeneralizedAlpha(rho=0.5)"
    finer: ClassVar[str] = "a smaller tolerance"
    chooses_steps: ClassVar[bool] = True

    @property
    def damps(self) -> bool:
        """It takes the energy of vibrations that steps do not resolve."""
        return True

    @property
    def order(self) -> int:
        """Five."""
        return 5

    def stepper(self, effects: Effects, h: float) -> RadauStepper:
        """A stepper with step length h, s."""
        return RadauStepper(effects, h, self.tolerance)

    @property
    def family(self) -> type[Radau]:
        """Tolerances are numbers that a stepper reads."""
        return Radau

    def adjust(self, stepper: RadauStepper) -> None:
        """Set the tolerance."""
        stepper.set_tolerance(self.tolerance)

    def steps(
        self, stepper: RadauStepper, schedule: Any, q: Array, v: Array, duration: float
    ) -> Any:
        """Steps that choose their own length."""
        from pliant.solve.adaptive_steps import AdaptiveSteps

        return AdaptiveSteps(self, stepper, schedule, q, v, duration, self.largest, self.most)


def _plain() -> Any:
    """The loops over programs with compilation off."""
    return modes.uncompiled(loops.__name__)


def _refuse(part: str, expected: str) -> None:
    raise DescriptionError(part, "integrator", "Radau()", expected, "use Midpoint()")


def _check(effects: Effects) -> None:
    """Refuse what these steps cannot carry."""
    for rows in effects.one_sided:
        _refuse(rows.label, "one for rows that only push, whose impacts are jumps")
    for term in effects.terms:
        if term.memory:
            part: Any = getattr(term, "part", None)
            name = getattr(term, "label", "") or f"{type(term).__name__} of {part.source.label}"
            _refuse(name, "one for what remembers the last step: dry friction, pressure lines")
    for part in effects.tree.parts:
        if part.map.chart_entries() is None or (part.joint.nv and not _chart(part.joint)):
            _refuse(part.source.label, "one that need not know how its coordinates move")


def _chart(joint: Any) -> str:
    return "sum" if joint.additive else str(joint.chart)


def _chart_places(tree: Tree) -> tuple[Array, Array]:
    """Numbers (P, 6) of all twists and (R, 3) of all rotation vectors in which coordinates move."""
    poses, turns = [NO_TWISTS], [NO_TURNS]
    for part in tree.parts:
        entries = part.map.chart_entries()
        assert entries is not None
        poses.append(np.where(entries[0] >= 0, part.x_index[entries[0]], -1))
        turns.append(part.x_index[entries[1]])
        if part.joint.nv and _chart(part.joint) == "pose":
            poses.append(part.joint_index[None])
        if part.joint.nv and _chart(part.joint) == "rotation":
            turns.append(part.joint_index[None])
    return np.concatenate(poses), np.concatenate(turns)


class RadauStepper(Stepper):
    """Steps of `Radau`.

    X, W, Y (3, total) : chart coordinates at the stages, their first and second derivatives; X holds
    force fields and multipliers as well. V, acc (3, total) : rates and accelerations there; v (total,)
    rates at the start. step (3,) : lengths of this step and of the last one, and the nominal one, s.
    """

    nodes: ClassVar[Array] = rule.NODES
    hint = "a smaller tolerance, viscosity, or GeneralizedAlpha(rho=0.5)"

    def __init__(self, effects: Effects, h: float, tolerance: float) -> None:
        _check(effects)
        super().__init__(effects, h, POLICY, _SOLVED * tolerance)
        self.wanted = np.zeros(1)
        """(1,) error that a step may make, in lengths."""
        self.set_tolerance(tolerance)
        tree, total = self.tree, self.tree.total
        self.step = np.array([h, h, _NOMINAL * h])
        self._set_inputs()
        self.inner = [State(tree), State(tree)]
        self.works = [Work(tree) for _ in range(3)]
        self._norm = Work(tree)
        self.poses, self.turns = _chart_places(tree)
        self.free = np.concatenate([tree.coordinates, tree.prescribed])
        """Places of all coordinates, and of all else."""
        self.rest = np.setdiff1d(np.arange(total), self.free)
        self.X, self.W, self.Y, self.V, self.acc, self.r = (np.zeros((3, total)) for _ in range(6))
        self.last = np.zeros((3, total))
        """Accelerations at the stages of the last step."""
        self.a0, self.driven = np.zeros(total), np.zeros((3, total))
        self.known = np.zeros(1, dtype=np.int64)
        """Whether there was a last step."""
        self._dx, self._start = np.zeros(total), np.zeros(total)
        self.choosing, self.error_size = np.zeros(1, dtype=np.int64), np.zeros(1)
        """Whether steps with too large an error are rejected; the error of the last one, in lengths."""
        self._good = np.ones(1, dtype=np.int64)
        self._none = np.zeros(total)
        self.systems, self.stage_account = StageSystems(self), StageAccount(self)
        self._fill = Shared(self.systems.fill)
        self._inner_balances = Shared(self._set_inner_balances)
        self.inside = InsideStep(self)
        self.numbers[loops.SCALE], self.numbers[loops.FLOOR] = 1.0, 1e-14
        self.counts[loops.KNOWS_LAST] = -1
        self.counts[loops.FORESEES] = not len(tree.prescribed)

    def set_tolerance(self, tolerance: float) -> None:
        """Set the error that a step may make, in lengths, and where Newton's method stops."""
        self.wanted[0] = tolerance
        self.numbers[loops.TOLERANCE] = self.tolerance = _SOLVED * tolerance

    def refill(self) -> bool:
        for work in (self.workspace, *self.works, self._norm):
            work.refill()
        return not self.effects.hard  # programs know the mass as it is

    def _set_inputs(self) -> None:
        """Room for the inputs at the end of the step, then at the stages before."""
        width, u = len(self.after), len(self.before)
        self.after = np.zeros(3 * width)
        rows = [self.after[k * width : (k + 1) * width] for k in (1, 2, 0)]
        ends = np.array([0, len(self.joint_q), len(self.joint_v), len(self.joint_acc)]).cumsum() + u
        self.stage_u = [row[:u] for row in rows]
        self.stage_joints = [tuple(row[i:j] for i, j in pairwise(ends)) for row in rows]
        self.u, (self.joint_q, self.joint_v, self.joint_acc) = self.stage_u[2], self.stage_joints[2]

    @cached_property
    def _mass(self) -> Mass:
        return Mass(self.effects)

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        self.v[...] = v
        self.known[0] = 0
        self.numbers[loops.SCALE] = 1.0
        self.choosing[0], self.step[:2] = 0, self.h
        self.stage_account.began[...] = 0.0
        self.a.place(self.q)
        self.b.place(self.q)
        self.a0[...] = self.effects.prescribed.rates(inputs.drive)[1]
        work = self.works[0]
        set_rates(self.tree, self.a, work, self.v, self.a0)
        meet_moving(work, self.a, 0.0)
        for term in self.effects.rows:
            term.settle(self.a, work, self.z)

    def holders(self) -> list[Any]:
        works = [holder for work in self.works for holder in (work, *work.parts)]
        return [*super().holders(), self.systems, self.stage_account, self.inside, *works]

    def remembered(self) -> list[Any]:
        states = [state.q for state in self.inner]
        found = [*super().remembered(), *states, *self.systems.twin.remembered()]
        return [x.view(np.float64) if x.dtype.kind == "c" else x for x in found]

    def resume(self) -> None:
        super().resume()
        for state in self.inner:
            state.place(state.q)

    def stages(self, b: State) -> list[State]:
        """The states of the stages, the last one the end of the step."""
        return [*self.inner, b]

    # -- one step ------------------------------------------------------------------------------

    def begin_step(self, a: State, b: State) -> None:
        """Set the increments of prescribed joints at all stages."""
        for (joint_q, _, _), driven in zip(self.stage_joints, self.driven, strict=True):
            set_driven(self.effects, a, joint_q, driven)

    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        """Accelerations go on as they were in the last step; the tangent is made for this guess."""

        def guess() -> None:
            last = (self.step, self.last, self.known, self.free)
            start = (self.a0, self.v, self.z, self.rest)
            run(rule.predict, *last, *start, self.Y, self.W, self.X)
            for X, driven in zip(self.X, self.driven, strict=True):
                put(driven, self.tree.prescribed, X)
            self._place_stage(a, self.inner[1], 1)
            self._fill()
            self.systems.factorise()
            run(mark_factor, self.matrix.flags, self.counts, self.numbers)

        return [guess]

    # -- equations ---------------------------------------------------------------------------

    def place_iterate(self, a: State, b: State) -> None:
        for i, state in enumerate(self.stages(b)):
            self._place_stage(a, state, i)

    def _place_stage(self, a: State, state: State, i: int) -> None:
        """Place the state of a stage, with the rates and accelerations of its stations."""
        self.tree.retract(a, self.X[i], state)
        self._set_stage_rates(i)
        set_rates(self.tree, state, self.works[i], self.V[i], self.acc[i])

    def _set_stage_rates(self, i: int) -> None:
        rates, places = (self.V[i], self.acc[i]), self.effects.prescribed.v_places
        run(set_chart_rates, self.poses, self.turns, self.X[i], self.W[i], self.Y[i], *rates)
        put_values(self.stage_joints[i][1], places, self.V[i])
        put_values(self.stage_joints[i][2], places, self.acc[i])

    def moment(self, state: State, i: int, speed: float, tangent: bool = False) -> Moment:
        """Stage i, as effects see it."""
        nominal = float(self.step[2]) * rule.REAL
        return Moment(
            self.tree, state, self.works[i], self.stage_u[i], self.X[i], self.V[i], speed,
            self.tangent if tangent else None, mobility=nominal**2, memory=self.memory,
        )  # fmt: skip

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        """Set residuals and corrections; or fill the tangent where the stages are, if asked."""
        if tangent:
            self._fill()
            return
        self._inner_balances()
        self._set_balance(b, 2)
        self._solve()
        self._measure(self.inner[1], self._dx, self.numbers[loops.SIZE :][:1], 1.0)
        run(largest_gap, self.r, self.tree.multipliers, self.numbers)

    def _set_inner_balances(self) -> None:
        for i, state in enumerate(self.inner):
            self._set_balance(state, i)

    def _set_balance(self, state: State, i: int) -> None:
        """Set the residual of a stage."""
        moment = self.moment(state, i, 1.0 / float(self.step[2]))
        copy(dynamic_balance(self.effects, moment, 0.0), self.r[i])

    def _measure(self, state: State, x: Array, out: Array, scale: float) -> None:
        """out (1,) = largest displacement of a station for a variation x (total,), in lengths."""
        work, tree = self._norm, self.tree
        set_rates(tree, state, work, x, strains=False)
        clear(out)
        for part, w in zip(tree.parts, work.parts, strict=True):
            if part.inertial:
                run(rule.largest_move, w.eta, part.inertial, _TURN * tree.length, out)
        combine(scale / tree.length, out, 0.0, out, out)

    def _solve(self) -> None:
        self.systems.solve(self.r, self.right, self.x, self._dx)

    def repair(self) -> None:
        """Solve with row exchanges."""
        self.systems.repair(self.right, self.x)

    def move_iterate(self, a: State, b: State) -> None:
        run(rule.move_stages, self.step, self.x, self.systems.zx, self.X, self.W, self.Y)

    def _row(self, side: int, record: Callable[..., Any]) -> list[Any]:
        row = super()._row(side, record)
        row[loops.FACTORISE] = record(self.systems.factorise)
        row[loops.SOLVE] = record(when, self.systems.renewed, self._solve)
        return row

    def advance(self, row: Array, pace: Array, ends: Array, once: bool) -> int:
        """Take steps at a pace with inputs row (3 W,), see `loops.take_adaptive`.

        Returns how the last trial ended: CONVERGED, PAUSE if its error is too large, or as Newton's
        method failed. A trial that needs row exchanges is made in plain Python.
        """
        self.problem = ""
        table, plain = self.prepare()
        todo = (self.side, self.control, row, self.after, self.step, self.error_size, self.wanted)
        rest = (_CHOICE, pace, ends)
        compiled = not isinstance(table, list)
        end = (loops if compiled else _plain()).take_adaptive(table, *todo, *rest, once)
        if end == loops.NEEDS_PIVOTING and compiled:
            taken = int(pace[loops.ENDED])
            end = _plain().take_adaptive(plain, *todo, _CHOICE, pace, ends[taken:], True)
            pace[loops.ENDED] += taken
        return int(end)

    # -- the end of a step -------------------------------------------------------------------

    def accept_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step, unless its error is too large."""
        when(self.choosing, self._estimate, a)
        run(judge, self.choosing, self.error_size, self.wanted, self._good, self.counts)
        when(self._good, self._accept, a, b)

    def accept_fed_step(self, a: State, b: State) -> None:
        self.accept_step(a, b)

    def _estimate(self, a: State) -> None:
        """Set the error of the step, in lengths.

        h^2 (M + h l C + (h l)^2 K)^-1 f, f what is missing in balance at the start with the
        acceleration that the polynomial through those of the stages has there.
        """
        acc, work = self._start, self.works[0]
        copy(self.a0, acc)
        run(rule.start_acceleration, self.Y, self.tree.coordinates, acc)
        set_rates(self.tree, a, work, self.v, acc)
        u = self.before
        moment = Moment(
            self.tree, a, work, u, self.z, self.v, 0.0, mobility=1.0, memory=self.memory
        )
        r = dynamic_balance(self.effects, moment, 0.0)
        run(missing_force, r, self.effects.gap_rows, self.right)
        self.matrix.record_solve(self.right, self.x)
        clear(self._dx)
        put(self.x, self.tree.coordinates, self._dx)
        self._measure(a, self._dx, self.error_size, rule.REAL**-2)
        # the rates of the first stage again
        set_rates(self.tree, self.inner[0], work, self.V[0], self.acc[0])

    def _accept(self, a: State, b: State) -> None:
        if self.keeps_account:
            self.stage_account.add(a, b)
        copy(b.q, self.q)
        copy(self.v, self.inside.began)
        copy(self.V[2], self.v)
        if self.effects.hard:
            self._project(b)
        run(rule.clear_at, self.rest, self.v)
        copy(self.acc[2], self.a0)
        put(self.X[2], self.rest, self.z)
        copy(self.acc, self.last)
        copy(self.u, self.before)
        copy(self.before, self.acted)
        run(finish, self.step, self.known)
        self.record_terms(self.works[2])

    def _project(self, b: State) -> None:
        """Take away what of the rates would violate constraints."""
        known, p = np.zeros(self.tree.total), np.zeros(self.tree.total)
        put(self.v, self.tree.prescribed, known)
        self._mass.set_momentum(b, self.v, p)
        self._mass.find_rates(b, p, known, self._none, self.v)

    def error(self, reason: str) -> StepError:
        """The error of a step, with its own length."""
        return step_failed(float(self.step[0]), reason, self.hint, POLICY.iterations)


@kernel
def mark_factor(flags, counts, numbers):  # type: ignore[no-untyped-def]
    """There is a factor; or none, if the matrix is singular."""
    counts[loops.THERE], counts[loops.AGE] = 1, 1
    if flags[loops.NEGATIVE] < 0:
        numbers[loops.SIZE] = np.inf


@kernel
def largest_gap(r, rows, numbers):  # type: ignore[no-untyped-def]
    """Largest gap of constraints in the residuals (3, n) of the stages."""
    gap = 0.0
    for i in range(r.shape[0]):
        gap = max(gap, largest(r[i], rows))
    numbers[loops.GAP] = gap


@kernel
def missing_force(r, rows, out):  # type: ignore[no-untyped-def]
    """out (m,) = -r, zero in some rows."""
    for i in range(out.shape[0]):
        out[i] = -r[i]
    for at in rows:
        out[at] = 0.0


@kernel
def judge(choosing, error, wanted, good, counts):  # type: ignore[no-untyped-def]
    """Accept a step unless its error is too large; it is paused then."""
    good[0] = 1
    if choosing[0] != 0 and not error[0] <= wanted[0]:
        good[0] = 0
        counts[loops.PAUSED] = 1


@kernel
def finish(step, known):  # type: ignore[no-untyped-def]
    """The step is the last one now."""
    step[1] = step[0]
    known[0] = 1
