"""Reels that pull in tendons: massless parts that slide as an input tells them."""

from __future__ import annotations

from typing import Any

from pliant.model.body import Auxiliary
from pliant.model.places import Frame, pose
from pliant.model.registry import Entry, Joint, variants

_FAR = 10.0
"""Distance of a reel from the first point of its tendon where nothing is pulled, m."""


def reel(tendon: Entry, first: Any) -> Auxiliary:
    """Return the reel of a tendon, which slides away from its first point by the input of its name.

    first : a Frame, or a point (3,) in the world, metres.
    """
    slider = variants(Joint)["prismatic"]
    joint = slider(axis=(0.0, 0.0, -1.0), drive="position", input=tendon.name)  # type: ignore[call-arg]
    brought: dict[str, Any] = {"joint": joint, "brought_by": tendon.label}
    behind = pose((0.0, 0.0, -_FAR))
    if isinstance(first, Frame):
        return Auxiliary(tendon.name, on=first, pose=behind, **brought)
    return Auxiliary(tendon.name, pose=pose(first) @ behind, **brought)
