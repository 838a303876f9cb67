"""Reference tips of the tasks, by two methods that share neither mesh nor time integrator.

    python benchmarks/peers/references.py [--tasks T1 T5]    # writes references.json, some minutes

Motions: cubic spectral elements with explicit steps of fourth order, against splines of poses
(BSpline) with implicit midpoint steps, extrapolated from two step sizes; the parallel robot by Radau
and by Newmark steps. Statics: spectral elements
against shooting on the differential equations. The file holds the tips of the first method, how far
its own two finest meshes are apart, and how far the second method is from it, both relative to the
length.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from tasks import EVERY, TASKS, Task, moduli, tension_grid
from tool_pliant import parallel_robot, pl, ramped, robot_of, solve

MESHES = {
    "T1": (32, 64),
    "T2": (64, 96),
    "T3": (8, 12),
    "T4": (16, 24),
    "T5": (96, 128),
    "T6": (2, 3),
    "T7": (8, 16),
}
SPLINES = {"T2": (80, 2e-4), "T3": (12, 1e-4), "T4": (24, 5e-4), "T6": (8, 1.25e-3)}
"""Control points and the larger of two steps, seconds."""


def first(task: Task, spatial: bool, elements: int) -> np.ndarray:
    if task.copies:
        rods = [with_modulus(task, E) for E in moduli(task)[:: EVERY[task.name]]]
        return np.array([first(one, spatial, elements) for one in rods])
    if task.grid:
        return solve(task, spatial, n=elements)[:: EVERY[task.name]]
    if not task.duration:
        return solve(task, spatial, n=elements)
    if task.rods:
        return parallel_robot(task, pl.Spectral(3, elements), 0.1, pl.Radau(1e-5))
    return solve(task, spatial, n=elements, h=0.0125, integrator="Explicit")


def second(task: Task) -> np.ndarray:
    """The tips by other methods."""
    if task.rods:
        points, step = SPLINES[task.name]
        coarse, fine = (
            parallel_robot(task, pl.BSpline(3, points), h, pl.Newmark()) for h in (step, 0.5 * step)
        )
        return (4.0 * fine - coarse) / 3.0
    robot = robot_of(task)
    if task.grid:
        names, rows = [f"pull{k}" for k in range(3)], tension_grid(task)[:: EVERY[task.name]]
        pulls = [dict(zip(names, row.tolist(), strict=True)) for row in rows]
        mesh = pl.BSpline(3, 30)
        tips = [robot.statics(pull, formulation=mesh).tip("rod")[None, :3, 3] for pull in pulls]
        return np.array(tips)
    if not task.duration:
        return robot.statics(formulation=pl.Shooting(steps=400)).tip("rod")[None, :3, 3]
    points, step = SPLINES[task.name]
    coarse, fine = (
        robot.simulate(
            task.duration,
            h,
            inputs=ramped(task),
            formulation=pl.BSpline(3, points),
            integrator=pl.Midpoint(),
            output_times=task.times,
        ).tip("rod")[:, :3, 3]
        for h in (step, 0.5 * step)
    )
    return (4.0 * fine - coarse) / 3.0


def with_modulus(task: Task, E: float) -> Task:
    """One of the copies of a rod."""
    return replace(task, copies=0, rod=replace(task.rod, E=float(E)))


def distance(a: np.ndarray, b: np.ndarray, length: float) -> float:
    return float(np.linalg.norm(a - b, axis=-1).max() / length)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    given = parser.parse_args()
    path = Path(__file__).with_name("references.json")
    found: dict = json.loads(path.read_text()) if path.exists() else {}
    found["how"] = " ".join((__doc__ or "").split("\n\n")[2].split())
    tips, meshes, methods = (
        found.setdefault(x, {}) for x in ("tips", "between meshes", "between methods")
    )
    for name, spatial in ((name, spatial) for spatial in (False, True) for name in given.tasks):
        if not (spatial or TASKS[name].planar):
            continue
        task = TASKS[name].variant(spatial)
        key = f"{name} {'spatial' if spatial else 'planar'}"
        coarse, fine = (first(task, spatial, n) for n in MESHES[name])
        tips[key] = np.round(fine, 9).tolist()
        meshes[key] = distance(coarse, fine, task.rod.length)
        if task.copies:  # the softest one is the rod of T2
            methods[key] = methods[key.replace(name, "T2")]
        else:
            methods[key] = distance(second(task), fine, task.rod.length)
        print(
            f"{key}: {meshes[key]:.1e} between meshes, {methods[key]:.1e} between methods",
            flush=True,
        )
        path.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
