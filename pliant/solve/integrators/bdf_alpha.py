"""BDF-alpha: second-order time derivatives between the trapezoidal rule and BDF2, for strong forms."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pliant.bvp.contract import TimeRule
from pliant.model import DescriptionError
from pliant.model.fields import Number, holds
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import Integrator, Stepper

START = 1.0 - math.sqrt(0.5)
"""gamma of the two-stage method that takes the first step (L-stable, second order)."""


class StrongIntegrator(Integrator):
    """An integrator of strong forms: time derivatives from the present and earlier instants."""

    depth: ClassVar[int] = 2
    """Earlier instants that it looks back on."""

    @abstractmethod
    def rule(self, h: float, before: float) -> TimeRule:
        """The coefficients for a step of h after one of `before` seconds, two instants back at most."""

    def deep_weights(self, order: int) -> Array:
        """Coefficients (order + 1,) of h times the rate, now first, for steps of equal length."""
        raise TypeError(f"{type(self).__name__} looks back on two instants")

    def stepper(self, effects: Effects, h: float) -> Stepper:
        """Refuse: formulations with coordinates have integrators of their own."""
        raise DescriptionError(
            "simulate",
            "integrator",
            self,
            f"an integrator for formulations with coordinates; {type(self).__name__} goes with "
            "Shooting, MultipleShooting and Collocation",
            "leave it out, or give Midpoint(), Newmark() or GeneralizedAlpha()",
        )


_EXAMPLE = "-0.48, where -0.5 is the trapezoidal rule and 0 is BDF2"


@dataclass(frozen=True)
class BDFAlpha(StrongIntegrator):
    """Time derivatives from the present and two earlier instants, with Shooting and its kin.

    alpha : from -0.5 (trapezoidal rule, no numerical damping) to 0 (BDF2, most damping).

    (Celaya and Jose 2013.) The rule is (1 + 2 alpha) times BDF2 less 2 alpha times the trapezoidal
    rule, which keeps second order for steps of any length; with r = h / h_before

        (1 + alpha) y_t = alpha y_1t + ((1 + 2 alpha) (a0 y + a1 y_1 + a2 y_2) - 2 alpha (y - y_1)) / h
        a0 = (1 + 2 r) / (1 + r),  a1 = -(1 + r),  a2 = r^2 / (1 + r)
    """

    alpha: float = holds(Number(example=_EXAMPLE, limits=(-0.5, 0.0)), -0.48)
    damped: ClassVar[str] = "BDFAlpha(alpha=0.0)"
    undamped: ClassVar[str] = "BDFAlpha(alpha=-0.5)"

    @property
    def damps(self) -> bool:
        """True unless it is the trapezoidal rule."""
        return self.alpha > -0.5

    def rule(self, h: float, before: float) -> TimeRule:
        """Return the coefficients for a step of h after one of `before` seconds."""
        r, a = h / before, self.alpha
        a0, a1, a2 = (1.0 + 2.0 * r) / (1.0 + r), -(1.0 + r), r * r / (1.0 + r)
        scale = 1.0 / (h * (1.0 + a))
        share = 1.0 + 2.0 * a
        return TimeRule(
            c0=scale * (share * a0 - 2.0 * a),
            c1=scale * (share * a1 + 2.0 * a),
            c2=scale * share * a2,
            d1=a / (1.0 + a),
        )


def first_rules(h: float) -> tuple[tuple[float, TimeRule], tuple[float, TimeRule]]:
    """Return two stages (part of h, rule) that take a first step without knowing rates at its start.

    y_a = y_0 + g h k_a,  y_b = y_0 + (1 - g) h k_a + g h k_b,  g = 1 - 1 / sqrt(2): stiffly accurate,
    so that a load that comes on at once does not ring (Alexander 1977).
    """
    c0 = 1.0 / (START * h)
    return (
        (START, TimeRule(c0, -c0, 0.0, 0.0)),
        (1.0, TimeRule(c0, 0.0, -c0, -(1.0 - START) / START)),
    )
