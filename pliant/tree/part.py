"""One part of the tree, compiled: its map, its joint, its stations and what they are made of."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.model import Auxiliary, Body, Rod
from pliant.rods.contract import Array, Capabilities, Ints, RodMap

_FAR = 1e-7
"""How far below all else the compliance is that tangents keep where strains are held."""


class Part:
    """A rod or a rigid body with the constants of its map.

    Frame stations (F,) are sections or their centres at `mass_s` (Q,), then the points (P,) where
    something is attached. The first of them, as many as `mass_w` has weights, are the mass rule; from
    there up to `inertial` follow the bodies that the part carries. All these have inertia M. A point is
    a section at `point_s` and a constant pose `point_X` in it.
    """

    of_tubes = 0
    """How many of the inertial stations after the mass rule are sections of nested tubes."""

    def __init__(
        self,
        source: Rod | Body,
        rod_map: RodMap,
        joint: JointMap,
        parent: int,
        capabilities: Capabilities | None = None,
    ) -> None:
        self.source = source
        self.name = source.name
        self.map = rod_map
        self.joint = joint
        self.parent = parent
        """Number of the part that carries it, -1 for the world."""
        self.mount = -1
        """Frame station of that part which carries the base."""
        self.pose = np.asarray(source.pose, dtype=float)
        """(4, 4): of the base at rest in that frame."""
        self.capabilities = capabilities or Capabilities()
        """What its formulation declares; a rigid body carries everything."""
        self.strain_s, self.strain_w = rod_map.strain_rule()
        self.mass_s, self.mass_w = rod_map.mass_rule()
        self.fields = rod_map.force_basis()
        """Force fields of the mixed form, None for a plain strain law."""
        self.field_rows = np.array([] if self.fields is None else self.fields.rows, dtype=np.int64)
        self.rigid = self.fields is not None and self.fields.rigid
        """True if the strains that force fields meet are held at zero."""
        self.M = rod_map.inertia(self.mass_s) * self.mass_w[:, None]
        self.centred = not self.M[:, :3].any() and rod_map.centres(self.mass_s) is not None
        """Whether the frames of the mass rule are centres with the axes of the base, see `RodMap`."""
        same = np.array_equal(self.strain_s, self.mass_s)
        self.one_rule = same and rod_map.shares_plans and not self.centred
        rod = self.rod
        none = np.zeros((len(self.strain_s), 6))
        self.C = none if rod is None else rod.stiffness(self.strain_s)
        self.D = none.copy() if rod is None else rod.damping(self.strain_s)
        if self.rigid:
            self._stiffen()
        self.plain, self.field_w = self._split_stiffness()
        """Stiffness times weight (S, 6) of the stress that each strain has by itself, and the weight
        (S, R) of the stress that force fields carry."""
        self.point_s: list[float] = []
        self._poses: list[Array] = []
        self.reach = 0.0
        """Distance of the farthest point that effects give by its offset in a section, m."""
        self.inner_s: list[float] = []
        """Stations for strains besides those of the strain rule."""
        self.children: list[int] = []
        self.loaded = False
        """Whether effects in plain Python may act at its mass stations."""
        self.coupled = False
        """Whether some effect makes a stress depend on other strains than its own."""

    def refill(self, source: Rod | Body, rod: Rod | None) -> bool:
        """Be a part that differs in plain numbers only, see `RodMap.refill`; False if it cannot.

        source : the part as described.  rod : the same as its map is to know it; None for a body.
        """
        self.source = source
        if rod is None:
            return True
        if not self.map.refill(rod):
            return False
        count = len(self.mass_w)
        self.M[:count] = self.map.inertia(self.mass_s[:count]) * self.mass_w[:, None]
        self.C[...], self.D[...] = rod.stiffness(self.strain_s), rod.damping(self.strain_s)
        if self.rigid:
            self._stiffen()
        self.plain[...], self.field_w[...] = self._split_stiffness()
        self.lag[...] = self.D / self.C
        return True

    @property
    def auxiliary(self) -> bool:
        """Whether an effect brings it along: it has no mass, and constraints hold it."""
        return isinstance(self.source, Auxiliary)

    @property
    def rod(self) -> Rod | None:
        """The rod it is, None for a rigid body."""
        return self.source if isinstance(self.source, Rod) else None

    @property
    def length(self) -> float:
        """Of a rod, metres; of a body the distance of its farthest point."""
        if isinstance(self.source, Rod):
            return self.source.length
        far = max((float(np.linalg.norm(X[:3, 3])) for X in self._poses), default=0.0)
        return max(far, self.reach) or 1.0

    def _stiffen(self) -> None:
        """Rows that cannot strain have no viscosity.

        The tangent keeps a compliance there, far below that of bending, so that it can be factorised in
        any order; what a Newton step leaves of the gap by it, the next step takes away.
        """
        self.D[:, self.field_rows] = 0.0
        self.C[:, self.field_rows] = np.max(self.C[:, :2]) / (_FAR * self.length**2)

    def _split_stiffness(self) -> tuple[Array, Array]:
        """The arrays `plain` (S, 6) and `field_w` (S, R).

        Strains that no force field feels cost nothing. Where they would be large (`held` of the
        fields), a share of the stiffness of their rows, `held` times the bending stiffness over the
        square of the length, is taken point by point (partial projection, Arnold and Brezzi 1993):
        it does not grow with slenderness, so that slender rods do not lock.
        """
        plain, rows = self.strain_w * self.C, self.field_rows
        own = self.map.elastic_share(self.strain_s)
        if own is not None:
            plain *= own
        if self.fields is None:
            return plain, np.zeros((len(plain), 0))
        bending = self.fields.held * np.minimum(self.C[:, 0], self.C[:, 1]) / self.length**2
        share = np.minimum(0.9, bending[:, None] / self.C[:, rows])
        plain[:, rows] *= share
        return plain, np.ascontiguousarray(self.strain_w[:, rows] * (1.0 - share))

    @cached_property
    def lag(self) -> Array:
        """Retardation time D / C of each strain (S, 6), s."""
        return self.D / self.C

    def attach(self, s: float, pose: Array, shared: bool = True) -> int:
        """Frame station of the frame at s with a constant pose (4, 4) there, made if needed."""
        for i, (other, X) in enumerate(zip(self.point_s, self._poses, strict=True)):
            if shared and other == s and np.array_equal(X, pose):
                return len(self.mass_s) + i
        self.point_s.append(s)
        self._poses.append(np.array(pose))
        return len(self.mass_s) + len(self.point_s) - 1

    def turn_point(self, station: int, pose: Array) -> None:
        """Give a point that nobody shares another constant pose (4, 4) in its section.

        For effects that know it once the undeformed robot is known; `Tree.place_rest` comes after it.
        """
        at = station - len(self.mass_s)
        self._poses[at] = np.array(pose)
        self.point_X[at] = pose
        self.point_A[at] = se3.Ad(se3.inverse(np.asarray(pose)))

    def line_stations(self, turns: bool) -> Ints:
        """Frame stations (Q,) of the mass rule; turns : True for frames that turn with the sections."""
        stations = np.arange(len(self.mass_w), dtype=np.int64)
        if not (turns and self.centred):
            return stations
        return np.array([self.attach(float(s), np.eye(4)) for s in self.mass_s[stations]])

    def stations_of(self, rule: tuple[Array, Array] | None) -> tuple[Ints, Array]:
        """Frame stations (S,) that turn with the sections and weights (S,) of a rule, made if needed;
        those of the mass rule for None.
        """
        if rule is None:
            return self.line_stations(turns=True), self.mass_w
        return np.array([self.attach(float(s), np.eye(4)) for s in rule[0]]), rule[1]

    def add_inertia(self, s: float, pose: Array, inertia: Array) -> None:
        """Carry a rigid body with diagonal inertia (6,) in the principal frame `pose` (4, 4) at s."""
        at_centre = self.centred and not inertia[:3].any() and not pose[:3, 3].any()
        if at_centre:
            self.M = np.insert(self.M, len(self.mass_s), inertia, axis=0)
            self.mass_s = np.append(self.mass_s, s)
        else:
            self.attach(s, pose, shared=False)
            self.M = np.concatenate([self.M, inertia[None]])

    def close(self) -> None:
        """Fix the stations once all are known."""
        P = len(self.point_s)
        self.points_s = np.array(self.point_s, dtype=float)
        self.point_X = np.array(self._poses).reshape(P, 4, 4)
        self.point_A = np.asarray(se3.Ad(se3.inverse(self.point_X))).reshape(P, 6, 6)
        """(P, 6, 6): twist of the point from the twist of its section."""
        self.stations = np.arange(P, dtype=np.int64)
        self.inertial = len(self.M)
        self.base_elements = np.flatnonzero(
            np.all(self.map.elements[:, :6] == np.arange(6), axis=1)
        )

    @property
    def frames_s(self) -> Array:
        """Arclengths (F,) of all frame stations."""
        return np.concatenate([self.mass_s, self.points_s])

    def at_sections(self, stations: Ints, wrench: Array) -> Array:
        """Body wrenches (N, 6) at frame stations as body wrenches of their sections."""
        count = len(self.mass_s)
        found = wrench.copy()
        for n, station in enumerate(stations):
            if station >= count:
                found[n] = self.point_A[station - count].T @ wrench[n]
        return found

    def inertial_share(self, mobility: float) -> float:
        """Part of the compliance of held strains that is as far below inertia as all is below bending.

        For a tangent in which a force moves the rod by mobility (s^2) over its mass: were the whole
        compliance left there, Newton's method would hardly close the gap of a strain that is held.
        """
        stiff = float(np.max(self.C[:, self.field_rows]))
        return _FAR * mobility * stiff / float(np.max(self.M[:, 3:]))

    # -- numbers, set by `tree.numbering` ------------------------------------------------------

    index: Ints
    """(E, n): number of each entry of x of the elements, -1 for those of the base."""
    x_index: Ints
    """(nv,): numbers of the own coordinates."""
    joint_index: Ints
    """(joint.nv,): numbers of the coordinates of the joint."""
    field_index: Ints
    """(count, R): numbers of the force fields."""
    q_slice: slice
    joint_slice: slice
    grounded: bool
    """Whether its base never moves."""

    @property
    def straight(self) -> bool:
        """Whether the frames of the mass rule move straight: centres on a base that never moves."""
        return self.centred and self.grounded

    @property
    def first_variable(self) -> int:
        """First of its element variables that can change: not the twist of a base that never moves."""
        return self.map.base_variables if self.grounded else 0
