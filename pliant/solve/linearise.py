"""Stiffness, mass and constraint matrices of a robot about one configuration."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from pliant.linalg.matrices import Sparse
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.balance import balance
from pliant.solve.mass import fill_mass
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work


def linearise(
    effects: Effects, q: Array, z: Array, inputs: Inputs, memory: Array | None = None
) -> tuple[csr_matrix, csr_matrix]:
    """Stiffness K and mass M (n + m, n + m) of the unknowns, sparse.

    K holds force fields and constraints beside the coordinates (symmetric indefinite), M is zero
    there: K x = omega^2 M x are the free vibrations.  memory : see `Moment`; what sticks has the
    stiffness with which it sticks.
    """
    tree = effects.tree
    tangent = Tangent(tree, Sparse, effects.pairs())
    matrix = tangent.matrix
    assert isinstance(matrix, Sparse)
    state, work = State(tree).place(q), Work(tree)
    balance(effects, state, work, inputs, z, tangent, chart=False, memory=memory)
    K = matrix.matrix.copy()
    tangent.clear()
    fill_mass(tree, state, work, tangent)
    return K.tocsr(), matrix.matrix.copy().tocsr()


def condensed(effects: Effects, K: csr_matrix, M: csr_matrix) -> tuple[Array, Array, Array]:
    """Dense stiffness and mass (c, c) of the coordinates with force fields and rows that give way
    eliminated, and the Jacobian (m, c) of the rows that do not.
    """
    tree = effects.tree
    free, multipliers = tree.coordinates, tree.multipliers
    soft = K.diagonal()[multipliers] != 0.0
    fields, multipliers = np.append(tree.fields, multipliers[soft]), multipliers[~soft]
    Kx = K[free][:, free].toarray()
    if len(fields):
        A = K[fields][:, free].toarray()
        Kx -= K[free][:, fields].toarray() @ np.linalg.solve(K[fields][:, fields].toarray(), A)
    return Kx, M[free][:, free].toarray(), K[multipliers][:, free].toarray()
