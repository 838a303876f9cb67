"""Weight of sections and rigid bodies.

A mass m at a frame g = (R, p) has the potential -m G.p. Its gradient in the body frame is -(0, f) with
f = m R^T G, and the derivative of that in the chart g exp(x) is 1/2 [[0, f^], [-f^, 0]].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.lie.leaves import add_hat
from pliant.physics.contract import KernelTerm, Moment, Sections, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class Gravity(KernelTerm):
    """The weight of the whole robot; its input is the gravity (3,), m/s^2."""

    compiled = True
    smooth = True
    column = "gravity"
    size = 3

    def __init__(self, tree: Tree) -> None:
        self.always = tree.description.gravity

    def numbers(self, value: Any) -> Array:
        return np.asarray(value, dtype=float)

    def _add(self, state: State, work: Work, u: Array, scale: float, tangent: bool) -> None:
        if not np.any(self.always):
            return
        for mass, at, w in zip(self.masses, state.parts, work.parts, strict=True):
            if len(mass):
                run(add_weight, at.g, mass, u[self.at], scale, tangent, w.p, w.k)
                w.mass = True

    def act(self, m: Moment) -> None:
        self._add(m.state, m.work, m.u, 1.0, m.tangent is not None)

    def acceleration(self, u: Array) -> Array:
        return u[self.at]

    def leave(self, step: Step) -> None:
        self._add(step.a, step.work, step.u, step.h * step.first, False)

    def arrive(self, step: Step) -> None:
        wanted = step.tangent is not None
        self._add(step.b, step.work, step.u, -step.h * (1.0 - step.first), wanted)

    def close(self, tree: Tree) -> None:
        self.tree = tree
        self.masses = [part.M[:, 3].copy() for part in tree.parts]
        """Per part, masses (N,) at its inertial stations, kg."""

    def refill(self, tree: Tree) -> bool:
        self.always = tree.description.gravity
        for mass, part in zip(self.masses, tree.parts, strict=True):
            mass[...] = part.M[:, 3]
        return True

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        rod = self.tree.parts[i].rod
        assert rod is not None
        out = np.zeros((len(s), 6))
        weight = np.einsum("sji,j->si", sections.g[:, :3, :3], u[self.at])
        out[:, 3:] = rod.mass_per_length(s)[:, None] * weight
        return out

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        out = []
        for i, part in enumerate(self.tree.parts):
            for station in range(len(part.mass_w), part.inertial):
                force = part.M[station, 3] * state.parts[i].g[station, :3, :3].T @ u[self.at]
                out.append((i, station, np.concatenate([np.zeros(3), force])))
        return out

    def symbolic(self, x: Symbols) -> None:
        g = x.number(self.tree.description, "gravity")
        for station in x.stations():
            x.store(-station.mass * x.math.dot(g, station.place.p))

    def energy(self, state: State, u: Array) -> float:
        parts = zip(self.masses, state.parts, strict=True)
        return -sum(float(mass @ (at.g[: len(mass), :3, 3] @ u[self.at])) for mass, at in parts)


def terms(tree: Tree) -> list[Term]:
    """The weight of a robot."""
    return [Gravity(tree)]


@kernel
def add_weight(g, mass, gravity, scale, tangent, p, k):  # type: ignore[no-untyped-def]
    """Add scale times the gradient to p (F, 6) and, if `tangent`, its derivative to k (F, 6, 6).

    g (F, 4, 4) frames, mass (N,) of the first of them, gravity (3,) in the world.
    """
    G0, G1, G2 = scale * gravity[0], scale * gravity[1], scale * gravity[2]
    if G0 == 0.0 and G1 == 0.0 and G2 == 0.0:
        return
    for s in range(mass.shape[0]):
        R, m = g[s], mass[s]
        f0 = m * (R[0, 0] * G0 + R[1, 0] * G1 + R[2, 0] * G2)
        f1 = m * (R[0, 1] * G0 + R[1, 1] * G1 + R[2, 1] * G2)
        f2 = m * (R[0, 2] * G0 + R[1, 2] * G1 + R[2, 2] * G2)
        p[s, 3] -= f0
        p[s, 4] -= f1
        p[s, 5] -= f2
        if tangent:
            add_hat(k[s], 0, 3, f0, f1, f2, 0.5)
            add_hat(k[s], 3, 0, f0, f1, f2, -0.5)
