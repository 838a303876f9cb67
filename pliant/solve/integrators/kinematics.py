"""Rates and accelerations of all stations of a robot from those of its coordinates."""

from __future__ import annotations

import numpy as np

from pliant.physics import drag
from pliant.rods.contract import Array
from pliant.system.block import Block, Level
from pliant.system.system import System


class Rates:
    """Per rod: eta and acceleration (Q, 6) of inertial stations, strain rates and their lag (S, 6).

    gyration (Q, 6, 6) is the derivative in eta of the wrench of inertia, drag and mass damping.
    `lagging` = (D / C) e' is what Kelvin-Voigt damping adds to the strain that meets the law.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        blocks = system.blocks
        self.eta = [np.zeros((len(b.M), 6)) for b in blocks]
        self.acceleration = [np.zeros((len(b.M), 6)) for b in blocks]
        self.gyration = [np.zeros((len(b.M), 6, 6)) for b in blocks]
        self.strain = [np.zeros((len(b.strain_s), 6)) for b in blocks]
        self.lag = [b.D / b.C for b in blocks]
        self.lagging = [np.zeros((len(b.strain_s), 6)) for b in blocks]

    def update(self, v: Array, acc: Array) -> None:
        """From coordinate rates v (n,) and accelerations acc (n,) at the placed configuration."""
        motion: dict[str, tuple[Array, Array]] = {}
        for i, block in enumerate(self.system.blocks):
            y, ydd = self._element_rates(block, v, acc, motion)
            motion[block.rod.name] = (y, ydd)
            level = block.level
            mass, strain = level.inertial, level.strain
            self.eta[i][...] = np.einsum("sia,sa->si", mass.J, y[mass.element])
            self._bias(block, y, self.acceleration[i])
            self.acceleration[i] += np.einsum("sia,sa->si", mass.J, ydd[mass.element])
            self.strain[i][...] = np.einsum("sia,sa->si", strain.B, y[strain.element])
            np.multiply(self.lag[i], self.strain[i], out=self.lagging[i])

    @staticmethod
    def _bias(block: Block, y: Array, out: Array) -> None:
        """Accelerations (Q, 6) of the inertial stations at constant rates y of the variables."""
        level, count = block.level, len(block.mass_s)
        block.map.frame_bias(level.mass, level.c, y, out[:count])
        if len(block.body_station):
            bias = np.zeros((len(block.point_s), 6))
            block.map.frame_bias(level.points, level.c, y, bias)
            out[count:] = np.einsum("bij,bj->bi", block.body_A, bias[block.body_station])

    def _element_rates(
        self, block: Block, v: Array, acc: Array, motion: dict[str, tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        """First and second time derivatives of the element variables y (E, m)."""
        index = block.x_index
        rate = np.where(index >= 0, v[np.maximum(index, 0)], 0.0)
        second = np.where(index >= 0, acc[np.maximum(index, 0)], 0.0)
        if block.parent is not None and not block.shared:
            rate[:6], second[:6] = self._carried(block, motion[block.parent.rod.name])
        elements = block.map.elements
        shape = (len(elements), block.map.m)
        y, ydd, bias = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        local = np.where(elements >= 0, rate[np.maximum(elements, 0)], 0.0)
        block.map.lift_velocity(block.level.c, local, y)
        block.map.lift_bias(block.level.c, local, bias)
        local = np.where(elements >= 0, second[np.maximum(elements, 0)], 0.0)
        block.map.lift_velocity(block.level.c, local, ydd)
        return y, ydd + bias

    def _carried(self, block: Block, motion: tuple[Array, Array]) -> tuple[Array, Array]:
        """Twist of a mounted base and its rate, from the motion of the section that carries it."""
        parent = block.parent
        assert parent is not None
        plan = parent.level.points
        y, ydd = motion
        bias = np.zeros((len(plan.s), 6))
        parent.map.frame_bias(plan, parent.level.c, y, bias)
        e = plan.element[block.mount]
        J = plan.J[block.mount]
        A = self.system.mount_adjoint(block)
        return A @ (J @ y[e]), A @ (J @ ydd[e] + bias[block.mount])

    def damped_coupling(self, i: int, slope: float) -> Array:
        """Derivative (E, pR, n) of the mode gaps of rod i in x by way of its strain rates.

        slope : derivative of rates in the increment of a step, 1/s.
        """
        block, lag = self.system.blocks[i], self.lag[i]
        if block.modes is None or not np.any(lag):
            return np.zeros_like(block.coupling)
        scale = np.ascontiguousarray(slope * lag[:, block.mode_rows])
        block.couple(block.level, scale, block.coupling)
        return block.coupling

    def dissipated(self, D: Array, before: list[Level], h: float) -> float:
        """Energy lost to damping in a step of h seconds and increment D (n,), J.

        At the mean rates of the step, D / h and (e - e0) / h, which are those of its own balance: the
        mean of M v' + C v + K q = f at both ends of a trapezoidal step, times D, is

            T1 - T0 + V1 - V0 + D^T C D / h = (f0 + f1) D / 2.

        The mean of the powers at both ends is more by h (v1 - v0)^T C (v1 - v0) / 4, which is no
        small part of it where rates jump. before : the robot at the start of the step; it is placed at
        the end. What sections meet at D / h is the mean of both places.
        """
        lost = 0.0
        for i, block in enumerate(self.system.blocks):
            if np.any(self.lag[i]):
                rate = (block.level.strain.e - before[i].strain.e) / h
                lost += block.dissipation(rate, self.lag[i])
        if any(block.resisted for block in self.system.blocks):
            after = [block.level for block in self.system.blocks]
            lost += 0.5 * (self._resisted(D / h, before) + self._resisted(D / h, after))
        return h * lost

    def _resisted(self, v: Array, levels: list[Level]) -> float:
        """Power lost to drag and mass damping at coordinate rates v (n,) at `levels`, W."""
        with self.system.using(levels):
            self.update(v, np.zeros_like(v))
        return sum(
            drag.resistance_power(block.drag, block.mass_damping, eta)
            for block, eta in zip(self.system.blocks, self.eta, strict=True)
            if block.resisted
        )
