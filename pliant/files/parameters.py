"""Named parameters of robot files: declared with a value or with arithmetic, used by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pliant.files.expressions import (
    CONSTANTS,
    FUNCTIONS,
    ExpressionError,
    NoExpression,
    Number,
    Tree,
    UnknownName,
    Value,
    evaluate,
    names_in,
    parse,
)
from pliant.files.source import Place, Source
from pliant.model import DescriptionError, did_you_mean

WORD = re.compile(r"[^\W\d]\w*")
"""Names of parameters and of indices."""
RESERVED = ("tip", "base", "world", "free", *CONSTANTS, *FUNCTIONS)
"""Names that mean something else."""
_EXPECTED = "a finite number, arithmetic of parameters, or a list of these"
_OPERATORS = re.compile(r"[-+*/(]")
_MOST = 300_000
"""Characters of arithmetic in one robot, which are computed within seconds."""


@dataclass(frozen=True)
class Declared:
    """A parameter as a file or a caller gives it, where, and which names its arithmetic knows."""

    given: Any
    source: Source
    path: Place
    scope: Scope


@dataclass
class Parameters:
    """The parameters of a robot file and of the files that it includes, by full name.

    values : as they are settled.  uses : by section of the file, those that it needs.
    """

    declared: dict[str, Declared] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    section: str = ""
    """What is being evaluated."""
    length: int = 0
    """Characters of arithmetic that were read so far."""
    _needed: dict[str, list[str]] = field(default_factory=dict)

    def parse(self, text: str) -> Tree:
        """Return a text as arithmetic, see `parse`; refuse more of it than any robot needs."""
        self.length += len(text) if _OPERATORS.search(text) else 0
        if self.length > _MOST:
            raise ExpressionError(f"the robot has more than {_MOST} characters of arithmetic")
        return parse(text)

    def declare(self, name: str, full: str, item: Declared) -> None:
        """Add a parameter of a file; full : its name with the prefix of the file."""
        wrong, remedy = "", "choose another name"
        if not WORD.fullmatch(name):
            wrong = "a name of letters, digits and underscores"
        elif name in RESERVED:
            wrong = f"another name, for {name!r} has a meaning in robot files"
        elif full in self.declared:
            wrong = f"declared once, and {self._where(full)} has it already"
            remedy = "give the included file a prefix, or set it there by parameters: {...}"
        if wrong:
            error = DescriptionError("", "name", name, wrong, remedy)
            item.source.report(item.path, f"parameter {full!r}", "name", error.problem)
        else:
            self.declared[full] = item

    def _where(self, full: str) -> str:
        spot = self.declared[full].source.place(self.declared[full].path)
        return f"{spot.file}:{spot.line}"

    def override(self, values: Mapping[str, Any], scope: Scope) -> None:
        """Give some parameters other values, from the command line or from Python."""
        for name, given in values.items():
            if name not in self.declared:
                expected = "one of the parameters of the robot file"
                raise DescriptionError(
                    "robot file", "parameter", name, expected, did_you_mean(name, self.declared)
                )
            plain = given.tolist() if hasattr(given, "tolist") else given
            self.declared[name] = replace(self.declared[name], given=plain, scope=scope)

    def settle(self) -> None:
        """Compute all values; report those that have none."""
        broken: set[str] = set()
        for name in self.declared:
            waiting = {name: None}
            while waiting:
                top = next(reversed(waiting))
                if top in self.values or top in broken:
                    del waiting[top]
                    continue
                needed = [x for x in self.needs(top) if x not in self.values and x not in broken]
                if needed and needed[0] in waiting:
                    chain = list(waiting)
                    self._report_circle([*chain[chain.index(needed[0]) :], needed[0]])
                    broken |= set(chain)
                elif needed:
                    waiting[needed[0]] = None
                elif not self._compute(top, broken):
                    broken.add(top)

    def needs(self, full: str) -> list[str]:
        """Return the full names of the parameters in the arithmetic of a settled one."""
        if full not in self._needed:
            item = self.declared[full]
            given = item.given if isinstance(item.given, (list, tuple)) else [item.given]
            names = [name for text in given if isinstance(text, str) for name in self._names(text)]
            every = [item.scope.full(name) for name in names]
            self._needed[full] = [found for found in every if found is not None]
        return self._needed[full]

    def _names(self, text: str) -> list[str]:
        try:
            return list(names_in(self.parse(text)))
        except (NoExpression, ExpressionError):
            return []

    def _compute(self, full: str, broken: set[str]) -> bool:
        if broken & set(self.needs(full)):
            return False
        item = self.declared[full]
        try:
            self.values[full] = _value(item.given, item.scope)
        except DescriptionError as error:
            item.source.report(item.path, f"parameter {full!r}", "value", error.problem)
            return False
        return True

    def _report_circle(self, names: list[str]) -> None:
        item = self.declared[names[0]]
        shown = " -> ".join(names if len(names) < 12 else [*names[:5], "...", *names[-5:]])
        message = f"refers to itself: {shown}; give one of these parameters a number"
        item.source.report(item.path, f"parameter {names[0]!r}", "value", message)

    def plain(self) -> dict[str, float | tuple[float, ...]]:
        """Return all values, lists as tuples."""
        return {
            name: tuple(map(float, x)) if isinstance(x, list) else x
            for name, x in self.values.items()
        }

    def used_in(self, section: str) -> set[str]:
        """Return the parameters that a section of the file depends on, also through others."""
        found: set[str] = set()
        fresh = set(self.uses.get(section, ()))
        while fresh:
            found |= fresh
            fresh = {x for name in fresh for x in self.needs(name)} - found
        return found


@dataclass(frozen=True)
class Scope:
    """The names that arithmetic knows at some place of a file.

    prefixes : of the file and of those that include it, from inside.  indices : of repetitions.
    """

    parameters: Parameters
    prefixes: tuple[str, ...] = ("",)
    indices: Mapping[str, int] = field(default_factory=dict)

    def full(self, name: str) -> str | None:
        """Return the full name of the parameter that a name means here, None if it means none."""
        if name in self.indices:
            return None
        named = (prefix + name for prefix in self.prefixes)
        return next((full for full in named if full in self.parameters.declared), None)

    def knows(self, name: str) -> bool:
        """Tell whether a name has a value here."""
        return name in self.indices or name in CONSTANTS or self.full(name) is not None

    def hint(self, name: str) -> str:
        """Return what to say of a name that has no value here."""
        known = [*self.indices, *self.parameters.declared]
        near = did_you_mean(name, known) if known else "declare it under 'parameters:'"
        return f"there is no parameter {name!r}; {near}"

    def lookup(self, name: str) -> Value:
        """Return the value of a name; raise UnknownName if it has none."""
        if name in self.indices:
            return self.indices[name]
        full = self.full(name)
        if full is None:
            if name in CONSTANTS:
                return CONSTANTS[name]
            raise UnknownName(self.hint(name))
        self.parameters.uses.setdefault(self.parameters.section, set()).add(full)
        return self.parameters.values[full]

    def evaluate(self, tree: Tree) -> Value:
        """Return the value of arithmetic."""
        return evaluate(tree, self.lookup)

    @property
    def repetition(self) -> str:
        """The indices as messages show them."""
        return ", ".join(f"{name} = {value}" for name, value in self.indices.items())


def values_from_text(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return values of parameters by name from texts such as "radius=0.01" and "lengths=0.1,0.2".

    option : the command-line option, for messages. A value may be arithmetic of other parameters.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, mark, given = (item.strip() for item in text.partition("="))
        if not mark or not name or not given:
            expected, remedy = "name=value", "give e.g. radius=0.01"
            raise DescriptionError(option, "parameter", text, expected, remedy)
        items = [_plain(item.strip()) for item in given.split(",")]
        values[name] = items if len(items) > 1 else items[0]
    return values


def _plain(text: str) -> Any:
    """A number if a text is one, otherwise the text."""
    for parse_number in (int, float):
        with suppress(ValueError):
            return parse_number(text)
    return text


def _value(given: Any, scope: Scope) -> Value:
    """Return the value of a parameter, or raise a DescriptionError without its part."""
    if isinstance(given, (list, tuple)):
        if not given:
            raise DescriptionError("", "value", given, _EXPECTED, "give e.g. [0.1, 0.2]")
        return [_single(item, given, scope) for item in given]
    return _single(given, given, scope)


def _single(given: Any, whole: Any, scope: Scope) -> Number:
    remedy = "give e.g. 0.01 or 2*radius"
    if isinstance(given, str):
        try:
            value = scope.evaluate(scope.parameters.parse(given))
        except (NoExpression, ExpressionError) as error:
            remedy = str(error)
        else:
            if not isinstance(value, list):
                return value
            remedy = f"{given} is a list"
    elif isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given):
        return given
    raise DescriptionError("", "value", whole, _EXPECTED, remedy)
