"""Many robots in one call, on all cores.

Each robot is solved in a thread of its own. Compiled kernels let go of the interpreter, so that
threads run side by side as long as they stay inside kernels: motions by shooting go through hundreds
of steps in one call when few states are stored (``output_every``), and gain most.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from pliant.model import ConvergenceError, DescriptionError
from pliant.model.checks import whole_number
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.robot import Robot

Result = TypeVar("Result")
Progress = Callable[[int, int], object]
"""Told how many robots are done, and how many there are."""


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
    progress: Progress | None = None,
) -> list[Motion]:
    """Return the motions of many robots, in their order; they run side by side on all cores.

    robots : a list of them; one that is listed several times moves several times.
    duration, dt, formulation, integrator, output_every, output_times : as for `Robot.simulate`, for
        all robots; duration, dt and output_every in seconds, output_times (T,) s.
    inputs, start, velocity : as for `Robot.simulate`, for all robots, or a list with one for each.
    workers : robots solved at the same time; None for as many as there are cores.
    progress : called with the number of robots that are done and of all.

    A robot that fails does not stop the others: when all are done, a ConvergenceError names those
    that failed, and its ``last`` is the list of motions with the error of each failed robot in its
    place (whose own ``last`` is the motion up to there). Wrong input stops all at once. After Ctrl-C
    no further robot is begun.
    """
    found = _robots("simulate_many", robots)
    count = len(found)
    each = zip(
        _for_each("simulate_many", "inputs", inputs, count),
        _for_each("simulate_many", "start", start, count),
        _for_each("simulate_many", "velocity", velocity, count),
        strict=True,
    )

    def task(robot: Robot, own: tuple[Any, Any, Any]) -> Callable[[], Motion]:
        return lambda: robot.simulate(
            duration,
            dt,
            inputs=own[0],
            start=own[1],
            velocity=own[2],
            formulation=formulation,
            integrator=integrator,
            output_every=output_every,
            output_times=output_times,
        )

    tasks = [task(robot, own) for robot, own in zip(found, each, strict=True)]
    return _all("simulate_many", tasks, workers, progress)


def statics_many(
    robots: Sequence[Robot],
    inputs: Any = None,
    formulation: Any = None,
    tolerance: float = 1e-10,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Equilibrium]:
    """Return the equilibria of many robots, in their order; they are solved side by side.

    robots : a list of them; one that is listed several times is solved several times.
    inputs : as for `Robot.statics`, for all robots, or a list with one for each.
    formulation, tolerance : as for `Robot.statics`, for all robots.
    workers, progress : as for `simulate_many`, and so are failures: when all are done, the ``last``
        of a ConvergenceError is the list of equilibria with the errors in it.
    """
    found = _robots("statics_many", robots)
    each = _for_each("statics_many", "inputs", inputs, len(found))

    def task(robot: Robot, own: Any) -> Callable[[], Equilibrium]:
        return lambda: robot.statics(own, formulation, tolerance=tolerance)

    tasks = [task(robot, own) for robot, own in zip(found, each, strict=True)]
    return _all("statics_many", tasks, workers, progress)


def _robots(where: str, given: Any) -> list[Robot]:
    """Return the robots, each with what it compiles to itself, for threads must not share it."""
    listed = list(given) if isinstance(given, (list, tuple)) else []
    if not listed:
        raise DescriptionError(
            where, "robots", given, "a list of one robot or more", "give e.g. [robot] * 8"
        )
    found: list[Robot] = []
    seen: set[int] = set()
    for k, robot in enumerate(listed):
        if not isinstance(robot, Robot):
            raise DescriptionError(
                where, f"robots[{k}]", robot, "a Robot", "give what pl.Robot() made"
            )
        again = id(robot) in seen
        found.append(Robot._from(robot.description, robot.inputs) if again else robot)
        seen.add(id(robot))
    return found


def _for_each(where: str, field: str, given: Any, count: int) -> list[Any]:
    """Return one entry for each robot; what is no list is for all."""
    if not isinstance(given, (list, tuple)):
        return [given] * count
    if len(given) != count:
        raise DescriptionError(
            where,
            field,
            f"{len(given)} entries",
            f"one for all, or a list with one for each of the {count} robots",
            "give as many as there are robots",
        )
    return list(given)


def _all(
    where: str,
    tasks: list[Callable[[], Result]],
    workers: int | None,
    progress: Progress | None,
) -> list[Result]:
    """Return what the tasks give, in order; failures are told when all are done."""
    threads = _cores() if workers is None else whole_number(workers)
    if threads is None or threads < 1:
        raise DescriptionError(
            where, "workers", workers, "a whole number of 1 or more", "leave it out for all cores"
        )
    results: dict[int, Any] = {}
    with ThreadPoolExecutor(min(threads, len(tasks)), f"pliant-{where}") as pool:
        numbers = {pool.submit(task): k for k, task in enumerate(tasks)}
        try:
            for done, future in enumerate(as_completed(numbers), 1):
                results[numbers[future]] = _outcome(future, numbers[future])
                if progress is not None:
                    progress(done, len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [results[k] for k in range(len(tasks))]
    failed = {k: item for k, item in enumerate(ordered) if isinstance(item, ConvergenceError)}
    if failed:
        first, error = next(iter(failed.items()))
        others = f" (and robots {list(failed)[1:]})" if len(failed) > 1 else ""
        raise ConvergenceError(
            f"{where}: {len(failed)} of {len(tasks)} robots failed. robots[{first}]{others}: {error} "
            "The error's `last` holds the results of the others.",
            ordered,
        )
    return ordered


def _outcome(future: Future[Result], number: int) -> Result | ConvergenceError:
    """Return the result or the failure of one robot; wrong input raises, with the robot's number."""
    try:
        return future.result()
    except ConvergenceError as error:
        return error
    except DescriptionError as error:
        part = f"robots[{number}], {error.part}"
        raise DescriptionError(
            part, error.field, error.value, error.expected, error.remedy
        ) from error


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
