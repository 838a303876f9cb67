"""Terms of what is elastic between two frames, or a frame and the world, see `link_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.program import run
from pliant.lie.symbolic import pose_logarithm, unfolded
from pliant.model import Frame
from pliant.model.via_points import KINDS
from pliant.physics import link_kernels as kernels
from pliant.physics.contract import KernelTerm, Moment, Step
from pliant.physics.symbolic import (
    Place,
    Symbols,
    counted,
    damped,
    damper_force,
    frame_gap,
    relative,
    turned,
)
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_NOTHING = np.zeros((2, 6, 6))
"""Shares in the motion of a frame that is fixed in the world."""

POWERS = np.array([4.0, 4.0, 4.0, 3.0, 3.0, 2.0])
"""Powers of the stretch by which energies of an updated section fall, see `SectionUpdate`."""


class TwoFrameTerm(KernelTerm):
    """A measure (6,) between two frames with a law for each of its rows.

    A subclass sets `turns` (2, 4, 4), `rule` (7, 6) as `link_kernels` has it, `used`, and
    `needs_twists` when the tree is closed.
    """

    column = "elastic"
    used: Ints = kernels.LINK
    turns: Array
    rule: Array
    """(7, 6): stiffness and damping of the measure, its value without stress, kind of each row, how
    shifts across a link lengthen it, the power of the rates in the damping, and whether its section
    follows the stretch."""

    def attach(self, tree: Tree, ends: tuple[Frame | Array, Frame | Array]) -> None:
        """Take both ends: frames of the robot, or poses (4, 4) in the world."""
        self.sides = [tree.attach(end) if isinstance(end, Frame) else None for end in ends]
        fixed = [np.eye(4) if isinstance(end, Frame) else np.array(end) for end in ends]
        self._fixed = np.array(fixed, dtype=float)
        left, right = self.sides
        self._couple = tree.couple(left, right) if left is not None and right is not None else None

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
        if tangent:
            self._add_between(H, work)

    def _add_between(self, H: Array, work: Work) -> None:
        """Add the derivatives H (12, 12) between both ends."""
        if self._couple is not None:
            number, flip = self._couple
            run(kernels.add_between, H, number, int(flip), work.cross)

    # -- what acts -----------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        moving = self.needs_twists and m.v is not None
        twists, speed = self._twists(m.work if moving else None), m.speed if moving else 0.0
        p, H, tangent = np.zeros((2, 6)), np.zeros((12, 12)), m.tangent is not None
        where = (self.used, self.frames(m.state), self.turns, self.rule)
        run(kernels.set_gradient, *where, twists, speed, tangent, p, H)
        self._add(p, H, tangent, m.work)

    def go(self, step: Step) -> None:
        law = (self.turns, self.rule, step.h, step.implicit)
        given = (self.used, self._end(step, 0), self._end(step, 1), *law)
        sides = [None if side is None else step.work.parts[side[0]] for side in self.sides]
        nowhere = [np.zeros(shape) for shape in ((1, 6), (1, 6), (1, 6, 6))]
        out = [nowhere if w is None else [w.p, w.pb, w.k] for w in sides]
        if step.tangent is None:
            run(kernels.add_impulses, *given, *out[0][:2], *out[1][:2])
            return
        H = np.zeros((12, 12))
        run(kernels.add_sloped_impulses, *given, *out[0], *out[1], H)
        self._add_between(H, step.work)

    def _end(self, step: Step, end: int) -> tuple[Any, ...]:
        """One of both ends in a step, as `link_kernels.add_impulses` has it."""
        side = self.sides[end]
        if side is None:
            fixed = self._fixed[end]
            return 0, fixed[None], fixed[None], fixed, _NOTHING
        i, station = side
        return station, step.a.parts[i].g, step.b.parts[i].g, *step.middle(i, station)

    def symbolic(self, x: Symbols) -> None:
        """The law of each row of the measure, which is written down for itself."""
        ends = []
        for side, fixed, turn in zip(self.sides, self._fixed, self.turns, strict=True):
            end = Place(x.math.SX(fixed[:3, :3]), x.math.SX(fixed[:3, 3]))
            ends.append(turned(end if side is None else x.station(*side), turn))
        k, c, rest, kinds, across, power, _ = self.rule
        if len(self.used):
            e, rows = frame_gap(x, *ends), self.used.tolist()
        else:
            seen, rows = relative(x, *ends), list(range(6))
            e = unfolded(x.math, pose_logarithm(x.math, seen.R, seen.p))
            arc, shift = x.math.sqrt(x.math.dot(e[3:], e[3:])), e[3:5]
            e[5] += across[5] * (arc - e[5]) + 0.5 * x.math.dot(across[3:5] * shift, shift)
        rate = x.rate(e)
        if self.updated:
            for row, fall in enumerate(POWERS):
                soft = (e[5] / rest[5]) ** -fall - 1.0
                x.store(0.5 * k[row] * soft * (e[row] - rest[row]) ** 2)
        for row in rows:
            kind = KINDS[int(kinds[row])]
            stretch, engaged = counted(x, kind, e[row] - rest[row])
            x.store(0.5 * k[row] * stretch**2)
            if c[row]:
                damper = engaged * damper_force(x, c[row], float(power[row]), rate[row])
                x.resist(e[row], damped(x, kind, k[row] * stretch, damper))

    # -- forces and energy ---------------------------------------------------------------------

    def strain(self, state: State) -> Array:
        """The measure (6,) at a state, rad and m; of a link, its strain over its whole length."""
        e = np.zeros(6)
        kernels.set_strain(self.used, self.frames(state), self.turns, self.rule[4], e)
        return e

    def gradient(self, m: Moment) -> Array:
        p = np.zeros((2, 6))
        twists = self._twists(m.work if self.needs_twists and m.v is not None else None)
        where = (self.used, self.frames(m.state), self.turns, self.rule)
        kernels.set_gradient(*where, twists, 0.0, False, p, np.zeros((12, 12)))
        return p

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        p = self.gradient(m)
        return [(*side, -p[end]) for end, side in enumerate(self.sides) if side is not None]

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        p = np.zeros((2, 6))
        where = (self.used, self.frames(state), self.turns, self.rule)
        kernels.set_gradient(*where, self._twists(None), 0.0, False, p, np.zeros((12, 12)))
        return [(*side, -p[end]) for end, side in enumerate(self.sides) if side is not None]

    def energy(self, state: State, u: Array) -> float:
        stiffness, _, rest, kinds = self.rule[:4]
        e = self.strain(state) - rest
        idle = ((kinds == 1.0) & (e < 0.0)) | ((kinds == 2.0) & (e > 0.0))
        soft = ((e[5] + rest[5]) / rest[5]) ** -POWERS if self.updated else 1.0
        return 0.5 * float(np.sum(stiffness * soft * np.where(idle, 0.0, e) ** 2))

    @property
    def updated(self) -> bool:
        """Whether its section follows the stretch."""
        return bool(self.rule[6].any())

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if not self.needs_twists:
            return
        end = self.frames(m.state)
        start = end if m.start is None else self.frames(m.start)
        where = (self.used, start, end, self.turns, self.rule)
        h, moving = (0.0, m.work) if m.start is None else (2.0 * m.ahead, None)
        run(kernels.add_loss, *where, self._twists(moving), h, scale, out)
