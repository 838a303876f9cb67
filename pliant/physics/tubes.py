"""Bending and twist of nested tubes, each in its own frame, elastic and viscous.

A tube turned by theta against the centreline with curvature u = (ux, uy) and twist uz has the strains
Rz(-theta) u and t = uz + theta'. With its curvature u* and twist t* at rest and r = Rz(theta) u*,

    U = 1/2 EI |u - r|^2 + 1/2 GJ (t - t*)^2                        per metre,
    R = 1/2 D |u' - theta' z x u|^2 + 1/2 Dt t'^2                   with time derivatives ',

the second one half of the power that is lost: a bent tube that turns about its axis loses energy too.
Both depend on a = (ux, uy, t, theta), which maps give at the stations of tubes (`rods.nested`) and in
which rods are nearly linear: a step meets the law at the mean of a, so that it is implicit in the
stiffness by which tubes turn each other. Behind the entry plane a straight part twists by
theta(0) less the angle of its base, against 1 / (integral of ds / GJ).

An equilibrium is sought in load steps from an unloaded robot. There all tubes are alike, curved as
their centreline at rest, and not turned: nothing acts between them. What makes them differ comes on
with the loads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine
from pliant.engine.program import run
from pliant.model import Rod, slides
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.joint_drives import add_input
from pliant.rods.contract import Array
from pliant.rods.nested import NestedMap, RelativeMotion
from pliant.rods.quadrature import gauss_points
from pliant.tree.collect import add_bilinear, station_values
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work

_POINTS = 4
"""Stations in each span."""
_SHORTEST = 1e-6
"""Straight part of a tube that is clamped in the entry plane, in lengths of the centreline."""


class NestedTubes(KernelTerm):
    """All tubes of one nest.

    stiffness (X, 2) : EI and GJ times the weight of each station.  damping (X, 2) : likewise.
    alike (X, 3) : curvature and twist that all tubes have at rest in the unloaded robot.
    axial (X, 2), offset (X, 2) : stiffness and damping in stretch times the weight, and the axis, of
    tubes that slide; axial is zero for others.
    own (X, 3) : by which the rest of each tube differs, at straight parts by the angle of the base. Its
    input is the share of it that has come on.
    """

    compiled = True
    column = "elastic"
    size = 1
    always = 1.0

    def __init__(self, tree: Tree, i: int) -> None:
        self.i, self.part = i, tree.parts[i]
        nested = self.part.map
        assert isinstance(nested, NestedMap)
        rows = [row for k in range(len(nested.stretches)) for row in _stations(nested, k)]
        columns = (list(x) for x in zip(*rows, strict=True))
        places, stiffness, damping, alike, rest, axial, offset = columns
        self.first, self.count = len(self.part.inner_s), len(places)
        self.part.inner_s.extend(float(s) for s in places)
        self.stiffness, self.damping = np.array(stiffness), np.array(damping)
        self.alike = np.array(alike)
        self.own = np.array(rest) - self.alike
        self.axial, self.offset = np.array(axial), np.array(offset)
        self.sliding = bool(self.axial.any())
        self.viscous = bool(self.damping.any() or self.axial[:, 1].any())

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def active(self, u: Array) -> bool:
        return True

    def _own(self, values: Any) -> Any:
        """Those of the inner stations of the part that belong to the tubes."""
        return values[self.first : self.first + self.count]

    def _add(
        self, w: PartWork, u: Array, scale: float, grow: tuple[float, float], tangent: bool
    ) -> None:
        """Add scale times the stress where the law is met; `grow` : derivatives of strain and rate."""
        law = (self.stiffness, self.damping, self.alike, self.own, u[self.at])
        met, rate = self._own(w.inner_met), self._own(w.inner_rate)
        run(add_tube_stress, *law, met, rate, scale, self._own(w.inner))
        stretch = (self.axial, self.offset, met, rate)
        if self.sliding:
            run(add_axial_stress, *stretch, scale, self._own(w.inner))
        if tangent:
            full, grown = self._own(w.inner_full), (scale * grow[0], scale * grow[1])
            run(set_tube_slopes, *law, met, rate, *grown, full)
            if self.sliding:
                run(add_axial_slopes, self.axial, self.offset, *grown, full)

    def _add_slopes(self, a: PartState, b: PartState, w: PartWork) -> None:
        """Add to Ky the derivative of the stresses at a in the strains at b."""
        where = (self.part.first_variable, self._own(a.inner.element), self._own(a.inner.B))
        run(add_bilinear, *where, self._own(w.inner_full), self._own(b.inner.B), w.row, w.Ky)

    def act(self, m: Moment) -> None:
        at, w = m.state.parts[self.i], m.work.parts[self.i]
        rate, wanted = self._own(w.inner_rate), m.tangent is not None
        combine(1.0, self._own(at.inner.e), 0.0, rate, self._own(w.inner_met))
        if m.v is None or not self.viscous:
            clear(rate)
        else:
            where = (self.part.first_variable, self._own(at.inner.element))
            run(station_values, *where, self._own(at.inner.B), w.y, rate)
        self._add(w, m.u, 1.0, (1.0, m.speed), wanted)
        if wanted:
            self._add_slopes(at, at, w)

    def _meet(self, step: Step, w: PartWork) -> float:
        """Set strains and rates of a step; returns the share of the strains at its end."""
        a, b = (self._own(state.parts[self.i].inner.e) for state in (step.a, step.b))
        share = step.first if step.implicit else 0.0
        combine(1.0 - share, a, share, b, self._own(w.inner_met))
        combine(-1.0 / step.h, a, 1.0 / step.h, b, self._own(w.inner_rate))
        return share

    def go(self, step: Step) -> None:
        w, wanted = step.work.parts[self.i], step.tangent is not None
        share = self._meet(step, w)
        self._add(w, step.u, step.h * step.first, (share, 1.0 / step.h), wanted)
        if wanted:
            self._add_slopes(step.a.parts[self.i], step.b.parts[self.i], w)

    def arrive(self, step: Step) -> None:
        w = step.work.parts[self.i]
        self._meet(step, w)
        self._add(w, step.u, -step.h * (1.0 - step.first), (0.0, 0.0), False)

    def energy(self, state: State, u: Array) -> float:
        e = self._own(state.parts[self.i].inner.e)
        c, s = np.cos(e[:, 3]), np.sin(e[:, 3])
        x, y, twist = (self.alike + float(u[self.at][0]) * self.own).T
        bend = (e[:, 0] - c * x + s * y) ** 2 + (e[:, 1] - s * x - c * y) ** 2
        turn = (e[:, 2] - twist) ** 2
        stretch = e[:, 5] + e[:, 0] * self.offset[:, 1] - e[:, 1] * self.offset[:, 0] - 1.0
        bent = self.stiffness[:, 0] @ bend + self.stiffness[:, 1] @ turn
        return 0.5 * float(bent + self.axial[:, 0] @ stretch**2)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if self.viscous:
            w = m.work.parts[self.i]
            met, rate = self._own(w.inner_met), self._own(w.inner_rate)
            run(add_tube_loss, self.damping, self.axial, self.offset, met, rate, scale, out)


def _stations(nested: NestedMap, k: int) -> list[tuple[Any, ...]]:
    """Of tube k: stations with stiffness (2,), damping (2,), rest of all tubes (3,) and its own, and
    stiffness and damping in stretch (2,) with the offset (2,) of a tube that slides.
    """
    tube, first = nested.stretches[k].tube, nested.station(k)
    places, w = nested.tube_rule(k, _POINTS)
    s = np.clip(places - first, 0.0, tube.length)
    stiffness, damping = (x(s)[:, [0, 2]] * w[:, None] for x in (tube.stiffness, tube.damping))
    alike = nested.centre.natural_strain(nested.place(places))[:, :3]
    rest = tube.natural_strain(s)[:, :3]
    axial, offset = np.zeros((len(s), 2)), np.zeros((len(s), 2))
    if slides(tube):
        axial = np.stack([w * tube.stiffness(s)[:, 5], w * tube.damping(s)[:, 5]], axis=1)
        offset[:] = nested.stretches[k].offset
    columns = (places, stiffness, damping, alike, rest, axial, offset)
    rows: list[Any] = list(zip(*columns, strict=True))
    none = np.zeros(2)
    for field in nested.fields:
        if field.k == k and field.count:
            length = max(-field.start, _SHORTEST * nested.centre.length)
            stiff, viscous, twist = _straight_part(tube, length, field.row)
            turned = np.array([0.0, 0.0, field.described + (0.0 if field.slides else twist)])
            if field.torque is not None:  # the straight part passes the torque on
                stiff, viscous = none, none
            place = nested.guide_station(field)
            rows.append((place, stiff, viscous, np.zeros(3), turned, none, none))
    return rows


def _straight_part(tube: Rod, length: float, row: int) -> tuple[Array, Array, float]:
    """Stiffness (2,), damping (2,) and twist at rest, rad, of the first `length` metres of a tube.

    row : of the strain that it can have there, 2 for twist or 5 for stretch.
    """
    x, w = gauss_points(12)
    s, w = 0.5 * length * (x + 1.0), 0.5 * length * w
    s = np.minimum(s, tube.length)
    GJ, D = tube.stiffness(s)[:, row], tube.damping(s)[:, row]
    viscous = 1.0 / float(w @ (1.0 / D)) if (D > 0.0).all() else 0.0
    twist = float(w @ tube.natural_strain(s)[:, 2])
    return np.array([0.0, 1.0 / float(w @ (1.0 / GJ))]), np.array([0.0, viscous]), twist


@kernel
def add_tube_stress(stiffness, damping, alike, own, u, e, rate, scale, sigma):  # type: ignore[no-untyped-def]
    """sigma (X, 6) += scale times the derivatives of U in e and of R in the rates, both (X, 6).

    The rest is alike + u_0 own (X, 3).
    """
    for s in range(e.shape[0]):
        EI, GJ, D = scale * stiffness[s, 0], scale * stiffness[s, 1], scale * damping[s, 0]
        c, d = np.cos(e[s, 3]), np.sin(e[s, 3])
        x0, y0 = alike[s, 0] + u[0] * own[s, 0], alike[s, 1] + u[0] * own[s, 1]
        rx, ry = c * x0 - d * y0, d * x0 + c * y0
        x, y = e[s, 0], e[s, 1]
        vx, vy = rate[s, 0] + rate[s, 3] * y, rate[s, 1] - rate[s, 3] * x
        sigma[s, 0] += EI * (x - rx) + D * vx
        sigma[s, 1] += EI * (y - ry) + D * vy
        twist = e[s, 2] - alike[s, 2] - u[0] * own[s, 2]
        sigma[s, 2] += GJ * twist + scale * damping[s, 1] * rate[s, 2]
        sigma[s, 3] += EI * (x * ry - y * rx) + D * (vx * y - vy * x)


@kernel
def set_tube_slopes(stiffness, damping, alike, own, u, e, rate, grow, speed, k):  # type: ignore[no-untyped-def]
    """k (X, 6, 6) = grow times the derivative of `add_tube_stress` in e, plus speed times in rate."""
    for s in range(e.shape[0]):
        EI, D = grow * stiffness[s, 0], grow * damping[s, 0]
        V = speed * damping[s, 0]
        c, d = np.cos(e[s, 3]), np.sin(e[s, 3])
        x0, y0 = alike[s, 0] + u[0] * own[s, 0], alike[s, 1] + u[0] * own[s, 1]
        rx, ry = c * x0 - d * y0, d * x0 + c * y0
        x, y, w = e[s, 0], e[s, 1], rate[s, 3]
        vx, vy = rate[s, 0] + w * y, rate[s, 1] - w * x
        for i in range(6):
            for j in range(6):
                k[s, i, j] = 0.0
        k[s, 0, 0] = k[s, 1, 1] = EI + V
        k[s, 2, 2] = grow * stiffness[s, 1] + speed * damping[s, 1]
        k[s, 0, 1], k[s, 1, 0] = D * w, -D * w
        k[s, 0, 3], k[s, 1, 3] = EI * ry + V * y, -EI * rx - V * x
        k[s, 3, 0] = EI * ry + D * (w * x - vy) + V * y
        k[s, 3, 1] = -EI * rx + D * (w * y + vx) - V * x
        k[s, 3, 3] = EI * (x * rx + y * ry) + V * (x * x + y * y)


@kernel
def add_axial_stress(axial, offset, e, rate, scale, sigma):  # type: ignore[no-untyped-def]
    """sigma (X, 6) += scale times the stress of the stretch vz + ux y - uy x - 1 at offsets (x, y)."""
    for s in range(e.shape[0]):
        x, y = offset[s, 0], offset[s, 1]
        n = axial[s, 0] * (e[s, 5] + e[s, 0] * y - e[s, 1] * x - 1.0)
        n += axial[s, 1] * (rate[s, 5] + rate[s, 0] * y - rate[s, 1] * x)
        sigma[s, 0] += scale * n * y
        sigma[s, 1] -= scale * n * x
        sigma[s, 5] += scale * n


@kernel
def add_axial_slopes(axial, offset, grow, speed, k):  # type: ignore[no-untyped-def]
    """k (X, 6, 6) += the derivative of `add_axial_stress`, as in `set_tube_slopes`."""
    for s in range(k.shape[0]):
        x, y = offset[s, 0], offset[s, 1]
        n = grow * axial[s, 0] + speed * axial[s, 1]
        k[s, 0, 0] += n * y * y
        k[s, 0, 1] -= n * x * y
        k[s, 1, 0] -= n * x * y
        k[s, 1, 1] += n * x * x
        k[s, 0, 5] += n * y
        k[s, 5, 0] += n * y
        k[s, 1, 5] -= n * x
        k[s, 5, 1] -= n * x
        k[s, 5, 5] += n


@kernel
def add_tube_loss(damping, axial, offset, e, rate, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale times the power lost."""
    total = 0.0
    for s in range(e.shape[0]):
        pulled = rate[s, 5] + rate[s, 0] * offset[s, 1] - rate[s, 1] * offset[s, 0]
        total += axial[s, 1] * pulled * pulled
        vx, vy = rate[s, 0] + rate[s, 3] * e[s, 1], rate[s, 1] - rate[s, 3] * e[s, 0]
        total += damping[s, 0] * (vx * vx + vy * vy) + damping[s, 1] * rate[s, 2] * rate[s, 2]
    out[0] += scale * total


class TubeTorque(KernelTerm):
    """A torque on the base of a tube that is free to turn, N m; its straight part passes it on.

    So it acts on the angle in the entry plane. The base is ahead of it by the torque over the stiffness
    of the straight part. What holds the nest takes the opposite torque.
    """

    compiled = True
    size = 1

    def __init__(self, tree: Tree, i: int, field: RelativeMotion) -> None:
        self.part, self.input = tree.parts[i], field.torque
        assert isinstance(self.part.map, NestedMap)
        self.at_q, self.at_x = self.part.map.entry_value(field)

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def _add(self, work: Work, scale: float, u: Array) -> None:
        run(add_input, -scale, u[self.at], int(self.part.x_index[self.at_x]), work.residual)

    def act(self, m: Moment) -> None:
        self._add(m.work, 1.0, m.u)

    def leave(self, step: Step) -> None:
        self._add(step.work, step.h * step.first, step.u)

    def arrive(self, step: Step) -> None:
        self._add(step.work, -step.h * (1.0 - step.first), step.u)

    def _angle(self, state: State) -> Array:
        return state.q[self.part.q_slice][self.at_q : self.at_q + 1]

    def energy(self, state: State, u: Array) -> float:
        return -float(u[self.at][0] * self._angle(state)[0])

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        run(add_torque_work, u[self.at], self._angle(a), self._angle(b), out)


@kernel
def add_torque_work(u, a, b, out):  # type: ignore[no-untyped-def]
    """out_0 += u_0 (b_0 - a_0)."""
    out[0] += u[0] * (b[0] - a[0])


def _is_nest(part: Part) -> bool:
    return isinstance(part.map, NestedMap)


def terms(tree: Tree) -> list[Term]:
    """The tubes of a robot, one term for each nest, and the torques that turn them."""
    nests = [i for i, part in enumerate(tree.parts) if _is_nest(part)]
    found: list[Term] = [NestedTubes(tree, i) for i in nests]
    for i in nests:
        nested = tree.parts[i].map
        assert isinstance(nested, NestedMap)
        driven = [field for field in nested.fields if field.torque is not None and field.count]
        found += [TubeTorque(tree, i, field) for field in driven]
    return found
