"""BSpline: cumulative B-spline rods on SE(3) (Xun et al. 2025, sections 3 and 4).

g(s) = g_0 prod_i tau(Bbar_i(s) Psi_i), Psi_i = tau^-1(g_{i-1}^-1 g_i), Bbar_i the cumulative basis.
The control pose g_0 is the base pose and g_n the tip pose. Variations are the body twists of the
control poses; the increments Psi_i are stored, so that a turn of more than pi keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.lie.operators import EXP
from pliant.model import Rod, refuse
from pliant.model.fields import Choice, Whole, holds
from pliant.rods import chain, chain_second
from pliant.rods.basis import (
    Cumulative,
    Function,
    cumulative_basis,
    cumulative_splines,
    find_span,
)
from pliant.rods.contract import (
    Array,
    Capabilities,
    ForceBasis,
    Formulation,
    Ints,
    RodMap,
)
from pliant.rods.increments import (
    MAPS,
    ChainConfiguration,
    IncrementMap,
    fit_strains,
)
from pliant.rods.quadrature import gauss_per_span, spans_with_breaks

_NOTHING = np.zeros((0, 6))
_HELD = {1: 0.0, 2: 0.0, 3: 0.0, 4: 128.0, 5: 150.0}
"""By degree, `held` of the force fields. The product of exponentials makes shear strains of twice
the degree. On the long spans of a high degree the part of them that no mode feels is so large that
fast vibrations would be too slow, by 14 % in the fifth of a free beam of 12 points of degree 5 (3 %
with it). More would cost accuracy in statics, and make Newton's first step erratic from a straight
start."""

_ENDS = {1: 1.0, 2: 1.0, 3: 1.5, 4: 1.85, 5: 1.95}
"""By degree, how much longer the end spans of graded knots are than the others: the fifth frequency
of a free beam of 12 points is then off by less than 0.1 % for degrees 3 to 5 (0.9, 0.6 and 3 %
on equal spans; 0.4 % for degree 2, for which longer ends do not help)."""


@dataclass(frozen=True)
class BSpline(Formulation):
    """Cumulative B-spline rod.

    degree : 1 to 5; degree 1 is piecewise constant strain. 3 suits most rods; 4 and 5 are for smooth
        shapes.
    points : number of control poses, the base pose included; at least degree + 1. Where data of the
        rod jump along s, a repeated knot adds up to `degree` points; where another part or a load acts
        inside the rod, a knot is moved there and adds `degree - 1`.
    map : "exp" or "cayley", the retraction between control poses.
    knots : "uniform"; "graded", for rods that thin out and for vibrations (see `graded_knots`); or
        interior knots as fractions of the length, increasing, in (0, 1), `points - degree - 1` of
        them.
    basis: "bspline"; or another cumulative basis on each span (docs/theory/cumulative_splines.md):
        "power", or `degree` functions of x in [0, 1] that are 0 at 0. Strains then jump between spans,
        and `points` is rounded up to whole spans of `degree` increments.
    """

    degree: int = holds(Whole(least=1, most=5), 3)
    points: int = holds(Whole(least=2, example="15"), 15)
    map: str = holds(Choice(names=tuple(MAPS)), "exp")
    knots: Sequence[float] | str = "uniform"
    basis: Sequence[Function] | str = "bspline"

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def __post_init__(self) -> None:
        super().__post_init__()
        least = self.degree + 1
        expected = f"at least degree + 1 = {least} control points"
        self._refuse(self.points < least, "points", expected, "give more points or a lower degree")
        self._check_basis()
        named, want = isinstance(self.knots, str), self.points - self.degree - 1
        if named and self.knots in ("uniform", "graded"):
            return
        inner = np.zeros(0) if named else np.asarray(self.knots, dtype=float)
        wrong = named or inner.shape != (want,) or not _increasing(inner)
        expected = (
            f"'uniform', 'graded' or {want} increasing fractions of the length between 0 and 1"
        )
        self._refuse(wrong, "knots", expected, "leave knots out for uniform ones")
        often = want and max(np.sum(inner == u) for u in inner) > self.degree
        self._refuse(often, "knots", "no knot repeated more than degree times", "thin it")

    def _refuse(self, wrong: object, field: str, expected: str, remedy: str) -> None:
        refuse(wrong, self.label, field, getattr(self, field), expected, remedy)

    def _check_basis(self) -> None:
        if self.basis == "bspline":
            return
        given: Any = self.basis
        listed = not isinstance(given, str) and all(callable(f) for f in given)
        wrong = given != "power" and not (listed and len(given) == self.degree)
        expected = f"'bspline', 'power' or degree = {self.degree} functions of x in [0, 1]"
        self._refuse(wrong, "basis", expected, "give as many functions as the degree says")
        wrong = not isinstance(self.knots, str) or self.knots != "uniform"
        self._refuse(wrong, "knots", "left out with another basis", "spans are equal then")
        object.__setattr__(self, "basis", given if isinstance(given, str) else tuple(given))
        cumulative_basis(self.basis, self.degree)  # type: ignore[arg-type]

    @property
    def chained(self) -> bool:
        """Whether spans share no increments."""
        return self.basis != "bspline"

    def discretise(self, rod: Rod) -> BSplineMap:
        return BSplineMap(rod, self)


def _increasing(fractions: Array) -> bool:
    inside = np.all((fractions > 0) & (fractions < 1))
    return bool(inside and np.all(np.diff(fractions) >= 0))


def inner_knots(rod: Rod, settings: BSpline) -> Array:
    """Interior knots (points - degree - 1,) of a rod as fractions of its length."""
    if settings.chained:
        spans = -(-(settings.points - 1) // settings.degree)
        return np.repeat(np.linspace(0, 1, spans + 1)[1:-1], settings.degree)
    if not isinstance(settings.knots, str):
        return np.asarray(settings.knots, dtype=float)
    if settings.knots == "graded":
        return graded_knots(rod, settings.degree, settings.points)
    return np.linspace(0, 1, settings.points - settings.degree + 1)[1:-1]


def knots_with_breaks(rod: Rod, settings: BSpline) -> Array:
    """All knots of a rod, m. At a jump of its data a knot is repeated `degree` times, so that strains
    may jump; where data bend, once less, so that strains may bend.
    """
    k, inner = settings.degree, rod.length * inner_knots(rod, settings)
    even = np.concatenate([[0.0], np.unique(inner), [rod.length]])
    borders, jumps = spans_with_breaks(rod, even, fixed=not isinstance(settings.knots, str))
    given = np.array([np.sum(inner == s) for s in borders])
    repeats = np.where(given > 0, given, np.maximum(k - 1, 1))
    repeats[jumps | settings.chained] = k
    repeats[[0, -1]] = k + 1
    return np.repeat(borders, repeats)


def graded_knots(rod: Rod, degree: int, points: int) -> Array:
    """Interior knots (points - degree - 1,) that follow the section, as fractions of the length.

    Spans go with the cube root of the bending stiffness: short where the rod is thin and curves most.
    The two end spans are longer than the others by `_ENDS`. The control poses of an open spline crowd
    at its ends; equal spans resolve the ends finer than the middle, at the expense of high modes.
    """
    s = np.linspace(0.0, rod.length, 20 * points + 1)
    density = np.prod(rod.stiffness(s)[:, :2], axis=1) ** (-1.0 / 6.0)
    passed = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    share = np.ones(points - degree)
    share[[0, -1]] = _ENDS[degree]
    wanted = np.cumsum(share)[:-1] / share.sum()
    return np.interp(wanted, passed / passed[-1], s / rod.length)


class BSplineMap(IncrementMap):
    """The map of one rod under `BSpline`. x = (twist of g_0, ..., twist of g_n)."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, settings: BSpline) -> None:
        k = settings.degree
        self._settings = settings
        self.cumulative: Cumulative | None = None
        if settings.chained:
            self.cumulative = cumulative_basis(settings.basis, k)  # type: ignore[arg-type]
        self.knots = knots_with_breaks(rod, settings)
        n = len(self.knots) - k - 2
        spans = np.flatnonzero(np.diff(self.knots) > 0)
        super().__init__(rod, k, settings.map, n, spans - k)
        self.elements = (6 * self.first[:, None] + np.arange(self.m)[None, :]).astype(np.int64)
        self.breaks = np.unique(self.knots)
        mixed = k > 1 or rod.theory == "kirchhoff"
        before = 6 * np.arange(1, n + 1)
        self._modes = self.spline_force_basis(self.knots, before, _HELD[k]) if mixed else None

    def refill(self, rod: Rod) -> bool:
        graded = self._settings.knots == "graded"  # by the bending stiffness
        same = not graded or np.array_equal(knots_with_breaks(rod, self._settings), self.knots)
        return super().refill(rod) and same

    def in_plane(self, normal: int) -> RodMap | None:
        from pliant.rods.flat import FlatCurve

        return FlatCurve(self, normal) if self.kind == EXP else None

    # -- stations ----------------------------------------------------------------------------

    def basis(self, s: Array) -> tuple[Ints, Array, Array]:
        t = self.knots
        if self.cumulative is None:
            return cumulative_splines(s, t, self.degree)
        element, spans = find_span(t, s)
        span = spans[element]
        h = t[span + 1] - t[span]
        values, slopes = self.cumulative.at((s - t[span]) / h)
        return element, values, slopes / h[:, None]

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        """Forces like the strains of single increments: splines of one degree less, or the slopes."""
        if self.cumulative is None:
            return super().force_values(s)
        element, _, slopes = self.basis(s)
        return element, slopes * np.diff(self.breaks)[element, None]

    def mass_rule(self) -> tuple[Array, Array]:
        return gauss_per_span(self.breaks, self.degree + 1)

    def strain_rule(self) -> tuple[Array, Array]:
        s, w = gauss_per_span(self.breaks, self.degree + 1)
        return s, np.repeat(w[:, None], 6, axis=1)

    def force_basis(self) -> ForceBasis | None:
        return self._modes

    def pose_coordinate(self, s: float) -> int | None:
        if s == 0.0:
            return 0
        return 6 * self.increments if s == self.rod.length else None

    # -- coordinates -------------------------------------------------------------------------

    def rest(self) -> Array:
        k = self.degree
        greville = np.array(
            [np.mean(self.knots[i + 1 : i + k + 1]) for i in range(self.increments + 1)]
        )
        steps = np.diff(greville)
        middle = 0.5 * (greville[1:] + greville[:-1])
        if self.cumulative is not None:
            steps = (np.diff(self.breaks)[:, None] * self.cumulative.shares).ravel()
        psi = self.rod.natural_strain(middle) * steps[:, None]
        s, _ = self.strain_rule()
        columns = 6 * self.first[self.basis(s)[0]][:, None] + np.arange(6 * k)
        target = self.rod.natural_strain(s)
        return fit_strains(self, psi.ravel(), columns, target, lambda plan: plan.B[:, :, 6:])

    # -- lifting -----------------------------------------------------------------------------

    def lift_velocity(self, c: ChainConfiguration, x: Array, y: Array) -> None:
        run(chain.lift_velocity, self.first, c.plus, c.minus, x, y)

    def lift_bias(self, c: ChainConfiguration, x: Array, ydot: Array) -> None:
        tangents = (c.plus, c.minus)
        run(chain_second.increment_bias, self.kind, c.psi, *tangents, self.first, x, ydot)

    def lift_rows(self, c: ChainConfiguration, Cy: Array, C: Array) -> None:
        run(chain.lift_rows, self.first, c.plus, c.minus, Cy, C)

    def lift_matrix(
        self, left: ChainConfiguration, right: ChainConfiguration, Ky: Array, K: Array
    ) -> None:
        sides = (left.plus, left.minus, right.plus, right.minus)
        run(chain.lift_matrix, self.first, *sides, Ky, K)

    def lift_tangent(
        self,
        c: ChainConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        left = _NOTHING if balance is None else balance.reshape(-1, 6)
        chained = (self.kind, self.first, self.owner, c.psi, c.plus, c.minus)
        run(chain_second.lift_tangent, *chained, ry, left, Ky, K, passed)
