"""Statics of straight Cosserat rods under one rigid plate, by shooting; independent of Pliant.

Every rod is an initial-value problem in arclength from its base, with its base wrench as unknown:

    p' = R v,  R' = R u^,  n' = -w,  m' = -p' x n,
    u = R^T m / (EI, EI, GJ),  v = e3 + R^T n / (GA, GA, EA),

n and m in the world, w the weight per length. Tips meet the plate in position and orientation, and the
plate is in balance: Newton's method for 6 unknowns a rod and 6 of the plate. Rods depend on the others
through the plate only, so one integration perturbs all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]


@dataclass
class ParallelRods:
    """K rods between bases and a plate.

    bases (K, 4, 4) poses, z along the rods.  lengths (K,) m.  ends (K, 4, 4) poses of the tips in the
    plate.  law (6,) = (EI, EI, GJ, GA, GA, EA).  weight : per length of rods, N/m, along -z.  plate :
    pose (4, 4) with all rods straight.  force (3,), moment (3,) on the plate, world, N and N m.
    """

    bases: Array
    lengths: Array
    ends: Array
    law: Array
    weight: float
    plate: Array
    force: Array
    moment: Array
    steps: int = 60

    def solve(self, shifts: Array, stages: int = 4) -> Array:
        """Pose (4, 4) of the plate with bases shifted along their axes by (K,) metres."""
        K = len(self.bases)
        wrench, x = np.zeros((K, 6)), np.zeros(6)
        for share in np.linspace(0.0, 1.0, stages + 1)[1:]:
            for _ in range(30):
                left, A = self._equations(wrench, x, share, shifts)
                step = np.linalg.solve(A, -left)
                wrench += step[: 6 * K].reshape(K, 6)
                x += step[6 * K :]
                if np.abs(step[6 * K :]).max() < 1e-11:
                    break
            else:
                raise RuntimeError("shooting did not converge")
        return self._pose(x)

    def _pose(self, x: Array) -> Array:
        g = np.eye(4)
        g[:3, :3] = self.plate[:3, :3] @ Rotation.from_rotvec(x[:3]).as_matrix()
        g[:3, 3] = self.plate[:3, 3] + x[3:]
        return g

    def _equations(
        self, wrench: Array, x: Array, share: float, shifts: Array
    ) -> tuple[Array, Array]:
        """Residual (6 K + 6,) and its Jacobian, by differences."""
        K = len(self.bases)
        tips = self._tips(wrench, share, shifts)
        left = self._residual(tips, x, share)
        A = np.zeros((6 * K + 6, 6 * K + 6))
        for j in range(6):
            step = 1e-6 * np.maximum(np.abs(wrench).max(), 1e-3)
            moved = wrench.copy()
            moved[:, j] += step
            other = self._tips(moved, share, shifts)
            for k in range(K):
                one = np.where(np.arange(K) == k, 1.0, 0.0)
                mixed = [
                    a + (b - a) * one.reshape(-1, *[1] * (a.ndim - 1))
                    for a, b in zip(tips, other, strict=True)
                ]
                A[:, 6 * k + j] = (self._residual(mixed, x, share) - left) / step
            nudged = x.copy()
            nudged[j] += 1e-7
            A[:, 6 * K + j] = (self._residual(tips, nudged, share) - left) / 1e-7
        return left, A

    def _residual(self, tips: list[Array], x: Array, share: float) -> Array:
        p, R, n, m = tips
        plate = self._pose(x)
        wanted = plate @ self.ends
        turn = np.einsum("kji,kjl->kil", R, wanted[:, :3, :3])
        gaps = np.concatenate(
            [Rotation.from_matrix(turn).as_rotvec(), wanted[:, :3, 3] - p], axis=1
        )
        arms = wanted[:, :3, 3] - plate[:3, 3]
        force = share * self.force - n.sum(axis=0)
        moment = share * self.moment - (m + np.cross(arms, n)).sum(axis=0)
        return np.concatenate([gaps.ravel(), moment, force])

    def _tips(self, wrench: Array, share: float, shifts: Array) -> list[Array]:
        """Positions (K, 3), rotations (K, 3, 3), forces and moments (K, 3) at the tips, by RK4."""
        p = self.bases[:, :3, 3] + share * shifts[:, None] * self.bases[:, :3, 2]
        state = [p, self.bases[:, :3, :3], wrench[:, 3:], wrench[:, :3]]
        h = self.lengths / self.steps
        load = np.array([0.0, 0.0, -share * self.weight])

        def rate(state: list[Array]) -> list[Array]:
            _, R, n, m = state
            u = np.einsum("kji,kj->ki", R, m) / self.law[:3]
            v = np.einsum("kji,kj->ki", R, n) / self.law[3:] + [0.0, 0.0, 1.0]
            way = np.einsum("kij,kj->ki", R, v)
            hat = np.zeros((len(u), 3, 3))
            hat[:, [2, 0, 1], [1, 2, 0]] = u
            hat[:, [1, 2, 0], [2, 0, 1]] = -u
            return [way, R @ hat, np.tile(-load, (len(u), 1)), -np.cross(way, n)]

        def moved(state: list[Array], slopes: list[Array], share: float) -> list[Array]:
            return [
                a + share * h.reshape(-1, *[1] * (a.ndim - 1)) * b
                for a, b in zip(state, slopes, strict=True)
            ]

        for _ in range(self.steps):
            k1 = rate(state)
            k2 = rate(moved(state, k1, 0.5))
            k3 = rate(moved(state, k2, 0.5))
            k4 = rate(moved(state, k3, 1.0))
            mean = [
                (a + 2 * b + 2 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
            ]
            state = moved(state, mean, 1.0)
        return state
