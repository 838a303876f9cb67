"""What the speed tables share: the rods, fair timing, and the table itself."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for tests.reference, which holds the independent solvers

import pliant as pl  # noqa: E402


@dataclass(frozen=True)
class Timing:
    """Seconds per call of several blocks of calls."""

    blocks: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.blocks)

    @property
    def least(self) -> float:
        return min(self.blocks)


def time_blocks(
    calls: dict[str, Callable[[], object]], blocks: int = 7, seconds: float = 0.2
) -> dict[str, Timing]:
    """Time several calls in turns, so that a busy machine slows all of them alike.

    Each block repeats a call until about ``seconds`` have passed. Every call runs once before, which
    compiles its kernels.
    """
    counts = {}
    for name, call in calls.items():
        call()
        counts[name] = max(1, round(seconds / _time(call, 1)))
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(blocks):
        for name, call in calls.items():
            found[name].append(_time(call, counts[name]))
    return {name: Timing(tuple(values)) for name, values in found.items()}


def least_time(call: Callable[[], object], count: int = 3) -> float:
    """Return the seconds of the fastest of a few calls."""
    return min(_time(call, 1) for _ in range(count))


def least_processor_time(call: Callable[[], object], count: int = 3) -> float:
    """Return the seconds of processor time of the fastest of a few calls."""
    found = []
    for _ in range(count):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return min(found)


def _time(call: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - began) / count


class Report:
    """A table of measurements; rows with a limit say whether they keep it.

    A limit starts with ">=" or "<=" and is judged by the median.
    """

    def __init__(self, title: str) -> None:
        self.table = Table(title=title, title_justify="left", title_style="bold")
        self.table.add_column("what")
        for heading in ("median", "minimum", "ratio", "goal"):
            self.table.add_column(heading, justify="right")
        self.table.add_column("")

    def add(
        self, what: str, timing: Timing | None = None, ratio: float | None = None, goal: str = ""
    ) -> None:
        verdict = ""
        if goal:
            assert ratio is not None
            limit = float(goal[2:])
            kept = ratio >= limit if goal.startswith(">=") else ratio <= limit
            verdict = "[green]pass[/]" if kept else "[red]FAIL[/]"
        times = (seconds(timing.median), seconds(timing.least)) if timing else ("", "")
        shown = "" if ratio is None else f"{ratio:.3g}"
        self.table.add_row(what, *times, shown, goal, verdict)

    def print(self) -> None:
        console = Console(width=None if sys.stdout.isatty() else 110)
        console.print(self.table)
        load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        console.print(
            f"[dim]Python {platform.python_version()}, {platform.machine()}, "
            f"{os.cpu_count()} cores{load}[/]"
        )


def seconds(value: float) -> str:
    """Return a time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def tapered_cantilever() -> pl.Robot:
    """Return the weightless tapered rod of the static studies, pulled by 0.25 N at its tip."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod(
        "rod",
        length=1.0,
        section=pl.Circle((0.03, 0.015)),
        material=pl.Material(E=2e5, nu=0.45),
        pose=pl.along("x"),
    )
    robot.add_load("pull", rod.tip, force=(0, 0, 0.25))
    return robot


def released_rod() -> pl.Robot:
    """Return the weightless tapered rod that is bent by 10 N and let go; its density is assumed."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod(
        "rod",
        length=1.0,
        section=pl.Circle((0.05, 0.03)),
        material=pl.Material(E=2e6, nu=0.45, rho=1000.0),
        pose=pl.along("x"),
    )
    robot.add_load("pull", rod.tip, force=(0, 0, 10.0))
    return robot
