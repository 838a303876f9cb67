"""Sections of a chain at stations: data, loads, jumps, and the law of the coming instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.jump_conditions import compile_jumps, point_wrenches
from pliant.bvp.pointwise_effects import LAWS, LOADS, OwnEffects, along_rods
from pliant.bvp.rod_equations import COLUMNS, DRAG, FORCE_WORLD, write_law
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints


class Sections:
    """A chain at S stations, in the order of its pieces.

    piece : (S,) piece of each station.  s : (S,) arclength on its rod, m.  rows : stations of each
    piece.  C, D, natural, M, active : (S, 6) stiffness, damping, strain at rest, inertia per length and
    wrench that chambers carry.  rigid : (S,) True where the rod neither shears nor stretches.
    table : (S, 44) what kernels read, see `rod_equations`.  jumps : see `jump_conditions`.
    own : effects in plain Python, None if there are none.
    """

    def __init__(self, chain: Chain, piece: Ints, s: Array) -> None:
        self.chain, self.piece, self.s = chain, piece, s
        size = len(s)
        ends = np.searchsorted(piece, np.arange(len(chain.pieces) + 1))
        self.rows = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.C, self.D, self.natural, self.M, self.active = (np.zeros((size, 6)) for _ in range(5))
        self.rigid = np.zeros(size, dtype=bool)
        self.table = np.zeros((size, COLUMNS))
        for part, rows in zip(chain.pieces, self.rows, strict=True):
            for law in LAWS:
                law(self, rows, part.rod, s[rows])
        self.jumps = compile_jumps(chain)
        self.own = OwnEffects(self, chain.effects) if chain.effects else None
        self._given: list[Array] | None = None

    def load(self, values: Mapping[str, Any], share: float = 1.0) -> None:
        """Apply `share` of gravity, loads and pressures for input values by name.

        The law of pressurised rods changes with it: set the history, or `rest`, afterwards.
        """
        description = self.chain.description
        names = [*description.loads, *description.chambers]
        if self.own is not None:
            self.own.set_inputs(values, share)
        given = [np.array(x, dtype=float) for x in (share, *(values[name] for name in names))]
        if self._given is not None and all(map(np.array_equal, self._given, given)):
            return
        self._given = given
        self.table[:, FORCE_WORLD:DRAG] = 0.0
        self.active[:] = 0.0
        for act in LOADS:
            act(self, values, share)
        if self.own is not None:
            self.own.keep_follower_loads()
        self.jumps.gravity[:] = share * np.asarray(description.gravity)
        self.jumps.loads[:, 3:] = share * point_wrenches(self.chain, values)

    def forget_loads(self) -> None:
        """Apply the loads anew the next time: a kernel has changed them."""
        self._given = None

    def loads_move(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether what acts along the rods differs between sets of input values."""
        others = [later for later in values if later is not values[0]]
        names = along_rods(self.chain)
        return any(
            not np.array_equal(later.get(name, 0.0), values[0].get(name, 0.0))
            for later in others
            for name in names
        )

    def rest(self) -> None:
        """No motion: the law without damping, no history."""
        zero = np.zeros_like(self.C)
        self.set_history(0.0, zero, zero, np.zeros_like(self.jumps.history))

    def set_history(self, c0: float, strain: Array, velocity: Array, bodies: Array) -> None:
        """Set c0 and the histories H (S, 6) of strain and velocity, and of bodies (B, 6)."""
        law = (self.C, self.D, self.natural, self.rigid, self.active)
        self.table[:, 12:18], self.table[:, 18:24] = strain, velocity
        write_law(c0, *law, self.table)
        self.jumps.history[:] = bodies

    def places(self, kind: int, first: Any, last: Any) -> Ints:
        """Where each point load or body sits, given the first and last place (P,) of each piece."""
        sites = self.chain.sites(kind)
        return np.array([(last if end else first)[k] for k, end in sites], dtype=np.int64)
