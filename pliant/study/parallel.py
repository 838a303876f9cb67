"""Many robots in parallel: on all cores, and side by side in the lanes of a core.

Compiled kernels release the interpreter, so that threads run in parallel while they are inside
kernels. Motions by shooting gain most: with few output times (``output_every``) they take hundreds of
steps in one call. Where the integrator can move robots of one kind together, a thread moves many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from pliant.model import ConvergenceError, DescriptionError, count, refuse
from pliant.model.progress import told
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.robot import Robot
from pliant.solve.clock import make_clock
from pliant.solve.integrators.contract import Integrator
from pliant.solve.side_by_side import MotionPlan, groups, move_together
from pliant.study.task import check_robot

Result = TypeVar("Result")
_TOGETHER = 8
"""Robots that move together: as many as fill the lanes, for whom the cache of a core has room."""
Progress = Callable[[int, int], object]
"""Called with the number of finished robots and the number of all."""


def simulate_many(
    robots: Sequence[Robot],
    duration: float,
    dt: float,
    inputs: Any = None,
    start: Any = "rest",
    velocity: Any = None,
    formulation: Any = None,
    integrator: Any = None,
    output_every: float | None = None,
    output_times: ArrayLike | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> list[Motion]:
    """Simulate many robots in parallel and return their motions, in the order of the robots.

    robots : a list; a robot that is listed several times is simulated several times.
    duration, dt, formulation, integrator, output_every, output_times : as for `Robot.simulate`, for
        all robots; duration, dt and output_every in seconds, output_times (T,) s.
    inputs, start, velocity : as for `Robot.simulate`, for all robots, or a list with one for each.
    workers : number of robots solved at the same time; None for the number of cores.
    progress : True for a bar with the remaining time; or a function, called with the number of finished
        robots and the number of all.

    With `Explicit`, robots of one kind share the SIMD lanes of the processor and their short steps,
    those of the stiffest: motions then differ from those of `Robot.simulate` by less than the error
    of its steps. Robots are of one kind if they have the same parts, joints, inputs and elements.
    Where a group fails, its robots move one by one, and functions of time are called again.

    A robot that fails does not stop the others. When all are done, a ConvergenceError names the
    failed ones. Its ``last`` is the list of motions, with the error of each failed robot in its place
    (whose own ``last`` is the motion up to the failure). Invalid input stops all robots. After
    Ctrl-C no further robot starts.
    """
    every = _robots("simulate_many", robots)
    fields = {"inputs": inputs, "start": start, "velocity": velocity}
    own = [_for_each("simulate_many", name, item, len(every)) for name, item in fields.items()]
    same = {
        "formulation": formulation,
        "integrator": integrator,
        "output_every": output_every,
        "output_times": output_times,
    }
    calls = [
        partial(robot.simulate, duration, dt, inputs=u, start=first, velocity=v, **same)
        for robot, u, first, v in zip(every, *own, strict=True)
    ]
    threads = _threads("simulate_many", workers)
    if not (isinstance(integrator, Integrator) and integrator.moves_many):
        return _all("simulate_many", _one_by_one(calls), threads, progress)

    def plan(k: int) -> MotionPlan:
        clock = make_clock(duration, dt, output_every, output_times)
        u, first, v = (item[k] for item in own)
        return every[k]._motion_plan(clock, u, first, v, formulation, integrator)

    numbers = list(range(len(every)))
    some = [numbers[k : k + _TOGETHER] for k in numbers[::_TOGETHER]]
    tasks = [(own_numbers, partial(_move, own_numbers, plan, calls)) for own_numbers in some]
    return _all("simulate_many", tasks, threads, progress)


def _move(
    numbers: list[int], plan: Callable[[int], MotionPlan], calls: Sequence[Callable[[], Motion]]
) -> list[Motion | ConvergenceError]:
    """Motions of some robots: groups of one kind together, others and groups that fail one by one."""
    plans = [_of(k, partial(plan, k)) for k in numbers]
    ready = [k for k, item in enumerate(plans) if isinstance(item, MotionPlan)]
    found: list[Any] = list(plans)
    for group in groups([plans[k] for k in ready]):  # type: ignore[misc]
        own = [ready[g] for g in group]
        trajectories = move_together([plans[k] for k in own]) if len(own) > 1 else None  # type: ignore[misc]
        for place, k in enumerate(own):
            if trajectories is None:
                found[k] = _of(numbers[k], calls[numbers[k]])
                continue
            judged = partial(Robot._judged_motion, plans[k], trajectories[place])  # type: ignore[arg-type]
            found[k] = _of(numbers[k], judged)
            if isinstance(found[k], Motion):
                found[k].warn_of_energy(plans[k].method)  # type: ignore[union-attr]
                found[k].warn_of_resolution(plans[k].method.drift_order)  # type: ignore[union-attr]
    return found


def statics_many(
    robots: Sequence[Robot],
    inputs: Any = None,
    formulation: Any = None,
    tolerance: float = 1e-10,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> list[Equilibrium]:
    """Solve many robots in parallel and return their equilibria, in the order of the robots.

    robots : a list; a robot that is listed several times is solved several times.
    inputs : as for `Robot.statics`, for all robots, or a list with one for each.
    formulation, tolerance : as for `Robot.statics`, for all robots.
    workers, progress : as for `simulate_many`. Failures are reported in the same way: the ``last`` of
        the ConvergenceError is the list of equilibria and errors.
    """
    every = _robots("statics_many", robots)
    each = _for_each("statics_many", "inputs", inputs, len(every))
    calls = [
        partial(robot.statics, own, formulation, tolerance=tolerance)
        for robot, own in zip(every, each, strict=True)
    ]
    return _all("statics_many", _one_by_one(calls), _threads("statics_many", workers), progress)


def _robots(where: str, given: Any) -> list[Robot]:
    """Return the robots, with copies of repeated ones: threads must not share a compiled robot."""
    listed = list(given) if isinstance(given, (list, tuple)) else []
    refuse(
        not listed, where, "robots", given, "a list of one robot or more", "give e.g. [robot] * 8"
    )
    for k, robot in enumerate(listed):
        check_robot(where, robot, f"robots[{k}]")
        if any(robot is other for other in listed[:k]):
            listed[k] = Robot._from(robot.description, robot.inputs)
    return listed


def _for_each(where: str, field: str, given: Any, robots: int) -> list[Any]:
    """Return one entry for each robot: those of a list, or the same for all."""
    if not isinstance(given, (list, tuple)):
        return [given] * robots
    refuse(
        len(given) != robots,
        where,
        field,
        f"{len(given)} entries",
        f"one for all, or a list with one for each of the {robots} robots",
        "give as many as there are robots",
    )
    return list(given)


Task = tuple[list[int], Callable[[], list[Any]]]
"""Numbers of robots, and what returns their results and failures."""


def _one_by_one(calls: Sequence[Callable[[], Any]]) -> list[Task]:
    """A task for each robot."""
    return [([k], partial(_single, k, call)) for k, call in enumerate(calls)]


def _single(number: int, call: Callable[[], Result]) -> list[Result | ConvergenceError]:
    return [_of(number, call)]


def _threads(where: str, workers: int | None) -> int:
    """Number of robots solved at the same time."""
    if workers is None:
        return cores()
    return count(where, "workers", workers, 1, "leave it out for all cores")


def _all(
    where: str, tasks: Sequence[Task], threads: int, progress: bool | Progress | None
) -> list[Any]:
    """Return the results of all tasks in order of the robots; failures raise when all are done."""
    results: dict[int, Any] = {}
    total = sum(len(numbers) for numbers, _ in tasks)
    with (
        told(progress, where, lambda done, n: (done / n, f"{done} of {n} robots")) as report,
        ThreadPoolExecutor(min(threads, len(tasks)), f"pliant-{where}") as pool,
    ):
        pending = {pool.submit(call): numbers for numbers, call in tasks}
        try:
            for future in as_completed(pending):
                for number, result in zip(pending[future], future.result(), strict=True):
                    results[number] = result
                    if report is not None:
                        report(len(results), total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [results[k] for k in range(total)]
    failed = {k: item for k, item in enumerate(ordered) if isinstance(item, ConvergenceError)}
    if failed:
        first, error = next(iter(failed.items()))
        others = f" (and robots {list(failed)[1:]})" if len(failed) > 1 else ""
        raise ConvergenceError(
            f"{where}: {len(failed)} of {total} robots failed. robots[{first}]{others}: {error} "
            "The error's `last` holds the results of the others.",
            ordered,
        )
    return ordered


def _of(number: int, call: Callable[[], Result]) -> Result | ConvergenceError:
    """Return the result or the failure of one robot; invalid input raises with its number."""
    try:
        return call()
    except ConvergenceError as error:
        return error
    except DescriptionError as error:
        part = f"robots[{number}], {error.part}"
        raise DescriptionError(
            part, error.field, error.value, error.expected, error.remedy
        ) from error


def cores() -> int:
    """The number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
