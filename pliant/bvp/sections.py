"""Sections of a chain at stations: data, what acts, jumps, and the law of the coming instant.

What acts along the rods is added to arrays that kernels read at every station:

    line wrench per length    columns FORCE_WORLD ... MASS_DAMPING of the table
    stress                    C, D, natural and active of the law m = C (xi - natural) + D xi_t + active
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.bvp import rod_equations as eq
from pliant.bvp.chain import Chain
from pliant.bvp.jump_conditions import compile_jumps, point_wrenches
from pliant.bvp.pointwise_effects import OwnEffects
from pliant.lie.tuples import Array
from pliant.model.pointwise import LineStress, LineWrench
from pliant.rods.contract import Ints


class Sections:
    """A chain at S stations, in the order of its pieces.

    piece : (S,) piece of each station.  s : (S,) arclength on its rod, m.  inside : the same, where
    data are read: within its piece.  rows : stations of each piece.
    C, D, natural, M, active : (S, 6) stiffness, damping, strain at rest, inertia per length and
    stress of the inputs.  rigid : (S,) True where the rod neither shears nor stretches.
    table : (S, 44) what kernels read, see `rod_equations`.  jumps : see `jump_conditions`.
    own : effects in plain Python, None if there are none.
    """

    def __init__(self, chain: Chain, piece: Ints, s: Array) -> None:
        self.chain, self.piece, self.s = chain, piece, s
        ends = np.searchsorted(piece, np.arange(len(chain.pieces) + 1))
        self.rows = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.C, self.D, self.natural, self.M, self.active = np.zeros((5, len(s), 6))
        self.rigid, self.table = np.zeros(len(s), dtype=bool), np.zeros((len(s), eq.COLUMNS))
        self.inside = s.copy()
        for part, rows in zip(chain.pieces, self.rows, strict=True):
            rod, at = part.rod, part.inside(s[rows])
            self.inside[rows] = at
            self.C[rows], self.natural[rows] = rod.stiffness(at), rod.natural_strain(at)
            self.D[rows], self.M[rows] = rod.damping(at), rod.inertia(at)
            self.rigid[rows] = rod.theory == "kirchhoff"
            self.table[rows, eq.DRAG : eq.DRAG + 3] = rod.drag_coefficients()
            self.table[rows, eq.MASS_DAMPING] = rod.mass_damping
        self.table[:, eq.ROTARY : eq.MASS + 1] = self.M[:, :4]
        self.jumps = compile_jumps(chain)
        self.own = OwnEffects(self, chain.own) if chain.own else None
        self._given: list[Array] | None = None

    @property
    def follower(self) -> Array:
        """Wrench per length (S, 6) that turns with the sections, a view of the table."""
        return self.table[:, eq.MOMENT_BODY : eq.DRAG]

    @property
    def law(self) -> tuple[Array, ...]:
        """The constants of the law that kernels read."""
        return self.C, self.D, self.natural, self.rigid, self.active

    def covered(self, form: LineWrench | LineStress) -> Iterator[tuple[slice, Array, float]]:
        """Stations where something along a rod acts, piece by piece, their arclengths, and its rod's
        length.

        Pieces are cut where it ends: at an end of a piece, what counts is its inside.
        """
        for piece, rows in zip(self.chain.pieces, self.rows, strict=True):
            start, end = form.over or (0.0, piece.rod.length)
            if piece.rod.name == form.part and start < 0.5 * (piece.a + piece.b) < end:
                inner = 1e-9 * piece.length
                s = np.clip(self.inside[rows], piece.a + inner, piece.b - inner)
                yield rows, s, piece.rod.length

    def load(self, values: Mapping[str, Any], share: float = 1.0) -> None:
        """Apply `share` of gravity and of what acts for input values by name.

        The law of rods under stress changes with it: set the history, or `rest`, afterwards.
        """
        chain = self.chain
        if self.own is not None:
            self.own.set_inputs(values, share)
        names = [*(form.name for form in chain.points), *(form.name for form in chain.along)]
        given = [np.array(x, dtype=float) for x in (share, *(values[name] for name in names))]
        if self._given is not None and all(map(np.array_equal, self._given, given)):
            return
        self._given = given
        gravity = share * np.asarray(chain.description.gravity)
        self.table[:, eq.FORCE_WORLD : eq.DRAG], self.active[:] = 0.0, 0.0
        self.table[:, eq.FORCE_WORLD : eq.FORCE_WORLD + 3] = self.M[:, 3:4] * gravity
        for line in chain.lines:
            moment, force = (
                (eq.MOMENT_WORLD, eq.FORCE_WORLD) if line.world else (eq.MOMENT_BODY, eq.FORCE_BODY)
            )
            for rows, s, _ in self.covered(line):
                density = share * line.density(s, values[line.name])
                self.table[rows, moment : moment + 3] += density[:, :3]
                self.table[rows, force : force + 3] += density[:, 3:]
        for stress in chain.stresses:
            for rows, s, length in self.covered(stress):
                self.active[rows] -= share * float(values[stress.name]) * stress.sweep(s, length)
        if self.own is not None:
            self.own.keep_follower_loads()
        self.jumps.gravity[:] = gravity
        self.jumps.wrenches[:, 3:] = share * point_wrenches(chain, values)

    def forget_loads(self) -> None:
        """Apply the loads anew the next time: a kernel has changed them."""
        self._given = None

    def loads_move(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether what acts along the rods differs between sets of input values."""
        others = [later for later in values if later is not values[0]]
        names = [*(form.name for form in self.chain.along), *(own.name for own in self.chain.own)]
        return any(
            not np.array_equal(later.get(name, 0.0), values[0].get(name, 0.0))
            for later in others
            for name in names
        )

    def wrench(self, strain: Array, rate: Array) -> Array:
        """Internal wrench (S, 6) of strains and their rates (S, 6) under the inputs that act now.

        NaN where rods neither shear nor stretch, for which there is no law.
        """
        found = self.C * (strain - self.natural) + self.D * rate + self.active
        if self.own is not None:
            found += [self.own.stress(k, 0.0, e)[0] for k, e in enumerate(strain)]
        found[self.rigid, 3:] = np.nan
        return found

    def conservative(self, values: Mapping[str, Any]) -> bool:
        """Tell whether all loads have a potential: no follower loads, no dead moments."""
        point = point_wrenches(self.chain, values)
        if self.own is not None or point[:, :3].any() or point[:, 6:].any():
            return False
        for line in self.chain.lines:
            for _, s, _ in self.covered(line):
                density = line.density(s, values[line.name])
                if density[:, :3].any() or (density.any() and not line.world):
                    return False
        return True

    def rest(self) -> None:
        """No motion: the law without damping, no history."""
        zero = np.zeros_like(self.C)
        self.set_history(0.0, zero, zero, np.zeros_like(self.jumps.history))

    def set_history(self, c0: float, strain: Array, velocity: Array, bodies: Array) -> None:
        """Set c0 and the histories H (S, 6) of strain and velocity, and of bodies (B, 6)."""
        self.table[:, 12:18], self.table[:, 18:24] = strain, velocity
        eq.write_law(c0, *self.law, self.table)
        self.jumps.history[:] = bodies

    def places(self, kind: int, first: Any, last: Any) -> Ints:
        """Where each point load or body sits, given the first and last place (P,) of each piece."""
        sites = self.chain.sites(kind)
        return np.array([(last if end else first)[k] for k, end in sites], dtype=np.int64)
