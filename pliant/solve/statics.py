"""Equilibrium by Newton on the manifold, with automatic load stepping along the connected branch.

One Newton attempt goes for the full load. It is given up as soon as it shows signs of leaving the
branch (negative pivots that do not heal, growing residual, no contraction); the load step is then cut
and the path followed from the last equilibrium. `docs/theory/statics.md` has the reasoning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.system.balance import balance, link_gaps
from pliant.system.driving import put_bases
from pliant.system.linear import Matrix, SingularError, add_at, largest, norms
from pliant.system.loading import Loading, no_loading
from pliant.system.system import System
from pliant.system.tangent import tangent_of
from pliant.system.trouble import with_trouble

Progress = Callable[[float, int, float], None]
"""Told the load level reached, the iterations so far and the relative residual."""


@dataclass
class StaticOptions:
    """Tolerances of the static solver.

    tolerance : residual relative to the generalised loads at which the solver stops.
    iterations : most Newton iterations in one attempt.
    smallest_step : load step below which the solver gives up, as a fraction of the whole load.
    """

    tolerance: float = 1e-10
    iterations: int = 14
    smallest_step: float = 1e-4
    loose: float = 1e-4
    """Tolerance at intermediate load levels."""


@dataclass
class StaticSolution:
    """An equilibrium and the record of how it was found."""

    q: Array
    mult: Array
    loading: Loading
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


_NEAR = 1e-4
"""Residual of the last tangent below which the next residual is looked at before a new tangent is
made: it will do, and so will the inertia of the last one."""


class _RejectedError(Exception):
    """A Newton attempt that should not be continued."""


class StaticSolver:
    """Newton with load stepping for one system."""

    def __init__(self, system: System, options: StaticOptions | None = None) -> None:
        self.system = system
        self.options = options or StaticOptions()
        self.count = 0
        self._rows, self._weights = system.gap_weights

    def solve(
        self,
        target: Loading,
        start: StaticSolution | None = None,
        progress: Progress | None = None,
    ) -> StaticSolution:
        """Follow the branch from `start` (default: the unloaded robot at rest) to `target`."""
        system = self.system
        if start is None:
            start = StaticSolution(system.q_rest, np.zeros(system.n + system.m), no_loading(system))
        origin = start.loading
        symmetric = target.conservative and origin.conservative
        good = StaticSolution(
            start.q.copy(), start.mult.copy(), origin, negative=start.negative, history=[]
        )
        self.count = 0
        self._gaps = np.zeros(0)
        if system.links:
            system.place(good.q)
            self._gaps = link_gaps(system)
        level, step = 0.0, 1.0
        levels: list[float] = []
        reason = ""
        while level < 1.0:
            aim = min(1.0, level + step)
            final = aim >= 1.0
            loading = target if final else origin.mix(target, aim)
            try:
                found = self._newton(good, loading, symmetric, aim)
            except _RejectedError as rejected:
                reason = str(rejected)
                step = self._shorter(step, final and not levels)
                if step < self.options.smallest_step:
                    raise self._failure(level, reason, good) from None
                continue
            good, level = found, aim
            levels.append(level)
            step *= 2.0
            if progress is not None:
                progress(level, self.count, found.residual)
        good.iterations = self.count
        good.levels = levels
        return good

    @staticmethod
    def _shorter(step: float, first: bool) -> float:
        return step / 4.0 if first else step / 2.0

    def _newton(
        self, start: StaticSolution, loading: Loading, symmetric: bool, aim: float
    ) -> StaticSolution:
        """Newton iterations at one loading from `start`; raises _RejectedError if they go astray."""
        system, options = self.system, self.options
        q, mult = put_bases(system, start.q.copy(), loading), start.mult.copy()
        final = aim >= 1.0
        tolerance = options.tolerance if final else max(options.loose, options.tolerance)
        shift = (1.0 - aim) * self._gaps
        filled = tangent_of(system, symmetric)
        matrix = filled.matrix
        history: list[float] = []
        steps: list[float] = []
        moved = np.zeros(system.n + system.m)
        scale = 0.0
        for k in range(options.iterations + 1):
            system.place(q)
            near = bool(history) and history[-1] < _NEAR
            r = balance(system, mult, loading, not near, symmetric, filled=filled, shift=shift)
            if k == 0:
                scale = self._scale(start, mult, r)
            size = self._size(r, scale)
            if not math.isfinite(size):
                raise _RejectedError("the residual became infinite")
            history.append(size)
            rounding = self._stalled(history)
            if size <= tolerance or rounding:
                negative = self._negative(matrix) if near else self._inertia(matrix, symmetric)
                self._heed_stability(matrix, start, negative, moved, 1e-5)
                return StaticSolution(q, mult, loading, 0, size, history, [], negative, rounding)
            if k == options.iterations:
                break
            if near:
                balance(system, mult, loading, True, symmetric, filled=filled, shift=shift)
            x = self._step(matrix, r)
            self.count += 1
            steps.append(largest(x, system.coordinates))
            self._watch(history, steps)
            if system.m or float(r @ x) > 0.0:
                self._heed_stability(matrix, start, self._negative(matrix), x, 0.05)
            q = system.moved(q, x)
            moved += x
            add_at(self._rows, x, mult)
        raise _RejectedError(f"no convergence in {options.iterations} iterations")

    def _step(self, matrix: Matrix, r: Array) -> Array:
        try:
            matrix.factorise()
            right = -r
            right[self.system.driven] = 0.0
            x = np.asarray(matrix.solve(right))
        except SingularError:
            raise _RejectedError("the tangent is singular: something can move freely") from None
        if not math.isfinite(float(x @ x)):
            raise _RejectedError("the tangent is singular: something can move freely")
        return x

    def _scale(self, start: StaticSolution, mult: Array, r: Array) -> float:
        """Size of the generalised loads, or of the first residual where there are none."""
        free = self.system.coordinates
        forces, _ = norms(r, free, self._rows, self._weights)
        own = max(forces, 1e-12 * self.system.stiffness)
        if start.loading.empty:
            return own
        bare = balance(self.system, mult, no_loading(self.system), False)
        return max(float(np.linalg.norm((r - bare)[free])), own)

    def _size(self, r: Array, scale: float) -> float:
        """Residual without unit: forces over loads, mean strain gaps, constraint gaps over length."""
        forces, gaps = norms(r, self.system.coordinates, self._rows, self._weights)
        return float(forces / scale + gaps)

    @staticmethod
    def _stalled(history: list[float]) -> bool:
        """True if the residual is small and no longer falls: rounding error is all that is left."""
        return len(history) > 2 and history[-1] < 1e-7 and history[-1] > 0.3 * history[-2]

    def _inertia(self, matrix: Matrix, symmetric: bool) -> int | None:
        """Negative pivots of the tangent reduced to free motions: those of modes and multipliers,
        one each, do not count.
        """
        if not symmetric:
            return None
        try:
            matrix.factorise()
        except SingularError:
            return None
        return self._negative(matrix)

    def _negative(self, matrix: Matrix) -> int | None:
        if matrix.negative is None:
            return None
        return matrix.negative - len(self._rows)

    @staticmethod
    def _watch(history: list[float], steps: list[float]) -> None:
        """Reject an attempt that shows it is leaving the neighbourhood of the branch."""
        if len(steps) == 1:
            return
        if steps[-1] > 0.75 * steps[-2] and steps[-1] > 0.05:
            raise _RejectedError("the Newton corrections do not get smaller")
        if history[-1] > 200.0 * history[0]:
            raise _RejectedError("the residual grows")

    def _heed_stability(
        self,
        matrix: Matrix,
        start: StaticSolution,
        negative: int | None,
        moved: Array,
        share: float,
    ) -> None:
        """Reject a motion along directions in which the robot lost its stability.

        Newton's method runs uphill in such directions, to the equilibrium on the other side. A
        perfect column stays straight and may go on; any other one bends aside before. `share` is the
        part of the motion that may lie in them.
        """
        lost = 0 if negative is None else negative - (start.negative or 0)
        if lost <= 0:
            return
        free = self.system.coordinates
        try:
            along = self._unstable_directions(matrix, lost).T @ moved[free]
        except SingularError:
            return
        if float(np.linalg.norm(along)) > share * float(np.linalg.norm(moved[free])):
            raise _RejectedError("the robot loses its stability on the way")

    def _unstable_directions(self, matrix: Matrix, count: int) -> Array:
        """Orthonormal directions (c, count) of negative stiffness: the lower end of the spectrum of
        the flexibility, by Lanczos with the factorised tangent. At most six are looked at.
        """
        free = self.system.coordinates
        load = np.zeros(matrix.n)

        def flexibility(v: Array) -> Array:
            load[free] = v.ravel()
            return matrix.solve(load)[free]

        size = len(free)
        operator = LinearOperator((size, size), matvec=flexibility, dtype=float)
        first = np.cos(1.0 + np.arange(size, dtype=float))
        wanted = min(count, 6, size - 2)
        try:
            values, vectors = eigsh(operator, k=wanted, which="SA", v0=first, tol=1e-4)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
        return np.asarray(vectors[:, values < 0.0])

    def _failure(self, level: float, reason: str, good: StaticSolution) -> ConvergenceError:
        names = ", ".join(f"{b.rod.name!r}" for b in self.system.blocks)
        if level == 0.0 and "singular" in reason:
            text = (
                f"no equilibrium was found for rods {names}: {reason}. "
                "Clamp a rod (base='world') or add a constraint that holds the free part."
            )
        else:
            text = (
                f"no equilibrium was found beyond {100 * level:.1f} % of the load for rods {names}: "
                f"{reason}. The robot may snap or buckle there, or no equilibrium carries the load. "
                "Try a smaller load, more control points, or simulate() from the last good state."
            )
        error = ConvergenceError(with_trouble(text, self.system, good.q))
        good.iterations = self.count
        good.levels = [level]
        error.last = good
        return error
