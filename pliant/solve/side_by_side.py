"""Motions of several robots at once, where their integrator can take the steps of all together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pliant.model import PliantError
from pliant.solve.checkpoint import remembering
from pliant.solve.clock import Clock
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.dynamics import Trajectory, Watched, simulate
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem, Start
from pliant.solve.schedule import Schedule


class MotionPlan(NamedTuple):
    """A robot that is ready to move: compiled, with integrator, inputs, times and start."""

    problem: Problem
    method: Integrator
    inputs: Mapping[str, Any]
    clock: Clock
    start: Start


def groups(plans: Sequence[MotionPlan]) -> list[list[int]]:
    """Numbers of plans that can move together, group by group; others are groups of their own."""
    found: dict[Any, list[int]] = {}
    for k, (problem, method, inputs, clock, _) in enumerate(plans):
        kind = method.kind(problem.effects) if isinstance(problem, CoordinateProblem) else None
        alone = kind is None or not isinstance(method, Hashable) or bool(remembering(inputs))
        key = k if alone else (method, kind, clock.duration, clock.steps, clock.outputs.tobytes())
        found.setdefault(key, []).append(k)
    return list(found.values())


def move_together(plans: Sequence[MotionPlan]) -> list[Trajectory] | None:
    """Trajectories of a group of robots, taken in one run of steps.

    None if anything goes wrong with one of them: then move each alone.
    """
    method, clock = plans[0].method, plans[0].clock
    problems = [x.problem for x in plans if isinstance(x.problem, CoordinateProblem)]
    try:
        begins = [
            problem.begin(Schedule(problem.effects, plan.inputs), plan.start)
            for problem, plan in zip(problems, plans, strict=True)
        ]
        found = simulate(method.side_by_side(begins, clock.h), clock)
    except PliantError:
        return None
    trajectories = [_own(found, r, problem) for r, problem in enumerate(problems)]
    for problem, own in zip(problems, trajectories, strict=True):
        problem.warn_of_motion(own, method)
    return trajectories


def _own(found: Trajectory, r: int, problem: CoordinateProblem) -> Trajectory:
    """The trajectory of one robot."""
    inputs: dict[Any, Any] = found.inputs
    t, q, v = found.final
    seen = found.watched
    assert seen is not None
    names = list(problem.description.inputs())
    watched = Watched(
        seen.t, seen.q[:, r], seen.v[:, r], seen.work[:, r], seen.dissipated[:, r], names
    )
    return replace(
        found,
        q=found.q[:, r],
        v=found.v[:, r],
        work=found.work[:, r],
        dissipated=found.dissipated[:, r],
        inputs={name: x for (i, name), x in inputs.items() if i == r},
        final=(t, q[r], v[r]),
        recorded=None,
        watched=watched,
    )
