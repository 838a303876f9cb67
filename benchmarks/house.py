"""What a step, an iteration, a fit and the first result cost, next to an earlier commit.

Without names, all that does not compile is measured; `first_static` and `five_formulations` start with
an empty kernel cache and take minutes, so they are measured when they are named. Both trees take turns
in processes of their own. The earlier commit needs packages that Pliant no longer does: `pip install
pydantic qdldl`.

    python benchmarks/house.py
    python benchmarks/house.py midpoint star32 --rounds 9
    python benchmarks/house.py first_static five_formulations --rounds 1
"""

from __future__ import annotations

import argparse
import os
import statistics
from contextlib import nullcontext
from dataclasses import dataclass

from _common import ROOT, seconds
from _versus import Versus, checked_out, compare
from rich.console import Console
from rich.table import Table

BEFORE = "07adcc4"
"""The commit that goals are stated against."""
SCRIPT = ROOT / "benchmarks" / "_house_work.py"


@dataclass(frozen=True)
class Goal:
    """What is measured, how many times faster than before it is to be, or how many CPU seconds."""

    what: str
    gain: float | None = None
    limit: float | None = None
    cold: bool = False
    alone: bool = False
    """True if the earlier commit cannot do it."""

    def said(self) -> str:
        if self.limit is not None:
            return f"<= {self.limit:g} s"
        return "" if self.gain is None else f">= {self.gain:.3g} times"

    def kept(self, measured: Versus) -> bool | None:
        if self.limit is not None:
            return statistics.median(measured.now) <= self.limit
        if self.gain is None or not measured.before:
            return None
        return measured.gain >= self.gain


SAME = 1 / 1.1
GOALS = {
    "midpoint": Goal("Midpoint step, BSpline(3, 15)", 3.0),
    "midpoint_space": Goal("the same, bent out of its plane", 3.5),
    "static": Goal("static iteration, BSpline(3, 15)", 1.3),
    "newmark": Goal("Newmark step, BSpline(3, 15)", 4.0),
    "star32": Goal("Midpoint step, star of 32 rods, 8 points each", 10.0),
    "star64": Goal("the same, 64 rods", alone=True),
    "ancf": Goal("Newmark step of the actuator, ANCF(4)", SAME),
    "streaming": Goal("the same, one step per call", SAME),
    "shooting": Goal("step by shooting, 100 intervals", SAME),
    "collocation": Goal("step by collocation, 16 nodes", SAME),
    "fit": Goal("fit of two parameters to 1 s of motion", SAME),
    "first_static": Goal("first static result", limit=30.0, cold=True),
    "five_formulations": Goal("five formulations, statics and simulate", limit=150.0, cold=True),
}


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("work", nargs="*", metavar="work", help=", ".join(GOALS))
    parser.add_argument("--before", default=BEFORE, help="commit to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each tree")
    parser.add_argument("--alone", action="store_true", help="measure this tree only")
    found = parser.parse_args()
    unknown = [name for name in found.work if name not in GOALS]
    if unknown:
        parser.error(f"no such work: {', '.join(unknown)}; there is {', '.join(GOALS)}")
    found.work = found.work or [name for name, goal in GOALS.items() if not goal.cold]
    return found


def main() -> None:
    ask = asked()
    table = Table(
        title="CPU time next to an earlier commit", title_justify="left", title_style="bold"
    )
    table.add_column("what")
    for heading in (ask.before[:7], "now", "times faster", "goal", ""):
        table.add_column(heading, justify="right")
    console = Console(width=None if os.isatty(1) else 110)
    tree: nullcontext[None] | object = nullcontext() if ask.alone else checked_out(ask.before)
    with tree as other:  # type: ignore[attr-defined]
        for name in ask.work:
            goal = GOALS[name]
            found = compare(SCRIPT, name, None if goal.alone else other, ask.rounds, goal.cold)
            row = cells(goal, found)
            table.add_row(*row)
            console.print(f"[dim]{', '.join(filter(None, row))}[/]")
    console.print(table)


def cells(goal: Goal, found: Versus) -> list[str]:
    """What was measured, as a row of the table."""
    kept = goal.kept(found)
    verdict = "" if kept is None else "[green]pass[/]" if kept else "[red]FAIL[/]"
    before = seconds(statistics.median(found.before)) if found.before else ""
    gain = f"{found.gain:.3g}" if found.before else ""
    now = seconds(statistics.median(found.now))
    return [goal.what, before, now, gain, goal.said(), verdict]


if __name__ == "__main__":
    main()
