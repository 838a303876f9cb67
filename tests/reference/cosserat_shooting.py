"""Static Cosserat cantilevers to about ten digits, by shooting.

Conventions: SI units; the rod runs along its local z axis; strain (u, v) and wrench (m, n) have the
angular part first and are given in the body frame; poses are 4x4. With R the rotation of the
section, p its position, and n, m the force and moment that the material beyond s exerts on the
material before s, all in world components,

    p' = R v,   R' = R hat(u),   n' = -f,   m' = n x p',   (u, v) = natural + (R^T m, R^T n) / K.

A point load F, M at s makes n and m jump by -F and -M; beyond the tip both vanish. The base is
clamped, so the base wrench is the unknown. Newton's Jacobian is taken by the complex step through
the integrator, hence exact for the discrete map.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from tests.reference.rod_problem import Array, RodProblem

_COMPLEX_STEP = 1e-30
_MAX_CORRECTION = 0.5
_ORDER = 5


def _strain_layout() -> Array:
    """Constant (6, 12) matrix that turns a strain into the 3x4 block [v | hat(u)], row by row."""
    layout = np.zeros((6, 3, 4))
    layout[[3, 4, 5], [0, 1, 2], 0] = 1.0
    for axis, row, column in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
        layout[axis, row, 1 + column] = 1.0
        layout[axis, column, 1 + row] = -1.0
    return layout.reshape(6, 12)


_LAYOUT = _strain_layout()


def _derivative(rod: RodProblem, factor: float, s: float, y: NDArray[Any]) -> NDArray[Any]:
    """Right-hand side for columns [p | R | m | n] of shape (K, 3, 6), flattened."""
    state = y.reshape(-1, 3, 6)
    rotation, wrench = state[:, :, 1:4], state[:, :, 4:6]
    body = (rotation.transpose(0, 2, 1) @ wrench).transpose(0, 2, 1).reshape(-1, 6)
    strain = np.asarray(rod.natural(s)) + body / np.asarray(rod.stiffness(s))
    out = np.empty_like(state)
    out[:, :, :4] = rotation @ (strain @ _LAYOUT).reshape(-1, 3, 4)
    (a, b, c), (x, y_, z) = state[:, :, 5].T, out[:, :, 0].T
    out[:, 0, 4], out[:, 1, 4], out[:, 2, 4] = b * z - c * y_, c * x - a * z, a * y_ - b * x
    out[:, :, 5] = 0.0 if rod.distributed is None else -factor * np.asarray(rod.distributed(s))
    return out.reshape(-1)


def _tolerances(rod: RodProblem, columns: int, rtol: float) -> dict[str, ArrayLike]:
    """rtol and atol of the integrator; atol in the natural unit of every component."""
    unit = np.ones((3, 6))
    unit[:, 0] = rod.length
    unit[:, 4:] = rod.scale()[[0, 3]]
    return {"rtol": rtol, "atol": np.tile(0.1 * rtol * unit.reshape(-1), columns)}


def _initial(rod: RodProblem, wrench: NDArray[Any]) -> NDArray[Any]:
    """States (K, 3, 6) at the base for K base wrenches (m, n) in the world frame, (K, 6)."""
    base = np.asarray(rod.base, dtype=float)
    state = np.empty((len(wrench), 3, 6), dtype=wrench.dtype)
    state[:, :, 0], state[:, :, 1:4] = base[:3, 3], base[:3, :3]
    state[:, :, 4], state[:, :, 5] = wrench[:, :3], wrench[:, 3:]
    return state


def _jump(rod: RodProblem, factor: float, s: float, state: NDArray[Any]) -> None:
    """Pass the point loads at s: subtract them from the internal wrench, in place."""
    for load in rod.loads():
        if load.s == s:
            applied = factor * np.stack([load.moment, load.force], axis=-1).astype(float)
            state[:, :, 4:] -= applied if load.frame == "world" else state[:, :, 1:4] @ applied


def _integrate(
    rod: RodProblem, factor: float, wrench: NDArray[Any], rtol: float
) -> tuple[NDArray[Any], list[tuple[Array, NDArray[Any]]]]:
    """States just beyond the tip (K, 3, 6) and, per smooth piece, its steps (s, y)."""
    state, pieces = _initial(rod, wrench), []
    options = _tolerances(rod, len(wrench), rtol)
    cuts = rod.cuts()
    for start, end in pairwise(cuts):
        piece = solve_ivp(
            lambda s, y: _derivative(rod, factor, s, y),
            (start, end), state.reshape(-1), method="DOP853", **options,
        )  # fmt: skip
        if not piece.success or not np.all(np.isfinite(piece.y)):
            raise ArithmeticError(f"integration from s={start} to s={end} failed: {piece.message}")
        pieces.append((piece.t, piece.y.T))
        state = piece.y[:, -1].reshape(-1, 3, 6).copy()
        _jump(rod, factor, end, state)
    return state, pieces


def _newton(
    rod: RodProblem, factor: float, guess: Array, rtol: float, stop: float
) -> tuple[Array, int] | None:
    """Base wrench in units of rod.scale() and iterations used, or None without convergence."""
    scale, x = rod.scale(), guess.copy()
    for iteration in range(1, 9):
        trial = (x + 1j * _COMPLEX_STEP * np.eye(6)) * scale
        try:
            state, _ = _integrate(rod, factor, trial, rtol)
        except ArithmeticError:
            return None
        residual = state[:, :, 4:].transpose(0, 2, 1).reshape(6, 6).T / scale[:, None]
        step = np.linalg.solve(residual.imag / _COMPLEX_STEP, residual.real[:, 0])
        x -= step
        if np.linalg.norm(x - guess) > _MAX_CORRECTION:
            return None
        if np.linalg.norm(step) < stop * (1.0 + np.linalg.norm(x)):
            return x, iteration
    return None


def _extrapolate(history: list[tuple[float, Array]], factor: float) -> Array:
    """Lagrange polynomial through the last _ORDER converged states, evaluated at `factor`."""
    points = history[-_ORDER:]
    total = np.zeros(6)
    for i, (a, x) in enumerate(points):
        total += x * np.prod([(factor - b) / (a - b) for j, (b, _) in enumerate(points) if j != i])
    return total


def _follow(rod: RodProblem, factors: ArrayLike, first_step: float) -> list[Array]:
    """Base wrenches at the given load factors, followed from the unloaded rod by adaptive steps.

    A step whose corrector strays from the predictor by more than _MAX_CORRECTION (radians of base
    curvature times length) is halved, so that Newton cannot jump to another branch unnoticed.
    """
    history = [(0.0, np.zeros(6))]
    factor, step, found_at = 0.0, first_step, []
    for goal in np.ravel(factors):
        while factor < goal:
            target = min(float(goal), factor + step)
            found = _newton(rod, target, _extrapolate(history, target), 1e-8, 1e-6)
            if found is None:
                step *= 0.5
                if step < 1e-7:
                    raise ArithmeticError(f"continuation stopped at load factor {factor:.6f}")
                continue
            history.append((target, found[0]))
            factor = target
            step *= {1: 1.6, 2: 1.6, 3: 1.1}.get(found[1], 0.8)
        found_at.append(history[-1][1])
    return found_at


@dataclass(frozen=True)
class RodSolution:
    """Equilibrium of a RodProblem; between integrator steps the rod is re-integrated, not fitted.

    factor: load factor. base_wrench: internal (m, n) at the base, world frame, (6,).
    """

    rod: RodProblem
    factor: float
    base_wrench: Array
    pieces: list[tuple[Array, Array]]
    rtol: float

    def _state(self, s: float) -> Array:
        if not 0.0 <= s <= self.rod.length:
            raise ValueError(f"s = {s} lies outside the rod, which spans 0 to {self.rod.length}")
        steps, states = next(piece for piece in self.pieces if s <= piece[0][-1])
        node = int(np.searchsorted(steps, s, side="right")) - 1
        if s == steps[node]:
            return np.asarray(states[node].reshape(3, 6))
        short = solve_ivp(
            lambda x, y: _derivative(self.rod, self.factor, x, y),
            (steps[node], s), states[node], method="DOP853", first_step=s - steps[node],
            **_tolerances(self.rod, 1, self.rtol),
        )  # fmt: skip
        return np.asarray(short.y[:, -1].reshape(3, 6))

    def _states(self, s: ArrayLike) -> Array:
        flat = [self._state(float(x)) for x in np.ravel(s)]
        return np.reshape(flat, (*np.shape(s), 3, 6))

    def pose(self, s: ArrayLike) -> Array:
        """World poses (..., 4, 4) at arclengths s (m) of shape (...)."""
        states = self._states(s)
        out = np.zeros((*np.shape(s), 4, 4))
        rotation = states[..., 1:4]
        gram = np.swapaxes(rotation, -1, -2) @ rotation
        out[..., :3, :3] = rotation @ (1.5 * np.eye(3) - 0.5 * gram)
        out[..., :3, 3], out[..., 3, 3] = states[..., 0], 1.0
        return out

    def wrench(self, s: ArrayLike) -> Array:
        """Internal wrench (m, n) in the body frame, (..., 6); just before a point load at s."""
        states = self._states(s)
        body = np.swapaxes(states[..., 1:4], -1, -2) @ states[..., 4:6]
        return np.swapaxes(body, -1, -2).reshape(*np.shape(s), 6)

    def strain(self, s: ArrayLike) -> Array:
        """Strain (u, v), 1/m and 1, in the body frame, (..., 6)."""
        flat = [np.asarray(self.rod.natural(x)) + self.wrench(x) / np.asarray(self.rod.stiffness(x))
                for x in np.ravel(s)]  # fmt: skip
        return np.reshape(flat, (*np.shape(s), 6))

    @property
    def tip(self) -> Array:
        """World pose (4, 4) of the tip."""
        return self.pose(self.rod.length)


def solve_path(
    rod: RodProblem, factors: ArrayLike, *, rtol: float = 1e-12, first_step: float = 0.01
) -> list[RodSolution]:
    """Equilibria at increasing load factors (> 0) along the branch that starts at the unloaded rod.

    All loads of the rod are multiplied by the factor.
    """
    if np.any(np.diff(np.ravel(factors), prepend=0.0) <= 0.0):
        raise ValueError(f"load factors {factors!r} must be positive and increasing")
    solutions = []
    for factor, guess in zip(np.ravel(factors), _follow(rod, factors, first_step), strict=True):
        found = _newton(rod, float(factor), guess, rtol, 3.0 * rtol)
        if found is None:
            raise ArithmeticError(f"Newton failed at load factor {factor} with rtol={rtol}")
        wrench = found[0] * rod.scale()
        _, pieces = _integrate(rod, float(factor), wrench[None], rtol)
        solutions.append(RodSolution(rod, float(factor), wrench, pieces, rtol))
    return solutions


def solve_cantilever(
    rod: RodProblem, *, rtol: float = 1e-12, first_step: float = 0.01
) -> RodSolution:
    """Equilibrium at full load, on the branch connected to the unloaded rod."""
    return solve_path(rod, [1.0], rtol=rtol, first_step=first_step)[0]
