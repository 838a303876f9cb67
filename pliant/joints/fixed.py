"""A rigid connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.joints.contract import JointMap
from pliant.lie.tuples import Array


@dataclass(frozen=True)
class Fixed(JointMap):
    """The part is clamped to the frame that carries it."""

    compiled: ClassVar[bool] = True

    def pose(self, q: Array) -> Array:
        return np.eye(4)

    def axes(self, q: Array) -> Array:
        return np.zeros((6, 0))

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        return math.SX.eye(3), math.SX.zeros(3)
