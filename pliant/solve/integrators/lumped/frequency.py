"""The highest frequency and the fastest decay of a lumped system, by power iteration."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import Program, record, repeat, run
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.system import LumpedSystem

_POWERS = np.array([60])
"""Power iterations."""
_TINY = np.array([1e-9])
"""How far, in s^2 times accelerations of unit size, nodes are moved to find what forces change by."""
_SLOW = np.array([1e-4])
"""How much, in s times accelerations of unit size, velocities are changed for that."""


class Spectrum:
    """Power iteration on the change of accelerations along themselves."""

    def __init__(self, system: LumpedSystem) -> None:
        self.system, self._sizes = system, np.zeros(len(system.robots))
        self._programs: dict[bool, Program] = {}

    def highest_frequency(self) -> float:
        """Highest frequency of all robots where the nodes are, rad/s; they stay there."""
        return self._search(False) ** 0.5

    def fastest_decay(self) -> float:
        """Largest rate at which velocities decay by damping alone, 1/s; the nodes stay as they are."""
        return self._search(True)

    def _search(self, moving: bool) -> float:
        """Size of the change of accelerations along nodes, or along velocities if `moving`."""
        rng = np.random.default_rng(0)
        for motion in self.system.motions:
            motion.ahead[...] = 0.0
            begin = rng.normal(size=(2, 3, len(motion.nodes.columns)))
            for own in motion.parts:  # the same for all copies, so that equal ones take equal steps
                motion.ahead[:, :, own.columns] = begin
            heavy = np.zeros_like(motion.light)
            np.divide(1.0, motion.light, where=motion.light > 0.0, out=heavy)
            motion.ahead[1] *= heavy * self.system.length
        self.system.keep()
        if moving not in self._programs:
            self._programs[moving] = record(self._iterate, moving)
        repeat(_POWERS, self._programs[moving])
        return float(self._sizes.max()) ** 0.5

    def _iterate(self, moving: bool) -> None:
        """Let `ahead`, scaled to unit size, become the change of accelerations along itself.

        The squared size that it had is left behind: omega^4, or the square of a rate, in the end.
        """
        motions = self.system.motions
        clear(self._sizes)
        for motion in motions:
            body = (motion.of, motion.light, motion.moving, motion.inverse)
            run(rigid.add_size, *body, *motion.ahead, self._sizes)
        for motion in motions:
            run(rigid.normalise, motion.of, self._sizes, motion.ahead)
        unit = _SLOW if moving else _TINY
        for side in (1.0, -1.0):
            for motion in motions:
                move = motion.kick if moving else motion.shift
                move(side, unit, motion.ahead)
            self.system.accelerate(moving)
            self.system.restore()
            if side > 0.0:
                for motion in motions:
                    copy(motion.pulls, motion.behind)
        scale = 0.5 / float(unit[0])
        for motion in motions:
            combine(scale, motion.behind, -scale, motion.pulls, motion.ahead)
