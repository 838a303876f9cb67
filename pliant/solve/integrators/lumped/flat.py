"""Leapfrog steps of nodes that stay in a plane: three numbers a node instead of seven.

Nodes of a robot move in a plane if at the start of a run of short steps they stand in it with an axis
of their sections normal to it, velocities and spins are along it, and nothing acts out of it: laws of
strains that are at rest in the plane, and constant fields along it. All this is looked at before every
run; the motion in the plane is that of space to rounding, so that steps may go from one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant._numba import kernel, leaf
from pliant.engine.lanes import load, store
from pliant.engine.program import run
from pliant.lie.quaternion_leaves import quaternion_multiply
from pliant.rods.contract import Array, Ints
from pliant.rods.element_nodes import ElementNodes
from pliant.rods.flat_elements import FlatElements
from pliant.solve.integrators.lumped.motion import NodeMotion
from pliant.solve.integrators.lumped.rigid import half_angles

_OUT = 1e-12
"""How far motions may be out of the plane, relative to lengths, speeds and spins in it."""


class FlatMotion:
    """The nodes of a part of all copies in planes of their own.

    axes (6, C) : orthonormal directions of the planes.  reference (4, C) : quaternions of nodes that
    are not turned.  normal (C,) : which axes of the sections are normal to the planes.
    """

    def __init__(self, motion: NodeMotion, elements: FlatElements) -> None:
        self.motion, self.elements = motion, elements
        C = motion.nodes.count
        self.axes, self.reference, self.normal = (
            np.zeros((6, C)),
            np.zeros((4, C)),
            np.zeros(C, int),
        )
        self.v, self.momentum, self.field, self.out = (np.zeros((n, C)) for n in (2, 1, 2, 3))
        """Velocities, angular momenta, fields in the plane, and places of the planes in space."""
        self.light, self.inverse = motion.light, np.zeros((1, C))
        self.kept, self.pulls = np.zeros((4, C)), np.zeros((3, C))

    def lay(self) -> bool:
        """Find the planes of all copies where the nodes are; False if they are in none."""
        return not self.motion.apart and all(map(self._lay_copy, range(len(self.motion.parts))))

    def _lay_copy(self, copy: int) -> bool:
        motion, at = self.motion, self.motion.parts[copy].columns
        nodes = motion.parts[copy].nodes
        assert isinstance(nodes, ElementNodes)
        R, inertia = nodes.poses[0, :3, :3], motion.about[:, at].reshape(3, 3, -1)
        along = (nodes.X[:, at] - nodes.X[:, at[:1]], motion.field[:, at], motion.rates[0][:, at])
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            mixed = inertia[[axis, axis], [i, j]]
            turned = motion.rates[1][:, at]
            pairs = [(R[:, axis] @ x, x) for x in along]
            pairs += [(mixed, inertia[axis, axis]), (turned[[i, j]], turned)]
            flat = all(np.abs(out).max() <= _OUT * np.abs(x).max() for out, x in pairs)
            if flat and self.elements.take_law(nodes, axis):
                self.axes[:3, at], self.axes[3:, at] = R[:, [i]], R[:, [j]]
                self.reference[:, at] = nodes.Q[:, at[:1]]
                self.normal[at], self.inverse[0, at] = axis, motion.inverse[4 * axis, at]
                return True
        return False

    # -- what programs are made of -----------------------------------------------------------------

    def judge(self, flag: Ints) -> None:
        """Set flag (1,) to zero unless all nodes and their motion are in the planes."""
        m = self.motion
        given = (m.of, m.moving, self.normal, self.axes, self.reference, m.field)
        run(judge, *given, *m.where, *m.rates, flag)

    def enter(self) -> None:
        """Take over nodes, momenta and fields."""
        m, e = self.motion, self.elements
        given = (m.of, self.normal, self.axes, self.reference, m.field, *m.where, *m.rates)
        run(flatten, *given, e.x, e.z, self.v, self.momentum, self.field, self.out)

    def leave(self) -> None:
        """Hand nodes and momenta back."""
        m, e = self.motion, self.elements
        given = (m.of, m.moving, self.normal, self.axes, self.reference)
        run(unfold, *given, e.x, e.z, self.v, self.momentum, self.out, *m.where, *m.rates)

    def step(self, part: float, gradient: Array, unit: Array) -> None:
        """One short step of unit (1,) seconds between two kicks, see `leapfrog`."""
        e, m = self.elements, self.motion
        body = (m.blocks, m.moving, self.light, self.inverse, self.field)
        nodes = (e.force, e.torque, e.x, e.z)
        e.set_forces()
        run(shift_ahead, part, gradient, body, nodes, self.kept, self.pulls)
        e.set_forces()
        run(kick_and_drift, part, unit, body, nodes, self.kept, self.pulls, self.v, self.momentum)


def flat_motions(motions: Sequence[NodeMotion]) -> list[FlatMotion]:
    """The motions of a system in planes; none if the nodes of one have no simpler form there."""
    elements = [motion.nodes.flat() for motion in motions]
    pairs = zip(motions, elements, strict=True)
    found = [FlatMotion(motion, item) for motion, item in pairs if item is not None]
    return found if len(found) == len(motions) else []


@leaf
def _half_turn(x):  # type: ignore[no-untyped-def]
    """cos(x / 2) and sin(x / 2) of angles x; those of large ones are found by halving."""
    c, s, halved = half_angles(x * x)
    s = s * x
    for _ in range(halved):
        c, s = c * c - s * s, 2.0 * c * s
    return c, s


@leaf
def _turned(a, b, x):  # type: ignore[no-untyped-def]
    """Unit complex numbers a + i b, turned by half the angles x."""
    c, s = _half_turn(x)
    p, q = a * c - b * s, a * s + b * c
    unit = 1.5 - 0.5 * (p * p + q * q)
    return unit * p, unit * q


@kernel
def shift_ahead(part, unit, body, nodes, kept, pulls):  # type: ignore[no-untyped-def]
    """Keep nodes (4, C) and pulls (3, C), and move the nodes by s = part unit_0 times accelerations."""
    h = part * unit[0]
    blocks, moving, light, inverse, field = body
    force, torque, x, z = nodes
    for c in blocks:
        s, m = h * load(moving, 0, c), load(light, 0, c)
        a0 = load(field, 0, c) - m * load(force, 0, c)
        a1 = load(field, 1, c) - m * load(force, 1, c)
        t = -load(torque, 0, c)
        x0, x1, z0, z1 = load(x, 0, c), load(x, 1, c), load(z, 0, c), load(z, 1, c)
        store(pulls, 0, c, a0)
        store(pulls, 1, c, a1)
        store(pulls, 2, c, t)
        store(kept, 0, c, x0)
        store(kept, 1, c, x1)
        store(kept, 2, c, z0)
        store(kept, 3, c, z1)
        store(x, 0, c, x0 + s * a0)
        store(x, 1, c, x1 + s * a1)
        z0, z1 = _turned(z0, z1, h * load(inverse, 0, c) * t)
        store(z, 0, c, z0)
        store(z, 1, c, z1)


@kernel
def kick_and_drift(part, unit, body, nodes, kept, pulls, v, momentum):  # type: ignore[no-untyped-def]
    """Kick nodes for unit_0 seconds by the force gradient, and let them drift as long, from `kept`."""
    blocks, moving, light, inverse, field = body
    force, torque, x, z = nodes
    more, h = 1.0 / part, unit[0]
    less = 1.0 - more
    for c in blocks:
        s, m = h * load(moving, 0, c), load(light, 0, c)
        a0 = load(field, 0, c) - m * load(force, 0, c)
        a1 = load(field, 1, c) - m * load(force, 1, c)
        v0 = load(v, 0, c) + s * (less * load(pulls, 0, c) + more * a0)
        v1 = load(v, 1, c) + s * (less * load(pulls, 1, c) + more * a1)
        p = load(momentum, 0, c) + s * (less * load(pulls, 2, c) - more * load(torque, 0, c))
        store(v, 0, c, v0)
        store(v, 1, c, v1)
        store(momentum, 0, c, p)
        store(x, 0, c, load(kept, 0, c) + h * v0)
        store(x, 1, c, load(kept, 1, c) + h * v1)
        z0, z1 = _turned(load(kept, 2, c), load(kept, 3, c), h * load(inverse, 0, c) * p)
        store(z, 0, c, z0)
        store(z, 1, c, z1)


@leaf
def _normal(axes, c):  # type: ignore[no-untyped-def]
    """Normal of the plane of column c."""
    a0, a1, a2, b0, b1, b2 = (
        axes[0, c], axes[1, c], axes[2, c], axes[3, c], axes[4, c], axes[5, c],
    )  # fmt: skip
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@leaf
def _relative(Q, reference, c):  # type: ignore[no-untyped-def]
    """Q reference* of column c."""
    r = (reference[0, c], -reference[1, c], -reference[2, c], -reference[3, c])
    return quaternion_multiply((Q[0, c], Q[1, c], Q[2, c], Q[3, c]), r)


@kernel
def judge(of, moving, normal, axes, reference, field, X, Q, V, L, flag):  # type: ignore[no-untyped-def]
    """flag_0 = 0 if a node, its motion or its field is out of the plane of its column."""
    fast, spun, heavy, far = 0.0, 0.0, 0.0, 0.0
    v_out, l_out, g_out, x_out = 0.0, 0.0, 0.0, 0.0
    for c in range(of.shape[0]):
        if of[c] < 0:
            continue
        n, k = _normal(axes, c), normal[c]
        q = _relative(Q, reference, c)
        along = q[1] * n[0] + q[2] * n[1] + q[3] * n[2]
        for a in range(3):
            if abs(q[1 + a] - along * n[a]) > _OUT:
                flag[0] = 0
            far = max(far, abs(X[a, c] - X[a, of[c]]))
            heavy = max(heavy, abs(field[a, c]))
            if moving[0, c] != 0.0:
                fast = max(fast, abs(V[a, c]))
                if a == k:
                    spun = max(spun, abs(L[a, c]))
                else:
                    l_out = max(l_out, abs(L[a, c]))
        x, v, g = 0.0, 0.0, 0.0
        for a in range(3):
            x += n[a] * (X[a, c] - X[a, of[c]])
            v += n[a] * V[a, c]
            g += n[a] * field[a, c]
        x_out, v_out, g_out = max(x_out, abs(x)), max(v_out, abs(v)), max(g_out, abs(g))
    if x_out > _OUT * far or v_out > _OUT * fast or l_out > _OUT * spun or g_out > _OUT * heavy:
        flag[0] = 0


@kernel
def flatten(of, normal, axes, reference, field, X, Q, V, L, x, z, v, momentum, g, out):  # type: ignore[no-untyped-def]
    """Nodes, momenta and fields in the plane from those in space; out (3, C) : place of the plane."""
    for c in range(of.shape[0]):
        if of[c] < 0:
            continue
        n, q = _normal(axes, c), _relative(Q, reference, c)
        z[0, c], z[1, c] = q[0], q[1] * n[0] + q[2] * n[1] + q[3] * n[2]
        momentum[0, c] = L[normal[c], c]
        high = n[0] * X[0, c] + n[1] * X[1, c] + n[2] * X[2, c]
        for b in range(2):
            x[b, c], v[b, c], g[b, c] = 0.0, 0.0, 0.0
            for a in range(3):
                e = axes[3 * b + a, c]
                x[b, c] += e * X[a, c]
                v[b, c] += e * V[a, c]
                g[b, c] += e * field[a, c]
        for a in range(3):
            out[a, c] = high * n[a]


@kernel
def unfold(of, moving, normal, axes, reference, x, z, v, momentum, out, X, Q, V, L):  # type: ignore[no-untyped-def]
    """Nodes that move and their momenta in space from those in the plane."""
    for c in range(of.shape[0]):
        if of[c] < 0 or moving[0, c] == 0.0:
            continue
        n = _normal(axes, c)
        r = (reference[0, c], reference[1, c], reference[2, c], reference[3, c])
        q = quaternion_multiply((z[0, c], z[1, c] * n[0], z[1, c] * n[1], z[1, c] * n[2]), r)
        for a in range(4):
            Q[a, c] = q[a]
        for a in range(3):
            X[a, c] = out[a, c] + axes[a, c] * x[0, c] + axes[3 + a, c] * x[1, c]
            V[a, c] = axes[a, c] * v[0, c] + axes[3 + a, c] * v[1, c]
            L[a, c] = momentum[0, c] if a == normal[c] else 0.0
