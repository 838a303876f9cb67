"""A configuration of the whole robot as a value: coordinates, frames and strains at all stations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.lie import se3
from pliant.rods.contract import Array, Configuration, Plan
from pliant.tree.collect import carry
from pliant.tree.part import Part

if TYPE_CHECKING:
    from pliant.tree.tree import Tree


class PartState:
    """One part of a state.

    g (F, 4, 4) and J (F, 6, m) of all frame stations; `strain` and `inner` are plans of strains, e and
    B. `mass` and `points` are the plans of the sections behind g and J; a shared rule has one plan.
    inward (6, 6) is the twist of the base for that of the frame that carries it, S (6, nv) for the
    velocities of the joint.
    """

    def __init__(self, part: Part) -> None:
        rod_map = part.map
        self.part = part
        self.c: Configuration = rod_map.configuration()
        self.strain: Plan = rod_map.strains(part.strain_s)
        self.mass: Plan = self.strain if part.one_rule else rod_map.frames(part.mass_s)
        self.points: Plan = rod_map.frames(part.points_s)
        self.inner: Plan = rod_map.strains(np.asarray(part.inner_s))
        Q, P = len(part.mass_s), len(part.point_s)
        self.element = np.concatenate([self.mass.element, self.points.element])
        self.g = np.tile(np.eye(4), (Q + P, 1, 1))
        self.J = np.zeros((Q + P, 6, rod_map.m))
        # the map writes the first rows of the same arrays
        self.mass.g, self.mass.J = self.g[:Q], self.J[:Q]
        self.point_g, self.point_J = self.g[Q:], self.J[Q:]
        self.inward = np.eye(6)
        self.S = part.joint.axes(part.joint.rest())

    def place(self, carrier: Array | None, q: Array) -> None:
        """Set base, strains and points for the pose (4, 4) of the carrying frame, None: the world."""
        part, rod_map = self.part, self.part.map
        pose = part.pose
        if part.joint.nq:
            joint = q[part.joint_slice]
            pose = pose @ part.joint.pose(joint)
            self.S = part.joint.axes(joint)
        if carrier is not None:
            self.inward = np.asarray(se3.Ad(se3.inverse(pose)))
            pose = carrier @ pose
        rod_map.update(self.c, pose, q[part.q_slice])
        if part.one_rule:
            rod_map.frame_and_strain(self.strain, self.c)
        else:
            rod_map.strain(self.strain, self.c)
        if part.inner_s:
            rod_map.strain(self.inner, self.c)
        if len(part.stations):
            points = self.points
            rod_map.frame(points, self.c)
            carry(points.g, points.J, part.point_X, part.point_A, self.point_g, self.point_J)

    def place_mass(self) -> None:
        """Set the frames of the mass stations."""
        if not self.part.one_rule:
            self.part.map.frame(self.mass, self.c)


class State:
    """The robot at one configuration. `place` moves it to another one; it belongs to one thread.

    Frames of the mass stations are computed when `frames` asks for them.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.q = np.zeros(tree.nq)
        self.parts = [PartState(part) for part in tree.parts]
        self._mass = False
        self._jacobians: dict[tuple[int, int], Array] = {}

    def place(self, q: Array) -> State:
        """Move to coordinates q (nq,)."""
        self.q = q
        self._mass = False
        self._jacobians.clear()
        for at in self.parts:
            part = at.part
            at.place(None if part.parent < 0 else self.parts[part.parent].g[part.mount], q)
        return self

    def frames(self) -> State:
        """Make sure that the frames of the mass stations are there."""
        if not self._mass:
            for at in self.parts:
                at.place_mass()
            self._mass = True
        return self

    def frame_jacobian(self, i: int, station: int) -> Array:
        """Twist (6, c) of a frame station of part i in the numbers of `tree.frame_columns`."""
        key = (i, station)
        found = self._jacobians.get(key)
        if found is None:
            found = self._jacobians[key] = self._frame_jacobian(i, station)
        return found

    def frames_jacobian(self, sides: list[tuple[int, int]]) -> Array:
        """Twists (6 K, c) of K frame stations, one below the other, in the numbers of all of them."""
        blocks = [self.frame_jacobian(*side) for side in sides]
        out, column = np.zeros((6 * len(blocks), sum(x.shape[1] for x in blocks))), 0
        for a, block in enumerate(blocks):
            out[6 * a : 6 * a + 6, column : column + block.shape[1]] = block
            column += block.shape[1]
        return out

    def _frame_jacobian(self, i: int, station: int) -> Array:
        at, part = self.parts[i], self.tree.parts[i]
        e = at.element[station]
        E, n = part.map.elements.shape
        rows, lifted = np.zeros((E, 6, part.map.m)), np.zeros((E, 6, n))
        rows[e] = at.J[station]
        part.map.lift_rows(at.c, rows, lifted)
        entries, based = self.tree.frame_entries(i, station)
        own = lifted[e][:, entries]
        if not based:
            return own
        return np.concatenate([own, lifted[e][:, :6] @ self.base_jacobian(i)], axis=1)

    def base_jacobian(self, i: int) -> Array:
        """Twist (6, b) of the base of part i in the numbers of `tree.base_columns`."""
        part, at = self.tree.parts[i], self.parts[i]
        if part.parent < 0:
            return at.S
        carried = at.inward @ self.frame_jacobian(part.parent, part.mount)
        return np.concatenate([carried, at.S], axis=1)
