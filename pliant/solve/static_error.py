"""How wrong the shape of an equilibrium is, estimated from the strains that balance asks for.

The strain defect d (see `recovery`) displaces the sections by z. On the displaced robot the loads act
with other arms and directions, which changes the internal wrenches by dW; to this the robot responds
within its own coordinates,

    K x = int B^T dW ds,      rows of constraints: -(gap of the displaced robot),

with the tangent that Newton's method has factorised. The estimate is z + J x at all stations: what the
coordinates cannot represent, and their response to it. `docs/theory/errors.md` has the derivation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, copy
from pliant.engine.program import Recurring, ask, is_compiled, run
from pliant.lie.blocks import wrench_to_body
from pliant.linalg.matrices import Matrix, SingularError
from pliant.physics.contract import Moment
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array
from pliant.solve.recovery import (
    Sections,
    add_first,
    displace,
    displace_frame,
    set_defects,
)
from pliant.solve.shape_error import ShapeError
from pliant.tree.backward import gather
from pliant.tree.forward import set_rates
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.statics import Equilibrium

_SMALL = 1e-5
"""Rotation (rad), or displacement over length, at which the displaced robot is looked at."""


class StaticError:
    """Estimates the error of the equilibria that one solver finds."""

    def __init__(self, equations: Equilibrium) -> None:
        self.equations, tree = equations, equations.tree
        self.tree, self.effects = tree, equations.effects
        self.sections = [Sections(part) for part in tree.parts]
        # neither is in use once an equilibrium has been found
        self.displaced, self.work = equations.solver.state, equations.other
        if not all(is_compiled(term) for term in self.effects.terms):
            self.displaced.place(tree.q_rest)
        self.W = [np.zeros_like(rod.W) for rod in self.sections]
        self.totals = np.zeros((len(tree.parts), 6))
        rods = [part.length for part in tree.parts if part.rod is not None]
        self.length = max(rods, default=tree.length)
        """Of the longest rod, m."""
        self.scale, self.largest = np.ones(1), np.zeros(1)
        self.right, self.x = np.zeros(tree.size), np.zeros(tree.total)
        steps = self._respond, self._solve, self._measure
        self._programs = [Recurring(step) for step in steps]

    def refill(self) -> None:
        """Take over the numbers of the parts."""
        for rod in self.sections:
            rod.refill()

    def estimate(self) -> ShapeError:
        """The error of the equilibrium that was found last."""
        equations, matrix = self.equations, self.equations.matrix
        respond, solve, measure = self._programs
        respond()
        if equations.has_factor():
            solve()
            if matrix.flags[2]:
                self._repair(matrix)
        else:
            self.x[:] = 0.0
        measure()
        size = float(self.largest[0])
        return ShapeError(size, size / self.length)

    def _repair(self, matrix: Matrix) -> None:
        """Solve with exchanges of rows; at a singular tangent there is no response to add."""
        try:
            matrix.repair(self.right, self.x[: matrix.n])
        except SingularError:
            self.x[:] = 0.0

    # -- passes ----------------------------------------------------------------------------------------

    def _respond(self) -> None:
        """Set the right-hand side of the response to the displacements of the strain defects."""
        state, sections = self.equations.state, self.sections
        frames = [rod.frames(state, i) for i, rod in enumerate(sections)]
        clear(self.scale)
        for i, (part, rod) in enumerate(zip(self.tree.parts, sections, strict=True)):
            at, p = state.parts[i], self.equations.work.parts[i].p
            clear(rod.carried)  # p holds what carried parts pass on
            rod.set_wrenches(at.g, p, at.base, frames[i], self.W[i])
            copy(rod.total, self.totals[i])
            self._set_defects(i)
            start = _NOTHING if part.parent < 0 else sections[part.parent].z[part.mount]
            rod.set_displacements(frames[i], start)
            run(note_size, at.g, rod.z, self.length, self.scale)
        run(set_scale, self.scale)
        self._act_displaced(state)
        clear(self.right)
        residual = self.work.residual
        run(add_gaps, self.effects.gap_rows, residual, self.scale, self.right)
        self._add_wrenches(frames)

    def _set_defects(self, i: int) -> None:
        """Set the strain defects of part i."""
        rod = self.sections[i]
        if not len(rod.s):
            return
        e = rod.strains(self.equations.state, i).e
        clear(rod.own)
        clear(rod.slope)
        at = self.equations
        moment = Moment(self.tree, at.state, at.work, at.u, at.z, memory=at.solver.memory)
        for term in self.effects.terms:
            ask(term.add_section_stress, i, rod.s, e, moment, rod.own, rod.slope)
            ask(term.add_held_stress, i, rod.s, e, self.equations.z, rod.own, rod.slope)
        run(set_defects, rod.soft, rod.natural, rod.seen, self.W[i], rod.own, e, rod.d)
        if len(rod.slope):
            ask(rod.soften)

    def _act_displaced(self, state: State) -> None:
        """Let everything act on the displaced robot."""
        displaced, work = self.displaced, self.work
        copy(state.q, displaced.q)
        displaced.renew()
        for i, (at, to) in enumerate(zip(state.parts, displaced.parts, strict=True)):
            run(displace, at.g, self.sections[i].z[: len(at.g)], self.scale, to.g)
            copy(at.strain.e, to.strain.e)
            copy(at.inner.e, to.inner.e)
        work.clear(False)
        meet_at_rest(work, displaced)
        where = (self.tree, displaced, work, self.equations.u, self.equations.z)
        moment = Moment(*where, memory=self.equations.solver.memory)
        for term in self.effects.terms:
            ask(term.act, moment)

    def _add_wrenches(self, frames: list[Array]) -> None:
        """Add to the right-hand side what the change of the internal wrenches does."""
        tree, state, work = self.tree, self.equations.state, self.work
        for rod in self.sections:
            clear(rod.carried)
        for i in range(len(tree.parts) - 1, -1, -1):
            part, rod, at = tree.parts[i], self.sections[i], state.parts[i]
            F, to = len(at.g), self.displaced.parts[i]
            start = _NOTHING if part.parent < 0 else self.sections[part.parent].z[part.mount]
            run(displace, frames[i], rod.z[F:], self.scale, rod.moved)
            run(displace_frame, at.base, start, self.scale, to.base)
            rod.set_wrenches(to.g, work.parts[i].p, to.base, rod.moved, rod.W)
            clear(work.parts[i].p)
            clear(work.parts[i].ry)
            clear(work.parts[i].sigma)
            clear(work.parts[i].inner)
            if len(rod.s):
                run(set_stress, rod.w, rod.felt, rod.W, self.W[i], self.scale, rod.T)
                rod.add_stress(rod.strains(state, i), rod.T, work.parts[i].ry)
            if part.parent >= 0:
                run(add_first, rod.total, self.sections[part.parent].carried[part.mount])
            if part.joint.nv:
                given = at.base, to.base, self.totals[i], rod.total, self.scale, at.S
                run(add_joint_change, *given, part.joint_index, self.right)
        clear(work.residual)
        gather(tree, state, work, work.residual)
        run(add_first, work.residual, self.right)

    def _solve(self) -> None:
        """Solve for the response of the coordinates."""
        matrix = self.equations.matrix
        matrix.record_solve(self.right, self.x[: matrix.n])

    def _measure(self) -> None:
        """Find the largest displacement of all."""
        state, work = self.equations.state, self.work
        clear(self.largest)
        set_rates(self.tree, state, work, self.x, strains=False)
        for rod, at, w in zip(self.sections, state.parts, work.parts, strict=True):
            run(note_displacement, at.g, rod.z, w.eta, self.largest)
            rod.note_sections(note_displacement, len(at.g), w.y, self.largest)


_NOTHING = np.zeros(6)


@kernel
def note_size(g, z, length, size):  # type: ignore[no-untyped-def]
    """size_0 = largest rotation, or displacement over length, of frames g (F, 4, 4) by z (F.., 6)."""
    for k in range(g.shape[0]):
        for i in range(3):
            j, n = (i + 1) % 3, (i + 2) % 3
            moved = z[k, 3 + i] + z[k, j] * g[k, n, 3] - z[k, n] * g[k, j, 3]
            size[0] = max(size[0], abs(z[k, i]), abs(moved) / length)


@kernel
def set_scale(scale):  # type: ignore[no-untyped-def]
    """From the size of displacements to the factor that makes them small."""
    scale[0] = _SMALL / scale[0] if scale[0] > 0.0 else 1.0


@kernel
def add_gaps(rows, residual, scale, right):  # type: ignore[no-untyped-def]
    """right -= gaps of the displaced robot over the scale, in the rows of constraints."""
    for at in rows:
        right[at] -= residual[at] / scale[0]


@kernel
def set_stress(w, felt, moved, W, scale, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = w (moved - W) / scale: weighted change of internal wrenches that are felt (6,)."""
    for s in range(out.shape[0]):
        for i in range(6):
            out[s, i] = felt[i] * w[s] * (moved[s, i] - W[s, i]) / scale[0]


@kernel
def add_joint_change(base, moved, before, after, scale, S, index, right):  # type: ignore[no-untyped-def]
    """right[index] += S^T of the change of the wrench on a base (4, 4) that is displaced to `moved`.

    before, after (6,) : in the world frame about its origin.
    """
    there, here = np.zeros(6), np.zeros(6)
    wrench_to_body(moved, after, there)
    wrench_to_body(base, before, here)
    for a in range(index.shape[0]):
        for i in range(6):
            if index[a] < right.shape[0]:
                right[index[a]] += S[i, a] * (there[i] - here[i]) / scale[0]


@kernel
def note_displacement(g, z, eta, largest):  # type: ignore[no-untyped-def]
    """largest_0 = largest displacement of frames g (F, 4, 4) by world twists z and body twists eta."""
    for k in range(g.shape[0]):
        size = 0.0
        for i in range(3):
            j, n = (i + 1) % 3, (i + 2) % 3
            moved = z[k, 3 + i] + z[k, j] * g[k, n, 3] - z[k, n] * g[k, j, 3]
            for a in range(3):
                moved += g[k, i, a] * eta[k, 3 + a]
            size += moved * moved
        largest[0] = max(largest[0], np.sqrt(size))
