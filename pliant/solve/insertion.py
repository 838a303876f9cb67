"""A configuration of nested tubes carried over to the mesh of another insertion.

Intervals between the breaks of the centreline become longer or shorter, and strains stay with them:
the jump of the curvature at the tip of a tube goes where the tip goes. Tubes keep the angle of each
of their sections as they slide. Where breaks come or go, the centreline stays where it is in space
instead, and the new coordinates are those of least squares.

That displaces the sections at given arclengths, during the move with a twist that is called the
*drift*. The momentum of the robot does not change. So the rates on the new mesh are those of least
kinetic energy of the difference to the old velocities less the new drift.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.lie import se3
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array, Configuration, Plan, RodMap
from pliant.rods.nested import NestedConfiguration, NestedMap, RelativeMotion
from pliant.rods.quadrature import gauss_per_span
from pliant.solve.mass import Mass
from pliant.solve.sampling import Sampler
from pliant.tree.forward import set_rates
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.work import Work

_BETWEEN = 3
"""Sections in each interval whose poses are matched."""
_POSES = 30.0
"""Weight of poses against strains, all made plain numbers."""
_ITERATIONS, _STEP = 12, 1e-10
"""Most Gauss-Newton iterations, and the correction at which they end."""
_SAMPLES = 5
"""Points in each span at which angles are matched."""


@dataclass
class Moving:
    """A state on a mesh: coordinates q (nq,), rates v (total,), and the drift of the mesh.

    drift : twists (F, 6) of the frame stations of each part that come on top of the rates; in a nest,
    of the sections there.
    """

    q: Array
    v: Array
    drift: list[Array]


def at_rest(effects: Effects, q: Array, v: Array) -> Moving:
    """A state on a mesh that does not move."""
    drift = [np.zeros((len(part.frames_s), 6)) for part in effects.tree.parts]
    return Moving(np.array(q), np.array(v), drift)


def carry_over(source: Sampler, now: Moving, to: Sampler, inputs: Inputs, seconds: float) -> Moving:
    """The state on the mesh of `to` of one on that of `source`.

    inputs : what prescribes joints and angles then.  seconds : that the move takes; infinite to look at
    a state, whose rates then have all of its velocity.
    """
    old, new = source.effects, to.effects
    q = refitted(source, now.q, to, inputs)
    before, state, twists, drifts = source.at(now.q), to.at(q), [], []
    motion = _Motion(old, before, now)
    for i, mine in enumerate(new.tree.parts):
        velocity, moved = motion.of(i, mine, state.parts[i])
        drifts.append(moved / seconds)
        twists.append(_at_points(mine, velocity - drifts[i]))
    known = new.prescribed.rates(inputs.drive)[0] if new.prescribed.names else None
    mass = Mass(new)
    return Moving(q, mass.solve(state, mass.momentum_of(state, twists), known=known), drifts)


def refitted(source: Sampler, q: Array, to: Sampler, inputs: Inputs) -> Array:
    """Coordinates (nq,) on the mesh of `to` of a configuration on that of `source`; inputs as above."""
    old, new = source.effects, to.effects
    before, found = source.at(q), new.tree.q_rest.copy()
    for mine, theirs, at in zip(new.tree.parts, old.tree.parts, before.parts, strict=True):
        found[mine.joint_slice] = q[theirs.joint_slice]
        nest = isinstance(mine.map, NestedMap)
        found[mine.q_slice] = _refitted(mine.map, theirs.map, at.c) if nest else q[theirs.q_slice]
    return new.prescribed.put(found, inputs.drive) if new.prescribed.names else found


def drift_energy(sampler: Sampler, now: Moving) -> float:
    """Kinetic energy with the drift less that of the rates alone, J."""
    tree = sampler.tree
    state, work = sampler.at(now.q), Work(tree)
    set_rates(tree, state, work, now.v, strains=False)
    total = 0.0
    for part, w, drift in zip(tree.parts, work.parts, now.drift, strict=True):
        eta, more = (x[: part.inertial] for x in (w.eta, _at_points(part, drift)))
        total += float(np.sum(part.M * more * (eta + 0.5 * more)))
    return total


def _at_points(part: Part, twists: Array) -> Array:
    """Twists (F, 6) at the points of the frame stations of a nest, from those of the sections."""
    if not isinstance(part.map, NestedMap):
        return twists
    count = len(part.mass_s)
    points = np.einsum("sij,sj->si", part.point_A, twists[count:])
    return np.concatenate([twists[:count], points])


class _Motion:
    """The motion on the old mesh, seen from the stations of the new one."""

    def __init__(self, old: Effects, before: State, now: Moving) -> None:
        self.tree, self.before, self.now = old.tree, before, now
        self.work = Work(old.tree)
        set_rates(old.tree, before, self.work, now.v, strains=False)
        self.lifted = old.tree.variations(before, now.v)[1]

    def of(self, i: int, mine: Part, after: PartState) -> tuple[Array, Array]:
        """Velocities (F, 6) of the frame stations of part i, and the twists by which they moved."""
        before, theirs, drift = self.before.parts[i], self.tree.parts[i].map, self.now.drift[i]
        if not (isinstance(mine.map, NestedMap) and isinstance(theirs, NestedMap)):
            moved = se3.log(se3.inverse(before.g) @ after.g)
            return self.work.parts[i].eta + drift, np.asarray(moved)
        there, beyond = _counterparts(mine.map, theirs, mine.frames_s)
        here = mine.map.frames(mine.frames_s)
        plan = theirs.frames(there)
        theirs.frame(plan, before.c)
        mine.map.frame(here, after.c)
        extended = se3.exp(np.outer(beyond, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
        twists = np.einsum("sia,sa->si", plan.J, self.lifted[i][plan.element])
        twists += _interpolated(theirs, self.tree.parts[i].frames_s, drift, there)
        twists = np.einsum("sij,sj->si", se3.Ad(se3.inverse(extended)), twists)
        return twists, np.asarray(se3.log(se3.inverse(plan.g @ extended) @ here.g))


def _counterparts(new: NestedMap, old: NestedMap, s: Array) -> tuple[Array, Array]:
    """Stations (S,) of the old map for those s of the new one: of a tube the same section, of the
    centreline the same arclength; and by how much they are beyond its tip, m.
    """
    tube = new.decoded(s)[0]
    beyond = np.where(tube < 0, np.maximum(s - old.centre.length, 0.0), 0.0)
    return s - beyond + (tube + 1) * (old.stride - new.stride), beyond


def _interpolated(nest: NestedMap, s: Array, values: Array, at: Array) -> Array:
    """Values (S, 6) at stations of a nest, from those at its frame stations s, tube by tube."""
    tubes, wanted = nest.decoded(s)[0], nest.decoded(at)[0]
    found = np.zeros((len(at), 6))
    for k in np.unique(wanted):
        rows, own = wanted == k, np.flatnonzero(tubes == k)
        if len(own):
            own = own[np.argsort(s[own], kind="stable")]
            columns = [np.interp(at[rows], s[own], column) for column in values[own].T]
            found[rows] = np.stack(columns, axis=1)
    return found


def _refitted(new: RodMap, old: RodMap, c: Configuration) -> Array:
    """Coordinates (nq,) in the map of a nest of the shape that c has in another one."""
    assert isinstance(new, NestedMap) and isinstance(old, NestedMap)
    assert isinstance(c, NestedConfiguration)
    q = new.rest()
    q[: new.host.nq] = _centreline(new, old, c)
    extra = q[new.host.nq :]
    for mine, theirs in zip(new.fields, old.fields, strict=True):
        if mine.count:
            extra[mine.first : mine.first + mine.count] = _angles(mine, theirs, old, c)
    return q


class _Wanted:
    """Strains and poses of a centreline at places s, straight on beyond its tip."""

    def __init__(self, old: NestedMap, c: NestedConfiguration) -> None:
        self.map, self.c, self.length = old.host, c.host, old.centre.length
        self.scale: tuple[Array, Array] | None = None
        """Places of the new centreline and those of the old one with their strains."""

    def strains(self, s: Array) -> Array:
        s = s if self.scale is None else np.interp(s, *self.scale)
        plan = self.map.strains(np.minimum(s, self.length))
        self.map.strain(plan, self.c)
        return plan.e

    def poses(self, s: Array) -> Array:
        plan = self.map.frames(np.minimum(s, self.length))
        self.map.frame(plan, self.c)
        beyond = np.maximum(s - self.length, 0.0)
        if not beyond.any():
            return plan.g
        tip = self.strains(np.array([self.length]))[0]
        return np.asarray(plan.g @ se3.exp(beyond[:, None] * tip))


def _centreline(new: NestedMap, old: NestedMap, c: NestedConfiguration) -> Array:
    """Coordinates of the centreline in the new map by Gauss-Newton."""
    host, length, wanted = new.host, new.centre.length, _Wanted(old, c)
    s, w = host.strain_rule()
    knots = [np.array([0.0, *x.centre.breaks, x.centre.length]) for x in (new, old)]
    same = len(knots[0]) == len(knots[1])
    scale = np.sqrt(np.abs(w) / length) * np.repeat([length, 1.0], 3)
    marks, g = np.zeros(0), np.zeros((0, 4, 4))
    if same:
        wanted.scale = (knots[0], knots[1])
        e = wanted.strains(s)
        q = c.host.q.copy() if host.nq == old.host.nq else _first_guess(new, wanted)
    else:
        shares = np.arange(1, _BETWEEN + 1) / _BETWEEN
        marks = (host.breaks[:-1, None] + np.diff(host.breaks)[:, None] * shares).ravel()
        e, g, q = wanted.strains(s), wanted.poses(marks), _first_guess(new, wanted)
    strains, frames = host.strains(s), host.frames(marks)
    turn = np.tile(_POSES / np.repeat([1.0, length], 3), (len(marks), 1))
    weights, at = np.concatenate([scale, turn]), host.configuration()
    for _ in range(_ITERATIONS):
        host.update(at, c.base, q)
        host.strain(strains, at)
        host.frame(frames, at)
        gap = np.concatenate([e - strains.e, se3.log(se3.inverse(frames.g) @ g)])
        A = _slopes(host, at, strains, frames, weights)
        x = np.zeros(6 + host.nv)
        x[6:] = _solved(A, (weights * gap).ravel())
        q = host.retract(at, c.base, x)
        if np.abs(x).max() < _STEP * max(1.0, float(np.abs(q).max())):
            break
    return q


def _solved(A: Array, b: Array) -> Array:
    """Least squares; of what does not matter, the smallest."""
    N = A.T @ A
    N[np.diag_indices(len(N))] += 1e-13 * float(np.trace(N)) / len(N)
    return np.asarray(np.linalg.solve(N, A.T @ b))


def _first_guess(new: NestedMap, wanted: _Wanted) -> Array:
    """Coordinates of a rod that has such strains at rest."""
    shaped, other = copy(new.centre), copy(new.host)

    def natural(s: Any) -> Array:
        return wanted.strains(np.ravel(s)).reshape(*np.shape(s), 6)

    object.__setattr__(shaped, "natural_strain", natural)
    other.rod = shaped
    return other.rest()


def _slopes(host: RodMap, c: Configuration, strains: Plan, frames: Plan, weights: Array) -> Array:
    """Derivatives (6 S, nv) of strains, then of poses, times weights (S, 6), in own coordinates."""
    element = np.concatenate([strains.element, frames.element])
    blocks = weights[:, :, None] * np.concatenate([strains.B, frames.J])
    (E, n), m = host.elements.shape, host.m
    order = np.argsort(element, kind="stable")
    first = np.searchsorted(element[order], np.arange(E))
    place = np.empty(len(element), dtype=np.int64)
    place[order] = np.arange(len(element)) - first[element[order]]
    most = int(place.max()) + 1
    Cy, C = np.zeros((E, 6 * most, m)), np.zeros((E, 6 * most, n))
    rows = 6 * place[:, None] + np.arange(6)
    Cy[element[:, None], rows] = blocks
    host.lift_rows(c, Cy, C)
    lifted = C[element[:, None], rows].reshape(-1, n)
    columns = np.repeat(host.elements[element], 6, axis=0)
    A = np.zeros((len(lifted), 6 + host.nv))
    used = columns >= 0
    np.add.at(A, (np.nonzero(used)[0], columns[used]), lifted[used])
    return A[:, 6:]


def _angles(
    new: RelativeMotion, old: RelativeMotion, nested: NestedMap, c: NestedConfiguration
) -> Array:
    """Coefficients (count,) of the angle of a tube, or of how far it slid, section by section."""
    s, w = gauss_per_span(new.along.spans, _SAMPLES)
    plan = nested.frames(nested.station(old.k) + np.clip(s - new.start, 0.0, old.along.tube.length))
    nested.frame(plan, c)
    value, slope = plan.theta, plan.slope
    if new.slides:
        value, slope = plan.shift - plan.behind, plan.stretch
    ids, N, dN = new.functions(s)
    size = float(np.diff(new.along.spans).max())
    A = np.zeros((2 * len(s), new.count + new.tip_is_fixed))
    rows = np.arange(len(s))[:, None]
    columns = np.where(ids < 0, new.count, ids - new.first)
    A[rows, columns] = N
    A[len(s) + rows, columns] = size * dN
    root = np.sqrt(np.concatenate([w, w]))
    b = root * np.concatenate([value, size * slope])
    return np.asarray(np.linalg.lstsq(root[:, None] * A[:, : new.count], b, rcond=1e-12)[0])
