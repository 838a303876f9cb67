"""An equilibrium: the result of `Robot.statics`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, Rod
from pliant.results.export import (
    dataset,
    describe_energy,
    describe_formulation,
    describe_places,
    names,
    variable,
)
from pliant.results.result import STATIONS, Saveable, ShapeResult
from pliant.solve.problem import Applied, Problem, Solution, Still

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class Equilibrium(ShapeResult, Saveable):
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

    def _wrenches(self, rod: Rod, s: Array, by: str) -> Array:
        return self._compiled.wrenches(self._still, rod, s, by)

    def _final(self) -> tuple[Any, Any]:
        return self._solution.q, None

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
        A rod clamped to the world: what the clamp exerts on it, in the frame of its base.
        """
        return self._compiled.reactions(self._still)

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
        stable = {True: "yes", False: "no", None: "unknown"}[self.stable]
        return {
            **super()._attributes(),
            "iterations": self.iterations,
            "residual": self.residual,
            "level": self.level,
            "stable": stable,
            "seconds": self.seconds,
        }

    def plot(self, path: str | os.PathLike[str] | None = None, view: Any = None) -> Figure:
        """Draw the robot and its effects over the undeformed one; save the picture if a path is given.

        view : (elevation, azimuth) in degrees, "iso", "front", "side", "top", or None to choose.
        """
        from pliant.results.shapes_and_arrows import effect_shapes, robot_shapes, rod_shapes
        from pliant.view import draw_robot, saved

        q = self._configurations
        inputs = {name: [value] for name, value in self.inputs.items()}
        effects, arrows = effect_shapes(self._compiled, q, inputs)
        figure = draw_robot(
            robot_shapes(self._compiled, q) + effects,
            arrows,
            rod_shapes(self._compiled, [self._compiled.rest]),
            view=view,
        )
        return saved(figure, path)

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
        if self.level < 1.0:
            lines.append(f"  only {100 * self.level:.3g} % of the load is applied")
        return "\n".join(lines)
