"""Constraints that hold a frame against another frame or a pose, on both sides or on one.

What inputs move is a part without mass that hangs on the frame that holds by a prescribed joint, so
that rates and accelerations of the inputs come in as those of prescribed joints do.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.model import Constraint, Frame
from pliant.physics.contract import Moment, Term
from pliant.physics.pose_rows import PoseRows
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class FrameConstraint(PoseRows):
    """A frame `on` held against a frame `to` of the robot or a pose in the world."""

    compiled = True

    def __init__(self, tree: Tree, constraint: Constraint) -> None:
        self._begin(tree, constraint, constraint.rows)

    def _begin(self, tree: Tree, constraint: Constraint, rows: tuple[int, ...]) -> None:
        self.constraint = self.source = constraint
        self.label = constraint.label
        to = Frame(constraint.name) if constraint.auxiliaries else constraint.to
        frames = [to, constraint.on]
        sides = [tree.attach(frame) for frame in frames if isinstance(frame, Frame)]
        super().__init__(tree, rows, sides)

    def close(self, tree: Tree) -> None:
        super().close(tree)
        given = self.constraint.to
        if len(self.sides) == 1:
            rest = tree.rest.parts[self.sides[0][0]].g[self.sides[0][1]]
            self.pose = rest.copy() if given is None else np.asarray(given, dtype=float)

    def reactions(self, m: Moment) -> dict[str, Array]:
        return {self.constraint.name: self.wrench(m.z)}


class OneWayConstraint(FrameConstraint):
    """The directions of a constraint that are held on one side: gaps are sign times the way there."""

    compiled = True
    one_sided = True

    def __init__(self, tree: Tree, constraint: Constraint) -> None:
        rows, signs = zip(*constraint.one_way, strict=True)
        self.sign = np.array(signs)
        self._begin(tree, constraint, rows)

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        super().set_gaps(state, gap, slopes)
        run(turn_rows, self.sign, gap, slopes)

    def bend(self, state: State, force: Array, out: Array) -> None:
        turned = np.zeros(len(force))
        run(multiply_signs, self.sign, force, turned)
        super().bend(state, turned, out)

    def wrench(self, z: Array) -> Array:
        force = np.zeros(6)
        force[self.held] = -self.sign * z[self.rows]
        return force

    def row_name(self, row: int) -> str:
        return f"{super().row_name(row)} {'<=' if self.sign[row] > 0 else '>='} 0"


@kernel
def turn_rows(sign, gap, slopes):  # type: ignore[no-untyped-def]
    """gap_r *= sign_r, slopes_r *= sign_r."""
    for r in range(gap.shape[0]):
        gap[r] *= sign[r]
        for j in range(slopes.shape[1]):
            slopes[r, j] *= sign[r]


@kernel
def multiply_signs(sign, x, out):  # type: ignore[no-untyped-def]
    """out (r,) = sign x."""
    for r in range(x.shape[0]):
        out[r] = sign[r] * x[r]


def terms(tree: Tree) -> list[Term]:
    """The constraints of a robot."""
    given = list(tree.description.of(Constraint).values())
    found: list[Term] = [OneWayConstraint(tree, item) for item in given if item.one_way]
    return found + [FrameConstraint(tree, item) for item in given if item.rows]
