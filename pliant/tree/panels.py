"""Integrals along a rod of what is known at the stations of a quadrature rule.

Within each span between breaks the integrand is the polynomial through its values at the stations of
that span, so that integrals up to any arclength are as accurate as the rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.engine.by_value import by_value
from pliant.rods.contract import Array, Ints

_GROUP = 4
"""Stations of a group where a span has so many that one polynomial through all of them oscillates."""


class Panels(NamedTuple):
    """Weights of the integrals from the start of a rod to T targets.

    edges (N + 1,) : of the spans, m.  first (N + 1,) : number of the first station of each span.
    span (T,) : the span of each target.
    weights (T, k) : of the stations of its span, from the start of the span to the target.
    whole (N, k) : of the stations of each span, over the span.
    """

    edges: Array
    first: Ints
    span: Ints
    weights: Array
    whole: Array


@by_value(128)
def make_panels(breaks: Array, s: Array, targets: Array) -> Panels:
    """Weights for stations s (S,), increasing, between breaks (N + 1,), and for targets (T,), m."""
    edges = _edges(breaks, s)
    first = np.searchsorted(s, edges)
    first[0], first[-1] = 0, len(s)
    span, counts = span_of(edges, targets), np.diff(first)
    most = int(np.max(counts))
    weights, whole = np.zeros((len(targets), most)), np.zeros((len(counts), most))
    for k in np.unique(counts[counts > 0]):
        spans, inside = np.flatnonzero(counts == k), np.flatnonzero(counts[span] == k)
        of = np.concatenate([spans, span[inside]])
        ends = np.concatenate([edges[spans + 1], targets[inside]])
        stations = s[first[of][:, None] + np.arange(k)]
        rows = partial_weights(stations, edges[of], ends)
        whole[spans, :k], weights[inside, :k] = rows[: len(spans)], rows[len(spans) :]
    return Panels(edges, first.astype(np.int64), span, weights, whole)


def span_of(edges: Array, s: Array) -> Ints:
    """Number (S,) of the span that holds each arclength; at an edge, of the one that begins there."""
    return np.clip(np.searchsorted(edges, s, side="right") - 1, 0, len(edges) - 2)


def partial_weights(stations: Array, starts: Array, ends: Array) -> Array:
    """Weights (T, k) of stations (T, k) in integrals from `starts` to `ends` (T,), m."""
    middle = 0.5 * (stations[:, :1] + stations[:, -1:])
    half = 0.5 * (stations[:, -1:] - stations[:, :1])
    half = np.where(half > 0.0, half, 1.0)
    powers = np.arange(stations.shape[1]) + 1
    a, b = (((x[:, None] - middle) / half) ** powers for x in (starts, ends))
    basis = ((stations - middle) / half)[:, None, :] ** (powers[:, None] - 1)
    return np.asarray(np.linalg.solve(basis, (half * (b - a) / powers)[:, :, None])[:, :, 0])


def _edges(breaks: Array, s: Array) -> Array:
    """Breaks (N + 1,) of spans that have stations, and not so many that a polynomial oscillates."""
    counts = np.diff(np.searchsorted(s, breaks[1:-1]), prepend=0, append=len(s))
    edges = [float(breaks[0])]
    at = 0
    for count, a, b in zip(counts, breaks[:-1], breaks[1:], strict=True):
        stations, at = s[at : at + count], at + count
        if count > _GROUP and _oscillates(stations, a, b):
            cuts = np.arange(_GROUP, count - _GROUP + 1, _GROUP)
            edges += [float(x) for x in 0.5 * (stations[cuts - 1] + stations[cuts])]
        if count:
            edges.append(float(b))
    edges[max(1, len(edges) - 1) :] = [float(breaks[-1])]
    return np.array(edges)


def _oscillates(stations: Array, a: float, b: float) -> bool:
    """Whether the polynomial through stations between a and b has large negative weights."""
    weights = partial_weights(stations[None], np.array([a]), np.array([b]))
    return float(np.sum(np.abs(weights))) > 1.5 * (b - a)


@kernel
def integrate(panels, f, start, out):  # type: ignore[no-untyped-def]
    """out_t (T, 6) = start + integral of f (S, 6) up to target t; start (6,)."""
    N = panels.whole.shape[0]
    sums = np.zeros((N + 1, 6))
    for n in range(N):
        for i in range(6):
            sums[n + 1, i] = sums[n, i]
        for a in range(panels.first[n + 1] - panels.first[n]):
            for i in range(6):
                sums[n + 1, i] += panels.whole[n, a] * f[panels.first[n] + a, i]
    for t in range(out.shape[0]):
        n = panels.span[t]
        for i in range(6):
            out[t, i] = start[i] + sums[n, i]
        for a in range(panels.first[n + 1] - panels.first[n]):
            for i in range(6):
                out[t, i] += panels.weights[t, a] * f[panels.first[n] + a, i]
