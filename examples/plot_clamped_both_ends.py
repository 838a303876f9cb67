"""
Held at both ends
=================

A rod clamped at its base and held at its tip in three ways: clamped (pose), pinned (position only,
"articulated") and guided (orientation only, "sliding"). A load pushes in the middle. What a
constraint exerts on the rod is reported as a reaction; reactions, load and weight add up to nothing.
The second picture shows the reactions of an arch that is clamped at both feet.
"""

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import Arrow, RodShape, draw_comparison, draw_robot

S = np.linspace(0.0, 1.0, 81)
KINDS = {"clamped": "fixed", "pinned": "articulated", "guided": "sliding"}
EXPECTED = {
    "sag, clamped": (0.0, 0.2),
    "sag, pinned": (0.0, 0.2),
    "sag, guided": (0.0, 0.5),
    "forces left over": (0.0, 1e-8),
    "moments left over": (0.0, 1e-8),
    "height of the arch": (0.3, 0.1),
}


def held(kind: str) -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("rod", 1.0, pl.Circle(0.015), material, pose=pl.along("x"))
    robot.add_load("push", rod.at(0.5), force=(0, 0, -2))
    robot.add_constraint("end", rod.tip, kind=kind)
    return robot


def arch() -> tuple[pl.Equilibrium, float]:
    """A half circle clamped at both feet, pressed down at its top; returns the thrust as well."""
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("arch", 1.0, pl.Circle(0.015), material, natural=(0, np.pi, 0))
    robot.add_load("press", rod.at(0.5), force=(0.5, 0, -3))
    robot.add_constraint("foot", rod.tip)
    still = robot.statics(formulation=pl.BSpline(3, 41))
    rest = robot.statics({"press": 0.0})
    poses, ends = still.pose("arch", S), still.pose("arch", [0.0, 1.0])
    forces = [ends[0, :3, :3] @ still.reactions["arch"][3:]]
    forces.append(ends[1, :3, :3] @ still.reactions["foot"][3:])
    arrows = [Arrow(g[:3, 3], f, "force", "holds") for g, f in zip(ends, forces, strict=True)]
    arrows.append(Arrow(still.position("arch", 0.5), (0.5, 0, -3), "force", "press"))
    draw_robot(
        [RodShape("arch", poses, 0.015)], arrows, [RodShape("arch", rest.pose("arch", S), 0.015)],
        title="reactions of a pressed arch", view=(14, -75),
    )  # fmt: skip
    return still, float(forces[0][2] + forces[1][2])


def world_balance(robot: pl.Robot, still: pl.Equilibrium) -> tuple[float, float]:
    """Force and moment about the origin that are left over; both ends have the axes of the base."""
    R = pl.along("x")[:3, :3]
    total = R @ still.reactions["rod"][3:] + R @ still.reactions["end"][3:]
    turn = R @ still.reactions["rod"][:3] + R @ still.reactions["end"][:3]
    turn += np.cross(still.tip("rod")[:3, 3], R @ still.reactions["end"][3:])
    x, w = np.polynomial.legendre.leggauss(60)
    mass = 1000.0 * np.pi * 0.015**2
    weights = 0.5 * w[:, None] * mass * robot.description.gravity
    turn += np.cross(still.position("rod", 0.5 + 0.5 * x), weights).sum(axis=0)
    push = np.array([0, 0, -2.0])
    turn += np.cross(still.position("rod", 0.5), push)
    return np.abs(total + push + weights.sum(axis=0)).max(), np.abs(turn).max()


def main() -> dict[str, float]:
    shapes, found, left = {}, {}, []
    for label, kind in KINDS.items():
        robot = held(kind)
        still = found[label] = robot.statics(formulation=pl.BSpline(3, 41))
        shapes[label] = RodShape(label, still.pose("rod", S), 0.015)
        left.append(world_balance(robot, still))
    draw_comparison(shapes, title="2 N in the middle, and the rod's own weight")
    still, upwards = arch()
    return {
        **{f"sag, {k}": -v.position("rod", 0.5)[2] for k, v in found.items()},
        "forces left over": max(force for force, _ in left),
        "moments left over": max(moment for _, moment in left),
        "height of the arch": still.position("arch", 0.5)[2],
        "what the feet carry": upwards,
    }


if __name__ == "__main__":
    main()
    plt.show()
