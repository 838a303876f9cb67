"""The boundary-value problem cut into segments: residuals, their exact derivatives, Newton steps.

One segment is simple shooting. With several, the states at the cuts are unknown too and the states
that arrive there must agree with them; errors then grow only over a segment, not over the chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve_banded

from pliant.bvp.ends import Base, Tip
from pliant.bvp.mesh import Mesh
from pliant.bvp.sweep import sweep
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

_DENSE = 60
"""Unknowns up to which a dense factorisation is the quicker one."""
_NONE = np.zeros((18, 0))


@dataclass
class Guess:
    """Unknowns: x (6,) at the base and the states (M - 1, 24) before the events at the cuts."""

    x: Array
    states: Array

    def moved(self, step: Array, part: float) -> Guess:
        """The unknowns a `part` of a Newton step (6 + 18 (M - 1),) further."""
        states = self.states.copy()
        for y, d in zip(states, part * step[6:].reshape(-1, 18), strict=True):
            R = y[15:].reshape(3, 3)
            y[:12] += d[:12]
            y[12:15] += R @ d[12:15]
            y[15:] = (R @ so3.exp(d[15:])).ravel()
        return Guess(self.x + part * step[:6], states)


def cut_places(mesh: Mesh, count: int) -> Ints:
    """First intervals of `count` segments of about one length, and N; fewer if intervals are few."""
    edges = np.concatenate([[0.0], np.cumsum(mesh.arrays.h)])
    wanted = np.linspace(0.0, edges[-1], count + 1)
    return np.unique(np.searchsorted(edges, wanted - 1e-9 * edges[-1]))


class Segments:
    """The problem on a mesh with cuts at given intervals."""

    def __init__(self, tip: Tip, mesh: Mesh, kind: int, scheme: int, count: int) -> None:
        self.tip, self.mesh, self.kind, self.scheme = tip, mesh, kind, scheme
        self.chain = mesh.chain
        self.cuts = cut_places(mesh, count)
        self.nodes = np.zeros((mesh.N, 2, 24))
        self.slopes = np.zeros((mesh.N, 12))
        self.goal: Array | None = None
        """Wrench (6,) to be met at the last cut, instead of the
        tip's conditions: set while shooting over a part of the chain."""

    @property
    def unknowns(self) -> int:
        """How many numbers are solved for."""
        return 6 + 18 * (len(self.cuts) - 2)

    def scales(self, c0: float) -> tuple[Array, Array]:
        """Typical sizes of the unknowns and of the residuals."""
        chain, L = self.chain, self.chain.length
        rate = c0 if c0 > 0.0 else 1.0
        state = np.concatenate(
            [chain.scale, [rate] * 3, [rate * L] * 3, [L] * 3, [1.0] * 3]
        )  # wrench, velocity, position, rotation
        x = np.where(chain.base.held, chain.scale, np.array([1.0] * 3 + [L] * 3))
        inner = np.tile(state, len(self.cuts) - 2)
        tip = self.tip.scale if self.goal is None else chain.scale
        return np.concatenate([x, inner]), np.concatenate([inner, tip])

    def residual(self, base: Base, guess: Guess, c0: float) -> Array:
        """Return what does not fit (unknowns,): gaps at the cuts, then the conditions at the tip."""
        return self._sweep(base, guess, c0, False)[0]

    def linearised(self, base: Base, guess: Guess, c0: float) -> tuple[Array, list[Array]]:
        """Return the residual and the derivative blocks of each segment in what it starts from."""
        return self._sweep(base, guess, c0, True)

    def _sweep(self, base: Base, guess: Guess, c0: float, vary: bool) -> tuple[Array, list[Array]]:
        rows, blocks = [], []
        last = len(self.cuts) - 2
        for k in range(last + 1):
            if k == 0:
                y, Z = base.start(guess.x)
            else:
                y, Z = guess.states[k - 1].copy(), np.eye(18)
            Z = Z if vary else _NONE.copy()
            a, b = int(self.cuts[k]), int(self.cuts[k + 1])
            sweep(self.kind, self.scheme, self.mesh.arrays, c0, a, b, y, Z, self.nodes, self.slopes)
            if k < last:
                r, Z = _gap(y, guess.states[k], Z)
            elif self.goal is not None:
                r, Z = y[:6] - self.goal, Z[:6]
            else:
                r, Z = self.tip.residual(y, Z)
            rows.append(r)
            blocks.append(Z)
        return np.concatenate(rows), blocks

    def newton_step(self, r: Array, blocks: list[Array], c0: float) -> Array:
        """Solve the linearised problem; raises LinAlgError if it is singular."""
        columns, rows = self.scales(c0)
        if len(blocks) == 1:
            J = blocks[0] * columns / rows[:, None]
            return columns * np.linalg.solve(J, -r / rows)
        n = 6 + 18 * (len(blocks) - 1)
        J = np.zeros((n, n))
        for k, block in enumerate(blocks):
            row = 18 * k
            at = 0 if k == 0 else 6 + 18 * (k - 1)
            J[row : row + len(block), at : at + block.shape[1]] = block
            if k < len(blocks) - 1:
                J[row : row + 18, 6 + 18 * k : 24 + 18 * k] = -np.eye(18)
        J *= columns / rows[:, None]
        return columns * _solve(J, -r / rows)


def _solve(J: Array, r: Array) -> Array:
    n = len(r)
    if n <= _DENSE:
        return np.asarray(np.linalg.solve(J, r))
    lower, upper = 29, 23
    bands = np.zeros((lower + upper + 1, n))
    for k in range(-lower, upper + 1):
        diagonal = np.diagonal(J, k)
        bands[upper - k, max(k, 0) : max(k, 0) + len(diagonal)] = diagonal
    return np.asarray(solve_banded((lower, upper), bands, r, check_finite=False))


def _gap(y: Array, state: Array, Z: Array) -> tuple[Array, Array]:
    """How far an arriving state y is from the one assumed at a cut, with derivatives (18, c)."""
    R = state[15:].reshape(3, 3)
    arrived = y[15:].reshape(3, 3)
    turn = so3.log(R.T @ arrived)
    gap = np.concatenate([y[:12] - state[:12], R.T @ (y[12:15] - state[12:15]), turn])
    if Z.shape[1] == 0:
        return gap, Z
    moved = Z.copy()
    moved[12:15] = R.T @ arrived @ Z[12:15]
    moved[15:18] = so3.dexp_inverse(turn) @ Z[15:18]
    return gap, moved


SINGULAR = (LinAlgError, LinAlgWarning, np.linalg.LinAlgError)
