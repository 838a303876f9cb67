"""Balance of a robot in motion, with the rates and accelerations of its stations:

J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0.
"""

from __future__ import annotations

from pliant.engine.program import ask, run
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects
from pliant.physics.inertia import add_inertia
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


def dynamic_balance(effects: Effects, moment: Moment, grow: float) -> Array:
    """Residual (total,) of balance in motion at rates moment.v, with what `set_rates` made of them.

    grow : derivative of the accelerations in the coordinates that are sought, 1/s^2. A tangent is
    filled in the second-order chart. The inertia wrenches meet the second derivative of the map; what
    changes the accelerations by it is left out, and Newton's method converges without.
    """
    tree, state, work = moment.tree, moment.state, moment.work
    assert moment.v is not None
    wanted = moment.tangent is not None
    work.clear(wanted)
    if moment.tangent is not None:
        moment.tangent.clear()
    meet_moving(work, state, moment.speed)
    for term in effects.terms:
        ask(term.act, moment)
    for part, w in zip(tree.parts, work.parts, strict=True):
        run(add_inertia, part.M, w.eta, w.acceleration, moment.speed, grow, wanted, w.p, w.k)
        w.mass = True
    gather(tree, state, work, work.residual)
    if moment.tangent is not None:
        gather_tangent(tree, state, work, moment.tangent)
    return work.residual


def inertia_forces(tree: Tree, state: State, work: Work, other: Work) -> Array:
    """The part (total,) of the last `dynamic_balance` that is inertia, with another workspace."""
    other.clear(False)
    for part, w, o in zip(tree.parts, work.parts, other.parts, strict=True):
        run(add_inertia, part.M, w.eta, w.acceleration, 0.0, 0.0, False, o.p, o.k)
        o.mass = True
    gather(tree, state, other, other.residual)
    return other.residual
