"""Rows on the values of joints: gaps that are linear in the angles and positions of some joints.

With the values d (n,) of all joints concerned and T their derivatives in the coordinates, the gaps are

    phi = C d - offset,      A = C T,      second derivative of lambda . phi: that of (C^T lambda) . d.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask, run
from pliant.physics.contract import Moment
from pliant.physics.frame_rows import TOUCHING, FrameRows
from pliant.physics.joint_terms import add_force
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class JointRows(FrameRows):
    """Rows on the values of the joints of parts `numbers`, one after the other.

    C (r, n) and offset (r,) as above.  slides (r,) : True for rows in metres, False for radians.
    """

    def __init__(
        self, tree: Tree, numbers: list[int], C: Array, offset: Array, slides: Array
    ) -> None:
        self.sides = []
        joints = [tree.parts[i].joint for i in numbers]
        ends = np.cumsum([0, *(joint.nv for joint in joints)]).tolist()
        blocks = [np.ascontiguousarray(C[:, a:b]) for a, b in pairwise(ends)]
        self._tied = list(zip(numbers, joints, ends[:-1], blocks, strict=True))
        self.offset, self.slides, self._parts = offset, slides, [tree.parts[i] for i in numbers]
        self.width = ends[-1]
        super().__init__(tree, len(offset))

    def close(self, tree: Tree) -> None:
        self.rows = tree.n + np.arange(self._at.start, self._at.stop)
        self.row_weights = np.where(self.slides, 1.0 / tree.length, 1.0)
        turning = tree.bending / tree.length
        self.stiffness = turning * np.where(self.slides, tree.length**-2, 1.0)
        self.columns = np.concatenate([part.joint_index for part in self._parts])
        self._near = TOUCHING * min(tree.length, 1.0)

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        run(start_gaps, self.offset, gap)
        for i, joint, first, C in self._tied:
            d, T = np.zeros(joint.nv), np.zeros((joint.nv, joint.nv))
            ask(joint.set_values, state.parts[i].joint_q, d, T)
            run(add_joint_gaps, C, d, T, first, gap, slopes)

    def bend(self, state: State, force: Array, out: Array) -> None:
        """Add the second derivative (n, n) of force (r,) . gaps."""
        for i, joint, first, C in self._tied:
            if joint.additive:
                continue
            stress, block = np.zeros(joint.nv), np.zeros((joint.nv, joint.nv))
            clear(block)
            run(set_stress, C, force, stress)
            ask(joint.add_curvature, state.parts[i].joint_q, stress, block)
            run(add_block, block, first, out)

    def symbolic(self, x: Symbols) -> None:
        if self.one_sided:
            x.refuse(self, "give it a limit_stiffness, which makes its stops elastic")
        gaps = sum(x.math.SX(C) @ x.joint(i)[0] for i, _, _, C in self._tied)
        x.hold(self.label, gaps - x.math.SX(self.offset))

    def measured(self, state: State) -> tuple[Array, Array]:
        """Gaps (r,) and slopes (r, n) at a state."""
        gap, slopes = np.zeros(len(self.rows)), np.zeros((len(self.rows), self.width))
        self.set_gaps(state, gap, slopes)
        return gap, slopes

    def _in_columns(self, state: State, slopes: Array) -> Array:
        return slopes

    def _add_wrench(self, work: Work, slopes: Array, force: Array, scale: float) -> None:
        run(add_force, scale, slopes, force, self.columns, work.residual)

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        return []

    def act(self, m: Moment) -> None:
        gap, A = self.measured(m.state)
        held, force = self._meet(m.z, m.keep, gap, m.work, 1.0, self.stiffness)
        self._add_wrench(m.work, A, force, 1.0)
        if m.tangent is None:
            return
        self._add_rows(m.tangent, A, held, 1.0, 1.0)
        self._add_own(m.tangent, held, 1.0)
        curved = np.zeros((1, self.width, self.width))
        run(set_row_stiffness, A, held, self.stiffness, curved[0])
        self.bend(m.state, force, curved[0])
        m.tangent.add(m.tangent.effects[self.number][2], curved)


@kernel
def start_gaps(offset, gap):  # type: ignore[no-untyped-def]
    """gap (r,) = -offset."""
    for r in range(gap.shape[0]):
        gap[r] = -offset[r]


@kernel
def add_joint_gaps(C, d, T, first, gap, slopes):  # type: ignore[no-untyped-def]
    """gap (r,) += C d, and slopes (r, n) = C T in the columns from `first` on; C (r, nv)."""
    n = d.shape[0]
    for r in range(C.shape[0]):
        for k in range(n):
            gap[r] += C[r, k] * d[k]
        for j in range(n):
            slopes[r, first + j] = 0.0
            for k in range(n):
                slopes[r, first + j] += C[r, k] * T[k, j]


@kernel
def set_stress(C, force, stress):  # type: ignore[no-untyped-def]
    """stress (nv,) = C^T force, the forces (r,) of the rows on the values of one joint."""
    for k in range(stress.shape[0]):
        stress[k] = 0.0
        for r in range(force.shape[0]):
            stress[k] += C[r, k] * force[r]


@kernel
def add_block(block, first, out):  # type: ignore[no-untyped-def]
    """Add a block (nv, nv) on the diagonal of out (n, n), from `first` on."""
    for a in range(block.shape[0]):
        for b in range(block.shape[0]):
            out[first + a, first + b] += block[a, b]


@kernel
def set_row_stiffness(A, held, stiffness, out):  # type: ignore[no-untyped-def]
    """out (n, n) = A^T diag(held stiffness) A."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[a, b] = 0.0
            for r in range(A.shape[0]):
                out[a, b] += A[r, a] * held[r] * stiffness[r] * A[r, b]
