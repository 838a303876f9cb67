"""Contact: unilateral rows, or springs with damping; with friction in both.

Hard contact has one multiplier for each pair that may touch: 0 <= lambda, phi <= C lambda, one of them
with equality. The compliance C is that of the section of a rod, 1 / (E w) for w metres of it, far below
that of bending, and zero between rigid bodies: stations along a line of contact then share the load,
however many there are. Impacts are inelastic, as of all one-sided rows.

A spring acts by lambda = k w phi (1 + d phi') where phi > 0. In a variational step its potential enters
by its secant between both ends, in the direction of the middle of the step.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from pliant.engine.arrays import clear, combine, copy, take
from pliant.engine.program import run
from pliant.lie.se3_kernels import step_twists
from pliant.model import Contact, DescriptionError
from pliant.physics.contacts import assembly, friction, laws
from pliant.physics.contacts.assembly import Pattern
from pliant.physics.contacts.found import Found
from pliant.physics.contacts.rest import INCREMENTS, Grip, RestFriction
from pliant.physics.contacts.search import Search
from pliant.physics.contract import KernelTerm, Moment, Rows, Step, Term
from pliant.physics.frame_rows import ROUGHLY, TOUCHING, add_to_rows
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_TIED = 1e-9
"""Compliance of rows where rates are sought, relative to that of the inertia behind them."""
_GIVES = 1e-6
"""Part of the length by which rigid surfaces that stick give way under a force that is large for the
robot.
"""
_AT_LIMIT = 1e-6
"""Part of its limit that friction of surfaces that slide may lack."""
_THROUGH = 0.5
"""Part of its radius by which a rod or ball is deeper on a way than at both ends if it goes through."""
_MOST_LOOKS = 64
"""Configurations on a way that are looked at, at the most."""
_MAY_ENTER = 0.05
"""Part of its radius by which a rod may overlap an obstacle when a motion begins: what it gives way."""


class _Between(Term):
    """What hard and soft contacts share: the search, friction, and its assembly."""

    def __init__(self, tree: Tree, contact: Contact) -> None:
        self.contact, self.source, self.tree = contact, contact, tree
        self.label, self.name = contact.label, contact.name
        self.search = Search(tree, contact)
        self.pool = self.search.pool
        self.mu, self.creep = contact.friction, contact.creep
        self.needs_twists = True
        self.depends_on_way = self.mu > 0.0
        self.increments = INCREMENTS if self.mu else 1
        self.finest = _GIVES if self.mu else 1.0
        self._notes = tree.add_notes(6 * self.search.count if self.mu else 0)
        self._slips = 3 * self.search.count if self.mu else 0

    obstructs = True

    def goes_through(self, start: State, end: State) -> bool:
        """Whether an overlap on straight ways of all stations is deeper than at both ends."""
        first, last = self.pool.frames(start).copy(), self.pool.frames(end).copy()
        radii = np.maximum(self.search.radii, _GIVES * self.tree.length)
        if not len(radii):
            return False
        moved = float(np.linalg.norm((last - first)[:, :3, 3], axis=1).max())
        looks = int(np.clip(np.ceil(moved / radii.min()), 2, _MOST_LOOKS))
        shares = np.linspace(0.0, 1.0, looks + 1)
        gaps = np.array([self.search.find(first + t * (last - first)).gap for t in shares])
        at_ends = np.maximum(np.maximum(gaps[0], gaps[-1]), 0.0)
        return bool((gaps.max(axis=0) > at_ends + _THROUGH * radii).any())

    def _pattern(self, tree: Tree, multipliers: bool, gripping: Array) -> None:
        self.search.close(tree)
        self.pattern = Pattern(self.pool, self.search.meets(), multipliers)
        self.rest = RestFriction(self.search, self.mu, gripping)
        self.memory = self.rest.size if self.mu else 0

    def conservative(self, u: Array) -> bool:
        return not self.mu

    # -- friction at rest ----------------------------------------------------------------------

    @abstractmethod
    def touching(self, m: Moment) -> Array:
        """Which rows (M,) touch in an equilibrium."""

    def remember(self, m: Moment, memory: Array) -> None:
        if m.v is None:
            none = np.zeros((self.search.count, 3))
            self.rest.remember(memory, self.pool.frames(m.state), none, self.touching(m))

    def come_to_rest(self, m: Moment, memory: Array) -> None:
        grip = self._grip(m, self.pool.frames(m.state), self.normal_forces(m, False))
        if grip is not None:
            G = self.pool.frames(m.state)
            self.rest.remember(memory, G, grip.force, self.touching(m))

    def _grip(self, m: Moment, G: Array, normal: Array) -> Grip | None:
        """Friction at rest under normal forces (M,); None in motion, and without friction."""
        if not self.mu or m.v is not None or m.memory is None:
            return None
        return self.rest.at(m.memory[self.memory_at], G, normal)

    def _add_grip(
        self, tangent: Tangent, grip: Grip, G: Array, J: Array, found: Found, slope: Array
    ) -> Array:
        """Add the derivative of friction, slope (M,) of normal forces in gaps; returns what friction
        does (M, 4, 6) for a unit of normal force where it slides.
        """
        blocks, unit, start = self.rest.bend(grip, G), np.ones(self.search.count), grip.start
        self._add_forms(tangent, unit, start, J, blocks, start, J)
        sliding = self.rest.pulls(grip, G, grip.way)
        across, factor = np.zeros(blocks.shape), self._zeros()
        clear(across)
        combine(self.mu, slope, 0.0, slope, factor)
        run(assembly.add_products, factor, sliding, found.slopes, across)
        self._add_forms(tangent, unit, start, J, across, found, J)
        return sliding

    def _zeros(self) -> Array:
        return np.zeros(self.search.count)

    def _pushes(self, found: Found, force: Array, scale: float) -> Array:
        """Gradients (P, 6) of the stations under normal forces (M,)."""
        out = np.zeros((len(self.pool), 6))
        clear(out)
        self._add_wrenches(found, found.slopes, force, scale, out)
        return out

    def _add_wrenches(
        self, found: Found, covectors: Array, force: Array, scale: float, out: Array
    ) -> None:
        factor = self._zeros()
        combine(scale, force, 0.0, force, factor)
        run(assembly.add_wrenches, found.at, covectors, factor, out)

    def _slip(
        self, found: Found, G: Array, eta: Array, speed: float, active: Array
    ) -> tuple[Array, Array]:
        """Tangential velocities and directions of friction (M, 3) of rows that are active."""
        slip, tau = (np.zeros((self.search.count, 3)) for _ in range(2))
        run(friction.set_slip, found, G, eta, speed, self.creep, active, slip, tau)
        return slip, tau

    def _slip_at(
        self, m: Moment, found: Found, G: Array, eta: Array, active: Array
    ) -> tuple[Array, Array]:
        """The same at a moment: as it was recorded of the last step, if it was.

        Rates at the end of a step alternate about those of the step where friction is stiff.
        """
        if m.recorded is None:
            return self._slip(found, G, eta, 1.0, active)
        slip = m.recorded[self.record_at][-self._slips :].reshape(-1, 3)
        tau = np.zeros(slip.shape)
        run(friction.set_directions, slip, self.creep, active, tau)
        return slip, tau

    def record(self, work: Work, z: Array, out: Array) -> None:
        """Keep the slips of the step."""
        if self._slips:
            copy(work.notes[self._notes][: self._slips], out[len(out) - self._slips :])

    def _trust(self, work: Work, slip: Array, active: Array) -> Array:
        """(M,): 1 where the derivative of friction can be trusted."""
        trust, notes = self._zeros(), work.notes[self._notes].reshape(2, -1, 3)
        run(friction.judge_slip, slip, self.creep, active, notes, trust)
        return trust

    def _rubbing(self, found: Found, G: Array, tau: Array, active: Array) -> Array:
        out = np.zeros(found.slopes.shape)
        run(friction.set_rubbing, found, G, tau, active, out)
        return out

    def _add_forms(
        self, tangent: Tangent, active: Array, left: Found, J: Array, blocks: Array, right: Found,
        K: Array,
    ) -> None:  # fmt: skip
        slots = self.pattern.slots(tangent, self.number)
        where = (slots.form_block, slots.form, tangent.matrix.data)
        run(assembly.add_forms, active, left.at, J, blocks, right.at, K, *where)

    def _add_loss(self, m: Moment, force: Array, scale: float, out: Array) -> tuple[Found, Array]:
        """Add the power of friction at the middle of a step; returns what is found there."""
        G, eta = self.pool.frames(m.state), self.pool.twists(m.work)
        if m.ahead:
            run(laws.shift_frames, eta, -m.ahead, G)
        found = self.search.find(G)
        if self.mu:
            slip, tau = self._slip(found, G, eta, 1.0, force)
            run(friction.add_rubbing_loss, slip, tau, force, self.mu * scale, out)
        return found, eta

    # -- what results tell -------------------------------------------------------------------------

    @abstractmethod
    def normal_forces(self, m: Moment, recorded: bool) -> Array:
        """Normal forces (M,) at a moment; recorded : those of the last step, if there was one."""

    def _told(self, m: Moment, recorded: bool) -> tuple[Found, Array, Array]:
        """What is found at a moment, forces (M, 3) on the first side and gradients (P, 6)."""
        G = self.pool.frames(m.state)
        found, force = self.search.find(G), self.normal_forces(m, recorded)
        total, pushed = force[:, None] * found.normal, self._pushes(found, force, 1.0)
        if self.mu and m.v is not None:
            tau = self._slip_at(m, found, G, self.pool.twists(m.work), force)[1]
            self._add_wrenches(found, self._rubbing(found, G, tau, force), force, self.mu, pushed)
            total = total - self.mu * force[:, None] * tau
        grip = self._grip(m, G, force)
        if grip is not None:
            self.rest.add(grip, G, pushed)
            total = total - grip.force
        return found, total, pushed

    def readings(self, m: Moment) -> dict[str, Any]:
        found, force, _ = self._told(m, True)
        where = {"point": found.point.copy(), "normal": found.normal.copy()}
        names = dict(zip(("part", "other"), np.array(self.search.labels).T, strict=True))
        return {"s": self.search.places(found), "gap": -found.gap, "force": force, **where, **names}

    def reactions(self, m: Moment) -> dict[str, Array]:
        """The sum of the forces on the first side: moment about the origin and force, world."""
        found, force, _ = self._told(m, False)
        moment = np.cross(found.point, force).sum(axis=0)
        return {self.contact.name: np.concatenate([moment, force.sum(axis=0)])}

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        pushed = -self._told(m, False)[2]
        return [(*self.pool.sides[k], pushed[k]) for k in np.flatnonzero(pushed.any(axis=1))]

    def told_at_rest(self, m: Moment) -> str:
        G, normal = self.pool.frames(m.state), self.normal_forces(m, False)
        grip = self._grip(m, G, normal)
        if grip is None or not grip.force.any():
            return ""
        size, limit = np.linalg.norm(grip.force, axis=1), self.mu * normal
        slides = int(np.sum((size > (1.0 - _AT_LIMIT) * limit) & (limit > 0.0)))
        return (
            f"{self.label}: friction holds {float(size.sum()):.3g} N here, and {slides} of "
            f"{int(np.sum(limit > 0.0))} places that touch are about to slide. Such an equilibrium "
            "depends on the way to it: loads came on together, from start= or the unloaded robot; give "
            "start= to bring them on one after the other"
        )


class HardContact(_Between, Rows):
    """A `Contact` without stiffness."""

    compiled = True
    one_sided = True
    column = "potential"

    def __init__(self, tree: Tree, contact: Contact) -> None:
        super().__init__(tree, contact)
        self.rubs = bool(self.mu)
        self._at = tree.add_multipliers(self.search.count)
        self.records = self.search.count + self._slips

    def close(self, tree: Tree) -> None:
        self.rows = tree.n + np.arange(self._at.start, self._at.stop)
        self.row_weights = np.full(len(self.rows), 1.0 / tree.length)
        self._near = TOUCHING * tree.length
        self.soft = self.search.soft
        stiff = np.full(len(self.rows), tree.bending / tree.length**3)
        given = self.soft > 0.0
        stiff[given] = np.minimum(stiff[given], 0.5 / self.soft[given])
        self.stiffness = stiff
        gripping = np.full(len(self.rows), tree.bending / tree.length**3 / _GIVES)
        gripping[given] = 1.0 / self.soft[given]
        self._pattern(tree, True, gripping)

    def pairs(self) -> list[Pair]:
        return self.pattern.pairs(self.rows)

    # -- rows ------------------------------------------------------------------------------------

    def _found(self, state: State) -> tuple[Array, Found]:
        G = self.pool.frames(state)
        return G, self.search.find(G)

    def gaps(self, state: State) -> Array:
        return self._found(state)[1].gap

    def add_gaps(self, state: State, scale: float, out: Array) -> None:
        run(add_to_rows, self.gaps(state), scale, self.rows, out)

    def violations(self, state: State) -> Array:
        """Overlaps beyond what rods give way."""
        allowed = np.where(self.soft > 0.0, _MAY_ENTER * self.search.radii, 0.0)
        return np.maximum(self.gaps(state) - allowed, 0.0)

    def check_start(self, state: State) -> None:
        """Refuse surfaces that overlap, with the place where they do so most."""
        deep = self.violations(state)
        row = int(np.argmax(deep)) if len(deep) else 0
        if not len(deep) or deep[row] <= self._near:
            return
        found = self._found(state)[1]
        (part, other), depth = self.search.labels[row], float(found.gap[row])
        s = self.search.places(found)[row]
        where = f"rod {part!r} at s = {s:.4g} m" if self.tree.is_rod(part) else f"body {part!r}"
        raise DescriptionError(
            self.label,
            "gap at the start",
            -depth,
            f"zero or more, but {where} is {1e3 * depth:.3g} mm inside of {other!r}",
            "move one of them apart, or start from a configuration in which they are apart",
        )

    def holding(self, z: Array | None) -> Array:
        return self._zeros() if z is None else (z[self.rows] > 0.0).astype(float)

    def _marks(self, z: Array | None) -> Array:
        held = self._zeros()
        if z is not None:
            run(laws.mark_holding, self.rows, z, held)
        return held

    def touch(self, state: State, v: Array, z: Array, rough: bool = False) -> None:
        _, found = self._found(state)
        rates = self._rates(state, found, v)
        near = (ROUGHLY[0], ROUGHLY[1] * self._near) if rough else (TOUCHING, self._near)
        where = (*near, self.stiffness, self.rows, z)
        run(laws.touch_rows, found.gap, rates, v, *where)

    def _rates(self, state: State, found: Found, v: Array) -> Array:
        twists, rates = np.zeros((len(self.pool), 6)), self._zeros()
        run(assembly.set_twists, self.pool.jacobians(state), self.pool.columns, v, twists)
        run(assembly.set_rates, found.at, found.slopes, twists, rates)
        return rates

    def release(self, x: Array, z: Array, pulled: Ints) -> None:
        run(laws.release_rows, self.rows, x, z, pulled)

    def hold(self, state: State, tangent: Tangent, z: Array | None) -> None:
        _, found = self._found(state)
        held, J = self._marks(z), self.pool.jacobians(state)
        for up in (False, True):
            self._add_rows(tangent, found, found.slopes, held, J, up)
        self._add_own(tangent, held, np.ones(len(held)), _TIED / self.search.mass)

    def _add_rows(
        self, tangent: Tangent, found: Found, covectors: Array, factor: Array, J: Array, up: bool
    ) -> None:
        slots = self.pattern.slots(tangent, self.number)
        where = (slots.row_block, slots.up if up else slots.down, tangent.matrix.data)
        run(assembly.add_row_blocks, found.at, covectors, factor, J, *where)

    def _add_own(self, tangent: Tangent, held: Array, share: Array, soft: Array) -> None:
        own, slots = self._zeros(), self.pattern.slots(tangent, self.number)
        run(laws.own_slopes, held, self.stiffness, soft, share, own)
        run(assembly.add_own, own, slots.own, tangent.matrix.data)

    def add_gap_rates(
        self,
        state: State,
        v: Array,
        lifted: list[Array],
        z: Array | None,
        scale: float,
        out: Array,
    ) -> None:
        rates = self._rates(state, self._found(state)[1], v)
        run(laws.add_row_rates, rates, self._marks(z), scale, self.rows, out)

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        force = self._zeros()
        take(z, self.rows, force)
        self.pool.add_wrenches(self._pushes(self._found(state)[1], force, scale), work)

    def augmented(self, gaps: Array) -> Array | float:
        return self.stiffness * gaps

    # -- what acts ---------------------------------------------------------------------------------

    def touching(self, m: Moment) -> Array:
        held = m.z[self.rows] > 0.0
        return (held | (self.gaps(m.state) > -self._near)).astype(float)

    def _meet(
        self, z: Array, keep: Array | None, gap: Array, work: Work, share: Array, k: Array
    ) -> tuple[Array, Array]:
        held, force = self._zeros(), self._zeros()
        kept = np.zeros(len(z)) if keep is None else keep
        rule = (self.stiffness, self.soft, share, k)
        where = (gap, work.residual, held, force, work.active[self._at])
        run(laws.meet_rows, self.rows, z, kept, *rule, *where)
        return held, force

    def act(self, m: Moment) -> None:
        G, found = self._found(m.state)
        share = 1.0 - self.stiffness * self.soft
        held, force = self._meet(m.z, m.keep, found.gap, m.work, share, self.stiffness)
        pushed = self._pushes(found, force, 1.0)
        rubs = bool(self.mu) and m.v is not None
        if rubs:
            eta = self.pool.twists(m.work)
            slip, tau = self._slip_at(m, found, G, eta, held)
            trust = self._trust(m.work, slip, held)
            rubbing = self._rubbing(found, G, tau, held)
            self._add_wrenches(found, rubbing, force, self.mu, pushed)
        grip = self._grip(m, G, force)
        if grip is not None:
            self.rest.add(grip, G, pushed)
        self.pool.add_wrenches(pushed, m.work)
        if m.tangent is None:
            return
        J, scaled, factor = self.pool.jacobians(m.state), self._zeros(), self._zeros()
        run(laws.multiply, 1.0, held, share, scaled)
        for up in (False, True):
            self._add_rows(m.tangent, found, found.slopes, scaled, J, up)
        self._add_own(m.tangent, held, share, self._tangent_compliance(m))
        blocks = self.search.bend(G, found, force)
        run(laws.multiply, 1.0, held, self.stiffness, factor)
        run(assembly.add_products, factor, found.slopes, found.slopes, blocks)
        if rubs:
            rubbed = self._zeros()
            combine(self.mu, scaled, 0.0, scaled, rubbed)
            self._add_rows(m.tangent, found, rubbing, rubbed, J, True)
            combine(self.mu * m.speed, force, 0.0, force, rubbed)
            run(friction.bend_rubbing, found, G, slip, self.creep, trust, rubbed, blocks)
        self._add_forms(m.tangent, held, found, J, blocks, found, J)
        if grip is not None:
            sliding, rubbed = self._add_grip(m.tangent, grip, G, J, found, factor), self._zeros()
            combine(self.mu, scaled, 0.0, scaled, rubbed)
            self._add_rows(m.tangent, grip.start, sliding, rubbed, J, True)

    def _tangent_compliance(self, m: Moment) -> Array:
        """That of the rows; where accelerations are sought at one instant, next to none."""
        if m.v is not None and m.speed == 0.0 and m.mobility is not None:
            return np.asarray(_TIED * m.mobility / self.search.mass)
        return self.soft

    def go(self, step: Step) -> None:
        (Ga, start), (Gb, end) = self._found(step.a), self._found(step.b)
        none, unit, h = self._zeros(), np.ones(self.search.count), step.h
        held, force = self._meet(step.z, None, end.gap, step.work, unit, none)
        pushed, rubs = self._pushes(start, force, h), bool(self.mu)
        if rubs:
            eta = np.zeros((len(self.pool), 6))
            run(step_twists, Ga, Gb, h, eta)
            slip, tau = self._slip(start, Ga, eta, 1.0, held)
            trust = self._trust(step.work, slip, held)
            rubbing = self._rubbing(start, Ga, tau, held)
            self._add_wrenches(start, rubbing, force, h * step.first * self.mu, pushed)
            arriving, later = np.zeros(pushed.shape), self._rubbing(end, Gb, tau, held)
            clear(arriving)
            self._add_wrenches(end, later, force, -h * (1.0 - step.first) * self.mu, arriving)
            self.pool.add_wrenches(arriving, step.work, arriving=True)
        self.pool.add_wrenches(pushed, step.work)
        if step.tangent is None:
            return
        Ja, Jb = self.pool.jacobians(step.a), self.pool.jacobians(step.b)
        later_held = self._zeros()
        combine(h, held, 0.0, held, later_held)
        self._add_rows(step.tangent, end, end.slopes, held, Jb, False)
        self._add_rows(step.tangent, start, start.slopes, later_held, Ja, True)
        self._add_own(step.tangent, held, unit, self.soft)
        if rubs:
            rubbed = self._zeros()
            combine(h * step.first * self.mu, held, 0.0, held, rubbed)
            self._add_rows(step.tangent, start, rubbing, rubbed, Ja, True)
            combine(step.first * self.mu, force, 0.0, force, rubbed)
            blocks = np.zeros((self.search.count, 24, 24))
            run(assembly.clear_active, held, blocks)
            run(friction.bend_rubbing, start, Ga, slip, self.creep, trust, rubbed, blocks)
            self._add_forms(step.tangent, held, start, Ja, blocks, start, Jb)

    # -- forces and energy -----------------------------------------------------------------------

    def record(self, work: Work, z: Array, out: Array) -> None:
        """Keep the normal forces and the slips of the step."""
        run(laws.take_pushes, self.rows, z, out)
        super().record(work, z, out)

    def normal_forces(self, m: Moment, recorded: bool) -> Array:
        if recorded and m.recorded is not None:
            return m.recorded[self.record_at][: self.search.count].copy()
        return np.maximum(m.z[self.rows], 0.0)

    def energy(self, state: State, u: Array) -> float:
        """Of the sections that give way."""
        gap, soft = np.maximum(self.gaps(state), 0.0), self.soft > 0.0
        return float(np.sum(gap[soft] ** 2 / (2.0 * self.soft[soft])))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if self.mu:
            force = self._zeros()
            run(laws.take_pushes, self.rows, m.z, force)
            self._add_loss(m, force, scale, out)

    def power_lost(self, m: Moment) -> float:
        out = np.zeros(1)
        self.add_power_lost(m, 1.0, out)
        return float(out[0])

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        """Add nothing: it has no input."""


class SpringContact(_Between, KernelTerm):
    """A `Contact` with stiffness."""

    compiled = True
    column = "potential"

    def __init__(self, tree: Tree, contact: Contact) -> None:
        super().__init__(tree, contact)
        assert contact.stiffness is not None
        self.k = contact.stiffness * self.search.share
        self.d = contact.damping
        self.records = self._slips

    def close(self, tree: Tree) -> None:
        self._near = TOUCHING * tree.length
        self._pattern(tree, False, self.k)

    def touching(self, m: Moment) -> Array:
        gap = self.search.find(self.pool.frames(m.state)).gap
        return (gap > -self._near).astype(float)

    def pairs(self) -> list[Pair]:
        return self.pattern.pairs(np.zeros(0, dtype=np.int64))

    def act(self, m: Moment) -> None:
        G = self.pool.frames(m.state)
        found = self.search.find(G)
        rates, moving = self._zeros(), m.v is not None
        if moving:
            eta = self.pool.twists(m.work)
            run(assembly.set_rates, found.at, found.slopes, eta, rates)
        force, slope, rate_slope = self._zeros(), self._zeros(), self._zeros()
        near = 0.0 if moving else self._near
        run(laws.spring, self.k, self.d, found.gap, rates, near, force, slope, rate_slope)
        pushed = self._pushes(found, force, 1.0)
        rubs = bool(self.mu) and moving
        if rubs:
            slip, tau = self._slip_at(m, found, G, eta, force)
            trust = self._trust(m.work, slip, force)
            rubbing = self._rubbing(found, G, tau, force)
            self._add_wrenches(found, rubbing, force, self.mu, pushed)
        grip = self._grip(m, G, force)
        if grip is not None:
            self.rest.add(grip, G, pushed)
        self.pool.add_wrenches(pushed, m.work)
        if m.tangent is None:
            return
        J, blocks, factor = self.pool.jacobians(m.state), self.search.bend(G, found, force), None
        factor = self._zeros()
        combine(1.0, slope, m.speed if moving else 0.0, rate_slope, factor)
        run(assembly.add_products, factor, found.slopes, found.slopes, blocks)
        if rubs:
            rubbed = self._zeros()
            combine(self.mu, factor, 0.0, factor, rubbed)
            run(assembly.add_products, rubbed, rubbing, found.slopes, blocks)
            combine(self.mu * m.speed, force, 0.0, force, rubbed)
            run(friction.bend_rubbing, found, G, slip, self.creep, trust, rubbed, blocks)
        self._add_forms(m.tangent, force, found, J, blocks, found, J)
        if grip is not None:
            self._add_grip(m.tangent, grip, G, J, found, slope)

    def go(self, step: Step) -> None:
        """The secant of its potential between both ends acts at the frames in the middle."""
        Ga, Gb, h = self.pool.frames(step.a), self.pool.frames(step.b), step.h
        eta, shape = np.zeros((len(self.pool), 6)), (len(self.pool), 6, 6)
        run(step_twists, Ga, Gb, h, eta)
        start, end = self.search.find(Ga), self.search.find(Gb)
        Gm = np.zeros(Ga.shape)
        run(laws.set_middle, Ga, eta, 0.5 * h if step.implicit else 0.0, Gm)
        middle = self.search.find(Gm)
        force, slope, own_slope = self._zeros(), self._zeros(), self._zeros()
        rule = (self.k, self.d, h, step.implicit, start.gap, middle.gap, end.gap)
        run(laws.secant, *rule, force, slope, own_slope)
        pulled = self._pushes(middle, force, h)
        if self.mu:
            slip, tau = self._slip(middle, Gm, eta, 1.0, force)
            trust = self._trust(step.work, slip, force)
            rubbing = self._rubbing(middle, Gm, tau, force)
            self._add_wrenches(middle, rubbing, force, self.mu * h, pulled)
        Aa, Ab = np.zeros(shape), np.zeros(shape)
        run(laws.set_shares, eta, h, step.implicit, Aa, Ab)
        leaving, arriving = np.zeros(pulled.shape), np.zeros(pulled.shape)
        run(laws.share_wrenches, pulled, Aa, 1.0, leaving)
        run(laws.share_wrenches, pulled, Ab, -1.0, arriving)
        self.pool.add_wrenches(leaving, step.work)
        self.pool.add_wrenches(arriving, step.work, arriving=True)
        if step.tangent is None:
            return
        Ja, Jb = self.pool.jacobians(step.a), self.pool.jacobians(step.b)
        Jl, Jm = np.zeros(Ja.shape), np.zeros(Jb.shape)
        run(laws.share_jacobians, Aa, Ja, Jl)
        run(laws.share_jacobians, Ab, Jb, Jm)
        blocks, factor = self.search.bend(Gm, middle, force), self._zeros()
        run(laws.scale_blocks, force, h, blocks)
        combine(h, own_slope, 0.0, own_slope, factor)
        run(assembly.add_products, factor, middle.slopes, middle.slopes, blocks)
        if self.mu:
            combine(h * self.mu, own_slope, 0.0, own_slope, factor)
            run(assembly.add_products, factor, rubbing, middle.slopes, blocks)
        self._add_forms(step.tangent, force, middle, Jl, blocks, middle, Jm)
        across, both = np.zeros(blocks.shape), self._zeros()
        run(assembly.clear_active, force, across)
        combine(h, slope, 0.0, slope, both)
        run(assembly.add_products, both, middle.slopes, end.slopes, across)
        if self.mu:
            combine(h * self.mu, slope, 0.0, slope, both)
            run(assembly.add_products, both, rubbing, end.slopes, across)
        self._add_forms(step.tangent, force, middle, Jl, across, end, Jb)
        if self.mu:
            slipping = np.zeros(blocks.shape)
            run(assembly.clear_active, force, slipping)
            combine(self.mu, force, 0.0, force, factor)
            run(friction.bend_rubbing, middle, Gm, slip, self.creep, trust, factor, slipping)
            self._add_forms(step.tangent, force, middle, Jl, slipping, middle, Jb)

    # -- forces and energy -----------------------------------------------------------------------

    def normal_forces(self, m: Moment, recorded: bool) -> Array:
        found = self.search.find(self.pool.frames(m.state))
        rates, force, *slopes = (self._zeros() for _ in range(4))
        if m.v is not None:
            assembly.set_rates(found.at, found.slopes, self.pool.twists(m.work), rates)
        laws.spring(self.k, self.d, found.gap, rates, 0.0, force, *slopes)
        return force

    def energy(self, state: State, u: Array) -> float:
        gap = np.maximum(self.search.find(self.pool.frames(state)).gap, 0.0)
        return float(np.sum(0.5 * self.k * gap**2))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if not self.mu and not self.d:
            return
        G, eta, rates = self.pool.frames(m.state), self.pool.twists(m.work), self._zeros()
        if m.ahead:
            run(laws.shift_frames, eta, -m.ahead, G)
        found = self.search.find(G)
        run(assembly.set_rates, found.at, found.slopes, eta, rates)
        force, slope, rate_slope = self._zeros(), self._zeros(), self._zeros()
        run(laws.spring, self.k, self.d, found.gap, rates, 0.0, force, slope, rate_slope)
        run(laws.add_damping_loss, self.k, found.gap, rates, force, scale, out)
        self._add_loss(m, force, scale, out)


def terms(tree: Tree) -> list[Term]:
    """The contacts of a robot."""
    found: list[Term] = []
    for contact in tree.description.of(Contact).values():
        kind = HardContact if contact.stiffness is None else SpringContact
        found.append(kind(tree, contact))
    return found
