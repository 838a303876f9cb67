"""Size and speed of equations with symbols: the STIFF-FLOP appendage with 1 to 5 segments or orders.

For SRL, EBR, EBA and ROM of pliant/robots/stiff_flop.yaml: operations of mass, bias and forces and of
the accelerations, CPU time to derive them, and CPU time of one evaluation of the accelerations, in
CasADi and by `robot.equations()`. With --compile also in C (-O1), with the time of the compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import ROOT
from rich.console import Console
from rich.table import Table

import pliant as pl
from pliant.symbolic import SymbolicEquations, equations

FILE = Path(ROOT) / "pliant" / "robots" / "stiff_flop.yaml"
MODELS = (pl.SRL, pl.EBR, pl.EBA, pl.ROM)
INPUTS = {"air 1a": 6e4, "air 1b": 6e4}
CALLS = 200


def cpu(work: Callable[[], Any], calls: int) -> float:
    """CPU seconds of one call, the least of three rounds."""
    rounds = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(calls):
            work()
        rounds.append((time.process_time() - start) / calls)
    return min(rounds)


def in_c(eq: SymbolicEquations, arguments: list[Any]) -> tuple[float, float]:
    """Wall seconds of the compiler, and CPU seconds of one call."""
    with tempfile.TemporaryDirectory() as folder:
        source = eq.export_c(folder, "arm", functions=("accelerations",))
        library = Path(folder) / "arm.so"
        start = time.perf_counter()
        command = ["cc", "-O1", "-shared", "-fPIC", str(source), "-lm", "-o", str(library)]
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        call = ctypes.CDLL(str(library)).arm_accelerations
        a = np.zeros(len(eq.names))
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*arguments, a)]
        return seconds, cpu(lambda: call(*pointers, None, None), CALLS)


def row(robot: pl.Robot, model: Any, size: int, compiled: bool) -> list[str]:
    start = time.process_time()
    eq = equations(robot, formulation=model(size))
    terms = [eq.mass, eq.bias, eq.forces]
    derived = time.process_time() - start
    solved = eq.accelerations
    whole = time.process_time() - start
    numeric = robot.equations(INPUTS, formulation=model(size))
    q = numeric.moved(numeric.rest, np.full(len(eq.names), 1e-3))
    Q, v = eq.coordinates(q), np.full(len(eq.names), 0.1)
    arguments = [Q, v, eq.u(INPUTS), np.zeros(0), eq.p()]
    known = numeric.accelerations(q, v).a
    apart = np.abs(np.array(solved(*arguments)[0]).ravel() - known).max() / np.abs(known).max()
    times = [cpu(lambda: solved(*arguments), CALLS), cpu(lambda: numeric.accelerations(q, v), 20)]
    cells = [f"{model.__name__}({size})", str(len(eq.names))]
    cells += [f"{sum(f.n_instructions() for f in terms)}", f"{solved.n_instructions()}"]
    cells += [f"{derived:.2f}", f"{whole:.2f}", *(f"{1e6 * x:.0f}" for x in times), f"{apart:.0e}"]
    if compiled:
        seconds, call = in_c(eq, arguments)
        cells += [f"{seconds:.1f}", f"{1e6 * call:.1f}"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--compile", action="store_true", help="also in C")
    compiled = parser.parse_args().compile
    robot = pl.Robot.from_file(FILE)
    heads = ["model", "velocities", "operations M, b, f", "of a", "derived / s", "with a / s"]
    heads += ["CasADi / µs", "numeric / µs", "difference"]
    heads += ["cc / s", "C / µs"] if compiled else []
    table = Table(*heads, title="Equations of the STIFF-FLOP appendage")
    for model in MODELS:
        for size in range(1, 6):
            table.add_row(*row(robot, model, size, compiled))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
