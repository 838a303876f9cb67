"""Vibration modes about an equilibrium: K x = omega^2 M x on the motions the constraints allow.

Damping is left out. Stress modes of mixed rods carry no mass and are condensed. Small robots are
solved densely on the null space of the constraints, large ones by Lanczos iterations on the sparse
matrices with the multipliers kept. Both work with the inverse of K + shift M, in which the lowest
modes are the most accurate and rigid motions or massless directions do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eig, eigh, null_space, solve
from scipy.sparse import block_array, csc_array, csr_array, dia_array
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from pliant.model import ConvergenceError
from pliant.rods.contract import Array, Ints
from pliant.system.assembly import assemble_bilinear, mass_fill
from pliant.system.balance import balance
from pliant.system.linear import Matrix
from pliant.system.loading import Loading
from pliant.system.system import System

DENSE = 400
"""Unknowns up to which the eigenvalues are computed densely."""
_RIGID = 1e-5
"""Eigenvalues below this part of the robot's own scale are rigid motions."""
_STILL = 1e-4
"""Growth below this part of the frequency is rounding."""

Values = NDArray[np.complex128] | Array


@dataclass
class Linearised:
    """Tangent stiffness K and mass M (n, n), held rows A (m, n) at one equilibrium.

    `coordinates` are the numbers of the true coordinates among the n unknowns; the others are stress
    modes, without mass.
    """

    K: csr_array
    M: csr_array
    A: csr_array
    coordinates: Ints
    symmetric: bool


@dataclass
class ModalSolution:
    """What an eigenvalue computation found, lowest first.

    eigenvalues (k,) omega^2 in rad^2/s^2, complex where loads that follow the robot make them so;
    frequencies (k,) Hz, 0 for rigid motions; growth (k,) 1/s, above zero where the equilibrium is
    unstable; vectors (n, k) coordinate rates of unit modal mass.
    """

    eigenvalues: Values
    frequencies: Array
    growth: Array
    vectors: Array


def linearise(system: System, q: Array, mult: Array, loading: Loading) -> Linearised:
    """Return the matrices of small motions about the equilibrium (q, mult)."""
    filled = system.tangent(False)
    system.place(q, mass=True)
    balance(system, mult, loading, True, False, chart=False)
    full = _sparse(filled.matrix)
    filled.matrix.data[...] = 0.0
    system.place(q, mass=True)
    levels = [block.level for block in system.blocks]
    assemble_bilinear(system, levels, levels, mass_fill(system, levels), filled)
    n = system.n
    mass = _sparse(filled.matrix)[:n, :n]
    K = full[:n, :n]
    symmetric = loading.conservative
    if symmetric:
        K = 0.5 * (K + K.T)
    return Linearised(K, 0.5 * (mass + mass.T), full[n:, :n], system.coordinates, symmetric)


def _sparse(matrix: Matrix) -> csr_array:
    """Return what a general tangent holds as a sparse matrix of its own."""
    stored = getattr(matrix, "matrix", None)
    if stored is not None:
        return csr_array(stored)
    width = matrix.bandwidth  # type: ignore[attr-defined]
    band = matrix.data.reshape(matrix.n, -1).T
    offsets = np.arange(-width, width + 1)
    return csr_array(dia_array((band[2 * width - offsets], offsets), shape=(matrix.n, matrix.n)))


def modal_analysis(
    system: System, q: Array, mult: Array, loading: Loading, count: int
) -> ModalSolution:
    """Return the `count` lowest modes about the equilibrium (q, mult) under `loading`."""
    lines = linearise(system, q, mult, loading)
    scale = natural_scale(system)
    dense = len(lines.coordinates) <= DENSE or not lines.symmetric
    free = len(lines.coordinates) - lines.A.shape[0]
    wanted = max(1, min(count, free if dense else free - 2))
    values, vectors = (_dense if dense else _lanczos)(lines, wanted, scale)
    order = np.argsort(values.real, kind="stable")
    values, vectors = values[order], vectors[:, order]
    values = np.where(np.abs(values) < _RIGID * scale, 0.0, values)
    roots = np.sqrt(values.astype(complex))
    growth = np.where(np.abs(roots.imag) > _STILL * np.abs(roots), np.abs(roots.imag), 0.0)
    if not np.any(growth):
        values = values.real
    return ModalSolution(values, roots.real / (2.0 * np.pi), growth, vectors)


def natural_scale(system: System) -> float:
    """Return EI / (rho A L^4), rad^2/s^2: the square of the robot's slowest bending, to an order."""
    length = sum(block.rod.length for block in system.blocks)
    bending = np.concatenate([np.atleast_2d(b.rod.stiffness(b.mass_s))[:, :2] for b in system.blocks])
    mass = sum(float(np.sum(b.line_mass)) for b in system.blocks)
    return float(bending.mean()) / (mass * length**3)


def _dense(lines: Linearised, count: int, scale: float) -> tuple[Values, Array]:
    keep = lines.coordinates
    rest = np.setdiff1d(np.arange(lines.K.shape[0]), keep)
    K, M = lines.K.toarray(), lines.M.toarray()[np.ix_(keep, keep)]
    reduced = K[np.ix_(keep, keep)]
    if len(rest):
        inner = solve(K[np.ix_(rest, rest)], K[np.ix_(rest, keep)])
        reduced = reduced - K[np.ix_(keep, rest)] @ inner
    A = lines.A.toarray()[:, keep]
    N = null_space(A) if len(A) else np.eye(len(keep))
    reduced, M = N.T @ reduced @ N, N.T @ M @ N
    values, small = (_symmetric if lines.symmetric else _general)(reduced, M, count, scale)
    vectors = np.zeros((len(K), count))
    vectors[keep] = N @ small
    return values, vectors


def _symmetric(K: Array, M: Array, count: int, scale: float) -> tuple[Array, Array]:
    size = len(K)
    for shift in scale * 10.0 ** np.arange(0, 17, 2):
        try:
            found, vectors = eigh(M, K + shift * M, subset_by_index=(size - count, size - 1))
        except LinAlgError:  # an unstable equilibrium: shift beyond its most negative eigenvalue
            continue
        if found[0] <= 0.0:
            break
        # eigh gives unit x.(K + shift M) x = 1, and x.M x = found
        return 1.0 / found - shift, vectors / np.sqrt(found)
    raise _no_modes()


def _general(K: Array, M: Array, count: int, scale: float) -> tuple[Values, Array]:
    found, vectors = eig(solve(K + scale * M, M))
    best = np.argsort(-np.abs(found), kind="stable")[:count]
    if not np.all(np.abs(found[best]) > 0.0):
        raise _no_modes()
    shapes = vectors[:, best].real
    modal = np.einsum("ik,ij,jk->k", shapes, M, shapes)
    return 1.0 / found[best] - scale, shapes / np.sqrt(np.maximum(modal, 1e-300))


def _lanczos(lines: Linearised, count: int, scale: float) -> tuple[Array, Array]:
    n, m = lines.K.shape[0], lines.A.shape[0]
    K = csc_array(block_array([[lines.K, lines.A.T], [lines.A, None]]) if m else lines.K)
    empty = csr_array((m, m))
    M = csc_array(block_array([[lines.M, None], [None, empty]]) if m else lines.M)
    try:
        factor = splu(csc_array(K + scale * M))
        inverse = LinearOperator(K.shape, matvec=factor.solve)
        start = factor.solve(M @ np.random.default_rng(0).standard_normal(n + m))
        values, vectors = eigsh(K, k=count, M=M, sigma=-scale, OPinv=inverse, v0=start)
    except (RuntimeError, ArithmeticError) as error:
        raise _no_modes() from error
    return values, vectors[:n]


def _no_modes() -> ConvergenceError:
    return ConvergenceError(
        "the modes could not be computed: fewer motions carry mass than modes were asked for, or the "
        "equilibrium is far from stable; ask for fewer modes, or check density and inertia"
    )
