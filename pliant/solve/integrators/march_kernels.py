"""Many steps of the integrators in acceleration form in one compiled call, for one rod.

The step is that of `newmark` for a rod with a `CompiledMap`: with the base at rest its centres are
linear in the coordinates, so that inertia is M D'' with one matrix M, mass damping C D' with another,
and weight and dead forces are the vectors f; what is left are strains:

    M v1' + C v1 + B^T (sigma + s) - f = 0,     gaps of the stress modes = 0.

Arrays come in tuples, each made by `march.March`:

rule    (12,): those of `AccelerationStepper.rule`, the slope of gaps of stress modes, 1 where strains
        lag, and the residual at which a step that makes no way is taken.
rod     ints, floats, element (S,), index (E, n), own (nq,), free: stations and numbers of unknowns.
law     plain, lag, e0 (S, R), weight, soft (S, Q), N (S, p), rows (Q,), numbers (E, p), at (K, Q),
        modes, gap_weight, flexible (Q, K, K): as in `elasticity.stress`.
form    mass, damping (n, 2 b + 1) as bands, compliance, and the slots of element blocks.
loads   force0 (n,), force (J, n), heavy (n,), stress0 (S, R), stress (J, S, R): f = force0 + u force,
        s = stress0 + u stress for inputs u (J,); heavy is the part of force0 that is weight.
lines   kind (J,), constants (J, 3), rest_volume (J,): see `physics.lines`.
state   q, v, acc, like, mult, f, s, e: of the last step; gas (J, 3) pressure, volume, rate; asked.
books   work, dissipated, scale of forces, residual.   counts: iterations, factors, failure.
room    D, q, v, acc, like, mult, e, B, rate, sigma, gap, ve, re, r, f, s, K, coupling, inner, x, u,
        force, two (K,): what a step writes.
band    data, factor and pivots of the tangent, whether it is made, and room to make it.
task    inputs (count, J), row (count,), record: the steps to take, see `march`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.linalg.band import solve_band
from pliant.physics.lines import line_step
from pliant.solve.integrators.march_parts import dissipated, factorise, measure, place, residual

CONVERGED, INFINITE, SINGULAR, SLOW = 0, 1, 2, 3
_POOR = 0.01
"""A residual that one iteration leaves larger than this part of it asks for a new tangent."""
_SURE = 4.0
"""The last residual of a step may be this many times larger than expected."""


@kernel
def _predict(rule, rod, state, accelerated, room):  # type: ignore[no-untyped-def]
    """First increment D, at constant velocity or acceleration, and the modes of the last step."""
    v, like, mult = state[1], state[3], state[4]
    D, trial = room[0], room[5]
    h = rule[0]
    half = 0.5 * h * h if accelerated and rule[1] > 0.0 else 0.0
    D[:] = 0.0
    for j in rod[5]:
        D[j] = h * v[j] + half * like[j]
    for j in range(len(trial)):
        trial[j] = mult[j]


@kernel
def solve(strain, second, rule, limit, rod, law, form, state, room, band, books, counts):  # type: ignore[no-untyped-def]
    """Find the end of a step; returns why it was not found, if so.

    Newton's method begins at constant acceleration, which is close where the motion is smooth. After
    a jump of a load accelerations are those of modes that the step does not resolve, and lead far
    away: then it begins at constant velocity.
    """
    scale = books[2]
    for accelerated in (True, False):
        _predict(rule, rod, state, accelerated, room)
        status = _newton(
            strain, second, rule, limit, rod, law, form, state, room, band, books, counts
        )
        if status == CONVERGED:
            break
        books[2] = scale
        band[3][0] = 0
    return status


@kernel
def _newton(strain, second, rule, limit, rod, law, form, state, room, band, books, counts):  # type: ignore[no-untyped-def]
    """Newton's method from the increment in `room`, with a tangent that is kept while it serves.

    A correction after which the residual is going to be small enough, at the rate at which the last
    two made it smaller, is the last one, and is not followed by another residual.
    """
    free, modes, gap_weight = rod[5], law[9], law[10]
    D, mult, r, x = room[0], room[5], room[13], room[19]
    size, rate, fresh = np.inf, 1.0, False
    for k in range(limit):
        place(rule, rod, state, room)
        net = residual(strain, rule, rod, law, form, room)
        if k == 0:
            books[2] = max(books[2], net)
        previous, before = size, rate
        forces, gaps = 0.0, 0.0
        for j in free:
            forces += r[j] * r[j]
        for i in range(len(modes)):
            gaps += (gap_weight[i] * r[modes[i]]) ** 2
        size = np.sqrt(forces) + books[2] * np.sqrt(gaps)
        books[3] = size
        if not np.isfinite(size):
            return INFINITE
        stalled = fresh and k > 3 and size > 0.5 * previous and size <= rule[11] * books[2]
        enough = rule[7] * books[2] + rule[8]
        if size <= enough or stalled:
            return CONVERGED
        rate = size / previous
        fresh = band[3][0] == 0 or rate > _POOR
        if fresh:
            counts[1] += 1
            if not factorise(second, rule, rod, law, form, room, band):
                return SINGULAR
        for j in range(len(r)):
            x[j] = -r[j]
        for j in modes:
            x[j] /= rule[9]
        solve_band(band[1], band[2], x)
        counts[0] += 1
        for j in free:
            D[j] += x[j]
        for j in modes:
            mult[j] += x[j]
        if k > 1 and not fresh and _SURE * max(rate, before) * size <= enough:
            place(rule, rod, state, room)
            measure(strain, rule, rod, room)
            return CONVERGED
    return SLOW


@kernel
def accept(rule, rod, law, form, loads, lines, state, room, books):  # type: ignore[no-untyped-def]
    """Take over the end of a step, with its energy and the gas behind pressure lines."""
    q, v, acc, like, mult, f0, s0, e0, gas, asked = state
    D, q1, v1, acc1, like1, mult1, e = room[:7]
    f, s, u = room[14], room[15], room[20]
    books[1] += dissipated(rule, law, form, e0, room)
    heavy, stress = loads[2], loads[4]
    for j in rod[5]:
        books[0] += (0.5 * (f0[j] + f[j]) - heavy[j]) * D[j]
    for t in range(e.shape[0]):
        for i in range(e.shape[1]):
            books[0] -= 0.5 * (s0[t, i] + s[t, i]) * (e[t, i] - e0[t, i])
    kind, constants, rest = lines
    for j in range(len(u)):
        volume = rest[j]
        for t in range(e.shape[0]):
            for i in range(e.shape[1]):
                volume -= stress[j, t, i] * e[t, i]
        gas[j, 0] = line_step(
            kind[j], constants[j], rule[0], gas[j, 0], asked[j], u[j], gas[j, 1], volume
        )
        gas[j, 2] = (volume - gas[j, 1]) / rule[0]
        gas[j, 1] = volume
        asked[j] = u[j]
    q[:] = q1
    v[:] = v1
    acc[:] = acc1
    like[:] = like1
    mult[:] = mult1
    f0[:] = f
    s0[:, :] = s
    e0[:, :] = e


@kernel
def load(rule, loads, lines, state, room):  # type: ignore[no-untyped-def]
    """Forces f (n,) and stresses s (S, R) at the end of a step, for the inputs u asked for there.

    Behind a line the pressure is what comes of the volume that the chamber is going to have.
    """
    force0, force, _, stress0, stress = loads
    kind, constants, _ = lines
    gas, asked = state[8], state[9]
    f, s, u = room[14], room[15], room[20]
    f[:] = force0
    s[:, :] = stress0
    for j in range(len(u)):
        ahead = max(gas[j, 1] + rule[0] * gas[j, 2], 0.1 * gas[j, 1])
        value = line_step(
            kind[j], constants[j], rule[0], gas[j, 0], asked[j], u[j], gas[j, 1], ahead
        )
        for i in range(len(f)):
            f[i] += value * force[j, i]
        for t in range(s.shape[0]):
            for i in range(s.shape[1]):
                s[t, i] += value * stress[j, t, i]


@kernel
def keep(at, record, state, books):  # type: ignore[no-untyped-def]
    """Write the end of a step to row `at` of a record (q, v, books, gas), unless that is -1."""
    if at < 0:
        return
    record[0][at] = state[0]
    record[1][at] = state[1]
    record[2][at, 0] = books[0]
    record[2][at, 1] = books[1]
    for j in range(len(state[8])):
        record[3][at, j] = state[8][j, 0]


@kernel
def march(bundle, limit):  # type: ignore[no-untyped-def]
    """Take the steps to whose ends the inputs of its task belong; returns how many were taken.

    The one that fails, if any, leaves the state as it was, and counts[2] says why. row (count,) is
    the row of `record` (q, v, books, gas) that the end of a step is written to, -1 for none.
    """
    strain, second = bundle.strain, bundle.second
    rule, rod, law, form, loads, lines, state, room, band, books, counts, task = bundle.parts
    inputs, row, record = task
    u = room[20]
    for k in range(inputs.shape[0]):
        u[:] = inputs[k]
        load(rule, loads, lines, state, room)
        counts[2] = solve(
            strain, second, rule, limit, rod, law, form, state, room, band, books, counts
        )
        if counts[2] != CONVERGED:
            return k
        accept(rule, rod, law, form, loads, lines, state, room, books)
        keep(row[k], record, state, books)
    return inputs.shape[0]
