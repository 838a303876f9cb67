"""Derivatives of functions of time by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Stencil:
    """Weights of values h apart for a derivative: about a point, and from it onwards."""

    h: float
    power: int
    central: tuple[float, ...]
    forward: tuple[float, ...]


RATE = Stencil(
    2e-4,
    1,
    (1 / 12, -2 / 3, 0.0, 2 / 3, -1 / 12),
    (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4),
)
ACCELERATION = Stencil(
    1e-3,
    2,
    (-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12),
    (15 / 4, -77 / 6, 107 / 6, -13.0, 61 / 12, -5 / 6),
)


def difference(function: Callable[[float], float], t: float, stencil: Stencil) -> float:
    """A derivative by fourth-order differences, central where that needs no time before zero."""
    h, middle = stencil.h, len(stencil.central) // 2
    first, weights = -middle, stencil.central
    if t < middle * h:
        first, weights = 0, stencil.forward
    values = [
        weight * float(function(t + (first + k) * h)) for k, weight in enumerate(weights) if weight
    ]
    return sum(values) / h**stencil.power
