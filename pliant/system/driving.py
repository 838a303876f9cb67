"""Bases that move as they are told: poses, twists and accelerations from the inputs of a moment.

The base of such a rod has coordinates of its own, numbered like those of a free rod, so that its
twist stands among the rates and its row of a residual is the wrench that moves it. They are never
solved for: the tangent holds the identity there, and what is known is put in by these functions.
"""

from __future__ import annotations

import numpy as np

from pliant.lie import se3
from pliant.model import BaseState, Moving, base_state
from pliant.rods.contract import Array
from pliant.system.loading import Loading
from pliant.system.system import System


def base_states(system: System, loading: Loading) -> list[BaseState]:
    """Pose, twist and twist rate of every driven base, in the order of `system.driven_blocks`."""
    motions = list(system.description.base_motions.values())
    found = []
    for block in system.driven_blocks:
        mine = [
            Moving(motion, *(float(x) for x in loading.drive[k]))
            for k, motion in enumerate(motions)
            if motion.part == block.rod.name
        ]
        found.append(base_state(block.rod.pose, mine))
    return found


def put_bases(system: System, q: Array, loading: Loading) -> Array:
    """Configuration q (nq,) with every driven base where `loading` has it; rods move along."""
    if not system.driven_blocks:
        return q
    out = q.copy()
    for block, state in zip(system.driven_blocks, base_states(system, loading), strict=True):
        out[block.pose_slice] = state.pose.ravel()
    return out


def base_twists(system: System, loading: Loading) -> tuple[Array, Array]:
    """Twists and twist rates (6 k,) of the driven bases, in the order of `system.driven`."""
    states = base_states(system, loading)
    return (
        np.concatenate([*(state.twist for state in states), np.zeros(0)]),
        np.concatenate([*(state.twist_rate for state in states), np.zeros(0)]),
    )


def base_steps(system: System, before: Array, after: Array) -> Array:
    """Twists (6 k,) that carry the driven bases of configuration `before` to those of `after`."""
    steps = [np.zeros(0)]
    for block in system.driven_blocks:
        ga, gb = (q[block.pose_slice].reshape(4, 4) for q in (before, after))
        steps.append(se3.log(se3.inverse(ga) @ gb))
    return np.concatenate(steps)
