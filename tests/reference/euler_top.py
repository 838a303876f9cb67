"""A free rigid body: Euler's equations with a unit quaternion, and Jacobi's closed form."""

from __future__ import annotations

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


def _matrix(q: Array) -> Array:
    w, x, y, z = q / np.linalg.norm(q)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * k + 2.0 * k @ k


def free_body(
    inertia: ArrayLike, spin: ArrayLike, times: ArrayLike, *, mass: float = 1.0,
    centre: ArrayLike = (0.0, 0.0, 0.0), velocity: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, 0.0), rtol: float = 1e-13,
) -> tuple[Array, Array]:  # fmt: skip
    """Poses (T, 4, 4) and body spins (T, 3) of a body that starts at the identity at times[0].

    inertia: principal moments (3,) about the centre of mass, axes of the body. centre: (3,) of the
    mass in the body's frame. spin: (3,) rad/s, body frame. velocity: (3,) of the body's origin, m/s.
    """
    moments, lever = np.asarray(inertia, dtype=float), np.asarray(centre, dtype=float)
    times = np.asarray(times, dtype=float)

    def rhs(t: float, y: Array) -> Array:
        w, v, omega = y[0], y[1:4], y[4:]
        turn = 0.5 * np.concatenate([[-v @ omega], w * omega + np.cross(v, omega)])
        return np.concatenate([turn, np.cross(moments * omega, omega) / moments])

    start = np.concatenate([[1.0, 0.0, 0.0, 0.0], spin]).astype(float)
    run = solve_ivp(rhs, (times[0], times[-1]), start, method="DOP853", t_eval=times,
                    rtol=rtol, atol=0.1 * rtol)  # fmt: skip
    drift = np.asarray(velocity) + np.cross(np.asarray(spin, dtype=float), lever)
    poses = np.tile(np.eye(4), (times.size, 1, 1))
    for pose, t, y in zip(poses, times - times[0], run.y.T, strict=True):
        pose[:3, :3] = _matrix(y[:4])
        flight = lever + t * drift + 0.5 * t**2 * np.asarray(gravity, dtype=float)
        pose[:3, 3] = flight - pose[:3, :3] @ lever
    return poses, np.asarray(run.y[4:].T)


def jacobi_spin(inertia: ArrayLike, spin: ArrayLike, t: float) -> Array:
    """Body spin (3,) at time t for I1 < I2 < I3 and a start with spin[1] = 0, momentum above 2 E I2.

    The spin is (a cn, -b sn, c dn) of the argument w t with modulus k, signs from the start.
    """
    i1, i2, i3 = (mpmath.mpf(x) for x in np.asarray(inertia, dtype=float))
    s1, s2, s3 = (mpmath.mpf(x) for x in np.asarray(spin, dtype=float))
    twice, square = i1 * s1**2 + i3 * s3**2, (i1 * s1) ** 2 + (i3 * s3) ** 2
    if s2 != 0 or not i1 < i2 < i3 or square <= twice * i2:
        raise ValueError("give I1 < I2 < I3, spin[1] = 0 and a momentum above 2 E I2")
    rate = mpmath.sqrt((i3 - i2) * (square - twice * i1) / (i1 * i2 * i3))
    modulus = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1))
    width = mpmath.sqrt((twice * i3 - square) / (i2 * (i3 - i2)))
    x = rate * mpmath.mpf(t)
    sign = mpmath.sign(s1 * s3)
    return np.array([float(s1 * mpmath.ellipfun("cn", x, m=modulus)),
                     float(sign * width * mpmath.ellipfun("sn", x, m=modulus)),
                     float(s3 * mpmath.ellipfun("dn", x, m=modulus))])  # fmt: skip
