"""Force-gradient leapfrog of Takahashi and Imada, for robots that nothing damps.

A short step drifts by half of it, kicks, and drifts by half of it. The kick takes the derivative of the
accelerations a along a,

    V += h (a + h^2 / 12 Da[a]),

by a second evaluation of the forces on nodes that are shifted along a. It is of second order, but
conjugate to a method of fourth order: a motion begins at nodes and momenta that are processed by
h^2 / 24 {T, V}, and outputs undo that. Stable up to h omega = sqrt(12).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import copy
from pliant.engine.program import repeat, run, when
from pliant.rods.contract import Ints
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.flat import FlatMotion, flat_motions
from pliant.solve.integrators.lumped.scheme import Damping, Scheme

_PART = 1e-3
"""Part of the shift of nodes by which the derivative of forces along it is found. With the whole of it,
forces are not exactly the derivative of a potential, and angular momentum drifts.
"""


class Leapfrog(Scheme):
    """The scheme of order four."""

    name = "leapfrog of order 4"
    order = 4
    conserves = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._flat: list[FlatMotion] = []
        """The motions while they are in planes; none where they cannot be."""
        self._in_planes, self._spare, self._differ = (np.zeros(1, dtype=np.int64) for _ in range(3))

    def prepare(self, damping: Damping) -> None:
        """Find the planes in which the nodes are, if any."""
        system = self.system
        if system.told or system.framed or system.guided:
            return
        if not self._flat:
            self._flat = flat_motions(system.motions)
        system.set_fields(system.acting)
        self._in_planes[0] = bool(self._flat) and all(flat.lay() for flat in self._flat)

    def most(self, damping: Damping) -> float:
        return math.sqrt(12.0) / max(damping.omega, 1e-300)

    def enter(self) -> None:
        self.system.drift(0.5, self.pace.short)

    def go_on(self, more: Ints) -> None:
        if self._flat:
            run(steady_inputs, self._in_planes, self.before, self.after, more, self._spare)
            when(self._spare, self._go_on_in_planes, more)
        super().go_on(more)

    def _go_on_in_planes(self, more: Ints) -> None:
        """Take more (1,) steps in the planes, if all nodes are there; then there are none left."""
        pace, system = self.pace, self.system
        system.set_fields(self.before)
        for flat in self._flat:
            flat.judge(self._spare)
        run(take_all, more, self._spare, pace.share, pace.passed)
        for flat in self._flat:
            when(self._spare, flat.enter)
        repeat(self._spare, self._step_in_planes)
        for flat in self._flat:
            when(self._spare, flat.leave)

    def _step_in_planes(self) -> None:
        for flat in self._flat:
            flat.step(_PART, self.pace.gradient, self.pace.short)

    def step(self) -> None:
        self._kick_and_drift(1.0)

    def leave(self) -> None:
        self._kick_and_drift(0.5)

    def _kick_and_drift(self, factor: float) -> None:
        """Kick the nodes where they are, with the inputs of the middle of the short step, and drift."""
        system, gradient, short = self.system, self.pace.gradient, self.pace.short
        self.pace.mix(self.before, self.after, system.acting, system.now)
        system.accelerate(moving=False)
        if system.guided and self.keeps_account:
            system.set_rates()
            self.add_work()
        for motion in system.motions:
            motion.shift_ahead(_PART, gradient)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.kick_and_drift(_PART, gradient, factor, short)

    def process(self) -> None:
        self._process(0.5)

    def undo(self) -> None:
        self.end_change()
        self._process(-0.5)

    def begin_change(self) -> None:
        self._change(1.0)

    def end_change(self) -> None:
        self._change(-1.0)

    def _change(self, sign: float) -> None:
        """Process momenta with the rate of accelerations by inputs that change, or undo that."""
        if self.changes:
            run(changing_inputs, self.before, self.after, self._differ)
            when(self._differ, self._add_rate, sign)

    def _add_rate(self, sign: float) -> None:
        system, part = self.system, 0.5 * sign / self.pace.h
        self.inputs_now()
        for inputs, factor in ((self.after, -part), (self.before, part)):
            copy(inputs, system.acting)
            system.accelerate(moving=False)
            for motion in system.motions:
                motion.kick(factor, self.pace.gradient, motion.pulls)
        self.inputs_now()

    def _process(self, sign: float) -> None:
        """Process nodes and momenta before a motion (sign 1/2), or undo that for an output (-1/2)."""
        system = self.system
        system.keep()
        for side in (0.5, -0.5):
            system.drift(side, self.pace.short)
            run(rigid.apart_from, side, self.pace.share, self.pace.passed, system.now)
            system.accelerate(moving=False)
            system.restore()
            for motion in system.motions:
                copy(motion.pulls, motion.ahead if side > 0.0 else motion.behind)
        run(rigid.apart_from, 0.0, self.pace.share, self.pace.passed, system.now)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.process(sign, self.pace.gradient, self.pace.short)


@kernel
def changing_inputs(before, after, differ):  # type: ignore[no-untyped-def]
    """differ_0 : whether inputs (J,) change."""
    differ[0] = 0
    for j in range(before.shape[0]):
        if before[j] != after[j]:
            differ[0] = 1


@kernel
def steady_inputs(in_planes, before, after, more, wanted):  # type: ignore[no-untyped-def]
    """wanted_0 : whether inputs (J,) do not change, and there are steps to take in planes."""
    wanted[0] = 1 if in_planes[0] != 0 and more[0] > 0 else 0
    for j in range(before.shape[0]):
        if before[j] != after[j]:
            wanted[0] = 0


@kernel
def take_all(more, wanted, share, passed):  # type: ignore[no-untyped-def]
    """Let wanted_0, unless zero, be all the steps more_0, which then are none, and count them."""
    if wanted[0] != 0:
        wanted[0] = more[0]
        passed[0] += more[0] * share[0]
        more[0] = 0
