"""Connections: loops closed by a joint.

A hidden massless part hangs on frame a by the joint. Six rows hold frame b against it, at the relative
pose that the robot has at rest or that is given. They determine the coordinates of the part, so that
the matrix of coordinates and multipliers is regular though the part has no mass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.model import Connection, Frame
from pliant.physics.contract import Moment, Term
from pliant.physics.pose_rows import PoseRows
from pliant.rods.contract import Array
from pliant.tree.tree import Tree

_ALL = tuple(range(6))
_APART = 1e-3
"""Part of the length of the robot by which places that a joint connects may be apart."""


class ConnectionRows(PoseRows):
    """Frame b held against the part that the joint of a connection moves.

    Where b is in the world, the part is held against b.
    """

    compiled = True

    def __init__(self, tree: Tree, connection: Connection) -> None:
        self.connection = self.source = connection
        self.label = connection.label
        carrier = Frame(connection.name) if connection.auxiliaries else connection.a
        self._on_a = tree.attach(carrier, shared=False) if isinstance(carrier, Frame) else None
        self._on_b = tree.attach(connection.b) if isinstance(connection.b, Frame) else None
        sides = [side for side in (self._on_a, self._on_b) if side is not None]
        super().__init__(tree, _ALL, sides)

    def close(self, tree: Tree) -> None:
        super().close(tree)
        a, b, relative = self.at_rest(tree)
        self._relative = relative
        if self._on_a is None:
            self.pose = a @ relative
            return
        if self._on_b is None:
            self.pose = b
        i, station = self._on_a
        part = tree.parts[i]
        part.turn_point(station, part.point_X[station - len(part.mass_s)] @ relative)
        tree.place_rest()

    def doubts(self, tree: Tree) -> Iterator[str]:
        """Tell of a joint between frames that are apart at rest, but for where it slides."""
        given, joint = self.connection, self.connection.joint
        if given.pose is not None or not isinstance(joint, JointMap) or not joint.nv:
            return
        apart = self._relative[:3, 3]
        slides = joint.axes(joint.start())[3:]
        apart = apart - slides @ np.linalg.lstsq(slides, apart, rcond=None)[0]
        far = float(np.linalg.norm(apart))
        if far > _APART * tree.length:
            places = " and ".join(
                repr(x.part) if isinstance(x, Frame) else "the world" for x in (given.a, given.b)
            )
            yield (
                f"{given.label}: its places on {places} are {far:.3g} m apart at rest. They are joined "
                "as by a rigid arm of that length, at whose first end the joint is. Choose places that "
                "meet, or give pose=pl.pose() to bring them together"
            )

    def at_rest(self, tree: Tree) -> tuple[Array, Array, Array]:
        """Poses (4, 4) of frames a and b in the undeformed robot, and that of b in a that is held."""
        given, told = self.connection, self.connection.pose
        rest = [np.array(tree.rest.parts[i].g[station]) for i, station in self.sides]
        a = rest[0] if self._on_a is not None else np.array(given.a, dtype=float)
        if self._on_b is not None:
            b = rest[-1]
        elif given.b is not None:
            b = np.array(given.b, dtype=float)
        else:
            b = a if told is None else np.asarray(a @ np.asarray(told))
        relative = se3.inverse(a) @ b if told is None else np.array(told, dtype=float)
        return a, b, np.asarray(relative)

    def reactions(self, m: Moment) -> dict[str, Array]:
        return {self.connection.name: self.wrench(m.z)}


def terms(tree: Tree) -> list[Term]:
    """The connections of a robot."""
    return [ConnectionRows(tree, item) for item in tree.description.of(Connection).values()]
