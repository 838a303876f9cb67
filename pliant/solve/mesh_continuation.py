"""Arclength continuation in an input that is part of the compiled robot, such as an insertion.

The mesh moves with the input. Neighbouring meshes are alike (`mesh_slopes`): coordinates mean the same
on them, so that a point of the branch is corrected from mesh to mesh. Where meshes are not alike, the
last point is carried over and the branch goes on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.model import ConvergenceError, DescriptionError
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array
from pliant.solve.continuation import Continuation, Waypoint
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.load_steps import StaticOptions, StaticSolver
from pliant.solve.mesh_slopes import MeshSlopes, alike, carried, mesh_at
from pliant.solve.response import Response
from pliant.solve.station_norm import StationNorm
from pliant.solve.ways import Way


class MeshWay(Way):
    """One input that is compiled changes, all others have fixed values."""

    def __init__(
        self,
        problem: CoordinateProblem,
        values: Mapping[str, Any],
        name: str,
        ends: tuple[float, float],
    ) -> None:
        self.problem, self.values, self.name = problem, dict(values), name
        self.span = abs(ends[1] - ends[0])

    def at(self, value: float) -> CoordinateProblem:
        """The robot on the mesh of a value."""
        return mesh_at(self.problem, {**self.values, self.name: value})

    def inputs(self, value: float) -> Inputs:
        return self.at(value).effects.at({**self.values, self.name: value})

    def forces(self, response: Response, value: float) -> tuple[Array, Array]:
        """The derivative of the residual at fixed coordinates; no joint is prescribed by this way."""
        q, z = response.equations.state.q, response.equations.z
        slopes = MeshSlopes(self.at(value), q, z, {**self.values, self.name: value}, self.name)
        return slopes.balance(), np.zeros(response.tree.total)


class MeshError(ConvergenceError):
    """A step that leads to a mesh on which coordinates mean something else."""


class MeshContinuation(Continuation):
    """Follows a branch from mesh to mesh; belongs to one thread."""

    way: MeshWay

    def __init__(self, way: MeshWay, ends: tuple[float, float], tolerance: float) -> None:
        self._options = StaticOptions(tolerance=tolerance)
        self._mesh = way.at(ends[0])
        super().__init__(StaticSolver(self._mesh.effects, self._options), way, ends)
        self._slope: tuple[Array, Array] | None = None
        self._changed = False
        """Whether the last step failed because the mesh changes."""

    # -- meshes ----------------------------------------------------------------------------------

    def _enter(self, mesh: CoordinateProblem, value: float) -> None:
        """Go on with the equations of another mesh."""
        before, self._mesh = self.equations, mesh
        self.solver = StaticSolver(mesh.effects, self._options)
        self.effects, self.tree = mesh.effects, mesh.tree
        inputs = self.way.inputs(value)
        self.solver.choose_equations(inputs, inputs)
        self.equations = self.solver.equations
        self.programs = self.equations.programs
        self.response = Response(self.solver)
        self.norm = StationNorm(self.tree, self.equations.state)
        self.equations.load[0] = before.load[0]

    def _set(self, q: Array, value: float) -> None:
        try:
            mesh = self.way.at(value)
        except DescriptionError as error:
            raise MeshError(str(error)) from error
        if mesh is not self._mesh:
            if not alike(self._mesh, mesh):
                raise MeshError("the mesh changes")
            z, start = self.equations.z, self.equations.start
            self._enter(mesh, value)
            self.equations.z[...], self.equations.start = z, start
        super()._set(q, value)

    def go_to(self, point: Waypoint) -> None:
        """Be on the mesh of a point."""
        if point.mesh is not self._mesh:
            self._enter(point.mesh, point.value)
            self.equations.start = point.solution

    # -- points ----------------------------------------------------------------------------------

    def _forces(self) -> tuple[Array, Array]:
        """Corrections take the derivative of the last point: it costs two meshes."""
        if self._slope is None or len(self._slope[0]) != self.tree.size:
            self._slope = super()._forces()
        return self._slope

    def _point(self, normal: Array, weight: float) -> Waypoint | None:
        self._slope = None
        try:
            point = super()._point(normal, weight)
        except ConvergenceError:  # no derivative here
            return None
        if point is not None:
            point.mesh = self._mesh
        return point

    def step(self, point: Waypoint, size: float) -> Waypoint | None:
        """The point of the branch at a distance from another one; None if the mesh changes before."""
        self._changed = False
        try:
            return super().step(point, size)
        except MeshError:
            self._changed = True
            return None

    def beyond(self, point: Waypoint, size: float) -> Waypoint | None:
        """The equilibrium on the mesh that a step would lead to, if that is another one."""
        if not self._changed:
            return None
        value = min(max(point.value + size * point.speed, self.low), self.high)
        try:
            mesh = self.way.at(value)
        except DescriptionError:
            return None
        inputs = self.way.inputs(value)
        start = carried(point.mesh, point.solution, mesh, inputs)
        self._enter(mesh, value)
        self.guess = self.neutral = None
        if self._correct(start.q, start.z, value, None, 0.0) is None:
            return None
        found = self._point(np.zeros(self.tree.total), point.speed)
        same = found is not None and found.pivots == point.pivots
        return found if same else None
