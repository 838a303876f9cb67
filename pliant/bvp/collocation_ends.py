"""Ends of a chain: a base that is clamped, moved or free, a tip that is free or held.

Directions in which the base is free have unknowns phi, the pose being g exp(phi) from where it was,
and the condition that no wrench acts there. Directions in which the tip is held have unknown
reactions and the condition that the gap to where it is held is closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pliant.bvp.chain import Chain
from pliant.lie import se3, so3
from pliant.lie.tuples import Array


def _derivative(group, x: Array, a: Array) -> Array:  # type: ignore[no-untyped-def]
    """Derivative (n, n) of dexp(x) a in x, for a group so3 or se3.

    Its symmetric part is `dexp_second`; the rest follows from the Maurer-Cartan equation,
    D_v (T a) - D_a (T v) = -[T v, T a] with T = dexp(x).
    """
    T = group.dexp(x)
    symmetric = np.array([a @ group.dexp_second(x, unit) for unit in np.eye(len(x))])
    return np.asarray(symmetric + 0.5 * group.ad(T @ a) @ T)


@dataclass
class Base:
    """The base: where it was, how fast, and how it goes on.

    pose : (4, 4) reference pose g.  twist : (6,) given twist of the directions that are held.
    free : (6,) True where nothing holds it.  c0, rate : phi_t = c0 phi + rate (6,).
    """

    free: np.ndarray
    pose: Array
    twist: Array = field(default_factory=lambda: np.zeros(6))
    c0: float = 0.0
    rate: Array = field(default_factory=lambda: np.zeros(6))

    def where(self, phi: Array) -> tuple[Array, Array]:
        """Pose (4, 4) and body twist (6,) for unknowns phi."""
        if not len(phi):
            return self.pose, self.twist
        x = self._full(phi)
        return self.pose @ se3.exp(x), self.twist + se3.dexp(x) @ (self.c0 * x + self.rate)

    def section(self, phi: Array) -> Array:
        """Rotation, position, world angular and linear velocity (18,)."""
        if len(phi):
            return self._section(*self.where(phi))
        return self._clamped

    @cached_property
    def _clamped(self) -> Array:
        return self._section(self.pose, self.twist)

    @staticmethod
    def _section(g: Array, eta: Array) -> Array:
        R = g[:3, :3]
        return np.concatenate([R.ravel(), g[:3, 3], R @ eta[:3], R @ eta[3:]])

    def vary(self, phi: Array, U: int) -> Array:
        """Variations (12, U) of theta, p, W, V; the first unknowns are phi."""
        found = np.zeros((12, U))
        if not len(phi):
            return found
        x = self._full(phi)
        g, eta = self.where(phi)
        R, T, rate = g[:3, :3], se3.dexp(x), self.c0 * x + self.rate
        of_twist = (self.c0 * T + _derivative(se3, x, rate))[:, self.free]
        T = T[:, self.free]
        n = len(phi)
        theta = R @ T[:3]
        found[:3, :n] = theta
        found[3:6, :n] = R @ T[3:]
        found[6:9, :n] = R @ of_twist[:3] - so3.hat(R @ eta[:3]) @ theta
        found[9:12, :n] = R @ of_twist[3:] - so3.hat(R @ eta[3:]) @ theta
        return found

    def _full(self, phi: Array) -> Array:
        x = np.zeros(6)
        x[self.free] = phi
        return x


class Tip:
    """The tip: reactions in the held directions, and the gap that they close.

    The gap is (log(Rh^T R), Rh^T (p + R o - ph)) for the pose (Rh, ph) that it is held to and the
    offset o of the held place in the section.
    """

    def __init__(self, chain: Chain) -> None:
        self.rows = np.flatnonzero(chain.tip.held)
        self.pose = chain.tip.pose
        self.offset = chain.tip.offset

    def __len__(self) -> int:
        return len(self.rows)

    def _reactions(self, values: Array) -> Array:
        found = np.zeros(6)
        found[self.rows] = values
        return found

    def reactions(self, section: Array, moment: Array, force: Array) -> Array:
        """Reactions that give a moment and a force, world, at the origin of the tip section."""
        R, held = section[:9].reshape(3, 3), self.pose[:3, :3]
        pure = moment - np.cross(R @ self.offset, force)
        turn = so3.dexp(so3.log(held.T @ R)).T @ R.T @ pure
        return np.concatenate([turn, held.T @ force])[self.rows]

    def gap(self, section: Array) -> Array:
        """Gap in the held directions, rad and m."""
        R, p = section[:9].reshape(3, 3), section[9:12]
        held = self.pose[:3, :3]
        shift = held.T @ (p + R @ self.offset - self.pose[:3, 3])
        return np.concatenate([so3.log(held.T @ R), shift])[self.rows]

    def wrench(self, section: Array, values: Array) -> Array:
        """Moment and force (6,), world, at the origin of the tip section."""
        found = np.zeros(6)
        if not len(values):
            return found
        R = section[:9].reshape(3, 3)
        reaction = self._reactions(values)
        found[3:] = self.pose[:3, :3] @ reaction[3:]
        found[:3] = np.cross(R @ self.offset, found[3:])
        if reaction[:3].any():
            k = so3.log(self.pose[:3, :3].T @ R)
            found[:3] += R @ so3.dexp_inverse(k).T @ reaction[:3]
        return found

    def vary(self, section: Array, values: Array, moved: Array) -> tuple[Array, Array]:
        """Variations (6, U) of the wrench and (t, U) of the gap for variations (12, U) of the tip."""
        U, count = moved.shape[1], len(values)
        wrench, gap = np.zeros((6, U)), np.zeros((6, U))
        if not count:
            return wrench, gap[:0]
        R, held = section[:9].reshape(3, 3), self.pose[:3, :3]
        theta, shift = moved[:3], moved[3:6]
        reaction = self._reactions(values)
        arm, force = R @ self.offset, held @ reaction[3:]
        k = so3.log(held.T @ R)
        D = so3.dexp_inverse(k)
        y = D.T @ reaction[:3]
        B = np.array([y @ _derivative(so3, k, unit) for unit in np.eye(3)])
        turn = so3.hat(force) @ so3.hat(arm) - so3.hat(R @ y) - R @ D.T @ B @ D @ R.T
        wrench[:3] = turn @ theta
        of_reaction = np.zeros((6, 6))
        of_reaction[3:, 3:] = held
        of_reaction[:3, 3:] = so3.hat(arm) @ held
        of_reaction[:3, :3] = R @ D.T
        wrench[:, U - count :] += of_reaction[:, self.rows]
        gap[:3] = D @ R.T @ theta
        gap[3:] = held.T @ (shift - so3.hat(arm) @ theta)
        return wrench, gap[self.rows]
