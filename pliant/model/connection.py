"""Connections that close loops: two places of a robot, or one and the world, with a joint between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from pliant.model.body import Auxiliary
from pliant.model.checks import Array
from pliant.model.fields import holds
from pliant.model.places import Frame, OnFrameOrPose, OnFrameOrWorld, RelativePose
from pliant.model.registry import Effect, Joint, JointKind, Part


@dataclass(frozen=True, eq=False)
class Connection(Effect):
    """A joint between two places of a robot that closes a loop.

    name : unique in the robot. It is the name of the input if the joint has a drive and no other, and
        the joint's name in results.
    a : a Frame, or a fixed 4x4 pose in the world. The joint is at its origin and has its axes.
    b : another Frame, a fixed 4x4 pose in the world, or None for the world where ``a`` is at rest.
    joint : a Joint such as Revolute("x"); None for a rigid connection.
    pose : 4x4 pose of ``b`` in ``a`` where the joint is at rest; None for that of the undeformed
        robot. The identity brings both frames together.
    """

    a: Frame | Array = holds(OnFrameOrPose("one side"))
    b: Frame | Array | None = holds(OnFrameOrWorld("the other side"), None)
    joint: Joint | None = holds(JointKind(), None)
    pose: ArrayLike | None = holds(RelativePose("of b in a where the joint rests"), None)

    heading: ClassVar[str] = "connections"
    place: ClassVar[int] = 3
    reacts: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a connection of a place with itself, and of the world with itself."""
        itself = isinstance(self.b, Frame) and isinstance(self.a, Frame) and self.b == self.a
        self.refuse(itself, "b", "another frame than 'a'", "choose another place")
        world = not isinstance(self.a, (str, Frame)) and not isinstance(self.b, (str, Frame))
        self.refuse(world, "b", "a frame of the robot, for 'a' is in the world", "choose a place")

    def auxiliary(self) -> Sequence[Part]:
        """Return the massless part that the joint moves; none for a rigid connection."""
        if self.joint is None or not self.joint.moves:
            return ()
        brought = {"joint": self.joint, "brought_by": self.label, "shown": True}
        if isinstance(self.a, Frame):
            return [Auxiliary(self.name, on=self.a, **brought)]  # type: ignore[arg-type]
        return [Auxiliary(self.name, pose=self.a, **brought)]  # type: ignore[arg-type]
