"""Rod maps whose coordinates are increments between control poses: base of B-spline and Hermite."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from pliant.engine.program import run
from pliant.lie.operators import CAYLEY, EXP
from pliant.model import Rod
from pliant.rods import cumulative, cumulative_second
from pliant.rods.basis import alive, find_span
from pliant.rods.contract import Array, ForceBasis, Ints, OwnConfiguration, Plan
from pliant.rods.pose_chain import ChainConfiguration, PoseChainMap

MAPS = {"exp": EXP, "cayley": CAYLEY}
_ROUNDING = 1e-14
"""Gap to strains, relative to them, that fitting does not make smaller."""


class CurvePlan(Plan):
    """Stations of a cumulative curve: basis values b, db (S, k) and the poses of the stages."""

    def __init__(self, s: Array, element: Ints, b: Array, db: Array) -> None:
        k = b.shape[1]
        super().__init__(s, element, 6 * (k + 1))
        self.b = np.ascontiguousarray(b)
        self.db = np.ascontiguousarray(db)
        self.stage_strain = np.zeros((len(s), k, 6))
        self.stage_pose = np.zeros((len(s), k, 3, 4))


_NO_FORMS = np.zeros((0, 6, 6))
_FAR = 2.5
"""Turn between control poses from which on a curve is in doubt, rad; time steps need less than pi."""


class IncrementMap(PoseChainMap):
    """A cumulative curve through control poses; y = (first control twist, increments) per element.

    Subclasses give `first` (E,), the first increment of each element, the basis at any station, and
    how coordinates and increments are related.
    """

    fuses: ClassVar[bool] = True

    def __init__(self, rod: Rod, degree: int, map_name: str, increments: int, first: Ints) -> None:
        super().__init__(rod, 6 * increments)
        self.kind = MAPS[map_name]
        self.degree = degree
        self.increments = increments
        self.first = np.ascontiguousarray(first, dtype=np.int64)
        self.m = 6 * (degree + 1)
        self.base_variables = 0
        self.owner = np.zeros(increments, dtype=np.int64)
        for e in range(len(first) - 1, -1, -1):
            self.owner[first[e] : first[e] + degree] = e

    def trouble(self, c: OwnConfiguration) -> str:
        """Say where control poses turn too far from one to the next."""
        turns = np.linalg.norm(c.psi[:, :3], axis=1)
        k, count = int(np.argmax(turns)), len(turns)
        if turns[k] < _FAR:
            return ""
        return (
            f"Near s = {self.rod.length * (k + 0.5) / count:.3g} m of {self.rod.label} a control pose "
            f"is turned by {turns[k]:.2g} rad against the one before, which its curve cannot resolve: "
            f"take about {math.ceil(turns[k])} times as many control poses."
        )

    @abstractmethod
    def basis(self, s: Array) -> tuple[Ints, Array, Array]:
        """Element (S,), cumulative basis values and arclength derivatives (S, k) at s."""

    def spline_force_basis(self, knots: Array, before: Ints, held: float = 0.0) -> ForceBasis:
        """Modes from the derivatives of splines of this degree on `knots`: one for each increment
        of the curve and row, half as many as coordinates, so that nothing locks.
        """
        self._force_knots = knots[1:-1]
        s, _ = self.strain_rule()
        _, values = self.force_values(s)
        spans = np.flatnonzero(np.diff(self._force_knots) > 0)
        k = self.degree - 1
        index = (spans - k)[:, None] + np.arange(k + 1)[None, :]
        count = len(self._force_knots) - k - 1
        rigid = self.rod.theory == "kirchhoff"
        return ForceBasis(values, index.astype(np.int64), count, before, rigid=rigid, held=held)

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        element, spans = find_span(self._force_knots, s)
        return element, alive(self._force_knots, self.degree - 1, s, spans[element])

    def plan(self, s: Array) -> CurvePlan:
        return CurvePlan(s, *self.basis(s))

    def lift_vector(self, c: ChainConfiguration, ry: Array, r: Array) -> None:
        self.lift_rows(c, ry.reshape(-1, 1, self.m), r.reshape(-1, 1, self.m))

    def evaluate(self, plan: CurvePlan, c: ChainConfiguration, frames: bool, strains: bool) -> None:
        run(
            cumulative.evaluate_curve,
            self.kind,
            self.first,
            plan.element,
            plan.b,
            plan.db,
            c.psi,
            c.controls,
            frames,
            strains,
            plan.g,
            plan.J,
            plan.e,
            plan.B,
            plan.stage_strain,
            plan.stage_pose,
        )

    def frame_second(self, plan: CurvePlan, c: ChainConfiguration, f: Array, K: Array) -> None:
        self.frame_tangent(plan, c, f, _NO_FORMS, K)

    def frame_tangent(
        self, plan: CurvePlan, c: ChainConfiguration, f: Array, k: Array, K: Array
    ) -> None:
        curve = (self.kind, self.first, plan.element, plan.b, c.psi, plan.J, plan.stage_pose)
        run(cumulative_second.add_frame_second, *curve, f, k, K)

    def strain_second(self, plan: CurvePlan, c: ChainConfiguration, sigma: Array, K: Array) -> None:
        run(
            cumulative_second.add_strain_second,
            self.kind,
            self.first,
            plan.element,
            plan.b,
            plan.db,
            c.psi,
            plan.J,
            plan.B,
            plan.stage_strain,
            plan.stage_pose,
            sigma,
            K,
        )

    def frame_bias(self, plan: CurvePlan, c: ChainConfiguration, ydot: Array, bias: Array) -> None:
        run(
            cumulative_second.frame_bias,
            self.kind,
            self.first,
            plan.element,
            plan.b,
            c.psi,
            plan.J,
            plan.stage_pose,
            ydot,
            bias,
        )


def fit_strains(
    rod_map: IncrementMap, q: Array, columns: Ints, target: Array, blocks: Callable[[Plan], Array]
) -> Array:
    """Coordinates whose strains at the strain rule best match `target` (S, 6): Gauss-Newton.

    Strains do not feel the base pose. `blocks(plan)` gives their derivative (S, 6, p) in the entries
    `columns` (S, p) of q.
    """
    s, w = rod_map.strain_rule()
    plan = rod_map.strains(s)
    c = rod_map.configuration()
    weight = np.sqrt(w)
    for _ in range(12):
        rod_map.update(c, np.eye(4), q)
        rod_map.strain(plan, c)
        gap = (weight * (target - plan.e)).ravel()
        if np.max(np.abs(gap)) <= _ROUNDING * np.max(np.abs(weight * target)):
            break
        step = _least_squares(weight[:, :, None] * blocks(plan), columns, gap, q.size)
        q = q + step
        if np.max(np.abs(step)) < 1e-13 * max(1.0, float(np.max(np.abs(q)))):
            break
    return q


def _least_squares(B: Array, columns: Ints, gap: Array, size: int) -> Array:
    """Least-squares solution of the sparse system with row blocks B (S, 6, p) at columns (S, p)."""
    S, rows, p = B.shape
    i = np.repeat(np.arange(S * rows), p)
    j = np.repeat(columns, rows, axis=0).ravel()
    A = csr_matrix((B.ravel(), (i, j)), shape=(S * rows, size))
    return np.asarray(splu((A.T @ A).tocsc()).solve(A.T @ gap))
