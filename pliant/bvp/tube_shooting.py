"""Shooting for nested tubes: the classical model, without shear and stretch, with twisting tubes.

The state at s of the common centreline is its position p and orientation R, with sections that do not
twist, internal force n and moment m in the world, and for each tube its angle psi and its torque T.
With r = Rz(psi) u* the curvature at rest of a tube (Dupont et al. 2010, Rucker et al. 2010):

    u = ((R^T m)_xy + sum EI r) / sum EI,       R' = R u^,            p' = R e_z,
    n' = -f,   m' = -p' x n,                    psi' = T / GJ + t*,   T' = EI (ux ry - uy rx).

In the entry plane psi = alpha + T (integral of ds / GJ over the straight part) + its twist at rest.
What is unknown there, n, m_xy and all T, is found such that T = 0 at the tip of each tube and n = m_xy
= 0 at the end of the centreline. The third part of m is the sum of all T, there and everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.engine import loops
from pliant.engine.newton import SINGULAR, Newton, NewtonError, Policy
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model import Centreline, ConvergenceError, Tube

_POLICY = Policy(stalled=0.0, lost=1e3)
_STEP = 1e-6
"""Differences for the derivatives, in units in which the unknowns are of the size of one."""
_LARGEST = 1.0
"""Largest turn of all bases in a load step, rad."""
_LEAST = 1e-3
"""Shortest load step."""
_GAUSS = 0.5 + np.array([-1.0, 1.0]) * np.sqrt(3.0) / 6.0


class Pull(NamedTuple):
    """A wrench on tube k at a place of the centreline.

    offset (3,) : of its point in the frame of the tube, m.  moment, force (3,) : in the world, or in
    the frame of the tube.
    """

    place: float
    k: int
    offset: Array
    moment: Array
    force: Array
    world: bool


class Acting(NamedTuple):
    """What acts: angles of the bases (T,), rad, and wrenches; force(s) (S, 3) per metre, world."""

    angles: Array
    pulls: Sequence[Pull]
    force: Callable[[Array], Array]


class _Nodes(NamedTuple):
    """The state of a batch (B, ...)."""

    p: Array
    R: Array
    n: Array
    m: Array
    psi: Array
    T: Array


class _Data(NamedTuple):
    """Of tubes at one place (T, ...): stiffnesses, curvature at rest of all and of each, its twist."""

    EI: Array
    GJ: Array
    alike: Array
    own: Array
    twist: Array


@dataclass
class TubeShape:
    """An equilibrium: unknowns x (U,), and states at the ends s (N + 1,) of the intervals.

    u (N, 3, 2) : curvature at the start, in the middle and at the end of each interval.
    slope (N, 2, T) : twist of the tubes at its start and its end.
    """

    x: Array
    base: Array
    acting: Acting
    s: Array
    g: Array
    u: Array
    psi: Array
    torque: Array
    slope: Array
    force: Array
    moment: Array

    def poses(self, s: Array) -> tuple[Array, Array, Array]:
        """Poses (S, 4, 4) of the centreline at s (S,) >= 0, angles and twists (S, T) of the tubes."""
        j, x, h = self._inside(s)
        ends = [_quadratic(self.u[j], x * c) for c in _GAUSS]
        a, b = (_strains(u) for u in ends)
        z = x * h
        bracket = np.einsum("sij,sj->si", se3.ad(a), b)
        step = se3.exp(
            0.5 * z[:, None] * (a + b) + np.sqrt(3.0) / 12.0 * (z * z)[:, None] * bracket
        )
        angle, twist = self._angles(j, x, h)
        return np.asarray(self.g[j] @ step), angle, twist

    def curvature(self, s: Array) -> Array:
        """Curvature (S, 2) of the centreline at s (S,)."""
        j, x, _ = self._inside(s)
        return _quadratic(self.u[j], x)

    def _inside(self, s: Array) -> tuple[NDArray[np.int64], Array, Array]:
        j = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.s) - 2).astype(
            np.int64
        )
        h = np.diff(self.s)[j]
        return j, (s - self.s[j]) / h, h

    def _angles(self, j: NDArray[np.int64], x: Array, h: Array) -> tuple[Array, Array]:
        """Cubic through angles and twists at both ends of an interval."""
        a, b = self.psi[j], self.psi[j + 1]
        x, h = x[:, None], h[:, None]
        da, db = h * self.slope[j, 0], h * self.slope[j, 1]
        angle = a + x * da + x * x * (3 * (b - a) - 2 * da - db) + x**3 * (2 * (a - b) + da + db)
        rate = da + 2 * x * (3 * (b - a) - 2 * da - db) + 3 * x * x * (2 * (a - b) + da + db)
        return angle, rate / h


class TubeShooting:
    """Shooting for one centreline with the entry plane at a pose (4, 4).

    steps : intervals of Runge and Kutta's rule along the centreline.
    """

    def __init__(
        self, centre: Centreline, base: Array, steps: int, places: Sequence[float]
    ) -> None:
        self.centre, self.base = centre, base
        self.reach = np.array([max(centre.own(k)[1], 0.0) for k in range(len(centre.members))])
        near = 1e-7 * centre.length
        inner = [s for s in (*centre.breaks, *places) if near < s < centre.length - near]
        edges = np.unique([0.0, *inner, centre.length])
        edges = edges[np.diff(edges, prepend=-1.0) > near]
        counts = np.maximum(2, np.ceil(steps * np.diff(edges) / centre.length)).astype(int)
        spans = zip(pairwise(edges), counts, strict=True)
        cut = [np.linspace(a, b, n + 1)[:-1] for (a, b), n in spans]
        self.s = np.append(np.concatenate(cut), centre.length)
        self.h = np.diff(self.s)
        eps = 1e-9 * centre.length
        inside = np.stack([self.s[:-1] + eps, self.s[:-1] + 0.5 * self.h, self.s[1:] - eps], axis=1)
        self._places = inside
        self._data = [[self._at(s) for s in row] for row in inside]
        self.compliance, self.offset = self._straight_parts()
        self.out = self.reach > 0.0
        """Tubes beyond the entry plane."""
        bending = float(centre.stiffness(np.array([0.5 * self.h[0]]))[0, 0])
        length = centre.length
        self.units = np.concatenate(
            [
                np.full(3, bending / length**2),
                np.full(2 + int(self.out.sum()), bending / length),
            ]
        )
        self.newton = Newton(_POLICY, np.zeros(loops.FLAGS, dtype=np.int64))
        self.history: list[float] = []

    def _at(self, s: float) -> _Data:
        rows = []
        alike = self.centre.natural_strain(np.array([s]))[0, :2]
        for k, tube in enumerate(self.centre.members):
            own, inside = self.centre.place_of(k, np.array([s]))
            C, e = tube.stiffness(own)[0], tube.natural_strain(own)[0]
            rows.append((C[0] if inside[0] else 0.0, C[2], alike, e[:2] - alike, e[2]))
        return _Data(*(np.array(column) for column in zip(*rows, strict=True)))

    def _straight_parts(self) -> tuple[Array, Array]:
        """Compliance against twist (T,), rad / N m, and twist at rest (T,) behind the entry plane."""
        x, w = np.polynomial.legendre.leggauss(12)
        found = []
        for k, tube in enumerate(self.centre.members):
            length = max(-self.centre.own(k)[0], 0.0) if isinstance(tube, Tube) else 0.0
            s, weight = np.minimum(0.5 * length * (x + 1.0), tube.length), 0.5 * length * w
            GJ, e = tube.stiffness(s)[:, 2], tube.natural_strain(s)
            found.append((float(weight @ (1.0 / GJ)), float(weight @ e[:, 2])))
        return np.array(found).T[0], np.array(found).T[1]

    # -- integration -------------------------------------------------------------------------

    def _begin(self, x: Array, acting: Acting, level: float) -> _Nodes:
        """States (B, ...) in the entry plane for unknowns x (B, U)."""
        B, count = len(x), len(self.out)
        n, T = x[:, :3], np.zeros((B, count))
        T[:, self.out] = x[:, 5:]
        m = np.concatenate([x[:, 3:5], T.sum(axis=1)[:, None]], axis=1) @ self.base[:3, :3].T
        psi = level * (acting.angles + self.offset) + T * self.compliance
        p = np.tile(self.base[:3, 3], (B, 1))
        return _Nodes(p, np.tile(self.base[:3, :3], (B, 1, 1)), n.copy(), m, psi, T)

    def _slopes(self, y: _Nodes, data: _Data, force: Array, level: float) -> tuple[_Nodes, Array]:
        """Derivatives of states in s, and the curvature (B, 2)."""
        c, d = np.cos(y.psi), np.sin(y.psi)
        rest = data.alike + level * data.own
        rx, ry = c * rest[:, 0] - d * rest[:, 1], d * rest[:, 0] + c * rest[:, 1]
        own = np.einsum("bji,bj->bi", y.R, y.m)[:, :2]
        moments = np.stack([(data.EI * rx).sum(axis=1), (data.EI * ry).sum(axis=1)], axis=1)
        u = (own + moments) / data.EI.sum()
        ux, uy = u[:, :1], u[:, 1:]
        t = y.R[:, :, 2]
        dR = np.stack([-uy * t, ux * t, uy * y.R[:, :, 0] - ux * y.R[:, :, 1]], axis=2)
        there = (data.EI > 0.0).astype(float)
        psi = there * (y.T / data.GJ + level * data.twist)
        torque = data.EI * (ux * ry - uy * rx)
        n = np.broadcast_to(-force, y.n.shape)
        return _Nodes(t, dR, n, -np.cross(t, y.n), psi, torque), u

    def _pulled(self, y: _Nodes, pulls: Sequence[Pull], level: float) -> _Nodes:
        """The states behind wrenches at one place."""
        n, m, T = y.n.copy(), y.m.copy(), y.T.copy()
        for pull in pulls:
            R = y.R @ np.asarray(_turns(y.psi[:, pull.k]))
            M, F = level * pull.moment, level * pull.force
            if not pull.world:
                M, F = R @ M, R @ F
            M = M + np.cross(R @ pull.offset, F)
            n -= F
            m -= M
            T[:, pull.k] -= np.sum(M * y.R[:, :, 2], axis=1)
        return y._replace(n=n, m=m, T=T)

    def integrate(
        self, x: Array, acting: Acting, level: float, shape: bool = False
    ) -> tuple[Array, TubeShape | None]:
        """Residuals (B, U) of unknowns x (B, U), without unit; with `shape` the shape of the first."""
        y = self._begin(x * self.units, acting, level)
        tips = np.zeros_like(y.T)
        forces = level * acting.force(self._places.ravel()).reshape(-1, 3, 3)
        kept: list[_Nodes] = [y]
        us, slopes = [], []
        waiting = sorted(acting.pulls, key=lambda pull: pull.place)
        for j, h in enumerate(self.h):
            here = [pull for pull in waiting if pull.place <= self.s[j] + 1e-9 * self.s[-1]]
            waiting = waiting[len(here) :]
            y = self._pulled(y, here, level) if here else y
            y, u, slope = self._advance(y, self._data[j], forces[j], h, level)
            ended = np.abs(self.reach - self.s[j + 1]) < 1e-7 * self.s[-1]
            last = [pull for pull in waiting if abs(pull.place - self.s[j + 1]) < 1e-7 * self.s[-1]]
            own = self._pulled(y, [pull for pull in last if ended[pull.k]], level)
            tips[:, ended] = own.T[:, ended]
            kept.append(y)
            us.append(u)
            slopes.append(slope)
        y = self._pulled(y, waiting, level)
        moment = np.einsum("bji,bj->bi", y.R, y.m)[:, :2]
        residual = np.concatenate([y.n, moment, tips[:, self.out]], axis=1) / self.units
        return residual, self._shape(x[0], acting, kept, us, slopes) if shape else None

    def _advance(
        self, y: _Nodes, data: list[_Data], force: Array, h: float, level: float
    ) -> tuple[_Nodes, Array, Array]:
        """One step; also curvatures (3, 2) and twists (2, T) of the first of the batch."""
        k1, u1 = self._slopes(y, data[0], force[0], level)
        k2, _ = self._slopes(_moved(y, k1, 0.5 * h), data[1], force[1], level)
        k3, u3 = self._slopes(_moved(y, k2, 0.5 * h), data[1], force[1], level)
        k4, _ = self._slopes(_moved(y, k3, h), data[2], force[2], level)
        mean = _Nodes(
            *((a + 2 * b + 2 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
        )
        after = _moved(y, mean, h)
        end, u4 = self._slopes(after, data[2], force[2], level)
        return after, np.stack([u1[0], u3[0], u4[0]]), np.stack([k1.psi[0], end.psi[0]])

    def _shape(
        self, x: Array, acting: Acting, kept: list[_Nodes], u: list[Array], slope: list[Array]
    ) -> TubeShape:
        g = np.tile(np.eye(4), (len(kept), 1, 1))
        g[:, :3, :3] = [y.R[0] for y in kept]
        g[:, :3, 3] = [y.p[0] for y in kept]
        columns = [np.array([getattr(y, name)[0] for y in kept]) for name in ("psi", "T", "n", "m")]
        where = (
            self.s,
            np.array([se3.orthonormal(x) for x in g]),
            np.array(u),
            columns[0],
            columns[1],
        )
        return TubeShape(x.copy(), self.base, acting, *where, np.array(slope), *columns[2:])

    # -- Newton's method -----------------------------------------------------------------------

    def solve(self, acting: Acting, start: TubeShape | None, tolerance: float) -> TubeShape:
        """The equilibrium on the branch from the unloaded tubes, or from another equilibrium."""
        self.newton.iterations, self.history = 0, []
        before = None if start is None else start.acting
        x = np.zeros(len(self.units)) if start is None else start.x.copy()
        way = float(np.abs(acting.angles - (0.0 if before is None else before.angles)).sum())
        done, step, last = 0.0, min(1.0, _LARGEST / max(way, _LARGEST)), None
        while done < 1.0:
            aim = min(1.0, done + step)
            guess = x if last is None else x + (x - last[1]) * (aim - done) / (done - last[0])
            mixed = acting if before is None else _mixed(before, acting, aim)
            found = self._solved(guess, mixed, aim if before is None else 1.0, tolerance)
            if found is None:
                step *= 0.5
                if step < _LEAST:
                    raise ConvergenceError(
                        f"no equilibrium of the tubes was found beyond {100 * done:.3g} % of the load; "
                        "they may snap there: turn them less, or use simulate() with BSpline()"
                    )
                continue
            last, x, done = (done, x), found, aim
            step = min(2.0 * step, _LARGEST / max(way, _LARGEST))
        return self.integrate(x[None], acting, 1.0, shape=True)[1]  # type: ignore[return-value]

    def _solved(self, x: Array, acting: Acting, level: float, tolerance: float) -> Array | None:
        """Unknowns (U,) at a load level, near x; None if they are not found."""
        newton, shifts = (
            self.newton,
            np.concatenate([np.zeros((1, len(x))), _STEP * np.eye(len(x))]),
        )
        r = np.empty(shifts.shape)

        def find_residual() -> None:
            with np.errstate(all="ignore"):
                r[:] = self.integrate(x + shifts, acting, level)[0]
            newton.numbers[loops.SIZE] = np.abs(r[0]).max() if np.isfinite(r).all() else np.inf

        def correct() -> None:
            try:
                x[:] -= np.linalg.solve(((r[1:] - r[0]) / _STEP).T, r[0])
            except np.linalg.LinAlgError:
                raise NewtonError(SINGULAR) from None

        x = x.copy()
        row: list[Any] = [None] * loops.PROGRAMS
        row[loops.TANGENT], row[loops.MOVE] = find_residual, newton.guarded(correct)
        newton.numbers[loops.TOLERANCE] = max(tolerance, 1e-11)
        try:
            newton.run_newton(row)
        except NewtonError:
            return None
        finally:
            self.history += newton.sizes
        return x


def _moved(y: _Nodes, slope: _Nodes, h: float) -> _Nodes:
    return _Nodes(*(a + h * b for a, b in zip(y, slope, strict=True)))


def _turns(angle: Array) -> Array:
    """Rotations (B, 3, 3) about z."""
    c, d, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, -d, zero, d, c, zero, zero, zero, one], axis=1).reshape(-1, 3, 3)


def _quadratic(u: Array, x: Array) -> Array:
    """Values (S, 2) at x (S,) of parabolas through u (S, 3, 2) at 0, 1/2 and 1."""
    x = x[:, None]
    a, b, c = u[:, 0], u[:, 1], u[:, 2]
    return np.asarray(a * (1 - x) * (1 - 2 * x) + 4 * b * x * (1 - x) + c * x * (2 * x - 1))


def _strains(u: Array) -> Array:
    """Strains (S, 6) of the centreline with curvatures u (S, 2)."""
    found = np.zeros((len(u), 6))
    found[:, :2], found[:, 5] = u, 1.0
    return found


def _mixed(a: Acting, b: Acting, t: float) -> Acting:
    """What acts a part t of the way from a to b."""
    pulls = [x._replace(moment=(1 - t) * x.moment, force=(1 - t) * x.force) for x in a.pulls]
    pulls += [x._replace(moment=t * x.moment, force=t * x.force) for x in b.pulls]
    return Acting(
        (1 - t) * a.angles + t * b.angles,
        pulls,
        lambda s: (1 - t) * a.force(s) + t * b.force(s),
    )
