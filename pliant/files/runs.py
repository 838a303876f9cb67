"""What a robot file asks to compute, and the inputs it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant.model import Constant, Signal
from pliant.model.fields import (
    Choice,
    Kind,
    Number,
    Place,
    Reader,
    Schema,
    Setting,
    Vector,
    Whole,
    holds,
    quantity,
)
from pliant.model.registry import Described, OneOf

Input = Signal | tuple[float, ...]


@dataclass(frozen=True)
class StaticsRun(Described):
    """Find the equilibrium, with the inputs as they are at time 0."""


@dataclass(frozen=True)
class SimulateRun(Described):
    """Move in time from t = 0.

    duration, dt : seconds.  start : "rest" or "statics".  integrator : the object built from the
    file, or None for the default.  output_every : seconds between stored states, None for each
    step.
    """

    duration: float = quantity("seconds", sign="positive", example="2.0")
    dt: float = quantity("seconds", "time step", sign="positive", example="0.01")
    start: str = holds(
        Choice("rest: the undeformed robot; statics: its equilibrium", names=("statics", "rest")),
        "rest",
    )
    integrator: Any = holds(Setting(family="integrator"), None)
    output_every: float | None = quantity(
        "seconds",
        "time between stored states, each step if left out",
        default=None,
        sign="positive",
        example="0.01",
    )

    def check(self) -> None:
        """Refuse steps that do not fit into the duration or between the stored states."""
        most = f"at most the duration {self.duration:g} s"
        self.refuse(self.dt > self.duration, "dt", most, "take a smaller dt")
        self.refuse(
            self.output_every is not None and self.output_every < self.dt * (1 - 1e-9),
            "output_every",
            f"at least the time step {self.dt:g} s",
            "leave it out to store every step",
        )


@dataclass(frozen=True)
class ModesRun(Described):
    """Compute ``count`` natural frequencies and shapes."""

    count: int = holds(Whole("number of modes", example="6", least=1), 6)


Run = StaticsRun | SimulateRun | ModesRun
RUNS: dict[str, type[Described]] = {
    "statics": StaticsRun,
    "simulate": SimulateRun,
    "modes": ModesRun,
}


@dataclass(frozen=True)
class InputKind(Kind):
    """A number, a force or (moment, force), or a signal over time."""

    def read(self, reader: Reader, path: Place, given: Any) -> Input:
        if isinstance(given, dict):
            return reader.value(OneOf(families=(Signal,)), path, given)  # type: ignore[no-any-return]
        if isinstance(given, list):
            return Vector(unit="N or (N m, N)", sizes=(3, 6)).check("", "", given)
        return Constant(Number().check("", "", given))

    def schema(self, defs: Schema) -> Schema:
        signal = OneOf(families=(Signal,)).schema(defs)
        wrench = Vector(sizes=(3, 6)).schema(defs)
        return {"anyOf": [Number().schema(defs), wrench, signal]}
