"""Static balance: gradient of the potential, constraint gaps, and the exact tangent.

The tangent is taken in the chart of `System.moved`, so that one Newton step is a Newton step in the
coordinates in which a rod is nearly linear (its increments or strains), while the matrix stays
banded: see `docs/theory/statics.md`.
"""

from __future__ import annotations

import numpy as np

from pliant.physics import loads
from pliant.rods.contract import Array
from pliant.system import constraints
from pliant.system.assembly import mount_blocks
from pliant.system.block import Block
from pliant.system.linear import scatter, scatter_mixed, scatter_vectors
from pliant.system.loading import Loading
from pliant.system.system import Link, System
from pliant.system.tangent import Tangent, tangent_of


def balance(
    system: System,
    mult: Array,
    loading: Loading,
    tangent: bool,
    symmetric: bool = True,
    chart: bool = True,
    filled: Tangent | None = None,
    shift: Array | None = None,
) -> Array:
    """Residual (n + m,) at the placed configuration: gradient of the potential, constraint gaps.

    mult (n + m,) holds stress modes and multipliers. With `tangent` the matrix of
    `tangent_of(system, symmetric)` (or `filled`) is overwritten, in the
    Newton chart, or in the second-order chart if not `chart`. `shift` (m,) are gaps that constraints
    are to keep for now; a gap g beyond it adds the force `stiffness` g to the multiplier (augmented
    Lagrangian), which changes nothing at the solution and keeps the tangent of a rod that only
    constraints hold factorisable.
    """
    residual = np.zeros(system.n + system.m)
    if not tangent:
        filled = None
    elif filled is None:
        filled = tangent_of(system, symmetric)
    if filled is not None:
        filled.clear()
    for block in system.blocks:
        block.point_p[...] = 0.0
        block.point_k[...] = 0.0
    excess: dict[str, Array] = {}
    for k, link in enumerate(system.links):
        keep = np.zeros(system.m) if shift is None else shift
        _add_link(system, k, link, residual, mult[system.n :], keep, filled)
    for i in range(len(system.blocks) - 1, -1, -1):
        base = _add_block(system, i, mult, loading, residual, filled is not None)
        if filled is not None:
            _fill_block(system, i, residual, base, filled, excess, chart)
    return residual


def _add_block(
    system: System, i: int, mult: Array, loading: Loading, residual: Array, tangent: bool
) -> Array:
    """Collect elasticity and loads of one rod; returns the gradient at its base (6,), if it moves."""
    block = system.blocks[i]
    level = block.level
    block.collect_elastic(level, mult, tangent)
    if loading.stress_active[i]:
        block.add_actuation(level, loading.stress[i], loading.inner[i], tangent)
    if len(block.point_s):
        block.add_point_loads(level, loading.point_dead[i], loading.point_follower[i])
        block.add_points(level, tangent)
    if loading.line_active[i]:
        block.map.frame(level.mass, level.c)
        block.mass_p[...] = 0.0
        block.mass_k[...] = 0.0
        dead, follower = loading.line_dead[i], loading.line_follower[i]
        loads.add_loads(level.mass.g, dead, follower, block.mass_p, block.mass_k)
        block.add_mass_stations(level, tangent)
    block.map.lift_vector(level.c, block.ry, block.r)
    scatter_vectors(block.index, block.r, block.mode_unknowns, block.gaps, residual)
    if block.rod.base == "world":
        return np.zeros(6)
    base = block.r[block.base_elements, :6].sum(axis=0)
    if block.parent is not None and not block.shared:
        block.parent.point_p[block.mount] += system.mount_adjoint(block).T @ base
    return np.asarray(base)


def _fill_block(
    system: System,
    i: int,
    residual: Array,
    base: Array,
    filled: Tangent,
    excess: dict[str, Array],
    chart: bool,
) -> None:
    """Lift and scatter the tangent of one rod, with the second derivative of the chart."""
    block = system.blocks[i]
    level = block.level
    left = _left_over(system, block, residual, base, excess) if chart else None
    passed = block.map.lift_tangent(level.c, block.ry, left, block.Ky, block.K)
    excess[block.rod.name] = np.zeros(6) if passed is None else passed - base
    data = filled.matrix.data
    slots = filled.modes[i]
    if slots is None:
        scatter(filled.elements[i], block.K, data)
    else:
        scatter_mixed(filled.elements[i], block.K, *slots, block.coupling, block.compliance, data)
    if block.parent is not None and not block.shared:
        levels = [b.level for b in system.blocks]
        mount_blocks(system, i, levels, levels, (block.coupling, block.coupling), filled)


def _left_over(
    system: System, block: Block, residual: Array, base: Array, excess: dict[str, Array]
) -> Array:
    """Residual (6 + nv,) left on the rod's coordinates, with what carried rods pass on."""
    out = np.empty(6 + block.map.nv)
    out[:6] = base
    out[6:] = residual[block.x_index[6:]]
    if not block.children:
        return out
    extra = np.zeros_like(block.point_p)
    for child in block.children:
        more = excess[child.rod.name]
        if child.shared:
            at = block.map.pose_coordinate(block.point_s[child.mount])
            assert at is not None
            out[at : at + 6] += more
        else:
            wrench = system.mount_adjoint(child).T @ more
            extra[child.mount] += wrench
            # the first six variables of an element are the twist of a pose, which the chart bends
            plan = block.level.points
            first = block.map.elements[plan.element[child.mount], :6]
            out[first] += (plan.J[child.mount].T @ wrench)[:6]
    if np.any(extra):
        block.map.frame_second(block.level.points, block.level.c, extra, block.Ky)
    return out


def _add_link(
    system: System,
    k: int,
    link: Link,
    residual: Array,
    lam: Array,
    shift: Array,
    filled: Tangent | None,
) -> None:
    """Gap of a constraint, its multipliers as forces on the points, and its tangent blocks."""
    g1, g2 = link_poses(link)
    gap = constraints.residual(g1, g2)[link.rows] - shift[link.at]
    stiffness = system.link_stiffness[link.rows]
    force = np.zeros(6)
    force[link.rows] = lam[link.at] + stiffness * gap
    at = system.n + link.at.start
    residual[at : at + len(link.rows)] = gap
    sides = add_link_wrench(link, force)
    if filled is None:
        return
    levels = [block.level for block in system.blocks]
    J = [system.frame_jacobian(block, station, levels) for (block, station), _ in sides]
    rows = np.concatenate([A @ j for (_, A), j in zip(sides, J, strict=True)], axis=1)[link.rows]
    H = constraints.second(g1, g2, force)
    stack = _stack(J)
    curved = stack.T @ (H[6:, 6:] if link.to is None else H) @ stack
    curved += rows.T @ (stiffness[:, None] * rows)
    held = np.ascontiguousarray(rows[None])
    slots = filled.links[k]
    scatter(slots[0], held, filled.matrix.data)
    scatter(slots[1], held, filled.matrix.data)
    scatter(slots[2], np.ascontiguousarray(curved[None]), filled.matrix.data)


def add_link_wrench(link: Link, force: Array) -> list[tuple[tuple[Block, int], Array]]:
    """Add the multipliers (6,) of a constraint to the points it holds, at the placed configuration.

    Returns its sides: a point and the derivative (6, 6) of the gap in the twist of its frame.
    """
    A1, A2 = constraints.jacobian(*link_poses(link))
    sides = [(link.on, A2)] if link.to is None else [(link.to, A1), (link.on, A2)]
    for (block, station), A in sides:
        block.point_p[station] += block.offset_twist()[station].T @ (A.T @ force)
    return sides


def link_poses(link: Link) -> tuple[Array, Array]:
    """Poses of the frame a constraint holds to and of the frame it holds."""
    block, station = link.on
    g2 = block.anchor(block.level, station)[0]
    if link.to is None:
        assert link.pose is not None
        return link.pose, g2
    other, at = link.to
    return other.anchor(other.level, at)[0], g2


def link_gaps(system: System) -> Array:
    """Gaps (m,) of all constraints at the placed configuration."""
    parts = [constraints.residual(*link_poses(link))[link.rows] for link in system.links]
    return np.concatenate([*parts, np.zeros(0)])


def link_rows(system: System, link: Link) -> Array:
    """Held rows (r, n1 + n2) of the constraint Jacobian, at the placed configuration."""
    g1, g2 = link_poses(link)
    A1, A2 = constraints.jacobian(g1, g2)
    sides = [(link.on, A2)] if link.to is None else [(link.to, A1), (link.on, A2)]
    levels = [block.level for block in system.blocks]
    parts = [A @ system.frame_jacobian(block, at, levels) for (block, at), A in sides]
    return np.asarray(np.concatenate(parts, axis=1)[link.rows])


def link_rates(system: System, v: Array) -> Array:
    """Rates (m,) of all constraint gaps for coordinate rates v (n,), placed configuration."""
    parts = [np.zeros(0)]
    for link in system.links:
        index = system.link_frames(link)
        parts.append(link_rows(system, link) @ np.where(index >= 0, v[np.maximum(index, 0)], 0.0))
    return np.concatenate(parts)


def add_link_forces(system: System, lam: Array, out: Array) -> None:
    """Add A^T lam to out (n,) for all constraints at the placed configuration."""
    for link in system.links:
        index = system.link_frames(link)
        force = link_rows(system, link).T @ lam[link.at]
        np.add.at(out, index[index >= 0], force[index >= 0])


def _stack(J: list[Array]) -> Array:
    """Block diagonal of the given Jacobians."""
    out = np.zeros((6 * len(J), sum(j.shape[1] for j in J)))
    col = 0
    for a, j in enumerate(J):
        out[6 * a : 6 * a + 6, col : col + j.shape[1]] = j
        col += j.shape[1]
    return out
