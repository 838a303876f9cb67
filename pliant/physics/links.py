"""Elastic links between two frames, see `link_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import DescriptionError, Frame, Link, pose
from pliant.model.via_points import KINDS
from pliant.physics.contract import Moment, Term
from pliant.physics.two_frames import TwoFrameTerm
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SHORT = 1e-9
"""Distance of two ends, relative to the robot, below which a link has no direction."""


class LinkTerm(TwoFrameTerm):
    """A link on one tree."""

    compiled = True
    smooth = True

    def __init__(self, tree: Tree, link: Link) -> None:
        self.link, self.name = link, link.name
        a, b = (end if isinstance(end, Frame) else pose(end) for end in (link.a, link.b))
        self.attach(tree, (a, b))

    def close(self, tree: Tree) -> None:
        link, at_rest = self.link, self.frames(tree.rest)
        way = at_rest[1, :3, 3] - at_rest[0, :3, 3]
        length = float(np.linalg.norm(way))
        if length <= _SHORT * tree.length:
            raise DescriptionError(
                link.label,
                "b",
                link.b,
                "a place apart from 'a' in the undeformed robot",
                "choose another place, or connect both by robot.connect",
            )
        axes = _axes(way / length, link.x_axis)
        self.turns = np.tile(np.eye(4), (2, 1, 1))
        self.turns[:, :3, :3] = np.einsum("eji,jk->eik", at_rest[:, :3, :3], axes)
        rest, kinds = np.zeros(6), np.zeros(6)
        rest[5], kinds[5] = link.rest * length, KINDS.index(link.kind)
        whole = link.rest * length
        damping = link.damping(whole) / whole**link.power
        laws = [link.stiffness(whole) / whole, damping, rest, kinds]
        laws += [link.lengthening(whole), np.full(6, link.power), np.full(6, float(link.updated))]
        self.rule = np.array(laws)
        self.rule[4, 0] = 2.0 / np.pi * whole
        self.needs_twists = bool(damping.any())

    def trouble(self, state: State) -> str:
        """Tell if it is turned over: pulled long while both ends point away from each other.

        No beam can be: the ends of a bent one do so only where they are closer than its length.
        """
        g = self.frames(state)
        way = g[1, :3, 3] - g[0, :3, 3]
        along = [way @ g[end, :3, :3] @ self.turns[end, :3, 2] for end in (0, 1)]
        if max(along) >= 0.0 or np.linalg.norm(way) <= self.rule[2, 5]:
            return ""
        return (
            f"{self.link.label} is turned over: both of its ends have turned by more than a quarter "
            "turn against the line between them, as no beam does. It pulls along that line, but harder "
            "than its stretch asks for. Resist the turning of its ends: a stiffer section or more "
            "strain_damping in bending, a larger inertia of the bodies; or use a spring, which knows "
            "the distance alone"
        )

    def readings(self, m: Moment) -> dict[str, Any]:
        """Tension, N, negative where it pushes; and distance of its ends, m."""
        g = self.frames(m.state)
        way = g[1, :3, 3] - g[0, :3, 3]
        length = float(np.linalg.norm(way))
        pull = g[1, :3, :3] @ self.gradient(m)[1, 3:]
        return {"tension": float(pull @ way) / max(length, _SHORT), "length": length}


def _axes(z: Array, x_axis: tuple[float, ...] | None) -> Array:
    """Axes (3, 3), as columns, of a link along z (3,): x as near as can be to what is asked for."""
    for wish in ([] if x_axis is None else [np.array(x_axis)]) + [
        np.cross([0.0, 0.0, 1.0], z),
        np.array([1.0, 0.0, 0.0]),
    ]:
        x = wish - (wish @ z) * z
        if np.linalg.norm(x) > 1e-6 * np.linalg.norm(wish) > 0.0:
            x = x / np.linalg.norm(x)
            return np.stack([x, np.cross(z, x), z], axis=1)
    raise AssertionError("one of the world's axes is across the link")


def terms(tree: Tree) -> list[Term]:
    """The links of a robot."""
    return [LinkTerm(tree, link) for link in tree.description.of(Link).values()]
