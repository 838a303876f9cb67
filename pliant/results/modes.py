"""Vibration modes: the answer of `Robot.modes`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError
from pliant.results.answers import STATIONS, Answers
from pliant.results.equilibrium import Equilibrium
from pliant.results.text import describe_formulation
from pliant.solve.modes import ModalSolution

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_SWING = 0.12
"""Largest displacement in a picture, as a part of the robot's size."""


class Modes(Answers):
    """Small undamped vibrations about an equilibrium, slowest first.

    frequencies : (count,) Hz; 0 for rigid motions.
    growth : (count,) 1/s; above zero for motions that grow because the equilibrium is unstable.
    equilibrium : what the modes are about.  seconds : time the computation took.

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
        return f"<Modes of {', '.join(self.rods)}: {len(self)} frequencies>"

    def __len__(self) -> int:
        return len(self.frequencies)

    def shape(self, k: int, rod: str, s: ArrayLike) -> Array:
        """Return body twists (..., 6) of mode k = 0, 1, ... at arclengths s (...) of a rod.

        They are small turns (rad) and displacements (m) for unit modal mass, in the body frame of
        the section at equilibrium.
        """
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(self):
            raise DescriptionError(
                "modes", "k", k, f"a whole number from 0 to {len(self) - 1}", "count from 0"
            )
        found, where, shape = self._places(rod, s)
        q = self.equilibrium._solution.q
        vector = self._solution.vectors[:, k]
        twists = self._compiled.sampler.velocities(q, vector, found.name, where)
        return twists.reshape(*shape, 6)

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        from pliant.results.saving import COMPONENTS, dataset, pose_variables, variable

        rods = [self._rod(name) for name in self.rods]
        places = [self._stations(rod, stations) for rod in rods]
        pairs = list(zip(self.rods, places, strict=True))
        dims = ("rod", "station")
        poses = np.array([self.equilibrium.pose(rod, s) for rod, s in pairs])
        shapes = [[self.shape(k, rod, s) for rod, s in pairs] for k in range(len(self))]
        variables = pose_variables(dims, poses)
        variables["frequency"] = variable("frequency", ("mode",), self.frequencies)
        variables["growth"] = variable("growth", ("mode",), self.growth)
        variables["shape"] = variable("shape", ("mode", *dims, "twist_part"), shapes, frame="body")
        labels = {
            "mode": np.arange(1, len(self) + 1),
            "rod": list(self.rods),
            "s": variable("s", dims, places),
            "twist_part": COMPONENTS["twist"],
        }
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {**super()._attributes(), "kind": "Modes", "seconds": self.seconds}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as NetCDF (.nc) and return the path; read it with `pliant.load`."""
        from pliant.results.saving import write

        return write(self.to_xarray(), path)

    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw each mode at the end of its swing over the equilibrium; save it if a path is given.

        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.drawing import shapes_at
        from pliant.view import draw_modes, save_figure

        rest = shapes_at(self._compiled, self.equilibrium._solution.q)
        swings = [self._swing(k, rest) for k in range(len(self))]
        figure = draw_modes(swings, self.frequencies, rest, view=view)
        if path is not None:
            save_figure(figure, path)
        return figure

    def _swing(self, k: int, rest: list[Any]) -> list[Any]:
        """Return the rods displaced along mode k, by a fixed part of the robot's size."""
        from pliant.lie import se3
        from pliant.results.drawing import rod_shape

        rods = [self._rod(name) for name in self.rods]
        places = [
            self._stations(rod, len(shape.poses)) for rod, shape in zip(rods, rest, strict=True)
        ]
        twists = [self.shape(k, rod.name, s) for rod, s in zip(rods, places, strict=True)]
        points = np.concatenate([shape.poses[:, :3, 3] for shape in rest])
        size = float(np.ptp(points, axis=0).max())
        most = max(float(np.linalg.norm(t[:, 3:], axis=1).max()) for t in twists)
        turn = max(float(np.linalg.norm(t[:, :3], axis=1).max()) for t in twists)
        # a mode of pure twist moves no centre line: show it by its turn
        factor = min(_SWING * size / max(most, 1e-300), 1.0 / max(turn, 1e-300))
        found = []
        for rod, shape, twist in zip(rods, rest, twists, strict=True):
            moved = shape.poses.copy()
            moved[:, :3, 3] += factor * np.einsum("sij,sj->si", moved[:, :3, :3], twist[:, 3:])
            turned = np.array([se3.exp(np.r_[factor * t[:3], 0.0, 0.0, 0.0]) for t in twist])
            moved[:, :3, :3] = moved[:, :3, :3] @ turned[:, :3, :3]
            found.append(rod_shape(rod, moved))
        return found

    def show(self) -> None:
        """Draw the modes in a window and wait until it is closed."""
        from pliant.view import show

        self.plot()
        show()

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
