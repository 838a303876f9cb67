"""Places that no robot has, hundreds of its lengths away: they were probably given in millimetres."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model.fields import fields_of
from pliant.model.places import Frame, OnFrameOrPose
from pliant.model.via_points import OnFrameOrPoint, ViaPoints

if TYPE_CHECKING:
    from pliant.model.checks import Array
    from pliant.model.description import Description
    from pliant.model.registry import Entry

_OUTSIDE, _FAR = 3.0, 100.0
"""Offsets in a section over the length of the rod, and distances over the size of the robot."""


def place_doubts(description: Description) -> Iterator[str]:
    """Yield what is implausible about places on rods, points in the world and lengths of effects."""
    rods = description.rods
    size = sum(rod.length for rod in rods.values())
    if size == 0.0:
        return
    origins = [rod.pose[:3, 3] for rod in rods.values() if rod.base == "world"]
    origin = np.mean(origins or [np.zeros(3)], axis=0)
    for entry in list(description.parts.values()):
        if entry.name in rods:
            continue
        for name, item in fields_of(type(entry)).items():
            places = _places(getattr(entry, name))
            doubts = (x for place in places for x in _frame_doubts(entry, name, place, description))
            yield from islice(doubts, 1)
            far = max((_distance(x, origin) for x in _points(entry, name, item.kind)), default=0.0)
            if far > _FAR * size:
                yield (
                    f"{entry.label}: {name}: {far:.4g} m is {far / size:.2g} times the length of the "
                    f"robot; probably it was given in mm: then write {1e-3 * far:.4g} m"
                )


def _frame_doubts(entry: Entry, name: str, place: Frame, description: Description) -> Iterator[str]:
    """Offsets far outside the section of a rod."""
    rod, offset = description.rods.get(place.part), float(np.linalg.norm(place.offset))
    if rod is not None and offset > _OUTSIDE * rod.length:
        yield (
            f"{entry.label}: {name} is {offset:.4g} m beside {rod.label}, which is {rod.length:g} m "
            f"long; probably its offset was given in mm: then write {1e-3 * offset:.4g} m"
        )


def _places(value: Any) -> list[Frame]:
    """The frames in the value of a field."""
    listed = value if isinstance(value, (tuple, list)) else (value,)
    return [item for item in listed if isinstance(item, Frame)]


def _points(entry: Entry, name: str, kind: Any) -> list[Array]:
    """Points in the world in the value of a field (3,), and its length if it is one (1,)."""
    value = getattr(entry, name)
    if isinstance(kind, OnFrameOrPose):
        return [value[:3, 3]] if isinstance(value, np.ndarray) else []
    if isinstance(kind, ViaPoints):
        return [np.asarray(item) for item in value if isinstance(item, tuple)]
    if isinstance(kind, OnFrameOrPoint):
        return [np.asarray(value)] if isinstance(value, tuple) else []
    length = getattr(kind, "unit", "") == "metres" and isinstance(value, float)
    return [np.array([value])] if length else []


def _distance(x: Array, origin: Array) -> float:
    """How far a point is from the robot, or how large a length is, m."""
    return float(np.linalg.norm(x - origin if len(x) == 3 else x))
