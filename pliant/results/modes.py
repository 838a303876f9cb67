"""Vibration modes: the result of `Robot.modes`."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.lie import se3, so3
from pliant.model import Array, DescriptionError
from pliant.results.equilibrium import Equilibrium
from pliant.results.export import dataset, describe_formulation, variable
from pliant.results.result import STATIONS, Result, Saveable
from pliant.solve.modes import ModalSolution

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_SECTIONS = 61
"""Sections of each rod in pictures."""
_LARGEST = 0.12
"""Largest displacement in a picture, as a fraction of the robot's size."""


class Modes(Result, Saveable):
    """Small undamped vibrations about an equilibrium, slowest first.

    frequencies : (count,) Hz; 0 for rigid-body motions.
    growth : (count,) 1/s; above zero for modes that grow because the equilibrium is unstable.
    equilibrium : the state the robot vibrates about.  seconds : wall time.

    Made by `Robot.modes` from equilibrium, solution and seconds.
    """

    def __init__(self, equilibrium: Equilibrium, solution: ModalSolution, seconds: float) -> None:
        super().__init__(equilibrium._compiled)
        self.equilibrium = equilibrium
        self._solution = solution
        self.frequencies = solution.frequencies
        self.growth = solution.growth
        self.seconds = seconds

    def __repr__(self) -> str:
        return f"<Modes of {self._names}: {len(self)} frequencies>"

    def __len__(self) -> int:
        return len(self.frequencies)

    def shape(self, k: int, part: str, s: ArrayLike | None = None) -> Array:
        """Return body twists (..., 6) of mode k = 0, 1, ... at arclengths s (...) of a rod.

        Without s, that (6,) of a body. These are small rotations (rad) and displacements (m) for unit
        modal mass, in the body frame of the section at equilibrium.
        """
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(self):
            raise DescriptionError(
                "modes", "k", k, f"a whole number from 0 to {len(self) - 1}", "count from 0"
            )
        return self.equilibrium._twists(part, s, [self._solution.vectors[:, k]])

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        dims = ("mode", "rod", "station", "twist_part")
        shapes = [self._at_rods(partial(self.shape, k), stations, (6,)) for k in range(len(self))]
        variables = self.equilibrium._variables(stations)
        variables["frequency"] = variable("frequency", ("mode",), self.frequencies)
        variables["growth"] = variable("growth", ("mode",), self.growth)
        variables["shape"] = variable("shape", dims, shapes, frame="body")
        labels = {"mode": np.arange(1, len(self) + 1), **self._labels(stations)}
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {**super()._attributes(), "seconds": self.seconds}

    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw each mode at its largest displacement over the equilibrium; save it if a path is given.

        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.shapes_and_arrows import robot_shapes
        from pliant.view import draw_modes, saved

        rest = robot_shapes(self._compiled, [self.equilibrium._solution.q])
        points = np.concatenate([shape.points.reshape(-1, 3) for shape in rest])
        size = float(np.ptp(points, axis=0).max())
        displaced = [self._displaced(k, size) for k in range(len(self))]
        return saved(draw_modes(displaced, self.frequencies, rest, view=view), path)

    def _displaced(self, k: int, size: float) -> list[Any]:
        """Return rods and bodies displaced along mode k, by a fraction of the robot's size (m)."""
        from pliant.results.shapes_and_arrows import body_shape, rod_shape

        rods = self._compiled.description.stations(_SECTIONS)
        frames = [self.equilibrium.pose(rod, s) for rod, s in rods.items()]
        twists = [self.shape(k, rod, s) for rod, s in rods.items()]
        # bodies are displaced at their centres of mass
        bodies = [body for body in self._compiled.description.bodies.values() if body.mass > 0]
        for body in bodies:
            centre = body.at(body.centre).pose_offset()
            frames.append((self.equilibrium.pose(body.name) @ centre)[None])
            twists.append((se3.Ad(se3.inverse(centre)) @ self.shape(k, body.name))[None])
        turn, shift = (
            max(float(np.linalg.norm(twist[:, part], axis=1).max()) for twist in twists)
            for part in (slice(3), slice(3, 6))
        )
        # a mode of pure twist moves no centre line: scale it by its rotation
        factor = min(_LARGEST * size / max(shift, 1e-300), 1.0 / max(turn, 1e-300))
        for g, twist in zip(frames, twists, strict=True):
            g[:, :3, 3] += factor * np.einsum("sij,sj->si", g[:, :3, :3], twist[:, 3:])
            g[:, :3, :3] = g[:, :3, :3] @ so3.exp(factor * twist[:, :3])
        shapes = [rod_shape(self._rod(rod), g) for rod, g in zip(rods, frames, strict=False)]
        for body, g in zip(bodies, frames[len(rods) :], strict=True):
            back = se3.inverse(body.at(body.centre).pose_offset())
            shapes.append(body_shape(body, g @ back))
        return shapes

    def summary(self) -> str:
        """Return the frequencies in a few lines of text."""
        listed = ", ".join(f"{value:.4g}" for value in self.frequencies)
        lines = [
            f"Modes: {describe_formulation(self.formulation)}",
            f"  frequencies / Hz: {listed}",
        ]
        if self.growth.any():
            count = np.count_nonzero(self.growth)
            lines.append(f"  the equilibrium is unstable: {count} of these motions grow")
        lines.append(f"  {self.seconds:.3g} s")
        return "\n".join(lines)
