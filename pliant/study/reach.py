"""Positions that no robot can have: most often millimetres where metres were meant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pliant.model import Array, Description, DescriptionError
from pliant.study.outputs import Probe

FAR = 3.0
"""Lengths of all rods up to a place beyond which it cannot be, however far they stretch."""


def check_reach(
    description: Description, label: str, probes: Iterable[Probe], target: Array
) -> None:
    """Refuse positions that are several times as far from the clamp of a robot as it is long.

    label : of the measurement, for messages.  target : (N, C) measured values of the probes. Rods
    that are free, or whose clamp moves, may be anywhere.
    """
    for k, probe in enumerate(probes):
        if probe.position is None:
            continue
        found = _clamp_and_reach(description, probe.position[0])
        if found is None:
            continue
        clamp, reach = found[0][probe.position[1]], found[1] + probe.position[2]
        away = np.abs(target[:, k] - clamp)
        if np.nanmax(away) > FAR * reach:
            row = int(np.nanargmax(away))
            raise DescriptionError(
                label, f"column {probe.column!r}", float(target[row, k]),
                f"a position in metres that the robot can have, which reaches {reach:.3g} m from "
                f"{clamp:.3g} m",
                "convert it to metres, in the axes of the robot",
            )  # fmt: skip


def _clamp_and_reach(description: Description, rod: str) -> tuple[Array, float] | None:
    """World position (3,) at which what carries a rod is clamped, and the length of all of it, m."""
    moved = {motion.part for motion in description.base_motions.values()}
    reach = 0.0
    while True:
        part = description.rods[rod]
        if part.base is None or rod in moved:
            return None
        reach += float(part.length)
        place = np.asarray(part.pose, dtype=float)[:3, 3]
        if isinstance(part.base, str):
            return place, reach
        reach += float(np.linalg.norm(place) + np.linalg.norm(part.base.offset))
        if part.base.part not in description.rods:
            return None
        rod = part.base.part
