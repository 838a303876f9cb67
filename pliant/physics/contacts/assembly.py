"""From rows between stations of a pool to the residual and the tangent of the robot.

Kernels take covectors (M, 4, 6) and blocks (M, 24, 24) in the body twists of the stations `at` (M, 4)
of each row, and Jacobians (P, 6, c) of the stations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.physics.contacts.found import SIDES
from pliant.physics.contacts.pool import Pool
from pliant.rods.contract import Ints
from pliant.tree.tangent import Pair, Tangent

_SIDES = SIDES


class Slots(NamedTuple):
    """Where rows and forms stand in the entries of a tangent.

    row_block (M, P), form_block (P, P) : number of the block of a row and a station, and of two
    stations, -1 where there is none.  down, up (B, 1, c) : rows, and the same as columns.  form
    (C, c, c).  own (M, 1, 1) : a row and its own multiplier.
    """

    row_block: Ints
    form_block: Ints
    down: Ints
    up: Ints
    form: Ints
    own: Ints


class Pattern:
    """Which stations of a pool each row may meet: meets (M, P), True or False.

    multipliers : whether rows have unknowns of their own.
    """

    def __init__(self, pool: Pool, meets: Ints, multipliers: bool) -> None:
        self.pool, self.multipliers = pool, multipliers
        self.row_block = np.where(meets, np.cumsum(meets).reshape(meets.shape) - 1, -1)
        together = (meets.T.astype(np.int64) @ meets.astype(np.int64)) > 0
        self.form_block = np.where(
            together, np.cumsum(together).reshape(together.shape) - 1, -1
        ).astype(np.int64)
        self._meets, self._together = np.argwhere(meets), np.argwhere(together)

    def pairs(self, rows: Ints) -> list[Pair]:
        """Blocks of the tangent: rows against stations, their mirror images, forms, own ones."""
        columns = self.pool.columns
        left, right = (columns[self._together[:, k]] for k in (0, 1))
        if not self.multipliers:
            return [(left, right)]
        many, at = rows[self._meets[:, 0]][:, None], columns[self._meets[:, 1]]
        return [(left, right), (many, at), (at, many), (rows[:, None], rows[:, None])]

    def slots(self, tangent: Tangent, number: int) -> Slots:
        """Those of a tangent, of the effect with a number in it."""
        found, none = tangent.effects[number], np.zeros((0, 1, 0), dtype=np.int64)
        down, up, own = none, none, none
        if self.multipliers:
            down, up, own = found[1], tangent.mirrored(number, 2), found[3]
        return Slots(self.row_block, self.form_block, down, up, found[0], own)


@kernel
def add_wrenches(at, covectors, factor, out):  # type: ignore[no-untyped-def]
    """out[at] (6,) += factor_i covectors_i."""
    for i in range(at.shape[0]):
        if factor[i] != 0.0:
            for k in range(_SIDES):
                if at[i, k] >= 0:
                    for j in range(6):
                        out[at[i, k], j] += factor[i] * covectors[i, k, j]


@kernel
def add_row_blocks(at, covectors, factor, J, row_block, slots, data):  # type: ignore[no-untyped-def]
    """Add factor_i covectors_i . J to row i, or to the column that `slots` have for it."""
    for i in range(at.shape[0]):
        if factor[i] == 0.0:
            continue
        for k in range(_SIDES):
            p = at[i, k]
            if p < 0:
                continue
            block = row_block[i, p]
            for c in range(J.shape[2]):
                slot = slots[block, 0, c]
                if slot >= 0:
                    v = 0.0
                    for j in range(6):
                        v += covectors[i, k, j] * J[p, j, c]
                    data[slot] += factor[i] * v


@kernel
def add_own(factor, slots, data):  # type: ignore[no-untyped-def]
    """Add factor (M,) on the diagonal of the rows."""
    for i in range(factor.shape[0]):
        data[slots[i, 0, 0]] += factor[i]


@kernel
def add_forms(active, left, J, blocks, right, K, form_block, slots, data):  # type: ignore[no-untyped-def]
    """Add J^T blocks_i K of active rows, between stations left (M, 4) and right (M, 4)."""
    product = np.empty((6, J.shape[2]))
    for i in range(left.shape[0]):
        if active[i] == 0.0:
            continue
        for b in range(_SIDES):
            q = right[i, b]
            for a in range(_SIDES):
                p = left[i, a]
                if p >= 0 and q >= 0:
                    block = blocks[i, 6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
                    _add_form(J[p], block, K[q], product, slots[form_block[p, q]], data)


@inner
def _add_form(J, block, K, product, slots, data):  # type: ignore[no-untyped-def]
    """data[slots] += J^T block K, with workspace product (6, c)."""
    width = J.shape[1]
    for j in range(6):
        for c in range(width):
            v = 0.0
            for k in range(6):
                v += block[j, k] * K[k, c]
            product[j, c] = v
    for r in range(width):
        for c in range(width):
            slot = slots[r, c]
            if slot >= 0:
                v = 0.0
                for j in range(6):
                    v += J[j, r] * product[j, c]
                data[slot] += v


@kernel
def add_products(factor, left, right, out):  # type: ignore[no-untyped-def]
    """out (M, 24, 24) += factor_i left_i^T right_i, covectors (M, 4, 6)."""
    for i in range(factor.shape[0]):
        if factor[i] != 0.0:
            for a in range(_SIDES):
                for j in range(6):
                    v = factor[i] * left[i, a, j]
                    if v != 0.0:
                        for b in range(_SIDES):
                            for k in range(6):
                                out[i, 6 * a + j, 6 * b + k] += v * right[i, b, k]


@kernel
def set_rates(at, covectors, twists, out):  # type: ignore[no-untyped-def]
    """out (M,) = sum of covectors . twists (P, 6) of the stations."""
    for i in range(at.shape[0]):
        out[i] = 0.0
        for k in range(_SIDES):
            if at[i, k] >= 0:
                for j in range(6):
                    out[i] += covectors[i, k, j] * twists[at[i, k], j]


@kernel
def set_twists(J, columns, v, out):  # type: ignore[no-untyped-def]
    """out (P, 6) = J v[columns] of rates v (total,)."""
    for p in range(J.shape[0]):
        for j in range(6):
            out[p, j] = 0.0
            for c in range(J.shape[2]):
                if columns[p, c] >= 0:
                    out[p, j] += J[p, j, c] * v[columns[p, c]]


@kernel
def clear_active(active, blocks):  # type: ignore[no-untyped-def]
    """Set blocks (M, 24, 24) of active rows to zero."""
    for i in range(active.shape[0]):
        if active[i] != 0.0:
            for a in range(blocks.shape[1]):
                for b in range(blocks.shape[2]):
                    blocks[i, a, b] = 0.0
