"""Force fields of the mixed form: internal forces as unknowns, for strains that would lock.

The shear and stretch forces of a rod are n(s) = sum_i N_i(s) a_i with few functions N_i, and strains
are matched to n / C in the mean against every N_i (Hellinger-Reissner):

    phi_i = sum_s w N_i (e - e0 - n / C) = 0.

That is a constraint with compliance. Where a rod cannot strain (`rigid`) n / C is left out, and it is a
constraint as any other. `docs/theory/locking.md` has the reasoning.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask, run
from pliant.linalg.scatter import scatter_vector
from pliant.physics.contract import RATES, Moment, Rows, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work


class ForceFields(Rows):
    """The force fields of one rod."""

    compiled = True
    smooth = True
    column = "elastic"
    whole = False

    def __init__(self, tree: Tree, i: int) -> None:
        self.i, self.tree = i, tree
        self.part = part = tree.parts[i]
        assert part.fields is not None
        self.fields = part.fields
        self.hard = self.eased = part.rigid
        E = len(part.map.elements)
        p, R = self.fields.index.shape[1], len(part.field_rows)
        self._count = (E, p, R)
        self._unit = np.ones((len(part.strain_s), R))
        self._elements = part.map.strains(part.strain_s).element
        self.soft = np.zeros((len(part.strain_s), R))
        self.compliance = np.zeros((E, R * p, R * p))
        self.row_weights = np.zeros(R * self.fields.count)
        self.refill(tree)

    def refill(self, tree: Tree) -> bool:
        part, fields, element = self.part, self.fields, self._elements
        if not self.hard:
            self.soft[...] = 1.0 / part.C[:, part.field_rows]
        self.compliance[...] = 0.0
        field_compliance(
            part.field_w, part.C, fields.values, part.field_rows, element, self.compliance
        )
        weight = np.zeros(fields.count)
        np.add.at(weight, fields.index[element], part.field_w[:, :1] * fields.values)
        self.row_weights[...] = np.repeat(1.0 / weight, len(part.field_rows))
        vars(self).pop("_factors", None)
        if "_settling" in vars(self):
            self._settling[...] = self._settle_matrices()
        return True

    @cached_property
    def _settling(self) -> Array:
        """(R, count, count): fields of each row from the strains of `strains`."""
        return self._settle_matrices()

    def _settle_matrices(self) -> Array:
        return np.array([self.settle_matrix(r) for r in range(len(self.part.field_rows))])

    @cached_property
    def _factors(self) -> list[Any]:
        """Per row, the Cholesky factor of the compliance between all fields of that row."""
        R, count = self._count[2], self.fields.count
        factors = []
        for r in range(R):
            whole = np.zeros((count, count))
            for at, block in zip(self.fields.index, self.compliance, strict=True):
                whole[np.ix_(at, at)] -= block[r::R, r::R]
            factors.append(cho_factor(whole))
        return factors

    def close(self, tree: Tree) -> None:
        part = self.part
        self.e0 = tree.rest.parts[self.i].strain.e.copy()
        self.element = tree.rest.parts[self.i].strain.element
        self.rows = part.field_index.ravel()
        self.numbers_of = part.field_index[self.fields.index].reshape(self._count[0], -1)
        """(E, pR): numbers of the fields of each element."""
        self._base = tree.base_columns(self.i)

    def pairs(self) -> list[Pair]:
        part, mine = self.part, self.numbers_of
        at_base = mine[part.base_elements]
        carriers = np.repeat(self._base[None], len(at_base), axis=0)
        return [
            (mine, part.index),
            (part.index, mine),
            (mine, mine),
            (at_base, carriers),
            (carriers, at_base),
        ]

    def symbolic(self, x: Symbols) -> None:
        """Strains that are held: sum_s w N_i (e - e0) = 0 for every field i and held strain."""
        if not self.hard:
            x.refuse(self, "choose SRL, EBR, EBA or ROM")
        part, rows = self.part, self.part.field_rows
        gaps = x.math.SX.zeros(self.fields.count * len(rows))
        for k, s in enumerate(part.strain_s.tolist()):
            e = x.strain(self.i, s)
            d = (e - x.at_rest(e))[rows.tolist()]
            for value, i in zip(
                self.fields.values[k], self.fields.index[self.element[k]], strict=True
            ):
                at = slice(len(rows) * int(i), len(rows) * (int(i) + 1))
                gaps[at] += value * (part.field_w[k] * d)
        x.hold(f"inextensible {part.source.label}", gaps)

    # -- what acts ---------------------------------------------------------------------------

    def _add(self, work: Work, met: Array, z: Array, scale: float) -> Array:
        """Add scale times the forces to the stresses; returns the gaps (E, pR)."""
        part, w = self.part, work.parts[self.i]
        gap = np.zeros(self._count)
        clear(gap)
        run(
            field_stress,
            part.field_w, self.soft, met, self.e0, self.fields.values, part.field_rows,
            self.fields.index, self.element, part.field_index, z, scale, w.sigma, gap,
        )  # fmt: skip
        return gap.reshape(len(gap), -1)

    def act(self, m: Moment) -> None:
        w = m.work.parts[self.i]
        gaps = self._add(m.work, w.met, m.z, 1.0)
        run(scatter_vector, self.numbers_of, gaps, m.work.residual)
        if m.tangent is not None:
            down = self._unit if m.v is None else self._shift(w)
            self.add_jacobian(m.state, m.tangent, down, self._unit)
            self.add_compliance(m.tangent, m.mobility)

    def go(self, step: Step) -> None:
        w, scale = step.work.parts[self.i], step.h * step.first
        met = step.b.parts[self.i].strain.e if self.hard else w.met
        gaps = self._add(step.work, met, step.z, scale)
        run(scatter_vector, self.numbers_of, gaps, step.work.residual)
        if step.tangent is not None:
            down = self._unit if self.hard else self._shift(w)
            self.add_jacobian(step.b, step.tangent, down, 0.0)
            self.add_jacobian(step.a, step.tangent, 0.0, scale * self._unit)
            self.add_compliance(step.tangent, step.h * step.h * step.first)

    def _shift(self, w: PartWork) -> Array:
        """(S, R): derivative of the strains that meet the law in those that are sought."""
        shift = np.zeros(self._unit.shape)
        run(take_columns, w.shift, self.part.field_rows, shift)
        return shift

    def settle(self, state: State, work: Work, z: Array) -> None:
        z[self.part.field_index] = self.settled(work.parts[self.i].met)

    # -- rows --------------------------------------------------------------------------------

    def gaps(self, state: State) -> Array:
        return self.strains(state.parts[self.i].strain.e - self.e0).ravel()

    def add_gaps(self, state: State, scale: float, out: Array) -> None:
        part, e = self.part, state.parts[self.i].strain.e
        fields = (part.field_w, self.fields.values, part.field_rows, self.fields.index)
        run(add_field_gaps, *fields, part.field_index, self.element, e, self.e0, scale, out)

    def add_gap_rates(
        self,
        state: State,
        v: Array,
        lifted: list[Array],
        z: Array | None,
        scale: float,
        out: Array,
    ) -> None:
        part, plan = self.part, state.parts[self.i].strain
        fields = (part.field_w, self.fields.values, part.field_rows, self.fields.index)
        where = (*fields, part.field_index, plan.element, plan.B)
        run(add_field_rates, *where, lifted[self.i], scale, out)

    def hold(self, state: State, tangent: Tangent, z: Array | None) -> None:
        self.add_jacobian(state, tangent, 1.0, 1.0)

    def add_jacobian(
        self, state: State, tangent: Tangent, down: float | Array, up: float | Array
    ) -> None:
        """Add A times `down` to its rows and A^T times `up` to its columns."""
        slots = tangent.effects[self.number]
        block: Array = np.zeros(0)
        for scale, whole, base in (
            (down, slots[0], slots[3]),
            (up, tangent.mirrored(self.number, 1), tangent.mirrored(self.number, 4)),
        ):
            if np.ndim(scale) == 0 and scale == 0.0:
                continue
            if scale is not down or not block.size:
                whole_scale = scale if isinstance(scale, np.ndarray) else scale * self._unit
                block = self.coupling(state, whole_scale)
            tangent.add(whole, block)
            if len(self._base):
                above, elements = state.base_jacobian(self.i), self.part.base_elements
                at_base = np.zeros((len(elements), block.shape[1], above.shape[1]))
                run(blocks_at_base, elements, block, above, at_base)
                tangent.add(base, at_base)

    def coupling(self, state: State, scale: Array) -> Array:
        """(E, pR, n): derivative of the gaps in the entries of x, times scale (S, R)."""
        part, at = self.part, state.parts[self.i]
        E, p, R = self._count
        rows, out = np.zeros((E, p * R, part.map.m)), np.empty((E, p * R, part.index.shape[1]))
        clear(rows)
        fields = (part.field_w, self.fields.values, part.field_rows)
        run(field_coupling, *fields, self.element, at.strain.B, scale, rows)
        ask(part.map.lift_rows, at.c, rows, out)
        return out

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        self._add(work, self.e0, z, scale)

    def add_compliance(self, tangent: Tangent, mobility: float | None) -> None:
        share = 1.0
        if self.hard and mobility is not None:
            share = self.part.inertial_share(mobility)
            # rates are found as softly as inertia allows, steps at most as softly as statics
            share = share if mobility == RATES else min(1.0, share)
        compliance = self.compliance if share == 1.0 else share * self.compliance
        tangent.add(tangent.effects[self.number][2], compliance)

    def add_excess(self, x: Array, out: Array) -> None:
        """Add to out (total,) what only tangents have, the compliance of held strains, times x."""
        forces = np.einsum("eij,ej->ei", self.compliance, x[self.numbers_of])
        np.add.at(out, self.numbers_of, forces)

    def hold_rates(self, work: Work, h: float) -> None:
        if self.hard:
            work.parts[self.i].lag[:, self.part.field_rows] = 0.5 * h

    def rate_slope(self, work: Work, speed: float) -> Array | float:
        lag = work.parts[self.i].lag[0, self.part.field_rows]
        return np.tile(1.0 + speed * lag, self.fields.count)

    # -- strains and forces ------------------------------------------------------------------

    def strains(self, d: Array) -> Array:
        """(count, R): strains d (S, 6) integrated against every field."""
        rows = self.part.field_rows
        total = np.zeros((self.fields.count, len(rows)))
        weighted = self.fields.values[:, :, None] * (self.part.field_w * d[:, rows])[:, None]
        np.add.at(total, self.fields.index[self.element], weighted)
        return total

    def settled(self, met: Array) -> Array:
        """Fields (count, R) in balance with strains (S, 6) at the strain rule."""
        total = self.strains(met - self.e0)
        pairs = zip(self._factors, total.T, strict=True)
        return np.stack([cho_solve(factor, column) for factor, column in pairs], axis=1)

    def settle_matrix(self, r: int) -> Array:
        """(count, count): fields of row r from the strains of `strains`."""
        return np.asarray(cho_solve(self._factors[r], np.eye(self.fields.count)))

    def correct_strains(self, i: int, state: State, s: Array, e: Array) -> None:
        """Shear and stretch are those of the force: between stations the raw ones mean nothing."""
        if i != self.i:
            return
        rod, rows = self.part.rod, self.part.field_rows
        assert rod is not None
        e[:, rows] = rod.natural_strain(s)[:, rows]
        if not self.hard:
            element, values = self.part.map.force_values(s)
            fields = self.settled(state.parts[i].strain.e)
            force = np.einsum("sp,spr->sr", values, fields[self.fields.index[element]])
            e[:, rows] += force / rod.stiffness(s)[:, rows]

    # -- energy ------------------------------------------------------------------------------

    def energy(self, state: State, u: Array) -> float:
        if self.hard:
            return 0.0
        e = state.parts[self.i].strain.e
        return 0.5 * float(np.sum(self.settled(e) * self.strains(e - self.e0)))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        w, lag = m.work.parts[self.i], self.part.lag
        if self.hard or not lag.any():
            return
        rows = self.part.field_rows
        settle = self._settling
        fields = (self.part.field_w, self.fields.values, rows, self.fields.index, self.element)
        sums = np.zeros((2, *settle.shape[:2]))
        run(add_field_loss, *fields, lag, w.rate, settle, scale, sums, out)

    def power_lost(self, m: Moment) -> float:
        out = np.zeros(1)
        self.add_power_lost(m, 1.0, out)
        return float(out[0])

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        """Add nothing: it has no input."""


def terms(tree: Tree) -> list[Term]:
    """The force fields of all rods that have them."""
    return [ForceFields(tree, i) for i, part in enumerate(tree.parts) if part.fields is not None]


@kernel
def take_columns(source, columns, out):  # type: ignore[no-untyped-def]
    """out (S, R) = source[:, columns]."""
    for s in range(out.shape[0]):
        for r in range(columns.shape[0]):
            out[s, r] = source[s, columns[r]]


@kernel
def blocks_at_base(elements, block, above, out):  # type: ignore[no-untyped-def]
    """out (B, p, b) = block[elements][:, :, :6] above, above (6, b)."""
    for k in range(elements.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                v = 0.0
                for a in range(6):
                    v += block[elements[k], i, a] * above[a, j]
                out[k, i, j] = v


@kernel
def field_stress(  # type: ignore[no-untyped-def]
    w, soft, met, e0, N, rows, field, element, at, z, scale, sigma, gap
):
    """Stresses of force fields, and their gaps.

    sigma_row += scale w n with n = sum_i N_i a_i, the fields a standing in z at the places `at`
    (count, R), and gap[e, i, r] = sum_s w N_i (met - e0 - soft n) over the stations of element e.
    w, soft (S, R), met, e0, sigma (S, 6), N (S, p), field (E, p), gap (E, p, R).
    """
    S, p = N.shape
    for s in range(S):
        el = element[s]
        for r in range(rows.shape[0]):
            row = rows[r]
            n = 0.0
            for i in range(p):
                n += N[s, i] * z[at[field[el, i], r]]
            sigma[s, row] += scale * w[s, r] * n
            d = w[s, r] * (met[s, row] - e0[s, row] - soft[s, r] * n)
            for i in range(p):
                gap[el, i, r] += N[s, i] * d


@kernel
def add_field_loss(w, N, rows, index, element, lag, rate, settle, scale, work, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum_r a_r . d_r, d = strain rates against every field, a the fields that balance
    the lagging ones: a_r = settle_r (lag d)_r, settle (R, count, count). work (2, R, count).
    """
    S, p = N.shape
    R, count = settle.shape[0], settle.shape[1]
    slow, plain = work[0], work[1]
    for r in range(R):
        for i in range(count):
            slow[r, i] = plain[r, i] = 0.0
    for s in range(S):
        for i in range(p):
            field = index[element[s], i]
            for r in range(R):
                d = w[s, r] * N[s, i] * rate[s, rows[r]]
                plain[r, field] += d
                slow[r, field] += lag[s, rows[r]] * d
    for r in range(R):
        for i in range(count):
            for j in range(count):
                out[0] += scale * plain[r, i] * settle[r, i, j] * slow[r, j]


@kernel
def add_field_gaps(w, N, rows, index, at, element, e, e0, scale, out):  # type: ignore[no-untyped-def]
    """out[at[i, r]] += scale sum_s w_r N_i (e - e0)_row, at (count, R)."""
    S, p = N.shape
    for s in range(S):
        for r in range(rows.shape[0]):
            strain = e[s, rows[r]] - e0[s, rows[r]]
            for i in range(p):
                out[at[index[element[s], i], r]] += scale * w[s, r] * N[s, i] * strain


@kernel
def add_field_rates(w, N, rows, index, at, element, B, y, scale, out):  # type: ignore[no-untyped-def]
    """out[at[i, r]] += scale sum_s w_r N_i (B y)_row: rates of the gaps, y (E, m), at (count, R)."""
    S, p = N.shape
    for s in range(S):
        x = y[element[s]]
        for r in range(rows.shape[0]):
            rate = 0.0
            for a in range(B.shape[2]):
                rate += B[s, rows[r], a] * x[a]
            for i in range(p):
                out[at[index[element[s], i], r]] += scale * w[s, r] * N[s, i] * rate


@kernel
def field_coupling(w, N, rows, element, B, scale, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r] += scale_r w_r N_i B_row: derivative of the gaps in y; w, scale (S, R)."""
    S, p = N.shape
    R = rows.shape[0]
    m = B.shape[2]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for r in range(R):
                f = scale[s, r] * w[s, r] * N[s, i]
                row = B[s, rows[r]]
                for b in range(m):
                    out[e, R * i + r, b] += f * row[b]


@kernel
def field_compliance(w, C, N, rows, element, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r, R j + r] -= w_r N_i N_j / C_row: derivative of the gaps in the fields."""
    S, p = N.shape
    R = rows.shape[0]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for j in range(p):
                for r in range(R):
                    f = w[s, r] * N[s, i] * N[s, j]
                    out[e, R * i + r, R * j + r] -= f / C[s, rows[r]]
