"""ROM: the whole rod as polynomials of position and quaternion.

After Sadati et al., TMTDyn (equations 10 to 13; `docs/theory/tmt.md`), in a basis of the same span that
stays well conditioned: integrals of Legendre polynomials for the position and the vector part of the
quaternion. The term linear in s, which the published polynomials of the position lack, lets the base
shear and stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import legvander

from pliant.engine.arrays import combine
from pliant.engine.program import run
from pliant.lie import symbolic
from pliant.model import Rod, refuse
from pliant.model.fields import Choice, Whole, holds
from pliant.rods import rom_kernels
from pliant.rods.contract import (
    NO_TURNS,
    NO_TWISTS,
    Array,
    Configuration,
    Formulation,
    Ints,
    KernelMap,
    Plan,
    SymbolicRod,
)
from pliant.rods.nodal import lobatto_points
from pliant.rods.quadrature import gauss_per_span
from pliant.rods.rom_kernels import Stations

HIGHEST_ORDER = 64
_ITERATIONS, _EXACT = 30, 1e-12
_FAR = 0.98
"""Length of the vector part of a unit quaternion from which on `trouble` warns: 157 degrees."""


@dataclass(frozen=True)
class ROM(Formulation):
    """Reduced-order model: polynomial coefficients of position and quaternion are the unknowns.

    order : 1 to 64, the degree of the rotation; the position has one degree more. 6 order + 3 unknowns.
    rotation : "unit" has polynomials for the vector part of a unit quaternion and reaches half a turn
        from the base. "free" has polynomials for all four components, of which only the direction
        counts, through unit quaternions at `order` points; any turn that they resolve is possible.
    """

    order: int = holds(Whole(least=1, most=HIGHEST_ORDER), 3)
    rotation: str = holds(Choice(names=("unit", "free")), "unit")

    @property
    def size(self) -> str:
        """The setting that makes it finer."""
        return "order"

    def discretise(self, rod: Rod) -> ROMMap:
        """The map of `rod` under these settings."""
        for field, breaks in rod.field_breaks(rod.length):
            refuse(
                len(breaks.places),
                rod.label,
                field,
                f"a jump, kink or peak at s = {(*breaks.places, 0.0)[0]:.4g} m",
                "smooth along the rod, for ROM has one polynomial for all of it",
                "use EBA(), Strain() or BSpline(), which place a border there",
            )
        return ROMMap(rod, self.order, self.rotation == "free")


class PolynomialPlan(Plan):
    """Stations with the values of all polynomials."""

    def __init__(self, s: Array, m: int, stations: Stations) -> None:
        super().__init__(s, np.zeros(len(s), dtype=np.int64), m)
        self.stations = stations


class PolynomialCoordinates(Configuration):
    """Views of q: those of the rotation (n, 3 or 4) and of the position (n + 1, 3).

    plan : the strain rule, with a target (n + 1, 3) for its shear and stretch, to move along.
    """

    def __init__(self, nq: int, width: int, plan: PolynomialPlan) -> None:
        super().__init__(nq)
        count = len(plan.s)
        self.turn = self.q[: -3 * count].reshape(-1, width)
        self.shift = self.q[-3 * count :].reshape(count, 3)
        self.plan, self.target = plan, np.zeros((count, 3))
        self.sigma = np.zeros((count, 6))


class ROMMap(KernelMap):
    """The map of one rod under `ROM`.

    q : coefficients of the rotation (n, 3), or unit quaternions (n, 4) at the Gauss-Lobatto points
    after the base if it is free, then coefficients of the position (n + 1, 3).
    """

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, order: int, free: bool) -> None:
        self.order, self.free = order, free
        super().__init__(rod, 6 * order + 3, (7 if free else 6) * order + 3)
        integrals = [Legendre.basis(k).integ(lbnd=-1) * 0.5 for k in range(order + 1)]
        self._slopes = [Legendre.basis(k) for k in range(order + 1)]
        self._integrals = integrals
        self.bent = self.m
        self._inverse = np.linalg.inv(self.strains(self.strain_rule()[0]).stations.dshift)
        """From slopes of the position at the strain rule to its coefficients."""

    # -- stations ----------------------------------------------------------------------------

    def _plan(self, s: Array) -> PolynomialPlan:
        s = np.asarray(s, dtype=float)
        n, L = self.order, self.rod.length
        x = 2.0 * s / L - 1.0
        slopes = np.stack([f(x) for f in self._slopes], axis=1)
        values = np.stack([f(x) for f in self._integrals], axis=1)
        turn, dturn = values[:, :n], slopes[:, :n] / L
        if self.free:
            lagrange = np.linalg.inv(legvander(lobatto_points(n)[0], n))
            steep = np.stack([f.deriv()(x) for f in self._slopes], axis=1)
            turn, dturn = slopes @ lagrange, steep @ lagrange * (2.0 / L)
        S, m = len(s), 3 * n
        fixed = [np.ascontiguousarray(a) for a in (s, turn, dturn, L * values, slopes)]
        shapes = ((S, 4), (S, 4), (S, 4, m), (S, 4, m), (S, 3, m), (S, 3, 4))
        stations = Stations(*fixed, *(np.zeros(shape) for shape in shapes))
        return PolynomialPlan(s, self.m, stations)

    frames = _plan
    strains = _plan

    def mass_rule(self) -> tuple[Array, Array]:
        """order + 2 Gauss points: exact for the mass of a uniform rod."""
        return gauss_per_span(np.array([0.0, self.rod.length]), self.order + 2)

    def section_rule(self) -> tuple[Array, Array]:
        """order + 4 Gauss points: between those of the strain rule, shear and stretch oscillate."""
        return gauss_per_span(self.breaks, self.order + 4)

    def strain_rule(self) -> tuple[Array, Array]:
        """order + 1 Gauss points: stations (S,), m, and weights (S, 6), m.

        The position has as many coefficients, so that p' meets the tangent at all of them and thin
        rods do not lock.
        """
        s, w = gauss_per_span(np.array([0.0, self.rod.length]), self.order + 1)
        return s, np.repeat(w[:, None], 6, axis=1)

    # -- configuration -----------------------------------------------------------------------

    def configuration(self) -> PolynomialCoordinates:
        plan = self.strains(self.strain_rule()[0])
        return PolynomialCoordinates(self.nq, 4 if self.free else 3, plan)

    def straight(self) -> Array:
        """Coordinates of the straight rod."""
        q = np.zeros(self.nq)
        if self.free:
            q[: 4 * self.order : 4] = 1.0
        return q

    def rest(self) -> Array:
        """Coordinates whose strains at the strain rule best match the natural ones: Gauss-Newton.

        The natural strain is reached in steps that turn the rod by at most one radian.
        """
        s, w = self.strain_rule()
        natural, weight = self.rod.natural_strain(s), np.sqrt(w)
        whole = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        turn = float(np.linalg.norm(natural[:, :3], axis=1) @ w[:, 0])
        plan, c, q = self.strains(s), self.configuration(), self.straight()
        for level in np.linspace(0.0, 1.0, 2 + int(turn))[1:]:
            target = whole + level * (natural - whole)
            for _ in range(_ITERATIONS):
                self.update(c, np.eye(4), q)
                self.strain(plan, c)
                refuse(
                    not np.isfinite(plan.B).all(),
                    self.rod.label,
                    "natural",
                    f"a turn of {turn:.3g} rad along the rod",
                    "one that is fitted within half a turn of the base by ROM(rotation='unit')",
                    "use ROM(rotation='free')",
                )
                B = (weight[:, :, None] * plan.B[:, :, 6:]).reshape(-1, self.nv)
                step = np.linalg.lstsq(B, (weight * (target - plan.e)).ravel())[0]
                q = self.retract(c, np.eye(4), np.concatenate([np.zeros(6), step]))
                if np.max(np.abs(step)) < _EXACT:
                    break
        return q

    def _parts(self, q: Array) -> tuple[Array, Array]:
        """Views of the coordinates of rotation (n, 3 or 4) and position (n + 1, 3) in q."""
        first = self.nq - 3 * (self.order + 1)
        return q[:first].reshape(self.order, -1), q[first:].reshape(-1, 3)

    def retract_to(self, c: PolynomialCoordinates, base: Array, x: Array, out: Array) -> None:
        if not self.free:
            combine(1.0, c.q, 1.0, x[6:], out)
            return
        n = self.order
        turn, shift = self._parts(out)
        run(rom_kernels.turn_nodes, c.turn, x[6 : 6 + 3 * n].reshape(n, 3), turn)
        combine(1.0, c.shift, 1.0, x[6 + 3 * n :].reshape(-1, 3), shift)

    def chart_entries(self) -> tuple[Ints, Ints]:
        turns = np.arange(3 * self.order, dtype=np.int64).reshape(-1, 3)
        return NO_TWISTS, turns if self.free else NO_TURNS

    def advance_to(self, c: PolynomialCoordinates, base: Array, x: Array, out: Array) -> None:
        """Move the rotation by x, and the position so that shear and stretch are linear in x.

        Positions that are linear in x would stretch a rod by the square of its turn, which a thin one
        resists far more than bending.
        """
        self.strain(c.plan, c)
        run(rom_kernels.follow_strains, c.plan.e, c.plan.B, x, c.target)
        self.retract_to(c, base, x, out)
        turn, shift = self._parts(out)
        run(rom_kernels.place, self.free, c.plan.stations, turn, shift)
        run(rom_kernels.set_shift, c.plan.stations, self._inverse, c.target, shift)

    def lift_tangent(
        self,
        c: PolynomialCoordinates,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Copy Ky and add the second derivative of the chart of `advance`, felt by `balance`."""
        super().lift_tangent(c, ry, balance, Ky, K, passed)
        if balance is None:
            return
        felt = balance[self.m - 3 * (self.order + 1) :].reshape(-1, 3)
        self.strain(c.plan, c)
        run(rom_kernels.pull_back, c.plan.stations, self._inverse, felt, c.sigma)
        self.strain_second(c.plan, c, c.sigma, K)

    def trouble(self, c: PolynomialCoordinates) -> str:
        """Say where the vector part of the quaternion nears its limit."""
        if self.free:
            return ""
        plan = self.frames(np.linspace(0.0, self.rod.length, 33))
        self.frame(plan, c)
        size = np.linalg.norm(plan.stations.Q[:, 1:], axis=1)
        k = int(np.argmax(size))
        if size[k] < _FAR:
            return ""
        angle = np.degrees(2.0 * np.arcsin(min(size[k], 1.0)))
        return (
            f"At s = {plan.s[k]:.3g} m of {self.rod.label} the section is turned by {angle:.0f} "
            "degrees against the base, and ROM(rotation='unit') ends at 180: use ROM(rotation='free')."
        )

    # -- the map -----------------------------------------------------------------------------

    def _place(
        self, plan: PolynomialPlan, c: PolynomialCoordinates
    ) -> tuple[PolynomialPlan, PolynomialCoordinates]:
        run(rom_kernels.place, self.free, plan.stations, c.turn, c.shift)
        return plan, c

    def frame(self, plan: PolynomialPlan, c: PolynomialCoordinates) -> None:
        placed, c = self._place(plan, c)
        run(rom_kernels.set_frames, placed.stations, c.base, plan.g, plan.J)

    def strain(self, plan: PolynomialPlan, c: PolynomialCoordinates) -> None:
        placed, c = self._place(plan, c)
        run(rom_kernels.set_strains, placed.stations, c.shift, plan.e, plan.B)

    def frame_second(
        self, plan: PolynomialPlan, c: PolynomialCoordinates, f: Array, K: Array
    ) -> None:
        run(rom_kernels.add_frame_second, self.free, plan.stations, c.turn, plan.J, f, K[0])

    def strain_second(
        self, plan: PolynomialPlan, c: PolynomialCoordinates, sigma: Array, K: Array
    ) -> None:
        run(rom_kernels.add_strain_second, self.free, plan.stations, c.turn, plan.e, sigma, K[0])

    def frame_bias(
        self, plan: PolynomialPlan, c: PolynomialCoordinates, ydot: Array, bias: Array
    ) -> None:
        run(rom_kernels.frame_bias, self.free, plan.stations, c.turn, plan.J, ydot[0], bias)

    def symbolic(self, math: Any, base: tuple[Any, Any], q: Any) -> SymbolicRod:
        return SymbolicPolynomials(self, math, base, q)


class SymbolicPolynomials(SymbolicRod):
    """Sadati (10) to (13): position and quaternion as polynomials in s, seen from the base."""

    def __init__(self, rod_map: ROMMap, math: Any, base: tuple[Any, Any], q: Any) -> None:
        self._map, self._math, self._base = rod_map, math, base
        n, self._width = rod_map.order, 4 if rod_map.free else 3
        self._turn = math.reshape(q[: self._width * n], self._width, n)
        self._shift = math.reshape(q[self._width * n :], 3, n + 1)

    def _integrals(self, x: float, count: int) -> tuple[list[float], list[float]]:
        """Legendre polynomials P_k and half their integrals from -1, k < count, at x in [-1, 1].

        By Bonnet's recursion, and (2 k + 1) P_k = P'_{k+1} - P'_{k-1}.
        """
        P = [1.0, x]
        for k in range(1, count + 1):
            P.append(((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1))
        inner = [0.5 * (P[k + 1] - P[k - 1]) / (2 * k + 1) for k in range(1, count)]
        return P[:count], [0.5 * (x + 1.0), *inner][:count]

    def _quaternion(self, s: float) -> tuple[Any, Any]:
        """The quaternion (4, 1) at s and its slope; their length does not matter."""
        math, n, L = self._math, self._map.order, self._map.rod.length
        if self._map.free:
            weights, slopes = self._lagrange(2.0 * s / L - 1.0)
            first = math.SX([1.0, 0.0, 0.0, 0.0])
            Q = weights[0] * first + self._turn @ math.SX(weights[1:])
            return Q, (slopes[0] * first + self._turn @ math.SX(slopes[1:])) * (2.0 / L)
        P, inner = self._integrals(2.0 * s / L - 1.0, n)
        vector, slope = self._turn @ math.SX(inner), self._turn @ math.SX(P) / L
        scalar = math.sqrt(1.0 - math.dot(vector, vector))
        return math.vertcat(scalar, vector), math.vertcat(-math.dot(vector, slope) / scalar, slope)

    def _lagrange(self, x: float) -> tuple[list[float], list[float]]:
        """Values and slopes at x of the polynomials that are one at one of the points of rotation."""
        points = lobatto_points(self._map.order)[0]
        values, slopes = [], []
        for k, at in enumerate(points):
            others = np.delete(points, k)
            factors = (x - others) / (at - others)
            values.append(float(np.prod(factors)))
            parts = [np.prod(np.delete(factors, j)) / (at - others[j]) for j in range(len(others))]
            slopes.append(float(sum(parts)))
        return values, slopes

    def frame(self, s: float) -> tuple[Any, Any]:
        math, (R, p), L = self._math, self._base, self._map.rod.length
        Q, _ = self._quaternion(s)
        _, inner = self._integrals(2.0 * s / L - 1.0, self._map.order + 1)
        seen = math.SX([0.0, 0.0, s]) + L * (self._shift @ math.SX(inner))
        return R @ symbolic.quaternion_matrix(math, Q), p + R @ seen

    def strain(self, s: float) -> Any:
        math, L = self._math, self._map.rod.length
        Q, slope = self._quaternion(s)
        back = symbolic.conjugate(math, Q)
        P, _ = self._integrals(2.0 * s / L - 1.0, self._map.order + 1)
        tangent = math.SX([0.0, 0.0, 1.0]) + self._shift @ math.SX(P)
        u = 2.0 * symbolic.quaternion_product(math, back, slope)[1:4] / math.dot(Q, Q)
        return math.vertcat(u, symbolic.quaternion_matrix(math, back) @ tangent)

    def rates(self, v: Any) -> Any:
        if not self._map.free:
            return v
        math, n = self._math, self._map.order
        spins = [v[3 * k : 3 * k + 3] for k in range(n)]
        rates = [symbolic.quaternion_rate(math, self._turn[:, k], spins[k]) for k in range(n)]
        return math.vertcat(*rates, v[3 * n :])
