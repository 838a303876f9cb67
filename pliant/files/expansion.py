"""Write a robot file out: includes, repeated parts and groups, named parameters and their arithmetic.

What comes out is a file as if every part stood in it with its numbers; each entry knows the file, line
and repetition that it comes from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pliant.files.access import named_file
from pliant.files.expressions import ExpressionError, NoExpression, names_in
from pliant.files.parameters import RESERVED, WORD, Declared, Parameters, Scope
from pliant.files.reader import FileReader, part_and_field
from pliant.files.runs import RUNS
from pliant.files.source import MAX_ENTRIES, FileError, Place, Problem, Source, read_source
from pliant.files.values import BROKEN, computed, renamed
from pliant.model import (
    Described,
    DescriptionError,
    Kind,
    ReportedError,
    Schema,
    Whole,
    headings,
    holds,
    refuse,
)
from pliant.model.fields import Text
from pliant.model.registry import Group

LANGUAGE = ("include", "parameters", "groups")
"""Sections that are written out."""
_INDEX = re.compile(r"<([^<>]*)>")
_MOST_FILES = 100
_MOST_TIMES = 1000
_MOST_REPEATED = 2000
"""Repetitions at most, and entries that they make: checks of a robot take the square of its parts."""
_REPETITION = 10
"""Entries for which a repetition counts, however little it holds."""
_OPERATORS = re.compile(r"[*/+()]|\d-")


@dataclass(frozen=True)
class Fields(Kind):
    """A group of entries by name, which is not read further."""

    def check(self, part: str, field: str, value: Any) -> Any:
        expected, remedy = "a group of entries by name", "give e.g. {base: world}"
        refuse(not isinstance(value, dict), part, field, value, expected, remedy)
        return value

    def read(self, reader: Any, path: Place, given: Any) -> Any:
        return self.check("", "", given)

    def schema(self, defs: Schema) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True)
class Repeat(Described):
    """How often a part, a group or an item of a list is repeated.

    count : how often.  index : name of the number of the repetition.  start : of the first.
    first, last : fields that the first and the last repetition have instead.
    """

    count: int = holds(Whole("how often", example="5", least=0))
    index: str = holds(Text("name of the number of the repetition", example="i"), "i")
    start: int = holds(Whole("number of the first repetition"), 1)
    first: Any = holds(Fields("fields of the first repetition instead"), None)
    last: Any = holds(Fields("fields of the last repetition instead"), None)

    def check(self) -> None:
        """Refuse more repetitions than any robot has, and an index that no arithmetic can name."""
        most = f"at most {_MOST_TIMES}"
        self.refuse(self.count > _MOST_TIMES, "count", most, "repeat fewer parts")
        word = WORD.fullmatch(self.index) and self.index not in RESERVED
        expected = "a name of letters and digits that has no other meaning"
        self.refuse(not word, "index", expected, "give e.g. k")


@dataclass(frozen=True)
class RepeatKind(Group):
    """A number of repetitions, or a `Repeat`."""

    meaning: str = "how often it is repeated"
    example: str = "5"
    cls: type[Described] = Repeat

    def read(self, reader: Any, path: Place, given: Any) -> Any:
        if isinstance(given, dict):
            return super().read(reader, path, given)
        return Repeat(Whole(least=0, example="5").check("", "", given))

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [Whole(least=0).schema(defs), super().schema(defs)]}


@dataclass(frozen=True)
class Include(Described):
    """Another robot file whose parts belong to this robot.

    file : relative to the file that includes it.  prefix : stands before all names in it.
    parameters : values of its parameters.
    """

    file: str = holds(Text("relative to this file", example="parts.yaml"))
    prefix: str = holds(Text("before all its names", example="left_"), "")
    parameters: Any = holds(Fields("values of its parameters by name"), dict)

    def check(self) -> None:
        """Refuse a prefix that arithmetic could not name."""
        word = not self.prefix or WORD.fullmatch(self.prefix)
        self.refuse(not word, "prefix", "letters, digits and underscores", "give e.g. left_")


class Moved(NamedTuple):
    """A value that stands at another path of the file than those around it."""

    path: Place
    given: Any


@dataclass
class Unit:
    """One file in the robot: its data, and what it is called by.

    prefix : before its names, with those of the files that include it.  names : of its entries and of
    those of its includes, without prefix.  texts : where texts stand that may name them.
    """

    source: Source
    scope: Scope
    prefix: str = ""
    includes: list[Unit] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    texts: list[tuple[Any, Any]] = field(default_factory=list)

    def section(self, name: str) -> dict[str, Any]:
        """Return a section that holds named entries, empty if it does not."""
        data = self.source.data
        group = data.get(name) if isinstance(data, dict) else None
        return group if isinstance(group, dict) else {}


def expand(
    source: Source, values: Mapping[str, Any], allow: Sequence[Path], files: dict[str, Source]
) -> tuple[Source, Parameters]:
    """Return a robot file with everything written out, and its parameters.

    values : of parameters, by name, instead of those in the file.  allow : folders in which it may
    name files, besides its own.  files : those that were included before; new ones are added.
    """
    expander = _Expander(source, [Path(source.name).parent, *allow], files)
    main = expander.unit(source, Scope(expander.parameters))
    expander.parameters.override(values, main.scope)
    expander.parameters.settle()
    if source.problems:
        raise FileError(source.problems)
    expander.write(main)
    expander.check_names()
    if not expander.complete:
        raise FileError(source.problems)
    return expander.out, expander.parameters


class _Expander:
    """Collects the files of a robot, then writes them out into one."""

    def __init__(self, source: Source, roots: list[Path], files: dict[str, Source]) -> None:
        self.parameters = Parameters()
        self.roots = roots
        self.files = files
        self.count = self.included = self.repeated = 0
        self.complete = True
        """Whether all entries are written out; else others would be called unknown as well."""
        self.main: Any = source.data
        self.out = Source(source.name, {}, {}, source.problems, source.faults)

    # -- files and parameters --------------------------------------------------------------------

    def unit(self, source: Source, scope: Scope, chain: tuple[str, ...] = ()) -> Unit:
        """Return a file with its includes, its parameters declared."""
        unit = Unit(source, scope, scope.prefixes[0])
        here = (*chain, os.path.realpath(source.name))
        given = source.data.get("include") if isinstance(source.data, dict) else None
        listed = given if isinstance(given, list) else [] if given is None else [given]
        for k, item in enumerate(listed):
            path: Place = ("include", k) if isinstance(given, list) else ("include",)
            try:
                self._include(unit, path, item, here)
            except ReportedError:
                continue
        if isinstance(source.data, dict) and source.data.get("parameters") is not None:
            place = ("parameters",)
            for name, value in self._group_at(unit, place, source.data["parameters"]).items():
                item = Declared(value, source, ("parameters", name), scope)
                self.parameters.declare(name, unit.prefix + name, item)
        return unit

    def _include(self, unit: Unit, path: Place, given: Any, chain: tuple[str, ...]) -> None:
        reader = self._reader(unit.source)
        short = isinstance(given, str)
        entry = reader.build(path, Include, {"file": given} if short else given)
        with reader.reporting(path if short else (*path, "file")):
            folder = Path(unit.source.name).parent
            file = named_file(entry.file, "robot file", folder, self.roots)
            met = os.path.realpath(file)
            names = [os.path.basename(item) for item in (*chain, met)]
            expected = f"a file that does not include itself ({' -> '.join(names)})"
            refuse(met in chain, "", "", entry.file, expected, "remove one of these includes")
            self.included += 1
            most = f"one of at most {_MOST_FILES} included files"
            refuse(self.included > _MOST_FILES, "", "", entry.file, most, "include fewer")
        source = self._read(file, met)
        prefix = unit.prefix + entry.prefix
        scope = Scope(self.parameters, (prefix, *unit.scope.prefixes))
        inner = self.unit(source, scope, chain)
        unit.includes.append(inner)
        self._set_parameters(unit, inner, (*path, "parameters"), entry.parameters)

    def _set_parameters(self, unit: Unit, inner: Unit, path: Place, values: Any) -> None:
        """Give the parameters of an included file the values that the including one has for them."""
        for name, value in values.items():
            full = inner.prefix + name
            if full not in self.parameters.declared:
                known = list(inner.section("parameters"))
                self._reader(unit.source).unknown(path, name, value, known, "parameter")
            else:
                self.parameters.declared[full] = Declared(
                    value, unit.source, (*path, name), unit.scope
                )

    def _read(self, file: str, met: str) -> Source:
        if met not in self.files:
            try:
                source = read_source(file)
            except FileError as error:
                for problem in error.problems:
                    self.out.add(problem)
                raise ReportedError from None
            self.files[met] = source
        for problem in self.files[met].problems:
            self.out.add(problem)
        problems, faults = self.out.problems, self.out.faults
        return replace(self.files[met], name=file, problems=problems, faults=faults)

    def _reader(self, source: Source) -> FileReader:
        return FileReader(source, {}, {}, {})

    # -- writing out -----------------------------------------------------------------------------

    def write(self, unit: Unit, top: bool = True) -> None:
        """Write a file out, after those that it includes."""
        for inner in unit.includes:
            self.write(inner, False)
            own = {(inner.prefix + name).removeprefix(unit.prefix) for name in inner.names}
            unit.names.update(dict.fromkeys(own))
        assert isinstance(unit.source.data, dict)
        for name, given in unit.source.data.items():
            self.parameters.section = name
            known = name in headings() or name == "inputs"
            if name == "groups":
                self._groups(unit, given, ("groups",), unit.scope)
            elif known and isinstance(given, dict):
                self._section(unit, name, given, (name,), unit.scope)
            elif name == "gravity" and not top:
                self._check_gravity(unit)
            elif name not in LANGUAGE and (top or name not in RUNS):
                self.out.data[name] = self._value(unit, given, (name,), (name,), unit.scope)  # type: ignore[index]
        self._rename(unit)

    def _check_gravity(self, unit: Unit) -> None:
        """Refuse a gravity of an included file that the robot does not decide upon itself."""
        if "gravity" not in self.main:
            expected = (
                f"given in {os.path.basename(self.out.name)}, for it holds for the whole robot"
            )
            value = unit.source.value(("gravity",))
            self._fault(unit, ("gravity",), unit.scope, value, expected, "write it there too")

    def _groups(self, unit: Unit, given: Any, path: Place, scope: Scope) -> None:
        reader = self._reader(unit.source)
        known = ["repeat", "groups", "inputs", *headings()]
        for name, group in self._group_at(unit, path, {} if given is None else given).items():
            place = (*path, name)
            group = self._group_at(unit, place, group)
            for key, value in group.items():
                if key not in known:
                    reader.unknown(place, key, value, known)
                    self.complete = False
            for inner, entries in self._repetitions(unit, group, place, scope, 2):
                self._sections(unit, entries, place, inner)

    def _group_at(self, unit: Unit, place: Place, given: Any) -> dict[str, Any]:
        """Return entries by name; report anything else, for which none are returned."""
        try:
            return self._reader(unit.source).value(Fields(), place, given)  # type: ignore[no-any-return]
        except ReportedError:
            self.complete = False
            return {}

    def _sections(self, unit: Unit, entries: Mapping[str, Any], path: Place, scope: Scope) -> None:
        for key, given in entries.items():
            self.parameters.section = key
            place, value = given if isinstance(given, Moved) else ((*path, key), given)
            if key == "groups":
                self._groups(unit, value, place, scope)
            elif key in headings() or key == "inputs":
                self._section(unit, key, self._group_at(unit, place, value), place, scope)

    def _section(
        self, unit: Unit, heading: str, entries: Mapping[str, Any], path: Place, scope: Scope
    ) -> None:
        """Write out the entries of one section."""
        assert isinstance(self.out.data, dict)
        section = self.out.data.setdefault(heading, {})
        self.out.places.setdefault((heading,), unit.source.place(path))
        for name, given in entries.items():
            place = (*path, name)
            if isinstance(given, Moved):
                place, given = given
            met: dict[str, None] = {}
            for inner, entry in self._repetitions(unit, given, place, scope):
                try:
                    full = unit.prefix + self._indexed(unit, name, place, inner)
                except ReportedError:
                    self.complete = False
                    break
                target: Place = (heading, full)
                if full in section:
                    self._taken(unit, place, inner, full, full in met)
                    break
                self._count_repeated(bool(inner.indices))
                met[full] = None
                section[full] = self._value(unit, entry, place, target, inner)
                unit.names[full.removeprefix(unit.prefix)] = None
                if unit.prefix:
                    self.out.prefixes[target] = unit.prefix

    def _count_repeated(self, repeated: bool) -> None:
        """Refuse more entries by repetition than can be checked within seconds."""
        self.repeated += repeated
        if self.repeated > _MOST_REPEATED:
            message = f"has more than {_MOST_REPEATED} parts and effects by repetition"
            self.out.report(
                (), "robot", "", f"{message}; repeat fewer, or describe a net as a mesh"
            )
            raise FileError(self.out.problems)

    def _taken(self, unit: Unit, place: Place, scope: Scope, name: str, again: bool) -> None:
        expected, remedy = "unique in its section", "choose another name, or give a prefix"
        if again:
            index = list(scope.indices)[-1]
            expected, remedy = "different in each repetition", f"give e.g. {name}<{index}>"
        self._fault(unit, place, scope, name, expected, remedy)
        self.complete = False

    def _fault(
        self, unit: Unit, path: Place, scope: Scope, value: Any, expected: str, remedy: str
    ) -> None:
        """Report what is wrong with an entry of a file, and in which repetition."""
        part, name = part_and_field(path)
        problem = DescriptionError("", name or "name", value, expected, remedy).problem
        spot = unit.source.place(path)
        place = (unit.source.name, spot.line, spot.column)
        self.out.add(Problem(*place, part, name, problem, scope.repetition))

    def _repetitions(
        self, unit: Unit, given: Any, path: Place, scope: Scope, depth: int = 0
    ) -> Iterator[tuple[Scope, Any]]:
        """Yield scope and entries of each repetition; those of something that is not repeated as such.

        depth : of the fields that the first and the last may have instead; 2 in groups.
        """
        if not isinstance(given, dict) or "repeat" not in given:
            yield scope, given
            return
        place = (*path, "repeat")
        plain = {key: value for key, value in given.items() if key != "repeat"}
        try:
            asked = self._asked(unit, given["repeat"], place, scope)
        except ReportedError:
            self.complete = False
            return
        for k in range(asked.count):
            self._tick(_REPETITION)
            entries = plain
            for word, at in (("first", 0), ("last", asked.count - 1)):
                if k == at and getattr(asked, word):
                    over = getattr(asked, word)
                    entries = _merged(entries, over, (*place, word), depth)
            inner = replace(scope, indices={**scope.indices, asked.index: asked.start + k})
            alone = set(entries) == {"each"}
            yield inner, Moved((*path, "each"), entries["each"]) if alone else entries

    def _asked(self, unit: Unit, given: Any, place: Place, scope: Scope) -> Repeat:
        reader, numbers = self._reader(unit.source), given
        if isinstance(given, dict):  # what the first and the last have is written out with them
            numbers = {k: self._plain(unit, x, (*place, k), scope) for k, x in given.items()}
        else:
            numbers = self._plain(unit, given, place, scope)
        asked: Repeat = reader.value(RepeatKind(), place, numbers)
        taken = asked.index in scope.indices or scope.full(asked.index) is not None
        with reader.reporting(place):
            expected = "another name than that of a parameter or of an outer index"
            refuse(taken, "", "index", asked.index, expected, "give e.g. {count: 3, index: k}")
        return asked

    def _plain(self, unit: Unit, given: Any, path: Place, scope: Scope) -> Any:
        """Return the value of a single text, without a place of its own."""
        return self._text(unit, given, path, None, scope) if isinstance(given, str) else given

    # -- values ----------------------------------------------------------------------------------

    def _tick(self, size: int = 1) -> None:
        self.count += size
        if self.count > MAX_ENTRIES:
            message = f"has more than {MAX_ENTRIES} entries when its repetitions are written out"
            self.out.report((), "robot", "", f"{message}; repeat fewer parts")
            raise FileError(self.out.problems)

    def _value(self, unit: Unit, given: Any, path: Place, target: Place, scope: Scope) -> Any:
        """Return a value written out, and note where it and its entries come from."""
        if isinstance(given, Moved):
            path, given = given
        self._tick()
        spot = unit.source.places.get(path)
        if spot is not None:
            file = spot._replace(file=unit.source.name, repetition=scope.repetition)
            self.out.places[target] = file
        if isinstance(given, str):
            return self._text(unit, given, path, target, scope)
        if isinstance(given, dict):
            group: dict[str, Any] = {}
            for key, item in given.items():
                try:
                    name = self._indexed(unit, key, (*path, key), scope)
                except ReportedError:
                    self.complete = False
                    continue
                group[name] = self._value(unit, item, (*path, key), (*target, name), scope)
                self._note(unit, group, name)
            return group
        if isinstance(given, list):
            return self._list(unit, given, path, target, scope)
        return given

    def _list(self, unit: Unit, given: list[Any], path: Place, target: Place, scope: Scope) -> Any:
        if all(isinstance(item, (int, float)) for item in given):
            self.count += len(given) // 16
            return given
        items: list[Any] = []
        for k, item in enumerate(given):
            for inner, entry in self._repetitions(unit, item, (*path, k), scope):
                place = (*target, len(items))
                items.append(self._value(unit, entry, (*path, k), place, inner))
                self._note(unit, items, len(items) - 1)
        return items

    def _note(self, unit: Unit, holder: Any, key: Any) -> None:
        if unit.prefix and isinstance(holder[key], str):
            unit.texts.append((holder, key))

    def _rename(self, unit: Unit) -> None:
        """Put the prefix of a file before the names of its entries in its texts."""
        for holder, key in unit.texts:
            text = str(holder[key])
            part = text
            while part not in unit.names and "." in part:
                part = part.rpartition(".")[0]
            if part in unit.names:
                holder[key] = renamed(unit.prefix + text, text)

    def _text(self, unit: Unit, text: str, path: Place, target: Place | None, scope: Scope) -> Any:
        """Return a text with its indices, or the value of arithmetic."""
        try:
            text = self._indexed(unit, text, path, scope)
            tree = self.parameters.parse(text)
            unknown = [name for name in names_in(tree) if not scope.knows(name)]
            if not unknown:
                return computed(scope.evaluate(tree), text)
            hint = scope.hint(unknown[0])
            if target is not None and (_OPERATORS.search(text) or "did you mean" in hint):
                self.out.hints[target] = hint
        except NoExpression as error:
            if target is not None and _OPERATORS.search(text):
                self.out.hints[target] = f"for arithmetic, {error}"
        except ExpressionError as error:
            self._fault(unit, path, scope, text, "arithmetic that has a value", str(error))
            return BROKEN
        except ReportedError:
            return BROKEN
        return text

    def _indexed(self, unit: Unit, text: str, path: Place, scope: Scope) -> str:
        """Return a text with the whole numbers that stand between < and > in it."""

        def number(match: re.Match[str]) -> str:
            try:
                inner = match[1].strip()
                plain = inner.isdecimal()  # which is no arithmetic
                value = int(inner) if plain else scope.evaluate(self.parameters.parse(inner))
                whole = computed(value, inner)
                if isinstance(whole, int):
                    return str(int(whole))
                told = f"{match[0]} is {value!r}"
            except (NoExpression, ExpressionError) as error:
                told = str(error)
            expected = "a text with whole numbers between < and >"
            self._fault(unit, path, scope, text, expected, told)
            raise ReportedError

        return _INDEX.sub(number, text) if "<" in text else text

    def check_names(self) -> None:
        """Report parameters that have the name of a part, an effect or an input."""
        for heading, word in {**headings(), "inputs": "input"}.items():
            assert isinstance(self.out.data, dict)
            named = self.out.data.get(heading)
            for name in named if isinstance(named, dict) else ():
                if name in self.parameters.declared:
                    item = self.parameters.declared[name]
                    expected = f"another name than that of {word} {name!r}"
                    error = DescriptionError("", "name", name, expected, "rename one of them")
                    item.source.report(item.path, f"parameter {name!r}", "name", error.problem)


def _merged(entries: Mapping[str, Any], over: Mapping[str, Any], path: Place, depth: int) -> Any:
    """Return entries with others instead; depth : levels below which those of a group are merged."""
    merged = dict(entries)
    for key, value in over.items():
        below = merged.get(key)
        if depth and isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(below, value, (*path, key), depth - 1)
        else:
            merged[key] = Moved((*path, key), value)
    return merged
