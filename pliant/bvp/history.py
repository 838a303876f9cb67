"""What a time rule needs of earlier instants: strain and velocity at all stations, bodies and the base.

A rule y_t = c0 y + c1 y_1 + c2 y_2 + d1 y_1t asks for values one and two steps back and for the rates
one step back. A station may be a stage of a Runge-Kutta step, where strain and velocity are less
accurate than the solution and differ from it by an offset. The rate there is that of the values less
the last offset: at rest it is zero at every stage, so that an equilibrium and a time step at rest are
the same discrete equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.chain import BODY
from pliant.bvp.contract import State
from pliant.bvp.rod_equations import write_law
from pliant.bvp.sections import Sections
from pliant.bvp.states import excess_strain, interpolated
from pliant.lie import se3_kernels as se3
from pliant.lie.se3 import exp as pose_exp, inverse as pose_inverse, log as pose_log
from pliant.lie.tuples import Array
from pliant.model import BaseState


class History(NamedTuple):
    """The present and the past of a motion at S stations, of B bodies and of the base.

    strain, strain_rate, velocity, velocity_rate : (S, 6) now; strain_before, velocity_before : (S, 6)
    one step earlier; strain_offset, velocity_offset : (S, 6) of stages now.  body, body_rate,
    body_before : (B, 6) velocities.  base : (2, 4, 4) pose of the base now and before, twist : (6,) its
    velocity now.
    """

    strain: Array
    strain_rate: Array
    strain_before: Array
    strain_offset: Array
    velocity: Array
    velocity_rate: Array
    velocity_before: Array
    velocity_offset: Array
    body: Array
    body_rate: Array
    body_before: Array
    base: Array
    twist: Array

    def on(self, transfer: Callable[[Array], Array]) -> History:
        """The same on other stations; `transfer` takes values (S, 6) there."""
        return History._make([*map(transfer, self[:8]), *self[8:]])

    def look_back(self, earlier: Sequence[History], weights: Array) -> None:
        """Let the values one step earlier be a mixture of those of earlier instants, weights (N,)."""
        pairs = list(zip(earlier, weights.tolist(), strict=True))
        self.strain_before[...] = sum(w * x.strain for x, w in pairs)
        self.velocity_before[...] = sum(w * x.velocity for x, w in pairs)
        self.body_before[...] = sum(w * x.body for x, w in pairs)
        inverse = pose_inverse(self.base[0])
        turn = sum(w * pose_log(inverse @ x.base[0]) for x, w in pairs)
        self.base[1] = self.base[0] @ pose_exp(np.asarray(turn))

    def copy(self) -> History:
        """A copy that later steps do not change."""
        return History._make(field.copy() for field in self)


class Discrete(NamedTuple):
    """A state as its solver has it.

    points : orders of the grids, or edges of the intervals, of each piece.  history : there.
    velocity : (K, 6) at the knots that belongs to it.  x : (U,) unknowns of collocation.
    """

    points: list[Any]
    history: History
    velocity: Array
    x: Array


def begin_history(
    strain: Array, velocity: Array, body: Array, pose: Array, twist: Array
) -> History:
    """A motion that starts with strains and velocities (S, 6) at the stations; rates are zero."""
    fields = []
    for now in (strain, velocity, body):
        fields += [np.array(now), np.zeros_like(now), np.array(now), np.zeros_like(now)]
    return History._make([*fields[:-1], np.array([pose, pose]), np.array(twist)])


def history_of(state: State, sections: Sections) -> History:
    """A state at knots as a history at the stations of sections, rates zero."""
    strain = sections.natural + excess_strain(state, sections)
    velocity = interpolated(state, sections.piece, sections.s, ("velocity",), False).velocity
    first = np.searchsorted(state.piece, np.arange(len(sections.chain.pieces) + 1))
    body = state.velocity[sections.places(BODY, first[:-1], first[1:] - 1)]
    return begin_history(strain, velocity, body, state.pose[0], state.velocity[0])


def base_row(base: BaseState) -> Array:
    """Rotation by rows, position and twist (18,) of a base, as `move_base` reads them."""
    return np.concatenate([base.pose[:3, :3].ravel(), base.pose[:3, 3], base.twist])


@kernel
def write_histories(rule, history, law, table, bodies):  # type: ignore[no-untyped-def]
    """Write law and histories of the coming instant into the table (S, 44) and bodies (B, 6).

    rule : (4,) c0, c1, c2, d1.  law : C, D, natural, rigid, active of `Sections`.
    """
    c0, c1, c2, d1 = rule[0], rule[1], rule[2], rule[3]
    h = history
    for i in range(len(table)):
        P = table[i]
        for r in range(6):
            P[12 + r] = c1 * h.strain[i, r] + c2 * h.strain_before[i, r] + d1 * h.strain_rate[i, r]
            P[12 + r] -= c0 * h.strain_offset[i, r]
            P[18 + r] = c1 * h.velocity[i, r] + c2 * h.velocity_before[i, r]
            P[18 + r] += d1 * h.velocity_rate[i, r] - c0 * h.velocity_offset[i, r]
    write_law(c0, law[0], law[1], law[2], law[3], law[4], table)
    bodies[:] = c1 * h.body + c2 * h.body_before + d1 * h.body_rate


@kernel
def move_base(rule, history, supports, base):  # type: ignore[no-untyped-def]
    """Set the base of the coming instant; base (18,): R by rows, p and twist of a clamped one."""
    if supports.held.all():
        for i in range(3):
            supports.pose[i, 3] = base[9 + i]
            for j in range(3):
                supports.pose[i, j] = base[3 * i + j]
        supports.twist[:] = base[12:]
    else:
        back = np.zeros(6)
        se3.log_relative_array(history.base[0], history.base[1], back)
        supports.pose[:] = history.base[0]
        supports.history[:] = rule[2] * back + rule[3] * history.twist


@kernel
def append_instant(rule, keep_before, table, bodies, strain, velocity, body, y, history):  # type: ignore[no-untyped-def]
    """Take strain and velocity (S, 6) and body (B, 6) as the present; y (24,) is the state at the base.

    rule : (4,) with c0 first.  keep_before : (1,) let the values two steps back stay what they are.
    Offsets stay those of before.
    """
    h, c0 = history, rule[0]
    if not keep_before[0]:
        h.strain_before[:], h.velocity_before[:], h.body_before[:] = h.strain, h.velocity, h.body
        h.base[1] = h.base[0]
    for i in range(len(table)):
        for r in range(6):
            e, v = strain[i, r], velocity[i, r]
            h.strain[i, r], h.velocity[i, r] = e, v
            h.strain_rate[i, r] = c0 * (e + h.strain_offset[i, r]) + table[i, 12 + r]
            h.velocity_rate[i, r] = c0 * (v + h.velocity_offset[i, r]) + table[i, 18 + r]
    h.body[:] = body
    h.body_rate[:] = c0 * body + bodies
    R = y[15:24].copy().reshape(3, 3)
    h.base[0, :3, :3] = np.dot(R, 1.5 * np.eye(3) - 0.5 * np.dot(R.T, R))  # orthonormal again
    h.base[0, :3, 3] = y[12:15]
    h.twist[:] = y[6:12]
