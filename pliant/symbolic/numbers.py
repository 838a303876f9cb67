"""The numbers of a description, some of them symbols: what the user named as parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    Description,
    DescriptionError,
    as_float,
    refuse,
    value_at,
    with_values,
)
from pliant.model.checks import known_name, number
from pliant.model.profile import Profile, evaluate_rows

Parameters = Sequence[str] | Mapping[str, str | Sequence[str]]


class Numbers:
    """Fields of parts and effects by dotted path; those of parameters are symbols.

    parameters : paths, or names with the path or paths that share a value.  names, described : of the
    parameters, and their values (P,) in the description.  symbols (P, 1).
    """

    def __init__(self, math: Any, description: Description, parameters: Parameters) -> None:
        self._math = math
        given = _by_name(parameters)
        self._description, self._paths = description, given
        self.names = tuple(given)
        self.symbols = math.SX.sym("p", len(given))
        self._symbols: dict[str, Any] = {}
        self._used: set[str] = set()
        described = []
        for k, (name, paths) in enumerate(given.items()):
            places = [value_at(description, path) for path in paths]
            described.append(places[0].value)
            for place in places:
                twice = place.path in self._symbols
                refuse(twice, "equations", "parameters", name, "named once", "remove one of them")
                self._symbols[place.path] = self.symbols[k]
        self.described: Array = np.array(described)

    def values(self, values: Mapping[str, Any]) -> Array:
        """All parameters (P,), from some of them by name; refuse values that the robot cannot have."""
        out = self.described.copy()
        for name, value in values.items():
            known_name("equations", "parameters", name, list(self.names), "a parameter")
            one = number("equations", name, value, "", "give e.g. 1.0")
            with_values(self._description, dict.fromkeys(self._paths[name], one))
            out[self.names.index(name)] = one
        return out

    def number(self, entry: Any, field: str, s: float | None = None) -> Any:
        """A field of an entry; see `Symbols.number`."""
        path, value = self._find(entry, field)
        if callable(value):
            assert s is not None
            label = getattr(entry, "label", "robot")
            rows = evaluate_rows(label, field, value, np.array([s]), (2, 3, 6))
            return self._take(path, 1.0) * self._math.SX(rows[0])
        one = as_float(value)
        return self._take(path, one) if one is not None else self._array(path, value)

    def along(self, entry: Any, field: str, s: float, length: float) -> Any:
        """A field that may vary along a rod; see `Symbols.along`."""
        return self.profile(*self._find(entry, field), s, length)

    def profile(self, path: str, value: Any, s: float, length: float) -> Any:
        """A number, taper, function or table with its path, at s on a rod of some length, m."""
        one = as_float(value)
        if one is not None:
            return self._take(path, one)
        return self._take(path, 1.0) * float(Profile(value).at(s, length))

    def varies(self, prefix: str) -> bool:
        """Whether a parameter lies below a path."""
        return any(path.startswith(f"{prefix}.") for path in self._symbols)

    def require_used(self) -> None:
        """Refuse parameters that entered nowhere as a symbol."""
        for path in self._symbols:
            if path not in self._used:
                raise DescriptionError(
                    "equations",
                    "parameters",
                    path,
                    "a number of a material, section, body, joint or effect that acts on the robot; "
                    "lengths, poses and natural shapes enter the equations as numbers",
                    "leave it out, or give it a value that is not zero in the robot if it acts there",
                )

    def _find(self, entry: Any, field: str) -> tuple[str, Any]:
        value = entry
        for name in field.split("."):
            value = getattr(value, name)
        owner = getattr(entry, "name", "")
        return (f"{owner}.{field}" if owner else field), value

    def _take(self, path: str, value: float) -> Any:
        if path not in self._symbols:
            return value
        self._used.add(path)
        return self._symbols[path]

    def _array(self, path: str, value: Any) -> Any:
        """A vector or matrix: entries may be symbols, and so may a factor of all."""
        numbers = np.asarray(value, dtype=float)
        out = self._math.SX(numbers)
        for index in np.ndindex(*numbers.shape):
            at = f"{path}[{','.join(map(str, index))}]"
            out[index if len(index) > 1 else index[0]] = self._take(at, float(numbers[index]))
        return self._take(path, 1.0) * out


def _by_name(parameters: Parameters) -> dict[str, tuple[str, ...]]:
    """Names with their paths."""
    remedy = "give e.g. ['arm.material.E'] or {'stiffness': 'arm.material.E'}"
    if isinstance(parameters, Mapping):
        items = dict(parameters)
    else:
        listed = isinstance(parameters, (list, tuple)) and all(
            isinstance(x, str) for x in parameters
        )
        refuse(not listed, "equations", "parameters", parameters, "a list of paths", remedy)
        repeated = len(set(parameters)) < len(parameters)
        refuse(repeated, "equations", "parameters", parameters, "each named once", remedy)
        items = {path: path for path in parameters}
    found = {name: (x,) if isinstance(x, str) else x for name, x in items.items()}
    for name, paths in found.items():
        bad = not isinstance(paths, (list, tuple)) or not paths
        refuse(bad, "equations", "parameters", {name: paths}, "a path or several", remedy)
    return {name: tuple(paths) for name, paths in found.items()}
