"""Where to start from given points along rods (Sadati et al., equation 12, for any formulation).

The coordinates whose rods pass through the points, with as little strain energy as possible where the
points leave a choice: least squares by Gauss-Newton.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.model import DescriptionError, did_you_mean, refuse
from pliant.model.checks import as_array
from pliant.rods.contract import Array, Plan
from pliant.solve.transfer import least_squares
from pliant.tree.part import Part
from pliant.tree.state import State
from pliant.tree.tree import Tree

_WEIGHTS = (3.0, 10.0, 100.0, 1e4)
"""Weights, one after another, of the distances from the points over the length against strains, made
plain numbers: light ones first bend the rod as a whole, and then it meets the points."""
_LONGER = 1.5
"""Chord between neighbouring points, over the rod between them, that is taken for a slip."""
_FAR = 0.05
"""Distance of a rod from its points, over its length, that is taken for a contradiction."""


def configuration_through(tree: Tree, given: Mapping[str, Any], caller: str) -> Array:
    """Coordinates (nq,) of the robot whose rods pass through the given points.

    given : by rod name, world positions (n, 3), metres, at evenly spaced sections from base to tip, or
    a pair of arclengths (n,) and positions (n, 3).  caller : the method called, for messages.
    """
    rods = {part.name: part for part in tree.parts if part.rod is not None}
    targets = []
    for name, value in given.items():
        field = f"start[{name!r}]"
        if name not in rods:
            expected = "filed under the name of a rod of this robot"
            raise DescriptionError(caller, field, value, expected, did_you_mean(name, rods))
        targets.append((rods[name], *_checked(caller, field, rods[name], value)))
    fit = _Points(tree, targets)
    q = tree.q_rest.copy()
    for fit.weight in _WEIGHTS:
        q = least_squares(tree, fit, q)
    state = State(tree).place(q)
    for (part, _, points), gap in zip(targets, fit.distances(state), strict=True):
        worst = float(gap.max())
        refuse(
            worst > _FAR * part.length,
            caller,
            f"start[{part.name!r}]",
            points,
            f"points that this rod of {part.length:.4g} m reaches; it misses one by {worst:.3g} m",
            "check arclengths, units, and that the points begin where the base is",
        )
    return q


def _checked(caller: str, field: str, part: Part, value: Any) -> tuple[Array, Array]:
    """Arclengths (n,) and positions (n, 3) of the points of a rod."""
    pair = isinstance(value, tuple) and len(value) == 2
    points = as_array(value[1] if pair else value)
    if points is None or not _are_positions(points):
        expected = "positions (n, 3) of two points or more, or (arclengths, positions)"
        remedy = "give e.g. np.array([[0, 0, 0], [0, 0, 0.3]])"
        raise DescriptionError(caller, field, value, expected, remedy)
    s = as_array(value[0]) if pair else np.linspace(0.0, part.length, len(points))
    if s is None or not _are_along(s, len(points), part.length):
        expected = f"one arclength for each point, increasing, from 0 to {part.length:.4g} m"
        remedy = "give them in metres along the rod"
        raise DescriptionError(caller, field, value, expected, remedy)
    chords, ways = np.linalg.norm(np.diff(points, axis=0), axis=1), np.diff(s)
    k = int(np.argmax(chords / ways))
    refuse(
        chords[k] > _LONGER * ways[k],
        caller,
        field,
        f"points {k} and {k + 1}, {chords[k]:.4g} m apart",
        f"no farther apart than the rod between them is long, {ways[k]:.4g} m",
        "give them in metres, or with their arclengths as (s, points)",
    )
    return np.clip(s, 0.0, part.length), points


def _are_positions(points: Array) -> bool:
    shaped = points.ndim == 2 and points.shape[1] == 3 and len(points) > 1
    return shaped and bool(np.isfinite(points).all())


def _are_along(s: Array, count: int, length: float) -> bool:
    """Whether these are `count` arclengths of a rod, increasing."""
    if s.shape != (count,) or not np.isfinite(s).all():
        return False
    slack = 1e-9 * length
    return bool(s[0] >= -slack and s[-1] <= length + slack and (np.diff(s) > 0.0).all())


class _Points:
    """Distances from points and strains of a state, and their derivatives."""

    def __init__(self, tree: Tree, targets: list[tuple[Part, Array, Array]]) -> None:
        self.tree, self.weight = tree, 1.0
        self.targets = [
            (tree.parts.index(part), part.map.frames(s), points) for part, s, points in targets
        ]
        self.strained = [
            (i, part.map.strains(part.strain_s), _weights(part), at.strain.e.copy())
            for i, (part, at) in enumerate(zip(tree.parts, tree.rest.parts, strict=True))
            if part.rod is not None and len(part.strain_s)
        ]

    def distances(self, state: State) -> list[Array]:
        """Distance (n,) of each point from its rod, m."""
        found = []
        for i, frames, points in self.targets:
            self.tree.parts[i].map.frame(frames, state.parts[i].c)
            found.append(np.linalg.norm(frames.g[:, :3, 3] - points, axis=1))
        return found

    def residual(self, state: State) -> Array:
        """Weighted differences, plain numbers."""
        parts: list[Array] = []
        for i, frames, points in self.targets:
            part = self.tree.parts[i]
            part.map.frame(frames, state.parts[i].c)
            parts.append(self.weight / part.length * (frames.g[:, :3, 3] - points))
        for i, strains, weights, rest in self.strained:
            self.tree.parts[i].map.strain(strains, state.parts[i].c)
            parts.append(weights * (strains.e - rest))
        return np.concatenate([np.ravel(x) for x in parts])

    def slopes(self, state: State) -> Array:
        """Derivatives (rows, n) of the residual."""
        self.residual(state)
        return np.stack([self._column(state, k) for k in self.tree.coordinates], axis=1)

    def _column(self, state: State, number: int) -> Array:
        x = np.zeros(self.tree.total)
        x[number] = 1.0
        lifted, parts = self.tree.variations(state, x)[1], []
        for i, frames, _ in self.targets:
            shift = _rate(frames, frames.J, lifted[i])[:, 3:]
            world = np.einsum("sij,sj->si", frames.g[:, :3, :3], shift)
            parts.append(self.weight / self.tree.parts[i].length * world)
        for i, strains, weights, _ in self.strained:
            parts.append(weights * _rate(strains, strains.B, lifted[i]))
        return np.concatenate([np.ravel(x) for x in parts])


def _rate(plan: Plan, slopes: Array, y: Array) -> Array:
    """Rates (S, 6) of what a plan has for the variables y (E, m) of the elements."""
    return np.asarray(np.einsum("sia,sa->si", slopes, y[plan.element]))


def _weights(part: Part) -> Array:
    """(S, 6): roots of the strain energy, over that of bending by one radian."""
    bending = float(np.max(part.C[:, :2]))
    return np.asarray(np.sqrt(np.abs(part.strain_w) * part.C * part.length / bending))
