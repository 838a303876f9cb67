"""Joints that move as inputs tell them: coordinates, velocities and accelerations of one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import block_diag

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
Affine = tuple[Array, Array, Array]
"""Coordinates (c,) at inputs of zero, and what k inputs add to them (k, c) and, by their rates and
accelerations, to velocities and accelerations (k, v)."""


class Driver(ABC):
    """Gives the motion of coordinates of one joint; `inputs` are the names of the inputs it follows.

    coordinates, velocities : which ones of the joint it prescribes.
    """

    inputs: tuple[str, ...]
    coordinates: Ints
    velocities: Ints

    affine: Affine | None = None
    """The same in one product, where the motion is that simple."""

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
        if joint.additive:
            unit = np.eye(len(self.inputs))
            self.affine = np.zeros(len(unit)), unit, unit

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
        shifts = [motion.shifts_base_along() for motion in motions]
        if None not in shifts:
            self.affine = _shifts(np.array(shifts, dtype=float) @ pose[:3, :3])

    def motion(self, x: Array) -> Motion:
        rows = zip(self._motions, x.tolist(), strict=True)
        state = base_state(self._pose, [Moving(motion, *row) for motion, row in rows])
        return (self._out @ state.pose).ravel(), state.twist, state.twist_rate


def _shifts(directions: Array) -> Affine:
    """Motions of a base along directions (k, 3) in its own frame."""
    pose, twist = np.zeros((len(directions), 4, 4)), np.zeros((len(directions), 6))
    pose[:, :3, 3], twist[:, 3:] = directions, directions
    return np.eye(4).ravel(), pose.reshape(-1, 16), twist


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
    moved = description.all_motions()
    for i, part in enumerate(parts):
        if part.joint.prescribed:
            drivers[i] = JointDriver(part.joint, part.name)
        if part.name in moved:
            drivers[i] = BaseDriver(part.pose, moved[part.name])
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

    @cached_property
    def _affine(self) -> Affine | None:
        """The motion of all prescribed joints as one `Affine`, None if it is not that simple."""
        blocks = [driver.affine for driver in self._tree.drivers.values()]
        units = [np.eye(len(places)) for places, _ in self.maps]
        known = [block for block in blocks if block is not None]
        if len(known) < len(blocks):
            return None
        known += [(np.zeros(len(unit)), unit, unit) for unit in units]
        starts, values, rates = zip(*known, strict=True)
        return np.concatenate(starts), block_diag(*values), block_diag(*rates)

    def rows(self, drives: Array) -> Array:
        """All coordinates, then velocities, then accelerations of the prescribed joints (T, width), for
        T drives (T, K, 3).
        """
        if not self.names:
            return np.zeros((len(drives), 0))
        if self._affine is None:
            return np.array([self._row(drive) for drive in drives]).reshape(len(drives), self.width)
        start, values, rates = self._affine
        x = drives.transpose(2, 0, 1)
        return np.concatenate([start + x[0] @ values, x[1] @ rates, x[2] @ rates], axis=1)

    def row(self, drive: Array) -> Array:
        """One row (width,) of `rows`, for a drive (K, 3)."""
        return self.rows(drive[None])[0]

    def _row(self, drive: Array) -> Array:
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
        out[self.q_places] = self.row(drive)[: len(self.q_places)]
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
        v[self.v_places], acc[self.v_places] = np.split(self.row(drive)[len(self.q_places) :], 2)
        return v, acc


def _map_places(part: Part) -> tuple[Ints, Ints]:
    """Places in q of the coordinates of its map that inputs prescribe, and their numbers."""
    end = part.q_slice.stop
    return np.arange(end - len(part.map.inputs), end), part.x_index[part.map.prescribed]
