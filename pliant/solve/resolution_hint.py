"""Whether a motion looks under-resolved, from a few of its states: a hint at nearly no cost.

A second-order integrator is off by h^2/12 times the third time derivative of positions, each second;
implicit Euler by h/2 times the second. Elements are judged by how much bending strain changes over one
of them: by a ratio r against its size, wave lengths are off by about r^2 of the way travelled.
"""

from __future__ import annotations

from typing import Any

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
    speed, second, third = _changes(problem, path)
    frequency = np.sqrt(third / speed) if speed > 0.0 else 0.0
    seconds = min(float(path.t[-1] - path.t[0]), MEMORY / max(frequency, 1e-300))
    step = path.h**2 / 12.0 * third if order > 1 else path.h / 2.0 * second
    if order > 2:  # it takes shorter steps than those that it is asked for
        step = 0.0
    waves = WAVES * speed * _strain_change(problem, path) ** 2
    length = problem.length
    return float(seconds * step / length), float(seconds * waves / length)


def _changes(problem: Problem, path: Trajectory) -> tuple[float, float, float]:
    """Largest speed and second and third time derivatives of points between successive outputs, in the
    mean of some of them.
    """
    rows = np.unique(np.linspace(0, len(path.t) - 2, PAIRS).astype(int))
    x, speed = _points(problem, path, np.concatenate([rows, rows + 1]))
    (x0, x1), (v0, v1) = np.split(x, 2), np.split(speed, 2)
    dt = (path.t[rows + 1] - path.t[rows])[:, None, None]
    second = (v1 - v0) / dt
    third = 6.0 * ((v0 + v1) - 2.0 * (x1 - x0) / dt) / dt**2
    sizes = [np.linalg.norm(y, axis=-1).max(axis=1).mean() for y in (v1, second, third)]
    return float(sizes[0]), float(sizes[1]), float(sizes[2])


def _points(problem: Problem, path: Trajectory, rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """Positions and velocities (T, P, 3) of the tips of rods and the centres of bodies with a joint."""
    q, v = [path.q[k] for k in rows], [path.v[k] for k in rows]
    centres = [problem.centres(*pair) for pair in zip(q, v, strict=True)]
    positions, velocities = ([np.array(x)] for x in zip(*centres, strict=True))
    for g, twist in _tips(problem, q, v):
        positions.append(g[:, :, :3, 3])
        velocities.append(np.einsum("tpij,tpj->tpi", g[..., :3, :3], twist[..., 3:]))
    return np.concatenate(positions, axis=1), np.concatenate(velocities, axis=1)


def _tips(problem: Problem, q: list[Any], v: list[Any]) -> list[tuple[Array, Array]]:
    """World poses (T, 1, 4, 4) and body twists (T, 1, 6) of the tip of each rod.

    A call for each rod would place the whole robot for each of them: of several rods, all are asked at
    one state after another, so that the cost grows linearly with their number.
    """
    ends = [(rod.name, np.array([rod.length])) for rod in problem.description.rods.values()]
    if len(ends) == 1:
        return [problem.motions_along(q, v, *ends[0])]
    sampler, poses, twists = problem.sampler, [], []
    for one, rate in zip(q, v, strict=True):
        poses.append([sampler.poses(one, *end) for end in ends])
        twists.append([sampler.velocities(one, rate, *end) for end in ends])
    return list(zip(np.swapaxes(poses, 0, 1), np.swapaxes(twists, 0, 1), strict=True))


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
