"""How many points: read from the decay of Chebyshev coefficients.

A function is resolved when its coefficients have fallen below a tolerance before the last one. The
integrated moments and forces live on the grid, which is finer than the nodes, so that they tell how
many nodes are needed; the grid itself is read from quaternions, strains and internal loads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.bvp.collocation import chebyshev
from pliant.bvp.collocation.grid import Grid, Order
from pliant.bvp.collocation.kinematics import Shape
from pliant.lie.tuples import Array

FIRST = Order(10, 4, 20)
FEWEST = Order(4, 4, 12)
LARGEST = 320
NOISE = 1e4
SPARE = 4
"""Points more than needed that a grid gets, and multiple to which it is rounded."""


def needed(values: Array, size: float) -> int:
    """Coefficients of functions (c, K), given on the grid, that are not below `size`, at most K."""
    K = values.shape[1]
    coefficients = np.abs(values @ chebyshev.to_coefficients(K).T).max(axis=0)
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
