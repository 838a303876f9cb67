"""What rods of rigid or straight segments have in common: their settings."""

from __future__ import annotations

from typing import Any

from pliant.model.checks import choice, count

MIDPOINT, ONE_SIDED = "midpoint", "one-sided"
"""Where a segment is seen from: its middle, which is of second order, or its start."""


def check_settings(settings: Any, **choices: tuple[str, ...]) -> None:
    """Check the number of segments and the named choices of frozen settings."""
    part = f"formulation {type(settings).__name__}"
    whole = count(part, "segments", settings.segments, 1, "16 is a good default")
    object.__setattr__(settings, "segments", whole)
    for field, known in choices.items():
        choice(part, field, getattr(settings, field), known)
