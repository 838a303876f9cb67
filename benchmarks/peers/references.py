"""Reference tips of the tasks, by two methods that share neither mesh nor time integrator.

    python benchmarks/peers/references.py        # writes references.json, some minutes

Motions: cubic spectral elements with explicit steps of fourth order, against splines of poses
(BSpline) with implicit midpoint steps, extrapolated from two step sizes. Statics: spectral elements
against shooting on the differential equations. The file holds the tips of the first method, how far
its own two finest meshes are apart, and how far the second method is from it, both relative to the
length.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tasks import TASKS, Task
from tool_pliant import pl, ramped, robot_of, solve

MESHES = {"T1": (32, 64), "T2": (64, 96), "T3": (8, 12), "T4": (16, 24)}
SPLINES = {"T2": (80, 2e-4), "T3": (12, 1e-4), "T4": (24, 5e-4)}
"""Control points and the larger of two steps, seconds."""


def first(task: Task, spatial: bool, elements: int) -> np.ndarray:
    if not task.duration:
        return solve(task, spatial, n=elements)
    return solve(task, spatial, n=elements, h=0.0125, integrator="Explicit")


def second(task: Task) -> np.ndarray:
    """The tips by other methods."""
    robot = robot_of(task)
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


def distance(a: np.ndarray, b: np.ndarray, length: float) -> float:
    return float(np.linalg.norm(a - b, axis=1).max() / length)


def main() -> None:
    found: dict = {"how": " ".join((__doc__ or "").split("\n\n")[2].split())}
    tips, meshes, methods = (
        found.setdefault(x, {}) for x in ("tips", "between meshes", "between methods")
    )
    path = Path(__file__).with_name("references.json")
    for name, spatial in ((name, spatial) for spatial in (False, True) for name in TASKS):
        task = TASKS[name].variant(spatial)
        key = f"{name} {'spatial' if spatial else 'planar'}"
        coarse, fine = (first(task, spatial, n) for n in MESHES[name])
        tips[key] = np.round(fine, 9).tolist()
        meshes[key] = distance(coarse, fine, task.rod.length)
        methods[key] = distance(second(task), fine, task.rod.length)
        print(
            f"{key}: {meshes[key]:.1e} between meshes, {methods[key]:.1e} between methods",
            flush=True,
        )
        path.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
