"""Checks shared by the descriptions: each returns the clean value or raises a DescriptionError."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Collection, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.model.errors import DescriptionError, did_you_mean

Array = NDArray[np.float64]

ROTATION_TOLERANCE = 1e-6


_SIGNS = {
    "": "a finite number",
    "positive": "a positive number",
    "zero": "zero or a positive number",
}


def number(
    part: str, field: str, value: object, unit: str = "", remedy: str = "", sign: str = ""
) -> float:
    """Return ``value`` as a finite float; sign : "positive", "zero" (or more), "" for any."""
    found = as_float(value)
    bad = found is None or not math.isfinite(found)
    bad = bad or (sign == "positive" and found <= 0) or (sign == "zero" and found < 0)  # type: ignore[operator]
    if found is None or bad:
        expected = f"{_SIGNS[sign]}{_in(unit)}"
        raise DescriptionError(part, field, value, expected, remedy or "give e.g. 1.0")
    return found


def positive(
    part: str, field: str, value: object, unit: str = "", remedy: str = "give e.g. 1.0"
) -> float:
    """Return ``value`` as a finite float above zero."""
    return number(part, field, value, unit, remedy, "positive")


def whole_number(value: object) -> int | None:
    """`value` as an int if it is a whole number (NumPy's count, True and False do not)."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def not_negative(
    part: str, field: str, value: object, unit: str = "", remedy: str = "give 0 or more"
) -> float:
    """Return ``value`` as a finite float of zero or more."""
    return number(part, field, value, unit, remedy, "zero")


def vector(
    part: str, field: str, value: object, sizes: int | tuple[int, ...], unit: str = ""
) -> tuple[float, ...]:
    """Return ``value`` as a tuple of finite floats whose length is one of ``sizes``."""
    allowed = (sizes,) if isinstance(sizes, int) else sizes
    found = as_array(value)
    if found is None or found.ndim != 1 or len(found) not in allowed or not _finite(found):
        counts = " or ".join(str(size) for size in allowed)
        example = ", ".join(["0.0"] * allowed[0])
        raise DescriptionError(
            part, field, value, f"{counts} finite numbers{_in(unit)}", f"give e.g. ({example})"
        )
    return tuple(float(item) for item in found)


def pose_matrix(part: str, field: str, value: object) -> Array:
    """Return ``value`` as a read-only 4x4 pose: rotation, position in metres, last row 0 0 0 1."""
    found = as_array(value)
    remedy = "make one with along('x') or pose(position, rotation)"
    if found is None or found.shape != (4, 4) or not _finite(found):
        raise DescriptionError(part, field, value, "a 4x4 array of finite numbers", remedy)
    if not np.allclose(found[3], (0.0, 0.0, 0.0, 1.0), atol=ROTATION_TOLERANCE):
        raise DescriptionError(part, field, value, "a pose with last row (0, 0, 0, 1)", remedy)
    clean = np.array(found)
    clean[:3, :3] = rotation_matrix(part, field, found[:3, :3])
    clean[3] = (0.0, 0.0, 0.0, 1.0)
    clean.flags.writeable = False
    return clean


def rotation_matrix(part: str, field: str, value: Array) -> Array:
    """Return the rotation nearest to ``value`` (3x3), which must be one within 1e-6."""
    gap = np.abs(value.T @ value - np.eye(3)).max()
    if gap > ROTATION_TOLERANCE or np.linalg.det(value) < 0:
        raise DescriptionError(
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
        remedy = did_you_mean(value, known) if isinstance(value, str) else "give one of these names"
        if remedy.startswith("choose"):
            remedy = "give one of these names"
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
    if value in ("world", "free"):
        raise DescriptionError(
            kind, "name", value, "a name of your own", f"{value!r} is reserved, give e.g. 'arm'"
        )
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


def as_array(value: object) -> Array | None:
    """Return numbers in any nesting as a float array, None if they are not all real numbers."""
    try:
        found = np.asarray(value)
    except (ValueError, TypeError):
        return None
    if found.dtype.kind not in "iuf":
        return None
    return np.array(found, dtype=np.float64)


def _finite(value: Array) -> bool:
    return bool(np.isfinite(value).all())


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


P = ParamSpec("P")
T = TypeVar("T")


def _refuse_arguments(
    signature: inspect.Signature, where: str, known: list[str], args: Any, kwargs: Any
) -> None:
    """Say what is wrong with the arguments of a call, if it is they."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise DescriptionError(
            where, "arguments", str(error), f"among {', '.join(known)}", "correct the call"
        ) from None


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
            _refuse_arguments(signature, where, known, args, kwargs)
            raise

    return call
