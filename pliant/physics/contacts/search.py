"""The search of one contact: which stations, balls and segments it has, and what they find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from pliant.engine.program import run
from pliant.model import Frame, Surface
from pliant.physics.contacts.found import Found, nothing_found
from pliant.physics.contacts.pool import Pool
from pliant.physics.contacts.segments import Segments, bend_segments, find_segments
from pliant.physics.contacts.surfaces import (
    CYLINDER,
    PLANE,
    SPHERE,
    Balls,
    bend_balls,
    find_balls,
)
from pliant.rods.contract import Array, Ints
from pliant.tree.tree import Tree

_KINDS = {"plane": PLANE, "sphere": SPHERE, "cylinder": CYLINDER}
_MOST = 201
"""Stations that are chosen for a rod at most."""
_MOST_SEGMENTS, _SPACING = 81, 4.0
"""The same between rods, and how far apart these are at most, in radii."""
_ENTERS = 0.02
"""Part of the radius of a rod by which an obstacle may enter between stations that are chosen."""
_APART = 4.0
"""Arclength in radii below which a rod does not meet itself: its tightest turn is shorter."""


class Sides(Protocol):
    """What may touch what: rods by name and surfaces of both sides, and settings of the rods."""

    @property
    def of(self) -> tuple[Any, ...]:
        """The first side."""

    @property
    def against(self) -> tuple[Any, ...]:
        """The second side."""

    @property
    def stations(self) -> int | None:
        """Points along each rod, None to choose."""

    @property
    def radius(self) -> float | None:
        """Of the rods, None for that of their sections."""


@dataclass
class Probes:
    """Points of one item of the first side: stations in the pool, radii, what each stands for.

    part : name; s (N,) arclengths; share (N,) m of rod at each, 1 for a ball; soft (N,) compliance,
    m/N; mass (N,) kg.
    """

    part: str
    places: Ints
    radius: Array
    s: Array
    share: Array
    soft: Array
    mass: Array


class Search:
    """Rows of one contact, made with the tree, and what they find at its states.

    share, soft, mass, radii (M,) : what stands behind each row; labels : of both sides; s (M,) :
    arclengths of the stations of the first side, start of the segment for rows between rods.
    """

    def __init__(self, tree: Tree, contact: Sides) -> None:
        self.tree, self.contact = tree, contact
        self.pool = Pool(tree)
        self._balls: list[tuple[Any, ...]] = []
        self.segments: list[tuple[int, Segments]] = []
        self._rows: list[tuple[float, ...]] = []
        self.labels: list[tuple[str, str]] = []
        self._meets: list[list[int]] = []
        surfaces = [x for x in contact.against if isinstance(x, Surface)]
        for surface in surfaces:
            obstacle = -1 if surface.on is None else self.pool.add(tree.attach(surface.on))
            for item in contact.of:
                self._add_balls(self._probes(item, surface), surface, obstacle)
        self._ball_rows = len(self._rows)
        for first in (x for x in contact.of if isinstance(x, str)):
            for second in (x for x in contact.against if isinstance(x, str)):
                self._add_segments(first, second)
        self.count = len(self._rows)
        table = np.array(self._rows, dtype=float).reshape(-1, 5)
        self.share, self.soft, self.mass, self.s, self.radii = np.ascontiguousarray(table.T)

    # -- building ------------------------------------------------------------------------------

    def _probes(self, item: Any, surface: Surface | None) -> Probes:
        tree = self.tree
        if not isinstance(item, str):
            centre, _, radius, _ = item.numbers()
            on = Frame("", 0.0) if item.on is None else item.on
            side = tree.attach(_shifted(on, centre))
            heavy = float(np.sum(tree.parts[side[0]].M[:, 3])) or 1.0
            one = np.ones(1)
            places = np.array([self.pool.add(side)])
            return Probes(on.part, places, radius * one, 0.0 * one, one, 0.0 * one, heavy * one)
        s = self._stations(item, surface)
        part, rod = tree.part(item), tree.description.rods[item]
        share = np.gradient(s)
        share[[0, -1]] *= 0.5
        radius = self.radius(item, s)
        modulus = rod.stiffness(s)[:, 5] / (np.pi * radius**2)
        sides = [(tree.number_of(item), part.attach(float(x), np.eye(4))) for x in s]
        places = np.array([self.pool.add(side) for side in sides])
        mass = np.maximum(rod.mass_per_length(s) * share, 1e-300)
        return Probes(item, places, radius, s, share, 1.0 / (modulus * share), mass)

    def radius(self, name: str, s: Array) -> Array:
        """Of a rod at arclengths s (S,)."""
        given, rod = self.contact.radius, self.tree.description.rods[name]
        return rod.outline(s)[:, 0] if given is None else np.full(len(s), given)

    def _stations(self, name: str, surface: Surface | None) -> Array:
        """Arclengths of the stations of a rod: two for each element, or as many as an obstacle needs
        to enter between them by no more than a small part of the radius; between rods, which meet along
        smooth segments, some radii apart.
        """
        length, part = self.tree.description.rods[name].length, self.tree.part(name)
        count = self.contact.stations
        if count is None:
            count = 2 * len(part.map.elements) + 1
            thin = float(np.min(self.radius(name, np.array([0.0, length]))))
            most, bent = _MOST, 0.0 if surface is None else surface.numbers()[2]
            if surface is None:
                most, spacing = _MOST_SEGMENTS, _SPACING * thin
            else:
                spacing = np.sqrt(8.0 * _ENTERS * thin * bent) if bent else length
            count = min(max(count, int(np.ceil(length / spacing)) + 1, 9), most)
        return np.linspace(0.0, length, count)

    def _add_balls(self, probes: Probes, surface: Surface, obstacle: int) -> None:
        origin, axis, size, side = surface.numbers()
        kind, word = _KINDS[surface.file_name], surface.file_name
        against = word if surface.on is None else surface.on.part
        for n, place in enumerate(probes.places):
            if not self._moves(int(place), obstacle):
                continue
            self._balls.append((place, obstacle, probes.radius[n], kind, origin, axis, size, side))
            self._note(probes, n, against, [int(place), *([obstacle] if obstacle >= 0 else [])])

    def _moves(self, *places: int) -> bool:
        """Whether any of some stations of the pool can move: the base of a clamped rod cannot."""
        for place in places:
            if place < 0:
                continue
            i, station = self.pool.sides[place]
            part = self.tree.parts[i]
            at_base = part.rod is not None and part.point_s[station - len(part.mass_s)] == 0.0
            if not at_base or part.parent >= 0 or part.joint.nv:
                return True
        return False

    def _note(self, probes: Probes, n: int, against: str, meets: list[int]) -> None:
        columns = (probes.share, probes.soft, probes.mass, probes.s, probes.radius)
        self._rows.append(tuple(float(values[n]) for values in columns))
        self.labels.append((probes.part, against))
        self._meets.append(meets)

    def _add_segments(self, first: str, second: str) -> None:
        a, b = self._probes(first, None), self._probes(second, None)
        apart = _APART * float(np.max(a.radius)) if first == second else -1.0
        near = float(np.max(a.radius) + np.max(b.radius) + np.max(np.diff(a.s)))
        segments = Segments(a.places, b.places, a.radius, b.radius, a.s, b.s, apart, near)
        self.segments.append((len(self._rows), segments))
        length = np.diff(a.s)
        whole = [int(x) for x in b.places]
        for n in range(len(length)):
            soft = (a.soft[n] * a.share[n] + b.soft[0] * b.share[0]) / length[n]
            mass = a.mass[n] * length[n] / a.share[n]
            one = replace(a, share=length, soft=np.full(n + 1, soft), mass=np.full(n + 1, mass))
            self._note(one, n, second, [int(a.places[n]), int(a.places[n + 1]), *whole])

    def close(self, tree: Tree) -> None:
        """Take over the numbers of the tree."""
        self.pool.close(tree)
        columns: list[Any] = list(zip(*self._balls, strict=True)) or [()] * 8
        ints, reals = (lambda x: np.array(x, dtype=np.int64)), (lambda x: np.array(x, dtype=float))
        ball, obstacle, radius, kind, origin, axis, size, side = columns
        self.balls = Balls(
            ints(ball), ints(obstacle), reals(radius), ints(kind),
            reals(origin).reshape(-1, 3), reals(axis).reshape(-1, 3), reals(size), reals(side),
        )  # fmt: skip

    def meets(self) -> Any:
        """(M, P): whether a row may meet a station."""
        found = np.zeros((self.count, len(self.pool)), dtype=bool)
        for row, places in zip(found, self._meets, strict=True):
            row[places] = True
        return found

    # -- searching -----------------------------------------------------------------------------

    def find(self, G: Array) -> Found:
        """What is found at frames G (P, 4, 4) of the pool."""
        found = nothing_found(self.count)
        if self._ball_rows:
            run(find_balls, self.balls, G, found)
        for first, segments in self.segments:
            run(find_segments, segments, G, first, found)
        return found

    def places(self, found: Found) -> Array:
        """Arclengths (M,) on the first side of what was found."""
        s = self.s.copy()
        for first, segments in self.segments:
            rows = slice(first, first + len(segments.first) - 1)
            s[rows] += found.place[rows, 0] * np.diff(segments.s_first)
        return s

    def bend(self, G: Array, found: Found, force: Array) -> Array:
        """Second derivatives (M, 24, 24) of force (M,) . gaps, where there is a force."""
        out = np.zeros((self.count, 24, 24))
        if self._ball_rows:
            run(bend_balls, self.balls, G, force, out)
        for first, segments in self.segments:
            run(bend_segments, segments, G, first, found, force, out)
        return out


def _shifted(frame: Frame, offset: Array) -> Frame:
    """A frame moved by an offset (3,) along its own axes."""
    moved = np.array(frame.offset) + frame.pose_offset()[:3, :3] @ offset
    return Frame(frame.part, frame.s, tuple(float(x) for x in moved), frame.rotation)
