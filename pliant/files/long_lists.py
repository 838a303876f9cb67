"""Long lists of numbers in robot files, read without the YAML parser."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

_NAME = "list-of-numbers-"
LISTED = re.compile(rf"{_NAME}\d+")
_LENGTH = 1000
_LONG = re.compile(rf"[-+.,\s\deE[\]]{{{_LENGTH},}}")
_COMMENT = re.compile(r"^([^#\"'\n]*[,\d])[ \t]+#.*$", re.M)
"""What is said behind numbers."""
_BRACKET = re.compile(r"[][]")
_LONG_LINES = re.compile(
    r"^( *)- +(?:[-+.\deE]+|\[[-+., \deE]*\])(?:\n\1- +(?:[-+.\deE]+|\[[-+., \deE]*\]))"
    r"{100,}(?=\s*$)",
    re.M,
)


def take_long_lists(text: str) -> tuple[str, dict[str, list[Any]]]:
    """Replace long lists of numbers by names, for the parser needs 0.1 ms a number.

    Lists of lists, and lists that have a line for each item, are taken as well. Lines and columns of
    all else stay. Returns the text, and what stands for each name.
    """
    lists: dict[str, list[Any]] = {}
    if _NAME in text:
        return text, lists

    def take(written: str, items: str, inside: str) -> str:
        """What stands for a list that is `written`, with `items` in Python; `inside` is the place."""
        try:
            value = ast.literal_eval(items)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return written
        name = f"{_NAME}{len(lists)}"
        lists[name] = value
        first, *others = written.split("\n")
        if not others:
            return inside.format(name).ljust(len(first))
        return "\n".join([inside.format(name), *[""] * (len(others) - 1), " " * len(others[-1])])

    def take_lines(match: re.Match[str]) -> str:
        items = ",".join(line.strip()[1:] for line in match[0].split("\n"))
        return take(match[0], f"[{items}]", match[1] + "- {}")

    text = _LONG_LINES.sub(take_lines, _COMMENT.sub(r"\1", text))
    pieces, end = [], 0
    for start, stop in _number_lists(text):
        inner = text[start:stop]
        pieces += [text[end:start], "[", take(inner[1:-1], inner, "{}"), "]"]
        end = stop
    return "".join([*pieces, text[end:]]), lists


def _number_lists(text: str) -> Iterator[tuple[int, int]]:
    """Where long lists between brackets stand that hold nothing but numbers, or lists of them."""
    for run in _LONG.finditer(text):
        depth, start = 0, 0
        for bracket in _BRACKET.finditer(text, *run.span()):
            depth += 1 if bracket[0] == "[" else -1
            if depth == 1 and bracket[0] == "[":
                start = bracket.start()
            elif depth == 0 and bracket.end() - start > _LENGTH:
                yield start, bracket.end()
            depth = max(depth, 0)
