"""What parts and files know of joints; the mechanics of each is a class in `pliant.joints`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.model.errors import DescriptionError
from pliant.model.registry import Described, OneOf


class Joint(Described):
    """How a part hangs on the frame that carries it. See `pliant.joints.contract`."""

    file_name: ClassVar[str] = ""
    drive: str | None = None
    """What an input prescribes, such as "angle"; None for a joint that moves freely."""
    input: str | None = None
    """Name of that input; None for the name of the part."""

    @property
    def moves(self) -> bool:
        """Whether the part can move against the frame that carries it."""
        return True


@dataclass(frozen=True)
class JointKind(OneOf):
    """A joint; its class is one of those that come with Pliant or one of the user's."""

    meaning: str = "how it hangs on what carries it"
    example: str = "{revolute: {axis: x}}"
    families: tuple[type, ...] = (Joint,)

    def check(self, part: str, field: str, value: Any) -> Any:
        if not isinstance(value, Joint):
            remedy = f"write {value.__name__}()" if isinstance(value, type) else "give e.g. Fixed()"
            raise DescriptionError(part, field, value, "a joint", remedy)
        return value
