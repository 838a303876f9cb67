"""What `compare` is given: entries that say how a robot is to be solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pliant.model import DescriptionError
from pliant.model.checks import positive
from pliant.results.text import settings_text
from pliant.solve.integrators.contract import Integrator


@dataclass(frozen=True)
class Entry:
    """What to solve with: a formulation (or several by rod name), integrator and step; or a result."""

    label: str
    formulation: Any = None
    integrator: Any = None
    dt: float | None = None
    result: Any = None

    def same(self, other: Entry) -> bool:
        """Tell whether both would be solved alike."""
        mine = (self.formulation, self.integrator, self.dt, self.result)
        theirs = (other.formulation, other.integrator, other.dt, other.result)
        return all(a is b or _equal(a, b) for a, b in zip(mine, theirs, strict=True))


def read_entries(given: Sequence[Any] | Mapping[str, Any]) -> list[Entry]:
    """Return the entries of a list, or of a dict by label."""
    if isinstance(given, Mapping):
        found = [read_entry(str(name), item, str(name)) for name, item in given.items()]
    elif isinstance(given, (list, tuple)):
        found = [read_entry(f"formulations[{k}]", item, None) for k, item in enumerate(given)]
    else:
        found = []
    if not found:
        raise DescriptionError(
            "compare", "formulations", given, "a list of one or more, or a dict by label",
            "give e.g. [BSpline(), Strain()]",
        )  # fmt: skip
    return found


def read_entry(field: str, given: Any, label: str | None) -> Entry:
    """Return what one entry asks for."""
    if hasattr(given, "pose") and hasattr(given, "rods") and hasattr(given, "unknowns"):
        text = f"{type(given).__name__} given" if label is None else label
        return Entry(text, result=given)
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
    return Entry(label or _label(formulation, integrator, dt), formulation, integrator, dt)


def _label(formulation: Any, integrator: Any, dt: float | None) -> str:
    if isinstance(formulation, Mapping):
        text = ", ".join(f"{rod}: {settings_text(item)}" for rod, item in formulation.items())
    else:
        text = "default" if formulation is None else settings_text(formulation)
    text += "" if integrator is None else f", {settings_text(integrator)}"
    return text + ("" if dt is None else f", dt = {dt:g} s")


def relabelled(entries: list[Entry]) -> list[Entry]:
    """Return the entries with labels that differ."""
    seen: dict[str, int] = {}
    found = []
    for entry in entries:
        seen[entry.label] = seen.get(entry.label, 0) + 1
        mark = "" if seen[entry.label] == 1 else f" ({seen[entry.label]})"
        found.append(replace(entry, label=entry.label + mark))
    return found


def _equal(a: Any, b: Any) -> bool:
    """Equality that never raises and never is an array."""
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return False
