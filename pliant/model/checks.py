"""Errors as sentences that name the part, the field, the value and the remedy, and the checks that
raise them. A check returns the clean value or raises a DescriptionError.
"""

from __future__ import annotations

import difflib
import inspect
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROTATION_TOLERANCE = 1e-6
LARGEST = 1e100
"""Numbers beyond it, and positive ones below its inverse, are refused: their squares are not finite."""

P = ParamSpec("P")
T = TypeVar("T")


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
    reached), or None; ``reached`` the time up to which a motion came, s, else None.
    """

    def __init__(self, message: str, last: object = None, reached: float | None = None) -> None:
        self.message = message
        self.last = last
        self.reached = reached
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ConvergenceError], tuple[object, ...]]:
        """Pickle with the last good result."""
        return type(self), (self.message, self.last, self.reached)


class StepError(ConvergenceError):
    """A time step did not converge; what takes the steps still holds the state before it."""


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
    """Return the choice that ``name`` is most likely a misspelling of, or None.

    A few letters are wrong, missing or swapped, or one begins with the other. Names that differ by a
    number or an axis, as in ``force_x`` and ``force_y``, are no misspellings of each other.
    """
    asked = _plain(str(name))
    best: tuple[int, float, str] | None = None
    for choice in choices:
        known = _plain(choice)
        short, long = sorted((asked, known), key=len)
        if short == long:
            return choice
        begins = len(short) >= 4 and long.startswith(short) and not long[len(short)].isdigit()
        edits = 1 if begins else _edits(asked, known)
        wrong = _marks(str(name)) != _marks(choice) or len(short) < 3
        if not wrong and edits <= (len(long) + 2) // 5:
            unlike = 1.0 - difflib.SequenceMatcher(None, asked, known).ratio()
            best = min((edits, unlike, choice), best or (edits, 1.0, choice))
    return None if best is None else best[2]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _marks(name: str) -> list[str]:
    """What tells apart names of one kind: numbers, and words of a single letter."""
    return re.findall(r"\d+|(?<![a-z])[a-z](?![a-z])", name.lower())


def _edits(a: str, b: str) -> int:
    """How many letters must be replaced, added, removed or swapped with the next to make b of a."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


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


class ResolutionHint(ResolutionWarning):
    """A motion looks under-resolved; how large its error is was not estimated."""


class PlausibilityWarning(UserWarning):
    """A value that no robot has: probably it was given in another unit."""


class StabilityWarning(UserWarning):
    """An equilibrium on a branch that loses its stability before the full load."""


class RedundancyWarning(UserWarning):
    """Constraints that hold what others hold already: some reactions are not unique."""


def refuse(wrong: object, part: str, field: str, value: object, expected: str, remedy: str) -> None:
    """Raise a DescriptionError if something is wrong with a value."""
    if wrong:
        raise DescriptionError(part, field, value, expected, remedy)


@contextmanager
def told_within(part: str, field: str) -> Iterator[None]:
    """Tell errors of what a field of a part holds as errors of that part."""
    try:
        yield
    except DescriptionError as error:
        raise error.within(part, field) from None


def raised(call: Callable[[], object]) -> Iterator[DescriptionError]:
    """Yield the DescriptionError that a call raises, if it does."""
    try:
        call()
    except DescriptionError as error:
        yield error


_SIGNS = {
    "": "a finite number",
    "positive": "a positive number",
    "zero": "zero or a positive number",
}


def number(
    part: str, field: str, value: object, unit: str = "", remedy: str = "", sign: str = ""
) -> float:
    """Return ``value`` as a finite float; sign : "positive", "zero" (or more), "" for any."""
    real = as_float(value)
    low = {"positive": 1.0 / LARGEST, "zero": 0.0, "": -math.inf}[sign]
    if real is None or not abs(real) <= LARGEST or real < low:
        sized = real is not None and math.isfinite(real) and (real > 0.0 or not sign)
        limit = f" of a size from {1.0 / LARGEST:g} to {LARGEST:g}" if sized else ""
        expected = f"{_SIGNS[sign]}{_in(unit)}{limit}"
        raise DescriptionError(part, field, value, expected, remedy or "give e.g. 1.0")
    return real


def positive(
    part: str, field: str, value: object, unit: str = "", remedy: str = "give e.g. 1.0"
) -> float:
    """Return ``value`` as a finite float above zero."""
    return number(part, field, value, unit, remedy, "positive")


ACCURACIES = (1e-8, 0.1)
"""The least and the greatest accuracy, relative to the length, that can be asked for."""


def accuracy(part: str, field: str, value: object) -> float:
    """Return ``value`` as an accuracy relative to the length."""
    wanted = as_float(value)
    least, most = ACCURACIES
    if wanted is None or not least <= wanted <= most:
        expected = f"a fraction of the length between {least:g} and {most:g}"
        remedy = "give e.g. 1e-3 for a thousandth of the length"
        raise DescriptionError(part, field, value, expected, remedy)
    return wanted


def whole_number(value: object) -> int | None:
    """`value` as an int if it is a whole number (NumPy's count, True and False do not)."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def count(
    part: str,
    field: str,
    value: object,
    least: int | None = None,
    remedy: str = "",
    most: int | None = None,
) -> int:
    """Return ``value`` as an int from ``least`` to ``most``, as far as these are given."""
    whole = whole_number(value)
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    if whole is None or not low <= whole <= high:
        limit = "" if least is None else f" of {least} or more"
        if most is not None:
            limit = f" from {low} to {most}"
        remedy = remedy or f"give e.g. {least}"
        raise DescriptionError(part, field, value, f"a whole number{limit}", remedy)
    return whole


def finite_array(
    part: str,
    field: str,
    value: object,
    expected: str,
    remedy: str,
    fits: Callable[[Array], bool] = lambda array: True,
) -> Array:
    """Return ``value`` as an array of finite numbers; fits : tells whether its shape is right."""
    array = as_array(value)
    if array is None or not fits(array) or not (np.abs(array) <= LARGEST).all():
        raise DescriptionError(part, field, value, expected, remedy)
    return array


def instance(part: str, field: str, value: object, cls: type[T], expected: str, remedy: str) -> T:
    """Return ``value`` if it is an object of a class."""
    if not isinstance(value, cls):
        raise DescriptionError(part, field, value, expected, remedy)
    return value


def vector(
    part: str, field: str, value: object, sizes: int | tuple[int, ...], unit: str = ""
) -> tuple[float, ...]:
    """Return ``value`` as a tuple of finite floats whose length is one of ``sizes``."""
    allowed = (sizes,) if isinstance(sizes, int) else sizes
    expected = f"{' or '.join(map(str, allowed))} finite numbers{_in(unit)}"
    remedy = f"give e.g. ({', '.join(['0.0'] * allowed[0])})"
    array = finite_array(
        part, field, value, expected, remedy, lambda x: x.ndim == 1 and len(x) in allowed
    )
    return tuple(array.tolist())


def pose_matrix(part: str, field: str, value: object) -> Array:
    """Return ``value`` as a read-only 4x4 pose: rotation, position in metres, last row 0 0 0 1."""
    remedy = "make one with along('x') or pose(position, rotation)"
    expected = "a 4x4 array of finite numbers"
    pose = finite_array(part, field, value, expected, remedy, lambda x: x.shape == (4, 4))
    last = np.eye(4)[3]
    good = np.allclose(pose[3], last, atol=ROTATION_TOLERANCE)
    refuse(not good, part, field, value, "a pose with last row (0, 0, 0, 1)", remedy)
    pose[:3, :3] = rotation_matrix(part, field, pose[:3, :3])
    pose[3] = last
    pose.flags.writeable = False
    return pose


def rotation_matrix(part: str, field: str, value: Array) -> Array:
    """Return the rotation nearest to ``value`` (3x3), which must be one within 1e-6."""
    gap = np.abs(value.T @ value - np.eye(3)).max()
    refuse(
        gap > ROTATION_TOLERANCE or np.linalg.det(value) < 0,
        part,
        field,
        value,
        "a right-handed rotation (orthonormal columns, determinant +1)",
        "make one with along('x') or pose(position, rotation)",
    )
    left, _, right = np.linalg.svd(value)
    nearest: Array = left @ right
    # an exact input, such as the identity, must not pick up rounding from the SVD
    return value if np.abs(nearest - value).max() < 1e-14 else nearest


def choice(part: str, field: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of the named choices."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(repr(name) for name in known)
        near = nearest_name(value, known) if isinstance(value, str) else None
        remedy = "give one of these names" if near is None else f"did you mean {near!r}?"
        raise DescriptionError(part, field, value, f"one of {listed}", remedy)
    return value


def known_name(part: str, field: str, name: object, names: Collection[str], expected: str) -> str:
    """Return ``name`` if it is one of some names; tell the nearest one otherwise."""
    if name not in names:
        raise DescriptionError(part, field, name, expected, did_you_mean(name, names))
    return str(name)


def flag(part: str, field: str, value: object) -> bool:
    """Return ``value`` as a bool if it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise DescriptionError(part, field, value, "True or False", "give one of them")
    return bool(value)


def part_name(kind: str, value: object) -> str:
    """Return ``value`` if it can name a part: a string that is not empty and not ``"world"``."""
    if not isinstance(value, str) or not value.strip() or value != value.strip():
        raise DescriptionError(
            kind, "name", value, "a text without spaces at its ends", "give e.g. 'arm'"
        )
    remedy = f"{value!r} is reserved, give e.g. 'arm'"
    refuse(value in ("world", "free"), kind, "name", value, "a name of your own", remedy)
    return value


def as_float(value: object) -> float | None:
    """Return a real number as a float, None for anything else (text, bool, None, arrays)."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return None


def number_in(text: str) -> float | None:
    """Return the number that a text holds, None if it holds none."""
    try:
        return float(text)
    except ValueError:
        return None


def as_array(value: object) -> Array | None:
    """Return numbers in any nesting as a float array, None if they are not all real numbers."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    if array.dtype.kind not in "iuf":
        return None
    return np.array(array, dtype=np.float64)


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


def checked(method: Callable[P, T]) -> Callable[P, T]:
    """Refuse unknown and missing arguments of a method with a sentence."""
    signature = inspect.signature(method)
    known = [name for name in signature.parameters if name != "self"]
    where = method.__qualname__.removesuffix(".__init__")

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name, value in kwargs.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise DescriptionError(where, name, value, "an argument that it takes", hint)
        try:
            return method(*args, **kwargs)
        except TypeError:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                among = f"among {', '.join(known)}"
                raise DescriptionError(
                    where, "arguments", str(error), among, "correct the call"
                ) from None
            raise

    return call
