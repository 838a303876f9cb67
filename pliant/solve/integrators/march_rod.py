"""What compiled steps know of the rod that they move, as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.rods.compiled import CompiledMap
from pliant.rods.contract import Array, Ints
from pliant.system.linear import BandedSymmetric
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import make_tangent


class Parts:
    """The constant arrays of one rod for `march_kernels.march`, in its tuples."""

    def __init__(self, system: System, found: CompiledMap, lag: Array, compliance: Array) -> None:
        self.system, self.block, self.found = system, system.blocks[0], found
        self.compliance = compliance
        block = self.block
        own = np.ascontiguousarray(block.index[:, 6:])
        self.rod = (
            found.ints,
            found.floats,
            found.element,
            own,
            np.ascontiguousarray(block.x_index[6:]),
            np.ascontiguousarray(system.coordinates),
        )
        felt = lag[:, block.mode_rows]
        self.mode_lag = float(felt.mean()) if felt.size else 0.0
        """Mean retardation of the strains that meet stress modes, s."""
        self.law = self._law(lag)
        self.form = self._form(own)

    def rows_of(self, strains: Array, inner: Array) -> Array:
        """Live rows (S, R) of arrays (.., 6) at the strain rule and at the inner stations."""
        rows = list(self.found.rows)
        return np.ascontiguousarray(np.concatenate([strains[:, rows], inner[:, rows]]))

    def _law(self, lag: Array) -> tuple[Any, ...]:
        block, system = self.block, self.system
        none = np.zeros((len(block.inner_s), 6))
        rows, weights = system.gap_weights
        Q, inner = len(block.mode_rows), len(block.inner_s)

        def padded(a: Array) -> Array:
            return np.ascontiguousarray(np.concatenate([a, np.zeros((inner, a.shape[1]))]))

        count = 0 if block.modes is None else block.modes.count
        flexible = np.zeros((0 if block.rigid else Q, count, count))
        for r in range(len(flexible)):
            flexible[r] = block.settle_matrix(r)
        places = [self.found.rows.index(int(row)) for row in block.mode_rows]
        return (
            self.rows_of(block.plain, none),
            self.rows_of(lag, none),
            self.rows_of(block.e0, block.inner_e0),
            padded(block.mode_w),
            padded(block.soft),
            padded(block.mode_values),
            np.array(places, dtype=np.int64),
            np.ascontiguousarray(block.mode_numbers),
            np.ascontiguousarray(block.mode_index),
            np.ascontiguousarray(rows),
            np.ascontiguousarray(weights),
            flexible,
            np.ascontiguousarray(block.mode_numbers[self.found.element]),
        )

    def _form(self, own: Ints) -> tuple[Any, ...]:
        block, system = self.block, self.system
        tangent = make_tangent(system, _band)
        matrix = tangent.matrix
        assert isinstance(matrix, BandedSymmetric)
        self.matrix = matrix
        shape = (matrix.n, matrix.bandwidth + 1)
        mass, damping = np.zeros(shape), np.zeros(shape)
        s = np.concatenate([block.mass_s, np.array(block.point_s)[block.body_station]])
        element, P = block.map.centres(s)
        slots = np.ascontiguousarray(tangent.elements[0][:, 6:, 6:])
        for out, weight in ((mass, block.M[:, 3]), (damping, block.mass_damping[:, 3])):
            many = len(weight)
            each = weight[:, None, None] * np.einsum("sia,sib->sab", P[:many], P[:many])
            at = slots[element[:many]]
            np.add.at(out.reshape(-1), at[at >= 0], each[at >= 0])
        modes = tangent.modes[0]
        empty = np.zeros((len(own), 0, own.shape[1]), dtype=np.int64)
        down, up, inner = (empty, empty, empty[:, :, :0]) if modes is None else modes
        return (
            _by_rows(mass),
            _by_rows(damping),
            self.compliance,
            slots,
            np.ascontiguousarray(down[:, :, 6:]),
            np.ascontiguousarray(up[:, :, 6:]),
            np.ascontiguousarray(inner),
        )

    def force(self, loading: Loading, weight: bool = False) -> Array:
        """Dead forces of a loading on the coordinates (n,); of weight alone, if asked."""
        block, system = self.block, self.system
        line, point = loading.line_dead[0][:, 3:], loading.point_dead[0][:, 3:]
        if weight:
            gravity = np.asarray(system.description.gravity)
            line, point = block.line_mass[:, None] * gravity, block.point_mass[:, None] * gravity
        s = np.concatenate([block.mass_s, block.point_s])
        element, P = block.map.centres(s)
        local = np.concatenate([line, point]) @ block.rod.pose[:3, :3]
        each = np.einsum("sia,si->sa", P, local)
        at = block.index[:, 6:][element]
        out = np.zeros(system.n)
        np.add.at(out, at[at >= 0], each[at >= 0])
        return out

    def stress(self, loading: Loading) -> Array:
        """What chambers do on strains (S, R)."""
        return self.rows_of(loading.stress[0], loading.inner[0])


def _by_rows(A: Array) -> Array:
    """Rows (n, 2 b + 1) of a symmetric band matrix from its lower columns (n, b + 1)."""
    n, width = A.shape
    out = np.zeros((n, 2 * width - 1))
    for a in range(width):
        column = A[: n - a, a]
        out[: n - a, width - 1 + a] = column
        out[a:, width - 1 - a] = column
    return out


def _band(n: int, pairs: list[tuple[Ints, Ints]]) -> BandedSymmetric:
    spread = 0
    for rows, cols in pairs:
        both = (rows >= 0) & (cols >= 0)
        spread = max(spread, int(np.max(np.abs(rows - cols)[both], initial=0)))
    return BandedSymmetric(n, spread)
