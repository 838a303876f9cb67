"""Spectral: geometrically exact rods on Gauss-Lobatto nodes, with lumped mass; see `nodal`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.model import Rod
from pliant.model.fields import Whole, holds
from pliant.rods.contract import Capabilities, Formulation
from pliant.rods.nodal import NodalMap


@dataclass(frozen=True)
class Spectral(Formulation):
    """Rod of spectral elements: poses of the Gauss-Lobatto nodes are the unknowns.

    order : polynomial degree of an element, 1 to 8.
    elements : number of elements of equal length, at least 1. Where data of the rod jump along s, or
        other parts hang on it, an element border is moved there, or another one is added.
    """

    order: int = holds(Whole(least=1, most=8), 3)
    elements: int = holds(Whole(least=1, example="8"), 8)

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> NodalMap:
        """The map of `rod` under these settings."""
        return NodalMap(rod, self.order, self.elements)
