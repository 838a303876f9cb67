"""Scratch room of one rod for a variational step, and what is computed in it."""

from __future__ import annotations

import numpy as np

from pliant.physics import drag, inertia, stepping
from pliant.rods.contract import Array
from pliant.system.block import Block, Level


class Room:
    """Momenta and strains of one rod in a step of length h.

    lag (S, 6) = D / C is the retardation time of each strain row; slope (S, 6) the derivative of the
    strain that meets the law in the strain at the end of the step, mode_slope (S, R) that of the
    strain that meets the stress modes: the same, or the last one where it is held by constraint.
    share : weight of the strain at the end.
    """

    def __init__(self, block: Block, h: float, share: float) -> None:
        S, Q = len(block.strain_s), len(block.M)
        self.block = block
        self.h = h
        self.share = share
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
        self.damped = bool(np.any(self.lag))
        self.slope = share + self.lag / h
        self.mode_slope = np.ascontiguousarray(self.slope[:, block.mode_rows])
        if block.rigid:
            self.mode_slope[...] = 1.0
        self.from_start = np.zeros_like(block.coupling)
        self.from_end = np.zeros_like(block.coupling)

    def depart(self, a: Level, b: Level, mult: Array) -> None:
        """Add to block.ry the momentum and elastic impulse that leave `a` in a step to `b`, with
        the stress modes in mult.
        """
        block, mass, strain = self.block, a.inertial, a.strain
        met = b.strain.e if block.rigid else self.mean
        stepping.add_departure(
            block.M, mass.g, b.inertial.g, mass.J, mass.element, self.eta, self.pa, self.pb, self.k,
            block.resisted, block.drag, block.mass_damping,
            block.plain, block.mode_w, block.soft, block.e0, block.mode_values, block.mode_rows,
            block.mode_numbers, block.mode_index, mult, strain.e, b.strain.e, strain.B, strain.element,
            self.lag, self.rate, self.mean, met, block.sigma, block.tangent, block.gap, self.impulse,
            self.h, self.share, self.first, block.ry,
        )  # fmt: skip

    def momenta(self, a: Level, b: Level) -> None:
        """Momenta pa and pb at the ends of the step, resistance included, and the derivative k."""
        block, h = self.block, self.h
        ga, gb = a.inertial.g, b.inertial.g
        inertia.step_momentum(block.M, ga, gb, h, True, self.eta, self.pa, self.pb, self.k)
        if block.resisted:
            drag.add_step_resistance(
                *(block.drag, block.mass_damping, self.eta, h, self.first, 1.0 - self.first),
                *(True, self.pa, self.pb, self.k),
            )

    def dissipated(self) -> float:
        """Energy lost in the step, J."""
        block, lost = self.block, 0.0
        if self.damped:
            lost += block.dissipation(self.rate, self.lag)
        if block.resisted:
            lost += drag.resistance_power(block.drag, block.mass_damping, self.eta)
        return self.h * lost
