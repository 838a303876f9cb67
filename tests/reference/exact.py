"""Exact and semi-analytic solutions of rods and beams: closed forms, elliptic integrals, roots.

Independent of pliant and of the numerical rod solvers beside it. Any consistent units; SI meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

Array = NDArray[np.float64]
_DIGITS = 30
_EFFECTIVE_LENGTH = {"clamped-free": 2.0, "pinned-pinned": 1.0}


class PlanarTip(NamedTuple):
    """Tip of a planar cantilever clamped along x: angle (rad), x and y (m), y along the load."""

    theta: float
    x: float
    y: float


def elastica_end_force(force: float, bending: float = 1.0, length: float = 1.0) -> PlanarTip:
    """Inextensible cantilever along x under a dead tip force > 0 along y, by elliptic integrals.

    The first integral EI theta'^2 / 2 = P (sin a - sin theta), with tip angle a, becomes with
    1 + sin theta = 2 k^2 sin^2 phi and 2 k^2 = 1 + sin a the elliptic form; k follows from
    L sqrt(P / EI) = K(k) - F(phi_0, k), sin phi_0 = 1 / (k sqrt 2).
    """
    with mpmath.workdps(_DIGITS):
        load = mpmath.sqrt(mpmath.mpf(force) * mpmath.mpf(length) ** 2 / mpmath.mpf(bending))

        def integrals(angle: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
            m = (1 + mpmath.sin(angle)) / 2
            phi = mpmath.asin(1 / mpmath.sqrt(2 * m))
            first = mpmath.ellipk(m) - mpmath.ellipf(phi, m)
            return first, mpmath.ellipe(m) - mpmath.ellipe(phi, m)

        low, high = mpmath.mpf("1e-12"), mpmath.pi / 2 - mpmath.mpf("1e-12")
        angle = mpmath.findroot(
            lambda a: integrals(a)[0] - load,
            (low, high),
            solver="anderson",
            tol=1e-45,
            maxsteps=200,
        )
        x = mpmath.sqrt(2 * mpmath.sin(angle)) / load
        y = 1 - 2 * integrals(angle)[1] / load
        return PlanarTip(float(angle), float(x * length), float(y * length))


def heavy_elastica(
    weight: float, bending: float = 1.0, length: float = 1.0, tip_force: float = 0.0
) -> PlanarTip:
    """Inextensible horizontal cantilever under its weight per length and a tip weight, y downwards.

    EI theta'' = -(w (L - s) + P) cos theta, theta(0) = 0, theta'(L) = 0: integrated from the tip,
    whose angle is the only unknown, by Newton with the variational equation and growing load.
    """
    w, p = weight * length**3 / bending, tip_force * length**2 / bending

    def rhs(r: float, y: Array, load: float) -> list[float]:
        q, c, s = load * (w * r + p), np.cos(y[0]), np.sin(y[0])
        return [y[1], -q * c, y[3], q * s * y[2], c, s]

    angle = 0.0
    for load in (0.25, 0.5, 0.75, 1.0):
        for _ in range(30):
            end = solve_ivp(rhs, (0.0, 1.0), [angle, 0.0, 1.0, 0.0, 0.0, 0.0], method="DOP853",
                            rtol=1e-13, atol=1e-15, args=(load,)).y[:, -1]  # fmt: skip
            step = end[0] / end[2]
            angle -= step
            if abs(step) < 1e-14:
                break
    return PlanarTip(angle, end[4] * length, end[5] * length)


def circle_end_moment(moment: float, bending: float, s: ArrayLike) -> tuple[Array, Array, Array]:
    """Angle, x and y at arclengths s of a uniform straight cantilever along x under an end moment.

    A pure moment causes neither shear nor stretch, so Cosserat and Kirchhoff rods agree.
    """
    curvature, arc = moment / bending, np.asarray(s, dtype=float)
    angle = curvature * arc
    half = np.sinc(angle / (2.0 * np.pi))
    return angle, arc * half * np.cos(angle / 2.0), arc * half * np.sin(angle / 2.0)


def constant_strain_pose(strain: ArrayLike, s: float) -> Array:
    """Pose 4x4 relative to the base after arclength s of constant strain (u, v): exp(s strain^)."""
    (a, b, c), v = np.asarray(strain, dtype=float)[:3], np.asarray(strain, dtype=float)[3:]
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]]
    twist[:3, 3] = v
    return np.asarray(expm(s * twist))


def uniform_helix(
    bending: float, twist: float, shear: float, axial: float, curvature: float, twist_rate: float
) -> tuple[Array, Array]:
    """Strain (6,) and body wrench (6,) of a straight isotropic Cosserat rod held in a helix.

    For constant strain the balance u x n = 0, u x m + v x n = 0 gives n = a u and m = a v + b u.
    With u = (k, 0, t), the law m = (EI k, 0, GJ t), n = (GA v1, 0, EA (v3 - 1)) leaves
    a^2 t (1/EA - 1/GA) + a = (GJ - EI) t; the root that vanishes with t is taken. The wrench, put
    as a follower load on the tip (or turned to the world by the tip's rotation), holds the helix.
    """
    square = twist_rate * (1.0 / axial - 1.0 / shear)
    right = (twist - bending) * twist_rate
    a = 2.0 * right / (1.0 + np.sqrt(1.0 + 4.0 * square * right))
    u = np.array([curvature, 0.0, twist_rate])
    v = np.array([a * curvature / shear, 0.0, 1.0 + a * twist_rate / axial])
    moment = np.array([bending * curvature, 0.0, twist * twist_rate])
    return np.concatenate([u, v]), np.concatenate([moment, a * u])


def _timoshenko_system(omega: Any, soft: float, rotary: float) -> list[list[Any]]:
    """First-order system (4, 4) of a Timoshenko beam with EI = rho A = L = 1.

    soft is EI / (GA L^2), rotary is rho I / (rho A L^2). The state (w, theta, M, Q) obeys
    w' = theta + Q/GA, theta' = M, M' = -Q - rho I omega^2 theta, Q' = -omega^2 w.
    """
    square = omega**2
    return [[0, 1, 0, soft], [0, 0, 1, 0], [0, -rotary * square, 0, -1], [-square, 0, 0, 0]]


def _free_end(ends: str) -> bool:
    if ends not in ("clamped-free", "free-free"):
        raise ValueError(f"ends is {ends!r}; give 'clamped-free' or 'free-free'")
    return ends == "free-free"


def _brackets(determinant: Callable[[float], float], step: float) -> Iterator[tuple[float, float]]:
    """Intervals of k = sqrt(omega) in which the frequency determinant changes sign, from k = 0.3.

    Euler-Bernoulli modes lie about pi apart in k; Timoshenko modes lie closer, but below the
    shear cut-off still many steps apart.
    """
    low = 0.3
    last = determinant(low)
    while True:
        value = determinant(low + step)
        if np.sign(value) != np.sign(last):
            yield low, low + step
        low, last = low + step, value


def timoshenko_frequencies(
    bending: float, shear: float, mass: float, rotary: float, length: float = 1.0,
    ends: str = "clamped-free", count: int = 5,
) -> Array:  # fmt: skip
    """Lowest nonzero bending frequencies (Hz) of a uniform Timoshenko beam, to about 1e-14.

    bending EI (N m^2), shear k GA (N; np.inf for none), mass rho A (kg/m), rotary inertia rho I
    (kg m); `ends` is "clamped-free" or "free-free". Left end: clamped leaves (M, Q) open, free
    leaves (w, theta) open; right end: M = Q = 0. The determinant of that 2x2 block of the
    transfer matrix is bracketed in double precision and its root refined with 30 digits.
    """
    i, j = (0, 1) if _free_end(ends) else (2, 3)
    slender = (bending / (shear * length**2), rotary / (mass * length**2))

    def coarse(k: float) -> float:
        end = expm(np.array(_timoshenko_system(k**2, *slender), dtype=float))
        return float(end[2, i] * end[3, j] - end[2, j] * end[3, i])

    def fine(k: mpmath.mpf) -> mpmath.mpf:
        end = mpmath.expm(mpmath.matrix(_timoshenko_system(k**2, *slender)), method="taylor")
        return end[2, i] * end[3, j] - end[2, j] * end[3, i]

    roots = []
    for bracket in islice(_brackets(coarse, 0.05), count):
        with mpmath.workdps(_DIGITS):
            roots.append(float(mpmath.findroot(fine, bracket, solver="anderson", tol=1e-30)))
    return np.asarray(np.square(roots) * np.sqrt(bending / (mass * length**4)) / (2.0 * np.pi))


def timoshenko_frequencies_varying(
    section: Callable[[float], tuple[float, float, float, float]], length: float = 1.0,
    ends: str = "clamped-free", count: int = 5,
) -> Array:  # fmt: skip
    """Lowest nonzero bending frequencies (Hz) of a beam whose section varies, to about 1e-10.

    section: s -> (EI, k GA, rho A, rho I), in the units of `timoshenko_frequencies`. The same
    determinant, with the transfer matrix integrated along the beam.
    """
    start = 0 if _free_end(ends) else 2
    bending0, _, mass0, _ = section(0.0)

    def determinant(k: float, rtol: float = 1e-6) -> float:
        def rhs(x: float, y: Array) -> Array:
            bending, shear, mass, rotary = section(x * length)
            (w, theta, moment, force), square = y.reshape(4, 2), k**4
            return np.concatenate([
                theta + force * bending0 / (shear * length**2), moment * bending0 / bending,
                -force - rotary / (mass0 * length**2) * square * theta, -square * mass / mass0 * w,
            ])  # fmt: skip

        begin = np.eye(4)[:, start : start + 2].ravel()
        end = solve_ivp(rhs, (0.0, 1.0), begin, method="DOP853", rtol=rtol, atol=rtol)
        return float(np.linalg.det(end.y[:, -1].reshape(4, 2)[2:]))

    roots = [brentq(determinant, *bracket, args=(1e-12,), xtol=1e-13, rtol=1e-13)
             for bracket in islice(_brackets(determinant, 0.2), count)]  # fmt: skip
    return np.asarray(np.square(roots) * np.sqrt(bending0 / (mass0 * length**4)) / (2.0 * np.pi))


def euler_load(bending: float, length: float, ends: str = "clamped-free") -> float:
    """Buckling force (N) of an inextensible shear-rigid column: pi^2 EI / (effective length)^2."""
    return float(np.pi**2 * bending / (_EFFECTIVE_LENGTH[ends] * length) ** 2)


def cosserat_euler_load(
    bending: float, shear: float, axial: float, length: float, ends: str = "clamped-free"
) -> float:
    """Buckling force (N) of a Cosserat column under a dead axial force P.

    The straight column carries n = -P along its axis. Turned by a small theta the section sees
    N3 = -P and N1 = P theta, so v3 = 1 - P/EA and v1 = P theta / GA, and the axis leans by
    x' = theta (1 - P/EA + P/GA). Then EI theta'' = -P x' gives, with the Euler load P_E,
    P (1 + P (1/GA - 1/EA)) = P_E; the length is the unstressed one. The smaller root is returned.
    """
    euler = euler_load(bending, length, ends)
    inside = 1.0 + 4.0 * euler * (1.0 / shear - 1.0 / axial)
    if inside < 0.0:
        raise ValueError("this column is so compressible that it shortens without ever buckling")
    return float(2.0 * euler / (1.0 + np.sqrt(inside)))


def own_weight_load(bending: float, length: float) -> float:
    """Weight per length (N/m) at which an inextensible clamped-free column buckles under itself.

    EI theta'' + q (L - s) theta = 0 has, with r = L - s, the solution that is flat at the tip
    sqrt(r) J_{-1/3}(2/3 sqrt(q/EI) r^{3/2}); the clamp asks for the first zero of J_{-1/3}.
    """
    with mpmath.workdps(_DIGITS):
        zero = mpmath.findroot(lambda x: mpmath.besselj(mpmath.mpf(-1) / 3, x), 1.87)
        return float(mpmath.mpf(9) / 4 * zero**2 * bending / mpmath.mpf(length) ** 3)
