"""
Which method for which robot
============================

Four tasks, solved by every method with several meshes and steps: the sag of a soft rod, its fall, a
steel cantilever after a blow, and a tendon arm. Each curve is one method: the error of the tip over
the motion against the CPU time of the whole call, from the description of the robot to its tips, with
kernels warm. Below and to the left is better. Stars are what `accuracy=` chooses for 1 %, 0.3 % and
0.1 %, with its estimate of the error.

- *At rest* the price of a call counts, not the mesh: B-splines, Hermite and spectral elements are all
  exact enough with a few elements.
- *Soft rods in motion*, undamped and far from straight, want explicit steps on spectral elements, an
  arm on a tendon no less than a rod in free fall.
- *Stiff rods* want implicit steps, as long as accuracy allows, on few elements.
- *The automatic choice* finds mesh and step by solving the robot on several meshes. At 0.3 % it takes
  one to two times the CPU of the fastest setting here that is as exact, which you would have to know.
- Strain rods, rigid links (SRL) and shooting are good where rods are few and short; their cost grows
  faster with the number of unknowns.
"""

# sphinx_gallery_group = "methods"

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

import pliant as pl
from pliant.view import style

Way = tuple[pl.Formulation, pl.Integrator | None, float | None]
Point = tuple[float, float]
ACCURACIES = (1e-2, 3e-3, 1e-3)
EXPECTED = {
    "rest: largest error of accuracy=, part of what was asked": (0.0, 1.0),
    "fall: largest error of accuracy=, part of what was asked": (0.0, 1.0),
    "blow: largest error of accuracy=, part of what was asked": (0.0, 1.0),
    "pull: largest error of accuracy=, part of what was asked": (0.0, 1.0),
    "rest: largest error of the finest meshes, %": (0.0, 0.5),
    "fall: largest error of the finest meshes, %": (0.0, 8.0),
    "blow: largest error of the finest meshes, %": (0.0, 0.2),
    "pull: largest error of the finest meshes, %": (0.0, 0.7),
}


@dataclass(frozen=True)
class Task:
    """A robot with one rod and its length (m), how long it moves (s, 0 for rest), its inputs, the
    ways to solve it by name, and a fine one.
    """

    title: str
    robot: Callable[[], pl.Robot]
    length: float
    duration: float
    inputs: dict[str, Any]
    ways: dict[str, list[Way]]
    best: Way

    @property
    def times(self) -> np.ndarray:
        return np.linspace(0.0, self.duration, 41)


def soft_rod() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pose=pl.along("x"))
    return robot


def steel_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("blow", rod.tip, force=(0, 0, -10.0))
    return robot


def tendon_arm() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    rod = robot.add_rod("rod", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    robot.add_tendon("pull", along=rod, offset=(-0.007, 0.0))
    return robot


def at_rest(*formulations: pl.Formulation) -> list[Way]:
    return [(formulation, None, None) for formulation in formulations]


def steps(meshes: Iterable[pl.Formulation]) -> Iterable[tuple[pl.Formulation, float]]:
    return zip(meshes, (6.25e-3, 2.5e-3, 1.25e-3), strict=False)


def halves(meshes: Iterable[pl.Formulation]) -> Iterable[tuple[pl.Formulation, float]]:
    return zip(meshes, (1e-2, 5e-3, 2.5e-3), strict=False)


def moving(integrator: pl.Integrator, *meshes: tuple[pl.Formulation, float | None]) -> list[Way]:
    return [(formulation, integrator, dt) for formulation, dt in meshes]


REST = Task(
    "sag of a soft rod",
    soft_rod,
    1.0,
    0.0,
    {},
    {
        "Spectral": at_rest(*(pl.Spectral(3, n) for n in (2, 4, 8))),
        "BSpline": at_rest(*(pl.BSpline(3, n) for n in (5, 7, 10, 16))),
        "Hermite": at_rest(*(pl.Hermite(n) for n in (2, 4, 8))),
        "Strain": at_rest(*(pl.Strain(2, n) for n in (2, 4, 6))),
        "SRL": at_rest(*(pl.SRL(n) for n in (8, 16, 32))),
        "EBA": at_rest(*(pl.EBA(n) for n in (8, 16, 32))),
        "ROM": at_rest(*(pl.ROM(n) for n in (4, 6, 8))),
        "ANCF": at_rest(*(pl.ANCF(n) for n in (4, 8, 16))),
        "Shooting": at_rest(*(pl.Shooting(n) for n in (10, 20, 50))),
        "Collocation": at_rest(*(pl.Collocation(n) for n in (6, 9, 12))),
    },
    (pl.Spectral(3, 32), None, None),
)
FALL = Task(
    "fall of a soft rod, 2 s",
    soft_rod,
    1.0,
    2.0,
    {},
    {
        "Spectral, Explicit": moving(
            pl.Explicit(), *((pl.Spectral(3, n), None) for n in (10, 16, 24))
        ),
        "EBA, Explicit": moving(pl.Explicit(), *((pl.EBA(n), None) for n in (32, 64))),
        "BSpline, Midpoint": moving(
            pl.Midpoint(), (pl.BSpline(3, 16), 4e-3), (pl.BSpline(3, 24), 2e-3)
        ),
        "Strain, Midpoint": moving(pl.Midpoint(), (pl.Strain(2, 5), 4e-3)),
        "ANCF, Newmark": moving(pl.Newmark(), (pl.ANCF(12), 4e-3), (pl.ANCF(20), 2e-3)),
    },
    (pl.Spectral(3, 48), pl.Explicit(), None),
)
BLOW = Task(
    "steel cantilever after a blow, 0.5 s",
    steel_rod,
    1.0,
    0.5,
    {},
    {
        "Spectral, Radau": moving(
            pl.Radau(1e-4), *((pl.Spectral(3, n), 0.0125) for n in (1, 2, 3))
        ),
        "Spectral, Explicit": moving(pl.Explicit(), (pl.Spectral(3, 1), None)),
        "BSpline, Midpoint": moving(pl.Midpoint(), *steps(pl.BSpline(3, n) for n in (4, 6, 8))),
        "Strain, Midpoint": moving(pl.Midpoint(), *steps(pl.Strain(2, n) for n in (1, 2, 2))),
        "BSpline, Newmark": moving(pl.Newmark(), *steps(pl.BSpline(3, n) for n in (4, 6, 8))),
        "ANCF, Newmark": moving(pl.Newmark(), *steps(pl.ANCF(n) for n in (2, 3, 4))),
        "Shooting, BDFAlpha": moving(
            pl.BDFAlpha(-0.48), (pl.Shooting(30), 5e-3), (pl.Shooting(30), 2e-3)
        ),
    },
    (pl.Spectral(3, 6), pl.Explicit(), None),
)
PULL = Task(
    "tendon arm, 2 s",
    tendon_arm,
    0.3,
    2.0,
    {"pull": pl.Ramp(0.0, 5.0, 0.0, 0.5)},
    {
        "Spectral, Explicit": moving(
            pl.Explicit(), *((pl.Spectral(3, n), None) for n in (2, 4, 8))
        ),
        "BSpline, Midpoint": moving(pl.Midpoint(), *halves(pl.BSpline(3, n) for n in (6, 8, 10))),
        "Strain, Midpoint": moving(pl.Midpoint(), *halves(pl.Strain(2, n) for n in (1, 2, 3))),
        "SRL, Midpoint": moving(pl.Midpoint(), *halves(pl.SRL(n) for n in (6, 12))),
        "BSpline, Radau": moving(
            pl.Radau(1e-4), (pl.BSpline(3, 6), 0.05), (pl.BSpline(3, 10), 0.05)
        ),
    },
    (pl.Spectral(3, 16), pl.Explicit(), None),
)
TASKS = (REST, FALL, BLOW, PULL)


def tips(task: Task, way: Way | float) -> tuple[np.ndarray, float]:
    """The tip (T, 3) of the rod by one way, or to an accuracy, and the CPU time of the whole call."""
    accuracy = way if isinstance(way, float) else None
    formulation, integrator, dt = (None, None, None) if isinstance(way, float) else way
    began = time.process_time()
    robot = task.robot()
    if task.duration:
        found = robot.simulate(
            task.duration,
            dt,
            task.inputs,
            formulation=formulation,
            integrator=integrator,
            output_times=task.times,
            accuracy=accuracy,
        ).tip("rod")[:, :3, 3]
    else:
        found = robot.statics(formulation=formulation, accuracy=accuracy).tip("rod")[None, :3, 3]
    return found, time.process_time() - began


def points(task: Task, best: np.ndarray, ways: list[Way | float]) -> list[Point]:
    """CPU time, s, and error of the tip, % of the length, by each way, with kernels warm."""
    found = []
    tips(task, ways[-1])
    for way in ways:
        tip, cpu = tips(task, way)
        error = float(np.linalg.norm(tip - best, axis=-1).max()) / task.length
        found.append((cpu, 100.0 * error))
    return found


def solved(task: Task) -> tuple[dict[str, list[Point]], list[Point]]:
    """The points of all ways, by name, and those of `accuracy=`."""
    with warnings.catch_warnings():  # coarse meshes and steps are meant to be
        warnings.simplefilter("ignore", UserWarning)
        best = tips(task, task.best)[0]
        curves = {name: points(task, best, list(ways)) for name, ways in task.ways.items()}
        return curves, points(task, best, list(ACCURACIES))


def draw(axes: plt.Axes, task: Task, curves: dict[str, list[Point]], chosen: list[Point]) -> None:
    for k, (name, points) in enumerate(curves.items()):
        cpu, error = np.array(points).T
        look = {"marker": "osv^D"[k % 5], "linestyle": "-" if k < 5 else "--", "markersize": 4}
        axes.loglog(1e3 * cpu, error, label=name, **look)
    cpu, error = np.array(chosen).T
    axes.loglog(1e3 * cpu, error, "k*", markersize=11, label="accuracy=")
    exact = min(cpu for points in curves.values() for cpu, error in points if error <= 0.3)
    title = f"{task.title}; to 0.3 % accuracy= costs {chosen[1][0] / exact:.1f} times the fastest"
    axes.set(xlabel="CPU time of the call / ms", ylabel="error of the tip / %")
    axes.set_title(title, fontsize=8)
    for axis, digits in ((axes.xaxis, (1.0, 2.0, 5.0)), (axes.yaxis, (1.0, 3.0))):
        axis.set_major_locator(LogLocator(subs=digits))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


def main() -> dict[str, float]:
    found = [solved(task) for task in TASKS]
    with style():
        _, panels = plt.subplots(2, 2, figsize=(11.5, 7.6), layout="constrained")
        for axes, task, (curves, chosen) in zip(panels.flat, TASKS, found, strict=True):
            draw(axes, task, curves, chosen)
    numbers = {}
    for name, (curves, chosen) in zip(("rest", "fall", "blow", "pull"), found, strict=True):
        numbers[f"{name}: largest error of accuracy=, part of what was asked"] = max(
            error / (100.0 * wanted) for (_, error), wanted in zip(chosen, ACCURACIES, strict=True)
        )
        finest = [points[-1][1] for points in curves.values()]
        numbers[f"{name}: largest error of the finest meshes, %"] = max(finest)
    return numbers


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:.4g}")
    plt.show()
