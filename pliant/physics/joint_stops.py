"""Hard stops at the limits of joints: one-sided rows on the values of a joint.

The gap of a stop is d - upper, or lower - d; above zero it is violated. Its force only pushes, and
impacts on it are inelastic.
"""

from __future__ import annotations

import numpy as np

from pliant.physics.contract import Term
from pliant.physics.joint_rows import JointRows
from pliant.tree.tree import Tree


class JointStop(JointRows):
    """The hard stops of one joint: a row for each finite limit, on coordinate `which` with a sign."""

    compiled = True
    one_sided = True

    def __init__(self, tree: Tree, i: int) -> None:
        part = tree.parts[i]
        self.joint = part.joint
        bounds = self.joint.bounds
        ends = [(k, side) for k in range(self.joint.nv) for side in (0, 1)]
        ends = [end for end in ends if np.isfinite(bounds[end])]
        self.which = np.array([k for k, _ in ends], dtype=np.int64)
        self.sign = np.array([-1.0, 1.0])[[side for _, side in ends]]
        self.label, self.source = f"limits of the joint of {part.source.label}", self.joint
        units = self.joint.units or ("rad",) * self.joint.nv
        slides = np.array([units[k] == "m" for k in self.which])
        C = self.sign[:, None] * np.eye(self.joint.nv)[self.which]
        limits = np.array([bounds[end] for end in ends])
        super().__init__(tree, [i], C, self.sign * limits, slides)

    def row_name(self, row: int) -> str:
        side = "upper" if self.sign[row] > 0 else "lower"
        return f"{side} limit of {self.joint.names[self.which[row]]}"


def terms(tree: Tree) -> list[Term]:
    """The hard stops of all joints that have limits without a stiffness."""
    joints = [part.joint for part in tree.parts]
    return [
        JointStop(tree, i)
        for i, x in enumerate(joints)
        if x.limits is not None and x.limit_stiffness is None
    ]
