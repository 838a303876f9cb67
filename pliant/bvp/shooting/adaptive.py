"""Shooting whose intervals follow the solution: short where it changes quickly, long where it does not.

Between the ends of an interval, wrench and velocity are cubic. Half way, their slope should be what the
rod equations say; the difference times the length of the interval is about the error made there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp.chain import Chain
from pliant.bvp.contract import BasePath, Progress, State, StepError, TimeRule, Watch
from pliant.bvp.rod_equations import MATRIX
from pliant.bvp.shooting.integration import derivatives
from pliant.bvp.shooting.mesh import STAGES, Mesh
from pliant.bvp.shooting.solver import ShootingSolver
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.model import BaseState
from pliant.rods.contract import Ints

if TYPE_CHECKING:
    from pliant.bvp.shooting.form import ShootingForm

_ROUNDS = 6
_MOST = 5000
"""Intervals beyond which no more are added."""
_EVERY = 10
"""Most time steps between two looks at the error."""


class AdaptiveSolver(ShootingSolver):
    """Shooting with RK4 on intervals that are cut until the error in each is below a tolerance."""

    def __init__(self, chain: Chain, form: ShootingForm, edges: list[Array]) -> None:
        super().__init__(chain, form, edges)
        self._since, self._pace = 0, 1
        self._first: State | None = None

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        super().begin(state)
        self._first, self._since, self._pace = state, 0, 1

    def notes(self) -> dict[str, Any]:
        """When the intervals are looked at next."""
        return {**super().notes(), "since": self._since, "pace": self._pace}

    def resume(self, state: State, notes: Mapping[str, Any], acting: Mapping[str, Any]) -> None:
        """Take the notes of a motion."""
        super().resume(state, notes, acting)
        self._first, self._since, self._pace = None, notes["since"], notes["pace"]

    def errors(self) -> Array:
        """Estimated error (N,) made in each interval, relative to wrench and velocity in the chain."""
        nodes, h, c0 = self.motion.nodes, self.mesh.intervals.h[:, None], self.rule.c0
        rows = self.mesh.intervals.table
        first, middle = rows[:, 0], 0.5 * (rows[:, 1] + rows[:, 2])
        # the history of an end is that of the next start: the last stage of RK4 is less accurate
        last, final = np.roll(first, -1, axis=0), self.mesh.first[1:] - 1
        last[final] = rows[final, STAGES - 1]
        start, half, end = (np.zeros((len(h), 12)) for _ in range(3))
        a, b, c = nodes[:, 0].copy(), nodes[:, 1].copy(), np.zeros((len(h), 24))
        derivatives(MATRIX, first, c0, a, start)
        derivatives(MATRIX, last, c0, b, end)
        c[:, :12] = 0.5 * (a + b)[:, :12] + h / 8.0 * (start - end)
        R = a[:, 15:].reshape(-1, 3, 3)
        turn = so3.log(np.swapaxes(R, 1, 2) @ b[:, 15:].reshape(-1, 3, 3))
        c[:, 15:] = (R @ so3.exp(0.5 * turn)).reshape(-1, 9)
        derivatives(MATRIX, middle, c0, c, half)
        slope = 1.5 * (b - a)[:, :12] / h - 0.25 * (start + end)
        defect = np.abs(slope - half) * h
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
        for k, edges in enumerate(self.mesh.edges):
            counts = parts[self.mesh.first[k] : self.mesh.first[k + 1]]
            inner = [
                np.linspace(p, q, n + 1)[:-1]
                for p, q, n in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
            found.append(np.append(np.concatenate(inner), edges[-1]))
        return found

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: BasePath,
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
        start, self._first = self._first, None
        while True:
            try:
                super().step(rule, step, values, base, keep_older)
                edges = None if start is None else self._wanted()
                if start is None or edges is None:
                    break
                record = self.record
                self.use(Mesh(self.chain, edges))
                super().begin(start)
                self.record = record
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
            part = slice(done, done + self._pace - self._since)
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
        state, rule, acting, most = self.state(), self.rule, self.acting, self._most
        old, lead = self.mesh, self.motion.past.lead[0].copy()
        history = self.history.on(lambda values: _transferred(old, mesh, values))
        self.use(mesh)
        self.history = history
        self._hold(state)
        self.x = lead
        self._start(state, rule)
        self._most, self.acting = most, acting
        if acting is not None:
            mesh.load(acting)
            self._keep_powers()


def _transferred(old: Mesh, new: Mesh, values: Array) -> Array:
    """Values (4 N, 6) at the stations of one mesh at those of another, piece by piece."""
    found = np.zeros((len(new.s), 6))
    for k, rows in enumerate(old.rows):
        s, y = old.s[rows].reshape(-1, STAGES), values[rows].reshape(-1, STAGES, 6)
        middle = 0.5 * (y[:, 1] + y[:, 2])
        places = np.append(s[:, :2].ravel(), s[-1, -1])
        curve = np.concatenate([np.stack([y[:, 0], middle], axis=1).reshape(-1, 6), y[-1, -1:]])
        found[new.rows[k]] = CubicSpline(places, curve)(new.s[new.rows[k]])
    return found
