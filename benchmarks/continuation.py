"""Continuation and inverse statics: time per point of a branch, and per inverse problem.

    python benchmarks/continuation.py

A path through both folds of a snapping arch is compared with the static solution at one of its points
from its neighbour, an inverse problem with the static solution from the last one. Times are of the
processor.
"""

from __future__ import annotations

import numpy as np
from _common import least_processor_time as least_time

import pliant as pl


def arch() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    strip = pl.Stiffness(bending=(50.0, 1.0), twist=20.0, shear=1e4, axial=1e4, mass=1.0)
    start = pl.pose(rotation=(0, np.pi / 2 - 0.3, 0))
    rod = robot.add_rod("arch", 1.0, strip, pose=start, natural=(0, 0.6, 0))
    robot.add_constraint("wall", rod.tip, kind="fixed")
    robot.add_load("press", rod.at(0.5), force=(0, 0, -1))
    return robot


def tubes() -> pl.Robot:
    """Two tubes with lambda = 34.8: 0.21 m behind the entry plane, 0.23 m of overlap."""
    robot, nitinol = pl.Robot(gravity=(0, 0, 0)), pl.Material(E=2e9, nu=0.45, rho=1200.0)
    curved = (0, 34.8 / (1.45 * 6.0), 0)
    outer = robot.add_tube(
        "outer", 0.44, pl.Annulus(5e-3, 3e-3), nitinol, natural=curved, start=-0.21
    )
    inner = pl.Annulus(2.5e-3, 2e-3)
    robot.add_tube(
        "inner", 0.6, inner, nitinol, outer, natural=(0, 6, 0), start=-0.21, rotation="turn"
    )
    return robot


def tendon_arm() -> pl.Robot:
    """0.3 m of silicone with 4 tendons at 7 mm through 10 disks."""
    robot = pl.Robot()
    silicone = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=1e3)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), silicone, pose=pl.along("-z"))
    for k in range(4):
        at = 0.007 * np.array([np.cos(k * np.pi / 2), np.sin(k * np.pi / 2)])
        holes = [arm.at(s, offset=tuple(at)) for s in np.linspace(0.0, 0.3, 11)]
        robot.add_tendon(f"t{k}", path=holes)
    return robot


def main() -> None:
    robot = arch()
    path = robot.follow("press", 0.0, 30.0, points=60)
    seconds = least_time(lambda: robot.follow("press", 0.0, 30.0, points=60))
    k = len(path) // 3
    one = least_time(lambda: robot.statics({"press": path.values[k]}, start=path[k - 1]))
    print(f"snapping arch: {len(path)} points through {len(path.folds)} folds in {seconds:.3f} s, "
          f"{seconds / len(path) / one:.1f} static solutions a point")  # fmt: skip
    robot = tubes()
    path = robot.follow("turn", 0.0, 2.0 * np.pi, points=20)
    seconds = least_time(lambda: robot.follow("turn", 0.0, 2.0 * np.pi, points=20))
    folds = ", ".join(f"{turn.value:.5f}" for turn in path.folds)
    print(f"concentric tubes: {len(path)} points through folds at {folds} rad in {seconds:.3f} s")
    robot, names = tendon_arm(), [f"t{k}" for k in range(4)]
    truth = robot.statics({"t0": 3.0, "t1": 1.0})
    target = {"arm.tip": truth.position("arm.tip")}
    found = robot.reach(target, names, bounds=(0.0, 5.0))
    inverse = least_time(lambda: robot.reach(target, names, bounds=(0.0, 5.0)), 5)
    near = robot.statics({"t0": 2.9, "t1": 1.0})
    one = least_time(lambda: robot.statics({"t0": 3.0, "t1": 1.0}, start=near), 5)
    print(f"tendon arm: inverse problem {1e3 * inverse:.2f} ms with {found.solves} equilibria, "
          f"{inverse / one:.1f} static solutions; reached: {found.reached}")  # fmt: skip
    print(f"  tensions / N: {', '.join(f'{found.inputs[name]:.4f}' for name in names)}")


if __name__ == "__main__":
    main()
