"""Equilibria of a chain by shooting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import CAREFUL, FINEST, Progress, Record, State, StrongSolver, Watch
from pliant.bvp.ends import Base, Bases
from pliant.bvp.equations import ROTATIONS
from pliant.bvp.knots import Knots
from pliant.bvp.mesh import Mesh, even_edges
from pliant.bvp.newton import RejectedError
from pliant.bvp.shooter import Shooter
from pliant.bvp.sweep import SCHEMES
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError

if TYPE_CHECKING:
    from pliant.bvp.shooting import MultipleShooting, Shooting

_SMALLEST = 1e-3
"""Load step, as a part of the load, below which no equilibrium is expected any more."""
_HELP = 0.02
"""Load step below which rescues are called."""
_LARGEST_TURN = 2.5
"""Radians by which the chain may bend in one load step; beyond, branches can be confused."""


class ShootingStatics(StrongSolver):
    """Equilibria by shooting with `count` segments, by load steps where they are far."""

    def __init__(self, chain: Chain, form: Shooting | MultipleShooting, count: int) -> None:
        self.chain = chain
        self.form = form
        self.count = count
        self.kind, self.scheme = ROTATIONS[form.rotation], SCHEMES[form.scheme]
        self.bases = Bases(chain)
        assert form.steps is not None
        self.use(Mesh(chain, even_edges(chain, form.steps)))

    def use(self, mesh: Mesh) -> None:
        """Work on these intervals from now on."""
        self.mesh = mesh
        self.knots = Knots(mesh)
        self.shooter = Shooter(self.chain, mesh, self.kind, self.scheme, self.count)

    @property
    def record(self) -> Record:  # type: ignore[override]
        """How the last solutions were found."""
        return self.shooter.record

    @property
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for."""
        return self.shooter.segments(self.shooter.count).unknowns

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: Array,
        tolerance: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> State:
        """Return the equilibrium for input values, by load steps if it cannot be had at once."""
        shooter = self.shooter
        shooter.record, shooter.c0 = Record(), 0.0
        at = self.bases.still(base if self.bases.clamped else None)
        if start is not None:
            self._apply(values, 1.0, np.zeros(6))
            self._hold(start)
            try:
                shooter.attempt(at, tolerance, shooter.count, strict=True)
                shooter.record.levels.append(1.0)
                return self.knots.state(shooter.nodes, 0.0)
            except RejectedError:
                pass
        self._climb(values, at, tolerance, progress, watch)
        return self.knots.state(shooter.nodes, 0.0)

    def _hold(self, state: State) -> None:
        self.shooter.nodes[:] = self.knots.nodes(state)
        self.shooter.x = np.where(self.chain.base.held, state.wrench[0], 0.0)

    def _climb(
        self,
        values: Mapping[str, Any],
        base: Base,
        tolerance: float,
        progress: Progress | None,
        watch: Watch | None,
    ) -> None:
        """Follow the branch from the unloaded chain, in as few load steps as it takes.

        A tip that is held elsewhere than where the unloaded chain has it goes there along with the
        load.
        """
        shooter, record = self.shooter, self.record
        silent = dict.fromkeys(self.chain.description.inputs(), 0.0)
        self.mesh.load(silent, 0.0)
        self.mesh.rest()
        shooter.tip.left[:] = 0.0
        open_gap = np.where(shooter.tip.held, shooter.integrate(base, np.zeros(6)), 0.0)
        largest = 1.0 if watch is None else CAREFUL
        level, step, slope, falling = 0.0, largest, np.zeros(6), 0
        curvature = self.mesh.natural[:, 0, :3]
        while level < 1.0:
            aim = min(1.0, level + step)
            self._apply(values, aim, open_gap)
            before, held = shooter.x.copy(), shooter.nodes.copy()
            shooter.x = before + (aim - level) * slope
            try:
                self._reach(base, tolerance if aim >= 1.0 else max(tolerance, 1e-6), step)
                ahead = self._require_near(curvature)
                falling = self._require_same(watch, aim, falling, step)
            except RejectedError as error:
                shooter.x, shooter.nodes[:] = before, held
                step *= 0.25 if step == 1.0 else 0.5
                if step < _SMALLEST:
                    self._apply(values, level, open_gap)
                    raise self._failure(level, str(error)) from None
                continue
            slope = (shooter.x - before) / (aim - level)
            level, curvature = aim, ahead
            record.levels.append(level)
            if level < 1.0:
                record.rescues["load steps"] += 1
            step = min(2.0 * step, largest)
            if progress is not None:
                progress(level, record.iterations, record.residual)

    def _apply(self, values: Mapping[str, Any], level: float, open_gap: Array) -> None:
        """Let loads act in part, and supports be as far away as is left of the way to them."""
        self.mesh.load(values, level)
        self.mesh.rest()
        self.shooter.tip.left[:] = (1.0 - level) * open_gap

    def _require_near(self, before: Array) -> Array:
        """Curvature and twist (N, 3) at the starts of the intervals, which must be near `before`."""
        law = self.mesh.arrays.stages[:, 0]
        found = law[:, 6:9] + law[:, :3] * self.shooter.nodes[:, 0, :3]
        turned = float(np.linalg.norm(found - before, axis=1) @ self.mesh.arrays.h)
        if not turned < _LARGEST_TURN:
            raise RejectedError("the rods turn too far in one load step")
        return np.asarray(found)

    def _require_same(self, watch: Watch | None, level: float, falling: int, step: float) -> int:
        """Directions of falling energy at a level; if they become more, steps must be short."""
        count = 0 if watch is None else watch(self.knots.state(self.shooter.nodes, 0.0), level)
        if count > falling and step > FINEST:
            raise RejectedError("an equilibrium becomes unstable within a load step")
        return count

    def _reach(self, base: Base, tolerance: float, step: float) -> None:
        """One load level: plainly, and with help once the load steps have become short."""
        shooter = self.shooter
        try:
            shooter.attempt(base, tolerance, shooter.count, strict=True)
        except RejectedError:
            if step > _HELP or not self.form.rescue:
                raise
            shooter.rescue(base, tolerance)

    def _failure(self, level: float, reason: str) -> ConvergenceError:
        names = ", ".join(repr(rod.name) for rod in self.chain.rods)
        if not (self.chain.base.held.any() or self.chain.tip.held.any()):
            text = (
                f"no equilibrium was found for rods {names}: nothing holds them. "
                "Clamp a rod (base='world') or add a constraint."
            )
        else:
            text = (
                f"no equilibrium was found beyond {100 * level:.1f} % of the load for rods {names}: "
                f"{reason}. The rod may snap or buckle there, a support may be out of reach, or no "
                "equilibrium carries the load. Try a smaller load, Collocation() or BSpline(), or "
                "simulate() from the last good state."
            )
        self.record.levels.append(level)
        return ConvergenceError(text, self.knots.state(self.shooter.nodes, 0.0))
