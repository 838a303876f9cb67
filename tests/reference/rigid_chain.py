"""Motion of chains of rigid bodies on revolute joints, in joint angles, by Lagrange's equations.

With the twist of body i about its centre, V_i = J_i(q) q', the mass matrix is M = sum J_i^T G_i J_i,
G_i = diag(I, m), and

    M q'' + M' q' - 1/2 grad(q'^T M q') + K q + D q' + grad V_gravity = 0.

J comes from the recursion of frames along the chain; every derivative with respect to q is taken by
the complex step, hence to machine precision. Every body hangs on the one before it, the first on
the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from tests.reference.tree_problem import Any_, Array, BodyPart, TreeProblem, turned

_STEP = 1e-30
Signal = Callable[[float], tuple[float, float, float]]


def _frames(chain: TreeProblem, q: Any_) -> list[tuple[Any_, Any_]]:
    """Origin (..., 3) and rotation (..., 3, 3) of every body for angles (..., n)."""
    p, rotation = np.zeros((*q.shape[:-1], 3), q.dtype), np.broadcast_to(
        np.eye(3), (*q.shape[:-1], 3, 3))  # fmt: skip
    out = []
    for k, body in enumerate(chain.parts):
        p = p + rotation @ body.translation
        rotation = rotation @ body.rotation @ turned(_axis(body), q[..., k])
        out.append((p, rotation))
    return out


def _axis(body: Any) -> Array:
    return np.asarray(body.joint.axis, dtype=float)


def _mass(chain: TreeProblem, q: Any_) -> Any_:
    """Mass matrices (..., n, n): twists of the centres by the recursion over the joint axes."""
    frames = _frames(chain, q)
    n = len(frames)
    axes = [rotation @ _axis(body) for (_, rotation), body in zip(frames, chain.parts, strict=True)]
    total = np.zeros((*q.shape, n), q.dtype)
    for i, ((p, rotation), body) in enumerate(zip(frames, chain.parts, strict=True)):
        assert isinstance(body, BodyPart)
        centre = p + rotation @ np.asarray(body.centre)
        angular = np.zeros((*q.shape[:-1], 3, n), q.dtype)
        linear = np.zeros_like(angular)
        for k in range(i + 1):
            angular[..., :, k] = np.einsum("...ji,...j->...i", rotation, axes[k])
            linear[..., :, k] = np.cross(axes[k], centre - frames[k][0])
        spin = np.einsum("...ia,i,...ib->...ab", angular, np.asarray(body.inertia), angular)
        total = total + spin + body.mass * np.einsum("...ia,...ib->...ab", linear, linear)
    return total


def _height_energy(chain: TreeProblem, q: Any_) -> Any_:
    """Potential energy of gravity (...), J."""
    total: Any_ = np.zeros(q.shape[:-1], q.dtype)
    for (p, rotation), body in zip(_frames(chain, q), chain.parts, strict=True):
        assert isinstance(body, BodyPart)
        total = total - body.mass * (p + rotation @ np.asarray(body.centre)) @ chain.gravity
    return total


def _dynamics(chain: TreeProblem, q: Array, rate: Array) -> tuple[Array, Array]:
    """Mass matrix (n, n) and the sum (n,) of all other terms of Lagrange's equations."""
    beside = q + 1j * _STEP * np.eye(q.size)
    masses = _mass(chain, beside)
    slope = masses.imag / _STEP  # (n, n, n), derivative first
    gravity = _height_energy(chain, beside).imag / _STEP
    bias = np.einsum("cab,b,c->a", slope, rate, rate)
    bias -= 0.5 * np.einsum("cab,a,b->c", slope, rate, rate)
    stiffness = np.array([body.joint.stiffness for body in chain.parts])
    damping = np.array([body.joint.damping for body in chain.parts])
    return masses[0].real, bias + gravity + stiffness * q + damping * rate


def energy(chain: TreeProblem, q: ArrayLike, rate: ArrayLike) -> float:
    """Kinetic energy plus energy of gravity and springs, J."""
    q, rate = np.asarray(q, dtype=float), np.asarray(rate, dtype=float)
    springs = sum(0.5 * b.joint.stiffness * x**2 for b, x in zip(chain.parts, q, strict=True))
    return float(0.5 * rate @ _mass(chain, q) @ rate + _height_energy(chain, q) + springs)


def spin_about(chain: TreeProblem, axis: ArrayLike, q: ArrayLike, rate: ArrayLike) -> float:
    """Angular momentum about a world axis through the origin, kg m^2/s, by summing over the bodies."""
    q, rate = np.asarray(q, dtype=float), np.asarray(rate, dtype=float)
    frames, omega, speed = _frames(chain, q), np.zeros(3), np.zeros(3)
    total, before = np.zeros(3), np.zeros(3)
    for (p, rotation), body, x in zip(frames, chain.parts, rate, strict=True):
        assert isinstance(body, BodyPart)
        speed = speed + np.cross(omega, p - before)
        omega, before = omega + x * rotation @ _axis(body), p
        lever = rotation @ np.asarray(body.centre)
        inertia = rotation @ np.diag(body.inertia) @ rotation.T
        momentum = body.mass * (speed + np.cross(omega, lever))
        total += inertia @ omega + np.cross(p + lever, momentum)
    return float(total @ np.asarray(axis))


@dataclass(frozen=True)
class ChainMotion:
    """Angles and rates (T, n) at times (T,), work of the dampers so far (T,), negative, in J."""

    times: Array
    angles: Array
    rates: Array
    dissipated: Array


def move_chain(
    chain: TreeProblem, angles: ArrayLike, rates: ArrayLike, times: ArrayLike,
    rtol: float = 1e-12, drive: Signal | None = None,
) -> ChainMotion:  # fmt: skip
    """Motion from angles and rates at times[0].

    drive: t -> (angle, rate, acceleration) of the first joint, which is then prescribed.
    """
    times, n = np.asarray(times, dtype=float), len(chain.parts)
    damping = np.array([body.joint.damping for body in chain.parts])
    first = 0 if drive is None else 1

    def rhs(t: float, y: Array) -> Array:
        q, rate, acceleration = y[:n].copy(), y[n : 2 * n].copy(), np.zeros(n)
        if drive is not None:
            q[0], rate[0], acceleration[0] = drive(t)
        mass, rest = _dynamics(chain, q, rate)
        right = -rest - mass @ acceleration
        acceleration[first:] = np.linalg.solve(mass[first:, first:], right[first:])
        return np.concatenate([rate, acceleration, [-damping @ rate**2]])

    start = np.concatenate([angles, rates, [0.0]]).astype(float)
    run = solve_ivp(rhs, (times[0], times[-1]), start, method="DOP853", t_eval=times,
                    rtol=rtol, atol=0.1 * rtol)  # fmt: skip
    return ChainMotion(times, run.y[:n].T, run.y[n : 2 * n].T, run.y[2 * n])


def chain_poses(chain: TreeProblem, q: ArrayLike) -> list[Array]:
    """World poses 4x4 of the bodies."""
    out = []
    for p, rotation in _frames(chain, np.asarray(q, dtype=float)):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation, p
        out.append(pose)
    return out


def planar_double_pendulum(
    masses: tuple[float, float], lengths: tuple[float, float], gravity: float,
    angles: ArrayLike, rates: ArrayLike, times: ArrayLike, rtol: float = 1e-12,
) -> Array:  # fmt: skip
    """Absolute angles (T, 2) of the textbook pendulum of two point masses, from its closed form.

    (m1 + m2) l1 a'' + m2 l2 (b'' cos(a - b) + b'^2 sin(a - b)) + (m1 + m2) g sin a = 0,
    l2 b'' + l1 (a'' cos(a - b) - a'^2 sin(a - b)) + g sin b = 0.
    """
    (m1, m2), (l1, l2) = masses, lengths

    def rhs(t: float, y: Array) -> Array:
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        matrix = np.array([[(m1 + m2) * l1, m2 * l2 * c], [l1 * c, l2]])
        right = [-m2 * l2 * v * v * s - (m1 + m2) * gravity * np.sin(a),
                 l1 * u * u * s - gravity * np.sin(b)]  # fmt: skip
        return np.concatenate([[u, v], np.linalg.solve(matrix, right)])

    times = np.asarray(times, dtype=float)
    start = np.concatenate([angles, rates]).astype(float)
    run = solve_ivp(rhs, (times[0], times[-1]), start, method="DOP853", t_eval=times,
                    rtol=rtol, atol=0.1 * rtol)  # fmt: skip
    return np.asarray(run.y[:2].T)
