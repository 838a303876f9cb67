"""Bushings: springs and dampers for single directions of a frame, see `link_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import Bushing, Frame
from pliant.model.places import DIRECTIONS
from pliant.model.via_points import KINDS
from pliant.physics.contract import Moment, Term
from pliant.physics.two_frames import TwoFrameTerm
from pliant.tree.tree import Tree


class BushingTerm(TwoFrameTerm):
    """A bushing on one tree."""

    compiled = True
    smooth = True

    def __init__(self, tree: Tree, bushing: Bushing) -> None:
        self.bushing, self.name = bushing, bushing.name
        to = np.eye(4) if bushing.to is None else bushing.to
        self.attach(tree, (to if isinstance(to, Frame) else np.asarray(to), bushing.on))
        self.used = np.array(bushing.used, dtype=np.int64)
        self.turns = np.tile(np.eye(4), (2, 1, 1))

    def close(self, tree: Tree) -> None:
        given = self.bushing
        if given.to is None:
            self._fixed[0] = self.frames(tree.rest)[1]
        self.rule = np.zeros((7, 6))
        self.rule[5] = given.power
        initial = self.strain(tree.rest)
        for k, name in enumerate(DIRECTIONS):
            self.rule[0, k] = given.given("stiffness").get(name, 0.0)
            self.rule[1, k] = given.given("damping").get(name, 0.0)
            self.rule[2, k] = given.given("rest").get(name, initial[k])
            self.rule[3, k] = KINDS.index(given.given("kinds").get(name, KINDS[0]))
        self.needs_twists = bool(self.rule[1].any())

    def readings(self, m: Moment) -> dict[str, Any]:
        """Forces (6,) on its frame `on`, N m and N, along its directions; and its values, rad and m."""
        g, pull = self.frames(m.state), self.gradient(m)[1].reshape(2, 3)
        turn = g[0, :3, :3].T @ g[1, :3, :3]
        return {"force": -(pull @ turn.T).ravel(), "displacement": self.strain(m.state)}


def terms(tree: Tree) -> list[Term]:
    """The bushings of a robot."""
    return [BushingTerm(tree, bushing) for bushing in tree.description.of(Bushing).values()]
