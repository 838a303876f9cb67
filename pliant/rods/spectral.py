"""Spectral: geometrically exact rods on Gauss-Lobatto nodes, with lumped mass; see `nodal`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.model import DescriptionError, Rod
from pliant.model.checks import whole_number
from pliant.rods.contract import Capabilities, Formulation
from pliant.rods.nodal import NodalMap

_ORDERS = range(1, 9)


@dataclass(frozen=True)
class Spectral(Formulation):
    """Rod of spectral elements: poses of the Gauss-Lobatto nodes are the unknowns.

    order : polynomial degree of an element, 1 to 8.
    elements : number of elements of equal length, at least 1. Where data of the rod jump along s, or
        other parts hang on it, an element border is moved there, or another one is added.
    """

    order: int = 3
    elements: int = 8

    capabilities: ClassVar[Capabilities] = Capabilities(
        theories=("cosserat", "kirchhoff"), max_rotation=np.pi
    )

    def __post_init__(self) -> None:
        checks = (
            ("order", _ORDERS, "a whole number from 1 to 8", "3 is a good default"),
            ("elements", range(1, 2**31), "a whole number of at least 1", "8 is a good default"),
        )
        for field, allowed, expected, remedy in checks:
            value = whole_number(getattr(self, field))
            if value is None or value not in allowed:
                given = getattr(self, field)
                raise DescriptionError("formulation Spectral", field, given, expected, remedy)
            object.__setattr__(self, field, value)

    def discretise(self, rod: Rod) -> SpectralMap:
        """The map of `rod` under these settings."""
        return SpectralMap(rod, self.order, self.elements)


class SpectralMap(NodalMap):
    """The map of one rod under `Spectral`."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True
