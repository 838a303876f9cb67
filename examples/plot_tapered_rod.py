"""
A tapered rod under tip forces and moments
==========================================

A soft rod of one metre that tapers from 3 cm to 1.5 cm radius, with a force (0.25 to 1 N) or a moment
(0.05 to 0.2 N m, which turns the tip by more than a full turn) at its tip: the first study of Xun et
al. 2025. Fifteen cubic control poses, closer together towards the thin end, agree with an independent
integration of the rod's differential equations (circles) to better than 1e-4 of the length in every
pose.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_bvp

import pliant as pl
from pliant.view import RodShape, draw_comparison, style

FORCES = (0.25, 0.5, 0.75, 1.0)
MOMENTS = (0.05, 0.1, 0.15, 0.2)
S = np.linspace(0.0, 1.0, 61)
POINTS = pl.BSpline(degree=3, points=15, knots="graded")
EXPECTED = {
    "worst pose error": (0.0, 1e-4),
    "tip height at 1 N": (0.800706, 1e-6),
    "tip x at 0.2 N m": (0.268683, 1e-5),
    "iterations at 0.25 N": (5, 1),
}


def tapered_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=2e5, nu=0.45)
    arm = robot.add_rod("arm", 1.0, pl.Circle((0.03, 0.015)), material, pose=pl.along("x"))
    robot.add_load("force", arm.tip, force=(0, 0, 1))
    robot.add_load("moment", arm.tip, moment=(0, -1, 0))
    return robot


def integrated(force: float, moment: float, guess=None):
    """Solve the plane rod (x, z, angle, bending moment) with scipy: the independent answer."""
    E, G = 2e5, 2e5 / 2.9

    def slope(s, y):
        r = 0.03 - 0.015 * s
        area, angle = np.pi * r**2, y[2]
        stretch = 1.0 + force * np.sin(angle) / (E * area)
        shear = force * np.cos(angle) / (G * area)
        dx = stretch * np.cos(angle) - shear * np.sin(angle)
        dz = stretch * np.sin(angle) + shear * np.cos(angle)
        return np.array([dx, dz, y[3] / (E * np.pi * r**4 / 4), -force * dx])

    def ends(base, tip):
        return np.array([base[0], base[1], base[2], tip[3] - moment])

    if guess is None:
        guess = np.array([S, 0 * S, 0 * S, 0 * S + moment])
    return solve_bvp(slope, ends, S, guess, tol=1e-9, max_nodes=5000).sol(S)


def compare(robot: pl.Robot, load: str, sizes, unit: str, ax, below) -> list[pl.Equilibrium]:
    shapes, truth, equilibria, guess = {}, {}, [], None
    for size in sizes:
        inputs = {"force": 0.0, "moment": 0.0, load: size}
        still = robot.statics(inputs, POINTS)
        guess = integrated(inputs["force"], inputs["moment"], guess)
        label = f"{size:g} {unit}"
        poses = still.pose("arm", S)
        shapes[label], truth[label] = RodShape(label, poses, 0.02), guess[:2, ::5].T
        turn = np.arctan2(poses[:, 2, 2], poses[:, 0, 2]) - guess[2]
        turn = (turn + np.pi) % (2 * np.pi) - np.pi
        gap = np.array([turn, poses[:, 0, 3] - guess[0], poses[:, 2, 3] - guess[1]])
        still.worst = np.linalg.norm(gap, axis=0).max()
        with style():
            below.semilogy(S[1:], np.linalg.norm(gap, axis=0)[1:], label=label)
        equilibria.append(still)
    draw_comparison(shapes, truth, "xz", f"{load} at the tip", ax)
    return equilibria


def main() -> dict[str, float]:
    robot = tapered_rod()
    with style():
        _, axes = plt.subplots(2, 2, figsize=(9.0, 6.4), layout="constrained", height_ratios=(3, 2))
        for ax in axes[1]:
            ax.axhline(1e-4, color="#b8202c", linestyle="--", linewidth=1.2)
            ax.set(xlabel="s / m", ylim=(1e-9, 4e-4))
        axes[1, 0].set_ylabel("pose error / length")
        axes[1, 0].text(0.02, 1.3e-4, "1e-4 of the length", color="#b8202c", fontsize=9)
    pushed = compare(robot, "force", FORCES, "N", axes[0, 0], axes[1, 0])
    turned = compare(robot, "moment", MOMENTS, "N m", axes[0, 1], axes[1, 1])
    with style():
        axes[0, 1].set_ylim(-0.05, 0.72)
        axes[0, 1].legend(loc="upper right", ncols=2)
    return {
        "worst pose error": max(still.worst for still in pushed + turned),
        "tip height at 1 N": pushed[-1].tip("arm")[2, 3],
        "tip x at 0.2 N m": turned[-1].tip("arm")[0, 3],
        "iterations at 0.25 N": pushed[0].iterations,
    }


if __name__ == "__main__":
    main()
    plt.show()
