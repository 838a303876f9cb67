"""How long the first use waits for kernels to compile, and later starts for their first result.

Runs `pliant run` with an empty kernel cache, then again with what the first run left in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _common import ROOT, Report, Timing

FIRST_RESULT = "Equilibrium:"
COMPILED = re.compile(r"(\d+) kernels? compiled within (\d+) s")
COMPILING, STARTING = 90.0, 3.0
"""Goals, seconds."""


def run(folder: Path) -> tuple[float, float, list[str]]:
    """Run the bundled robot; return seconds to the first result and to the end, and its lines."""
    environment = os.environ | {"PLIANT_CACHE_DIR": str(folder / "cache"), "PYTHONUNBUFFERED": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    command = [sys.executable, "-m", "pliant", "run", "-o", str(folder / "results")]
    began, first, lines = time.perf_counter(), 0.0, []
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if FIRST_RESULT in line and not first:
                first = time.perf_counter() - began
    assert process.returncode == 0, f"{' '.join(command)} failed"
    return first, time.perf_counter() - began, lines


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        fresh = run(Path(name))
        again = [run(Path(name)) for _ in range(3)]
    told = [match for line in fresh[2] if (match := COMPILED.search(line))]
    assert told, "the first run does not say that it compiles"
    whole = Timing(tuple(seconds for _, seconds, _ in again))
    first = Timing(tuple(seconds for seconds, _, _ in again))
    compiling = fresh[1] - whole.median
    report = Report("`pliant run` of the bundled robot, imports, pictures and animation included")
    report.add("fresh cache, to the end", Timing((fresh[1],)))
    what = f"  {sum(int(m[1]) for m in told)} kernels compiled, over {COMPILING:g} s"
    report.add(what, Timing((compiling,)), compiling / COMPILING, "<=1")
    report.add("later starts, to the end", whole)
    what = f"  to the first result, over {STARTING:g} s"
    report.add(what, first, first.median / STARTING, "<=1")
    report.print()


if __name__ == "__main__":
    main()
