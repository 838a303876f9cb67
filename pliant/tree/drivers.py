"""Joints that move as inputs tell them: coordinates, velocities and accelerations of one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.engine.arrays import combine
from pliant.engine.program import ask
from pliant.lie import se3
from pliant.model import Description, Moving, base_state
from pliant.model.registry import Effect
from pliant.rods.contract import Array, Ints

if TYPE_CHECKING:
    from pliant.tree.part import Part
    from pliant.tree.tree import Tree

STRIDE = 1.0
"""How far prescribed joints go in a load step and gaps of constraints close in it, rad and parts of the
length. Held rotations are known up to whole turns, so half a turn in one step would be too far.
"""
_LOOKED_AT = np.linspace(0.0, 1.0, 9).tolist()
"""Places on a way at which speeds are looked at."""
Motion = tuple[Array, Array, Array]
"""Coordinates (nq,), velocities (nv,) and accelerations (nv,) of a joint."""


class Driver(ABC):
    """Gives the motion of one joint; `inputs` are the names of the inputs that it follows."""

    inputs: tuple[str, ...]

    @abstractmethod
    def motion(self, x: Array) -> Motion:
        """The motion for inputs x (k, 3): value, rate (1/s) and acceleration (1/s^2) of each."""


class AngleDriver(Driver):
    """An input is the one coordinate of a joint."""

    def __init__(self, name: str) -> None:
        self.inputs = (name,)

    def motion(self, x: Array) -> Motion:
        return x[:, 0], x[:, 1], x[:, 2]


class MapDriver(Driver):
    """Inputs are coordinates of the map of a part."""

    def __init__(self, names: Sequence[str]) -> None:
        self.inputs = tuple(names)

    def motion(self, x: Array) -> Motion:
        return x[:, 0].copy(), x[:, 1].copy(), x[:, 2].copy()


@dataclass(frozen=True)
class Driven:
    """Prescribed coordinates of one part: those of its joint, or the last ones of its map.

    q : their place in q (nq,).  index (nv,) : their numbers.
    """

    part: Part
    driver: Driver
    joint: bool
    q: slice
    index: Ints

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        """Write the variation out (nv,) that leads from coordinates a to b."""
        if self.joint:
            ask(self.part.joint.set_difference, a, b, out)
        else:
            combine(1.0, b, -1.0, a, out)

    def twists(self, q: Array, v: Array) -> Array:
        """Body twists by which it moves what it drives; those of a map turn about the axis."""
        if self.joint:
            return np.asarray(self.part.joint.axes(q) @ v)
        found = np.zeros((len(v), 6))
        found[:, 2] = v
        return found


class BaseDriver(Driver):
    """Base motions of a clamped rod, in the order of their description."""

    def __init__(self, pose: Array, motions: list[Effect]) -> None:
        self._pose, self._motions = pose, motions
        self._out = se3.inverse(pose)
        self.inputs = tuple(motion.name for motion in motions)

    def motion(self, x: Array) -> Motion:
        rows = zip(self._motions, x.tolist(), strict=True)
        state = base_state(self._pose, [Moving(motion, *row) for motion, row in rows])
        return (self._out @ state.pose).ravel(), state.twist, state.twist_rate


def travel(twists: Callable[[float], Sequence[Array]], length: float) -> float:
    """How far frames go between t = 0 and 1 with body twists (6,) that are functions of t.

    The sum of all turns, rad, and of all shifts relative to `length`, m, at the highest speed met. Two
    turns count as two: they do not look like none, as the poses at both ends do.
    """
    sizes = [np.linalg.norm(np.reshape(twists(t), (-1, 2, 3)), axis=2) for t in _LOOKED_AT]
    return max(float(np.sum(size @ [1.0, 1.0 / length])) for size in sizes)


def drivers_of(description: Description, places: Mapping[str, Any]) -> dict[int, Driver]:
    """The drivers of all parts with prescribed joints, by number of the part."""
    drivers: dict[int, Driver] = {}
    for name, part in description.driven_joints().items():
        drivers[places[part][0]] = AngleDriver(name)
    for rod in description.rods.values():
        motions = description.motions_of(rod.name)
        if motions:
            drivers[places[rod.name][0]] = BaseDriver(np.asarray(rod.pose), motions)
    return drivers


class Prescribed:
    """The prescribed joints of a tree: what inputs, by name in the order of `names`, make of them.

    `drive` (K, 3) has value, rate (1/s) and acceleration (1/s^2) of each of these inputs.
    """

    def __init__(self, tree: Tree) -> None:
        self.names = [name for driven in tree.driven for name in driven.driver.inputs]
        self._tree = tree
        none = np.zeros(0, dtype=np.int64)
        spans = [np.arange(driven.q.start, driven.q.stop) for driven in tree.driven]
        self.q_places = np.concatenate([none, *spans])
        """Places in q of the prescribed coordinates; their numbers are `tree.prescribed`."""
        self.v_places = np.concatenate([none, *(driven.index for driven in tree.driven)])
        self.width = len(self.q_places) + 2 * len(self.v_places)

    def _motions(self, drive: Array) -> Iterator[tuple[Driven, Motion]]:
        at = 0
        for driven in self._tree.driven:
            count = len(driven.driver.inputs)
            yield driven, driven.driver.motion(drive[at : at + count])
            at += count

    def row(self, drive: Array) -> Array:
        """All coordinates, then velocities, then accelerations of the prescribed joints (width,)."""
        if not self.names:
            return np.zeros(0)
        motions = [motion for _, motion in self._motions(drive)]
        return np.concatenate(
            [values for column in zip(*motions, strict=True) for values in column]
        )

    def put(self, q: Array, drive: Array) -> Array:
        """Coordinates q (nq,) with the prescribed joints where the inputs have them."""
        if not self.names:
            return q
        out = q.copy()
        for driven, (coordinates, _, _) in self._motions(drive):
            out[driven.q] = coordinates
        return out

    def travel(self, before: Array, after: Array, length: float) -> float:
        """`travel` of the joints while their inputs go straight from one drive (K, 3) to another."""
        drive = np.zeros_like(after)
        drive[:, 1] = after[:, 0] - before[:, 0]

        def twists(t: float) -> list[Array]:
            drive[:, 0] = before[:, 0] + t * drive[:, 1]
            moving = [
                driven.twists(q, v).reshape(-1, 6) for driven, (q, v, _) in self._motions(drive)
            ]
            return list(np.concatenate(moving))

        return travel(twists, length) if drive.any() else 0.0

    def rates(self, drive: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (total,), zero but for the prescribed coordinates."""
        v, acc = np.zeros(self._tree.total), np.zeros(self._tree.total)
        for driven, (_, velocity, acceleration) in self._motions(drive):
            v[driven.index], acc[driven.index] = velocity, acceleration
        return v, acc
