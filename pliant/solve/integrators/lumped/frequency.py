"""The highest frequency of a lumped system, by power iteration."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import Program, record, run
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.system import LumpedSystem

_POWERS = 60
"""Power iterations."""
_TINY = np.array([1e-9])
"""How far, in s^2 times accelerations of unit size, nodes are moved to find what forces change by."""


class HighestFrequency:
    """Power iteration on the change of accelerations along themselves."""

    def __init__(self, system: LumpedSystem) -> None:
        self.system, self._sizes = system, np.zeros(1)
        self._searching: Program | None = None

    def find(self) -> float:
        """Highest frequency where the nodes are, rad/s; they stay there."""
        rng = np.random.default_rng(0)
        for motion in self.system.motions:
            motion.ahead[...] = rng.normal(size=motion.ahead.shape)
            heavy = np.divide(
                1.0, motion.light, where=motion.light > 0.0, out=np.zeros_like(motion.light)
            )
            motion.ahead[1] *= heavy * self.system.tree.length
            motion.keep_nodes()
        if self._searching is None:
            self._searching = record(self._iterate)
        for _ in range(_POWERS):
            self._searching()
        return float(self._sizes[0]) ** 0.25

    def _iterate(self) -> None:
        """Let `ahead`, scaled to unit size, become the change of accelerations along itself.

        The squared size that it had is left behind: omega^4 in the end.
        """
        motions = self.system.motions
        clear(self._sizes)
        for motion in motions:
            body = (motion.blocks, motion.light, motion.moving, motion.inverse)
            run(rigid.add_size, *body, *motion.ahead, self._sizes)
        for motion in motions:
            run(rigid.normalise, self._sizes, motion.ahead)
        for side in (1.0, -1.0):
            for motion in motions:
                motion.shift(side, _TINY, motion.ahead)
            self.system.accelerate(moving=False)
            for motion in motions:
                motion.restore_nodes()
                if side > 0.0:
                    copy(motion.pulls, motion.behind)
        scale = 0.5 / float(_TINY[0])
        for motion in motions:
            combine(scale, motion.behind, -scale, motion.pulls, motion.ahead)
