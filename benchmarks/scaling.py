"""How the cost of a static iteration and of a time step grows with the number of control points.

Both should grow in proportion: from 50 to 400 points by a factor of eight, ten at most.
"""

from __future__ import annotations

from _common import Report, Timing, pl, released_rod, tapered_cantilever, time_blocks

POINTS = (50, 100, 200, 400)
STEPS, DT = 40, 0.002
GOAL = "<=10"


def static_iterations() -> dict[int, Timing]:
    """Return seconds per Newton iteration, by number of points."""
    robot = tapered_cantilever()
    forms = {n: pl.BSpline(degree=3, points=n) for n in POINTS}
    counts = {n: robot.statics(formulation=form).iterations for n, form in forms.items()}
    times = time_blocks(
        {str(n): lambda form=form: robot.statics(formulation=form) for n, form in forms.items()}
    )
    return {n: Timing(tuple(b / counts[n] for b in times[str(n)].blocks)) for n in POINTS}


def time_steps() -> tuple[dict[int, Timing], dict[int, float]]:
    """Return seconds per time step of a rod swaying under a sine force, and iterations per step."""
    robot = released_rod()
    sway = {"pull": pl.Sine(amplitude=0.5, frequency=1.0)}
    forms = {n: pl.BSpline(degree=3, points=n) for n in POINTS}
    found: dict[int, list[float]] = {n: [] for n in POINTS}
    effort = {}
    for block in range(4):
        for n, form in forms.items():
            move = robot.simulate(
                STEPS * DT, DT, inputs=sway, formulation=form, output_times=[STEPS * DT]
            )
            effort[n] = move.iterations / move.steps
            if block:  # the first one compiles
                found[n].append(move.seconds / move.steps)
    return {n: Timing(tuple(values)) for n, values in found.items()}, effort


def main() -> None:
    report = Report("Cost over the number of cubic control points; ratios to 50 points")
    found = static_iterations()
    for n in POINTS:
        ratio = found[n].median / found[50].median
        report.add(f"static iteration, {n} points", found[n], ratio, GOAL if n == 400 else "")
    steps, effort = time_steps()
    for n in POINTS:
        ratio = steps[n].median / steps[50].median
        what = f"time step, {n} points ({effort[n]:.1f} iterations)"
        report.add(what, steps[n], ratio, GOAL if n == 400 else "")
    report.print()


if __name__ == "__main__":
    main()
