"""A robot whose rods are formulations with coordinates, compiled into one system."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from pliant.engine.program import Recurring
from pliant.model import (
    Array,
    ConvergenceError,
    Description,
    DescriptionError,
    Frame,
    PlausibilityWarning,
    RedundancyWarning,
    ResolutionWarning,
    Rod,
    StabilityWarning,
)
from pliant.model.telling import is_told
from pliant.physics.contract import Moment, Term
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Formulation
from pliant.solve import energy
from pliant.solve.checkpoint import Checkpoints
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.coordinate_steps import CoordinateSteps
from pliant.solve.dynamics import Trajectory, recorded_at, simulate
from pliant.solve.events import Watch
from pliant.solve.in_plane import FlatSteps
from pliant.solve.integrators.contract import Integrator
from pliant.solve.limits import map_limits, term_limits, unstable_branch
from pliant.solve.load_steps import StaticOptions, StaticSolver
from pliant.solve.mass import Mass
from pliant.solve.pool import POOL
from pliant.solve.problem import Problem, Start, Still, stretch_of
from pliant.solve.redundancy import redundancy_at_rest
from pliant.solve.sampling import Sampler
from pliant.solve.schedule import Schedule
from pliant.solve.shape_error import ShapeError, warn_of_error
from pliant.solve.singular import indifferent
from pliant.solve.spin import require_joint_inertia, require_spin_inertia, spun
from pliant.solve.statics import StaticSolution
from pliant.solve.streaming import Held, Stream
from pliant.solve.transfer import transferred
from pliant.solve.uncarried import lame_parts, missed_at_rest, missed_in_motion
from pliant.tree.forward import energy_of_rates, set_rates
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

if TYPE_CHECKING:
    from pliant.solve.inverse_dynamics import Instant, InverseDynamics

_LOOKED_AT = 50
"""States of a motion that are looked at for trouble."""
_TWISTS = 41
"""Sections of a rod whose velocities describe how it moves."""
_CAREFUL = (50, 250)
"""Least numbers of load steps in which an unstable equilibrium is sought again."""
_NEAR = 5
"""Newton iterations in which an equilibrium near the start is found."""
_ROUGH = 0.03
"""Estimated error of a shape over the length beyond which it is found by a finer grid: displacements
are no longer small then, and segments that are too long were estimated ten times too large."""
_STILL = 1e-6
"""Step, relative to the coordinates, by which strain rates are measured."""


def _inputs_at(fold: float, values: Mapping[str, Any], applied: list[tuple[float, Any]]) -> str:
    """A sentence with the inputs at a fold, a part of the way from those applied to `values`."""
    told = []
    for name, value in values.items():
        start = sum(share * np.asarray(old[name], dtype=float) for share, old in applied)
        change = np.asarray(value, dtype=float) - start
        if change.any():
            told.append(f"{name} = {np.array2string(start + fold * change, precision=6)}")
    scaled = f"At the fold, with all loads at {100.0 * fold:.4g} %, "
    return f"{scaled}{', '.join(told[:6])}." if told else ""


class CoordinateProblem(Problem):
    """A robot as it was when it was compiled, with one formulation for each rod.

    effects, sampler : what acts, on its tree, and what answers questions about configurations.
    """

    def __init__(self, description: Description, formulations: Mapping[str, Formulation]) -> None:
        self.description = description
        self.formulations = dict(formulations)
        self._robot = robot = POOL.take(description, formulations)
        self._effects, self._tree = robot.effects, robot.effects.tree
        self._sampler, self._solvers, self._planes = robot.sampler, robot.solvers, robot.planes
        finalize(self, POOL.give_back, robot).atexit = False
        self._lame = bool(lame_parts(self._effects))
        self._judge_loops()

    @property
    def effects(self) -> Effects:
        """All that acts. Who asks for it may keep it longer than this problem."""
        self._robot.shared = True
        return self._effects

    @property
    def effects_for_now(self) -> Effects:
        """All that acts, for somebody who keeps nothing of it longer than this problem."""
        return self._effects

    @property
    def tree(self) -> Tree:
        """The parts. Who asks for it may keep it longer than this problem."""
        self._robot.shared = True
        return self._tree

    @property
    def sampler(self) -> Sampler:  # type: ignore[override]
        """Answers questions about configurations, for as long as this problem is there."""
        return self._sampler

    def _judge_loops(self) -> None:
        """Find redundant constraints before anything is solved; warn of them and of doubtful terms."""
        doubts = [doubt for term in self._effects.terms for doubt in term.doubts(self._tree)]
        told = redundancy_at_rest(self._effects)
        self._effects.over_constrained = bool(told)
        if is_told():
            for doubt in doubts:
                warnings.warn(doubt, PlausibilityWarning, stacklevel=6)
            if told:
                warnings.warn(told, RedundancyWarning, stacklevel=6)

    @property
    def unknowns(self) -> int:
        """How many numbers are solved for at once: coordinates, force fields and multipliers."""
        return self._tree.size

    @property
    def rest(self) -> Array:
        """The coordinates of the unloaded robot."""
        return self._tree.q_rest

    def same_rods(self, other: Problem) -> bool:
        """Tell whether configurations of both mean the same: rods, knots, formulations, bases."""
        if self is other:
            return True
        if not isinstance(other, CoordinateProblem):
            return False
        rods, others = self.description.rods, other.description.rods
        mine, theirs = self._tree, other._tree
        return (
            list(rods) == list(others)
            and all(rods[name] is others[name] for name in rods)
            and all(self.formulations[n] == other.formulations[n] for n in self.formulations)
            and [part.source for part in mine.parts] == [part.source for part in theirs.parts]
            and list(mine.drivers) == list(theirs.drivers)
            and mine.same_maps(theirs)
        )

    def same_shapes(self, other: Problem) -> bool:
        """Tell whether coordinates of both are the same shapes: other materials, sections and masses
        change nothing in that.
        """
        if not isinstance(other, CoordinateProblem):
            return False
        return self.same_rods(other) or (
            self.formulations == other.formulations
            and list(self._tree.drivers) == list(other._tree.drivers)
            and self._tree.same_shapes(other._tree)
        )

    def same_unknowns(self, other: Problem) -> bool:
        """Tell whether multipliers too mean the same: the same constraints as well."""
        if not (isinstance(other, CoordinateProblem) and self.same_rods(other)):
            return False
        mine, theirs = ([term.source for term in x._effects.rows] for x in (self, other))
        return mine == theirs

    def rates_of(self, other: Problem, q: Array, v: Array | None) -> Array | None:
        """Rates (total,) of a motion that goes on with other constraints.

        Those that are new take up what cannot go on, as an inelastic impact does.
        """
        if v is None or self.same_unknowns(other):
            return v
        assert isinstance(other, CoordinateProblem)
        tree, known = self._tree, np.zeros(self._tree.total)
        known[tree.prescribed] = v[other._tree.prescribed]
        whole = known.copy()
        whole[tree.coordinates] = v[other._tree.coordinates]
        mass, state = Mass(self._effects), State(tree).place(q)
        return mass.solve(state, mass.momentum(state, whole), known=known)

    def stretches(self, q: Array) -> dict[str, Array]:
        """From the strains of the maps at the stations of their laws."""
        state = self._sampler.at(q)
        parts = zip(self._tree.parts, state.parts, self._tree.rest.parts, strict=True)
        return {
            part.name: stretch_of(at.strain.e, rest.strain.e)
            for part, at, rest in parts
            if part.rod is not None
        }

    # -- solving -----------------------------------------------------------------------------

    def integrator(self, wanted: object) -> Integrator:
        """Return the integrator; if none is asked for, Midpoint() or what suits effects on rods."""
        if wanted is None:
            from pliant.solve.integrators.midpoint import Midpoint
            from pliant.solve.integrators.newmark import GeneralizedAlpha

            return GeneralizedAlpha(0.8) if self._effects.squeezed_at_once else Midpoint()
        if not isinstance(wanted, Integrator):
            is_class = isinstance(wanted, type) and issubclass(wanted, Integrator)
            remedy = f"write {wanted.__name__}()" if is_class else "give e.g. Midpoint()"  # type: ignore[attr-defined]
            raise DescriptionError("simulate", "integrator", wanted, "an integrator", remedy)
        return wanted

    def statics(
        self,
        values: Mapping[str, Any],
        origin: tuple[Problem, Still] | None,
        tolerance: float,
        progress: Callable[[float, int, float], None] | None,
    ) -> Still:
        """Return the equilibrium by Newton's method on the branch from `origin`."""
        begin, applied = self._branch(origin)
        try:
            with self.solver(tolerance) as solver:
                found = solver.solve(self._effects.at(values), begin, progress)
                unstable = begin is None and self._grows(found)
                if unstable:
                    found, unstable = self._followed(solver, found)
        except ConvergenceError as error:
            if isinstance(error.last, StaticSolution):
                level = error.last.levels[-1] if error.last.levels else 0.0
                mixed = [(share * (1.0 - level), old) for share, old in applied]
                fold = error.last.fold
                error.last = Still(error.last, [*mixed, (level, values)])
                if fold is not None:
                    told = ConvergenceError(f"{error} {_inputs_at(fold, values, applied)}")
                    told.last = error.last
                    raise told from None
            raise
        self._warn([found.q])
        if found.error is not None:
            rough = found.error.relative > _ROUGH and not self.effects.memory
            if rough and is_told():
                found.error = self.compared_error(Still(found, [(1.0, values)])) or found.error
            warn_of_error(found.error, self.formulations, stacklevel=4)
        if is_told():
            rest = self._moment(found)
            self._tell([x for term in self._effects.terms if (x := term.told_at_rest(rest))])
        if found.indifferent and is_told():
            text = indifferent(self._effects, found)
            if text:
                warnings.warn(text, StabilityWarning, stacklevel=4)
        if self._lame:
            missed = missed_at_rest(self._effects, found)
            self._tell([str(item) for item in missed])
        if (unstable or found.lost is not None) and is_told():
            where = "before" if found.lost is None else f"at or before {100 * found.lost:.3g} % of"
            text = unstable_branch(where, unstable or bool(found.negative))
            warnings.warn(text, StabilityWarning, stacklevel=4)
        return Still(found, [(1.0, values)])

    @contextmanager
    def solver(self, tolerance: float = 1e-10) -> Iterator[StaticSolver]:
        """A static solver for one thread while it works; its storage is kept for the next one."""
        solver = self._solvers.pop() if self._solvers else StaticSolver(self._effects)
        solver.options = StaticOptions(tolerance=tolerance)
        yield solver
        self._solvers.append(solver)

    def _grows(self, found: StaticSolution) -> bool:
        """Whether small motions grow about an equilibrium under loads without potential, where pivots
        tell nothing of branches: by its determinant, and if it was not plainly near by its modes.
        """
        from pliant.solve.stability import judge

        if self._effects.increments > 1:
            # what rolls has no stiffness: the sign of nothing is rounding
            return False
        if found.odd:
            return True
        far = len(found.levels) > 1 or found.iterations > _NEAR
        return found.negative is None and far and judge(self._effects, found)[0] is False

    def _followed(self, solver: StaticSolver, found: StaticSolution) -> tuple[StaticSolution, bool]:
        """Go to an unstable equilibrium again in shorter load steps, on the branch from no load.

        Tells whether the equilibrium is unstable all the same.
        """
        for steps in _CAREFUL:
            solver.options = replace(solver.options, largest_step=1.0 / steps)
            try:
                other = solver.solve(found.inputs)
            except ConvergenceError:
                break
            other.iterations += found.iterations
            found = other
            if not self._grows(found):
                return found, False
        return found, True

    def start(self, problem: Problem, still: Still) -> StaticSolution | None:
        """The equilibrium of a result of this robot, to start from."""
        return self._branch((problem, still))[0]

    def _branch(
        self, origin: tuple[Problem, Still] | None
    ) -> tuple[StaticSolution | None, list[tuple[float, Any]]]:
        """Return the solution to follow the branch from, and the loads that act there."""
        if origin is None:
            return None, []
        problem, still = origin
        if not self.same_unknowns(problem):
            raise DescriptionError(
                "statics",
                "start",
                problem,
                "an Equilibrium of the robot with the same constraints",
                "leave start out to begin at the unloaded robot",
            )
        # loads added since did not act there
        absent = dict.fromkeys(self.description.inputs(), 0.0)
        applied = [
            (share, {**absent, **{k: v for k, v in old.items() if k in absent}})
            for share, old in still.applied
        ]
        solution = still.solution
        if problem is self:
            return solution, applied
        known = (solution.q, solution.z, self.acting(applied))
        assert isinstance(problem, CoordinateProblem)
        mine, theirs = ([x.memory for x in at._effects.terms] for at in (self, problem))
        memory = solution.memory if mine == theirs else None
        begin = StaticSolution(*known, negative=solution.negative, memory=memory)
        return begin, applied

    def acting(self, applied: list[tuple[float, Any]] | Any) -> Inputs:
        """What acts when shares of several sets of inputs act together."""
        nothing = self._effects.nothing
        u, drive = nothing.u.copy(), nothing.drive.copy()
        for share, values in applied:
            acting = self._effects.at(values)
            u += share * acting.u
            drive += share * acting.drive
        return Inputs(u, drive)

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
        """Move in time with a formulation's coordinates."""
        schedule, q, v = self.begin(Schedule(self._effects, inputs), start)
        flat = None
        if integrator.flattens:
            many = math.inf if integrator.chooses_steps else clock.steps
            flat = self._planes.of_motion(schedule, q, v, self._sampler.at(q), many)
        effects = self._effects if flat is None else flat.effects
        with integrator.borrowed(effects, clock.h) as stepper:
            if flat is None:
                steps = integrator.steps(stepper, schedule, q, v, clock.duration)
            else:
                begin = schedule.of(effects), q, flat.reduced(v)
                steps = FlatSteps(integrator.steps(stepper, *begin, clock.duration), flat)
            found = simulate(steps, clock, progress, checkpoints, control, watch)
            self._tell(stepper.remarks())
        self.warn_of_motion(found, integrator)
        return found

    def warn_of_motion(self, found: Trajectory, integrator: Integrator) -> None:
        """Warn of a motion in which maps are near their limits, or steps were damped."""
        if len(found.q):
            rows = np.unique(np.linspace(0, len(found.q) - 1, _LOOKED_AT).astype(int))
            self._warn([found.q[k] for k in rows[::-1]], 6)
            if self._lame:
                self._tell([str(missed) for missed in missed_in_motion(self._effects, found)], 6)
                self._tell([text for text in (spun(self._effects, found.v),) if text], 6)
        damped = found.rescues.get("damped steps", 0)
        if damped:
            text = (
                f"time steps of {found.h:g} s did not converge, not even in halves; {damped} damped "
                "ones were taken instead, in which fast vibrations lose their energy. Try a smaller "
                f"dt, or {integrator.damped}, which damps such vibrations all the time."
            )
            warnings.warn(text, ResolutionWarning, stacklevel=5)

    def _warn(self, states: list[Array], level: int = 5) -> None:
        """Warn of the first of some configurations at which a map is near its limits.

        level : how many calls above the warning the user's is.
        """
        if not is_told():
            return
        doubt = next((text for q in states if (text := self.trouble(q))), "")
        if doubt:
            warnings.warn(doubt, ResolutionWarning, stacklevel=level)

    def _tell(self, doubts: list[str], level: int = 5) -> None:
        """Warn of what acts on rods and is not carried by their formulations."""
        for doubt in doubts:
            warnings.warn(doubt, ResolutionWarning, stacklevel=level)

    def stream(
        self, integrator: Integrator, values: Mapping[str, Any], h: float, start: Start
    ) -> Stream:
        """Move in time one step after the other."""
        held = {name: Held(value) for name, value in values.items()}
        fixed = self.description.settled_inputs()
        moving = {name: value for name, value in held.items() if name not in fixed}
        begin = self.begin(Schedule(self.effects, moving), start)
        stepper = integrator.stepper(self.effects, h)
        stepper.prepare()
        return Stream(CoordinateSteps(integrator, stepper, *begin), held)

    def begin(self, schedule: Schedule, start: Start) -> tuple[Schedule, Array, Array]:
        """The inputs over time, and the configuration and rates at the start."""
        from pliant.solve.compiled import require_mass
        from pliant.solve.initial_conditions import begin, coordinate_rates, require_closed

        require_mass(self.description, self.formulations)
        require_spin_inertia(self._effects)
        require_joint_inertia(self._effects)
        first = schedule.at(0.0)
        q = self.rest if start.q is None else start.q
        rates = np.zeros(self._tree.total) if start.v is None else start.v
        q, v = begin(self._effects, q, rates, first)
        require_closed(self._effects, q)
        if start.velocity is not None:
            v = coordinate_rates(self._effects, q, start.velocity, first)
        return schedule, q, v

    # -- answering ---------------------------------------------------------------------------

    def wrenches(self, still: Still, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (S, 6): from what acts beyond s, or stiffness times strain."""
        q = still.solution.q
        if by == "balance" and not self._tree.is_nested(rod.name):
            from pliant.solve.internal_wrench import BeyondSections

            found, u = still.solution, self.acting(still.applied).u
            return BeyondSections(self._sampler, q, u, found.z, memory=found.memory).wrench(rod, s)
        stretch = self._sampler.strains(q, rod.name, s) - self._sampler.rest_strains(rod.name, s)
        return np.asarray(rod.stiffness(s) * stretch)

    def moving_wrenches(self, path: Trajectory, rod: Rod, s: Array, by: str) -> Array:
        """Internal wrenches (T, S, 6): from what acts beyond s, or stiffness times strain plus
        damping times strain rate.
        """
        if by == "law" or self._tree.is_nested(rod.name):
            rows = [self._law(q, v, rod, s) for q, v in zip(path.q, path.v, strict=True)]
        else:
            from pliant.solve.internal_wrench import BeyondSections

            rows = [
                BeyondSections(self._sampler, at.q, at.inputs.u, at.z, at).wrench(rod, s)
                for at in self._instants(path)
            ]
        return np.array(rows).reshape(len(path.t), len(s), 6)

    def _instants(self, path: Trajectory) -> Iterator[Instant]:
        """Accelerations and what holds the robot at every output time."""
        from pliant.solve.inverse_dynamics import InverseDynamics

        return InverseDynamics(self._effects, path.h).along(path)

    def _law(self, q: Array, v: Array, rod: Rod, s: Array) -> Array:
        """Stiffness times strain plus damping times strain rate (S, 6)."""
        sampler = self._sampler
        stretch = sampler.strains(q, rod.name, s) - sampler.rest_strains(rod.name, s)
        wrench = rod.stiffness(s) * stretch
        D = rod.damping(s)
        return wrench + D * self._strain_rate(q, v, rod.name, s) if D.any() else wrench

    def _strain_rate(self, q: Array, v: Array, rod: str, s: Array) -> Array:
        """Strain rates (S, 6), by a central difference along the motion."""
        size = float(np.abs(v).max(initial=0.0))
        if size == 0.0:
            return np.zeros((len(s), 6))
        step = _STILL / size
        here = State(self._tree).place(q)
        ahead = self._tree.moved(here, step * v, newton=False)
        behind = self._tree.moved(here, -step * v, newton=False)
        difference = self._sampler.strains(ahead, rod, s) - self._sampler.strains(behind, rod, s)
        return np.asarray(difference / (2.0 * step))

    def potential(self, still: Still) -> dict[str, float]:
        """Energies of an equilibrium, J: elastic, gravity, loads."""
        state = State(self._tree).place(still.solution.q)
        return energy.potential(self._effects, state, still.solution.inputs)

    def energies(self, path: Trajectory, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Energies of a motion at some output times, J."""
        quiet = self._effects.at(dict.fromkeys(path.inputs, 0.0))
        state, work, v = self._sampler.at(self.rest), Work(self._tree), np.zeros(self._tree.total)
        move = Recurring(set_rates, self._tree, state, work, v)
        stored, kinetic = [], []
        for k in rows:
            self._sampler.at(path.q[k])
            stored.append(energy.potential(self._effects, state, quiet, without="loads"))
            v[...] = path.v[k]
            move()
            kinetic.append(energy_of_rates(self._tree, work))
        return {
            "kinetic": np.array(kinetic),
            **{name: np.array([row[name] for row in stored]) for name in (stored or [{}])[0]},
            "dissipated": path.dissipated[rows],
            "work": path.work[rows],
        }

    def reactions(self, still: Still) -> dict[str, Array]:
        """Wrenches (6,) that hold the robot: multipliers, and what clamps exert."""
        return energy.reactions(self._effects, still.solution)

    def moving_reactions(self, path: Trajectory) -> dict[str, Array]:
        """Wrenches (T, 6) that hold the robot in a motion."""
        rows = [at.reactions for at in self._instants(path)]
        names = rows[0] if rows else {}
        return {name: np.array([row[name] for row in rows]) for name in names}

    def drive_forces(self, still: Still) -> dict[str, Any]:
        """From the gradient of all that acts on the prescribed coordinates."""
        return energy.drive_forces(self._effects, still.solution)

    def moving_drive_forces(self, path: Trajectory) -> dict[str, Any]:
        """From balance at each output time, inertia included."""
        driven = len(self._tree.prescribed) > 0
        rows = [at.drives for at in self._instants(path)] if driven else []
        return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}

    def joint_rate(self, v: Array, part: str) -> Array:
        """Velocities (nv,) of the joint by which a part hangs."""
        carrier = self._tree.part(part)
        return v[carrier.joint_index]

    def joint_values(self, q: Array, part: str) -> Array:
        """Values (nv,) of the joint by which a part hangs, see `JointMap.values`."""
        carrier = self._tree.part(part)
        return carrier.joint.values(q[carrier.joint_slice])

    def readings(self, still: Still) -> dict[str, dict[str, Any]]:
        """From the terms of the effects."""
        moment = self._moment(still.solution)
        return {term.name: term.readings(moment) for term in self._effects.terms if term.name}

    def _moment(self, found: StaticSolution) -> Moment:
        """The robot in an equilibrium."""
        state, work = State(self._tree).place(found.q), Work(self._tree)
        where = (self._tree, state, work, found.inputs.u, found.z)
        return Moment(*where, memory=found.memory)

    def moving_readings(self, path: Trajectory) -> dict[str, dict[str, Array]]:
        """From the terms of the effects at every output time; multipliers follow from balance."""
        from pliant.solve.inverse_dynamics import InverseDynamics

        telling = [term for term in self._effects.terms if term.name]
        held = any(len(term.rows) for term in telling)
        inverse = InverseDynamics(self._effects, path.h) if held else None
        rows = [self._told(telling, path, k, inverse) for k in range(len(path.t))]
        names = rows[0] if rows else {}
        return {
            name: {key: np.array([row[name][key] for row in rows]) for key in names[name]}
            for name in names
        }

    def _told(
        self, telling: list[Term], path: Trajectory, k: int, inverse: InverseDynamics | None
    ) -> dict[str, dict[str, Any]]:
        """Readings at output time k of a motion."""
        state, work = State(self._tree).place(path.q[k]), Work(self._tree)
        z = np.zeros(self._tree.total)
        inputs = self._effects.at({name: values[k] for name, values in path.inputs.items()})
        recorded = recorded_at(path, k)
        known = recorded is not None and all(x.records for x in telling if len(x.rows))
        if inverse is not None and not known:
            z = inverse.output(path, k).z
        set_rates(self._tree, state, work, path.v[k])
        moment = Moment(self._tree, state, work, inputs.u, z, path.v[k], recorded=recorded)
        return {term.name: term.readings(moment) for term in telling}

    def compared_error(self, still: Still) -> ShapeError | None:
        """From the same robot with twice as many intervals."""
        from pliant.solve.finer import compared_error

        return compared_error(self, still)

    def judge(self, still: Still) -> tuple[bool | None, str]:
        """Whether an equilibrium is stable: from the inertia of the tangent, or from its modes."""
        from pliant.solve.stability import judge

        return judge(self._effects, still.solution)

    def frame(self, q: Array, frame: Frame) -> Array:
        """World pose (4, 4) of a frame of a rod or of a body, joints included."""
        return self._sampler.frame(q, frame)

    def poses_along(self, configurations: Sequence[Array], rod: str, s: Array) -> Array:
        """World poses (T, S, 4, 4) of sections of a rod at several configurations."""
        return self._sampler.poses_along(configurations, rod, s)

    def motions_along(
        self, configurations: Sequence[Array], rates: Sequence[Array], rod: str, s: Array
    ) -> tuple[Array, Array]:
        """World poses (T, S, 4, 4) and body twists (T, S, 6) of sections of a rod."""
        return self._sampler.motions_along(configurations, rates, rod, s)

    def body_twist(self, q: Array, v: Array, body: str) -> Array:
        """Body twist (6,) of a body at rates v (total,)."""
        return self._sampler.velocities(q, v, body, np.zeros(1))[0]

    def centres(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities (B, 3) in the world of the centres of bodies that joints move."""
        bodies = self.moved_bodies
        if not bodies:
            return np.zeros((0, 3)), np.zeros((0, 3))
        return self._moved_centres(*self._sampler.bodies(q, v, [body.name for body in bodies]))

    def joint(self, q: Array, part: str) -> Array:
        """Coordinates (nq,) of the joint by which a part hangs, none if it is fixed."""
        carrier = self._tree.part(part)
        return q[carrier.joint_slice] if carrier.name == part else q[:0]

    def with_joints(self, q: Array, values: Mapping[str, Any]) -> Array:
        """A configuration (nq,) with joints, by part name, at given coordinates."""
        from pliant.solve.closure import close_by_joints
        from pliant.solve.initial_conditions import with_joints

        return close_by_joints(self._effects, with_joints(self._tree, q, values), values)

    def through_points(self, given: Mapping[str, Any], caller: str) -> Array:
        """A configuration (nq,) whose rods pass through points, by rod name."""
        from pliant.solve.start_points import configuration_through

        return configuration_through(self._tree, given, caller)

    def still_at(self, q: Array, values: Mapping[str, Any]) -> Still:
        """A configuration q (nq,) from which the equilibrium under input values is sought."""
        begin = StaticSolution(q, np.zeros(self._tree.total), self._effects.at(values))
        return Still(begin, [(1.0, values)])

    @property
    def length(self) -> float:
        """Of the longest part, m."""
        return self._tree.length

    def adopt(self, other: Problem, q: Array) -> Array:
        """The coordinates closest in shape to q of the same robot in another discretisation."""
        assert isinstance(other, CoordinateProblem)
        return transferred(self._sampler, other._sampler, q)

    def twists(self, q: Array, v: Array) -> dict[str, Array]:
        """Body twists by part name, of rods at evenly spaced sections, at rates v (total,)."""
        rods = self.description.rods
        return {
            part.name: self._sampler.velocities(
                q, v, part.name, np.linspace(0.0, part.length, _TWISTS)
            )
            if part.name in rods
            else self.body_twist(q, v, part.name)
            for part in self._tree.parts
            if not part.auxiliary
        }

    def trouble(self, q: Array) -> str:
        """What the maps of the rods say of it, or else the first effect that has something to say."""
        found = map_limits(self._tree, q)
        telling = any(type(x).trouble is not Term.trouble for x in self._effects.terms)
        if found or not telling or not np.isfinite(q).all():
            return found
        return term_limits(self._effects, self._sampler.at(q))

    def as_numbers(self, q: Array) -> Array:
        """The coordinates."""
        return q
