"""The errors Pliant raises: sentences that name the part, the field, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator

import numpy as np


class PliantError(Exception):
    """Base of every error raised on purpose by Pliant."""


class DescriptionError(PliantError, ValueError):
    """Something in the description of a robot cannot be true.

    Parameters
    ----------
    part : what the field belongs to, e.g. ``"rod 'arm'"`` or ``"Circle"``.
    field : the name of the field, as the user writes it.
    value : the value that was given.
    expected : what the value must be, completing "must be ...".
    remedy : what to do about it, in the imperative.
    """

    def __init__(self, part: str, field: str, value: object, expected: str, remedy: str) -> None:
        self.part = part
        self.field = field
        self.value = value
        self.expected = expected
        self.remedy = remedy
        super().__init__(f"{part}: {self.problem}")

    @property
    def problem(self) -> str:
        """The message without the part."""
        return f"{self.field} = {show(self.value)}: must be {self.expected}; {self.remedy}"

    def within(self, part: str, field: str) -> DescriptionError:
        """Return the same error told from the part that holds the faulty one.

        ``Circle: radius = -1`` inside ``section`` of a rod becomes
        ``rod 'arm': section.radius = -1``.
        """
        path = f"{field}.{self.field}"
        return DescriptionError(part, path, self.value, self.expected, self.remedy)

    def __reduce__(self) -> tuple[type[DescriptionError], tuple[object, ...]]:
        """Pickle by fields, so that the error crosses process borders."""
        return type(self), (self.part, self.field, self.value, self.expected, self.remedy)


class ConvergenceError(PliantError, RuntimeError):
    """A solver stopped before it found a solution.

    ``last`` is the last good result (for example the equilibrium at the highest load that was
    reached), or None.
    """

    def __init__(self, message: str, last: object = None) -> None:
        self.message = message
        self.last = last
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ConvergenceError], tuple[object, ...]]:
        """Pickle with the last good result."""
        return type(self), (self.message, self.last)


def did_you_mean(name: object, choices: Iterable[str]) -> str:
    """Return a hint for a name that does not exist: the nearest one, or all there are."""
    known = list(choices)
    if not known:
        return "there are none yet"
    near = nearest_name(name, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return "choose from " + ", ".join(repr(choice) for choice in known)


def nearest_name(name: object, choices: Iterable[str]) -> str | None:
    """Return the choice that ``name`` is most likely a misspelling of, or None."""
    lowered = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(str(name).lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[near[0]] if near else None


def show(value: object) -> str:
    """Return a value as a user would write it, on one short line."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, (tuple, list)):
        shown = ", ".join(show(item) for item in value)
        text = f"({shown})" if isinstance(value, tuple) else f"[{shown}]"
        return _shorten(text)
    return _shorten(" ".join(repr(value).split()))


def _shorten(text: str, limit: int = 120) -> str:
    return text if len(text) <= limit else text[: limit - 4] + " ..."


class ResolutionWarning(UserWarning):
    """A motion, gravity or a shape that the formulation of a rod does not resolve."""


def raised(call: Callable[[], object]) -> Iterator[DescriptionError]:
    """Yield the DescriptionError that a call raises, if it does."""
    try:
        call()
    except DescriptionError as error:
        yield error
