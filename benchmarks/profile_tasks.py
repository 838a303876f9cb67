"""Where the time of the tasks for peers goes: kernels, factorisation, Python.

    python benchmarks/profile_tasks.py [--rounds 7] [--write]

Each task is solved by whole calls of a user, from the description to the tips, in turns, with kernels
warm. CPU time is split by clocks around every compiled call from Python and, within compiled loops,
around every factorisation; both calls with and without clocks are made, and shares are of the latter.
``--write`` puts the table into docs/profile.md.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

from tasks import TASKS  # noqa: E402
from tool_pliant import solve  # noqa: E402

from pliant.engine.program import run  # noqa: E402
from pliant.linalg import matrices, sparse_factor  # noqa: E402

CASES = (
    ("T1", {"accuracy": 1e-3}), ("T1", {"n": 8}),
    ("T2", {"accuracy": 1e-3}), ("T2", {"n": 24, "h": 0.05, "integrator": "Explicit"}),
    ("T3", {"accuracy": 1e-3}), ("T3", {"n": 2, "h": 0.0125, "integrator": "Radau"}),
    ("T4", {"accuracy": 1e-3}), ("T4", {"n": 4, "h": 0.05, "integrator": "Explicit"}),
    ("T5", {"n": 16, "h": 0.05, "integrator": "Explicit"}),
    ("T6", {"accuracy": 1e-3}),
    ("T7", {"n": 2}),
)  # fmt: skip
SPATIAL = {"T6", "T7"}
PAGE = HERE.parent / "docs" / "profile.md"
_OTHER = 1e-6
"""Change of the modulus from call to call."""

_clock = ctypes.CDLL(None).clock
_clock.restype, _clock.argtypes = ctypes.c_long, []
_began, _factorised = np.zeros(1), np.zeros(1)
"""Microseconds of the processor: when the last factorisation began, and all of them."""


@numba.njit
def tick(began):  # type: ignore[no-untyped-def]
    began[0] = _clock()


@numba.njit
def tock(began, total):  # type: ignore[no-untyped-def]
    total[0] += _clock() - began[0]


def watch_factors() -> None:
    """Put clocks around all factorisations that are recorded from now on."""
    for module in (matrices, sparse_factor):
        for kind in vars(module).values():
            if isinstance(kind, type) and "record_factorise" in vars(kind):
                kind.record_factorise = _clocked(kind.record_factorise)


def _clocked(plain: Callable[..., None]) -> Callable[..., None]:
    def record_factorise(self: Any) -> None:
        run(tick, _began)
        plain(self)
        run(tock, _began, _factorised)

    return record_factorise


@contextmanager
def kernel_clock() -> Iterator[list[float]]:
    """Seconds of the processor in compiled calls from Python, in a list of one."""
    spent, inside, call = [0.0], [False], Dispatcher.__call__

    def timed(self: Any, *arguments: Any, **named: Any) -> Any:
        if inside[0]:
            return call(self, *arguments, **named)
        inside[0], began = True, time.thread_time()
        try:
            return call(self, *arguments, **named)
        finally:
            spent[0] += time.thread_time() - began
            inside[0] = False

    Dispatcher.__call__ = timed
    try:
        yield spent
    finally:
        Dispatcher.__call__ = call


@dataclass
class Case:
    """A task with a setting, and CPU seconds of its calls: in all, in kernels, in factorisations."""

    name: str
    setting: dict[str, Any]
    rounds: list[tuple[float, float, float]] = field(default_factory=list)
    calls: int = 0

    def call(self) -> float:
        """Seconds of a call for a robot of another modulus than all before."""
        spatial = self.name in SPATIAL
        task, self.calls = TASKS[self.name].variant(spatial), self.calls + 1
        task = replace(task, rod=replace(task.rod, E=task.rod.E * (1.0 + _OTHER * self.calls)))
        began = time.process_time()
        solve(task, spatial, **self.setting)
        return time.process_time() - began

    def measure(self) -> None:
        """A call without clocks and one with them."""
        whole = self.call()
        _factorised[0] = 0.0
        with kernel_clock() as kernels:
            watched = self.call()
        scale = whole / watched
        self.rounds.append((whole, scale * kernels[0], scale * 1e-6 * _factorised[0]))

    def row(self) -> str:
        """A row of the table."""
        whole, kernels, factors = (
            statistics.median(column) for column in zip(*self.rounds, strict=True)
        )
        asked = ", ".join(f"{key} = {value}" for key, value in self.setting.items())
        shares = (kernels - factors, factors, whole - kernels)
        cells = [f"{100.0 * share / whole:.0f} %" for share in shares]
        return f"| {self.name} | {asked} | {1e3 * whole:.1f} | {' | '.join(cells)} |"


HEAD = """| task | setting | CPU, ms | kernels | factorisation | Python |
|---|---|---:|---:|---:|---:|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    watch_factors()
    cases = [Case(name, setting) for name, setting in CASES]
    for case in cases:
        case.call()
    for _ in range(given.rounds):
        for case in cases:
            case.measure()
    table = "\n".join([HEAD, *(case.row() for case in cases)])
    print(table)
    if given.write:
        text = PAGE.read_text()
        start, end = text.index("| task |"), text.index("\n\n", text.index("| task |"))
        PAGE.write_text(text[:start] + table + text[end:])


if __name__ == "__main__":
    main()
