"""Storage and factorisation of the tangent: banded for narrow chains, sparse for everything else.

Both kinds share one interface: `slots(rows, cols)` tells where an entry lives in the flat array
`data` (so that assembly is one indexed addition for either kind), `factorise()`, `solve(b)`.
A symmetric matrix stores one triangle only and reports `negative`, the number of negative pivots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy as shallow_copy
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.linalg import solve_banded
from scipy.sparse import csc_matrix, triu
from scipy.sparse.linalg import SuperLU, splu

from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.lie.tuples import Array, Ints
from pliant.linalg import sparse_factor
from pliant.linalg.band import factor_band_flagged, factor_rows, solve_band, solve_rows
from pliant.linalg.elimination import (
    COORDINATE,
    FIELD,
    MULTIPLIER,
    Elimination,
    Enough,
    analyse,
)
from pliant.linalg.sparse_factor import EXACT, Entries, Factor

SKIP = -1
_LOST, _REDUNDANT, _SUBSTITUTE = 1e-13, 1e-10, 1e-9
"""Parts of its size below which a pivot is lost, a multiplier redundant; what replaces the pivot."""
_BAND = 2.0
"""How many multiplications in a band take the time of one in fronts."""


class SingularError(RuntimeError):
    """The tangent could not be factorised."""


class Matrix(ABC):
    """What assembly and solvers need of a tangent matrix.

    flags (3,) : of the last factor, negative pivots (-1 if it is singular) and lost ones; 1 if the last
    solution is too rough.
    """

    n: int
    data: Array
    symmetric: bool

    def __init__(self, n: int) -> None:
        self.n = n
        self.flags = np.array([-1, 0, 0], dtype=np.int64)

    @property
    def negative(self) -> int | None:
        """Negative pivots of the last factor, None if the matrix is not symmetric."""
        return int(self.flags[0]) if self.symmetric and self.flags[0] >= 0 else None

    @property
    def lost(self) -> int:
        """Pivots that the last factorisation replaced."""
        return int(self.flags[1])

    @abstractmethod
    def slots(self, rows: Ints, cols: Ints) -> Ints:
        """Places in `data` of entries at rows and columns, SKIP for those that are not kept."""

    @abstractmethod
    def record_factorise(self) -> None:
        """Factorise and set the first flags."""

    @abstractmethod
    def record_solve(self, b: Array, x: Array, enough: float = EXACT) -> None:
        """Solve for x (n,) and set the last flag; enough : see `sparse_factor.solve`."""

    def factorise(self) -> None:
        """Factorise, or raise SingularError."""
        self.record_factorise()
        if self.flags[0] < 0:
            raise SingularError("the tangent is singular")

    def solve(self, b: Array) -> Array:
        """Solution x (n,) with the last factor."""
        b, x = np.ascontiguousarray(b, dtype=self.data.dtype), np.empty(self.n, self.data.dtype)
        self.record_solve(b, x)
        if self.flags[2]:
            self.repair(b, x)
        return x

    def repair(self, b: Array, x: Array) -> None:  # noqa: B027
        """Solve anew where the last solution was too rough."""

    @abstractmethod
    def remembered(self) -> list[Any]:
        """Arrays that hold entries, factor and flags."""

    @abstractmethod
    def alike(self) -> Matrix:
        """A matrix with the same pattern and the same slots, and with entries of its own."""

    def complex_twin(self) -> Matrix:
        """The same of complex numbers."""
        raise TypeError(f"{type(self).__name__} has real entries only")


class BandedSymmetric(Matrix):
    """Lower band by columns, L D L^T without pivoting, inertia from D."""

    symmetric = True

    def __init__(self, n: int, bandwidth: int) -> None:
        super().__init__(n)
        self.bandwidth = bandwidth
        self.data = np.zeros(n * (bandwidth + 1))
        self._factor = np.zeros((n, bandwidth + 1))
        self._d = np.zeros(n)
        self._work = np.zeros(2 * bandwidth + 5)

    def alike(self) -> BandedSymmetric:
        return BandedSymmetric(self.n, self.bandwidth)

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        at = cols * (self.bandwidth + 1) + rows - cols
        return np.where((rows >= 0) & (cols >= 0) & (cols <= rows), at, SKIP)

    def record_factorise(self) -> None:
        run(factor_band_flagged, self.data, self._factor, self._d, self._work, self.flags)

    def record_solve(self, b: Array, x: Array, enough: float = EXACT) -> None:
        copy(b, x)
        run(solve_band, self._factor, self._d, x)

    def remembered(self) -> list[Any]:
        return [self.flags, self.data, self._factor, self._d]


class Banded(Matrix):
    """Band by rows, L U without pivoting, refined; with row exchanges where that is too rough."""

    symmetric = False

    def __init__(self, n: int, bandwidth: int, dtype: Any = np.float64) -> None:
        super().__init__(n)
        self.bandwidth = bandwidth
        self.data = np.zeros(n * (2 * bandwidth + 1), dtype)
        self._factorised, self._factor = np.zeros_like(self.data), np.zeros_like(self.data)
        self._work = np.zeros((2, n), dtype)

    def alike(self) -> Banded:
        return Banded(self.n, self.bandwidth)

    def complex_twin(self) -> Banded:
        return Banded(self.n, self.bandwidth, np.complex128)

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        at = rows * (2 * self.bandwidth + 1) + cols - rows + self.bandwidth
        return np.where((rows >= 0) & (cols >= 0), at, SKIP)

    def record_factorise(self) -> None:
        copy(self.data, self._factorised)
        run(factor_rows, self._factorised, self._factor, self.bandwidth, self.flags)

    def record_solve(self, b: Array, x: Array, enough: float = EXACT) -> None:
        where = (self._factorised, self._factor, self.bandwidth, b, x)
        run(solve_rows, *where, self._work, self.flags)

    def remembered(self) -> list[Any]:
        return [self.flags, self.data, self._factorised, self._factor]

    def repair(self, b: Array, x: Array) -> None:
        """Solve with row exchanges."""
        rows = self._factorised.reshape(self.n, -1)
        band = np.zeros((2 * self.bandwidth + 1, self.n), self.data.dtype)
        for k in range(-self.bandwidth, self.bandwidth + 1):
            # entry (i, i + k) stands in row i, and below its column in the band that LAPACK takes
            first, last = max(0, -k), min(self.n, self.n - k)
            band[self.bandwidth - k, first + k : last + k] = rows[first:last, self.bandwidth + k]
        self.flags[2] = 0
        x[...] = np.nan
        if not np.isfinite(b).all():
            return
        try:
            x[...] = solve_banded((self.bandwidth, self.bandwidth), band, b)
        except np.linalg.LinAlgError as error:
            raise SingularError("the tangent is singular") from error
        diagonal = np.abs(rows[:, self.bandwidth])
        stiff = float(np.min(diagonal[diagonal > 0.0], initial=np.inf))
        # a free motion leaves a solution without bounds
        if np.isfinite(stiff) and not np.linalg.norm(x) * stiff < 1e12 * np.linalg.norm(b):
            raise SingularError("the tangent is singular")


class Sparse(Matrix):
    """L D U in the fronts of `elimination`, on a pattern fixed at construction; U = L^T if symmetric.

    saddle : unknowns with negative pivots, the last `multipliers` of which belong to constraints. No
    rows are exchanged. A pivot lost to rounding (a redundant constraint, a free motion) is replaced by
    a small one of the sign it should have, and the solution is refined against the true matrix. Where
    that does not converge, the matrix is factorised once more with row exchanges.
    """

    def __init__(
        self,
        n: int,
        pairs: list[tuple[Ints, Ints]],
        saddle: Ints | tuple[()] = (),
        multipliers: int = 0,
        symmetric: bool = False,
        enough: Enough = (),
    ) -> None:
        super().__init__(n)
        self.symmetric = symmetric
        self._enough = tuple((tuple(rows), tuple(columns)) for rows, columns in enough)
        self._kind = np.full(n, COORDINATE)
        self._kind[np.asarray(saddle, dtype=np.int64)] = FIELD
        self._kind[np.asarray(saddle, dtype=np.int64)[len(saddle) - multipliers :]] = MULTIPLIER
        rows = np.concatenate([r.ravel() for r, _ in pairs] + [np.arange(n)])
        cols = np.concatenate([c.ravel() for _, c in pairs] + [np.arange(n)])
        keep = (rows >= 0) & (cols >= 0)
        if symmetric:
            keep &= rows <= cols
        self._keys = _distinct(rows[keep] * n + cols[keep])
        self._rows, self._cols = self._keys // n, self._keys % n
        self.data = np.zeros(len(self._keys))
        self._factorised = np.zeros(len(self._keys))
        self._pivoted: tuple[Array, csc_matrix, SuperLU] | None = None

    def alike(self) -> Sparse:
        return self._with_entries(np.zeros((2, len(self.data))))

    def complex_twin(self) -> Sparse:
        return self._with_entries(np.zeros((2, len(self.data)), np.complex128))

    def _with_entries(self, entries: Any) -> Sparse:
        other = shallow_copy(self)
        vars(other).pop("_factor", None)
        other.flags, other._pivoted = np.array([-1, 0, 0], dtype=np.int64), None
        other.data, other._factorised = entries
        return other

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        ok = (rows >= 0) & (cols >= 0)
        if self.symmetric:
            ok &= rows <= cols
        at = np.searchsorted(self._keys, rows * self.n + cols)
        return np.where(ok, np.minimum(at, len(self._keys) - 1), SKIP)

    @property
    def bandwidth(self) -> int:
        """Largest distance of an entry from the diagonal."""
        return int(np.max(np.abs(self._rows - self._cols), initial=0))

    @property
    def matrix(self) -> csc_matrix:
        """The matrix as it stands, (n, n)."""
        return self._whole(self.data)

    def product(self, x: Array) -> Array:
        """The matrix as it stands times x (n,)."""
        y: Array = np.bincount(self._rows, self.data * x[self._cols], self.n).astype(float)
        if self.symmetric:
            above = self._rows != self._cols
            rows, cols = self._rows[above], self._cols[above]
            y += np.bincount(cols, self.data[above] * x[rows], self.n)
        return y

    def _whole(self, data: Array) -> csc_matrix:
        half = csc_matrix((data, (self._rows, self._cols)), shape=(self.n, self.n))
        return (half + triu(half, 1).T).tocsc() if self.symmetric else half

    @cached_property
    def elimination(self) -> Elimination:
        """Order and fronts of the factorisation."""
        return self._symbolic[0]

    @cached_property
    def _symbolic(self) -> tuple[Elimination, Entries]:
        pattern = (self._keys.tobytes(), self._kind.tobytes())
        return _symbolic(self.n, *pattern, self.symmetric, self._enough)

    @cached_property
    def _factor(self) -> Factor:
        many, n, dtype = self.elimination.entries, self.n, self.data.dtype
        entries = np.zeros(many if self.symmetric else 2 * many, dtype)
        kind = np.empty(n, dtype=np.int64)
        kind[self.elimination.place] = self._kind
        return Factor(
            entries,
            entries[:many],
            entries[-many:],
            inverse=np.zeros(n, dtype),
            size=np.zeros(n),
            left=np.zeros(self.elimination.workspace, dtype),
            workspace=np.zeros((3, n), dtype),
            sizes=np.zeros((2, n)),
            floor=np.where(kind == MULTIPLIER, _REDUNDANT, _LOST),
            substitute=np.where(kind == COORDINATE, _SUBSTITUTE, -_SUBSTITUTE),
        )

    def record_factorise(self) -> None:
        copy(self.data, self._factorised)
        entries, fronts = self._symbolic[1], self.elimination.fronts
        where = (entries, self.data, fronts, self._factor)
        run(sparse_factor.factorise, *where, self.symmetric, self.flags)

    def record_solve(self, b: Array, x: Array, enough: float = EXACT) -> None:
        entries, fronts = self._symbolic[1], self.elimination.fronts
        where = (entries, self._factorised, fronts, self._factor)
        run(sparse_factor.solve, *where, self.symmetric, enough, b, x, self.flags)

    def remembered(self) -> list[Any]:
        factor = self._factor
        return [
            self.flags,
            self.data,
            self._factorised,
            factor.entries,
            factor.inverse,
            factor.size,
        ]

    def repair(self, b: Array, x: Array) -> None:
        """Solve with row exchanges, where the factor without them is too rough to be refined."""
        size = float(np.linalg.norm(b))
        self.flags[2] = 0
        if not np.isfinite(size):
            x[...] = np.nan
            return
        try:
            if self._pivoted is None or not np.array_equal(self._pivoted[0], self._factorised):
                whole = self._whole(self._factorised)
                self._pivoted = self._factorised.copy(), whole, splu(whole)
            _, matrix, factor = self._pivoted
            x[...] = factor.solve(b)
        except RuntimeError as error:
            raise SingularError("the tangent is singular") from error
        gap = float(np.linalg.norm(b - matrix @ x))
        # a free motion leaves a solution without bounds
        if not gap <= 1e-6 * size or not np.linalg.norm(x) < 1e12 * size * self._flexibility():
            raise SingularError("the tangent is singular")

    def _flexibility(self) -> float:
        """Typical displacement for a unit force: one over the softest stiffness on the diagonal."""
        diagonal = self._factorised[np.searchsorted(self._keys, np.arange(self.n) * (self.n + 1))]
        stiff = np.abs(diagonal)[self._kind == COORDINATE]
        return 1.0 / max(float(np.min(stiff[stiff > 0.0], initial=np.inf)), 1e-300)


def _distinct(numbers: Ints) -> Ints:
    """The distinct ones of some numbers, ascending; NumPy's `unique` hashes, which takes far longer."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]


@lru_cache(maxsize=16)
def _symbolic(
    n: int, keys: bytes, kind: bytes, symmetric: bool, enough: Enough
) -> tuple[Elimination, Entries]:
    """The symbolic part of a factorisation, made once for all matrices of a pattern.

    keys : row times n plus column of each entry, ascending. kind : of each unknown. Both int64.
    enough : as for `analyse`.
    """
    entries = np.frombuffer(keys, dtype=np.int64)
    rows, cols = entries // n, entries % n
    both = _distinct(np.concatenate([entries, cols * n + rows]))
    bounds = n * np.arange(n + 1)
    pattern = np.searchsorted(both, bounds), both % n
    elimination = analyse(*pattern, np.frombuffer(kind, dtype=np.int64), enough)
    front, into = _into_fronts(elimination, rows, cols, symmetric)
    source = np.lexsort((into, front))
    first = np.searchsorted(front[source], np.arange(len(elimination.fronts.first)))
    diagonal = np.searchsorted(entries, np.arange(n) * (n + 1))
    start, short = np.searchsorted(entries, bounds), np.uint32
    by_rows = (start, cols.astype(short), diagonal.astype(short), elimination.place)
    by_fronts = (first, source.astype(short), into[source].astype(short))
    return elimination, Entries(*by_rows, *by_fronts)


def _into_fronts(
    elimination: Elimination, rows: Ints, cols: Ints, symmetric: bool
) -> tuple[Ints, Ints]:
    """The fronts of the entries (rows, cols), and where they stand in the factor; the lower triangle
    follows the upper one.
    """
    place, fronts = elimination.place, elimination.fronts
    row, col = place[rows], place[cols]
    low, high = np.minimum(row, col), np.maximum(row, col)
    s, r = np.diff(fronts.first), np.diff(fronts.start)
    front = np.searchsorted(fronts.first, low, side="right") - 1
    first, n = fronts.first[front], len(place)
    behind = np.repeat(np.arange(len(r)), r) * n + fronts.rest
    at = s[front] + np.searchsorted(behind, front * n + high) - fronts.start[front]
    at = np.where(high < first + s[front], high - first, at)
    into = fronts.panel[front] + (low - first) * (s + r)[front] + at
    return front, into if symmetric else into + np.where(row > col, elimination.entries, 0)


def make_matrix(
    n: int,
    pairs: list[tuple[Ints, Ints]],
    saddle: Ints,
    multipliers: int,
    symmetric: bool,
    enough: Enough = (),
) -> Matrix:
    """The storage that suits the pattern given as index pairs (E, a, b) of element blocks.

    saddle : unknowns with negative pivots, the last `multipliers` of which belong to constraints. A
    matrix without multipliers is kept as a band where this is the faster one to factorise: at once if
    the band is hardly larger than the matrix, else after counting the multiplications of both.
    enough : as for `elimination.analyse`.
    """
    sparse = Sparse(n, pairs, saddle, multipliers, symmetric, enough)
    if multipliers:
        return sparse
    width = sparse.bandwidth + 1
    if not symmetric:
        return Banded(n, width - 1) if n * width <= len(sparse.data) else sparse
    full = n * width <= 2 * len(sparse.data)
    if full or n * width * (width + 1) // 2 <= _BAND * sparse.elimination.products:
        return BandedSymmetric(n, width - 1)
    return sparse
