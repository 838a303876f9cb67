"""Parameters to identify: paths into the description with start, bounds and prior."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    Choice,
    Described,
    Description,
    DescriptionError,
    Kind,
    as_float,
    holds,
    instance,
    quantity,
    refuse,
    value_at,
    with_values,
)

SCALES = ("log", "linear")


@dataclass(frozen=True)
class Pair(Kind):
    """Two numbers, which may be infinite."""

    def check(self, part: str, field: str, value: Any) -> tuple[float, float]:
        items = [as_float(item) for item in value] if isinstance(value, (tuple, list)) else []
        if len(items) != 2 or items[0] is None or items[1] is None or any(x != x for x in items):
            raise DescriptionError(part, field, value, "two numbers", "give e.g. (0.1, 10.0)")
        return items[0], items[1]


@dataclass(frozen=True, eq=False)
class Parameter(Described):
    """A number of the description to identify from data.

    path : into the description, such as "arm.material.E", "arm.drag", "arm.natural[0]",
        "push.force[2]" or "arm.E" for short. A path to a vector, taper, table or function stands for
        a factor that multiplies it. Several paths, as a tuple, share one value.
    initial : start of the search; None for the described value.
    bounds : (lowest, highest); None for none beyond what the description allows.
    prior : (mean, standard deviation) known before the data; None for no prior.
    scale : "log" searches the logarithm, for positive numbers of unknown magnitude; "linear" searches
        the number itself; None takes "log" for positive numbers that are not entries of vectors.
    typical : a typical magnitude, needed only for linear parameters that start at 0 without bounds
        or prior.
    """

    path: str | tuple[str, ...]
    initial: float | None = quantity(default=None)
    bounds: tuple[float, float] | None = holds(Pair(), None)
    prior: tuple[float, float] | None = holds(Pair(), None)
    scale: str | None = holds(Choice(names=SCALES), None)
    typical: float | None = quantity(default=None, sign="positive")

    def __post_init__(self) -> None:
        refuse(
            not self.paths or not all(isinstance(item, str) for item in self.paths),
            "Parameter",
            "path",
            self.path,
            "a path or several",
            "give e.g. 'arm.material.E'",
        )
        super().__post_init__()

    @property
    def paths(self) -> tuple[str, ...]:
        """All its paths."""
        return (self.path,) if isinstance(self.path, str) else tuple(self.path)

    @property
    def label(self) -> str:
        """The name of this parameter in error messages."""
        return f"parameter {self.paths[0]!r}"

    def check(self) -> None:
        """Refuse bounds that do not hold the start, and a prior without spread."""
        low, high = self.bounds or (-math.inf, math.inf)
        self.refuse(not low < high, "bounds", "(lowest, highest)", "give the lower first")
        outside = self.initial is not None and not low <= self.initial <= high
        within = f"within the bounds {low:g} to {high:g}"
        self.refuse(outside, "initial", within, "start inside of them")
        mean, std = self.prior or (0.0, 1.0)
        good = math.isfinite(mean) and 0 < std < math.inf
        spread = "(mean, positive standard deviation)"
        self.refuse(not good, "prior", spread, "give e.g. (1e6, 1e5)")


@dataclass(frozen=True)
class Variable:
    """A parameter in the search coordinate z = log(value) or value / typical.

    low, high, mean, std : bounds and prior of z; std is infinite without a prior.
    factor : True if the value multiplies the described quantity.
    """

    name: str
    paths: tuple[str, ...]
    logarithmic: bool
    size: float
    start: float
    low: float
    high: float
    mean: float
    std: float
    factor: bool

    def value(self, z: float) -> float:
        """Return the parameter's value."""
        return math.exp(z) if self.logarithmic else self.size * z

    def slope(self, z: float) -> float:
        """Return the derivative of the value with respect to z."""
        return math.exp(z) if self.logarithmic else self.size


@dataclass(frozen=True)
class Variables:
    """The parameters of one identification."""

    description: Description
    items: tuple[Variable, ...] = field(default_factory=tuple)

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [item.name for item in self.items]

    def values(self, z: Array) -> Array:
        """Return the values (P,) at coordinates z (P,)."""
        return np.array([item.value(float(x)) for item, x in zip(self.items, z, strict=True)])

    def described(self, z: Array) -> Description:
        """Return the description with the values at z."""
        new = {}
        for item, value in zip(self.items, self.values(z), strict=True):
            new.update(dict.fromkeys(item.paths, float(value)))
        return with_values(self.description, new)


def variables(description: Description, parameters: Iterable[Any]) -> Variables:
    """Return the parameters, checked against the description."""
    given = list(parameters) if isinstance(parameters, Sequence) else []
    refuse(
        isinstance(parameters, str) or not given,
        "fit",
        "parameters",
        parameters,
        "a list of one or more",
        "give ['arm.material.E']",
    )
    expected, remedy = "a Parameter or a path", "give e.g. 'arm.material.E'"
    items = []
    for item in given:
        one = Parameter(item) if isinstance(item, (str, tuple)) else item
        instance("fit", "parameters", one, Parameter, expected, remedy)
        items.append(_variable(description, one))
    paths = [path for variable in items for path in variable.paths]
    for k, path in enumerate(paths):
        refuse(path in paths[:k], "fit", "parameters", path, "named once", "remove one of the two")
    return Variables(description, tuple(items))


def _variable(description: Description, parameter: Parameter) -> Variable:
    places = [value_at(description, path) for path in parameter.paths]
    initial = places[0].value if parameter.initial is None else parameter.initial
    low, high = parameter.bounds or (-math.inf, math.inf)
    paths = tuple(item.path for item in places)
    factor = places[0].whole
    logarithmic = parameter.scale == "log"
    if parameter.scale is None:
        alone = factor or not paths[0].endswith("]")
        logarithmic = initial > 0 and alone and (parameter.bounds is None or low >= 0)
    size = _size(parameter, initial, low, high)
    around = f"around the start {initial:g}"
    outside = not low <= initial <= high
    parameter.refuse(outside, "bounds", around, "widen them, or give initial=...")
    refuse(
        logarithmic and initial <= 0,
        parameter.label,
        "initial",
        initial,
        "above 0 where the scale is 'log'",
        "start above 0, or give scale='linear'",
    )
    if not logarithmic and low < 0 <= initial and _refuses_negative(description, paths, size):
        low = 0.0
    mean, std = parameter.prior or (initial, math.inf)
    negative = logarithmic and parameter.prior and mean <= 0
    expected = "of positive mean where the scale is 'log'"
    parameter.refuse(negative, "prior", expected, "give scale='linear'")

    def coordinate(value: float) -> float:
        if logarithmic:
            return math.log(value) if value > 0 else -math.inf
        return value / size

    z = {"start": initial, "low": low, "high": high, "mean": mean}
    return Variable(
        name=parameter.paths[0],
        paths=paths,
        logarithmic=logarithmic,
        size=size,
        factor=factor,
        std=std / (mean if logarithmic else size),
        **{name: coordinate(value) for name, value in z.items()},
    )


def _size(parameter: Parameter, initial: float, low: float, high: float) -> float:
    """A typical magnitude of a linear parameter."""
    if parameter.typical is not None:
        return parameter.typical
    if initial != 0:
        return abs(initial)
    if parameter.prior is not None:
        return abs(parameter.prior[1])
    ends = [abs(end) for end in (low, high) if 0 < abs(end) < math.inf]
    refuse(
        not ends,
        parameter.label,
        "initial",
        initial,
        "not 0 unless something gives its magnitude",
        "give initial, bounds, prior or typical, e.g. typical=0.1",
    )
    return max(ends)


def _refuses_negative(description: Description, paths: tuple[str, ...], size: float) -> bool:
    try:
        with_values(description, dict.fromkeys(paths, -1e-6 * size))
    except DescriptionError:
        return True
    return False
