"""Ways through the inputs of a robot: which inputs act at a value of one parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.response import Response

_STEP = 1e-5
"""Difference of the parameter, relative to the span of the way."""


class Way(ABC):
    """Inputs as functions of a parameter that changes by about `span`."""

    span: float

    @abstractmethod
    def inputs(self, value: float) -> Inputs:
        """What acts at a value of the parameter."""

    def keep(self, value: float) -> Array | float:
        """Gaps (total,) that constraints keep there."""
        return 0.0

    def forces(self, response: Response, value: float) -> tuple[Array, Array]:
        """Derivative (size,) of the residual in the parameter, and the rates (total,) of prescribed
        joints, at the configuration that a response looks at.
        """
        h = _STEP * self.span
        after, before = self.inputs(value + h), self.inputs(value - h)
        forces = response.forces_between(after.u, before.u) / (2.0 * h)
        speeds = (after.drive[:, 0] - before.drive[:, 0]) / (2.0 * h)
        more, moved = response.driven_forces(speeds)
        return forces + more, moved


class InputWay(Way):
    """One input changes, all others have fixed values."""

    def __init__(
        self, effects: Effects, values: Mapping[str, Any], name: str, ends: tuple[float, float]
    ) -> None:
        self.effects, self.values, self.name = effects, dict(values), name
        self.span = abs(ends[1] - ends[0])
        self._base = effects.at({**values, name: ends[0]})
        self._terms = [term for term in effects.terms if term.input == name]
        names = effects.prescribed.names
        self._driven = names.index(name) if name in names else None

    def inputs(self, value: float) -> Inputs:
        u, drive = self._base.u.copy(), self._base.drive.copy()
        for term in self._terms:
            u[term.at] = term.numbers(value)
        if self._driven is not None:
            drive[self._driven, 0] = value
        return Inputs(u, drive)


class LoadWay(Way):
    """All inputs change together, from those at the origin (0) to those at the target (1).

    gaps (total,) : those of constraints at the origin, which close on the way.
    """

    span = 1.0

    def __init__(self, origin: Inputs, target: Inputs, gaps: Array) -> None:
        self.origin, self.target, self.gaps = origin, target, gaps

    def inputs(self, value: float) -> Inputs:
        return self.origin.mix(self.target, value)

    def keep(self, value: float) -> Array:
        return np.asarray((1.0 - value) * self.gaps)

    def forces(self, response: Response, value: float) -> tuple[Array, Array]:
        forces, moved = super().forces(response, value)
        return forces + self.gaps[: len(forces)], moved
