"""What loads a robot at one moment: gravity and the wrench of every load, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.rods.contract import Array


@dataclass
class Loading:
    """Wrenches on every rod, in the order of the system's blocks; scales and mixes linearly.

    point_dead, point_follower : per block (P, 6) at its points, world and body frame.
    line_dead, line_follower : per block (S, 6) at its mass stations, already weighted.
    """

    point_dead: list[Array]
    point_follower: list[Array]
    line_dead: list[Array]
    line_follower: list[Array]

    def mix(self, other: Loading, t: float) -> Loading:
        """The loading a fraction t of the way from this one to `other`."""

        def blend(a: list[Array], b: list[Array]) -> list[Array]:
            return [(1.0 - t) * x + t * y for x, y in zip(a, b, strict=True)]

        return Loading(
            blend(self.point_dead, other.point_dead),
            blend(self.point_follower, other.point_follower),
            blend(self.line_dead, other.line_dead),
            blend(self.line_follower, other.line_follower),
        )

    def scaled(self, factor: float) -> Loading:
        """All wrenches times `factor`."""
        return Loading(
            [factor * a for a in self.point_dead],
            [factor * a for a in self.point_follower],
            [factor * a for a in self.line_dead],
            [factor * a for a in self.line_follower],
        )

    @property
    def conservative(self) -> bool:
        """True if the wrenches have a potential: dead forces only."""
        moments = any(np.any(a[:, :3] != 0.0) for a in self.point_dead + self.line_dead)
        follow = any(np.any(a != 0.0) for a in self.point_follower + self.line_follower)
        return not (moments or follow)

    @property
    def empty(self) -> bool:
        """True if nothing acts."""
        every = self.point_dead + self.point_follower + self.line_dead + self.line_follower
        return not any(np.any(a != 0.0) for a in every)
