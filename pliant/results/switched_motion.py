"""A motion with switches: the result of `simulate_switched`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array
from pliant.results.export import dataset, describe_energy, describe_places, variable
from pliant.results.motion import STATIONS, Motion, draw_motion, write_animation, write_columns
from pliant.results.result import Saveable

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from pliant.view import Arrow, RodShape

T = TypeVar("T", "RodShape", "Arrow")

_LISTED = 12
"""Switches that a summary lists."""
_SUMMED = ("dissipated", "work", "numerical", "balance")
"""Energies that are counted from the start of a motion on."""


class SwitchedMotion(Saveable):
    """A motion in phases: the robot moving in time, with switches between.

    phases : the `Motion` of each; their times begin at zero.
    starts : when each of them begins, s.
    switches : name, time in s, and changes of each switch that took place.
    t : (T,) s; the time of a switch stands there twice, for the robot before and after it.
    complete : False if a phase was interrupted.  steps : number of steps in all.

    What only some phases have, such as the input of an effect that is switched off, is in these phases.
    """

    def __init__(
        self,
        phases: Sequence[Motion],
        starts: Sequence[float],
        switches: Sequence[tuple[str, float, dict[str, Any]]],
    ) -> None:
        self.phases, self.starts, self.switches = list(phases), list(starts), list(switches)
        self.t = np.concatenate([m.t + at for m, at in zip(phases, starts, strict=True)])
        self.complete = all(phase.complete for phase in phases)
        self.steps = sum(phase.steps for phase in phases)

    def __repr__(self) -> str:
        return f"<Motion of {self.t[-1]:.6g} s in {len(self.phases)} phases, {self.steps} steps>"

    # -- over time -------------------------------------------------------------------------------

    def joined(self, ask: Callable[[Motion], Array]) -> Array:
        """Return what is asked of each phase, an array (T_k, ...), as one array (T, ...)."""
        return np.concatenate([ask(phase) for phase in self.phases])

    def pose(self, part: Any = None, s: ArrayLike | None = None) -> Array:
        """Return poses (T, ..., 4, 4), as `Motion.pose`."""
        return self.joined(lambda phase: phase.pose(part, s))

    def tip(self, rod: str | None = None) -> Array:
        """Return poses (T, 4, 4) of a rod's tip, as `Motion.tip`."""
        return self.joined(lambda phase: phase.tip(rod))

    def position(self, part: Any = None, s: ArrayLike | None = None) -> Array:
        """Return positions (T, ..., 3) in the world, m, as `Motion.position`."""
        return self.joined(lambda phase: phase.position(part, s))

    def velocity(self, part: str | None = None, s: ArrayLike | None = None) -> Array:
        """Return body twists (T, ..., 6), rad/s and m/s, as `Motion.velocity`."""
        return self.joined(lambda phase: phase.velocity(part, s))

    def strain(self, rod: str | None = None, s: ArrayLike | None = None) -> Array:
        """Return strains (T, ..., 6), rad/m and 1, as `Motion.strain`."""
        return self.joined(lambda phase: phase.strain(rod, s))

    def joint(self, part: str) -> Array:
        """Return joint values (T, nq), as `Motion.joint`."""
        return self.joined(lambda phase: phase.joint(part))

    def joint_rate(self, part: str) -> Array:
        """Return joint rates (T, nv), as `Motion.joint_rate`."""
        return self.joined(lambda phase: phase.joint_rate(part))

    @property
    def inputs(self) -> dict[str, Array]:
        """Values (T, ...) by name of the inputs that all phases have."""
        return self._common(lambda phase: phase.inputs)

    @cached_property
    def energy(self) -> dict[str, Array]:
        """Energies in J over time (T,) each, as `Motion.energy`; `switched` is what switches added.

        total + dissipated + numerical - work - switched is constant. A connection that closes takes
        the energy of the impact, a spring with another stiffness brings or takes what it stores.
        """
        names = list(dict.fromkeys(name for phase in self.phases for name in phase.energy))
        columns: dict[str, list[Array]] = {name: [] for name in (*names, "switched")}
        summed, switched, last = dict.fromkeys(_SUMMED, 0.0), 0.0, None
        for phase in self.phases:
            parts, count = phase.energy, len(phase.t)
            switched += 0.0 if last is None else float(parts["total"][0]) - last
            last = float(parts["total"][-1])
            columns["switched"].append(np.full(count, switched))
            for name in names:
                values = parts.get(name, np.zeros(count)) + summed.get(name, 0.0)
                columns[name].append(values)
                if name in summed:
                    summed[name] = float(values[-1])
        return {name: np.concatenate(values) for name, values in columns.items()}

    def _common(self, ask: Callable[[Motion], dict[str, Array]]) -> dict[str, Array]:
        """What all phases have of named arrays (T_k, ...), over the time of all of them."""
        found = [ask(phase) for phase in self.phases]
        names = [name for name in found[0] if all(name in item for item in found)]
        return {name: np.concatenate([item[name] for item in found]) for name in names}

    # -- files and pictures ----------------------------------------------------------------------

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return what all phases have as labelled arrays at evenly spaced sections of each rod."""
        pieces = [phase.to_xarray(stations) for phase in self.phases]
        moving = [str(name) for name, item in pieces[0].items() if "time" in item.dims]
        names = [
            name for name in moving if all(name in piece for piece in pieces) and name != "energy"
        ]
        variables = {
            name: variable(
                name,
                tuple(str(axis) for axis in pieces[0][name].dims),
                np.concatenate([piece[name].values for piece in pieces]),
                **pieces[0][name].attrs,
            )
            for name in names
        }
        energies = np.stack(list(self.energy.values()), axis=-1)
        variables["energy"] = variable("energy", ("time", "energy_part"), energies)
        axes = {str(axis) for dims, *_ in variables.values() for axis in dims}
        kept = {str(k): x for k, x in pieces[0].coords.items() if {*map(str, x.dims)} <= axes}
        labels = {"time": variable("time", ("time",), self.t), "energy_part": list(self.energy)}
        return dataset(variables, {**kept, **labels}, {**pieces[0].attrs, **self._attributes()})

    def _attributes(self) -> dict[str, Any]:
        return {
            "kind": type(self).__name__,
            "steps": self.steps,
            "iterations": sum(phase.iterations for phase in self.phases),
            "complete": "yes" if self.complete else "no",
            "seconds": sum(phase.seconds for phase in self.phases),
            "starts": self.starts,
            "switches": [name for name, _, _ in self.switches],
            "switch_times": [time for _, time, _ in self.switches],
        }

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write one row for each output time as .csv, as `Motion.to_csv`, and return the path; at a
        switch the one after it.
        """
        columns = {**self._common(Motion._columns), "t": self.t}
        columns |= {f"energy.{name}": values for name, values in self.energy.items()}
        return write_columns(path, {name: x[self._increasing] for name, x in columns.items()})

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw tips, centres of bodies and energies over time, with a line at each switch; save the
        picture if a path is given.
        """
        return draw_motion(
            self.t,
            self._places(),
            self.energy,
            path,
            sorted({time for _, time, _ in self.switches}),
        )

    def plot_at(
        self, t: float, path: str | os.PathLike[str] | None = None, view: Any = None
    ) -> Figure:
        """Draw the robot and its effects at the output time nearest to t, s; after a switch at t.

        path, view : as for `Equilibrium.plot`.
        """
        ends = [at + float(phase.t[-1]) for at, phase in zip(self.starts, self.phases, strict=True)]
        k = next((k for k, end in enumerate(ends) if t < end), len(ends) - 1)
        return self.phases[k].plot_at(t - self.starts[k], path, view)

    def animate(
        self,
        path: str | os.PathLike[str],
        fps: float = 25.0,
        speed: float = 1.0,
        view: Any = None,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Path:
        """Write an animation and return its path; arguments as for `Motion.animate`. Effects are shown
        that all phases have.
        """
        kept = self._increasing
        drawn = [phase._drawn(coloured=False) for phase in self.phases]
        shapes = [
            replace(first, poses=self._all_times([each.frames for each in same])[kept])
            for first, same in _shared([shapes for shapes, _ in drawn])
        ]
        arrows = [
            replace(
                first,
                origin=self._all_times([np.atleast_2d(each.origin) for each in same])[kept],
                vector=self._all_times([np.atleast_2d(each.vector) for each in same])[kept],
            )
            for first, same in _shared([arrows for _, arrows in drawn])
        ]
        return write_animation(shapes, arrows, self.t[kept], path, fps, speed, view, progress)

    @property
    def _increasing(self) -> NDArray[np.bool_]:
        """Which outputs (T,) have times of their own: at switches those after them."""
        return np.append(np.diff(self.t) > 0.0, True)

    def _all_times(self, values: Sequence[Array]) -> Array:
        """Values (T, ...) from those of each phase, (T_k, ...) or (1, ...) for what does not change."""
        pairs = zip(values, self.phases, strict=True)
        return np.concatenate([np.broadcast_to(x, (len(m.t), *x.shape[1:])) for x, m in pairs])

    def _places(self) -> dict[str, Array]:
        """World poses (T, 4, 4) of tips and of bodies that move by a joint."""
        return self._common(Motion._places)

    def _sketch(self) -> str:
        return self.phases[-1]._sketch()

    def summary(self) -> str:
        """Return switches, tips, energies and steps in a few lines of text."""
        first = self.phases[0]
        lines = [
            f"SwitchedMotion: {self.t[-1]:.6g} s in {len(self.phases)} phases, {self.steps} steps "
            f"by {first.integrator}"
        ]
        lines += [f"  {time:.6g} s: {name}" for name, time, _ in self.switches[:_LISTED]]
        if len(self.switches) > _LISTED:
            lines.append(f"  and {len(self.switches) - _LISTED} more switches")
        lines += describe_places({name: g[-1] for name, g in self._places().items()})
        last = {name: float(x[-1]) for name, x in self.energy.items() if name != "numerical"}
        lines.append(describe_energy(last, "  energy at the end"))
        if not self.complete:
            lines.append("  incomplete: the simulation stopped early")
        return "\n".join(lines)


def _shared(drawn: Sequence[Sequence[T]]) -> Iterator[tuple[T, list[T]]]:
    """Yield what all phases draw: that of the first phase, and those of all of them."""
    found = [{(item.name, k): item for item, k in _numbered(items)} for items in drawn]
    for key, first in found[0].items():
        if all(key in items for items in found):
            yield first, [items[key] for items in found]


def _numbered(items: Sequence[T]) -> Iterator[tuple[T, int]]:
    """Yield each item with the number of those of its name before it."""
    seen: Counter[str] = Counter()
    for item in items:
        yield item, seen[item.name]
        seen[item.name] += 1
