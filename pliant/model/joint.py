"""What parts and files know of joints; the mechanics of each is a class in `pliant.joints`."""

from __future__ import annotations

from pliant.model.errors import DescriptionError


class Joint:
    """How a part hangs on the frame that carries it. See `pliant.joints.contract`."""

    drive: str | None = None
    """What an input prescribes, such as "angle"; None for a joint that moves freely."""
    input: str | None = None
    """Name of that input; None for the name of the part."""


def check_joint(part: str, joint: object, free: bool) -> None:
    """Refuse what is no joint, and a joint of a part that nothing carries."""
    if joint is None:
        return
    if not isinstance(joint, Joint):
        remedy = f"write {joint.__name__}()" if isinstance(joint, type) else "give e.g. Fixed()"
        raise DescriptionError(part, "joint", joint, "a joint", remedy)
    if free:
        raise DescriptionError(
            part,
            "joint",
            joint,
            "left out where base is None, for such a part is free",
            "give base='world' or a frame that carries it",
        )
