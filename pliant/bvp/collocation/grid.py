"""A chain of rods on Chebyshev grids: section data, unknowns, and the maps between grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.bvp.chain import LOAD, Chain
from pliant.bvp.collocation import chebyshev
from pliant.bvp.energy_balance import Balance, new_balance
from pliant.bvp.rod_equations import FORCE_BODY, MOMENT_BODY
from pliant.bvp.sections import Sections
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints


class Order(NamedTuple):
    """Numbers of points in one piece.

    moment, force : nodes at which internal moment and force are unknown; force is 0 for a rod that
    neither shears nor stretches.  grid : points at which states and their histories are kept.
    """

    moment: int
    force: int
    grid: int


class Layout(NamedTuple):
    """Where things are, for P pieces with G grid points and U unknowns in all.

    first : (P + 1,) first grid point of each piece.  moment, force : (P,) nodes of each piece.
    moment_at, force_at : (P,) first unknown of each.  Q, to_moment, from_moment, to_force,
    from_force : matrices of all pieces one after another, that of piece k from at[k] on, for
    integration from the start of the piece (metres), grid to nodes and nodes to grid.
    at : (5, P) these beginnings.
    """

    first: Ints
    moment: Ints
    force: Ints
    moment_at: Ints
    force_at: Ints
    Q: Array
    to_moment: Array
    from_moment: Array
    to_force: Array
    from_force: Array
    at: Ints


class Grid(Sections):
    """The chain on its grids, whose points are the stations.

    orders : of each piece.  base_unknowns, tip_unknowns : at the beginning and end of the vector.
    unknowns : in all.  weights : (G,) of the integral over all pieces, m.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], ends: tuple[int, int]) -> None:
        self.orders = list(orders)
        self.base_unknowns, self.tip_unknowns = ends
        pairs = list(zip(chain.pieces, self.orders, strict=True))
        self.layout = self._layout(chain)
        self.unknowns = ends[0] + ends[1] + sum(3 * (o.moment + o.force) for o in self.orders)
        self.weights = np.concatenate(
            [0.5 * piece.length * chebyshev.integration(o.grid)[-1] for piece, o in pairs]
        )
        super().__init__(
            chain,
            np.repeat(np.arange(len(pairs)), [order.grid for order in self.orders]),
            np.concatenate([chebyshev.points(o.grid, piece.a, piece.b) for piece, o in pairs]),
        )
        self.rest()

    @property
    def size(self) -> int:
        """Number of grid points."""
        return len(self.s)

    def balance(self, totals: Array) -> Balance:
        """An energy balance with the weights of the grid."""
        first = self.layout.first
        line = np.stack([np.arange(self.size)] * 2, axis=1)
        sites = self.places(LOAD, first[:-1], first[1:] - 1)
        return new_balance(self, totals, self.weights, sites, line, self.weights)

    def follows(self) -> bool:
        """True if loads along the rods turn with the sections."""
        return bool(self.table[:, MOMENT_BODY : FORCE_BODY + 3].any())

    def scale(self) -> Array:
        """Units (U,) of the balance equations, and of the unknowns: N m, N; 1 at the ends."""
        found = np.ones(self.unknowns)
        for k, order in enumerate(self.orders):
            a, b = int(self.layout.moment_at[k]), int(self.layout.force_at[k])
            found[a : a + 3 * order.moment] = self.chain.scale[0]
            found[b : b + 3 * order.force] = self.chain.scale[3]
        return found

    def _layout(self, chain: Chain) -> Layout:
        matrices: list[list[Array]] = [[], [], [], [], []]
        place = self.base_unknowns
        moment_at, force_at = [], []
        for piece, order in zip(chain.pieces, self.orders, strict=True):
            moment_at.append(place)
            force_at.append(place + 3 * order.moment)
            place += 3 * (order.moment + order.force)
            matrices[0].append(0.5 * piece.length * chebyshev.integration(order.grid))
            for nodes, which in ((order.moment, 1), (order.force, 3)):
                if nodes:
                    matrices[which].append(chebyshev.between(order.grid, nodes))
                    matrices[which + 1].append(chebyshev.between(nodes, order.grid))
                else:
                    matrices[which].append(np.zeros((0, order.grid)))
                    matrices[which + 1].append(np.zeros((order.grid, 0)))
        at = [np.cumsum([0, *(m.size for m in group[:-1])]) for group in matrices]
        flat = [np.concatenate([m.ravel() for m in group]) for group in matrices]
        return Layout._make(
            [
                np.cumsum([0, *(order.grid for order in self.orders)]),
                np.array([order.moment for order in self.orders]),
                np.array([order.force for order in self.orders]),
                np.array(moment_at),
                np.array(force_at),
                *flat,
                np.array(at),
            ]
        )


def on_grid(old: Grid, new: Grid, values: Array) -> Array:
    """Values (G, c) on the grid of other orders."""
    parts = [
        values[rows] if a.grid == b.grid else chebyshev.between(a.grid, b.grid) @ values[rows]
        for rows, a, b in zip(old.rows, old.orders, new.orders, strict=True)
    ]
    return np.concatenate(parts)


def moved_unknowns(old: Grid, new: Grid, x: Array) -> Array:
    """Unknowns (U,) on the nodes of other orders."""
    found = np.zeros(new.unknowns)
    found[: old.base_unknowns] = x[: old.base_unknowns]
    found[new.unknowns - new.tip_unknowns :] = x[old.unknowns - old.tip_unknowns :]
    for k, (a, b) in enumerate(zip(old.orders, new.orders, strict=True)):
        for n, m, of, to in (
            (a.moment, b.moment, old.layout.moment_at[k], new.layout.moment_at[k]),
            (a.force, b.force, old.layout.force_at[k], new.layout.force_at[k]),
        ):
            if n and m:
                values = chebyshev.between(n, m) @ x[of : of + 3 * n].reshape(n, 3)
                found[to : to + 3 * m] = values.ravel()
    return found
