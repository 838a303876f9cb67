"""The order in which a sparse matrix is eliminated, and the dense fronts in which that happens.

The pattern of a tangent is known before its numbers. Unknowns with the same neighbours (the six of a
pose, the three forces of a field) are one group; groups are eliminated by minimum degree, which leaves
a tree almost without fill. Eliminating a group couples its remaining neighbours, so that they are the
rows of its *front*, a small dense matrix that hands what is left of it to the front of the neighbour
eliminated next (multifrontal method, Duff and Reid 1983). `sparse_factor` fills in the numbers.

Two rules keep pivots away from zero. Force fields, which carry the stiffness of shear and stretch, are
eliminated just before coordinates that they meet, each before others. The multipliers of a constraint
come after all coordinates that they hold, or after some of them that can meet its rows alone: those of
the rod at one side. So many rods under one plate are eliminated one by one, and the plate after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from pliant.lie.tuples import Ints

Enough = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Multipliers, and coordinates after which they can be eliminated."""

COORDINATE, FIELD, MULTIPLIER = 0, 1, 2
"""Kinds of unknowns."""

_FRONT, _ENTRY = 400.0, 3.0
"""Cost of a front, and of an entry that it hands on, in multiplications of its elimination."""


class Fronts(NamedTuple):
    """Fronts of a matrix in the order of elimination: children come before their parent.

    first : front k eliminates the places from first[k] to first[k + 1]. start, rest : its other rows
    are rest[start[k]:start[k + 1]], ascending. local : their numbers among the rows of the parent
    front. child, children : its children are children[child[k]:child[k + 1]]. panel : where its pivot
    rows begin among the entries of the factor. left : where what it hands on begins in the workspace.
    """

    first: Ints
    start: Ints
    rest: Ints
    local: Ints
    child: Ints
    children: Ints
    panel: Ints
    left: Ints


class Elimination(NamedTuple):
    """Symbolic factorisation of a pattern.

    place : (n,) when each unknown is eliminated. entries : of the factor's upper triangle, with the
    zeros that dense fronts keep. workspace : entries that fronts hand on, at most at a time. products :
    multiplications of a symmetric factorisation.
    """

    place: Ints
    fronts: Fronts
    entries: int
    workspace: int
    products: int


def analyse(indptr: Ints, indices: Ints, kind: Ints, enough: Enough = ()) -> Elimination:
    """Order the unknowns of a symmetric pattern (compressed rows, with the diagonal) and build fronts.

    kind : (n,) COORDINATE, FIELD or MULTIPLIER. enough : multipliers, and coordinates after which they
    can be eliminated; there may be several such sets for the same multipliers.
    """
    members, neighbours, kinds = _groups(indptr, indices, kind)
    _pair_fields(members, neighbours, kinds)
    sizes = [len(group) for group in members]
    order, coupled = _minimum_degree(neighbours, sizes, kinds, _sufficient(members, enough))
    return _fronts(len(kind), members, sizes, order, coupled)


def _groups(
    indptr: Ints, indices: Ints, kind: Ints
) -> tuple[list[list[int]], list[set[int]], list[int]]:
    """Unknowns of the same kind and the same neighbours, the neighbours of each group, its kind."""
    number: dict[tuple[int, bytes], int] = {}
    group = np.empty(len(kind), dtype=np.int64)
    members: list[list[int]] = []
    bounds, kinds = indptr.tolist(), kind.tolist()
    for i in range(len(kind)):
        key = (kinds[i], indices[bounds[i] : bounds[i + 1]].tobytes())
        at = group[i] = number.setdefault(key, len(members))
        if at == len(members):
            members.append([])
        members[at].append(i)
    neighbours = []
    for at, own in enumerate(members):
        near = set(group[indices[bounds[own[0]] : bounds[own[0] + 1]]].tolist())
        near.discard(at)
        neighbours.append(near)
    return members, neighbours, [kinds[own[0]] for own in members]


def _sufficient(members: list[list[int]], enough: Enough) -> dict[int, list[set[int]]]:
    """By group of multipliers, sets of groups after any one of which it can be eliminated."""
    group = {i: g for g, own in enumerate(members) for i in own}
    found: dict[int, list[set[int]]] = {}
    for rows, columns in enough:
        needed = {group[i] for i in columns}
        for g in {group[i] for i in rows}:
            found.setdefault(g, []).append(set(needed))
    return found


def _pair_fields(members: list[list[int]], neighbours: list[set[int]], kinds: list[int]) -> None:
    """Let each group of fields join a group of coordinates of its own, the next one that it meets.

    Fields stand first in the joint group. What is left of a group of fields is empty.
    """
    taken: set[int] = set()
    for field in [v for v, kind in enumerate(kinds) if kind == FIELD]:
        near = [u for u in neighbours[field] if kinds[u] == COORDINATE]
        near.sort(key=lambda u: (u in taken, u < field, u))
        if not near:
            continue
        host = near[0]
        taken.add(host)
        members[host] = members[field] + members[host]
        members[field] = []
        for u in neighbours[field]:
            neighbours[u].discard(field)
        others = neighbours[field] - {host}
        neighbours[field] = set()
        neighbours[host] |= others
        for u in others:
            neighbours[u].add(host)


def _minimum_degree(
    neighbours: list[set[int]],
    sizes: list[int],
    kinds: list[int],
    enough: dict[int, list[set[int]]],
) -> tuple[list[int], list[set[int]]]:
    """Order of the groups, and for each the groups that it is coupled with when eliminated.

    Multipliers wait for all coordinates that they meet, or for one of the sets that are enough.
    `neighbours` is used up: its sets become those of the eliminated graph.
    """
    held = [[u for u in near if kinds[u] == MULTIPLIER] for near in neighbours]
    waits = [0] * len(sizes)
    for v, near in enumerate(neighbours):
        if kinds[v] == MULTIPLIER:
            waits[v] = sum(kinds[u] != MULTIPLIER for u in near)
    degree = [sum(sizes[u] for u in near) for near in neighbours]
    ready = [(degree[v], v) for v, size in enumerate(sizes) if size and not waits[v]]
    heapify(ready)
    order: list[int] = []
    done = [False] * len(sizes)
    while ready:
        counted, v = heappop(ready)
        if done[v] or counted != degree[v]:
            continue
        done[v] = True
        order.append(v)
        if kinds[v] != MULTIPLIER:
            for u in held[v]:
                waits[u] -= waits[u] > 0
                for needed in enough.get(u, ()):
                    needed.discard(v)
                    if not needed:
                        waits[u] = 0
        clique = neighbours[v]
        for u in clique:
            near = neighbours[u]
            near.discard(v)
            new = clique - near
            new.discard(u)
            near |= new
            degree[u] += sum(sizes[w] for w in new) - sizes[v]
            if not waits[u]:
                heappush(ready, (degree[u], u))
    return order, neighbours


def _fronts(
    n: int, members: list[list[int]], sizes: list[int], order: list[int], coupled: list[set[int]]
) -> Elimination:
    """Number fronts from the leaves to the roots and lay out their entries."""
    pivots, parent = _merged(sizes, order, coupled)
    kids: dict[int, list[int]] = {-1: []}
    for v in pivots:
        kids.setdefault(v, [])
        kids.setdefault(parent[v], []).append(v)
    numbered = _post_order(kids)
    number = {v: k for k, v in enumerate(numbered)}
    own = [[i for g in pivots[v] for i in members[g]] for v in numbered]
    first = np.cumsum([0, *map(len, own)])
    place = np.empty(n, dtype=np.int64)
    place[[i for group in own for i in group]] = np.arange(n)
    rests = [np.sort(place[[i for g in coupled[v] for i in members[g]]]) for v in numbered]
    local = []
    for v, rest in zip(numbered, rests, strict=True):
        k = number.get(parent[v], -1)
        rows = np.concatenate([np.arange(first[k], first[k + 1]), rests[k]])
        local.append(np.searchsorted(rows, rest))
    children = [[number[c] for c in kids[v]] for v in numbered]
    s, r = np.diff(first), np.array([len(rest) for rest in rests], dtype=np.int64)
    left, workspace = _workspace(children, r)
    fronts = Fronts(
        first,
        np.cumsum([0, *r]),
        np.concatenate([*rests, np.zeros(0, dtype=np.int64)]),
        np.concatenate([*local, np.zeros(0, dtype=np.int64)]),
        np.cumsum([0, *map(len, children)]),
        np.array([c for group in children for c in group], dtype=np.int64),
        np.cumsum([0, *(s * (s + r))]),
        left,
    )
    return Elimination(
        place, fronts, int(fronts.panel[-1]), workspace, sum(map(_products, s.tolist(), r.tolist()))
    )


def _products(s: int, r: int) -> int:
    """Multiplications that eliminate s of s + r rows of a symmetric matrix."""
    m = s + r
    return (m * (m + 1) * (m + 2) - r * (r + 1) * (r + 2)) // 6


def _merged(
    sizes: list[int], order: list[int], coupled: list[set[int]]
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """Pivot groups of each front, by its last group, and the last group of its parent front.

    A front is merged with its parent where the zeros so stored cost less than handing on its entries.
    """
    when = {v: k for k, v in enumerate(order)}
    many = {v: sum(sizes[u] for u in coupled[v]) for v in order}
    pivots = {v: [v] for v in order}
    own = dict(enumerate(sizes))
    parent = {v: min(coupled[v], key=when.__getitem__, default=-1) for v in order}
    joined: dict[int, int] = {}
    for v in order:
        p = parent[v]
        if p < 0:
            continue
        apart = _products(own[v], many[v]) + _products(own[p], many[p])
        together = _products(own[v] + own[p], many[p])
        if together <= apart + _FRONT + _ENTRY * 0.5 * many[v] ** 2:
            pivots[p] = pivots.pop(v) + pivots[p]
            own[p] += own[v]
            joined[v] = p
    for v in order[::-1]:
        if v in joined:
            joined[v] = joined.get(joined[v], joined[v])
    return pivots, {v: joined.get(parent[v], parent[v]) for v in pivots}


def _post_order(kids: dict[int, list[int]]) -> list[int]:
    """Fronts such that children stand before their parent, and what hangs on a front in one piece."""
    out: list[int] = []
    waiting = kids[-1][::-1]
    while waiting:
        v = waiting.pop()
        out.append(v)
        waiting.extend(kids[v])
    return out[::-1]


def _workspace(children: list[list[int]], r: Ints) -> tuple[Ints, int]:
    """Where each front keeps what it hands on, and the space that takes.

    Two stacks are enough, one for fronts of even height and one for odd: a front grows on the one while
    its children lie on top of the other.
    """
    depth = np.zeros(len(r), dtype=np.int64)
    for k in range(len(r) - 1, -1, -1):
        depth[children[k]] = depth[k] + 1
    at = np.zeros(len(r), dtype=np.int64)
    top, most = [0, 0], [0, 0]
    for k in range(len(r)):
        side = depth[k] % 2
        at[k] = top[side]
        top[side] += int(r[k]) ** 2
        most[side] = max(most[side], top[side])
        top[1 - side] -= sum(int(r[c]) ** 2 for c in children[k])
    return at + (depth % 2) * most[0], sum(most)
