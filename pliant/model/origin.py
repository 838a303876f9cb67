"""Named parameters of a description, and the description with other values of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pliant.model.checks import DescriptionError, did_you_mean, refuse
from pliant.model.differences import difference

if TYPE_CHECKING:
    from pliant.model.description import Description

Parameter = float | tuple[float, ...]


class Origin(ABC):
    """Where a description with named parameters comes from.

    values : of its parameters by name.  description, inputs : as they were made with these values.
    of_inputs : parameters that the inputs depend on.
    """

    values: dict[str, Parameter]
    description: Description
    inputs: dict[str, Any]
    of_inputs: frozenset[str]

    @abstractmethod
    def varied(self, values: Mapping[str, Any]) -> Origin:
        """Return the origin of the description with other values of some parameters."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and self.values == other.values

    __hash__ = object.__hash__

    def check(self, label: str, values: Mapping[str, Any]) -> None:
        """Refuse a name that no parameter has."""
        for name in values:
            if name not in self.values:
                expected, remedy = "a parameter of the robot file", did_you_mean(name, self.values)
                raise DescriptionError(label, "parameter", name, expected, remedy)


def with_parameters(description: Description, values: Mapping[str, Any]) -> Description:
    """Return a description with other values of its named parameters.

    Parts that were added or removed since it was loaded stay so. One that was changed is refused if a
    parameter would change it too.
    """
    old = description.origin
    refuse(
        old is None,
        "robot",
        "parameters",
        ", ".join(values),
        "named in the robot file",
        "load a robot file that declares them under 'parameters:'",
    )
    assert old is not None
    old.check("robot", values)
    new = old.varied(values)
    before, after = old.description.parts, new.description.parts
    own = {name: part for name, part in description.parts.items() if before.get(name) is not part}
    for name, part in own.items():
        refuse(
            name in before and difference(before[name], after.get(name)) is not None,
            part.label,
            "parameters",
            ", ".join(values),
            "varied before the part itself is changed, for it depends on them",
            "vary the parameters first",
        )
    removed = set(before) - set(description.parts)
    fresh = {name: part for name, part in after.items() if name not in removed}
    same = description.gravity == old.description.gravity
    gravity = new.description.gravity if same else description.gravity
    return replace(description, gravity=gravity, parts={**fresh, **own}, origin=new)
