"""The pneumatic actuator in real time: 10 s at once, and 100,000 steps of 1 ms one per call.

Planar ANCF, 4 elements, 30 g at the tip, pressures of both chambers moving, Newmark. Python's cyclic
collector rests, as `with robot.stepper(...)` makes it. How long the slowest of many steps takes is as
much a matter of the machine. So steps are streamed as a controller would run them, with real-time
priority on one core where the system allows it, in several passes of 100,000. The goal is for the
quietest pass; beside it stand all the others, one of plain hashing, which always does the same, and the
slowest step when each counts with its shortest time of all passes, which have the same inputs. The
histogram of the quietest pass is drawn into the file named as argument.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from _common import Report, Timing, pl
from rich.console import Console
from rich.table import Table

DT, STEPS = 1e-3, 100_000
PASSES = 20
REST_AFTER, REST = 20_000, 0.06
"""Steps after which a pass rests so many seconds: a kernel stops real-time work that never does."""
FIRST, SECOND = pl.Sine(2e4, 0.7, offset=2e4), pl.Sine(1e4, 1.0, offset=1e4)
SETTINGS = {"formulation": pl.ANCF(4), "integrator": pl.Newmark()}
EDGES = 1e-6 * np.array(
    [0, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 10000, np.inf]
)


def actuator() -> pl.Robot:
    """Return the actuator of Rong and Gu (2024), horizontal, with 30 g at its tip."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12038, mass_damping=2.4)
    rod = robot.add_actuator("finger", part, pl.along("x"))
    robot.add_body("weight", 0.03, on=rod.tip)
    return robot


def at_once(robot: pl.Robot, report: Report) -> None:
    """Simulate 10 s, several times."""
    inputs = {"chamber1": FIRST, "chamber2": SECOND}
    start = robot.statics({name: ask(0.0) for name, ask in inputs.items()}, pl.ANCF(4))
    times, busy = [], []
    for _ in range(8):
        began, worked = time.perf_counter(), time.process_time()
        motion = robot.simulate(10.0, DT, inputs, start=start, **SETTINGS)
        times.append(time.perf_counter() - began)
        busy.append(time.process_time() - worked)
    found, used = Timing(tuple(times[1:])), Timing(tuple(busy[1:]))
    report.add("10 s at once, Newmark(), by the clock", found)
    report.add("  on the processor", used)
    per_step = motion.iterations / motion.steps
    each = Timing(tuple(t / motion.steps for t in used.blocks))
    report.add(f"  each step, of {per_step:.2f} iterations", each)
    report.add("  faster than real time, by the clock", ratio=10.0 / found.median)
    report.add("  faster than real time, processor", ratio=10.0 / used.median, goal=">=50")
    energy = motion.energy
    share = np.abs(energy["balance"]).max() / np.abs(energy["work"]).max()
    report.add("  energy not accounted for, % of the work", ratio=100 * share, goal="<=0.01")


@contextmanager
def real_time() -> Iterator[str]:
    """One core and real-time priority for this process, where allowed; yields how it runs."""
    if not hasattr(os, "sched_setscheduler"):
        yield "ordinary priority"
        return
    cores, policy, param = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setaffinity(0, {max(cores)})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        how = "real-time priority"
    except PermissionError:
        how = "ordinary priority: real-time priority is not permitted to this user"
    try:
        yield how
    finally:
        os.sched_setscheduler(0, policy, param)
        os.sched_setaffinity(0, cores)


def hashing(block: bytes = bytes(35_000)) -> np.ndarray:
    """Seconds of each of as many runs of the same work, some 25 µs of it, outside Python."""
    clock = np.zeros(STEPS)
    for k in range(STEPS):
        if k % REST_AFTER == 0:
            time.sleep(REST)
        began = time.perf_counter_ns()
        hashlib.sha256(block).digest()
        clock[k] = 1e-9 * (time.perf_counter_ns() - began)
    return clock


def one_per_call(robot: pl.Robot, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of every step of a pass, by the clock and on the processor.

    It rests at other steps than the pass of another number.
    """
    t = DT * np.arange(1, STEPS + 1)
    pairs = [{"chamber1": FIRST(x), "chamber2": SECOND(x)} for x in t.tolist()]
    clock, processor = np.zeros(STEPS), np.zeros(STEPS)
    now = {"chamber1": FIRST(0.0), "chamber2": SECOND(0.0)}
    with robot.stepper(DT, now, start="statics", **SETTINGS) as stepper:
        for k in range(-1000, STEPS):
            if (k + 700 * number) % REST_AFTER == 0:
                time.sleep(REST)
            busy, began = time.thread_time_ns(), time.perf_counter_ns()
            state = stepper.step(pairs[max(k, 0)])
            ended, done = time.perf_counter_ns(), time.thread_time_ns()
            assert state.converged
            if k >= 0:
                clock[k], processor[k] = 1e-9 * (ended - began), 1e-9 * (done - busy)
    return clock, processor


def draw(clock: np.ndarray, processor: np.ndarray, path: Path) -> None:
    """Draw both histograms."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from pliant.view import style

    with style():
        _, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        bins = np.geomspace(5e-6, max(10e-3, clock.max()), 120)
        for times, label in ((clock, "by the clock"), (processor, "on the processor")):
            ax.hist(1e6 * times, 1e6 * bins, histtype="step", label=label)
            ax.axvline(1e6 * np.median(times), linewidth=0.6, color="#8a8f98")
        ax.set(xscale="log", yscale="log", xlabel="time of a step / µs", ylabel="steps")
        ax.set_title(f"{len(clock):,} steps of the actuator, one per call")
        ax.legend()
        plt.savefig(path, dpi=150)


def main() -> None:
    given = sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.gettempdir()}/pliant_streaming.png"
    robot = actuator()
    report = Report("Pneumatic actuator, ANCF(4), steps of 1 ms")
    at_once(robot, report)
    with real_time() as how:
        passes = [one_per_call(robot, number) for number in range(PASSES)]
        same = hashing()
    worst = [clock.max() / np.median(clock) for clock, _ in passes]
    clock, processor = passes[int(np.argmin(worst))]
    median = float(np.median(clock))
    report.add(f"one step per call, quietest of {PASSES} passes", Timing(tuple(clock)))
    report.add("  median / ms", ratio=1e3 * median, goal="<=0.2")
    report.add("  99.99 % of the steps below, / median", ratio=np.quantile(clock, 0.9999) / median)
    report.add("  slowest / median", ratio=min(worst), goal="<=10")
    report.add("  slowest / median, on the processor", ratio=processor.max() / np.median(processor))
    report.add("  slowest / median of plain hashing", ratio=same.max() / np.median(same))
    least = np.min([clock for clock, _ in passes], axis=0)
    report.add("  slowest / median, each at its shortest", ratio=least.max() / np.median(least))
    report.print()
    print(f"passes of {STEPS:,} steps, {how}; slowest / median of each:")
    print("  " + ", ".join(f"{ratio:.3g}" for ratio in worst))
    table = Table(title="Steps by their time", title_justify="left", title_style="bold")
    for heading in ("from / µs", "to / µs", "by the clock", "on the processor"):
        table.add_column(heading, justify="right")
    counts = (np.histogram(times, EDGES)[0] for times in (clock, processor))
    rows = zip(EDGES[:-1], EDGES[1:], *counts, strict=True)
    for low, high, first, second in rows:
        if first or second:
            table.add_row(f"{1e6 * low:g}", f"{1e6 * high:g}", f"{first:,}", f"{second:,}")
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    draw(clock, processor, Path(given))
    print(f"histogram in {given}")


if __name__ == "__main__":
    main()
