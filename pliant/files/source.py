"""Read a YAML file into plain data, remembering where every entry stands.

Only plain YAML is understood: mappings, lists, texts, numbers, true, false and null. Tags that
would build other objects are refused, so a robot file can never run code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pliant.model import PliantError


@dataclass(frozen=True)
class Problem:
    """One fault: where it stands, which part and field it concerns, and what to do.

    line and column count from 1 and are None when the file as a whole is meant.
    """

    file: str
    line: int | None
    column: int | None
    part: str
    field: str
    message: str

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}: {self.message}"
        lead = "" if self.part == "file" else f"{self.part}: "
        return f"{self.file}:{self.line}:{self.column}: {lead}{self.message}"


class FileError(PliantError):
    """A robot file cannot be used; ``problems`` lists everything that is wrong in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        order = sorted(problems, key=lambda item: (item.line or 0, item.column or 0))
        # entries shared through an alias would be reported once per use
        self.problems: list[Problem] = list(dict.fromkeys(order))
        super().__init__("\n".join(str(item) for item in self.problems))

    def __reduce__(self) -> tuple[type[FileError], tuple[list[Problem]]]:
        """Pickle by problems, so that the error crosses process borders."""
        return type(self), (self.problems,)


Place = tuple[str | int, ...]

MAX_ENTRIES = 200_000
_TAG = "tag:yaml.org,2002:"
_LONG = re.compile(r"\[([-+.,\s\deE]{2000,})\]")
_ITEM = re.compile(r"\s*[-+]?\d+(\.\d*)?([eE][-+]?\d+)?\s*")


@dataclass
class Source:
    """A file's data, and the (line, column) of every entry, both counted from 1."""

    name: str
    data: object = None
    places: dict[Place, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Place) -> tuple[int, int]:
        """Return where ``path`` stands, or the nearest entry that contains it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return self.places.get((), (1, 1))

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
        """Remember a problem with the entry at ``path``."""
        line, column = self.place(path)
        self.problems.append(Problem(self.name, line, column, part, field_name, message))


def read_source(path: str | Path) -> Source:
    """Return the data of a YAML file; raise FileError if it cannot be read at all."""
    file = Path(path)
    text = _read_text(file)
    source = Source(str(file))
    text, lists = _take_long_lists(text)
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise FileError([_syntax(source.name, error)]) from error
    except (YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise _whole(file, f"is not valid YAML ({reason}); correct the file") from error
    except RecursionError:
        raise _whole(file, "is nested too deeply; a robot file needs only a few levels") from None
    if root is not None:
        source.data = _Reader(source, lists).plain(root, ())
    if source.data is None and not source.problems:
        raise _whole(file, "is empty; describe at least one rod under 'rods:'")
    if not isinstance(source.data, dict):
        raise _whole(
            file, "must hold named sections such as 'rods:' and 'loads:'; begin with 'rods:'"
        )
    return source


def _take_long_lists(text: str) -> tuple[str, dict[str, str]]:
    """Replace long lists of numbers by names, for the parser needs 0.1 ms a number.

    Lines and columns of all else stay. Returns the text, and what stands for each name.
    """
    lists: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        inner = match[1]
        if not all(_ITEM.fullmatch(item) for item in inner.split(",")):
            return match[0]
        name = f"list-of-numbers-{len(lists)}"
        lists[name] = inner
        first, *others = (" " * len(line) for line in inner.split("\n"))
        return "[" + "\n".join([name.ljust(len(first)), *others]) + "]"

    return (text if "list-of-numbers-" in text else _LONG.sub(take, text)), lists


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
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
        raise _whole(file, f"cannot be read ({reason}); check its permissions") from error


def _whole(file: Path, message: str) -> FileError:
    return FileError([Problem(str(file), None, None, "file", "", message)])


def _syntax(name: str, error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    reason = " ".join(part for part in (error.problem, error.context) if part)
    message = f"is not valid YAML here ({reason}); check colons, quotes, brackets and indentation"
    return Problem(name, line, column, "file", "", message)


class _Reader:
    """Turn YAML nodes into plain data; faulty entries are reported and left out."""

    def __init__(self, source: Source, lists: dict[str, str]) -> None:
        self.source = source
        self.lists = lists
        self.count = 0
        self.open: set[int] = set()

    def plain(self, node: Node, path: Place) -> object:
        """Return the data of ``node`` and note where it and its entries stand."""
        self.count += 1
        if self.count > MAX_ENTRIES or id(node) in self.open:
            raise _whole(
                Path(self.source.name),
                "repeats itself through its *aliases without end; write the entries out",
            )
        self.source.places.setdefault(path, _start(node))
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
                numbers = self.lists[only.value].split(",")
                self.count += len(numbers)
                return [_number(item.strip()) for item in numbers]
            return [self.plain(item, (*path, k)) for k, item in enumerate(node.value)]
        finally:
            self.open.discard(id(node))

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
                self.source.places[(*path, name)] = _start(key)
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
                for name, inner in self.lists.items():
                    text = text.replace(name, inner)
                return text
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
        line, column = _start(node)
        name = ".".join(str(item) for item in path)
        self.source.problems.append(
            Problem(self.source.name, line, column, name or "file", "", message)
        )


def _start(node: Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _number(text: str) -> int | float:
    """Return a YAML number; what looks like one but is none stays NaN, refused by every field."""
    clean = text.replace("_", "").lower()
    special = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf}
    for parse in (partial(int, base=0) if clean.startswith(("0x", "0o")) else int, float):
        with suppress(ValueError):
            return parse(clean)
    return special.get(clean, math.nan)
