"""What all results share: the robot they belong to, and questions by rod name and arclength."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError, Rod, did_you_mean
from pliant.model.checks import as_array
from pliant.solve.problem import Problem

STATIONS = 51
"""Sections of each rod in pictures and files, unless asked otherwise."""


class Answers:
    """Base of results: finds rods by name and checks arclengths."""

    def __init__(self, compiled: Problem) -> None:
        self._compiled = compiled

    @property
    def rods(self) -> tuple[str, ...]:
        """The names of the robot's rods."""
        return tuple(self._compiled.description.rods)

    @property
    def formulation(self) -> dict[str, str]:
        """What each rod was solved with, by rod name, as it would be written in Python."""
        return {name: repr(item) for name, item in self._compiled.formulations.items()}

    @property
    def unknowns(self) -> int:
        """How many numbers were solved for at once: coordinates, stress modes and multipliers."""
        return self._compiled.unknowns

    @property
    def theory(self) -> dict[str, str]:
        """The theory of each rod, "cosserat" or "kirchhoff", by rod name."""
        return {name: rod.theory for name, rod in self._compiled.description.rods.items()}

    @property
    def rotary(self) -> dict[str, bool]:
        """Whether the sections of each rod were moved with rotary inertia, by rod name."""
        rods = self._compiled.description.rods
        return {
            name: item.capabilities.rotary
            and bool(rods[name].inertia(np.array([0.0, rods[name].length]))[:, :3].any())
            for name, item in self._compiled.formulations.items()
        }

    def _rod(self, rod: object) -> Rod:
        known = self._compiled.description.rods
        name = rod.name if isinstance(rod, Rod) else rod
        if name not in known:
            raise DescriptionError(
                "result", "rod", name, "the name of a rod of this robot", did_you_mean(name, known)
            )
        return known[str(name)]

    def _places(self, rod: object, s: ArrayLike) -> tuple[Rod, Array, tuple[int, ...]]:
        """Return the rod, the arclengths in one row (S,), and the shape they were asked in."""
        found = self._rod(rod)
        where = as_array(s)
        slack = 1e-9 * found.length
        if where is None or not np.isfinite(where).all():
            raise DescriptionError(
                found.label, "s", s, "finite arclengths in metres", f"give e.g. {found.length:g}"
            )
        outside = (where < -slack) | (where > found.length + slack)
        if outside.any():
            raise DescriptionError(
                found.label,
                "s",
                where[outside].ravel()[0],
                f"from 0 to the rod's length {found.length:g} m",
                f"give e.g. s = {found.length / 2:g}, or np.linspace(0, {found.length:g}, 51)",
            )
        return found, np.clip(where, 0.0, found.length).ravel(), where.shape

    def _stations(self, rod: Rod, count: int = STATIONS) -> Array:
        return np.linspace(0.0, rod.length, count)

    def _attributes(self) -> dict[str, Any]:
        """What a file says about how the result came to be."""
        return {
            "formulation": json.dumps(self.formulation),
            "gravity": list(self._compiled.description.gravity),
            "pliant_version": sys.modules["pliant"].__version__,
            "conventions": "SI units; twists, strains and wrenches angular part first, body frame",
        }
