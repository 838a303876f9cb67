"""A motion: the answer of `Robot.simulate`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array
from pliant.model.checks import choice
from pliant.results.answers import Answers
from pliant.results.text import describe_energy, describe_formulation, describe_tips
from pliant.solve.problem import Path as MotionPath
from pliant.solve.problem import Problem

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

STATIONS = 21
"""Sections of each rod in files."""

_ENERGY_GAIN = 0.05
"""Part of the energy in play that an integrator may gain before it is told."""

_FORCE_GAIN = 0.01
"""The same where forces are asked for: what makes 1 % of the energy makes about 3 % of a reaction."""


class EnergyWarning(UserWarning):
    """A motion gained energy that nothing put in."""


class Motion(Answers):
    """The robot moving in time.

    t : (T,) output times, s.  dt : length of a step, s.  steps, iterations : steps taken, and
        Newton iterations in all of them.
    complete : False if the simulation was interrupted or failed before its end.
    inputs : by name, the values (T, ...) of every input at the output times.
    rescues : what a strong form called for help, with how often; empty if nothing was needed.
    integrator : how it was solved.  seconds : time the simulation took.

    Poses are in the world frame; strains, wrenches and velocities in the body frame, angular part
    first. Made by `Robot.simulate` from compiled, trajectory and integrator.
    """

    def __init__(self, compiled: Problem, trajectory: MotionPath, integrator: str) -> None:
        super().__init__(compiled)
        self._trajectory = trajectory
        self.integrator = integrator
        self.t = trajectory.t
        self.dt = trajectory.h
        self.steps = trajectory.steps
        self.iterations = trajectory.iterations
        self.complete = trajectory.complete
        self.inputs = trajectory.inputs
        self.seconds = trajectory.seconds
        self.rescues: dict[str, int] = dict(getattr(trajectory, "rescues", {}))
        self._damped = "GeneralizedAlpha(rho=0.5)"

    @property
    def unknowns(self) -> int:
        """How many numbers were solved for at once, where rescues made it more the most of them."""
        return int(getattr(self._trajectory, "unknowns", super().unknowns))

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"<Motion of {', '.join(self.rods)}: {self.steps} steps of {self.dt:g} s{state}>"

    def pose(self, rod: str, s: ArrayLike) -> Array:
        """Return world poses (T, ..., 4, 4) of a rod's sections at arclengths s (...), metres."""
        found, where, shape = self._places(rod, s)
        sampler = self._compiled.sampler
        poses = [sampler.poses(q, found.name, where) for q in self._trajectory.q]
        return np.array(poses).reshape(len(self.t), *shape, 4, 4)

    def tip(self, rod: str) -> Array:
        """Return the world poses (T, 4, 4) of a rod's tip."""
        return self.pose(rod, self._rod(rod).length)

    def position(self, rod: str, s: ArrayLike) -> Array:
        """Return world positions (T, ..., 3) of a rod's sections at arclengths s (...), metres."""
        return self.pose(rod, s)[..., :3, 3]

    def velocity(self, rod: str, s: ArrayLike) -> Array:
        """Return body twists (T, ..., 6) = (w, v) of a rod's sections at s: rad/s and m/s."""
        found, where, shape = self._places(rod, s)
        sampler, data = self._compiled.sampler, self._trajectory
        pairs = zip(data.q, data.v, strict=True)
        twists = [sampler.velocities(q, v, found.name, where) for q, v in pairs]
        return np.array(twists).reshape(len(self.t), *shape, 6)

    def strain(self, rod: str, s: ArrayLike) -> Array:
        """Return strains (T, ..., 6) = (u, v) at s, body frame: rad/m, and 1 for no stretch."""
        found, where, shape = self._places(rod, s)
        sampler = self._compiled.sampler
        strains = [sampler.strains(q, found.name, where) for q in self._trajectory.q]
        return np.array(strains).reshape(len(self.t), *shape, 6)

    def wrench(self, rod: str, s: ArrayLike, by: str = "balance") -> Array:
        """Return internal wrenches (T, ..., 6) = (m, n) at s, body frame, N m and N.

        The wrench is what the part beyond s exerts on the section at s, as of an `Equilibrium`.
        by : "balance" sums what acts on the part beyond s less what accelerates it, which holds for
            every formulation and theory; "law" is stiffness times strain plus damping times strain
            rate, whose force part is zero in a Kirchhoff rod. A strong form solves for the wrench:
            there it is the same.

        An EnergyWarning tells where the integrator made energy of its own, see `reactions`.
        """
        found, where, shape = self._places(rod, s)
        choice("wrench", "by", by, ("balance", "law"))
        self._warn_of_forces()
        rows = self._compiled.moving_wrenches(self._trajectory, found, where, by)
        return rows.reshape(len(self.t), *shape, 6)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrenches (T, 6) = (moment, force) that hold the robot, by name, N m and N.

        For a constraint what it exerts on the frame it holds, in the frame it is held to; for a rod
        clamped to the world, its base still or moving, what the clamp exerts on it, in the frame of
        its base. They follow from balance at each output time; accelerations that the step does not
        resolve are left out. Where such modes grow, for nothing damps them, forces show it long before
        positions do: an EnergyWarning tells if the integrator gained more than 1 % of the energy.
        """
        self._warn_of_forces()
        return self._compiled.moving_reactions(self._trajectory)

    @cached_property
    def energy(self) -> dict[str, Array]:
        """Energies in J over time (T,) each.

        kinetic, elastic, gravity (zero at the world origin) and their total; dissipated (viscosity,
        drag, mass damping) and work (of all loads and moving bases) since the start; balance =
        total + dissipated - work less its first value, what the integrator gained or lost.
        """
        return self._energy_at(np.arange(len(self.t)))

    def _energy_at(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """The entries of `energy` at some of the output times."""
        found = self._compiled.energies(self._trajectory, rows)
        total = found["kinetic"] + found["elastic"] + found["gravity"]
        balance = total + found["dissipated"] - found["work"]
        return {**found, "total": total, "balance": balance - balance[:1]}

    def warn_of_energy(self, damped: str) -> None:
        """Warn if the integrator made energy of its own: the step is too long for the motion.

        damped : an integrator that damps what the step cannot resolve.
        """
        self._damped = damped
        gained, moved = self._gain
        if gained > _ENERGY_GAIN * moved:
            warnings.warn(
                f"{self.integrator} gained {gained:.3g} J in a motion of {moved:.3g} J: dt = "
                f"{self.dt:g} s is too long for it. Take a smaller dt, add viscosity, or use "
                f"{damped}, which damps what the step cannot resolve.",
                EnergyWarning,
                stacklevel=4,
            )

    def _warn_of_forces(self) -> None:
        """Warn if forces hold what the integrator made of modes that the step does not resolve."""
        gained, moved = self._gain
        if gained > _FORCE_GAIN * moved:
            warnings.warn(
                f"{self.integrator} gained {gained:.3g} J in a motion of {moved:.3g} J, in modes that "
                f"dt = {self.dt:g} s does not resolve: positions hardly show it, but forces are off by "
                f"several times {100 * gained / moved:.2g} %. Take a smaller dt, add viscosity, or use "
                f"{self._damped}, which damps what the step cannot resolve.",
                EnergyWarning,
                stacklevel=3,
            )

    @cached_property
    def _gain(self) -> tuple[float, float]:
        """Energy that the integrator made up to the end, and the energy in play, J."""
        if len(self.t) < 2:
            return 0.0, 0.0
        ends = self._energy_at(np.array([0, len(self.t) - 1]))
        moved = max(float(np.max(ends["kinetic"] + ends["elastic"])), abs(float(ends["work"][-1])))
        return float(ends["balance"][-1]), moved

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        from pliant.results.saving import COMPONENTS, dataset, pose_variables, variable

        rods = [self._rod(name) for name in self.rods]
        places = [self._stations(rod, stations) for rod in rods]
        pairs = list(zip(self.rods, places, strict=True))
        dims = ("time", "rod", "station")

        def over(ask: Callable[[str, Array], Array]) -> Array:
            return np.stack([ask(rod, s) for rod, s in pairs], axis=1)

        variables = pose_variables(dims, over(self.pose))
        strain, velocity = over(self.strain), over(self.velocity)
        variables["strain"] = variable("strain", (*dims, "strain_part"), strain, frame="body")
        variables["velocity"] = variable("velocity", (*dims, "twist_part"), velocity, frame="body")
        energies = np.stack(list(self.energy.values()), axis=-1)
        variables["energy"] = variable("energy", ("time", "energy_part"), energies)
        for index, (name, values) in enumerate(self.inputs.items()):
            extra = () if values.ndim == 1 else (f"input_part_{index}",)
            variables[f"input_{name}"] = variable("input", ("time", *extra), values)
        labels = {
            "time": variable("time", ("time",), self.t),
            "rod": list(self.rods),
            "s": variable("s", dims[1:], places),
            "strain_part": COMPONENTS["strain"],
            "twist_part": COMPONENTS["twist"],
            "energy_part": list(self.energy),
        }
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        return {
            **super()._attributes(),
            "kind": "Motion",
            "integrator": self.integrator,
            "dt": self.dt,
            "steps": self.steps,
            "iterations": self.iterations,
            "complete": "yes" if self.complete else "no",
            "seconds": self.seconds,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as NetCDF (.nc) and return the path; read it with `pliant.load`."""
        from pliant.results.saving import write

        return write(self.to_xarray(), path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw where the tips go and the energies over time; save it if a path is given."""
        import matplotlib.pyplot as plt

        from pliant.view import draw_curves, draw_energy, save_figure, style

        with style():
            figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
        tips = {rod: self.tip(rod)[:, :3, 3] for rod in self.rods}
        draw_curves(self.t, tips, "tip position / m", ax=above)
        drawn = {k: v for k, v in self.energy.items() if k != "balance" and np.any(v)}
        draw_energy(self.t, {**drawn, "total": self.energy["total"]}, ax=below)
        if path is not None:
            save_figure(figure, path)
        return figure

    def animate(
        self,
        path: str | os.PathLike[str],
        fps: float = 25.0,
        speed: float = 1.0,
        view: Any = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Path:
        """Write the motion as a moving picture (.gif, or .mp4 with imageio-ffmpeg installed).

        fps : pictures per second.  speed : 0.1 plays ten times slower than the motion was.
        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        progress : called as progress(k, n) after picture k of n.
        """
        from pliant.results.drawing import arrows_over, body_shapes, shapes_over
        from pliant.view import animate

        q = self._trajectory.q
        shapes = shapes_over(self._compiled, q) + body_shapes(self._compiled, q)
        arrows = arrows_over(self._compiled, q, self.inputs)
        return animate(
            shapes, self.t, path, fps=fps, arrows=arrows, progress=progress, view=view, speed=speed
        )

    def show(self) -> None:
        """Draw tips and energies in a window and wait until it is closed."""
        from pliant.view import show

        self.plot()
        show()

    def summary(self) -> str:
        """Return what was found, in a few lines of text."""
        reached = self._trajectory.final[0]
        lines = [
            f"Motion: {reached:.6g} s in {self.steps} steps of {self.dt:.4g} s "
            f"by {self.integrator}; {describe_formulation(self.formulation)}"
        ]
        if len(self.t):
            lines += describe_tips({name: self.tip(name)[-1] for name in self.rods})
            last = {part: float(values[-1]) for part, values in self.energy.items()}
            lines.append(describe_energy(last, "  energy at the end"))
        lines.append(f"  {self.iterations} iterations, {self.seconds:.3g} s")
        if not self.complete:
            lines.append("  incomplete: the simulation ended before its time")
        return "\n".join(lines)
