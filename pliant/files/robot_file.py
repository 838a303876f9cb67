"""Robot files: their description, inputs and what to compute, and the JSON Schema for editors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.files.expansion import LANGUAGE, expand
from pliant.files.reader import FileReader, class_named, report_error, report_missing, unknown_name
from pliant.files.runs import RUNS, Run, SimulateRun
from pliant.files.source import FileError, Source, read_source
from pliant.model import (
    Constant,
    Description,
    DescriptionError,
    Effect,
    Entry,
    Kind,
    Number,
    OneOf,
    Place,
    Reader,
    ReportedError,
    Schema,
    Signal,
    Vector,
    Writer,
    as_float,
    as_signal,
    bringers,
    carriers,
    class_of,
    fields_of,
    headings,
    known_name,
    members_of,
    refuse,
    taken,
    values_at,
)
from pliant.model.origin import Origin
from pliant.model.plausible import time_doubts
from pliant.model.wireframe_fields import MOST_PIECES, refuse_pieces

Input = Signal | tuple[float, ...]


@dataclass(frozen=True)
class InputKind(Kind):
    """A number, a force or (moment, force), or a signal over time."""

    def read(self, reader: Reader, path: Place, given: Any) -> Input:
        if isinstance(given, dict):
            return reader.value(OneOf(families=(Signal,)), path, given)  # type: ignore[no-any-return]
        if isinstance(given, list):
            return Vector(unit="N or (N m, N)", sizes=(3, 6)).check("", "", given)
        return Constant(Number().check("", "", given))

    def write(self, writer: Writer, value: Any) -> Any:
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, Signal) or callable(value):
            return OneOf(families=(Signal,)).write(writer, as_signal(value))
        return writer.plain(np.asarray(value, dtype=float))

    def schema(self, defs: Schema) -> Schema:
        signal = OneOf(families=(Signal,)).schema(defs)
        wrench = Vector(sizes=(3, 6)).schema(defs)
        return {"anyOf": [Number().schema(defs), wrench, signal]}


_ENOUGH = 20
"""Repetitions of an entry that cannot be built after which the others are not tried."""
_SECTIONS = ("gravity", "inputs", *RUNS)


@dataclass(frozen=True, eq=False)
class RobotFile:
    """What a robot file says.

    path : the file.  description : the robot.  inputs : by load name, a signal (seconds to a
    factor) or a constant tuple of 3 (force) or 6 (moment, force) numbers; by name of another
    effect, a signal.  runs : what to compute, in the order of the file.
    """

    path: Path
    description: Description
    inputs: dict[str, Input] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()

    def inputs_at(self, t: float) -> dict[str, float | tuple[float, ...]]:
        """Return the values of the inputs that the file gives, at time ``t`` in seconds."""
        return values_at(self.inputs, t)

    def doubts(self) -> list[str]:
        """Return sentences about values that no robot has; see `pliant.model.plausible`."""
        steps = [run.dt for run in self.runs if isinstance(run, SimulateRun) and run.dt]
        told = [text for dt in steps for text in time_doubts(self.description.rods, dt)]
        return [*self.description.doubts(), *self.description.unresolved(), *told]


def load_robot_file(
    path: str | os.PathLike[str],
    formulations: Mapping[str, type] | None = None,
    integrators: Mapping[str, type] | None = None,
    allow: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    parameters: Mapping[str, Any] | None = None,
) -> RobotFile:
    """Return what a robot file says; raise FileError with every problem in it.

    formulations, integrators : the classes that the file may name. Their settings are checked
    against their fields, and the objects built.  allow : a folder, or several, besides that of the
    robot file, in which it may name files.  parameters : values of its named parameters, instead of
    those in the file: numbers, lists, or arithmetic as text.
    """
    wrong = parameters is not None and not isinstance(parameters, Mapping)
    remedy = "give e.g. {'radius': 0.01}"
    refuse(wrong, "robot file", "parameters", parameters, "values by name", remedy)
    families = {"formulation": formulations or {}, "integrator": integrators or {}}
    origin = FileOrigin(read_source(path), families, folders(allow), dict(parameters or {}))
    robot = origin.description.snapshot()  # to which parts may be added
    return RobotFile(Path(path), robot, dict(origin.inputs), origin.runs)


class FileOrigin(Origin):
    """A robot file as it was read, with values of its named parameters.

    source : the file.  given : values of parameters that are not those of the file.
    """

    def __init__(
        self,
        source: Source,
        families: Mapping[str, Mapping[str, type]],
        allow: Sequence[Path],
        given: dict[str, Any],
        files: dict[str, Source] | None = None,
    ) -> None:
        self.source, self.families, self.allow, self.given = source, families, allow, given
        self.files: dict[str, Source] = {} if files is None else files
        fresh = replace(source, problems=list(source.problems), faults={})
        written, parameters = expand(fresh, given, allow, self.files)
        loader = _Loader(written, families, allow)
        self.description, self.inputs, self.runs = loader.load()
        if written.problems:
            raise FileError(written.problems)
        self.values = parameters.plain()
        self.of_inputs = frozenset(parameters.used_in("inputs"))
        if self.values:
            self.description.origin = self

    def varied(self, values: Mapping[str, Any]) -> FileOrigin:
        given = {**self.given, **values}
        try:
            return FileOrigin(self.source, self.families, self.allow, given, self.files)
        except FileError as error:
            listed = ", ".join(f"{name} = {value}" for name, value in values.items())
            expected = "values with which the robot file describes a robot"
            raise DescriptionError(
                "robot file", "parameters", listed, expected, str(error.problems[0])
            ) from None


def folders(allow: object) -> list[Path]:
    """Return the folders that `allow` names, one or several."""
    given = [allow] if isinstance(allow, (str, os.PathLike)) else allow
    try:
        return [Path(folder) for folder in given]  # type: ignore[attr-defined]
    except TypeError:
        expected, remedy = "a folder, or a list of them", "give e.g. allow='../data'"
        raise DescriptionError("robot file", "allow", allow, expected, remedy) from None


class _Loader:
    """Checks what can be checked even when other parts of the file are wrong."""

    def __init__(
        self, source: Source, families: Mapping[str, Mapping[str, type]], allow: Sequence[Path]
    ) -> None:
        assert isinstance(source.data, dict)
        self.source = source
        self.data: dict[str, Any] = source.data
        self.headings = [name for name in headings() if name in self.data]
        self.broken: dict[str, None] = {}
        """Names of entries that cannot be built."""
        self.hidden = False
        """True if entries that cannot be built would have brought along others."""
        lengths = self._lengths()
        solids = {name: None for name, length in lengths.items() if length == 0.0}
        rods = {name: length for name, length in lengths.items() if length != 0.0}
        self.reader = FileReader(source, rods, solids, families, allow)

    def load(self) -> tuple[Description, dict[str, Input], tuple[Run, ...]]:
        """Return robot, inputs and what to compute, as far as they are right."""
        self._check_sections()
        description = Description(self._gravity())
        places: dict[str, Place] = {}
        meshed = 0
        for place, entry in self._entries():
            pieces = entry.pieces()
            meshed += len(pieces) if len(pieces) > 1 else 0
            with suppress(ReportedError), self.reader.reporting(place):
                refuse_pieces(meshed)
            if meshed > MOST_PIECES:
                break
            for piece in pieces:
                self.reader.bring(piece)
                owner = description.parts.get(piece.name)
                if owner is not None:
                    report_error(self.source, place, entry.taken(piece.name, owner.label))
                else:
                    description.parts[piece.name] = piece
                    places[piece.label] = place
        self._check_whole(description, places)
        inputs = self._inputs(description)
        runs = self._runs(description)
        if not self.source.problems:
            description.parts = description.in_order()
        return description, inputs, runs

    def _check_sections(self) -> None:
        known = [*headings(), *_SECTIONS, *LANGUAGE]
        for name, value in self.data.items():
            with suppress(ReportedError), self.reader.reporting((name,)):
                if name not in known:
                    raise unknown_name("field", value, name, known)
                group = name in headings() or name == "inputs"
                expected, remedy = "a group of named entries", "give e.g. {name: ...}"
                refuse(group and not isinstance(value, dict), "", "", value, expected, remedy)
        if not set(bringers()) & set(self.data):
            example = "rods: {arm: {length: 0.3, section: ..., material: ...}}"
            report_missing(self.source, ("rods",), Kind("the rods by name", example=example))

    def _entries(self) -> Iterator[tuple[Place, Entry]]:
        """Yield every entry that can be built, with its place in the file."""
        owner: dict[str, str] = {}
        failed: dict[tuple[Any, ...], int] = {}
        # what brings along parts under names of its own comes first: others may hang on them
        for heading in sorted(self.headings, key=lambda x: x in carriers() or x not in bringers()):
            for name, given in self._group(heading).items():
                place: Place = (heading, name)
                if name in owner:
                    report_error(self.source, place, taken("", "name", name, owner[name]))
                    continue
                owner[name] = f"{headings()[heading]} {name!r}"
                cls = class_of(heading, given)
                spot = self.source.place(place)[:3]
                if failed.get(spot, 0) >= _ENOUGH:  # of one entry, repeated
                    self.broken[name] = None
                    continue
                try:
                    if cls is None:
                        cls, place, given = self._general(heading, place, given)
                    yield place, self.reader.build(place, cls, given, name=name)
                except ReportedError:
                    failed[spot] = failed.get(spot, 0) + 1
                    self.broken[name] = None
                    self.reader.broken.append(name)
                    self.hidden = self.hidden or cls is None or cls.naming != "name"

    def _general(self, family: str, place: Place, given: Any) -> tuple[type[Entry], Place, Any]:
        """Return class, place and fields of an entry of a section for all classes of a family."""
        known = members_of(family)
        listed = ", ".join(known) or "none yet"
        expected = f"one of the classes of {family} with its fields ({listed})"
        remedy = "give e.g. {spring: {stiffness: 10}}"
        with self.reader.reporting(place):
            single = isinstance(given, dict) and len(given) == 1
            refuse(not single, "", "", given, expected, remedy)
        ((name, fields),) = given.items()
        cls = class_named(name, known)
        if cls is None:
            with self.reader.reporting((*place, name)):
                raise unknown_name("class", fields, name, list(known))
        return cls, (*place, name), fields

    def _lengths(self) -> dict[str, float | None]:
        """Return the length of every part: None where it is not usable, 0 of those without."""
        lengths: dict[str, float | None] = {}
        for heading, cls in carriers().items():
            for name, given in self._group(heading).items():
                length = as_float(given.get("length")) if isinstance(given, dict) else None
                usable = length if length is not None and 0 < length < float("inf") else None
                lengths.setdefault(name, usable if "length" in fields_of(cls) else 0.0)
        return lengths

    def _group(self, section: str) -> dict[str, Any]:
        group = self.data.get(section)
        return group if isinstance(group, dict) else {}

    def _gravity(self) -> tuple[float, ...]:
        gravity = Description().gravity
        with suppress(ReportedError):
            given = self.data.get("gravity", list(gravity))
            gravity = self.reader.value(Vector(unit="m/s^2"), ("gravity",), given)
        return gravity

    def _check_whole(self, description: Description, places: Mapping[str, Place]) -> None:
        """Report what is wrong between parts, as far as the parts themselves are right."""
        whole = self.broken or not isinstance(self.data.get("rods", {}), dict)
        for problem in description.problems():
            # what is wrong with a rod itself is reported already; do not call it unknown as well
            none_left = problem.part == "robot" and (whole or not self.headings)
            if str(problem.value) not in self.broken and not none_left:
                report_error(self.source, places.get(problem.part, ()), problem)

    def _inputs(self, description: Description) -> dict[str, Input]:
        values: dict[str, Input] = {}
        known = [*description.inputs(), *self.broken]
        for name, given in self._group("inputs").items():
            with suppress(ReportedError):
                values[name] = self.reader.value(InputKind(), ("inputs", name), given)
            entry = description.parts.get(name)
            with suppress(ReportedError), self.reader.reporting(("inputs", name)):
                if not self.hidden:
                    expected = "the name of a load, a base motion or a chamber in this file"
                    known_name("", "name", name, known, expected)
                if isinstance(entry, Effect) and isinstance(values.get(name), tuple):
                    expected = f"a number or a signal for a {entry.word}"
                    wrong = len(given) not in entry.input_sizes
                    refuse(wrong, "", "", given, expected, "give e.g. 0.1")
        return values

    def _runs(self, description: Description) -> tuple[Run, ...]:
        runs = []
        for name in [key for key in self.data if key in RUNS]:
            with suppress(ReportedError):
                given = self.data[name]
                run = RUNS[name].read(self.reader, (name,), {} if given is None else given)
                runs.append(run)
                if not (self.broken or self.hidden):
                    for problem in run.problems(description):
                        report_error(self.source, (name,), problem)
        return tuple(runs)
