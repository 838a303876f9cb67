"""The nodes of a whole robot in motion: where they are, their momenta, and what acts on them."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import ask
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_at_rest, meet_moving
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped.motion import NodeMotion
from pliant.tree.nodes import Nodes
from pliant.tree.state import State
from pliant.tree.work import Work


class LumpedSystem:
    """All nodes of a robot, at a state of their own, which follows them.

    acting (J,) : numbers of the inputs that act.
    """

    def __init__(self, effects: Effects, work: Work) -> None:
        self.effects, self.tree, self.work = effects, effects.tree, work
        self.acting, self._z = np.zeros(effects.inputs), np.zeros(self.tree.total)
        self.state = State(self.tree).place(self.tree.q_rest)
        fields = [term.acceleration(self.acting) for term in effects.terms]
        self._terms = [x for x, field in zip(effects.terms, fields, strict=True) if field is None]
        self._fields = [field for field in fields if field is not None]
        framed = any(not term.at_strains for term in self._terms)
        self.nodes = Nodes(self.tree, self.state, work, framed)
        pairs = zip(self.nodes.parts, self.nodes.inertia, strict=True)
        self.motions = [NodeMotion(nodes, inertia) for nodes, inertia in pairs]
        self._rates = np.zeros(self.tree.total)

    def begin(self, q: Array, v: Array) -> None:
        """Put the nodes at coordinates q (nq,), with rates v (total,)."""
        self.state.place(q)
        self.nodes.renew()
        for motion in self.motions:
            motion.set_momenta(v)
            motion.set_rates()

    def fastest_spin(self) -> float:
        """The largest spin of all nodes, rad/s, as `begin` had it."""
        spins = [np.linalg.norm(motion.own.spin, axis=0).max() for motion in self.motions]
        return float(max(spins))

    # -- what programs are made of -----------------------------------------------------------------

    def moment(self, moving: bool) -> Moment:
        """The robot where the nodes are; moving : with their velocities."""
        v = self._rates if moving else None
        return Moment(self.tree, self.state, self.work, self.acting, self._z, v=v)

    def accelerate(self, moving: bool) -> None:
        """Set what acts on all nodes where they are; moving : with what opposes velocities."""
        work, nodes = self.work, self.nodes
        nodes.place()
        nodes.clear()
        if moving:
            self._set_rates(self._rates)
            nodes.set_rates()
            meet_moving(work, self.state, 0.0)
        else:
            meet_at_rest(work, self.state)
        moment = self.moment(moving)
        for term in self._terms:
            ask(term.act, moment)
        nodes.gather()
        field = self._field()
        for motion in self.motions:
            motion.set_pulls(field)

    def _field(self) -> Array:
        """Sum (3,) of the accelerations that are common to all masses, m/s^2."""
        if len(self._fields) == 1:
            return self._fields[0]
        out = np.zeros(3)
        clear(out)
        for field in self._fields:
            combine(1.0, out, 1.0, field, out)
        return out

    def drift(self, factor: float, unit: Array) -> None:
        """Let all nodes move freely for factor times unit (1,) seconds."""
        for motion in self.motions:
            motion.drift(factor, unit)

    def keep(self) -> None:
        """Keep nodes and momenta as they are."""
        for motion in self.motions:
            motion.keep_nodes()
            copy(motion.rates, motion.kept_rates)

    def restore(self) -> None:
        """Put nodes and momenta back where they were kept."""
        for motion in self.motions:
            motion.restore_nodes()
            copy(motion.kept_rates, motion.rates)

    def write(self, q: Array, v: Array) -> None:
        """Write coordinates q (nq,) and rates v (total,)."""
        self.nodes.place()
        self.nodes.set_coordinates(q)
        self._set_rates(v)

    def _set_rates(self, v: Array) -> None:
        """Set spins and velocities of all nodes, and rates v (total,)."""
        for motion in self.motions:
            motion.set_rates()
            motion.write_rates(v)

    def moving_arrays(self) -> list[Array]:
        """All that a step changes."""
        return [x for motion in self.motions for x in (*motion.where, motion.rates)]
