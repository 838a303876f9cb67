"""A motion: the result of `Robot.simulate`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array, Effect, ResolutionHint, ResolutionWarning, Rod, check_suffix
from pliant.model.progress import told
from pliant.model.telling import is_told
from pliant.results.energy_gap import TOLD, EnergyGap, EnergyWarning, energy_gap, warn_of_gap
from pliant.results.export import (
    dataset,
    describe_energy,
    describe_formulation,
    describe_places,
    plain_data,
    poses_by_name,
    variable,
    write_rows,
)
from pliant.results.notebook import line_drawing
from pliant.results.result import Saveable, ShapeResult
from pliant.solve.dynamics import Trajectory
from pliant.solve.integrators.contract import Integrator
from pliant.solve.motion_error import MotionError
from pliant.solve.problem import Problem
from pliant.solve.resolution_hint import rough_errors
from pliant.solve.shape_error import LARGE, finer as finer_than

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from pliant.view import Arrow, RodShape

STATIONS = 21
"""Sections of each rod in files."""


class MovingResult(ShapeResult):
    """A result with velocities: a motion, or one instant of it."""

    _path: Any
    """Configurations, rates and energy records over time."""

    def velocity(self, part: str | None = None, s: ArrayLike | None = None) -> Array:
        """Return body twists (..., 6) = (w, v) of a rod's sections at s: rad/s and m/s.

        part, s : as for `pose`: without s, the twists (51, 6) of a rod from base to tip, or that (6,)
        of a body.
        """
        return self._twists(part, s, self._path.v)

    def joint_rate(self, part: str) -> Array:
        """Return the velocities (nv,) of the joint by which a rod or body hangs, rad/s and m/s.

        Of a ball joint and of a free part they are body velocities, else the rates of `joint`.
        """
        known = self._jointed(part)
        rows = [self._compiled.joint_rate(v, known.name) for v in self._path.v]
        return np.array(rows).reshape(*self._leading, -1)

    @cached_property
    def drive_forces(self) -> dict[str, Array]:
        """Torque (N m) or force (N) that each prescribed coordinate of a joint needs, by input."""
        self._warn_of_forces()
        forces = self._compiled.moving_drive_forces(self._path)
        return {name: values.reshape(self._leading) for name, values in forces.items()}

    def _wrenches(self, rod: Rod, s: Array, by: str) -> Array:
        self._warn_of_forces()
        return self._compiled.moving_wrenches(self._path, rod, s, by)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrenches (6,) = (moment, force) that hold the robot, by name, N m and N.

        A constraint: what it exerts on the frame it constrains, in the frame it is attached to.
        A part on the world, or on another part by a joint that moves: what the joint or clamp exerts
        on it, in the frame of its base. Reactions follow from balance at each output time, without
        accelerations that the step does not resolve. Undamped modes that it does not resolve can
        grow, and forces show it long before positions do: an EnergyWarning says if the integrator
        added more than 1 % of the energy.
        """
        self._warn_of_forces()
        reactions = self._compiled.moving_reactions(self._path)
        return {name: rows.reshape(*self._leading, 6) for name, rows in reactions.items()}

    @cached_property
    def _readings(self) -> dict[str, dict[str, Array]]:  # type: ignore[override]
        told = self._compiled.moving_readings(self._path)
        if self._leading:
            return told
        return {name: {key: x[0] for key, x in values.items()} for name, values in told.items()}

    def _energies(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Energies at some of the output times: the parts, and the total of what is stored."""
        return self._with_total(self._path, rows)

    def _with_total(self, path: Any, rows: NDArray[np.int64]) -> dict[str, Array]:
        parts = self._compiled.energies(path, rows)
        stored = [values for name, values in parts.items() if name not in ("dissipated", "work")]
        return {**parts, "total": np.sum(stored, axis=0)}

    def _warn_of_forces(self) -> None:
        """Warn if forces contain the energy that the integrator added to unresolved modes."""


class Motion(MovingResult, Saveable):
    """The robot moving in time.

    t : (T,) output times, s.  dt : time step, s; of an integrator that chooses its steps, the time
        between stored states.  steps, iterations : number of steps and of Newton iterations.
    complete : False if the simulation was interrupted or failed before its end.
    inputs : by name, the values (T, ...) of every input at the output times.
    scheme : how the steps were taken, where the integrator chose that by itself; else empty.
    rescues : by name, how often a step was halved or rejected, or a strong form needed a fallback;
        empty if none.
    integrator : as Python code.  seconds : wall time of the simulation.
    error : the estimated error, a `MotionError`; None unless you asked for it by error=True.

    Poses are in the world frame; strains, wrenches and velocities in the body frame, angular part
    first. All arrays have a leading axis T, the output times. Made by `Robot.simulate` from compiled,
    trajectory and integrator.
    """

    def __init__(self, compiled: Problem, trajectory: Trajectory, integrator: str) -> None:
        super().__init__(compiled)
        self._trajectory = self._path = trajectory
        self._configurations, self._leading = trajectory.q, (len(trajectory.t),)
        self.integrator = integrator
        self.t = trajectory.t
        self.dt = trajectory.h
        self.steps = trajectory.steps
        if trajectory.own_steps is not None:
            self.steps = len(trajectory.own_steps) - 1
        self.iterations = trajectory.iterations
        self.complete = trajectory.complete
        self.inputs = trajectory.inputs
        self.seconds = trajectory.seconds
        self.rescues: dict[str, int] = dict(trajectory.rescues)
        self.scheme = trajectory.scheme
        self.error: MotionError | None = None
        self._damped = "GeneralizedAlpha(rho=0.5)"

    @property
    def unknowns(self) -> int:
        """Size of the system solved at once; the largest where a fallback refined the grid."""
        return self._trajectory.unknowns

    @property
    def event(self) -> tuple[str, float] | None:
        """Name and time, s, of the event that ended the motion; None if none did."""
        return getattr(self._path, "event", None)

    @property
    def met(self) -> list[str]:
        """Names of all events at the time of `event`, in the order in which they were given."""
        return list(getattr(self._path, "met", ()))

    @property
    def step_times(self) -> Array:
        """(N + 1,): start and ends of the steps of the integrator, s."""
        own = self._trajectory.own_steps
        return np.asarray(np.arange(self.steps + 1) * self.dt if own is None else own)

    def _describe_steps(self) -> str:
        """Number and length of the steps."""
        lengths = np.diff(self.step_times)
        if self._trajectory.own_steps is None or not len(lengths):
            return f"{self.steps} steps of {self.dt:.4g} s"
        return f"{self.steps} steps of {lengths.min():.2g} to {lengths.max():.2g} s"

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"<Motion of {self._names}: {self._describe_steps()}{state}>"

    def _final(self) -> tuple[Any, Any]:
        return self._trajectory.final[1:]

    @cached_property
    def energy(self) -> dict[str, Array]:
        """Energies in J over time (T,) each.

        kinetic, elastic, gravity (zero at the world origin), potential (of effects of your own, if
        there are any) and their total; dissipated (viscosity, drag, mass damping) and work (of all
        loads and prescribed bases) since the start; numerical, what the integrator has taken since
        the first output (negative: added), so that total + dissipated + numerical - work is constant;
        balance = -numerical, the energy error of the integrator.
        """
        return self._balanced(self._trajectory)

    def _balanced(self, path: Any) -> dict[str, Array]:
        """The entries of `energy` at all instants of a path."""
        parts = self._with_total(path, np.arange(len(path.t)))
        sums = parts["total"] + parts["dissipated"] - parts["work"]
        balance = sums - sums[:1]
        return {**parts, "numerical": -balance, "balance": balance}

    @cached_property
    def energy_gap(self) -> EnergyGap:
        """What the integrator did to the energy at most: taken, added, and the energy in play, J.

        From states at t = 0 and after 12 to 48 evenly spaced steps (all of a shorter motion), whatever
        the output times; `energy` holds what it did at each output time.
        """
        path: Any = (
            self._trajectory if self._trajectory.watched is None else self._trajectory.watched
        )
        return energy_gap(path.t, self._balanced(path))

    def warn_of_energy(self, integrator: Integrator) -> None:
        """Tell if the integrator changed the energy by more than 1 % of what is in play."""
        self._damped = integrator.damped
        if is_told():
            warn_of_gap(self.energy_gap, integrator, self.dt, 4)

    def warn_of_resolution(self, order: int) -> None:
        """Warn if the estimated error is large or, without an estimate, if it may be.

        order : with which errors of the integrator fall that add up over time.
        """
        if not is_told():
            return
        finer, shorter = finer_than(self._compiled.formulations), f"a smaller dt than {self.dt:g} s"
        if self.error is not None:
            if self.error.relative > LARGE:
                parts = (self.error.space or 0.0, self.error.time or 0.0)
                remedy = finer if parts[0] > parts[1] else shorter
                text = f"the estimated error of the motion is {self.error}. Use {remedy}."
                warnings.warn(text, ResolutionWarning, stacklevel=4)
        elif self.complete:
            step, space = rough_errors(self._compiled, self._trajectory, order)
            if self._trajectory.own_steps is not None:  # the integrator saw to that
                step = 0.0
            if step + space > LARGE:
                remedy = shorter if step > space else finer
                text = (
                    f"the motion looks under-resolved. Try {remedy}, or simulate(..., error=True) "
                )
                warnings.warn(f"{text}for an estimate of its error.", ResolutionHint, stacklevel=4)

    def _warn_of_forces(self) -> None:
        """Warn if forces contain the energy that the integrator added to unresolved modes.

        Not in motions beside that of another robot, which keep no record of work and dissipation.
        """
        if self._trajectory.watched is None:
            return
        gap = self.energy_gap
        if gap.share_added > TOLD:
            warnings.warn(
                f"{self.integrator} added {gap.added:.3g} J to a motion of {gap.in_play:.3g} J, in "
                f"modes that dt = {self.dt:g} s does not resolve: positions are hardly affected, but "
                f"forces are off by much more. Take a smaller dt, add viscosity, or use "
                f"{self._damped}, which damps what the step cannot resolve.",
                EnergyWarning,
                stacklevel=4,
            )

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        variables = self._variables(stations, strain="strain_part", velocity="twist_part")
        for part in [name[6:] for name in list(variables) if name.startswith("joint_")]:
            dims, _, more = variables[f"joint_{part}"]
            units = ", ".join(f"{unit}/s" for unit in more["units"].split(", "))
            rates = self.joint_rate(part)
            variables[f"joint_rate_{part}"] = (dims, rates, {**more, "units": units})
        energies = np.stack(list(self.energy.values()), axis=-1)
        variables["energy"] = variable("energy", ("time", "energy_part"), energies)
        for index, (name, values) in enumerate(self.inputs.items()):
            extra = () if values.ndim == 1 else (f"input_part_{index}",)
            variables[f"input_{name}"] = variable("input", ("time", *extra), values)
        labels: dict[str, Any] = {}
        if self.error is not None:
            variables["error"] = variable("position", ("error_time",), self.error.over_time)
            labels["error_time"] = variable("time", ("error_time",), self.error.t)
        labels |= {
            "time": variable("time", ("time",), self.t),
            **self._labels(stations),
            "energy_part": list(self.energy),
        }
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {
            **super()._attributes(),
            "integrator": self.integrator,
            **({"scheme": str(self.scheme)} if self.scheme else {}),
            "dt": self.dt,
            "steps": self.steps,
            "iterations": self.iterations,
            "complete": "yes" if self.complete else "no",
            "seconds": self.seconds,
            **({} if self.error is None else self.error.numbers()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return tips, energies and inputs at the end, and how they were found, as plain data."""
        there = len(self.t) > 0
        data = {
            **super().to_dict(),
            "complete": self.complete,
            "t": float(self._trajectory.final[0]),
            "inputs": {name: values[-1] for name, values in self.inputs.items() if there},
            "places": poses_by_name({k: g[-1] for k, g in self._places().items()} if there else {}),
            "energy": {name: float(x[-1]) for name, x in self.energy.items()} if there else {},
            "rescues": dict(self.rescues),
        }
        return plain_data(data)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw tips, centres of bodies and energies over time; save the picture if a path is given."""
        return draw_motion(self.t, self._places(), self.energy, path)

    def plot_at(
        self, t: float, path: str | os.PathLike[str] | None = None, view: Any = None
    ) -> Figure:
        """Draw the robot and its effects at the output time nearest to t, s.

        path, view : as for `Equilibrium.plot`.
        """
        from pliant.results.shapes_and_arrows import effect_shapes, robot_shapes
        from pliant.view import draw_robot, saved

        k = int(np.argmin(np.abs(self.t - t)))
        q = [self._trajectory.q[k]]
        inputs = {name: [values[k]] for name, values in self.inputs.items()}
        told = [{a: {b: x[k] for b, x in values.items()} for a, values in self._shown().items()}]
        tensions = {a: values["tension"] for a, values in told[0].items() if "tension" in values}
        effects, arrows = effect_shapes(self._compiled, q, inputs, tensions, told)
        shapes = robot_shapes(self._compiled, q) + effects
        return saved(draw_robot(shapes, arrows, view=view), path)

    def animate(
        self,
        path: str | os.PathLike[str],
        fps: float = 25.0,
        speed: float = 1.0,
        view: Any = None,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Path:
        """Write an animation (.gif, or .mp4 with imageio-ffmpeg installed) and return its path.

        fps : frames per second.  speed : 0.1 plays ten times slower than real time.
        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        progress : True for a bar with the remaining time; or a function, called as progress(k, n) after
        frame k of n.
        """
        return write_animation(*self._drawn(), self.t, path, fps, speed, view, progress)

    def _drawn(self, coloured: bool = True) -> tuple[list[RodShape], list[Arrow]]:
        """Shapes and arrows over time; coloured : by tension, which is then in their names."""
        from pliant.results.shapes_and_arrows import effect_shapes, robot_shapes, tensions_of

        q = self._trajectory.q
        shown = self._shown()
        readings = [
            {name: {key: x[k] for key, x in values.items()} for name, values in shown.items()}
            for k in range(len(q))
        ]
        tensions = tensions_of(self) if coloured else None
        effects, arrows = effect_shapes(self._compiled, q, self.inputs, tensions, readings)
        return robot_shapes(self._compiled, q) + effects, arrows

    def _shown(self) -> dict[str, dict[str, Array]]:
        """What effects tell of themselves, if any does; it takes time to find out."""
        effects = self._compiled.description.of(Effect).values()
        return self._readings if any(effect.tells for effect in effects) else {}

    def _sketch(self) -> str:
        if len(self.t) < 2:
            return ""
        name, g = next(iter(self._places().items()))
        lines = {axis: np.column_stack([self.t, g[:, k, 3]]) for k, axis in enumerate("xyz")}
        moved = {axis: line for axis, line in lines.items() if np.ptp(line[:, 1]) > 0}
        labels = f"{', '.join(moved)} of the {name} over {self.t[-1]:.3g} s"
        return line_drawing(moved, equal=False, labels=labels)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write one row for each output time as .csv and return the path.

        Columns : t (s), the positions of tips (``arm.tip.x``) and bodies (``ball.x``) in the world (m),
        values and rates of joints (``crank.joint.angle``, ``crank.joint_rate.angle``), inputs by name
        (vectors as ``push[0]``) and energies (``energy.kinetic``, J). `read_measurement` reads it.
        """
        return write_columns(path, self._columns())

    def _columns(self) -> dict[str, Array]:
        """The columns of `to_csv`."""
        columns = {"t": self.t}
        for rod in self.rods:
            columns |= _components(f"{rod}.tip", self.tip(rod)[:, :3, 3])
        for body in self._compiled.description.bodies:
            columns |= _components(body, self.position(body))
        for name, (_, values, more) in self._joint_variables(("time",)).items():
            part, listed = name.removeprefix("joint_"), more["names"].split(", ")
            for kind, numbers in (("joint", values), ("joint_rate", self.joint_rate(part))):
                columns |= {f"{part}.{kind}.{x}": numbers[:, k] for k, x in enumerate(listed)}
        for name, values in self.inputs.items():
            own = f"input.{name}" if name in columns else name
            flat = {f"{own}[{k}]": x for k, x in enumerate(values.T)} if values.ndim > 1 else {}
            columns |= flat or {own: values}
        return columns | {f"energy.{name}": values for name, values in self.energy.items()}

    def summary(self) -> str:
        """Return tips, energies and steps in a few lines of text."""
        reached = self._trajectory.final[0]
        how = f" ({self.scheme})" if self.scheme else ""
        lines = [
            f"Motion: {reached:.6g} s in {self._describe_steps()} "
            f"by {self.integrator}{how}; {describe_formulation(self.formulation)}"
        ]
        if len(self.t):
            lines += describe_places({name: g[-1] for name, g in self._places().items()})
            last = {name: float(x[-1]) for name, x in self.energy.items() if name != "numerical"}
            lines.append(describe_energy(last, "  energy at the end"))
            lines.append(f"  {self.energy_gap}")
        lines.append(f"  {self.iterations} iterations, {self.seconds:.3g} s")
        if self.error is not None:
            lines.append(f"  estimated error of the shape {self.error}")
        if not self.complete:
            lines.append("  incomplete: the simulation stopped early")
        return "\n".join(lines)


def _components(name: str, positions: Array) -> dict[str, Array]:
    """The columns of positions (T, 3)."""
    return {f"{name}.{axis}": positions[:, k] for k, axis in enumerate("xyz")}


def write_columns(path: str | os.PathLike[str], columns: dict[str, Array]) -> Path:
    """Write columns (T,) by name as .csv and return the path."""
    target = check_suffix("to_csv", path, (".csv",))
    return write_rows(target, list(columns), np.column_stack([*columns.values()]).tolist())


def draw_motion(
    t: Array,
    places: Mapping[str, Array],
    energy: Mapping[str, Array],
    path: str | os.PathLike[str] | None = None,
    switches: Sequence[float] = (),
) -> Figure:
    """Draw tips and centres of bodies, poses (T, 4, 4), and energies over time t (T,), s.

    switches : times of lines across both charts.
    """
    import matplotlib.pyplot as plt

    from pliant.view import draw_curves, draw_energy, saved, style

    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
    tips = all(name.startswith("tip of ") for name in places)
    label = "tip position / m" if tips else "position / m"
    draw_curves(
        t, {k.removeprefix("tip of "): g[:, :3, 3] for k, g in places.items()}, label, ax=above
    )
    seen = 0.01 * max(float(np.abs(values).max()) for values in energy.values())
    drawn = {
        name: values
        for name, values in energy.items()
        if name != "balance" and np.abs(values).max() > (seen if name == "numerical" else 0.0)
    }
    draw_energy(t, {**drawn, "total": energy["total"]}, ax=below)
    for ax, time in product((above, below), switches):
        ax.axvline(time, color="#8a857d", linewidth=0.8, linestyle=":", zorder=0)
    return saved(figure, path)


def write_animation(
    shapes: Sequence[RodShape],
    arrows: Sequence[Arrow],
    t: Array,
    path: str | os.PathLike[str],
    fps: float,
    speed: float,
    view: Any,
    progress: bool | Callable[[int, int], object] | None,
) -> Path:
    """Write an animation of shapes and arrows over time t (T,), s, as `Motion.animate` does."""
    from pliant.view import animate

    with told(progress, "animate", lambda k, n: (k / n, f"{k} of {n} frames")) as report:
        return animate(
            shapes, t, path, fps=fps, arrows=arrows, progress=report, view=view, speed=speed
        )
