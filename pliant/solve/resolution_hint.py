"""Whether a motion looks under-resolved, from a few of its states: a hint at nearly no cost.

A second-order integrator is off by h^2/12 times the third time derivative of positions, each second;
implicit Euler by h/2 times the second. Elements are judged by how much bending strain changes over one
of them: by a ratio r against its size, wave lengths are off by about r^2 of the way travelled.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array
from pliant.solve.dynamics import Trajectory
from pliant.solve.problem import Problem

PAIRS, STATES, PER_INTERVAL = 6, 3, 4
"""Pairs of successive outputs and states that are looked at; sections in an interval."""
MEMORY = 20.0
"""Errors add up over this many radians of the fastest part of a motion, and no longer."""
WAVES = 0.01
"""Error over the way travelled where bending strain changes by its size over an interval."""


def rough_errors(problem: Problem, path: Trajectory, order: int) -> tuple[float, float]:
    """Rough errors of a motion due to the step and to elements, over the length.

    order : with which errors of the integrator fall that add up over time.
    """
    if len(path.t) < 2:
        return 0.0, 0.0
    rows = np.unique(np.linspace(0, len(path.t) - 2, PAIRS).astype(int))
    speed, second, third = np.mean(list(_pairs(problem, path, rows)), axis=0).tolist()
    frequency = np.sqrt(third / speed) if speed > 0.0 else 0.0
    seconds = min(float(path.t[-1] - path.t[0]), MEMORY / max(frequency, 1e-300))
    step = path.h**2 / 12.0 * third if order > 1 else path.h / 2.0 * second
    if order > 2:  # it takes shorter steps than those that it is asked for
        step = 0.0
    waves = WAVES * speed * _strain_change(problem, path) ** 2
    length = problem.length
    return float(seconds * step / length), float(seconds * waves / length)


def _pairs(
    problem: Problem, path: Trajectory, rows: NDArray[np.int64]
) -> Iterator[tuple[float, ...]]:
    """Largest speed and second and third time derivatives of points, between successive outputs."""
    for k in rows.tolist():
        (x0, v0), (x1, v1) = (_points(problem, path.q[i], path.v[i]) for i in (k, k + 1))
        dt = float(path.t[k + 1] - path.t[k])
        second = (v1 - v0) / dt
        third = 6.0 * ((v0 + v1) - 2.0 * (x1 - x0) / dt) / dt**2
        yield tuple(float(np.linalg.norm(y, axis=-1).max()) for y in (v1, second, third))


def _points(problem: Problem, q: object, v: object) -> tuple[Array, Array]:
    """Positions and velocities (P, 3) of the tips of rods and the centres of bodies with a joint."""
    sampler, (x, speed) = problem.sampler, problem.centres(q, v)
    positions, velocities = [x], [speed]
    for rod in problem.description.rods.values():
        s = np.array([rod.length])
        g, twist = (sampler.poses(q, rod.name, s), sampler.velocities(q, v, rod.name, s))
        positions.append(g[:, :3, 3])
        velocities.append(np.einsum("pij,pj->pi", g[:, :3, :3], twist[:, 3:]))
    return np.concatenate(positions), np.concatenate(velocities)


def _strain_change(problem: Problem, path: Trajectory) -> float:
    """Largest second difference of bending and twist over intervals of a rod, over their size."""
    rows = np.unique(np.linspace(0, len(path.t) - 1, STATES + 1).astype(int))[1:]
    largest = 0.0
    for name, rod in problem.description.rods.items():
        count = problem.formulations[name].intervals or 1
        if count < 2:
            continue
        s, n = np.linspace(0.0, rod.length, PER_INTERVAL * count + 1), PER_INTERVAL
        u = np.array([problem.sampler.strains(path.q[k], name, s)[:, :3] for k in rows])
        change = u[:, : -2 * n] - 2.0 * u[:, n:-n] + u[:, 2 * n :]
        biggest, size = (float(np.linalg.norm(x, axis=-1).max()) for x in (change, u))
        largest = max(largest, biggest / max(size, 1e-9 / rod.length))
    return largest
