"""Stiffness, mass and constraint matrices of a robot about one configuration."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from pliant.rods.contract import Array
from pliant.system.assembly import assemble_bilinear, mass_fill
from pliant.system.balance import balance
from pliant.system.linear import Sparse
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import Tangent, make_tangent


def linearise(
    system: System, q: Array, mult: Array, loading: Loading
) -> tuple[csr_matrix, csr_matrix]:
    """Stiffness K and mass M (n + m, n + m) of the unknowns, sparse.

    K holds stress modes and constraints beside the coordinates (symmetric indefinite), M is zero
    there: K z = omega^2 M z are the free vibrations.
    """
    filled = _sparse_tangent(system)
    matrix = filled.matrix
    assert isinstance(matrix, Sparse)
    system.place(q, mass=True)
    balance(system, mult, loading, True, symmetric=False, chart=False, filled=filled)
    K = matrix.matrix.copy()
    matrix.data[...] = 0.0
    levels = [block.level for block in system.blocks]
    assemble_bilinear(system, levels, levels, mass_fill(system, levels), filled)
    return K.tocsr(), matrix.matrix.copy().tocsr()


def condensed(system: System, K: csr_matrix, M: csr_matrix) -> tuple[Array, Array, Array]:
    """Dense stiffness and mass (c, c) of the coordinates with stress modes eliminated, and the
    constraint Jacobian (m, c).
    """
    free, modes = system.coordinates, system.mode_unknowns
    links = np.arange(system.n, system.n + system.m)
    Kx = K[free][:, free].toarray()
    if len(modes):
        A = K[modes][:, free].toarray()
        Kx -= K[free][:, modes].toarray() @ np.linalg.solve(K[modes][:, modes].toarray(), A)
    return Kx, M[free][:, free].toarray(), K[links][:, free].toarray()


def _sparse_tangent(system: System) -> Tangent:
    """A tangent in general sparse storage, whatever suits the solver."""
    return make_tangent(system, Sparse)
