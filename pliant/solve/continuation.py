"""Arclength continuation: a branch of equilibria through folds and bifurcations.

Balance R(x, a) = 0 with a parameter a (`ways`) is a curve. Its tangent, K x' + R_a a' = 0, has
unit length in the norm |x|^2 + (a / span)^2 (`station_norm`). From a point of the curve, a step goes
along the tangent; Newton's method returns to the curve within the plane that is normal to it,

    K dx + R_a da = -R,    n . dx + c da = 0,

by two solutions with the factor of K. `docs/theory/continuation.md` has the reasoning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh

from pliant.engine import loops
from pliant.linalg.matrices import SingularError
from pliant.rods.contract import Array
from pliant.solve.load_steps import StaticSolver
from pliant.solve.response import Response
from pliant.solve.statics import StaticSolution
from pliant.solve.station_norm import StationNorm
from pliant.solve.ways import Way

_CORRECTIONS = 10
_ROUNDING = 1e-13
"""Correction, relative to the length, that is due to rounding: what is left of the balance is noise."""
_STALLED = 1e-7
"""Relative residual at which rounding may end the corrections."""
_BEND = 0.95
"""Least cosine between the tangents at both ends of a step."""
_SHORTEST = 1e-7
"""Step, in the norm above, at which a branch is given up."""
_LOCATED = 1e-9
"""Part of the span to which folds and bifurcations are located."""
_LOOP = 8
"""Least number of points of a closed loop."""
_NEUTRAL = 1e-6
"""Stiffness, relative to EI / L, below which a direction is neutral."""
_SWITCH = (0.05, 0.02, 0.1, 0.005)
"""Distances from a bifurcation at which another branch is looked for."""


@dataclass
class Waypoint:
    """A point of a branch with its tangent.

    value : of the parameter.  rate (total,), speed : the tangent (x', a').  normal (total,), weight :
    the covector of the tangent.  pivots : negative ones of the factor, less those of force fields and
    multipliers; None if they cannot be trusted.
    """

    solution: StaticSolution
    value: float
    rate: Array
    speed: float
    normal: Array
    weight: float
    pivots: int | None
    mesh: Any = None
    """The problem of its mesh, where that moves with the parameter."""


@dataclass
class Special:
    """A fold or bifurcation: the point, its place in the list of points, and at a bifurcation the
    directions (total, k) in which other branches leave.
    """

    at: Waypoint
    place: int
    directions: Array = field(default_factory=lambda: np.zeros((0, 0)))


@dataclass
class Branch:
    """Points of a branch in their order, with those at which something happens, and why it ended."""

    points: list[Waypoint]
    folds: list[Special] = field(default_factory=list)
    bifurcations: list[Special] = field(default_factory=list)
    ended: str = ""


class Continuation:
    """Follows branches of one robot along one way; belongs to the thread of its solver."""

    def __init__(self, solver: StaticSolver, way: Way, ends: tuple[float, float]) -> None:
        self.solver, self.way, self.effects = solver, way, solver.effects
        self.tree = solver.effects.tree
        solver.choose_equations(way.inputs(ends[1]), way.inputs(0.5 * (ends[0] + ends[1])))
        self.equations = solver.equations
        self.programs = self.equations.programs
        self.low, self.high = min(ends), max(ends)
        self.response = Response(solver)
        self.norm = StationNorm(self.tree, self.equations.state)
        self.count = 0
        """Corrections so far."""
        self.guess: Array | None = None
        """Directions (total, k) that may be neutral."""
        self.neutral: Array | None = None
        self.below = 0
        """Pivots that rounding made negative."""

    # -- one point -------------------------------------------------------------------------------

    def at(self, solution: StaticSolution, value: float, towards: float) -> Waypoint | None:
        """The point of a known equilibrium, with its tangent towards larger (1) or smaller (-1)
        values.
        """
        none = np.zeros(self.tree.total)
        if self._correct(solution.q, solution.z, value, None, 0.0) is None:
            return None
        try:
            self.guess = self._softest(self._any_directions(2), 6)[0]
            self._find_neutral()
            if self.neutral is None:
                self.guess = None
            return self._point(none, towards)
        except (SingularError, LinAlgError):
            return None

    def go_to(self, point: Waypoint) -> None:
        """Be where a point can be placed: everywhere, on a mesh that does not move."""

    def beyond(self, point: Waypoint, size: float) -> Waypoint | None:
        """A point behind a place over which a step cannot lead, and through which the branch goes."""
        return None

    def step(self, point: Waypoint, size: float) -> Waypoint | None:
        """The point of the branch at a distance from another one; None if it is not found."""
        self.go_to(point)
        q, z = self._displaced(point.solution, size * point.rate)
        found = self._correct(q, z, point.value + size * point.speed, point.normal, point.weight)
        return None if found is None else self._point(point.normal, point.weight)

    def _displaced(self, solution: StaticSolution, x: Array) -> tuple[Array, Array]:
        """Coordinates (nq,) and unknowns of terms (total,) after a displacement x (total,)."""
        state = self.equations.state.place(solution.q)
        z, rows = solution.z.copy(), self.effects.gap_rows
        z[rows] += x[rows]
        return self.tree.moved(state, x), z

    def _set(self, q: Array, value: float) -> None:
        """Put the inputs of a value, and coordinates with the prescribed joints that follow them."""
        equations = self.equations
        self.value, self.inputs = value, self.way.inputs(value)
        equations.u[...], equations.keep[...] = self.inputs.u, self.way.keep(value)
        equations.state.q[...] = self.effects.prescribed.put(q, self.inputs.drive)

    def _place(self, point: Waypoint) -> None:
        """Go to a known point and factorise its tangent."""
        self.go_to(point)
        self._set(point.solution.q, point.value)
        self.equations.z[...] = point.solution.z
        self.programs[loops.TANGENT]()
        self.programs[loops.FACTORISE]()

    def _correct(
        self, q: Array, z: Array, value: float, normal: Array | None, weight: float
    ) -> int | None:
        """Newton's method within a plane, or at a fixed value; returns the corrections it took.

        The tangent is factorised at the point that was found. None if it does not converge.
        """
        self._set(q, value)
        self.equations.z[...] = z
        self.equations.start = StaticSolution(q, z, self.inputs)
        before, moved = np.inf, np.inf
        for k in range(_CORRECTIONS + 1):
            equations = self.equations
            self.programs[loops.TANGENT]()
            if not k:
                equations.weigh()
            size = float(equations.numbers[loops.SIZE])
            if not np.isfinite(size):
                return None
            self.programs[loops.FACTORISE]()
            if equations.matrix.flags[0] < 0:
                return None
            stalled = k > 1 and size < _STALLED and size > 0.3 * before
            stalled = stalled or (k > 1 and moved < _ROUNDING)
            if size <= self.solver.options.tolerance or stalled:
                self.residual = size
                return k
            try:
                far = self._move(normal, weight)
            except (SingularError, LinAlgError):
                return None
            if not np.isfinite(far) or (k > 1 and far > 0.9 * moved):
                return None
            before, moved = size, far
            self.count += 1
        return None

    def _move(self, normal: Array | None, weight: float) -> float:
        """Make one correction; returns its size."""
        equations, size = self.equations, self.tree.size
        x, change = np.zeros(self.tree.total), 0.0
        x[:size] = equations.matrix.solve(equations.right)
        self._find_neutral()
        x = self._fixed(x)
        if normal is not None:
            along = self._fixed(self._response())
            change = -float(normal @ x) / (float(normal @ along) + weight)
            x += change * along
        equations.x[...] = x[:size]
        equations._variation[size:] = x[size:]
        self.programs[loops.MOVE]()
        self._set(equations.state.q.copy(), self.value + change)
        far = float(np.sqrt(max(0.0, float(x @ self.norm.dual(x)))))
        return far + abs(change) / self.way.span

    def _response(self) -> Array:
        """Displacements (total,) for a unit of the parameter, with the factor at hand."""
        self.response.attach(self.equations, self.inputs)
        forces, moved = self._forces()
        return self.response.solve(-forces) + moved

    def _forces(self) -> tuple[Array, Array]:
        """Derivative (size,) of the residual in the parameter, and prescribed rates (total,)."""
        return self.way.forces(self.response, self.value)

    def _point(self, normal: Array, weight: float) -> Waypoint | None:
        """The point that has just been found; its tangent goes on to the side that a covector shows."""
        equations, span = self.equations, self.way.span
        try:
            self._find_neutral()
            along = self._fixed(self._response())
        except (SingularError, LinAlgError):
            return None
        dual = self.norm.dual(along)
        length = np.sqrt(max(0.0, float(along @ dual)) + span**-2)
        if float(normal @ along) + weight < 0.0:
            length = -length
        pivots = None if equations.matrix.lost else int(equations.matrix.flags[0])
        if pivots is not None:
            pivots -= len(self.effects.gap_rows) + (0 if self.neutral is None else self.below)
        solution = StaticSolution(
            equations.state.q.copy(),
            equations.z.copy(),
            self.inputs,
            self.count,
            self.residual,
            [self.residual],
            [1.0],
            pivots if self.solver.symmetric else None,
            memory=self.solver.memory.copy(),
        )
        speed = 1.0 / float(length)
        tangent = (along / length, speed, dual / length, speed / span**2)
        return Waypoint(solution, self.value, *tangent, pivots)

    # -- many points -----------------------------------------------------------------------------

    def follow(
        self, first: Waypoint, largest: float, most: int, folds: int | None = None
    ) -> Branch:
        """Follow a branch until its parameter leaves the ends of the way, for `most` steps at most.

        largest : of the steps.  folds : after how many of them to end.
        """
        branch, size = Branch([first]), 0.25 * largest
        while len(branch.points) <= most:
            point = branch.points[-1]
            ahead = self.step(point, size)
            if ahead is None and (behind := self.beyond(point, size)) is not None:
                branch.points.append(behind)
                if not self.low < behind.value < self.high:
                    branch.ended = f"the input arrived at {behind.value:g}"
                    return branch
                continue
            if ahead is None or not self._near(point, ahead, size):
                size *= 0.5
                if size < _SHORTEST:
                    branch.ended = "no equilibrium was found further on"
                    return branch
                continue
            if not self.low <= ahead.value <= self.high:
                branch.ended = self._finish(branch, point, ahead, size)
                return branch
            self._note(branch, point, ahead, size)
            branch.points.append(ahead)
            size = min(1.5 * size, largest)
            if folds is not None and len(branch.folds) >= folds:
                branch.ended = "it turned back"
                return branch
            if len(branch.points) > _LOOP and _passes(point, ahead, first):
                branch.ended = "the branch is a closed loop"
                return branch
        branch.ended = f"{most} steps were taken"
        return branch

    def _near(self, point: Waypoint, ahead: Waypoint, size: float) -> bool:
        """Whether a step is short enough for the bend of the branch."""
        cosine = float(ahead.normal @ point.rate) + ahead.weight * point.speed
        jumps = point.pivots is not None and ahead.pivots is not None
        many = jumps and abs(ahead.pivots - point.pivots) > 2  # type: ignore[operator]
        return size < 1e3 * _SHORTEST or (cosine > _BEND and not many)

    def _note(self, branch: Branch, point: Waypoint, ahead: Waypoint, size: float) -> None:
        """Locate what happens within a step, in its order."""
        turns = point.speed * ahead.speed < 0.0
        change = 0
        if point.pivots is not None and ahead.pivots is not None:
            change = abs(ahead.pivots - point.pivots)
            if not self.solver.symmetric:
                change %= 2
        if turns:
            fold = self._locate(point, size, lambda at: at.speed)
            if fold is not None:
                branch.points.append(fold)
                branch.folds.append(Special(fold, len(branch.points) - 1))
            change -= 1
        if change > 0:
            self._note_bifurcation(branch, point, size, change)

    def _note_bifurcation(self, branch: Branch, point: Waypoint, size: float, count: int) -> None:
        odd = not self.solver.symmetric

        def side(at: Waypoint) -> float:
            if at.pivots is None:
                return 1.0
            same = (at.pivots - (point.pivots or 0)) % 2 == 0 if odd else at.pivots == point.pivots
            return -1.0 if same else 1.0

        found = self._locate(point, size, side)
        if found is None:
            return
        self._place(found)
        directions = self._softest(self._any_directions(count), 6)[0]
        branch.points.append(found)
        branch.bifurcations.append(Special(found, len(branch.points) - 1, directions))

    def _locate(
        self, point: Waypoint, size: float, test: Callable[[Waypoint], float]
    ) -> Waypoint | None:
        """The point within a step at which a test changes its sign: by secants kept in a bracket."""
        low, high = 0.0, size
        at_low, ends = test(point), self.step(point, size)
        if ends is None:
            return None
        at_high, found = test(ends), ends
        below, above = point.value, ends.value
        for _ in range(60):
            share = at_low / (at_low - at_high) if at_low != at_high else 0.5
            middle = low + min(max(share, 0.02), 0.98) * (high - low)
            trial = self.step(point, middle)
            if trial is None:
                return found
            found, value = trial, test(trial)
            if value * at_low > 0.0:
                low, at_low, below = middle, value, trial.value
                at_high *= 0.5
            else:
                high, at_high, above = middle, value, trial.value
                at_low *= 0.5
            flat = abs(value) <= 1e-7 / self.way.span and abs(value) != 1.0
            if flat or high - low < 1e-6 * _LOCATED:
                break
            if abs(above - below) <= _LOCATED * self.way.span and abs(value) == 1.0:
                break
        return found

    def _finish(self, branch: Branch, point: Waypoint, ahead: Waypoint, size: float) -> str:
        """Add the point at which the parameter arrives at an end of the way."""
        end = self.low if ahead.value < self.low else self.high
        last = self._locate(point, size, lambda at: at.value - end)
        if last is None:
            last = ahead
        at_end: Waypoint | None = last
        if self._correct(last.solution.q, last.solution.z, end, None, 0.0) is not None:
            at_end = self._point(last.normal, last.weight)
        elif abs(last.value - end) > 10.0 * _LOCATED * self.way.span:
            return "no equilibrium was found at the end"
        if at_end is None:
            return "the end is a fold or a bifurcation"
        self._note(branch, point, at_end, size)
        branch.points.append(at_end)
        return f"the input arrived at {end:g}"

    # -- other branches --------------------------------------------------------------------------

    def _any_directions(self, count: int) -> Array:
        """Directions (total, count) to begin with."""
        free = self.tree.coordinates
        count = min(count, len(free))
        X = np.zeros((self.tree.total, count))
        X[free] = np.random.default_rng(0).standard_normal((len(free), count))
        return X

    def _softest(self, X: Array, rounds: int) -> tuple[Array, Array]:
        """The softest directions (total, k) from those given, by inverse iterations with the factor at
        hand, orthonormal in the norm of stations, with their stiffnesses (k,).
        """
        size, norm, matrix = self.tree.size, self.norm, self.equations.matrix
        for _ in range(rounds):
            Y = np.zeros_like(X)
            duals = np.stack([norm.dual(x) for x in X.T], axis=1)
            Y[:size] = np.stack([matrix.solve(d) for d in duals[:size].T], axis=1)
            products = np.stack([norm.dual(y) for y in Y.T], axis=1)
            gram, flexible = Y.T @ products, duals.T @ Y
            values, vectors = eigh(0.5 * (flexible + flexible.T), _positive(gram))
            X = Y @ vectors
        # vectors.T gram vectors = 1: values are flexibilities over their squares
        return X, values

    # -- robots that can turn as a whole ---------------------------------------------------------

    def _find_neutral(self) -> None:
        """Set the directions in which the robot has no stiffness at all where it is: a round column
        that has buckled can turn about its axis. They are kept out of all corrections.
        """
        if self.guess is None:
            self.neutral = None
            return
        self.guess, values = self._softest(self.guess, 2)
        soft = np.abs(values) < _NEUTRAL * self.tree.bending / self.tree.length
        self.neutral = self.guess[:, soft] if soft.any() else None
        self.below = int(np.count_nonzero(values[soft] < 0.0))

    def _fixed(self, x: Array) -> Array:
        """A displacement (total,) without its neutral part."""
        if self.neutral is None:
            return x
        return np.asarray(x - self.neutral @ (self.neutral.T @ self.norm.dual(x)))

    def switch(self, special: Special, side: float, which: int) -> Waypoint | None:
        """A point on the branch that leaves a bifurcation along one of its directions."""
        x = side * special.directions[:, which]
        at = special.at
        self.go_to(at)
        others = np.delete(special.directions, which, axis=1)
        self.guess = others if others.shape[1] else None
        for distance in _SWITCH:
            self.equations.state.place(at.solution.q)
            normal = self.norm.dual(x)
            q, z = self._displaced(at.solution, distance * x)
            if self._correct(q, z, at.value, normal, 0.0) is None:
                continue
            if not self.low <= self.value <= self.high:
                continue
            found = self._point(normal, 0.0)
            if found is not None:
                return found
        return None


def _passes(a: Waypoint, b: Waypoint, first: Waypoint) -> bool:
    """Whether a step from a to b goes by the first point in the direction that was taken there."""
    if not a.solution.q.shape == b.solution.q.shape == first.solution.q.shape:
        return False
    whole = np.linalg.norm(b.solution.q - a.solution.q)
    near = np.linalg.norm(b.solution.q - first.solution.q) <= whole
    along = abs(b.value - first.value) <= abs(b.value - a.value) + 1e-12 * abs(b.value)
    same = float(first.normal @ b.rate) + first.weight * b.speed > 0.5
    return bool(near and along and same)


def _positive(gram: Array) -> Array:
    """A Gram matrix (k, k), kept away from singular by rounding."""
    return np.asarray(0.5 * (gram + gram.T) + 1e-14 * np.trace(gram) * np.eye(len(gram)))
