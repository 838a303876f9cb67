"""How fast an equilibrium is found, next to `scipy.integrate.solve_bvp` at the same accuracy.

The rod is a tapered cantilever that a tip force of 0.25 N bends by 73 degrees; both start from the
straight rod. solve_bvp gets vectorised callables and, of many meshes and tolerances, the fastest
one that finds the tip to 1e-6 of the length.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _common import Report, Timing, least_time, pl, tapered_cantilever, time_blocks

from pliant.physics.effects import effects_of
from pliant.solve.load_steps import StaticSolver
from tests.reference import (
    RodProblem,
    base_pose,
    circular_stiffness,
    solve_bvp_cantilever,
    values,
)

FORCE = 0.25
TIP = np.array(values.TAPERED_FORCE[FORCE][0])
ACCURACY = 1e-6
PER_ITERATION = 0.08e-3
"""Seconds per Newton iteration that the goal is stated against."""


def bvp_problem() -> RodProblem:
    stiffness = circular_stiffness(2e5, 0.45, lambda s: 0.03 - 0.015 * np.asarray(s))
    return RodProblem(
        1.0, stiffness, base=base_pose((1, 0, 0), (0, 0, -1)), tip_force=(0, 0, FORCE)
    )


def fastest_bvp(rod: RodProblem) -> tuple[float, int, float]:
    """Return tolerance, first mesh and tip error of the fastest accurate enough solve_bvp."""
    best = (np.inf, 0.0, 0, np.inf)
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        for nodes in (5, 8, 11, 15, 21, 31):
            solve = partial(
                solve_bvp_cantilever, rod, tolerance=tolerance, nodes=nodes, vectorised=True
            )
            error = float(np.linalg.norm(solve().tip[:3, 3] - TIP))
            if error <= ACCURACY:
                best = min(best, (least_time(solve), tolerance, nodes, error))
    return best[1], best[2], best[3]


def main() -> None:
    robot, formulation = tapered_cantilever(), pl.BSpline(degree=3, points=15)
    still = robot.statics(formulation=formulation)
    error = float(np.linalg.norm(still.tip("rod")[:3, 3] - TIP))
    assert error <= ACCURACY, f"the tip is off by {error:.1e}"
    effects = effects_of(robot.description, {"rod": formulation})
    inputs, solver = effects.at({}), StaticSolver(effects)
    rod = bvp_problem()
    tolerance, nodes, bvp_error = fastest_bvp(rod)
    times = time_blocks(
        {
            "pliant": lambda: robot.statics(formulation=formulation),
            "solver": lambda: solver.solve(inputs),
            "bvp": lambda: solve_bvp_cantilever(
                rod, tolerance=tolerance, nodes=nodes, vectorised=True
            ),
        }
    )
    ours, theirs = times["pliant"], times["bvp"]
    each = Timing(tuple(block / still.iterations for block in times["solver"].blocks))
    report = Report("Static solve of a tapered cantilever, 0.25 N, from straight")
    report.add(f"solve_bvp, tolerance {tolerance:g}, {nodes} nodes, tip to {bvp_error:.0e}", theirs)
    report.add(f"pliant, {formulation.points} cubic points, tip to {error:.0e}", ours)
    report.add("  speed-up over solve_bvp", ratio=theirs.median / ours.median, goal=">=30")
    what = f"  solver alone, each of {still.iterations} Newton iterations, over 0.08 ms"
    report.add(what, each, each.median / PER_ITERATION, "<=4")
    report.print()


if __name__ == "__main__":
    main()
