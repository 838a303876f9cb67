"""Backward passes: from the stations of all parts to the vectors and matrices of the robot.

Every part collects what acts at its stations, lifts it to its coordinates and hands what its base gets
to the frame that carries it, from the tips to the root. The base of a part moves by

    x_base = Ad((X j)^-1) x_carrier + S dq + 1/2 [Ad((X j)^-1) x_carrier, S dq] + ...

and one half bracket for each joint makes the second derivative of the composition exact and symmetric.
"""

from __future__ import annotations

import numpy as np

from pliant.linalg.scatter import scatter, scatter_vector
from pliant.rods.contract import Array
from pliant.tree import collect
from pliant.tree.state import PartState, State
from pliant.tree.tangent import Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work


def gather(tree: Tree, state: State, work: Work, out: Array) -> None:
    """Add to out (total,) the gradients p and ry of all parts, seen from `state`."""
    for i in range(len(tree.parts) - 1, -1, -1):
        part, at, w = tree.parts[i], state.parts[i], work.parts[i]
        first = 0 if w.mass else len(part.mass_s)
        if first < len(w.p):
            collect.add_vector(at.element[first:], at.J[first:], w.p[first:], w.ry)
        if len(w.sigma):
            collect.add_vector(at.strain.element, at.strain.B, w.sigma, w.ry)
        if len(w.inner):
            collect.add_vector(at.inner.element, at.inner.B, w.inner, w.ry)
        part.map.lift_vector(at.c, w.ry, w.r)
        scatter_vector(part.index, w.r, out)
        if len(part.base_elements) == 1:
            w.base[...] = w.r[part.base_elements[0], :6]
        else:
            np.sum(w.r[part.base_elements, :6], axis=0, out=w.base)
        if part.joint.nv:
            out[part.joint_index] += at.S.T @ w.base
        if part.parent >= 0:
            work.parts[part.parent].p[part.mount] += at.inward.T @ w.base


def gather_tangent(
    tree: Tree, state: State, work: Work, tangent: Tangent, residual: Array | None = None
) -> None:
    """Add the derivative of what `gather` collected: k, Ky and the curvature of the maps.

    With `residual` (total,), the result of `gather`, in the Newton chart of `tree.moved`; else in the
    second-order chart.
    """
    excess: list[Array] = [np.zeros(0)] * len(tree.parts)
    for i in range(len(tree.parts) - 1, -1, -1):
        part, at, w = tree.parts[i], state.parts[i], work.parts[i]
        _add_strains(at, at, w)
        if len(w.sigma):
            part.map.strain_second(at.strain, at.c, w.sigma, w.Ky)
        if len(w.inner):
            part.map.strain_second(at.inner, at.c, w.inner, w.Ky)
        _add_stations(part.point_A, len(part.mass_s), at, w)
        left = None
        if residual is not None:
            left = np.concatenate([w.base, residual[part.x_index]])
            _add_excess(tree, i, state, excess, left, w)
        passed = part.map.lift_tangent(at.c, w.ry, left, w.Ky, w.K)
        passed = w.base if passed is None else passed
        excess[i] = passed - w.base
        scatter(tangent.parts[i].elements, w.K, tangent.matrix.data)
        _hand_over(tree, i, state, state, work, tangent, passed)


def gather_form(tree: Tree, left: State, right: State, work: Work, tangent: Tangent) -> None:
    """Add the bilinear form k, Ky between variations of `left` and of `right`."""
    for i in range(len(tree.parts) - 1, -1, -1):
        part, a, b, w = tree.parts[i], left.parts[i], right.parts[i], work.parts[i]
        first = 0 if w.mass else len(part.mass_s)
        _add_strains(a, b, w)
        if first < len(w.k):
            collect.add_bilinear(a.element[first:], a.J[first:], w.k[first:], b.J[first:], w.Ky)
        part.map.lift_matrix(a.c, b.c, w.Ky, w.K)
        scatter(tangent.parts[i].elements, w.K, tangent.matrix.data)
        _hand_over(tree, i, left, right, work, tangent, None)


def _add_strains(a: PartState, b: PartState, w: PartWork) -> None:
    """Add to Ky the derivative of the stresses at a in the strains of b."""
    if not len(w.sigma):
        return
    collect.add_diagonal(a.strain.element, a.strain.B, w.slope * w.shift, b.strain.B, w.Ky)
    if w.full is not None:
        collect.add_bilinear(a.strain.element, a.strain.B, w.full, b.strain.B, w.Ky)


def _add_stations(A: Array, count: int, at: PartState, w: PartWork) -> None:
    """Add to Ky what stands in k, and the second derivative of the frames that p meets."""
    part = at.part
    first = 0 if w.mass else count
    if first == len(w.p):
        return
    collect.add_bilinear(at.element[first:], at.J[first:], w.k[first:], at.J[first:], w.Ky)
    if w.mass:
        part.map.frame_second(at.mass, at.c, w.p[:count], w.Ky)
    if len(A):
        part.map.frame_second(at.points, at.c, np.einsum("sij,si->sj", A, w.p[count:]), w.Ky)


def _add_excess(
    tree: Tree, i: int, state: State, excess: list[Array], left: Array, w: PartWork
) -> None:
    """What carried parts pass on in the Newton chart beyond their wrench: to `left` and to Ky."""
    part, at = tree.parts[i], state.parts[i]
    if not part.children:
        return
    count = len(part.mass_s)
    extra = np.zeros((len(w.p) - count, 6))
    for child in part.children:
        mount = tree.parts[child].mount
        wrench = state.parts[child].inward.T @ excess[child]
        extra[mount - count] += wrench
        entries = part.map.elements[at.element[mount], : part.map.bent]
        felt = (at.J[mount].T @ wrench)[: part.map.bent]
        left[entries[entries >= 0]] += felt[entries >= 0]
    if np.any(extra):
        part.map.frame_second(at.points, at.c, np.einsum("sij,si->sj", part.point_A, extra), w.Ky)


def _hand_over(
    tree: Tree,
    i: int,
    left: State,
    right: State,
    work: Work,
    tangent: Tangent,
    wrench: Array | None,
) -> None:
    """Hand the base block of a part to its joint and its carrier, and add the blocks between them.

    wrench : (6,) on the base, which meets the curvature of the joint; None for a bilinear form.
    """
    part, w = tree.parts[i], work.parts[i]
    slots = tangent.parts[i]
    if not slots.down.shape[1]:
        return
    a, b = left.parts[i], right.parts[i]
    K = w.K[part.base_elements]
    base = K[:, :6, :6].sum(axis=0)
    from_left, from_right = left.base_jacobian(i), right.base_jacobian(i)
    tangent.add(slots.down, np.einsum("ia,eib->eab", from_left, K[:, :6, 6:]))
    tangent.add(slots.up, np.einsum("ia,ebi->eab", from_right, K[:, 6:, :6]))
    carried = from_left.shape[1] - part.joint.nv
    if part.parent >= 0:
        work.parts[part.parent].k[part.mount] += a.inward.T @ base @ b.inward
    if slots.joint is None:
        return
    down, up, own = slots.joint
    jj = a.S.T @ base @ b.S
    rows, cols = a.S.T @ base @ from_right[:, :carried], from_left[:, :carried].T @ base @ b.S
    if wrench is not None:
        jj += part.joint.second(left.q[part.joint_slice], wrench)
        cross = from_left[:, :carried].T @ half_bracket(wrench) @ a.S
        rows, cols = rows + cross.T, cols + cross
    tangent.add(down, rows[None])
    tangent.add(up, cols[None])
    tangent.add(own, jj[None])


def half_bracket(r: Array) -> Array:
    """(6, 6): 1/2 N with r . [a, b] = a . N b for twists a, b and a wrench r (6,) = (m, n)."""
    N = np.zeros((6, 6))
    for row, col, x in ((0, 0, r[:3]), (0, 3, r[3:]), (3, 0, r[3:])):
        N[row, col + 1], N[row + 1, col] = x[2], -x[2]
        N[row, col + 2], N[row + 2, col] = -x[1], x[1]
        N[row + 1, col + 2], N[row + 2, col + 1] = x[0], -x[0]
    return 0.5 * N
