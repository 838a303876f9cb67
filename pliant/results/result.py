"""Base classes of results: the robot they belong to, sections of rods, files and pictures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError, Rod, did_you_mean
from pliant.model.checks import as_array
from pliant.solve.problem import Problem

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

STATIONS = 51
"""Sections of each rod in files, unless you ask for another number."""


class Drawable:
    """A result with a picture."""

    plot: Callable[..., Figure]

    def show(self) -> None:
        """Open the picture of `plot` in a window and wait until you close it."""
        from pliant.view import show

        self.plot()
        show()


class Saveable(Drawable):
    """A result that can be written to a NetCDF file."""

    to_xarray: Callable[..., xr.Dataset]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as NetCDF (.nc) and return the path; read it with `pliant.load`."""
        from pliant.results import netcdf

        return netcdf.write(self.to_xarray(), path)


class Result:
    """Base of the results of one robot: finds rods by name and checks arclengths."""

    def __init__(self, compiled: Problem) -> None:
        self._compiled = compiled

    @property
    def rods(self) -> tuple[str, ...]:
        """The names of the robot's rods."""
        return tuple(self._compiled.description.rods)

    @property
    def formulation(self) -> dict[str, str]:
        """The formulation of each rod as Python code, by rod name."""
        return {name: repr(item) for name, item in self._compiled.formulations.items()}

    @property
    def unknowns(self) -> int:
        """Size of the system solved at once: coordinates, force fields and multipliers."""
        return self._compiled.unknowns

    @property
    def theory(self) -> dict[str, str]:
        """The theory of each rod, "cosserat" or "kirchhoff", by rod name."""
        return {name: rod.theory for name, rod in self._compiled.description.rods.items()}

    @property
    def rotary(self) -> dict[str, bool]:
        """Whether the sections of each rod have rotary inertia, by rod name."""
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

    def _sections(self, rod: object, s: ArrayLike) -> tuple[Rod, Array, tuple[int, ...]]:
        """Return the rod, the arclengths flattened to (S,), and the shape they were given in."""
        part = self._rod(rod)
        given = as_array(s)
        slack = 1e-9 * part.length
        if given is None or not np.isfinite(given).all():
            raise DescriptionError(
                part.label, "s", s, "finite arclengths in metres", f"give e.g. {part.length:g}"
            )
        outside = (given < -slack) | (given > part.length + slack)
        if outside.any():
            raise DescriptionError(
                part.label,
                "s",
                given[outside].ravel()[0],
                f"from 0 to the rod's length {part.length:g} m",
                f"give e.g. s = {part.length / 2:g}, or np.linspace(0, {part.length:g}, 51)",
            )
        return part, np.clip(given, 0.0, part.length).ravel(), given.shape

    def _stations(self, count: int) -> list[tuple[str, Array]]:
        """The name of each rod with evenly spaced arclengths (count,), m."""
        rods = self._compiled.description.rods
        return [(name, np.linspace(0.0, rod.length, count)) for name, rod in rods.items()]

    def _attributes(self) -> dict[str, Any]:
        """How the result was computed, for files."""
        return {
            "kind": type(self).__name__,
            "formulation": json.dumps(self.formulation),
            "gravity": list(self._compiled.description.gravity),
            "pliant_version": sys.modules["pliant"].__version__,
            "conventions": "SI units; twists, strains and wrenches angular part first, body frame",
        }


class ShapeResult(Result):
    """A result that holds one configuration, or one for each of T output times.

    A motion adds a leading axis T to the shapes of all arrays below.
    """

    _leading: tuple[int, ...] = ()
    """() for one configuration, (T,) for a motion."""

    _configurations: Sequence[Any]
    """The configuration q of each output time."""

    def pose(self, rod: str, s: ArrayLike) -> Array:
        """Return world poses (..., 4, 4) of a rod's sections at arclengths s (...), metres."""
        return self._sampled(self._compiled.sampler.poses, rod, s, (4, 4))

    def tip(self, rod: str) -> Array:
        """Return the world pose (4, 4) of a rod's tip."""
        return self.pose(rod, self._rod(rod).length)

    def position(self, rod: str, s: ArrayLike) -> Array:
        """Return world positions (..., 3) of a rod's sections at arclengths s (...), metres."""
        return self.pose(rod, s)[..., :3, 3]

    def strain(self, rod: str, s: ArrayLike) -> Array:
        """Return strains (..., 6) = (u, v) at s, body frame: rad/m, and 1 for no stretch."""
        return self._sampled(self._compiled.sampler.strains, rod, s, (6,))

    def _sampled(
        self,
        sample: Callable[..., Array],
        rod: str,
        s: ArrayLike,
        entry: tuple[int, ...],
        *rates: Sequence[Any],
    ) -> Array:
        """Arrays (..., *entry) of sample(q, [v,] rod name, s) at each configuration."""
        part, where, shape = self._sections(rod, s)
        states = zip(self._configurations, *rates, strict=True)
        rows = [sample(*state, part.name, where) for state in states]
        return np.array(rows).reshape(*self._leading, *shape, *entry)
