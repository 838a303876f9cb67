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

from pliant.engine.arrays import copy
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

    def most(self, damping: Damping) -> float:
        return math.sqrt(12.0) / max(damping.omega, 1e-300)

    def enter(self) -> None:
        self.system.drift(0.5, self.pace.short)

    def step(self) -> None:
        self._kick_and_drift(1.0)

    def leave(self) -> None:
        self._kick_and_drift(0.5)

    def _kick_and_drift(self, factor: float) -> None:
        """Kick the nodes where they are, with the inputs of the middle of the short step, and drift."""
        system, gradient, short = self.system, self.pace.gradient, self.pace.short
        self.pace.mix(self.before, self.after, system.acting)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.shift_ahead(_PART, gradient)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.kick_and_drift(_PART, gradient, factor, short)

    def process(self) -> None:
        self._process(0.5)

    def undo(self) -> None:
        self._process(-0.5)

    def _process(self, sign: float) -> None:
        """Process nodes and momenta before a motion (sign 1/2), or undo that for an output (-1/2)."""
        system = self.system
        system.keep()
        for side in (0.5, -0.5):
            system.drift(side, self.pace.short)
            system.accelerate(moving=False)
            system.restore()
            for motion in system.motions:
                copy(motion.pulls, motion.ahead if side > 0.0 else motion.behind)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.process(sign, self.pace.gradient, self.pace.short)
