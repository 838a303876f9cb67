"""Where two descriptions differ."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pliant.model.checks import as_float

_SAME = 1e-12
"""Numbers that differ by less than this part of their size are the same."""


def difference(a: Any, b: Any, path: str = "") -> str | None:
    """Return the path at which two descriptions, or parts of them, differ; None if nowhere."""
    if is_dataclass(a) and type(a) is type(b):
        pairs = [(item.name, getattr(a, item.name), getattr(b, item.name)) for item in fields(a)]
    elif isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return path
        pairs = [(key, a[key], b[key]) for key in a]
    elif isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        pairs = [(str(k), x, y) for k, (x, y) in enumerate(zip(a, b, strict=True))]
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
        near = np.abs(a - b) <= _SAME * (np.abs(a) + np.abs(b))
        return None if near.all() else path
    else:
        one, two = as_float(a), as_float(b)
        if one is not None and two is not None:
            return None if abs(one - two) <= _SAME * (abs(one) + abs(two)) else path
        return None if a is b or bool(a == b) else path
    for name, x, y in pairs:
        other = difference(x, y, f"{path}.{name}" if path else name)
        if other is not None:
            return other
    return None
