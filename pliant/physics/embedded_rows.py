"""Tendons embedded in rods whose length is given: one multiplier, the tension.

The gap of `path_rows` with the length of the channels in place of spans between via-points; the only
span is the way to the reel. Its derivative touches all coordinates of the rods, which is one full row
of the matrix. In a variational step a tendon that cannot stretch is met at the end of the step, and its
impulse leaves the start; one that can has the secant of its potential between both ends as tension,
along the tangents at the mean strains of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.model.registry import Effect
from pliant.physics import channel
from pliant.physics.channel_columns import ChannelColumns
from pliant.physics.channel_route import ChannelRoute
from pliant.physics.contract import Moment, Step
from pliant.physics.path_rows import ElasticPathRow, PathRow, meet_secant
from pliant.physics.paths import Path
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class ChannelRow(PathRow):
    """A tendon in channels that cannot stretch.

    Slopes (1, 6 K + 6 S) are those in the twists of K frames, then in the strains at S stations.
    """

    compiled = True
    route: ChannelRoute

    def close(self, tree: Tree) -> None:
        super().close(tree)
        self.rest[0] += self.route.length(tree.rest) - self.route.straight
        every = [tree.frame_columns(*side) for side in self.sides]
        self._channel_columns = ChannelColumns(tree, self.route.channels, every)
        self.columns = self._channel_columns.columns
        self._places = [self._channel_columns.find(numbers) for numbers in every]
        self._augmented = False
        counts = np.cumsum([6 * len(self.sides), *(6 * len(c.rows) for c in self.route.channels)])
        self._at_strains = [slice(a, b) for a, b in pairwise(counts.tolist())]
        self._unit = [np.ones(len(c.rows)) for c in self.route.channels]

    # -- measure -----------------------------------------------------------------------------------

    def measured(self, state: State) -> tuple[Array, Array]:
        gap, slopes = np.zeros(1), np.zeros((1, self._at_strains[-1].stop))
        self.set_gaps(state, gap, slopes)
        return gap, slopes

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        super().set_gaps(state, gap, slopes[:, : 6 * len(self.sides)])
        self.route.add_length(state, gap)
        self._set_stresses([c.strains(state) for c in self.route.channels], slopes)

    def _set_stresses(self, strains: list[Array], slopes: Array) -> None:
        """Write the derivatives of the length in the strains (S, 6) of each channel."""
        for c, e, at in zip(self.route.channels, strains, self._at_strains, strict=True):
            run(channel.set_gradient, c.rows, c.felt, e, slopes[0, at].reshape(-1, 6))

    def _in_columns(self, state: State, slopes: Array) -> Array:
        A = super()._in_columns(state, slopes)
        own = [slopes[0, at].reshape(-1, 6) for at in self._at_strains]
        self._channel_columns.add(state, own, A[0])
        return A

    def _add_wrench(self, work: Work, slopes: Array, force: Array, scale: float) -> None:
        super()._add_wrench(work, slopes, force, scale)
        self._add_stress(work, slopes, force, scale)

    def _add_stress(self, work: Work, slopes: Array, force: Array, scale: float) -> None:
        for c, at in zip(self.route.channels, self._at_strains, strict=True):
            sigma = work.parts[c.i].sigma[c.at]
            run(add_scaled_rows, force, scale, slopes[0, at].reshape(-1, 6), sigma)

    def _add_bends(self, work: Work, strains: list[Array], force: Array, scale: float) -> None:
        """Add scale times the second derivatives of the length times the force (1,)."""
        given = zip(self.route.channels, strains, self._unit, strict=True)
        for c, e, unit in given:
            w = work.parts[c.i]
            rule = (c.rows, unit, force, 0.0, scale, c.felt, e)
            run(channel.add_pull, *rule, w.sigma[c.at], w.full[c.at])

    # -- what acts ---------------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        super().act(m)
        if m.tangent is not None:
            force, strains = np.zeros(1), [c.strains(m.state) for c in self.route.channels]
            gap = self.measured(m.state)[0]
            rule = (self.stiffness, self.compliance, self.rows, m.z)
            keep = np.zeros(len(m.z)) if m.keep is None else m.keep
            run(set_force, *rule, keep, gap, force)
            self._add_bends(m.work, strains, force, 1.0)

    def add_bends(self, state: State, z: Array, work: Work, scale: float) -> None:
        super().add_bends(state, z, work, scale)
        force = np.zeros(1)
        run(take_force, self.rows, z, force)
        self._add_bends(work, [c.strains(state) for c in self.route.channels], force, scale)

    def arrive(self, step: Step) -> None:
        """Take back what of its stress would arrive at b: all of its impulse leaves a."""
        if self.hard:
            force = np.zeros(1)
            run(take_force, self.rows, step.z, force)
            slopes = self.measured(step.a)[1]
            self._add_stress(step.work, slopes, force, step.h * (1.0 / step.first - 1.0))

    def _between(self, step: Step, share: float) -> tuple[Array, list[Array]]:
        """Slopes with frames at a and strains within the step, and these strains."""
        slopes, strains = self.measured(step.a)[1], []
        for c in self.route.channels:
            met = np.zeros((len(c.rows), 6))
            run(channel.between, c.strains(step.a), c.strains(step.b), share, met)
            strains.append(met)
        self._set_stresses(strains, slopes)
        return slopes, strains

    def _add_leaving(self, step: Step, slopes: Array, held: Array) -> None:
        assert step.tangent is not None
        A = self._in_columns(step.a, slopes)
        self._add_rows(step.tangent, A, held, 0.0, step.h * step.first)

    def add_held_stress(
        self, i: int, s: Array, e: Array, z: Array, stress: Array, slope: Array
    ) -> None:
        force = np.zeros(1)
        run(take_force, self.rows, z, force)
        self.route.add_stress_at(i, s, e, force, stress, slope)

    def own_length(self, state: State) -> float:
        """Length of the tendon in its channels and between them, m."""
        return self.route.length(state)


class ElasticChannelRow(ChannelRow, ElasticPathRow):
    """A tendon in channels that stretches by its compliance, m/N."""

    compiled = True

    def go(self, step: Step) -> None:
        implicit, share = step.implicit, step.first if step.implicit else 0.0
        spans = self.path.spans(step.a, step.b, between=implicit)
        own, lengths, slope, force = np.zeros(2), np.zeros((3, 2)), np.zeros(1), np.zeros(1)
        clear(own)
        for k, state in enumerate((step.a, step.b)):
            self.route.add_length(state, own[k : k + 1])
        run(join_lengths, spans.lengths, own, lengths)
        rule = (self.rest, lengths, implicit, self.compliance)
        run(meet_secant, *rule, self.rows, step.z, step.work.residual, slope)
        run(take_force, self.rows, step.z, force)
        slopes, strains = self._between(step, share)
        add_reel(self.path, step, force)
        self._add_stress(step.work, slopes, force, step.h * step.first)
        if step.tangent is not None:
            one = np.ones(1)
            A = self._in_columns(step.b, self.measured(step.b)[1])
            self._add_rows(step.tangent, A, one, slope, 0.0)
            self._add_leaving(step, slopes, one)
            self._add_own(step.tangent, one, 1.0)
            self._add_bends(step.work, strains, force, step.h * step.first * share)


def embedded_row(
    tree: Tree,
    effect: Effect,
    points: Sequence[Any],
    slack: float,
    stiffness: float | None,
    route: ChannelRoute,
) -> ChannelRow:
    """The row of a tendon along a route; points : reel and the place that it is pulled to."""
    given = (tree, effect, points, slack, True)
    if stiffness is None:
        row = ChannelRow(*given)
    else:
        row = ElasticChannelRow(*given)
        row.stiffness_EA = stiffness
    row.route = route
    return row


def add_reel(path: Path, step: Step, force: Array) -> None:
    """Add the impulses of a tension (1,) between a reel and the rod that it stands on.

    Along the way at either end: there they cancel on the rod, however far the reel is and however the
    rod turns in the step.
    """
    scale = step.h * step.first
    path.add(path.spans(step.a), force, scale, step.work)
    if step.implicit:
        path.add_arriving(path.spans(step.b), force, scale - step.h, step.work)


@kernel
def add_scaled_rows(force, scale, rows, out):  # type: ignore[no-untyped-def]
    """out (S, 6) += scale force_0 rows."""
    for s in range(rows.shape[0]):
        for i in range(6):
            out[s, i] += scale * force[0] * rows[s, i]


@kernel
def set_force(stiffness, compliance, rows, z, keep, gap, force):  # type: ignore[no-untyped-def]
    """force_0 = the multiplier where the row holds, see `frame_rows.meet_rows`; zero else."""
    at = rows[0]
    psi = gap[0] - compliance * z[at] - keep[at]
    force[0] = z[at] if z[at] + stiffness[0] * psi > 0.0 else 0.0


@kernel
def take_force(rows, z, force):  # type: ignore[no-untyped-def]
    """force_0 = z[rows_0]."""
    force[0] = max(z[rows[0]], 0.0)


@kernel
def join_lengths(spans, own, out):  # type: ignore[no-untyped-def]
    """Columns of out (3, 2): the span to the reel (3, 1), and the own lengths (2,) with their sum."""
    for k in range(3):
        out[k, 0] = spans[k, 0]
    out[0, 1], out[1, 1], out[2, 1] = own[0], own[1], own[0] + own[1]
