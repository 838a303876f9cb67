"""One rod of the robot, compiled: its map, its stations, its section properties, its scratch room."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pliant.model import Frame, Rod
from pliant.physics import collect, elasticity, loads
from pliant.rods.contract import Array, Configuration, Ints, Plan, RodMap


class Level:
    """A configuration of one rod with its frames and strains: what changes from one q to the next.

    `strain`, `mass` and `points` are plans; `points` has one station for each place where something
    is attached. Where mass and strain are collected at the same stations they share one plan.
    """

    def __init__(self, block: Block) -> None:
        rod_map = block.map
        self.c: Configuration = rod_map.configuration()
        self.strain: Plan = rod_map.strains(block.strain_s)
        self.mass: Plan = self.strain if block.one_rule else rod_map.frames(block.mass_s)
        self.points: Plan = rod_map.frames(np.asarray(block.point_s))


class Block:
    """The compiled constants of one rod and the element arrays that assembly writes."""

    def __init__(self, rod: Rod, rod_map: RodMap) -> None:
        self.rod = rod
        self.map = rod_map
        self.strain_s, self.strain_w = rod_map.strain_rule()
        self.mass_s, self.mass_w = rod_map.mass_rule()
        self.one_rule = rod_map.shares_plans and np.array_equal(self.strain_s, self.mass_s)
        self.C = rod.stiffness(self.strain_s)
        self.D = rod.damping(self.strain_s)
        self.M = rod.inertia(self.mass_s) * self.mass_w[:, None]
        self.line_mass = rod.mass_per_length(self.mass_s) * self.mass_w
        self.point_s: list[float] = []
        self.offsets: list[Array] = []
        self.modes = rod_map.stress_modes()
        self.parent: Block | None = None
        self.mount = -1
        """Station of the parent's points that carries the base, if the base is mounted there."""
        self.shared = False
        """True if the base twist is six coordinates of the parent."""
        self.children: list[Block] = []
        self.index: Ints = np.zeros((0, 0), dtype=np.int64)
        self.x_index: Ints = np.zeros(0, dtype=np.int64)
        """(6 + nv,): global coordinate of each entry of x, -1 where there is none."""
        self.mode_index: Ints = np.zeros((0, 3), dtype=np.int64)
        """(count, 3): global unknown of each stress mode."""
        self.q_slice = slice(0, 0)
        self.pose_slice: slice | None = None
        """Where the base pose of a free rod is kept in q (16 numbers)."""

    def attach(self, frame: Frame) -> int:
        """Station of `frame` among the points, made if needed."""
        offset = np.asarray(frame.pose_offset()[:3, 3])
        for i, (s, o) in enumerate(zip(self.point_s, self.offsets, strict=True)):
            if s == frame.s and np.array_equal(o, offset):
                return i
        self.point_s.append(frame.s)
        self.offsets.append(offset)
        return len(self.point_s) - 1

    def close(self) -> None:
        """Allocate scratch once all points are known, and set the stress-free strains."""
        E, n = self.map.elements.shape
        m = self.map.m
        self.base_elements = np.flatnonzero(
            np.all(self.map.elements[:, :6] == np.arange(6), axis=1)
        )
        self.offset = np.array(self.offsets) if self.offsets else np.zeros((0, 3))
        self.has_offset = bool(np.any(self.offset != 0.0))
        self.ry = np.zeros((E, m))
        self.Ky = np.zeros((E, m, m))
        self.r = np.zeros((E, n))
        self.K = np.zeros((E, n, n))
        S, P, Q = len(self.strain_s), len(self.point_s), len(self.mass_s)
        self.sigma = np.zeros((S, 6))
        self.tangent = np.zeros((S, 6))
        self.point_p = np.zeros((P, 6))
        self.point_k = np.zeros((P, 6, 6))
        self.mass_p = np.zeros((Q, 6))
        self.mass_k = np.zeros((Q, 6, 6))
        self._close_modes(E, n, m)
        self.level = Level(self)
        self.q_rest = self.map.rest()
        self.map.update(self.level.c, np.eye(4), self.q_rest)
        self.map.strain(self.level.strain, self.level.c)
        self.e0 = self.level.strain.e.copy()

    def _close_modes(self, E: int, n: int, m: int) -> None:
        """Room for the stress modes: gaps (E, p, 3), couplings (E, 3p, m or n), compliance."""
        modes = self.modes
        p = 0 if modes is None else modes.index.shape[1]
        self.plain, self.mode_w = self._split_stiffness()
        self.mode_values = np.zeros((len(self.strain_s), 0)) if modes is None else modes.values
        self.mode_numbers = np.zeros((E, 0), dtype=np.int64) if modes is None else modes.index
        self.gap = np.zeros((E, p, 3))
        self.gaps = self.gap.reshape(E, 3 * p)
        self.unit = np.ones((len(self.strain_s), 3))
        self.coupling_y = np.zeros((E, 3 * p, m))
        self.coupling = np.zeros((E, 3 * p, n))
        self.compliance = np.zeros((E, 3 * p, 3 * p))
        if modes is None:
            return
        element = self.map.strains(self.strain_s).element
        elasticity.mode_compliance(self.mode_w, self.C, modes.values, element, self.compliance)
        dense = np.zeros((3, modes.count, modes.count))
        for e in range(E):
            at = modes.index[e]
            for r in range(3):
                dense[r][np.ix_(at, at)] -= self.compliance[e, r::3, r::3]
        self._compliance_factor = [cho_factor(dense[r]) for r in range(3)]
        self.mode_weight = np.zeros(modes.count)
        np.add.at(self.mode_weight, modes.index[element], self.mode_w[:, :1] * modes.values)

    def _split_stiffness(self) -> tuple[Array, Array]:
        """Stiffness times weights (S, 6) that meets the strains point by point, and the weights
        (S, 3) with which rows 3 to 5 are left to the stress modes, if there are any.

        Strains that the modes do not feel cost nothing. Where they would be large (`held` of the
        modes), a share of the shear and stretch stiffness, `held` times the bending stiffness over
        the square of the length, is taken point by point (partial projection, Arnold and Brezzi
        1993): it does not grow with slenderness, so that slender rods do not lock.
        """
        w, C = self.strain_w, self.C
        if self.modes is None:
            return w * C, np.zeros((len(w), 3))
        bending = np.minimum(C[:, 0], C[:, 1]) / self.rod.length**2
        share = np.minimum(0.9, (self.modes.held * bending)[:, None] / C[:, 3:])
        plain = w * C
        plain[:, 3:] *= share
        return plain, w[:, 3:] * (1.0 - share)

    @cached_property
    def moving(self) -> Ints:
        """Entries of x that are unknowns of the robot."""
        return np.flatnonzero(self.x_index >= 0)

    @cached_property
    def moving_index(self) -> Ints:
        """Global numbers of the entries `moving`."""
        return self.x_index[self.moving]

    @cached_property
    def mode_unknowns(self) -> Ints:
        """(E, 3p): global unknowns of the modes of each element."""
        if self.modes is None:
            return np.zeros((len(self.map.elements), 0), dtype=np.int64)
        return self.mode_index[self.modes.index].reshape(len(self.modes.index), -1)

    def mode_strains(self, d: Array) -> Array:
        """(count, 3): strains d (S, 6) of rows 3 to 5 integrated against every mode."""
        assert self.modes is not None
        element = self.level.strain.element
        total = np.zeros((self.modes.count, 3))
        weighted = self.mode_w[:, None] * self.modes.values[:, :, None] * d[:, None, 3:]
        np.add.at(total, self.modes.index[element], weighted)
        return total

    def settled_modes(self, e: Array) -> Array:
        """Modes (count, 3) in balance with strains e (S, 6) at the strain rule."""
        total = self.mode_strains(e - self.e0)
        columns = [cho_solve(self._compliance_factor[r], total[:, r]) for r in range(3)]
        return np.stack(columns, axis=1)

    # -- statics -----------------------------------------------------------------------------

    def stress(self, e: Array, mult: Array) -> None:
        """Weighted stress and tangent at the strain stations for strains e, and the mode gaps."""
        elasticity.stress(
            self.plain,
            self.mode_w,
            self.C,
            e,
            self.e0,
            self.mode_values,
            self.mode_numbers,
            self.level.strain.element,
            self.mode_index,
            mult,
            self.sigma,
            self.tangent,
            self.gap,
        )

    def couple(self, level: Level, scale: Array, out: Array) -> None:
        """out (E, 3p, n) = derivative of the mode gaps in x at `level`, times scale (S, 3)."""
        assert self.modes is not None
        self.coupling_y[...] = 0.0
        plan = level.strain
        elasticity.mixed_coupling(
            self.mode_w, self.modes.values, plan.element, plan.B, scale, self.coupling_y
        )
        self.map.lift_rows(level.c, self.coupling_y, out)

    def collect_elastic(self, level: Level, mult: Array, tangent: bool) -> None:
        """Overwrite ry and, if wanted, Ky and coupling with the elastic gradient and tangent, its
        geometric part included.
        """
        plan = level.strain
        elasticity.collect_elastic(
            self.plain,
            self.mode_w,
            self.C,
            plan.e,
            self.e0,
            self.mode_values,
            self.mode_numbers,
            plan.element,
            self.mode_index,
            mult,
            plan.B,
            self.unit,
            tangent,
            self.sigma,
            self.tangent,
            self.gap,
            self.ry,
            self.Ky,
            self.coupling_y,
        )
        if tangent:
            if self.modes is not None:
                self.map.lift_rows(level.c, self.coupling_y, self.coupling)
            self.map.strain_second(plan, level.c, self.sigma, self.Ky)

    def add_points(self, level: Level, tangent: bool) -> None:
        """Collect what stands in point_p and point_k (gradients and their derivatives at points)."""
        if not len(self.point_s):
            return
        self._add_stations(level.points, level, self.point_p, self.point_k, tangent)

    def add_mass_stations(self, level: Level, tangent: bool) -> None:
        """Collect what stands in mass_p and mass_k."""
        self._add_stations(level.mass, level, self.mass_p, self.mass_k, tangent)

    def _add_stations(self, plan: Plan, level: Level, p: Array, k: Array, tangent: bool) -> None:
        collect.add_stations(plan.element, plan.J, p, k, tangent, self.ry, self.Ky)
        if tangent:
            self.map.frame_second(plan, level.c, p, self.Ky)

    def add_point_loads(self, level: Level, dead: Array, follower: Array) -> None:
        """Add dead (world) and follower (body) wrenches (P, 6) to point_p and point_k."""
        if not self.has_offset:
            loads.add_loads(level.points.g, dead, follower, self.point_p, self.point_k)
            return
        g = level.points.g.copy()
        g[:, :3, 3] += np.einsum("sij,sj->si", g[:, :3, :3], self.offset)
        p, k = np.zeros_like(self.point_p), np.zeros_like(self.point_k)
        loads.add_loads(g, dead, follower, p, k)
        A = self.offset_twist()
        self.point_p += np.einsum("sij,si->sj", A, p)
        self.point_k += np.einsum("sia,sij,sjb->sab", A, k, A)

    def offset_twist(self) -> Array:
        """(P, 6, 6): twist at the offset point from the twist of the section, Ad(offset)^-1."""
        A = np.tile(np.eye(6), (len(self.offset), 1, 1))
        o = self.offset
        A[:, 3, 1], A[:, 3, 2] = o[:, 2], -o[:, 1]
        A[:, 4, 0], A[:, 4, 2] = -o[:, 2], o[:, 0]
        A[:, 5, 0], A[:, 5, 1] = o[:, 1], -o[:, 0]
        return A

    def anchor(self, level: Level, station: int) -> tuple[Array, Array]:
        """Pose (4, 4) of an attached frame, offset included, and its twist (6, m) in y."""
        g = level.points.g[station].copy()
        J = level.points.J[station]
        o = self.offset[station]
        if np.any(o != 0.0):
            g[:3, 3] += g[:3, :3] @ o
            J = self.offset_twist()[station] @ J
        return g, J

    def anchor_jacobian(self, level: Level, station: int) -> Array:
        """Jacobian (6, n) of an attached frame in the entries of x of its element."""
        _, J = self.anchor(level, station)
        e = level.points.element[station]
        rows = np.zeros((len(self.map.elements), 6, self.map.m))
        rows[e] = J
        out = np.zeros((len(self.map.elements), 6, self.r.shape[1]))
        self.map.lift_rows(level.c, rows, out)
        return out[e]

    def dissipation(self, rate: Array) -> float:
        """Power lost to Kelvin-Voigt damping at strain rates (S, 6), W.

        With stress modes the forces are viscous through their projected rate, as in `settled_modes`.
        """
        lag = self.D / self.C
        power = float(np.sum(self.plain * lag * rate**2))
        if self.modes is not None:
            a = self.settled_modes(self.e0 + lag * rate)
            power += float(np.sum(a * self.mode_strains(rate)))
        return power

    def elastic_energy(self, level: Level) -> float:
        """Strain energy, J."""
        d = level.strain.e - self.e0
        energy = 0.5 * float(np.sum(self.plain * d * d))
        if self.modes is not None:
            modes = self.settled_modes(level.strain.e)
            energy += 0.5 * float(np.sum(modes * self.mode_strains(d)))
        return energy
