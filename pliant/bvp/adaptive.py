"""Shooting whose intervals follow the solution: short where it changes quickly, long where it does not.

Between the ends of an interval, wrench and velocity are cubic. Half way, their slope should be what the
rod equations say; the difference times the length of the interval is about the error made there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant._numba import kernel
from pliant.bvp.chain import Chain
from pliant.bvp.contract import Progress, State, StepError, TimeRule, Watch
from pliant.bvp.equations import MATRIX, carried, rates
from pliant.bvp.mesh import Mesh
from pliant.bvp.shooting_solver import ShootingSolver
from pliant.bvp.sweep import end_slopes, twelve
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState
from pliant.rods.contract import Ints

if TYPE_CHECKING:
    from pliant.bvp.shooting import MultipleShooting, Shooting

_ROUNDS = 6
_MOST = 5000
"""Intervals beyond which no more are added."""
_EVERY = 10
"""Most time steps between two looks at the error."""


@kernel
def _middle_rates(arrays, c0, states, out):  # type: ignore[no-untyped-def]
    """Derivatives (N, 12) of wrench and velocity at states (N, 24) half way along the intervals."""
    for i in range(len(arrays.h)):
        R = carried(states[i])
        k, _, _ = rates(MATRIX, twelve(states[i]), R, R, arrays.stages[i, 1], c0)
        for j in range(12):
            out[i, j] = k[j]


class AdaptiveSolver(ShootingSolver):
    """Shooting with RK4 on intervals that are cut until the error in each is below a tolerance."""

    def __init__(self, chain: Chain, form: Shooting | MultipleShooting, count: int) -> None:
        super().__init__(chain, form, count)
        self._since, self._pace = 0, 1
        self._start: State | None = None

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        super().begin(state)
        self._start, self._since, self._pace = state, 0, 1

    def errors(self) -> Array:
        """Estimated error (N,) made in each interval, relative to wrench and velocity in the chain."""
        shooter, arrays = self.shooter, self.mesh.arrays
        nodes, h = shooter.nodes, arrays.h[:, None]
        ends = np.zeros_like(shooter.slopes)
        end_slopes(self.kind, arrays, shooter.c0, nodes, ends)
        a, b = nodes[:, 0], nodes[:, 1]
        middle = np.zeros((len(h), 24))
        middle[:, :12] = 0.5 * (a + b)[:, :12] + h / 8.0 * (shooter.slopes - ends)
        first = a[:, 15:].reshape(-1, 3, 3)
        turn = so3.log(np.swapaxes(first, 1, 2) @ b[:, 15:].reshape(-1, 3, 3))
        middle[:, 15:] = (first @ so3.exp(0.5 * turn)).reshape(-1, 9)
        found = np.zeros_like(shooter.slopes)
        _middle_rates(arrays, shooter.c0, middle, found)
        slope = 1.5 * (b - a)[:, :12] / h - 0.25 * (shooter.slopes + ends)
        defect = np.abs(slope - found) * h
        size = np.abs(nodes[..., :12]).max(axis=(0, 1)).reshape(4, 3).max(axis=1)
        floor = np.repeat([*(1e-3 * self.chain.scale[[0, 3]]), 1e-3, 1e-3 * self.chain.length], 3)
        return np.asarray((defect / np.maximum(np.repeat(size, 3), floor)).max(axis=1))

    def _wanted(self) -> list[Array] | None:
        """Better edges, or None if these are good."""
        errors, limit = self.errors(), self.form.tolerance
        if errors.max() <= limit or self.mesh.N >= _MOST:
            return None
        return self._cut(np.clip(np.ceil((2.0 * errors / limit) ** 0.25), 1, 8).astype(int))

    def _cut(self, parts: Ints) -> list[Array]:
        """Edges of the present intervals, each cut into parts (N,)."""
        found = []
        for k in range(len(self.chain.pieces)):
            rows = range(self.mesh.first[k], self.mesh.first[k + 1])
            inner = [
                np.linspace(self.mesh.s[i, 0], self.mesh.s[i, 2], parts[i] + 1)[:-1] for i in rows
            ]
            found.append(np.append(np.concatenate(inner), self.mesh.s[rows[-1], 2]))
        return found

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: Array,
        tolerance: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> State:
        """Return the equilibrium on intervals that resolve it."""
        found = super().statics(values, start, base, tolerance, progress, watch)
        for _ in range(_ROUNDS):
            edges = self._wanted()
            if edges is None:
                break
            record = self.record
            self.use(Mesh(self.chain, edges))
            found = super().statics(values, found, base, tolerance, progress)
            self.record.iterations += record.iterations
            self.record.rescues += record.rescues
        return found

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the next instant; now and then look whether the intervals still serve.

        A step that does not arrive is tried again on intervals of half the length, and the first one
        until they serve.
        """
        start, self._start = self._start, None
        while True:
            try:
                super().step(rule, step, values, base, keep_older)
                edges = None if start is None else self._wanted()
                if start is None or edges is None:
                    break
                record = self.record
                self.use(Mesh(self.chain, edges))
                super().begin(start)
                self.shooter.record = record
                continue
            except StepError:
                if 2 * self.mesh.N > _MOST:
                    raise
                self._refine(Mesh(self.chain, self._cut(np.full(self.mesh.N, 2))))
        self._look(1)

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants, a few at a time."""
        done = 0
        while done < len(values):
            part = slice(done, done + self._pace)
            reached = super().advance(rule, step, values[part], bases[part])
            done += reached
            self._look(reached)
            if reached < len(values[part]):
                break
        return done

    def _look(self, steps: int) -> None:
        self._since += steps
        if self._since >= self._pace:
            self._since, self._pace = 0, min(2 * self._pace, _EVERY)
            edges = self._wanted()
            if edges is not None:
                self._refine(Mesh(self.chain, edges))

    def _refine(self, mesh: Mesh) -> None:
        """Go over to other intervals in the middle of a motion; histories by cubic splines."""
        state, old = self.state(), self.histories
        kept = [old.xi, old.xi_t, old.eta, old.eta_t, old.xi_older, old.eta_older]
        moved = [_carried(self.mesh, mesh, values) for values in kept]
        bodies = old.body.copy(), old.body_t.copy(), old.body_older.copy()
        record, count, rule = self.record, self.shooter.count, self.rule
        past, most = self.marching.trail.past[0].copy(), self.marching.most
        acting = self._acting
        self.use(mesh)
        h = self.histories
        for target, values in zip(
            (h.xi, h.xi_t, h.eta, h.eta_t, h.xi_older, h.eta_older), moved, strict=True
        ):
            target[:] = values
        h.body[:], h.body_t[:], h.body_older[:] = bodies
        self._hold(state)
        self.shooter.x = past
        self.marching.begin()
        self.shooter.record, self.shooter.count = record, count
        self.rule, self._present, self.marching.most = rule, state, most
        if acting is not None:
            self.mesh.load(acting)
            self._book((0.0, 0.0, 0.0))
        self._acting = acting


def _carried(old: Mesh, new: Mesh, values: Array) -> Array:
    """Values (N, 3, 6) at the stages of one mesh at those of another, piece by piece."""
    found = np.zeros((new.N, 3, 6))
    for k in range(len(old.chain.pieces)):
        rows, to = (slice(m.first[k], m.first[k + 1]) for m in (old, new))
        s, y = old.s[rows].ravel(), values[rows].reshape(-1, 6)
        single = np.concatenate([[True], np.diff(s) > 0.0])
        found[to] = CubicSpline(s[single], y[single])(new.s[to])
    return found
