"""Bases that inputs move, between the ends of a step.

A joint is known at both ends, with velocities and accelerations. Within a step its coordinates are
q0 o x(t) with a polynomial x of fourth degree that has coordinates and velocities at both ends and the
acceleration at the first; its velocities are the cubic through velocities and accelerations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import copy, put_values, take
from pliant.engine.program import ask, run
from pliant.physics.effects import Effects
from pliant.rods.contract import Array, Ints
from pliant.tree.nodes import Nodes, PartNodes

_TERMS = 5
_ROUNDING = 1e-13
"""How far a joint that rests goes in a step, rad or m."""


class Guide:
    """One joint whose motion inputs prescribe.

    places, velocities : where its coordinates and velocities stand among the prescribed ones.
    way (nv, 5), speeds (nv, 4) : coefficients of x and of the velocities, in parts of the step.
    """

    def __init__(self, own: PartNodes, places: Ints, velocities: Ints) -> None:
        self.part, self.at, self.joint = own.part, own.at, own.part.joint
        self.places, self.velocities = places, velocities
        nv = self.joint.nv
        self.index = np.arange(nv)
        self.start, self._end = np.zeros(self.joint.nq), np.zeros(self.joint.nq)
        self.way, self.speeds = np.zeros((nv, _TERMS)), np.zeros((nv, 4))
        self._v, self._acc, self._x = np.zeros((2, nv)), np.zeros((2, nv)), np.zeros(nv)
        """Velocities and accelerations at both ends of the step."""
        self._change, self._slope = np.zeros(nv), np.zeros((nv, nv))

    def begin(self, v: Array, acc: Array, h: float) -> None:
        """Begin a motion where the state is, with velocities and accelerations (nv,)."""
        self.start[...] = self.at.joint_q
        self._v[...], self._acc[...] = v, acc
        self.way[...] = self.speeds[...] = 0.0
        self.way[:, 1], self.way[:, 2] = h * v, 0.5 * h * h * acc
        self.speeds[:, 0], self.speeds[:, 1] = v, h * acc

    def changing(self) -> list[Array]:
        """All that a step changes."""
        return [self.start, self.way, self.speeds, self._v, self._acc]

    def plan(self, q: Array, joint_q: Array, joint_v: Array, joint_acc: Array, h: float) -> None:
        """Go in h seconds from coordinates q (nq,) of the robot to those of all prescribed joints."""
        copy(q[self.part.joint_slice], self.start)
        for values, source in ((self._v, joint_v), (self._acc, joint_acc)):
            copy(values[1], values[0])
            take(source, self.velocities, values[1])
        take(joint_q, self.places, self._end)
        ask(self.joint.set_change, self.start, self._end, self._change, self._slope)
        given = (h, self._change, self._slope, self._v, self._acc)
        run(plan_way, *given, self.way, self.speeds)

    def go(self, now: Array) -> None:
        """Set the coordinates of the joint where the part now (1,) of the step is over."""
        run(values_at, now, self.way, self._x)
        ask(self.joint.move, self.start, self._x, self.index, self.at.joint_q)

    def write_rates(self, now: Array, v: Array) -> None:
        """Write the velocities of the joint to the rates v (total,)."""
        run(values_at, now, self.speeds, self._x)
        put_values(self._x, self.part.joint_index, v)


class Guides:
    """All joints of a robot whose motion inputs prescribe, and the work that they do.

    parts : numbers of their parts.  heavy (n, 6, 6) : inertia at their bases, with all that they carry.
    """

    def __init__(self, effects: Effects, nodes: Nodes) -> None:
        self.nodes, tree = nodes, effects.tree
        self.parts = [i for i, own in enumerate(nodes.parts) if own.guided]
        self.each, at, number = list[Guide](), 0, 0
        for i, driver in tree.drivers.items():
            nq, nv = len(driver.coordinates), len(driver.velocities)
            places, velocities = np.arange(at, at + nq), np.arange(number, number + nv)
            self.each.append(Guide(nodes.parts[i], places, velocities))
            at, number = at + nq, number + nv
        self.heavy = [nodes.inertia[i][0] for i in self.parts]
        self._kinetic, self._power = np.zeros(1), np.zeros(2)
        """Kinetic energy of the bases at the start of the step, J; power of the drives, W, and what of
        it lifts the mass of the bases."""
        self.own = np.zeros(1)
        """Part of the work that the mass of the bases has taken up, J."""
        self.moved = np.zeros(1, dtype=np.int64)
        """Whether any of them has moved since this was last set to zero."""

    def begin(self, v: Array, acc: Array, h: float) -> None:
        """Begin a motion with rates and accelerations (total,)."""
        self.own[0] = 0.0
        for guide in self.each:
            index = guide.part.joint_index
            guide.begin(v[index], acc[index], h)

    def changing(self) -> list[Any]:
        """All that a step changes."""
        own = [x for guide in self.each for x in guide.changing()]
        return [*own, self._kinetic, self.own, self.moved] if own else []

    def plan(self, q: Array, joint_q: Array, joint_v: Array, joint_acc: Array, h: float) -> None:
        """Set where the joints go in the next h seconds."""
        for guide in self.each:
            guide.plan(q, joint_q, joint_v, joint_acc, h)
            run(note_motion, guide.way, self.moved)

    def add_work(
        self, share: float, h: Array, fields: list[Array], rates: Array, account: Array
    ) -> None:
        """Add share h_0 times the power of the drives to account_0, but that which moves the mass of
        the bases; fields (3, C) accelerate the nodes of each part, rates (total,) are those of the
        robot.
        """
        for i, heavy in zip(self.parts, self.heavy, strict=True):
            own = self.nodes.parts[i]
            pulls = (own.nodes.torque, own.nodes.force, fields[i])
            where = (own.nodes.columns[:1], own.at.base, own.twist, heavy)
            run(drive_power, *where, *pulls, self._power)
            run(joint_power, own.part.joint_index, self.nodes.work.residual, rates, self._power)
            run(add_power, share, h, self._power, account, self.own)

    def add_kinetic(self, account: Array, stays: bool) -> None:
        """Add to account_0 the kinetic energy that the bases won in this step; stays : and begin the
        next one.
        """
        for count, (i, heavy) in enumerate(zip(self.parts, self.heavy, strict=True)):
            run(add_energy, count, self.nodes.parts[i].twist, heavy, self._power)
        if self.parts:
            run(add_change, stays, self._power, self._kinetic, account, self.own)


@kernel
def plan_way(h, change, slope, v, acc, way, speeds):  # type: ignore[no-untyped-def]
    """Coefficients of the way (nv, 5) and of the speeds (nv, 4) in h seconds, see the module."""
    for i in range(change.shape[0]):
        end = 0.0
        for j in range(change.shape[0]):
            end += h * slope[i, j] * v[1, j]
        first, half = h * v[0, i], 0.5 * h * h * acc[0, i]
        left, steep = change[i] - first - half, end - first - 2.0 * half
        way[i, 0], way[i, 1], way[i, 2] = 0.0, first, half
        way[i, 3], way[i, 4] = 4.0 * left - steep, steep - 3.0 * left
        a, b = h * acc[0, i], h * acc[1, i]
        gap = v[1, i] - v[0, i] - a
        speeds[i, 0], speeds[i, 1] = v[0, i], a
        speeds[i, 2], speeds[i, 3] = 3.0 * gap - (b - a), (b - a) - 2.0 * gap


@kernel
def values_at(now, coefficients, out):  # type: ignore[no-untyped-def]
    """out (n,) : polynomials with coefficients (n, m) at now_0."""
    last = coefficients.shape[1] - 1
    for i in range(out.shape[0]):
        x = coefficients[i, last]
        for k in range(last - 1, -1, -1):
            x = coefficients[i, k] + now[0] * x
        out[i] = x


@kernel
def note_motion(way, moved):  # type: ignore[no-untyped-def]
    """moved_0 = 1 if the way (nv, m) leads anywhere."""
    for i in range(way.shape[0]):
        for k in range(way.shape[1]):
            if abs(way[i, k]) > _ROUNDING:
                moved[0] = 1


@kernel
def drive_power(columns, base, twist, M, torque, force, field, power):  # type: ignore[no-untyped-def]
    """power_0 : what it takes to move the node in columns_0 with a body twist (6,) against torque and
    force (3, C), gradients, and against a field (3, C) on its mass M (6, 6); base (4, 4) is its pose.

    power_1 : the part against the field.
    """
    c, total, lifts, mass = columns[0], 0.0, 0.0, M[5, 5]
    centre = (M[2, 4], M[0, 5], M[1, 3])  # mass times the place of the centre
    for a in range(3):
        b, d = (a + 1) % 3, (a + 2) % 3
        # momentum of the node in its axes, along which the field pulls
        p = mass * twist[3 + a] + twist[b] * centre[d] - twist[d] * centre[b]
        f, g = 0.0, 0.0
        for k in range(3):
            f += base[k, a] * force[k, c]
            g += base[k, a] * field[k, c]
        total += torque[a, c] * twist[a] + f * twist[3 + a]
        lifts -= g * p
    power[0], power[1] = total + lifts, lifts


@kernel
def joint_power(index, residual, rates, power):  # type: ignore[no-untyped-def]
    """power_0 += what it takes to move a joint against springs, dampers and friction in it."""
    for at in index:
        power[0] += residual[at] * rates[at]


@kernel
def add_power(share, h, power, account, own):  # type: ignore[no-untyped-def]
    """account_0 += share h_0 power_0 and own_0 += share h_0 power_1."""
    account[0] += share * h[0] * power[0]
    own[0] += share * h[0] * power[1]


@kernel
def add_energy(count, twist, M, energy):  # type: ignore[no-untyped-def]
    """energy_0 += twist^T M twist / 2, M (6, 6); energy_0 begins anew with the first, count = 0."""
    if count == 0:
        energy[0] = 0.0
    for i in range(6):
        for j in range(6):
            energy[0] += 0.5 * twist[i] * M[i, j] * twist[j]


@kernel
def add_change(stays, energy, before, account, own):  # type: ignore[no-untyped-def]
    """account_0 += energy_0 - before_0; stays : own_0 too, and before_0 = energy_0."""
    account[0] += energy[0] - before[0]
    if stays:
        own[0] += energy[0] - before[0]
        before[0] = energy[0]
