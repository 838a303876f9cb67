"""The common centreline of nested tubes, as a rod with the section of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model.breaks import Breaks, join
from pliant.model.checks import Array, DescriptionError
from pliant.model.rod import STRAIGHT, Rod
from pliant.model.tube import Tube, reach_of, slides

GAUGE = 30.0
"""Twisting stiffness that the centreline has besides, over that of all tubes.

How its sections turn about the axis is a convention: each tube turns against them. This stiffness keeps
them from twisting and has no work to do.
"""
SPIN = 0.3
"""Rotary inertia about the axis that it has besides, over that of all tubes, for the same reason.

Its sections hardly spin. With less of both, `Midpoint` lets the convention oscillate in long steps.
"""


class Centreline(Rod):
    """The centreline of nested tubes, from the entry plane (s = 0) to the tip that reaches farthest.

    Its sections have the stiffness and the mass of all tubes that are there. `members` are the tubes
    from the outermost to the innermost; the first may be a rod, which does not turn against it.
    """

    file_name: ClassVar[str] = ""
    heading: ClassVar[str] = ""
    word: ClassVar[str] = "centreline of"
    members: tuple[Rod, ...]

    def check(self) -> None:
        """Accept all: the tubes were checked."""

    def own(self, k: int) -> tuple[float, float]:
        """Where tube k begins and ends on the centreline, m; its beginning may be behind it."""
        rod = self.members[k]
        end = reach_of(rod)
        slack, places = self.least_gap * self.length, (*self.breaks, self.length)
        return end - rod.length, next((s for s in places if abs(s - end) <= slack), end)

    def ends_in_order(self) -> tuple[tuple[int, float], ...]:
        """Tubes with the arclengths along them, m, at which they or their data end, in the order in
        which these are on the centreline, without those in the guide.
        """
        found = []
        for k, rod in enumerate(self.members):
            first = reach_of(rod) - rod.length
            own = (*rod.breaks_along(rod.length).jumps, rod.length)
            found += [(first + s, (k, s)) for s in own if first + s > 0.0]
        return tuple(end for _, end in sorted(found))

    def place_of(self, k: int, s: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
        """Arclengths (S,) of tube k at s (S,) of the centreline, and whether it is there (S,)."""
        first, end = self.own(k)
        where = np.asarray(s, dtype=float)
        inside = (where >= first) & (where <= end * (1.0 + 1e-12))
        return np.clip(where - first, 0.0, self.members[k].length), inside

    def _sum(self, quantity: str, s: ArrayLike) -> Array:
        total: Array | float = 0.0
        for k, rod in enumerate(self.members):
            own, inside = self.place_of(k, s)
            values = np.array(getattr(rod, quantity)(own))
            if slides(rod):
                if quantity in ("inertia", "mass_per_length"):
                    continue
                values[..., 5] = 0.0
            there = inside if values.ndim == inside.ndim else inside[..., None]
            total = total + np.where(there, values, 0.0)
        return np.asarray(total)

    def stiffness(self, s: ArrayLike) -> Array:
        """Return the stiffness (S, 6) of all tubes at s, in stretch of those that do not slide."""
        return self._sum("stiffness", s)

    def damping(self, s: ArrayLike) -> Array:
        """Return the damping (S, 6) of all tubes at s in shear and stretch; they bend on their own."""
        found = self._sum("damping", s)
        found[..., :3] = 0.0
        return found

    def inertia(self, s: ArrayLike) -> Array:
        """Return the inertia (S, 6) of all that do not slide at s, with a small one about the axis."""
        found = self._sum("inertia", s)
        found[..., 2] *= SPIN
        if not isinstance(self.members[0], Tube):
            own, inside = self.place_of(0, s)
            found[..., 2] += np.where(inside, self.members[0].inertia(own)[..., 2], 0.0)
        return found

    def natural_strain(self, s: ArrayLike) -> Array:
        """Return the strain (S, 6) at which the tubes balance if none of them is turned."""
        where = np.asarray(s, dtype=float)
        moment, stiffness = np.zeros((*where.shape, 2)), np.zeros(where.shape)
        for k, rod in enumerate(self.members):
            own, inside = self.place_of(k, where)
            u = rod.natural_strain(own)[..., :2]
            EI = np.where(inside, rod.stiffness(own)[..., 0], 0.0)
            moment, stiffness = moment + EI[..., None] * u, stiffness + EI
        found = np.zeros((*where.shape, 6))
        found[..., 3:] = STRAIGHT
        found[..., :2] = moment / np.maximum(stiffness, 1e-300)[..., None]
        return found

    def outline(self, s: ArrayLike) -> Array:
        """Return half the width (S, 2) of the outermost tube."""
        return self.members[0].outline(self.place_of(0, s)[0])

    def field_breaks(self, length: float) -> Iterator[tuple[str, Breaks]]:
        """Yield nothing: all breaks are declared."""
        return iter(())


@lru_cache(maxsize=128)
def centreline(members: tuple[Rod, ...]) -> Centreline:
    """Return the centreline of tubes from the outermost on, one object for the same tubes."""
    root = members[0]
    length = max(reach_of(rod) for rod in members)
    if length <= 0.0:
        raise DescriptionError(
            root.label,
            "start",
            root.start if isinstance(root, Tube) else 0.0,
            "such that one of the tubes reaches beyond the entry plane, while all are withdrawn",
            "insert one of them farther",
        )
    places: set[float] = set()
    for rod in members:
        first = reach_of(rod) - rod.length
        places |= {first + s for s in (*rod.breaks_along(rod.length).jumps, rod.length)}
    jumps = tuple(sorted(s for s in places if 0.0 < s < length))
    breaks = join([Breaks(jumps)], length, Centreline.least_gap).jumps
    found = Centreline(
        *(root.name, length, root.section, root.material, root.pose, root.base),
        formulation=root.formulation,
        theory=root.theory,
        drag=root.drag,
        mass_damping=root.mass_damping,
        joint=root.joint,
        breaks=breaks,
    )
    object.__setattr__(found, "members", members)
    return found
