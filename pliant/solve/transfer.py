"""A configuration of one discretisation of a robot, carried over to a coarser or finer one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pliant.lie import se3
from pliant.rods.contract import Array, Plan
from pliant.solve.sampling import Sampler
from pliant.tree.part import Part
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SECTIONS = 11
"""Sections of each rod whose poses are matched, besides strains at its quadrature points."""
_POSES, _GAPS = 3.0, 1e4
"""Weights of poses and of the gaps of constraints against strains, all made plain numbers."""
_ITERATIONS, _STEP = 30, 1e-9
"""Most Gauss-Newton iterations, and the relative correction at which they end."""


def transferred(to: Sampler, source: Sampler, q: Array) -> Array:
    """Coordinates (nq,) in the discretisation `to` of the shape that q has in `source`.

    Least squares of strains and poses, by Gauss-Newton; constraints hold and joints start where they
    are. Both discretisations are of the same robot.
    """
    fit, tree = _Fit(to, source, q), to.tree
    best = tree.q_rest.copy()
    for mine, theirs in zip(tree.parts, source.tree.parts, strict=True):
        best[mine.joint_slice] = q[theirs.joint_slice]
    return least_squares(tree, fit, best)


class Misfit(Protocol):
    """Differences that are to vanish, plain numbers."""

    def residual(self, state: State) -> Array:
        """Differences (rows,) at a state."""

    def slopes(self, state: State) -> Array:
        """Their derivatives (rows, n) in the coordinates."""


def least_squares(tree: Tree, fit: Misfit, q: Array) -> Array:
    """Coordinates (nq,) that make the differences smallest, by Gauss-Newton from q (nq,)."""
    state = State(tree).place(q)
    left = fit.residual(state)
    for _ in range(_ITERATIONS):
        x = np.zeros(tree.total)
        x[tree.coordinates] = np.linalg.lstsq(fit.slopes(state), -left, rcond=1e-10)[0]
        for share in (1.0, 0.5, 0.25, 0.1):
            moved = State(tree).place(tree.moved(state, share * x))
            rest = fit.residual(moved)
            if np.linalg.norm(rest) <= np.linalg.norm(left):
                break
        else:
            break
        done = np.linalg.norm(left) - np.linalg.norm(rest) <= _STEP * np.linalg.norm(left)
        state, left = moved, rest
        if done:
            break
    return np.array(state.q)


class _Fit:
    """Differences between a state and the shape that is wanted, and their derivatives."""

    def __init__(self, to: Sampler, source: Sampler, q: Array) -> None:
        self.tree, self.effects = to.tree, to.effects
        self.hard = [term for term in self.effects.hard if term.rows[0] >= self.tree.n]
        self.rows: list[tuple[int, Part, Plan, Array, Plan | None, Array]] = []
        for i, part in enumerate(self.tree.parts):
            s = np.linspace(0.0, part.length if part.rod is not None else 0.0, _SECTIONS)
            frames, strains, wanted = part.map.frames(s), None, np.zeros((0, 6))
            if part.rod is not None:
                strains = part.map.strains(part.strain_s)
                wanted = source.strains(q, part.name, part.strain_s)
            self.rows.append((i, part, frames, source.poses(q, part.name, s), strains, wanted))

    def residual(self, state: State) -> Array:
        """Weighted differences, plain numbers."""
        parts = [_GAPS / self.tree.length * term.violations(state) for term in self.hard]
        for i, part, frames, g, strains, e in self.rows:
            part.map.frame(frames, state.parts[i].c)
            parts.append(_POSES * _plain(_twist(se3.inverse(g) @ frames.g), part))
            if strains is not None:
                part.map.strain(strains, state.parts[i].c)
                parts.append(_strain_weights(part) * (strains.e - e))
        return np.concatenate([np.ravel(x) for x in parts])

    def slopes(self, state: State) -> Array:
        """Derivatives (rows, n) of the residual; plans are those of its last call at the state."""
        self.residual(state)
        columns = [self._column(state, k) for k in self.tree.coordinates]
        return np.stack(columns, axis=1)

    def _column(self, state: State, number: int) -> Array:
        x = np.zeros(self.tree.total)
        x[number] = 1.0
        lifted = self.tree.variations(state, x)[1]
        parts = [self._gap_slopes(state, x)]
        for i, part, frames, _, strains, _ in self.rows:
            twist = np.einsum("sia,sa->si", frames.J, lifted[i][frames.element])
            parts.append(_POSES * _plain(twist, part))
            if strains is not None:
                rate = np.einsum("sia,sa->si", strains.B, lifted[i][strains.element])
                parts.append(_strain_weights(part) * rate)
        return np.concatenate([np.ravel(x) for x in parts])

    def _gap_slopes(self, state: State, x: Array) -> Array:
        """Derivatives of the gaps of constraints along x, by a central difference."""
        if not self.hard:
            return np.zeros(0)
        step = 1e-6 * self.tree.length
        ahead, behind = (
            State(self.tree).place(self.tree.moved(state, sign * step * x, newton=False))
            for sign in (1.0, -1.0)
        )
        rates = [(t.violations(ahead) - t.violations(behind)) / (2.0 * step) for t in self.hard]
        return np.asarray(_GAPS / self.tree.length * np.concatenate(rates))


def _twist(g: Array) -> Array:
    """Twists (S, 6) of small relative poses; bounded and regular for large ones too."""
    R = 0.5 * (g[:, :3, :3] - np.swapaxes(g[:, :3, :3], 1, 2))
    return np.concatenate([R[:, 2, 1:2], R[:, 0, 2:3], R[:, 1, 0:1], g[:, :3, 3]], axis=1)


def _plain(twist: Array, part: Part) -> Array:
    """Twists (S, 6) with displacements over the length of the part."""
    return twist / np.repeat([1.0, part.length], 3)


def _strain_weights(part: Part) -> Array:
    """(S, 6): what makes strains at quadrature points plain numbers, with the roots of the rule."""
    scale = np.repeat([part.length, 1.0], 3)
    return np.asarray(np.sqrt(np.abs(part.strain_w)[:, None] / part.length) * scale)
