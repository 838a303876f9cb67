"""How the pressure in chambers acts on the coordinates of a rod.

A chamber gives stresses (S, 6), gradients of a potential in the strains that are already weighted
(see `physics.chambers`). That they act through the strains is the rule, and has a potential; a
formulation may set its map an `actuation` of another kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from pliant.lie.tuples import Array

if TYPE_CHECKING:
    from pliant.rods.contract import OwnConfiguration, OwnPlan, RodMap


class Actuation(ABC):
    """Forces on element variables y by stresses at stations: f = sum_s A_s^T stress_s.

    Plans of strains are up to date at the configuration that comes with them.
    """

    conservative = False
    """True if the force has a potential, so that its derivative is symmetric."""

    @abstractmethod
    def jacobian(self, plan: OwnPlan, c: OwnConfiguration) -> Array:
        """A (S, 6, m) at configuration `c`."""

    @abstractmethod
    def add_slope(self, plan: OwnPlan, c: OwnConfiguration, stress: Array, K: Array) -> None:
        """Add to K (E, m, m) the derivative of the force of stress (S, 6) in y."""

    @abstractmethod
    def path(
        self, plans: tuple[OwnPlan, OwnPlan], ends: tuple[OwnConfiguration, OwnConfiguration]
    ) -> Array:
        """Integral (S, 6) of A dy from one configuration to the other, on which stresses do work."""


class OnStrains(Actuation):
    """Stresses on the strains of a map: A = B, the derivative of the strains."""

    conservative = True

    def __init__(self, rod_map: RodMap) -> None:
        self._map = rod_map

    def jacobian(self, plan: OwnPlan, c: OwnConfiguration) -> Array:
        """B (S, 6, m)."""
        return plan.B

    def add_slope(self, plan: OwnPlan, c: OwnConfiguration, stress: Array, K: Array) -> None:
        """Add to K (E, m, m) the second derivative of sum stress.e."""
        self._map.strain_second(plan, c, stress, K)

    def path(
        self, plans: tuple[OwnPlan, OwnPlan], ends: tuple[OwnConfiguration, OwnConfiguration]
    ) -> Array:
        """The change of the strains (S, 6), whatever the way."""
        return np.asarray(plans[1].e - plans[0].e)
