"""Tendons through via-points.

A tension T along a path of length L has the potential T L. Without friction it is the same in all
spans, so that a via-point is coupled with its neighbours only. With friction it falls along the path;
where the length of such a tendon is given, it stretches as a whole, by the tension at the pulled end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.model import Tendon
from pliant.physics.capstan import INCREMENTS, SIGNS, STICKS, renew_sliding, set_capstan
from pliant.physics.contract import Moment, Term
from pliant.physics.path_rows import ElasticPathRow, PathRow
from pliant.physics.paths import Path, PathTerm, Pull, Spans
from pliant.physics.rope_law import add_scaled, add_work, set_force
from pliant.physics.symbolic import Symbols, path_length
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class TensionTendon(PathTerm):
    """A tendon without friction; its input is the tension, N."""

    compiled = True
    smooth = True
    size = 1

    def __init__(self, tree: Tree, tendon: Tendon) -> None:
        self.tendon = tendon
        self.input = self.name = tendon.name
        self.path = Path(tree, tendon.path, coupled=False)
        self.squeezes = self.squeezes_at_once = self.path.squeezes

    def close(self, tree: Tree) -> None:
        self.rest_length = self.path.length(tree.rest)

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        pull = self._empty()
        run(set_all, u[self.at], pull.tension)
        return pull

    def symbolic(self, x: Symbols) -> None:
        length = path_length(x, self.tendon.path)
        x.store(x.input(self.tendon.name) * (length - x.at_rest(length)))

    def energy(self, state: State, u: Array) -> float:
        return float(u[self.at][0]) * (self.path.length(state) - self.rest_length)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        run(add_work, u[self.at], self.path.spans(a, b).lengths, out)

    def readings(self, moment: Moment) -> dict[str, Any]:
        return {**super().readings(moment), "slack": 0.0}


class FrictionTendon(PathTerm):
    """A tendon with friction at its via-points; its input is a tension, or it is on a reel.

    A tendon on a reel, or with two fixed ends, is an elastic rope with the rule of `springs`.
    """

    compiled = True
    smooth = True
    moves = True
    needs_twists = True

    def __init__(self, tree: Tree, tendon: Tendon) -> None:
        self.tendon, self.name = tendon, tendon.name
        self.path = Path(tree, tendon.whole_path, coupled=True)
        self.squeezes = self.squeezes_at_once = self.path.squeezes
        self._reel = int(tendon.drive == "length")
        self._given = tendon.drive == "tension"
        if self._given:
            self.input, self.size = tendon.name, 1
        else:
            self.column = "elastic"
        sign = SIGNS[tendon.sliding]
        self.rule = np.array([tendon.friction, tendon.creep, sign, self._reel + 1.0, 0.0])
        self.depends_on_way = tendon.sliding == "way"
        self.increments = INCREMENTS if self.depends_on_way else 1
        self.memory = 2 * (self.path.count - 1) if self.depends_on_way else 0

    def close(self, tree: Tree) -> None:
        length = self.path.length(tree.rest) + self.tendon.slack
        own = length - float(self.path.spans(tree.rest).lengths[0, : self._reel].sum())
        stiffness = 0.0 if self._given else (self.tendon.stiffness or 0.0) / own
        self.elastic = np.array([stiffness, length, 0.0, 1.0, 1.0])
        self.rule[4] = STICKS * own if self.depends_on_way else 0.0

    # -- memory of the way -------------------------------------------------------------------------

    def remember(self, m: Moment, memory: Array) -> None:
        """It begins without friction: nothing has slid yet."""
        memory[...] = 0.0
        memory[: self.path.count - 1] = self.path.spans(m.state).lengths[0]

    def come_to_rest(self, m: Moment, memory: Array) -> None:
        lengths = self.path.spans(m.state).lengths
        run(renew_sliding, self.rule, lengths, memory.reshape(2, -1))

    def _was(self, m: Moment) -> Array:
        """What it remembers at rest (2, K - 1); not a number where nothing is known."""
        if m.memory is None or not self.memory:
            return np.full((2, self.path.count - 1), np.nan)
        return m.memory[self.memory_at].reshape(2, -1)

    def pull_at(self, m: Moment, spans: Spans, rates: Array | None, speed: float) -> Pull:
        return self._set(spans, m.u, rates, speed, 0.0, True, self._was(m))[0]

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return False

    def active(self, u: Array) -> bool:
        return True

    def _set(
        self,
        spans: Spans,
        u: Array,
        rates: Array | None,
        speed: float,
        h: float,
        implicit: bool,
        was: Array | None = None,
    ) -> tuple[Pull, Array]:
        """Tensions, and the power lost (1,)."""
        if was is None:
            was = np.full((2, self.path.count - 1), np.nan)
        pull, slope, loss = self._empty(), np.zeros(1), np.zeros(1)
        known = np.zeros(self.path.count - 1) if rates is None else rates
        if self._given:
            run(set_all, u[self.at], pull.tension)
        else:
            out = (pull.tension, slope, loss)
            run(set_force, self.elastic, spans.lengths, known, speed, h, implicit, *out)
        bend = 2.0 if h == 0.0 else 1.0 if implicit else 0.0
        still = rates is None and h == 0.0
        where = (spans.n, spans.nb, spans.lengths, known, still, was, speed, h, bend, slope)
        run(set_capstan, self.rule, *where, pull.tension, pull.dT, loss)
        return pull, loss

    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        return self._set(spans, u, rates, speed, h, implicit)[0]

    def energy(self, state: State, u: Array) -> float:
        stretch = max(self.path.length(state) - self.elastic[1], 0.0)
        return 0.5 * float(self.elastic[0]) * stretch**2

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        if self._given:
            run(add_work, u[self.at], self.path.spans(a, b).lengths, out)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if m.start is not None:
            spans, h = self.path.spans(m.start, m.state), 2.0 * m.ahead
            loss = self._set(spans, m.u, None, 0.0, h, True)[1]
        else:
            spans = self.path.spans(m.state)
            loss = self._set(spans, m.u, self.path.rates(spans, m.work), 0.0, 0.0, True)[1]
        run(add_scaled, scale, loss, out)

    def readings(self, moment: Moment) -> dict[str, Any]:
        """Tension of each span, N, and length of the path and slack, m."""
        spans, tension = self.now(moment)
        whole = float(spans.lengths[0].sum())
        slack = 0.0 if self._given else max(float(self.elastic[1]) - whole, 0.0)
        length = float(spans.lengths[0, self._reel :].sum())
        return {"tension": tension[self._reel :].copy(), "length": length, "slack": slack}


def terms(tree: Tree) -> list[Term]:
    """The tendons through via-points of a robot."""
    return [_term(tree, tendon) for tendon in tree.description.of(Tendon).values()]


def _term(tree: Tree, tendon: Tendon) -> Term:
    if tendon.friction:
        return FrictionTendon(tree, tendon)
    if tendon.drive == "tension":
        return TensionTendon(tree, tendon)
    given = (tree, tendon, tendon.whole_path, tendon.slack, tendon.drive == "length")
    if tendon.stiffness is None:
        return PathRow(*given)
    row = ElasticPathRow(*given)
    row.stiffness_EA = tendon.stiffness
    return row


@kernel
def set_all(u, out):  # type: ignore[no-untyped-def]
    """out[:] = u_0."""
    for i in range(out.shape[0]):
        out[i] = u[0]
