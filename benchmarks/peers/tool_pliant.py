"""The tasks by Pliant: with ``accuracy=`` alone, and with formulation and integrator given."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
warnings.simplefilter("ignore")

from tasks import Task, moduli, rod_places, slider_travels, tendon_angles, tension_grid  # noqa: E402

import pliant as pl  # noqa: E402

TASKS = ("T1", "T2", "T3", "T4", "T5", "T6", "T7")
ACCURACIES = (1e-2, 3e-3, 1e-3)


def settings(task: Task, spatial: bool) -> list[dict]:
    """The settings that are swept: an accuracy, or a number of elements and a step."""
    free = [{"accuracy": accuracy} for accuracy in ACCURACIES]
    fixed = {
        "T1": [(n, 0.0, "") for n in (1, 2, 4, 8, 16, 32)],
        "T2": [(n, 0.05, "Explicit") for n in (8, 12, 16, 24, 32)],
        "T3": [(n, h, "Midpoint") for n in (1, 2) for h in (5e-3, 2.5e-3, 1e-3)]
        + [(n, 0.0125, "Radau") for n in (1, 2, 4)],
        "T4": [(n, 0.05, "Explicit") for n in (2, 4, 8)],
        "T5": [(n, 0.05, "Explicit") for n in (12, 16, 24, 32)],
        "T6": [(1, h, "Midpoint") for h in (0.05, 0.025, 0.0125)],
        "T7": [(n, 0.0, "") for n in (1, 2, 4)],
    }[task.name]
    free = [] if task.copies or task.grid else free
    orders = (2, 3) if task.rods else (3,)
    return free + [
        {"n": n, "h": h, "integrator": name, "order": order}
        for n, h, name in fixed
        for order in orders
    ]


def robot_of(task: Task) -> pl.Robot:
    """The rod of a task with its loads."""
    rod = task.rod
    robot = pl.Robot(gravity=(0, 0, -task.gravity))
    section = pl.Rectangle(rod.side, rod.side) if rod.side else pl.Circle(rod.radius)
    material = pl.Material(E=rod.E, nu=rod.nu, rho=rod.rho)
    line = robot.add_rod("rod", rod.length, section, material, pose=pl.along("x"))
    if task.tip_force:
        robot.add_load("push", line.tip, force=(0, 0, task.tip_force))
    if task.lateral:
        place = line.at(task.lateral_at * rod.length)
        robot.add_load("side", place, force=(0, task.lateral, 0))
    if task.grid:
        for k, angle in enumerate(tendon_angles()):
            at = task.offset * np.array([0.0, np.sin(angle), np.cos(angle)])
            hole = np.linalg.solve(pl.along("x")[:3, :3], at)
            robot.add_tendon(f"pull{k}", along=line, offset=tuple(hole[:2]))
    elif task.tension:
        above = np.linalg.solve(pl.along("x")[:3, :3], [0.0, 0.0, task.offset])
        robot.add_tendon("pull", along=line, offset=tuple(above[:2]))
    return robot


def ramped(task: Task) -> dict:
    """The tension over time."""
    return {"pull": pl.Ramp(0.0, task.tension, 0.0, task.ramp)} if task.tension else {}


def solve(
    task: Task,
    spatial: bool,
    accuracy: float | None = None,
    n: int = 0,
    h: float | None = None,
    integrator: str = "",
    order: int = 3,
) -> np.ndarray:
    """The tip (T, 3) at the times of the task; of many robots or equilibria (K, T, 3)."""
    mesh = pl.Spectral(order, n) if n else None
    method = getattr(pl, integrator)() if integrator else None
    if task.copies:
        return many_falls(task, mesh, h, integrator)
    if task.grid:
        return many_equilibria(task, mesh)
    if task.rods:
        return parallel_robot(task, mesh, h, method, accuracy)
    robot = robot_of(task)
    if not task.duration:
        return robot.statics(formulation=mesh, accuracy=accuracy).tip("rod")[None, :3, 3]
    motion = robot.simulate(
        task.duration,
        h,
        inputs=ramped(task),
        formulation=mesh,
        integrator=method,
        output_times=task.times,
        accuracy=accuracy,
    )
    return motion.tip("rod")[:, :3, 3]


def many_falls(task: Task, mesh: pl.Spectral | None, h: float | None, name: str) -> np.ndarray:
    """Tips (K, T, 3) of rods with other moduli each."""
    rods = [replace(task, rod=replace(task.rod, E=float(E))) for E in moduli(task)]
    motions = pl.simulate_many(
        [robot_of(one) for one in rods],
        task.duration,
        h,
        formulation=mesh,
        integrator=getattr(pl, name)(),
        output_times=task.times,
        workers=1,
    )
    return np.array([motion.tip("rod")[:, :3, 3] for motion in motions])


def parallel_robot(
    task: Task,
    mesh: pl.Spectral | None,
    h: float | None,
    integrator: pl.Integrator | None,
    accuracy: float | None = None,
) -> np.ndarray:
    """Places (T, 3) of the plate, a body of the first rod's tip; the other tips are clamped to it."""
    robot, rod = pl.Robot(gravity=(0, 0, 0)), task.rod
    section, steel = pl.Circle(rod.radius), pl.Material(E=rod.E, nu=rod.nu, rho=rod.rho)
    end, inputs, plate = pl.pose((rod.length, 0, 0)), {}, None
    for k, (place, travel) in enumerate(zip(rod_places(task), slider_travels(task), strict=True)):
        base = pl.pose(place) @ pl.along("x")
        line = robot.add_rod(f"rod{k}", rod.length, section, steel, base)
        robot.add_base_motion(f"slider{k}", line, translation=(1, 0, 0))
        inputs[f"slider{k}"] = pl.Sine(
            0.5 * travel, 1.0 / task.duration, -0.5 * np.pi, 0.5 * travel
        )
        if plate is None:
            tip = base @ pl.pose((0, 0, rod.length))
            pose = np.linalg.solve(tip, end)
            plate = robot.add_body("plate", task.mass, task.turning, on=line.tip, pose=pose)
        else:
            robot.connect(f"clamp{k}", line.tip, plate.at(place))
    motion = robot.simulate(
        task.duration,
        h,
        inputs,
        formulation=mesh,
        integrator=integrator,
        output_times=task.times,
        accuracy=accuracy,
    )
    return motion.pose("plate")[:, :3, 3]


def many_equilibria(task: Task, mesh: pl.Spectral | None) -> np.ndarray:
    """Tips (K, 1, 3) over the grid of tensions, in the order of `tension_grid`."""
    levels = np.linspace(0.0, task.tension, task.grid)
    names = [f"pull{k}" for k in range(3)]
    ways = dict.fromkeys(names, levels)
    found = pl.workspace(robot_of(task), ways, "rod.tip", formulation=mesh, workers=1)
    assert np.allclose(np.column_stack([found.inputs[name] for name in names]), tension_grid(task))
    return found.poses[:, None, :3, 3]
