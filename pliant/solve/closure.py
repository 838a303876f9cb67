"""Loops that are open where a robot begins: closed by its joints, or told how far they stay open.

Joints are moved by the shortest way in their coordinates, by damped Gauss-Newton steps; rods keep
their shape. So a linkage whose bars were described one by one comes together before it is solved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from pliant.model import DescriptionError
from pliant.physics.effects import Effects
from pliant.physics.frame_rows import FrameRows
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State

CLOSED = 1e-7
"""Gap, metres or radians, that counts as closed: more than Newton leaves, less than anyone draws."""
_DONE = 1e-13
_STEP = 0.5
"""Largest step of a joint, rad or lengths of the robot."""
_ITERATIONS = 200
_STUCK = 1e3
"""Damping, over the size of the Jacobian, from which on no step is left."""


def held_rows(effects: Effects) -> list[FrameRows]:
    """The terms whose rows hold frames at all times."""
    rows = effects.of_kind(FrameRows)
    return [term for term in rows if term.hard and not term.one_sided]


def open_gap(effects: Effects, q: Array) -> float:
    """The largest gap that hard rows of frames have to close at q (nq,), metres or radians."""
    terms = [term for term in effects.of_kind(FrameRows) if term.hard]
    if not terms:
        return 0.0
    tree = effects.tree
    state = tree.rest if q is tree.q_rest else State(tree).place(q)
    return max(float(np.abs(term.violations(state)).max(initial=0.0)) for term in terms)


def close_by_joints(
    effects: Effects, q: Array, keep: Collection[str] = (), bending: bool = False
) -> Array:
    """A configuration (nq,) near q in which all loops are closed, or the best that joints reach.

    keep : names of parts whose joints stay where they are, as prescribed ones do.  bending : whether
    rods may bend, too. Loops that are closed at q leave it as it is.
    """
    terms = held_rows(effects)
    if not terms or open_gap(effects, q) <= CLOSED:
        return q
    tree = effects.tree
    moved = _joint_numbers(effects, keep)
    if bending:
        moved = tree.coordinates[tree.coordinates < tree.size]
    state = State(tree).place(q)
    gaps, damping = _weighted_gaps(terms, state), 1e-6
    for _ in range(_ITERATIONS):
        size = float(np.linalg.norm(gaps))
        if size < _DONE or not np.isfinite(size) or damping > _STUCK:
            break
        x = np.zeros(tree.total)
        x[moved] = -_damped(_jacobian(terms, state, moved), gaps, damping)
        x *= min(1.0, _STEP / max(float(np.abs(x).max()), 1e-300))
        other = State(tree).place(tree.moved(state, x, newton=False))
        rest = _weighted_gaps(terms, other)
        if float(np.linalg.norm(rest)) < size:
            state, gaps, damping = other, rest, 0.1 * damping
        else:
            damping = max(10.0 * damping, 1e-6)
    return state.q.copy()


def _damped(A: Array, gaps: Array, damping: float) -> Array:
    """The step (k,) that closes gaps (rows,) with Jacobian A (rows, k), by Levenberg and Marquardt."""
    size = float(np.linalg.norm(A))
    if A.shape[1] > 2 * A.shape[0]:  # its R^T R = A A^T has all that is asked for
        Q, R = np.linalg.qr(A.T)
        return np.asarray(Q @ _damped(R.T, gaps, damping))
    U, s, V = np.linalg.svd(A, full_matrices=False)
    s = np.where(s > 1e-9 * size, s, 0.0)
    return np.asarray(V.T @ (s / np.maximum(s**2 + damping * size**2, 1e-300) * (U.T @ gaps)))


def _joint_numbers(effects: Effects, keep: Collection[str]) -> Ints:
    """Numbers of the joint coordinates that may move."""
    tree = effects.tree
    parts = [part for part in tree.parts if part.name not in keep]
    numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(part.joint_index for part in parts)])
    return numbers[numbers < tree.size]


def _weighted_gaps(terms: Iterable[FrameRows], state: State) -> Array:
    return np.concatenate([term.row_weights * term.gaps(state) for term in terms])


def _jacobian(terms: Iterable[FrameRows], state: State, numbers: Ints) -> Array:
    """Derivative (rows, k) of the weighted gaps in the coordinates with some numbers."""
    place = np.full(state.tree.total, -1)
    place[numbers] = np.arange(len(numbers))
    blocks = []
    for term in terms:
        A = term.row_weights[:, None] * term.jacobian(state)
        block, at = np.zeros((len(A), len(numbers))), place[term.columns]
        for column in np.flatnonzero(at >= 0):
            block[:, at[column]] += A[:, column]
        blocks.append(block)
    return np.concatenate(blocks)


def widest(effects: Effects, q: Array) -> tuple[FrameRows, str]:
    """The constraint that is open the most at q (nq,), and how far in words."""
    state = State(effects.tree).place(q)
    gaps = {term: term.row_weights * term.violations(state) for term in held_rows(effects)}
    worst = max(gaps, key=lambda term: float(np.abs(gaps[term]).max()))
    row = int(np.argmax(np.abs(gaps[worst])))
    turns = np.array([worst.row_name(k).startswith("r") for k in range(len(worst.rows))])
    far = float(np.linalg.norm(worst.violations(state)[turns == turns[row]]))
    return worst, f"{far:.3g} {'rad' if turns[row] else 'm'}"


def cannot_close(effects: Effects, q: Array) -> DescriptionError:
    """The error for loops that stay open; q (nq,) : the best that was reached."""
    worst, far = widest(effects, q)
    return DescriptionError(
        worst.label,
        "gap",
        far,
        f"zero, but {joined_parts(effects, worst)} stay so far apart, as near as joints bring them: "
        "the loop cannot close",
        "check lengths and places of these parts, or choose a joint with more freedom",
    )


def left_open(effects: Effects, q: Array) -> str:
    """A sentence about the constraint that is open the most at q (nq,); "" if none is."""
    if not held_rows(effects) or open_gap(effects, q) <= CLOSED:
        return ""
    worst, far = widest(effects, q)
    return (
        f"{worst.label} between {joined_parts(effects, worst)} is still open by {far} there: check "
        "lengths and places of these parts, hold fewer directions, or remove what contradicts it."
    )


def joined_parts(effects: Effects, term: FrameRows) -> str:
    """The parts that a term holds together, in words; its hidden parts belong to their carriers."""
    parts, names = effects.tree.parts, []
    for i, _ in term.sides:
        while i >= 0 and parts[i].auxiliary:
            i = parts[i].parent
        names.append(repr(parts[i].name) if i >= 0 else "the world")
    both = names if len(names) > 1 else ["the world", *names]
    return " and ".join(both)
