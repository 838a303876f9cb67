"""Verlet's method with velocities in the middle of the kick, for robots with weak damping.

Of second order; stable up to h omega = 2 (sqrt(1 + z^2) - z) with z = delta / (2 omega), delta the
largest rate at which velocities decay by damping alone.
"""

from __future__ import annotations

import math

from pliant.engine.arrays import copy
from pliant.solve.integrators.lumped.scheme import Damping, Scheme


class Verlet(Scheme):
    """The scheme for weak damping."""

    name = "Verlet"
    order = 2

    def most(self, damping: Damping) -> float:
        omega = max(damping.omega, 1e-300)
        z = 0.5 * damping.rate / omega
        return 2.0 / (omega * (math.hypot(1.0, z) + z))

    def enter(self) -> None:
        self.system.drift(0.5, self.pace.short)

    def step(self) -> None:
        self._kick()
        self.system.drift(1.0, self.pace.short)

    def leave(self) -> None:
        self._kick()
        self.system.drift(0.5, self.pace.short)

    def _kick(self) -> None:
        """Kick with the velocities of the middle of the kick."""
        system = self.system
        self.pace.mix(self.before, self.after, system.acting, system.now)
        system.accelerate(moving=True)
        for motion in system.motions:
            copy(motion.rates, motion.kept_rates)
            motion.kick(0.5, self.pace.short, motion.pulls)
        system.accelerate(moving=True)
        self.add_loss()
        for motion in system.motions:
            copy(motion.kept_rates, motion.rates)
            motion.kick(1.0, self.pace.short, motion.pulls)
