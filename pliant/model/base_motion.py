"""Motion given to the base of a rod: a shaken table, a turning axle, a robot's hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.model.checks import DescriptionError, refuse
from pliant.model.fields import holds, quantity
from pliant.model.places import (
    BaseState as BaseState,
    Frame,
    Moving as Moving,
    MovingFrame,
    OnRod,
    base_state as base_state,
)
from pliant.model.pointwise import BaseDrive
from pliant.model.registry import Effect

if TYPE_CHECKING:
    from pliant.model.description import Description
    from pliant.model.rod import Rod


@dataclass(frozen=True, eq=False)
class BaseMotion(Effect):
    """The base of a rod that is clamped to the world moves; the name is an input x of the robot.

    name : unique in the robot; the input of that name is a number x, 0 unless given.
    of : the rod, or its name.
    translation : (3,) world frame, metres per unit of x.
    rotation : (3,) rotation vector in the frame of the base, radians per unit of x.

    The pose of the base is T(x translation) pose exp(x rotation): shifted in the world, turned
    about its own origin. Several motions of one rod act in the order in which they are described.
    """

    of: str | Rod = holds(OnRod())
    translation: tuple[float, ...] = quantity(
        "metres per unit of input", "world frame", shape=3, default=(0.0, 0.0, 0.0)
    )
    rotation: tuple[float, ...] = quantity(
        "radians per unit of input", "frame of the base", shape=3, default=(0.0, 0.0, 0.0)
    )

    heading: ClassVar[str] = "base_motions"
    place: ClassVar[int] = 5
    input_expected: ClassVar[str] = "one finite number, for it moves a base"
    input_remedy: ClassVar[str] = "give e.g. 0.1"

    def check(self) -> None:
        """Refuse a motion that moves nothing."""
        refuse(
            not any(self.translation + self.rotation),
            self.label,
            "translation, rotation",
            (self.translation, self.rotation),
            "not both zero",
            "give e.g. translation=(0, 0, 1) to shift the base by the input in metres",
        )

    def inputs(self) -> dict[str, float]:
        """Return its name with 0.0: no motion."""
        return {self.name: 0.0}

    def motion_inputs(self) -> list[str]:
        """Return its name: it prescribes the motion of a base."""
        return [self.name]

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot: only a base on the world can be moved."""
        yield from super().problems(description)
        rod = description.rods.get(self.part)
        hinged = rod is not None and rod.joint is not None and rod.joint.moves
        if rod is not None and (rod.base != "world" or hinged):
            place = f"mounted on {rod.base.part!r}" if isinstance(rod.base, Frame) else "free"
            place = f"held by {rod.joint!r}" if hinged else place
            yield DescriptionError(
                self.label,
                "of",
                self.part,
                f"a rod clamped to the world ({rod.label} is {place})",
                "move the base of the rod that carries it, or clamp it to the world",
            )

    def pointwise(self) -> BaseDrive:
        """Return that it moves a base."""
        return BaseDrive(self.name)

    @property
    def part(self) -> str:
        """The name of the rod whose base moves."""
        return str(self.of)

    def moves_base_of(self) -> str:
        """Return the name of the rod whose base moves."""
        return self.part

    def shifts_base_along(self) -> tuple[float, ...] | None:
        """Return its translation, None if it turns the base."""
        usual = type(self).displaced is BaseMotion.displaced
        return self.translation if usual and not any(self.rotation) else None

    def displaced(
        self, base: MovingFrame, x: float, rate: float, acceleration: float
    ) -> MovingFrame:
        """Return a base after this motion, at its input x, in 1/s and 1/s^2 its derivatives.

        The rotation R = exp(x r) acts on the right, so that the body angular velocity becomes
        R^T w + r x', and its derivative follows by the product rule.
        """
        from scipy.spatial.transform import Rotation

        shift, turn = np.array(self.translation), np.array(self.rotation)
        base = base._replace(
            p=base.p + x * shift,
            velocity=base.velocity + rate * shift,
            acceleration=base.acceleration + acceleration * shift,
        )
        if not turn.any():
            return base
        step = Rotation.from_rotvec(x * turn).as_matrix()
        carried = step.T @ base.w
        return base._replace(
            R=base.R @ step,
            w=carried + rate * turn,
            w_rate=step.T @ base.w_rate - np.cross(rate * turn, carried) + acceleration * turn,
        )
