"""A chain of rods on Chebyshev grids: section data, unknowns, how many points, maps between grids.

A function is resolved when its coefficients have fallen below a tolerance before the last one. The
integrated moments and forces live on the grid, which is finer than the nodes, so that they tell how
many nodes are needed; the grid itself is read from quaternions, strains and internal loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.bvp.chain import WRENCH, Chain
from pliant.bvp.collocation.chebyshev import between, integration, points, to_coefficients
from pliant.bvp.collocation.integrals import Shape
from pliant.bvp.energy_balance import Balance, new_balance
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

    orders : of each piece.  matrices : of each piece, those of `Layout` in its order.
    base_unknowns, tip_unknowns : at the beginning and end of the vector.
    unknowns : in all.  weights : (G,) of the integral over all pieces, m.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], ends: tuple[int, int]) -> None:
        self.orders = list(orders)
        self.base_unknowns, self.tip_unknowns = ends
        pairs = list(zip(chain.pieces, self.orders, strict=True))
        self.layout = self._layout(chain)
        self.unknowns = ends[0] + ends[1] + sum(3 * (o.moment + o.force) for o in self.orders)
        self.weights = np.concatenate(
            [0.5 * piece.length * integration(o.grid)[-1] for piece, o in pairs]
        )
        super().__init__(
            chain,
            np.repeat(np.arange(len(pairs)), [order.grid for order in self.orders]),
            np.concatenate([points(o.grid, piece.a, piece.b) for piece, o in pairs]),
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
        sites = self.places(WRENCH, first[:-1], first[1:] - 1)
        return new_balance(self, totals, self.weights, sites, line, self.weights)

    def scale(self) -> Array:
        """Units (U,) of the balance equations, and of the unknowns: N m, N; 1 at the ends."""
        found = np.ones(self.unknowns)
        for k, order in enumerate(self.orders):
            a, b = int(self.layout.moment_at[k]), int(self.layout.force_at[k])
            found[a : a + 3 * order.moment] = self.chain.scale[0]
            found[b : b + 3 * order.force] = self.chain.scale[3]
        return found

    def _layout(self, chain: Chain) -> Layout:
        """Note the matrices of each piece, and return what kernels read."""
        moments, forces, grids = np.array(self.orders).T
        place = self.base_unknowns + 3 * np.cumsum([0, *(moments + forces)])[:-1]
        self.matrices = [
            _matrices(piece.length, o) for piece, o in zip(chain.pieces, self.orders, strict=True)
        ]
        groups = list(zip(*self.matrices, strict=True))
        at = [np.cumsum([0, *(m.size for m in group[:-1])]) for group in groups]
        flat = [np.concatenate([m.ravel() for m in group]) for group in groups]
        first = np.cumsum([0, *grids])
        nodes = moments, forces, place, place + 3 * moments
        return Layout._make([first, *nodes, *flat, np.array(at)])


def _matrices(length: float, order: Order) -> list[Array]:
    """Integration, grid to moment nodes and back, grid to force nodes and back, of one piece."""
    found = [0.5 * length * integration(order.grid)]
    for nodes in (order.moment, order.force):
        found.append(between(order.grid, nodes) if nodes else np.zeros((0, order.grid)))
        found.append(between(nodes, order.grid) if nodes else np.zeros((order.grid, 0)))
    return found


def on_grid(old: Grid, new: Grid, values: Array) -> Array:
    """Values (G, c) on the grid of other orders."""
    parts = [
        values[rows] if a.grid == b.grid else between(a.grid, b.grid) @ values[rows]
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
                values = between(n, m) @ x[of : of + 3 * n].reshape(n, 3)
                found[to : to + 3 * m] = values.ravel()
    return found


# -- numbers of points ---------------------------------------------------------------------------

FIRST = Order(10, 4, 20)
FEWEST = Order(4, 4, 12)
LARGEST = 320
NOISE = 1e4
SPARE = 4
"""Points more than needed that a grid gets, and multiple to which it is rounded."""


def needed(values: Array, size: float) -> int:
    """Coefficients of functions (c, K), given on the grid, that are not below `size`, at most K."""
    K = values.shape[1]
    coefficients = np.abs(values @ to_coefficients(K).T).max(axis=0)
    rest = np.maximum.accumulate(coefficients[::-1])[::-1]
    if rest[-1] > size and rest[K // 2] < min(5.0 * rest[-1], NOISE * size):
        size = (
            5.0 * rest[-1]
        )  # a level that does not fall is rounding, which more points do not cure
    return max(1, int(np.sum(rest > size)))


@dataclass(frozen=True)
class Policy:
    """Which numbers of points are given and which are chosen.

    force, moment, grid : None to choose.  tolerance : relative size of what is left out.
    """

    force: int | None
    moment: int | None
    grid: int | None
    tolerance: float

    @property
    def fixed(self) -> bool:
        """True if nothing is chosen."""
        return bool(self.force and self.moment and self.grid)

    def first(self, rigid: bool) -> Order:
        """Order of a piece to begin with."""
        moment = self.moment or FIRST.moment
        force = 0 if rigid else (self.force or FIRST.force)
        return Order(moment, force, self.grid or max(FIRST.grid, moment + SPARE, force + SPARE))

    def wanted(self, grid: Grid, shape: Shape) -> list[Order]:
        """Least orders that resolve what is on the grid; a grid of which the last coefficient still
        counts is made larger by half.
        """
        found = []
        scale = grid.chain.scale
        R = shape.R.reshape(3, 3, -1)
        m = np.einsum("jig,jg->ig", R, shape.M)
        sizes = (
            self.tolerance * max(scale[0], float(np.abs(m).max())),
            self.tolerance * max(scale[3], float(np.abs(shape.N).max())),
        )
        for part, order, piece in zip(grid.rows, grid.orders, grid.chain.pieces, strict=True):
            moment = needed(m[:, part], sizes[0])
            force = needed(shape.N[:, part], sizes[1])
            excess = shape.strain[:, part] - grid.natural[part].T
            strain = excess * np.array([piece.length] * 3 + [1.0] * 3)[:, None]
            points = max(
                moment,
                force,
                needed(shape.h[:, part], self.tolerance),
                needed(strain, self.tolerance),
            )
            points = int(1.5 * order.grid) if points > order.grid - 2 else points
            found.append(self._order(order, moment, force, points))
        return found

    def _order(self, order: Order, moment: int, force: int, points: int) -> Order:
        moment = self.moment or min(moment, LARGEST)
        force = 0 if order.force == 0 else (self.force or min(force, LARGEST))
        return Order(moment, force, self.grid or min(max(points, moment, force), LARGEST))

    def grown(self, now: list[Order], wanted: list[Order]) -> list[Order] | None:
        """Orders with some to spare where more are wanted than there are, or None."""
        grown = [self._grown(a, b) for a, b in zip(now, wanted, strict=True)]
        return None if grown == now else grown

    def _grown(self, now: Order, wanted: Order) -> Order:
        moment, force, grid = (
            a if b <= a else _rounded(b) for a, b in zip(now, wanted, strict=True)
        )
        if self.moment:
            moment = now.moment
        if self.force or not now.force:
            force = now.force
        grid = now.grid if self.grid else min(max(grid, moment, force), LARGEST)
        return Order(min(moment, LARGEST), min(force, LARGEST), grid)

    def shrunk(self, now: list[Order], wanted: list[Order]) -> list[Order] | None:
        """Orders with some to spare where far fewer would do, or None."""
        least = [FEWEST._replace(force=min(FEWEST.force, order.force)) for order in now]
        rounded = [self._grown(a, b) for a, b in zip(least, wanted, strict=True)]
        fewer = [
            Order(
                self.moment or min(a.moment, b.moment),
                self.force if self.force and a.force else min(a.force, b.force),
                self.grid or min(a.grid, b.grid),
            )
            for a, b in zip(now, rounded, strict=True)
        ]
        before = sum(a.grid + a.moment + a.force for a in now)
        after = sum(b.grid + b.moment + b.force for b in fewer)
        return fewer if after < 0.75 * before else None


def _rounded(count: int) -> int:
    return SPARE * -(-(count + SPARE) // SPARE)
