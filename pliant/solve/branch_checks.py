"""Checks that statics stays on its branch: of every correction, and of every load step.

Newton's method finds equilibria, not branches. Corrections that turn a rod too far are shortened, and
an attempt is rejected where corrections, pivots or the turn of a rod tell that it may have left the
branch; `docs/theory/statics.md` has the reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from pliant.engine import loops
from pliant.engine.newton import SINGULAR, NewtonError
from pliant.linalg.matrices import Matrix, SingularError
from pliant.linalg.scatter import largest
from pliant.rods.contract import Array, Ints

if TYPE_CHECKING:
    from pliant.physics.effects import Inputs
    from pliant.solve.statics import Equilibrium
    from pliant.tree.state import State

LARGEST_TURN = {True: 2.0, False: 1.0}
"""Radians by which a rod may bend and twist in a load step; beyond, branches can be confused. Fewer if
the tangent is not symmetric, for then pivots do not show stability.
"""
_HALF_TURN = np.pi
"""Radians, or lengths, by which a body may move on its joint in a load step; beyond, it may be turns
away from where it was.
"""
CORRECTION = 1.0
"""Radians by which a correction may bend and twist a rod; longer ones are shortened."""
_LOOKED_AT = 0.2
"""Largest entry of a correction, rad or parts of the length, whose turn need not be measured."""
_TRIED, _FAR = 1.0, 30.0
"""Largest entry of a correction that is tried to measure its turn, and turn, rad, from which on it is
shortened without looking further.
"""
_SHORTENED = 5
"""Corrections of an attempt that may be shortened."""
_MONOTONE, _LINEAR = 0.5, 0.1
"""Size of a second correction over the first one: with the same tangent, at which the first one may be
long; with its own tangent, at which a load step is as good as linear.
"""
_PLAIN, _EXACTLY_LINEAR = 0.01, 0.03
"""The same where the tangent is not symmetric: at which a load step has nothing to look at on its way,
and at which it may turn a rod far.
"""
_JUMP, _SMALL_TURN, _FINE = 2.5, 0.05, 1e-3
"""A rod that turns this many times faster than in the load step before, by more than a small turn, rad,
may have jumped. Load steps down to the part _FINE of the largest one tell.
"""
_EXACT = 1e-9
"""Correction, rad and parts of the length, after which a residual that stays is rounding error."""
_BETWEEN = (0.25, 0.5, 0.75)
"""Places within a load step at which stability is looked at."""
_RESTARTS = 30
"""Of Lanczos, after which directions of negative stiffness are sought among all."""
_FEW, _NOISE = 1000, 1e-16
"""Coordinates of robots of which all directions are looked at, and rounding errors of one of them."""


class BranchChecks:
    """Watches the attempts of one set of equations; raises NewtonError where one goes astray.

    moved (n,) sums the corrections of an attempt, `steps` has their largest entries.  jumped : whether
    the last load step was a jump.
    """

    def __init__(self, equations: Equilibrium) -> None:
        self.equations, self.tree = equations, equations.tree
        self.moved = np.zeros(self.tree.size)
        self.steps: list[float] = []
        self.shortened = 0
        self.rate: float | None = None
        """How fast rods turned in the last load step, rad for the whole load."""
        self._pace = 0.0
        self.jumped = False
        self._breaks = 2 * sum(term.memory > 0 for term in equations.effects.terms)
        """Corrections that may be larger than those before, where joints begin to slide."""
        self._unit = max(1.0, self.tree.length)
        self._exact = _EXACT * min(1.0, self.tree.length) * equations.effects.finest
        self._first = self._curvatures()
        self._obstacles = [term for term in equations.effects.terms if term.obstructs]

    def begin(self) -> None:
        """Begin an attempt at the state of the equations."""
        self.equations.state.place(self.equations.state.q)
        for kept, now in zip(self._first, self._curvatures(), strict=True):
            kept[...] = now
        self.moved[...] = 0.0
        self.steps.clear()
        self.shortened = 0

    # -- corrections -------------------------------------------------------------------------------

    def inspect(self) -> None:
        """Shorten a correction that is too long; reject an attempt that is leaving the branch."""
        equations, steps = self.equations, self.steps
        x = equations.x
        if not np.isfinite(float(x @ x)):
            raise NewtonError(SINGULAR)
        size = largest(x, self.tree.coordinates)
        short = size * self._unit > _LOOKED_AT and self._shorten(not steps)
        self.moved += x
        steps.append(largest(x, self.tree.coordinates) if short else size)
        equations.heed_rounding(steps[-1] < self._exact)
        if not short and len(steps) > 1 + self._breaks + self.shortened:
            if steps[-1] > 0.75 * steps[-2] and steps[-1] > 0.05:
                raise NewtonError("the Newton corrections do not get smaller")
            if equations.numbers[loops.SIZE] > 200.0 * equations.history[0]:
                raise NewtonError("the residual grows")
        if self.tree.m or float(equations.right @ x) < 0.0:
            self.heed_stability(equations.solver.negative(), x, 0.05)

    def _shorten(self, first: bool) -> bool:
        """Scale a correction so that no rod turns by more than CORRECTION; tells whether it was longer.

        The first one may be long if a second one with the same tangent is much smaller: Newton's method
        then converges from there (Deuflhard's natural monotonicity test).
        """
        equations = self.equations
        x, right, size = equations.x.copy(), equations.right.copy(), equations.numbers[loops.SIZE]
        entries = largest(x, self.tree.coordinates)
        before = self._curvatures()
        share = min(1.0, _TRIED / (entries * self._unit))
        with self._moved(share * x):
            turn = self._turn(before) / share
        long = not turn <= CORRECTION
        if long and first and turn < _FAR:
            with self._moved(x):
                equations.programs[loops.RESIDUAL]()
                if np.isfinite(equations.numbers[loops.SIZE]):
                    equations.programs[loops.SOLVE]()
                    again = largest(equations.x, self.tree.coordinates)
                    long = not again <= _MONOTONE * entries
        equations.x[...], equations.right[...] = x, right
        equations.numbers[loops.SIZE] = size
        if long:
            self.shortened += 1
            if self.shortened > _SHORTENED or not np.isfinite(turn):
                raise NewtonError("the Newton corrections do not get smaller")
            equations.x *= CORRECTION / turn
        return long

    @contextmanager
    def _moved(self, x: Array) -> Iterator[None]:
        """Look at the state with a correction made, and come back."""
        equations = self.equations
        state, q, z = equations.state, equations.state.q.copy(), equations.z.copy()
        equations.x[...] = x
        equations.programs[loops.MOVE]()
        state.place(state.q)
        try:
            yield
        finally:
            state.q[...], equations.z[...] = q, z
            state.place(state.q)

    def heed_stability(self, negative: int | None, along: Array, share: float) -> None:
        """Reject a motion along directions in which the robot lost its stability.

        Newton's method runs uphill in such directions, to the equilibrium on the other side. A
        perfect column stays straight and may go on; any other one bends aside before. `share` is the
        part of the motion that may lie in them.
        """
        lost = 0 if negative is None else negative - (self.equations.start.negative or 0)
        if lost <= 0:
            return
        free = self.tree.coordinates
        try:
            found = unstable_directions(self.equations.matrix, free, lost).T @ along[free]
        except SingularError:
            return
        if float(np.linalg.norm(found)) > share * float(np.linalg.norm(along[free])):
            raise NewtonError("the robot loses its stability on the way")

    # -- how far an attempt went -------------------------------------------------------------------

    def _curvatures(self) -> list[Array]:
        """Curvatures and twists (S, 3) at the strain stations of all parts."""
        return [at.strain.e[:, :3].copy() for at in self.equations.state.parts]

    def _turn(self, since: list[Array]) -> float:
        """How far a rod has bent and twisted since it had given curvatures, rad; the most of all."""
        turns = [0.0]
        states = self.equations.state.parts
        for part, at, old in zip(self.tree.parts, states, since, strict=True):
            change = np.linalg.norm(at.strain.e[:, :3] - old, axis=1)
            turns.append(float(part.strain_w[:, 0] @ change))
        return float(np.max(turns))

    def _joint_motion(self) -> float:
        """How far bodies on joints have moved since the attempt began, rad and parts of the length."""
        motions = [0.0]
        for part, at in zip(self.tree.parts, self.equations.state.parts, strict=True):
            free = part.joint_index < self.tree.size
            if part.rod is None and free.any():
                twist = at.S[:, free] @ self.moved[part.joint_index[free]]
                angle, shift = np.linalg.norm(twist.reshape(2, 3), axis=1)
                motions.append(float(angle + shift / self.tree.length))
        return max(motions)

    # -- at the end of an attempt ------------------------------------------------------------------

    def heed_end(self, negative: int | None) -> None:
        """Reject an equilibrium that has more unstable directions than the start, and was reached along
        them or by shortened corrections; negative : its negative pivots, reduced.
        """
        lost = 0 if negative is None else negative - (self.equations.start.negative or 0)
        if lost > 0 and self.shortened:
            raise NewtonError("the robot loses its stability on the way")
        self.heed_stability(negative, self.moved, 1e-5)

    def heed_turn(self, step: float, largest_step: float) -> None:
        """Reject a load step in which a rod turns so far or so fast that it may be on another branch.

        step, largest_step : parts of the whole load. A jump that remains however short the step is
        taken; `jumped` tells. A step whose second correction is far smaller than the first one is as
        good as linear: Newton's method would converge for every part of it (Newton-Kantorovich), so
        that the equilibria on the way are connected.
        """
        turn, symmetric = self._turn(self._first), self.equations.solver.symmetric
        linear = self._is_linear(_LINEAR if symmetric else _EXACTLY_LINEAR)
        if turn > LARGEST_TURN[symmetric] and not linear:
            raise NewtonError("a rod turns too far in one load step")
        if self._joint_motion() > _HALF_TURN and max(self.steps[1:], default=0.0) > _SMALL_TURN:
            raise NewtonError("a joint moves too far in one load step")
        self.jumped = self.rate is not None and turn > _JUMP * self.rate * step + _SMALL_TURN
        if self.jumped and step > _FINE * largest_step:
            raise NewtonError("the robot snaps")
        self._pace = turn / step

    def heed_obstacles(self, before: State) -> None:
        """Reject a load step in which things go through each other and end apart again.

        before : the configuration in which it began.
        """
        after = self.equations.state
        if any(term.goes_through(before, after) for term in self._obstacles):
            raise NewtonError("things would go through each other")

    @property
    def obstructed(self) -> bool:
        """Whether anything keeps things from going through each other."""
        return bool(self._obstacles)

    def _is_linear(self, part: float) -> bool:
        """Whether the second correction of an attempt was less than a part of the first one."""
        steps = self.steps
        return not self.shortened and (len(steps) < 2 or steps[1] < part * steps[0])

    def accept(self) -> None:
        """Take an attempt as the load step to which the next one is compared."""
        self.rate = self._pace

    def heed_middle(self, inputs: Inputs, negative: int | None, odd: bool) -> None:
        """Reject a load step that takes the robot over an unstable configuration on the way.

        A truss that snaps has stable equilibria on both sides, and a step may jump from one to the
        other without any sign of it but this one. negative, odd : of the tangent at the end of the
        step, see `StaticSolution`. Where loads have no potential, the sign of the determinant tells,
        which is that of the end all the way unless the branch has a fold there.
        """
        start, solver = self.equations.start, self.equations.solver
        motion = self._joint_motion()
        if solver.symmetric:
            if negative is None or motion < _SMALL_TURN:
                return
            counts = [count or 0 for count, _ in self._between(inputs)]
            lost = max(counts) > max(negative, start.negative or 0)
        else:
            far = max(motion, self._turn(self._first)) >= _SMALL_TURN
            if not far or self._is_linear(_PLAIN):
                return
            lost = odd != start.odd or any(other != odd for _, other in self._between(inputs))
        if lost:
            raise NewtonError("the robot loses its stability on the way")

    def _between(self, inputs: Inputs) -> list[tuple[int | None, bool]]:
        """Negative pivots, and whether the determinant is negative, at places within a load step."""
        equations, tree, start = self.equations, self.tree, self.equations.start
        effects, solver = equations.effects, equations.solver
        q, z, u = equations.state.q.copy(), equations.z.copy(), equations.u.copy()
        first = effects.prescribed.put(start.q, inputs.drive)
        x = np.zeros(tree.total)
        x[: tree.size] = self.moved
        found = []
        for t in _BETWEEN:
            state = equations.state.place(first)
            equations.state.q[...] = tree.moved(state, t * x)
            equations.z[...] = (1.0 - t) * start.z + t * z
            equations.u[...] = (1.0 - t) * start.inputs.u + t * u
            equations.programs[loops.TANGENT]()
            found.append(solver.inertia())
        equations.state.q[...], equations.z[...], equations.u[...] = q, z, u
        equations.programs[loops.TANGENT]()
        equations.forget_factor()
        return found


def unstable_directions(matrix: Matrix, free: Ints, count: int) -> Array:
    """Orthonormal directions (c, count) of negative stiffness of the coordinates `free` (c,): the lower
    end of the spectrum of the flexibility, by Lanczos with the factorised tangent.

    At most six are looked at. Those that many restarts do not find, for a short wave can have a
    thousandth of the flexibility of the whole robot, are sought among all directions. A rough factor
    may count too many.
    """
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
    if np.sum(values < 0.0) < wanted and size <= _FEW:
        F = np.array([flexibility(unit) for unit in np.eye(size)])
        values, vectors = np.linalg.eigh(0.5 * (F + F.T))
        return np.asarray(vectors[:, :wanted][:, values[:wanted] < -_NOISE * size * values[-1]])
    return np.asarray(vectors[:, values < 0.0])
