"""How fast 50 s of a released rod are simulated, next to the 50 s themselves.

The rod is bent by 10 N at its tip and let go: eight cubic control points, steps of 10 ms, a stored
state every 0.1 s. The other implicit integrators do the first 5 s for comparison.
"""

from __future__ import annotations

from _common import Report, Timing, pl, released_rod

DURATION, DT = 50.0, 0.01
FREE = {"pull": 0.0}


def main() -> None:
    robot = released_rod()
    bent = robot.statics(formulation=pl.BSpline(degree=3, points=8))

    def motion(duration: float, integrator: pl.Integrator) -> pl.Motion:
        return robot.simulate(
            duration, DT, inputs=FREE, start=bent, integrator=integrator, output_every=0.1
        )

    report = Report(f"Motion of a released rod, steps of {DT:g} s")
    motion(0.1, pl.Midpoint())  # compiles
    runs = [motion(DURATION, pl.Midpoint()) for _ in range(3)]
    found = Timing(tuple(run.seconds for run in runs))
    report.add(f"{DURATION:g} s, Midpoint()", found)
    report.add("  faster than real time", ratio=DURATION / found.median, goal=">=20")
    per_step = runs[0].iterations / runs[0].steps
    each = Timing(tuple(run.seconds / run.steps for run in runs))
    report.add(f"  each step, of {per_step:.2f} iterations", each)
    total = runs[0].energy["total"]
    report.add("  largest change of energy, %", ratio=100 * abs(total / total[0] - 1).max())
    for integrator in (pl.Newmark(), pl.GeneralizedAlpha(), pl.ImplicitEuler()):
        motion(0.1, integrator)
        times = [motion(5.0, integrator).seconds for _ in range(3)]
        found = Timing(tuple(times))
        report.add(f"5 s, {type(integrator).__name__}()", found, 5.0 / found.median)
    report.print()


if __name__ == "__main__":
    main()
