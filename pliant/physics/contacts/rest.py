"""The friction of one contact at rest: what it remembers of its way, and what it does (`sticking`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.engine.program import run
from pliant.physics.contacts import assembly, sticking
from pliant.physics.contacts.found import Found
from pliant.physics.contacts.search import Search
from pliant.rods.contract import Array

INCREMENTS = 16
"""Load steps, at least, in which loads are brought up where friction acts."""
_ROUNDING = 1e-12
"""Way, relative to the longest part, by which nothing slides."""


class Grip(NamedTuple):
    """Friction in one configuration: found at the start of the step, at frames `before` (P, 4, 4);
    force and way (M, 3), slope (M, 2) as of `sticking.set_frictions`.
    """

    start: Found
    before: Array
    force: Array
    way: Array
    slope: Array


class RestFriction:
    """The friction of the M rows of a search; stiffness (M,) of surfaces that stick, N/m.

    memory : frames of the pool (P, 4, 4) at the start of a load step, frictions (M, 3) there, and which
    rows touched (M,).
    """

    def __init__(self, search: Search, mu: float, stiffness: Array) -> None:
        self.search, self.mu, self.stiffness = search, mu, stiffness
        self.near = _ROUNDING * search.tree.length
        self.frames, self.rows = len(search.pool), search.count
        self.size = 16 * self.frames + 4 * self.rows

    def parts(self, memory: Array) -> tuple[Array, Array, Array]:
        """Frames, frictions and touching rows in a memory (size,), as views."""
        a, b = 16 * self.frames, 16 * self.frames + 3 * self.rows
        return memory[:a].reshape(-1, 4, 4), memory[a:b].reshape(-1, 3), memory[b:]

    def remember(self, memory: Array, G: Array, given: Array, touching: Array) -> None:
        """Begin a load step at frames G (P, 4, 4) with frictions (M, 3) of rows that touch (M,)."""
        frames, force, rubs = self.parts(memory)
        frames[...], rubs[...] = G, touching
        force[...] = given * np.asarray(touching)[:, None]
        sticking.turn_frictions(self.search.find(G).normal, force)

    def at(self, memory: Array, G: Array, normal: Array) -> Grip:
        """Friction at frames G (P, 4, 4) with normal forces (M,)."""
        before, given, rubs = self.parts(memory)
        start, limit = self.search.find(before), np.zeros(self.rows)
        force, way = np.zeros((self.rows, 3)), np.zeros((self.rows, 3))
        slope = np.zeros((self.rows, 2))
        run(sticking.set_limits, self.mu, normal, rubs, limit)
        law = (limit, self.stiffness, self.near, force, way, slope)
        run(sticking.set_frictions, start, before, G, given, *law)
        return Grip(start, before, force, way, slope)

    def pulls(self, grip: Grip, G: Array, vectors: Array) -> Array:
        """Gradients (M, 4, 6) in the twists of the stations for vectors (M, 3) on the first surface."""
        out = np.zeros((self.rows, 4, 6))
        run(sticking.set_pulls, grip.start, grip.before, G, vectors, out)
        return out

    def add(self, grip: Grip, G: Array, out: Array) -> None:
        """Add its gradients to those of the stations, out (P, 6)."""
        pulls = self.pulls(grip, G, grip.force)
        run(assembly.add_wrenches, grip.start.at, pulls, np.ones(self.rows), out)

    def bend(self, grip: Grip, G: Array) -> Array:
        """Its derivative (M, 24, 24) at constant normal forces."""
        out = np.zeros((self.rows, 24, 24))
        where = (grip.start, grip.before, G, grip.force, grip.way, grip.slope)
        run(sticking.bend_pulls, *where, out)
        return out
