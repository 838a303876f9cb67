"""What to say of a configuration at which a solve ended or failed: limits of maps, stability."""

from __future__ import annotations

import numpy as np

from pliant.physics.contract import Term
from pliant.physics.effects import Effects
from pliant.rods.contract import Array, RodMap
from pliant.tree.state import State
from pliant.tree.tree import Tree


def map_limits(tree: Tree, q: Array) -> str:
    """Sentences about rods whose maps are near their limits at coordinates q (nq,), or ""."""
    notes = []
    for part in tree.parts:
        if type(part.map).trouble is RodMap.trouble or not np.isfinite(q).all():
            continue
        c = part.map.configuration()
        part.map.update(c, np.eye(4), q[part.q_slice])
        notes.append(part.map.trouble(c))
    return " ".join(note for note in notes if note)


def term_limits(effects: Effects, state: State) -> str:
    """What the first effect that has something to say says of a state, "" for nothing."""
    telling = (x for x in effects.terms if type(x).trouble is not Term.trouble)
    return next(filter(None, (term.trouble(state) for term in telling)), "")


def with_limits(text: str, effects: Effects, q: Array) -> str:
    """The message of a solve that failed at or after q (nq,), with what maps and effects say of it."""
    note = map_limits(effects.tree, q)
    if not note and np.isfinite(q).all():
        note = term_limits(effects, State(effects.tree).place(q))
    return f"{text.rstrip('.')}. {note}" if note else text


OTHER = "finds another equilibrium"
"""What a note on stability says if another formulation goes elsewhere."""


def unstable_branch(where: str, unstable: bool) -> str:
    """What to say of an equilibrium whose branch loses its stability somewhere on the way.

    where : such as "before", followed by the full load.  unstable : whether it still is there.
    """
    now = "this equilibrium is unstable" if unstable else "this equilibrium lies beyond"
    return (
        f"the branch from the start loses its stability or ends {where} the full load, and {now}. A "
        "real robot would buckle or snap there, perhaps to another equilibrium: add a small "
        "imperfection such as a natural curvature or a load to the side, or use simulate()."
    )
