"""Scratch of one rod for a variational step."""

from __future__ import annotations

import numpy as np

from pliant.physics import stepping
from pliant.rods.contract import Array
from pliant.system.block import Block, Level


class Room:
    """Scratch of one rod for a variational step of length h that meets `share` of its strains.

    lag (S, 6) = D / C is the retardation time of each strain row; slope the derivative of the strain
    that meets the law in the strain at the end of the step.
    """

    def __init__(self, block: Block, h: float, share: float) -> None:
        S, Q = len(block.strain_s), len(block.mass_s)
        self.eta = np.zeros((Q, 6))
        self.pa = np.zeros((Q, 6))
        self.pb = np.zeros((Q, 6))
        self.k = np.zeros((Q, 6, 6))
        self.rate = np.zeros((S, 6))
        self.mean = np.zeros((S, 6))
        self.impulse = np.zeros((S, 6))
        self.lag = block.D / block.C
        self.damped = bool(np.any(self.lag))
        self.slope = share + self.lag / h
        self.from_start = np.zeros_like(block.coupling)
        self.from_end = np.zeros_like(block.coupling)

    def depart(
        self, block: Block, a: Level, b: Level, mult: Array, h: float, share: float, weight: float
    ) -> None:
        """Add to block.ry the momentum and elastic impulse that leave `a` in a step to `b`, with
        the stress modes in mult; the impulse counts by `weight`.
        """
        mass, strain = a.mass, a.strain
        stepping.add_departure(
            block.M, mass.g, b.mass.g, mass.J, mass.element, self.eta, self.pa, self.pb, self.k,
            block.plain, block.mode_w, block.C, block.e0, block.mode_values, block.mode_numbers,
            block.mode_index, mult, strain.e, b.strain.e, strain.B, strain.element,
            self.lag, self.rate, self.mean, block.sigma, block.tangent, block.gap, self.impulse,
            h, share, weight, block.ry,
        )  # fmt: skip
