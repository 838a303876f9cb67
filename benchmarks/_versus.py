"""The same work by this tree and by another commit, side by side in one run.

Both trees run the same script in processes of their own, with their own `PYTHONPATH`. They take turns,
so that a busy machine slows both alike; what counts is the ratio of the medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from _common import ROOT


@dataclass(frozen=True)
class Versus:
    """Seconds of each round, by the other commit (empty if it was not asked) and by this tree."""

    before: tuple[float, ...]
    now: tuple[float, ...]

    @property
    def gain(self) -> float:
        """How many times faster this tree is."""
        return statistics.median(self.before) / statistics.median(self.now)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yield a folder with the tree of a commit, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / commit
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(
            [*git, "add", "--detach", str(folder), commit], check=True, capture_output=True
        )
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], check=True)


class Worker:
    """A process that runs a workload of a script in one tree, once for each call."""

    def __init__(self, tree: Path, script: Path, work: str, cache: str | None) -> None:
        more = {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        if cache is not None:
            more["PLIANT_CACHE_DIR"] = cache
        self._process = subprocess.Popen(
            [sys.executable, str(script), work],
            env=os.environ | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = self._line()
        assert told.startswith("ready") and str(tree) in told, f"{work} in {tree}: {told!r}"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __call__(self) -> float:
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return float(self._line())

    def close(self) -> None:
        self._process.communicate()


def compare(script: Path, work: str, other: Path | None, rounds: int, cold: bool = False) -> Versus:
    """Run a workload in turns by the tree `other`, if any, and by this one.

    `cold` work begins each round in a new process with an empty kernel cache; any other work runs once
    before it counts.
    """
    trees = [ROOT] if other is None else [other, ROOT]
    times: dict[Path, list[float]] = {tree: [] for tree in trees}
    with ExitStack() as stack:
        workers = {}
        for tree in () if cold else trees:
            workers[tree] = Worker(tree, script, work, None)
            stack.callback(workers[tree].close)
            workers[tree]()
        for _ in range(rounds):
            for tree in trees:
                times[tree].append(_cold(tree, script, work) if cold else workers[tree]())
    return Versus(tuple(times[other]) if other else (), tuple(times[ROOT]))


def _cold(tree: Path, script: Path, work: str) -> float:
    """Seconds of a workload in a new process that finds no kernels."""
    with tempfile.TemporaryDirectory() as cache:
        worker = Worker(tree, script, work, cache)
        try:
            return worker()
        finally:
            worker.close()
