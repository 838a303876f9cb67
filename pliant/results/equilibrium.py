"""An equilibrium: the answer of `Robot.statics`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array
from pliant.model.checks import choice
from pliant.results.answers import STATIONS, Answers
from pliant.results.text import describe_energy, describe_formulation, describe_tips
from pliant.solve.problem import Applied, Problem, Solution, Still

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Equilibrium(Answers):
    """The robot at rest under its loads.

    iterations : Newton iterations in all.  residual : what is left of the loads, relative.
    history : relative residual after each iteration of the last attempt.
    level : part of the load that is carried; 1.0 unless this is the last good state of a solve that
        failed.
    inputs : the value of every input, by name.
    rescues : what a strong form called for help, with how often ("load steps", ...); empty if
        nothing was needed.
    seconds : time the solve took.

    Poses are in the world frame; strains and wrenches in the body frame, angular part first.
    Made by `Robot.statics` from compiled, solution, applied and seconds.
    """

    def __init__(
        self, compiled: Problem, solution: Solution, applied: Applied, seconds: float
    ) -> None:
        super().__init__(compiled)
        self._solution = solution
        self._still = Still(solution, applied)
        self.inputs: Mapping[str, Any] = dict(applied[-1][1])
        self.level = float(applied[-1][0])
        self.iterations = solution.iterations
        self.residual = solution.residual
        self.history = tuple(solution.history)
        self.seconds = seconds
        self.rescues: dict[str, int] = dict(getattr(solution, "rescues", {}))

    def __repr__(self) -> str:
        return f"<Equilibrium of {', '.join(self.rods)}: {self.iterations} iterations>"

    def pose(self, rod: str, s: ArrayLike) -> Array:
        """Return world poses (..., 4, 4) of a rod's sections at arclengths s (...), metres."""
        found, where, shape = self._places(rod, s)
        poses = self._compiled.sampler.poses(self._solution.q, found.name, where)
        return poses.reshape(*shape, 4, 4)

    def tip(self, rod: str) -> Array:
        """Return the world pose (4, 4) of a rod's tip."""
        return self.pose(rod, self._rod(rod).length)

    def position(self, rod: str, s: ArrayLike) -> Array:
        """Return world positions (..., 3) of a rod's sections at arclengths s (...), metres."""
        return self.pose(rod, s)[..., :3, 3]

    def strain(self, rod: str, s: ArrayLike) -> Array:
        """Return strains (..., 6) = (u, v) at s, body frame: rad/m, and 1 for no stretch."""
        found, where, shape = self._places(rod, s)
        strains = self._compiled.sampler.strains(self._solution.q, found.name, where)
        return strains.reshape(*shape, 6)

    def wrench(self, rod: str, s: ArrayLike, by: str = "balance") -> Array:
        """Return internal wrenches (..., 6) = (m, n) at s, body frame, N m and N.

        The wrench is what the part beyond s exerts on the section at s; where a load sits exactly
        at s, it is counted as beyond.
        by : "balance" sums what acts on the part beyond s, which holds for every formulation and
            theory; "law" is stiffness times strain, C(s) (e - e0), whose force part is zero in a
            Kirchhoff rod and rough in very slender ones.
        """
        found, where, shape = self._places(rod, s)
        choice("wrench", "by", by, ("balance", "law"))
        return self._compiled.wrenches(self._still, found, where, by).reshape(*shape, 6)

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energies in J: elastic, gravity (zero at the world origin), loads, and their total.

        loads is the potential of dead forces; dead moments, follower loads and simplified
        chamber moments have none.
        """
        found = self._compiled.potential(self._still)
        return {**found, "total": sum(found.values())}

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrenches (6,) = (moment, force) that hold the robot, by name, N m and N.

        For a constraint what it exerts on the frame it holds, in the frame it is held to; for a rod
        clamped to the world what the clamp exerts on it, in the frame of its base.
        """
        return self._compiled.reactions(self._still)

    @cached_property
    def stable(self) -> bool | None:
        """Whether small disturbances stay small; None if it cannot be told (see stability_note)."""
        return self._stability[0]

    @cached_property
    def stability_note(self) -> str:
        """A sentence that says how `stable` was found."""
        return self._stability[1]

    @cached_property
    def _stability(self) -> tuple[bool | None, str]:
        return self._compiled.judge(self._still)

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return the result as labelled arrays at evenly spaced sections of each rod."""
        from pliant.results.saving import COMPONENTS, dataset, pose_variables, variable

        rods = [self._rod(name) for name in self.rods]
        places = [self._stations(rod, stations) for rod in rods]
        pairs = list(zip(self.rods, places, strict=True))
        dims = ("rod", "station")
        variables = pose_variables(dims, np.array([self.pose(rod, s) for rod, s in pairs]))
        strain = np.array([self.strain(rod, s) for rod, s in pairs])
        wrench = np.array([self.wrench(rod, s) for rod, s in pairs])
        variables["strain"] = variable("strain", (*dims, "strain_part"), strain, frame="body")
        variables["wrench"] = variable("wrench", (*dims, "wrench_part"), wrench, frame="body")
        parts = self.energy
        variables["energy"] = variable("energy", ("energy_part",), list(parts.values()))
        held = self.reactions
        variables["reaction"] = variable(
            "reaction", ("support", "wrench_part"), np.array(list(held.values())).reshape(-1, 6)
        )
        numbers = self._compiled.as_numbers(self._solution.q)
        variables["coordinates"] = variable("coordinates", ("coordinate",), numbers)
        variables["residuals"] = variable("residuals", ("iteration",), list(self.history))
        labels = {
            "rod": list(self.rods),
            "s": variable("s", dims, places),
            "strain_part": COMPONENTS["strain"],
            "wrench_part": COMPONENTS["wrench"],
            "energy_part": list(parts),
            "support": np.array(list(held), dtype=object if held else "U1"),
        }
        return dataset(variables, labels, self._attributes())

    def _attributes(self) -> dict[str, Any]:
        stable = {True: "yes", False: "no", None: "unknown"}[self.stable]
        return {
            **super()._attributes(),
            "kind": "Equilibrium",
            "iterations": self.iterations,
            "residual": self.residual,
            "level": self.level,
            "stable": stable,
            "seconds": self.seconds,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as NetCDF (.nc) and return the path; read it with `pliant.load`."""
        from pliant.results.saving import write

        return write(self.to_xarray(), path)

    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw the robot with its loads over the undeformed robot; save it if a path is given.

        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.drawing import arrows_at, body_shapes, shapes_at
        from pliant.view import draw_robot, save_figure

        q = self._solution.q
        figure = draw_robot(
            shapes_at(self._compiled, q) + body_shapes(self._compiled, [q]),
            arrows_at(self._compiled, q, self.inputs),
            shapes_at(self._compiled, self._compiled.rest),
            view=view,
        )
        if path is not None:
            save_figure(figure, path)
        return figure

    def show(self) -> None:
        """Draw the robot in a window and wait until it is closed."""
        from pliant.view import show

        self.plot()
        show()

    def summary(self) -> str:
        """Return what was found, in a few lines of text."""
        stable = {True: "stable", False: "unstable", None: "stability unknown"}[self.stable]
        lines = [
            f"Equilibrium: {describe_formulation(self.formulation)}",
            *describe_tips({name: self.tip(name) for name in self.rods}),
            describe_energy(self.energy),
            f"  {self.iterations} iterations, residual {self.residual:.1e}, {stable}, "
            f"{self.seconds:.3g} s",
        ]
        if self.level < 1.0:
            lines.append(f"  only {100 * self.level:.3g} % of the load are carried")
        return "\n".join(lines)
