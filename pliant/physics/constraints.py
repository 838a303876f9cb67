"""Constraints that hold a frame against another frame or a pose."""

from __future__ import annotations

import numpy as np

from pliant.model import Constraint, Frame
from pliant.physics.contract import Term
from pliant.physics.pose_rows import PoseRows
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class FrameConstraint(PoseRows):
    """A frame `on` held against a frame `to` of the robot or a pose in the world."""

    compiled = True

    def __init__(self, tree: Tree, constraint: Constraint) -> None:
        self.constraint = self.source = constraint
        self.label = constraint.label
        frames = [constraint.to, constraint.on]
        sides = [tree.attach(frame) for frame in frames if isinstance(frame, Frame)]
        super().__init__(tree, constraint.rows, sides)

    def close(self, tree: Tree) -> None:
        super().close(tree)
        given = self.constraint.to
        if not isinstance(given, Frame):
            rest = tree.rest.parts[self.sides[0][0]].g[self.sides[0][1]]
            self.pose = rest.copy() if given is None else np.asarray(given, dtype=float)

    def reactions(self, state: State, z: Array) -> dict[str, Array]:
        return {self.constraint.name: self.wrench(z)}


def terms(tree: Tree) -> list[Term]:
    """The constraints of a robot."""
    return [FrameConstraint(tree, item) for item in tree.description.of(Constraint).values()]
