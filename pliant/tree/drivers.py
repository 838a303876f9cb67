"""Joints that move as inputs tell them: coordinates, velocities and accelerations of one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.lie import se3
from pliant.model import Description, Moving, base_state
from pliant.model.registry import Effect
from pliant.rods.contract import Array

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
        self.names = [name for driver in tree.drivers.values() for name in driver.inputs]
        self._tree = tree
        parts = [tree.parts[i] for i in tree.drivers]
        none = np.zeros(0, dtype=np.int64)
        spans = [np.arange(part.joint_slice.start, part.joint_slice.stop) for part in parts]
        self.q_places = np.concatenate([none, *spans])
        """Places in q of the prescribed coordinates; their numbers are `tree.prescribed`."""
        self.v_places = np.concatenate([none, *(part.joint_index for part in parts)])
        self.width = len(self.q_places) + 2 * len(self.v_places)
        at, self._rows = 0, {}
        for i, driver in tree.drivers.items():
            self._rows[i] = slice(at, at + len(driver.inputs))
            at += len(driver.inputs)

    def _motions(self, drive: Array) -> Iterator[tuple[Part, Motion]]:
        tree = self._tree
        for i, driver in tree.drivers.items():
            yield tree.parts[i], driver.motion(drive[self._rows[i]])

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
        for part, (coordinates, _, _) in self._motions(drive):
            out[part.joint_slice] = coordinates
        return out

    def travel(self, before: Array, after: Array, length: float) -> float:
        """`travel` of the joints while their inputs go straight from one drive (K, 3) to another."""
        drive = np.zeros_like(after)
        drive[:, 1] = after[:, 0] - before[:, 0]

        def twists(t: float) -> list[Array]:
            drive[:, 0] = before[:, 0] + t * drive[:, 1]
            return [part.joint.axes(q) @ v for part, (q, v, _) in self._motions(drive)]

        return travel(twists, length) if drive.any() else 0.0

    def rates(self, drive: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (total,), zero but for the prescribed coordinates."""
        v, acc = np.zeros(self._tree.total), np.zeros(self._tree.total)
        for part, (_, velocity, acceleration) in self._motions(drive):
            v[part.joint_index], acc[part.joint_index] = velocity, acceleration
        return v, acc
