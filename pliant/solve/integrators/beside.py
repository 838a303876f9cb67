"""One time step beside another: the same step of a system that differs a little.

A step solves R(x; state, p) = 0 for its end x. Once it is solved for parameters p, the step of the
system with p + dp from its own state, which differs by as little, needs no Newton iteration of its own:

    x + dx,   dx = -T^-1 [R(x; state + dstate, p + dp) - R(x; state, p)],   T = dR/dx

with the tangent T factorised once for all neighbours. That is direct differentiation of the
integrator, dx/dp = -T^-1 (dR/dp + dR/dstate dstate/dp), with the two partial derivatives taken
together as one difference of the residual of one step. Since the residual that the step itself left
is taken off, its tolerance does not enter. Where T is not exact the correction is repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pliant.rods.contract import Array
from pliant.solve.integrators.acceleration import AccelerationStepper
from pliant.solve.integrators.contract import Stepper
from pliant.solve.integrators.midpoint import VariationalStepper
from pliant.system.driving import base_steps, base_twists, put_bases
from pliant.system.linear import Matrix
from pliant.system.loading import Loading

CORRECTIONS = 6
ENOUGH = 1e-6
"""Part of the first difference of residuals that may be left."""


class Beside(ABC):
    """A stepper that can lead others, or go beside one.

    end : of the last step led, the unknown x, modes and multipliers, and the residual left.
    """

    end: tuple[Array, Array, Array]
    matrix: Matrix

    def __init__(self, stepper: Any) -> None:
        self.stepper = stepper
        self.system = stepper.system

    @abstractmethod
    def lead(self, before: Loading, after: Loading) -> None:
        """Take a step; keep its end and the factor of its tangent there."""

    @abstractmethod
    def begin(self, before: Loading, after: Loading) -> None:
        """Prepare a step."""

    @abstractmethod
    def first(self, x: Array, after: Loading) -> Array:
        """The unknown to begin with, next to that of the leader."""

    @abstractmethod
    def residual(self, x: Array, mult: Array, after: Loading) -> Array:
        """Residual of the step that was begun, for the unknown x."""

    @abstractmethod
    def moved(self, x: Array, dx: Array) -> Array:
        """The unknown after a correction; the residual of x was the last one asked for."""

    @abstractmethod
    def accept(self, x: Array, mult: Array, before: Loading, after: Loading) -> None:
        """Take x, whose residual was the last one asked for, as the end of the step."""

    def follow(self, leader: Beside, before: Loading, after: Loading) -> None:
        """Take the step that `leader` has just taken."""
        x, mult, left = leader.end
        self.begin(before, after)
        x, mult = self.first(x, after), mult.copy()
        rows, driven = self.stepper._rows, self.system.driven
        start = 0.0
        for k in range(CORRECTIONS + 1):
            gap = left - self.residual(x, mult, after)
            gap[driven] = 0.0
            size = float(np.linalg.norm(gap))
            start = start or size
            if k == CORRECTIONS or size <= ENOUGH * start:
                break
            dx = leader.matrix.solve(gap)
            x = self.moved(x, dx)
            mult[rows] += dx[rows]
        self.accept(x, mult, before, after)


class _Variational(Beside):
    """`Midpoint` and `Variational`: the unknown is the configuration at the end."""

    stepper: VariationalStepper

    def lead(self, before: Loading, after: Loading) -> None:
        stepper = self.stepper
        self.begin(before, after)
        stepper.advance(before, after)
        # the residual and its tangent belong to the start and the end of the step just taken
        stepper.a, stepper.b = stepper.b, stepper.a
        left = stepper._residual(self.goal, stepper.mult)
        stepper._factorise()
        stepper._age = 0
        stepper.a, stepper.b = stepper.b, stepper.a
        self.matrix = stepper._filled.matrix
        self.end = stepper.q, stepper.mult, left

    def begin(self, before: Loading, after: Loading) -> None:
        self.goal = self.stepper._goal(before, after)

    def first(self, x: Array, after: Loading) -> Array:
        return put_bases(self.system, x, after)

    def residual(self, x: Array, mult: Array, after: Loading) -> Array:
        stepper = self.stepper
        self.system.place(x, stepper.b, mass=True, points=stepper._needs_points)
        self.left = stepper._residual(self.goal, mult)
        return self.left

    def moved(self, x: Array, dx: Array) -> Array:
        return self.system.moved(x, dx, levels=self.stepper.b)

    def accept(self, x: Array, mult: Array, before: Loading, after: Loading) -> None:
        self.stepper._accept(x, mult, before, after, self.left)


class _Acceleration(Beside):
    """`Newmark` and its kin: the unknown is the increment of the step."""

    stepper: AccelerationStepper

    def lead(self, before: Loading, after: Loading) -> None:
        stepper = self.stepper
        v, like = stepper.v, stepper.like
        stepper.advance(before, after)
        h, c = stepper.h, stepper.coefficients
        if c is None:
            x = h * stepper.v
        else:
            x = h * v + h * h * ((0.5 - c.beta) * like + c.beta * stepper.like)
        left = stepper.factorise(stepper.v, stepper.acc, stepper.mult, after)
        self.matrix = stepper.filled.matrix
        self.end = x, stepper.mult, left

    def begin(self, before: Loading, after: Loading) -> None:
        self.known = base_twists(self.system, after)

    def first(self, x: Array, after: Loading) -> Array:
        system, q = self.system, self.stepper.q
        x = x.copy()
        x[system.driven] = base_steps(system, q, put_bases(system, q, after))
        return x

    def residual(self, x: Array, mult: Array, after: Loading) -> Array:
        self.state = self.stepper._move(x, self.known)
        _, v, acc, _ = self.state
        return self.stepper._residual(v, acc, mult, after, False)

    def moved(self, x: Array, dx: Array) -> Array:
        return x + np.where(self.stepper._is_coordinate, dx[: self.system.n], 0.0)

    def accept(self, x: Array, mult: Array, before: Loading, after: Loading) -> None:
        stepper = self.stepper
        stepper.q, stepper.v, stepper.acc, stepper.like = self.state
        stepper.mult = mult
        self.system.place(stepper.q, stepper.a, mass=True)


_KINDS: dict[type[Stepper], type[Beside]] = {
    VariationalStepper: _Variational,
    AccelerationStepper: _Acceleration,
}


def beside(stepper: Stepper) -> Beside | None:
    """Return the stepper as one that leads and follows, or None if it is of another kind."""
    for kind, found in _KINDS.items():
        if isinstance(stepper, kind):
            return found(stepper)
    return None
