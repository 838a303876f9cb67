"""docs/peers.md and its picture from the results of `run.py`.

python benchmarks/peers/page.py        # writes the page again, without measuring
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from tasks import TASKS  # noqa: E402

LEVELS = (1.0, 0.3, 0.1)
"""Errors in % of the length at which CPU times are compared."""
NAMES = {
    "accuracy": "Pliant, `accuracy=`",
    "fixed": "Pliant, one setting",
    "exudyn": "Exudyn",
    "pyelastica": "PyElastica",
    "mujoco": "MuJoCo",
    "soromox": "SoRoMoX",
}
COLOURS = dict(zip(NAMES, ("C3", "C1", "C0", "C2", "C4", "C5"), strict=True))
Point = tuple[float, float]
"""CPU seconds and error in %."""


def curve_of(row: dict[str, Any]) -> str:
    """The curve that a row belongs to: its tool, and of Pliant two."""
    if row["tool"] != "pliant":
        return str(row["tool"])
    return "accuracy" if "accuracy" in row["setting"] else "fixed"


def points_of(rows: list[dict[str, Any]], task: str, spatial: bool) -> dict[str, list[Point]]:
    """All measurements of a task that gave a result, by curve."""
    found: dict[str, list[Point]] = {}
    for row in rows:
        asked = (row["task"], row["spatial"]) == (task, spatial) and row["cpu"]
        if asked and math.isfinite(row["percent"]):
            point = statistics.median(row["cpu"]), row["percent"]
            found.setdefault(curve_of(row), []).append(point)
    return {name: sorted(found[name]) for name in NAMES if name in found}


def front(points: list[Point]) -> list[Point]:
    """The points that no other one beats in both time and error, from fast to accurate."""
    best: list[Point] = []
    for cpu, error in sorted(points):
        if not best or error < best[-1][1]:
            best.append((cpu, error))
    return best


def cpu_at(points: list[Point], error: float) -> float | None:
    """CPU seconds at an error, between two points of the front in logarithms; None if out of reach."""
    line = front(points)
    if not line or line[-1][1] > error:
        return None
    if line[0][1] <= error:
        return line[0][0]
    for (fast, coarse), (slow, fine) in pairwise(line):
        if fine <= error < coarse:
            fine = max(fine, 1e-12)
            part = math.log(coarse / error) / math.log(coarse / fine)
            return math.exp(math.log(fast) + part * math.log(slow / fast))
    return None


def shown(seconds: float | None) -> str:
    """Milliseconds with three digits, or a dash."""
    return "–" if seconds is None else f"{1e3 * seconds:.3g}"


def table(rows: list[dict[str, Any]], versions: dict[str, str]) -> list[str]:
    """CPU at equal error of every tool, and how many times faster than the fastest peer Pliant is."""
    curves = [name for name in NAMES if name in ("accuracy", "fixed") or name in versions]
    peers = [name for name in curves if name not in ("accuracy", "fixed")]
    heading = (
        ["task", "error"]
        + [NAMES[name] for name in curves]
        + ["`accuracy=` ratio", "one setting ratio"]
    )
    lines = ["| " + " | ".join(heading) + " |", "|---|---|" + "---:|" * (len(heading) - 2)]
    for name in TASKS:
        for spatial in (False, True):
            points = points_of(rows, name, spatial)
            for level in LEVELS if points else ():
                cpu = {curve: cpu_at(points.get(curve, []), level) for curve in curves}
                best = min((cpu[peer] for peer in peers if cpu[peer]), default=None)
                ratios = [ratio(best, cpu[curve]) for curve in ("accuracy", "fixed")]
                where = f"{name} {'spatial' if spatial else 'planar'}"
                cells = [where, f"{level:g} %", *(shown(cpu[curve]) for curve in curves), *ratios]
                lines.append("| " + " | ".join(cells) + " |")
    return lines


def ratio(peer: float | None, own: float | None) -> str:
    """How many times faster than the fastest peer; a loss is below one."""
    if own is None:
        return "–"
    return "no peer" if peer is None else f"**{peer / own:.2g}**"


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    """Error against CPU time, one curve per tool, one panel per task and variant."""
    import matplotlib.pyplot as plt

    panels = [(n, s) for n in TASKS for s in (False, True) if points_of(rows, n, s)]
    names = list(dict.fromkeys(name for name, _ in panels))
    figure, axes = plt.subplots(
        2, len(names), figsize=(3.4 * len(names), 6.2), layout="constrained", squeeze=False
    )
    for axis in axes.flat:
        axis.set_axis_off()
    for name, spatial in panels:
        axis = axes[int(spatial), names.index(name)]
        axis.set_axis_on()
        for curve, points in points_of(rows, name, spatial).items():
            line = front(points)
            colour = COLOURS[curve]
            axis.loglog(*zip(*points, strict=True), ".", color=colour, alpha=0.3, markersize=4)
            label = NAMES[curve].replace("`", "")
            axis.loglog(*zip(*line, strict=True), ".-", color=colour, label=label)
        axis.set_title(
            f"{name} {'spatial' if spatial else 'planar'}: {TASKS[name].title}", fontsize=9
        )
        axis.grid(alpha=0.3)
        for line in (axis.xaxis, axis.yaxis):
            few_ticks(line)
    for axis in axes[:, 0]:
        axis.set_ylabel("tip error / % of length")
    for axis in axes[-1]:
        axis.set_xlabel("CPU / s")
    handles = {}
    for axis in axes.flat:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=6, frameon=False
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def turns(count: int) -> str:
    """How often all tools took their turn."""
    return "one turn of all tools" if count == 1 else f"medians of {count} turns"


def few_ticks(axis: Any) -> None:
    """Number decades, or 1, 2 and 5 where there is little more than one; nothing between them."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    if high < 20.0 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def write_page(found: dict[str, Any], docs: Path) -> None:
    """Write ``peers.md`` and ``images/peers.png`` into a folder."""
    rows = found["rows"]
    (docs / "images").mkdir(parents=True, exist_ok=True)
    picture(rows, docs / "images" / "peers.png")
    text = (HERE / "page.md").read_text()
    versions = ", ".join(
        f"{NAMES.get(tool, 'Pliant')} {version} ({found['lines'][tool]} lines of code)"
        for tool, version in found["versions"].items()
    )
    skipped = "".join(
        f"\n\nSkipped: {NAMES[tool]}, which could not be installed ({why})."
        for tool, why in found["skipped"].items()
    )
    failures = [row for row in rows if "error" in row]
    failed = "\n".join(
        f"- {NAMES[curve_of(row)]}, {row['task']} {'spatial' if row['spatial'] else 'planar'}, "
        f"`{row['setting']}`: {row['error']}"
        for row in failures
    )
    filled = {
        "TABLE": "\n".join(table(rows, found["versions"])),
        "TOOLS": versions + "." + skipped,
        "MACHINE": f"{found['machine']}; {found['date']}; {turns(found['repeats'])}"
        + found.get("note", ""),
        "FAILED": failed or "None.",
    }
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    (docs / "peers.md").write_text(text)


if __name__ == "__main__":
    write_page(json.loads((HERE / "results.json").read_text()), HERE.parents[1] / "docs")
