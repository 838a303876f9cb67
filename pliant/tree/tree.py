"""The robot as a tree of parts: what hangs on what, the numbers of all coordinates, forward passes.

The base of a part is at G X j(q): G a frame of the part that carries it (or the world), X its constant
pose there, j its joint. Clamped, free, hinged and driven parts differ by their joint only.

Numbers. Every vector of the robot has one entry for each number (total,): first the unknown
coordinates of joints and maps with the force fields of each rod among them (n), then the multipliers
of constraints (m), at last the coordinates that inputs prescribe. Matrices hold the first n + m.
A configuration q (nq,) is another vector, with the coordinates of joints and maps one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from pliant.engine.arrays import combine, take
from pliant.engine.program import ask, run
from pliant.joints.contract import JointMap
from pliant.joints.fixed import Fixed
from pliant.joints.free import Free
from pliant.model import (
    Body,
    Description,
    DescriptionError,
    Frame,
    Rod,
    Tube,
    centreline,
    is_inner,
    nest_of,
    slides,
)
from pliant.rods.contract import Array, Formulation, Ints, RodMap
from pliant.rods.nested import NestedMap
from pliant.rods.rigid import RigidMap
from pliant.tree.collect import entries_of, station_values
from pliant.tree.couplings import Couplings, Station
from pliant.tree.drivers import Driver, drivers_of
from pliant.tree.joint_kernels import base_twist
from pliant.tree.part import Part
from pliant.tree.state import State

_NONE = np.zeros(0, dtype=np.int64)
_NUMBERS = ("heaviness", "stiffness", "bending", "_inertia_force")
"""Properties of a tree that are kept and depend on what its parts are made of."""
SPIN_POINTS = 3
"""Stations in each span of a tube at which it resists turning about or sliding along its axis."""


class Tree:
    """Parts from the root, their numbers and their forward passes.

    Made in two steps: effects attach their stations and ask for multipliers, then `close` numbers all.
    """

    def __init__(self, description: Description, formulations: Mapping[str, Formulation]) -> None:
        self.description = description
        self._rods = frozenset(description.rods)
        self.parts: list[Part] = []
        self._places: dict[str, tuple[int, float, Array]] = {}
        """By name of a rod or body, the part it moves with, arclength and pose of its origin there."""
        for source in description.from_root():
            self._add(source, formulations)
        for i, part in enumerate(self.parts):
            if part.parent >= 0:
                assert part.source.carrier is not None
                part.mount = self.attach(part.source.carrier)[1]
                self.parts[part.parent].children.append(i)
        self.drivers: dict[int, Driver] = drivers_of(description, self.parts)
        """By number of the part whose joint inputs prescribe."""
        for i in self.drivers:
            if isinstance(self.parts[i].joint, Fixed):
                self.parts[i].joint = Free()
        self.m = 0
        """Multipliers of constraints."""
        self.notes = 0
        """Numbers that terms keep in a workspace from one iterate to the next."""
        self.couplings = Couplings()
        """Pairs of stations between which effects act."""

    # -- building ----------------------------------------------------------------------------

    def _add(self, source: Rod | Body, formulations: Mapping[str, Formulation]) -> None:
        if is_inner(source):
            return  # its nest is one part, which comes with the outermost
        parent, s, pose = -1, 0.0, np.eye(4)
        if source.carrier is not None:
            parent, s, pose = self.place_of(source.carrier)
        joint = joint_of(source)
        if isinstance(source, Rod):
            formulation = formulations[source.name]
            nest = nest_of(self.description, source)
            if isinstance(source, Tube) or len(nest) > 1:
                self._add_nest(nest, formulation, joint, parent)
                return
            rod_map = discretise(self.description.with_breaks(source), formulation)
            part = Part(source, rod_map, joint, parent, formulation.capabilities)
        elif isinstance(joint, Fixed) and parent >= 0:
            # a body without a joint is a set of stations of the part that carries it
            place = pose @ np.asarray(source.pose)
            self._places[source.name] = (parent, s, place)
            inertia, axes = source.principal()
            self.parts[parent].add_inertia(s, place @ axes, inertia)
            return
        else:
            part = Part(source, RigidMap(), joint, parent)
            if not part.auxiliary:
                inertia, axes = source.principal()
                part.add_inertia(0.0, axes, inertia)
        self._places[source.name] = (len(self.parts), 0.0, np.eye(4))
        self.parts.append(part)

    def _add_nest(
        self, nest: tuple[Rod, ...], formulation: Formulation, joint: JointMap, parent: int
    ) -> None:
        """Add nested tubes as one part: their centreline with the angles of all of them."""
        centre = centreline(nest)
        if len(formulation.capabilities.frame_rows) < 6:
            raise DescriptionError(
                nest[0].label,
                "formulation",
                formulation,
                "one that moves and turns in space, for tubes turn each other",
                "choose e.g. BSpline() or Strain()",
            )
        rod_map = NestedMap(centre, discretise(centre, formulation))
        part = Part(centre, rod_map, joint, parent, formulation.capabilities)
        for k, rod in enumerate(nest):
            first = rod_map.station(k) if isinstance(rod, Tube) else 0.0
            self._places[rod.name] = (len(self.parts), first, np.eye(4))
            if isinstance(rod, Tube):
                own = np.ones(6) if slides(rod) else np.eye(6)[2]  # the rest is the centreline's
                s, w = rod_map.tube_rule(k, SPIN_POINTS)
                for at, inertia in zip(s, rod.inertia(s - first) * w[:, None], strict=True):
                    part.add_inertia(float(at), np.eye(4), inertia * own)
        part.of_tubes = len(part.M) - len(part.mass_w)
        self.parts.append(part)

    def refill(self, description: Description) -> bool:
        """Take over the numbers of a description of the same kind, see `Term.refill`.

        False if a part has to be compiled anew.
        """
        self.description = description
        for name in _NUMBERS:
            vars(self).pop(name, None)
        return not self.drivers and all(
            part.refill(
                source, description.with_breaks(source) if isinstance(source, Rod) else None
            )
            for part, source in zip(self.parts, self._sources(), strict=True)
        )

    def _sources(self) -> list[Rod | Body]:
        """The parts of the description that have parts here, in their order."""
        members = {**self.description.members(), **self.description.auxiliaries()}
        return [members[part.name] for part in self.parts]

    def same_maps(self, other: Tree) -> bool:
        """Whether the maps of both have as many coordinates and the same breaks, part by part."""
        pairs = zip(self.parts, other.parts, strict=False)
        return len(self.parts) == len(other.parts) and all(
            a.map.nq == b.map.nq and np.array_equal(a.map.breaks, b.map.breaks) for a, b in pairs
        )

    def same_shapes(self, other: Tree) -> bool:
        """Whether coordinates of both are the same shapes of parts of the same names."""
        pairs = zip(self.rest.parts, other.rest.parts, strict=False)
        return self.same_maps(other) and all(a.same_shape(b) for a, b in pairs)

    def place_of(self, frame: Frame) -> tuple[int, float, Array]:
        """Part that a frame moves with, arclength there, and its pose (4, 4) in that section."""
        i, s, pose = self._places[frame.part]
        if self.is_rod(frame.part):
            return i, s + frame.s, pose @ frame.pose_offset()
        return i, s, pose @ frame.pose_offset()

    def place_of_part(self, name: str) -> tuple[int, float, Array]:
        """Part that a rod or body moves with, arclength and pose (4, 4) of its origin there."""
        return self._places[name]

    def attach(self, frame: Frame, shared: bool = True) -> tuple[int, int]:
        """Part and frame station of a frame; shared : False for one of its own, see `turn_point`."""
        i, s, pose = self.place_of(frame)
        nested = self.parts[i].map
        if isinstance(nested, NestedMap) and self.is_rod(frame.part):
            nested.require_beyond(frame.part, s)
        return i, self.parts[i].attach(s, pose, shared)

    def couple(self, a: Station, b: Station) -> tuple[int, bool]:
        """Number of the coupling of two frame stations, and whether b comes first in it."""
        return self.couplings.add(a, b)

    def number_of(self, name: str) -> int:
        """Number of the part that a rod or body, by name, moves with."""
        return self._places[name][0]

    def is_rod(self, name: str) -> bool:
        """Whether a part of the description is a rod."""
        return name in self._rods

    def is_nested(self, name: str) -> bool:
        """Whether a rod, by name, is one of several in a common centreline."""
        return self.is_rod(name) and isinstance(self.part(name).map, NestedMap)

    @cached_property
    def driven_maps(self) -> list[Part]:
        """Parts with a map of which inputs prescribe coordinates."""
        return [part for part in self.parts if len(part.map.inputs)]

    @property
    def estimates(self) -> bool:
        """Whether errors can be estimated from the balance of all parts."""
        return all(part.map.estimates for part in self.parts)

    def part(self, name: str) -> Part:
        """The part that a rod, by name, is."""
        return self.parts[self.number_of(name)]

    def held_by_world(self) -> list[int]:
        """Numbers of the parts that a joint with the world holds or drives."""
        roots = [i for i, part in enumerate(self.parts) if part.parent < 0]
        own = [i for i in roots if not self.parts[i].auxiliary]
        return [i for i in own if self.parts[i].joint.nv < 6 or i in self.drivers]

    def held_parts(self) -> list[int]:
        """Numbers of the parts that the world holds, and of those on other parts by a joint that moves.

        What holds a rod mounted rigidly on another is its internal wrench at the base.
        """
        carried = [i for i, part in enumerate(self.parts) if part.parent >= 0]
        own = [i for i in carried if not self.parts[i].auxiliary and 0 < self.parts[i].joint.nv < 6]
        return sorted({*self.held_by_world(), *own})

    def drives(self, forces: Array) -> dict[str, float]:
        """Of forces (total,) on all coordinates, those on what inputs prescribe, by input."""
        found: dict[str, float] = {}
        for i, driver in self.drivers.items():
            if len(driver.inputs) == len(driver.velocities):
                numbers = self.parts[i].joint_index[driver.velocities]
                found |= dict(zip(driver.inputs, forces[numbers].tolist(), strict=True))
        for part in self.driven_maps:
            numbers = part.x_index[part.map.prescribed]
            found |= dict(zip(part.map.inputs, forces[numbers].tolist(), strict=True))
        return found

    def add_multipliers(self, count: int) -> slice:
        """Places of `count` more multipliers among all of them."""
        self.m += count
        return slice(self.m - count, self.m)

    def add_notes(self, count: int) -> slice:
        """Places of `count` more numbers among the notes of a workspace."""
        self.notes += count
        return slice(self.notes - count, self.notes)

    def close(self) -> Tree:
        """Number all coordinates and set the rest; no station can be attached from here on."""
        for part in self.parts:
            part.close()
        self._number()
        self.q_rest = np.zeros(self.nq)
        for part in self.parts:
            self.q_rest[part.joint_slice] = part.joint.start()
            self.q_rest[part.q_slice] = part.map.rest()
        self.rest = State(self)
        """The undeformed robot."""
        self.place_rest()
        return self

    def place_rest(self) -> None:
        """Place the undeformed robot, again where points were turned."""
        self.rest.place(self.q_rest)

    def _number(self) -> None:
        n = nq = 0
        late = []
        for i, part in enumerate(self.parts):
            nv = part.joint.nv
            driven = np.zeros(nv, dtype=bool)
            if i in self.drivers:
                driven[self.drivers[i].velocities] = True
                late.append((part, driven))
            part.joint_index = np.where(driven, -1, n + np.cumsum(~driven) - 1)
            n += nv - int(driven.sum())
            part.joint_slice = slice(nq, nq + part.joint.nq)
            nq += part.joint.nq
            part.q_slice = slice(nq, nq + part.map.nq)
            nq += part.map.nq
            n = _interleave(part, n)
            part.grounded = part.parent < 0 and not nv
        self.n, self.nq = n, nq
        self.size = n + self.m
        """Unknowns: coordinates, force fields and multipliers."""
        total = self.size
        for part, driven in late:
            part.joint_index[driven] = total + np.arange(driven.sum())
            total += int(driven.sum())
        for part in self.driven_maps:
            count = len(part.map.inputs)
            part.x_index[part.map.prescribed] = total + np.arange(count)
            total += count
        self.total = total
        for part in self.parts:
            numbers = np.concatenate([np.full(6, -1), part.x_index])
            local = part.map.elements
            part.index = np.where(local >= 0, numbers[np.maximum(local, 0)], -1)
        self.prescribed = np.arange(self.size, total)
        """Numbers of the coordinates that inputs prescribe."""
        self.fields = np.concatenate([_NONE, *(part.field_index.ravel() for part in self.parts)])
        """Numbers of all force fields."""
        self.coordinates = np.setdiff1d(np.arange(n), self.fields)
        """Numbers of all unknown coordinates."""
        self.multipliers = np.arange(n, self.size)

    # -- which numbers move what ---------------------------------------------------------------

    def frame_entries(self, i: int, station: int) -> tuple[Ints, bool]:
        """Columns of its element that move a frame station of part i, and whether its base does."""
        part = self.parts[i]
        e = int(self.rest.parts[i].element[station])
        row, hangs = part.map.elements[e], e in part.base_elements
        s = float(part.frames_s[station])
        at = part.map.pose_coordinate(s)
        if at is None:
            own = np.flatnonzero(row >= (6 if hangs else 0))
            return own, hangs
        if at == 0:
            return _NONE, True
        return np.flatnonzero((row >= at) & (row < at + 6)), False

    def frame_columns(self, i: int, station: int) -> Ints:
        """Numbers (c,) that move a frame station of part i."""
        entries, hangs = self.frame_entries(i, station)
        e = self.rest.parts[i].element[station]
        own = self.parts[i].index[e][entries]
        return np.concatenate([own, self.base_columns(i)]) if hangs else own

    def base_columns(self, i: int) -> Ints:
        """Numbers (b,) that move the base of part i."""
        part = self.parts[i]
        if part.parent < 0:
            return part.joint_index
        return np.concatenate([self.frame_columns(part.parent, part.mount), part.joint_index])

    # -- forward passes ------------------------------------------------------------------------

    def variations(self, state: State, x: Array) -> tuple[list[Array], list[Array]]:
        """Of a variation x (total,): per part that of base and own coordinates (6 + nv,), and of the
        element variables (E, m).
        """
        local: list[Array] = []
        lifted: list[Array] = []
        for part, at in zip(self.parts, state.parts, strict=True):
            own, twist = np.zeros(6 + part.map.nv), np.zeros((1, 6))
            take(x, part.x_index, own[6:])
            if part.parent >= 0:
                carrier, k = state.parts[part.parent], part.mount
                where = (0, carrier.element[k : k + 1], carrier.J[k : k + 1])
                run(station_values, *where, lifted[part.parent], twist)
            run(base_twist, at.inward, twist[0], at.S, x, part.joint_index, own[:6])
            entries = np.zeros(part.map.elements.shape)
            y = np.zeros((len(entries), part.map.m))
            run(entries_of, part.map.elements, own, entries)
            ask(part.map.lift_velocity, at.c, entries, y)
            local.append(own)
            lifted.append(y)
        return local, lifted

    def moved(self, state: State, x: Array, newton: bool = True) -> Array:
        """Coordinates (nq,) after a variation x (total,) of a state.

        Along the Newton chart, in which rods are nearly linear, or along the second-order chart.
        """
        if not newton:
            other = State(self)
            self.retract(state, x, other)
            return other.q
        q = np.empty(self.nq)
        self.advance(state, x, q)
        return q

    def advance(self, state: State, x: Array, q: Array) -> None:
        """Write coordinates q (nq,) after a variation x (total,) of a state in the Newton chart."""
        local = self.variations(state, x)[0] if self._linked else self._own_variations(x)
        for part, at, own in zip(self.parts, state.parts, local, strict=True):
            if part.joint.nq:
                ask(part.joint.move, at.joint_q, x, part.joint_index, q[part.joint_slice])
            ask(part.map.advance_to, at.c, at.c.base, own, q[part.q_slice])

    @property
    def _linked(self) -> bool:
        """Whether any base moves."""
        return len(self.parts) > 1 or self.parts[0].joint.nv > 0

    def _own_variations(self, x: Array) -> list[Array]:
        """Those of the only part, whose base is at rest."""
        own = np.zeros(6 + self.parts[0].map.nv)
        take(x, self.parts[0].x_index, own[6:])
        return [own]

    def retract(self, state: State, x: Array, other: State) -> None:
        """Place another state at a variation x (total,) of a state, along the second-order chart."""
        local, _ = self.variations(state, x)
        other.renew()
        for part, at, to, own in zip(self.parts, state.parts, other.parts, local, strict=True):
            if part.joint.nq:
                ask(part.joint.move, at.joint_q, x, part.joint_index, to.joint_q)
            to.place_base()
            ask(part.map.retract_to, at.c, to.base, own, to.q)
            to.place()

    def set_mean_force(self, state: State, other: State, r: Array, far: Array, out: Array) -> None:
        """Write to out (total,) the mean of forces on all coordinates, r at a state and `far` at
        another one, as it acts at the first.

        Half of it at both states has the linear and angular impulse of half of r and half of `far`.
        """
        combine(0.5, r, 0.5, far, out)
        for part, at, to in zip(self.parts, state.parts, other.parts, strict=True):
            if part.joint.nv:
                ends, index = (at.joint_q, to.joint_q), part.joint_index
                ask(part.joint.set_mean_force, *ends, index, r, far, out)
            ask(part.map.set_mean_force, at.c, to.c, part.x_index, r, far, out)

    # -- measures ------------------------------------------------------------------------------

    @cached_property
    def length(self) -> float:
        """Of the longest part, m."""
        return max(part.length for part in self.parts if not part.auxiliary)

    @cached_property
    def heaviness(self) -> float:
        """Mass of all parts times the length of the longest one, kg m."""
        return self.length * sum(float(np.sum(part.M[:, 3])) for part in self.parts)

    @cached_property
    def stiffness(self) -> float:
        """A force that is large for this robot, N: its largest section stiffness over its length."""
        rods = [float(np.max(part.C)) / part.length for part in self.parts if len(part.C)]
        return max(rods, default=self._inertia_force)

    def joint_stiffness(self) -> Array:
        """(size,): the bending stiffness of the robot, for the coordinates of joints; else zero."""
        out = np.zeros(self.total)
        for one in self.parts:
            joint = one.joint
            units = joint.units or ("rad",) * 3 + ("m",) * 3
            power = np.array([1.0 if unit == "rad" else 3.0 for unit in units[: joint.nv]])
            out[one.joint_index] = self.bending / self.length**power
        return out[: self.size]

    @cached_property
    def bending(self) -> float:
        """Largest bending or twisting stiffness of the sections, N m^2."""
        rods = [float(np.max(part.C[:, :3])) for part in self.parts if len(part.C)]
        return max(rods, default=self._inertia_force * self.length**2)

    @cached_property
    def _inertia_force(self) -> float:
        """Weight of all parts under standard gravity, N: what is large where nothing is elastic."""
        return 9.81 * max(sum(float(np.sum(part.M[:, 3])) for part in self.parts), 1e-300)


def joint_of(source: Rod | Body) -> JointMap:
    """The joint of a part: as described, else rigid, else free where nothing carries it."""
    if source.joint is not None:
        assert isinstance(source.joint, JointMap)
        return source.joint
    return Free() if isinstance(source, Rod) and source.base is None else Fixed()


def discretise(rod: Rod, formulation: Formulation) -> RodMap:
    """The map of a rod, or a sentence if the formulation cannot carry its theory."""
    theories = formulation.capabilities.theories
    if rod.theory not in theories:
        raise DescriptionError(
            part=f"rod {rod.name!r}",
            field="theory",
            value=rod.theory,
            expected=f"{' or '.join(theories)} with {type(formulation).__name__}",
            remedy="choose a formulation that can carry it, such as Strain",
        )
    return formulation.discretise(rod)


def _interleave(part: Part, n: int) -> int:
    """Number own coordinates and force fields of a part from n on, each field where it is felt.

    Coordinates that inputs prescribe get their numbers later.
    """
    nv, fields, rows = part.map.nv, part.fields, len(part.field_rows)
    count = 0 if fields is None else fields.count
    keys = np.arange(nv, dtype=float)
    late = part.map.prescribed
    keys[late] = np.inf
    if fields is not None:
        keys = np.concatenate([keys, np.repeat(fields.before - 6 - 0.5, rows)])
    place = np.empty(nv + rows * count, dtype=np.int64)
    place[np.argsort(keys, kind="stable")] = n + np.arange(nv + rows * count)
    part.x_index = place[:nv]
    part.field_index = place[nv:].reshape(count, rows)
    return n + nv + rows * count - len(late)
