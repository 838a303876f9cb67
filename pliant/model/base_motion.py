"""Motion given to the base of a rod: a shaken table, a turning axle, a robot's hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from pliant.model.checks import Array, as_float
from pliant.model.errors import DescriptionError
from pliant.model.fields import holds, quantity
from pliant.model.frame import Frame, _rotation_from_vector
from pliant.model.places import OnRod
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
    input_expected: ClassVar[str] = "one finite number, for it moves a base"
    input_remedy: ClassVar[str] = "give e.g. 0.1"
    prescribes: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a motion that moves nothing."""
        if not any(self.translation + self.rotation):
            raise DescriptionError(
                self.label,
                "translation, rotation",
                (self.translation, self.rotation),
                "not both zero",
                "give e.g. translation=(0, 0, 1) to shift the base by the input in metres",
            )

    def inputs(self) -> dict[str, float]:
        """Return its name with 0.0: no motion."""
        return {self.name: 0.0}

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

    def amount(self, value: object) -> float:
        """Return an input value as the number it must be."""
        found = as_float(value)
        if found is None or not np.isfinite(found):
            raise DescriptionError(
                self.label,
                "input",
                value,
                "one finite number, which multiplies translation and rotation",
                "give e.g. 0.1",
            )
        return found


class BaseState(NamedTuple):
    """Where a base is and how it moves.

    pose : (4, 4) world.  twist : (6,) body twist (w, q), rad/s and m/s.  twist_rate : (6,) its
    time derivative, rad/s^2 and m/s^2.
    """

    pose: Array
    twist: Array
    twist_rate: Array


class Moving(NamedTuple):
    """One motion at one instant: input x, its rate (per second) and acceleration (per second^2)."""

    motion: BaseMotion
    x: float
    rate: float = 0.0
    acceleration: float = 0.0


def base_state(pose: Array, moving: Sequence[Moving]) -> BaseState:
    """Return where a base is and how it moves.

    pose : (4, 4) as described.  moving : the motions of the rod in the order of description.

    Each rotation R_k = exp(x_k r_k) acts on the right, so with w_k the body angular velocity after
    k of them, w_k = R_k^T w_{k-1} + r_k x_k', and its derivative follows by the product rule.
    """
    R, p = np.array(pose[:3, :3]), np.array(pose[:3, 3])
    w, w_rate, velocity, acceleration = np.zeros((4, 3))
    for motion, x, rate, second in moving:
        shift, turn = np.array(motion.translation), np.array(motion.rotation)
        p = p + x * shift
        velocity = velocity + rate * shift
        acceleration = acceleration + second * shift
        step = _rotation_from_vector(x * turn)
        R = R @ step
        carried = step.T @ w
        w_rate = step.T @ w_rate - np.cross(rate * turn, carried) + second * turn
        w = carried + rate * turn
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = R, p
    q = R.T @ velocity
    q_rate = R.T @ acceleration - np.cross(w, q)
    return BaseState(found, np.concatenate((w, q)), np.concatenate((w_rate, q_rate)))
