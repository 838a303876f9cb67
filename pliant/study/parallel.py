"""Many robots in parallel, one per thread.

Compiled kernels release the interpreter, so that threads run in parallel while they are inside
kernels. Motions by shooting gain most: with few output times (``output_every``) they take hundreds of
steps in one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from pliant.model import ConvergenceError, DescriptionError, count, refuse
from pliant.model.progress import told
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.robot import Robot
from pliant.study.task import check_robot

Result = TypeVar("Result")
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
    return _all("simulate_many", calls, workers, progress)


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
    return _all("statics_many", calls, workers, progress)


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


def _all(
    where: str,
    calls: Sequence[Callable[[], Result]],
    workers: int | None,
    progress: bool | Progress | None,
) -> list[Result]:
    """Return the results of the calls in order; failures raise when all are done."""
    threads = cores()
    if workers is not None:
        threads = count(where, "workers", workers, 1, "leave it out for all cores")
    results: dict[int, Any] = {}
    with (
        told(progress, where, lambda done, n: (done / n, f"{done} of {n} robots")) as report,
        ThreadPoolExecutor(min(threads, len(calls)), f"pliant-{where}") as pool,
    ):
        numbers = {pool.submit(call): k for k, call in enumerate(calls)}
        try:
            for done, future in enumerate(as_completed(numbers), 1):
                results[numbers[future]] = _outcome(future, numbers[future])
                if report is not None:
                    report(done, len(calls))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [results[k] for k in range(len(calls))]
    failed = {k: item for k, item in enumerate(ordered) if isinstance(item, ConvergenceError)}
    if failed:
        first, error = next(iter(failed.items()))
        others = f" (and robots {list(failed)[1:]})" if len(failed) > 1 else ""
        raise ConvergenceError(
            f"{where}: {len(failed)} of {len(calls)} robots failed. robots[{first}]{others}: {error} "
            "The error's `last` holds the results of the others.",
            ordered,
        )
    return ordered


def _outcome(future: Future[Result], number: int) -> Result | ConvergenceError:
    """Return the result or the failure of one robot; invalid input raises with its number."""
    try:
        return future.result()
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
