"""States at knots: read from a solved mesh, and interpolated between the knots."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp.chain import Chain, natural_poses
from pliant.bvp.contract import State, blank_state
from pliant.bvp.mesh import Mesh
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints


class Knots:
    """The ends of a mesh's intervals as knots: N + pieces of them."""

    def __init__(self, mesh: Mesh) -> None:
        interval, end = [], []
        for a, b in zip(mesh.first[:-1], mesh.first[1:], strict=True):
            interval += [*range(a, b), b - 1]
            end += [0] * (b - a) + [1]
        self.interval: Ints = np.array(interval)
        self.end: Ints = np.array(end)
        self.piece: Ints = mesh.piece[self.interval]
        self.s = mesh.s[self.interval, 2 * self.end]
        self.mesh = mesh

    def state(self, nodes: Array, c0: float) -> State:
        """Return a solved sweep (N, 2, 24) as a state; the mesh still has its law and history."""
        found = blank_state(self.piece, self.s)
        rows = nodes[self.interval, self.end]
        P = self.mesh.arrays.stages[self.interval, 2 * self.end]
        found.wrench = rows[:, :6].copy()
        found.velocity = rows[:, 6:12].copy()
        found.pose[:, :3, 3] = rows[:, 12:15]
        found.pose[:, :3, :3] = rows[:, 15:].reshape(-1, 3, 3)
        found.strain = P[:, 6:12] + P[:, :6] * found.wrench
        found.strain_rate = c0 * found.strain + P[:, 12:18]
        return found

    def nodes(self, state: State) -> Array:
        """Return a state, whose knots may be others, as nodes (N, 2, 24) of this mesh."""
        nodes = np.zeros((self.mesh.N, 2, 24))
        here = interpolated(state, self.piece, self.s)
        rows = np.concatenate(
            [
                here.wrench,
                here.velocity,
                here.pose[:, :3, 3],
                here.pose[:, :3, :3].reshape(-1, 9),
            ],
            axis=1,
        )
        first = np.flatnonzero(self.end == 0)
        nodes[:, 0], nodes[:, 1] = rows[first], rows[first + 1]
        return nodes

    def stages(self, state: State) -> tuple[Array, Array]:
        """Return strains and velocities (N, 3, 6) of a state at the stages of this mesh."""
        mesh = self.mesh
        piece = np.repeat(mesh.piece, 3)
        found = interpolated(state, piece, mesh.s.ravel())
        shape = (mesh.N, 3, 6)
        return found.strain.reshape(shape), found.velocity.reshape(shape)


def rest_state(chain: Chain, base: Array, count: int = 65) -> State:
    """Return the unloaded chain with its base at pose `base` (4, 4), `count` knots on each piece."""
    pieces = chain.pieces
    places = [np.linspace(p.a, p.b, count) for p in pieces]
    found = blank_state(np.repeat(np.arange(len(pieces)), count), np.concatenate(places))
    g = np.array(base)
    for k, piece in enumerate(pieces):
        for event in piece.before:
            g = g @ event.pose
        rows = slice(k * count, (k + 1) * count)
        found.pose[rows] = natural_poses(piece.rod, g, places[k])
        found.strain[rows] = piece.rod.natural_strain(places[k])
        g = found.pose[rows][-1]
    return found


def interpolated(state: State, piece: Ints, s: Array) -> State:
    """Return the state at other places: arclengths s (S,) on pieces (S,).

    Wrench, strain and velocity by cubic splines within each piece, poses by cubic curves on SE(3)
    that have the strains at the knots as slopes.
    """
    found = blank_state(np.asarray(piece), np.asarray(s, dtype=float))
    for k in np.unique(piece):
        rows, knots = np.flatnonzero(piece == k), np.flatnonzero(state.piece == k)
        at, x = found.s[rows], state.s[knots]
        for name in ("wrench", "strain", "velocity", "strain_rate"):
            getattr(found, name)[rows] = CubicSpline(x, getattr(state, name)[knots])(at)
        left = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
        found.pose[rows] = _between(state, knots[left], knots[left + 1], at)
    return found


def _between(state: State, a: Ints, b: Ints, s: Array) -> Array:
    """Poses (S, 4, 4) at s between knots a and b (S,)."""
    h = state.s[b] - state.s[a]
    t = ((s - state.s[a]) / h)[:, None]
    first, slope = state.pose[a], state.strain[a] * h[:, None]
    whole = se3.log(se3.inverse(first) @ state.pose[b])
    end = np.einsum("sij,sj->si", se3.dexp_inverse(whole), state.strain[b] * h[:, None])
    curve = t * t * (3.0 - 2.0 * t) * whole
    curve = curve + t * (1.0 - t) ** 2 * slope - t * t * (1.0 - t) * end
    return np.asarray(first @ se3.exp(curve))


def mixed(a: State, b: State, h: float, part: float) -> State:
    """Return the state a `part` of the way from a to b, which are h seconds apart, on the same knots.

    Poses follow cubic curves on SE(3) with the velocities as slopes, the rest straight lines.
    """
    if len(a.s) != len(b.s) or not np.array_equal(a.s, b.s):
        a = interpolated(a, b.piece, b.s)
    whole = se3.log(se3.inverse(a.pose) @ b.pose)
    end = np.einsum("kij,kj->ki", se3.dexp_inverse(whole), h * b.velocity)
    t = part
    curve = t * t * (3.0 - 2.0 * t) * whole
    curve = curve + t * (1.0 - t) ** 2 * h * a.velocity - t * t * (1.0 - t) * end
    rest = [
        (1.0 - t) * getattr(a, name) + t * getattr(b, name)
        for name in ("wrench", "strain", "velocity", "strain_rate")
    ]
    return State(b.piece, b.s, np.asarray(a.pose @ se3.exp(curve)), *rest)
