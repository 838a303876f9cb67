"""Constraints that hold a frame against another frame or a pose, by the gap of `frame_gap`."""

from __future__ import annotations

import numpy as np

from pliant.engine.program import run
from pliant.model import Constraint, Frame
from pliant.model.constraint import DIRECTIONS
from pliant.physics import frame_gap
from pliant.physics.contract import Term
from pliant.physics.frame_rows import FrameRows
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class FrameConstraint(FrameRows):
    """A frame `on` held against a frame `to` of the robot or a pose in the world."""

    compiled = True

    def __init__(self, tree: Tree, constraint: Constraint) -> None:
        self.constraint = self.source = constraint
        self.label = constraint.label
        self.held = np.array(constraint.rows, dtype=np.int64)
        super().__init__(tree, len(self.held))
        self.on = tree.attach(constraint.on)
        self.to = tree.attach(constraint.to) if isinstance(constraint.to, Frame) else None
        self.sides = [self.on] if self.to is None else [self.to, self.on]

    def close(self, tree: Tree) -> None:
        super().close(tree)
        stiffness = np.repeat([tree.bending / tree.length, tree.bending / tree.length**3], 3)
        self.stiffness = stiffness[self.held]
        self.row_weights = np.where(self.held < 3, 1.0, self.row_weights)
        self.pose = np.eye(4)
        if self.to is None:
            rest = tree.rest.parts[self.on[0]].g[self.on[1]]
            given = self.constraint.to
            self.pose = rest.copy() if given is None else np.asarray(given, dtype=float)

    def poses(self, state: State) -> tuple[Array, Array]:
        """Poses of the frame that it holds to and of the frame that it holds."""
        g2 = state.parts[self.on[0]].g[self.on[1]]
        return (self.pose if self.to is None else state.parts[self.to[0]].g[self.to[1]]), g2

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        run(frame_gap.set_gap, *self.poses(state), self.held, gap, slopes)

    def bend(self, state: State, force: Array, out: Array) -> None:
        run(frame_gap.set_curvature, *self.poses(state), self.held, force, out)

    def row_name(self, row: int) -> str:
        return DIRECTIONS[self.held[row]]

    def _force(self, values: Array) -> Array:
        force = np.zeros(6)
        force[self.held] = values
        return force

    def reactions(self, state: State, z: Array) -> dict[str, Array]:
        return {self.constraint.name: -self._force(z[self.rows])}


def terms(tree: Tree) -> list[Term]:
    """The constraints of a robot."""
    return [FrameConstraint(tree, item) for item in tree.description.of(Constraint).values()]
