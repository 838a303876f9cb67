"""How many short steps a step of an explicit integrator is cut into, and how far it has come."""

from __future__ import annotations

import numpy as np

from pliant.engine.program import run
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped import rigid


class Pace:
    """Short steps of a step of h seconds: arrays of one entry, so that programs stay valid.

    short : their length, s; gradient : its square over 12, s^2; share : the part of h that each is;
    passed : the part of h that is over.
    """

    def __init__(self, h: float) -> None:
        self.h = h
        self.count = np.ones(1, dtype=np.int64)
        self.short, self.gradient, self.share = np.ones(1), np.ones(1), np.ones(1)
        self.passed = np.zeros(1)
        self.set(1)

    def set(self, count: int) -> None:
        """Take `count` short steps for each step of h seconds."""
        self.count[0], self.share[0] = count, 1.0 / count
        self.short[0] = self.h / count
        self.gradient[0] = self.short[0] ** 2 / 12.0

    def mix(self, before: Array, after: Array, acting: Array, now: Array) -> None:
        """Set acting (J,) to the inputs in the middle of the next short step, which then counts.

        now (1,) : becomes the part of h that is over there.
        """
        run(rigid.mix_inputs, self.share, self.passed, before, after, acting, now)
