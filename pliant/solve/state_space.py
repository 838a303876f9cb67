"""Small motions about an equilibrium as a linear system of first order.

Displacements are x = Phi y + X w, with Phi (total, k) motions that the constraints allow and w the
inputs that prescribe joints. Force fields and compliant constraints are eliminated; hard constraints
are met by Phi and X. With M, D and K for all coordinates, the prescribed ones among them,

    Mr y'' + Dr y' + Kr y = F u - Phi^T (M X w'' + D X w' + K X w).

X is the static response S to the inputs w plus Phi E with Mr E = -Phi^T M S, so that Phi^T M X = 0: the
acceleration of w drops out. What is left of its rate is taken into the second state,
y' + Mr^-1 Phi^T D X w. The system so has w itself as input. `docs/theory/linearisation.md` has the
derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eig, null_space
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from pliant.linalg.matrices import Sparse
from pliant.model import ConvergenceError, DescriptionError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array
from pliant.solve.mass import fill_mass
from pliant.solve.modes import DENSE, modal_analysis
from pliant.solve.response import Response
from pliant.solve.statics import StaticSolution
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

_LIGHT = 1e-13
"""Smallest part of the largest modal mass; below, a motion has no mass."""


@dataclass
class Matrices:
    """Stiffness K, damping D and mass M (total, total) about an equilibrium, sparse, with force fields,
    multipliers and prescribed coordinates.
    """

    K: csc_matrix
    D: csc_matrix
    M: csc_matrix


def matrices(effects: Effects, found: StaticSolution) -> Matrices:
    """The matrices of small motions about an equilibrium."""
    tree = effects.tree
    tangent = Tangent(tree, Sparse, effects.pairs(), prescribed=True)
    state, work = State(tree).place(found.q), Work(tree)
    set_rates(tree, state, work, np.zeros(tree.total))
    K = _tangent(effects, found, state, work, tangent, 0.0)
    faster = _tangent(effects, found, state, work, tangent, 1.0)
    tangent.clear()
    fill_mass(tree, state, work, tangent)
    assert isinstance(tangent.matrix, Sparse)
    return Matrices(K, csc_matrix(faster - K), tangent.matrix.matrix.copy())


def _tangent(
    effects: Effects,
    found: StaticSolution,
    state: State,
    work: Work,
    tangent: Tangent,
    speed: float,
) -> csc_matrix:
    """K + speed D, by what terms do at rest while rates change by `speed` with the coordinates."""
    tree = effects.tree
    work.clear(True)
    tangent.clear()
    meet_moving(work, state, speed)
    v = np.zeros(tree.total)
    moment = Moment(tree, state, work, found.inputs.u, found.z, v, speed, tangent)
    for term in effects.terms:
        term.act(moment)
    gather(tree, state, work, work.residual)
    gather_tangent(tree, state, work, tangent)
    assert isinstance(tangent.matrix, Sparse)
    return tangent.matrix.matrix.copy()


class Condensed:
    """Matrices with force fields and compliant constraints eliminated, as products with vectors."""

    def __init__(self, effects: Effects, whole: Matrices) -> None:
        tree = effects.tree
        self.whole = whole
        multipliers = tree.multipliers
        soft = np.abs(whole.K.diagonal()[multipliers]) > 0.0
        self.inner = np.concatenate([tree.fields, multipliers[soft]]).astype(np.int64)
        self.hard = multipliers[~soft]
        self.outer = np.setdiff1d(np.arange(tree.total), np.concatenate([self.inner, self.hard]))
        self._factor = None
        if len(self.inner):
            self._factor = splu(csc_matrix(whole.K[self.inner][:, self.inner]))

    def products(self, left: Array, right: Array) -> tuple[Array, Array, Array]:
        """left^T K right, left^T D right and left^T M right of displacements (total, k)."""
        K, D, M = self.whole.K, self.whole.D, self.whole.M
        Kr, Dr = K @ right, D @ right
        found = [left.T @ Kr, left.T @ Dr, left.T @ (M @ right)]
        if self._factor is not None:
            i = self.inner
            before = self._factor.solve(np.asarray(Kr[i]))
            faster = self._factor.solve(np.asarray(Dr[i]))
            Kl, Dl = (left.T @ matrix[:, i] for matrix in (K, D))
            found[0] -= Kl @ before
            found[1] -= Kl @ faster + Dl @ before
        return found[0], found[1], found[2]

    def allowed(self, coordinates: Array) -> Array:
        """Motions (total, k) of the coordinates that hard constraints allow, orthonormal."""
        A = self.whole.K[self.hard][:, coordinates].toarray()
        N = null_space(A) if len(A) else np.eye(len(coordinates))
        basis = np.zeros((self.whole.K.shape[0], N.shape[1]))
        basis[coordinates] = N
        return basis


@dataclass
class LinearSystem:
    """x' = A x + B u, y = C x + D u for x = (y, v), and the motions (total, k) that y stands for."""

    A: Array
    B: Array
    C: Array
    D: Array
    basis: Array


def linear_system(
    response: Response,
    found: StaticSolution,
    values: Mapping[str, Any],
    names: Sequence[str],
    rows: Array,
    modes: int | None,
) -> LinearSystem:
    """The linear system about an equilibrium that a response looks at.

    names : of inputs; values : of all of them.  rows (p, total) : outputs as products with
    displacements.  modes : of vibration to keep; None for all motions.
    """
    effects = response.effects
    whole = Condensed(effects, matrices(effects, found))
    basis = _basis(effects, whole, found, modes)
    Kr, Dr, Mr = whole.products(basis, basis)
    factor = _mass_factor(Mr)
    k = len(Mr)
    columns = []
    for name in names:
        value = np.asarray(values[name], dtype=float)
        for j in range(value.size):
            unit = np.zeros(value.size)
            unit[j] = 1.0
            given = response.input_forces(name, value, unit.reshape(value.shape))
            columns.append(_input_column(response, whole, basis, factor, (Kr, Dr), given, rows))
    A = np.zeros((2 * k, 2 * k))
    A[:k, k:] = np.eye(k)
    A[k:, :k], A[k:, k:] = -cho_solve(factor, Kr), -cho_solve(factor, Dr)
    B = np.array([column[0] for column in columns]).reshape(len(columns), 2 * k).T
    D = np.array([column[1] for column in columns]).reshape(len(columns), len(rows)).T
    C = np.concatenate([rows @ basis, np.zeros((len(rows), k))], axis=1)
    return LinearSystem(A, B, C, D, basis)


def _input_column(
    response: Response,
    whole: Condensed,
    basis: Array,
    factor: Any,
    reduced: tuple[Array, Array],
    given: tuple[Array, Array],
    rows: Array,
) -> tuple[Array, Array]:
    """Columns (2 k,) of B and (p,) of D of an input, from its forces (size,) and prescribed rates."""
    forces, moved = given
    Kr, Dr = reduced
    size, k = response.tree.size, basis.shape[1]
    B = np.zeros(2 * k)
    if not moved.any():
        load = np.zeros(response.tree.total)
        load[:size] = -forces
        right = basis.T @ load
        if whole._factor is not None:
            inner = whole.inner
            right -= basis.T @ (whole.whole.K[:, inner] @ whole._factor.solve(load[inner]))
        B[k:] = cho_solve(factor, right)
        return B, np.zeros(len(rows))
    static = (response.solve(-forces) + moved)[:, None]
    static[whole.inner] = 0.0
    static[whole.hard] = 0.0
    _, damping, mass = whole.products(basis, static)
    E = -cho_solve(factor, mass[:, 0])
    dragged = cho_solve(factor, damping[:, 0] + Dr @ E)
    B[:k] = -dragged
    B[k:] = cho_solve(factor, Dr @ dragged - Kr @ E)
    return B, rows @ (static[:, 0] + basis @ E)


def _basis(effects: Effects, whole: Condensed, found: StaticSolution, modes: int | None) -> Array:
    """Motions (total, k): all that constraints allow, or some undamped modes."""
    count = len(effects.tree.coordinates)
    if modes is not None:
        wanted = min(modes, count)
        return modal_analysis(effects, found.q, found.z, found.inputs, wanted).vectors
    if count > DENSE:
        raise DescriptionError(
            "linearise",
            "modes",
            None,
            f"given for a robot with {count} coordinates, more than {DENSE}",
            "give modes=20, the number of vibration modes to keep",
        )
    return whole.allowed(effects.tree.coordinates)


def _mass_factor(Mr: Array) -> Any:
    values = np.linalg.eigvalsh(0.5 * (Mr + Mr.T)) if len(Mr) else np.ones(1)
    if not values[0] > _LIGHT * values[-1]:
        raise ConvergenceError(
            "the robot has motions without mass, for which there is no state: give all bodies mass and "
            "inertia and all rods rotary inertia, or keep vibration modes only by modes=20"
        )
    try:
        return cho_factor(0.5 * (Mr + Mr.T))
    except LinAlgError as error:  # pragma: no cover - the smallest eigenvalue is above zero
        raise ConvergenceError("the mass matrix is singular") from error


@dataclass
class DampedModes:
    """Eigenvalues (k,) in 1/s with an imaginary part >= 0, slowest first, and shapes (total, k)."""

    eigenvalues: NDArray[np.complex128]
    shapes: NDArray[np.complex128]


def damped_modes(system: LinearSystem) -> DampedModes:
    """Eigenvalues of small motions; of each pair of conjugate ones the upper."""
    values, vectors = eig(system.A)
    k = system.basis.shape[1]
    scale = float(np.abs(values).max(initial=1.0))
    upper = values.imag >= -1e-12 * scale
    order = np.argsort(np.abs(values[upper]), kind="stable")
    shapes = system.basis @ vectors[:k][:, upper][:, order]
    sizes = np.abs(shapes).max(axis=0, initial=0.0)
    return DampedModes(values[upper][order], shapes / np.where(sizes > 0.0, sizes, 1.0))
