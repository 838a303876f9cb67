"""How wrong the frequencies of a robot are, estimated mode by mode.

A mode has strains de and displacements z at the equilibrium, and the loads and inertia forces of the
displaced robot ask for a change dW of the internal wrenches. Two things make its frequency wrong:

* The coordinates do not represent the mode. The strain defect d = C^-1 dW - de has the energy by which
  a Galerkin method overestimates the eigenvalue, for unit modal mass

      lambda_h - lambda = int d^T C d ds + 2 int dW (de - dg) ds ,

  where force fields have strains de other than those dg of the map: there the second integral, over
  the part of dW that the force fields cannot represent, may have either sign.

* The equilibrium is not quite where it should be. The energy of the mode less lambda times its mass is
  compared with that about the equilibrium displaced by its estimated error (`static_error`).

Both are added with their signs. As neither is exact, a part of what may have cancelled is kept.
"""

from __future__ import annotations

import numpy as np

from pliant.lie import se3
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array
from pliant.solve.load_steps import StaticSolver
from pliant.solve.recovery import Sections
from pliant.solve.statics import StaticSolution
from pliant.tree.forward import set_rates
from pliant.tree.panels import integrate
from pliant.tree.state import State
from pliant.tree.work import Work

_SMALL = 1e-5
"""Largest rotation or displacement at which a mode is looked at."""
_KEPT = 0.15
"""Part of each contribution that the others do not cancel."""
_SHIFT = 1e-3
"""Largest displacement by which the equilibrium is moved to see what its error does."""


class ModalError:
    """Estimates the errors of the frequencies about one equilibrium."""

    def __init__(self, effects: Effects, still: StaticSolution) -> None:
        self.effects, self.tree, self.still = effects, effects.tree, still
        error = StaticSolver(effects).estimate_at(still)
        self.sections = error.sections
        self.state, self.displaced = error.equations.state, State(self.tree)
        self.displaced.place(still.q)
        self.work, self.rates = Work(self.tree), Work(self.tree)
        here = [at.g.copy() for at in self.state.parts]
        frames = [rod.frames(self.state, i).copy() for i, rod in enumerate(self.sections)]
        for i, rod in enumerate(self.sections):
            rod.strains(self.state, i)
        moves = error.displacements()
        self.shift = _SHIFT / max(max(np.abs(z).max(initial=0.0) for z in moves), 1e-300)
        """Times its estimated error, by which the equilibrium is moved."""
        there = [se3.exp(self.shift * z[: len(g)]) @ g for z, g in zip(moves, here, strict=True)]
        moved = [
            se3.exp(self.shift * z[len(g) :]) @ f
            for z, g, f in zip(moves, here, frames, strict=True)
        ]
        self.places = ((here, frames), (there, moved))
        self._bases: list[Array] = []
        self._starts: list[Array] = []
        self._rates: list[tuple[Array, Array]] = []

    def estimate(self, eigenvalue: float, vector: Array) -> float:
        """Relative error of the frequency of a mode: omega^2 (rad^2/s^2), rates (total,), unit mass."""
        if eigenvalue == 0.0:
            return 0.0
        set_rates(self.tree, self.state, self.rates, vector)
        pairs = enumerate(zip(self.sections, self.rates.parts, strict=True))
        self._rates = [rod.rates(self.state, i, w.y) for i, (rod, w) in pairs]
        (energy, mass), (other, moved) = (self._energies(*place, vector) for place in self.places)
        shape = (other - energy - eigenvalue * (moved - mass)) / self.shift
        parts = np.array([-shape, *self._defect(eigenvalue)])
        size = np.hypot(parts.sum(), _KEPT * np.linalg.norm(parts))
        return float(size / (2.0 * abs(eigenvalue)))

    # -- passes ----------------------------------------------------------------------------------------

    def _displace(self, places: list[Array], frames: list[Array], x: Array) -> list[Array]:
        """Displacements (F + S, 6), world frame, of a mode at given stations and sections."""
        moves: list[Array] = []
        self._bases, self._starts = [], []
        for i, (part, rod) in enumerate(zip(self.tree.parts, self.sections, strict=True)):
            at, start, base = self.state.parts[i], np.zeros(6), self.state.parts[i].base
            if part.parent >= 0:
                start = moves[part.parent][part.mount]
                base = places[part.parent][part.mount] @ part.pose @ at.turn
            if part.joint.nv:
                start = start + se3.Ad(base) @ (at.S @ x[part.joint_index])
            self._bases.append(base)
            self._starts.append(start)
            z = np.empty_like(rod.z)
            strain = self._rates[i][1]
            turned = np.einsum("sij,sj->si", se3.Ad(frames[i]), strain) if len(strain) else strain
            integrate(rod.panels, turned, start, z)
            moves.append(z)
        return moves

    def _act(self, places: list[Array], moves: list[Array], scale: float) -> None:
        """Let everything act on the robot displaced by scale times `moves`, in `work`."""
        for at, to, g, z in zip(self.state.parts, self.displaced.parts, places, moves, strict=True):
            to.g[...] = se3.exp(scale * z[: len(g)]) @ g
            to.strain.e[...] = at.strain.e
        self.displaced.renew()
        self.work.clear(False)
        meet_at_rest(self.work, self.displaced)
        moment = Moment(self.tree, self.displaced, self.work, self.still.inputs.u, self.still.z)
        for term in self.effects.terms:
            term.act(moment)

    def _wrenches(self, frames: list[Array], moves: list[Array], scale: float) -> list[Array]:
        """Internal wrenches (1 + S, 6) of each part at base and sections, under what `_act` found."""
        for rod in self.sections:
            rod.carried[...] = 0.0
        found = [np.zeros((1 + len(rod.W), 6)) for rod in self.sections]
        for i in range(len(self.tree.parts) - 1, -1, -1):
            part, rod, z = self.tree.parts[i], self.sections[i], moves[i]
            g = self.displaced.parts[i].g
            sections = np.ascontiguousarray(se3.exp(scale * z[len(g) :]) @ frames[i])
            base = np.ascontiguousarray(se3.exp(scale * self._starts[i]) @ self._bases[i])
            rod.set_wrenches(g, self.work.parts[i].p, base, sections, found[i][1:])
            found[i][0] = se3.Ad(base).T @ rod.total
            if part.parent >= 0:
                self.sections[part.parent].carried[part.mount] += rod.total
        return found

    def _changes(
        self, places: list[Array], frames: list[Array], moves: list[Array], inertia: float
    ) -> list[Array]:
        """Derivative (1 + S, 6) of the wrenches at base and sections along a mode, with inertia."""
        scale = _SMALL / max(max(np.abs(z).max(initial=0.0) for z in moves), 1e-300)
        ends = []
        for h in (scale, -scale):
            self._act(places, moves, h)
            for part, w, g, z in zip(self.tree.parts, self.work.parts, places, moves, strict=True):
                n = part.inertial
                eta = np.einsum("sij,sj->si", se3.Ad(se3.inverse(g[:n])), z[:n])
                w.p[:n] -= h * inertia * part.M * eta
            ends.append(self._wrenches(frames, moves, h))
        return [(a - b) / (2.0 * scale) for a, b in zip(*ends, strict=True)]

    def _energies(self, places: list[Array], frames: list[Array], x: Array) -> tuple[float, float]:
        """Energy of a mode without that of its strains, which is the same everywhere, and its mass."""
        moves = self._displace(places, frames, x)
        energy = mass = 0.0
        changes = self._changes(places, frames, moves, 0.0)
        for i, (part, dW) in enumerate(zip(self.tree.parts, changes, strict=True)):
            work = np.sum(self.sections[i].felt * self._rates[i][1] * dW[1:], axis=1)
            energy -= float(self.sections[i].w @ work)
            energy -= float(self.state.parts[i].S @ x[part.joint_index] @ dW[0])
        for part, g, z in zip(self.tree.parts, places, moves, strict=True):
            n = part.inertial
            eta = np.einsum("sij,sj->si", se3.Ad(se3.inverse(g[:n])), z[:n])
            mass += float(np.sum(part.M * eta**2))
        return energy, mass

    def _defect(self, eigenvalue: float) -> tuple[float, float]:
        """Energies of what coordinates and force fields cannot represent of the mode in `rates`."""
        places, frames = self.places[0]
        moves, energy, missed = [], 0.0, 0.0
        for i, w in enumerate(self.rates.parts):
            both = np.concatenate([places[i], frames[i]])
            eta = np.concatenate([w.eta, self._rates[i][0]])
            moves.append(np.einsum("sij,sj->si", se3.Ad(both), eta))
        changes = self._changes(places, frames, moves, eigenvalue)
        for i, (rod, dW) in enumerate(zip(self.sections, changes, strict=True)):
            if not len(rod.s):
                continue
            law, rows = self._law_strains(i, rod), rod.part.field_rows
            rod.d[...] = rod.felt * (rod.soft * dW[1:] - law)
            gap = (law - self._map_strains(i, rod))[:, rows]
            missed += 2.0 * float(rod.w @ np.sum(dW[1:, rows] * gap, axis=1))
            if len(rod.slope):
                rod.soften()
            stiff = np.divide(1.0, rod.soft, out=np.zeros_like(rod.soft), where=rod.soft > 0.0)
            energy += float(rod.w @ np.sum(stiff * rod.d**2, axis=1))
        return energy, missed

    def _map_strains(self, i: int, rod: Sections) -> Array:
        """Strains (S, 6) of the mode as the map of a rod has them."""
        if rod.from_rule is not None:
            return np.asarray(rod.from_rule @ self.rates.parts[i].rate)
        return self._rates[i][1]

    def _law_strains(self, i: int, rod: Sections) -> Array:
        """Strains (S, 6) of the mode as the laws of a rod mean them."""
        strain, rows = self._map_strains(i, rod), rod.part.field_rows
        e = rod.natural + strain
        # force fields are found from the strains of the strain rule
        self.displaced.parts[i].strain.e[...] = self.tree.rest.parts[i].strain.e
        self.displaced.parts[i].strain.e += self.rates.parts[i].rate
        for term in self.effects.terms:
            term.correct_strains(i, self.displaced, rod.s, e)
        own = np.einsum("sij,sj->si", rod.slope, strain) if len(rod.slope) else 0.0
        found = strain + rod.soft * own
        found[:, rows] = (e - rod.natural)[:, rows]
        return found
