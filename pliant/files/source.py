"""Read a YAML file into plain data, remembering where every entry stands.

Only plain YAML is understood: mappings, lists, texts, numbers, true, false and null. Tags that
would build other objects are refused, so a robot file can never run code.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pliant.files.long_lists import LISTED, take_long_lists
from pliant.model import PliantError, file_path, read_text


@dataclass(frozen=True)
class Problem:
    """One fault: where it stands, which part and field it concerns, and what to do.

    line and column count from 1 and are None when the file as a whole is meant.
    repetition : of a repeated part, such as "i = 3".
    """

    file: str
    line: int | None
    column: int | None
    part: str
    field: str
    message: str
    repetition: str = ""

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}: {self.message}"
        which = f" ({self.repetition})" if self.repetition else ""
        lead = "" if self.part == "file" else f"{self.part}{which}: "
        return f"{self.file}:{self.line}:{self.column}: {lead}{self.message}"

    @property
    def fault(self) -> tuple[object, ...]:
        """What is the same for one fault in all repetitions of a part."""
        return (self.file, self.line, self.column, self.field, bool(self.repetition) or self)


class FileError(PliantError):
    """A robot file cannot be used; ``problems`` lists everything that is wrong in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        files = list(dict.fromkeys(item.file for item in problems))
        order = sorted(
            problems,
            key=lambda item: (files.index(item.file), item.line or math.inf, item.column or 0),
        )
        # entries shared through an alias would be reported once per use
        self.problems: list[Problem] = list(dict.fromkeys(order))
        super().__init__("\n".join(str(item) for item in self.problems))

    def __reduce__(self) -> tuple[type[FileError], tuple[list[Problem]]]:
        """Pickle by problems, so that the error crosses process borders."""
        return type(self), (self.problems,)


Place = tuple[str | int, ...]

MAX_ENTRIES = 200_000
_TAG = "tag:yaml.org,2002:"
_HUGE = 10**300
"""Whole numbers beyond it are as good as infinite: not all of them can be floats or printed."""
_MOST_PROBLEMS = 100
_MAX_PARSED, _MAX_DEPTH = 20_000, 100
"""Most entries and levels that are left to the parser."""
_TOO_DEEP = "is nested too deeply; a robot file needs only a few levels"


class Spot(NamedTuple):
    """Where an entry stands: file, line and column counted from 1, and of which repetition it is."""

    file: str
    line: int
    column: int
    repetition: str = ""


@dataclass
class Source:
    """A file's data, and where every entry stands."""

    name: str
    data: object = None
    places: dict[Place, Spot] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    faults: dict[tuple[object, ...], dict[str, None]] = field(default_factory=dict)
    """The repetitions in which each fault was met."""
    hints: dict[Place, str] = field(default_factory=dict)
    """What may be meant by texts that are no arithmetic, if something else than a text is expected."""
    prefixes: dict[Place, str] = field(default_factory=dict)
    """What stands before the names in entries from files that are included."""

    def place(self, path: Place) -> Spot:
        """Return where ``path`` stands, or the nearest entry that contains it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return self.places.get((), Spot(self.name, 1, 1))

    def value(self, path: Place) -> object:
        """Return the file's own value at ``path``, or None if there is none."""
        value: Any = self.data
        for item in path:
            try:
                value = value[item]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def report(self, path: Place, part: str, field_name: str, message: str) -> None:
        """Remember a problem with the entry at ``path``; a hundred of them are enough."""
        spot = self.place(path)
        place = (spot.file, spot.line, spot.column)
        self.add(Problem(*place, part, field_name, message, spot.repetition))

    def add(self, problem: Problem) -> None:
        """Remember a problem, once for all repetitions; raise FileError if there are too many."""
        met = self.faults.setdefault(problem.fault, {})
        met[problem.repetition] = None
        others = len(met) - 1
        first = f"{next(iter(met))}, and {others} others" if others > 1 else " and ".join(met)
        for k, other in enumerate(self.problems):
            if other.fault == problem.fault:
                self.problems[k] = replace(other, repetition=first)
                return
        self.problems.append(problem)
        if len(self.problems) >= _MOST_PROBLEMS:
            message = f"only the first {_MOST_PROBLEMS} problems are listed; correct them first"
            last = Problem(self.name, None, None, "file", "", message)
            raise FileError([*self.problems, last])


def read_source(path: str | os.PathLike[str]) -> Source:
    """Return the data of a YAML file; raise FileError if it cannot be read at all."""
    file = file_path("robot file", path, "the path of a robot file", "'arm.yaml'")
    text = _read_text(file)
    source = Source(str(file))
    text, lists = take_long_lists(text)
    _check_size(file, text)
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise FileError([_syntax(source.name, error, text)]) from error
    except (YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise _whole(file, f"is not valid YAML ({reason}); correct the file") from error
    except RecursionError:
        raise _whole(file, _TOO_DEEP) from None
    if root is not None:
        source.data = _Reader(source, lists).plain(root, ())
    if source.data is None and not source.problems:
        raise _whole(file, "is empty; describe at least one rod under 'rods:'")
    if not isinstance(source.data, dict):
        raise _whole(
            file, "must hold named sections such as 'rods:' and 'loads:'; begin with 'rods:'"
        )
    return source


def _check_size(file: Path, text: str) -> None:
    """Refuse a text that the parser would need long for."""
    depth = deepest = 0
    for bracket in re.finditer(r"[][{}]", text):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > _MAX_DEPTH:
        raise _whole(file, _TOO_DEEP)
    lines = sum(1 for line in text.split("\n") if line.strip())
    if lines + text.count(",") + text.count(": ") > 2 * _MAX_PARSED:
        raise _whole(
            file,
            f"has more than {_MAX_PARSED} entries besides its lists of numbers; "
            "write long tables as [...] or in CSV files",
        )


def _read_text(file: Path) -> str:
    try:
        return read_text(file)
    except FileNotFoundError:
        near = sorted(file.parent.glob("*.y*ml")) if file.parent.is_dir() else []
        hint = f" (this folder has {', '.join(item.name for item in near[:5])})" if near else ""
        raise _whole(file, f"does not exist; check the name and the folder{hint}") from None
    except IsADirectoryError:
        raise _whole(file, "is a folder; give the name of a robot file in it") from None
    except UnicodeDecodeError:
        raise _whole(file, "is not a text file in UTF-8; give a YAML robot file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _whole(
            file, f"cannot be read ({reason}); check the name and its permissions"
        ) from error


def _whole(file: Path, message: str) -> FileError:
    return FileError([Problem(str(file), None, None, "file", "", message)])


def _syntax(name: str, error: MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    for number, content in enumerate(text.split("\n")[:line], 1):
        tab = content.find("\t")
        if tab >= 0 and not content[:tab].strip():
            message = "is indented with a tab, which YAML does not allow; indent with spaces"
            return Problem(name, number, tab + 1, "file", "", f"the line {message}")
    reason = " ".join(part for part in (error.problem, error.context) if part)
    message = f"is not valid YAML here ({reason}); check colons, quotes, brackets and indentation"
    return Problem(name, line, column, "file", "", message)


class _Reader:
    """Turn YAML nodes into plain data; faulty entries are reported and left out."""

    def __init__(self, source: Source, lists: dict[str, list[Any]]) -> None:
        self.source = source
        self.lists = lists
        self.count = 0
        self.open: set[int] = set()

    def plain(self, node: Node, path: Place) -> object:
        """Return the data of ``node`` and note where it and its entries stand."""
        self.count += 1
        if id(node) in self.open:
            self._refuse("repeats itself through its *aliases without end; write the entries out")
        if self.count > MAX_ENTRIES:
            self._refuse(
                f"has more than {MAX_ENTRIES} numbers and entries, with those that its *aliases "
                "repeat; put long tables into CSV files"
            )
        self.source.places.setdefault(path, self._spot(node))
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        expected = "map" if isinstance(node, MappingNode) else "seq"
        if node.tag != _TAG + expected:
            self._refuse_tag(node, path)
            return None
        self.open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self._mapping(node, path)
            assert isinstance(node, SequenceNode)
            only = node.value[0] if len(node.value) == 1 else None
            if isinstance(only, ScalarNode) and only.value in self.lists:
                numbers = self.lists[only.value]
                self.count += len(numbers)
                return numbers
            return [self.plain(item, (*path, k)) for k, item in enumerate(node.value)]
        finally:
            self.open.discard(id(node))

    def _refuse(self, message: str) -> NoReturn:
        raise _whole(Path(self.source.name), message)

    def _mapping(self, node: MappingNode, path: Place) -> dict[str, object]:
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        # what is merged comes first: own entries, and where they stand, replace it
        for key, value in sorted(node.value, key=lambda pair: pair[0].tag != _TAG + "merge"):
            name = key.value
            if key.tag == _TAG + "merge":
                merged.update(self._merge(value, path))
            elif not isinstance(key, ScalarNode) or key.tag != _TAG + "str":
                text = repr(name) if isinstance(key, ScalarNode) else "in brackets"
                self._report(key, path, f"the key {text} is not a text; put it in quotes")
            elif name in own:
                self._report(key, path, f"the key {name!r} stands here twice; remove one of them")
            else:
                self.source.places[(*path, name)] = self._spot(key)
                own[name] = self.plain(value, (*path, name))
        return {**merged, **own}

    def _merge(self, node: Node, path: Place) -> dict[str, object]:
        """Return the entries of ``<<: *alias`` or ``<<: [*first, *second]``."""
        entries: dict[str, object] = {}
        for item in reversed(node.value if isinstance(node, SequenceNode) else [node]):
            data = self.plain(item, path) if isinstance(item, MappingNode) else None
            if isinstance(data, dict):
                entries.update(data)
            else:
                self._report(item, path, "'<<' must name a group of entries; give e.g. <<: *soft")
        return entries

    def _scalar(self, node: ScalarNode, path: Place) -> object:
        text = node.value
        match str(node.tag).removeprefix(_TAG):
            case "str" | "timestamp":
                return LISTED.sub(lambda name: str(self.lists[name[0]]), text)
            case "null":
                return None
            case "bool":
                return text.lower() in ("true", "yes", "on")
            case "int" | "float":
                return _number(text)
        self._refuse_tag(node, path)
        return None

    def _refuse_tag(self, node: Node, path: Place) -> None:
        tag = str(node.tag).replace(_TAG, "!!")
        self._report(node, path, f"the tag {tag} is not understood; remove it")

    def _report(self, node: Node, path: Place, message: str) -> None:
        spot = self._spot(node)
        name = ".".join(str(item) for item in path)
        self.source.add(Problem(*spot[:3], name or "file", "", message))

    def _spot(self, node: Node) -> Spot:
        return Spot(self.source.name, node.start_mark.line + 1, node.start_mark.column + 1)


def _number(text: str) -> int | float:
    """Return a YAML number; what looks like one but is none stays NaN, refused by every field."""
    clean = text.replace("_", "").lower()
    special = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
    for parse in (partial(int, base=0) if clean.startswith(("0x", "0o")) else int, float):
        with suppress(ValueError):
            value = parse(clean)
            whole = isinstance(value, int) and abs(value) >= _HUGE
            return math.copysign(math.inf, 1 if value > 0 else -1) if whole else value
    return special.get(clean, math.nan)
