"""Equilibrium by Newton on the manifold, with automatic load stepping along the connected branch.

One Newton attempt goes for the full load. It is given up as soon as it shows signs of leaving the
branch (negative pivots that do not heal, growing residual, no contraction); the load step is then cut
and the path followed from the last equilibrium. `docs/theory/statics.md` has the reasoning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from pliant.engine.arrays import clear, copy
from pliant.engine.program import ask, record, run
from pliant.linalg.matrices import SingularError
from pliant.linalg.scatter import add_at, largest, norms
from pliant.model import ConvergenceError
from pliant.model.checks import refuse
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array
from pliant.solve import loops
from pliant.solve.closure import CLOSED, cannot_close, close_by_joints, left_open, open_gap
from pliant.solve.limits import with_limits
from pliant.solve.newton import INFINITE, SINGULAR, SLOW, Equations, NewtonError, Policy, negate
from pliant.solve.shape_error import ShapeError
from pliant.solve.static_error import StaticError
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.drivers import STRIDE
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

_NOTHING = np.zeros((0, 3))
Progress = Callable[[float, int, float], None]
"""Told the load level reached, the iterations so far and the relative residual."""

_EXACT = 1e-9
"""Correction, rad and parts of the length, after which a residual that stays is rounding error."""

LARGEST_TURN = {True: 2.0, False: 1.0}
"""Radians by which a rod may bend and twist in a load step; beyond, branches can be confused. Fewer if
the tangent is not symmetric, for then pivots do not show stability.
"""
_LINEAR = 1e-7
"""Part of the first residual that two corrections leave at most if a load step is as good as linear."""
_JUMP, _SMALL_TURN, _FINE = 2.5, 0.05, 1e-3
"""A rod that turns this many times faster than in the load step before, by more than a small turn, rad,
may have jumped. Load steps down to the part _FINE of the largest one tell.
"""

_BETWEEN = (0.25, 0.5, 0.75)
"""Places within a load step at which the stability of bodies on joints is looked at."""
_RESTARTS = 30
"""Of Lanczos, after which directions of negative stiffness are taken not to exist."""

POLICY = Policy(iterations=14, near=1e-4, stalled=1e-7, progress=0.3, patience=2)


@dataclass
class StaticOptions:
    """Tolerances of the static solver.

    tolerance : residual relative to the generalised loads at which the solver stops.
    smallest_step, largest_step : load steps below which the solver gives up, and with which it begins,
    as fractions of the whole load.
    """

    tolerance: float = 1e-10
    smallest_step: float = 1e-6
    largest_step: float = 1.0
    loose: float = 1e-6
    """Tolerance at intermediate load levels; a hundredth of the load step if less."""


@dataclass
class StaticSolution:
    """An equilibrium and the record of how it was found."""

    q: Array
    z: Array
    """(total,): force fields and multipliers."""
    inputs: Inputs
    iterations: int = 0
    residual: float = 0.0
    history: list[float] = field(default_factory=list)
    """Relative residual after each Newton iteration of the last attempt."""
    levels: list[float] = field(default_factory=list)
    """Load levels passed, 1.0 the full load."""
    negative: int | None = None
    """Negative pivots of the reduced tangent; None if the loads have no potential."""
    at_rounding: bool = False
    """True if the residual stopped at rounding error above the tolerance."""
    error: ShapeError | None = None
    """Estimated error of the shape."""
    lost: float | None = None
    """First load level at which the branch was found unstable, None if there is none."""
    fold: float | None = None
    """Load level beyond this equilibrium at which its branch turns back, if it is known to do so."""


def balance(
    effects: Effects,
    state: State,
    work: Work,
    inputs: Inputs,
    z: Array,
    tangent: Tangent | None = None,
    chart: bool = True,
    keep: Array | None = None,
    memory: Array | None = None,
) -> Array:
    """Residual (total,) at a state: gradient of the potential, and gaps of all rows.

    With a tangent, it is overwritten: in the Newton chart, or in the second-order chart if not `chart`.
    keep : gaps (total,) that constraints are to keep for now.  memory : see `Moment`.
    """
    work.clear(tangent is not None)
    if tangent is not None:
        tangent.clear()
    meet_at_rest(work, state)
    moment = Moment(
        effects.tree, state, work, inputs.u, z, tangent=tangent, keep=keep, memory=memory
    )
    for term in effects.terms:
        ask(term.act, moment)
    gather(effects.tree, state, work, work.residual)
    if tangent is not None:
        gather_tangent(effects.tree, state, work, tangent, work.residual if chart else None)
    return work.residual


class Equilibrium(Equations):
    """Balance of a robot; `begin` sets the inputs under which it is sought and where from.

    The programs are recorded once and serve all attempts of a solver with one tangent.
    """

    def __init__(self, solver: StaticSolver, tangent: Tangent) -> None:
        super().__init__(POLICY, tangent.matrix)
        effects, tree = solver.effects, solver.effects.tree
        self.solver, self.effects, self.tree, self.tangent = solver, effects, tree, tangent
        self.state, self.work, self.other = State(tree), Work(tree), Work(tree)
        self.z, self.u, self.keep = (
            np.zeros(tree.total),
            np.zeros(effects.inputs),
            np.zeros(tree.total),
        )
        self._unheld = np.zeros(tree.total)
        self._held = [term for term in effects.rows if len(term.rows) and term.rows[0] >= tree.n]
        """Terms with multipliers."""
        self._breaks = 2 * sum(term.memory > 0 for term in effects.terms)
        """Corrections that may be larger than those before, where joints begin to slide."""
        self._next, self._variation = np.zeros(tree.nq), np.zeros(tree.total)
        self.moved = np.zeros(tree.size)
        self.steps: list[float] = []
        self.numbers[loops.GAP_LIMIT] = np.inf
        self._load = np.inf
        self._attempts = 0
        self._curvatures = [np.zeros((len(part.strain_s), 3)) for part in tree.parts]
        """Curvatures and twists at the start of an attempt."""
        self._programs = self._row(partial)
        self._unload: Callable[[], None] = self._balance_unloaded

    def begin(self, start: StaticSolution, inputs: Inputs, aim: float, step: float) -> None:
        """Set the inputs under which balance is sought, from a known equilibrium."""
        options = self.solver.options
        self.start = start
        self.state.q[...] = self.effects.prescribed.put(start.q, inputs.drive)
        self.z[...], self.u[...] = start.z, inputs.u
        self._note_curvatures()
        self.numbers[loops.TOLERANCE] = options.tolerance
        self.numbers[loops.STALLED] = POLICY.stalled
        if aim < 1.0:
            self.numbers[loops.TOLERANCE] = max(min(options.loose, step / 100.0), options.tolerance)
        self.keep[...] = (1.0 - aim) * self.solver.gaps
        self.moved[...] = 0.0
        self.steps.clear()
        self.forget_factor()
        self._load = np.inf

    @cached_property
    def error(self) -> StaticError:
        """Estimates the error of what was found last."""
        return StaticError(self)

    def has_factor(self) -> bool:
        """Whether the tangent of the last attempt can be factorised, which is done if need be."""
        if not self.counts[loops.THERE]:
            try:
                self.matrix.factorise()
            except SingularError:
                return False
        return True

    def look_at(self, found: StaticSolution) -> None:
        """Place everything at an equilibrium, with its tangent."""
        self.state.q[...], self.z[...], self.u[...] = found.q, found.z, found.inputs.u
        self.keep[...], self._load = 0.0, 1.0
        self.forget_factor()
        self._programs[loops.TANGENT]()

    def attempt(self) -> None:
        """Newton's method; raises NewtonError if it goes astray."""
        self._attempts += 1
        if self._attempts == 2:
            self._record()
        self.run_newton(self._programs)

    def _record(self) -> None:
        self._programs = self._row(record)
        self._unload = record(self._balance_unloaded)

    def recorded(self) -> list[Any]:
        """The programs of Newton's method, for whoever takes its steps one by one."""
        if self._attempts < 2:
            self._attempts = 2
            self._record()
        return self._programs

    def _row(self, make: Callable[..., Any]) -> list[Any]:
        """The programs of Newton's method: plain calls, or recorded ones."""
        row: list[Any] = [None] * loops.PROGRAMS
        for place, tangent in ((loops.RESIDUAL, False), (loops.TANGENT, True)):
            row[place] = make(self._place_and_balance, tangent)
        row[loops.SLOPE] = make(self._set_residual, True)
        row[loops.FACTORISE] = make(self.matrix.record_factorise)
        row[loops.SOLVE] = make(self.matrix.record_solve, self.right, self.x)
        row[loops.MOVE] = make(self._move)
        row[loops.WEIGH], row[loops.REPAIR] = self.weigh, self.repair
        row[loops.INSPECT] = self._inspect
        return [self.guarded(program) for program in row]

    def _place_and_balance(self, tangent: bool) -> None:
        self.state.place(self.state.q)
        self._set_residual(tangent)

    def _set_residual(self, tangent: bool) -> None:
        filled = self.tangent if tangent else None
        keep = self.keep if self.tree.m else None
        what = (self.state, self.work, Inputs(self.u, _NOTHING), self.z)
        r = balance(self.effects, *what, filled, keep=keep, memory=self.solver.memory)
        run(negate, r, self.right)
        ask(self._measure)

    def _measure(self) -> None:
        """Residual without unit: forces over loads, mean strain gaps, constraint gaps over length."""
        forces, gaps = self.solver.measure(self.work.residual)
        self.numbers[loops.SIZE] = (forces + self._gap_forces()) / self._load + gaps

    def _gap_forces(self) -> float:
        """What the gaps of multipliers cost, N: also of those that do not feel their gap at once."""
        r = self.work.residual
        return float(sum(np.sum(np.abs(x.augmented(r[x.rows]))) for x in self._held))

    def weigh(self) -> None:
        """Set the size of the generalised loads, or of the first residual where there are none."""
        r, free = self.work.residual, self.tree.coordinates
        own = max(float(np.linalg.norm(r[free])), 1e-12 * self.tree.stiffness, self._gap_forces())
        self._load = own
        if self.tree.m or not self.start.inputs.empty:
            self._unload()
            self._load = max(float(np.linalg.norm((r - self.other.residual)[free])), own)
        self._measure()

    def _balance_unloaded(self) -> None:
        """Set the residual without loads and without what constraints exert, in the other workspace."""
        copy(self.z, self._unheld)
        clear(self._unheld[self.tree.n : self.tree.size])
        what = (self.effects.nothing, self._unheld)
        balance(self.effects, self.state, self.other, *what, memory=self.solver.memory)

    def _move(self) -> None:
        copy(self.x, self._variation[: len(self.x)])
        self.tree.advance(self.state, self._variation, self._next)
        copy(self._next, self.state.q)
        run(add_at, self.effects.gap_rows, self.x, self.z)

    def _inspect(self) -> None:
        """Reject an attempt that shows it is leaving the neighbourhood of the branch."""
        x = self.x
        if not np.isfinite(float(x @ x)):
            raise NewtonError(SINGULAR)
        self.moved += x
        self.steps.append(largest(x, self.tree.coordinates))
        if self.steps[-1] < _EXACT * min(1.0, self.tree.length):
            self.numbers[loops.STALLED] = np.inf
        if len(self.steps) > 1 + self._breaks:
            if self.steps[-1] > 0.75 * self.steps[-2] and self.steps[-1] > 0.05:
                raise NewtonError("the Newton corrections do not get smaller")
            if self.numbers[loops.SIZE] > 200.0 * self.history[0]:
                raise NewtonError("the residual grows")
        if self.tree.m or float(self.right @ x) < 0.0:
            self.heed_stability(self.solver.negative(), x, 0.05)

    def _note_curvatures(self) -> None:
        """Keep the curvatures of the rods at a known equilibrium."""
        self.state.place(self.state.q)
        for at, kept in zip(self.state.parts, self._curvatures, strict=True):
            kept[...] = at.strain.e[:, :3]

    def joint_motion(self) -> float:
        """How far bodies on joints have moved since the attempt began, rad and parts of the length."""
        motions = [0.0]
        for part, at in zip(self.tree.parts, self.state.parts, strict=True):
            free = part.joint_index < self.tree.size
            if part.rod is None and free.any():
                twist = at.S[:, free] @ self.moved[part.joint_index[free]]
                angle, shift = np.linalg.norm(twist.reshape(2, 3), axis=1)
                motions.append(float(angle + shift / self.tree.length))
        return max(motions)

    def turn(self) -> float:
        """How far a rod has bent and twisted since the attempt began, rad; the most of all rods."""
        turns = [0.0]
        for part, at, old in zip(self.tree.parts, self.state.parts, self._curvatures, strict=True):
            change = np.linalg.norm(at.strain.e[:, :3] - old, axis=1)
            turns.append(float(part.strain_w[:, 0] @ change))
        return max(turns)

    def heed_stability(self, negative: int | None, moved: Array, share: float) -> None:
        """Reject a motion along directions in which the robot lost its stability.

        Newton's method runs uphill in such directions, to the equilibrium on the other side. A
        perfect column stays straight and may go on; any other one bends aside before. `share` is the
        part of the motion that may lie in them.
        """
        lost = 0 if negative is None else negative - (self.start.negative or 0)
        if lost <= 0:
            return
        free = self.tree.coordinates
        try:
            along = self.solver.unstable_directions(lost).T @ moved[free]
        except SingularError:
            return
        if float(np.linalg.norm(along)) > share * float(np.linalg.norm(moved[free])):
            raise NewtonError("the robot loses its stability on the way")


_REASONS = {
    INFINITE: "the residual became infinite",
    SINGULAR: "the tangent is singular",
    SLOW: f"no convergence in {POLICY.iterations} iterations",
}


def _percent(level: float) -> str:
    """A load level below the full load in words."""
    return f"{100 * level:.1f} %" if level < 0.9995 else f"{100 * level:.9g} %"


class StaticSolver:
    """Newton with load stepping for one robot; it belongs to one thread."""

    def __init__(self, effects: Effects, options: StaticOptions | None = None) -> None:
        self.effects = effects
        self.options = options or StaticOptions()
        self.state = State(effects.tree)
        self.work = Work(effects.tree)
        self._equations: dict[bool, Equilibrium] = {}
        self.count = 0
        self.rate: float | None = None
        """How fast rods turned in the last load step, rad for the whole load."""
        self.jumped = False
        """Whether the last load step was a jump."""
        self.memory = np.zeros(effects.memory)
        """What terms remember of the configuration from which an equilibrium is sought."""
        self.response: Any = None
        """Storage for the derivatives of equilibria."""

    def solve(
        self,
        target: Inputs,
        start: StaticSolution | None = None,
        progress: Progress | None = None,
    ) -> StaticSolution:
        """Follow the branch from `start` (default: the unloaded robot at rest) to `target`."""
        good = self._begin(target, start)
        origin, stable, lost = good.inputs, not good.negative, None
        largest = self.largest = self._largest_step(origin, target)
        smallest = self.options.smallest_step * largest
        level, step = 0.0, largest
        levels: list[float] = []
        while level < 1.0:
            aim = min(1.0, level + step)
            final = aim >= 1.0
            inputs = target if final else origin.mix(target, aim)
            try:
                good = self._attempt(good, inputs, aim, aim - level)
            except NewtonError as rejected:
                reason = _REASONS.get(str(rejected), str(rejected))
                step /= 4.0 if final and not levels else 2.0
                if step < smallest:
                    good = self._go_on(good, level, reason, (origin, target))
                    lost = good.lost if lost is None else lost
                    levels += good.levels[1:]
                    break
                continue
            level = aim
            levels.append(level)
            if lost is None and (self.jumped or (stable and good.negative)):
                lost = level
            step = min(2.0 * step, largest)
            if progress is not None:
                progress(level, self.count, good.residual)
        good.iterations = self.count
        good.levels, good.lost = levels, lost
        if self.effects.tree.estimates:
            good.error = self.equations.error.estimate()
        return good

    def _go_on(
        self, good: StaticSolution, level: float, reason: str, way: tuple[Inputs, Inputs]
    ) -> StaticSolution:
        """Follow the branch by its arclength where load steps fail; raises where it turns back."""
        from pliant.solve.load_branch import go_on

        fold = None
        if level > 0.0 or "singular" not in reason:
            found, fold = go_on(self, good, level, (*way, self.gaps))
            if found is not None:
                return found
        raise self._failure(level, reason, good, fold)

    def _begin(self, target: Inputs, start: StaticSolution | None) -> StaticSolution:
        """Choose the equations for the loads on the way to `target`; returns where it begins."""
        if start is None:
            start = self._unloaded(target)
        origin = start.inputs
        self.choose_equations(target, origin)
        self.state.place(start.q)
        for term in self.effects.hard:
            term.check_start(self.state)
        self.count, self.rate = 0, None
        self._set_gaps(start.q)
        if self.effects.memory:
            state = self.state.place(start.q)
            self.effects.remember(state, None, origin.u, start.z, self.memory)
        return StaticSolution(start.q.copy(), start.z.copy(), origin, negative=start.negative)

    @cached_property
    def _closed_rest(self) -> tuple[Array, bool]:
        """The robot at rest with its loops closed by joints, and whether that is so; else as it is."""
        rest = self.effects.tree.q_rest
        q = close_by_joints(self.effects, rest)
        closed = open_gap(self.effects, q) <= CLOSED
        return (q if closed else rest), closed

    def _unloaded(self, target: Inputs) -> StaticSolution:
        """The robot at rest, with loops that its joints can close closed.

        What stays open is closed by the elasticity of rods as the loads come on. Without rods, loops
        may close where the target has prescribed joints; else they are refused.
        """
        effects, tree = self.effects, self.effects.tree
        nothing = np.zeros(tree.total)
        q, closed = self._closed_rest
        if closed or any(part.rod is not None for part in tree.parts):
            return StaticSolution(q, nothing, effects.nothing)
        driven = Inputs(effects.nothing.u, target.drive)
        q = close_by_joints(effects, effects.prescribed.put(tree.q_rest, target.drive))
        if open_gap(effects, q) > CLOSED:
            raise cannot_close(effects, q)
        return StaticSolution(q, nothing, driven)

    def _largest_step(self, origin: Inputs, target: Inputs) -> float:
        """The load step in which prescribed joints and constraints go their stride."""
        effects, options = self.effects, self.options
        way = effects.prescribed.travel(origin.drive, target.drive, effects.tree.length)
        way += self.measure(self.gaps)[1]
        return min(options.largest_step, STRIDE / max(way, STRIDE))

    def look_at(self, found: StaticSolution) -> Equilibrium:
        """Place everything at an equilibrium, with its tangent."""
        self.choose_equations(found.inputs, found.inputs)
        self.equations.look_at(found)
        return self.equations

    def choose_equations(self, target: Inputs, origin: Inputs) -> None:
        """Take the equations with a symmetric tangent, if there is one."""
        effects = self.effects
        self.symmetric = effects.conservative(target.u) and effects.conservative(origin.u)
        if self.symmetric not in self._equations:
            tangent = effects.tangent(self.symmetric)
            self._equations[self.symmetric] = Equilibrium(self, tangent)
        self.equations = self._equations[self.symmetric]
        self.tangent = self.equations.tangent

    def _set_gaps(self, q: Array) -> None:
        """Set the gaps (total,) with which constraints begin at q."""
        tree = self.effects.tree
        self.gaps = np.zeros(tree.total)
        if not tree.m:
            return
        self.state.place(q)
        for term in self.effects.hard:
            if term.rows[0] >= tree.n:
                gaps = self.gaps[term.rows] = term.violations(self.state)
                refuse(
                    not np.isfinite(gaps).all(),
                    term.label,
                    "gap at the start",
                    gaps,
                    "finite: frames half a turn apart can be turned to each other both ways",
                    "turn one of the frames, e.g. by the rotation of its Frame",
                )

    def _heed_turn(self, turn: float, step: float) -> None:
        """Reject a load step in which a rod turns so far or so fast that it may be on another branch.

        A jump that remains however short the step is taken; `jumped` tells. A step that two
        corrections all but solve is as good as linear, and has no other branch.
        """
        sizes = self.equations.sizes
        linear = min(sizes[:3]) < _LINEAR * sizes[0]
        if turn > LARGEST_TURN[self.symmetric] and not linear:
            raise NewtonError("a rod turns too far in one load step")
        self.jumped = self.rate is not None and turn > _JUMP * self.rate * step + _SMALL_TURN
        if self.jumped and step > _FINE * self.largest:
            raise NewtonError("the robot snaps")
        self.rate = turn / step

    def _heed_middle(self, start: StaticSolution, inputs: Inputs, negative: int | None) -> None:
        """Reject a load step that takes bodies on joints over an unstable configuration on the way.

        A truss that snaps has stable equilibria on both sides, and a step may jump from one to the
        other without any sign of it but this one.
        """
        equations = self.equations
        if negative is None or equations.joint_motion() < _SMALL_TURN:
            return
        q, z, u = equations.state.q.copy(), equations.z.copy(), equations.u.copy()
        first = self.effects.prescribed.put(start.q, inputs.drive)
        x = np.zeros(self.effects.tree.total)
        x[: self.effects.tree.size] = equations.moved
        counts = []
        for t in _BETWEEN:
            state = equations.state.place(first)
            equations.state.q[...] = self.effects.tree.moved(state, t * x)
            equations.z[...] = (1.0 - t) * start.z + t * z
            equations.u[...] = (1.0 - t) * start.inputs.u + t * u
            equations.recorded()[loops.TANGENT]()
            counts.append(self._inertia() or 0)
        equations.state.q[...], equations.z[...], equations.u[...] = q, z, u
        equations.recorded()[loops.TANGENT]()
        equations.forget_factor()
        if max(counts) > max(negative, start.negative or 0):
            raise NewtonError("the robot loses its stability on the way")

    def _attempt(
        self, start: StaticSolution, inputs: Inputs, aim: float, step: float
    ) -> StaticSolution:
        """Newton iterations at one load level from `start`; raises NewtonError if they go astray."""
        equations = self.equations
        equations.begin(start, inputs, aim, step)
        before = self.count
        try:
            equations.attempt()
        finally:
            self.count = before + len(equations.steps)
        sizes = equations.sizes
        near = len(sizes) > 1 and sizes[-2] < POLICY.near
        negative = self.negative() if near else self._inertia()
        equations.heed_stability(negative, equations.moved, 1e-5)
        self._heed_turn(equations.turn(), step)
        self._heed_middle(start, inputs, negative)
        return StaticSolution(
            equations.state.q.copy(),
            equations.z.copy(),
            inputs,
            0,
            sizes[-1],
            sizes,
            [],
            negative,
            bool(equations.counts[loops.AT_ROUNDING]),
        )

    def measure(self, r: Array) -> tuple[float, float]:
        """Norm of the forces of a residual, and of its weighted gaps."""
        effects = self.effects
        return norms(r, effects.tree.coordinates, effects.gap_rows, effects.gap_weights)

    def _inertia(self) -> int | None:
        """Negative pivots of the tangent reduced to free motions: those of force fields and
        multipliers, one each, do not count.
        """
        if not self.symmetric:
            return None
        try:
            self.tangent.matrix.factorise()
        except SingularError:
            return None
        return self.negative()

    def negative(self) -> int | None:
        """Negative pivots of the last factor, reduced."""
        pivots = self.tangent.matrix.negative
        return None if pivots is None else pivots - len(self.effects.gap_rows)

    def unstable_directions(self, count: int) -> Array:
        """Orthonormal directions (c, count) of negative stiffness: the lower end of the spectrum of
        the flexibility, by Lanczos with the factorised tangent. At most six are looked at, and those
        that many restarts do not find are left out: a rough factor may count too many.
        """
        free, matrix = self.effects.tree.coordinates, self.tangent.matrix
        load = np.zeros(matrix.n)

        def flexibility(v: Array) -> Array:
            load[free] = v.ravel()
            return matrix.solve(load)[free]

        size = len(free)
        operator = LinearOperator((size, size), matvec=flexibility, dtype=float)
        first = np.cos(1.0 + np.arange(size, dtype=float))
        wanted = min(count, 6, size - 2)
        if wanted < 1:
            return np.zeros((size, 0))
        try:
            values, vectors = eigsh(
                operator, k=wanted, which="SA", v0=first, tol=1e-4, maxiter=_RESTARTS
            )
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
        return np.asarray(vectors[:, values < 0.0])

    def _why_stuck(self, good: StaticSolution, singular: bool) -> str:
        from pliant.solve.singular import why_stuck

        return why_stuck(self.effects, good.q, good.z, good.inputs, singular)

    def _failure(
        self, level: float, reason: str, good: StaticSolution, fold: float | None
    ) -> ConvergenceError:
        tree = self.effects.tree
        own = [part for part in tree.parts if not part.auxiliary]
        names = ", ".join(f"{part.name!r}" for part in own)
        kind = "rods" if all(part.rod is not None for part in own) else "parts"
        why = self._why_stuck(good, "singular" in reason) if level == 0.0 else ""
        still_open = "" if why else left_open(self.effects, good.q)
        if why:
            text = f"no equilibrium was found for {kind} {names}: {why}"
        elif still_open:
            text = (
                f"no equilibrium was found beyond {_percent(level)} of the load for {kind} {names}: "
                f"{reason}. {still_open}"
            )
        elif fold is not None:
            text = (
                f"the branch from the start ends at {_percent(fold)} of the load for {kind} {names}: "
                "it turns back there (a fold), and a real robot snaps to another equilibrium, which "
                "simulate() finds. Try a smaller load, or follow() an input through the fold."
            )
        else:
            text = (
                f"no equilibrium was found beyond {_percent(level)} of the load for {kind} {names}: "
                f"{reason}. The robot may snap or buckle there, or no equilibrium carries the load. "
                "Try a smaller load, more control points, or simulate() from the last good state."
            )
        error = ConvergenceError(with_limits(text, tree, good.q))
        good.iterations = self.count
        good.levels = [level]
        good.fold = None if why or still_open else fold
        error.last = good
        return error
