"""A branch of equilibria, the result of `Robot.follow`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, ConvergenceError, DescriptionError, Rod, check_suffix
from pliant.model.checks import count
from pliant.results.equilibrium import Equilibrium
from pliant.results.export import (
    dataset,
    describe_formulation,
    plain_data,
    pose_variables,
    variable,
    write_rows,
)
from pliant.results.responses import frame_of
from pliant.results.result import STATIONS, Saveable, ShapeResult
from pliant.solve.continuation import Branch, Continuation, Special, Waypoint
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.mesh_continuation import MeshContinuation, MeshWay
from pliant.solve.moving_mesh import still_meshes
from pliant.solve.moving_steps import OnMesh
from pliant.solve.problem import Problem
from pliant.solve.stability import judge
from pliant.solve.ways import InputWay

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Turn:
    """A fold or bifurcation of a path.

    value : of the input.  index : its place among the points of the path.  equilibrium : there.
    directions : at a bifurcation, in how many directions the robot has no stiffness.
    """

    value: float
    index: int
    equilibrium: Equilibrium
    directions: int = 0

    def __str__(self) -> str:
        return f"{self.value:.6g}"


class Path(ShapeResult, Saveable):
    """Equilibria of a robot along a branch, while one input changes.

    input : its name.  values : (N,) its values along the branch, which may turn back.
    inputs : the values of all other inputs, by name.
    folds, bifurcations : where the input turns back, and where other branches cross; each with value,
        index and equilibrium.
    ended : why the path ends.  iterations : Newton corrections in all.  seconds : wall time.

    It answers the questions of an equilibrium with a leading axis N; ``path[k]`` is the equilibrium
    of point k. Made by `Robot.follow` from compiled, task, branch and seconds.
    """

    def __init__(self, compiled: Problem, task: FollowTask, branch: Branch, seconds: float) -> None:
        super().__init__(compiled)
        self._task, self._branch = task, branch
        self.input, self.seconds = task.name, seconds
        self.values = np.array([point.value for point in branch.points])
        self.inputs = {name: value for name, value in task.values.items() if name != task.name}
        self.ended = branch.ended
        self.iterations = branch.points[-1].solution.iterations
        self._leading = (len(branch.points),)
        self._configurations = [_configuration(point) for point in branch.points]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: int) -> Equilibrium:
        last = len(self) - 1
        number = count("path", "k", k, -len(self), f"count points from 0 to {last}", last)
        return self._equilibrium(self._branch.points[number])

    def __iter__(self) -> Iterator[Equilibrium]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<Path of {self._names}: {len(self)} equilibria>"

    def _equilibrium(self, point: Waypoint) -> Equilibrium:
        applied = [(1.0, {**self._task.values, self.input: point.value})]
        compiled = self._compiled if point.mesh is None else point.mesh
        return Equilibrium(compiled, point.solution, applied, self.seconds)

    @cached_property
    def folds(self) -> list[Turn]:
        """Points at which the input turns back."""
        return [self._turn(special) for special in self._branch.folds]

    @cached_property
    def bifurcations(self) -> list[Turn]:
        """Points at which other branches leave."""
        return [self._turn(special) for special in self._branch.bifurcations]

    def _turn(self, special: Special) -> Turn:
        equilibrium = self._equilibrium(special.at)
        return Turn(special.at.value, special.place, equilibrium, special.directions.shape[1])

    @cached_property
    def stable(self) -> list[bool | None]:
        """Whether each point is stable: by the pivots of its tangent, or, for loads without potential,
        by its small motions. None where that cannot be told, and at folds and bifurcations, where
        stability changes.
        """
        special = {item.place for item in (*self._branch.folds, *self._branch.bifurcations)}
        found: list[bool | None] = []
        for k, point in enumerate(self._branch.points):
            solution = point.solution
            if k in special:
                found.append(None)
            elif solution.negative is not None:
                found.append(solution.negative == 0)
            else:
                problem = self._compiled if point.mesh is None else point.mesh
                assert isinstance(problem, CoordinateProblem)
                found.append(judge(problem.effects, solution)[0])
        return found

    @cached_property
    def energy(self) -> dict[str, Array]:
        """Energies (N,) of all points by name, J."""
        rows = [one.energy for one in self]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def branch(self, k: int = 0, side: int = 1, which: int = 0) -> Path:
        """Return the branch that leaves bifurcation k.

        side : 1 or -1, to one side or the other.  which : of several directions, the one to leave in.
        """
        specials = self._branch.bifurcations
        remedy = f"this path has {len(specials)} bifurcations, see path.bifurcations"
        number = count("path", "k", k, 0, remedy, len(specials) - 1)
        directions = specials[number].directions.shape[1]
        other = count("path", "which", which, 0, "give 0", directions - 1)
        if side not in (1, -1):
            raise DescriptionError("path", "side", side, "1 or -1", "give 1")
        return self._task.leave(self._compiled, specials[number], float(side), other)

    def _wrenches(self, rod: Rod, s: Array, by: str) -> Array:
        return np.array([one._wrenches(rod, s, by) for one in self])

    @cached_property
    def _readings(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        rows = [one._readings for one in self]
        return {
            name: {key: np.array([row[name][key] for row in rows]) for key in told}
            for name, told in rows[0].items()
        }

    def _final(self) -> tuple[Any, Any]:
        return self._configurations[-1], None

    # -- pictures and files ----------------------------------------------------------------------

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        of: str | None = None,
        axis: str | None = None,
        others: Any = (),
    ) -> Figure:
        """Draw a coordinate of a place over the input, stable parts solid and unstable ones dashed.

        path : of a picture to write.  of : the place, such as "arm.tip"; the first tip or body if not
        given.  axis : "x", "y" or "z"; the one that changes most if not given.
        others : paths to draw into the same picture, such as branches.
        """
        from pliant.view import draw_branches, saved

        place = self._shown_place() if of is None else of
        frame_of(self._compiled.description, "path", place)
        every = [self, *others]
        positions = [one.position(place) for one in every]
        if axis is None:
            extent = np.ptp(np.concatenate(positions), axis=0)
            axis = _AXES[int(np.argmax(extent))]
        if axis not in _AXES:
            raise DescriptionError("path", "axis", axis, "'x', 'y' or 'z'", "give e.g. 'z'")
        column = _AXES.index(axis)
        curves = [
            (one.values, where[:, column], one.stable)
            for one, where in zip(every, positions, strict=True)
        ]
        marks = {
            name: np.array(
                [
                    (turn.value, turn.equilibrium.position(place)[column])
                    for one in every
                    for turn in getattr(one, name)
                ]
            ).reshape(-1, 2)
            for name in ("folds", "bifurcations")
        }
        label = self._compiled.description.input_label(self.input)
        figure = draw_branches(curves, marks, label, f"{axis} of {place}")
        return saved(figure, path)

    def _shown_place(self) -> str:
        rods = self.rods
        return f"{rods[-1]}.tip" if rods else next(iter(self._compiled.description.bodies))

    def to_xarray(self, stations: int = STATIONS) -> xr.Dataset:
        """Return values, stability and poses of all rods and bodies as labelled arrays."""
        poses = self._at_rods(self.pose, stations, (4, 4))
        variables = pose_variables(("point", "rod", "station"), poses)
        bodies = self._compiled.description.bodies
        if bodies:
            placed = np.stack([self.pose(name) for name in bodies], axis=-3)
            variables |= pose_variables(("point", "body"), placed, "body_")
        variables["value"] = variable("value", ("point",), self.values)
        known = {True: 1, False: 0, None: -1}
        variables["stable"] = variable("stable", ("point",), [known[one] for one in self.stable])
        for name in ("folds", "bifurcations"):
            values = [turn.value for turn in getattr(self, name)]
            variables[name] = variable("value", (name[:-1],), values)
        attributes = {**self._attributes(), "input": self.input, "seconds": self.seconds}
        return dataset(variables, self._labels(stations), attributes)

    def to_csv(self, path: str | os.PathLike[str]) -> FilePath:
        """Write value, stability (1, 0, -1 for unknown) and tip positions (m) of each point as .csv."""
        target = check_suffix("to_csv", path, (".csv",))
        known = {True: 1, False: 0, None: -1}
        places = [self._shown_place()] if not self.rods else [f"{rod}.tip" for rod in self.rods]
        header = [self.input, "stable", *(f"{one} {axis}" for one in places for axis in _AXES)]
        columns = np.column_stack(
            [self.values, [known[one] for one in self.stable], *map(self.position, places)]
        )
        return write_rows(target, header, columns.tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return values, stability, folds and bifurcations as plain data."""
        data = {
            **super().to_dict(),
            "input": self.input,
            "values": self.values.tolist(),
            "stable": list(self.stable),
            "folds": [turn.value for turn in self.folds],
            "bifurcations": [turn.value for turn in self.bifurcations],
            "ended": self.ended,
        }
        return plain_data(data)

    def summary(self) -> str:
        """Return range, folds and bifurcations in a few lines of text."""
        turns = [
            f"  {name} at {self.input} = {', '.join(map(str, found))}"
            for name, found in (("folds", self.folds), ("bifurcations", self.bifurcations))
            if found
        ]
        stable = sum(one is True for one in self.stable)
        lines = [
            f"Path: {describe_formulation(self.formulation)}",
            f"  {len(self)} equilibria, {self.input} from {self.values[0]:.6g} to "
            f"{self.values[-1]:.6g}, {stable} of them stable",
            *turns,
            f"  ended because {self.ended}; {self.iterations} corrections, {self.seconds:.3g} s",
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class FollowTask:
    """What a path follows: an input between two values; values : of all inputs, by name.

    largest : of the steps.  most : of them.
    """

    name: str
    ends: tuple[float, float]
    values: Mapping[str, Any]
    largest: float
    most: int
    tolerance: float

    def run(self, compiled: CoordinateProblem, start: Equilibrium) -> Path:
        """Follow the branch from an equilibrium at the first end."""
        began = time.perf_counter()
        with self._continuation(compiled) as continuation:
            towards = 1.0 if self.ends[1] > self.ends[0] else -1.0
            first = continuation.at(start._solution, self.ends[0], towards)
            if first is None:
                raise ConvergenceError(
                    f"follow: the branch cannot be followed from {self.name} = {self.ends[0]:g}: the "
                    "equilibrium there is singular; start from another value"
                )
            branch = continuation.follow(first, self.largest, self.most)
        problem = compiled if first.mesh is None else still_meshes(compiled)
        return Path(problem, self, branch, time.perf_counter() - began)

    def leave(self, compiled: Problem, special: Special, side: float, which: int) -> Path:
        """Follow the branch that leaves a bifurcation."""
        began = time.perf_counter()
        problem = compiled if special.at.mesh is None else special.at.mesh
        assert isinstance(problem, CoordinateProblem)
        with self._continuation(problem) as continuation:
            first = continuation.switch(special, side, which)
            if first is None:
                raise ConvergenceError(
                    f"no branch was found that leaves the bifurcation at {self.name} = "
                    f"{special.at.value:.6g} to this side; try side={-int(side)}"
                )
            branch = continuation.follow(first, self.largest, self.most)
        branch.points.insert(0, special.at)
        branch.bifurcations.insert(0, Special(special.at, 0, special.directions))
        for item in (*branch.folds, *branch.bifurcations[1:]):
            item.place += 1
        return Path(compiled, self, branch, time.perf_counter() - began)

    @contextmanager
    def _continuation(self, compiled: CoordinateProblem) -> Iterator[Continuation]:
        """What follows the input: on one mesh, or from mesh to mesh where that moves with it."""
        given = (self.values, self.name, self.ends)
        if self.name in compiled.description.settled_inputs():
            yield MeshContinuation(MeshWay(compiled, *given), self.ends, self.tolerance)
            return
        with compiled.solver(self.tolerance) as solver:
            yield Continuation(solver, InputWay(compiled.effects, *given), self.ends)


def _configuration(point: Waypoint) -> Any:
    """The coordinates of a point, with their mesh where that moves."""
    return point.solution.q if point.mesh is None else OnMesh(point.mesh, point.solution.q)
