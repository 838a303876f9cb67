"""Short readable lines about results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass

import numpy as np

from pliant.model import Array


def describe_formulation(formulation: Mapping[str, str]) -> str:
    """Return which rods were solved with what."""
    groups: dict[str, list[str]] = {}
    for rod, text in formulation.items():
        groups.setdefault(text, []).append(repr(rod))
    return "; ".join(f"{', '.join(rods)} as {text}" for text, rods in groups.items())


def describe_tips(tips: Mapping[str, Array]) -> list[str]:
    """Return one line for each tip pose (4, 4): position and turn."""
    width = max(len(name) for name in tips)
    lines = []
    for name, g in tips.items():
        x, y, z = (f"{number(value)}" for value in g[:3, 3])
        tangent = ", ".join(f"{value:+.3f}" for value in g[:3, 2])
        lines.append(f"  tip of {name:<{width}}  ({x}, {y}, {z}) m, pointing along ({tangent})")
    return lines


def describe_energy(parts: Mapping[str, float], lead: str = "  energy") -> str:
    """Return energies on one line, in one unit."""
    largest = max((abs(value) for value in parts.values()), default=0.0)
    unit, factor = ("J", 1.0) if largest >= 0.1 or largest == 0.0 else ("mJ", 1e3)
    listed = ", ".join(f"{name} {_rounded(factor * value)}" for name, value in parts.items())
    return f"{lead} / {unit}: {listed}"


def number(value: float) -> str:
    """Return a length to a hundredth of a millimetre, without a negative zero."""
    return f"{value + 0.0 if abs(value) >= 5e-6 else 0.0:.5f}"


def _rounded(value: float) -> str:
    return f"{float(np.format_float_positional(value, 4, fractional=False)):.6g}"


def settings_text(item: object) -> str:
    """Return a settings object as a user would write it, without what is left at its default."""
    if not is_dataclass(item) or isinstance(item, type):
        return " ".join(repr(item).split())
    given = []
    for one in fields(item):
        value = getattr(item, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.init and not (value is default or (np.ndim(value) == 0 and value == default)):
            given.append(f"{one.name}={_short(value)}")
    return f"{type(item).__name__}({', '.join(given)})"


def _short(value: object) -> str:
    return f"({len(value)} values)" if np.ndim(value) and len(value) > 4 else repr(value)  # type: ignore[arg-type, arg-type]
