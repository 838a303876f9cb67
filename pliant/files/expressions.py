"""Arithmetic in robot files: numbers, names, + - * / and parentheses, read by a parser of its own.

    expression = term {("+" | "-") term}
    term       = factor {("*" | "/") factor}
    factor     = ("+" | "-") factor | number | name | name "(" expression ")" | "(" expression ")"

A name is a parameter, the index of a repetition or pi. A name with parentheses is an entry of a
parameter that is a list, counted from 1, or one of the functions sqrt, sin and cos (radians). Nothing
else exists: a robot file cannot run code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Number = int | float
Value = Number | list[Number]
Tree = tuple[Any, ...]

CONSTANTS = {"pi": math.pi}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
}
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([^\W\d]\w*)|(.))")
_PLAIN = re.compile(r"(?:[-.]|\d[\d.]*+(?:[eE][-+]?\d++)?)*+")
_LONGEST, _DEEPEST = 300, 50
EXACT = 2**53
"""Whole numbers beyond it are computed as floats."""


class NoExpression(Exception):  # noqa: N818 - most texts are none, which is no error
    """A text that is no arithmetic, and why."""


class ExpressionError(Exception):
    """Arithmetic that has no value, and why."""


class UnknownName(ExpressionError):  # noqa: N818
    """A name in an expression that nothing has."""


@lru_cache(maxsize=32768)
def parse(text: str) -> Tree:
    """Return a text as a tree of operations; raise NoExpression if it is no arithmetic.

    A text of digits, such as a date, is none: it needs a space, a name or one of + * / ( .
    """
    if len(text) > _LONGEST:
        raise NoExpression(f"it is longer than {_LONGEST} characters")
    if _PLAIN.fullmatch(text.strip()):
        why = "put spaces around '-'" if "-" in text else "it is a text"
        raise NoExpression("it is empty" if not text.strip() else why)
    parser = _Parser(text)
    tree = parser.expression(0)
    if parser.token != ("", ""):
        raise NoExpression(f"it has {parser.token[1]!r} where an operator is expected")
    return tree


def names_in(tree: Tree) -> Iterator[str]:
    """Yield the names in a tree from left to right, each once, without those of functions."""
    met: dict[str, None] = {}
    waiting = [tree]
    while waiting:
        kind, *inner = waiting.pop()
        if kind in ("name", "entry") and inner[0] not in FUNCTIONS:
            met[inner[0]] = None
        if kind not in ("name", "number"):
            waiting += [item for item in reversed(inner) if isinstance(item, tuple)]
    yield from met


def evaluate(tree: Tree, lookup: Callable[[str], Value]) -> Value:
    """Return the value of a tree; lookup : the value of a name, raises UnknownName if there is none.

    A parameter that is a list is a value only by itself, or with the number of an entry.
    """
    if tree[0] == "name":
        return lookup(tree[1])
    return _number(tree, lookup)


def _number(tree: Tree, lookup: Callable[[str], Value]) -> Number:
    kind, *inner = tree
    if kind == "number":
        return inner[0]
    if kind == "name":
        value = lookup(inner[0])
        if isinstance(value, list):
            raise ExpressionError(f"{inner[0]} is a list; write {inner[0]}(1) for its first entry")
        return value
    if kind == "entry":
        return _entry(inner[0], _number(inner[1], lookup), lookup)
    a, b = _number(inner[0], lookup), _number(inner[1], lookup)
    return _clean(_operation(kind, a, b))


def _operation(kind: str, a: Number, b: Number) -> Number:
    try:
        if kind == "/":
            exact = isinstance(a, int) and isinstance(b, int) and b != 0 and a % b == 0
            return a // b if exact else a / b
        return a + b if kind == "+" else a - b if kind == "-" else a * b
    except ZeroDivisionError:
        raise ExpressionError("it divides by zero") from None
    except OverflowError:
        return math.inf


def _entry(name: str, at: Number, lookup: Callable[[str], Value]) -> Number:
    """The value of a function, or an entry of a list, counted from 1."""
    if name in FUNCTIONS:
        try:
            return _clean(FUNCTIONS[name](at))
        except ValueError:
            raise ExpressionError(f"{name}({at:g}) is not a real number") from None
    values = lookup(name)
    if not isinstance(values, list):
        raise ExpressionError(f"{name} is one number, not a list; write {name} or {name}*(...)")
    if not isinstance(at, int) or not 1 <= at <= len(values):
        raise ExpressionError(f"{name} has the entries 1 to {len(values)}, but no entry {at:g}")
    return values[at - 1]


def _clean(value: Number) -> Number:
    if isinstance(value, int):
        return value if abs(value) <= EXACT else float(value)
    if not math.isfinite(value):
        raise ExpressionError("its value is too large")
    return value


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.finditer(text.rstrip())
        self.token: tuple[str, str] = ("", "")
        self.advance()

    def advance(self) -> None:
        """Go to the next token, ("", "") at the end."""
        match = next(self.tokens, None)
        number, name, mark = match.groups() if match is not None else (None, None, None)
        self.token = ("number", number) if number else ("name", name) if name else ("", mark or "")

    def expression(self, depth: int) -> Tree:
        tree = self.term(depth)
        while self.token[1] in ("+", "-"):
            tree = self._binary(tree, self.term, depth)
        return tree

    def term(self, depth: int) -> Tree:
        tree = self.factor(depth)
        while self.token[1] in ("*", "/"):
            tree = self._binary(tree, self.factor, depth)
        return tree

    def _binary(self, left: Tree, right: Callable[[int], Tree], depth: int) -> Tree:
        mark = self.token[1]
        self.advance()
        return mark, left, right(depth)

    def factor(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise NoExpression(
                f"it has more than {_DEEPEST} parentheses or signs inside each other"
            )
        kind, text = self.token
        self.advance()
        if kind == "number":
            return "number", _clean(float(text)) if set(text) & set(".eE") else _clean(int(text))
        if kind == "name":
            return ("entry", text, self._inside(depth)) if self.token[1] == "(" else ("name", text)
        if text in ("+", "-"):
            return text, ("number", 0), self.factor(depth + 1)
        if text == "(":
            return self._closed(depth)
        raise NoExpression(
            f"it has {text!r} where a number is expected" if text else "it is incomplete"
        )

    def _inside(self, depth: int) -> Tree:
        self.advance()
        return self._closed(depth)

    def _closed(self, depth: int) -> Tree:
        tree = self.expression(depth + 1)
        if self.token[1] != ")":
            raise NoExpression("it lacks a closing parenthesis")
        self.advance()
        return tree
