"""The map of nested tubes: one centreline, and how each tube is turned and has slid against it there.

Any formulation gives the centreline. Tube k is at g(s) T(offset) Rz(theta_k(s)) Tz(w_k(s)), theta_k and
w_k being zero or cubic splines on the breaks of the centreline up to the tip of the tube. Behind the
entry plane a tube is straight, and both change linearly from those of its base. Tubes are seen at
*stations of tubes*, arclengths beyond those of the centreline (`station`). Where a strain is asked for
there, the map gives what the law of a tube depends on, (ux, uy, uz + theta', theta, 0, vz + w').

Coordinates are those of the centreline, then the coefficients of all fields, then those of the bases
that inputs prescribe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pliant.engine.arrays import clear, combine, take
from pliant.engine.program import ask, is_compiled, run
from pliant.model import DescriptionError, Tube, slides, turns
from pliant.model.nest import GAUGE, Centreline
from pliant.rods import nested_kernels as nested
from pliant.rods.actuation import OnStrains
from pliant.rods.basis import alive, find_span
from pliant.rods.contract import (
    Array,
    Configuration,
    ForceBasis,
    Ints,
    KernelMap,
    OwnConfiguration,
    OwnPlan,
    Plan,
    RodMap,
)
from pliant.rods.quadrature import gauss_per_span, stretch_rule

TURN, SLIDE = 2, 5
"""Rows of twists in which tubes move against the centreline."""
_DEGREE = 3
GUIDE = -2
"""Number of a tube whose station stands for its straight part behind the entry plane."""
_BELOW = 2e-12
"""Part of the length by which the tip of a tube is before the break there."""
_LEAST_SPANS = 8
"""Spans of the splines of the angles along the centreline, at least."""


class Stretch:
    """Where tube k is on the centreline: from start, maybe behind it, to end; spans cut there."""

    def __init__(self, centre: Centreline, k: int, spans: Array) -> None:
        self.tube, self.k = centre.members[k], k
        self.start, self.end = centre.own(k)
        self.spans = spans[spans <= max(self.end, 0.0) + 1e-9 * centre.length]
        self.offset = self.tube.offset if isinstance(self.tube, Tube) else (0.0, 0.0)

    @property
    def exposed(self) -> bool:
        """Whether any of it is beyond the entry plane."""
        return len(self.spans) > 1


class RelativeMotion:
    """The angle of one tube against the centreline, or how far it has slid: splines up to its tip.

    row : 2 for the angle, 5 for how far it slid, as in twists.  count functions, numbered from `first`
    among all; tip_is_fixed : without the last one, which is the value at the tip.  described : value at
    its base.  base : number of that of its base among all, -1 where it is fixed.  input : that
    prescribes it.  torque : input that is a torque on the base instead, which is free to turn.
    """

    def __init__(self, tube: Tube, along: Stretch, row: int, breaks: Sequence[float]) -> None:
        self.along, self.k, self.row, self.slides = along, along.k, row, row == SLIDE
        self.start, self.end = along.start, along.end
        inner = along.spans[1:-1]
        repeats = np.where(np.isin(inner, breaks), _DEGREE, 1)
        ends = np.repeat(along.spans[[0, -1]], _DEGREE + 1)
        self.knots = np.sort(np.concatenate([ends, np.repeat(inner, repeats)]))
        self.tip_is_fixed = self.slides or tube.tip_is_fixed
        functions = len(self.knots) - _DEGREE - 1 - self.tip_is_fixed
        self.count = functions if along.exposed else 0
        self.first, self.base = 0, -1
        self.described = 0.0 if self.slides else tube.angle
        self.input = tube.shift if self.slides else tube.rotation
        self.torque = None
        if tube.drive == "torque" and not self.slides:
            self.torque, self.input = self.input, None

    def functions(self, s: Array) -> tuple[Ints, Array, Array]:
        """Numbers (S, 4) of the functions alive at s of the centreline, values and derivatives.

        That of a fixed tip, which is zero, has the number -1.
        """
        t, k = self.knots, _DEGREE
        element, spans = find_span(t, s)
        at = spans[element]
        ids = at[:, None] - k + np.arange(k + 1)
        ids = np.where(ids < self.count, self.first + ids, -1)
        lower = alive(t, k - 1, s, at)
        slope = np.zeros((len(s), k + 1))
        for j in range(k):
            share = k * lower[:, j] / (t[at + 1 + j] - t[at + 1 + j - k])
            slope[:, j] -= share
            slope[:, j + 1] += share
        return ids.astype(np.int64), alive(t, k, s, at), slope


class NestedPlan(Plan):
    """Stations of the centreline and of tubes: the plan of the centreline, and the angles there.

    tube (S,) : number of the tube, -1 for the centreline, GUIDE for a straight part.
    ids (S, p) : coordinates of the fields in the variables of the element, with values N and
    derivatives dN for angles.  theta, slope (S,) : angle and its derivative.  shift (S,) : by which the
    station is before the section of the centreline, of which `behind` (S,) is the distance to the entry
    plane and the rest, with values W and derivatives dW (S, p), is how far the tube has slid; stretch
    (S,) is its derivative.  beside (S, 2) : place of the axis of the tube in the section.
    """

    def __init__(self, s: Array, host: Plan, p: int, tube: Ints) -> None:
        S, m = len(s), host.J.shape[2]
        super().__init__(s, host.element, m + p)
        self.host, self.tube = host, tube
        self.ids = np.full((S, p), -1, dtype=np.int64)
        self.N, self.dN = np.zeros((S, p)), np.zeros((S, p))
        self.constant, self.offset, self.shift = np.zeros(S), np.zeros(S), np.zeros(S)
        self.theta, self.slope = np.zeros(S), np.zeros(S)
        self.W, self.dW, self.zero = np.zeros((S, p)), np.zeros((S, p)), np.zeros(S)
        self.behind, self.stretch, self.beside = np.zeros(S), np.zeros(S), np.zeros((S, 2))
        self.meets = np.zeros((S, 6))
        """What acts at the stations, as it meets the centreline."""


class NestedConfiguration(Configuration):
    """The configuration of the centreline, and workspace to pass things on to its map."""

    def __init__(self, nq: int, own: NestedMap) -> None:
        super().__init__(nq)
        host = own.host
        self.host = host.configuration()
        self.extra = self.q[host.nq :]
        (E, n), m, p = host.elements.shape, host.m, own.p
        self.x = np.zeros(6 + host.nv)
        self.y, self.r = np.zeros((E, m)), np.zeros((E, n))
        self.rest = np.zeros((E, p))
        self.K, self.lifted = np.zeros((E, m, m)), np.zeros((E, n, n))
        self.below, self.right = np.zeros((E, p, m)), np.zeros((E, p, m))
        self.lifted_below, self.lifted_right = np.zeros((E, p, n)), np.zeros((E, p, n))


class NestedMap(KernelMap):
    """A centreline with tubes around it; `host` is the map of the centreline."""

    estimates = False

    def __init__(self, centre: Centreline, host: RodMap) -> None:
        self.rod, self.host, self.centre = centre, host, centre
        self.breaks = host.breaks
        self.stride = 2.0 * (centre.length + max(tube.length for tube in centre.members))
        self._spans = _refined(host.breaks)
        members = range(len(centre.members))
        self.stretches = [Stretch(centre, k, self._spans) for k in members]
        self.fields = [field for along in self.stretches for field in self._motions(along)]
        count = 0
        for field in self.fields:
            field.first = count
            count += field.count
        self.turned = [field for field in self.fields if field.input is not None]
        for j, field in enumerate(self.turned):
            field.base = count + j
        self.angles = count + len(self.turned)
        """Coordinates of angles, those of bases included."""
        self.nq, self.nv = host.nq + self.angles, host.nv + self.angles
        self._number_elements(count)
        self.m = host.m + self.p
        self.bent, self.base_variables = host.bent, host.base_variables
        self.actuation = OnStrains(self)
        self._modes = self._moved_modes()
        self.inputs = [str(field.input) for field in self.turned]
        self.sliding = any(field.slides for field in self.fields)
        self.prescribed = self._angle_place[count:]

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        """Whether the methods of the map of the centreline only call kernels."""
        return is_compiled(self.host)

    def _motions(self, along: Stretch) -> Iterator[RelativeMotion]:
        """How a tube moves against the centreline."""
        tube, breaks = along.tube, self.centre.breaks
        if isinstance(tube, Tube):
            if turns(tube):
                yield RelativeMotion(tube, along, TURN, breaks)
            if slides(tube):
                yield RelativeMotion(tube, along, SLIDE, breaks)

    # -- numbers -----------------------------------------------------------------------------

    def _number_elements(self, count: int) -> None:
        """Set which fields each element depends on, and the order of all coordinates."""
        host, E = self.host, len(self.host.elements)
        middles = 0.5 * (self._spans[1:] + self._spans[:-1])
        element = host.frames(middles).element
        alive_in: list[set[int]] = [set() for _ in range(E)]
        for field in self.fields:
            inside = (middles < field.end) & (field.count > 0)
            if inside.any():
                all_ids = field.functions(middles[inside])[0]
                for e, ids in zip(element[inside], all_ids, strict=True):
                    alive_in[e].update(int(i) for i in ids if i >= 0)
        first = int(host.frames(np.zeros(1)).element[0])
        alive_in[first].update(field.base for field in self.turned)
        self.p = max(len(ids) for ids in alive_in)
        self.slots = np.full((E, self.p), -1, dtype=np.int64)
        """(E, p): numbers of the angles in the variables of each element, -1 for none."""
        for e, ids in enumerate(alive_in):
            self.slots[e, : len(ids)] = sorted(ids)
        self._order(count)
        entry = np.concatenate([np.arange(6), 6 + self._host_place])
        elements = np.where(host.elements >= 0, entry[np.maximum(host.elements, 0)], -1)
        extra = np.where(self.slots >= 0, 6 + self._angle_place[np.maximum(self.slots, 0)], -1)
        self.elements = np.concatenate([elements, extra], axis=1).astype(np.int64)
        self._entry = entry

    def _order(self, count: int) -> None:
        """Place each angle behind the coordinates of the first element that depends on it."""
        host, last = self.host, np.full(self.angles, float(self.host.nv))
        for e in range(len(self.slots) - 1, -1, -1):
            ids = self.slots[e][self.slots[e] >= 0]
            last[ids] = float(host.elements[e].max()) - 6.0 + 0.5
        last[count:] = host.nv + 1.0
        keys = np.concatenate([np.arange(host.nv), last])
        place = np.empty(len(keys), dtype=np.int64)
        place[np.argsort(keys, kind="stable")] = np.arange(len(keys))
        self._host_place, self._angle_place = place[: host.nv], place[host.nv :]

    def _moved_modes(self) -> ForceBasis | None:
        modes = self.host.force_basis()
        if modes is None:
            return None
        before = self._entry[np.minimum(modes.before, len(self._entry) - 1)]
        return ForceBasis(
            *(modes.values, modes.index, modes.count, before, modes.rows, modes.rigid, modes.held)
        )

    # -- stations ----------------------------------------------------------------------------

    def number_of(self, name: str) -> int:
        """Number of the tube with a name."""
        return [tube.name for tube in self.centre.members].index(name)

    def station(self, k: int) -> float:
        """What is added to an arclength of tube k to make it a station of that tube."""
        return (k + 1) * self.stride

    def decoded(self, s: Array) -> tuple[Ints, Array]:
        """Tube (S,), -1 for the centreline, and place (S,) on the centreline, negative behind it.

        Straight parts have the numbers after those of all tubes.
        """
        s = np.ascontiguousarray(s, dtype=float)
        length, count = self.centre.length, len(self.stretches)
        tube = np.floor(s / self.stride + 1e-9).astype(np.int64) - 1
        place = np.where(tube >= count, 0.0, s)
        for along in self.stretches:
            own = tube == along.k
            at = s[own] - self.station(along.k) + along.start
            end = along.end if along.end >= length else along.end - _BELOW * length
            place[own] = np.minimum(at, end)
        return tube, np.minimum(place, length)

    def _plan(self, s: Array, kind: str) -> NestedPlan:
        tube, place = self.decoded(s)
        count = len(self.stretches)
        host = getattr(self.host, kind)(np.maximum(place, 0.0))
        kinds = np.where(tube >= count, GUIDE, tube)
        plan = NestedPlan(np.asarray(s, dtype=float), host, self.p, kinds)
        plan.behind[:] = np.where(tube >= 0, np.minimum(place, 0.0), 0.0)
        plan.shift[:] = plan.behind
        for along in self.stretches:
            plan.beside[tube == along.k] = along.offset
        for j, field in enumerate(self.fields):
            rows = np.flatnonzero(tube == field.k)
            if len(rows):
                self._set_motion(plan, field, rows, place[rows])
            for row in np.flatnonzero(tube == count + j):
                self._set_guide(plan, field, int(row))
        return plan

    def _set_guide(self, plan: NestedPlan, field: RelativeMotion, row: int) -> None:
        """Let the strain of a straight part be the value in the entry plane less that of the base.

        The described angle of the base is part of its law, so that it comes on as loads do.
        """
        ids, values, _ = field.functions(np.zeros(1))
        self._put(plan, row, TURN, ids[0], 0.0 * values[0], values[0])
        if field.base >= 0:
            self._put(plan, row, TURN, [field.base], [0.0], [-1.0])

    def _set_motion(
        self, plan: NestedPlan, field: RelativeMotion, rows: Ints, place: Array
    ) -> None:
        """Let stations of one tube depend on its angles, or on how far it has slid."""
        behind = (place < 0.0) & (field.torque is None)
        share = np.where(behind, 1.0 - place / min(field.start, -1e-300), 1.0)
        steep = np.where(behind & (field.count > 0), 1.0 / min(field.start, -1e-300), 0.0)
        if not field.count:
            share = np.zeros(len(rows))
        else:
            ids, values, slopes = field.functions(np.clip(place, 0.0, field.end))
            slopes[place < 0.0] = -steep[place < 0.0, None] * values[place < 0.0]
            for row, at, N, dN in zip(rows, ids, share[:, None] * values, slopes, strict=True):
                self._put(plan, row, field.row, at, N, dN)
        if field.row == TURN:
            plan.constant[rows] = (1.0 - share) * field.described
            plan.offset[rows] = steep * field.described
        if field.base >= 0:
            for row, part, slope in zip(rows, share, steep, strict=True):
                if part < 1.0:
                    self._put(plan, row, field.row, [field.base], [1.0 - part], [slope])

    def _put(self, plan: NestedPlan, at: int, row: int, ids: Any, N: Any, dN: Any) -> None:
        """Let a station depend on coordinates of fields, by values N and derivatives dN."""
        slots = list(self.slots[plan.element[at]])
        values, slopes = (plan.N, plan.dN) if row == TURN else (plan.W, plan.dW)
        for i, value, slope in zip(ids, N, dN, strict=True):
            if i >= 0:
                j = slots.index(i)
                plan.ids[at, j], values[at, j], slopes[at, j] = i, value, slope

    def frames(self, s: Array) -> NestedPlan:
        return self._plan(s, "frames")

    def strains(self, s: Array) -> NestedPlan:
        return self._plan(s, "strains")

    def tube_strains(self, plan: NestedPlan, e: Array) -> Array:
        """Strains (S, 6) of tubes in their own frames, from those e (S, 6) of the centreline there."""
        c, d = np.cos(plan.theta), np.sin(plan.theta)
        found = e.copy()
        for row in (0, 3):
            found[:, row] = c * e[:, row] + d * e[:, row + 1]
            found[:, row + 1] = c * e[:, row + 1] - d * e[:, row]
        found[:, 2] += plan.slope
        x, y = plan.beside.T
        found[:, 5] += plan.stretch + e[:, 0] * y - e[:, 1] * x
        behind = plan.behind < 0.0
        found[behind] = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        found[behind, 2] = plan.slope[behind]
        found[behind, 5] += plan.stretch[behind]
        return found

    def place(self, s: Array) -> Array:
        """Places (S,) on the centreline of stations, negative behind the entry plane."""
        return self.decoded(s)[1]

    def require_beyond(self, name: str, s: float) -> None:
        """Refuse a station in the guide behind the entry plane, where tubes cannot move."""
        place = float(self.place(np.array([s]))[0])
        if place < -1e-9 * self.centre.length:
            raise DescriptionError(
                f"tube {name!r}",
                "s",
                s % self.stride,
                f"beyond the entry plane, which is {-place:g} m farther along the tube",
                "choose a place outside of the guide, or insert the tube farther",
            )

    def stretch_rule(
        self, k: int, over: tuple[float, float], cuts: Sequence[float]
    ) -> tuple[Array, Array]:
        """Stations (S,) of tube k and weights (S,), m, of a stretch (s0, s1) of it, cut at some s.

        What is behind the entry plane is left out.
        """
        along = self.stretches[k]
        a, b = (min(max(s + along.start, 0.0), along.end) for s in over)
        if b - a <= 1e-9 * self.centre.length:
            return np.zeros(0), np.zeros(0)
        s, w = stretch_rule(self, a, b, [cut + along.start for cut in cuts])
        return s - along.start + self.station(k), w

    def tube_rule(self, k: int, points: int) -> tuple[Array, Array]:
        """Stations (S,) of tube k beyond the entry plane and weights (S,), m."""
        along = self.stretches[k]
        if not along.exposed:
            return np.zeros(0), np.zeros(0)
        s, w = gauss_per_span(along.spans, points)
        return s - along.start + self.station(k), w

    def entry_value(self, field: RelativeMotion) -> tuple[int, int]:
        """Place of the value of a field in the entry plane in q, and in x without the base."""
        return self.host.nq + field.first, int(self._angle_place[field.first])

    def guide_station(self, field: RelativeMotion) -> float:
        """The station where the strain of a straight part is that of one field."""
        return self.station(self.fields.index(field) + len(self.stretches))

    def mass_rule(self) -> tuple[Array, Array]:
        return self.host.mass_rule()

    def strain_rule(self) -> tuple[Array, Array]:
        return self.host.strain_rule()

    def elastic_share(self, s: Array) -> Array:
        """The tubes bend and twist by their own law; the centreline resists shear and stretch.

        Where no rod fixes how its sections turn about the axis, it resists twist a little.
        """
        share = np.tile([0.0, 0.0, GAUGE, 1.0, 1.0, 1.0], (len(s), 1))
        for along in self.stretches:
            if not turns(along.tube):
                share[s < along.end, 2] = 0.0
        return share

    def inertia(self, s: Array) -> Array:
        return self.centre.inertia(s)

    def force_basis(self) -> ForceBasis | None:
        return self._modes

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        return self.host.force_values(s)

    def pose_coordinate(self, s: float) -> int | None:
        at = self.host.pose_coordinate(s) if s <= self.centre.length else None
        if at is None or at == 0:
            return at
        moved = self._entry[at : at + 6]
        return int(moved[0]) if moved[-1] - moved[0] == 5 else None

    # -- configuration -----------------------------------------------------------------------

    def rest(self) -> Array:
        q = np.zeros(self.nq)
        q[: self.host.nq] = self.host.rest()
        return q

    def configuration(self) -> NestedConfiguration:
        return NestedConfiguration(self.nq, self)

    def update(self, c: NestedConfiguration, base: Array, q: Array) -> None:
        super().update(c, base, q)
        ask(self.host.update, c.host, base, q[: self.host.nq])

    def trouble(self, c: NestedConfiguration) -> str:
        return self.host.trouble(c.host)

    def _move(self, c: NestedConfiguration, base: Array, x: Array, out: Array, chart: str) -> None:
        take(x, self._entry, c.x)
        ask(getattr(self.host, chart), c.host, base, c.x, out[: self.host.nq])
        extra = out[self.host.nq :]
        take(x, 6 + self._angle_place, extra)
        combine(1.0, c.extra, 1.0, extra, extra)

    def set_mean_force(
        self,
        c: NestedConfiguration,
        other: NestedConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        ask(self.host.set_mean_force, c.host, other.host, index[self._entry[6:] - 6], r, far, out)

    def retract_to(self, c: NestedConfiguration, base: Array, x: Array, out: Array) -> None:
        self._move(c, base, x, out, "retract_to")

    def chart_entries(self) -> tuple[Ints, Ints] | None:
        """Those of the host; angles and shifts move by addition."""
        entries = self.host.chart_entries()
        if entries is None:
            return None
        return self._entry[6 + entries[0]] - 6, self._entry[6 + entries[1]] - 6

    def advance_to(self, c: NestedConfiguration, base: Array, x: Array, out: Array) -> None:
        self._move(c, base, x, out, "advance_to")

    # -- the map -----------------------------------------------------------------------------

    def _set(self, plan: NestedPlan, c: NestedConfiguration) -> None:
        functions = (plan.constant, plan.offset, plan.ids, plan.N, plan.dN)
        run(nested.set_angles, *functions, c.extra, plan.theta, plan.slope)
        if self.sliding:
            functions = (plan.behind, plan.zero, plan.ids, plan.W, plan.dW)
            run(nested.set_angles, *functions, c.extra, plan.shift, plan.stretch)

    def frame(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        plan.host.grounded = plan.grounded
        ask(self.host.frame, plan.host, c.host)
        self._set(plan, c)
        turned = (plan.theta, plan.shift, plan.beside, plan.N, plan.host.g, plan.host.J)
        run(nested.turn_frames, *turned, plan.g, plan.J)
        if self.sliding:
            run(nested.add_slide, plan.W, plan.J)

    def strain(self, plan: OwnPlan, c: OwnConfiguration) -> None:
        ask(self.host.strain, plan.host, c.host)
        self._set(plan, c)
        angles = (plan.tube, plan.theta, plan.slope, plan.N, plan.dN)
        run(nested.write_strains, *angles, plan.host.e, plan.host.B, plan.e, plan.B)
        if self.sliding:
            run(nested.add_stretch, plan.stretch, plan.dW, plan.e, plan.B)

    def frame_second(self, plan: NestedPlan, c: NestedConfiguration, f: Array, K: Array) -> None:
        run(nested.turn_back, plan.theta, plan.shift, plan.beside, f, plan.meets)
        clear(c.K)
        ask(self.host.frame_second, plan.host, c.host, plan.meets, c.K)
        run(nested.add_block, c.K, K)
        run(nested.add_turn_second, plan.element, f, plan.J, plan.N, K)
        if self.sliding:
            run(nested.add_slide_second, plan.element, f, plan.J, plan.W, K)

    def strain_second(
        self, plan: NestedPlan, c: NestedConfiguration, sigma: Array, K: Array
    ) -> None:
        run(nested.mask_stress, plan.tube, sigma, plan.meets)
        clear(c.K)
        ask(self.host.strain_second, plan.host, c.host, plan.meets, c.K)
        run(nested.add_block, c.K, K)

    def frame_bias(
        self, plan: NestedPlan, c: NestedConfiguration, ydot: Array, bias: Array
    ) -> None:
        run(nested.split, ydot, c.y, c.rest)
        ask(self.host.frame_bias, plan.host, c.host, c.y, plan.meets)
        placed = (plan.theta, plan.shift, plan.beside)
        run(nested.turn_bias, plan.element, *placed, plan.N, plan.J, ydot, plan.meets, bias)
        if self.sliding:
            run(nested.add_slide_bias, plan.element, plan.W, plan.J, ydot, bias)

    # -- lifting -----------------------------------------------------------------------------

    def lift_velocity(self, c: NestedConfiguration, x: Array, y: Array) -> None:
        run(nested.split, x, c.r, c.rest)
        ask(self.host.lift_velocity, c.host, c.r, c.y)
        run(nested.join, c.y, c.rest, y)

    def lift_bias(self, c: NestedConfiguration, x: Array, ydot: Array) -> None:
        run(nested.split, x, c.r, c.rest)
        ask(self.host.lift_bias, c.host, c.r, c.y)
        clear(c.rest)
        run(nested.join, c.y, c.rest, ydot)

    def lift_vector(self, c: NestedConfiguration, ry: Array, r: Array) -> None:
        run(nested.split, ry, c.y, c.rest)
        ask(self.host.lift_vector, c.host, c.y, c.r)
        run(nested.join, c.r, c.rest, r)

    def lift_rows(self, c: NestedConfiguration, Cy: Array, C: Array) -> None:
        (E, n), m, q = self.host.elements.shape, self.host.m, Cy.shape[1]
        rows, lifted = np.zeros((E, q, m)), np.zeros((E, q, n))
        run(nested.split_rows, Cy, rows)
        ask(self.host.lift_rows, c.host, rows, lifted)
        run(nested.join_rows, lifted, Cy, C)

    def lift_matrix(
        self, left: NestedConfiguration, right: NestedConfiguration, Ky: Array, K: Array
    ) -> None:
        c = left
        run(nested.split_matrix, Ky, c.K, c.below, c.right)
        ask(self.host.lift_matrix, left.host, right.host, c.K, c.lifted)
        ask(self.host.lift_rows, right.host, c.below, c.lifted_below)
        ask(self.host.lift_rows, left.host, c.right, c.lifted_right)
        run(nested.join_matrix, c.lifted, c.lifted_below, c.lifted_right, Ky, K)

    def lift_tangent(
        self,
        c: NestedConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        run(nested.split, ry, c.y, c.rest)
        run(nested.split_matrix, Ky, c.K, c.below, c.right)
        left = None
        if balance is not None:
            left = c.x
            take(balance, self._entry, left)
        ask(self.host.lift_tangent, c.host, c.y, left, c.K, c.lifted, passed)
        ask(self.host.lift_rows, c.host, c.below, c.lifted_below)
        ask(self.host.lift_rows, c.host, c.right, c.lifted_right)
        run(nested.join_matrix, c.lifted, c.lifted_below, c.lifted_right, Ky, K)


def _refined(breaks: Array) -> Array:
    """Breaks with each span cut evenly, so that there are enough of them."""
    cuts = -(-_LEAST_SPANS // (len(breaks) - 1))
    share = np.arange(1, cuts + 1) / cuts
    inner = breaks[:-1, None] + np.diff(breaks)[:, None] * share
    return np.concatenate([breaks[:1], inner.ravel()])
