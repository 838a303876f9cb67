"""Newton's method for the equations of collocation: with fresh tangents, or with one that is kept."""

from __future__ import annotations

import numpy as np

from pliant.bvp.collocation.system import System
from pliant.bvp.contract import Record, RejectedError
from pliant.bvp.load_continuation import LARGEST_TURN
from pliant.lie.tuples import Array


def bent(system: System, d: Array) -> float:
    """Radians by which a correction d of the unknowns bends the rods in all."""
    grid = system.grid
    total = 0.0
    for k, (part, order) in enumerate(zip(grid.rows, grid.orders, strict=True)):
        first = int(grid.layout.moment_at[k])
        moment = d[first : first + 3 * order.moment].reshape(-1, 3)
        size = np.abs(moment).max(axis=0) @ grid.table[part, :3].mean(axis=0)
        total += float(size) * grid.chain.pieces[k].length
    return total + float(np.abs(d[: grid.base_unknowns]).sum())


def converge_nearby(
    system: System, x: Array, offset: Array, tolerance: float, record: Record
) -> Array:
    """Newton's method with a fresh tangent each time, to r(x) = offset, on the branch of x.

    Corrections must become smaller; what does not look like the neighbourhood of a solution is
    rejected, for a smaller load step.
    """
    r = system.evaluate(x) - offset
    size = first = system.norm(r)
    last = np.inf
    record.history.clear()
    for count in range(30):
        if size < tolerance and count:
            return x
        if not np.isfinite(size) or size > 1e6 * max(first, 1.0):
            raise RejectedError("the mismatch of internal loads grows")
        if not system.factorise(x):
            raise RejectedError("the tangent is singular")
        d = system.correction(r)
        bend = bent(system, d)
        if count and bend > 0.75 * last and bend > 0.05:
            raise RejectedError("the Newton corrections do not get smaller")
        if bend > 2.0 * LARGEST_TURN:
            raise RejectedError("the rods turn too far in one load step")
        last = bend
        x = x + d
        r = system.evaluate(x) - offset
        before, size = size, system.norm(r)
        record.iterations += 1
        record.residual = size
        record.history.append(size)
        if size > 0.3 * before and size < 1e3 * tolerance:
            return x  # as near as rounding allows
    raise RejectedError("Newton's method needs too many iterations")


def converge(system: System, guesses: list[Array], tolerance: float, record: Record) -> Array:
    """Newton's method from the best of some guesses, with a tangent that is kept while it serves.

    Returns the solution; raises RejectedError. Steps that make the mismatch larger are shortened.
    """
    found = [(system.evaluate(x), x) for x in guesses]
    sizes = [system.norm(r) for r, _ in found]
    best = int(np.argmin(sizes))
    (r, x), size = found[best], sizes[best]
    if best != len(guesses) - 1 or not system.factorised:
        system.evaluate(x)
    fresh = False
    record.history.clear()
    for count in range(40):
        if size < tolerance and count:
            return x
        if not system.factorised:
            if not system.factorise(x):
                raise RejectedError("the tangent is singular")
            fresh = True
        d = system.correction(r)
        trial = x + d
        new = system.evaluate(trial)
        now = system.norm(new)
        record.iterations += 1
        if now > 0.5 * size and now > tolerance:
            if fresh and now < 1e3 * tolerance:
                record.residual = min(now, size)
                return trial if now < size else x
            if not fresh:
                system.evaluate(x)
                system.forget()
                continue
            trial, new, now = _shortened(system, x, d, size)
        if now > 0.25 * size and now > tolerance:
            system.forget()
        fresh = False
        x, r, size = trial, new, now
        record.residual = size
        record.history.append(size)
    raise RejectedError("Newton's method needs too many iterations")


def _shortened(system: System, x: Array, d: Array, size: float) -> tuple[Array, Array, float]:
    """The longest of d, d/2, d/4 ... that makes the mismatch smaller."""
    share = 1.0
    while share > 1e-3:
        trial = x + share * d
        r = system.evaluate(trial)
        now = system.norm(r)
        if now < (1.0 - 0.1 * share) * size:
            return trial, r, now
        share *= 0.5
    raise RejectedError("no step makes the mismatch of internal loads smaller")
