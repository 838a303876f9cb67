"""Why no load can be put on a robot where it begins, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, null_space

from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.closure import CLOSED, held_rows, left_open
from pliant.solve.linearise import condensed, linearise
from pliant.solve.redundancy import find_redundancy
from pliant.tree.part import Part
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.statics import StaticSolution

_LARGEST = 1500
"""Coordinates up to which the direction that nothing resists is sought."""
_FLAT = 1e-8
"""Stiffness of such a direction over that of others."""
_FREE = (
    "the tangent is singular: part of the robot can move as a rigid body. "
    "Clamp a rod (base='world') or add a constraint that holds the free part."
)


def why_stuck(effects: Effects, q: Array, z: Array, inputs: Inputs, singular: bool) -> str:
    """Reason and remedy for a robot that no load can be put on at q (nq,), multipliers z, inputs.

    singular : whether its tangent is; else "" comes back where there is nothing to tell.
    """
    state = State(effects.tree).place(q)
    told = _contradiction(effects, state)
    part = None if told else loose_part(effects, q, z, inputs)
    if part is not None:
        told = _joint_sentence(part)
    if told or not singular:
        return told
    still_open = left_open(effects, q)
    return f"the tangent is singular. {still_open}" if still_open else _FREE


def _contradiction(effects: Effects, state: State) -> str:
    """A sentence about constraints that hold the same thing in two places, "" if there are none."""
    if not held_rows(effects):
        return ""
    here = find_redundancy(effects, state)
    gaps = np.zeros(effects.tree.total)
    for term in held_rows(effects):
        gaps[term.rows] = term.row_weights * term.gaps(state)
    apart = here.null.T @ gaps[here.numbers]
    if not len(here) or np.abs(apart).max() <= CLOSED:
        return ""
    shares = here.null @ apart
    involved = np.abs(shares) > 1e-3 * np.abs(shares).max()
    owners = {row: term for term in held_rows(effects) for row in term.rows.tolist()}
    terms = list(dict.fromkeys(owners[row] for row in here.numbers[involved].tolist()))
    if len(terms) == 1:
        return ""
    names = " and ".join(term.label for term in terms)
    return (
        f"{names} contradict each other: they hold the same directions in different places. "
        f"{left_open(effects, state.q)}"
    )


def indifferent(effects: Effects, found: StaticSolution) -> str:
    """A sentence on an equilibrium in which a part can move without resistance, "" if none can."""
    part = loose_part(effects, found.q, found.z, found.inputs, found.memory)
    if part is None:
        return ""
    return (
        f"nothing holds {part.source.label} in some directions, and no load acts in them: it stays "
        "where it was, and this equilibrium is one of many"
    )


def loose_part(
    effects: Effects, q: Array, z: Array, inputs: Inputs, memory: Array | None = None
) -> Part | None:
    """The part whose joint moves most where nothing resists, None if no joint does (or too many)."""
    tree = effects.tree
    if len(tree.coordinates) > _LARGEST:
        return None
    try:
        K, _, A = condensed(effects, *linearise(effects, q, z, inputs, memory))
        N = null_space(A) if len(A) else np.eye(len(K))
        units = 1.0 / np.sqrt(
            np.maximum(np.abs(np.diagonal(K)), 1e-12 * np.abs(K).max(initial=1.0))
        )
        small = (N.T * units) @ (0.5 * (K + K.T)) @ (N.T * units).T
        values, vectors = np.linalg.eigh(small)
    except (LinAlgError, np.linalg.LinAlgError, ValueError):
        return None
    k = int(np.argmin(np.abs(values))) if len(values) else -1
    if k < 0 or abs(values[k]) > _FLAT * max(np.abs(values).max(), 1e-300):
        return None if len(values) != 1 or abs(values[k]) > 0.0 else _only_joint(effects)
    x = np.zeros(tree.total)
    x[tree.coordinates] = units * (N @ vectors[:, k])
    moved = [float(np.abs(x[part.joint_index]).max(initial=0.0)) for part in tree.parts]
    best = int(np.argmax(moved))
    return tree.parts[best] if moved[best] > 1e-3 * np.abs(x).max() else None


def _only_joint(effects: Effects) -> Part | None:
    return next((part for part in effects.tree.parts if part.joint.nv), None)


def _joint_sentence(part: Part) -> str:
    """Reason and remedy for a part that moves freely in its joint."""
    if part.joint.nv == 6:
        return _FREE
    return (
        f"the tangent is singular: {part.source.label} can move in its joint without resistance. Give "
        "the joint a stiffness or a drive, or hold the part with a constraint or a spring; simulate() "
        "needs none of these."
    )
