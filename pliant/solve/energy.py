"""Energies and reactions of an equilibrium."""

from __future__ import annotations

from pliant.lie import se3
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.balance import balance
from pliant.solve.inverse_dynamics import at_origin
from pliant.solve.redundancy import without_self_stress
from pliant.solve.statics import StaticSolution
from pliant.tree.state import State
from pliant.tree.work import Work


def potential(
    effects: Effects, state: State, inputs: Inputs, without: str = ""
) -> dict[str, float]:
    """Energies of a state by the columns of the terms, J; gravity is zero at the origin.

    without : the column that is left out.
    """
    energies = {name: 0.0 for name in ("elastic", "gravity", "loads") if name != without}
    for term in effects.terms:
        if term.column != without:
            energies[term.column] = energies.get(term.column, 0.0) + term.energy(state, inputs.u)
    return energies


def drive_forces(effects: Effects, found: StaticSolution) -> dict[str, float]:
    """Torques and forces by which inputs hold prescribed joints, by the name of the input, N m or N."""
    state, work = State(effects.tree).place(found.q), Work(effects.tree)
    what = (state, work, found.inputs, found.z)
    return effects.tree.drives(balance(effects, *what, memory=found.memory))


def reactions(effects: Effects, found: StaticSolution) -> dict[str, Array]:
    """Wrenches (6,) = (moment, force) that hold the robot.

    For a constraint: what it exerts on the frame it holds, in the frame it is held to. For a part on
    the world or on another part: what its joint exerts on it, in the frame of its base.
    """
    tree = effects.tree
    state, work = State(tree).place(found.q), Work(tree)
    z = without_self_stress(effects, state, found.z)
    balance(effects, state, work, found.inputs, z, memory=found.memory)
    held = effects.reactions(Moment(tree, state, work, found.inputs.u, z, memory=found.memory))
    for i in tree.held_parts():
        at, w = state.parts[i], work.parts[i]
        held[tree.parts[i].name] = se3.Ad(at.base).T @ at_origin(at.g, w.p).sum(axis=0)
    return held
