"""SO(3) and SE(3) against matrix exponentials and their derivatives in high precision."""

import mpmath
import numpy as np
import pytest

from pliant.lie import se3, so3

ANGLES = [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-6]
TOLERANCE = 1e-12
GROUPS = {"so3": (so3, 3), "se3": (se3, 6)}

mpmath.mp.dps = 50


def twist(angle: float, size: int, seed: int = 0) -> np.ndarray:
    """A rotation vector of the given angle about a random axis, or a twist with it."""
    rng = np.random.default_rng([seed, int(1e15 * angle)])
    axis = rng.normal(size=3)
    axis *= angle / np.linalg.norm(axis)
    return np.concatenate((axis, rng.normal(size=3)))[:size]


def skew(k):
    return mpmath.matrix([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])


def wedge(x):
    """The Lie algebra element of x as an mpmath matrix."""
    if len(x) == 3:
        return skew(x)
    m = mpmath.zeros(4)
    m[:3, :3] = skew(x[:3])
    for i in range(3):
        m[i, 3] = x[3 + i]
    return m


def vee(m):
    """The coordinates of a Lie algebra element."""
    rotation = [m[2, 1], m[0, 2], m[1, 0]]
    return rotation if m.rows == 3 else [*rotation, m[0, 3], m[1, 3], m[2, 3]]


def adjoint(x):
    """ad_x as an mpmath matrix."""
    if len(x) == 3:
        return skew(x)
    m = mpmath.zeros(6)
    m[:3, :3] = m[3:, 3:] = skew(x[:3])
    m[3:, :3] = skew(x[3:])
    return m


def exponential(x):
    return mpmath.expm(wedge(x), method="taylor")


def rigid_cayley(x):
    """The Cayley pose, read off (I - ad/2)^-1 (I + ad/2)."""
    size = len(x)
    eye = mpmath.eye(size)
    m = solve(eye - adjoint(x) / 2, eye + adjoint(x) / 2)
    if size == 3:
        return m
    g = mpmath.eye(4)
    R = m[:3, :3]
    g[:3, :3] = R
    translation = m[3:, :3] * R.T
    for i, value in enumerate(vee(translation)):
        g[i, 3] = value
    return g


def solve(a, b):
    """a^-1 b for mpmath matrices."""
    out = mpmath.zeros(a.rows, b.cols)
    for j in range(b.cols):
        out[:, j] = mpmath.lu_solve(a, b[:, j])
    return out


MAPS = {"exp": exponential, "cayley": rigid_cayley}


def exact_tangent(group_map, x):
    """The left-trivialised derivative by central differences in 50 digits."""
    x = [mpmath.mpf(float(value)) for value in x]
    size = len(x)
    step = mpmath.mpf(10) ** -20
    here = group_map(x)
    out = mpmath.zeros(size)
    for j in range(size):
        ahead, behind = list(x), list(x)
        ahead[j] += step
        behind[j] -= step
        rate = solve(here, (group_map(ahead) - group_map(behind)) / (2 * step))
        for i, value in enumerate(vee(rate)):
            out[i, j] = value
    return out


def to_array(m):
    return np.array(m.tolist(), dtype=float)


@pytest.mark.parametrize("group, name", [("so3", "exp"), ("se3", "exp"), ("se3", "cayley")])
@pytest.mark.parametrize("angle", ANGLES)
class TestAgainstHighPrecision:
    def test_map_and_its_inverse(self, group, name, angle):
        module, size = GROUPS[group]
        x = twist(angle, size)
        if name == "cayley":
            x[:3] *= 2 * np.tan(angle / 2) / angle
        exact = to_array(MAPS[name]([mpmath.mpf(float(v)) for v in x]))
        ours = getattr(module, name)(x)
        scale = max(1.0, np.abs(exact).max())
        np.testing.assert_allclose(ours, exact, rtol=0, atol=TOLERANCE * scale)
        inverse = {"exp": "log", "cayley": "cayley_inverse"}[name]
        back = getattr(module, inverse)(exact)
        if name == "exp":
            np.testing.assert_allclose(back, x, rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(back[:3], x[:3], rtol=0, atol=TOLERANCE * angle)
        else:
            # tan(angle/2) magnifies the rounding of the given matrix by (1 + |k|^2/4).
            magnified = 1 + x[:3] @ x[:3] / 4
            np.testing.assert_allclose(back[:3], x[:3], rtol=0, atol=TOLERANCE * magnified)
            again = getattr(module, name)(back)
            np.testing.assert_allclose(again, exact, rtol=0, atol=TOLERANCE * magnified * scale)

    def test_tangent_and_its_inverse(self, group, name, angle):
        module, size = GROUPS[group]
        x = twist(angle, size, seed=1)
        exact = exact_tangent(MAPS[name], x)
        ours = getattr(module, f"d{name}")(x)
        np.testing.assert_allclose(ours, to_array(exact), rtol=0, atol=TOLERANCE)
        inverse = getattr(module, f"d{name}_inverse")(x)
        expected = to_array(exact**-1)
        np.testing.assert_allclose(inverse, expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("group, name", [("so3", "exp"), ("se3", "exp"), ("se3", "cayley")])
@pytest.mark.parametrize("angle", [1e-12, 1e-6, 0.1, 1.0, 1.9999999, 2.0000001, 3.0, np.pi - 1e-6])
def test_second_form_is_the_derivative_of_the_tangent(group, name, angle):
    module, size = GROUPS[group]
    x, u, v = (twist(a, size, seed=s) for a, s in ((angle, 2), (1.3, 3), (0.9, 4)))
    ours = getattr(module, f"d{name}_second")(x, u)
    np.testing.assert_array_equal(ours, ours.T)
    step = mpmath.mpf(10) ** -12
    point, direction, weight = (mpmath.matrix([mpmath.mpf(float(a)) for a in w]) for w in (x, v, u))
    rate = (tangent(name, point + step * direction) - tangent(name, point - step * direction)) / (
        2 * step
    )
    exact = (weight.T * rate * direction)[0]
    assert abs(v @ ours @ v - float(exact)) < TOLERANCE
    for j in range(size):  # the whole matrix, by polarisation with the axes
        w = mpmath.matrix([mpmath.mpf(int(i == j)) for i in range(size)])
        along = (tangent(name, point + step * w) - tangent(name, point - step * w)) / (2 * step)
        exact = (weight.T * rate * w + weight.T * along * direction)[0] / 2
        assert abs((v @ ours)[j] - float(exact)) < TOLERANCE


def tangent(name, x):
    """The exact tangent as a series of ad (exp) or in closed form (Cayley), in 50 digits."""
    m = adjoint(list(x))
    eye = mpmath.eye(len(x))
    if name == "exp":
        total, term = eye.copy(), eye.copy()
        for n in range(1, 80):
            term = -term * m / (n + 1)
            total += term
        return total
    return exact_tangent_cayley(list(x))


def exact_tangent_cayley(x):
    """alpha (I - k^/2) and its dual part, differentiated in the direction e."""
    k = x[:3]
    e = x[3:]
    al = 1 / (1 + sum(a * a for a in k) / 4)
    upper = al * (mpmath.eye(3) - skew(k) / 2)
    if not e:
        return upper
    al1 = -al * al / 2 * sum(a * b for a, b in zip(k, e, strict=True))
    lower = al1 * (mpmath.eye(3) - skew(k) / 2) - al * skew(e) / 2
    m = mpmath.zeros(6)
    m[:3, :3] = m[3:, 3:] = upper
    m[3:, :3] = lower
    return m
