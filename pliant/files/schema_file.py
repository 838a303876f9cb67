"""The sections of a robot file: parts, inputs over time, and what to compute."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag, model_validator

from pliant.files import leaves as leaf
from pliant.files.schema import (
    ActuatorFields,
    BaseMotionFields,
    BodyFields,
    ChamberFields,
    ConstraintFields,
    FrameFields,
    Group,
    LoadFields,
    OneOf,
    PoseFields,
    RodFields,
    named,
)
from pliant.model import DescriptionError


class RampFields(Group):
    """start until t0, linear to end at t1."""

    start: leaf.Number = Field(examples=[0.0])
    end: leaf.Number = Field(examples=[1.0])
    t0: leaf.Number = Field(description="seconds", examples=[0.0])
    t1: leaf.Number = Field(description="seconds", examples=[1.0])


class SineFields(Group):
    """offset + amplitude sin(2 pi frequency t + phase)."""

    amplitude: leaf.Number = Field(examples=[1.0])
    frequency: leaf.Hertz = Field(description="Hz", examples=[1.0])
    phase: leaf.Number = Field(default=0.0, description="radians")
    offset: leaf.Number = 0.0


class SweepFields(Group):
    """A sine whose frequency rises from f0 to f1 during duration."""

    amplitude: leaf.Number = Field(examples=[1.0])
    f0: leaf.HertzOrZero = Field(description="Hz", examples=[0.5])
    f1: leaf.HertzOrZero = Field(description="Hz", examples=[5.0])
    duration: leaf.Seconds = Field(description="seconds", examples=[10.0])


class TimeTableFields(Group):
    """Values at times: written out as t and values, or read from the columns of a CSV file."""

    t: list[leaf.Number] | None = Field(default=None, description="seconds, increasing")
    values: list[leaf.Number] | None = None
    csv: str | None = Field(default=None, description="file, relative to the robot file")
    time: str = Field(default="t", description="with csv: name of the column of times")
    value: str = Field(default="value", description="with csv: name of the column of values")

    @model_validator(mode="after")
    def _one_way(self) -> TimeTableFields:
        given = sorted(self.model_fields_set)
        inline = set(given) == {"t", "values"}
        from_csv = "csv" in given and not {"t", "values"} & set(given)
        if not inline and not from_csv:
            raise DescriptionError(
                "",
                "",
                ", ".join(given) or "nothing",
                "t with values, or csv with the column names time and value",
                "give e.g. {t: [0, 1], values: [0, 5]}",
            )
        return self


class SignalFields(OneOf):
    """An input over time."""

    constant: leaf.Number | None = None
    ramp: RampFields | None = None
    sine: SineFields | None = None
    sweep: SweepFields | None = None
    table: TimeTableFields | None = None
    sum: list[SignalFields] | None = Field(default=None, description="signals that add up")


def _signal_kind(value: object) -> str:
    if isinstance(value, dict):
        return "<signal>"
    return "<wrench>" if isinstance(value, list) else "<number>"


InputFields = Annotated[
    Annotated[leaf.Number, Tag("<number>")]
    | Annotated[leaf.Wrench, Tag("<wrench>")]
    | Annotated[SignalFields, Tag("<signal>")],
    Discriminator(_signal_kind),
]


class StaticsFields(Group):
    """Find the equilibrium, with the inputs as they are at time 0."""


class SimulateFields(Group):
    """Move in time from t = 0."""

    duration: leaf.Seconds = Field(description="seconds", examples=[2.0])
    dt: leaf.Seconds = Field(description="time step, seconds", examples=[0.01])
    start: Annotated[str, *named("statics", "rest")] = Field(
        default="rest", description="rest: the undeformed robot; statics: its equilibrium"
    )
    integrator: leaf.Named | None = None
    output_every: leaf.Seconds | None = Field(
        default=None, description="time between stored states, seconds; each step if left out"
    )

    @model_validator(mode="after")
    def _steps_fit(self) -> SimulateFields:
        if self.dt > self.duration:
            raise DescriptionError(
                "", "dt", self.dt, f"at most the duration {self.duration:g} s", "take a smaller dt"
            )
        if self.output_every is not None and self.output_every < self.dt * (1 - 1e-9):
            raise DescriptionError(
                "",
                "output_every",
                self.output_every,
                f"at least the time step {self.dt:g} s",
                "leave it out to store every step",
            )
        return self


class ModesFields(Group):
    """Natural frequencies and shapes."""

    count: leaf.Count = Field(default=6, description="number of modes")


class RobotFields(Group):
    """A robot file."""

    gravity: leaf.Gravity = Field(default=(0.0, 0.0, -9.81), description="world frame, m/s^2")
    rods: dict[str, RodFields] = Field(
        description="the rods by name",
        examples=["rods: {arm: {length: 0.3, section: ..., material: ...}}"],
    )
    loads: dict[str, LoadFields] = Field(default={}, description="the loads by name")
    constraints: dict[str, ConstraintFields] = Field(
        default={}, description="the constraints by name"
    )
    bodies: dict[str, BodyFields] = Field(default={}, description="the rigid bodies by name")
    base_motions: dict[str, BaseMotionFields] = Field(
        default={}, description="the motions of bases by name"
    )
    chambers: dict[str, ChamberFields] = Field(
        default={}, description="the pressure chambers by name"
    )
    actuators: dict[str, ActuatorFields] = Field(
        default={}, description="the pneumatic bending actuators by name"
    )
    inputs: dict[str, InputFields] = Field(
        default={},
        description="values by load name: a factor, a force, (moment, force), or a signal; "
        "by name of a base motion or chamber: a number or a signal",
    )
    statics: StaticsFields | None = None
    simulate: SimulateFields | None = None
    modes: ModesFields | None = None


TAGGED: dict[str, type[BaseModel] | None] = {
    "<frame>": FrameFields,
    "<pose>": PoseFields,
    "<signal>": SignalFields,
    "<name>": None,
    "<wrench>": None,
    "<number>": None,
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of robot files, for editors that complete and check them."""
    found = RobotFields.model_json_schema()
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "Pliant robot file"
    del found["required"]  # of rods, which actuators are too
    found["anyOf"] = [{"required": ["rods"]}, {"required": ["actuators"]}]
    return found
