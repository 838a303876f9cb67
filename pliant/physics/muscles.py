"""Muscles along paths through via-points.

The force splits into that at rest, F(L, 0, a), whose work is that of the input, and the rest, which
opposes the rate and dissipates (F(L, V, a) - F(L, 0, a)) V.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant._numba import inner, kernel
from pliant.engine.program import run
from pliant.model import Muscle
from pliant.physics.contract import Moment, Term
from pliant.physics.path_kernels import spread_slope
from pliant.physics.paths import Path, PathTerm, Pull, Spans
from pliant.physics.rope_law import add_scaled
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_STEP = 1e-6
"""Relative step of the differences of a law of your own."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


class HillMuscle(PathTerm):
    """A muscle with the built-in law; its input is the activation."""

    compiled = True
    smooth = True
    size = 1
    moves = True
    needs_twists = True

    def __init__(self, tree: Tree, muscle: Muscle) -> None:
        self.muscle = muscle
        self.input = self.name = muscle.name
        self.path = Path(tree, muscle.path, coupled=True)
        self.squeezes = self.squeezes_at_once = self.path.squeezes

    def close(self, tree: Tree) -> None:
        m, self.rest_length = self.muscle, self.path.length(tree.rest)
        optimum = self.rest_length if m.optimum is None else m.optimum
        self.rule = np.array([m.strength, optimum, m.width, m.speed, m.passive])

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def active(self, u: Array) -> bool:
        return True

    def set_force(self, law: tuple[Any, ...], out: tuple[Array, ...]) -> None:
        """Write tension (K - 1,), slope (1,) and power lost (1,) for arguments of `set_hill`."""
        run(set_hill, self.rule, *law, *out)

    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        pull, slope = self._empty(), np.zeros(1)
        given = np.zeros(self.path.count - 1) if rates is None else rates
        law = (spans.lengths, given, u[self.at], speed, h, implicit)
        self.set_force(law, (pull.tension, slope, np.zeros(1)))
        run(spread_slope, spans.nb, slope, pull.dT)
        return pull

    def energy(self, state: State, u: Array) -> float:
        """Potential of the force at rest, zero at the length of the undeformed robot, J."""
        length = self.path.length(state)
        half = 0.5 * (length - self.rest_length)
        where = 0.5 * (length + self.rest_length) + half * _NODES
        return float(half * (_WEIGHTS @ [self.force_at(x, float(u[self.at][0])) for x in where]))

    def force_at(self, length: float, activation: float) -> float:
        """Force at rest, N."""
        return float(hill(self.rule, length, 0.0, activation)[0])

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        run(add_hill_work, self.rule, self.path.spans(a, b).lengths, u[self.at], out)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        spans, h = self.path.spans(m.state), 0.0
        if m.start is not None:
            spans, h = self.path.spans(m.start, m.state), 2.0 * m.ahead
        rates = self.path.rates(spans, m.work)
        loss, slope, tension = np.zeros(1), np.zeros(1), np.zeros(self.path.count - 1)
        law = (spans.lengths, rates, m.u[self.at], 0.0, h, True)
        self.set_force(law, (tension, slope, loss))
        run(add_scaled, scale, loss, out)


class OwnMuscle(HillMuscle):
    """A muscle with a law of the user, in plain Python."""

    compiled = False

    def set_force(self, law: tuple[Any, ...], out: tuple[Array, ...]) -> None:
        lengths, rates, u, speed, h, implicit = law
        (La, Lb), a = lengths[:2].sum(axis=1), float(u[0])
        L, share = (0.5 * (La + Lb), 0.5) if h > 0.0 and implicit else (La, float(h == 0.0))
        V, grow = ((Lb - La) / h, 1.0 / h) if h > 0.0 else (float(rates.sum()), speed)
        tension, slope, loss = out
        tension[:] = self._force(L, V, a)
        d, e = _STEP * self.rule[1], _STEP * self.rule[3]
        slope[0] = share * (self._force(L + d, V, a) - self._force(L - d, V, a)) / (2.0 * d)
        slope[0] += grow * (self._force(L, V + e, a) - self._force(L, V - e, a)) / (2.0 * e)
        loss[0] = (tension[0] - self._force(L, 0.0, a)) * V

    def _force(self, length: float, rate: float, activation: float) -> float:
        assert self.muscle.law is not None
        return float(self.muscle.law(length, rate, activation))

    def force_at(self, length: float, activation: float) -> float:
        return self._force(length, 0.0, activation)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        La, Lb = self.path.spans(a, b).lengths[:2].sum(axis=1)
        out[0] -= self._force(0.5 * (La + Lb), 0.0, float(u[self.at][0])) * (Lb - La)


def terms(tree: Tree) -> list[Term]:
    """The muscles of a robot."""
    known = tree.description.of(Muscle).values()
    return [(HillMuscle if x.law is None else OwnMuscle)(tree, x) for x in known]


@inner
def hill(rule, length, rate, a):  # type: ignore[no-untyped-def]
    """Force of a Hill muscle, and its derivatives in length and rate."""
    strength, optimum, width, speed, passive = rule[0], rule[1], rule[2], rule[3], rule[4]
    x, v = (length / optimum - 1.0) / width, rate / speed
    f = math.exp(-x * x)
    if v >= 0.0:
        g, dg = 1.0 + 0.5 * v / (v + 0.1), 0.05 / (v + 0.1) ** 2
    elif v > -1.0:
        g, dg = (1.0 + v) / (1.0 - 4.0 * v), 5.0 / (1.0 - 4.0 * v) ** 2
    else:
        g, dg = 0.0, 0.0
    over = max(length / optimum - 1.0, 0.0)
    force = strength * (a * f * g + passive * over * over)
    grown = strength * (-2.0 * a * f * g * x / width + 2.0 * passive * over) / optimum
    return force, grown, strength * a * f * dg / speed


@kernel
def set_hill(rule, lengths, rates, u, speed, h, implicit, tension, slope, loss):  # type: ignore[no-untyped-def]
    """Write tension (K - 1,), its derivative slope_0 in the length at b, and the power lost loss_0.

    In an implicit step at the mean length and rate, in an explicit one at the length of its start.
    """
    La, Lb, V, grow, share = 0.0, 0.0, 0.0, speed, 1.0
    for i in range(tension.shape[0]):
        La += lengths[0, i]
        Lb += lengths[1, i]
        V += rates[i]
    L = La
    if h > 0.0:
        V, grow, share = (Lb - La) / h, 1.0 / h, 0.0
        if implicit:
            L, share = 0.5 * (La + Lb), 0.5
    force, grown, damped = hill(rule, L, V, u[0])
    slope[0] = share * grown + grow * damped
    loss[0] = (force - hill(rule, L, 0.0, u[0])[0]) * V
    for i in range(tension.shape[0]):
        tension[i] = force


@kernel
def add_hill_work(rule, lengths, u, out):  # type: ignore[no-untyped-def]
    """out_0 += work of the force at rest at the mean length from a to b."""
    La, Lb = 0.0, 0.0
    for i in range(lengths.shape[1]):
        La += lengths[0, i]
        Lb += lengths[1, i]
    out[0] -= hill(rule, 0.5 * (La + Lb), 0.0, u[0])[0] * (Lb - La)
