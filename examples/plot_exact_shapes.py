"""
Exact shapes
============

The elastica, a thin rod under an end force, has a solution in elliptic integrals. A rod under an end
moment is a circular arc, here up to two full turns. A curved rod pushed out of its plane, the 45-degree
bend, has no closed solution, but its tip is known to ten digits. Circles mark the reference solutions.
"""

# sphinx_gallery_group = "validation"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import Arrow, RodShape, draw_comparison, draw_robot, style

S = np.linspace(0.0, 1.0, 121)
# force * L^2 / EI: tip x and z
ELASTICA = {
    1.0: (0.9435667637166231, 0.30172077379981355),
    10.0: (0.4450044022462487, 0.8106090248802964),
}
# force in N: tip position
BEND = {
    300.0: (22.244780945367616, 58.77912248968282, 40.19189167015013),
    600.0: (15.684800534038756, 47.150438573629025, 53.47485879182495),
}
EXPECTED = {
    "error of the elastica": (0.0, 1e-6),
    "error of the circles": (0.0, 1e-9),
    "error of the bend": (0.0, 1e-6),
}


def thin_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=1.0, twist=1.0, shear=1e9, axial=1e9)
    arm = robot.add_rod("arm", 1.0, section, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0, 1))
    robot.add_load("turn", arm.tip, moment=(0, -2 * np.pi, 0))
    return robot


def shape_of(still: pl.Equilibrium, label: str, length: float = 1.0, width: float = 0.01):
    return RodShape(label, still.pose("arm", length * S), width)


def elastica(ax) -> float:
    robot, shapes, gaps = thin_rod(), {}, []
    for force in (1.0, 2.0, 4.0, 10.0):
        still = robot.statics({"push": force, "turn": 0.0}, pl.BSpline(3, 40))
        shapes[f"force {force:g}"] = shape_of(still, f"{force:g}")
        if force in ELASTICA:
            gaps.append(np.abs(still.tip("arm")[[0, 2], 3] - ELASTICA[force]).max())
    tips = {f"force {force:g}": np.array([tip]) for force, tip in ELASTICA.items()}
    draw_comparison(shapes, tips, title="elastica: end force × L² / EI", ax=ax)
    return max(gaps)


def circles(ax) -> float:
    robot, shapes, truth, gaps = thin_rod(), {}, {}, []
    for turns in (0.25, 0.5, 1.0, 2.0):
        still = robot.statics({"push": 0.0, "turn": turns}, pl.BSpline(3, 15))
        label, angle = f"{turns:g} turns", 2 * np.pi * turns
        arc = np.array([np.sin(angle * S), 1 - np.cos(angle * S)]).T / angle
        shapes[label], truth[label] = shape_of(still, label), arc[::10]
        gaps.append(np.abs(still.position("arm", S)[:, [0, 2]] - arc).max())
    draw_comparison(shapes, truth, title="end moment: arcs of circles", ax=ax)
    return max(gaps)


def bend() -> float:
    length = 25 * np.pi
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Section(area=1.0, Ix=1 / 12, Iy=1 / 12, J=1 / 6)
    arm = robot.add_rod(
        "arm", length, section, pl.Material(E=1e7, nu=0.0), pose=pl.along("y"), natural=(0, 0.01, 0)
    )
    robot.add_load("push", arm.tip, force=(0, 0, 1))
    equilibria = {
        force: robot.statics({"push": force}, pl.BSpline(3, 60)) for force in (0.0, *BEND)
    }
    shapes = [shape_of(still, f"{force:g} N", length, 1.0) for force, still in equilibria.items()]
    arrows = [
        Arrow(equilibria[force].tip("arm")[:3, 3], (0, 0, force), "force", name)
        for force, name in zip(BEND, ("first push", "second push"), strict=True)
    ]
    draw_robot(shapes[1:], arrows, shapes[:1], title="45-degree bend", view=(22, -35))
    return max(np.abs(equilibria[f].tip("arm")[:3, 3] - tip).max() for f, tip in BEND.items())


def main() -> dict[str, float]:
    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
    return {
        "error of the elastica": elastica(left),
        "error of the circles": circles(right),
        "error of the bend": bend(),
    }


if __name__ == "__main__":
    main()
    plt.show()
