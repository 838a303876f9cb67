"""Plausibility of measured positions: most often millimetres are given instead of metres."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pliant.model import Array, Description, DescriptionError
from pliant.study.outputs import Probe

FAR = 3.0
"""Farthest plausible distance from the clamp, in lengths of all rods up to the point."""


def check_positions(
    description: Description, label: str, probes: Iterable[Probe], target: Array
) -> None:
    """Refuse positions much farther from the clamp of a robot than it is long.

    label : of the measurement, for messages.  target : (N, C) measured values of the probes. Free
    rods and rods with a prescribed base may be anywhere.
    """
    for k, probe in enumerate(probes):
        if probe.position is None:
            continue
        rod, axis, offset = probe.position
        limits = _clamp_and_reach(description, rod)
        if limits is None:
            continue
        clamp, reach = limits[0][axis], limits[1] + offset
        away = np.abs(target[:, k] - clamp)
        if np.nanmax(away) > FAR * reach:
            row = int(np.nanargmax(away))
            raise DescriptionError(
                label, f"column {probe.column!r}", float(target[row, k]),
                f"a position in metres within reach of the robot, which reaches {reach:.3g} m from "
                f"{clamp:.3g} m",
                "convert it to metres, in the axes of the robot",
            )  # fmt: skip


def _clamp_and_reach(description: Description, rod: str) -> tuple[Array, float] | None:
    """World position (3,) of the clamp at the root of a rod's chain, and the length of the chain, m."""
    reach = 0.0
    while True:
        part = description.rods[rod]
        if part.base is None or description.motions_of(rod):
            return None
        reach += float(part.length)
        place = np.asarray(part.pose, dtype=float)[:3, 3]
        if isinstance(part.base, str):
            return place, reach
        reach += float(np.linalg.norm(place) + np.linalg.norm(part.base.offset))
        if part.base.part not in description.rods:
            return None
        rod = part.base.part
