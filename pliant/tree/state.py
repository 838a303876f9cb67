"""A configuration of the whole robot as a value: coordinates, frames and strains at all stations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import Program, Recurring, ask, recorder, run
from pliant.rods.contract import Array, Configuration, Plan, identities
from pliant.tree.collect import carry
from pliant.tree.joint_kernels import place_base, spread_frame_jacobian, stack_jacobian, write_block
from pliant.tree.part import Part

if TYPE_CHECKING:
    from pliant.tree.tree import Tree

_WORLD = np.eye(4)
_APART = 0.3
"""By how much joints are moved to see whether they are the same, rad and m."""
_SAME = 1e-12
"""Difference of poses and strains that counts as none, m and rad/m."""


class PartState:
    """One part of a state.

    g (F, 4, 4) and J (F, 6, m) of all frame stations; `strain` and `inner` are plans of strains, e and
    B. `mass` and `points` are the plans of the sections behind g and J; a shared rule has one plan.
    inward (6, 6) is the twist of the base for that of the frame that carries it, S (6, nv) for the
    velocities of the joint. q (nq,) and joint_q (nq,) are the coordinates of map and joint, `carrier`
    (4, 4) is the frame that carries the part, turn (4, 4) the pose of its joint.
    """

    def __init__(self, part: Part, q: Array, carrier: Array) -> None:
        rod_map = part.map
        self.part = part
        self.q, self.joint_q, self.carrier = q[part.q_slice], q[part.joint_slice], carrier
        self.c: Configuration = rod_map.configuration()
        self.strain: Plan = rod_map.strains(part.strain_s)
        centres = rod_map.centres(part.mass_s) if part.centred else None
        self.mass: Plan = centres or (self.strain if part.one_rule else rod_map.frames(part.mass_s))
        self.points: Plan = rod_map.frames(part.points_s)
        self.inner: Plan = rod_map.strains(np.asarray(part.inner_s))
        Q, P = len(part.mass_s), len(part.point_s)
        self.element = np.concatenate([self.mass.element, self.points.element])
        self.g = identities(Q + P)
        self.J = np.zeros((Q + P, 6, rod_map.m))
        self.J[:Q] = self.mass.J
        self.mass.grounded = part.grounded
        # the map writes the first rows of the same arrays
        self.mass.g, self.mass.J = self.g[:Q], self.J[:Q]
        self.point_g, self.point_J = self.g[Q:], self.J[Q:]
        self.base, self.turn, self.inward, self.pose = np.eye(4), np.eye(4), np.eye(6), np.eye(4)
        self.S = np.array(part.joint.axes(part.joint.start()), dtype=float, order="C")

    def same_shape(self, other: PartState) -> bool:
        """Whether a part of another robot has the same place, strains and joint as it is placed."""
        mine, theirs = self.part, other.part
        named, theirs_named = ((x.name, x.parent, type(x.joint)) for x in (mine, theirs))
        moved = [
            x.joint.pose(x.joint.retract(x.joint.start(), np.full(x.joint.nv, _APART)))
            for x in (mine, theirs)
        ]
        lengths = [0.0 if x.rod is None else x.rod.length for x in (mine, theirs)]
        values: list[Any] = [
            (self.base, other.base),
            (self.strain.e, other.strain.e),
            moved,
            lengths,
        ]
        return named == theirs_named and all(
            np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-9, _SAME) for a, b in values
        )

    def place_base(self) -> None:
        """Set the pose of the base from the frame that carries it and the coordinates of the joint."""
        part = self.part
        if part.joint.nq:
            ask(part.joint.place, self.joint_q, self.turn, self.S)
        given = (self.carrier, part.pose, self.turn)
        run(place_base, *given, self.pose, self.base, self.inward)

    def place(self) -> None:
        """Set strains and frames, from the base on."""
        part, rod_map = self.part, self.part.map
        ask(rod_map.update, self.c, self.base, self.q)
        if part.one_rule:
            ask(rod_map.frame_and_strain, self.strain, self.c)
        else:
            ask(rod_map.strain, self.strain, self.c)
            ask(rod_map.frame, self.mass, self.c)
        if part.inner_s:
            ask(rod_map.strain, self.inner, self.c)
        if len(part.stations):
            points = self.points
            ask(rod_map.frame, points, self.c)
            run(carry, points.g, points.J, part.point_X, part.point_A, self.point_g, self.point_J)


class State:
    """The robot at one configuration. `place` moves it to another one; it belongs to one thread."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.q = np.zeros(tree.nq)
        self.parts: list[PartState] = []
        for part in tree.parts:
            carrier = _WORLD if part.parent < 0 else self.parts[part.parent].g[part.mount]
            self.parts.append(PartState(part, self.q, carrier))
        self._placing = Recurring(self._place, plain=2)
        self._jacobians: dict[tuple[int, int], Array] = {}
        self._known: tuple[Program | None, set[tuple[int, int]]] = (None, set())

    def place(self, q: Array) -> State:
        """Move to coordinates q (nq,)."""
        if q is not self.q:
            copy(q, self.q)
        self.renew()
        self._placing()
        return self

    def arrays(self) -> list[Any]:
        """What holds its arrays, in the same order for every state of a robot."""
        return [self.q, *(vars(at) for at in self.parts)]

    def _place(self) -> None:
        for at in self.parts:
            at.place_base()
            at.place()

    def renew(self) -> None:
        """Forget what was computed for the frames that were placed before."""
        self._known = (recorder(), set())

    def frame_jacobian(self, i: int, station: int) -> Array:
        """Twist (6, c) of a frame station of part i in the numbers of `tree.frame_columns`.

        In a program it is computed once after the state was placed.
        """
        key, known = (i, station), self._known
        if recorder() is None or known[0] is not recorder():
            self._known = known = (recorder(), set())
        if key not in known[1]:
            known[1].add(key)
            self._set_frame_jacobian(i, station)
        return self._jacobians[key]

    def frames_jacobian(self, sides: list[tuple[int, int]]) -> Array:
        """Twists (6 K, c) of K frame stations, one below the other, in the numbers of all of them."""
        blocks = [self.frame_jacobian(*side) for side in sides]
        out, column = np.zeros((6 * len(blocks), sum(x.shape[1] for x in blocks))), 0
        for a, block in enumerate(blocks):
            run(write_block, block, 6 * a, column, out)
            column += block.shape[1]
        return out

    def _set_frame_jacobian(self, i: int, station: int) -> None:
        at, part = self.parts[i], self.tree.parts[i]
        e = at.element[station]
        E, n = part.map.elements.shape
        rows, lifted = np.zeros((E, 6, part.map.m)), np.zeros((E, 6, n))
        copy(at.J[station], rows[e])
        ask(part.map.lift_rows, at.c, rows, lifted)
        entries, based = self.tree.frame_entries(i, station)
        above = self.base_jacobian(i) if based else np.zeros((6, 0))
        key = (i, station)
        if key not in self._jacobians:
            self._jacobians[key] = np.zeros((6, len(entries) + above.shape[1]))
        run(spread_frame_jacobian, lifted[e], entries, above, self._jacobians[key])

    def base_jacobian(self, i: int) -> Array:
        """Twist (6, b) of the base of part i in the numbers of `tree.base_columns`."""
        part, at = self.tree.parts[i], self.parts[i]
        if part.parent < 0:
            return at.S
        carried = self.frame_jacobian(part.parent, part.mount)
        out = np.zeros((6, carried.shape[1] + part.joint.nv))
        run(stack_jacobian, at.inward, carried, at.S, out)
        return out
