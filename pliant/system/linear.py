"""Storage and factorisation of the tangent: banded for narrow chains, sparse for everything else.

All four kinds share one interface: `slots(rows, cols)` tells where an entry lives in the flat array
`data` (so that assembly is one indexed addition for every kind), `factorise()`, `solve(b)`.
Symmetric kinds store the lower triangle only and report `negative`, the number of negative pivots.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from pliant._numba import kernel, leaf

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SKIP = -1
_REGULARISE = 1e-9
_REFINEMENTS = 6


class SingularError(RuntimeError):
    """The tangent could not be factorised."""


class Matrix(Protocol):
    """What assembly and solvers need of a tangent matrix."""

    n: int
    data: Array
    negative: int | None

    def slots(self, rows: Ints, cols: Ints) -> Ints: ...
    def factorise(self) -> None: ...
    def solve(self, b: Array) -> Array: ...


@kernel
def scatter(slots, K, data):  # type: ignore[no-untyped-def]
    """data[slots] += K for element blocks K (E, n, n); negative slots are skipped."""
    E, n, m = K.shape
    for e in range(E):
        for a in range(n):
            for b in range(m):
                at = slots[e, a, b]
                if at >= 0:
                    data[at] += K[e, a, b]


@kernel
def scatter_vector(index, r, out):  # type: ignore[no-untyped-def]
    """out[index] += r for element vectors r (E, n); negative indices are skipped."""
    E, n = r.shape
    for e in range(E):
        for a in range(n):
            at = index[e, a]
            if at >= 0:
                out[at] += r[e, a]


@kernel
def scatter_vectors(index, r, modes, gap, out):  # type: ignore[no-untyped-def]
    """`scatter_vector` of coordinates r (E, n) and of the gaps (E, 3p) of stress modes."""
    scatter_vector(index, r, out)
    scatter_vector(modes, gap, out)


@kernel
def scatter_mixed(elements, K, down, up, inner, coupling, compliance, data):  # type: ignore[no-untyped-def]
    """`scatter` of K, of the couplings of stress modes and their mirror image, and of compliances."""
    scatter(elements, K, data)
    scatter(down, coupling, data)
    scatter(up, coupling, data)
    scatter(inner, compliance, data)


@kernel
def add_at(rows, x, out):  # type: ignore[no-untyped-def]
    """out[rows] += x[rows]."""
    for at in rows:
        out[at] += x[at]


@kernel
def largest(x, rows):  # type: ignore[no-untyped-def]
    """Largest size of the entries x[rows]."""
    most = 0.0
    for at in rows:
        most = max(most, abs(x[at]))
    return most


@kernel
def norms(r, free, rows, weights):  # type: ignore[no-untyped-def]
    """Norm of the forces r[free] and of the weighted gaps r[rows]."""
    forces = 0.0
    for at in free:
        forces += r[at] * r[at]
    gaps = 0.0
    for i in range(len(rows)):
        gap = weights[i] * r[rows[i]]
        gaps += gap * gap
    return np.sqrt(forces), np.sqrt(gaps)


@kernel
def _factor_band(data, A, d):  # type: ignore[no-untyped-def]
    """L D L^T of a symmetric band matrix by columns, A[j, i - j] for i >= j, from its flat `data`.

    No pivoting: the number of negative entries of d is the number of negative eigenvalues. Returns
    that number, or -1 if a pivot is lost to rounding. Columns are taken off the rest in pairs.
    """
    n, width = A.shape
    u = np.zeros(width + 2)
    v = np.zeros(width + 1)
    for j in range(n):
        _copy(data[j * width : (j + 1) * width], A[j])
    negative = 0
    for j in range(0, n, 2):
        first = _finish_column(A[j], u, min(width, n - j))
        d[j] = first
        if not abs(first) > 1e-15 * abs(data[j * width]):
            return -1
        negative += first < 0.0
        if j + 1 == n:
            break
        _subtract(A[j + 1], A[j, 1], u[1:], min(width, n - j) - 1)
        reach = min(width, n - j - 1)
        second = _finish_column(A[j + 1], v, reach)
        d[j + 1] = second
        if not abs(second) > 1e-15 * abs(data[(j + 1) * width]):
            return -1
        negative += second < 0.0
        for a in range(1, reach):
            f, g = u[a + 1] / first, v[a] / second
            column, p, q = A[j + 1 + a], u[a + 1 :], v[a:]
            for b in range(reach - a):
                column[b] -= f * p[b] + g * q[b]
    return negative


@leaf
def _copy(source, out):  # type: ignore[no-untyped-def]
    for b in range(len(out)):
        out[b] = source[b]


@leaf
def _subtract(column, f, u, reach):  # type: ignore[no-untyped-def]
    """column -= f u over `reach` entries."""
    for b in range(reach):
        column[b] -= f * u[b]


@leaf
def _finish_column(column, u, reach):  # type: ignore[no-untyped-def]
    """Keep a column of D L^T in u, with a zero behind it, leave that of L, and return the pivot."""
    pivot = column[0]
    for b in range(reach):
        u[b] = column[b]
    u[reach] = 0.0
    inverse = 1.0 / pivot
    for b in range(1, reach):
        column[b] = u[b] * inverse
    return pivot


@kernel
def _solve_band(A, d, b):  # type: ignore[no-untyped-def]
    """Solve with the factor of `_factor_band`, in place."""
    n, width = A.shape
    for j in range(n):
        v = b[j]
        for a in range(1, min(width, n - j)):
            b[j + a] -= A[j, a] * v
    for j in range(n):
        b[j] /= d[j]
    for j in range(n - 1, -1, -1):
        v = b[j]
        for a in range(1, min(width, n - j)):
            v -= A[j, a] * b[j + a]
        b[j] = v


class BandedSymmetric:
    """Lower band by columns, L D L^T without pivoting, inertia from D."""

    def __init__(self, n: int, bandwidth: int) -> None:
        self.n = n
        self.bandwidth = bandwidth
        self.data = np.zeros(n * (bandwidth + 1))
        self._factor = np.zeros((n, bandwidth + 1))
        self._d = np.zeros(n)
        self.negative: int | None = None

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        at = cols * (self.bandwidth + 1) + rows - cols
        return np.where((rows >= 0) & (cols >= 0) & (cols <= rows), at, SKIP)

    def factorise(self) -> None:
        negative = _factor_band(self.data, self._factor, self._d)
        if negative < 0:
            raise SingularError("the tangent is singular")
        self.negative = negative

    def solve(self, b: Array) -> Array:
        x = b.copy()
        _solve_band(self._factor, self._d, x)
        return x


class BandedGeneral:
    """LAPACK band storage with partial pivoting, for tangents that are not symmetric."""

    def __init__(self, n: int, bandwidth: int) -> None:
        self.n = n
        self.bandwidth = bandwidth
        self.rows = 3 * bandwidth + 1
        self.data = np.zeros(n * self.rows)
        self.negative: int | None = None

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        at = cols * self.rows + 2 * self.bandwidth + rows - cols
        return np.where((rows >= 0) & (cols >= 0), at, SKIP)

    def factorise(self) -> None:
        band = self.data.reshape(self.n, self.rows).T
        self._lu, self._pivots, info = lapack.dgbtrf(band, self.bandwidth, self.bandwidth)
        if info != 0:
            raise SingularError("the tangent is singular")

    def solve(self, b: Array) -> Array:
        x, _ = lapack.dgbtrs(self._lu, self.bandwidth, self.bandwidth, b, self._pivots)
        return np.asarray(x)


class _Sparse:
    """Compressed columns with a pattern fixed at construction."""

    def __init__(self, n: int, pairs: list[tuple[Ints, Ints]], symmetric: bool) -> None:
        self.n = n
        self.negative: int | None = None
        self._symmetric = symmetric
        rows = np.concatenate([r.ravel() for r, _ in pairs] + [np.arange(n)])
        cols = np.concatenate([c.ravel() for _, c in pairs] + [np.arange(n)])
        keep = (rows >= 0) & (cols >= 0)
        if symmetric:
            keep &= rows <= cols
        self._keys = np.unique(cols[keep] * n + rows[keep])
        self.data = np.zeros(len(self._keys))
        indptr = np.searchsorted(self._keys // n, np.arange(n + 1))
        self.matrix = csc_matrix((self.data, self._keys % n, indptr), shape=(n, n))
        self.matrix.data = self.data
        self.diagonal = np.searchsorted(self._keys, np.arange(n) * (n + 1))

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        ok = (rows >= 0) & (cols >= 0)
        if self._symmetric:
            ok &= rows <= cols
        at = np.searchsorted(self._keys, cols * self.n + rows)
        return np.where(ok, np.minimum(at, len(self._keys) - 1), SKIP)


class SparseSymmetric(_Sparse):
    """qdldl on the upper triangle, for matrices with as many negative pivots as `saddle` unknowns.

    Stress modes and multipliers (`saddle`) get a tiny compliance and all other unknowns a tiny
    stiffness, so that no pivot vanishes in whatever order; refinement against the true matrix takes
    both out again.
    """

    def __init__(self, n: int, pairs: list[tuple[Ints, Ints]], saddle: Ints) -> None:
        super().__init__(n, pairs, True)
        self._shift = np.ones(n)
        self._shift[saddle] = -1.0
        self._solver: Any = None

    def factorise(self) -> None:
        import qdldl

        stiff = self._shift > 0
        size = np.abs(self.data[self.diagonal])
        scale = max(float(np.max(size[stiff], initial=0.0)), 1e-300)
        regular = self.matrix.copy()
        regular.data[self.diagonal] += np.where(stiff, _REGULARISE * scale, -_REGULARISE / scale)
        try:
            self._solver = qdldl.Solver(regular, upper=True)
        except Exception as error:  # qdldl raises its own types on a zero pivot
            raise SingularError("the tangent is singular") from error
        D = np.asarray(self._solver.factors()[1])
        self.negative = int(np.count_nonzero(D < 0))
        full = self.matrix + self.matrix.T
        full.setdiag(self.matrix.diagonal())
        self._full = full.tocsr()

    def solve(self, b: Array) -> Array:
        x = np.asarray(self._solver.solve(b))
        size = gap = float(np.linalg.norm(b))
        for _ in range(_REFINEMENTS):
            r = b - self._full @ x
            gap = float(np.linalg.norm(r))
            if not gap > 1e-14 * size:
                break
            x = x + self._solver.solve(r)
        if not gap <= 1e-4 * size:
            raise SingularError("the tangent is singular")
        return x


class SparseGeneral(_Sparse):
    """SuperLU for tangents that are neither symmetric nor narrow."""

    def __init__(self, n: int, pairs: list[tuple[Ints, Ints]]) -> None:
        super().__init__(n, pairs, False)

    def factorise(self) -> None:
        try:
            self._lu = splu(self.matrix)
        except RuntimeError as error:
            raise SingularError("the tangent is singular") from error

    def solve(self, b: Array) -> Array:
        return np.asarray(self._lu.solve(b))


def make_matrix(
    n: int, pairs: list[tuple[Ints, Ints]], saddle: Ints, multipliers: int, symmetric: bool
) -> Matrix:
    """The storage that suits the pattern given as index pairs (E, a, b) of element blocks.

    saddle : unknowns with negative pivots, the last `multipliers` of which belong to constraints.
    """
    spread = 0
    for rows, cols in pairs:
        both = (rows >= 0) & (cols >= 0)
        if np.any(both):
            spread = max(spread, int(np.max(np.abs(rows - cols)[both])))
    narrow = spread <= 90 or n <= 200 or 2 * spread >= n
    if symmetric and (multipliers or not narrow):
        return SparseSymmetric(n, pairs, saddle)
    if symmetric:
        return BandedSymmetric(n, spread)
    return BandedGeneral(n, spread) if narrow else SparseGeneral(n, pairs)
