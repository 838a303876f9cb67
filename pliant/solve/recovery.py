"""Strains recovered from balance, and how far the strains of a formulation are from them.

What acts beyond a section, found by balance alone, is the internal wrench W there, and the law of the
rod turns it into a strain e*. The formulation has the strain e. Their difference d = e* - e, the strain
defect, is what the formulation could not represent. Sections that follow it are displaced by

    z(s) = z(0) + int_0^s Ad(g) d ds,

a twist in the world frame. Wrenches are in the world frame about its origin too, so that those of
carried parts are added as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask, run
from pliant.lie import se3
from pliant.lie.blocks import wrench_to_body
from pliant.lie.se3_kernels import exp_pose_array, multiply_array
from pliant.rods.contract import Array, Ints, Plan, RodMap
from pliant.tree.collect import add_vector, station_values
from pliant.tree.panels import (
    Panels,
    integrate,
    make_panels,
    partial_weights,
    span_of,
)
from pliant.tree.part import Part
from pliant.tree.state import State

_SAME = 1e-9
"""Distance, in lengths of the rod, below which a point is at the end of a span."""


class Acting(NamedTuple):
    """Where wrenches act on a part.

    w (Q,) : weights of the mass rule.  twin (Q,) : point that carries more of the line load at the same
    place, -1 for none.  order (M,) : all other points, by their arclength.  beyond (S,) : the first of
    them that is not before each section.  panels : from the mass rule to the sections.
    """

    w: Array
    twin: Ints
    order: Ints
    beyond: Ints
    panels: Panels


class Points(NamedTuple):
    """Points inside spans of the sections, where the internal wrench jumps between sections.

    station (M,) : frame station.  s (M,) : arclength, m.  span (M,) : its span.  weights (M, k) : of
    the sections of the span, from its start to the point.  order (T,), first (N + 1,) : targets by
    span.
    """

    station: Ints
    s: Array
    span: Ints
    weights: Array
    order: Ints
    first: Ints


class Sections:
    """Sections of one part with their internal wrenches and strain defects.

    They are the stations of its strain rule, or of its mass rule if that has more: at the fewest points
    that a rule can have, Gauss points, strains agree with recovered ones better than anywhere else. A
    map may have a rule of its own for them.
    W (S, 6) internal wrenches and d (S, 6) strain defects, body frame; z (F + S, 6) displacements of
    all frame stations, then of the sections; P (F, 6) what acts at the frame stations, `carried` (F, 6)
    what carried parts add to it, total (6,) the sum of all.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        count, F = len(part.mass_w), len(part.frames_s)
        more, rule = count > len(part.strain_s), part.map.section_rule()
        weights = part.mass_w if more else np.max(part.strain_w, axis=1)
        self.s, w = rule or (part.mass_s[:count] if more else part.strain_s, weights)
        S = len(self.s)
        self.w = np.asarray(w)
        self.places = np.concatenate([part.frames_s, self.s])
        known = part.one_rule or part.rod is None or (more and not part.centred)
        self._frames = None if known and rule is None else part.map.frames(self.s)
        self._strains = part.map.strains(self.s) if more or rule else None
        self.P, self.carried, self.total = np.zeros((F, 6)), np.zeros((F, 6)), np.zeros(6)
        self.T, self.W, self.d, self.own, self.turned = (np.zeros((S, 6)) for _ in range(5))
        self.passed = np.zeros(3)
        """Moment (3,), world frame, that points pass to the base without bending the rod."""
        self.back = np.tile(np.eye(4), (F, 1, 1))
        """Poses of sections (F, 4, 4) in the frames of their stations."""
        self.back[len(part.mass_s) :] = se3.inverse(part.point_X)
        self.z, self.moved = np.zeros((F + S, 6)), np.zeros((S, 4, 4))
        self.slope = np.zeros((S if part.coupled else 0, 6, 6))
        """Derivative (S, 6, 6) of the stress `own` besides that of linear elasticity."""
        self.acting = self._acting()
        breaks = part.map.breaks if S else np.array([0.0, 1.0])
        self.panels = make_panels(breaks, self.s, self.places)
        self.points = self._points()
        rod = part.rod
        self.felt = np.any(part.strain_w > 0.0, axis=0).astype(float)
        own = type(part.map).section_strain is not RodMap.section_strain
        self.seen = np.ones(6) if own else self.felt
        """Strains (6,) that may differ from those that balance asks for: 1 or 0."""
        self.soft = np.zeros((S, 6))
        """Compliance (S, 6) of the strains, zero for those that are held."""
        self.refill()
        self.natural = np.zeros((S, 6)) if rod is None else rod.natural_strain(self.s)

    def refill(self) -> None:
        """Take over the numbers of the part."""
        part = self.part
        if part.rod is not None:
            self.soft[...] = self.felt / part.rod.stiffness(self.s)
        if part.rigid:
            self.soft[:, part.field_rows] = 0.0

    def _acting(self) -> Acting:
        part, count = self.part, len(self.part.mass_w)
        line, places = part.mass_s[:count], part.frames_s
        twin = np.full(count, -1, dtype=np.int64)
        points = np.arange(count, len(places))
        if part.centred:  # line loads that turn with the sections act at points of their own
            first = len(part.mass_s)
            for k, X in zip(range(first, len(places)), part.point_X, strict=True):
                match = np.flatnonzero(line == places[k])
                if len(match) and np.array_equal(X, np.eye(4)):
                    twin[match[0]] = k
        points = np.setdiff1d(points, twin)
        order = points[np.argsort(places[points], kind="stable")]
        beyond = np.searchsorted(places[order], self.s - 1e-12 * part.length)
        breaks = part.map.breaks if count else np.array([0.0, 1.0])
        return Acting(part.mass_w, twin, order, beyond, make_panels(breaks, line, self.s))

    def _points(self) -> Points:
        panels, order, places = self.panels, self.acting.order, self.part.frames_s
        far = np.abs(places[order, None] - panels.edges) > _SAME * self.part.length
        station = order[far.all(axis=1)] if len(self.s) else order[:0]
        span = span_of(panels.edges, places[station])
        weights = np.zeros((len(station), panels.whole.shape[1]))
        for row, k, n in zip(weights, station, span, strict=True):
            stations = self.s[panels.first[n] : panels.first[n + 1]]
            given = stations[None], panels.edges[[n]], places[[k]]
            row[: len(stations)] = partial_weights(*given)[0]
        by_span = np.argsort(panels.span, kind="stable")
        first = np.searchsorted(panels.span[by_span], np.arange(len(panels.edges)))
        return Points(station, places[station], span, weights, by_span, first)

    def soften(self) -> None:
        """Let the stress besides that of linear elasticity resist the defects."""
        both = np.eye(6) + self.soft[:, :, None] * self.slope
        self.d[...] = np.linalg.solve(both, self.d[:, :, None])[:, :, 0]

    # -- passes ------------------------------------------------------------------------------------

    def frames(self, state: State, i: int) -> Array:
        """World poses (S, 4, 4) of the sections of part i."""
        at = state.parts[i]
        if self._frames is None:
            return at.g[: len(self.s)]
        ask(self.part.map.frame, self._frames, at.c)
        return self._frames.g

    def strains(self, state: State, i: int) -> Plan:
        """Strains e (S, 6) of the sections of part i, and their derivatives B (S, 6, m)."""
        at = state.parts[i]
        if self._strains is None:
            return at.strain
        ask(self.part.map.section_strain, self._strains, at.c)
        return self._strains

    def note_sections(
        self, note: Callable[..., None], first: int, y: Array, largest: Array
    ) -> None:
        """Let a kernel look at sections that are no frame stations, after `frames` of the same state.

        first : of the sections in z.  y (E, m) : rates of element variables that respond.
        """
        if self._frames is None or not len(self.s):
            return
        plan, eta = self._frames, self.turned
        run(station_values, self.part.first_variable, plan.element, plan.J, y, eta)
        run(note, plan.g, self.z[first:], eta, largest)

    def add_stress(self, plan: Plan, stress: Array, ry: Array) -> None:
        """Add to ry (E, m) what stresses (S, 6) at the sections, times their weights, do."""
        run(add_vector, plan.element, plan.B, stress, ry)

    def set_wrenches(self, g: Array, p: Array, base: Array, sections: Array, W: Array) -> None:
        """Set W (S, 6) and the total from gradients p (F, 6) at the frame stations g (F, 4, 4).

        base (4, 4) : pose of the base.
        """
        run(world_wrenches, g, p, self.carried, self.P)
        clear(self.passed)
        if self.part.map.shortest_turn:
            run(pass_torques, g, self.back, base, self.P, self.passed)
        run(set_tails, self.acting, self.P, self.T, self.total)
        run(add_first, self.passed, self.total)
        run(section_wrenches, sections, self.T, W)

    def set_displacements(self, sections: Array, start: Array) -> None:
        """Set z from the defects, with z (6,) at the base."""
        run(turn_defects, sections, self.d, self.turned)
        if len(self.points.station):
            given = self.points, self.panels, self.places, self.s, sections, self.soft, self.P
            run(part_at_points, *given, self.turned, self.z)
            run(integrate_more, self.panels, self.turned, start, self.z)
        else:
            run(integrate, self.panels, self.turned, start, self.z)


# -- wrenches and twists between the world and sections ------------------------------------------------


@inner
def wrench_in_world(g, x, scale, out):  # type: ignore[no-untyped-def]
    """out (6,) += scale Ad(g)^-T x: a body wrench (6,) about the origin of the world."""
    for i in range(3):
        for j in range(3):
            out[i] += scale * g[i, j] * x[j]
    f0 = scale * (g[0, 0] * x[3] + g[0, 1] * x[4] + g[0, 2] * x[5])
    f1 = scale * (g[1, 0] * x[3] + g[1, 1] * x[4] + g[1, 2] * x[5])
    f2 = scale * (g[2, 0] * x[3] + g[2, 1] * x[4] + g[2, 2] * x[5])
    out[0] += g[1, 3] * f2 - g[2, 3] * f1
    out[1] += g[2, 3] * f0 - g[0, 3] * f2
    out[2] += g[0, 3] * f1 - g[1, 3] * f0
    out[3] += f0
    out[4] += f1
    out[5] += f2


@inner
def twist_in_world(g, x, out):  # type: ignore[no-untyped-def]
    """out (6,) = Ad(g) x: a body twist in the world frame."""
    for i in range(3):
        out[i] = g[i, 0] * x[0] + g[i, 1] * x[1] + g[i, 2] * x[2]
        out[3 + i] = g[i, 0] * x[3] + g[i, 1] * x[4] + g[i, 2] * x[5]
    out[3] += g[1, 3] * out[2] - g[2, 3] * out[1]
    out[4] += g[2, 3] * out[0] - g[0, 3] * out[2]
    out[5] += g[0, 3] * out[1] - g[1, 3] * out[0]


# -- kernels -------------------------------------------------------------------------------------------


@kernel
def world_wrenches(g, p, carried, P):  # type: ignore[no-untyped-def]
    """P (F, 6) = carried - Ad(g)^-T p: wrenches from gradients p (F, 6) at frames g (F, 4, 4)."""
    for k in range(g.shape[0]):
        for i in range(6):
            P[k, i] = carried[k, i]
        wrench_in_world(g[k], p[k], -1.0, P[k])


@kernel
def pass_torques(g, back, base, P, passed):  # type: ignore[no-untyped-def]
    """Replace torques about the tangents of the sections g back (F, 4, 4) in P (F, 6) by bending.

    Sections that turn from the base tangent t0 to their own t by the shortest turn spin by
    -(t0 x t).dt / (1 + c), c = t0.t. A torque tau t does the same work as the moment
    -tau (t0 - c t) / (1 + c); the rest goes to the base, and is added to `passed` (3,).
    """
    x, h = np.zeros(6), np.zeros((4, 4))
    for k in range(g.shape[0]):
        multiply_array(g[k], back[k], h)
        wrench_to_body(h, P[k], x)
        c = base[0, 2] * h[0, 2] + base[1, 2] * h[1, 2] + base[2, 2] * h[2, 2]
        for i in range(3):
            new = -x[2] * (h[i, 2] + (base[i, 2] - c * h[i, 2]) / max(1.0 + c, 1e-9))
            P[k, i] += new
            passed[i] -= new


@kernel
def add_first(x, out):  # type: ignore[no-untyped-def]
    """out (n,) += x (m,), the first entries of the longer one."""
    for i in range(min(x.shape[0], out.shape[0])):
        out[i] += x[i]


@kernel
def set_tails(acting, P, T, total):  # type: ignore[no-untyped-def]
    """T (S, 6) = all that acts beyond each section, of the wrenches P (F, 6); total (6,) = all."""
    w, order = acting.w, acting.order
    Q, M = w.shape[0], order.shape[0]
    f, nothing, suffix = np.zeros((Q, 6)), np.zeros(6), np.zeros((M + 1, 6))
    for i in range(6):
        total[i] = 0.0
    for k in range(Q):
        for i in range(6):
            force = P[k, i]
            if acting.twin[k] >= 0:
                force += P[acting.twin[k], i]
            total[i] += force
            f[k, i] = force / w[k]
    integrate(acting.panels, f, nothing, T)
    for k in range(M - 1, -1, -1):
        for i in range(6):
            suffix[k, i] = suffix[k + 1, i] + P[order[k], i]
    for t in range(T.shape[0]):
        for i in range(6):
            T[t, i] = total[i] - T[t, i] + suffix[acting.beyond[t], i]
    for i in range(6):
        total[i] += suffix[0, i]


@kernel
def section_wrenches(g, T, W):  # type: ignore[no-untyped-def]
    """W (S, 6) = Ad(g)^T T, in the frames g (S, 4, 4) of the sections."""
    for s in range(g.shape[0]):
        wrench_to_body(g[s], T[s], W[s])


@kernel
def set_defects(soft, natural, seen, W, own, e, d):  # type: ignore[no-untyped-def]
    """d (S, 6) = natural + soft (W - own) - e of the strains that are seen (6,), else zero.

    own (S, 6) : stress besides that of linear elasticity.
    """
    for s in range(d.shape[0]):
        for i in range(6):
            d[s, i] = seen[i] * (natural[s, i] + soft[s, i] * (W[s, i] - own[s, i]) - e[s, i])


@kernel
def turn_defects(g, d, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = Ad(g) d."""
    for s in range(d.shape[0]):
        twist_in_world(g[s], d[s], out[s])


@kernel
def part_at_points(points, panels, places, s, g, soft, P, turned, z):  # type: ignore[no-untyped-def]
    """Take the jump of the internal wrench at points inside spans out of `turned` (S, 6).

    What it adds to the displacements is integrated up to the point only, and written to z (T, 6).
    """
    N, k = panels.whole.shape
    later, F, x = np.zeros((N + 1, 6)), np.zeros((k, 6)), np.zeros(6)
    for t in range(z.shape[0]):
        for i in range(6):
            z[t, i] = 0.0
    for m in range(points.station.shape[0]):
        n, f = points.span[m], P[points.station[m]]
        begin, count = panels.first[n], panels.first[n + 1] - panels.first[n]
        for a in range(count):
            at = begin + a
            wrench_to_body(g[at], f, x)
            for i in range(6):
                x[i] *= soft[at, i]
            twist_in_world(g[at], x, F[a])
            for i in range(6):
                later[n + 1, i] += points.weights[m, a] * F[a, i]
                if s[at] <= points.s[m]:
                    turned[at, i] -= F[a, i]
        for b in range(points.first[n], points.first[n + 1]):
            t = points.order[b]
            for a in range(count):
                w = panels.weights[t, a] if places[t] < points.s[m] else points.weights[m, a]
                for i in range(6):
                    z[t, i] += w * F[a, i]
    for n in range(N):
        for i in range(6):
            later[n + 1, i] += later[n, i]
    for t in range(z.shape[0]):
        for i in range(6):
            z[t, i] += later[panels.span[t], i]


@kernel
def integrate_more(panels, f, start, z):  # type: ignore[no-untyped-def]
    """z (T, 6) += start + integral of f (S, 6) up to each target."""
    more = np.zeros(z.shape)
    integrate(panels, f, start, more)
    for t in range(z.shape[0]):
        for i in range(6):
            z[t, i] += more[t, i]


@kernel
def displace_frame(g, z, scale, out):  # type: ignore[no-untyped-def]
    """out (4, 4) = exp(scale_0 z) g for a twist z (6,) in the world frame."""
    x = np.zeros(6)
    for i in range(6):
        x[i] = scale[0] * z[i]
    exp_pose_array(x, out)
    multiply_array(out, g, out)


@kernel
def displace(g, z, scale, out):  # type: ignore[no-untyped-def]
    """out (S, 4, 4) = exp(scale_0 z) g for twists z (S, 6) in the world frame."""
    for s in range(g.shape[0]):
        displace_frame(g[s], z[s], scale, out[s])
