"""Unit quaternions (w, x, y, z) and the rotation logarithm, as leaves on tuples."""

from __future__ import annotations

from math import atan2, sqrt

from pliant._numba import leaf
from pliant.lie.tuples import Matrix, Quaternion


@leaf
def quaternion_multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the Hamilton product a b."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@leaf
def quaternion_matrix(q: Quaternion) -> Matrix:
    """Return the rotation matrix of the unit quaternion q."""
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@leaf
def quaternion_from_matrix(r: Matrix) -> Quaternion:
    """Return the quaternion of a rotation matrix with w >= 0, of unit length up to rounding.

    The largest of the four squared components is found first and the others divided by it, so
    that no component is lost at any angle.
    """
    trace = r[0] + r[4] + r[8]
    if trace >= r[0] and trace >= r[4] and trace >= r[8]:
        w = 1.0 + trace
        x = r[7] - r[5]
        y = r[2] - r[6]
        z = r[3] - r[1]
    elif r[0] >= r[4] and r[0] >= r[8]:
        w = r[7] - r[5]
        x = 1.0 + r[0] - r[4] - r[8]
        y = r[1] + r[3]
        z = r[2] + r[6]
    elif r[4] >= r[8]:
        w = r[2] - r[6]
        x = r[1] + r[3]
        y = 1.0 + r[4] - r[0] - r[8]
        z = r[5] + r[7]
    else:
        w = r[3] - r[1]
        x = r[2] + r[6]
        y = r[5] + r[7]
        z = 1.0 + r[8] - r[0] - r[4]
    scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        scale = -scale
    return w * scale, x * scale, y * scale, z * scale


@leaf
def quaternion_log(q: Quaternion) -> tuple[float, float, float, float]:
    """Return (kx, ky, kz, angle): the rotation vector of angle in [0, pi] of the quaternion q.

    q and -q give the same answer, and |q| does not matter.  At the angle pi one of the two
    possible axes is returned.
    """
    w, x, y, z = q
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s2 = x * x + y * y + z * z
    if s2 <= 1e-20 * w * w:
        scale = 2.0 / w
        return x * scale, y * scale, z * scale, sqrt(s2) * scale
    s = sqrt(s2)
    angle = 2.0 * atan2(s, w)
    scale = angle / s
    return x * scale, y * scale, z * scale, angle


@leaf
def quaternion_cayley_inverse(q: Quaternion) -> tuple[float, float, float, float]:
    """Return (kx, ky, kz, angle): the Cayley vector 2 tan(angle/2) n of q, and the angle."""
    w, x, y, z = q
    scale = 2.0 / w
    angle = 2.0 * atan2(sqrt(x * x + y * y + z * z), abs(w))
    return x * scale, y * scale, z * scale, angle
