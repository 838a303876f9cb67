"""Motions in which events switch what acts: phases that follow each other as one trajectory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    ConvergenceError,
    DescriptionError,
    Effect,
    Signal,
    did_you_mean,
    refuse,
)
from pliant.model.checks import as_float, checked, positive
from pliant.model.paths import with_values
from pliant.model.progress import time_reached, told
from pliant.physics.effects import check_inputs
from pliant.results.motion import Motion
from pliant.results.switched_motion import SwitchedMotion
from pliant.robot import Robot
from pliant.solve.events import Event
from pliant.solve.integrators.contract import Integrator

_INSTANT = 1e-9
"""Part of a step in which no two switches may follow each other."""
_SHORTEST = 0.01
"""Part of a step after which a switch may take place again: sooner, its times accumulate."""
Change = Mapping[str, Any] | Callable[[Motion], Mapping[str, Any] | None]


@dataclass(frozen=True, eq=False)
class Switch(Event):
    """An event at which something changes, and the motion goes on.

    function, name, direction : as for `Event`.
    change : by name, or a function that takes the phase which ends there, a `Motion`, and returns it,
        None to end the motion:

        - an input: its value from then on, a number, an array, or a function of time;
        - an effect, a connection or a constraint: "off" or "on";
        - a rod or a body: its twist from then on, as `velocity` of `Robot.simulate`: parts that are
          not named are then at rest;
        - the path of a number, as for `fit`, or the name of a parameter of the robot file: the number.
          Velocities stay, and so must the undeformed robot: lengths, places, natural shapes.
    """

    change: Change | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        given, expected = self.change, "a dictionary, or a function of the phase that returns one"
        known = isinstance(given, Mapping) or callable(given)
        refuse(not known, "Switch", "change", given, expected, 'give e.g. {"latch": "off"}')

    def from_time(self, begun: float, met: bool) -> Event:
        """The event of a phase that began at a time: its function sees the time of the whole motion.

        met : whether the phase began by it; it is then zero there, whatever rounding made of it.
        """
        rounding: list[float] = []

        def seen(state: Any) -> Any:
            shown = copy.copy(state)
            shown.t = state.t + begun
            given = self.function(shown)
            value = as_float(given)
            if not met or value is None:
                return given
            rounding[:] = rounding or [value]
            return value - rounding[0]

        return Event(seen, self.label, self.direction)


@dataclass(frozen=True, eq=False)
class Periodic:
    """A change that is asked for in even intervals of time, such as a stiffness set by the state.

    every : seconds between the times at which `change` is asked, the first one after the start.
    change : takes the phase that ends there, a `Motion`, and returns what changes, as that of a
        `Switch`: {} for nothing, None to end the motion.
    name : for `SwitchedMotion.switches`; None for the name of the function.
    """

    every: float
    change: Callable[[Motion], Mapping[str, Any] | None]
    name: str | None = None

    def __post_init__(self) -> None:
        positive("Periodic", "every", self.every, "seconds", "give e.g. 0.01")
        expected, remedy = "a function of the phase", "give e.g. lambda phase: {'push': 0.1}"
        refuse(not callable(self.change), "Periodic", "change", self.change, expected, remedy)

    @property
    def label(self) -> str:
        """How results and messages call it."""
        return self.name or str(getattr(self.change, "__name__", "periodic"))

    def after(self, t: float, close: float) -> float:
        """The first of its times more than `close` after t, s."""
        return float(self.every * np.ceil((t + close) / self.every))


class Later(Signal):
    """A function of time, seen from a phase that began at `begun`, s."""

    def __init__(self, given: Callable[[float], Any], begun: float) -> None:
        self.given, self.begun = given, begun

    def __call__(self, t: float) -> Any:
        """Return the value at time t of the phase, s."""
        return self.given(t + self.begun)

    def rate(self, t: float) -> float:
        """Return its first derivative, per second."""
        known = isinstance(self.given, Signal)
        return self.given.rate(t + self.begun) if known else super().rate(t)  # type: ignore[attr-defined]

    def acceleration(self, t: float) -> float:
        """Return its second derivative, per second squared."""
        known = isinstance(self.given, Signal)
        found = self.given.acceleration if known else None  # type: ignore[attr-defined]
        return super().acceleration(t) if found is None else float(found(t + self.begun))


class _Switching:
    """What acts in a motion in phases: the robot with all that it has, what is off, and inputs."""

    def __init__(self, robot: Robot, off: str | Sequence[str], inputs: Mapping[str, Any]) -> None:
        self.robot, self.inputs, self.velocity = robot, dict(inputs), dict[str, Any]()
        self.off: set[str] = set()
        self.changed: list[str] = []
        """Paths of the numbers that the last changes set."""
        self._robots: dict[frozenset[str], Robot] = {}
        """With the numbers as they are, the robot by what is off: it is compiled once."""
        check_inputs(robot.description.inputs(), self.inputs)
        for name in [off] if isinstance(off, str) else off:
            self._turn(name, "off")

    def _turn(self, name: str, word: str) -> None:
        parts, members = self.robot.description.parts, self.robot.description.of(Effect)
        expected = f"an effect, a connection or a constraint, to be {word}"
        refuse(
            name not in parts or name in self._moving, "switch", "change", name, expected,
            did_you_mean(name, members),
        )  # fmt: skip
        brought = getattr(parts[name], "auxiliary", list)
        refuse(
            len(brought()) > 0, "switch", "change", name, "something without parts of its own",
            "use add_constraint, or a rigid connection, in place of a connection with a joint",
        )  # fmt: skip
        (self.off.add if word == "off" else self.off.discard)(name)

    @property
    def _moving(self) -> dict[str, Any]:
        return {**self.robot.description.rods, **self.robot.description.bodies}

    def apply(self, changes: Mapping[str, Any]) -> None:
        """Let what changes be so from now on."""
        numbers: dict[str, float] = {}
        for name, value in changes.items():
            if isinstance(value, str) and value in ("on", "off"):
                self._turn(name, value)
            elif name in self._moving:
                self.velocity[name] = value
            elif name in self.robot.description.inputs():
                self.inputs[name] = value
            else:
                number = as_float(value)
                if number is None:
                    raise DescriptionError(
                        "switch", f"change[{name!r}]", value,
                        'a number for a path; "on" or "off" for an effect', "correct it",
                    )  # fmt: skip
                named = name in self.robot.parameters
                numbers[f"parameters.{name}" if named else name] = number
        self.changed += numbers
        if numbers:
            changed = self.robot.copy()
            changed.description = with_values(changed.description, numbers)
            self.robot = changed
            self._robots.clear()

    def apply_all(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """Make the changes of all switches at one time, in their order."""
        self.velocity, self.changed = {}, []
        for change in changes:
            self.apply(change)

    def now(self, begun: float) -> tuple[Robot, dict[str, Any]]:
        """The robot without what is off, and its inputs as functions of time since `begun`, s."""
        key = frozenset(self.off)
        if key not in self._robots:
            self._robots[key] = self.robot.copy()
            for name in self.off:
                self._robots[key].remove(name)
            self._robots[key].inputs.clear()
        robot, given = self._robots[key], {**self.robot.inputs, **self.inputs}
        known = robot.description.inputs()
        return robot, {
            name: Later(x, begun) if callable(x) else x
            for name, x in given.items()
            if name in known
        }


def _require_same_shapes(acting: _Switching, now: Robot, given: Any, phase: Motion) -> None:
    """Refuse numbers that changed after a phase and by which its coordinates would be other shapes."""
    try:
        now._compiled(None, phase, "start", given, goes_on=True)
    except DescriptionError as error:
        if error.field != "start":
            raise
        expected = "numbers that leave the undeformed robot as it is, such as stiffness or mass"
        remedy = "leave lengths, places, natural shapes and joints as they are"
        changed = ", ".join(acting.changed)
        raise DescriptionError("switch", "change", changed, expected, remedy) from None


@checked
def simulate_switched(
    robot: Robot,
    duration: float,
    dt: float,
    switches: Switch | Periodic | Sequence[Switch | Periodic],
    inputs: Mapping[str, Any] | None = None,
    off: str | Sequence[str] = (),
    output_every: float | None = None,
    most: int = 1000,
    start: Any = "rest",
    velocity: Mapping[str, Any] | None = None,
    joints: Mapping[str, Any] | None = None,
    formulation: Any = None,
    integrator: Integrator | None = None,
    progress: bool | Callable[[float, float], object] | None = None,
) -> SwitchedMotion:
    """Return the motion over ``duration`` seconds, in which switches change what acts.

    Each switch ends a phase at its time, found inside the step, and the next phase begins there with
    the changes: times have the order of the integrator, and steps after a switch begin at it. Of
    switches at the same time all take place, in the order given.

    robot : with all that ever acts.
    duration, dt, inputs, output_every : as for `Robot.simulate`; functions of time see the time of the
    whole motion.
    switches : one `Switch` or `Periodic`, or several.
    off : name, or names, of effects, connections and constraints that begin switched off.
    most : number of events at which the motion is refused, for they may be without end. A switch that
    takes place again within a hundredth of a step, as the bounces of a ball that comes to rest do, ends
    it with a `ConvergenceError`.
    start, velocity, joints, formulation, integrator : as for `Robot.simulate`, at the beginning; mesh
    and integrator are those of all phases.
    progress : as for `Robot.simulate`, over the whole duration.

    Ctrl-C ends it early with what there is (complete = False). If a step fails, the error's ``last``
    is the motion up to there.
    """
    listed = _as_switches(switches)
    _require_times(
        duration=duration, dt=dt, output_every=dt if output_every is None else output_every
    )
    acting = _Switching(robot, off, inputs or {})
    first: dict[str, Any] = {
        "start": start, "velocity": velocity, "joints": joints, "formulation": formulation,
    }  # fmt: skip
    phases: list[Motion] = []
    starts: list[float] = [0.0]
    done: list[tuple[str, float, dict[str, Any]]] = []
    with told(progress, "simulate_switched", time_reached) as report:
        while True:
            begun = starts[-1]
            now, given = acting.now(begun)
            if acting.changed:
                _require_same_shapes(acting, now, given, phases[-1])
            events = _events(listed, begun, phases[-1].met if phases else [])
            due = {x: x.after(begun, _INSTANT * dt) for x in listed if isinstance(x, Periodic)}
            end = min([duration, *due.values()])
            times = _outputs(duration, output_every, begun, end, _INSTANT * dt)
            asked = {"integrator": integrator, "events": events, "output_times": times, **first}
            asked["progress"] = _later_report(report, begun, duration)
            with _all_phases(phases, starts, done):
                phase = now.simulate(end - begun, min(dt, end - begun), given, **asked)
            phases.append(phase)
            lasted = float(phase.t[-1])
            struck = [x.label for x, t in due.items() if abs(t - begun - lasted) < _INSTANT * dt]
            changes = _after(phase, listed, struck)
            if not changes or duration - begun - lasted < _INSTANT * dt:
                return SwitchedMotion(phases, starts, done)
            done += [(name, begun + lasted, x) for name, x in changes if x or name not in struck]
            acting.apply_all([change for _, change in changes])
            _refuse_endless(phases, starts, done, most, _SHORTEST * dt)
            starts.append(begun + lasted)
            first = {"start": phase, "velocity": acting.velocity or None}


def _require_times(**given: float) -> None:
    """Refuse times that are not positive."""
    for label, value in given.items():
        positive("simulate_switched", label, value, "seconds", "give e.g. 0.01")


def _later_report(
    report: Callable[[float, float], object] | None, begun: float, duration: float
) -> Callable[[float, float], object] | None:
    """What a phase that began at `begun` tells of its progress, as that of the whole motion."""
    return None if report is None else lambda t, _: report(begun + t, duration)


@contextmanager
def _all_phases(
    phases: Sequence[Motion],
    starts: Sequence[float],
    done: Sequence[tuple[str, float, dict[str, Any]]],
) -> Iterator[None]:
    """Give a phase that fails all phases so far as the `last` of its error."""
    try:
        yield
    except ConvergenceError as error:
        if isinstance(error.last, Motion):
            error.last = SwitchedMotion([*phases, error.last], starts, done)
        raise


def _as_switches(given: Any) -> list[Switch | Periodic]:
    """The switches that are given, one or several."""
    listed = list(given) if isinstance(given, Sequence) else [given]
    wrong = not listed or not all(isinstance(each, Switch | Periodic) for each in listed)
    expected, remedy = "a Switch or a Periodic, or several", "give pl.Switch(...)"
    refuse(wrong, "simulate_switched", "switches", given, expected, remedy)
    labels = [each.label for each in listed]
    expected, remedy = "switches of different names", "give each a name of its own, by name="
    refuse(
        len(set(labels)) < len(labels), "simulate_switched", "switches", labels, expected, remedy
    )
    return listed


def _events(
    switches: Sequence[Switch | Periodic], begun: float, met: Sequence[str]
) -> list[Event] | None:
    """The events of a phase that began at `begun` by those that were met; None if there are none."""
    listed = [each for each in switches if isinstance(each, Switch)]
    return [each.from_time(begun, each.label in met) for each in listed] or None


def _changes(switch: Switch | Periodic, phase: Motion) -> dict[str, Any] | None:
    """What a switch changes after a phase that ends by it; None to end the motion."""
    found = switch.change(phase) if callable(switch.change) else switch.change
    if found is None or isinstance(found, Mapping):
        return None if found is None else dict(found)
    remedy = 'return e.g. {"latch": "off"}'
    raise DescriptionError(
        f"switch {switch.label!r}", "change", found, "a dictionary or None", remedy
    )


def _outputs(
    duration: float, every: float | None, begun: float, end: float, close: float
) -> Array | None:
    """Output times of a phase from `begun` to `end` at most, s, both included; None for all steps."""
    if every is None:
        return None
    left = np.arange(0.0, duration, every) - begun
    inside = left[(left > close) & (left < end - begun - close)]
    return np.concatenate([[0.0], inside, [end - begun]])


def _refuse_endless(
    phases: Sequence[Motion],
    starts: Sequence[float],
    done: Sequence[tuple[str, float, dict[str, Any]]],
    most: int,
    least: float,
) -> None:
    """Refuse more events than `most`, and a switch that takes place again within `least` seconds.

    A ball that bounces ever lower does so without end in a finite time, and would fall through the
    floor where its bounces get lost in rounding.
    """
    if not phases[-1].met:
        return
    name, time, _ = done[-1]
    if sum(len(phase.met) for phase in phases) > most:
        raise DescriptionError(
            f"switch {name!r}", f"count at t = {time:.6g} s", len(done), f"at most {most}",
            "let a direction or a wider gap keep it from switching again at once, or raise `most`",
        )  # fmt: skip
    before, lasted = (
        [name for phase in phases[-2:-1] for name in phase.met],
        float(phases[-1].t[-1]),
    )
    again = [name for name in phases[-1].met if name in before]
    if again and lasted < least:
        error = ConvergenceError(
            f"switch {again[0]!r} takes place ever faster: at t = {time:.6g} s twice within "
            f"{lasted:.2g} s. Let its change look at the speed and hold what comes to rest, e.g. by a "
            'constraint that it turns "on", or return None there to end the motion. The motion so '
            "far is in the error's `last`."
        )
        error.last = SwitchedMotion(phases, starts, done)
        raise error


def _after(
    phase: Motion, switches: Sequence[Switch | Periodic], struck: Sequence[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Name and changes of each switch at which a phase ends; none if the motion ends there.

    struck : names of those whose time it is.
    """
    if not phase.complete:
        return []
    ended = {*phase.met, *struck}
    asked = [(each.label, _changes(each, phase)) for each in switches if each.label in ended]
    known = [(label, changes) for label, changes in asked if changes is not None]
    return known if len(known) == len(asked) else []
