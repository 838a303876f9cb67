"""Random trees of rods, bodies, joints, springs, tendons and loops: do two formulations agree?

Run ``python benchmarks/random_trees.py [--seed 0] [--count 60]``. Every robot is solved at rest and
moved for 0.05 s with `BSpline` and with `Strain`, whose maps share no code. The table counts those that
agree, those that do not with a warning, those that do not without one, refusals and tracebacks.
"""

from __future__ import annotations

import argparse
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tests.reference.random_trees import answers, motions

FORMULATIONS = (pl.BSpline(4, 12), pl.Strain(3, 3))
NEAR = {"statics": 3e-4, "motion": 1e-3}
"""Distance between positions that agree, m."""
TAKEN = 0.02
"""Share of the energy that the balance of a motion may lack."""


def verdict(kind: str, ask: Callable[..., Any], seed: int) -> tuple[str, str]:
    """What became of a robot, and a note."""
    try:
        found = [ask(seed, formulation) for formulation in FORMULATIONS]
    except Exception:
        return "traceback", traceback.format_exc(limit=-1)
    words = [result[0] for result in found]
    told = sorted({name for result in found for name in result[-1]})
    if "refused" in words:
        why = next(result[1] for result in found if result[0] == "refused")
        return ("refused" if words[0] == words[1] else "refused by one"), why[:160]
    far = float(np.abs(found[0][1] - found[1][1]).max())
    taken = max((result[2] for result in found if len(result) == 4), default=0.0)
    if far <= NEAR[kind] and taken <= TAKEN:
        return "agree", ""
    note = f"{far:.2g} m apart, {100.0 * taken:.2g} % of the energy lacking; {', '.join(told)}"
    return ("differ, told" if told else "differ, not told"), note


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    console, table = Console(), Table("", "count", title="random trees")
    for kind, ask in (("statics", answers), ("motion", motions)):
        counts: Counter[str] = Counter()
        for seed in track(range(given.seed, given.seed + given.count), kind, console=console):
            word, note = verdict(kind, ask, seed)
            counts[word] += 1
            if note:
                console.print(f"{kind} {seed}: {word}: {note}")
        for word, count in counts.most_common():
            table.add_row(f"{kind}: {word}", str(count))
    console.print(table)


if __name__ == "__main__":
    main()
