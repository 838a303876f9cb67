"""Elements of rods that stay in a plane: three numbers a node, see `element_kernels` for space.

A node has a position x = (x1, x2) in the plane and a unit complex number z = exp(i phi / 2), phi the
angle by which it is turned from a common direction: the quaternions of space without two components
that stay zero. Interpolated as these are, with z and z' at a station,

    u = 2 Im(z* z') / |z|^2,   (v1, v2) = x' turned back by phi,  exp(i phi) = z^2 / |z|^2.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.lanes import load, store
from pliant.engine.program import run
from pliant.rods.element_kernels import join, take_apart
from pliant.rods.element_nodes import ElementNodes

_HARDLY = 1e-11
"""Rest strains out of the plane, over the strain of a unit turn over the rod, that are none."""


class FlatElements:
    """The elements of nodes, in their columns, while they stay in a plane.

    x, z (2, C) : positions in the plane, and turns.  force (2, C), torque (1, C) : gradients.
    """

    def __init__(self, nodes: ElementNodes) -> None:
        C, K = nodes.count, nodes.strain.shape[1]
        self.x, self.z = np.zeros((2, C)), np.zeros((2, C))
        self.z[0] = 1.0
        self.force, self.torque, self._pull = np.zeros((2, C)), np.zeros((1, C)), np.zeros((2, C))
        self._stiffness, self._rest = np.zeros((3, K)), np.zeros((3, K))
        self._shape = nodes.shape

    def take_law(self, nodes: ElementNodes, axis: int) -> bool:
        """Take over the laws of a copy whose axis `axis` of the sections is normal to the plane.

        Returns whether its rest strains stay in the plane.
        """
        i, j, at = (axis + 1) % 3, (axis + 2) % 3, nodes.stations
        inside, outside = [axis, 3 + i, 3 + j], [i, j, 3 + axis]
        self._stiffness[:, at] = nodes.stiffness[inside][:, at]
        self._rest[:, at] = nodes.rest[inside][:, at]
        return bool(np.abs(nodes.rest[outside][:, at]).max(initial=0.0) <= _HARDLY)

    def set_forces(self) -> None:
        """Set torques and forces of the nodes by the laws of their strains."""
        given = (self._stiffness, self._rest, self._pull, self.force, self.torque)
        run(set_forces, *self._shape, self.x, self.z, *given)


@kernel
def set_forces(R, count, W, L, D, steep, x, z, stiffness, rest, pull, force, torque):  # type: ignore[no-untyped-def]
    """Set torques (1, C) and forces (2, C) of the nodes for stresses stiffness (e - rest), (3, k W).

    du = 2 (Im(z* dz') + Im(dz* z') - u Re(z* dz)) / |z|^2, and with the turn phi = 2 arg z of a station
    dv1 = v2 dphi, dv2 = -v1 dphi, dphi = 2 Im(z* dz) / |z|^2. pull (2, C) is workspace.
    """
    k = L.shape[0]
    join(k, R, count, W, x)
    join(k, R, count, W, z)
    for b in range(0, W, 8):
        s = load(steep, 0, b)
        for g in range(k):
            w, d = L[g, 0], D[g, 0]
            a, c = load(z, 0, b), load(z, 1, b)
            p, q = d * a, d * c
            a, c = w * a, w * c
            dx, dy = d * load(x, 0, b), d * load(x, 1, b)
            for i in range(1, k + 1):
                w, d, at = L[g, i], D[g, i], i * W + b
                z0, z1 = load(z, 0, at), load(z, 1, at)
                a = a + w * z0
                c = c + w * z1
                p = p + d * z0
                q = q + d * z1
                dx = dx + d * load(x, 0, at)
                dy = dy + d * load(x, 1, at)
            p, q, dx, dy = s * p, s * q, s * dx, s * dy
            t = 1.0 / (a * a + c * c)
            two = 2.0 * t
            u = two * (a * q - c * p)
            co, si = t * (a * a - c * c), two * a * c
            v0, v1 = co * dx + si * dy, co * dy - si * dx
            at = g * W + b
            m = two * load(stiffness, 0, at) * (u - load(rest, 0, at))
            n0 = load(stiffness, 1, at) * (v0 - load(rest, 1, at))
            n1 = load(stiffness, 2, at) * (v1 - load(rest, 2, at))
            turn = two * (n0 * v1 - n1 * v0)
            d0, d1 = -(s * m * c), s * m * a
            c0 = m * (q - a * u) - turn * c
            c1 = turn * a - m * (p + c * u)
            f0, f1 = s * (co * n0 - si * n1), s * (si * n0 + co * n1)
            for i in range(k + 1):
                w, d, at = L[g, i], D[g, i], i * W + b
                g0, g1, h0, h1 = w * c0 + d * d0, w * c1 + d * d1, d * f0, d * f1
                if g > 0:
                    g0, g1 = g0 + load(pull, 0, at), g1 + load(pull, 1, at)
                    h0, h1 = h0 + load(force, 0, at), h1 + load(force, 1, at)
                store(pull, 0, at, g0)
                store(pull, 1, at, g1)
                store(force, 0, at, h0)
                store(force, 1, at, h1)
    for c in range(0, x.shape[1], 8):
        turned = load(z, 0, c) * load(pull, 1, c) - load(z, 1, c) * load(pull, 0, c)
        store(torque, 0, c, 0.5 * turned)
    take_apart(k, R, count, W, torque)
    take_apart(k, R, count, W, force)
