"""What a compiled robot can be asked and told, whatever way it is solved.

Formulations with coordinates and strong forms both give such a problem; robots and results know
nothing else. A configuration q and its rates v are whatever the problem makes of them.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.lie import se3
from pliant.model import (
    Array,
    Body,
    Description,
    DescriptionError,
    Frame,
    ResolutionWarning,
    Rod,
)
from pliant.rods.contract import RodModel
from pliant.solve.checkpoint import Checkpoints
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.dynamics import Trajectory
from pliant.solve.events import Watch
from pliant.solve.integrators.contract import Integrator
from pliant.solve.shape_error import ShapeError
from pliant.solve.streaming import Stream

Applied = Sequence[tuple[float, Mapping[str, Any]]]
"""Shares of the load and the input values they go with: ((1.0, inputs),) for one full loading."""


class Solution(Protocol):
    """An equilibrium: its configuration and the record of how it was found."""

    q: Any
    iterations: int
    residual: float
    history: list[float]
    error: ShapeError | None


@dataclass
class Still:
    """An equilibrium with the loads it carries."""

    solution: Any
    applied: Applied


@dataclass
class Start:
    """Where a motion begins: configuration and rates, None for rest; wished velocities by rod.

    still : the equilibrium that q is of, if it is of one.
    """

    q: Any = None
    v: Any = None
    velocity: Mapping[str, Any] | None = None
    still: Still | None = None


class Sections(Protocol):
    """Answers questions about the sections of rods at configuration q, body frame."""

    def poses(self, q: Any, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4)."""

    def strains(self, q: Any, rod: str, s: Array) -> Array:
        """Strains (S, 6)."""

    def velocities(self, q: Any, v: Any, rod: str, s: Array) -> Array:
        """Body twists (S, 6)."""


def stretch_of(strain: Array, rest: Array) -> Array:
    """Return along the tangent at rest, and in all, pieces over their length at rest: (2,), the
    shortest and the longest, at strains (S, 6).

    The first is negative where a section has passed the one before it.
    """
    v, v0 = strain[:, 3:], rest[:, 3:]
    square = np.einsum("si,si->s", v0, v0)
    along = np.einsum("si,si->s", v, v0) / square
    whole = np.einsum("si,si->s", v, v) / square
    return np.array([along.min(), np.sqrt(whole.max())])


class Problem(ABC):
    """A robot as it was when it was compiled.

    description : a copy; parts added to the robot later do not change it.
    formulations : what each rod is solved with, by rod name.  sampler : answers about sections.
    """

    description: Description
    formulations: Mapping[str, RodModel]
    sampler: Sections
    slow_starts: ClassVar[bool] = False
    """Whether the first steps of a motion cost far more than others."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles compile for themselves."""
        return _compiled_again, (type(self), self.description, dict(self.formulations))

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """How many numbers are solved for at once."""

    @property
    @abstractmethod
    def rest(self) -> Any:
        """The configuration of the unloaded robot."""

    def settle(self, q: Any, v: Any) -> tuple[Problem, Any, Any]:
        """The problem of one mesh that a configuration and rates are of, with both there."""
        return self, q, v

    def rates_of(self, other: Problem, q: Any, v: Any) -> Any:
        """Rates of another problem with the same rods at q, as this one has them; None for rest."""
        return v

    @abstractmethod
    def same_rods(self, other: Problem) -> bool:
        """Tell whether configurations of both mean the same."""

    def same_shapes(self, other: Problem) -> bool:
        """Tell whether a motion of another problem can go on in this one: its coordinates are the same
        shapes here, whatever the parts are made of.
        """
        return self.same_rods(other)

    @abstractmethod
    def integrator(self, wanted: object) -> Integrator:
        """Return the integrator that was asked for, or the default; refuse what does not fit."""

    def stretches(self, q: Any) -> dict[str, Array]:
        """Return by rod the shortest and the longest of its pieces at a configuration, `stretch_of`."""
        about, strains = self.description, self.sampler.strains
        return {
            name: stretch_of(strains(q, name, s), about.rods[name].natural_strain(s))
            for name, s in about.stations(9).items()
        }

    @abstractmethod
    def statics(
        self,
        values: Mapping[str, Any],
        origin: tuple[Problem, Still] | None,
        tolerance: float,
        progress: Callable[[float, int, float], None] | None,
    ) -> Still:
        """Return the equilibrium on the branch from `origin`, or from the unloaded robot.

        If there is none, the ConvergenceError's `last` is the last good Still.
        """

    @abstractmethod
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
        """Move in time; if a step fails, the ConvergenceError's `last` is the path so far."""

    @abstractmethod
    def stream(
        self, integrator: Integrator, values: Mapping[str, Any], h: float, start: Start
    ) -> Stream:
        """Move in time one step of h seconds after the other, from input `values` by name."""

    @abstractmethod
    def wrenches(self, still: Still, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (S, 6) of an equilibrium, by "balance" or "law"."""

    @abstractmethod
    def moving_wrenches(self, path: Trajectory, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (T, S, 6) of a motion, by "balance" or "law"."""

    @abstractmethod
    def potential(self, still: Still) -> dict[str, float]:
        """Energies of an equilibrium, J: elastic, gravity, loads."""

    @abstractmethod
    def energies(self, path: Trajectory, rows: NDArray[Any]) -> dict[str, Array]:
        """Energies of a motion at some output times: kinetic, elastic, gravity, dissipated, work."""

    @abstractmethod
    def reactions(self, still: Still) -> dict[str, Array]:
        """Wrenches (6,) that hold the robot, by name of the constraint or clamped rod."""

    @abstractmethod
    def moving_reactions(self, path: Trajectory) -> dict[str, Array]:
        """Wrenches (T, 6) that hold the robot in a motion, by the same names."""

    def joint_values(self, q: Any, part: str) -> Array:
        """Values (nv,) of the joint by which a part hangs; none without coordinates."""
        return np.zeros(0)

    def joint_rate(self, v: Any, part: str) -> Array:
        """Velocities (nv,) of the joint by which a part hangs; none without coordinates."""
        return np.zeros(0)

    def drive_forces(self, still: Still) -> dict[str, Any]:
        """Torques and forces by which inputs hold prescribed joints, by the name of the input."""
        return {}

    def moving_drive_forces(self, path: Trajectory) -> dict[str, Any]:
        """The same in a motion, (T,) each."""
        return {}

    def readings(self, still: Still) -> dict[str, dict[str, Any]]:
        """What effects tell of themselves at an equilibrium, by name: tension, length, ..."""
        return {}

    def moving_readings(self, path: Trajectory) -> dict[str, dict[str, Array]]:
        """The same in a motion, with a leading axis T."""
        return {}

    @abstractmethod
    def judge(self, still: Still) -> tuple[bool | None, str]:
        """Whether an equilibrium is stable, None if it cannot be told, and a sentence on it."""

    def poses_along(self, configurations: Sequence[Any], rod: str, s: Array) -> Array:
        """World poses (T, S, 4, 4) of sections of a rod at several configurations."""
        return np.array([self.sampler.poses(q, rod, s) for q in configurations])

    def motions_along(
        self, configurations: Sequence[Any], rates: Sequence[Any], rod: str, s: Array
    ) -> tuple[Array, Array]:
        """World poses (T, S, 4, 4) and body twists (T, S, 6) of sections of a rod at several
        configurations with their rates.
        """
        pairs = zip(configurations, rates, strict=True)
        twists = [self.sampler.velocities(q, v, rod, s) for q, v in pairs]
        return self.poses_along(configurations, rod, s), np.array(twists)

    def frame(self, q: Any, frame: Frame) -> Array:
        """World pose (4, 4) of a frame of a rod or of a body."""
        rod, s, pose = self._section_of(frame)
        return pose if rod is None else self.sampler.poses(q, rod, np.array([s]))[0] @ pose

    def body_twist(self, q: Any, v: Any, body: str) -> Array:
        """Body twist (6,) of a body at rates v."""
        rod, s, pose = self._section_of(Frame(body))
        if rod is None:
            return np.zeros(6)
        twist = self.sampler.velocities(q, v, rod, np.array([s]))[0]
        return np.asarray(se3.Ad(se3.inverse(pose)) @ twist)

    @property
    def moved_bodies(self) -> list[Body]:
        """Bodies that joints move."""
        return [
            x for x in self.description.bodies.values() if x.joint is not None and x.joint.moves
        ]

    def centres(self, q: Any, v: Any) -> tuple[Array, Array]:
        """Positions and velocities (B, 3) in the world of the centres of bodies that joints move."""
        bodies = self.moved_bodies
        poses = [self.frame(q, Frame(body.name)) for body in bodies]
        twists = [self.body_twist(q, v, body.name) for body in bodies]
        return self._moved_centres(poses, twists)

    def _moved_centres(
        self, poses: Sequence[Array], twists: Sequence[Array]
    ) -> tuple[Array, Array]:
        """`centres` of bodies with poses (4, 4) and body twists (6,)."""
        bodies = self.moved_bodies
        g, eta = np.reshape(poses, (-1, 4, 4)), np.reshape(twists, (-1, 6))
        at = np.reshape([body.centre for body in bodies], (-1, 3))
        turned = np.stack([at, eta[:, 3:] + np.cross(eta[:, :3], at)], axis=-1)
        x, speed = np.moveaxis(g[:, :3, :3] @ turned, -1, 0)
        return g[:, :3, 3] + x, np.asarray(speed)

    def _section_of(self, frame: Frame) -> tuple[str | None, float, Array]:
        """The rod, None for the world, with which a frame moves, the arclength and the pose there.

        For bodies that hang rigidly on what carries them.
        """
        if frame.part in self.description.rods:
            return frame.part, frame.s, frame.pose_offset()
        body = self.description.bodies[frame.part]
        inner = np.asarray(body.pose) @ frame.pose_offset()
        if body.on is None:
            return None, 0.0, inner
        rod, s, pose = self._section_of(body.on)
        return rod, s, pose @ inner

    def joint(self, q: Any, part: str) -> Array:
        """Coordinates (nq,) of the joint by which a part hangs, none if it cannot move."""
        return np.zeros(0)

    def with_joints(self, q: Any, values: Mapping[str, Any]) -> Any:
        """A configuration with joints, by part name, at given coordinates."""
        raise DescriptionError(
            "simulate",
            "joints",
            values,
            "left out with these formulations, which have no joints that move",
            "choose formulations with coordinates such as BSpline()",
        )

    def through_points(self, given: Mapping[str, Any], caller: str) -> Any:
        """A configuration whose rods pass through points, by rod name."""
        raise DescriptionError(
            caller,
            "start",
            given,
            "a result, for these formulations have no coordinates to fit to points",
            "choose formulations with coordinates such as BSpline()",
        )

    def still_at(self, q: Any, values: Mapping[str, Any]) -> Still:
        """A configuration from which the equilibrium under input values is sought."""
        raise TypeError(f"{type(self).__name__} has no coordinates")

    def compared_error(self, still: Still) -> ShapeError | None:
        """The error of an equilibrium for which solving gave no estimate, from a finer solution.

        None if there is none. It takes longer than the solve.
        """
        return None

    # -- the same robot in another discretisation ----------------------------------------------

    @property
    def length(self) -> float:
        """Of the longest part, m."""
        return max(rod.length for rod in self.description.rods.values())

    @abstractmethod
    def adopt(self, other: Problem, q: Any) -> Any:
        """The configuration closest to q of `other`, the same robot in another discretisation."""

    def twists(self, q: Any, v: Any) -> dict[str, Array] | None:
        """Velocities by part name of q at rates v, for `Start.velocity`; None if q holds them."""
        return None

    def trouble(self, q: Any) -> str:
        """Sentences about rods that cannot be trusted at a configuration, "" if there are none."""
        return ""

    @abstractmethod
    def as_numbers(self, q: Any) -> Array:
        """A configuration as plain numbers (nq,), for files."""


def _compiled_again(kind: Any, description: Description, formulations: Any) -> Problem:
    """A problem compiled anew, without the warnings that the first one gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResolutionWarning)
        problem: Problem = kind(description, formulations)
    return problem
