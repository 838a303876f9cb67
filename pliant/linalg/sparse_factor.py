"""Kernels that factorise a sparse matrix in the fronts of `elimination` and solve with the factor.

The factor is L D U without row exchanges, U = L^T for a symmetric matrix. Entries are real or complex.
Each front holds its pivot rows in `upper` (rows of D U) and `lower` (columns of L D), which are one
array if the matrix is symmetric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant._numba import inner, kernel
from pliant.lie.tuples import Array, Ints

Shorts = NDArray[np.uint32]
"""Numbers of entries. They are read in every pass, and half as long stay in the cache twice as well."""


_REFINEMENTS = 7
"""Solutions with a factor, at most, that improve each other."""
EXACT = 1e-12
"""Part of the terms of a row that a solution may leave: as if entries were off by as much."""
ENOUGH = 1e-10
"""The same, and part of the right-hand side, where a further Newton iteration takes what is left."""
_SURE = 1e-4
"""The last improvement is not looked at if one like that before leaves less than this part of it."""


class Entries(NamedTuple):
    """Where the entries of a matrix stand: by rows, as its `data`, and in the factor.

    start : (n + 1,) row i is data[start[i]:start[i + 1]]. column : of each entry; in a symmetric matrix
    i or more. diagonal : (n,) which of them are on the diagonal. place : (n,) when each unknown is
    eliminated. front : those of front k are data[source[front[k]:front[k + 1]]] and stand at the places
    `into` of `Factor.entries`.
    """

    start: Ints
    column: Shorts
    diagonal: Shorts
    place: Ints
    front: Ints
    source: Shorts
    into: Shorts


class Factor(NamedTuple):
    """Entries of a factor and the workspace of a factorisation.

    entries : `upper` (pivot rows of all fronts) and `lower` (pivot columns), which is the same array if
    the matrix is symmetric. inverse : (n,) one over the pivots. size : (n,) all that was added to or
    taken from each pivot. left : what fronts hand on. workspace : (3, n), of the type of the entries.
    sizes : (2, n). floor : (n,) part of its size below which a pivot is lost. substitute : (n,) the
    part of it that replaces a lost pivot.
    """

    entries: Array
    upper: Array
    lower: Array
    inverse: Array
    size: Array
    left: Array
    workspace: Array
    sizes: Array
    floor: Array
    substitute: Array


@inner
def _set_sizes(entries, data, factor):  # type: ignore[no-untyped-def]
    """Begin the sizes of pivots with the diagonal of a matrix; returns the largest of it."""
    scale = 0.0
    for i in range(len(entries.place)):
        size = abs(data[entries.diagonal[i]])
        factor.size[entries.place[i]] = size
        scale = max(scale, size)
    return scale


@inner
def _load(entries, data, k, factor):  # type: ignore[no-untyped-def]
    """Put the entries of a matrix that belong to front k there."""
    for i in range(entries.front[k], entries.front[k + 1]):
        factor.entries[entries.into[i]] = data[entries.source[i]]


@kernel
def factorise(entries, data, fronts, factor, symmetric, flags):  # type: ignore[no-untyped-def]
    """Factorise a matrix and write to flags[:2] the numbers of negative and of lost pivots.

    Lost pivots were replaced. The first number is -1 if the matrix is singular.
    """
    scale = _set_sizes(entries, data, factor)
    negative = lost = 0
    taken = factor.sizes[0]
    for k in range(len(fronts.first) - 1):
        at, start, panel = fronts.first[k], fronts.start[k], fronts.panel[k]
        s, r = fronts.first[k + 1] - at, fronts.start[k + 1] - start
        upper, lower = factor.upper[panel:], factor.lower[panel:]
        left, inverse = factor.left[fronts.left[k] :], factor.inverse[at : at + s]
        _clear(left, r * r)
        _clear(upper, s * (s + r))
        if not symmetric:
            _clear(lower, s * (s + r))
        _load(entries, data, k, factor)
        for i in range(fronts.child[k], fronts.child[k + 1]):
            c = fronts.children[i]
            local = fronts.local[fronts.start[c] : fronts.start[c + 1]]
            _collect(factor.left[fronts.left[c] :], local, s, r, upper, lower, left, symmetric)
        _clear(taken, s + r)
        for j in range(s):
            _reduce_pivot_row(upper, lower, s + r, inverse[:j], symmetric)
            pivot, size = upper[j * (s + r) + j], factor.size[at + j] + taken[j]
            if not abs(pivot) > factor.floor[at + j] * size:
                pivot = _substitute(factor.substitute[at + j], size, scale)
                lost += 1
                if not abs(pivot) > 0.0:
                    flags[0], flags[1] = -1, lost
                    return
            negative += pivot.real < 0.0
            inverse[j] = 1.0 / pivot
            _add_sizes(upper, lower, j * (s + r), s + r, inverse[j], taken)
        _hand_on(upper, lower, s, r, inverse, left, symmetric)
        for a in range(r):
            factor.size[fronts.rest[start + a]] += taken[s + a]
    flags[0], flags[1] = negative, lost


@inner
def _substitute(part, size, scale):  # type: ignore[no-untyped-def]
    """What replaces a lost pivot: a part of its size, or of the matrix's if there is nothing of it.

    The pivots of fields and multipliers (part < 0) are compliances: inverse to stiffness.
    """
    if size == 0.0 and scale > 0.0:
        size = scale if part > 0.0 else 1.0 / scale
    return part * size


@inner
def _clear(x, count):  # type: ignore[no-untyped-def]
    for a in range(count):
        x[a] = 0.0


@inner
def _collect(given, local, s, r, upper, lower, left, symmetric):  # type: ignore[no-untyped-def]
    """Add what a child hands on to its parent front of s pivot rows and r others."""
    n = len(local)
    own = 0
    while own < n and local[own] < s:
        own += 1
    for a in range(n):
        row = given[a * n : (a + 1) * n]
        begin = a if a < own or symmetric else own
        at = local[a] * (s + r) if a < own else (local[a] - s) * r - s
        target = upper if a < own else left
        for b in range(begin, n):
            target[at + local[b]] += row[b]
        if not symmetric:
            for b in range(min(a, own)):
                lower[local[b] * (s + r) + local[a]] += row[b]


@inner
def _reduce_pivot_row(upper, lower, m, inverse, symmetric):  # type: ignore[no-untyped-def]
    """Take the pivot rows before it off the next pivot row of a front with m rows."""
    j = len(inverse)
    _reduce(upper[j * m + j : (j + 1) * m], j, j, upper, lower, m, inverse)
    if not symmetric:
        _reduce(lower[j * m + j + 1 : (j + 1) * m], j, j + 1, lower, upper, m, inverse)


@inner
def _hand_on(upper, lower, s, r, inverse, left, symmetric):  # type: ignore[no-untyped-def]
    """Take the pivot rows of a front off its other rows, two by two."""
    for a in range(0, r - 1, 2):
        start = a if symmetric else 0
        row, next_row = left[a * r + start : (a + 1) * r], left[(a + 1) * r + start : (a + 2) * r]
        _reduce_two(row, next_row, s + a, s + start, upper, lower, s + r, inverse)
    if r % 2:
        start = r - 1 if symmetric else 0
        row = left[(r - 1) * r + start : r * r]
        _reduce(row, s + r - 1, s + start, upper, lower, s + r, inverse)


@inner
def _add_sizes(upper, lower, at, m, inverse, sizes):  # type: ignore[no-untyped-def]
    """Add to `sizes` what a pivot row takes off the diagonals of a front, all terms positive."""
    u, v = upper[at : at + m], lower[at : at + m]
    for a in range(len(u)):
        sizes[a] += abs(u[a] * v[a] * inverse)


@inner
def _reduce(row, a, start, upper, lower, m, inverse):  # type: ignore[no-untyped-def]
    """Take pivot rows, from column `start` on, off a row that meets them in column a."""
    count = len(inverse)
    for j in range(0, count - 2, 3):
        at = j * m
        e = lower[at + a] * inverse[j]
        f = lower[at + m + a] * inverse[j + 1]
        g = lower[at + 2 * m + a] * inverse[j + 2]
        u, v, w = upper[at + start :], upper[at + m + start :], upper[at + 2 * m + start :]
        for b in range(len(row)):
            row[b] -= e * u[b] + f * v[b] + g * w[b]
    for j in range(count - count % 3, count):
        e, u = lower[j * m + a] * inverse[j], upper[j * m + start :]
        for b in range(len(row)):
            row[b] -= e * u[b]


@inner
def _reduce_two(row, next_row, a, start, upper, lower, m, inverse):  # type: ignore[no-untyped-def]
    """`_reduce` of a row and of the next one."""
    count = len(inverse)
    for j in range(0, count - 2, 3):
        at = j * m
        e, h = lower[at + a] * inverse[j], lower[at + a + 1] * inverse[j]
        f, i = lower[at + m + a] * inverse[j + 1], lower[at + m + a + 1] * inverse[j + 1]
        g, k = lower[at + 2 * m + a] * inverse[j + 2], lower[at + 2 * m + a + 1] * inverse[j + 2]
        u, v, w = upper[at + start :], upper[at + m + start :], upper[at + 2 * m + start :]
        for b in range(len(row)):
            row[b] -= e * u[b] + f * v[b] + g * w[b]
            next_row[b] -= h * u[b] + i * v[b] + k * w[b]
    for j in range(count - count % 3, count):
        e, h = lower[j * m + a] * inverse[j], lower[j * m + a + 1] * inverse[j]
        u = upper[j * m + start :]
        for b in range(len(row)):
            row[b] -= e * u[b]
            next_row[b] -= h * u[b]


@kernel
def solve(entries, data, fronts, factor, symmetric, enough, b, x, flags):  # type: ignore[no-untyped-def]
    """Solve A x = b with the factor and improve x while the gap b - A x at least halves.

    Lost pivots and rounding spoil the factor, not A, whose entries are `data`. enough : part of b and
    of the terms of each row that may be left by a factor without lost pivots, EXACT at least.
    flags[2] = 1 if the solution is too rough.
    """
    gap, terms = factor.workspace[1], factor.sizes[1]
    n = len(b)
    size = 0.0
    for i in range(n):
        x[i], gap[i] = 0.0, b[i]
        size += abs(b[i]) ** 2
    size = np.sqrt(size)
    least, backward = np.inf, np.inf
    for _ in range(_REFINEMENTS):
        _correct(entries, fronts, factor, x)
        norm, worst = _gap(entries, data, symmetric, b, x, gap, terms)
        if not norm < least:
            if least < np.inf:
                _add_correction(entries, factor, -1.0, x)
            else:
                least, backward = norm, worst
            break
        rate = norm / (size if least == np.inf else least)
        least, backward = norm, worst
        if worst < EXACT or not rate < 0.5:
            break
        if flags[1] == 0 and worst < enough and norm < enough * size:
            break
        if flags[1] == 0 and rate * worst < _SURE * EXACT:
            _correct(entries, fronts, factor, x)
            break
    fine = least <= 1e-4 * size or (backward < EXACT and flags[1] == 0)
    flags[2] = 0 if fine else 1


@inner
def _correct(entries, fronts, factor, x):  # type: ignore[no-untyped-def]
    """Add to x (n,) the solution with the factor for the gap in the workspace, which keeps it."""
    gap, correction = factor.workspace[1], factor.workspace[2]
    for i in range(len(x)):
        correction[entries.place[i]] = gap[i]
    _solve_once(fronts, factor, correction)
    _add_correction(entries, factor, 1.0, x)


@inner
def _add_correction(entries, factor, sign, x):  # type: ignore[no-untyped-def]
    """Add or take off the last correction."""
    correction = factor.workspace[2]
    for i in range(len(x)):
        x[i] += sign * correction[entries.place[i]]


@inner
def _gap(entries, data, symmetric, b, x, gap, terms):  # type: ignore[no-untyped-def]
    """gap = b - A x and terms = |b| + |A| |x|; returns the norm of the gap and its largest part."""
    n = len(b)
    for i in range(n):
        gap[i], terms[i] = b[i], abs(b[i])
    for i in range(n):
        at, end = entries.start[i], entries.start[i + 1]
        if symmetric:
            _subtract_both(entries.column[at:end], data[at:end], i, x, gap, terms)
        else:
            _subtract_row(entries.column[at:end], data[at:end], i, x, gap, terms)
    norm = worst = 0.0
    for i in range(n):
        norm += abs(gap[i]) ** 2
        worst = max(worst, abs(gap[i]) / max(terms[i], 1e-300))
    return np.sqrt(norm), worst


@inner
def _subtract_row(column, row, i, x, gap, terms):  # type: ignore[no-untyped-def]
    """Take row i of a matrix times x off the gap."""
    total = size = 0.0
    for k in range(len(row)):
        y = row[k] * x[column[k]]
        total += y
        size += abs(y)
    gap[i] -= total
    terms[i] += size


@inner
def _subtract_both(column, row, i, x, gap, terms):  # type: ignore[no-untyped-def]
    """Take row i of a symmetric matrix, upper half, and its mirror image times x off the gap."""
    total = size = 0.0
    mine = x[i]
    for k in range(len(row)):
        j = column[k]
        y = row[k] * x[j]
        total += y
        size += abs(y)
        if j != i:
            z = row[k] * mine
            gap[j] -= z
            terms[j] += abs(z)
    gap[i] -= total
    terms[i] += size


@inner
def _solve_once(fronts, factor, x):  # type: ignore[no-untyped-def]
    """Solve with the factor, in place; x (n,) stands in the order of elimination."""
    row = factor.workspace[0]
    for k in range(len(fronts.first) - 1):
        at, panel = fronts.first[k], fronts.panel[k]
        rest = fronts.rest[fronts.start[k] : fronts.start[k + 1]]
        s = fronts.first[k + 1] - at
        _forward(factor.lower[panel:], factor.inverse[at : at + s], rest, x[at : at + s], x, row)
    for k in range(len(fronts.first) - 2, -1, -1):
        at, panel = fronts.first[k], fronts.panel[k]
        rest = fronts.rest[fronts.start[k] : fronts.start[k + 1]]
        s = fronts.first[k + 1] - at
        _backward(factor.upper[panel:], factor.inverse[at : at + s], rest, x[at : at + s], x, row)


@inner
def _forward(lower, inverse, rest, own, x, row):  # type: ignore[no-untyped-def]
    """Take the unknowns `own` of a front off its other rows of the right-hand side x."""
    s, r = len(own), len(rest)
    _clear(row, r)
    for j in range(s):
        y = own[j] * inverse[j]
        at = j * (s + r)
        for a in range(j + 1, s):
            own[a] -= lower[at + a] * y
        column = lower[at + s :]
        for b in range(r):
            row[b] += column[b] * y
    for b in range(r):
        x[rest[b]] -= row[b]


@inner
def _backward(upper, inverse, rest, own, x, row):  # type: ignore[no-untyped-def]
    """Solve for the unknowns `own` of a front, the others being known."""
    s, r = len(own), len(rest)
    for b in range(r):
        row[b] = x[rest[b]]
    for j in range(s - 1, -1, -1):
        y = own[j]
        at = j * (s + r)
        pivot_row = upper[at + s :]
        for b in range(r):
            y -= pivot_row[b] * row[b]
        for a in range(j + 1, s):
            y -= upper[at + a] * own[a]
        own[j] = y * inverse[j]
