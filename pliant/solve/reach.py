"""Inverse statics: inputs of least effort that bring frames to their targets.

The residuals r(y) of all targets (`targets`) and the effort |y|, of inputs y over their sizes, are
brought down together,

    min |r(y)|^2 + (mu |J|)^2 |y|^2     within the bounds of y,

by Gauss-Newton steps with the Jacobian of the equilibrium (`response`) in a trust region that is a box,
so that every step is a linear least-squares problem with bounds. A target that can be reached leaves
r of the order mu^2; one that cannot leaves the closest point. mu goes down until the targets are
reached, or until that gains nothing: where the Jacobian is singular it damps.

Neighbours of an unstable equilibrium are unstable, and Newton's method does not mind. A search that
ends at one is repeated in which such points are refused, `steady`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.model import Array, ConvergenceError, DescriptionError
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.load_steps import StaticSolver
from pliant.solve.mesh_slopes import alike, carried, frame_slopes, input_slopes, mesh_at
from pliant.solve.response import response_at
from pliant.solve.statics import StaticSolution
from pliant.solve.station_norm import StationNorm
from pliant.solve.targets import Target

_EFFORTS = (1e-3, 1e-5, 1e-7)
"""Weights mu of the effort, one after the other."""
_GAIN = 0.99
"""Part of the residual that a smaller weight has to leave at most to be worth its effort."""
_ITERATIONS = 40
_MESHES = 8
"""Meshes whose solvers are kept."""
_SHORTEST = 0.02
"""Load step, as a part of the change of the inputs, at which an equilibrium is given up."""
_NEAR = 1.0
"""Displacement, in turns and parts of the length, beyond which a prediction is of no use."""
_SAME = 1e-6
"""Relative decrease of what is minimised that ends the iterations."""


@dataclass
class Point:
    """Inputs y (n,) over their sizes, the equilibrium there with its problem, residuals (k,) and their
    slope (k, n).
    """

    y: Array
    problem: CoordinateProblem
    solution: StaticSolution
    residual: Array
    slope: Array
    rates: Array

    @property
    def unstable(self) -> bool:
        """Whether the equilibrium is known to be unstable."""
        return bool(self.solution.negative) or self.solution.odd


class Inverse:
    """An inverse problem of one robot, solved in one thread.

    problem, solver : the robot at the start, and its solver.  targets : of frames.
    names : of the inputs that are sought.  values : of all inputs, by name.
    bounds : lowest and highest values (n,).  sizes (n,) : what counts as a unit of effort; nan for what
    moves a place by a length or a radian at the start, the same for inputs of one of the `kinds` (n,),
    so that tensions count as tensions.  tolerance : on residuals.
    """

    def __init__(
        self,
        problem: CoordinateProblem,
        solver: StaticSolver,
        targets: Sequence[Target],
        names: Sequence[str],
        values: Mapping[str, Any],
        bounds: tuple[Array, Array],
        sizes: Array,
        kinds: Sequence[Any],
        tolerance: float,
    ) -> None:
        self.problem, self.targets, self.names = problem, targets, list(names)
        # far steps that fail are taken again in a smaller region: they may fail early
        self._options = replace(solver.options, smallest_step=_SHORTEST, arclength=False)
        self._solvers = {problem: solver}
        solver.options = self._options
        self.values = dict(values)
        self.shapes = [np.shape(values[name]) for name in names]
        self.bounds, self.tolerance = bounds, tolerance
        self._wanted, self._kinds = sizes, kinds
        self._set_sizes(np.ones(len(sizes)))
        self.count = 0
        """Equilibria that were sought."""
        self._norms: tuple[CoordinateProblem, StationNorm] | None = None
        self.steady = False
        """Whether steps to equilibria that are known to be unstable are refused."""

    def _set_sizes(self, sizes: Array) -> None:
        self.sizes = sizes
        self.low, self.high = self.bounds[0] / sizes, self.bounds[1] / sizes

    def begin(self, start: StaticSolution | None) -> Point:
        """Choose the sizes of inputs; returns the point at the values that were given."""
        point = self.at(self.numbers(self.values), start=start)
        slope, sizes = np.linalg.norm(point.slope, axis=0), self._wanted.copy()
        for k in np.flatnonzero(np.isnan(sizes)).tolist():
            same = [kind is self._kinds[k] for kind in self._kinds]
            strongest = float(slope[same].max())
            sizes[k] = 1.0 / strongest if strongest > 0.0 else 1.0
        self._set_sizes(sizes)
        return replace(point, y=point.y / sizes, slope=point.slope * sizes)

    def named(self, y: Array) -> dict[str, Any]:
        """Values of all inputs by name."""
        found, at = dict(self.values), 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            size = int(np.prod(shape))
            numbers = (y * self.sizes)[at : at + size]
            found[name] = float(numbers[0]) if shape == () else numbers.reshape(shape)
            at += size
        return found

    def numbers(self, values: Mapping[str, Any]) -> Array:
        """Inputs (n,) over their sizes from values by name, within the bounds."""
        listed = [np.ravel(np.asarray(values[name], dtype=float)) for name in self.names]
        return np.clip(np.concatenate(listed) / self.sizes, self.low, self.high)

    # -- equilibria ------------------------------------------------------------------------------

    def _solver(self, problem: CoordinateProblem) -> StaticSolver:
        """The solver of a problem; those of meshes that were passed are forgotten."""
        if problem not in self._solvers:
            if len(self._solvers) > _MESHES:
                self._solvers = {self.problem: self._solvers[self.problem]}
            self._solvers[problem] = StaticSolver(problem.effects, self._options)
        return self._solvers[problem]

    def at(
        self,
        y: Array,
        near: Point | None = None,
        start: StaticSolution | None = None,
        predict: bool = True,
    ) -> Point:
        """The equilibrium under inputs y, sought from a point nearby, or from a start on the mesh of
        the problem.

        predict : whether the way there is short, and worth a prediction.
        """
        self.count += 1
        values = self.named(y)
        try:
            problem = mesh_at(self.problem, values)
        except DescriptionError as error:  # such as tubes that are all withdrawn
            raise ConvergenceError(str(error)) from error
        solver, inputs = self._solver(problem), problem.effects.at(values)
        if near is not None:
            start = carried(near.problem, near.solution, problem, inputs)
            ahead = self._predicted(near, y, problem) if predict else None
            if ahead is not None:
                try:
                    return self._point(y, problem, solver.solve(inputs, ahead))
                except ConvergenceError:
                    pass
        elif start is not None:
            start = carried(self.problem, start, problem, inputs)
        return self._point(y, problem, solver.solve(inputs, start))

    def _predicted(
        self, near: Point, y: Array, problem: CoordinateProblem
    ) -> StaticSolution | None:
        """The neighbour of an equilibrium to first order; None if that is no neighbour."""
        if not (near.problem is problem or alike(near.problem, problem)):
            return None
        solution, solver = near.solution, self._solver(near.problem)
        x = near.rates @ ((y - near.y) * self.sizes)
        state = solver.state.place(solution.q)
        if float(x @ self._norm(near.problem).dual(x)) > _NEAR**2:
            return None
        z, rows = solution.z.copy(), problem.effects.gap_rows
        z[rows] += x[rows]
        return replace(solution, q=problem.tree.moved(state, x), z=z)

    def _norm(self, problem: CoordinateProblem) -> StationNorm:
        if self._norms is None or self._norms[0] is not problem:
            self._norms = problem, StationNorm(problem.tree, self._solver(problem).state)
        return self._norms[1]

    def _point(self, y: Array, problem: CoordinateProblem, solution: StaticSolution) -> Point:
        response = response_at(self._solver(problem), solution)
        rates, meshes = input_slopes(problem, response, solution, self.named(y), self.names)
        gaps, slopes = [], []
        for target in self.targets:
            pose, twists = frame_slopes(response, target.frame, rates, meshes)
            gap, slope = target.residual(pose, self.problem.length)
            gaps.append(gap)
            slopes.append(slope @ twists)
        slope = np.concatenate(slopes) * self.sizes
        return Point(y, problem, solution, np.concatenate(gaps), slope, rates)

    def reached(self, point: Point) -> bool:
        """Whether all targets are met."""
        return bool(np.linalg.norm(point.residual) <= self.tolerance)

    # -- the search ------------------------------------------------------------------------------

    def solve(self, first: Point) -> Point:
        """The point of least effort among those closest to all targets, from a first one on."""
        best = first
        scale = float(np.linalg.norm(best.slope, 2)) if best.slope.size else 0.0
        for effort in _EFFORTS:
            found = self._descend(best, effort * max(scale, 1e-12))
            before, after = np.linalg.norm(best.residual), np.linalg.norm(found.residual)
            if effort == _EFFORTS[0] or after < _GAIN * before:
                best = found
            if self.reached(best) or after >= _GAIN * before:
                break
        return best

    def _descend(self, point: Point, weight: float) -> Point:
        """Gauss-Newton steps in a trust region, with the effort under a weight."""
        region = 1.0
        for _ in range(_ITERATIONS):
            step, decrease = self._step(point, weight, region)
            size = self._size(point, weight)
            if decrease <= _SAME * size and (
                self.reached(point) or decrease <= 1e-3 * _SAME * size
            ):
                break
            if not self.reached(point) and size <= 1e-30:
                break
            found = self._try(point.y + step, point)
            gain = -1.0 if found is None else (size - self._size(found, weight)) / decrease
            far = float(np.abs(step / _strides(point)).max())
            if gain < 0.25:
                region = 0.25 * far
            elif gain > 0.75 and far > 0.99 * region:
                region *= 2.0
            if found is not None and gain > 1e-3:
                point = found
            elif region < 1e-9:
                break
        return point

    def _try(self, y: Array, near: Point) -> Point | None:
        """The equilibrium under inputs y; None if there is none, or none to take."""
        try:
            found = self.at(y, near)
        except ConvergenceError:
            return None
        return None if self.steady and found.unstable else found

    def _size(self, point: Point, weight: float) -> float:
        return float(point.residual @ point.residual + weight**2 * point.y @ point.y)

    def _step(self, point: Point, weight: float, region: float) -> tuple[Array, float]:
        """The step (n,) within bounds and trust region, and the decrease that it promises."""
        from scipy.optimize import lsq_linear

        n = len(point.y)
        A = np.concatenate([point.slope, weight * np.eye(n)])
        b = -np.concatenate([point.residual, weight * point.y])
        strides = region * _strides(point)
        low = np.maximum(self.low - point.y, -strides)
        high = np.minimum(self.high - point.y, strides)
        step = np.linalg.lstsq(A, b, rcond=None)[0]
        if (step < low).any() or (step > high).any():
            free = high - low > 1e-14 * strides
            step = np.clip(0.0, low, high) * np.ones(n)
            if free.any():
                fixed = A[:, ~free] @ step[~free]
                found = lsq_linear(A[:, free], b - fixed, (low[free], high[free]), method="bvls")
                step[free] = found.x
        left = b - A @ step
        return step, float(b @ b - left @ left)


def _strides(point: Point) -> Array:
    """Changes (n,) of the inputs that each move a place by about a length or a radian."""
    slope = np.linalg.norm(point.slope, axis=0)
    largest = float(slope.max(initial=0.0))
    return 1.0 / np.maximum(slope, 1e-3 * largest if largest > 0.0 else 1.0)
