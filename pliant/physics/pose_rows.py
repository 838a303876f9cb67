"""Rows that hold a frame against another frame or a pose in the world, by the gap of `frame_gap`."""

from __future__ import annotations

import numpy as np

from pliant.engine.program import run
from pliant.model.places import DIRECTIONS
from pliant.physics import frame_gap
from pliant.physics.frame_rows import FrameRows
from pliant.physics.symbolic import Place, Symbols, frame_gap as frame_gap_with_symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class PoseRows(FrameRows):
    """The last of its sides held against the first one, or against `pose` where there is one side.

    held (r,) : the directions that are held, of (rx, ry, rz, x, y, z) in the frame that holds.
    """

    def __init__(self, tree: Tree, held: tuple[int, ...], sides: list[tuple[int, int]]) -> None:
        self.held = np.array(held, dtype=np.int64)
        super().__init__(tree, len(self.held))
        self.sides = sides
        self.pose = np.eye(4)
        """(4, 4): the pose in the world to which a single side is held."""

    def close(self, tree: Tree) -> None:
        super().close(tree)
        stiffness = np.repeat([tree.bending / tree.length, tree.bending / tree.length**3], 3)
        self.stiffness = stiffness[self.held]
        self.row_weights = np.where(self.held < 3, 1.0, self.row_weights)

    def poses(self, state: State) -> tuple[Array, Array]:
        """Poses of the frame that holds and of the frame that is held."""
        g = [state.parts[i].g[station] for i, station in self.sides]
        return (g[0], g[1]) if len(g) > 1 else (self.pose, g[0])

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        run(frame_gap.set_gap, *self.poses(state), self.held, gap, slopes)

    def bend(self, state: State, force: Array, out: Array) -> None:
        run(frame_gap.set_curvature, *self.poses(state), self.held, force, out)

    def symbolic(self, x: Symbols) -> None:
        if self.one_sided:
            x.refuse(self, "hold it on both sides")
        frames = [x.station(*side) for side in self.sides]
        if len(frames) < 2:
            frames.insert(0, Place(x.math.SX(self.pose[:3, :3]), x.math.SX(self.pose[:3, 3])))
        x.hold(self.label, frame_gap_with_symbols(x, *frames)[self.held.tolist()])

    def row_name(self, row: int) -> str:
        return DIRECTIONS[self.held[row]]

    def wrench(self, z: Array) -> Array:
        """What it exerts on the frame that is held (6,), in the frame that holds."""
        force = np.zeros(6)
        force[self.held] = -z[self.rows]
        return force
