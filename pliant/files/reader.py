"""Read the entries of a robot file by the fields of the classes they describe; report what is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pliant.files.access import named_file
from pliant.files.source import Source
from pliant.files.values import as_written, is_broken
from pliant.model import (
    DescriptionError,
    Entry,
    Kind,
    Place,
    PliantError,
    ReportedError,
    check_arclength,
    did_you_mean,
    fields_of,
    headings,
    known_name,
    nearest_name,
    refuse,
)
from pliant.model.place_names import find_place
from pliant.model.registry import Part

T = TypeVar("T")
_RUNS = ("statics", "simulate", "modes", "follow", "reach")
_GENERAL = ("parts", "effects")


def part_and_field(path: Place) -> tuple[str, str]:
    """Split a path into the part it belongs to and the field in it.

    ("rods", "arm", "section", "circle") gives "rod 'arm'" and "section.circle".
    """
    head = path[0] if path else ""
    words = {**headings(), "inputs": "input", "groups": "group", "parameters": "parameter"}
    if head in _GENERAL and len(path) > 2:
        return f"{str(path[2]).replace('_', ' ')} {path[1]!r}", _dotted(path[3:])
    if head in words and len(path) > 1:
        return f"{words[str(head)]} {path[1]!r}", _dotted(path[2:])
    in_run = head in _RUNS and len(path) > 1
    return (str(head), _dotted(path[1:])) if in_run else ("robot", _dotted(path))


def report_error(source: Source, path: Place, error: DescriptionError) -> None:
    """Report an error of the Python classes about the entry at ``path``."""
    place = _in_file(source, path, filter(None, error.field.split(".")))
    part, field = part_and_field(place)
    # a vector or a frame is shown as the file writes it
    written = None if isinstance(error.value, (str, int, float)) else source.value(place)
    value = error.value if written is None else written
    hint = _hint(source, place, value) if "number" in error.expected else None
    remedy = hint or _as_yaml(error.remedy)
    told = DescriptionError(part, field or "entry", value, error.expected, remedy)
    source.report(place, part, field, told.problem)


def _hint(source: Source, place: Place, value: object) -> str | None:
    """What may be meant by a text where a number is expected, or by one in a list of numbers."""
    if isinstance(value, str):
        return source.hints.get(place)
    texts = (
        [k for k, x in enumerate(value) if isinstance(x, str)] if isinstance(value, list) else []
    )
    return next((source.hints[(*place, k)] for k in texts if (*place, k) in source.hints), None)


def report_missing(source: Source, path: Place, kind: Kind) -> None:
    """Report a field that must be given."""
    part, field = part_and_field(path)
    meaning = f" ({kind.note})" if kind.note else ""
    example = f"give e.g. {kind.example}" if kind.example else "give it"
    source.report(path[:-1], part, field, f"{field} is missing{meaning}; {example}")


def unknown_name(kind: str, value: object, name: str, known: Sequence[str]) -> DescriptionError:
    """Return the error for a field or setting that does not exist."""
    there = f"there are {', '.join(known)}" if known else "there are none"
    near = nearest_name(name, known)
    remedy = f"did you mean {near!r}?" if near is not None else "remove it"
    return DescriptionError("", "", value, f"left out, there is no such {kind} ({there})", remedy)


def _in_file(source: Source, path: Place, inner: Iterable[str]) -> Place:
    """Return the path of a field of a Python class as the file has it.

    The file names the class of some objects, as in ``section: {circle: {radius: ...}}``, the
    arclength of a place ``at``, and the path of a table ``csv``.
    """
    for name in inner:
        group = source.value(path)
        if isinstance(group, dict) and name not in group:
            only = next(iter(group.values())) if len(group) == 1 else None
            if isinstance(only, dict) and name in only:
                path = (*path, next(iter(group)))
            elif name == "s" and "part" in group:
                name = "at"
            elif name in ("path", "file"):
                name = next((word for word in ("csv", "file") if word in group), name)
        path = (*path, name)
    return path


def _as_yaml(remedy: str) -> str:
    """Return a remedy with Python's ('a', 2) and name=1 written as [a, 2] and name: 1."""
    if "e.g." not in remedy:
        return remedy
    lists = re.sub(r"(?<!\w)\(([^()]*)\)", lambda m: f"[{m[1].replace(chr(39), '')}]", remedy)
    return re.sub(r"\b(\w+)=(?=\S)", r"\1: ", lists)


def _dotted(path: Place) -> str:
    items = [f"[{item}]" if isinstance(item, int) else f".{item}" for item in path]
    return "".join(items).removeprefix(".")


@dataclass(frozen=True)
class FileReader:
    """Reads entries, as the `Reader` of the kinds; all that is wrong is reported.

    lengths : of every rod in the file, by name, in metres; None where the file's own is wrong.
    solids : names of parts without length.  broken : names of entries that cannot be built.
    families : the classes that a file may name with settings, by family and name.
    allow : folders, besides that of the robot file, in which it may name files.
    """

    source: Source
    lengths: Mapping[str, float | None]
    solids: dict[str, None]
    families: Mapping[str, Mapping[str, type]]
    allow: Sequence[Path] = ()
    broken: list[str] = field(default_factory=list)

    def bring(self, piece: Entry) -> None:
        """Let later entries name a part that an entry brings along."""
        solid = isinstance(piece, Part) and not hasattr(piece, "length")
        if solid and piece.name not in self.lengths:
            self.solids[piece.name] = None

    def _hidden(self, name: str) -> bool:
        """Tell whether a part would have been brought along by an entry that cannot be built."""
        return any(name.startswith(f"{entry}_") for entry in self.broken)

    @contextmanager
    def reporting(self, path: Place) -> Iterator[None]:
        """Report an error about the entry at ``path``; raise ReportedError instead of it."""
        try:
            yield
        except DescriptionError as error:
            report_error(self.source, path, error)
            raise ReportedError from None

    def value(self, kind: Kind, path: Place, given: object) -> Any:
        if is_broken(given):
            raise ReportedError
        given = self._with_prefix(kind, path, given)
        with self.reporting(path):
            try:
                return kind.read(self, path, given)
            except DescriptionError as error:
                written = as_written(given)
                if written is given:
                    raise
                try:
                    return kind.read(self, path, written)
                except DescriptionError:
                    raise error from None

    def _with_prefix(self, kind: Kind, path: Place, given: Any) -> Any:
        """Return the name of an input as an included file means it; other texts as it writes them."""
        prefix = self.source.prefixes.get(path[:2], "")
        if not prefix or kind.literal is None:
            return given
        plain = as_written(given)
        if not kind.literal and isinstance(plain, str):
            return prefix + plain
        if not kind.literal and isinstance(plain, list):
            return [prefix + item if isinstance(item, str) else item for item in plain]
        if not kind.literal and isinstance(plain, dict):  # inputs by direction
            return {key: prefix + str(as_written(item)) for key, item in plain.items()}
        return plain

    def group(self, path: Place, cls: type, given: object, what: str = "field") -> dict[str, Any]:
        """Return the entries of a group by the fields of a class; refuse wrong ones."""
        known = {name: item for name, item in fields_of(cls).items() if item.kind.listed}
        if not isinstance(given, dict):
            expected, remedy = "an empty group", "write {}"
            if known:
                expected = f"a group with the fields {', '.join(known)}"
                remedy = "write them as name: value"
            with self.reporting(path):
                raise DescriptionError("", "", given, expected, remedy)
        values: dict[str, Any] = {}
        wrong, meant = False, set()
        for name, value in given.items():
            if name not in known:
                meant.add(nearest_name(name, known))
                self.unknown(path, name, value, list(known), what)
            elif value is not None or not known[name].takes_nothing():
                try:
                    values[name] = self.value(known[name].kind, (*path, name), value)
                except ReportedError:
                    wrong = True
        for name, item in known.items():
            if item.required and name not in given and name not in meant:
                report_missing(self.source, (*path, name), item.kind)
                wrong = True
        if wrong or meant:
            raise ReportedError
        return values

    def build(self, path: Place, cls: type, given: object, **more: object) -> Any:
        return self._construct(path, cls, {**self.group(path, cls, given), **more})

    def unknown(
        self, path: Place, name: str, value: object, known: list[str], what: str = "field"
    ) -> None:
        report_error(self.source, (*path, name), unknown_name(what, value, name, known))

    def setting(self, path: Place, family: str, given: object) -> Any:
        """Return the object that a file names: ``name`` or ``{name: {setting: value}}``.

        Names match whatever their case and underscores: bspline, BSpline, b_spline.
        """
        name, settings = given, None
        if isinstance(given, dict) and len(given) == 1:
            ((name, settings),) = given.items()
        if not isinstance(name, str) or not isinstance(settings, (dict, type(None))):
            expected, remedy = (
                "a name, or a name with its settings",
                "give e.g. {bspline: {degree: 3}}",
            )
            raise DescriptionError("", "", given, expected, remedy)
        registry = self.families[family]
        cls: type | None = class_named(name, registry)
        if cls is None:
            listed = f"one of {', '.join(registry) or 'those installed'}"
            raise DescriptionError("", "", name, listed, did_you_mean(name, registry))
        place = (*path, name)
        return self._construct(place, cls, self.group(place, cls, settings or {}, "setting"))

    def arclength(self, path: Place, part: object, at: float | str | None) -> float:
        if part in self.solids:
            refuse(
                at not in (None, 0.0),
                "",
                "at",
                at,
                f"left out, for {part!r} is a body",
                "give offset: [0, 0, 0.1]",
            )
            return 0.0
        parts = [*self.lengths, *self.solids]
        if part not in parts and self._hidden(str(part)):
            raise ReportedError
        place = find_place(str(part), self.lengths, ())
        if place is not None and part not in parts:
            remedy = f"give part: {place[0]}, at: {place[1]:g}; or this text instead of the group"
            raise DescriptionError("", "part", part, "the name of a part, not a place", remedy)
        expected = "the name of a rod or body in this file"
        length = self.lengths[known_name("", "part", part, parts, expected)]
        if length is None:
            raise ReportedError
        named = {"tip": length, None: length, "base": 0.0}
        s = named[at] if at is None or isinstance(at, str) else at
        return check_arclength("", "at", s, length)

    def rod(self, name: object) -> str:
        found = find_place(str(name), self.lengths, ())
        if name not in self.lengths and found is not None:
            expected = "the name of a rod, not a place on it"
            remedy = f"give {found[0]!r}, which stands for all of it"
            raise DescriptionError("", "", name, expected, remedy)
        return known_name("", "", name, self.lengths, "the name of a rod in this file")

    def lengths_and_bodies(self, text: str) -> tuple[Mapping[str, float | None], Collection[str]]:
        """Return what places are looked up in; a place on a rod with a wrong length is reported."""
        if any(x is None and text.startswith(f"{name}.") for name, x in self.lengths.items()):
            raise ReportedError
        if text not in self.solids and self._hidden(text):
            raise ReportedError
        return self.lengths, self.solids

    def file(self, path: Place, name: str, what: str) -> str:
        folder = Path(self.source.place(path).file).parent
        roots = [Path(self.source.name).parent, *self.allow]
        return named_file(name, what, folder, roots)

    def _construct(self, path: Place, cls: type, given: Mapping[str, Any]) -> Any:
        try:
            return cls(**given)
        except DescriptionError as error:
            item = fields_of(cls).get(error.field)
            if item is not None and error.value is None and error.field not in given:
                report_missing(self.source, (*path, error.field), item.kind)
            else:
                report_error(self.source, path, error)
        except (TypeError, ValueError, ArithmeticError, PliantError) as error:
            part, field = part_and_field(path)
            lead = f"{field}: " if field else ""
            self.source.report(path, part, field, f"{lead}{error}; correct its settings")
        raise ReportedError


def class_named(name: str, known: Mapping[str, type[T]]) -> type[T] | None:
    """Return the class of that name, whatever its case and underscores; None if there is none."""

    def plain(text: str) -> str:
        return text.lower().replace("_", "").replace("-", "")

    return {plain(key): cls for key, cls in known.items()}.get(plain(name))
