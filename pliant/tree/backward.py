"""Backward passes: from the stations of all parts to the vectors and matrices of the robot.

Every part collects what acts at its stations, lifts it to its coordinates and hands what its base gets
to the frame that carries it, from the tips to the root. The base of a part moves by

    x_base = Ad((X j)^-1) x_carrier + S dq + 1/2 [Ad((X j)^-1) x_carrier, S dq] + ...

and one half bracket for each joint makes the second derivative of the composition exact and symmetric.
"""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear, combine, copy, take
from pliant.engine.program import ask, run
from pliant.linalg.scatter import scatter, scatter_vector
from pliant.rods.contract import Array
from pliant.tree import collect, joint_kernels
from pliant.tree.couplings import add_couplings
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tangent import Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work


def gather(tree: Tree, state: State, work: Work, out: Array) -> None:
    """Add to out (total,) the gradients p and ry of all parts, seen from `state`."""
    for i in range(len(tree.parts) - 1, -1, -1):
        part, at, w = tree.parts[i], state.parts[i], work.parts[i]
        first = 0 if w.mass else len(part.mass_s)
        if w.mass and part.straight:
            first = len(part.mass_s)
            ask(part.map.add_centre_vector, at.mass, w.p[:first], w.ry)
        if first < len(w.p):
            run(collect.add_vector, at.element[first:], at.J[first:], w.p[first:], w.ry)
        if len(w.sigma):
            run(collect.add_vector, at.strain.element, at.strain.B, w.sigma, w.ry)
        if len(w.inner):
            run(collect.add_vector, at.inner.element, at.inner.B, w.inner, w.ry)
        ask(part.map.lift_vector, at.c, w.ry, w.r)
        run(scatter_vector, part.index, w.r, out)
        run(joint_kernels.sum_base, part.base_elements, w.r, w.base)
        if part.joint.nv:
            run(joint_kernels.add_joint_force, at.S, w.base, part.joint_index, out)
        if part.parent >= 0:
            mounted = work.parts[part.parent].p[part.mount]
            run(joint_kernels.add_carried_wrench, at.inward, w.base, mounted)


def gather_tangent(
    tree: Tree, state: State, work: Work, tangent: Tangent, residual: Array | None = None
) -> None:
    """Add the derivative of what `gather` collected: k, Ky and the curvature of the maps.

    With `residual` (total,), the result of `gather`, in the Newton chart of `tree.moved`; else in the
    second-order chart.
    """
    for i in range(len(tree.parts) - 1, -1, -1):
        part, at, w = tree.parts[i], state.parts[i], work.parts[i]
        _add_strains(part, at, at, w)
        if len(w.sigma):
            ask(part.map.strain_second, at.strain, at.c, w.sigma, w.Ky)
        if len(w.inner):
            ask(part.map.strain_second, at.inner, at.c, w.inner, w.Ky)
        left = None
        clear(w.extra)
        if residual is not None:
            left = w.left
            copy(w.base, left[:6])
            take(residual, part.x_index, left[6:])
            _add_excess(tree, i, state, work)
        _add_stations(part, at, w)
        ask(part.map.lift_tangent, at.c, w.ry, left, w.Ky, w.K, w.passed)
        if left is None:
            copy(w.base, w.passed)
        combine(1.0, w.passed, -1.0, w.base, w.excess)
        run(scatter, tangent.parts[i].elements, w.K, tangent.matrix.data)
        _hand_over(tree, i, state, state, work, tangent, True)
    add_couplings(tree, state, state, work.cross, tangent)


def gather_form(tree: Tree, left: State, right: State, work: Work, tangent: Tangent) -> None:
    """Add the bilinear form k, Ky between variations of `left` and of `right`."""
    for i in range(len(tree.parts) - 1, -1, -1):
        part, a, b, w = tree.parts[i], left.parts[i], right.parts[i], work.parts[i]
        first = 0 if w.mass else len(part.mass_s)
        _add_strains(part, a, b, w)
        if w.mass and part.straight:
            first = len(part.mass_s)
            ask(part.map.add_centre_form, a.mass, w.k[:first], w.Ky)
        if first < len(w.k):
            where = (part.first_variable, a.element[first:], a.J[first:])
            run(collect.add_bilinear, *where, w.k[first:], b.J[first:], w.row, w.Ky)
        ask(part.map.lift_matrix, a.c, b.c, w.Ky, w.K)
        run(scatter, tangent.parts[i].elements, w.K, tangent.matrix.data)
        _hand_over(tree, i, left, right, work, tangent, False)
    add_couplings(tree, left, right, work.cross, tangent)


def _add_strains(part: Part, a: PartState, b: PartState, w: PartWork) -> None:
    """Add to Ky the derivative of the stresses at a in the strains of b."""
    if not len(w.sigma):
        return
    where, Bb = (part.first_variable, a.strain.element, a.strain.B), b.strain.B
    run(collect.add_diagonal, *where, w.slope, w.shift, Bb, w.Ky)
    if part.coupled:
        run(collect.add_bilinear, *where, w.full, Bb, w.row, w.Ky)


def _add_stations(part: Part, at: PartState, w: PartWork) -> None:
    """Add to Ky what stands in k, and the second derivative of the frames that p meets."""
    count = len(part.mass_s)
    first = 0 if w.mass else count
    if first == len(w.p):
        return
    if w.mass and part.straight:
        ask(part.map.add_centre_form, at.mass, w.k[:count], w.Ky)
        first = count
    elif w.mass and part.map.fuses:
        ask(part.map.frame_tangent, at.mass, at.c, w.p[:count], w.k[:count], w.Ky)
        first = count
    if first < len(w.p):
        where = (part.first_variable, at.element[first:], at.J[first:])
        run(collect.add_bilinear, *where, w.k[first:], at.J[first:], w.row, w.Ky)
    if first < count:
        ask(part.map.frame_second, at.mass, at.c, w.p[:count], w.Ky)
    if len(part.stations):
        run(collect.to_sections, part.point_A, w.p[count:], w.extra, w.sections)
        ask(part.map.frame_second, at.points, at.c, w.sections, w.Ky)


def _add_excess(tree: Tree, i: int, state: State, work: Work) -> None:
    """What carried parts pass on in the Newton chart beyond their wrench: to `left` and `extra`."""
    part, at, w = tree.parts[i], state.parts[i], work.parts[i]
    for child in part.children:
        mount = tree.parts[child].mount
        extra, given = w.extra[mount - len(part.mass_s)], work.parts[child].excess
        entries = part.map.elements[at.element[mount], : part.map.bent].copy()
        inward, J = state.parts[child].inward, at.J[mount]
        run(joint_kernels.add_excess, inward, given, J, entries, extra, w.left)


def _hand_over(
    tree: Tree, i: int, left: State, right: State, work: Work, tangent: Tangent, curved: bool
) -> None:
    """Hand the base block of a part to its joint and its carrier, and add the blocks between them.

    curved : whether the wrench `passed` on the base meets the curvature of the joint; not in a
    bilinear form.
    """
    part, w = tree.parts[i], work.parts[i]
    slots = tangent.parts[i]
    if not slots.down.shape[1]:
        return
    a, b, data = left.parts[i], right.parts[i], tangent.matrix.data
    from_left, from_right = left.base_jacobian(i), right.base_jacobian(i)
    down, up, base = np.zeros(slots.down.shape), np.zeros(slots.up.shape), np.zeros((6, 6))
    run(joint_kernels.base_blocks, part.base_elements, w.K, from_left, from_right, base, down, up)
    run(scatter, slots.down, down, data)
    run(scatter, slots.up, up, data)
    if part.parent >= 0:
        k = work.parts[part.parent].k[part.mount]
        run(joint_kernels.add_carried_block, a.inward, base, b.inward, k)
    if slots.joint is None:
        return
    rows, cols, own = (np.zeros(slot.shape) for slot in slots.joint)
    given = (base, a.S, b.S, from_left, from_right, w.passed, curved, rows[0], cols[0], own[0])
    run(joint_kernels.joint_blocks, *given)
    if curved:
        ask(part.joint.add_second, a.joint_q, w.passed, own[0])
    for slot, block in zip(slots.joint, (rows, cols, own), strict=True):
        run(scatter, slot, block, data)
