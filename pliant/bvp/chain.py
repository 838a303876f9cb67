"""From a description to a chain: rods in a row, what sits between them, how the ends are held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model import Description, DescriptionError, Frame, Rod
from pliant.model.pointwise import BaseDrive, Hold, LineStress, LineWrench, PointWrench
from pliant.model.registry import Effect

if TYPE_CHECKING:
    from pliant.bvp.pointwise_effects import PointwiseEffect

WRENCH, BODY, JOINT = 0, 1, 2
"""Kinds of jumps."""
_INSIDE = 1e-6
"""Part of the rod's length within which data may still change at a jump."""
_PANEL = 4
"""Intervals of integration on a piece that ends where data jump or peak."""
_SAME = 1e-9
"""Places closer than this part of the rod's length are one."""


@dataclass
class Jump:
    """A wrench at a point, a body or a joint that sits between two pieces."""

    kind: int
    part: Any = None
    offset: Array = field(default_factory=lambda: np.zeros(3))
    pose: Array = field(default_factory=lambda: np.eye(4))


@dataclass
class Piece:
    """A smooth stretch of one rod from arclength a to b, metres; `before` sits at its start.

    broken : whether data jump or peak at its start, and at its end.
    """

    rod: Rod
    a: float
    b: float
    before: list[Jump] = field(default_factory=list)
    broken: tuple[bool, bool] = (False, False)

    @property
    def length(self) -> float:
        """Arclength of the piece, m."""
        return self.b - self.a

    def inside(self, s: Array) -> Array:
        """Arclengths (S,) kept away from ends at which data may jump, for what counts is the inside."""
        near = min(_INSIDE * self.rod.length, 1e-3 * self.length)
        return np.clip(s, self.a + near * self.broken[0], self.b - near * self.broken[1])

    def intervals(self, steps: int, whole: float) -> int:
        """How many of `steps` equal intervals over a chain of length `whole`, m, fall on the piece."""
        return max(_PANEL if any(self.broken) else 1, round(steps * self.length / whole))


@dataclass
class Support:
    """How an end of the chain is held.

    held : (6,) True for the directions (rx, ry, rz, x, y, z) of the frame `pose` that are held.
    pose : (4, 4) world pose that it is held to.  name : of the constraint, "" for a clamp.
    offset : (3,) held place in the section frame, m.
    """

    held: np.ndarray
    pose: Array
    name: str = ""
    offset: Array = field(default_factory=lambda: np.zeros(3))


class Chain:
    """Rods joined end to end.

    rods : from the base on.  pieces : smooth stretches in the same order.  at_tip : what sits at the
    tip.  base, tip : how the ends are held.  points, lines, stresses : what acts, as the effects of the
    description say.  own : effects in plain Python, beside those described.
    """

    def __init__(
        self, description: Description, method: str, effects: Sequence[PointwiseEffect] = ()
    ) -> None:
        self.description = description
        self.method = method
        forms: list[Any] = [*self._forms(), *effects]
        self.points = [form for form in forms if isinstance(form, PointWrench)]
        self.lines = [form for form in forms if isinstance(form, LineWrench)]
        self.stresses = [form for form in forms if isinstance(form, LineStress)]
        self._holds = [form for form in forms if isinstance(form, Hold)]
        known = (PointWrench, LineWrench, LineStress, Hold, BaseDrive)
        self.own: list[PointwiseEffect] = [form for form in forms if not isinstance(form, known)]
        self.rods = _in_a_row(description, method)
        self.at_tip: list[Jump] = []
        self.pieces = self._cut()
        self.base, self.tip = self._supports()

    def _forms(self) -> Iterator[Any]:
        """What the effects do at sections; those that are more than pointwise are refused."""
        for effect in self.description.of(Effect).values():
            forms = effect.pointwise_forms(self.description)
            if not forms:
                raise DescriptionError(
                    effect.label,
                    "formulation",
                    self.method,
                    "a formulation with coordinates, for strong forms do not carry this effect",
                    "choose e.g. BSpline(), or leave the effect out",
                )
            yield from forms

    @property
    def length(self) -> float:
        """Arclength of all rods, m."""
        return sum(rod.length for rod in self.rods)

    @cached_property
    def scale(self) -> Array:
        """Typical internal wrench (6,): that bends the chain by a radian, N m and N.

        With the stiffness in the middle of the first rod.
        """
        middle = np.array([0.5 * self.rods[0].length])
        moment = float(np.mean(self.rods[0].stiffness(middle)[0, :2])) / self.length
        return np.array([moment] * 3 + [moment / self.length] * 3)

    @property
    def jump_groups(self) -> list[list[Jump]]:
        """Jumps before each piece, then those at the tip."""
        return [*(piece.before for piece in self.pieces), self.at_tip]

    @cached_property
    def jumps(self) -> list[Jump]:
        """All jumps from base to tip."""
        return [jump for group in self.jump_groups for jump in group]

    def jumps_of(self, kind: int) -> list[Jump]:
        """The jumps of one kind from base to tip."""
        return [jump for jump in self.jumps if jump.kind == kind]

    def sites(self, kind: int) -> list[tuple[int, int]]:
        """Piece and end of it (0 or 1) that each point load or body sits at, on its own rod."""
        found = []
        for k, group in enumerate(self.jump_groups):
            kinds = [jump.kind for jump in group]
            for i in (i for i, other in enumerate(kinds) if other == kind):
                # at the end of the rod before it if a joint is still to come, or at the tip
                last = k == len(self.pieces) or JOINT in kinds[i:]
                found.append((k - 1, 1) if last else (k, 0))
        return found

    def _cut(self) -> list[Piece]:
        pieces: list[Piece] = []
        waiting: list[Jump] = []
        for rod in self.rods:
            if isinstance(rod.base, Frame):
                joint = rod.base.pose_offset() @ rod.pose
                waiting.append(Jump(JOINT, pose=joint))
            jumps = self._jumps_of(rod)
            ends, breaks = self._edges(rod)
            places = [0.0, rod.length, *(s for s, _ in jumps), *ends, *breaks]
            for a, b in pairwise(_merge(places, rod.length)):
                waiting += [jump for s, jump in jumps if abs(s - a) <= _SAME * rod.length]
                near = [any(abs(s - x) <= _SAME * rod.length for s in breaks) for x in (a, b)]
                pieces.append(Piece(rod, a, b, waiting, (near[0], near[1])))
                waiting = []
            waiting = [jump for s, jump in jumps if abs(s - rod.length) <= _SAME * rod.length]
        self.at_tip = waiting
        return pieces

    def _jumps_of(self, rod: Rod) -> list[tuple[float, Jump]]:
        points = [p for p in self.points if p.on.part == rod.name]
        bodies = [body for body in self.description.bodies.values() if body.part == rod.name]
        found = [(p.on.s, Jump(WRENCH, p, np.array(p.on.offset))) for p in points]
        return [*found, *((body.frame.s, Jump(BODY, body, body.arm())) for body in bodies)]

    @property
    def along(self) -> list[LineWrench | LineStress]:
        """What acts along rods."""
        return [*self.lines, *self.stresses]

    def _edges(self, rod: Rod) -> tuple[list[float], list[float]]:
        """Ends of the stretches that are covered by what acts along the rod, and places where data of
        the rod or of what acts on it jump or peak.
        """
        ends = [s for form in self.along if form.part == rod.name for s in form.over or ()]
        forms: list[Any] = [form for form in self.along if form.part == rod.name]
        forms += [form for form in self.own if form.rod == rod.name and hasattr(form, "breaks")]
        found = [rod.breaks_along(rod.length), *(form.breaks(rod.length) for form in forms)]
        return ends, [s for breaks in found for s in breaks.places if s not in ends]

    def _supports(self) -> tuple[Support, Support]:
        root, last = self.rods[0], self.rods[-1]
        clamped = root.base == "world"
        base = Support(np.full(6, clamped), np.array(root.pose))
        tip = Support(np.zeros(6, dtype=bool), np.eye(4))
        for hold in self._holds:
            where = hold.on
            if isinstance(hold.to, Frame):
                raise self._refused(hold.label, "to", hold.to, "the world", "closed loops")
            at_base = where.part == root.name and where.s <= _SAME * root.length
            at_tip = where.part == last.name and where.s >= last.length * (1.0 - _SAME)
            if at_base and not clamped and not base.name:
                base = self._held(hold, base.pose, np.eye(4))
                self._check_base(hold, base)
            elif at_tip and not tip.name:
                tip = self._held(hold, base.pose, self.rest_pose())
            else:
                raise self._refused(
                    hold.label, "on", where, "the tip of the last rod, or a free base", "loops"
                )
        return base, tip

    def _held(self, hold: Hold, root: Array, from_base: Array) -> Support:
        held = np.isin(np.arange(6), hold.rows)
        pose = root @ from_base @ hold.on.pose_offset() if hold.to is None else np.asarray(hold.to)
        return Support(held, pose, hold.name, np.array(hold.on.offset))

    def _check_base(self, hold: Hold, base: Support) -> None:
        turns, shifts = int(base.held[:3].sum()), int(base.held[3:].sum())
        if (turns, shifts) not in ((3, 3), (2, 3), (0, 3), (3, 0), (0, 0)) or base.offset.any():
            raise self._refused(
                hold.label,
                *hold.given,
                "at the base: fixed, articulated, sliding, or a hinge (all but one rotation)",
                "other supports of a base",
            )

    def rest_pose(self) -> Array:
        """Pose (4, 4) of the tip relative to the base when nothing acts, to about 1e-12."""
        g = np.eye(4)
        for rod in self.rods:
            if isinstance(rod.base, Frame):
                g = g @ rod.base.pose_offset() @ rod.pose
            edges = np.array([0.0, *rod.breaks_along(rod.length).places, rod.length])
            g = natural_poses(rod, g, edges)[-1]
        return np.asarray(g)

    def _refused(
        self, part: str, name: str, value: object, expected: str, what: str
    ) -> DescriptionError:
        return DescriptionError(
            part,
            name,
            value,
            f"{expected} with {self.method}, which cannot solve {what}",
            "solve it with BSpline(), Hermite() or Strain()",
        )


def natural_poses(rod: Rod, start: Array, edges: Array) -> Array:
    """Poses (E, 4, 4) of an unloaded rod at arclengths `edges` (E,), from `start` at the first.

    Fourth-order Magnus steps of at most 1/512 of the rod.
    """
    nodes, _ = np.polynomial.legendre.leggauss(2)
    found = [np.asarray(start)]
    for a, b in pairwise(edges):
        count = max(1, int(np.ceil(512 * (b - a) / rod.length)))
        h = (b - a) / count
        middle = a + h * (np.arange(count) + 0.5)
        first, second = (rod.natural_strain(middle + 0.5 * h * x) for x in nodes)
        bracket = np.einsum("sij,sj->si", se3.ad(first), second)
        g = found[-1]
        for step in se3.exp(0.5 * h * (first + second) + np.sqrt(3.0) / 12.0 * h * h * bracket):
            g = g @ step
        found.append(se3.orthonormal(g))
    return np.array(found)


def _merge(places: list[float], length: float) -> list[float]:
    """Sorted places with those that nearly coincide taken as one."""
    found: list[float] = []
    for s in sorted(places):
        if not found or s - found[-1] > _SAME * length:
            found.append(s)
    found[-1] = length
    return found


def _in_a_row(description: Description, method: str) -> list[Rod]:
    """The rods from the base on; refuses trees."""
    rods = description.rods_from_root()
    for before, rod in zip([None, *rods[:-1]], rods, strict=True):
        base = rod.base
        good = before is None or (
            isinstance(base, Frame)
            and base.part == before.name
            and base.s >= before.length * (1.0 - _SAME)
        )
        if not good:
            assert before is not None
            raise DescriptionError(
                rod.label,
                "base",
                base,
                f"the tip of {before.label} with {method}, which solves one rod or rods joined end "
                "to end, not trees or several robots",
                "solve it with BSpline(), Hermite() or Strain()",
            )
    return rods
