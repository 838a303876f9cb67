"""Redundant constraints: rows that hold what others, or the joints of the tree, hold already.

Rows A x of hard constraints are redundant where y.A = 0 for some y. They are found before anything is
solved. What a constraint shares with no other (coordinates of its own rods, its own hidden joint) is
eliminated first, by a small singular value decomposition for each constraint: a rod that ends in one
loop leaves nothing of its rows. Only what is left of rigid linkages is compared, in groups that share
coordinates; a pivoted QR decomposition of the weights y chooses the rows to be named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from pliant.model import DescriptionError
from pliant.physics.effects import Effects
from pliant.physics.frame_rows import FrameRows
from pliant.rods.contract import Array, Ints
from pliant.solve.closure import CLOSED, close_by_joints, held_rows, joined_parts, open_gap
from pliant.tree.state import State

_DEPENDENT = 1e-8
"""Part of its size that is left of a row that depends on others."""
_INVOLVED = 1e-6
"""Part of the largest weight from which on a row takes part in a dependence."""
_ASIDE = 0.05
"""How far joints are turned to see whether rows depend on each other there too, rad."""

Row = tuple[FrameRows, int]


@dataclass
class Redundancy:
    """Rows that could be left out, and the rows on which they depend.

    null (rows, k) : weights y of all rows with y.A = 0, orthonormal, rows as `numbers` counts them.
    """

    redundant: list[Row]
    others: list[Row]
    null: Array
    numbers: Ints

    def __len__(self) -> int:
        return len(self.redundant)


@dataclass
class _Block:
    """What is left of the rows of one constraint: N^T A in shared columns, and N (r, k)."""

    term: FrameRows
    left: Array
    columns: Ints
    rows: Array


def find_redundancy(effects: Effects, state: State) -> Redundancy:
    """The redundant rows at one configuration; rows of planar rods that cannot move count as none."""
    terms = held_rows(effects)
    blocks = [block for block in _own_eliminated(effects, state, terms) if block.left.size]
    starts = dict(zip(terms, np.cumsum([0, *(len(t.rows) for t in terms)]), strict=False))
    count = sum(len(term.rows) for term in terms)
    columns = [np.zeros((count, 0))]
    for group in _groups(blocks):
        Y = _null_of(group)
        whole = np.zeros((count, Y.shape[1]))
        at = 0
        for block in group:
            k, r = block.left.shape[1], len(block.term.rows)
            first = starts[block.term]
            whole[first : first + r] += block.left @ Y[at : at + k]
            at += k
        columns.append(whole)
    null = np.concatenate(columns, axis=1)
    listed = [(term, row) for term in terms for row in range(len(term.rows))]
    numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(term.rows for term in terms)])
    if not null.shape[1]:
        return Redundancy([], [], null, numbers)
    null = np.linalg.qr(null)[0]
    chosen = qr(null.T, mode="r", pivoting=True)[1][: null.shape[1]]
    size = np.abs(null).max(axis=1)
    involved = np.flatnonzero(size > _INVOLVED * size.max())
    others = [listed[i] for i in involved if i not in set(chosen)]
    return Redundancy([listed[i] for i in sorted(chosen)], others, null, numbers)


def _own_eliminated(effects: Effects, state: State, terms: list[FrameRows]) -> Iterator[_Block]:
    """What every constraint leaves when its own coordinates have done what they can."""
    tree = effects.tree
    found = []
    users, sizes = np.zeros(tree.total, dtype=np.int64), np.zeros(tree.total)
    for term in terms:
        columns, A = term.columns, term.row_weights[:, None] * term.jacobian(state)
        free = (columns < tree.size) & (np.abs(A).max(axis=0, initial=0.0) > 0.0)
        A, columns = A[:, free], columns[free]
        users[columns] += 1
        sizes[columns] = np.maximum(sizes[columns], np.abs(A).max(axis=0, initial=0.0))
        found.append((term, A, columns))
    for term, slopes, columns in found:
        A, own = slopes / sizes[columns], users[columns] == 1
        left = _left_null(A[:, own])
        planar = any(tree.parts[i].capabilities.planar for i, _ in term.sides)
        if planar:
            moving = np.abs(A).max(axis=1, initial=0.0) > 0.0
            left = left[:, np.abs(left[~moving]).max(axis=0, initial=0.0) < 0.5]
        yield _Block(term, left, columns[~own], left.T @ A[:, ~own])


def _left_null(P: Array) -> Array:
    """Orthonormal directions (r, k) with N^T P = 0."""
    if not P.shape[1]:
        return np.eye(len(P))
    U, s, _ = np.linalg.svd(P, full_matrices=True)
    rank = int(np.sum(s > _DEPENDENT * s[0])) if s[0] > 0.0 else 0
    return np.asarray(U[:, rank:])


def _groups(blocks: list[_Block]) -> list[list[_Block]]:
    """Blocks that share columns, directly or through others."""
    owner: dict[int, int] = {}
    parent = list(range(len(blocks)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, block in enumerate(blocks):
        for column in block.columns.tolist():
            parent[root(i)] = root(owner.setdefault(column, i))
    groups: dict[int, list[_Block]] = {}
    for i, block in enumerate(blocks):
        groups.setdefault(root(i), []).append(block)
    return list(groups.values())


def _null_of(group: list[_Block]) -> Array:
    """Weights (k, d) of the rows of a group that add up to nothing."""
    columns = np.unique(np.concatenate([block.columns for block in group]))
    R = np.zeros((sum(len(block.rows) for block in group), len(columns)))
    at = 0
    for block in group:
        R[at : at + len(block.rows), np.searchsorted(columns, block.columns)] = block.rows
        at += len(block.rows)
    sizes = np.linalg.norm(R, axis=1)
    return _left_null(R) if sizes.max(initial=0.0) > _DEPENDENT else np.eye(len(R))


# -- words ---------------------------------------------------------------------------------------


def redundancy_at_rest(effects: Effects) -> str:
    """A sentence about redundant rows of the robot as it begins, "" if there are none.

    What holds in this configuration only is told of rigid linkages. A straight rod that cannot stretch
    has such rows, too: they end as it bends.
    """
    if not held_rows(effects):
        return ""
    tree = effects.tree
    q = close_by_joints(effects, tree.q_rest)
    state = State(tree).place(q)
    _require_motion(effects)
    here = find_redundancy(effects, state)
    if not here:
        return ""
    aside = _aside(effects, q)
    lasting = here if aside is None else find_redundancy(effects, aside)
    if _has_rods(effects):
        here = lasting
    far = _contradiction(effects, state, lasting)
    if not here:
        return ""
    if far > CLOSED:
        return (
            f"{_named(effects, here)} They contradict each other by {far:.3g} (metres, radians) in the "
            "undeformed robot: no configuration meets them all, unless inputs bring them together."
        )
    return _sentence(effects, here, len(lasting))


def _require_motion(effects: Effects) -> None:
    """Refuse constraints between places of one rigid piece, which have nothing to hold."""
    for term in held_rows(effects):
        pieces = {(i, float(effects.tree.parts[i].frames_s[k])) for i, k in term.sides}
        if len(term.sides) > 1 and len(pieces) == 1:
            raise DescriptionError(
                term.label,
                "places",
                joined_parts(effects, term),
                "on two pieces that can move against each other, but both are on one rigid piece",
                "remove it, or choose another place for one of its ends",
            )


def _has_rods(effects: Effects) -> bool:
    return any(part.rod is not None for part in effects.tree.parts)


def _contradiction(effects: Effects, state: State, here: Redundancy) -> float:
    """What the gaps of rows that depend on each other lack to agree, metres or radians."""
    terms = held_rows(effects)
    weights = np.concatenate([term.row_weights for term in terms])
    gaps = np.concatenate([term.gaps(state) for term in terms])
    return float(np.abs((here.null @ (here.null.T @ (weights * gaps))) / weights).max(initial=0.0))


def _aside(effects: Effects, q: Array) -> State | None:
    """The robot displaced a little with its loops closed again; None if a linkage cannot move."""
    tree, soft = effects.tree, _has_rods(effects)
    x = np.zeros(tree.total)
    free = [part.joint_index for part in tree.parts]
    free += [part.x_index for part in tree.parts] if soft else []
    numbers = np.concatenate(free)
    numbers = numbers[numbers < tree.size]
    x[numbers] = _ASIDE * np.cos(1.0 + np.arange(len(numbers)))
    if soft:
        x *= min(1.0, tree.length)
    moved = close_by_joints(
        effects, tree.moved(State(tree).place(q), x, newton=False), bending=soft
    )
    if soft:
        return State(tree).place(moved)
    far = float(np.abs(moved - q).max(initial=0.0))
    closed = open_gap(effects, moved) <= CLOSED and far > 1e-3 * _ASIDE
    return State(tree).place(moved) if closed else None


def without_self_stress(effects: Effects, state: State, z: Array) -> Array:
    """Multipliers (total,) that exert the same on the robot, without what redundant rows exert on
    each other: the smallest ones, moments and forces times the length of the robot alike.
    """
    if not effects.over_constrained:
        return z
    here = find_redundancy(effects, state)
    weights = np.concatenate([term.row_weights for term in held_rows(effects)])
    out, plain = z.copy(), z[here.numbers] / weights
    out[here.numbers] = weights * (plain - here.null @ (here.null.T @ plain))
    return out


def _named(effects: Effects, here: Redundancy) -> str:
    """What is redundant, and on what it depends."""
    by_term: dict[FrameRows, list[str]] = {}
    for term, row in here.redundant:
        by_term.setdefault(term, []).append(term.row_name(row))
    listed = "; ".join(
        f"{term.label} between {joined_parts(effects, term)} in {', '.join(rows)}"
        for term, rows in by_term.items()
    )
    others = list(dict.fromkeys(term.label for term, _ in here.others if term not in by_term))
    holding = f"{', '.join(others)} and the joints" if others else "the other joints of the loop"
    return (
        f"{len(here)} redundant constraint row{'s' * (len(here) > 1)}: {listed}. "
        f"These directions are held by {holding} already."
    )


def _sentence(effects: Effects, here: Redundancy, lasting: int) -> str:
    """What is redundant, and what that means."""
    text = _named(effects, here)
    if lasting < len(here):
        return (
            f"{text} {'This is so' if not lasting else 'Part of this is so'} in this configuration "
            "only, a singular one, where the robot may go on in more than one way."
        )
    return (
        f"{text} A motion that converges is right, but reactions of these constraints are not unique: "
        "those without self-stress are given. Choose a joint with more freedom, such as Spherical() or "
        "Cylindrical(), or a soft part in the loop, to make them so."
    )
