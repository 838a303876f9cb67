"""Backward differentiation of orders 1 to 6, for strong forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.bvp.contract import TimeRule
from pliant.model.fields import Whole, holds
from pliant.rods.contract import Array
from pliant.solve.integrators.bdf_alpha import BDFAlpha, StrongIntegrator


@dataclass(frozen=True)
class BDF(StrongIntegrator):
    """Backward differentiation formula of order 1 to 6, with Shooting and its kin.

    order : number of earlier instants from which the rate is found,

        h y_t = sum over m = 1 ... order of (1 / m) of the m-th backward difference of y.

    A motion begins with a step of second order, and the order rises by one in each step. Orders 1 and 2
    damp all vibrations. From order 3 on, vibrations with little damping may grow while a step does not
    resolve them: modes of any frequency decay within 86, 73, 52 and 18 degrees of the negative real
    axis only. Give the material a viscosity, or use BDFAlpha().
    """

    order: int = holds(Whole(least=1, most=6), 2)
    damped: ClassVar[str] = "BDF(order=2)"
    undamped: ClassVar[str] = "BDFAlpha(alpha=-0.5)"

    @property
    def depth(self) -> int:  # type: ignore[override]
        """Earlier instants that it looks back on."""
        return self.order

    @property
    def damps(self) -> bool:
        """It takes energy from vibrations."""
        return True

    def rule(self, h: float, before: float) -> TimeRule:
        """The coefficients of order 1, or of order 2, for a step of h after one of `before` seconds."""
        if self.order == 1:
            return TimeRule(1.0 / h, -1.0 / h, 0.0, 0.0)
        return BDFAlpha(0.0).rule(h, before)

    def deep_weights(self, order: int) -> Array:
        """Coefficients (order + 1,) of h times the rate, now first, for steps of equal length."""
        found = np.zeros(order + 1)
        for m in range(1, order + 1):
            for j in range(m + 1):
                found[j] += (-1) ** j * math.comb(m, j) / m
        return found
