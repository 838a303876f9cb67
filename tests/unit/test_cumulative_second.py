"""Cumulative curves on one span, in the variables of the span: first pose and increments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import Circle, Material, Rod
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array

LENGTH = 0.5
ROD = Rod("arm", LENGTH, Circle(0.01), Material(E=1e6, nu=0.4, rho=1000.0))
TURNS = {"tiny": 1e-7, "small": 1e-2, "moderate": 0.6, "large": 2.6}


class Span:
    """A spline of a single span: y = (twist of the base, increments), no lifting involved.

    `turn` is the angle of every increment, rad.
    """

    def __init__(self, degree: int, kind: str, turn: float) -> None:
        rng = np.random.default_rng(degree)
        self.map = BSpline(degree, degree + 1, map=kind).discretise(ROD)
        self.base = se3.exp(rng.normal(size=6))
        psi = rng.normal(size=(degree, 6))
        psi[:, :3] *= turn / np.linalg.norm(psi[:, :3], axis=1)[:, None]
        self.q = psi.ravel()
        self.plan = self.map.frames(LENGTH * np.array([0.0, 0.21, 0.66, 1.0]))
        self.f, self.sigma = rng.normal(size=(2, 4, 6))
        self.y = rng.normal(size=self.map.m)
        self.c = self.map.configuration()
        self.at(np.zeros(self.map.m))
        self.g0 = self.plan.g.copy()

    def at(self, y: Array) -> None:
        """Evaluate at base exp(y_0), increments plus y_i."""
        self.map.update(self.c, self.base @ se3.exp(y[:6]), self.q + y[6:])
        self.map.frame(self.plan, self.c)
        self.map.strain(self.plan, self.c)

    def twists(self, y: Array) -> Array:
        self.at(y)
        return se3.log(se3.inverse(self.g0) @ self.plan.g)

    def strains(self, y: Array) -> Array:
        self.at(y)
        return self.plan.e.copy()

    def hessian(self, add: Callable[..., None], covector: Array) -> Array:
        self.at(np.zeros(self.map.m))
        K = np.zeros((1, self.map.m, self.map.m))
        add(self.plan, self.c, covector, K)
        return K[0]


@pytest.fixture(
    scope="module",
    params=[
        (degree, kind, turn)
        for degree in (1, 2, 3, 5)
        for kind in ("exp", "cayley")
        for turn in TURNS
    ],
    ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}",
)
def span(request: pytest.FixtureRequest) -> Span:
    degree, kind, turn = request.param
    return Span(degree, kind, TURNS[turn])


def slope(function: Callable[[Array], Array], y: Array, step: float = 1e-3) -> Array:
    """Fourth-order first derivative along y."""
    near = function(step * y) - function(-step * y)
    far = function(2 * step * y) - function(-2 * step * y)
    return (8 * near - far) / (12 * step)


def bend(function: Callable[[Array], Array], y: Array, step: float = 1e-3) -> Array:
    """Fourth-order second derivative along y."""
    near = function(step * y) + function(-step * y)
    far = function(2 * step * y) + function(-2 * step * y)
    return (16 * near - far - 30 * function(0 * y)) / (12 * step**2)


def close(found: Array, expected: Array, part: float) -> bool:
    """Tell whether two arrays agree to a part of their largest entry."""
    return bool(np.max(np.abs(found - expected)) <= part * max(1.0, np.max(np.abs(expected))))


def test_jacobians_are_the_derivatives_of_frames_and_strains(span: Span) -> None:
    for function, name in ((span.twists, "J"), (span.strains, "B")):
        expected = slope(function, span.y)
        span.at(np.zeros(span.map.m))
        assert close(getattr(span.plan, name) @ span.y, expected, 1e-7)


def test_strains_do_not_feel_the_first_pose(span: Span) -> None:
    span.at(np.zeros(span.map.m))
    assert np.all(span.plan.B[:, :, :6] == 0.0)


def test_second_derivative_of_the_frames(span: Span) -> None:
    K = span.hessian(span.map.frame_second, span.f)
    expected = bend(lambda y: np.sum(span.f * span.twists(y)), span.y)
    assert close(span.y @ K @ span.y, expected, 1e-6)
    assert close(K, K.T, 1e-12)


def test_second_derivative_of_the_strains(span: Span) -> None:
    K = span.hessian(span.map.strain_second, span.sigma)
    expected = bend(lambda y: np.sum(span.sigma * span.strains(y)), span.y)
    assert close(span.y @ K @ span.y, expected, 1e-6)
    assert close(K, K.T, 1e-12)


def dead(n: Array) -> Array:
    """Derivatives (S, 6, 6) of dead forces n (S, 3) in the charts of their frames."""
    k = np.zeros((len(n), 6, 6))
    k[:, :3, 3:] = 0.5 * np.cross(np.eye(3), n[:, None]).swapaxes(1, 2)
    k[:, 3:, :3] = k[:, :3, 3:].swapaxes(1, 2)
    return k


def test_tangent_of_loads_is_the_second_derivative_of_their_work(span: Span) -> None:
    """Of dead forces, of wrenches of any kind, and of both at stations of one element."""
    span.at(np.zeros(span.map.m))
    turn = span.plan.g[:, :3, :3].copy()
    world = np.einsum("sij,sj->si", turn, span.f[:, 3:])

    def work(y: Array) -> float:
        span.at(y)
        return float(np.sum(world * span.plan.g[:, :3, 3]))

    expected = bend(work, span.y)
    span.at(np.zeros(span.map.m))
    f, k = span.f.copy(), dead(span.f[:, 3:])
    f[:, :3] = 0.0
    K = span.hessian(lambda plan, c, f, out: span.map.frame_tangent(plan, c, f, k, out), f)
    assert close(span.y @ K @ span.y, expected, 1e-6)
    rng = np.random.default_rng(3)
    f[::2, :3] = span.f[::2, :3]
    k[::2] += rng.normal(size=k[::2].shape)
    K = span.hessian(lambda plan, c, f, out: span.map.frame_tangent(plan, c, f, k, out), f)
    apart = span.hessian(span.map.frame_second, f)
    apart += np.einsum("sia,sij,sjb->ab", span.plan.J, k, span.plan.J)
    assert close(K, apart, 1e-12)


def test_second_derivatives_are_added_to_what_stands_there(span: Span) -> None:
    once = span.hessian(span.map.frame_second, span.f)
    K = once[None].copy()
    span.map.frame_second(span.plan, span.c, span.f, K)
    assert close(K[0], 2 * once, 1e-13)


def test_bias_is_the_acceleration_at_constant_rates_of_the_increments(span: Span) -> None:
    expected = bend(span.twists, span.y)
    span.at(np.zeros(span.map.m))
    bias = np.full((4, 6), np.nan)
    span.map.frame_bias(span.plan, span.c, span.y[None], bias)
    assert close(bias, expected, 1e-6)


@pytest.mark.parametrize("kind", ["exp", "cayley"])
def test_second_derivatives_are_smooth_where_the_series_take_over(kind: str) -> None:
    """Angles from 1e-12 to 1 cross every switch between series and closed forms."""
    angles = np.logspace(-12, 0, 121)
    values = []
    for angle in angles:
        span = Span(2, kind, angle)
        K = span.hessian(span.map.frame_second, span.f)
        K = K + span.hessian(span.map.strain_second, span.sigma)
        values.append(K)
    values = np.array(values)
    jumps = np.max(np.abs(np.diff(values, axis=0)), axis=(1, 2)) / np.max(np.abs(values))
    # a smooth function of the angle changes by at most a multiple of the change of angle
    assert np.all(jumps < 3.0 * np.diff(angles) + 1e-12)
