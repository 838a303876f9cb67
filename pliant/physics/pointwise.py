"""Effects of your own at one section, as strong forms integrate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.lie import se3
from pliant.model.breaks import Breaks
from pliant.physics.own_law import Law
from pliant.rods.contract import Array

_STEP = 1e-5
"""Rotation (rad) and displacement (m) by which the derivative of a wrench in the pose is taken."""


def _numbers(u: Any) -> Array:
    """An input value as the numbers of a law, empty if there is none."""
    return np.zeros(0) if u is None else np.atleast_1d(np.asarray(u, dtype=float))


class Pointwise:
    """The law of an effect at one section; the defaults do nothing.

    name : of its input.  rod : name of the rod.  breaks : where the law jumps or peaks on a rod of some
    length.
    """

    def __init__(self, name: str, rod: str, law: Law, breaks: Callable[[float], Breaks]) -> None:
        self.name, self.rod, self._law, self.breaks = name, rod, law, breaks

    def line_wrench(
        self, s: float, g: Array, strain: Array, twist: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Wrench (6,) per metre at s (m), body frame, and its derivatives (6, 6) in the chart g exp(x)
        of the pose g (4, 4) and in the body twist (6,).
        """
        return np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))

    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Internal wrench (6,) at s (m), body frame, and its derivatives (6, 6) in strain and rate."""
        return np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))


class PointwiseLine(Pointwise):
    """An effect along a rod, over its whole length or a stretch (s0, s1)."""

    def __init__(
        self,
        name: str,
        rod: str,
        law: Law,
        breaks: Callable[[float], Breaks],
        over: tuple[float, float] | None,
    ) -> None:
        super().__init__(name, rod, law, breaks)
        self._over = over

    def line_wrench(
        self, s: float, g: Array, strain: Array, twist: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Wrench (6,) per metre and its derivatives; those in the pose are differences."""
        if self._over is not None and not self._over[0] <= s <= self._over[1]:
            return super().line_wrench(s, g, strain, twist, u)
        where, values, eta, turned = np.array([s]), _numbers(u), twist[None], np.zeros((6, 6))

        def pull(pose: Array) -> Array:
            return -np.asarray(self._law("gradient", where, pose[None], values)[0])

        for a, x in enumerate(_STEP * np.eye(6)):
            turned[:, a] = (pull(g @ se3.exp(x)) - pull(g @ se3.exp(-x))) / (2.0 * _STEP)
        faster = -np.asarray(self._law("resistance_slope", where, g[None], eta, values)[0])
        lost = self._law("resistance", where, g[None], eta, values)[0]
        return pull(g) - lost, turned, faster


class PointwiseStress(Pointwise):
    """An effect on the strains of a rod."""

    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Internal wrench (6,) and its derivatives."""
        where, e, values = np.array([s]), strain[None], _numbers(u)
        slope = self._law("stiffness", where, e, values)[0]
        return self._law("stress", where, e, values)[0], slope, np.zeros((6, 6))
