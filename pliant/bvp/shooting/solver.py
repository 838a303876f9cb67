"""Equilibria and motions of a chain by shooting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.boundary_conditions import make_supports, start_at_base, tip_conditions
from pliant.bvp.chain import Chain
from pliant.bvp.contract import (
    LARGEST_TURN,
    BasePath,
    Progress,
    Record,
    State,
    StepError,
    StrongSolver,
    TimeRule,
    Watch,
    arrays_in,
    blank_state,
)
from pliant.bvp.energy_balance import accumulate, add_own_loads
from pliant.bvp.history import (
    Discrete,
    History,
    append_instant,
    base_row,
    begin_history,
    history_of,
    move_base,
    write_histories,
)
from pliant.bvp.jump_conditions import point_wrenches
from pliant.bvp.prediction import append, new_past, restart
from pliant.bvp.rod_equations import ROTATIONS
from pliant.bvp.shooting.engine import (
    BY_MODIFIED,
    BY_MULTIPLE,
    CODE,
    IMPLAUSIBLE,
    LEVEL,
    MOST_SEGMENTS,
    RESIDUAL,
    RETRY,
    UNEXPECTED,
    Motion,
    march,
)
from pliant.bvp.shooting.equations import (
    EQUILIBRIUM,
    LIMITS,
    STEP,
    Setting,
    new_segments,
    record_programs,
)
from pliant.bvp.shooting.extrapolation import extrapolated_error
from pliant.bvp.shooting.integration import (
    ORDERS,
    SCHEMES,
    at_stations,
    equal_runs,
    group,
    integrate,
)
from pliant.bvp.shooting.mesh import STAGES, Mesh
from pliant.bvp.shooting.plausibility import LEAST, applied_wrench, write_bend, write_limits
from pliant.bvp.states import interpolated
from pliant.engine import loops
from pliant.engine.arrays import copy, put, take
from pliant.engine.newton import Newton, NewtonError
from pliant.engine.program import Program, record, run
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model import BaseState, ConvergenceError
from pliant.rods.contract import Ints

if TYPE_CHECKING:
    from pliant.bvp.shooting.form import ShootingForm

_HELP = 0.02
"""Load step below which rescues are called."""
_MOST_SEGMENTS = 64
_NEARBY_SEGMENTS, _NEARBY = (8, 32), 1e-8
"""Segments with which an equilibrium is sought near a known one, and the tolerance."""
_REASONS = {
    loops.SINGULAR: "the end conditions do not depend on the unknowns",
    loops.SLOW: f"no convergence in {EQUILIBRIUM.iterations} iterations",
    loops.WORSE: "the residual does not get smaller",
    loops.INFINITE: "the numbers became infinite",
    IMPLAUSIBLE: "what was found is another motion than the one under way, with wrenches far beyond "
    "what loads, pressures and inertia can bring",
    UNEXPECTED: "what was found lies too far from the last steps",
}


def more_segments(count: int, intervals: int) -> list[int]:
    """Numbers of segments that help, one after the other, where `count` are not enough."""
    counts, more = [], 4 if count == 1 else 2 * count
    while more <= min(_MOST_SEGMENTS, intervals // 2):
        counts.append(more)
        more *= 2
    return counts


def cut_places(mesh: Mesh, count: int) -> Ints:
    """First intervals of `count` segments of about one length, and N; fewer if intervals are few."""
    edges = np.concatenate([[0.0], np.cumsum(mesh.intervals.h)])
    wanted = np.linspace(0.0, edges[-1], count + 1)
    return np.unique(np.searchsorted(edges, wanted - 1e-9 * edges[-1]))


class ShootingSolver(StrongSolver):
    """Equilibria and motions by shooting over `steps` intervals, with help where it is needed."""

    smallest, growth = 1e-3, 2.0

    def __init__(
        self, chain: Chain, form: ShootingForm, edges: list[Array], count: int | None = None
    ) -> None:
        super().__init__(chain)
        self.form, self.count = form, form.segments if count is None else count
        self.kind, self.scheme = ROTATIONS[form.rotation], SCHEMES[form.scheme]
        self.rule = TimeRule(0.0, 0.0, 0.0, 0.0)
        self.use(Mesh(chain, edges))

    def use(self, mesh: Mesh) -> None:
        """Work on these intervals from now on."""
        self.mesh, N = mesh, mesh.N
        self.supports = make_supports(self.chain)
        everywhere = self.supports.tip_held[3:].any() or mesh.own is not None
        unknowns, chain, units = 18 if everywhere else 15, self.chain, self.supports.units
        self.setting = Setting(
            self.kind, self.scheme, chain.length, chain.scale, units, unknowns, np.zeros(4)
        )
        counts = ([self.count] if self.count > 1 else []) + more_segments(self.count, N)
        cuts = [np.array([0, N]), *(cut_places(mesh, count) for count in counts)]
        self._plain = min(self.count - 1, 1)
        flags = np.zeros((2, loops.FLAGS), dtype=np.int64)
        self.newtons = [Newton(EQUILIBRIUM, row) for row in flags]
        halves = [np.array([0, max(1, N // 2)])]
        self.middle = new_segments(halves, unknowns, self.newtons[0])
        self.segments = new_segments(cuts, unknowns, self.newtons[1])
        nodes, kept = np.zeros((N, 2, 24)), np.zeros((N, 2, 24))
        mode = np.zeros(4, dtype=np.int64)
        stages, law = np.zeros((N, STAGES, 12)), np.zeros((2 * N, 18))
        written = np.zeros(LIMITS), np.zeros(5), np.zeros(1), np.zeros(3, dtype=np.int64)
        self.motion = Motion(new_past(24 * N), mode, nodes, stages, kept, law, *written)
        self.balance = mesh.balance(self.totals)
        self.history = self._still
        self.x, self._base = np.zeros(6), np.zeros(18)
        self._shares, self._keep_before = np.zeros(3), np.zeros(1, dtype=bool)
        self._most_intervals = np.ones(1, dtype=np.int64)
        self._programs: list[Program] = []
        self._recorded: History | None = None
        self._reset()
        self._knots()

    def _knots(self) -> None:
        """Knots are the ends of the intervals: N + pieces of them, here as rows of 2 N ends."""
        ends = []
        for a, b in zip(self.mesh.first[:-1], self.mesh.first[1:], strict=True):
            ends += [*range(2 * a, 2 * b, 2), 2 * b - 1]
        self._ends: Ints = np.array(ends)
        self._stations = STAGES * (self._ends // 2) + (STAGES - 1) * (self._ends % 2)

    def _reset(self) -> None:
        """Use as little help as possible, and no derivative of before."""
        self.motion.mode[:] = self._plain, 0, 0, RETRY
        self._most = self.count
        self._forget()

    def _forget(self) -> None:
        for newton in self.newtons:
            newton.forget_factor()

    def _record(self, moving: bool) -> None:
        """Write down what equilibria, or time steps with the present history, are made of."""
        mesh, motion, quick = self.mesh, self.motion, None
        if moving and mesh.own is None:
            quick = equal_runs(mesh.intervals.h, mesh.jumps.first), self._most_intervals
        given = self.setting, mesh.intervals, self.supports, quick
        leave = motion.nodes, motion.stages, motion.limits
        self._programs = [
            *record_programs(*given, self.middle, *leave),
            *record_programs(*given, self.segments, *leave),
        ]
        motion.programs[:], motion.bend[:] = 0, 0.0
        if moving:
            made = [record(part) for part in (self._begin_instant, self._compare, self._accept)]
            motion.programs[:] = [program.address for program in made]
            self._programs += made
        self._recorded = self.history if moving else None

    def _begin_instant(self) -> None:
        """Set up the next instant."""
        setting, history, mesh = self.setting, self.history, self.mesh
        run(write_histories, setting.rule, history, mesh.law, mesh.table, mesh.jumps.history)
        run(move_base, setting.rule, history, self.supports, self._base)
        run(group, setting.scheme, mesh.intervals, setting.rule, self._most_intervals)
        limits = self.motion.limits
        given = setting, mesh.intervals, self.supports, history
        run(write_limits, *given, self.motion.kept, limits)

    def _compare(self) -> None:
        """Compare a solution with what was expected."""
        given = self.chain.length, self.mesh.intervals, self.history
        run(write_bend, *given, self.motion.nodes, self.motion.bend)

    def _accept(self) -> None:
        """Take the solution as the present, and add work and loss of the step."""
        mesh, motion, history, rule = self.mesh, self.motion, self.history, self.setting.rule
        places, x = np.arange(2 * mesh.N), self.segments.x
        ends, rows, wrench = motion.nodes.reshape(-1, 24), mesh.table, np.zeros(6)
        body, (strain, velocity) = np.zeros_like(mesh.jumps.history), np.zeros((2, len(mesh.s), 6))
        offsets, lasts = np.zeros((2, len(mesh.s), 6)), np.zeros(24 * mesh.N)
        copy(motion.nodes, motion.kept)
        stations = STAGES * (places // 2) + (STAGES - 1) * (places % 2)
        _take_columns(mesh.table, stations, slice(18), motion.law)
        _take_columns(ends, mesh.body_places, slice(6, 12), body)
        _take_columns(ends, places[1::2], slice(24), lasts)
        put(x, np.flatnonzero(self.supports.held), wrench)
        run(append, motion.past, self.setting.units[0], self._keep_before, x, lasts)
        found = strain, velocity, offsets, self.balance.own_stress
        leave = motion.stages, motion.nodes, history.strain_offset
        run(at_stations, rule, mesh.intervals, mesh.D, *leave, *found)
        now = mesh.table, mesh.jumps.history, strain, velocity, body, motion.nodes[0, 0]
        run(append_instant, rule, self._keep_before, *now, history)
        copy(offsets[0], history.strain_offset)
        copy(offsets[1], history.velocity_offset)
        if mesh.own is not None:
            rows = np.zeros_like(mesh.table)
            run(add_own_loads, mesh.intervals.own, rule, self.balance, ends, mesh.table, rows)
        run(accumulate, self.balance, self._shares, rows, mesh.jumps, ends, wrench, history)

    def own_error(self, found: State) -> float | None:
        """From steps of twice the length over pairs of intervals, see `extrapolation`."""
        mesh, motion = self.mesh, self.motion
        if not np.array_equal(found.rows(), motion.nodes.reshape(-1, 24)[self._ends]):
            return None
        runs = equal_runs(mesh.intervals.h, mesh.jumps.first)
        return extrapolated_error(
            self.setting,
            self.segments,
            mesh.intervals,
            runs,
            ORDERS[self.form.scheme],
            motion.nodes,
        )

    def improved(
        self, found: State, values: Mapping[str, Any], base: BasePath, tolerance: float
    ) -> tuple[State, float]:
        """Return the equilibrium on intervals of half the length.

        By multiple shooting, which holds on to the state that was found at the borders of segments.
        """
        edges = [np.sort(np.append(e, 0.5 * (e[1:] + e[:-1]))) for e in self.mesh.edges]
        share = 1.0 - 0.5 ** ORDERS[self.form.scheme]
        for segments in _NEARBY_SEGMENTS:
            count = max(self.count, min(segments, self.mesh.N))
            solver = ShootingSolver(self.chain, self.form, edges, count)
            try:
                return solver.nearby(values, found, base, max(tolerance, _NEARBY)), share
            except NewtonError as error:
                reason = error
        raise ConvergenceError(f"no equilibrium was found nearby: {reason}")

    def nearby(
        self, values: Mapping[str, Any], start: State, base: BasePath, tolerance: float
    ) -> State:
        """Return the equilibrium near a state; raises NewtonError if none is found."""
        self.record, self._tolerance, self._values = Record(), tolerance, values
        self._path, self._gap, self._slope = base, np.zeros(6), np.zeros(6)
        self.supports.pose[:] = start.pose[0]
        self._hold(start)
        self._apply(1.0)
        self._solve(tolerance, True, False)
        return self._state(self._end_rows(), 0.0)

    @property
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for, with the most segments since `begin`."""
        return 6 + 18 * (len(cut_places(self.mesh, max(self._most, self.count))) - 2)

    # -- states ------------------------------------------------------------------------------

    def _hold(self, state: State) -> None:
        """Take the nodes and the unknowns at the base from a state, whose knots may be others."""
        ends, s = self._ends, self.mesh.s[self._stations]
        flat = self.motion.nodes.reshape(-1, 24)
        flat[ends] = interpolated(state, self.mesh.piece[self._stations], s).rows()
        inner = np.setdiff1d(np.arange(len(flat)), ends)
        flat[inner] = flat[inner + 1]
        self.x = np.where(self.chain.base.held, state.wrench[0], 0.0)

    def _state(self, law: Array, c0: float) -> State:
        """The nodes as a state; law (2 N, 18) of their instant."""
        state = blank_state(self.mesh.piece[self._stations], self.mesh.s[self._stations])
        rows, P = self.motion.nodes.reshape(-1, 24)[self._ends], law[self._ends]
        state.wrench, state.velocity = rows[:, :6].copy(), rows[:, 6:12].copy()
        state.pose[:, :3, 3] = rows[:, 12:15]
        state.pose[:, :3, :3] = rows[:, 15:].reshape(-1, 3, 3)
        state.strain = P[:, 6:12] + P[:, :6] * state.wrench
        if self.mesh.own is not None:
            pairs = zip(self._stations, state.wrench, strict=True)
            state.strain = np.array([self.mesh.own.strain(k, c0, w)[0] for k, w in pairs])
        state.strain_rate = c0 * state.strain + P[:, 12:18]
        return state

    def _end_rows(self) -> Array:
        """Law and strain history (2 N, 18) at both ends of the intervals."""
        rows = self.mesh.intervals.table[:, [0, STAGES - 1], :18]
        return np.asarray(rows.reshape(-1, 18))

    def _still_state(self) -> State:
        """The nodes of an equilibrium as a state that a motion can start from."""
        state, mesh = self._state(self._end_rows(), 0.0), self.mesh
        history = self._still
        still = np.zeros((2, len(mesh.s), 6))
        offset = history.strain_offset
        parts = self.motion.stages, self.motion.nodes, offset, history.strain, still[1]
        rule, stress = np.zeros(4), self.balance.own_stress
        at_stations(rule, mesh.intervals, mesh.D, *parts, still, stress)
        history.strain_before[:], history.strain_offset[:] = history.strain, still[0]
        state.discrete = Discrete(mesh.edges, history, state.velocity.copy(), np.zeros(0))
        return state

    # -- equilibria --------------------------------------------------------------------------

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: BasePath,
        tolerance: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> State:
        """Return the equilibrium for input values, by load steps if it cannot be had at once."""
        self.record, self._tolerance, self._values = Record(), tolerance, values
        self._path = base
        self._gap, self._slope = np.zeros(6), np.zeros(6)
        clamped = self.supports.clamped
        if start is not None:
            for helped in (False, True):
                self.supports.pose[:] = start.pose[0]
                self._hold(start)
                self._apply(1.0)
                try:
                    self._solve(tolerance, not helped, helped)
                    self.record.levels.append(1.0)
                    return self._still_state()
                except NewtonError:
                    pass
        self.supports.pose[:] = base.pose(0.0) if clamped else self.chain.base.pose
        self._start_unloaded()
        state = self._follow(progress, watch)
        if len(self.record.levels) > 1:
            self.record.rescues["load steps"] = len(self.record.levels) - 1
        return state

    def _start_unloaded(self) -> None:
        """Integrate from the base without loads; a tip held elsewhere goes there with the load."""
        mesh, y, Z = self.mesh, np.zeros(24), np.zeros((18, 6))
        mesh.load(dict.fromkeys(self.chain.description.inputs(), 0.0), 0.0)
        mesh.rest()
        self.x = np.zeros(6)
        start_at_base(self.supports, 0.0, self.x, y, Z)
        workspace = self.motion.nodes, self.motion.stages
        none = np.zeros((18, 0))
        integrate(self.kind, self.scheme, mesh.intervals, 0.0, 0, mesh.N, y, none, *workspace)
        self.supports.left[:] = 0.0
        tip_conditions(self.supports, y, none, self._gap, np.zeros((6, 0)))
        self._gap[~self.supports.tip_held] = 0.0
        self._curvature = self._curvatures()

    def _curvatures(self) -> Array:
        """Curvature and twist (N, 3) at the starts of the intervals."""
        law = self.mesh.intervals.table[:, 0]
        return np.asarray(law[:, 6:9] + law[:, :3] * self.motion.nodes[:, 0, :3])

    def _apply(self, level: float) -> None:
        """Let loads act in part, and supports be as far away as is left of the way to them."""
        self.mesh.load(self._values, level)
        self.mesh.rest()
        self.supports.left[:] = (1.0 - level) * self._gap
        if self.supports.clamped:
            self._put_base(self._path.pose(level))

    def _put_base(self, pose: Array) -> None:
        """Put a clamped base to a pose (4, 4), and the whole chain with it."""
        shift = pose @ se3.inverse(self.supports.pose)
        rows = self.motion.nodes.reshape(-1, 24)
        rows[:, 12:15] = rows[:, 12:15] @ shift[:3, :3].T + shift[:3, 3]
        rows[:, 15:] = (shift[:3, :3] @ rows[:, 15:].reshape(-1, 3, 3)).reshape(-1, 9)
        self.supports.pose[:] = pose

    def _keep(self) -> tuple[Array, ...]:
        """Unknowns, nodes, base, curvature and slope at the present load level."""
        where = self.motion.nodes.copy(), self.supports.pose.copy()
        return self.x.copy(), *where, self._curvature, self._slope

    def _restore(self, kept: tuple[Array, ...]) -> None:
        """Come back to a load level."""
        x, self.motion.nodes[:], self.supports.pose[:], self._curvature, self._slope = kept
        self.x = x.copy()

    def _reach(self, level: float, target: float) -> State:
        """One load level: plainly, and with help once the load steps have become short."""
        before, curvature, step = self.x.copy(), self._curvature, target - level
        tolerance = self._tolerance if target >= 1.0 else max(self._tolerance, 1e-6)
        self._apply(target)
        nodes = self.motion.nodes.copy()
        self.x = before + step * self._slope
        try:
            self._solve(tolerance, True, False)
        except NewtonError:
            if step > _HELP or not self.form.rescue:
                raise
            self.x, self.motion.nodes[:] = before + step * self._slope, nodes
            self._solve(tolerance, False, True)
        self._curvature, self._slope = self._curvatures(), (self.x - before) / step
        turn = np.linalg.norm(self._curvature - curvature, axis=1) @ self.mesh.intervals.h
        if not float(turn) < LARGEST_TURN:
            raise NewtonError("the rods turn too far in one load step")
        return self._still_state()

    def _solve(self, tolerance: float, strict: bool, rescue: bool) -> None:
        """Solve for an equilibrium from the nodes and x; raises NewtonError."""
        self._reset()
        if self._recorded is not None or not self._programs:
            self._record(moving=False)
        jumps = self.mesh.jumps
        floor = max(LEAST, float(applied_wrench(self.mesh.intervals, self.chain.scale)))
        shortest = 1.0 if strict else EQUILIBRIUM.shortest
        self.motion.limits[:], self.setting.rule[:] = (tolerance, np.inf, floor, shortest), 0.0
        for newton in self.newtons:
            newton.use(EQUILIBRIUM)
        restart(self.motion.past, self.x, self.motion.nodes[:, 1].ravel())
        pushes = jumps.wrenches[None].copy(), self._base[None].copy(), jumps.wrenches, self._base
        done, report = self._solve_instants(False, rescue, pushes)
        if not done:
            raise NewtonError(self._reason(report[CODE], rescue))
        self.x, self.record.residual = self.segments.x.copy(), float(report[RESIDUAL])
        self.record.history = self.newtons[1].sizes[1:]

    @property
    def _still(self) -> History:
        """The history of nothing."""
        zero, body = np.zeros((len(self.mesh.s), 6)), np.zeros_like(self.mesh.jumps.history)
        return begin_history(zero, zero, body, np.eye(4), np.zeros(6))

    def _give_up(self, level: float, reason: str) -> ConvergenceError:
        """The error of a branch that ends at a load level, with the state there."""
        self._apply(level)
        names = ", ".join(repr(rod.name) for rod in self.chain.rods)
        if not (self.chain.base.held.any() or self.chain.tip.held.any()):
            text = (
                f"no equilibrium was found for rods {names}: nothing holds them. "
                "Clamp a rod (base='world') or add a constraint."
            )
        else:
            text = (
                f"no equilibrium was found beyond {100 * level:.1f} % of the load for rods {names}: "
                f"{reason}. The rod may snap or buckle there, a support may be out of reach, or no "
                "equilibrium carries the load. Try a smaller load, Collocation() or BSpline(), or "
                "simulate() from the last good state."
            )
        self.record.levels.append(level)
        return ConvergenceError(text, self._state(self._end_rows(), 0.0))

    def _solve_instants(
        self, moving: bool, rescue: bool, pushes: tuple[Array, ...]
    ) -> tuple[int, Array]:
        """Solve one instant after the other; return how many were reached, and the report."""
        report, motion = self.motion.report, self.motion
        report[:] = 0.0
        done = march(motion, self.middle, self.segments, (moving, self._plain, rescue), pushes)
        for newton in self.newtons:
            self.record.iterations += newton.iterations
            newton.iterations = 0
        self._most = max(self._most, int(report[MOST_SEGMENTS]))
        for name, entry in (("modified", BY_MODIFIED), ("multiple", BY_MULTIPLE)):
            if report[entry]:
                self.record.rescues[f"{name} shooting"] += int(report[entry])
        if self.mesh.own is not None:
            self.mesh.own.raise_error()
        return int(done), report

    def _reason(self, code: float, rescue: bool) -> str:
        if rescue and code not in (IMPLAUSIBLE, UNEXPECTED):
            return "neither modified nor multiple shooting arrived"
        return _REASONS[int(code)]

    # -- motions ----------------------------------------------------------------------------

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        self.record = Record()
        self._hold(state)
        self.history, made = history_of(state, self.mesh), state.discrete
        if isinstance(made, Discrete) and all(map(np.array_equal, made.points, self.mesh.edges)):
            now, then = self.history, made.history
            now.strain[:], now.strain_before[:] = then.strain, then.strain
            now.strain_offset[:] = then.strain_offset
            if np.array_equal(made.velocity, state.velocity):
                now.velocity[:], now.velocity_before[:] = then.velocity, then.velocity
                now.velocity_offset[:] = then.velocity_offset
        self.totals[:], self.balance = 0.0, self.mesh.balance(self.totals)
        self._start(state, TimeRule(0.0, 0.0, 0.0, 0.0))

    def _start(self, state: State, rule: TimeRule) -> None:
        """Go on from the nodes and the history without a past."""
        self.motion.kept[:] = self.motion.nodes
        restart(self.motion.past, self.x, self.motion.nodes[:, 1].ravel())
        self._reset()
        self.rule, self._present, self.acting = rule, state, None

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the next instant; plainly, then with modified, then with multiple shooting."""
        if not self._march(rule, step, [values], [base], keep_older):
            assert self.failure is not None
            raise self.failure

    def past(self) -> History:
        """The history of the motion."""
        return self.history

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants, in one compiled call unless loads along the rods move."""
        if len(values) > 1 and self.mesh.loads_move(values):
            return super().advance(rule, step, values, bases)
        return self._march(rule, step, values, bases, False)

    def _march(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
        keep_before: bool,
    ) -> int:
        """Go through several instants in one compiled call; return how many were reached."""
        if rule != self.rule:
            self._forget()
        mesh = self.mesh
        mesh.load(values[0])
        if not self.form.doubt(self.chain, rule.c0, step):
            self._expect_jump(values[0])
        if self._recorded is not self.history:
            self._record(moving=True)
        for newton in self.newtons:
            newton.use(STEP)
        self.setting.rule[:], self._shares[:] = rule.weights(), rule.shares(step)
        self._keep_before[:] = keep_before
        rows = _rows(self._point_loads, values), _rows(base_row, bases)
        pushes = *rows, mesh.jumps.wrenches, self._base
        done, report = self._solve_instants(True, self.form.rescue, pushes)
        mesh.forget_loads()
        self.motion.nodes[:] = self.motion.kept
        self.x = self.motion.past.lead[0].copy()
        if done > 0:
            self.record.residual = float(report[RESIDUAL])
            self.rule, self.acting, self._present = rule, values[done - 1], None
        if done < len(values):
            reason = self._reason(report[CODE], self.form.rescue)
            self.failure = StepError(
                f"a time step did not converge: {reason}. Try a larger dt, alpha = 0, more steps along "
                "the rod, inputs that rise over some steps where they jump, or Collocation()."
            )
        return done

    def _expect_jump(self, values: Mapping[str, Any]) -> None:
        """Let the predicted wrench jump with inputs that change the law."""
        mesh, past, held = self.mesh, self.motion.past, self.chain.base.held
        if not mesh.loads_move([self.acting or {}, values]):
            return
        wrench = np.full((STAGES * mesh.N, 6), np.nan)
        states = past.values.reshape(len(past.values), mesh.N, 24)
        wrench[STAGES - 1 :: STAGES] = states[past.counts[1], :, :6]
        wrench[0, held] = past.lead[0, held]
        change = self._jump(mesh, self.history, wrench)
        if change is not None:
            past.lead[:, held] += change[0, held]
            states[..., :6] += change[STAGES - 1 :: STAGES]
            if self.form.rescue and self.motion.mode[LEVEL] == 0:
                self.motion.mode[:] = min(1, len(self.segments.divisions) - 1), 0, 0, RETRY

    def _point_loads(self, values: Mapping[str, Any]) -> Array:
        offsets = self.mesh.jumps.wrenches[:, :3]
        return np.concatenate([offsets, point_wrenches(self.chain, values)], axis=1)

    def _keep_powers(self) -> None:
        """Keep what pushes and moves now, without adding to work and loss."""
        ends, wrench = self.motion.nodes.reshape(-1, 24), self.motion.nodes[0, 0, :6]
        parts = self.mesh.table, self.mesh.jumps, ends, wrench, self.history
        accumulate(self.balance, np.zeros(3), *parts)

    def _make_present(self) -> State:
        return self._state(self.motion.law, self.rule.c0)

    def points(self) -> list[Array]:
        """Edges of the intervals of each piece."""
        return self.mesh.edges

    def use_points(self, points: list[Array]) -> None:
        """Work on these intervals from now on."""
        if not all(map(np.array_equal, points, self.mesh.edges)):
            self.use(Mesh(self.chain, points))

    def remembered(self) -> list[Array]:
        """Histories, predictions, derivatives and energy of the motion."""
        mesh, settings = self.mesh, (self.setting.rule, self._shares, self._base)
        counts = (self._keep_before, self._most_intervals)
        solving = (self.motion, self.middle, self.segments, self.supports)
        parts = (self.history, *solving, self.balance, mesh.jumps, mesh.table)
        return arrays_in(*parts, *settings, *counts)

    def notes(self) -> dict[str, Any]:
        """Time rule and the most segments so far."""
        return {**super().notes(), "rule": self.rule.weights().tolist(), "most": self._most}

    def resume(self, state: State, notes: Mapping[str, Any], acting: Mapping[str, Any]) -> None:
        """Take the notes of a motion."""
        super().resume(state, notes, acting)
        self.rule, self._most = TimeRule(*notes["rule"]), notes["most"]

    def _discrete(self, state: State) -> Discrete:
        """The history at the stations."""
        return Discrete(self.mesh.edges, self.history.copy(), state.velocity.copy(), np.zeros(0))


def _take_columns(source: Array, rows: Ints, columns: slice, out: Array) -> None:
    """In a program: out = source[rows, columns]."""
    numbers = np.arange(source.size).reshape(source.shape)[rows, columns]
    take(source.reshape(-1), numbers.ravel(), out.reshape(-1))


def _rows(make: Callable[[Any], Array], items: Sequence[Any]) -> Array:
    """What `make` gives for each of the items, made once for the same one again and again."""
    rows: list[Array] = []
    for k, item in enumerate(items):
        rows.append(rows[-1] if k > 0 and item is items[k - 1] else make(item))
    return np.array(rows)
