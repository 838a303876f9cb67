"""Hard stops at the limits of joints: one-sided rows on the values of a joint.

The gap of a stop is d - upper, or lower - d; above zero it is violated. Its force only pushes, and
impacts on it are inelastic.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import ask, run
from pliant.physics.contract import Moment, Term
from pliant.physics.frame_rows import TOUCHING, FrameRows
from pliant.physics.joint_terms import add_force
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class JointStop(FrameRows):
    """The hard stops of one joint: a row for each finite limit, on coordinate `which` with a sign."""

    compiled = True
    one_sided = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i, self.part = i, tree.parts[i]
        self.joint = self.part.joint
        bounds = self.joint.bounds
        ends = [(k, side) for k in range(self.joint.nv) for side in (0, 1)]
        ends = [end for end in ends if np.isfinite(bounds[end])]
        self.which = np.array([k for k, _ in ends], dtype=np.int64)
        self.sign = np.array([-1.0, 1.0])[[side for _, side in ends]]
        self.limit = np.array([bounds[end] for end in ends])
        self.sides = []
        self.label, self.source = f"limits of the joint of {self.part.source.label}", self.joint
        super().__init__(tree, len(ends))

    def close(self, tree: Tree) -> None:
        self.rows = tree.n + np.arange(self._at.start, self._at.stop)
        units = self.joint.units or ("rad",) * self.joint.nv
        slides = np.array([units[k] == "m" for k in self.which])
        self.row_weights = np.where(slides, 1.0 / tree.length, 1.0)
        self.stiffness = tree.bending / tree.length * np.where(slides, tree.length**-2, 1.0)
        self.columns = self.part.joint_index
        self._near = TOUCHING * min(tree.length, 1.0)

    def row_name(self, row: int) -> str:
        side = "upper" if self.sign[row] > 0 else "lower"
        return f"{side} limit of {self.joint.names[self.which[row]]}"

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        n = self.joint.nv
        d, T = np.zeros(n), np.zeros((n, n))
        ask(self.joint.set_values, state.parts[self.i].joint_q, d, T)
        run(set_stop_gaps, self.which, self.sign, self.limit, d, T, gap, slopes)

    def bend(self, state: State, force: Array, out: Array) -> None:
        stress = np.zeros(self.joint.nv)
        run(set_stop_stress, self.which, self.sign, force, stress)
        ask(self.joint.add_curvature, state.parts[self.i].joint_q, stress, out)

    def measured(self, state: State) -> tuple[Array, Array]:
        """Gaps (r,) and slopes (r, nv) at a state."""
        gap, slopes = np.zeros(len(self.rows)), np.zeros((len(self.rows), self.joint.nv))
        self.set_gaps(state, gap, slopes)
        return gap, slopes

    def _in_columns(self, state: State, slopes: Array) -> Array:
        return slopes

    def _add_wrench(self, work: Work, slopes: Array, force: Array, scale: float) -> None:
        run(add_force, scale, slopes, force, self.part.joint_index, work.residual)

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
        curved = np.zeros((1, self.joint.nv, self.joint.nv))
        run(set_stop_stiffness, A, held, self.stiffness, curved[0])
        self.bend(m.state, force, curved[0])
        m.tangent.add(m.tangent.effects[self.number][2], curved)


@kernel
def set_stop_gaps(which, sign, limit, d, T, gap, slopes):  # type: ignore[no-untyped-def]
    """gap_r = sign_r (d_k - limit_r) with k = which_r, and its derivative slopes (r, nv)."""
    for r in range(which.shape[0]):
        gap[r] = sign[r] * (d[which[r]] - limit[r])
        for j in range(T.shape[1]):
            slopes[r, j] = sign[r] * T[which[r], j]


@kernel
def set_stop_stress(which, sign, force, stress):  # type: ignore[no-untyped-def]
    """stress (nv,) = forces (r,) of the rows on the values that they stop."""
    for k in range(stress.shape[0]):
        stress[k] = 0.0
    for r in range(which.shape[0]):
        stress[which[r]] += sign[r] * force[r]


@kernel
def set_stop_stiffness(A, held, stiffness, out):  # type: ignore[no-untyped-def]
    """out (nv, nv) = A^T diag(held stiffness) A."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[a, b] = 0.0
            for r in range(A.shape[0]):
                out[a, b] += A[r, a] * held[r] * stiffness[r] * A[r, b]


def terms(tree: Tree) -> list[Term]:
    """The hard stops of all joints that have limits without a stiffness."""
    joints = [part.joint for part in tree.parts]
    return [
        JointStop(tree, i)
        for i, x in enumerate(joints)
        if x.limits is not None and x.limit_stiffness is None
    ]
