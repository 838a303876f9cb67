"""Scratch room of one rod for a variational step, and what is computed in it."""

from __future__ import annotations

import numpy as np

from pliant.physics import drag, inertia
from pliant.system.block import Block, Level


class Room:
    """Momenta and strains of one rod in a step of length h.

    lag (S, 6) = D / C is the retardation time of each strain row; slope the derivative of the strain
    that meets the law (where it is held by constraint: the last one) in the strain at the end of
    the step. share : weight of the strain at the end.
    """

    def __init__(self, block: Block, h: float, share: float) -> None:
        S, Q = len(block.strain_s), len(block.M)
        self.block = block
        self.h = h
        self.first = share if share > 0.0 else 1.0
        """Part of an impulse that leaves the start of the step; what is left comes to its end."""
        self.eta = np.zeros((Q, 6))
        self.pa = np.zeros((Q, 6))
        self.pb = np.zeros((Q, 6))
        self.k = np.zeros((Q, 6, 6))
        self.rate = np.zeros((S, 6))
        self.mean = np.zeros((S, 6))
        self.impulse = np.zeros((S, 6))
        self.lag = block.D / block.C
        self.slope = share + self.lag / h
        if block.rigid:
            self.slope[:, block.mode_rows] = 1.0
        self.from_start = np.zeros_like(block.coupling)
        self.from_end = np.zeros_like(block.coupling)

    def momenta(self, a: Level, b: Level, tangent: bool) -> None:
        """Momenta pa and pb at the ends of the step, resistance included; k if `tangent`."""
        block, h = self.block, self.h
        ga, gb = a.inertial.g, b.inertial.g
        inertia.step_momentum(block.M, ga, gb, h, tangent, self.eta, self.pa, self.pb, self.k)
        if block.resisted:
            drag.add_step_resistance(
                *(block.drag, block.mass_damping, self.eta, h, self.first, 1.0 - self.first),
                *(tangent, self.pa, self.pb, self.k),
            )

    def dissipated(self) -> float:
        """Energy lost in the step, J."""
        block, lost = self.block, 0.0
        if np.any(self.lag):
            lost += block.dissipation(self.rate)
        if block.resisted:
            lost += drag.resistance_power(block.drag, block.mass_damping, self.eta)
        return self.h * lost
