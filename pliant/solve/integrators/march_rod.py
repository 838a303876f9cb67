"""What compiled steps know of the rod that they move, as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.linalg.matrices import BandedSymmetric
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.force_fields import ForceFields
from pliant.rods.compiled import CompiledMap
from pliant.rods.contract import Array, Ints
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work


class Parts:
    """The constant arrays of one rod for `march_kernels.march`, in its tuples."""

    def __init__(self, effects: Effects, found: CompiledMap, lag: Array, mobility: float) -> None:
        self.effects, self.tree, self.found = effects, effects.tree, found
        self.part = block = self.tree.parts[0]
        self.fields: ForceFields | None = next(iter(effects.of_kind(ForceFields)), None)
        self.compliance = self._compliance(mobility)
        own = np.ascontiguousarray(block.index[:, 6:])
        self.rod = (
            found.ints,
            found.floats,
            found.element,
            own,
            np.ascontiguousarray(block.x_index),
            np.ascontiguousarray(self.tree.coordinates),
        )
        felt = lag[:, block.field_rows]
        self.mode_lag = float(felt.mean()) if felt.size else 0.0
        """Mean retardation of the strains that meet stress modes, s."""
        self.law = self._law(lag)
        self.form = self._form(own)

    def _compliance(self, mobility: float) -> Array:
        """Compliance (E, pR, pR) of the force fields in the tangent of a step."""
        fields = self.fields
        if fields is None:
            return np.zeros((len(self.part.map.elements), 0, 0))
        share = min(1.0, self.part.inertial_share(mobility)) if fields.hard else 1.0
        return share * fields.compliance

    def rows_of(self, strains: Array, inner: Array) -> Array:
        """Live rows (S, R) of arrays (.., 6) at the strain rule and at the inner stations."""
        rows = list(self.found.rows)
        return np.ascontiguousarray(np.concatenate([strains[:, rows], inner[:, rows]]))

    def _law(self, lag: Array) -> tuple[Any, ...]:
        part, fields, rest = self.part, self.fields, self.tree.rest.parts[0]
        none = np.zeros((len(part.inner_s), 6))
        Q, inner = len(part.field_rows), len(part.inner_s)

        def padded(a: Array) -> Array:
            return np.ascontiguousarray(np.concatenate([a, np.zeros((inner, a.shape[1]))]))

        count, S, E = 0, len(part.strain_s), len(part.map.elements)
        values, index = np.zeros((S, 0)), np.zeros((E, 0), dtype=np.int64)
        soft = np.zeros((S, Q))
        if fields is not None:
            count, values, index = fields.fields.count, fields.fields.values, fields.fields.index
            soft = fields.soft
        flexible = np.zeros((0 if part.rigid else Q, count, count))
        for r in range(len(flexible)):
            assert fields is not None
            flexible[r] = fields.settle_matrix(r)
        places = [self.found.rows.index(int(row)) for row in part.field_rows]
        return (
            self.rows_of(part.plain, none),
            self.rows_of(lag, none),
            self.rows_of(rest.strain.e, rest.inner.e),
            padded(part.field_w),
            padded(soft),
            padded(values),
            np.array(places, dtype=np.int64),
            np.ascontiguousarray(index),
            np.ascontiguousarray(part.field_index),
            np.ascontiguousarray(self.effects.gap_rows),
            np.ascontiguousarray(self.effects.gap_weights),
            flexible,
            np.ascontiguousarray(index[self.found.element]),
        )

    def _form(self, own: Ints) -> tuple[Any, ...]:
        block = self.part
        tangent = Tangent(self.tree, _band, self.effects.pairs())
        matrix = tangent.matrix
        assert isinstance(matrix, BandedSymmetric)
        self.matrix = matrix
        shape = (matrix.n, matrix.bandwidth + 1)
        mass, damping = np.zeros(shape), np.zeros(shape)
        assert block.rod is not None
        element, P = block.map.centres(block.frames_s[: block.inertial])
        slots = np.ascontiguousarray(tangent.parts[0].elements[:, 6:, 6:])
        resisted = block.rod.mass_damping * block.M[: len(block.mass_s), 3]
        for out, weight in ((mass, block.M[:, 3]), (damping, resisted)):
            many = len(weight)
            each = weight[:, None, None] * np.einsum("sia,sib->sab", P[:many], P[:many])
            at = slots[element[:many]]
            np.add.at(out.reshape(-1), at[at >= 0], each[at >= 0])
        down = up = np.zeros((len(own), 0, block.index.shape[1]), dtype=np.int64)
        inner = np.zeros((len(own), 0, 0), dtype=np.int64)
        if self.fields is not None:
            down, up, inner = tangent.effects[self.fields.number][:3]
            up = up.transpose(0, 2, 1)
        return (
            _by_rows(mass),
            _by_rows(damping),
            self.compliance,
            slots,
            np.ascontiguousarray(down[:, :, 6:]),
            np.ascontiguousarray(up[:, :, 6:]),
            np.ascontiguousarray(inner),
        )

    def applied(self, u: Array) -> tuple[Array, Array] | None:
        """Dead forces (F, 3) at all frame stations, world frame, and stresses (S, R) of chambers.

        None if anything else acts under the inputs u (J,).
        """
        rest, work = self.tree.rest, Work(self.tree)
        w, at = work.parts[0], rest.parts[0]
        w.met[...] = at.strain.e
        for term in self.effects.terms:
            term.act(Moment(self.tree, rest, work, u, np.zeros(self.tree.total)))
        if not self.effects.conservative(u) or w.p[:, :3].any() or w.ry.any():
            return None
        force = -np.einsum("sij,sj->si", at.g[:, :3, :3], w.p[:, 3:])
        return force, self.rows_of(w.sigma, w.inner)

    def on_coordinates(self, force: Array) -> Array:
        """Forces (F, 3) at all frame stations as forces on the coordinates (n,)."""
        part = self.part
        element, P = part.map.centres(part.frames_s)
        each = np.einsum("sia,si->sa", P, force @ part.pose[:3, :3])
        at = part.index[:, 6:][element]
        out = np.zeros(self.tree.n)
        np.add.at(out, at[at >= 0], each[at >= 0])
        return out


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
