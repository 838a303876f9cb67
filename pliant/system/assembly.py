"""Assembly of vectors and bilinear forms over all rods, mounts included.

`fill(i)` writes the element arrays of block i in its own variables; everything after that (children
mounted on the rod, lifting to coordinates, scattering) is the same for mass, damping and every
integrator. Left and right may be two different configurations, as variational integrators need.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.lie import se3
from pliant.physics import collect
from pliant.rods.contract import Array
from pliant.system.block import Block, Level
from pliant.system.linear import scatter, scatter_vector
from pliant.system.system import System
from pliant.system.tangent import Tangent

Fill = Callable[[int], None]


def assemble_vector(system: System, levels: list[Level], fill: Fill, out: Array) -> None:
    """Add to out (n,) the covectors that `fill` writes into block.ry, seen from `levels`."""
    mounted = system.has_mounts
    if mounted:
        for block in system.blocks:
            block.point_p[...] = 0.0
    for i in range(len(system.blocks) - 1, -1, -1):
        block, level = system.blocks[i], levels[i]
        block.ry[...] = 0.0
        fill(i)
        if mounted and len(block.point_s):
            collect.add_vector(level.points.element, level.points.J, block.point_p, block.ry)
        block.map.lift_vector(level.c, block.ry, block.r)
        scatter_vector(block.index, block.r, out)
        if block.parent is not None and not block.shared:
            base = block.r[block.base_elements, :6].sum(axis=0)
            block.parent.point_p[block.mount] += system.mount_adjoint(block).T @ base


def assemble_bilinear(
    system: System,
    left: list[Level],
    right: list[Level],
    fill: Fill,
    filled: Tangent,
    couplings: Callable[[int], tuple[Array, Array]] | None = None,
    bent: bool = False,
) -> None:
    """Add to the matrix the forms that `fill` writes into block.Ky, between `left` and `right`.

    `couplings(i)` gives the blocks of rod i between coordinates (of left, of right) and its stress
    modes, where there are any; they are needed here for mounted rods only. With `bent` the covectors
    of the last `assemble_vector`, block.ry, meet the second derivative of the variables in the
    coordinates, and those of mounted rods, block.point_p, that of the frames that carry them.
    """
    mounted = system.has_mounts
    if mounted:
        for block in system.blocks:
            block.point_k[...] = 0.0
    for i in range(len(system.blocks) - 1, -1, -1):
        block = system.blocks[i]
        block.Ky[...] = 0.0
        fill(i)
        if mounted and len(block.point_s):
            plan = left[i].points
            collect.add_bilinear(plan.element, plan.J, block.point_k, right[i].points.J, block.Ky)
            if bent and block.children:
                block.map.frame_second(plan, left[i].c, block.point_p, block.Ky)
        if bent:
            block.map.lift_tangent(left[i].c, block.ry, None, block.Ky, block.K)
        else:
            block.map.lift_matrix(left[i].c, right[i].c, block.Ky, block.K)
        scatter(filled.elements[i], block.K, filled.matrix.data)
        if block.parent is not None and not block.shared:
            mount_blocks(system, i, left, right, couplings(i) if couplings else None, filled)


def mount_blocks(
    system: System,
    i: int,
    left: list[Level],
    right: list[Level],
    couplings: tuple[Array, Array] | None,
    filled: Tangent,
) -> None:
    """Hand the base block of a mounted rod to its carrier and scatter the cross blocks."""
    block = system.blocks[i]
    parent = block.parent
    assert parent is not None
    K = block.K[block.base_elements]
    p = block.coupling.shape[1]
    from_left, from_right = (
        (c[block.base_elements][:, :, :6].transpose(0, 2, 1) for c in couplings)
        if couplings is not None
        else (np.zeros((len(K), 6, p)), np.zeros((len(K), 6, p)))
    )
    A = system.mount_adjoint(block)
    parent.point_k[block.mount] += A.T @ K[:, :6, :6].sum(axis=0) @ A
    turn = se3.Ad(se3.inverse(block.rod.pose))
    twist_left = turn @ system.frame_jacobian(parent, block.mount, left)
    twist_right = turn @ system.frame_jacobian(parent, block.mount, right)
    down = np.concatenate([K[:, :6, 6:], from_left], axis=2)
    up = np.concatenate([K[:, 6:, :6].transpose(0, 2, 1), from_right], axis=2)
    slots = filled.mounts[system.mounted().index(block)]
    data = filled.matrix.data
    scatter(slots[0], np.ascontiguousarray(np.einsum("ia,eib->eab", twist_left, down)), data)
    scatter(slots[1], np.ascontiguousarray(np.einsum("ia,eib->eab", twist_right, up)), data)


def add_bent_inertia(block: Block, level: Level) -> None:
    """Add to block.Ky the second derivative of the frames of inertia, met by block.inertia_p."""
    count = len(level.mass.s)
    block.map.frame_second(level.mass, level.c, block.inertia_p[:count], block.Ky)
    if len(block.body_station):
        at_points = np.zeros((len(level.points.s), 6))
        wrench = np.einsum("bij,bi->bj", block.body_A, block.inertia_p[count:])
        np.add.at(at_points, block.body_station, wrench)
        block.map.frame_second(level.points, level.c, at_points, block.Ky)


def mass_fill(system: System, levels: list[Level]) -> Fill:
    """Fill for the mass form sum_s J^T M J at `levels` (frames of mass stations up to date)."""

    def fill(i: int) -> None:
        block, plan = system.blocks[i], levels[i].inertial
        collect.add_diagonal(plan.element, plan.J, block.M, plan.J, block.Ky)

    return fill
