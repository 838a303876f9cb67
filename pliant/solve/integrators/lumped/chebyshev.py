"""Stabilised Runge-Kutta-Chebyshev method of second order (RKC2), for robots with strong viscosity.

Sommeijer, Shampine and Verwer (1997), "RKC: an explicit solver for parabolic PDEs". A step of s stages
is stable for decay rates up to about 2/3 (s^2 - 1) / h: its cost grows with the root of the damping,
that of Verlet's method with the damping itself. The state is Y = (centres, quaternions, V, L) of the
nodes, with quaternions brought back to unit length in every stage, which changes nothing below third
order.

Waves that nothing damps grow in these steps. With viscosity none does as long as h is below the
shortest retardation time of the rods; for accuracy it is also below 8 / omega.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev

from pliant._numba import kernel
from pliant.engine.arrays import copy
from pliant.engine.lanes import load, store
from pliant.engine.program import repeat, run
from pliant.lie.quaternion_leaves import quaternion_matrix, quaternion_multiply
from pliant.lie.tuples import add, apply, cross
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.rigid import vector_at
from pliant.solve.integrators.lumped.scheme import Damping, Scheme

_RETARDED, _PERIODS = 1.0, 4.0
"""Longest step, in shortest retardation times and in limits 2 / omega of Verlet's method."""
_EPSILON, _REACH, _SURE = 2.0 / 13.0, 0.65, 1.1
"""Damping of the stages; stable decay rate, times h, over s^2 - 1; what decay rates may grow by."""
_MOST = 200
"""Most stages of a step."""
_ROWS = 13


def stages_for(rate: float) -> int:
    """Stages of a step that is stable for decay rates, times its length, up to `rate`."""
    return max(2, math.ceil(math.sqrt(1.0 + rate / _REACH)))


def coefficients(s: int) -> Array:
    """(s, 5): of stages 1 to s, factors mu, nu, mu~, gamma~, and the time c of the stage before."""
    w0 = 1.0 + _EPSILON / s**2
    polynomials = [chebyshev.Chebyshev.basis(j) for j in range(s + 1)]
    T, dT, ddT = (np.array([p.deriv(k)(w0) if k else p(w0) for p in polynomials]) for k in range(3))
    w1 = dT[s] / ddT[s]
    b, c = np.zeros(s + 1), np.zeros(s + 1)
    b[2:] = ddT[2:] / dT[2:] ** 2
    b[:2] = b[2]
    a = 1.0 - b * T
    c[2:] = w1 * ddT[2:] / dT[2:]
    c[1] = c[2] / dT[2]
    out = np.zeros((s, 5))
    out[0, 2] = b[1] * w1
    j = np.arange(2, s + 1)
    out[1:, 0], out[1:, 1] = 2.0 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2]
    out[1:, 2] = 2.0 * b[j] * w1 / b[j - 1]
    out[1:, 3] = -a[j - 1] * out[1:, 2]
    out[:, 4] = c[:s]
    return out


class Chebyshev(Scheme):
    """The scheme for strong viscosity."""

    name = "Runge-Kutta-Chebyshev"
    order = 2

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._stages, self._at = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._more_stages, self._table = np.zeros(1, dtype=np.int64), np.zeros((_MOST, 5))
        shapes = [(_ROWS, motion.nodes.count) for motion in self.system.motions]
        self._workspaces = [tuple(np.zeros(shape) for _ in range(5)) for shape in shapes]
        """Per part, the start Y0, the last two stages, and the derivatives F0 and F."""

    def most(self, damping: Damping) -> float:
        longest = _PERIODS * 2.0 / max(damping.omega, 1e-300)
        h = min(_RETARDED * damping.retardation, longest)
        return min(h, _REACH * (_MOST**2 - 1) / max(_SURE * damping.rate, 1e-300))

    def evaluations(self, damping: Damping) -> float:
        h = self.most(damping)
        return stages_for(_SURE * h * damping.rate) / max(h, 1e-300)

    def prepare(self, damping: Damping) -> None:
        s = min(stages_for(_SURE * float(self.pace.short[0]) * damping.rate), _MOST)
        self._stages[0] = s
        self._table[:s] = coefficients(s)

    def enter(self) -> None:
        self._add_loss(-0.5)

    def step(self) -> None:
        """All stages of a short step."""
        system, pace = self.system, self.pace
        run(first_stage, self._at)
        for motion, (Y0, Ya, _, _, _) in zip(system.motions, self._workspaces, strict=True):
            body = (motion.blocks, motion.centre)
            run(write_state, *body, *motion.where, *motion.rates, Y0)
            copy(Y0, Ya)
        self._derive()
        self._add_loss(1.0)
        for _, _, _, F0, F in self._workspaces:
            copy(F, F0)
        self._combine()
        run(rigid.one_less, self._stages, self._more_stages)
        repeat(self._more_stages, self._stage)
        run(rigid.pass_on, pace.share, pace.passed)

    def leave(self) -> None:
        self.step()
        self._add_loss(0.5)

    def _stage(self) -> None:
        self._derive()
        self._combine()

    def _derive(self) -> None:
        """Set the derivatives F at the present stage."""
        system, pace = self.system, self.pace
        at = (self._table, self._at, pace.share, pace.passed)
        run(stage_inputs, *at, self.before, self.after, system.acting, system.now)
        system.accelerate(moving=True)
        for motion, (_, _, _, _, F) in zip(system.motions, self._workspaces, strict=True):
            given = (motion.blocks, motion.moving, motion.inverse, motion.nodes.Q)
            run(derive, *given, *motion.rates, *motion.pulls, F)

    def _combine(self) -> None:
        """Go on to the next stage."""
        for motion, work in zip(self.system.motions, self._workspaces, strict=True):
            state = (motion.centre, *motion.where, *motion.rates)
            given = (self._table, self._at, self.pace.short, motion.blocks)
            run(combine_stages, *given, *work, *state)
        run(next_stage, self._at)

    def _add_loss(self, share: float) -> None:
        """Add share times what a short step at the present rate dissipates."""
        if not self.keeps_account:
            return
        if share != 1.0:
            self.inputs_now()
            self.system.accelerate(moving=True)
        self.add_loss(share)


@kernel
def first_stage(at):  # type: ignore[no-untyped-def]
    """Begin with the first stage."""
    at[0] = 0


@kernel
def next_stage(at):  # type: ignore[no-untyped-def]
    """Go on to the next stage."""
    at[0] += 1


@kernel
def stage_inputs(table, at, share, passed, before, after, acting, now):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs at the time of the stage at_0, where the part now_0 of dt is over."""
    t = now[0] = passed[0] + table[at[0], 4] * share[0]
    for j in range(acting.shape[0]):
        acting[j] = before[j] + t * (after[j] - before[j])


@kernel
def write_state(blocks, centre, X, Q, V, L, Y):  # type: ignore[no-untyped-def]
    """Y (13, C) : centres of mass, quaternions, velocities and angular momenta of the nodes."""
    for c in blocks:
        q = (load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c))
        at = apply(quaternion_matrix(q), vector_at(centre, c))
        for a in range(3):
            store(Y, a, c, load(X, a, c) + at[a])
            store(Y, 7 + a, c, load(V, a, c))
            store(Y, 10 + a, c, load(L, a, c))
        for a in range(4):
            store(Y, 3 + a, c, q[a])


@kernel
def derive(blocks, moving, inverse, Q, V, L, A, T, F):  # type: ignore[no-untyped-def]
    """F (13, C) : time derivatives V, Q w / 2, A and T + L x w of the state, w = I^-1 L."""
    for c in blocks:
        p = vector_at(L, c)
        w = apply(rigid.matrix_at(inverse, c), p)
        turn = add(1.0, vector_at(T, c), 1.0, cross(p, w))
        q = (load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c))
        x, y, z = 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]
        rate = quaternion_multiply(q, (0.0, x, y, z))
        free = load(moving, 0, c)
        for a in range(3):
            store(F, a, c, load(V, a, c))
            store(F, 7 + a, c, free * load(A, a, c))
            store(F, 10 + a, c, free * turn[a])
        for a in range(4):
            store(F, 3 + a, c, rate[a])


@kernel
def combine_stages(table, at, step, blocks, Y0, Ya, Yb, F0, F, centre, X, Q, V, L):  # type: ignore[no-untyped-def]
    """Ya becomes the next stage, Yb the one that it was; nodes and momenta follow.

    Y = (1 - mu - nu) Y0 + mu Ya + nu Yb + h (mu~ F + gamma~ F0), with quaternions of unit length.
    """
    j, h = at[0], step[0]
    mu, nu, more, less = table[j, 0], table[j, 1], h * table[j, 2], h * table[j, 3]
    rest = 1.0 - mu - nu
    for c in blocks:
        for r in range(13):
            a = load(Ya, r, c)
            y = rest * load(Y0, r, c) + mu * a + nu * load(Yb, r, c)
            store(Yb, r, c, a)
            store(Ya, r, c, y + more * load(F, r, c) + less * load(F0, r, c))
        q = (load(Ya, 3, c), load(Ya, 4, c), load(Ya, 5, c), load(Ya, 6, c))
        for _ in range(3):
            unit = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
            q = (unit * q[0], unit * q[1], unit * q[2], unit * q[3])
        arm = apply(quaternion_matrix(q), vector_at(centre, c))
        for a in range(4):
            store(Ya, 3 + a, c, q[a])
            store(Q, a, c, q[a])
        for a in range(3):
            store(X, a, c, load(Ya, a, c) - arm[a])
            store(V, a, c, load(Ya, 7 + a, c))
            store(L, a, c, load(Ya, 10 + a, c))
