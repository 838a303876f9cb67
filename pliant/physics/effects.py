"""The list of everything that acts on a robot, and its inputs as numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from pliant.engine.program import ask, is_compiled
from pliant.model import Description, DescriptionError, Effect, did_you_mean
from pliant.physics.contract import Moment, Rows, Term
from pliant.physics.frame_rows import FrameRows
from pliant.physics.met_strains import meet_at_rest
from pliant.physics.supported import check_bodies, check_held
from pliant.rods.contract import Array
from pliant.tree.backward import gather
from pliant.tree.drivers import Prescribed
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent, new_tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

BUILT_IN = (
    "gravity",
    "joint_springs",
    "joint_limits",
    "joint_stops",
    "joint_friction",
    "joint_drives",
    "elasticity",
    "section_updates",
    "strain_dampers",
    "tubes",
    "force_fields",
    "viscosity",
    "drag",
    "mass_damping",
    "loads",
    "chambers",
    "springs",
    "links",
    "bushings",
    "tendons",
    "muscles",
    "embedded_tendons",
    "constraints",
    "connections",
    "gears",
    "contact",
)
"""Files of the effects that come with Pliant, in the order in which they act."""


def compile_terms(tree: Tree) -> list[Term]:
    """The terms of everything that acts on a robot."""
    _require_carried(tree)
    homes = [import_module(f"pliant.physics.{name}") for name in BUILT_IN]
    terms: list[Term] = [term for home in homes for term in home.terms(tree)]
    own = [entry for entry in tree.description.parts.values() if hasattr(entry, "compile")]
    return terms + [entry.compile(tree) for entry in own]


def _require_carried(tree: Tree) -> None:
    """Refuse effects along nested tubes that know rods of their own only."""
    for effect in tree.description.of(Effect).values():
        rod = getattr(effect, "on", None)
        if isinstance(rod, str) and tree.is_nested(rod) and not effect.on_nested:
            raise DescriptionError(
                effect.label,
                "on",
                rod,
                "a rod with a centreline of its own, not one of several tubes in one another",
                "let it act at places such as 'tube.tip', or along another rod",
            )


@dataclass(frozen=True)
class Inputs:
    """What acts at one moment: numbers u (J,) of the inputs of all terms, and of prescribed joints
    drive (K, 3), the value, rate (1/s) and acceleration (1/s^2) of each.
    """

    u: Array
    drive: Array

    def mix(self, other: Inputs, t: float) -> Inputs:
        """The inputs a fraction t of the way from these to others."""
        if other is self:
            return self
        return Inputs((1.0 - t) * self.u + t * other.u, (1.0 - t) * self.drive + t * other.drive)

    @property
    def empty(self) -> bool:
        """True if no term acts by its input, not even gravity."""
        return not self.u.any()


class Effects:
    """All terms of one tree, which it closes, and the numbers of their inputs."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.terms = compile_terms(tree)
        tree.close()
        count = self.memory = self.records = 0
        for number, term in enumerate(self.terms):
            term.number = number
            term.at = slice(count, count + term.size)
            count += term.size
            term.close(tree)
            term.memory_at = slice(self.memory, self.memory + term.memory)
            self.memory += term.memory
            term.record_at = slice(self.records, self.records + term.records)
            self.records += term.records
        plain = not all(is_compiled(term) for term in self.terms)
        for part in tree.parts:
            part.loaded = plain
        self.inputs = count
        """How many numbers all inputs become."""
        self.prescribed = Prescribed(tree)
        self.idle: dict[Any, deque[Any]] = {}
        """What solvers have made for this robot and may take up again, by what it was made for."""
        self.nothing = Inputs(np.zeros(count), np.zeros((len(self.prescribed.names), 3)))
        """No load at all, not even gravity, and joints at rest."""
        self.rows: list[Rows] = [term for term in self.terms if isinstance(term, Rows)]
        """Terms with unknowns of their own."""
        check_bodies(tree)
        for row in self.of_kind(FrameRows):
            check_held(tree, row)
        self.hard = [term for term in self.rows if term.hard]
        self.one_sided = [term for term in self.hard if term.one_sided]
        none = np.zeros(0, dtype=np.int64)
        self.gap_rows = np.concatenate([none, *(term.rows for term in self.rows)])
        """Numbers of all unknowns of terms, and the weights that make their gaps plain numbers."""
        self.gap_weights = np.concatenate([np.zeros(0), *(term.row_weights for term in self.rows)])
        self.squeezed = any(term.squeezes for term in self.terms)
        """Whether something keeps rods under compression from within, and whether by a pull."""
        self.squeezed_at_once = any(term.squeezes_at_once for term in self.terms)
        self.held = any(term.whole for term in self.rows)
        """Whether there are hard rows, which act at the start of a step."""
        self.over_constrained = False
        """Whether rows of constraints depend on each other, see `solve.redundancy`."""

    def refill(self, description: Description) -> bool:
        """Take over the numbers of a description of the same kind, see `Term.refill`.

        False if the robot has to be compiled anew.
        """
        if not (self.tree.refill(description) and all(x.refill(self.tree) for x in self.terms)):
            return False
        self.gap_weights[...] = np.concatenate([np.zeros(0), *(x.row_weights for x in self.rows)])
        for kept in self.idle.values():
            known = list(kept)
            kept.clear()
            kept.extend(x for x in known if hasattr(x, "refill") and x.refill())
        return True

    def of_kind(self, kind: type[Any]) -> Iterable[Any]:
        """The terms of one class."""
        return (term for term in self.terms if isinstance(term, kind))

    def remember(
        self, state: State, u: Array, z: Array, memory: Array, v: Array | None = None
    ) -> None:
        """Set the memory of all terms in a state with rates v (total,), None at rest.

        u (J,) numbers of the inputs, z (total,) force fields and multipliers, as far as known.
        """
        work = Work(self.tree)
        work.clear(False)
        meet_at_rest(work, state)
        if v is not None:
            set_rates(self.tree, state, work, v)
        moment = Moment(self.tree, state, work, u, z, v)
        for term in self.terms:
            term.act(moment)
        gather(self.tree, state, work, work.residual)
        for term in self.terms:
            if term.memory:
                term.remember(moment, memory[term.memory_at])

    def come_to_rest(self, state: State, u: Array, z: Array, memory: Array) -> None:
        """Bring the memory of all terms to an equilibrium on the way to another one."""
        moment = Moment(self.tree, state, Work(self.tree), u, z, memory=memory.copy())
        for term in self.terms:
            if term.memory:
                term.come_to_rest(moment, memory[term.memory_at])

    @property
    def increments(self) -> int:
        """Load steps, at least, in which an equilibrium is sought."""
        return max((term.increments for term in self.terms), default=1)

    @property
    def finest(self) -> float:
        """Part of the ways that count elsewhere on which forces of some term change as much."""
        return min((term.finest for term in self.terms), default=1.0)

    def add_losses(self, m: Moment, scale: float, out: Array) -> None:
        """Add scale times the power that all terms dissipate at a moment to out (1,), W."""
        for term in self.terms:
            ask(term.add_power_lost, m, scale, out)

    def add_work(self, a: State, b: State, u: Array, out: Array) -> None:
        """Add the work that inputs u (J,) do between two configurations to out (1,), J."""
        for term in self.terms:
            ask(term.add_work_done, a, b, u, out)

    def reactions(self, m: Moment) -> dict[str, Array]:
        """Wrenches (6,) by which terms hold the robot at a moment, by name."""
        held: dict[str, Array] = {}
        for term in self.terms:
            for name, wrench in term.reactions(m).items():
                held[name] = held[name] + wrench if name in held else wrench
        return held

    def pairs(self) -> list[list[Pair]]:
        """Blocks that the terms add to tangents."""
        return [term.pairs() for term in self.terms]

    def tangent(self, symmetric: bool) -> Tangent:
        """A tangent for one owner, who may keep its factor; all share their slots."""
        if symmetric not in self._tangents:
            self._tangents[symmetric] = new_tangent(
                self.tree, self.pairs(), symmetric, self._enough
            )
        return self._tangents[symmetric].alike()

    @cached_property
    def _tangents(self) -> dict[bool, Tangent]:
        """By whether they are symmetric, tangents that are there to be copied."""
        return {}

    def mass_tangent(self) -> Tangent:
        """Storage of the mass matrix with all rows, which springs and links do not couple."""
        pairs = [term.pairs() if term in self.rows else [] for term in self.terms]
        return new_tangent(self.tree, pairs, True, self._enough, coupled=False)

    @cached_property
    def _enough(self) -> list[tuple[list[int], list[int]]]:
        """Multipliers, and coordinates that can meet their rows alone."""
        return [pair for row in self.of_kind(FrameRows) for pair in row.enough(self.tree)]

    # -- inputs ------------------------------------------------------------------------------

    def at(self, values: Mapping[str, Any]) -> Inputs:
        """The inputs at rest from their values by name; those not named have their default."""
        known = self.tree.description.inputs()
        check_inputs(known, values)
        drive = np.zeros((len(self.prescribed.names), 3))
        drive[:, 0] = [float(values.get(name, known[name])) for name in self.prescribed.names]
        return Inputs(self.numbers(values), drive)

    def numbers(self, values: Mapping[str, Any]) -> Array:
        """Numbers (J,) of the inputs of all terms from values by name."""
        known = self.tree.description.inputs()
        u = np.zeros(self.inputs)
        for term in self.terms:
            if term.input is not None:
                u[term.at] = term.numbers(values.get(term.input, known[term.input]))
            elif term.size:
                u[term.at] = term.numbers(term.always)
        return u

    def conservative(self, u: Array) -> bool:
        """True if all that acts has a potential."""
        return all(term.conservative(u) for term in self.terms)


def check_inputs(known: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Refuse inputs the robot does not have."""
    for name in inputs:
        if name not in known:
            raise DescriptionError(
                part="inputs",
                field=str(name),
                value=inputs[name],
                expected="the name of an input of this robot: a load, a drive, a chamber",
                remedy=did_you_mean(str(name), list(known)),
            )


def effects_of(description: Description, formulations: Mapping[str, Any]) -> Effects:
    """The tree of a description with one formulation for each rod, and all that acts on it."""
    return Effects(Tree(description, formulations))
