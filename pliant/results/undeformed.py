"""A robot as it is described: poses of its parts without loads, for pictures before it is solved."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.chain import natural_poses
from pliant.model import (
    Array,
    Description,
    Frame,
    Rod,
    Tube,
    centreline,
    is_nested,
    nest_of,
    refuse,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Undeformed:
    """Poses of a description with all joints as initially; it needs neither formulations nor mass.

    It answers what drawings ask of a compiled robot; the configuration q is not used.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.sampler = self
        self._base = cache(self._based)
        self._parts = {**description.members(), **description.auxiliaries()}

    def _based(self, name: str) -> Array:
        """World pose (4, 4) of the base of a rod, or of a body."""
        part = self._parts[name]
        carrier = np.eye(4) if part.carrier is None else self.frame(None, part.carrier)
        joint: Any = part.joint
        moved = np.eye(4) if joint is None else joint.pose(joint.start())
        return carrier @ np.asarray(part.pose) @ moved

    def poses(self, q: Any, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at increasing arclengths s (S,), metres."""
        part = self.description.rods[rod]
        if is_nested(self.description, part):
            return self._nested(part, s)
        edges = np.concatenate(([0.0], s))
        return natural_poses(part, self._base(rod), edges)[1:]

    def _nested(self, rod: Rod, s: Array) -> Array:
        """World poses (S, 4, 4) of sections of a tube on the centreline of its nest, not turned."""
        nest = nest_of(self.description.settled({}), rod)
        centre, first = centreline(nest), rod.start if isinstance(rod, Tube) else 0.0
        place = np.minimum(s + first, centre.length)
        edges = np.concatenate(([0.0], np.maximum(place, 0.0)))
        poses = natural_poses(centre, self._base(nest[0].name), edges)[1:]
        poses[:, :3, 3] += np.minimum(place, 0.0)[:, None] * poses[:, :3, 2]
        if isinstance(rod, Tube):
            poses[:, :3, 3] += poses[:, :3, :2] @ np.array(rod.offset)
        return poses

    def joint(self, q: Any, part: str) -> Array:
        """Coordinates (nq,) of the joint of a part."""
        joint: Any = self._parts[part].joint
        return np.asarray(joint.start())

    def frame(self, q: Any, frame: Frame) -> Array:
        """World pose (4, 4) of a frame."""
        base = self._base(frame.part)
        if frame.part in self.description.rods:
            base = self.poses(q, frame.part, np.array([frame.s]))[0]
        return base @ frame.pose_offset()


def draw_description(
    description: Description, path: str | os.PathLike[str] | None, view: Any
) -> Figure:
    """Draw a robot as it is described, with its effects as described; see `Robot.plot`."""
    from pliant.results.shapes_and_arrows import effect_shapes, robot_shapes
    from pliant.view import draw_robot, saved

    example = "add_rod('arm', ...)"
    expected = "at least one rod or body with a mass"
    robot: Any = Undeformed(description)
    shapes = robot_shapes(robot, [None])
    refuse(not shapes, "robot", "parts", "none", expected, f"describe one with {example}")
    values = {name: [value] for name, value in description.inputs().items()}
    effects, arrows = effect_shapes(robot, [None], values)
    return saved(draw_robot(shapes + effects, arrows, view=view), path)
