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
from pliant.engine.program import run
from pliant.solve.integrators.lumped import rigid
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
        self._kick()
        self.system.drift(1.0, self.pace.short)

    def leave(self) -> None:
        self._kick()
        self.system.drift(0.5, self.pace.short)

    def _kick(self) -> None:
        """Kick the nodes where they are, with the inputs of the middle of the short step."""
        system, gradient = self.system, self.pace.gradient
        self.pace.mix(self.before, self.after, system.acting)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.keep_nodes()
            copy(motion.pulls, motion.behind)
            motion.shift(_PART, gradient, motion.behind)
        system.accelerate(moving=False)
        for motion in system.motions:
            motion.restore_nodes()
            given = (motion.blocks, motion.inverse, *motion.behind, motion.pulls, motion.ahead)
            run(rigid.set_gradient, _PART, gradient, *given)
            motion.kick(1.0, self.pace.short, motion.ahead)

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
