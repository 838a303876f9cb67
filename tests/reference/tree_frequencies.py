"""Frequencies of an unloaded tree of straight Timoshenko rods, bodies and joints, without a mesh.

Small motion at circular frequency w: with (a, d) the rotation and displacement of a section and
(m, n) the moment and force of the material beyond it, all in the rod's frame,

    a' = m / K,  d' = a x e3 + n / K,  m' = -e3 x n - w^2 rho I a,  n' = -w^2 rho A d,

which the matrix exponential solves exactly. Unknown are the base wrench of every rod and the angle
of every joint; the residuals are those of `tree_statics`, now linear. Their determinant is an entire
function of w whose zeros are the frequencies. Rods, bodies and hinges that have the plane x-z as a
plane of symmetry move either in it or across it, and the determinant falls into two factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from tests.reference.tree_problem import Array, BodyPart, RodPart, TreeProblem, hat

IN_PLANE, ACROSS = (1, 3, 5), (0, 2, 4)


def _transfer(rod: RodPart, omega: float, length: float) -> Array:
    """Matrix (12, 12) from (a, d, m, n) at the base to the same after `length`."""
    system = np.zeros((12, 12))
    system[:6, 6:] = np.diag(1.0 / np.asarray(rod.stiffness))
    system[3:6, :3] = -hat((0.0, 0.0, 1.0))
    system[6:9, 9:] = -hat((0.0, 0.0, 1.0))
    system[6:9, :3] = -(omega**2) * np.diag(rod.inertia)
    system[9:, 3:6] = -(omega**2) * rod.line_mass * np.eye(3)
    return np.asarray(expm(length * system))


@dataclass
class _LinearSweep:
    """Residual rows, linear in the N unknowns; motions and wrenches are matrices (6, N)."""

    tree: TreeProblem
    omega: float

    def __post_init__(self) -> None:
        names, self.units, self.across = [], [], []
        for part in self.tree.parts:
            if isinstance(part, RodPart):
                names += [(part.name, k) for k in range(6)]
                moment = part.stiffness[0] / part.length
                self.units += [moment] * 3 + [moment / part.length] * 3
                self.across += [k in ACROSS for k in range(6)]
            if part.joint.axis is not None:
                names.append((part.name, -1))
                self.units.append(1.0)
                self.across.append(abs(part.joint.axis[1]) < 0.5)
        self.column = {name: k for k, name in enumerate(names)}
        self.rows = np.zeros((len(names), len(names)))
        for part in self.tree.children(None):
            self._hang(part, np.zeros((6, len(names))))

    def _hang(self, part: BodyPart | RodPart, motion: Array) -> Array:
        """Wrench (6, N) that the part exerts on its carrier, at the carrier's frame."""
        turn, shift = part.rotation, hat(part.translation)
        own = np.vstack([turn.T @ motion[:3], turn.T @ (motion[3:] - shift @ motion[:3])])
        axis = part.joint.axis
        if axis is not None:
            hinge = self.column[part.name, -1]
            own[:3, hinge] += axis
        wrench = self._rod(part, own) if isinstance(part, RodPart) else self._body(part, own)
        if axis is not None:
            self.rows[hinge] = np.asarray(axis) @ wrench[:3]
            self.rows[hinge, hinge] -= part.joint.stiffness
        force = turn @ wrench[3:]
        return np.vstack([turn @ wrench[:3] + shift @ force, force])

    def _body(self, body: BodyPart, motion: Array) -> Array:
        lever = hat(body.centre)
        force = self.omega**2 * body.mass * (motion[3:] - lever @ motion[:3])
        moment = self.omega**2 * np.diag(body.inertia) @ motion[:3] + lever @ force
        wrench = np.vstack([moment, force])
        for child in self.tree.children(body.name):
            wrench = wrench + self._hang(child, motion)
        return wrench

    def _rod(self, rod: RodPart, motion: Array) -> Array:
        state = np.vstack([motion, np.zeros_like(motion)])
        places = [self.column[rod.name, k] for k in range(6)]
        state[range(6, 12), places] = np.asarray(self.units)[places]
        base, hung, reached = state[6:].copy(), list(self.tree.children(rod.name)), 0.0
        for end in sorted({rod.length, *(child.s for child in hung if child.s is not None)}):
            state = _transfer(rod, self.omega, end - reached) @ state
            for child in hung:
                if child.s == end:
                    state[6:] -= self._hang(child, state[:6])
            reached = end
        self.rows[places] = state[6:] / np.asarray(self.units)[places, None]
        return base


def determinant(tree: TreeProblem, hertz: float, across: bool | None = None) -> float:
    """Determinant at a frequency (Hz), of the motion in or across the plane x-z, or of all."""
    sweep = _LinearSweep(tree, 2.0 * np.pi * hertz)
    chosen = np.flatnonzero([across is None or side == across for side in sweep.across])
    rows = sweep.rows[np.ix_(chosen, chosen)]
    return float(np.linalg.det(rows / np.abs(rows).max(axis=1, keepdims=True)))


def frequencies(
    tree: TreeProblem, highest: float, across: bool | None = None, samples: int = 2000
) -> Array:
    """Frequencies between 0 and `highest` (Hz), ascending; roots closer than a sample are missed."""
    grid = np.linspace(highest / samples, highest, samples)
    signs = np.sign([determinant(tree, f, across) for f in grid])
    brackets = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    return np.array([
        brentq(lambda f: determinant(tree, f, across), grid[i], grid[i + 1], xtol=1e-15, rtol=1e-14)
        for i in brackets
    ])  # fmt: skip
