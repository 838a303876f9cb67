"""Tendons embedded in rods that rub in their channels, driven by tension or by length.

What arrives of the pull at each station follows from the capstan formula (`channel_friction`); its
derivative in all strains makes one full block of the tangent. A tendon whose length is given is an
elastic rope that stretches as a whole, by the tension at its pulled end, as in `tendons`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.model.routing import Routed
from pliant.physics import channel, channel_friction
from pliant.physics.capstan import INCREMENTS, SIGNS, STICKS, renew_sliding
from pliant.physics.channel_columns import ChannelColumns
from pliant.physics.channel_route import ChannelRoute
from pliant.physics.contract import KernelTerm, Moment, Step
from pliant.physics.embedded_rows import add_reel
from pliant.physics.path_kernels import add_wrenches
from pliant.physics.path_rows import add_row
from pliant.physics.paths import Path
from pliant.physics.rope_law import add_work, set_force
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_SAME = 1e-9
"""Distance, in lengths of its rods, below which two ends of a tendon meet."""


@dataclass
class Pieces:
    """The N pieces of a tendon at strains e (S, 6) of each channel.

    lengths (1, N) and slopes (N, 6), their derivatives in the strains of the stations; phi (N + 1,) the
    angles before them, here and back (N + 1, 6) those of the angles, see `channel_friction`.
    """

    e: list[Array]
    lengths: Array
    slopes: Array
    phi: Array
    here: Array
    back: Array


@dataclass
class Arriving:
    """tension (1,) of the pulled end and its slope (1,) in the length; the part of it that arrives at
    the stations, sigma and its derivative in what slides, all (N,).
    """

    tension: Array
    slope: Array
    share: Array
    sigma: Array
    steep: Array


@dataclass(frozen=True)
class Rubbing:
    """How a tendon rubs and what drives it.

    friction, creep (m/s), sliding : as described. to_reel : the way to a reel, empty for a given
    tension; stiffness : EA then, N, and slack, m.
    """

    friction: float
    creep: float
    sliding: str
    to_reel: Sequence[Any] = ()
    stiffness: float = 0.0
    slack: float = 0.0


class RubbingTendon(KernelTerm):
    """A tendon in channels with friction; its input is the tension, N, or it is on a reel."""

    compiled = True

    def __init__(self, tree: Tree, tendon: Routed, rubbing: Rubbing) -> None:
        self.rubbing, self.name, self.label = rubbing, tendon.name, tendon.label
        self.route = ChannelRoute(tree, tendon)
        self.channels, self.bridges = self.route.channels, self.route.bridges
        self.squeezes = self.squeezes_at_once = self.route.squeezes
        self._given = not rubbing.to_reel
        self.reel: Path | None = None
        if self._given:
            self.input, self.size = tendon.name, 1
        else:
            self.reel, self.column = Path(tree, rubbing.to_reel, coupled=False), "elastic"
        self.count = sum(len(c.rows) for c in self.channels)
        self.depends_on_way = rubbing.sliding == "way"
        self.increments = INCREMENTS if self.depends_on_way else 1
        self.memory = 2 * self.count if self.depends_on_way else 0

    def close(self, tree: Tree) -> None:
        self._sides = [side for side in (self.reel.sides if self.reel else ()) if side is not None]
        every = [tree.frame_columns(*side) for side in self._sides]
        self.columns = ChannelColumns(tree, self.channels, every)
        self._places = [self.columns.find(numbers) for numbers in every]
        given, length = self.rubbing, self.measure(tree.rest) + self.rubbing.slack
        own = length - self._to_reel(tree.rest)
        self.elastic = np.array([given.stiffness / own, length, 0.0, 1.0, 1.0])
        give = STICKS * own if self.depends_on_way else 0.0
        self.rule = np.array([given.friction, given.creep, SIGNS[given.sliding], 0.0, give])

    def _to_reel(self, state: State) -> float:
        return 0.0 if self.reel is None else self.reel.length(state)

    def measure(self, state: State) -> float:
        """Length at a configuration with the way to a reel, m."""
        return self.route.length(state) + self._to_reel(state)

    def pairs(self) -> list[Pair]:
        columns = self.columns.columns[None]
        return [(columns, columns)]

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return False

    def active(self, u: Array) -> bool:
        return True

    def symbolic(self, x: Symbols) -> None:
        x.refuse(self, "leave out its friction")

    # -- memory of the way -------------------------------------------------------------------------

    def remember(self, m: Moment, memory: Array) -> None:
        """It begins without friction: nothing has slid yet."""
        memory[...] = 0.0
        memory[: self.count] = self._lengths(m.state)[0]

    def come_to_rest(self, m: Moment, memory: Array) -> None:
        run(renew_sliding, self.rule, self._lengths(m.state), memory.reshape(2, -1))

    def _was(self, m: Moment | None) -> Array:
        """What it remembers at rest (2, N); not a number where nothing is known."""
        if m is None or m.memory is None or not self.memory:
            return np.full((2, self.count), np.nan)
        return m.memory[self.memory_at].reshape(2, -1)

    # -- pieces and tensions -----------------------------------------------------------------------

    def _pieces(self, e: list[Array]) -> Pieces:
        """The pieces at strains e (S, 6) of each channel."""
        N = self.count
        lengths, slopes = np.zeros((1, N)), np.zeros((N, 6))
        phi, here, back = np.zeros(N + 1), np.zeros((N + 1, 6)), np.zeros((N + 1, 6))
        for k, (c, x) in enumerate(zip(self.channels, e, strict=True)):
            first = self.columns.stations[k][0]
            run(channel_friction.set_pieces, c.rows, c.felt, x, first, lengths, slopes)
            run(channel_friction.set_turns, c.rows, c.tail, c.felt, x, first, phi, here, back)
            if k:
                self._add_corner(k, e, (first, phi, here, back))
        return Pieces(e, lengths, slopes, phi, here, back)

    def _add_corner(self, k: int, e: list[Array], out: tuple[Any, ...]) -> None:
        """Add the angles at both ends of the straight piece before channel k."""
        length, straight, turned = self.bridges[k - 1]
        c, d, one = self.channels[k - 1], self.channels[k], np.eye(3)
        P, Q = c.rows[-1], d.rows[0]
        ends = (P, e[k - 1][-1], one, c.felt), (Q, e[k][0], turned, d.felt)
        if length <= _SAME * c.whole:
            run(channel_friction.add_kink, *ends[0], *ends[1], *out)
            return
        # a straight line is a channel without offset along strains whose v is its direction
        line = (np.zeros(8), np.concatenate([np.zeros(3), straight]), one, np.zeros(6))
        run(channel_friction.add_kink, *ends[0], *line, *out)
        run(channel_friction.add_kink, *line, *ends[1], *out)

    def _lengths(self, state: State) -> Array:
        """Lengths (1, N) of the pieces."""
        return self._pieces([c.strains(state) for c in self.channels]).lengths

    def _rates(self, pieces: Pieces, work: Work) -> Array:
        """Rates (N,) of the pieces from the strain rates in `work`, m/s."""
        rates = np.zeros(self.count)
        for c, (first, _) in zip(self.channels, self.columns.stations, strict=True):
            run(channel_friction.set_rates, pieces.slopes, work.parts[c.i].rate[c.at], first, rates)
        return rates

    def _whole(self, a: State, b: State | None = None) -> Array:
        """Whole lengths (3, 1) at a, at b, and their sum, m."""
        out = np.zeros((3, 1))
        run(set_whole, self.route.straight, out)
        for k, state in enumerate((a, a if b is None else b)):
            self.route.add_length(state, out[k])
        if self.reel is not None:
            run(add_whole, self.reel.spans(a, b).lengths, out)
        return out

    def _pulled(self, u: Array, whole: Array, h: float, implicit: bool) -> tuple[Array, Array]:
        """Tension (1,) of the pulled end and its derivative (1,) in the length at b."""
        tension, slope = np.zeros(1), np.zeros(1)
        clear(slope)
        if self._given:
            return u[self.at], slope
        rates, loss = np.zeros(1), np.zeros(1)
        run(set_force, self.elastic, whole, rates, 0.0, h, implicit, tension, slope, loss)
        return tension, slope

    def _at_moment(self, m: Moment) -> tuple[Pieces, Arriving, Array]:
        """Pieces, what arrives at them, and their rates (N,), at one configuration."""
        pieces = self._pieces([c.strains(m.state) for c in self.channels])
        moving = m.v is not None
        rates = self._rates(pieces, m.work) if moving else np.zeros(self.count)
        pulled = self._pulled(m.u, self._whole(m.state), 0.0, True)
        given = (pieces.phi, pieces.lengths, np.zeros((2, 0)), rates, not moving, self._was(m))
        return pieces, self._arriving(pulled, given, m.speed if moving else 0.0, 0.0), rates

    def _arriving(
        self, pulled: tuple[Array, Array], given: tuple[Any, ...], speed: float, h: float
    ) -> Arriving:
        share, sigma, steep = np.zeros(self.count), np.zeros(self.count), np.zeros(self.count)
        run(channel_friction.set_shares, self.rule, *given, speed, h, share, sigma, steep)
        return Arriving(*pulled, share, sigma, steep)

    def _in_step(
        self, a: State, b: State, u: Array, h: float, implicit: bool, share: float
    ) -> tuple[Pieces, Pieces, Arriving, Array]:
        """Pieces at strains of which `share` is of b, those at b, what arrives, lengths (2, N)."""
        ends = [[c.strains(x) for c in self.channels] for x in (a, b)]
        met = []
        for before, after in zip(*ends, strict=True):
            met.append(np.zeros(before.shape))
            run(channel.between, before, after, share, met[-1])
        start, end, pieces = (self._pieces(e) for e in (*ends, met))
        lengths = np.zeros((2, self.count))
        run(stack_lengths, start.lengths, end.lengths, lengths)
        pulled = self._pulled(u, self._whole(a, b), h, implicit)
        given = (pieces.phi, pieces.lengths, lengths, np.zeros(self.count), False, self._was(None))
        return pieces, end, self._arriving(pulled, given, 0.0, h), lengths

    # -- what acts ---------------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        pieces, arriving, _ = self._at_moment(m)
        self._add(m.work, pieces, arriving, 1.0, 0.0 if m.tangent is None else 1.0)
        if self.reel is not None:
            self.reel.add(self.reel.spans(m.state), arriving.tension, 1.0, m.work)
        if m.tangent is not None:
            left = self._columns(pieces.slopes, D := self.columns.strains(m.state))
            reel = self._reel_columns(m.state)
            turns = self._turns(pieces, D, 1.0)
            self._add_block(m, arriving, pieces, (left, turns, left, reel, reel), 1.0)

    def go(self, step: Step) -> None:
        h, implicit = step.h, step.implicit
        share, scale = (step.first if implicit else 0.0), step.h * step.first
        met, end, arriving, _ = self._in_step(step.a, step.b, step.u, h, implicit, share)
        slope = 0.0 if step.tangent is None else scale * share
        self._add(step.work, met, arriving, scale, slope)
        if self.reel is not None:
            add_reel(self.reel, step, arriving.tension)
        if step.tangent is not None:
            before, after = (self.columns.strains(x) for x in (step.a, step.b))
            left, right = self._columns(met.slopes, before), self._columns(end.slopes, after)
            reels = (self._reel_columns(step.a), self._reel_columns(step.b))
            turns = self._turns(met, after, share)
            self._add_block(step, arriving, met, (left, turns, right, *reels), scale)

    def _add(
        self, work: Work, pieces: Pieces, arriving: Arriving, scale: float, slope: float
    ) -> None:
        for c, e, (first, last) in zip(self.channels, pieces.e, self.columns.stations, strict=True):
            w = work.parts[c.i]
            given = (c.rows, arriving.share[first:last], arriving.tension, scale, slope, c.felt, e)
            run(channel.add_pull, *given, w.sigma[c.at], w.full[c.at])

    def _columns(self, slopes: Array, D: Array) -> Array:
        """(N, n): derivatives of the lengths of the pieces."""
        out = np.zeros((self.count, D.shape[2]))
        run(channel_friction.set_length_columns, slopes, D, out)
        return out

    def _reel_columns(self, state: State) -> Array:
        """(n,): derivative of the way to the reel."""
        out = np.zeros(len(self.columns.columns))
        clear(out)
        if self.reel is None:
            return out
        spans, count = self.reel.spans(state), len(self._sides)
        slopes, unit = np.zeros((count, 6)), np.ones(self.reel.count - 1)
        clear(slopes)
        rows = np.array([k for k, side in enumerate(self.reel.sides) if side is not None])
        where = (np.arange(count), rows, self.reel.offsets, spans.Ra)
        run(add_wrenches, spans.n, unit, 1.0, *where, slopes)
        for slope, side, places in zip(slopes, self._sides, self._places, strict=True):
            run(add_row, slope, state.frame_jacobian(*side), places, out)
        return out

    def _turns(self, pieces: Pieces, D: Array, share: float) -> Array:
        """(N, n): `share` of the derivatives of the angles."""
        out = np.zeros((self.count, D.shape[2]))
        run(channel_friction.set_turn_columns, pieces.here, pieces.back, D, share, out)
        return out

    def _add_block(
        self,
        m: Moment | Step,
        arriving: Arriving,
        pieces: Pieces,
        columns: tuple[Array, ...],
        scale: float,
    ) -> None:
        """Add what the tensions change: derivatives (N, n) of the lengths that are pulled, of the
        angles and of the lengths that slide, and (n,) of the way to the reel, pulled and sliding.
        """
        assert m.tangent is not None
        n = len(self.columns.columns)
        block, ahead = np.zeros((1, n, n)), np.zeros((self.count, n))
        clear(block)
        tensions = (arriving.tension, arriving.slope, pieces.phi)
        falls = (arriving.share, arriving.sigma, arriving.steep)
        given = (self.rubbing.friction, *tensions, *falls, *columns, scale, ahead)
        run(channel_friction.add_block, *given, block[0])
        m.tangent.add(m.tangent.effects[self.number][0], block)

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        arriving = None
        for k, c in enumerate(self.channels):
            at = c.within(s)
            if c.i != i or at is None:
                continue
            arriving = self._at_moment(m)[1] if arriving is None else arriving
            first, last = self.columns.stations[k]
            rows, share = c.table(s[at], np.ones(at.stop - at.start)), np.zeros(at.stop - at.start)
            where = np.interp(s[at], c.part.strain_s[c.at], np.arange(float(last - first)))
            start = arriving.share[first : first + 1]
            ahead = float(s[at.start] - c.part.strain_s[c.at.start])
            given = (rows, self.rubbing.friction, e[at], ahead, start, where)
            run(channel_friction.set_section_shares, *given, arriving.sigma[first:last], share)
            pull = (rows, share, arriving.tension, 1.0, 1.0, np.ones(6), e[at])
            run(channel.add_pull, *pull, stress[at], slope[at])

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        if self.reel is None:
            return []
        tension = self._pulled(m.u, self._whole(m.state), 0.0, True)[0]
        return self.reel.wrenches(self.reel.spans(m.state), tension)

    # -- what results tell -------------------------------------------------------------------------

    def readings(self, m: Moment) -> dict[str, Any]:
        """Tension of each piece, N, and length and slack, m."""
        _, arriving, _ = self._at_moment(m)
        length = self.route.length(m.state)
        whole = length + self._to_reel(m.state)
        slack = 0.0 if self._given else max(float(self.elastic[1]) - whole, 0.0)
        tension = arriving.share * float(arriving.tension[0])
        return {"tension": tension, "length": length, "slack": slack}

    def energy(self, state: State, u: Array) -> float:
        stretch = max(self.measure(state) - float(self.elastic[1]), 0.0)
        return 0.5 * float(self.elastic[0]) * stretch**2

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        if self._given:
            run(add_work, u[self.at], self._whole(a, b), out)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if m.start is not None:
            h = 2.0 * m.ahead
            _, _, arriving, ends = self._in_step(m.start, m.state, m.u, h, True, 0.5)
            given = (arriving.tension, arriving.share, np.zeros(self.count), ends, h)
        else:
            _, arriving, rates = self._at_moment(m)
            given = (arriving.tension, arriving.share, rates, np.zeros((2, 0)), 0.0)
        run(channel_friction.add_loss, *given, scale, out)


@kernel
def set_whole(length, out):  # type: ignore[no-untyped-def]
    """out (3, 1) = (length, length, 0)."""
    out[0, 0] = out[1, 0] = length
    out[2, 0] = 0.0


@kernel
def add_whole(spans, out):  # type: ignore[no-untyped-def]
    """out (3, 1) += lengths of spans (3, K)."""
    for k in range(3):
        for i in range(spans.shape[1]):
            out[k, 0] += spans[k, i]


@kernel
def stack_lengths(a, b, out):  # type: ignore[no-untyped-def]
    """out (2, N) = lengths a and b (1, N)."""
    for k in range(out.shape[1]):
        out[0, k], out[1, k] = a[0, k], b[0, k]
