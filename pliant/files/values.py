"""Values of robot files that stand there as something else: arithmetic, and names with a prefix.

They are numbers, lists and texts as all others; each knows how it is written. A field that refuses such
a value is given the written text instead: ``axis: x`` stays an axis if there is a parameter x.
"""

from __future__ import annotations

from typing import Any

from pliant.files.expressions import EXACT, Value


class Broken:
    """What stands for arithmetic without a value, which has been reported."""

    def __repr__(self) -> str:
        return "nothing"


BROKEN = Broken()


class WrittenInt(int):
    """A whole number from arithmetic."""

    text: str = ""

    def __repr__(self) -> str:
        return f"{int(self)!r} ({self.text})"


class WrittenFloat(float):
    """A number from arithmetic."""

    text: str = ""

    def __repr__(self) -> str:
        return f"{float(self):.12g} ({self.text})"


class WrittenList(list[Any]):
    """A parameter that is a list."""

    text: str = ""


class WrittenName(str):
    """A name from an included file, with its prefix."""

    text: str = ""


_WRITTEN = (WrittenInt, WrittenFloat, WrittenList, WrittenName)


def computed(value: Value, text: str) -> Any:
    """Return a value that knows the arithmetic that gave it; a whole number as an int."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    kinds = {int: WrittenInt, float: WrittenFloat, list: WrittenList}
    new = kinds[type(value)](value)  # type: ignore[operator]
    new.text = text
    return new


def renamed(name: str, text: str) -> WrittenName:
    """Return a name that knows how it is written."""
    new = WrittenName(name)
    new.text = text
    return new


def as_written(given: Any) -> Any:
    """Return a value, or the values in a list, as the file has them; the same object if it has."""
    if isinstance(given, _WRITTEN):
        return given.text
    if isinstance(given, list):
        items = [as_written(item) for item in given]
        return given if all(a is b for a, b in zip(items, given, strict=True)) else items
    return given


def is_broken(given: Any) -> bool:
    """Tell whether a value, or one in a list, could not be computed."""
    if isinstance(given, list):
        return any(is_broken(item) for item in given)
    return given is BROKEN
