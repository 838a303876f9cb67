"""What effects in joints have in common: forces on the coordinates of one joint.

An effect on the values d(q) (nv,) of a joint, such as its angle, with stress s = dU/dd acts on its
coordinates by T^T s, T = dd/dq. Between two configurations a and b the stress is taken along the way
from one to the other and acts at each end with the T of that end: a rigid motion of the whole robot
changes no joint, so that this keeps momentum, and U changes by the work of s.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask
from pliant.physics.contract import KernelTerm
from pliant.physics.rope_law import damper
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree


class JointTerm(KernelTerm):
    """An effect on the coordinates of the joint of part i."""

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = tree.parts[i]
        self.joint = self.part.joint
        self.nv = self.joint.nv

    def pairs(self) -> list[Pair]:
        mine = self.part.joint_index[None]
        return [(mine, mine)]

    def coordinates(self, state: State) -> Array:
        """Coordinates (nq,) of the joint in a state."""
        return state.parts[self.i].joint_q

    def values(self, state: State) -> tuple[Array, Array]:
        """The values (nv,) of the joint and their derivative (nv, nv)."""
        d, T = np.zeros(self.nv), np.zeros((self.nv, self.nv))
        ask(self.joint.set_values, self.coordinates(state), d, T)
        return d, T

    def change(self, a: State, b: State) -> tuple[Array, Array]:
        """The variation (nv,) from a to b, and its derivative (nv, nv) in b."""
        x, X = np.zeros(self.nv), np.zeros((self.nv, self.nv))
        ask(self.joint.set_change, self.coordinates(a), self.coordinates(b), x, X)
        return x, X

    def new_block(self) -> Array:
        """A block (nv, nv) that is zero, also whenever a program runs again."""
        block = np.zeros((self.nv, self.nv))
        clear(block)
        return block

    def add_block(self, tangent: Tangent, block: Array) -> None:
        """Add a block (nv, nv) to a tangent."""
        tangent.add(tangent.effects[self.number][0], block[None])


@kernel
def add_force(scale, T, s, index, out):  # type: ignore[no-untyped-def]
    """out[index] += scale T^T s, T (n, nv) and s (n,)."""
    for j in range(index.shape[0]):
        for i in range(s.shape[0]):
            out[index[j]] += scale * T[i, j] * s[i]


@kernel
def add_form(scale, left, k, right, out):  # type: ignore[no-untyped-def]
    """out (nv, nv) += scale left^T diag(k) right."""
    n = out.shape[0]
    for a in range(n):
        for b in range(n):
            for i in range(k.shape[0]):
                out[a, b] += scale * left[i, a] * k[i] * right[i, b]


@kernel
def set_dampers(c, power, h, x, slopes):  # type: ignore[no-untyped-def]
    """Replace changes x (n,) in h seconds by the impulses of dampers, and write their derivatives
    slopes (n,); with h = 1, rates by forces.
    """
    for i in range(c.shape[0]):
        force, slope = damper(c[i], power[i], x[i] / h)
        x[i], slopes[i] = h * force, slope


@kernel
def add_losses(scale, c, power, x, out):  # type: ignore[no-untyped-def]
    """out_0 += scale times the power that dampers lose at rates x (n,)."""
    for i in range(c.shape[0]):
        out[0] += scale * damper(c[i], power[i], x[i])[0] * x[i]


@kernel
def multiply(c, x):  # type: ignore[no-untyped-def]
    """x_i *= c_i."""
    for i in range(c.shape[0]):
        x[i] *= c[i]
