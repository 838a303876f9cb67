"""Vibration modes about an equilibrium: K x = omega^2 M x on the motions the constraints allow.

Damping is left out. Small robots are solved densely, with the force fields of mixed rods condensed
and the constraints met by their null space; large ones by Lanczos iterations on the sparse matrices
of all unknowns. Both work with the inverse of K + shift M, in which the lowest modes are the most
accurate and rigid motions or massless directions do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eig, eigh, null_space
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from pliant.model import ConvergenceError
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.linearise import condensed, linearise

DENSE = 400
"""Coordinates up to which the eigenvalues are computed densely."""
_RIGID = 1e-5
"""Eigenvalues below this part of the robot's own scale are rigid motions."""
_STILL = 1e-4
"""Growth below this part of the frequency is rounding."""

Values = NDArray[np.complex128] | Array


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


def modal_analysis(
    effects: Effects,
    q: Array,
    z: Array,
    inputs: Inputs,
    count: int,
    memory: Array | None = None,
) -> ModalSolution:
    """Return the `count` lowest modes about the equilibrium (q, z) under `inputs`.

    Fewer come back if the robot has fewer coordinates.
    """
    K, M = linearise(effects, q, z, inputs, memory)
    tree = effects.tree
    scale = natural_scale(effects)
    size = len(tree.coordinates)
    symmetric = effects.conservative(inputs.u)
    if size <= DENSE or not symmetric:
        values, vectors = _dense(effects, K, M, count, scale, symmetric)
    else:
        values, vectors = _lanczos(effects, K, M, min(count, size - tree.m - 2), scale)
    order = np.argsort(values.real, kind="stable")
    values, vectors = values[order], vectors[:, order]
    values = np.where(np.abs(values) < _RIGID * scale, 0.0, values)
    roots = np.sqrt(values.astype(complex))
    growth = np.where(np.abs(roots.imag) > _STILL * np.abs(roots), np.abs(roots.imag), 0.0)
    if not growth.any():
        values = values.real
    return ModalSolution(values, roots.real / (2.0 * np.pi), growth, vectors)


def natural_scale(effects: Effects) -> float:
    """Return the mean EI / (rho A L^4), rad^2/s^2: the size of the slowest bending's omega^2."""
    rods = [part for part in effects.tree.parts if part.rod is not None]
    mass = sum(float(np.sum(part.M[:, 3])) for part in effects.tree.parts)
    if not rods:
        return 9.81 / effects.tree.length
    length = sum(part.length for part in rods)
    bending = [part.rod.stiffness(part.mass_s)[:, :2] for part in rods if part.rod is not None]
    return float(np.concatenate(bending).mean()) / (mass * length**3)


def _dense(
    effects: Effects, K: csr_matrix, M: csr_matrix, count: int, scale: float, symmetric: bool
) -> tuple[Values, Array]:
    stiffness, mass, A = condensed(effects, K, M)
    N = null_space(A) if len(A) else np.eye(len(stiffness))
    stiffness, mass = N.T @ stiffness @ N, N.T @ mass @ N
    wanted = min(count, len(stiffness))
    if not wanted:
        return np.zeros(0), np.zeros((effects.tree.total, 0))
    if symmetric:
        values, small = _symmetric(0.5 * (stiffness + stiffness.T), mass, wanted, scale)
    else:
        values, small = _general(stiffness, mass, wanted, scale)
    vectors = np.zeros((effects.tree.total, wanted))
    vectors[effects.tree.coordinates] = N @ small
    return values, vectors


def _symmetric(K: Array, M: Array, count: int, scale: float) -> tuple[Values, Array]:
    size = len(K)
    for shift in scale * 10.0 ** np.arange(0, 17, 2):
        try:
            found, vectors = eigh(M, K + shift * M, subset_by_index=(size - count, size - 1))
        except LinAlgError:  # an unstable equilibrium: shift beyond its most negative eigenvalue
            continue
        if found[0] <= 0.0:
            break
        # eigh gives x.(K + shift M) x = 1, so that x.M x = found
        return 1.0 / found - shift, vectors / np.sqrt(found)
    raise _no_modes()


def _general(K: Array, M: Array, count: int, scale: float) -> tuple[Values, Array]:
    shifted = K + scale * M
    # turns and lengths in units in which they are alike: small robots would else be ill-conditioned
    sizes = np.abs(np.diagonal(shifted))
    units = np.sqrt(np.where(sizes > 0.0, sizes, sizes.max(initial=1.0)))
    both = np.outer(units, units)
    try:
        found, vectors = eig(np.linalg.solve(shifted / both, M / both))
    except LinAlgError as error:
        raise _no_modes() from error
    vectors = vectors / units[:, None]
    best = np.argsort(-np.abs(found), kind="stable")[:count]
    shapes = vectors[:, best].real
    modal = np.einsum("ik,ij,jk->k", shapes, M, shapes)
    if not (np.abs(found[best]) > 0.0).all() or not (modal > 0.0).all():
        raise _no_modes()
    return 1.0 / found[best] - scale, shapes / np.sqrt(modal)


def _lanczos(
    effects: Effects, K: csr_matrix, M: csr_matrix, count: int, scale: float
) -> tuple[Values, Array]:
    stiffness, mass = csc_matrix(0.5 * (K + K.T)), csc_matrix(0.5 * (M + M.T))
    try:
        factor = splu(csc_matrix(stiffness + scale * mass))
        inverse = LinearOperator(K.shape, matvec=factor.solve)
        start = factor.solve(mass @ np.random.default_rng(0).standard_normal(K.shape[0]))
        values, vectors = eigsh(stiffness, k=count, M=mass, sigma=-scale, OPinv=inverse, v0=start)
    except (RuntimeError, ArpackError) as error:
        raise _no_modes() from error
    tree = effects.tree
    whole = np.zeros((tree.total, vectors.shape[1]))
    whole[tree.coordinates] = vectors[tree.coordinates]
    return values, whole


def _no_modes() -> ConvergenceError:
    return ConvergenceError(
        "the modes could not be computed: fewer motions carry mass than modes were asked for, or "
        "the equilibrium is far from stable; ask for fewer modes, or check density, inertia, "
        "and rotary inertia of rods that can spin"
    )
