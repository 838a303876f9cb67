"""Motions in which inputs change what is compiled, such as tubes that are pushed: a mesh that moves.

`MovingSteps` carries the state over from mesh to mesh. A configuration, and rates, come with the
problem of their mesh, `OnMesh`. Questions go to that problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, Description, DescriptionError, Frame, Rod
from pliant.rods.contract import RodModel
from pliant.solve.checkpoint import Checkpoints
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.dynamics import Trajectory, simulate
from pliant.solve.events import Watch
from pliant.solve.integrators.contract import Integrator
from pliant.solve.moving_steps import MovingSteps, OnMesh
from pliant.solve.problem import Problem, Start, Still
from pliant.solve.schedule import Inputs, Schedule
from pliant.solve.streaming import Held, Stream

Compile = Callable[[Mapping[str, float]], CoordinateProblem]
"""Makes the robot with values of the inputs that are compiled, by name."""


class _Sampler:
    """Answers about sections, each configuration by its own mesh."""

    def poses(self, q: OnMesh, rod: str, s: Array) -> Array:
        return q.problem.sampler.poses(q.values, rod, s)

    def strains(self, q: OnMesh, rod: str, s: Array) -> Array:
        return q.problem.sampler.strains(q.values, rod, s)

    def velocities(self, q: OnMesh, v: OnMesh, rod: str, s: Array) -> Array:
        return q.problem.sampler.velocities(q.values, v.values, rod, s)


class MovingMesh(Problem):
    """A robot whose mesh moves with its inputs; `first` is its problem where a motion begins.

    description : as the user gave it.  compile : makes the problem of other inputs.
    """

    def __init__(
        self, description: Description, first: CoordinateProblem, compile: Compile
    ) -> None:
        self.description, self.first, self.compile = description, first, compile
        self.formulations: Mapping[str, RodModel] = first.formulations
        self.sampler: _Sampler = _Sampler()
        self.names = tuple(first.description.settled_inputs())

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles answer questions; they do not move."""
        return MovingMesh, (self.description, self.first, _not_again)

    @property
    def unknowns(self) -> int:
        """How many numbers are solved for at once, at the start."""
        return self.first.unknowns

    @property
    def rest(self) -> OnMesh:
        """The unloaded robot at the start."""
        return OnMesh(self.first, self.first.rest)

    @property
    def length(self) -> float:
        """Of the longest part at the start, m."""
        return self.first.length

    def settle(self, q: OnMesh, v: OnMesh | None) -> tuple[Problem, Array, Array | None]:
        """The problem of its mesh, and both there."""
        return q.problem, q.values, None if v is None else v.values

    def same_rods(self, other: Problem) -> bool:
        """Whether configurations of both mean the same: never, for their meshes move."""
        return self is other

    def integrator(self, wanted: object) -> Integrator:
        """Return the integrator that was asked for, or the default: one that damps what a step cannot
        resolve, for the spans of the mesh become as short as they like where tubes pass each other.
        """
        from pliant.solve.integrators.newmark import GeneralizedAlpha

        return GeneralizedAlpha(0.8) if wanted is None else self.first.integrator(wanted)

    def statics(self, *args: Any) -> Still:
        """Equilibria are of one mesh."""
        raise TypeError("equilibria are solved for by the problem of one mesh")

    def adopt(self, other: Problem, q: Any) -> Any:
        """Refuse: other discretisations have meshes that move too."""
        raise TypeError("a mesh that moves has no other discretisation")

    # -- motions -----------------------------------------------------------------------------

    def simulate(
        self,
        integrator: Integrator,
        inputs: Mapping[str, Any],
        clock: Clock,
        start: Start,
        progress: Callable[[float, float], object] | None,
        checkpoints: Checkpoints | None = None,
        control: Control | None = None,
        watch: Watch | None = None,
    ) -> Trajectory:
        """Move in time, from mesh to mesh."""
        if checkpoints is not None:
            raise DescriptionError(
                "simulate",
                "save, resume",
                list(self.names),
                "left out where these inputs change in a motion, for its mesh moves with them",
                "leave them out, and save the motion at its end by motion.save(path)",
            )
        return simulate(
            self._steps(integrator, inputs, clock.h, start), clock, progress, None, control, watch
        )

    def stream(
        self, integrator: Integrator, values: Mapping[str, Any], h: float, start: Start
    ) -> Stream:
        """Move in time one step after the other."""
        held = {name: Held(value) for name, value in values.items()}
        return Stream(self._steps(integrator, held, h, start), held)

    def _steps(
        self, integrator: Integrator, inputs: Mapping[str, Any], h: float, start: Start
    ) -> MovingSteps:
        schedule = Schedule(self.first.effects, self.fixed(self.first, inputs))
        _, q, v = self.first.begin(schedule, start)
        everything = Inputs(self.description, inputs, schedule.driven, schedule.places)
        return MovingSteps(self, integrator, everything, h, q, v)

    def fixed(self, problem: CoordinateProblem, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs by name, those that are compiled as they are in a problem."""
        own = problem.description.settled_inputs()
        return {**inputs, **{name: own[name] for name in self.names}}

    # -- answers -----------------------------------------------------------------------------

    def frame(self, q: OnMesh, frame: Frame) -> Array:
        """World pose (4, 4) of a frame of a rod or of a body."""
        return q.problem.frame(q.values, frame)

    def body_twist(self, q: OnMesh, v: OnMesh, body: str) -> Array:
        """Body twist (6,) of a body."""
        return q.problem.body_twist(q.values, v.values, body)

    def centres(self, q: OnMesh, v: OnMesh) -> tuple[Array, Array]:
        """Positions and velocities (B, 3) in the world of the centres of all bodies with a joint."""
        return q.problem.centres(q.values, v.values)

    def joint(self, q: OnMesh, part: str) -> Array:
        """Coordinates (nq,) of the joint by which a part hangs."""
        return q.problem.joint(q.values, part)

    def joint_values(self, q: OnMesh, part: str) -> Array:
        """Values (nv,) of the joint by which a part hangs."""
        return q.problem.joint_values(q.values, part)

    def joint_rate(self, v: OnMesh, part: str) -> Array:
        """Velocities (nv,) of the joint by which a part hangs."""
        return v.problem.joint_rate(v.values, part)

    def with_joints(self, q: OnMesh, values: Mapping[str, Any]) -> Any:
        """A configuration of the first mesh with joints at given coordinates."""
        return self.first.with_joints(q.values if isinstance(q, OnMesh) else q, values)

    def stretches(self, q: OnMesh) -> dict[str, Array]:
        """By rod, its shortest and longest pieces."""
        return q.problem.stretches(q.values)

    def trouble(self, q: OnMesh) -> str:
        """What the maps of the rods say of it."""
        return q.problem.trouble(q.values)

    def as_numbers(self, q: OnMesh) -> Array:
        """The coordinates in its mesh."""
        return q.values

    def twists(self, q: OnMesh, v: OnMesh) -> dict[str, Array]:
        """Body twists by part name."""
        return q.problem.twists(q.values, v.values)

    def _rows(self, path: Any, rows: NDArray[np.int64], ask: Callable[..., Any]) -> list[Any]:
        """What problems answer for some outputs of a path, one after the other."""
        answers = []
        for k in rows:
            problem = path.q[k].problem
            values = {name: x[[k]] for name, x in _inputs_of(path).items()}
            own = {name: np.array([x]) for name, x in problem.description.settled_inputs().items()}
            one = _Row(path, int(k), {**values, **own})
            answers.append(ask(problem, one))
        return answers

    def energies(self, path: Trajectory, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Energies of a motion at some output times, J."""
        first = np.zeros(1, dtype=np.int64)
        return _joined(self._rows(path, rows, lambda problem, one: problem.energies(one, first)))

    def moving_wrenches(self, path: Trajectory, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (T, S, 6) of a motion."""
        found = self._rows(
            path,
            np.arange(len(path.t)),
            lambda problem, one: problem.moving_wrenches(one, rod, s, by),
        )
        return np.array(found).reshape(len(path.t), len(s), 6)

    def moving_reactions(self, path: Trajectory) -> dict[str, Array]:
        """Wrenches (T, 6) that hold the robot."""
        every = np.arange(len(path.t))
        return _joined(self._rows(path, every, lambda p, one: p.moving_reactions(one)))

    def moving_drive_forces(self, path: Trajectory) -> dict[str, Any]:
        """Torques and forces of prescribed joints and bases of tubes, (T,) each."""
        every = np.arange(len(path.t))
        return _joined(self._rows(path, every, lambda p, one: p.moving_drive_forces(one)))

    def moving_readings(self, path: Trajectory) -> dict[str, dict[str, Array]]:
        """What effects tell of themselves."""
        every = np.arange(len(path.t))
        rows = self._rows(path, every, lambda p, one: p.moving_readings(one))
        return {name: _joined([row[name] for row in rows]) for name in (rows[0] if rows else {})}

    def wrenches(self, still: Still, rod: Rod, s: Array, by: str) -> Array:
        """Equilibria are of one mesh."""
        raise TypeError("equilibria are answered for by the problem of one mesh")

    potential = reactions = judge = wrenches  # type: ignore[assignment]


class _Row:
    """One output of a path as a path of one instant on its mesh."""

    def __init__(self, path: Any, k: int, inputs: Mapping[str, Array]) -> None:
        self.t, self.h, self.inputs = path.t[[k]], getattr(path, "h", 0.0), inputs
        self.q, self.v = path.q[k].values[None], path.v[k].values[None]
        self.work, self.dissipated = path.work[[k]], path.dissipated[[k]]
        rates, recorded = (getattr(path, name, None) for name in ("drive_rates", "recorded"))
        self.drive_rates = None if rates is None else rates[[k]]
        self.recorded = None if recorded is None else recorded[[k]]


def _inputs_of(path: Any) -> Mapping[str, Array]:
    """The inputs of a path over time; of states kept to judge it, names alone."""
    if isinstance(path.inputs, Mapping):
        return path.inputs
    return {name: np.zeros(len(path.t)) for name in path.inputs}


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of dicts of arrays (1, ...), one of arrays (T, ...)."""
    return {name: np.concatenate([row[name] for row in rows]) for name in (rows[0] if rows else {})}


def _not_again(values: Mapping[str, float]) -> CoordinateProblem:
    raise TypeError("a copy of a motion cannot go on; take the robot's own")


def still_meshes(first: CoordinateProblem) -> MovingMesh:
    """What answers about configurations on meshes of one robot; it does not move."""
    return MovingMesh(first.description, first, _not_again)
