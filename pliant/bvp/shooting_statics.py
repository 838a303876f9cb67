"""Equilibria of a chain by shooting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import Progress, Record, State, StrongSolver
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


class ShootingStatics(StrongSolver):
    """Equilibria by shooting with `count` segments, by load steps where they are far."""

    def __init__(self, chain: Chain, form: Shooting | MultipleShooting, count: int) -> None:
        self.chain = chain
        self.form = form
        self.count = count
        self.kind, self.scheme = ROTATIONS[form.rotation], SCHEMES[form.scheme]
        self.bases = Bases(chain)
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
        self._climb(values, at, tolerance, progress)
        return self.knots.state(shooter.nodes, 0.0)

    def _hold(self, state: State) -> None:
        self.shooter.nodes[:] = self.knots.nodes(state)
        self.shooter.x = np.where(self.chain.base.held, state.wrench[0], 0.0)

    def _climb(
        self, values: Mapping[str, Any], base: Base, tolerance: float, progress: Progress | None
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
        level, step, slope = 0.0, 1.0, np.zeros(6)
        while level < 1.0:
            aim = min(1.0, level + step)
            self._apply(values, aim, open_gap)
            before, held = shooter.x.copy(), shooter.nodes.copy()
            shooter.x = before + (aim - level) * slope
            try:
                self._reach(base, tolerance if aim >= 1.0 else max(tolerance, 1e-6), step)
            except RejectedError as error:
                shooter.x, shooter.nodes[:] = before, held
                step *= 0.25 if step == 1.0 else 0.5
                if step < _SMALLEST:
                    self._apply(values, level, open_gap)
                    raise self._failure(level, str(error)) from None
                continue
            slope = (shooter.x - before) / (aim - level)
            level = aim
            record.levels.append(level)
            if level < 1.0:
                record.rescues["load steps"] += 1
            step *= 2.0
            if progress is not None:
                progress(level, record.iterations, record.residual)

    def _apply(self, values: Mapping[str, Any], level: float, open_gap: Array) -> None:
        """Let loads act in part, and supports be as far away as is left of the way to them."""
        self.mesh.load(values, level)
        self.mesh.rest()
        self.shooter.tip.left[:] = (1.0 - level) * open_gap

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
