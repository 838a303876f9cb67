"""A robot solved by a strong form: one chain of rods, whose configurations are states."""

from __future__ import annotations

import math
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.bvp.chain import Chain
from pliant.bvp.contract import BasePath, State, StrongForm, StrongSolver
from pliant.bvp.energies import Energies, moving_reactions, reactions, readings
from pliant.bvp.stability import Stability
from pliant.bvp.states import StateSampler, rest_state
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model import (
    BaseState,
    ConvergenceError,
    Description,
    DescriptionError,
    Moving,
    ResolutionWarning,
    Rod,
    StabilityWarning,
    base_state,
)
from pliant.model.telling import is_told
from pliant.rods.contract import RodModel
from pliant.solve.checkpoint import Checkpoints
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.dynamics import Trajectory, simulate
from pliant.solve.events import Watch
from pliant.solve.initial_conditions import check_names, section_twists
from pliant.solve.integrators.bdf_alpha import BDFAlpha, StrongIntegrator
from pliant.solve.integrators.contract import Integrator
from pliant.solve.limits import OTHER, unstable_branch
from pliant.solve.problem import Problem, Start, Still
from pliant.solve.registry import strain_modes
from pliant.solve.shape_error import ShapeError, warn_of_error
from pliant.solve.streaming import Held, Stream
from pliant.solve.strong_branch import Reference, judge_chain, reference
from pliant.solve.strong_steps import ChainInputs, StrongSteps
from pliant.tree.drivers import STRIDE, travel

_COMPARED = 41
"""Sections of each rod at which solutions are compared."""
_COMPARED_TO = 1e-10
"""Tolerance of the finer solution."""
_NEARER, _EXPLAINED = 0.5, 0.3
"""Part of the distance to the equilibrium of coordinates at which another one is on their branch, and
part of what is left that an error of the mesh explains.
"""


@dataclass
class StrongSolution:
    """An equilibrium and the record of how it was found."""

    q: State
    iterations: int
    residual: float
    history: list[float]
    unknowns: int
    rescues: Counter[str] = field(default_factory=Counter)
    error: ShapeError | None = None


class StrongProblem(Problem):
    """A robot as it was when it was compiled for a strong form.

    chain : its rods.  form : the settings.
    """

    slow_starts: ClassVar[bool] = True

    def __init__(self, description: Description, formulations: Mapping[str, RodModel]) -> None:
        self.description = description
        self.formulations = dict(formulations)
        forms = list(self.formulations.values())
        form = forms[0]
        if not isinstance(form, StrongForm) or any(other != form for other in forms):
            raise DescriptionError(
                "robot",
                "formulation",
                {name: repr(item) for name, item in self.formulations.items()},
                "the same one for all rods where one of them is a strong form, for these solve all "
                "rods at once",
                "give one formulation for the whole robot",
            )
        self.form = form
        self.chain = Chain(description, type(form).__name__)
        self.sampler: StateSampler = StateSampler(self.chain)
        self._own = threading.local()
        """What a thread works with: the count of stability, the energies at the last knots."""

    @property
    def stability(self) -> Stability:
        """Counts the directions in which the energy falls."""
        own = self._own
        if not hasattr(own, "stability"):
            own.stability = Stability(self.chain)
        return own.stability  # type: ignore[no-any-return]

    @cached_property
    def unknowns(self) -> int:
        """How many numbers are solved for at once."""
        return self.form.solver(self.chain).unknowns

    @cached_property
    def rest(self) -> State:
        """The unloaded chain."""
        return rest_state(self.chain, self.chain.base.pose)

    def same_rods(self, other: Problem) -> bool:
        """Tell whether states of both mean the same: the same rods, cut at the same places."""
        if not isinstance(other, StrongProblem):
            return False
        mine, theirs = self.chain.pieces, other.chain.pieces
        return len(mine) == len(theirs) and all(
            x.rod is y.rod and x.a == y.a and x.b == y.b for x, y in zip(mine, theirs, strict=True)
        )

    # -- solving -----------------------------------------------------------------------------

    def integrator(self, wanted: object) -> StrongIntegrator:
        """Return the integrator, which must be BDFAlpha or BDF."""
        if wanted is None:
            return BDFAlpha()
        if not isinstance(wanted, StrongIntegrator):
            raise DescriptionError(
                "simulate",
                "integrator",
                wanted,
                f"BDFAlpha with {type(self.form).__name__}, which has no coordinates, or BDF",
                "give e.g. BDFAlpha(-0.48), or leave it out",
            )
        return wanted

    def statics(
        self,
        values: Mapping[str, Any],
        origin: tuple[Problem, Still] | None,
        tolerance: float,
        progress: Callable[[float, int, float], None] | None,
    ) -> Still:
        """Return the equilibrium of the boundary-value problem on the branch from `origin`."""
        solver = self.form.solver(self.chain)
        path = self._base_path({}, values)
        try:
            start = None if origin is None else self._brought(solver, origin[1], values, tolerance)
            found = solver.statics(values, start, path, tolerance, progress)
        except ConvergenceError as error:
            if isinstance(error.last, State):
                levels = solver.record.levels
                last = _solution(error.last, solver)
                error.last = Still(last, [(levels[-1] if levels else 0.0, values)])
            raise
        solution = _solution(found, solver)
        if start is None:
            solution = self._on_branch(solver, solution, values, path, tolerance)
        known = self._own_error(solver, solution.q)
        if solution.error is None or (known is not None and known.shape > solution.error.shape):
            solution.error = known
        if is_told() and not (solution.error is None and solver.is_resolved()):
            if solution.error is None:
                solution.error = self._finer_error(solver, solution.q, values, tolerance)
            warn_of_error(solution.error, self.formulations, stacklevel=4)
        return Still(solution, [(1.0, values)])

    def _on_branch(
        self,
        solver: StrongSolver,
        first: StrongSolution,
        values: Mapping[str, Any],
        base: BasePath,
        tolerance: float,
    ) -> StrongSolution:
        """An equilibrium on the branch from no load, `first` if it is one; else with a warning.

        One without directions in which the energy falls is, and so is one that was found in one load
        step under loads that do not tell.
        """
        steps = first.rescues["load steps"]
        falling = self.stability.falling(first.q, values)
        if falling:
            first = self._followed(solver, first, values, base, tolerance)
            falling = self.stability.falling(first.q, values)
        if falling == 0 or (falling is None and not steps):
            return first
        other = reference(self, values)
        if other is not None and not other.is_at(first.q):
            return self._nearer(other, solver, first, base, tolerance)
        if falling or (other is not None and other.verdict()[0] is False):
            self._warn(unstable_branch("before", True))
        return first

    def _nearer(
        self,
        other: Reference,
        solver: StrongSolver,
        first: StrongSolution,
        base: BasePath,
        tolerance: float,
    ) -> StrongSolution:
        """The equilibrium near that of coordinates, `first` if this form finds none; with an error of
        at least the distance that is left, and a warning if more than the mesh explains it.
        """
        values, found = other.still.applied[-1][1], first
        with suppress(ConvergenceError):
            found = _solution(solver.statics(values, other.state(), base, tolerance), solver)
        if other.distance(found.q) < _NEARER * other.distance(first.q):
            found.iterations += first.iterations
            found.rescues = first.rescues + found.rescues
            found.rescues["branch of coordinates"] += 1
        else:
            found = first
        if not other.is_at(found.q):
            left, own = other.distance(found.q), self._own_error(solver, found.q)
            found.error = ShapeError(left, left / self.length)
            if own is None or own.shape < _EXPLAINED * left:
                text = "this equilibrium may lie on another branch than that from no load"
                self._warn(f"{text}: {strain_modes()} {OTHER}")
        elif other.verdict()[0] is False:
            self._warn(unstable_branch("before", True))
        return found

    @staticmethod
    def _warn(text: str) -> None:
        if is_told():
            warnings.warn(text, StabilityWarning, stacklevel=7)

    def _followed(
        self,
        solver: StrongSolver,
        first: StrongSolution,
        values: Mapping[str, Any],
        base: BasePath,
        tolerance: float,
    ) -> StrongSolution:
        """Go to an unstable equilibrium again, in short load steps on the branch from no load.

        A long one can lead to another branch. Where the branch ends before, what was found is kept,
        and `rescues` counts a branch lost.
        """

        def watch(state: State, level: float) -> int:
            return self.stability.falling(state, values, level) or 0

        try:
            state = solver.statics(values, None, base, tolerance, None, watch)
        except ConvergenceError:
            first.rescues["branch lost"] += 1
            return first
        found = _solution(state, solver)
        found.iterations += first.iterations
        return found

    def _own_error(self, solver: StrongSolver, found: State) -> ShapeError | None:
        """The error of an equilibrium as the solver that found it can tell."""
        size = solver.own_error(found)
        return None if size is None else ShapeError(size, size / self.length)

    def _finer_error(
        self, solver: StrongSolver, found: State, values: Mapping[str, Any], tolerance: float
    ) -> ShapeError | None:
        """The error of an equilibrium, from one on a finer grid that is sought from it; where there is
        none, from that of coordinates.
        """
        try:
            base = self._base_path({}, values)
            better, share = solver.improved(found, values, base, tolerance)
        except ConvergenceError:
            return self._coordinate_error(found, values)
        worst = 0.0
        for rod in self.chain.rods:
            s = np.linspace(0.0, rod.length, _COMPARED)
            coarse, fine = (self.sampler.poses(q, rod.name, s) for q in (found, better))
            apart = np.linalg.norm(coarse[:, :3, 3] - fine[:, :3, 3], axis=1)
            worst = max(worst, float(np.max(apart)))
        return ShapeError(worst / share, worst / share / self.length)

    def _coordinate_error(self, found: State, values: Mapping[str, Any]) -> ShapeError | None:
        """The distance of an equilibrium from that of coordinates, with the error of this one."""
        other = reference(self, values)
        if other is None or other.still.solution.error is None:
            return None
        away = other.distance(found) + other.still.solution.error.shape
        return ShapeError(away, away / self.length)

    def compared_error(self, still: Still) -> ShapeError | None:
        """The error of an equilibrium, from one on a finer grid."""
        found, solver = still.solution.q, self.form.solver(self.chain)
        if found.discrete is not None:
            solver.use_points(found.discrete.points)
        return self._finer_error(solver, found, still.applied[-1][1], _COMPARED_TO)

    def _brought(
        self, solver: StrongSolver, still: Still, values: Mapping[str, Any], tolerance: float
    ) -> State:
        """The state of an equilibrium, with the base on the way to where input values have it.

        The way is gone stride by stride, except for the last.
        """
        state: State = still.solution.q
        before, motions = still.applied[-1][1], self.description.motions_of(self.chain.rods[0].name)
        stages = math.ceil(1.0 / self._base_path(before, values).largest)
        for k in range(1, stages):
            part = dict(values)
            for name in (motion.name for motion in motions):
                part[name] = before[name] + (values[name] - before[name]) * k / stages
            state = solver.statics(values, state, self._base_path({}, part), tolerance, None)
        return state

    def _base_path(self, before: Mapping[str, Any], values: Mapping[str, Any]) -> BasePath:
        """Where the base is while its motions go from one set of values to another, 0 by default."""
        motions = self.description.motions_of(self.chain.rods[0].name)
        begin = np.array([float(before.get(motion.name, 0.0)) for motion in motions])
        change = np.array([float(values[motion.name]) for motion in motions]) - begin

        def at(level: float) -> BaseState:
            rows = zip(motions, begin + level * change, change, strict=True)
            return base_state(self.chain.base.pose, [Moving(*row) for row in rows])

        way = travel(lambda t: [at(t).twist], self.chain.length)
        return BasePath(lambda level: at(level).pose, STRIDE / max(way, STRIDE))

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
        """Move in time by solving a boundary-value problem at each instant."""
        steps = self._steps(integrator, inputs, clock.h, start, 5)
        return simulate(steps, clock, progress, checkpoints, control, watch)

    def stream(
        self, integrator: Integrator, values: Mapping[str, Any], h: float, start: Start
    ) -> Stream:
        """Move in time one boundary-value problem after the other."""
        held = {name: Held(value) for name, value in values.items()}
        return Stream(self._steps(integrator, held, h, start, 6), held)

    def _steps(
        self, method: Integrator, inputs: Mapping[str, Any], h: float, start: Start, level: int
    ) -> StrongSteps:
        """The steps of a motion, with a warning of what the form does not resolve in them.

        level : how many calls above the warning the user's is.
        """
        from pliant.solve.compiled import require_mass

        assert isinstance(method, StrongIntegrator)
        doubt = self.form.doubt(self.chain, method.rule(h, h).c0, h)
        if doubt:
            warnings.warn(doubt, ResolutionWarning, stacklevel=level)
        undamped = [
            piece.rod.label for piece in self.chain.pieces if not piece.rod.damping([0.0]).any()
        ]
        if method.depth > 2 and undamped:
            text = (
                f"{method!r} lets vibrations grow that have little damping and that a step does not "
                f"resolve, and {undamped[0]} has none: give its material a viscosity, or use "
                "BDF(order=2) or BDFAlpha()"
            )
            warnings.warn(text, ResolutionWarning, stacklevel=level)
        require_mass(self.description)
        schedule = ChainInputs(self.chain, inputs)
        state = self._first(schedule.base(0.0), start)
        return StrongSteps(self.chain, self.form, method, schedule, h, state, doubt)

    def _first(self, base: BaseState, start: Start) -> State:
        """The state at t = 0: where the base is then, with the velocities that were wished for."""
        state: State = rest_state(self.chain, base.pose) if start.q is None else start.q
        if not np.allclose(state.pose[0], base.pose, atol=1e-9):
            shift = base.pose @ se3.inverse(state.pose[0])
            state = replace(state, pose=shift @ state.pose)
        if start.q is None or start.velocity is not None:
            state = replace(state, velocity=self._velocity(state, base.twist, start.velocity))
        return state

    def _velocity(self, state: State, base: Array, given: Mapping[str, Any] | None) -> Array:
        """Body twists (K, 6) at the knots: those given by rod name, else those of the moving base."""
        found = np.zeros_like(state.velocity)
        if base.any():
            relative = se3.inverse(state.pose) @ state.pose[0]
            found = np.einsum("kij,j->ki", se3.Ad(relative), base)
        if given is None:
            return found
        check_names(self.description.rods, given)
        for k, piece in enumerate(self.chain.pieces):
            rows = state.piece == k
            if piece.rod.name in given:
                found[rows] = section_twists(piece.rod, given[piece.rod.name], state.s[rows])
        return found

    # -- answering ---------------------------------------------------------------------------

    def wrenches(self, still: Still, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (S, 6); they are what a strong form solves for, balance and law alike."""
        return self.sampler.wrenches(still.solution.q, rod.name, s)

    def moving_wrenches(self, path: Trajectory, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (T, S, 6)."""
        rows = [self.sampler.wrenches(state, rod.name, s) for state in path.q]
        return np.array(rows).reshape(len(path.t), len(s), 6)

    def potential(self, still: Still) -> dict[str, float]:
        """Energies of an equilibrium, J: elastic, gravity, loads."""
        state = still.solution.q
        share, values = still.applied[-1]
        ask = self._energies_at(state)
        return {
            "elastic": ask.elastic(state),
            "gravity": share * ask.gravitational(state),
            "loads": share * ask.dead(state, values),
        }

    def _energies_at(self, state: State) -> Energies:
        """The energies at the knots of a state; those of the same knots are kept."""
        own = self._own
        if not hasattr(own, "energies") or not np.array_equal(own.energies.s, state.s):
            own.energies = Energies(self.chain, state)
        return own.energies  # type: ignore[no-any-return]

    def energies(self, path: Trajectory, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Energies of a motion at some output times, J."""
        pairs = [(self._energies_at(path.q[k]), path.q[k]) for k in rows]
        return {
            "kinetic": np.array([ask.kinetic(state) for ask, state in pairs]),
            "elastic": np.array([ask.elastic(state) for ask, state in pairs]),
            "gravity": np.array([ask.gravitational(state) for ask, state in pairs]),
            "dissipated": path.dissipated[rows],
            "work": path.work[rows],
        }

    def reactions(self, still: Still) -> dict[str, Array]:
        """Wrenches (6,) that hold the robot, by name of the constraint or clamped rod."""
        share, values = still.applied[-1]
        return reactions(self.chain, still.solution.q, values, share)

    def moving_reactions(self, path: Trajectory) -> dict[str, Array]:
        """Wrenches (T, 6) that hold the robot in a motion."""
        return moving_reactions(self.chain, path.q, path.inputs)

    def readings(self, still: Still) -> dict[str, dict[str, Any]]:
        """From the effects at the knots of the state."""
        return dict(readings(self.chain, still.solution.q, still.applied[-1][1]))

    def moving_readings(self, path: Trajectory) -> dict[str, dict[str, Array]]:
        """From the effects at every output time."""
        rows = [
            readings(self.chain, q, {name: x[k] for name, x in path.inputs.items()})
            for k, q in enumerate(path.q)
        ]
        names = rows[0] if rows else {}
        return {
            name: {key: np.array([row[name][key] for row in rows]) for key in names[name]}
            for name in names
        }

    def judge(self, still: Still) -> tuple[bool | None, str]:
        """Whether an equilibrium is stable: from its conjugate points, or with coordinates."""
        return judge_chain(self, still)

    def adopt(self, other: Problem, q: State) -> State:
        """The state itself: solvers take up states with other knots, velocities included."""
        return q

    def as_numbers(self, q: State) -> Array:
        """Pose and wrench at every knot, one after the other."""
        rows = [q.pose[:, :3, 3], q.pose[:, :3, :3].reshape(-1, 9), q.wrench]
        return np.concatenate(rows, axis=1).ravel()


def _solution(state: State, solver: StrongSolver) -> StrongSolution:
    """An equilibrium with the record of the solver that found it."""
    record = solver.record
    history, rescues = list(record.history), +record.rescues
    return StrongSolution(
        state, record.iterations, record.residual, history, solver.unknowns, rescues
    )
