"""How large the package is, and how much of it serves the features of an earlier day.

Statements are counted on the syntax tree, without docstrings: of each folder, and of what today's
package does when the examples, the README and the documentation pages of an earlier commit run on it.
What counts is every function that these runs call, as a whole, and every compiled kernel that such a
function names, or that a kernel does that counts. "Reached" adds the rest of their modules without the
functions that were not called: imports, constants, classes with their fields. "Modules" takes these
modules as a whole; refusals, messages and rare cases, which examples do not show, are in this number
only. Later features in the same functions are in both. Programs that no longer run are named.

    python benchmarks/size.py
    python benchmarks/size.py --folders        # counts alone, nothing is run
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from _common import ROOT
from _versus import checked_out
from rich.console import Console
from rich.table import Table

BEFORE = "07adcc4"
"""The commit whose features are meant."""
GOAL = 20_000
"""Statements that these features are to take at the most."""
SCRIPT = ROOT / "benchmarks" / "_size_work.py"
Place = tuple[str, int]
"""A function by its file, relative to the package, and its first line."""


def statements(node: ast.AST) -> int:
    """Statements below a node, without docstrings."""
    found = [x for x in ast.walk(node) if isinstance(x, ast.stmt)]
    return sum(not _is_docstring(x) for x in found)


def _is_docstring(x: ast.stmt) -> bool:
    value = x.value if isinstance(x, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def first_line(node: ast.FunctionDef) -> int:
    """Line where the code of a function begins: that of its first decorator."""
    return min([node.lineno, *(x.lineno for x in node.decorator_list)])


def uncalled(tree: ast.AST, lines: set[int]) -> int:
    """Statements of the outermost functions of a module that do not begin at some lines."""
    total = 0
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and first_line(node) not in lines:
            total += statements(node)
        elif not isinstance(node, ast.FunctionDef):
            total += uncalled(node, lines)
    return total


def reached(places: set[Place]) -> tuple[Counter[str], Counter[str]]:
    """Statements by folder of what was called with the rest of its modules, and of these modules."""
    called, modules = Counter[str](), Counter[str]()
    for name in {file for file, _ in places}:
        tree = ast.parse((ROOT / "pliant" / name).read_text(encoding="utf-8"))
        whole = statements(tree)
        modules[folder(name)] += whole
        called[folder(name)] += whole - uncalled(tree, {line for f, line in places if f == name})
    return called, modules


def folder(name: str) -> str:
    return name.split("/")[0] if "/" in name else "(files)"


def called_by(tree: Path, program: Path, log: Path) -> str | None:
    """Run a program of an earlier tree on today's package; returns why it failed, if it did."""
    more = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(program), str(log)],
        env=os.environ | more, cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return None
    return (
        f"{program.relative_to(tree)}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
    )


def all_called(commit: str) -> tuple[set[Place], list[str]]:
    """What the programs of a commit call, and which of them failed."""
    places: set[Place] = set()
    with checked_out(commit) as tree, tempfile.TemporaryDirectory() as name:
        programs = [*sorted(tree.glob("examples/plot_*.py")), tree / "README.md"]
        programs += sorted(tree.glob("docs/*.md"))
        logs = [Path(name) / f"{k}.json" for k in range(len(programs))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = list(pool.map(partial(called_by, tree), programs, logs))
        for log in filter(Path.exists, logs):
            places |= {(file, line) for file, line in json.loads(log.read_text())}
    return places, [x for x in failed if x is not None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--before", default=BEFORE, help="commit whose features are meant")
    parser.add_argument("--folders", action="store_true", help="count folders, run nothing")
    ask = parser.parse_args()
    package, whole = ROOT / "pliant", Counter[str]()
    for path in package.rglob("*.py"):
        whole[folder(path.relative_to(package).as_posix())] += statements(
            ast.parse(path.read_text(encoding="utf-8"))
        )
    places, failed = (set(), []) if ask.folders else all_called(ask.before)
    columns = [whole, *(() if ask.folders else reached(places))]
    table = Table(title="Statements of the package", title_justify="left", title_style="bold")
    table.add_column("folder")
    for heading in ("all", "reached", "modules")[: len(columns)]:
        table.add_column(heading, justify="right")
    for name, _ in whole.most_common():
        table.add_row(name, *(f"{column[name]:,}" for column in columns))
    table.add_section()
    table.add_row("sum", *(f"{column.total():,}" for column in columns))
    console = Console(width=None if os.isatty(1) else 110)
    console.print(table)
    if not ask.folders:
        verdict = "[green]pass[/]" if columns[1].total() <= GOAL else "[red]FAIL[/]"
        console.print(f"features of {ask.before}, reached: at most {GOAL:,} {verdict}")
    for line in failed:
        console.print(f"[dim]no longer runs: {line}[/]")


if __name__ == "__main__":
    main()
