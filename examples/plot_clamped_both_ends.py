"""
Rods clamped at both ends
=========================

A rod clamped at its base, with its tip constrained in three ways: clamped (pose), pinned (position
only, "articulated") and guided (orientation only, "sliding"). A moment twists it in between. The wrench
of a constraint on the rod is reported as a reaction; reactions and loads sum to zero. The second
picture shows the reactions of an arch that is clamped at both ends.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import Arrow, RodShape, draw_comparison, draw_robot

S = np.linspace(0.0, 1.0, 81)
KINDS = {"clamped": "fixed", "pinned": "articulated", "guided": "sliding"}
EXPECTED = {
    "farthest, clamped": (0.0532, 0.001),
    "farthest, pinned": (0.0591, 0.001),
    "farthest, guided": (0.68351, 1e-4),
    "forces left over": (0.0, 1e-8),
    "moments left over": (0.0, 1e-8),
    "height of the arch": (0.31425, 1e-4),
    "what the feet carry": (12.93428, 1e-4),
}


def held(kind: str) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=5e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("rod", 1.0, pl.Circle(0.015), material, pose=pl.along("x"))
    robot.add_load("wring", rod.at(0.9), moment=(0, -4, 0))
    robot.add_constraint("end", rod.tip, kind=kind)
    return robot


def arch() -> tuple[pl.Equilibrium, float]:
    """A half circle clamped at both feet, pressed down at its top; returns the thrust as well."""
    robot = pl.Robot()
    material = pl.Material(E=2e7, nu=0.45, rho=1000.0)
    rod = robot.add_rod("arch", 1.0, pl.Circle(0.015), material, natural=(0, np.pi, 0))
    robot.add_load("press", rod.at(0.5), force=(2, 0, -6))
    robot.add_constraint("foot", rod.tip)
    still = robot.statics(formulation=pl.BSpline(3, 41))
    rest = robot.statics({"press": 0.0})
    poses, ends = still.pose("arch", S), still.pose("arch", [0.0, 1.0])
    forces = [ends[0, :3, :3] @ still.reactions["arch"][3:]]
    forces.append(ends[1, :3, :3] @ still.reactions["foot"][3:])
    arrows = [Arrow(g[:3, 3], f, "force", "holds") for g, f in zip(ends, forces, strict=True)]
    arrows.append(Arrow(still.position("arch", 0.5), (2, 0, -6), "force", "press"))
    draw_robot(
        [RodShape("arch", poses, 0.015)], arrows, [RodShape("arch", rest.pose("arch", S), 0.015)],
        title="reactions of a pressed arch", view=(14, -75),
    )  # fmt: skip
    return still, float(forces[0][2] + forces[1][2])


def left_over(still: pl.Equilibrium) -> tuple[float, float]:
    """Force and moment about the origin that are left over; both ends have the axes of the base."""
    R = pl.along("x")[:3, :3]
    base, end = still.reactions["rod"], still.reactions["end"]
    force = R @ (base[3:] + end[3:])
    moment = R @ (base[:3] + end[:3]) + np.cross(still.tip("rod")[:3, 3], R @ end[3:])
    moment += (0, -4.0, 0)
    return np.abs(force).max(), np.abs(moment).max()


def main() -> dict[str, float]:
    shapes, equilibria, left = {}, {}, []
    for label, kind in KINDS.items():
        still = equilibria[label] = held(kind).statics(formulation=pl.BSpline(3, 41))
        shapes[label] = RodShape(label, still.pose("rod", S), 0.015)
        left.append(left_over(still))
    place = {k: still.position("rod", [0.9]) for k, still in equilibria.items()}
    draw_comparison(shapes, place, title="a moment of 4 N m where the circles are")
    still, upwards = arch()
    return {
        **{
            f"farthest, {k}": np.abs(v.position("rod", S)[:, 2]).max()
            for k, v in equilibria.items()
        },
        "forces left over": max(force for force, _ in left),
        "moments left over": max(moment for _, moment in left),
        "height of the arch": still.position("arch", 0.5)[2],
        "what the feet carry": upwards,
    }


if __name__ == "__main__":
    main()
    plt.show()
