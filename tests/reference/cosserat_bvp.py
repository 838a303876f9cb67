"""The same cantilever by `scipy.integrate.solve_bvp`, as a second method and for benchmarks.

State (13, S): position, unit quaternion (w, x, y, z), internal moment and force in the world frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

from tests.reference.rod_problem import Array, Field, RodProblem


def _sample(field: Field, s: Array, vectorised: bool) -> Array:
    """Values (k, S) of a callable at s (S,); `vectorised` callables map (S,) to (S, k)."""
    return np.asarray(field(s) if vectorised else [field(x) for x in s], dtype=float).T  # type: ignore[arg-type]


def _rotation(q: Array) -> Array:
    """Rotation matrices (3, 3, S) of quaternions (4, S), homogeneous in the quaternion."""
    w, x, y, z = q / np.sqrt(np.sum(q * q, axis=0))
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _derivative(rod: RodProblem, factor: float, vectorised: bool, s: Array, y: Array) -> Array:
    rotation = _rotation(y[3:7])
    body = np.concatenate([
        np.einsum("jis,js->is", rotation, y[7:10]), np.einsum("jis,js->is", rotation, y[10:13]),
    ])  # fmt: skip
    strain = _sample(rod.natural, s, vectorised) + body / _sample(rod.stiffness, s, vectorised)
    (a, b, c), (w, qx, qy, qz) = strain[:3], y[3:7]
    out = np.empty_like(y)
    out[:3] = np.einsum("ijs,js->is", rotation, strain[3:])
    out[3:7] = 0.5 * np.array([
        -qx * a - qy * b - qz * c, w * a + qy * c - qz * b,
        w * b + qz * a - qx * c, w * c + qx * b - qy * a,
    ])  # fmt: skip
    out[7:10] = np.cross(y[10:13], out[:3], axis=0)
    out[10:13] = 0.0
    if rod.distributed is not None:
        out[10:13] = -factor * _sample(rod.distributed, s, vectorised)
    return out


def _boundary(rod: RodProblem, factor: float, base: Array, tip: Array) -> Array:
    """Residual (13,): clamped pose at the base, applied wrench at the tip."""
    pose = np.asarray(rod.base, dtype=float)
    rotation = _rotation(tip[3:7, None])[:, :, 0]
    moment = np.asarray(rod.tip_moment) + rotation @ np.asarray(rod.follower_moment)
    force = np.asarray(rod.tip_force) + rotation @ np.asarray(rod.follower_force)
    return np.concatenate([
        base[:3] - pose[:3, 3], base[3:7] - _quaternion(rod),
        tip[7:10] - factor * moment, tip[10:13] - factor * force,
    ])  # fmt: skip


def _quaternion(rod: RodProblem) -> Array:
    base = np.asarray(rod.base, dtype=float)
    return np.roll(Rotation.from_matrix(base[:3, :3]).as_quat(), 1)


def _unloaded(rod: RodProblem, mesh: Array) -> Array:
    """Guess (13, S): the clamp's orientation carried straight along its tangent, no load."""
    base = np.asarray(rod.base, dtype=float)
    guess = np.zeros((13, mesh.size))
    guess[:3] = base[:3, 3, None] + base[:3, 2, None] * mesh
    guess[3:7] = _quaternion(rod)[:, None]
    return guess


@dataclass(frozen=True)
class BvpSolution:
    """Solution by solve_bvp. `raw` is scipy's result of the last load step; nodes its mesh size."""

    rod: RodProblem
    raw: Any

    @property
    def nodes(self) -> int:
        """Number of mesh nodes of the last load step."""
        return int(self.raw.x.size)

    def pose(self, s: ArrayLike) -> NDArray[np.float64]:
        """World poses (..., 4, 4) at arclengths s (m) of shape (...)."""
        y = self.raw.sol(np.ravel(s))
        out = np.zeros((y.shape[1], 4, 4))
        out[:, :3, :3] = np.moveaxis(_rotation(y[3:7]), 2, 0)
        out[:, :3, 3], out[:, 3, 3] = y[:3].T, 1.0
        return out.reshape(*np.shape(s), 4, 4)

    @property
    def tip(self) -> NDArray[np.float64]:
        """World pose (4, 4) of the tip."""
        return self.pose(self.rod.length)


def solve_bvp_cantilever(
    rod: RodProblem, *, tolerance: float = 1e-6, nodes: int = 11, load_steps: int = 1,
    vectorised: bool = False, max_nodes: int = 20000,
) -> BvpSolution:  # fmt: skip
    """Solve the cantilever by collocation, the load applied in equal steps from zero.

    Every load step starts on the same mesh of `nodes` points with the previous answer as guess.

    vectorised: the rod's callables also map arclengths (S,) to (S, 6) or (S, 3), which spares a
    Python loop. Loads between base and tip are refused: solve_bvp has no interior jumps.
    """
    if rod.point_loads:
        raise ValueError("point_loads are not possible with solve_bvp; use solve_cantilever")
    mesh = np.linspace(0.0, rod.length, nodes)
    guess = _unloaded(rod, mesh)
    for step in range(1, load_steps + 1):
        factor = step / load_steps
        raw = solve_bvp(
            lambda s, y, f=factor: _derivative(rod, f, vectorised, s, y),
            lambda a, b, f=factor: _boundary(rod, f, a, b),
            mesh, guess, tol=tolerance, max_nodes=max_nodes,
        )  # fmt: skip
        if not raw.success:
            raise ArithmeticError(f"solve_bvp failed at load factor {factor:.3f}: {raw.message}")
        guess = raw.sol(mesh)
    return BvpSolution(rod, raw)
