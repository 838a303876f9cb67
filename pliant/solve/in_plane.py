"""Motions of robots that stay in a plane: half the coordinates, and the same answers to rounding.

A robot stays in a plane if it begins there and nothing acts out of it. Where its rods have maps of
their own for that (`RodMap.in_plane`), it is compiled a second time with these, and moved so.
Whether something acts out of the plane is asked of every effect, at a configuration and with rates and
inputs in the plane that are otherwise arbitrary: what is smooth and pushes out of the plane anywhere
does so there. What is not smooth, is one-sided or a user's own code leaves the robot in space, and so
do inputs that change and may have parts out of the plane.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.program import ask, run
from pliant.model import DescriptionError, Rod
from pliant.model.checks import StepError
from pliant.physics.contract import Moment, Term
from pliant.physics.effects import Effects, effects_of
from pliant.physics.inertia import add_inertia
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array, Capabilities, Formulation, Ints, RodMap
from pliant.solve.dynamics import NOT_INSIDE, Rows, Steps
from pliant.solve.schedule import Schedule
from pliant.tree.backward import gather
from pliant.tree.drivers import BaseDriver, Driver
from pliant.tree.forward import set_rates
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_OUT = 1e-12
"""How far configurations and rates may be out of the plane: rad, lengths, parts of the rates in it."""
_FORCE = 1e-11
"""Forces out of the plane, over those in it of the same effect, that are rounding."""
WORTH = 5000
"""Unknowns in space times steps from which on it pays to compile a robot a second time."""
_AXES = (1, 0, 2)
"""Axes of the sections of a rod in the order in which planes normal to them are tried."""
_KEPT = 64
"""Answers that are kept for a robot."""
Mask = NDArray[np.bool_]


class _InPlane(Formulation):
    """Gives the map in a plane that belongs to one in space."""

    def __init__(self, space: RodMap, normal: int, capabilities: Capabilities) -> None:
        self._space, self._normal = space, normal
        self.capabilities = capabilities  # type: ignore[misc]

    def discretise(self, rod: Rod) -> RodMap:
        """The map in the plane, of the rod that it was made for."""
        found = self._space.in_plane(self._normal)
        assert found is not None
        return found


@dataclass
class Flat:
    """A robot compiled for a plane.

    effects : what acts, on its tree.  numbers (total of that tree,) : of its coordinates in space.
    """

    effects: Effects
    numbers: Ints
    total: int

    def reduced(self, v: Array) -> Array:
        """Rates of its own coordinates from those in space."""
        return v[..., self.numbers]

    def expanded(self, v: Array) -> Array:
        """Rates in space from those of its own coordinates."""
        found = np.zeros((*v.shape[:-1], self.total))
        found[..., self.numbers] = v
        return found


class Planes:
    """The planes in which a robot can be moved, and the robot compiled for them."""

    def __init__(self, effects: Effects, formulations: Mapping[str, Formulation]) -> None:
        self.effects, self.tree, self._formulations = effects, effects.tree, formulations
        self._compiled: dict[tuple[int, ...], Flat] = {}
        self._known: dict[Any, bool] = {}
        self._spare: deque[tuple[State, Work]] = deque()
        """What planes are tried with."""

    def refill(self) -> None:
        """Take over the numbers of the robot, which were given anew."""
        self._known.clear()
        for _, work in self._spare:
            work.refill()
        for axes, flat in list(self._compiled.items()):
            if not flat.effects.refill(self.tree.description):
                del self._compiled[axes]

    @cached_property
    def _possible(self) -> bool:
        """Whether there may be a plane at all."""
        effects, tree = self.effects, self.tree
        return (
            not (effects.memory or effects.one_sided or tree.m or tree.driven_maps)
            and all(term.smooth for term in effects.terms)
            and any(part.map.nv for part in tree.parts)
            and all(map(self._has_flat_map, tree.parts))
        )

    @staticmethod
    def _has_flat_map(part: Part) -> bool:
        if part.rod is None:
            return not part.auxiliary
        return part.map.in_plane(0) is not None

    def of_motion(
        self, schedule: Schedule, q: Array, v: Array, state: State, steps: float
    ) -> Flat | None:
        """The robot in the plane in which a motion stays from q (nq,) with rates v (total,) on.

        state : the robot at q.  steps : so many are taken.  None if it leaves every plane, or might, or
        if it is in space that a few steps cost least.
        """
        if not self._possible or steps * self.tree.size < WORTH:
            return None
        rod = next(i for i, part in enumerate(self.tree.parts) if part.map.nv)
        for axis in _AXES:
            plane = _Plane.of(self.tree, state, state.parts[rod].base[:3, axis])
            if plane and plane.holds(q) and plane.holds(self.tree.q_rest) and plane.holds_rates(v):
                u = _any_inputs(self.effects, schedule)
                if u is not None and self._stays(plane, state, u):
                    return self._flat(plane)
        return None

    def _stays(self, plane: _Plane, state: State, u: Array) -> bool:
        """Whether nothing acts out of a plane under inputs u (J,)."""
        key = (plane.axes, u.tobytes(), state.q.tobytes())
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            try:
                spare = self._spare.pop()
            except IndexError:  # also if another thread was faster
                spare = State(self.tree), Work(self.tree)
            self._known[key] = plane.stays(self.effects, state, u, *spare)
            self._spare.append(spare)
        return self._known[key]

    def _flat(self, plane: _Plane) -> Flat:
        """The robot compiled for a plane."""
        if plane.axes not in self._compiled:
            normals = zip(self.tree.parts, plane.axes, strict=True)
            chosen = {
                part.name: _InPlane(part.map, axis, self._formulations[part.name].capabilities)
                for part, axis in normals
                if part.rod is not None
            }
            effects = effects_of(self.tree.description, chosen)
            numbers = np.zeros(effects.tree.total, dtype=np.int64)
            for part, own, inside in zip(
                self.tree.parts, effects.tree.parts, plane.inside, strict=True
            ):
                numbers[own.joint_index] = part.joint_index
                numbers[own.x_index] = part.x_index.reshape(-1, 6)[:, inside].ravel()
                fields = [list(part.field_rows).index(row) for row in own.field_rows]
                numbers[own.field_index] = part.field_index[:, fields]
            self._compiled[plane.axes] = Flat(effects, numbers, self.tree.total)
        return self._compiled[plane.axes]


class _Plane:
    """A plane of a robot: per part the axis of its sections that is normal to it, -1 for bodies.

    inside : per part, the entries of twists of its nodes that are in the plane: a turn and two shifts.
    """

    def __init__(self, tree: Tree, axes: tuple[int, ...]) -> None:
        self.tree, self.axes = tree, axes
        self.inside = [_entries(axis) for axis in axes]
        self.free, self.held = (np.zeros(tree.total, dtype=np.bool_) for _ in range(2))
        """Numbers of coordinates in the plane and out of it."""
        self.turns = np.zeros(tree.total, dtype=np.bool_)
        """Numbers of coordinates that turn nodes."""
        self.bases = {i for i, x in tree.drivers.items() if isinstance(x, BaseDriver)}
        """Numbers of the parts whose base motions are prescribed."""
        for i, (part, own) in enumerate(zip(tree.parts, self.inside, strict=True)):
            nodes, rows = part.x_index.reshape(-1, 6), np.isin(part.field_rows, own)
            self.held[nodes] = self.turns[nodes[:, :3]] = True
            self.free[nodes[:, own]] = True
            self.held[nodes[:, own]] = False
            if i not in self.bases:
                self.free[part.joint_index] = True
            self.free[part.field_index[:, rows]] = self.held[part.field_index[:, ~rows]] = True
        self.moved = self.free.copy()
        """Numbers of coordinates that move in the plane."""
        self.moved[tree.fields] = False

    @classmethod
    def of(cls, tree: Tree, state: State, normal: Array) -> _Plane | None:
        """The plane with a normal (3,) in the world in which all joints move; None if one leaves it."""
        axes = []
        for i, (part, at) in enumerate(zip(tree.parts, state.parts, strict=True)):
            own = _axis(part, at, normal, tree.drivers.get(i))
            if own is None:
                return None
            axes.append(own)
        return cls(tree, tuple(axes))

    def holds(self, q: Array) -> bool:
        """Whether the increments of all rods in q (nq,) are in the plane."""
        for part, own in zip(self.tree.parts, self.inside, strict=True):
            psi = np.delete(q[part.q_slice].reshape(-1, 6), own, axis=1)
            if psi.size and np.abs(psi).max() > _OUT * min(1.0, part.length):
                return False
        return True

    def holds_rates(self, v: Array) -> bool:
        """Whether rates v (total,) are in the plane."""
        return bool(np.abs(v[self.held]).max(initial=0.0) <= _OUT * np.abs(v).max(initial=0.0))

    def stays(self, effects: Effects, state: State, u: Array, there: State, work: Work) -> bool:
        """Whether no effect and no inertia pushes the robot out of the plane, under inputs u (J,).

        there, work : of the robot, for configurations that are tried.
        """
        tree, random = self.tree, np.random.default_rng(2)
        x, v, acc, z = np.zeros((4, tree.total))
        count = int(self.moved.sum())
        x[self.moved] = random.uniform(-0.1, 0.1, count)
        x[self.moved & ~self.turns] *= tree.length
        v[self.moved], acc[self.moved] = random.uniform(-1.0, 1.0, (2, count))
        fields = self.free & ~self.moved
        z[fields] = random.uniform(-1.0, 1.0, int(fields.sum()))
        tree.retract(state, x, there)
        set_rates(tree, there, work, v, acc)
        moment = Moment(tree, there, work, u, z, v, 1.0, mobility=1.0)
        acts: list[Callable[[], None]] = [
            lambda term=term: ask(term.act, moment)  # type: ignore[misc]
            for term in effects.terms
            if term.active(u) and type(term).act is not Term.act
        ]
        return all(self._is_inside(moment, act) for act in [*acts, lambda: _inertia(moment)])

    def _is_inside(self, m: Moment, act: Callable[[], None]) -> bool:
        """Whether something acts in the plane only."""
        m.work.clear(False)
        meet_moving(m.work, m.state, m.speed)
        act()
        gather(self.tree, m.state, m.work, m.work.residual)
        forces = np.abs(m.work.residual)
        forces[self.turns] /= self.tree.length
        out, most = forces[self.held].max(initial=0.0), forces[self.free].max(initial=0.0)
        return bool(0.0 < most < np.inf and out <= _FORCE * most)


def _base_twists(driver: BaseDriver, normal: Array) -> Array:
    """Ways (6, 3) in which a base moves under arbitrary inputs: its twist, its derivative, and what its
    pose does to a normal (3,) and where it puts the base.
    """
    chance = np.random.default_rng(3)
    pose, twist, rate = driver.motion(chance.uniform(-1.0, 1.0, (len(driver.inputs), 3)))
    placed = pose.reshape(4, 4)
    turned = placed[:3, :3] @ normal - normal
    return np.column_stack([twist, rate, np.concatenate([turned, placed[:3, 3]])])


def _entries(axis: int) -> Ints:
    """Entries of a twist in the plane normal to an axis, as `RodMap.in_plane` orders them."""
    return np.array([axis, 3 + (axis + 1) % 3, 3 + (axis + 2) % 3] if axis >= 0 else [], np.int64)


def _inertia(m: Moment) -> None:
    """Let inertia act."""
    for part, w in zip(m.tree.parts, m.work.parts, strict=True):
        run(add_inertia, part.M, w.eta, w.acceleration, 0.0, 0.0, False, w.p, w.k)
        w.mass = True


def _axis(part: Part, at: PartState, normal: Array, driver: Driver | None) -> int | None:
    """Axis of the sections of a part along a normal (3,) in the world, -1 of a body; None if there is
    none, or if its joint leaves the plane.
    """
    own = at.base[:3, :3].T @ normal
    twists = _base_twists(driver, own) if isinstance(driver, BaseDriver) else at.S
    out = twists[:3] - np.outer(own, own @ twists[:3])
    if np.abs(out).max(initial=0.0) > _OUT or np.abs(own @ twists[3:]).max(initial=0.0) > _OUT:
        return None
    if part.rod is None:
        return -1
    axis = int(np.argmax(np.abs(own)))
    return axis if np.abs(np.delete(own, axis)).max() <= _OUT else None


def _any_inputs(effects: Effects, schedule: Schedule) -> Array | None:
    """Numbers u (J,) of inputs, arbitrary ones of those that move; None if they cannot be told."""
    random = np.random.default_rng(1)
    shapes = schedule.shapes
    moving = {name: random.uniform(0.5, 1.5, shapes[name]) for name in schedule.changing}
    still = {name: 0.0 for name in schedule.driven}
    try:
        return effects.numbers({**schedule.values, **still, **moving})
    except DescriptionError:
        return None


class FlatSteps(Steps):
    """Steps of a robot compiled for a plane, as those of the robot in space."""

    def __init__(self, steps: Steps, flat: Flat) -> None:
        self._steps, self._flat = steps, flat
        self.h, self.schedule, self.capacity = steps.h, steps.schedule, steps.capacity
        self.account, self.acted, self.unknowns = steps.account, steps.acted, steps.unknowns
        self.first = self._whole(steps.first)

    def _whole(self, rows: Rows) -> Rows:
        q, v, *others = rows
        return (q, self._flat.expanded(v), *others)

    @property
    def done(self) -> int:  # type: ignore[override]
        """Steps that the last call of `take` took."""
        return self._steps.done

    @property
    def sampled(self) -> bool:  # type: ignore[override]
        """Whether inputs may jump after each call of `take`."""
        return self._steps.sampled

    @sampled.setter
    def sampled(self, value: bool) -> None:
        self._steps.sampled = value

    @property
    def own_steps(self) -> Array | None:  # type: ignore[override]
        """Start and ends (N + 1,) of its steps where it chooses their length, s."""
        return self._steps.own_steps

    @property
    def scheme(self) -> str:  # type: ignore[override]
        """How the steps are taken."""
        return self._steps.scheme

    def start(self) -> None:
        self._steps.start()

    def take(self, times: Array, wanted: Mask, inside: Array = NOT_INSIDE) -> None:
        self._steps.take(times, wanted, inside)

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        self._steps.rescue(error, start, end, wanted)

    def snapshots(self) -> Rows:
        return self._whole(self._steps.snapshots())

    def now(self) -> tuple[Any, Any]:
        q, v = self._steps.now()
        return q, self._flat.expanded(v)

    @property
    def iterations(self) -> int:
        return self._steps.iterations

    @property
    def rescues(self) -> dict[str, int]:
        return self._steps.rescues

    def explain(self, text: str, q: Any) -> str:
        return self._steps.explain(text, q)

    def keep(self) -> dict[str, Array]:
        return self._steps.keep()

    def resume(self, kept: Mapping[str, Array]) -> None:
        self._steps.resume(kept)

    def finish(self, q: Any) -> None:
        self._steps.finish(q)

    def jump(self, values: Mapping[str, Any]) -> None:
        self._steps.jump(values)

    def reach(self, start: float, t: float) -> Rows:
        return self._whole(self._steps.reach(start, t))
