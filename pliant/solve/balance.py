"""The residual of statics: what all effects do at a state, and its tangent."""

from __future__ import annotations

from pliant.engine.program import ask
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work


def balance(
    effects: Effects,
    state: State,
    work: Work,
    inputs: Inputs,
    z: Array,
    tangent: Tangent | None = None,
    chart: bool = True,
    keep: Array | None = None,
    memory: Array | None = None,
) -> Array:
    """Residual (total,) at a state: gradient of the potential, and gaps of all rows.

    With a tangent, it is overwritten: in the Newton chart, or in the second-order chart if not `chart`.
    keep : gaps (total,) that constraints are to keep for now.  memory : see `Moment`.
    """
    work.clear(tangent is not None)
    if tangent is not None:
        tangent.clear()
    meet_at_rest(work, state)
    moment = Moment(
        effects.tree, state, work, inputs.u, z, tangent=tangent, keep=keep, memory=memory
    )
    for term in effects.terms:
        ask(term.act, moment)
    gather(effects.tree, state, work, work.residual)
    if tangent is not None:
        gather_tangent(effects.tree, state, work, tangent, work.residual if chart else None)
    return work.residual
