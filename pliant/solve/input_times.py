"""How many straight pieces the inputs of a motion need.

Integrators that choose their own steps are given their inputs at even intervals. What inputs do
between these times is in no comparison of two motions, so the intervals are chosen by looking at the
inputs themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.model import ResolutionWarning
from pliant.rods.contract import Array
from pliant.solve.schedule import Inputs

STEADY = 40
"""Intervals where no input changes."""
COUNTS = (40, 80, 160, 320, 640, 1280, 2560, 5120, 10240)
"""Intervals where some do."""
LOOKS = 1000
"""Times between the first intervals at which inputs are looked at, at irregular distances."""
STRAIGHT = 1.0
"""Mean distance of an input from straight pieces over that from its median, per accuracy."""


def input_intervals(inputs: Inputs, duration: float, accuracy: float) -> int:
    """Even intervals of `duration` seconds in which all inputs are nearly straight lines; warns of
    those that are not in the shortest ones.
    """
    if not inputs.moving:
        return STEADY
    rng = np.random.default_rng(0)
    looks = duration * (np.arange(LOOKS) + rng.random(LOOKS)) / LOOKS
    seen = inputs.asked(looks)
    for count in COUNTS:
        ends = np.linspace(0.0, duration, count + 1)
        if count > LOOKS:
            looks = duration * (np.arange(count) + rng.random(count)) / count
            seen = inputs.asked(looks)
        bent = bends(ends, inputs.asked(ends), looks, seen)
        if max(bent.values()) <= STRAIGHT * accuracy:
            return count
    name = max(bent, key=lambda item: bent[item])
    text = (
        f"input {name!r} changes faster than {duration / count:.2g} s: what it does within that time "
        "is not carried by the motion, nor is it in the estimated error. Make it smoother, or simulate "
        "a shorter time."
    )
    warnings.warn(text, ResolutionWarning, stacklevel=6)
    return count


def bends(
    ends: Array, known: Mapping[str, Any], looks: Array, seen: Mapping[str, Any]
) -> dict[str, float]:
    """Mean distance of inputs `seen` at times `looks` from lines between those at `ends`, over that
    from their medians, by name.
    """
    found = dict.fromkeys(seen, 0.0)
    for name, values in seen.items():
        for nodes, told in zip(_columns(known[name]), _columns(values), strict=True):
            away = np.abs(np.interp(looks, ends, nodes) - told)
            if away.any():
                both = np.concatenate([nodes, told])
                found[name] = max(found[name], away.mean() / np.abs(both - np.median(both)).mean())
    return found


def _columns(values: Array) -> Array:
    """Values (T, ...) as rows of single numbers over time."""
    return values.reshape(len(values), -1).T
