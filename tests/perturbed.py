"""A strongly deformed rod to perturb on the manifold: what the tests of formulations share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.lie import se3
from pliant.model import Circle, Material, Rod
from pliant.rods.contract import Array, Configuration, Formulation

LENGTH = 0.8
UNEVEN = (0.15, 0.2, 0.7, 0.9)
REPEATED = (0.3, 0.6, 0.6, 0.8)
KINKED = (0.4, 0.4, 0.4, 0.7)
"""Inner knots of a cubic spline of eight points."""
RUBBER = Material(E=2e5, nu=0.45, rho=1000.0)


def rod_with(natural: object = (0.3, -0.2, 0.5), radius: object = 0.02, **more: object) -> Rod:
    return Rod("arm", LENGTH, Circle(radius), RUBBER, natural=natural, **more)


class Bent:
    """A strongly deformed rod with stations, random covectors and its assembled derivatives."""

    def __init__(self, settings: Formulation, rod: Rod | None = None) -> None:
        rng = np.random.default_rng(7)
        self.map = settings.discretise(rod or rod_with())
        self.c = self.map.configuration()
        self.base = se3.exp(rng.normal(size=6))
        q = self.map.rest()
        self.map.update(self.c, self.base, q + 0.3 * rng.normal(size=q.size))
        self.s = s = LENGTH * np.array([0.0, 0.13, 0.4, 0.45, 0.5, 0.6, 0.77, 1.0])
        self.f, self.sigma = rng.normal(size=(2, len(s), 6))
        self.size = 6 + self.map.nv
        self.x = rng.normal(size=self.size)
        self.frames, self.strains = self.map.frames(s), self.map.strains(s)
        self.evaluate(self.c)
        self.g0 = self.frames.g.copy()

    def evaluate(self, c: Configuration) -> None:
        self.map.frame(self.frames, c)
        self.map.strain(self.strains, c)

    def moved(self, chart: Callable[..., Array], x: Array) -> tuple[Array, Array]:
        """Twists of the stations' motion and strains after moving by x along `chart`."""
        base = self.base @ se3.exp(x[:6])
        other = self.map.configuration()
        self.map.update(other, base, chart(self.c, base, x))
        self.evaluate(other)
        twist, strain = se3.log(se3.inverse(self.g0) @ self.frames.g), self.strains.e.copy()
        self.evaluate(self.c)
        return twist, strain

    def potential(self, chart: Callable[..., Array], x: Array) -> float:
        twist, strain = self.moved(chart, x)
        return float((self.f * twist).sum() + (self.sigma * strain).sum())

    def velocity(self, x: Array) -> Array:
        y = np.empty((len(self.map.elements), self.map.m))
        self.map.lift_velocity(self.c, x[self.map.elements], y)
        return y

    def covector(self) -> Array:
        ry = np.zeros((len(self.map.elements), self.map.m))
        np.add.at(ry, self.frames.element, np.einsum("sia,si->sa", self.frames.J, self.f))
        np.add.at(ry, self.strains.element, np.einsum("sia,si->sa", self.strains.B, self.sigma))
        return ry

    def gradient(self) -> Array:
        r = np.empty(self.map.elements.shape)
        self.map.lift_vector(self.c, self.covector(), r)
        total = np.zeros(self.size)
        np.add.at(total, self.map.elements, r)
        return total

    def hessian(self, balance: Array | None) -> tuple[Array, Array | None]:
        count, n = self.map.elements.shape
        Ky = np.zeros((count, self.map.m, self.map.m))
        self.map.frame_second(self.frames, self.c, self.f, Ky)
        self.map.strain_second(self.strains, self.c, self.sigma, Ky)
        K = np.empty((count, n, n))
        base = np.empty(6)
        self.map.lift_tangent(self.c, self.covector(), balance, Ky, K, base)
        total = np.zeros((self.size, self.size))
        for index, block in zip(self.map.elements, K, strict=True):
            total[np.ix_(index, index)] += block
        return total, None if balance is None else base


def second_difference(function: Callable[[Array], Array], x: Array, step: float = 2e-4) -> Array:
    """Fourth-order second derivative along x: the error is of the order step^4."""
    near = function(step * x) + function(-step * x)
    far = function(2 * step * x) + function(-2 * step * x)
    return (16 * near - far - 30 * function(0 * x)) / (12 * step**2)
