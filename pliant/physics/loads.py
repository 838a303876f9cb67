"""Dead and follower loads, at a point or along a rod.

A load enters as the gradient p (S, 6) of its potential (minus the wrench) in the body frame, and the
derivative k (S, 6, 6) of that gradient in the chart g exp(x) of the station:

    dead force F       p = -(0, f),  f = R^T F    k = 1/2 [[0, f^], [-f^, 0]]   (symmetric)
    dead moment M      p = -(m, 0),  m = R^T M    k = -1/2 [[m^, 0], [0, 0]]    (not symmetric)
    follower (m, f)    p = -(m, f)                k = 1/2 [[m^, f^], [f^, 0]]   (not symmetric)

A load in the axes of a frame c of another part is a dead one with F = R_c f_c, M = R_c m_c; besides,
with B = R^T R_c, its gradient depends on the turn w of that frame: dp = (B m_c^ w, B f_c^ w).

In a variational step the load of the middle of the step acts at both ends with half its impulse each.
For dead forces, whose potential is linear in the positions, that is the exact mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import combine
from pliant.engine.program import run
from pliant.lie.leaves import add_hat
from pliant.lie.se3_kernels import log_relative_array
from pliant.model import Frame, Load
from pliant.model.load import FRAMES
from pliant.physics.contract import KernelTerm, Moment, Sections, Step, Term
from pliant.physics.supported import check_carried
from pliant.physics.symbolic import Place, Symbols
from pliant.rods.contract import Array
from pliant.rods.nested import NestedMap
from pliant.rods.quadrature import line_rule
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class PointOrLineLoad(KernelTerm):
    """A load on one part.

    Its input becomes eight numbers: factors of the described moment and force, and a moment and a
    force (per length) besides.
    """

    compiled = True
    smooth = True
    size = 8

    def __init__(self, tree: Tree, load: Load) -> None:
        self.load = load
        self.input = load.name
        self.follows = load.frame == "body"
        self.lines = False
        self.first = 0.0
        """What is added to arclengths of a nested tube, see `rods.nested`."""
        self.cuts: tuple[float, ...] = ()
        if isinstance(load.on, Frame):
            self.i, station = tree.attach(load.on)
            self.stations = np.array([station])
            self.weight = np.ones(1)
        else:
            self.i = tree.number_of(load.on)
            part = tree.parts[self.i]
            self.first, length = (
                tree.place_of_part(load.on)[1],
                tree.description.rods[load.on].length,
            )
            self.cuts = load.breaks_along(length).places
            density = load.density if callable(load.force) else None
            rule: tuple[Array, Array] | None
            if isinstance(part.map, NestedMap):
                k = part.map.number_of(load.on)
                rule = part.map.stretch_rule(k, load.over or (0.0, length), self.cuts)
                self.first = part.map.station(k)
            else:
                rule = line_rule(part.map, load.over, self.cuts, density)
            self.lines = rule is None
            self.stations, self.weight = part.stations_of(rule)
        self.part = tree.parts[self.i]

    def close(self, tree: Tree) -> None:
        self.moment, self.force = np.zeros((2, len(self.stations), 6))
        self._describe()
        self.rest = tree.rest.parts[self.i].g[self.stations].copy()

    def refill(self, tree: Tree) -> bool:
        load = tree.description.parts[self.load.name]
        assert isinstance(load, Load)
        self.load = load
        self._describe()
        return True

    def _describe(self) -> None:
        """Set moment and force (per length) at the stations as described."""
        load, described = self.load, np.zeros((len(self.stations), 6))
        if isinstance(load.on, Frame):
            described[:] = load.wrench(1.0)
        else:
            described[:] = load.density(self.part.frames_s[self.stations] - self.first, 1.0)
        self.moment[:, :3], self.force[:, 3:] = described[:, :3], described[:, 3:]

    # -- input -------------------------------------------------------------------------------

    def numbers(self, value: Any) -> Array:
        found = np.zeros(8)
        given = np.asarray(value, dtype=float)
        if given.shape == (6,):
            found[2:] = given
        elif given.shape == (3,):
            found[0], found[5:] = 1.0, given
        else:
            found[:2] = float(given)
        check_carried(self.part, self.load, self.stations, self.rest, self._wrench(found))
        return found

    def _wrench(self, u: Array) -> Array:
        """(S, 6): moment and force (per length) at the stations, in the frame of the load."""
        return u[0] * self.moment + u[1] * self.force + u[2:8]

    def conservative(self, u: Array) -> bool:
        mine = u[self.at]
        if not mine.any():
            return True
        return not (self.follows or self._wrench(mine)[:, :3].any())

    # -- what acts ---------------------------------------------------------------------------

    def _add(self, state: State, work: Work, u: Array, scale: float, tangent: bool) -> None:
        if self.lines:
            work.parts[self.i].mass = True
        at, w = state.parts[self.i], work.parts[self.i]
        where = (at.g, self.stations, scale * self.weight, self.moment, self.force)
        run(add_loads, *where, u[self.at], self.follows, tangent, w.p, w.k)

    def act(self, m: Moment) -> None:
        self._add(m.state, m.work, m.u, 1.0, m.tangent is not None)

    def leave(self, step: Step) -> None:
        self._add(step.a, step.work, step.u, step.h * step.first, False)

    def arrive(self, step: Step) -> None:
        wanted = step.tangent is not None
        self._add(step.b, step.work, step.u, -step.h * (1.0 - step.first), wanted)

    def symbolic(self, x: Symbols) -> None:
        """One number of the input is a factor, three are the force, six moment and force."""
        load, given = self.load, x.input(self.load.name)
        arclengths = (self.part.frames_s[self.stations] - self.first).tolist()
        for s, station, weight in zip(arclengths, self.stations, self.weight, strict=True):
            moment, force = x.number(load, "moment"), x.number(load, "force", s)
            if given.numel() == 1:
                moment, force = given * moment, given * force
            elif given.numel() == 3:
                force = given
            else:
                moment, force = given[:3], given[3:]
            at = x.station(self.i, int(station))
            turn = self._symbolic_axes(x, at)
            x.push(at, weight * (turn @ force), weight * (at.R.T @ (turn @ moment)))

    def _symbolic_axes(self, x: Symbols, at: Place) -> Any:
        """The axes (3, 3) in which it is given, at a place where it acts."""
        return at.R if self.follows else x.math.SX.eye(3)

    # -- forces ------------------------------------------------------------------------------

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        if i != self.i or not self.load.distributed or not self.active(u):
            return None
        mine, unit = u[self.at], self.load.density(s, 1.0)
        factor = np.repeat(mine[:2], 3)
        wrench = factor * unit + mine[2:8] * self._covers(s)[:, None]
        return wrench if self.follows else to_body(sections.g, wrench)

    def line_ends(self, i: int) -> tuple[float, ...]:
        return self.cuts if i == self.i else ()

    def _covers(self, s: Array) -> Array:
        start, end = self.load.over or (-np.inf, np.inf)
        return ((s >= start) & (s <= end)).astype(float)

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        if self.load.distributed or not self.active(u):
            return []
        wrench = self._wrench(u[self.at])
        station = int(self.stations[0])
        if not self.follows:
            wrench = to_body(state.parts[self.i].g[[station]], wrench)
        return [(self.i, station, wrench[0])]

    # -- energy ------------------------------------------------------------------------------

    def energy(self, state: State, u: Array) -> float:
        if self.follows or not self.active(u):
            return 0.0
        wrench = self.weight[:, None] * self._wrench(u[self.at])
        return -float(np.sum(wrench[:, 3:] * state.parts[self.i].g[self.stations, :3, 3]))

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        ends = (a.parts[self.i].g, b.parts[self.i].g)
        what = (self.stations, self.weight, self.moment, self.force, u[self.at], self.follows)
        run(add_work, *ends, *what, out)


class TurnedLoad(PointOrLineLoad):
    """A load at a point in the axes of a frame of another part, with which it turns."""

    compiled = True
    smooth = True

    def __init__(self, tree: Tree, load: Load) -> None:
        super().__init__(tree, load)
        assert isinstance(load.frame, Frame)
        self.axes = tree.attach(load.frame)
        mine = (self.i, int(self.stations[0]))
        self._couple = tree.couple(mine, self.axes) if mine != self.axes else None

    def close(self, tree: Tree) -> None:
        super().close(tree)
        turn = tree.rest.parts[self.axes[0]].g[self.axes[1]][:3, :3]
        self._at_rest = self.rest[0, :3, :3].T @ turn
        """(3, 3): from the axes of the load to those of its place, in the undeformed robot."""

    def _wrench(self, u: Array) -> Array:
        """(1, 6): moment and force in the axes of its place, in the undeformed robot."""
        halves = super()._wrench(u).reshape(1, 2, 3)
        return np.asarray(halves @ self._at_rest.T).reshape(1, 6)

    def conservative(self, u: Array) -> bool:
        return not u[self.at].any()

    def _symbolic_axes(self, x: Symbols, at: Place) -> Any:
        return x.station(*self.axes).R

    def _turned(self, state: State, u: Array) -> Array:
        """(1, 6): moment and force in the world."""
        out = np.zeros((1, 6))
        i, station = self.axes
        where = (state.parts[i].g, station, self.moment, self.force, u[self.at])
        run(turn_wrench, *where, out)
        return out

    def _add(self, state: State, work: Work, u: Array, scale: float, tangent: bool) -> None:
        at, w = state.parts[self.i], work.parts[self.i]
        dead = (self._turned(state, u), _NOTHING, _ONCE, False)
        run(add_loads, at.g, self.stations, scale * self.weight, *dead, tangent, w.p, w.k)
        if not tangent:
            return
        H, station = np.zeros((6, 6)), int(self.stations[0])
        turn = state.parts[self.axes[0]].g[self.axes[1]]
        run(set_turning, at.g, station, turn, scale, dead[0], H)
        if self._couple is None:
            run(add_square, H, w.k[station])
        else:
            number, flip = self._couple
            run(add_square, H, work.cross[number, int(flip)])

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        if not self.active(u):
            return []
        station = int(self.stations[0])
        found = to_body(state.parts[self.i].g[[station]], self._turned(state, u))
        return [(self.i, station, found[0])]

    def energy(self, state: State, u: Array) -> float:
        return 0.0

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        mean, ends = np.zeros((1, 6)), (a.parts[self.i].g, b.parts[self.i].g)
        combine(0.5, self._turned(a, u), 0.5, self._turned(b, u), mean)
        run(add_work, *ends, self.stations, self.weight, mean, _NOTHING, _ONCE, False, out)


_NOTHING, _ONCE = np.zeros((1, 6)), np.array([1.0, 1.0, *np.zeros(6)])
"""No force besides, and factors that leave a wrench as it is."""


def to_body(g: Array, wrench: Array) -> Array:
    """Wrenches (S, 6) in world axes as wrenches in the axes of frames g (S, 4, 4), same points."""
    halves = (wrench[:, :3], wrench[:, 3:])
    return np.concatenate([np.einsum("sji,sj->si", g[:, :3, :3], x) for x in halves], axis=1)


def terms(tree: Tree) -> list[Term]:
    """The loads of a robot."""
    given = tree.description.of(Load).values()
    return [(TurnedLoad if x.frame not in FRAMES else PointOrLineLoad)(tree, x) for x in given]


@kernel
def turn_wrench(g, station, moment, force, u, out):  # type: ignore[no-untyped-def]
    """out (1, 6) = the wrench of `add_loads`, turned by the frame of a station of g (F, 4, 4)."""
    for half in (0, 3):
        for i in range(3):
            out[0, half + i] = 0.0
            for j in range(3):
                w = u[0] * moment[0, half + j] + u[1] * force[0, half + j] + u[2 + half + j]
                out[0, half + i] += g[station, i, j] * w


@kernel
def set_turning(g, station, turn, scale, wrench, H):  # type: ignore[no-untyped-def]
    """H (6, 6) = derivative of the gradient at a station of g (F, 4, 4) in the twist of the frame turn
    (4, 4), with which a wrench (1, 6), in the world, turns: R^T F^ R_c in its first columns.
    """
    hat, R = np.zeros((3, 3)), g[station]
    for half in (0, 3):
        for j in range(3):
            for i in range(3):
                hat[i, j] = 0.0
        add_hat(hat, 0, 0, wrench[0, half], wrench[0, half + 1], wrench[0, half + 2], scale)
        for i in range(3):
            for j in range(3):
                v = 0.0
                for a in range(3):
                    for b in range(3):
                        v += R[a, i] * hat[a, b] * turn[b, j]
                H[half + i, j], H[half + i, 3 + j] = v, 0.0


@kernel
def add_square(H, out):  # type: ignore[no-untyped-def]
    """out (6, 6) += H."""
    for i in range(6):
        for j in range(6):
            out[i, j] += H[i, j]


@kernel
def add_work(ga, gb, stations, weight, moment, force, u, follows, out):  # type: ignore[no-untyped-def]
    """out_0 += work of the wrenches of `add_loads` between frames ga and gb (F, 4, 4)."""
    w, twist = np.empty(6), np.empty(6)
    for n in range(stations.shape[0]):
        a, b = ga[stations[n]], gb[stations[n]]
        for i in range(6):
            w[i] = weight[n] * (u[0] * moment[n, i] + u[1] * force[n, i] + u[2 + i])
        if not follows:
            for i in range(3):
                out[0] += w[3 + i] * (b[i, 3] - a[i, 3])
            if w[0] == 0.0 and w[1] == 0.0 and w[2] == 0.0:
                continue
        log_relative_array(a, b, twist)
        if follows:
            for i in range(6):
                out[0] += w[i] * twist[i]
        else:
            for i in range(3):
                for j in range(3):
                    out[0] += w[i] * a[i, j] * twist[j]


@kernel
def add_loads(g, stations, weight, moment, force, u, follows, tangent, p, k):  # type: ignore[no-untyped-def]
    """Add wrenches at stations of g (F, 4, 4) to p and k: weight (u_0 moment + u_1 force + u_2..7).

    weight (N,), moment and force (N, 6) in the frame of the load.
    """
    w = np.empty(6)
    for n in range(stations.shape[0]):
        s = stations[n]
        R = g[s]
        for i in range(6):
            w[i] = weight[n] * (u[0] * moment[n, i] + u[1] * force[n, i] + u[2 + i])
        m0, m1, m2, f0, f1, f2 = w[0], w[1], w[2], w[3], w[4], w[5]
        if not follows:
            m0 = R[0, 0] * w[0] + R[1, 0] * w[1] + R[2, 0] * w[2]
            m1 = R[0, 1] * w[0] + R[1, 1] * w[1] + R[2, 1] * w[2]
            m2 = R[0, 2] * w[0] + R[1, 2] * w[1] + R[2, 2] * w[2]
            f0 = R[0, 0] * w[3] + R[1, 0] * w[4] + R[2, 0] * w[5]
            f1 = R[0, 1] * w[3] + R[1, 1] * w[4] + R[2, 1] * w[5]
            f2 = R[0, 2] * w[3] + R[1, 2] * w[4] + R[2, 2] * w[5]
        p[s, 0] -= m0
        p[s, 1] -= m1
        p[s, 2] -= m2
        p[s, 3] -= f0
        p[s, 4] -= f1
        p[s, 5] -= f2
        if tangent:
            turn = 0.5 if follows else -0.5
            add_hat(k[s], 0, 0, m0, m1, m2, turn)
            add_hat(k[s], 0, 3, f0, f1, f2, 0.5)
            add_hat(k[s], 3, 0, f0, f1, f2, turn)
