"""States at knots: the unloaded one, interpolation in arclength and time, and questions about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp.chain import Chain, natural_poses
from pliant.bvp.contract import State, blank_state
from pliant.bvp.sections import Sections
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints


def rest_state(chain: Chain, base: Array, count: int = 65) -> State:
    """Return the unloaded chain with its base at pose `base` (4, 4), `count` knots on each piece."""
    pieces = chain.pieces
    places = [np.linspace(p.a, p.b, count) for p in pieces]
    found = blank_state(np.repeat(np.arange(len(pieces)), count), np.concatenate(places))
    g = np.array(base)
    for k, piece in enumerate(pieces):
        for jump in piece.before:
            g = g @ jump.pose
        rows = slice(k * count, (k + 1) * count)
        found.pose[rows] = natural_poses(piece.rod, g, places[k])
        found.strain[rows] = piece.rod.natural_strain(piece.inside(places[k]))
        g = found.pose[rows][-1]
    return found


FIELDS = ("wrench", "strain", "velocity", "strain_rate")


def interpolated(
    state: State, piece: Ints, s: Array, fields: tuple[str, ...] = FIELDS, poses: bool = True
) -> State:
    """Return the state at other places: arclengths s (S,) on pieces (S,).

    Wrench, strain and velocity by cubic splines within each piece, poses by cubic curves on SE(3)
    that have the strains at the knots as slopes. What is not among `fields` stays zero, and poses the
    identity if they are not wanted.
    """
    found = blank_state(np.asarray(piece), np.asarray(s, dtype=float))
    for k in np.unique(piece):
        rows, knots = np.flatnonzero(piece == k), np.flatnonzero(state.piece == k)
        at, x = found.s[rows], state.s[knots]
        if fields:
            columns = np.concatenate([getattr(state, name)[knots] for name in fields], axis=1)
            curves = CubicSpline(x, columns)(at)
            for j, name in enumerate(fields):
                getattr(found, name)[rows] = curves[:, 6 * j : 6 * j + 6]
        if not poses:
            continue
        left = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
        found.pose[rows] = _along(state, knots[left], knots[left + 1], at)
    return found


def _along(state: State, a: Ints, b: Ints, s: Array) -> Array:
    """Poses (S, 4, 4) at s between knots a and b (S,)."""
    h = (state.s[b] - state.s[a])[:, None]
    t = (s - state.s[a])[:, None] / h
    return _cubic(state.pose[a], state.pose[b], h * state.strain[a], h * state.strain[b], t)


def _cubic(first: Array, last: Array, slope: Array, end_slope: Array, t: Array | float) -> Array:
    """Poses (S, 4, 4) at t from 0 to 1 on cubic curves from `first` to `last` with slopes (S, 6)."""
    whole = se3.log(se3.inverse(first) @ last)
    end = np.einsum("sij,sj->si", se3.dexp_inverse(whole), end_slope)
    curve = t * t * (3.0 - 2.0 * t) * whole
    curve = curve + t * (1.0 - t) ** 2 * slope - t * t * (1.0 - t) * end
    return np.asarray(first @ se3.exp(curve))


def between(a: State, b: State, h: float, part: float) -> State:
    """Return the state a `part` of the way from a to b, which are h seconds apart, on the same knots.

    Poses follow cubic curves on SE(3) with the velocities as slopes, the rest straight lines.
    """
    if len(a.s) != len(b.s) or not np.array_equal(a.s, b.s):
        a = interpolated(a, b.piece, b.s)
    pose = _cubic(a.pose, b.pose, h * a.velocity, h * b.velocity, part)
    rest = [(1.0 - part) * getattr(a, name) + part * getattr(b, name) for name in FIELDS]
    return State(b.piece, b.s, pose, *rest)


def excess_strain(state: State, sections: Sections) -> Array:
    """Strain beyond the one at rest (S, 6) at the stations of sections; zero where it cannot be.

    It is smoother along the rods than the strain.
    """
    natural = np.concatenate(
        [
            piece.rod.natural_strain(piece.inside(state.s[state.piece == k]))
            for k, piece in enumerate(sections.chain.pieces)
        ]
    )
    beyond = replace(state, strain=state.strain - natural)
    excess = interpolated(beyond, sections.piece, sections.s, ("strain",), False).strain
    excess[sections.rigid, 3:] = 0.0
    return excess


class StateSampler:
    """Answers questions about states of a chain, by rod name and arclength."""

    def __init__(self, chain: Chain) -> None:
        self._pieces = {
            rod.name: [(k, p.b) for k, p in enumerate(chain.pieces) if p.rod is rod]
            for rod in chain.rods
        }

    def at(
        self, state: State, rod: str, s: Array, fields: tuple[str, ...], poses: bool = False
    ) -> State:
        """What is asked for at s (S,) of a rod; where pieces meet, on the side of the base."""
        where = np.asarray(s, dtype=float)
        numbers, ends = (np.array(column) for column in zip(*self._pieces[rod], strict=True))
        index = np.searchsorted(ends, where - 1e-12 * ends[-1])
        piece = numbers[np.clip(index, 0, len(ends) - 1)]
        return interpolated(state, piece, where, fields, poses)

    def poses(self, q: State, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at arclengths s (S,)."""
        return self.at(q, rod, s, (), poses=True).pose

    def strains(self, q: State, rod: str, s: Array) -> Array:
        """Strains (S, 6) at s, body frame."""
        return self.at(q, rod, s, ("strain",)).strain

    def wrenches(self, q: State, rod: str, s: Array) -> Array:
        """Internal wrenches (S, 6) at s, body frame."""
        return self.at(q, rod, s, ("wrench",)).wrench

    def velocities(self, q: State, v: object, rod: str, s: Array) -> Array:
        """Body twists (S, 6) at s; a state holds its own."""
        return self.at(q, rod, s, ("velocity",)).velocity
