"""Internal wrenches from the balance of what lies beyond a section, for any formulation and theory.

The wrench that the part beyond s exerts on the section at s equals the sum of all that acts on that
part from outside: every effect along the rod or at its frames, and what carried parts pass on; in
motion less what accelerates it.
"""

from __future__ import annotations

import numpy as np

from pliant.model import Array, Rod
from pliant.physics.contract import Moment, Sections
from pliant.physics.inertia import add_inertia
from pliant.solve.inverse_dynamics import Instant, at_origin, section_motion
from pliant.solve.sampling import Sampler
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.work import Work

_PANELS = 48
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class BeyondSections:
    """External wrenches on every part at one instant, in the world frame about its origin.

    u (J,) numbers of the inputs, z (total,) multipliers.  moving : None of an equilibrium.  memory :
    what terms remember of the way to an equilibrium, see `Moment`.
    """

    def __init__(
        self,
        sampler: Sampler,
        q: Array,
        u: Array,
        z: Array,
        moving: Instant | None = None,
        memory: Array | None = None,
    ) -> None:
        self.sampler, self.effects = sampler, sampler.effects
        self.tree = self.effects.tree
        self.q, self.u, self.moving = q, u, moving
        state = State(self.tree).place(q)
        self.points: list[list[tuple[float, Array]]] = [[] for _ in self.tree.parts]
        v = None if moving is None else moving.v
        recorded = None if moving is None else moving.recorded
        moment = Moment(
            self.tree, state, Work(self.tree), u, z, v, recorded=recorded, memory=memory
        )
        if v is not None:
            set_rates(self.tree, state, moment.work, v, strains=False)
        for term in self.effects.terms:
            for i, station, wrench in term.wrenches_at(moment):
                world = at_origin(state.parts[i].g[[station]], wrench[None])[0]
                self.points[i].append((float(self.tree.parts[i].frames_s[station]), world))
        if moving is not None:
            for part, own, bodies in zip(self.tree.parts, self.points, moving.points, strict=True):
                at = part.frames_s[len(part.mass_w) : part.inertial].tolist()
                own += [(s, -wrench) for s, wrench in zip(at, bodies, strict=True)]
        for i in range(len(self.tree.parts) - 1, -1, -1):
            part = self.tree.parts[i]
            if part.parent >= 0:
                carrier = self.tree.parts[part.parent]
                s = float(carrier.frames_s[part.mount])
                self.points[part.parent].append((s, self._beyond(i, np.zeros(1))[0]))

    def wrench(self, rod: Rod, s: Array) -> Array:
        """Return the internal wrench (S, 6) = (m, n) at s (S,), body frame, N m and N."""
        total = self._beyond(self.tree.number_of(rod.name), s)
        g = self.sampler.poses(self.q, rod.name, s)
        moment = total[:, :3] - np.cross(g[:, :3, 3], total[:, 3:])
        turned = [np.einsum("sji,sj->si", g[:, :3, :3], half) for half in (moment, total[:, 3:])]
        return np.concatenate(turned, axis=1)

    def _beyond(self, i: int, s: Array) -> Array:
        """The wrench (S, 6) on what lies beyond each s of part i, world frame about the origin."""
        part = self.tree.parts[i]
        out = np.zeros((len(s), 6))
        if part.rod is not None:
            out = self._line(i, part.rod, s)
        for at, wrench in self.points[i]:
            out[s <= at + 1e-12 * part.length] += wrench
        return out

    def _line(self, i: int, rod: Rod, s: Array) -> Array:
        """What acts along rod i beyond each s."""
        ends = [term.line_ends(i) for term in self.effects.terms]
        ends.append(tuple(self.tree.parts[i].map.breaks))
        edges = np.unique(np.concatenate([np.linspace(0.0, rod.length, _PANELS + 1), s, *ends]))
        half = 0.5 * np.diff(edges)
        where = (0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * _NODES).ravel()
        density = self._density(i, rod, where) * (half[:, None] * _WEIGHTS).ravel()[:, None]
        panels = density.reshape(len(half), -1, 6).sum(axis=1)
        tails = np.concatenate([np.cumsum(panels[::-1], axis=0)[::-1], np.zeros((1, 6))])
        return np.asarray(tails[np.searchsorted(edges, s)])

    def _density(self, i: int, rod: Rod, s: Array) -> Array:
        """All that acts per metre (S, 6), world frame about the origin."""
        g = self.sampler.poses(self.q, rod.name, s)
        total, twist = np.zeros((len(s), 6)), None
        if self.moving is not None:
            twist, rate = section_motion(self.sampler, self.moving, rod.name, s)
            M = self.tree.parts[i].map.inertia(s)
            add_inertia(M, twist, rate, 0.0, 0.0, False, total, np.zeros((0, 6, 6)))
            total *= -1.0
        sections = Sections(g, twist)
        for term in self.effects.terms:
            wrench = term.line_wrench(i, s, sections, self.u)
            if wrench is not None:
                total += wrench
        return at_origin(g, total)
