"""Joints that move as inputs tell them: coordinates, velocities and accelerations of one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.joints.contract import JointMap
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
"""Prescribed coordinates of a joint, their velocities and accelerations."""


class Driver(ABC):
    """Gives the motion of coordinates of one joint; `inputs` are the names of the inputs it follows.

    coordinates, velocities : which ones of the joint it prescribes.
    """

    inputs: tuple[str, ...]
    coordinates: Ints
    velocities: Ints

    @abstractmethod
    def motion(self, x: Array) -> Motion:
        """The motion for inputs x (k, 3): value, rate (1/s) and acceleration (1/s^2) of each."""


class JointDriver(Driver):
    """Inputs are values of a joint: some of its coordinates, or all of a joint that has no such."""

    def __init__(self, joint: JointMap, part: str) -> None:
        self._joint = joint
        self.inputs = tuple(joint.motion_inputs(part))
        self.velocities = np.array(joint.prescribed, dtype=np.int64)
        whole = np.arange(joint.nq, dtype=np.int64)
        self.coordinates = self.velocities if joint.additive else whole

    def motion(self, x: Array) -> Motion:
        if self._joint.additive:
            return x[:, 0], x[:, 1], x[:, 2]
        return self._joint.motion(x)


class BaseDriver(Driver):
    """Base motions of a clamped rod, in the order of their description."""

    def __init__(self, pose: Array, motions: list[Effect]) -> None:
        self._pose, self._motions = pose, motions
        self._out = se3.inverse(pose)
        self.inputs = tuple(motion.name for motion in motions)
        self.coordinates, self.velocities = np.arange(16), np.arange(6)

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


def drivers_of(description: Description, parts: Sequence[Part]) -> dict[int, Driver]:
    """The drivers of all parts with prescribed joints, by number of the part."""
    drivers: dict[int, Driver] = {}
    for i, part in enumerate(parts):
        if part.joint.prescribed:
            drivers[i] = JointDriver(part.joint, part.name)
        motions = description.motions_of(part.name)
        if motions:
            drivers[i] = BaseDriver(part.pose, motions)
    return drivers


class Prescribed:
    """The prescribed joints of a tree: what inputs, by name in the order of `names`, make of them.

    `drive` (K, 3) has value, rate (1/s) and acceleration (1/s^2) of each of these inputs.
    """

    def __init__(self, tree: Tree) -> None:
        self.names = [name for driver in tree.drivers.values() for name in driver.inputs]
        self._joints = len(self.names)
        self.names += [name for part in tree.driven_maps for name in part.map.inputs]
        self._tree = tree
        none, driven = np.zeros(0, dtype=np.int64), list(tree.drivers.items())
        spans = [tree.parts[i].joint_slice.start + x.coordinates for i, x in driven]
        self.maps = [_map_places(part) for part in tree.driven_maps]
        """Of maps with prescribed coordinates: their places in q, and their numbers."""
        self.q_places = np.concatenate([none, *spans, *(places for places, _ in self.maps)])
        """Places in q of the prescribed coordinates; their numbers are `tree.prescribed`."""
        numbers = [tree.parts[i].joint_index[x.velocities] for i, x in driven]
        self.v_places = np.concatenate([none, *numbers, *(own for _, own in self.maps)])
        self.width = len(self.q_places) + 2 * len(self.v_places)
        at, self._rows = 0, {}
        for i, driver in tree.drivers.items():
            self._rows[i] = slice(at, at + len(driver.inputs))
            at += len(driver.inputs)

    def _motions(self, drive: Array) -> Iterator[tuple[int, Motion]]:
        for i, driver in self._tree.drivers.items():
            yield i, driver.motion(drive[self._rows[i]])

    def row(self, drive: Array) -> Array:
        """All coordinates, then velocities, then accelerations of the prescribed joints (width,)."""
        if not self.names:
            return np.zeros(0)
        motions = [motion for _, motion in self._motions(drive)]
        motions.append(tuple(drive[self._joints :].T))
        return np.concatenate(
            [values for column in zip(*motions, strict=True) for values in column]
        )

    def put(self, q: Array, drive: Array) -> Array:
        """Coordinates q (nq,) with the prescribed joints where the inputs have them."""
        if not self.names:
            return q
        out = q.copy()
        for i, (coordinates, _, _) in self._motions(drive):
            out[self._tree.parts[i].joint_slice][self._tree.drivers[i].coordinates] = coordinates
        first = self._joints
        for places, _ in self.maps:
            out[places] = drive[first : first + len(places), 0]
            first += len(places)
        return out

    def travel(self, before: Array, after: Array, length: float) -> float:
        """`travel` of the joints while their inputs go straight from one drive (K, 3) to another."""
        drive = np.zeros_like(after)
        drive[:, 1] = after[:, 0] - before[:, 0]

        def twists(t: float) -> list[Array]:
            drive[:, 0] = before[:, 0] + t * drive[:, 1]
            turns = np.zeros((len(drive) - self._joints, 6))
            turns[:, 2] = drive[self._joints :, 1]
            return [*(self._twist(i, q, v) for i, (q, v, _) in self._motions(drive)), *turns]

        return travel(twists, length) if drive.any() else 0.0

    def _twist(self, i: int, q: Array, v: Array) -> Array:
        """Body twist (6,) of joint i, whose other coordinates are those of the undeformed robot."""
        joint, driver = self._tree.parts[i].joint, self._tree.drivers[i]
        all_q, all_v = joint.start(), np.zeros(joint.nv)
        all_q[driver.coordinates], all_v[driver.velocities] = q, v
        return np.asarray(joint.axes(all_q) @ all_v)

    def rates(self, drive: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (total,), zero but for the prescribed coordinates."""
        v, acc = np.zeros(self._tree.total), np.zeros(self._tree.total)
        for i, (_, velocity, acceleration) in self._motions(drive):
            places = self._tree.parts[i].joint_index[self._tree.drivers[i].velocities]
            v[places], acc[places] = velocity, acceleration
        first = self._joints
        for _, numbers in self.maps:
            _, v[numbers], acc[numbers] = drive[first : first + len(numbers)].T
            first += len(numbers)
        return v, acc


def _map_places(part: Part) -> tuple[Ints, Ints]:
    """Places in q of the coordinates of its map that inputs prescribe, and their numbers."""
    end = part.q_slice.stop
    return np.arange(end - len(part.map.inputs), end), part.x_index[part.map.prescribed]
