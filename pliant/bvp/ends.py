"""The ends of a chain: what is unknown at its base and what must hold at its tip.

Six numbers x are unknown at the base: in held directions the wrench there, in free directions the
motion phi of the base from a pose g, g exp(phi). In time, phi_t = c0 phi + H gives the base's velocity.
Six numbers must vanish at the tip: gaps in held directions, the wrench in free ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import TimeRule
from pliant.lie import se3, so3
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState


def dexp_derivative(group, x: Array, a: Array) -> Array:  # type: ignore[no-untyped-def]
    """Derivative (n, n) of dexp(x) a in x, for a group so3 or se3.

    Its symmetric part is `dexp_second`; the rest follows from the Maurer-Cartan equation,
    D_v (T a) - D_a (T v) = -[T v, T a] with T = dexp(x).
    """
    T = group.dexp(x)
    symmetric = np.array([a @ group.dexp_second(x, unit) for unit in np.eye(len(x))])
    return np.asarray(symmetric + 0.5 * group.ad(T @ a) @ T)


@dataclass
class Base:
    """The base at the instant that is solved for.

    pose : (4, 4) of a clamped base, or the pose that free directions move from.
    twist : (6,) velocity of a clamped base.  c0, history : (6,) phi_t = c0 phi + history.
    """

    held: np.ndarray
    pose: Array
    twist: Array = field(default_factory=lambda: np.zeros(6))
    c0: float = 0.0
    history: Array = field(default_factory=lambda: np.zeros(6))

    def start(self, x: Array) -> tuple[Array, Array]:
        """Return the state (24,) for unknowns x (6,) and its variations (18, 6)."""
        y, Z = np.zeros(24), np.zeros((18, 6))
        held = self.held
        pose, twist = self.pose, self.twist
        y[:6][held] = x[held]
        Z[:6][held, held] = 1.0
        if not held.all():
            phi = np.where(held, 0.0, x)
            pose = pose @ se3.exp(phi)
            twist, rates = self._twist(phi)
            D = se3.dexp(phi)
            for i in np.flatnonzero(~held):
                Z[6:12, i] = rates[:, i]
                Z[12:15, i], Z[15:18, i] = D[3:, i], D[:3, i]
        y[6:12] = twist
        y[12:15] = pose[:3, 3]
        y[15:] = pose[:3, :3].ravel()
        return y, Z

    def _twist(self, phi: Array) -> tuple[Array, Array]:
        """Body twist (6,) of the base that moved by phi, and its derivative (6, 6) in phi."""
        if self.c0 == 0.0:
            return np.zeros(6), np.zeros((6, 6))
        T, rate = se3.dexp(phi), self.c0 * phi + np.where(self.held, 0.0, self.history)
        return T @ rate, self.c0 * T + dexp_derivative(se3, phi, rate)


class Bases:
    """Makes the `Base` of each instant and remembers where free bases were."""

    def __init__(self, chain: Chain) -> None:
        self.held = chain.base.held
        self.clamped = bool(self.held.all())
        self.pose = chain.base.pose
        self.older = chain.base.pose
        self.twist = np.zeros(6)

    def still(self, pose: Array | None = None) -> Base:
        """The base at rest; `pose` (4, 4) is that of a clamped one."""
        return Base(self.held, self.pose if pose is None else pose)

    def moving(self, rule: TimeRule, base: BaseState) -> Base:
        """The base at the end of a step."""
        if self.clamped:
            return Base(self.held, base.pose, base.twist)
        back = se3.log(se3.inverse(self.pose) @ self.older)
        return Base(
            self.held,
            self.pose,
            c0=rule.c0,
            history=rule.c2 * back + rule.d1 * self.twist,
        )

    def accept(self, pose: Array, twist: Array, keep_older: bool) -> None:
        """Note where the base is now."""
        if not keep_older:
            self.older = self.pose
        self.pose, self.twist = se3.orthonormal(pose), twist.copy()

    def begin(self, pose: Array, twist: Array) -> None:
        """Note where the base is at the start."""
        self.pose = self.older = np.array(pose)
        self.twist = twist.copy()


class Tip:
    """What must vanish at the tip, and its derivative.

    left : (6,) gaps that are allowed in held directions, for going there by and by.
    """

    def __init__(self, chain: Chain) -> None:
        self.left = np.zeros(6)
        self.held = chain.tip.held
        self.free = not self.held.any()
        self.to = chain.tip.pose
        self.arm = chain.tip.offset
        scale = np.where(self.held, 1.0, chain.scale)
        scale[3:][self.held[3:]] = chain.length
        self.scale = scale

    def residual(self, y: Array, Z: Array) -> tuple[Array, Array]:
        """Return r (6,) and its derivatives (6, c) for the state past the tip's loads."""
        if self.free:
            return y[:6].copy(), Z[:6].copy()
        gap, gaps, force, slopes = self.pairs(y, Z)
        held = self.held
        return np.where(held, gap - self.left, force), np.where(held[:, None], gaps, slopes)

    def pairs(self, y: Array, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Return the place of the tip in the support's chart and the wrench that works on it.

        The place (6,) is the rotation vector and the position from the held pose, in its axes; each
        comes with its derivatives (6, c).
        """
        R, p = y[15:].reshape(3, 3), y[12:15]
        arm, shift = self.arm, so3.hat(self.arm)
        relative = self.to[:3, :3].T @ R
        turn = so3.log(relative)
        D = so3.dexp(turn)
        gap = np.concatenate([turn, self.to[:3, :3].T @ (p + R @ arm - self.to[:3, 3])])
        n = y[3:6]
        m = y[:3] - shift @ n
        theta, d = Z[15:18], Z[12:15] - shift @ Z[15:18]
        gaps = np.concatenate([so3.dexp_inverse(turn) @ theta, relative @ d])
        # m does the work of D^T m on changes of the rotation vector `turn`
        force = np.concatenate([D.T @ m, relative @ n])
        bent = np.array([m @ dexp_derivative(so3, turn, unit) for unit in np.eye(3)])
        dn = Z[3:6]
        slopes = np.concatenate(
            [D.T @ (Z[:3] - shift @ dn) + bent @ gaps[:3], relative @ (dn - so3.hat(n) @ theta)]
        )
        return gap, gaps, force, slopes
