"""Load a robot file: its description, its inputs and what to compute."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pliant.files.build import Builder
from pliant.files.problems import FileError
from pliant.files.report import PARTS, report_description_error, report_schema_errors
from pliant.files.schema import (
    ActuatorFields,
    BaseMotionFields,
    BodyFields,
    ChamberFields,
    ConstraintFields,
    LoadFields,
    RodFields,
)
from pliant.files.schema_file import InputFields, RobotFields, SimulateFields
from pliant.files.settings import build_choice
from pliant.files.source import Place, Source, read_source
from pliant.model import Description, DescriptionError, Signal, did_you_mean
from pliant.model.checks import as_float, vector

Input = Signal | tuple[float, ...]

_ROD: TypeAdapter[Any] = TypeAdapter(RodFields)
# the parts that stand on rods: their section of the file, and the method of Builder that makes one
_ON_RODS: dict[str, tuple[TypeAdapter[Any], Callable[[Builder, str, Any], object]]] = {
    "loads": (TypeAdapter(LoadFields), Builder.load),
    "constraints": (TypeAdapter(ConstraintFields), Builder.constraint),
    "bodies": (TypeAdapter(BodyFields), Builder.body),
    "base_motions": (TypeAdapter(BaseMotionFields), Builder.base_motion),
    "chambers": (TypeAdapter(ChamberFields), Builder.chamber),
}
_ACTUATOR: TypeAdapter[Any] = TypeAdapter(ActuatorFields)
_INPUT: TypeAdapter[Any] = TypeAdapter(InputFields)
# Right values in place of wrong ones, so that the other fields of a wrong part can be checked.
_STAND_INS: dict[str, dict[str, Any]] = {
    "rods": {"length": 1.0, "section": {"circle": {"radius": 1.0}}},
    "base_motions": {"translation": [0, 0, 1]},
    "chambers": {"area": 1.0},
    "actuators": {"length": 1.0, "bending": 1.0, "chamber_radius": 1.0, "arm": 1.0},
}


@dataclass(frozen=True)
class StaticsRun:
    """Find the equilibrium, with the inputs as they are at time 0."""


@dataclass(frozen=True)
class SimulateRun:
    """Move in time.

    duration, dt : seconds.  start : "rest" or "statics".  integrator : the object built from the
    file, or None for the default.  output_every : seconds between stored states, None for each
    step.
    """

    duration: float
    dt: float
    start: str = "rest"
    integrator: Any = None
    output_every: float | None = None


@dataclass(frozen=True)
class ModesRun:
    """Compute ``count`` natural frequencies and shapes."""

    count: int = 6


Run = StaticsRun | SimulateRun | ModesRun


@dataclass(frozen=True, eq=False)
class RobotFile:
    """What a robot file says.

    path : the file.  description : the robot.  inputs : by load name, a signal (seconds to a
    factor) or a constant tuple of 3 (force) or 6 (moment, force) numbers; by name of a base
    motion or chamber, a signal.  runs : what to compute, in the order of the file.
    """

    path: Path
    description: Description
    inputs: dict[str, Input] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()

    def inputs_at(self, t: float) -> dict[str, float | tuple[float, ...]]:
        """Return the values of the inputs that the file gives, at time ``t`` in seconds."""
        return {
            name: item if isinstance(item, tuple) else item(t) for name, item in self.inputs.items()
        }


def load_robot_file(
    path: str | Path,
    formulations: Mapping[str, type] | None = None,
    integrators: Mapping[str, type] | None = None,
) -> RobotFile:
    """Return what a robot file says; raise FileError with every problem in it.

    formulations, integrators : the classes that the file may name. Their settings are checked
    against the signatures, and the objects built.
    """
    source = read_source(path)
    loader = _Loader(source, formulations or {}, integrators or {})
    found = loader.load(Path(path))
    if source.problems or found is None:
        raise FileError(source.problems)
    return found


class _Loader:
    """Checks what can be checked even when other parts of the file are wrong."""

    def __init__(
        self,
        source: Source,
        formulations: Mapping[str, type],
        integrators: Mapping[str, type],
    ) -> None:
        assert isinstance(source.data, dict)
        self.source = source
        self.data: dict[str, Any] = source.data
        self.integrators = integrators
        if "actuators" in self.data:
            self.data.setdefault("rods", {})
        self.wrong: set[tuple[str | int, ...]] = set()
        self._check_structure()
        self._check_names()
        self.builder = Builder(source, self._lengths(), formulations)

    def load(self, path: Path) -> RobotFile | None:
        """Return the file's content, or None if there are problems."""
        description = Description(gravity=self._gravity())
        for name, rod in self._good("rods", _ROD):
            self._keep(description.rods, name, self.builder.rod(name, rod))
        for name, item in self._good("actuators", _ACTUATOR):
            self._keep_actuator(description, name, self.builder.actuator(name, item))
        for section, (checker, make) in _ON_RODS.items():
            parts = getattr(description, section)
            for name, item in self._good(section, checker):
                self._keep(parts, name, make(self.builder, name, item))
        self._check_rest_of_wrong_parts()
        self._check_whole(description)
        inputs = self._inputs()
        runs = self._runs()
        if self.source.problems:
            return None
        in_order = {rod.name: rod for rod in description.rods_from_root()}
        description.rods = in_order
        return RobotFile(path, description, inputs, runs)

    def _keep_actuator(self, description: Description, name: str, built: Any) -> None:
        if built is not None:
            rod, chambers = built
            description.rods[name] = rod
            description.chambers.update({chamber.name: chamber for chamber in chambers})

    def _check_structure(self) -> None:
        for section in ("statics", "simulate", "modes"):
            if section in self.data and self.data[section] is None:
                self.data[section] = {}
        try:
            RobotFields.model_validate(self.data)
        except ValidationError as error:
            report_schema_errors(self.source, error.errors())
            for details in error.errors():
                self.wrong.update(details["loc"][:end] for end in (1, 2, 3))

    def _check_names(self) -> None:
        """Report a name that two parts share."""
        owner: dict[str, str] = {}
        for section, kind in PARTS.items():
            for name in self._group(section):
                if name in owner:
                    expected = f"unique in the robot ({owner[name]} {name!r} has it already)"
                    error = DescriptionError("", "name", name, expected, "choose another name")
                    report_description_error(self.source, (section, name), error)
                owner.setdefault(name, kind)
        for actuator, names in self._actuator_chambers().items():
            for name in names:
                if name in owner:
                    expected = f"unique in the robot ({owner[name]} {name!r} has it already)"
                    remedy = "give e.g. chambers: [left, right]"
                    error = DescriptionError("", "chambers", name, expected, remedy)
                    report_description_error(self.source, ("actuators", actuator), error)
                owner.setdefault(name, f"chamber of {actuator!r},")

    def _actuator_chambers(self) -> dict[str, list[str]]:
        """The names of the chambers of every actuator, given or not."""
        found = {}
        for name, fields in self._group("actuators").items():
            given = fields.get("chambers") if isinstance(fields, dict) else None
            listed = given if isinstance(given, list) else ActuatorFields.model_fields["chambers"]
            found[name] = listed if isinstance(listed, list) else list(listed.default)
        return found

    def _lengths(self) -> dict[str, float | None]:
        """Return the length of every rod the file names, None where it is not usable."""
        rods = {**self._group("rods"), **self._group("actuators")}
        lengths: dict[str, float | None] = {}
        for name, fields in rods.items():
            length = as_float(fields.get("length")) if isinstance(fields, dict) else None
            lengths[name] = length if length is not None and 0 < length < float("inf") else None
        return lengths

    def _group(self, section: str) -> dict[str, Any]:
        found = self.data.get(section)
        return found if isinstance(found, dict) else {}

    def _good(self, section: str, checker: TypeAdapter[Any]) -> list[tuple[str, Any]]:
        """Return the members of a section whose own fields are right."""
        return [
            (name, checker.validate_python(fields))
            for name, fields in self._group(section).items()
            if (section, name) not in self.wrong
        ]

    def _check_rest_of_wrong_parts(self) -> None:
        """Check the right fields of wrong parts too, so that all problems come at once."""
        for name, rod in self._rest("rods", _ROD):
            self.builder.rod(name, rod, partial=True)
        for section, (checker, make) in _ON_RODS.items():
            for name, item in self._rest(section, checker):
                make(self.builder, name, item)
        for name, item in self._rest("actuators", _ACTUATOR):
            self.builder.actuator(name, item)

    def _rest(self, section: str, checker: TypeAdapter[Any]) -> list[tuple[str, Any]]:
        """Return the wrong members of a section without their wrong fields."""
        found = []
        stand_ins = _STAND_INS.get(section, {})
        for name, fields in self._group(section).items():
            if (section, name) in self.wrong and isinstance(fields, dict):
                right = {k: v for k, v in fields.items() if (section, name, k) not in self.wrong}
                with contextlib.suppress(ValidationError):
                    found.append((name, checker.validate_python({**stand_ins, **right})))
        return found

    def _gravity(self) -> tuple[float, ...]:
        if "gravity" not in self.data or ("gravity",) in self.wrong:
            return Description().gravity
        return vector("robot", "gravity", self.data["gravity"], 3)

    def _keep(self, parts: dict[str, Any], name: str, part: object) -> None:
        if part is not None:
            parts[name] = part

    def _check_whole(self, description: Description) -> None:
        """Report what is wrong between parts, as far as the parts themselves are right."""
        broken = set(self.builder.lengths) - set(description.rods)
        places: dict[str, Place] = {}
        for section, parts in description.kinds().items():
            places.update({part.label: (section, part.name) for part in parts.values()})
        for name, chambers in self._actuator_chambers().items():
            own = [description.rods.get(name), *map(description.chambers.get, chambers)]
            places.update({part.label: ("actuators", name) for part in own if part is not None})
        for problem in description.problems():
            # what is wrong with a rod itself is reported already; do not call it unknown as well
            no_rods = problem.part == "robot" and (broken or ("rods",) in self.wrong)
            if str(problem.value) not in broken and not no_rods and problem.field != "name":
                report_description_error(self.source, places.get(problem.part, ()), problem)

    def _inputs(self) -> dict[str, Input]:
        found: dict[str, Input] = {}
        named = [name for names in self._actuator_chambers().values() for name in names]
        scalars = {**self._group("base_motions"), **self._group("chambers"), **dict.fromkeys(named)}
        known = {**self._group("loads"), **scalars}
        for name, fields in self._good("inputs", _INPUT):
            error = None
            if name not in known:
                expected = "the name of a load, a base motion or a chamber in this file"
                error = DescriptionError("", "name", name, expected, did_you_mean(name, known))
            elif name in scalars and isinstance(fields, tuple):
                expected = "a number or a signal for a base motion or a chamber"
                error = DescriptionError("", "", fields, expected, "give e.g. 0.1")
            if error is not None:
                report_description_error(self.source, ("inputs", name), error)
                continue
            self._keep(found, name, self.builder.input(name, fields))
        return found

    def _runs(self) -> tuple[Run, ...]:
        makers: dict[str, Callable[[dict[str, Any]], Run]] = {
            "statics": lambda _: StaticsRun(),
            "simulate": self._simulate,
            "modes": lambda fields: ModesRun(**fields),
        }
        return tuple(
            makers[section](fields)
            for section, fields in self.data.items()
            if section in makers and (section,) not in self.wrong
        )

    def _simulate(self, fields: dict[str, Any]) -> SimulateRun:
        checked = SimulateFields.model_validate(fields)
        given = checked.given()
        given["integrator"] = build_choice(
            self.source, ("simulate", "integrator"), checked.integrator, self.integrators
        )
        return SimulateRun(**given)
