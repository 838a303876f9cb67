"""Derivatives of an equilibrium: Jacobians of frames in the inputs, compliances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    Description,
    DescriptionError,
    Frame,
    choice,
    instance,
    known_name,
)
from pliant.model.place_names import place_hint
from pliant.results.result import ShapeResult
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.mesh_slopes import frame_slopes, input_slopes
from pliant.solve.problem import Problem
from pliant.solve.response import Response, response_at


def coordinates_of(problem: Problem, asked: str) -> CoordinateProblem:
    """The problem, if it has coordinates; `asked` names what is asked of it."""
    if isinstance(problem, CoordinateProblem):
        return problem
    raise DescriptionError(
        asked,
        "formulation",
        next(iter(problem.formulations.values())),
        f"a formulation with coordinates, for {asked} needs its matrices",
        "give e.g. BSpline(), or an equilibrium found with it",
    )


def input_names(
    known: Mapping[str, Any], asked: str, names: object, fixed: Collection[str] = ()
) -> list[str]:
    """Names of inputs: some, one, or all where None is given.

    fixed : those that are part of the compiled robot and cannot be asked for.
    """
    if names is None:
        return [name for name in known if name not in fixed]
    given = [names] if isinstance(names, str) else names
    expected, remedy = "names of inputs", "give e.g. ['push']"
    listed = list(instance(asked, "inputs", given, Sequence, expected, remedy))  # type: ignore[type-abstract]
    repeated = next((name for name in listed if listed.count(name) > 1), None)
    if repeated is not None:
        raise DescriptionError(asked, "inputs", repeated, "each input once", "remove one of them")
    still = next((name for name in listed if name in fixed), None)
    if still is not None:
        expected = "an input that can change, while this one is part of the compiled robot"
        remedy = "leave it out, and solve the robot once for each of its values"
        raise DescriptionError(asked, "inputs", still, expected, remedy)
    expected = "the name of an input of this robot"
    return [known_name(asked, "inputs", name, known, expected) for name in listed]


def frame_of(description: Description, asked: str, place: object) -> Frame:
    """The frame that a place is, a Frame or its name such as "arm.tip"."""
    found = description.place(place) if isinstance(place, str) else place
    if isinstance(found, Frame):
        return found
    hint = place_hint(str(place), description.rods, description.bodies)
    expected = "a place on the robot such as 'arm.tip', or a Frame"
    raise DescriptionError(asked, "place", place, expected, hint)


def turned(twists: Array, pose: Array) -> Array:
    """Body twists (6, n) of a frame in world axes: the velocity is that of its origin."""
    R = pose[:3, :3]
    return np.concatenate([R @ twists[:3], R @ twists[3:]])


class Responsive(ShapeResult):
    """An equilibrium that tells how it responds to inputs and wrenches."""

    inputs: Mapping[str, Any]
    _solution: Any

    def jacobian(
        self,
        of: str | Frame,
        inputs: Sequence[str] | str | None = None,
        frame: str = "body",
    ) -> Array:
        """Return twists (6, n) of a place per unit of n inputs, angular part first.

        of : a place such as "arm.tip", a body, or a Frame.
        inputs : their names; None for all. An input whose value has 3 or 6 numbers has as many columns.
        frame : "body" for axes of the place itself, "world" for world axes: rows 3 to 5 are then the
            derivative of its position.

        The equilibrium follows the inputs with all its constraints. Joints and bases that an input
        prescribes move along. At a fold or a bifurcation there is no such derivative, nor in an
        insertion where one tube ends at the end of another one or with its base at the entry plane.
        """
        choice("jacobian", "frame", frame, ("body", "world"))
        names, place = input_names(self.inputs, "jacobian", inputs), self._frame("jacobian", of)
        with self._responding("jacobian") as response:
            problem = coordinates_of(self._compiled, "jacobian")
            given = (self._solution, self.inputs, names)
            rates, meshes = input_slopes(problem, response, *given, exact=True)
            pose, twists = frame_slopes(response, place, rates, meshes)
        return twists if frame == "body" else turned(twists, pose)

    def compliance(
        self, of: str | Frame, at: str | Frame | None = None, frame: str = "body"
    ) -> Array:
        """Return twists (6, 6) of a place per unit of a wrench, (rad, m) per (N m, N).

        of : a place such as "arm.tip", a body, or a Frame.  at : where the wrench acts; None for the
        same place.  frame : "body" for axes of each place, "world" for world axes at its origin.

        It is symmetric at one place if all loads have a potential. Inputs and what they prescribe
        stay as they are. Its inverse is the stiffness that a hand feels there.
        """
        choice("compliance", "frame", frame, ("body", "world"))
        with self._responding("compliance") as response:
            pose, rows = response.frame_rates(self._frame("compliance", of))
            other, columns = pose, rows
            if at is not None:
                other, columns = response.frame_rates(self._frame("compliance", at))
            size = response.tree.size
            moved = np.stack([response.solve(row[:size]) for row in columns], axis=1)
            twists = rows @ moved
        if frame == "body":
            return twists
        return turned(turned(twists, pose).T, other).T

    def _frame(self, asked: str, of: object) -> Frame:
        return self._known_frame(frame_of(self._compiled.description, asked, of))

    @contextmanager
    def _responding(self, asked: str) -> Iterator[Response]:
        problem = coordinates_of(self._compiled, asked)
        with problem.solver() as solver:
            yield response_at(solver, self._solution)
