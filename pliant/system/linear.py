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
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.linalg import splu

from pliant._numba import kernel
from pliant.system.band import factor_band, solve_band

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
    """`scatter_vector` of coordinates r (E, n) and of the gaps (E, pR) of stress modes."""
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


class BandedSymmetric:
    """Lower band by columns, L D L^T without pivoting, inertia from D."""

    def __init__(self, n: int, bandwidth: int) -> None:
        self.n = n
        self.bandwidth = bandwidth
        self.data = np.zeros(n * (bandwidth + 1))
        self._factor = np.zeros((n, bandwidth + 1))
        self._d = np.zeros(n)
        self._work = np.zeros(2 * bandwidth + 5)
        self.negative: int | None = None

    def slots(self, rows: Ints, cols: Ints) -> Ints:
        at = cols * (self.bandwidth + 1) + rows - cols
        return np.where((rows >= 0) & (cols >= 0) & (cols <= rows), at, SKIP)

    def factorise(self) -> None:
        negative = factor_band(self.data, self._factor, self._d, self._work)
        if negative < 0:
            raise SingularError("the tangent is singular")
        self.negative = negative

    def solve(self, b: Array) -> Array:
        x = b.copy()
        solve_band(self._factor, self._d, x)
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
        self._stiff = np.ones(n, dtype=bool)
        self._stiff[saddle] = False
        self._solver: Any = None
        self._regular = self.matrix.copy()
        rows, cols = self._keys % n, self._keys // n
        above = np.flatnonzero(rows < cols)
        keys = np.concatenate([rows * n + cols, cols[above] * n + rows[above]])
        order = np.argsort(keys)
        self._mirrored = np.concatenate([np.arange(len(rows)), above])[order]
        indptr = np.searchsorted(keys[order] // n, np.arange(n + 1))
        self._full = csr_matrix((np.zeros(len(keys)), keys[order] % n, indptr), shape=(n, n))

    def factorise(self) -> None:
        size = np.abs(self.data[self.diagonal])
        scale = max(float(np.max(size[self._stiff], initial=0.0)), 1e-300)
        shift = np.where(self._stiff, _REGULARISE * scale, -_REGULARISE / scale)
        self._regular.data[...] = self.data
        self._regular.data[self.diagonal] += shift
        self._full.data[...] = self.data[self._mirrored]
        if not self._refactorise(shift):
            import qdldl

            try:
                self._solver = qdldl.Solver(self._regular, upper=True)
            except Exception as error:  # qdldl raises its own types on a zero pivot
                self._solver = None
                raise SingularError("the tangent is singular") from error
        self.negative = int(np.count_nonzero(self._solver.factors()[1] < 0))

    def _refactorise(self, shift: Array) -> bool:
        """New numbers in the ordering and pattern of the last factor; False if that did not work.

        qdldl does not tell when it meets a zero pivot here: a probe does.
        """
        if self._solver is None:
            return False
        self._solver.update(self._regular, upper=True)
        probe = np.cos(np.arange(self.n))
        x = self._solver.solve(probe)
        gap = probe - self._full @ x - shift * x
        return bool(np.linalg.norm(gap) <= 1e-3 * np.linalg.norm(probe))

    def solve(self, b: Array) -> Array:
        x = np.asarray(self._solver.solve(b))
        size = gap = float(np.linalg.norm(b))
        for _ in range(_REFINEMENTS):
            r = b - self._full @ x
            gap = float(np.linalg.norm(r))
            if not gap > 1e-14 * size:
                break
            x = x + self._solver.solve(r)
        return x if gap <= 1e-4 * size else self._pivoted(b, size)

    def _pivoted(self, b: Array, size: float) -> Array:
        """Solve with row exchanges, where the factor without them is too rough to be refined."""
        try:
            x = np.asarray(splu(self._full.tocsc()).solve(b))
        except RuntimeError as error:
            raise SingularError("the tangent is singular") from error
        gap = float(np.linalg.norm(b - self._full @ x))
        # a free motion leaves a solution without bounds
        if not gap <= 1e-6 * size or not np.linalg.norm(x) < 1e12 * size * self._flexibility():
            raise SingularError("the tangent is singular")
        return x

    def _flexibility(self) -> float:
        """Typical displacement for a unit force: one over the softest stiffness on the diagonal."""
        stiff = np.abs(self.data[self.diagonal])[self._stiff]
        return 1.0 / max(float(np.min(stiff[stiff > 0.0], initial=np.inf)), 1e-300)


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
