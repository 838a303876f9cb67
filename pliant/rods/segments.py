"""What rods of rigid or straight segments have in common: their settings and their inertia."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import Rod
from pliant.model.checks import choice, count
from pliant.rods.contract import Array

MIDPOINT, ONE_SIDED = "midpoint", "one-sided"
"""Where a segment is seen from: its middle, which is of second order, or its start."""


def check_settings(settings: Any, **choices: tuple[str, ...]) -> None:
    """Check the number of segments and the named choices of frozen settings."""
    part = f"formulation {type(settings).__name__}"
    whole = count(part, "segments", settings.segments, 1, "16 is a good default")
    object.__setattr__(settings, "segments", whole)
    for field, known in choices.items():
        choice(part, field, getattr(settings, field), known)


def inertia_of_links(rod: Rod, s: Array, lengths: Array) -> Array:
    """Diagonal inertia per length (S, 6) of links of these lengths (S,), m, about their middles.

    A link resists turning across its axis with its own length as well: m l^2 / 12.
    """
    inertia = np.array(rod.inertia(s), dtype=float)
    inertia[:, :2] += (rod.mass_per_length(s) * lengths**2 / 12.0)[:, None]
    return inertia
