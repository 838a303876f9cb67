"""``pliant warm-up``: compile all kernels in advance, on all cores.

Kernels are compiled for the types they are called with, so that the way to compile them is to use
them: every formulation and integrator on a small rod, and the robot files of
``pliant/robots/warm_up``, which hold every kind of part, joint and effect. Each of these *groups*
runs in one of several processes; what they compile is kept file by file, so that an interrupted
warm-up loses one kernel at most and a second one only loads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from pliant.study.json_output import emit, json_option

ROBOTS = Path(__file__).resolve().parents[1] / "robots" / "warm_up"
STEP = 1e-3
"""Seconds of a time step."""
FLAT_STEPS = 60
"""Steps of a motion in a plane that are enough for the kernels of planes to be used."""
FIRST = "rod"
"""The group that is compiled first and alone, for most of its kernels are shared by all others."""


def groups() -> list[str]:
    """The names of all groups: the default rod, formulations, integrators, robot files."""
    from pliant.solve.registry import formulations, integrators

    files = sorted(path.stem for path in ROBOTS.glob("*.yaml"))
    return [FIRST, *formulations(), *integrators(), *files]


def compile_group(name: str) -> tuple[int, float]:
    """Use the kernels of a group; return how many were compiled and the CPU seconds."""
    from pliant._numba import CompileListener

    count, began = 0, time.process_time()

    def tell(_: str, seconds: float | None) -> None:
        nonlocal count
        count += seconds is None

    with warnings.catch_warnings(), CompileListener(tell):
        warnings.simplefilter("ignore")
        for call in _calls(name):
            with suppress(*_refusals()):
                call()
    return count, time.process_time() - began


def _refusals() -> tuple[type[Exception], ...]:
    """Combinations that Pliant refuses have nothing to compile."""
    from pliant.model import PliantError

    return (PliantError,)


def _calls(name: str) -> Iterator[Callable[[], object]]:
    """What compiles the kernels of a group, one combination after the other."""
    from pliant.solve.registry import formulations, integrators

    if name not in {FIRST, *formulations(), *integrators()}:
        yield from _file_calls(ROBOTS / f"{name}.yaml")
        return
    given: dict[str, Any] = (
        {"formulation": formulations()[name]()} if name in formulations() else {}
    )
    schemes = [integrators()[name]] if name in integrators() else integrators().values()
    for robot, steps in ((_rod(0.0), FLAT_STEPS), (_rod(0.05), 10)):
        yield partial(robot.statics, **given)
        for kind in () if name == FIRST else schemes:
            times = {"output_every": 5 * STEP, "integrator": kind()}
            yield partial(robot.simulate, steps * STEP, STEP, **given, **times)
        yield partial(robot.simulate, 2 * STEP, STEP, **given)
        yield partial(robot.modes, 3, **given)


def _rod(side: float) -> Any:
    """A short rod with weight and viscosity, in the plane unless a force acts from the side (N)."""
    from pliant.model import Circle, Material, along
    from pliant.robot import Robot

    robot = Robot()
    soft = Material(E=1e6, nu=0.5, rho=1000.0, viscosity=500.0)
    rod = robot.add_rod("arm", 0.3, Circle(0.01), soft, pose=along("x"))
    if side:
        robot.add_load("push", rod.tip, force=(0.0, side, 0.0))
    return robot


def _file_calls(path: Path) -> Iterator[Callable[[], object]]:
    """The runs of a robot file, without pictures."""
    from pliant.files import SimulateRun
    from pliant.study.commands import read_robot

    contents, robot = read_robot(path)
    for run in contents.runs:
        if isinstance(run, SimulateRun):
            yield partial(robot.simulate, run.duration, run.dt)
        else:
            yield robot.statics


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def warm_up(
    names: list[str] | None = None,
    workers: int | None = None,
    progress: Callable[[str, int, int], object] | None = None,
) -> dict[str, tuple[int, float]]:
    """Compile groups (all by default); return by name the kernels compiled and the CPU seconds.

    workers : processes at the same time, the number of cores by default.
    progress : called with the name of a finished group, how many are done and how many there are.
    """
    wanted = groups() if names is None else names
    found: dict[str, tuple[int, float]] = {}
    context = multiprocessing.get_context("spawn")
    count = workers or os.cpu_count() or 1
    with ProcessPoolExecutor(count, context, _ignore_interrupts) as pool:
        try:
            for batch in ([FIRST] * (FIRST in wanted), [x for x in wanted if x != FIRST]):
                waiting = {pool.submit(compile_group, name): name for name in batch}
                for done in as_completed(waiting):
                    found[waiting[done]] = done.result()
                    if progress is not None:
                        progress(waiting[done], len(found), len(wanted))
        except KeyboardInterrupt:
            for process in list(pool._processes.values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


@click.command("warm-up")
@click.argument("names", nargs=-1, metavar="[GROUP]...")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes at the same time.")
@json_option
def warm_up_command(names: tuple[str, ...], workers: int | None, as_json: bool) -> None:
    """Compile all kernels in advance, on all cores.

    Without it, kernels are compiled when they are first used. You can interrupt it and run it again:
    what is compiled is kept. Name groups to compile some of them only, e.g. Spectral Explicit tubes.
    """
    from rich.console import Console

    known = groups()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(known)}", param_hint="GROUP"
        )
    began = time.perf_counter()
    console = Console(quiet=as_json, highlight=False, soft_wrap=True)
    found = _with_bar(list(names) or known, workers, console)
    compiled = sum(count for count, _ in found.values())
    cpu = sum(seconds for _, seconds in found.values())
    if as_json:
        times = {name: {"compiled": count, "cpu": cpu} for name, (count, cpu) in found.items()}
        emit(compiled=compiled, seconds=time.perf_counter() - began, cpu=cpu, groups=times)
    took = time.perf_counter() - began
    console.print(f"{compiled} kernels compiled within {took:.0f} s ({cpu:.0f} s of CPU)")


def _with_bar(names: list[str], workers: int | None, console: Any) -> dict[str, tuple[int, float]]:
    """Compile groups, with a bar and the remaining time on a terminal, else a line for each of them."""
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    shown = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*shown, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("compiling kernels", total=len(names))

    def tell(name: str, done: int, total: int) -> None:
        bar.update(task, completed=done, description=f"compiled {done} of {total} groups ({name})")
        if not console.is_terminal:
            console.print(f"{done} of {total}: {name}")

    with bar:
        return warm_up(names, workers, tell)
