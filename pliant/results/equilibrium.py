"""An equilibrium, the result of `Robot.statics`, and vibrations about it, that of `Robot.modes`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.lie import se3, so3
from pliant.model import Array, Rod, check_suffix
from pliant.model.checks import count
from pliant.results.export import (
    AXES,
    dataset,
    describe_energy,
    describe_formulation,
    describe_places,
    names,
    plain_data,
    poses_by_name,
    variable,
    write_rows,
)
from pliant.results.notebook import flattened
from pliant.results.responses import Responsive
from pliant.results.result import STATIONS, Result, Saveable
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.modes import ModalSolution
from pliant.solve.problem import Applied, Problem, Solution, Still
from pliant.solve.shape_error import ShapeError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Equilibrium(Responsive, Saveable):
    """The robot at rest under its loads.

    iterations : total number of Newton iterations.  residual : final residual, relative to the loads.
    history : relative residual after each iteration of the last attempt.
    level : fraction of the load that is applied; 1.0 unless this is the last converged state of a
        solve that failed.
    inputs : the value of every input, by name.
    rescues : by name ("load steps", ...), how often a strong form needed a fallback; empty if it
        needed none.
    seconds : wall time of the solve.

    Poses are in the world frame; strains and wrenches in the body frame, angular part first.
    Made by `Robot.statics` from compiled, solution, applied and seconds.
    """

    def __init__(
        self, compiled: Problem, solution: Solution, applied: Applied, seconds: float
    ) -> None:
        super().__init__(compiled)
        self._solution = solution
        self._configurations = [solution.q]
        self._still = Still(solution, applied)
        self.inputs: Mapping[str, Any] = dict(applied[-1][1])
        self.level = float(applied[-1][0])
        self.iterations = solution.iterations
        self.residual = solution.residual
        self.history = tuple(solution.history)
        self.seconds = seconds
        self.rescues: dict[str, int] = dict(getattr(solution, "rescues", {}))

    def __repr__(self) -> str:
        return f"<Equilibrium of {self._names}: {self.iterations} iterations>"

    @cached_property
    def error(self) -> ShapeError | None:
        """Estimated error of the whole shape: `shape` in metres, `relative` to the longest rod.

        Solving gives it. For nested tubes it is found when you first ask for it, from a finer solution.
        None if there is no such solution, or if only a part of the load is applied.
        """
        if self._solution.error is not None or self.level < 1.0:
            return self._solution.error
        return self._compiled.compared_error(self._still)

    def _wrenches(self, rod: Rod, s: Array, by: str) -> Array:
        return self._compiled.wrenches(self._still, rod, s, by)

    def _final(self) -> tuple[Any, Any]:
        return self._solution.q, None

    @cached_property
    def _readings(self) -> Mapping[str, Mapping[str, Any]]:  # type: ignore[override]
        return self._compiled.readings(self._still)

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energies in J: elastic, gravity (zero at the world origin), loads, and their total.

        loads is the potential of dead forces. Dead moments, follower loads and simplified chamber
        moments have no potential.
        """
        parts = self._compiled.potential(self._still)
        return {**parts, "total": sum(parts.values())}

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrenches (6,) = (moment, force) that hold the robot, by name, N m and N.

        A constraint: what it exerts on the frame it constrains, in the frame it is attached to.
        A part on the world, or on another part by a joint that moves: what the joint or clamp exerts
        on it, in the frame of its base.
        """
        return self._compiled.reactions(self._still)

    @cached_property
    def drive_forces(self) -> dict[str, float]:
        """Torque (N m) or force (N) that holds each prescribed coordinate of a joint, by input."""
        return self._compiled.drive_forces(self._still)

    @cached_property
    def stable(self) -> bool | None:
        """Whether small disturbances stay small; None if undecided (see stability_note)."""
        return self._stability[0]

    @cached_property
    def stability_note(self) -> str:
        """A sentence that explains `stable`."""
        return self._stability[1]

    @cached_property
    def _stability(self) -> tuple[bool | None, str]:
        return self._compiled.judge(self._still)

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        variables = self._variables(stations, strain="strain_part", wrench="wrench_part")
        variables["energy"] = variable("energy", ("energy_part",), list(self.energy.values()))
        reactions = np.array(list(self.reactions.values())).reshape(-1, 6)
        variables["reaction"] = variable("reaction", ("support", "wrench_part"), reactions)
        numbers = self._compiled.as_numbers(self._solution.q)
        variables["coordinates"] = variable("coordinates", ("coordinate",), numbers)
        variables["residuals"] = variable("residuals", ("iteration",), list(self.history))
        labels = {
            **self._labels(stations),
            "energy_part": list(self.energy),
            "support": names(self.reactions),
        }
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        stable, error = {True: "yes", False: "no", None: "unknown"}[self.stable], self.error
        found = {} if error is None else {"error": error.shape, "error_relative": error.relative}
        return {
            **super()._attributes(),
            "iterations": self.iterations,
            "residual": self.residual,
            "level": self.level,
            "stable": stable,
            "seconds": self.seconds,
            **found,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return tips, energies, reactions and how they were found as plain data, SI units."""
        error = self.error
        data = {
            **super().to_dict(),
            "stable": self.stable,
            "inputs": self.inputs,
            "places": poses_by_name(self._places()),
            "energy": self.energy,
            "reactions": self.reactions,
            "error": None if error is None else {"shape": error.shape, "relative": error.relative},
        }
        return plain_data(data)

    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw the robot and its effects over the undeformed one; save the picture if a path is given.

        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.shapes_and_arrows import (
            effect_shapes,
            robot_shapes,
            rod_shapes,
            tensions_of,
        )
        from pliant.view import draw_robot, saved

        q = self._configurations
        inputs = {name: [value] for name, value in self.inputs.items()}
        told = [self._readings]
        effects, arrows = effect_shapes(self._compiled, q, inputs, tensions_of(self), told)
        figure = draw_robot(
            robot_shapes(self._compiled, q) + effects,
            arrows,
            rod_shapes(self._compiled, [self._compiled.rest]),
            view=view,
        )
        return saved(figure, path)

    def _sketch(self) -> str:
        sample, rods = self._compiled.sampler.poses, self._compiled.description.stations(STATIONS)
        rest = [sample(self._compiled.rest, rod, s)[:, :3, 3] for rod, s in rods.items()]
        return flattened({rod: self.position(rod) for rod in rods}, rest)

    def to_csv(self, path: str | os.PathLike[str], stations: int = STATIONS) -> Path:
        """Write one row for each of evenly spaced sections of all rods as .csv and return the path.

        Columns : rod, s (m), position x y z (m) and tangent tx ty tz in the world, strain ux ... vz
        (rad/m and 1) and internal wrench mx ... nz (N m and N) in the body frame.
        """
        target = check_suffix("to_csv", path, (".csv",))
        rows = []
        for rod, s in self._compiled.description.stations(stations).items():
            g = self.pose(rod, s)
            numbers = np.column_stack(
                [s, g[:, :3, 3], g[:, :3, 2], self.strain(rod, s), self.wrench(rod, s)]
            )
            rows += [[rod, *row] for row in numbers.tolist()]
        world = ["x", "y", "z", "tx", "ty", "tz"]
        header = ["rod", "s", *world, *AXES["strain_part"], *AXES["wrench_part"]]
        return write_rows(target, header, rows)

    def summary(self) -> str:
        """Return tips, energies and iterations in a few lines of text."""
        stable = {True: "stable", False: "unstable", None: "stability unknown"}[self.stable]
        lines = [
            f"Equilibrium: {describe_formulation(self.formulation)}",
            *describe_places(self._places()),
            describe_energy(self.energy),
            f"  {self.iterations} iterations, residual {self.residual:.1e}, {stable}, "
            f"{self.seconds:.3g} s",
        ]
        if self.error is not None:
            lines.append(f"  estimated error of the shape {self.error}")
        elif self.level == 1.0:
            lines.append("  the error of the shape is unknown: no finer solution is near this one")
        if self.level < 1.0:
            lines.append(f"  only {100 * self.level:.3g} % of the load is applied")
        return "\n".join(lines)


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

    @cached_property
    def error(self) -> Array:
        """Estimated relative errors (count,) of the frequencies; 0 for rigid-body motions.

        They are found when you first ask for them, from modes with twice as many intervals. Infinite
        if there is no such solution, for example with a formulation of your own without a `size`.
        """
        from pliant.solve.modal_error import modal_errors

        assert isinstance(self._compiled, CoordinateProblem)
        return modal_errors(self._compiled, self.equilibrium._still, self._solution)

    def __repr__(self) -> str:
        return f"<Modes of {self._names}: {len(self)} frequencies>"

    def __len__(self) -> int:
        return len(self.frequencies)

    def shape(self, k: int, part: str | None = None, s: ArrayLike | None = None) -> Array:
        """Return body twists (..., 6) of mode k = 0, 1, ... at arclengths s (...) of a rod.

        part, s : as for `Equilibrium.pose`: without s, (51, 6) from base to tip, or that (6,) of a
        body. These are small rotations (rad) and displacements (m) for unit
        modal mass, in the body frame of the section at equilibrium.
        """
        count("modes", "k", k, 0, "count from 0", len(self) - 1)
        return self.equilibrium._twists(part, s, [self._solution.vectors[:, k]])

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        dims = ("mode", "rod", "station", "twist_part")
        shapes = [self._at_rods(partial(self.shape, k), stations, (6,)) for k in range(len(self))]
        variables = self.equilibrium._variables(stations)
        variables["frequency"] = variable("frequency", ("mode",), self.frequencies)
        variables["growth"] = variable("growth", ("mode",), self.growth)
        variables["error"] = variable("error", ("mode",), self.error, units="1")
        variables["shape"] = variable("shape", dims, shapes, frame="body")
        labels = {"mode": np.arange(1, len(self) + 1), **self._labels(stations)}
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {**super()._attributes(), "seconds": self.seconds}

    def to_dict(self) -> dict[str, Any]:
        """Return frequencies, Hz, and growth, 1/s, with the equilibrium as plain data."""
        data = {
            **super().to_dict(),
            "frequencies": self.frequencies.tolist(),
            "growth": self.growth.tolist(),
            "error": self.error.tolist(),
            "equilibrium": self.equilibrium.to_dict(),
        }
        return plain_data(data)

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

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write mode, frequency (Hz), growth (1/s) and relative error as .csv and return the path."""
        target = check_suffix("to_csv", path, (".csv",))
        columns = self.frequencies.tolist(), self.growth.tolist(), self.error.tolist()
        rows = [[k + 1, *row] for k, row in enumerate(zip(*columns, strict=True))]
        return write_rows(target, ["mode", "frequency", "growth", "error"], rows)

    def summary(self) -> str:
        """Return the frequencies in a few lines of text."""
        listed = ", ".join(f"{value:.4g}" for value in self.frequencies)
        lines = [
            f"Modes: {describe_formulation(self.formulation)}",
            f"  frequencies / Hz: {listed}",
            f"  estimated errors / %: {', '.join(f'{100.0 * value:.1g}' for value in self.error)}",
        ]
        if self.growth.any():
            count = np.count_nonzero(self.growth)
            lines.append(f"  the equilibrium is unstable: {count} of these motions grow")
        lines.append(f"  {self.seconds:.3g} s")
        return "\n".join(lines)
