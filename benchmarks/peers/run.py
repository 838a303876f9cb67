"""Pliant and its peers on the same tasks, in one sitting; writes results and docs/peers.md.

    make peers                                        # or: python benchmarks/peers/run.py
    python benchmarks/peers/run.py --tasks T1 T3 --tools pliant exudyn --repeats 3

Each tool runs in a process and in a virtual environment of its own (below build/peers). The tools
take turns: a busy machine slows all of them alike. A peer that cannot be installed is skipped by
name.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from tasks import TASKS  # noqa: E402

PEERS = {
    "exudyn": "exudyn",
    "pyelastica": "pyelastica",
    "mujoco": "mujoco<4",
    "soromox": "soromox",
}
"""What pip installs for each peer."""
OWN = "pliant"
VARIANTS = {"planar": False, "spatial": True}
PATIENCE = 300.0
"""Seconds after which a call is given up."""
BLOCK = 0.05
"""Seconds of CPU that a block of calls takes at least."""
RESULTS, REFERENCES = HERE / "results.json", HERE / "references.json"


class Worker:
    """A tool in its process; starts again after a call that was given up."""

    def __init__(self, tool: str, python: str) -> None:
        self.tool, self.python = tool, python
        self.process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        return subprocess.Popen(
            [self.python, str(HERE / "worker.py"), self.tool],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | quiet,
            cwd=tempfile.gettempdir(),
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send an order and wait for its answer."""
        self.process = self.process or self._start()
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(json.dumps(order), file=self.process.stdin, flush=True)
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            line = self.process.stdout.readline() if ready else ""
        except OSError:
            line, ready = "", [True]
        if line:
            return json.loads(line)
        self.close()
        return {"error": "the process ended" if ready else f"no result within {PATIENCE:g} s"}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def install(tool: str, folder: Path) -> tuple[str, str]:
    """Return the interpreter of a peer's environment and its version; raises RuntimeError."""
    python = folder / tool / "bin" / "python"
    commands = [
        [sys.executable, "-m", "venv", str(folder / tool)],
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            PEERS[tool],
        ],
    ]
    package = PEERS[tool].split("<")[0]
    version = f"import importlib.metadata as m; print(m.version({package!r}))"
    for command in [] if python.exists() else commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["pip failed"])[-1])
    done = subprocess.run([str(python), "-c", version], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{package} is not in {folder / tool}; remove that folder and try again")
    return str(python), done.stdout.strip()


def open_tools(names: list[str], folder: Path) -> tuple[dict[str, Worker], dict, dict]:
    """Workers, versions, and by name why a peer is skipped."""
    import pliant

    workers, versions, skipped = {}, {}, {}
    for name in names:
        if name == OWN:
            workers[name], versions[name] = Worker(name, sys.executable), pliant.__version__
            continue
        try:
            python, versions[name] = install(name, folder)
            workers[name] = Worker(name, python)
        except (RuntimeError, OSError) as error:
            skipped[name] = str(error)
            print(f"{name} is skipped: {error}", flush=True)
    return workers, versions, skipped


def error_of(tips: Any, truth: Any, length: float) -> float:
    """The largest distance of the tip over all outputs, in % of the length."""
    tips, truth = np.asarray(tips), np.asarray(truth)
    if tips.shape != truth.shape:
        return float("nan")
    return float(100.0 * np.linalg.norm(tips - truth, axis=-1).max() / length)


def interleave(lists: list[list[Any]]) -> list[Any]:
    """One of each list in turn."""
    longest = max(map(len, lists), default=0)
    return [one[k] for k in range(longest) for one in lists if k < len(one)]


def measure(
    workers: dict[str, Worker], name: str, spatial: bool, truth: Any, repeats: int
) -> list[dict[str, Any]]:
    """Sweep all tools over their settings on one task; the first call of each is not timed."""
    task, began = TASKS[name].variant(spatial), time.perf_counter()
    sweeps = []
    for tool, worker in workers.items():
        found = worker.ask(sweep=name, spatial=spatial).get("settings", [])
        sweeps.append([{"tool": tool, "setting": setting} for setting in found])
    rows = [{"task": name, "spatial": spatial, **one, "cpu": []} for one in interleave(sweeps)]
    for turn in range(repeats + 1):
        for row in rows:
            if "error" in row or (turn > 0 and row["cpu"] and row["cpu"][0] > SLOW):
                continue
            calls = row.get("calls", 1)
            order = {"task": name, "spatial": spatial, "setting": row["setting"], "calls": calls}
            got = workers[row["tool"]].ask(**order)
            if "error" in got:
                row["error"] = got["error"]
            elif turn == 0:
                row["percent"] = error_of(got["tips"], truth, task.rod.length)
                again = workers[row["tool"]].ask(**order)  # warm: how many calls make a block
                spent = again["cpu"][0] if "cpu" in again else got["cpu"][0]
                row["cpu"] = [spent] if spent > SLOW else []
                row["calls"] = min(50, max(1, round(BLOCK / max(spent, 1e-6))))
            else:
                row["cpu"].append(statistics.fmean(got["cpu"]))
        spent = time.perf_counter() - began
        where = f"{name} {'spatial' if spatial else 'planar'}"
        print(f"  {where}: turn {turn} of {repeats}, {spent:.0f} s", flush=True)
    return rows


SLOW = 2.0
"""Seconds of CPU: what takes longer is timed once."""


def code_lines(path: Path) -> int:
    """Lines of code of a file, without comments, docstrings and blank lines."""
    text = path.read_text()
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        bool(line.strip()) and line.strip()[0] != "#" and k not in prose for k, line in lines
    )


def machine() -> str:
    """The processor, as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def kept(
    old: dict[str, Any], new: dict[str, Any], tasks: list[str], tools: list[str]
) -> dict[str, Any]:
    """Earlier results without the rows of some tasks by some tools, which are measured anew."""
    rows = [row for row in old["rows"] if row["task"] not in tasks or row["tool"] not in tools]
    both = {key: {**old[key], **new[key]} for key in ("versions", "lines")}
    skipped = {k: why for k, why in old["skipped"].items() if k not in tools} | new["skipped"]
    return {**old, **both, "skipped": skipped, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--tools", nargs="*", default=[OWN, *PEERS], choices=[OWN, *PEERS])
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--keep", action="store_true", help="keep the other rows of the output")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    given = parser.parse_args()
    truths = json.loads(REFERENCES.read_text())["tips"]
    workers, versions, skipped = open_tools(given.tools, given.folder)
    found: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "repeats": given.repeats,
        "versions": versions,
        "skipped": skipped,
        "lines": {name: code_lines(HERE / f"tool_{name}.py") for name in versions},
        "rows": [],
    }
    if given.keep:
        found = kept(json.loads(given.output.read_text()), found, given.tasks, given.tools)
    for variant in given.variants:
        for name in given.tasks:
            if not (VARIANTS[variant] or TASKS[name].planar):
                continue
            truth = truths[f"{name} {variant}"]
            found["rows"] += measure(workers, name, VARIANTS[variant], truth, given.repeats)
            given.output.write_text(json.dumps(found, indent=1) + "\n")
    for worker in workers.values():
        worker.close()
    from page import write_page

    write_page(found, given.docs)
    print(f"written: {given.output} and {given.docs / 'peers.md'}")


if __name__ == "__main__":
    main()
