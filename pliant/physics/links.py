"""Elastic links between two frames, see `link_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.program import run
from pliant.lie.symbolic import pose_logarithm
from pliant.model import DescriptionError, Frame, Link
from pliant.model.via_points import KINDS
from pliant.physics import link_kernels as kernels
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.symbolic import Place, Symbols, counted, damped, relative, turned
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_SHORT = 1e-9
"""Distance of two ends, relative to the robot, below which a link has no direction."""


class LinkTerm(KernelTerm):
    """A link on one tree."""

    compiled = True
    column = "elastic"

    def __init__(self, tree: Tree, link: Link) -> None:
        self.link, self.name = link, link.name
        ends = (link.a, link.b)
        self.sides = [tree.attach(end) if isinstance(end, Frame) else None for end in ends]
        self._fixed = np.tile(np.eye(4), (2, 1, 1))
        for k, end in enumerate(ends):
            if not isinstance(end, Frame):
                self._fixed[k, :3, 3] = end
        left, right = self.sides
        self._couple = tree.couple(left, right) if left is not None and right is not None else None

    def close(self, tree: Tree) -> None:
        link, at_rest = self.link, self.frames(tree.rest)
        way = at_rest[1, :3, 3] - at_rest[0, :3, 3]
        length = float(np.linalg.norm(way))
        if length <= _SHORT * tree.length:
            raise DescriptionError(
                link.label,
                "b",
                link.b,
                "a place apart from 'a' in the undeformed robot",
                "choose another place, or connect both by robot.connect",
            )
        axes = _axes(way / length, link.x_axis)
        self.turns = np.tile(np.eye(4), (2, 1, 1))
        self.turns[:, :3, :3] = np.einsum("eji,jk->eik", at_rest[:, :3, :3], axes)
        rest, kinds = np.zeros(6), np.zeros(6)
        rest[5], kinds[5] = link.rest * length, KINDS.index(link.kind)
        whole = link.rest * length
        damping = link.damping(whole) / whole
        lengthening = link.lengthening(whole) / whole
        self.rule = np.array([link.stiffness(whole) / whole, damping, rest, kinds, lengthening])
        """(5, 6): stiffness and damping of the strain, its value without stress, kind of each row, and
        how shifts across the link lengthen it."""
        self.needs_twists = bool(damping.any())

    # -- stations ------------------------------------------------------------------------------

    def frames(self, state: State) -> Array:
        """The frames (2, 4, 4) of both ends."""
        found = self._fixed.copy()
        for end, side in enumerate(self.sides):
            if side is not None:
                run(kernels.take_frame, state.parts[side[0]].g, side[1], found[end])
        return found

    def _twists(self, work: Work | None) -> Array:
        """The twists (2, 6) of both ends, zero without a workspace."""
        found = np.zeros((2, 6))
        for end, side in enumerate(self.sides):
            if side is not None and work is not None:
                run(kernels.take_twist, work.parts[side[0]].eta, side[1], found[end])
        return found

    def _add(self, p: Array, H: Array, tangent: bool, work: Work) -> None:
        for end, side in enumerate(self.sides):
            if side is not None:
                w = work.parts[side[0]]
                run(kernels.add_at, p, H, end, tangent, side[1], w.p, w.k)
        if tangent and self._couple is not None:
            number, flip = self._couple
            run(kernels.add_between, H, number, int(flip), work.cross)

    # -- what acts -----------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        moving = self.needs_twists and m.v is not None
        twists, speed = self._twists(m.work if moving else None), m.speed if moving else 0.0
        p, H, tangent = np.zeros((2, 6)), np.zeros((12, 12)), m.tangent is not None
        where = (self.frames(m.state), self.turns, self.rule)
        run(kernels.set_gradient, *where, twists, speed, tangent, p, H)
        self._add(p, H, tangent, m.work)

    def go(self, step: Step) -> None:
        leaving, arriving, H = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((12, 12))
        where = (self.frames(step.a), self.frames(step.b), self.turns, self.rule)
        tangent = step.tangent is not None
        out = (leaving, arriving, H)
        run(kernels.set_impulses, *where, step.h, step.implicit, tangent, *out)
        self._add(leaving, H, tangent, step.work)
        for end, side in enumerate(self.sides):
            if side is not None:
                w = step.work.parts[side[0]]
                run(kernels.add_at, arriving, H, end, False, side[1], w.pb, w.k)

    # -- forces and energy ---------------------------------------------------------------------

    def strain(self, state: State) -> Array:
        """The strain (6,) of the link at a state, over its whole length, rad and m."""
        e = np.zeros(6)
        kernels.set_strain(self.frames(state), self.turns, self.rule[4], e)
        return e

    def _gradient(self, m: Moment) -> Array:
        p = np.zeros((2, 6))
        twists = self._twists(m.work if self.needs_twists and m.v is not None else None)
        where = (self.frames(m.state), self.turns, self.rule)
        kernels.set_gradient(*where, twists, 0.0, False, p, np.zeros((12, 12)))
        return p

    def readings(self, m: Moment) -> dict[str, Any]:
        """Tension, N, negative where it pushes; and distance of its ends, m."""
        g = self.frames(m.state)
        way = g[1, :3, 3] - g[0, :3, 3]
        length = float(np.linalg.norm(way))
        pull = g[1, :3, :3] @ self._gradient(m)[1, 3:]
        return {"tension": float(pull @ way) / max(length, _SHORT), "length": length}

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        p = self._gradient(m)
        return [(*side, -p[end]) for end, side in enumerate(self.sides) if side is not None]

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        p = np.zeros((2, 6))
        where = (self.frames(state), self.turns, self.rule)
        kernels.set_gradient(*where, self._twists(None), 0.0, False, p, np.zeros((12, 12)))
        return [(*side, -p[end]) for end, side in enumerate(self.sides) if side is not None]

    def symbolic(self, x: Symbols) -> None:
        """The constant strain that leads from one end frame to the other, its stretch as of a beam."""
        ends = []
        for side, fixed, turn in zip(self.sides, self._fixed, self.turns, strict=True):
            end = Place(x.math.SX(fixed[:3, :3]), x.math.SX(fixed[:3, 3]))
            ends.append(turned(end if side is None else x.station(*side), turn))
        seen = relative(x, *ends)
        e = pose_logarithm(x.math, seen.R, seen.p)
        k, c, rest, _, across = self.rule
        e[5] += 0.5 * x.math.dot(across * e, e)
        d, rate = e - rest, x.rate(e)
        for row in range(6):
            kind = self.link.kind if row == 5 else "two-way"
            stretch, engaged = counted(x, kind, d[row])
            x.store(0.5 * k[row] * stretch**2)
            if c[row]:
                damper = engaged * c[row] * rate[row]
                x.resist(e[row], damped(x, kind, k[row] * stretch, damper))

    def energy(self, state: State, u: Array) -> float:
        stiffness, _, rest, kinds, _ = self.rule
        e = self.strain(state) - rest
        idle = ((kinds == 1.0) & (e < 0.0)) | ((kinds == 2.0) & (e > 0.0))
        return 0.5 * float(np.sum(stiffness * np.where(idle, 0.0, e) ** 2))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if not self.needs_twists:
            return
        end = self.frames(m.state)
        where = (end if m.start is None else self.frames(m.start), end, self.turns, self.rule)
        h = 0.0 if m.start is None else 2.0 * m.ahead
        run(kernels.add_loss, *where, self._twists(m.work), h, scale, out)


def _axes(z: Array, x_axis: tuple[float, ...] | None) -> Array:
    """Axes (3, 3), as columns, of a link along z (3,): x as near as can be to what is asked for."""
    for wish in ([] if x_axis is None else [np.array(x_axis)]) + [
        np.cross([0.0, 0.0, 1.0], z),
        np.array([1.0, 0.0, 0.0]),
    ]:
        x = wish - (wish @ z) * z
        if np.linalg.norm(x) > 1e-6 * np.linalg.norm(wish) > 0.0:
            x = x / np.linalg.norm(x)
            return np.stack([x, np.cross(z, x), z], axis=1)
    raise AssertionError("one of the world's axes is across the link")


def terms(tree: Tree) -> list[Term]:
    """The links of a robot."""
    return [LinkTerm(tree, link) for link in tree.description.of(Link).values()]
