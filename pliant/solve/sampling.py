"""Frames, strains and velocities of a configuration at any place, for results."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.calls import execute
from pliant.engine.program import Program, Recurring, ask, record, run
from pliant.lie import se3
from pliant.model import Frame
from pliant.physics.effects import Effects
from pliant.rods.contract import Array, Plan
from pliant.rods.nested import NestedMap, NestedPlan
from pliant.tree.collect import station_values
from pliant.tree.state import State

_PLANS = 64
"""Plans that a thread keeps, besides two for each part."""
_FEW = 8
"""Configurations that are not worth a program."""


class Sampler(threading.local):
    """Answers questions about configurations q of one robot; every thread has states of its own."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.tree = effects.tree
        self._state = State(self.tree)
        self._placed = False
        self._v = np.zeros(self.tree.total)
        self._lift = Recurring(self._set_lifted)
        self._moving: tuple[Array, Array] | None = None
        """Coordinates and rates, as last asked for."""
        self._plans: dict[Any, Plan] = {}
        self._programs: dict[Any, Program] = {}
        """Place the robot and the sections of a plan, by the key of the plan."""
        self._twists: dict[Any, Array] = {}
        """Body twists (S, 6) that programs set, by their keys."""

    def at(self, q: Array) -> State:
        """The robot at q (nq,), which is placed anew only where it was somewhere else."""
        if not self._placed or not np.array_equal(self._state.q, q):
            self._state.place(np.array(q, dtype=float))
            self._placed = True
        return self._state

    def _lifted(self, state: State, v: Array) -> list[Array]:
        """Per part, the rates (E, m) of element variables; computed once for all parts of a robot."""
        known = self._moving
        if known is None or not (np.array_equal(known[0], state.q) and np.array_equal(known[1], v)):
            self._v[...] = v
            self._lift()
            self._moving = (state.q.copy(), np.array(v, dtype=float))
        return self._rates

    def _set_lifted(self) -> None:
        self._rates = self.tree.variations(self._state, self._v)[1]

    def frame(self, q: Array, frame: Frame) -> Array:
        """World pose (4, 4) of a frame of a rod or body."""
        i, s, pose = self.tree.place_of(frame)
        return np.asarray(self._sections(self.at(q), i, np.array([s])).g[0] @ pose)

    def poses(self, q: Array, name: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at arclengths s (S,), or of a body."""
        i, s, pose = self._place(name, s)
        g = self._sections(self.at(q), i, s).g
        return g.copy() if pose is None else np.asarray(g @ pose)

    def poses_along(self, configurations: Sequence[Array] | Array, name: str, s: Array) -> Array:
        """World poses (T, S, 4, 4) as `poses` gives them for T configurations, in one compiled call."""
        i, where, pose = self._place(name, s)
        g = self._along(configurations, i, where)
        return g if pose is None else np.asarray(g @ pose)

    def frame_along(self, configurations: Sequence[Array] | Array, frame: Frame) -> Array:
        """World poses (T, 4, 4) as `frame` gives them for T configurations."""
        i, s, pose = self.tree.place_of(frame)
        return np.asarray(self._along(configurations, i, np.array([s]))[:, 0] @ pose)

    def _along(self, configurations: Sequence[Array] | Array, i: int, s: Array) -> Array:
        """World poses (T, S, 4, 4) of sections of part i."""
        if len(configurations) < _FEW:
            g = [self._sections(self.at(q), i, s).g.copy() for q in configurations]
            return np.array(g).reshape(-1, len(s), 4, 4)
        plan, key = self._plan("frames", i, s), (i, s.tobytes())
        if key not in self._programs:
            self._programs[key] = record(self._place_sections, i, plan)
        program = self._programs[key]
        rows = np.array(configurations, dtype=float)
        found = np.empty((len(rows), *plan.g.shape))
        if program.compiled:
            _sample(program.address, rows, self._state.q, plan.g, found)
        else:
            for row, poses in zip(rows, found, strict=True):
                self._state.q[...] = row
                program()
                poses[...] = plan.g
        self._state.renew()
        return found

    def _place_sections(self, i: int, plan: Plan) -> None:
        self._state.place(self._state.q)
        ask(self.tree.parts[i].map.frame, plan, self._state.parts[i].c)

    def motions_along(
        self, configurations: Sequence[Array], rates: Sequence[Array], name: str, s: Array
    ) -> tuple[Array, Array]:
        """World poses (T, S, 4, 4) and body twists (T, S, 6) as `poses` and `velocities` give them.

        For T configurations with rates (total,), in one compiled call.
        """
        i, where, pose = self._place(name, s)
        plan, key = self._plan("frames", i, where), ("moving", i, where.tobytes())
        if key not in self._programs:
            self._twists[key] = np.zeros((len(where), 6))
            self._programs[key] = record(self._move_sections, i, plan, self._twists[key])
        program, eta = self._programs[key], self._twists[key]
        rows = np.array(configurations, dtype=float), np.array(rates, dtype=float)
        found = np.empty((len(rows[0]), *plan.g.shape)), np.empty((len(rows[0]), *eta.shape))
        if program.compiled:
            _sample_moving(program.address, *rows, self._state.q, self._v, plan.g, eta, *found)
        else:
            for q, v, poses, twists in zip(*rows, *found, strict=True):
                self._state.q[...], self._v[...] = q, v
                program()
                poses[...], twists[...] = plan.g, eta
        self._moving = None
        self._state.renew()
        if pose is None:
            return found
        return found[0] @ pose, found[1] @ se3.Ad(se3.inverse(pose)).T

    def _move_sections(self, i: int, plan: Plan, eta: Array) -> None:
        self._place_sections(i, plan)
        lifted = self.tree.variations(self._state, self._v)[1]
        run(station_values, 0, plan.element, plan.J, lifted[i], eta)

    def velocities(self, q: Array, v: Array, name: str, s: Array) -> Array:
        """Body twists (S, 6) of a rod's sections at s, or of a body, at rates v (total,)."""
        i, s, pose = self._place(name, s)
        state = self.at(q)
        plan = self._sections(state, i, s)
        lifted = self._lifted(state, v)[i]
        twists = np.einsum("sia,sa->si", plan.J, lifted[plan.element])
        return twists if pose is None else np.asarray(twists @ se3.Ad(se3.inverse(pose)).T)

    def bodies(self, q: Array, v: Array, names: Sequence[str]) -> tuple[list[Array], list[Array]]:
        """Poses (4, 4) and body twists (6,) of bodies that hang by joints of their own, at rates v."""
        state = self.at(q)
        lifted = self._lifted(state, v)
        at = [self.tree.place_of_part(name)[0] for name in names]
        return [state.parts[i].base for i in at], [lifted[i][0] for i in at]

    def strains(self, q: Array, rod: str, s: Array) -> Array:
        """Strains (S, 6) at s, body frame, as the laws of the rod mean them."""
        i, s, _ = self._place(rod, s)
        state, nested = self.at(q), self.tree.parts[i].map
        if not isinstance(nested, NestedMap):
            return self._strains(state, i, s)
        plan = self._plan("strains", i, s)
        nested.strain(plan, state.parts[i].c)
        assert isinstance(plan, NestedPlan)
        return nested.tube_strains(plan, self._strains(state, i, np.maximum(nested.place(s), 0.0)))

    def _strains(self, state: State, i: int, s: Array) -> Array:
        plan = self._plan("strains", i, s)
        self.tree.parts[i].map.strain(plan, state.parts[i].c)
        e = plan.e.copy()
        for term in self.effects.terms:
            term.correct_strains(i, state, s, e)
        return e

    def rest_strains(self, rod: str, s: Array) -> Array:
        """Strains (S, 6) of the stress-free rod through its own map; of a nested tube as described."""
        if self.tree.is_nested(rod):
            return self.tree.description.rods[rod].natural_strain(s)
        return self.strains(self.tree.q_rest, rod, s)

    def _place(self, name: str, s: Array) -> tuple[int, Array, Array | None]:
        """Part, arclengths and constant pose of a rod's sections or of a body."""
        s = np.ascontiguousarray(s, dtype=float)
        i, at, pose = self.tree.place_of_part(name)
        if self.tree.is_rod(name):
            return i, at + s, pose if pose[:3, 3].any() else None
        return i, np.full(len(s), at), pose

    def _plan(self, kind: str, i: int, s: Array) -> Plan:
        key = (kind, i, s.tobytes())
        if key not in self._plans:
            if len(self._plans) > _PLANS + 2 * len(self.tree.parts):
                self._plans.clear()
                self._programs.clear()
                self._twists.clear()
            self._plans[key] = getattr(self.tree.parts[i].map, kind)(s)
        return self._plans[key]

    def _sections(self, state: State, i: int, s: Array) -> Plan:
        plan = self._plan("frames", i, s)
        self.tree.parts[i].map.frame(plan, state.parts[i].c)
        return plan


@kernel
def _sample(program, rows, q, g, out):  # type: ignore[no-untyped-def]
    """out (T, S, 4, 4) = poses g (S, 4, 4) that a program sets, at each of the coordinates (T, nq)."""
    for t in range(rows.shape[0]):
        for i in range(q.shape[0]):
            q[i] = rows[t, i]
        execute(program)
        for s in range(g.shape[0]):
            for i in range(4):
                for j in range(4):
                    out[t, s, i, j] = g[s, i, j]


@kernel
def _sample_moving(program, rows, rates, q, v, g, eta, poses, twists):  # type: ignore[no-untyped-def]
    """`_sample` with rates (T, total), written to v (total,), and body twists eta (S, 6)."""
    for t in range(rows.shape[0]):
        for i in range(v.shape[0]):
            v[i] = rates[t, i]
        _sample(program, rows[t : t + 1], q, g, poses[t : t + 1])
        for s in range(eta.shape[0]):
            for i in range(6):
                twists[t, s, i] = eta[s, i]
