"""The time loop: steps of whatever moves, snapshots at output times, no work lost."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.model import ConvergenceError, DescriptionError, PliantError
from pliant.model.checks import StepError
from pliant.rods.contract import Array
from pliant.solve.checkpoint import Checkpoint, Checkpoints, remembering
from pliant.solve.clock import ON_GRID, Clock
from pliant.solve.control import Control
from pliant.solve.events import Glimpse, Watch
from pliant.solve.schedule import Inputs

Progress = Callable[[float, float], object]
"""Told the time reached and the duration, s, after each step; less often if it is `seldom`."""
Rows: TypeAlias = tuple[Any, ...]
"""Snapshots at T instants: configurations (T, ...), rates (T, ...), account (T, 2) of work done and
energy dissipated so far, J, and numbers (T, J) of the inputs that acted."""

_SHOWN, _CHUNK = (10, 100), 1000
"""Fewest and most steps in the first call, and most in one call, so that Ctrl-C is heard."""
_SWIFT = 20_000
"""Unknowns of all steps in the first call, if so many steps are allowed."""
_PATIENCE = 0.1
"""Seconds that a call may take for the next one to be twice as long."""
NOT_INSIDE = np.zeros(0)
"""No output times inside a step."""
_WATCHED, _SHARE = (12, 48), 20
"""Fewest and most steps of a motion whose states are kept to judge it, else each `_SHARE`-th."""


class Steps(ABC):
    """The steps of one motion, whatever a configuration q and its rates v are.

    h : length of a step, s.  schedule : the inputs.  first : the snapshot at t = 0.  done : steps that
    the last call of `take` took.  unknowns : size of the system solved at once, the largest so far.
    """

    h: float
    schedule: Inputs
    first: Rows
    done: int
    unknowns: int
    account: Array
    """Work done by the inputs and energy dissipated since the start (2,), J."""
    acted: Array
    """Numbers (J,) of the inputs that act now."""
    scheme: str = ""
    """How the steps are taken, where the integrator chooses that by itself."""
    capacity: int = _CHUNK
    """Most steps in one call."""
    own_steps: Array | None = None
    """Start and ends (N + 1,) of its steps where it chooses their length, s."""
    sampled: bool = False
    """Whether inputs may jump after each call of `take`, where its steps then end."""

    @abstractmethod
    def start(self) -> None:
        """Begin the motion at the first snapshot."""

    @abstractmethod
    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        """Take the steps between times (n + 1,), s; raises StepError where one fails.

        wanted : (n,) after which of them a snapshot is kept.  inside : times in the first of them at
        which one is kept as well.
        """

    @abstractmethod
    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Take the step that failed in shorter ones, or raise the error."""

    @abstractmethod
    def snapshots(self) -> Rows:
        """Return what was kept since it was last asked, in the order of time."""

    @abstractmethod
    def now(self) -> tuple[Any, Any]:
        """Configuration and rates as they are now, to keep."""

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Newton iterations since the start."""

    @property
    @abstractmethod
    def rescues(self) -> dict[str, int]:
        """How often something had to be done to go on, by name."""

    @abstractmethod
    def explain(self, text: str, q: Any) -> str:
        """Complete the message of a motion that failed after configuration q."""

    @abstractmethod
    def keep(self) -> dict[str, Array]:
        """All that the next step depends on, as arrays by name."""

    @abstractmethod
    def resume(self, kept: Mapping[str, Array]) -> None:
        """Go on where `keep` was asked, after at least one step."""

    def pack(self, q: Any, v: Any) -> dict[str, Array]:
        """Configurations and rates (T, ...) as arrays by name."""
        return {"q": q, "v": v}

    def unpack(self, kept: Mapping[str, Array]) -> tuple[Any, Any]:
        """Configurations and rates that `pack` was given."""
        return kept["q"], kept["v"]

    def finish(self, q: Any) -> None:
        """Prepare configuration q, the last of the motion, for another motion that starts there."""
        return

    def jump(self, values: Mapping[str, Any]) -> None:
        """Let inputs by name have new values from now on: the next step begins with them.

        Without it they go there in the next step.
        """
        return

    def reach(self, start: float, t: float) -> Rows:
        """The snapshot at a time inside the step that begins now, at `start`, s."""
        raise DescriptionError(
            "simulate", "events", "given",
            "left out for strong forms and where meshes move in the motion",
            "choose a formulation with coordinates, such as BSpline()",
        )  # fmt: skip

    def quick_step(self) -> Callable[[Mapping[str, Any]], None] | None:
        """A call that takes one step to input values by name, faster than `take`; None if it has none.

        Raises StepError and changes nothing if the step does not converge.
        """
        return None


_LONG = 4
"""Steps between two at which states are kept to judge a motion."""


@dataclass
class Watched:
    """States kept to judge a motion, whatever its outputs: t = 0 and the ends of evenly spaced steps.

    t (W,), configurations q and rates v (W, ...), work and dissipated (W,) J, names of the inputs.
    """

    t: Array
    q: Any
    v: Any
    work: Array
    dissipated: Array
    inputs: list[str]


@dataclass
class Trajectory:
    """What a simulation leaves: snapshots at T output times.

    t (T,), configurations q and rates v (T, ...), work and dissipated (T,) J since the start, inputs by
    name (T, ...). `final` is the state (t, q, v) reached, output or not.
    """

    t: Array
    q: Any
    v: Any
    work: Array
    dissipated: Array
    inputs: dict[str, Array]
    final: tuple[float, Any, Any]
    h: float
    steps: int
    iterations: int
    unknowns: int
    complete: bool
    seconds: float
    drive_rates: Array
    """Rates and accelerations (T, K, 2) of the inputs of prescribed joints."""
    rescues: dict[str, int] = field(default_factory=dict)
    """How often something had to be done to go on, by name."""
    scheme: str = ""
    """How the steps were taken, where the integrator chose that by itself."""
    watched: Watched | None = None
    own_steps: Array | None = None
    """Start and ends (N + 1,) of the steps of an integrator that chooses their length, s."""
    event: tuple[str, float] | None = None
    """Name and time, s, of the event that ended the motion; None if none did."""
    met: Sequence[str] = ()
    """Names of all events that took place at that time."""
    recorded: Array | None = None
    """What terms recorded of the steps that ended at the outputs (T, records)."""


def recorded_at(path: Any, k: int) -> Array | None:
    """What was recorded of the step that ended at output k of a trajectory; None where none did."""
    rows = getattr(path, "recorded", None)
    return rows[k] if rows is not None and rows.size and path.t[k] > 0.0 else None


def _one_row(item: Any) -> Any:
    """A configuration as an array (1, ...) of them."""
    if isinstance(item, np.ndarray):
        return item[None]
    row = np.empty(1, dtype=object)
    row[0] = item
    return row


class Present:
    """A simulation as it is at the end of a step, for whoever looks at it then."""

    def __init__(self, steps: Steps, t: float) -> None:
        self.t, self.h, self._steps = t, steps.h, steps

    def snapshot(self) -> tuple[Any, Any, Array]:
        """Configuration, rates and account of work and loss, to keep."""
        return *self._steps.now(), self._steps.account.copy()

    def acting(self) -> Callable[[], tuple[dict[str, Any], Array]]:
        """The inputs as they are now, to keep."""
        schedule, now = self._steps.schedule, np.array([self.t])
        values = schedule.acted(now, self._steps.acted[None])
        rates = schedule.drive_rates(now)[0]
        return lambda: ({name: x[0] for name, x in values.items()}, rates)


class _Run:
    """One simulation under way."""

    def __init__(
        self, steps: Steps, clock: Clock, control: Control | None, watch: Watch | None
    ) -> None:
        self.steps, self.clock, self.control, self.watch = steps, clock, control, watch
        steps.sampled = control is not None
        self.event: tuple[str, float] | None = None
        self.met: list[str] = []
        self.began = time.perf_counter()
        self.done = 0
        self.next = int(np.count_nonzero((clock.step_of == 0) & ~clock.between))
        """Number of the output that is wanted next."""
        self._most = int(np.clip(_SWIFT // max(1, steps.unknowns), *_SHOWN))
        """Steps that are taken in one call; more of them if they turn out to be short."""
        self._blocks: list[Rows] = []
        self._inputs: dict[str, list[Array]] = {}
        count = int(np.clip(clock.steps // _SHARE, *_WATCHED))
        marks = np.linspace(0.0, clock.steps, min(count, clock.steps) + 1)
        whole = _LONG if clock.steps >= _LONG * count else 1
        at = np.minimum(whole * np.round(marks / whole), clock.steps).astype(np.int64)
        self._watched = np.union1d(at, [clock.steps])
        """Steps after which a state is kept to judge the motion, if possible also ends of steps of four
        times the length, at which coarser motions can be compared."""
        self._seen: list[Rows] = [(np.zeros(1), *steps.first[:3])]
        rows = (np.repeat(x, self.next, axis=0) for x in steps.first)
        self._record(clock.outputs[: self.next], *rows)
        self.final: tuple[float, Any, Any] = (0.0, steps.first[0][0], steps.first[1][0])

    def go(self, progress: Progress | None, checkpoints: Checkpoints | None) -> None:
        """Take all steps; snapshots are recorded whatever happens."""
        clock, steps = self.clock, self.steps
        ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
        steps.start()
        if checkpoints is not None and checkpoints.last is not None:
            self._resume(checkpoints.last)
        each = progress is not None and not getattr(progress, "seldom", False)
        single = each or remembering(steps.schedule.values) or self.watch is not None
        while self.done < clock.steps:
            if checkpoints is not None:
                checkpoints.offer(self._keep, self._holders)
            self._ask_controllers()
            kept = self._begin_watch()
            first, began = self.done, time.perf_counter()
            most = 1 if single else min(self._most, steps.capacity)
            if self.control is not None:
                most = min(most, self.control.following(first) - first)
            last, wanted, inside = self._stretch(most)
            try:
                steps.take(ends[first : last + 1], wanted, inside)
                if self._ends_at_event(kept, *ends[first : first + 2].tolist()):
                    break
                self._collect(last)
            except StepError as error:
                self._collect(first + steps.done)
                start, end = ends[self.done : self.done + 2].tolist()
                steps.rescue(error, start, end, bool(wanted[self.done - first]))
                if self._ends_at_event(kept, start, end):
                    break
                self._collect(self.done + 1)
            except ConvergenceError:
                self._collect(first + steps.done)
                raise
            if time.perf_counter() - began < _PATIENCE and last - first == self._most:
                self._most = min(2 * self._most, _CHUNK)
            end = float(ends[self.done])
            if self.done == clock.steps:
                self.final = (end, *steps.now())
            if progress is not None:
                progress(end, clock.duration)

    def _begin_watch(self) -> dict[str, Array] | None:
        """What the next step begins with, to take it again up to an event; None for the first one."""
        if self.watch is None:
            return None
        steps, start = self.steps, self.done * self.clock.h

        def reach(t: float) -> Glimpse:
            return Glimpse(t, steps.h, steps.reach(start, t), steps.schedule)

        self.watch.begin(Present(steps, start), steps.h, reach)
        return steps.keep() if self.done else None

    def _ends_at_event(self, kept: dict[str, Array] | None, start: float, end: float) -> bool:
        """Whether an event was crossed in the step that was taken; the motion is then ended there."""
        steps, schedule = self.steps, self.steps.schedule
        crossed = self.watch.crossed(Present(steps, end)) if self.watch is not None else []
        if not crossed or self.watch is None:
            return False

        def reach(t: float) -> Glimpse:
            if kept is None:
                steps.start()
            else:
                steps.resume(kept)
            return Glimpse(t, steps.h, steps.reach(start, t), schedule)

        t, self.met = self.watch.locate(crossed, reach, start, end)
        due = self.clock.outputs[self.next :]
        for at in [*due[due < t - ON_GRID * steps.h].tolist(), t]:
            rows = reach(at).rows
            self._record(np.array([at]), *rows)
        self.event, self.final = (self.met[0], t), (t, rows[0][-1], rows[1][-1])
        return True

    def _ask_controllers(self) -> None:
        """Let controllers that are due see the robot and set inputs."""
        control, steps = self.control, self.steps
        if control is None or not control.due(self.done):
            return
        present = Present(steps, self.done * self.clock.h)
        steps.jump(control.sample(self.done, present, steps.schedule.driven))

    @property
    def _holders(self) -> dict[str, Any]:
        """By name, inputs and controllers, of which some remember something."""
        return {**self.steps.schedule.values, **(self.control.holders if self.control else {})}

    def _keep(self) -> dict[str, Array]:
        """All that the rest of the simulation depends on."""
        end, *final = self.final
        spent = time.perf_counter() - self.began
        last = (np.array([end]), *map(_one_row, final), np.zeros((1, 2)))
        return {
            **self.steps.keep(),
            "progress": np.array([float(self.done), float(self.next), spent]),
            **self._packed("shown_", self._blocks),
            **self._packed("seen_", self._seen),
            **self._packed("final_", [last]),
            **{f"input_{name}": np.concatenate(rows) for name, rows in self._inputs.items()},
        }

    def _packed(self, prefix: str, blocks: list[Rows]) -> dict[str, Array]:
        """Blocks of snapshots as arrays by name."""
        t, q, v, account = map(np.concatenate, zip(*blocks, strict=True))
        arrays = {"t": t, "account": account, **self.steps.pack(q, v)}
        return {prefix + name: array for name, array in arrays.items()}

    def _unpacked(self, prefix: str, kept: Mapping[str, Array]) -> Rows:
        """The block of snapshots that `_packed` was given."""
        found = {name.removeprefix(prefix): kept[name] for name in kept if name.startswith(prefix)}
        return found["t"], *self.steps.unpack(found), found["account"]

    def _resume(self, last: Checkpoint) -> None:
        """Go on where a checkpoint was made."""
        kept, steps = last.arrays, self.steps
        done, following, spent = kept["progress"].tolist()
        self.done, self.next, self.began = int(done), int(following), self.began - spent
        if self.done > 0:
            steps.resume(kept)
        t, q, v, _ = self._unpacked("final_", kept)
        self.final = (float(t[0]), q[0], v[0])
        self._blocks, self._seen = ([self._unpacked(x, kept)] for x in ("shown_", "seen_"))
        names = [name for name in steps.schedule.values if f"input_{name}" in kept]
        self._inputs = {name: [kept[f"input_{name}"]] for name in names}
        for name, given in remembering(self._holders).items():
            given.restore(last.inputs[name])

    def _stretch(self, most: int) -> tuple[int, NDArray[np.bool_], Array]:
        """The step up to which all can be taken at once, and of which of them outputs are wanted.

        That is `most` steps on, or up to the next step with an output inside. Output times inside the
        first of them come with it.
        """
        clock, due = self.clock, slice(self.next, None)
        steps, between = clock.step_of[due], clock.between[due]
        last = min(
            [clock.steps, self.done + most, *steps[between & (steps > self.done)][:1].tolist()]
        )
        wanted = np.zeros(last - self.done, dtype=np.bool_)
        ends = self._ends(steps[~between], last)
        wanted[ends - self.done - 1] = True
        return last, wanted, clock.outputs[due][between & (steps == self.done)]

    def _ends(self, outputs: NDArray[np.int64], last: int) -> NDArray[np.int64]:
        """The steps from here to `last` after which a state is kept: outputs, and watched ones."""
        steps = np.union1d(outputs, self._watched)
        return steps[(steps > self.done) & (steps <= last)]

    def _collect(self, done: int) -> None:
        """Record the snapshots on the way to the step `done`."""
        if done == self.done:
            return
        clock, kept = self.clock, self.steps.snapshots()
        end = int(np.searchsorted(clock.step_of + clock.between, done, side="right"))
        due, self.next = slice(self.next, end), end
        inside, steps = clock.between[due], clock.step_of[due]
        ends = self._ends(steps[~inside], done)
        self.done = done
        if not len(kept[0]):
            return
        # snapshots inside the first step come first; output times at one step share a snapshot
        rows = np.where(inside, np.cumsum(inside) - 1, inside.sum() + np.searchsorted(ends, steps))
        self._record(clock.outputs[due], *(x[rows] for x in kept))
        seen = np.flatnonzero(np.isin(ends, self._watched))
        at = inside.sum() + seen
        self._seen.append((ends[seen] * clock.h, *(x[at] for x in kept[:3])))
        t = ends[-1] * clock.h if len(ends) else clock.outputs[end - 1]
        self.final = (float(t), kept[0][-1], kept[1][-1])

    def _record(self, t: Array, q: Any, v: Any, account: Array, u: Array) -> None:
        self._blocks.append((t, q, v, account))
        values = self.steps.schedule.acted(t, u) if len(t) else {}
        for name, value in values.items():
            self._inputs.setdefault(name, []).append(value)

    def trajectory(self, complete: bool) -> Trajectory:
        """What there is so far."""
        steps = self.steps
        t, q, v, account = map(np.concatenate, zip(*self._blocks, strict=True))
        at, seen, rates, spent = map(np.concatenate, zip(*self._seen, strict=True))
        steps.finish(self.final[1])
        return Trajectory(
            t=t,
            q=q,
            v=v,
            work=account[:, 0],
            dissipated=account[:, 1],
            inputs={name: np.concatenate(rows) for name, rows in self._inputs.items()},
            final=self.final,
            h=self.clock.h,
            steps=self.done,
            iterations=steps.iterations,
            unknowns=steps.unknowns,
            complete=complete,
            seconds=time.perf_counter() - self.began,
            drive_rates=steps.schedule.drive_rates(t),
            rescues=steps.rescues,
            scheme=steps.scheme,
            recorded=account[:, 2:],
            own_steps=steps.own_steps,
            event=self.event,
            met=self.met,
            watched=Watched(at, seen, rates, spent[:, 0], spent[:, 1], list(steps.schedule.values)),
        )


def simulate(
    steps: Steps,
    clock: Clock,
    progress: Progress | None = None,
    checkpoints: Checkpoints | None = None,
    control: Control | None = None,
    watch: Watch | None = None,
) -> Trajectory:
    """Move in time from the first snapshot, or from a checkpoint.

    Ctrl-C ends the simulation early: after the first step the trajectory so far is returned with
    complete = False. A step that fails raises ConvergenceError whose `last` is the trajectory so far.
    """
    run = _Run(steps, clock, control, watch)
    try:
        run.go(progress, checkpoints)
    except KeyboardInterrupt:
        if not run.done:
            raise
        return run.trajectory(False)
    except DescriptionError:
        raise
    except PliantError as error:
        reached = run.done * clock.h
        text = f"the simulation stopped at t = {reached:.6g} s of {clock.duration:g} s: {error}"
        text, path = steps.explain(text, run.final[1]), run.trajectory(False)
        raise ConvergenceError(text, path, reached) from error
    return run.trajectory(True)
