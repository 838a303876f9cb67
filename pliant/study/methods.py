"""The methods that `compare` is given: formulation, integrator and step, or a finished result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pliant.model import DescriptionError
from pliant.model.checks import positive
from pliant.results.summary import settings_text
from pliant.solve.integrators.contract import Integrator


@dataclass(frozen=True)
class Method:
    """A formulation (or several by rod name), an integrator and a step; or a result."""

    label: str
    formulation: Any = None
    integrator: Any = None
    dt: float | None = None
    result: Any = None

    def same(self, other: Method) -> bool:
        """Return whether both solve a robot in the same way."""
        mine = (self.formulation, self.integrator, self.dt, self.result)
        theirs = (other.formulation, other.integrator, other.dt, other.result)
        return all(a is b or _equal(a, b) for a, b in zip(mine, theirs, strict=True))


def read_methods(given: Sequence[Any] | Mapping[str, Any]) -> list[Method]:
    """Return the methods of a list, or of a dict by label."""
    methods: list[Method] = []
    if isinstance(given, Mapping):
        methods = [read_method(str(name), item, str(name)) for name, item in given.items()]
    elif isinstance(given, (list, tuple)):
        methods = [read_method(f"formulations[{k}]", item, None) for k, item in enumerate(given)]
    if not methods:
        raise DescriptionError(
            "compare", "formulations", given, "a list of one or more, or a dict by label",
            "give e.g. [BSpline(), Strain()]",
        )  # fmt: skip
    return methods


def read_method(field: str, given: Any, label: str | None) -> Method:
    """Return one method.

    field : where it was given, for messages.  label : None for one made from its settings.
    """
    if hasattr(given, "pose") and hasattr(given, "rods") and hasattr(given, "unknowns"):
        text = f"{type(given).__name__} given" if label is None else label
        return Method(text, result=given)
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3:
        raise DescriptionError(
            "compare", field, given, "a formulation, (formulation, integrator) or with dt as third",
            "give e.g. (BSpline(), Midpoint())",
        )  # fmt: skip
    formulation, integrator, dt = (*parts, None, None)[:3]
    if isinstance(formulation, Integrator):
        raise DescriptionError(
            "compare", field, given, "a formulation first, the integrator second",
            "give e.g. (BSpline(), Midpoint()), or (None, Midpoint()) for the default formulation",
        )  # fmt: skip
    if dt is not None:
        positive("compare", f"{field} dt", dt, "seconds", "give e.g. 0.01")
    return Method(label or _label(formulation, integrator, dt), formulation, integrator, dt)


def _label(formulation: Any, integrator: Any, dt: float | None) -> str:
    if isinstance(formulation, Mapping):
        text = ", ".join(f"{rod}: {settings_text(item)}" for rod, item in formulation.items())
    else:
        text = "default" if formulation is None else settings_text(formulation)
    text += "" if integrator is None else f", {settings_text(integrator)}"
    return text + ("" if dt is None else f", dt = {dt:g} s")


def with_unique_labels(methods: list[Method]) -> list[Method]:
    """Return the methods with equal labels numbered."""
    labels = [method.label for method in methods]
    counts = [labels[: k + 1].count(label) for k, label in enumerate(labels)]
    return [
        replace(method, label=f"{method.label} ({count})") if count > 1 else method
        for method, count in zip(methods, counts, strict=True)
    ]


def _equal(a: Any, b: Any) -> bool:
    """Equality that never raises and never is an array."""
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return False
