"""The nodes of robots in motion: where they are, their momenta, and what acts on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import ask
from pliant.physics.contract import KernelTerm, Moment, Term
from pliant.physics.effects import Effects
from pliant.physics.met_strains import meet_at_rest, meet_moving
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped.guides import Guides
from pliant.solve.integrators.lumped.motion import NodeMotion
from pliant.tree.nodes import Nodes
from pliant.tree.state import State
from pliant.tree.work import Work


def _does_work(term: Term) -> bool:
    kind, none = type(term), (Term.work_done, KernelTerm.work_done)
    if kind.add_work_done is Term.add_work_done:
        return kind.work_done not in none
    return kind.add_work_done is not KernelTerm.add_work_done


class LumpedRobot:
    """One robot of a lumped system, at a state of its own, which follows its nodes.

    acting (J,) : numbers of the inputs that act.  memory : what terms remember of the start of a step.
    """

    def __init__(self, effects: Effects, work: Work, acting: Array) -> None:
        self.effects, self.tree, self.work, self.acting = effects, effects.tree, work, acting
        self._z, self.rates = np.zeros(self.tree.total), np.zeros(self.tree.total)
        self.memory = np.zeros(effects.memory)
        self.state = State(self.tree).place(self.tree.q_rest)
        self.laws = [law for term in effects.terms if (law := term.strain_law()) is not None]
        """Part, stiffness and rest strains of stresses that nodes know by themselves."""
        places = np.arange(effects.inputs, dtype=float)
        fields = [term.acceleration(places) for term in effects.terms]
        self.fields = [field.astype(np.int64) for field in fields if field is not None]
        """Places (3,) among the inputs of the accelerations that are common to all masses."""
        self.terms: list[Term] = [
            term
            for term, field in zip(effects.terms, fields, strict=True)
            if field is None and term.strain_law() is None and type(term).act is not Term.act
        ]
        """What acts besides."""
        self.working = [term for term in effects.terms if _does_work(term)]
        """What does work by its input."""
        self.quiet = effects.numbers(dict.fromkeys(effects.tree.description.inputs(), 0.0))
        """Numbers (J,) of inputs that ask for nothing."""
        framed = any(not term.at_strains for term in self.terms)
        self.nodes = Nodes(self.tree, self.state, work, framed)
        self.guides = Guides(effects, self.nodes)

    def set_laws(self) -> None:
        """Tell the nodes the laws of their stresses."""
        for i, stiffness, rest in self.laws:
            self.nodes.parts[i].nodes.set_law(stiffness, rest, self.tree.parts[i].lag)

    def refill(self) -> None:
        """Take over the numbers of the robot, which were given anew."""
        self.work.refill()
        self.nodes.refill()
        self.quiet[...] = self.effects.numbers(dict.fromkeys(self.tree.description.inputs(), 0.0))
        self.set_laws()

    def moment(self, moving: bool) -> Moment:
        """The robot where the nodes are; moving : with their velocities."""
        given = (self.tree, self.state, self.work, self.acting, self._z)
        return Moment(*given, v=self.rates, memory=self.memory) if moving else Moment(*given)

    def act(self, moving: bool) -> None:
        """Let all that the nodes do not know by themselves act at the stations."""
        self.nodes.tell_strains(moving)
        if moving:
            meet_moving(self.work, self.state, 0.0)
        else:
            meet_at_rest(self.work, self.state)
        moment = self.moment(moving)
        for term in self.terms:
            ask(term.act, moment)
        for own, w in zip(self.nodes.parts, self.work.parts, strict=True):
            own.nodes.add_stress(w.sigma)


class LumpedSystem:
    """All nodes of robots of one kind, of which one is the usual number.

    acting (J,) : numbers of the inputs that act, robot after robot.  now (1,) : the part of the step
    that is over where they act.
    """

    def __init__(self, effects: Sequence[Effects], works: Sequence[Work]) -> None:
        self.now = np.zeros(1)
        sizes = [item.inputs for item in effects]
        self.acting = np.zeros(sum(sizes))
        first = np.cumsum([0, *sizes])
        self.slices = [slice(a, b) for a, b in pairwise(first.tolist())]
        """Places of the inputs of each robot."""
        given = zip(effects, works, self.slices, strict=True)
        self.robots = [LumpedRobot(item, work, self.acting[at]) for item, work, at in given]
        self._share_arrays()
        self.length = max(robot.tree.length for robot in self.robots)
        self.motions = [
            NodeMotion(
                [robot.nodes.parts[i] for robot in self.robots],
                [robot.nodes.inertia[i] for robot in self.robots],
            )
            for i in range(len(self.robots[0].nodes.parts))
        ]
        places = [np.array(robot.fields).reshape(-1, 3) for robot in self.robots]
        self._places = np.array([x + at.start for x, at in zip(places, self.slices, strict=True)])
        self.told = any(robot.terms for robot in self.robots)
        """Whether anything acts that the nodes do not know by themselves."""
        self.guided = any(robot.guides.parts for robot in self.robots)
        self.framed = any(own.framed for robot in self.robots for own in robot.nodes.parts)

    def _share_arrays(self) -> None:
        """Let the nodes of all robots stand in the same arrays."""
        leader, *others = self.robots
        for i, own in enumerate(leader.nodes.parts if others else ()):
            own.nodes.allocate(len(self.robots))
            for copy_, robot in enumerate(others, 1):
                robot.nodes.parts[i].nodes.share(own.nodes, copy_)
        for robot in self.robots:
            robot.set_laws()

    def refill(self) -> None:
        """Take over the numbers of the robots, which were given anew."""
        for robot in self.robots:
            robot.refill()
        for i, motion in enumerate(self.motions):
            motion.take_inertia([robot.nodes.inertia[i] for robot in self.robots])

    def begin(self, q: Sequence[Array], v: Sequence[Array]) -> None:
        """Put the nodes of each robot at coordinates q (nq,), with rates v (total,)."""
        for robot, own in zip(self.robots, q, strict=True):
            robot.state.place(own)
            robot.nodes.renew()
        for motion in self.motions:
            motion.set_momenta(v)
            motion.set_rates()

    def fastest_spin(self) -> float:
        """The largest spin of all nodes, rad/s, as `begin` had it."""
        spins = [np.linalg.norm(motion.nodes.spin, axis=0).max() for motion in self.motions]
        return float(max(spins))

    # -- what programs are made of -----------------------------------------------------------------

    def accelerate(self, moving: bool) -> None:
        """Set what acts on all nodes where they are; moving : with what opposes velocities."""
        told = self.told or moving
        if self.framed or self.guided or told:
            self._place_bases()
            for robot in self.robots:
                robot.nodes.clear()
        if moving:
            self.set_rates()
        if told:
            self._set_stresses(moving)
        for i in range(len(self.motions) - 1, -1, -1):
            motion = self.motions[i]
            if told:
                motion.nodes.set_forces()
            else:
                motion.nodes.set_elastic_forces()
            for robot in self.robots:
                robot.nodes.gather(i)
            motion.set_field(self.acting, self._places)
            motion.set_pulls()

    def _place_bases(self) -> None:
        """Set first nodes that are guided or carried, and the frames that are wanted."""
        for robot in self.robots:
            for guide in robot.guides.each:
                guide.go(self.now)
            robot.nodes.place_bases()

    def set_fields(self, inputs: Array) -> None:
        """Set the fields that inputs (J,) are."""
        for motion in self.motions:
            motion.set_field(inputs, self._places)

    def _set_stresses(self, moving: bool) -> None:
        for motion in self.motions:
            motion.nodes.set_strain()
            if moving:
                motion.nodes.set_strain_rate()
            motion.nodes.set_stress(moving)
        for robot in self.robots:
            robot.act(moving)

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

    def write(self, q: Sequence[Array], v: Sequence[Array]) -> None:
        """Write coordinates q (nq,) and rates v (total,) of each robot."""
        self._place_bases()
        self.set_rates()
        for robot, own, rates in zip(self.robots, q, v, strict=True):
            robot.nodes.set_coordinates(own)
            copy(robot.rates, rates)

    def set_rates(self) -> None:
        """Set spins, velocities and rates of all nodes, and of the stations where they are wanted."""
        for motion in self.motions:
            motion.set_rates()
            for copy_, robot in enumerate(self.robots):
                motion.write_rates(copy_, robot.rates)
        for robot in self.robots:
            for guide in robot.guides.each:
                guide.write_rates(self.now, robot.rates)
            robot.nodes.set_rates(robot.rates)

    def moving_arrays(self) -> list[Array]:
        """All that a step changes."""
        return [x for motion in self.motions for x in (*motion.where, motion.rates)]
