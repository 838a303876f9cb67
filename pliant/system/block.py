"""One rod of the robot, compiled: its map, its stations, its section properties, its scratch room."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor

from pliant.model import Body, Frame, Rod
from pliant.physics import bodies, chambers, collect, elasticity, loads
from pliant.rods.contract import Array, Configuration, Ints, Plan, RodMap
from pliant.system.mixed import Mixed

_FAR = 1e-7
"""How far below all else the compliance is that tangents keep where strains are held."""


class Level:
    """A configuration of one rod with its frames and strains: what changes from one q to the next.

    `strain`, `mass` and `points` are plans; `points` has one station for each place where something
    is attached. Where mass and strain are collected at the same stations they share one plan.
    `inertial` are all stations with inertia: those of `mass` and then the rigid bodies.
    """

    def __init__(self, block: Block) -> None:
        rod_map = block.map
        self.c: Configuration = rod_map.configuration()
        self.strain: Plan = rod_map.strains(block.strain_s)
        self.mass: Plan = self.strain if block.one_rule else rod_map.frames(block.mass_s)
        self.points: Plan = rod_map.frames(np.asarray(block.point_s))
        self.inner: Plan = rod_map.strains(np.asarray(block.inner_s))
        self.inertial: Plan = self.mass
        count = len(self.mass.s)
        if len(block.body_station):
            element = self.points.element[block.body_station]
            s = np.concatenate([self.mass.s, self.points.s[block.body_station]])
            self.inertial = Plan(s, np.concatenate([self.mass.element, element]), rod_map.m)
            # the map writes the first rows of the same arrays
            self.mass.g, self.mass.J = self.inertial.g[:count], self.inertial.J[:count]
        self.body_g, self.body_J = self.inertial.g[count:], self.inertial.J[count:]


class Block(Mixed):
    """The compiled constants of one rod and the element arrays that assembly writes."""

    def __init__(
        self, rod: Rod, rod_map: RodMap, frame_rows: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    ) -> None:
        self.rod = rod
        self.map = rod_map
        self.frame_rows = frame_rows
        self.strain_s, self.strain_w = rod_map.strain_rule()
        self.mass_s, self.mass_w = rod_map.mass_rule()
        self.one_rule = rod_map.shares_plans and np.array_equal(self.strain_s, self.mass_s)
        self.C = rod.stiffness(self.strain_s)
        self.D = rod.damping(self.strain_s)
        self.M = rod_map.inertia(self.mass_s) * self.mass_w[:, None]
        self.line_mass = rod.mass_per_length(self.mass_s) * self.mass_w
        self.drag = rod.drag_coefficients() * self.mass_w[:, None]
        self.mass_damping = rod.mass_damping * self.M
        self.resisted = bool(self.drag.any() or self.mass_damping.any())
        """True if drag or mass damping act."""
        self.bodies: list[tuple[Body, int]] = []
        """Rigid bodies, each with the point of its centre of mass."""
        self.point_s: list[float] = []
        self.offsets: list[Array] = []
        self.inner_s: list[float] = []
        """Stations for strains besides those of the strain rule, where chambers need them."""
        self.modes = rod_map.stress_modes()
        self.mode_rows = np.array([] if self.modes is None else self.modes.rows, dtype=np.int64)
        self.law_rows = np.setdiff1d(np.arange(6), self.mode_rows)
        """Strain rows with a stress of their own; the others have that of the modes."""
        self.rigid = self.modes is not None and self.modes.rigid
        self.soft = np.ascontiguousarray(1.0 / self.C[:, self.mode_rows])
        if self.rigid:
            self._stiffen()
        self.parent: Block | None = None
        self.mount = -1
        """Station of the parent's points that carries the base, if the base is mounted there."""
        self.shared = False
        """True if the base twist is six coordinates of the parent."""
        self.children: list[Block] = []
        self.index: Ints = np.zeros((0, 0), dtype=np.int64)
        self.x_index: Ints = np.zeros(0, dtype=np.int64)
        """(6 + nv,): global coordinate of each entry of x, -1 where there is none."""
        self.mode_index: Ints = np.zeros((0, len(self.mode_rows)), dtype=np.int64)
        """(count, R): global unknown of each stress mode."""
        self.q_slice = slice(0, 0)
        self.driven = False
        """True if the base moves as inputs tell it."""
        self.pose_slice: slice | None = None
        """Where the base pose of a free rod or of a driven base is kept in q (16 numbers)."""

    def _stiffen(self) -> None:
        """Rows that cannot strain: no compliance, no viscosity.

        The tangent keeps a compliance, far below that of bending, so that it can be factorised in
        any order; what a Newton step leaves of the gap by it, the next step takes away.
        """
        self.soft[...] = 0.0
        self.D[:, self.mode_rows] = 0.0
        self.C[:, self.mode_rows] = np.max(self.C[:, :2]) / (_FAR * self.rod.length**2)

    def inertial_share(self, mobility: float) -> float:
        """Part of `compliance` that is as far below that of inertia as the whole is below bending's.

        For a tangent in which a force moves the rod by mobility (s^2) over its mass: were the whole
        compliance left there, Newton's method would hardly close the gap of a strain that is held.
        """
        stiff = float(np.max(self.C[:, self.mode_rows]))
        return _FAR * mobility * stiff / float(np.max(self.M[:, 3:]))

    def attach(self, frame: Frame) -> int:
        """Station of `frame` among the points, made if needed."""
        offset = np.asarray(frame.pose_offset()[:3, 3])
        for i, (s, o) in enumerate(zip(self.point_s, self.offsets, strict=True)):
            if s == frame.s and np.array_equal(o, offset):
                return i
        self.point_s.append(frame.s)
        self.offsets.append(offset)
        return len(self.point_s) - 1

    def attach_body(self, body: Body) -> None:
        """Carry a rigid body; its weight acts at a point of its own."""
        place = Frame(self.rod.name, body.frame.s, tuple(body.arm()))
        self.bodies.append((body, self.attach(place)))

    def _close_bodies(self) -> None:
        """Inertia of the bodies behind that of the sections, and the mass at every point."""
        self.body_station = np.array([at for _, at in self.bodies], dtype=np.int64)
        found = [bodies.principal(body) for body, _ in self.bodies]
        self.body_T = np.array([T for _, T in found]).reshape(-1, 4, 4)
        self.body_A = np.array([bodies.carried(T) for _, T in found]).reshape(-1, 6, 6)
        self.M = np.concatenate([self.M, *(diagonal[None] for diagonal, _ in found)])
        self.point_mass = np.zeros(len(self.point_s))
        np.add.at(self.point_mass, self.body_station, [body.mass for body, _ in self.bodies])

    def carry_bodies(self, level: Level) -> None:
        """Set the frames of the bodies of a level from its points."""
        if len(self.body_station):
            points = level.points
            bodies.carry(
                points.g,
                points.J,
                self.body_station,
                self.body_T,
                self.body_A,
                level.body_g,
                level.body_J,
            )

    def close(self) -> None:
        """Allocate scratch once all points are known, and set the stress-free strains."""
        self._close_bodies()
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
        self.inertia_p = np.zeros((len(self.M), 6))
        self._close_modes(E, n, m)
        self.level = Level(self)
        self.q_rest = self.map.rest()
        self.map.update(self.level.c, np.eye(4), self.q_rest)
        self.map.strain(self.level.strain, self.level.c)
        self.e0 = self.level.strain.e.copy()
        self.map.strain(self.level.inner, self.level.c)
        self.inner_e0 = self.level.inner.e.copy()

    def _close_modes(self, E: int, n: int, m: int) -> None:
        """Room for the stress modes: gaps (E, p, R), couplings (E, pR, m or n), compliance."""
        modes, R = self.modes, len(self.mode_rows)
        p = 0 if modes is None else modes.index.shape[1]
        self.plain, self.mode_w = self.split_stiffness()
        self.mode_values = np.zeros((len(self.strain_s), 0)) if modes is None else modes.values
        self.mode_numbers = np.zeros((E, 0), dtype=np.int64) if modes is None else modes.index
        self.gap = np.zeros((E, p, R))
        self.gaps = self.gap.reshape(E, R * p)
        self.unit = np.ones((len(self.strain_s), R))
        self.coupling_y = np.zeros((E, R * p, m))
        self.coupling = np.zeros((E, R * p, n))
        self.compliance = np.zeros((E, R * p, R * p))
        if modes is None:
            return
        element = self.map.strains(self.strain_s).element
        elasticity.mode_compliance(
            self.mode_w, self.C, modes.values, self.mode_rows, element, self.compliance
        )
        dense = np.zeros((R, modes.count, modes.count))
        for e in range(E):
            at = modes.index[e]
            for r in range(R):
                dense[r][np.ix_(at, at)] -= self.compliance[e, r::R, r::R]
        self._compliance_factor = [cho_factor(dense[r]) for r in range(R)]
        self.mode_weight = np.zeros(modes.count)
        np.add.at(self.mode_weight, modes.index[element], self.mode_w[:, :1] * modes.values)

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
        """(E, pR): global unknowns of the modes of each element."""
        if self.modes is None:
            return np.zeros((len(self.map.elements), 0), dtype=np.int64)
        return self.mode_index[self.modes.index].reshape(len(self.modes.index), -1)

    # -- statics -----------------------------------------------------------------------------

    def couple(self, level: Level, scale: Array, out: Array) -> None:
        """out (E, pR, n) = derivative of the mode gaps in x at `level`, times scale (S, R)."""
        assert self.modes is not None
        self.coupling_y[...] = 0.0
        plan = level.strain
        elasticity.mixed_coupling(
            self.mode_w,
            self.modes.values,
            self.mode_rows,
            plan.element,
            plan.B,
            scale,
            self.coupling_y,
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
            self.soft,
            plan.e,
            self.e0,
            self.mode_values,
            self.mode_rows,
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

    def add_actuation(self, level: Level, stress: Array, inner: Array, tangent: bool) -> None:
        """Collect given stresses at the strain rule (S, 6) and at the inner stations (X, 6)."""
        acts = self.map.actuation
        for plan, given in ((level.strain, stress), (level.inner, inner)):
            if len(given):
                collect.add_vector(plan.element, acts.jacobian(plan, level.c), given, self.ry)
                if tangent:
                    acts.add_slope(plan, level.c, given, self.Ky)

    def actuation_work(self, a: Level, b: Level, stress: Array, inner: Array) -> float:
        """Work of such stresses between two levels, J."""
        paths = ((stress, a.strain, b.strain), (inner, a.inner, b.inner))
        path, ends = self.map.actuation.path, (a.c, b.c)
        return sum(chambers.work(given, path((p, q), ends)) for given, p, q in paths if len(given))

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
