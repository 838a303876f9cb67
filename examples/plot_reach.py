"""
Bring a tip to a place
======================

A hanging arm has three pressure chambers around its axis. `Robot.reach` finds the pressures of least
effort with which its tip follows a circle, each solution starting from the one before. The cloud
around it is the workspace: where the tip can be at all with pressures up to 3 bar.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

CHAMBERS = ["air 0", "air 1", "air 2"]
HIGHEST = 3e5
EXPECTED = {
    "largest miss / mm": (0.0, 1e-3),
    "largest pressure / bar": (0.952, 0.005),
    "width of the workspace / m": (0.2736, 0.002),
}


def trunk() -> pl.Robot:
    robot = pl.Robot()
    silicone = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), silicone, pose=pl.along("-z"))
    for k, name in enumerate(CHAMBERS):
        angle = 2.0 * np.pi * k / 3
        at = (0.006 * np.cos(angle), 0.006 * np.sin(angle))
        robot.add_chamber(name, arm, area=3e-5, offset=at)
    return robot


def circle(robot: pl.Robot, radius: float = 0.04, count: int = 37) -> tuple[list, list]:
    """Equilibria whose tip is on a horizontal circle, and the points of the circle."""
    targets = [
        (radius * np.cos(angle), radius * np.sin(angle), None)
        for angle in np.linspace(0.0, 2.0 * np.pi, count)
    ]
    found: list[pl.Reach] = []
    for target in targets:
        start = found[-1] if found else None
        found.append(robot.reach({"arm.tip": target}, CHAMBERS, bounds=(0.0, HIGHEST), start=start))
    return found, targets


def draw(found: list, space: pl.Workspace) -> None:
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained")
    spots = left.scatter(*space.positions[:, :2].T * 1e3, c=space.positions[:, 2] * 1e3, s=7)
    figure.colorbar(spots, ax=left, label="z / mm")
    tips = np.array([one.position("arm.tip") for one in found]) * 1e3
    left.plot(*tips[:, :2].T, "k.-", linewidth=1.2, markersize=4)
    left.set(xlabel="x / mm", ylabel="y / mm", aspect="equal", title="workspace and circle of tips")
    angle = np.linspace(0.0, 360.0, len(found))
    for name in CHAMBERS:
        right.plot(angle, [one.inputs[name] / 1e5 for one in found], label=name)
    right.set(xlabel="angle on the circle / °", ylabel="pressure / bar", title="pressures found")
    right.set_xticks(range(0, 361, 90))
    legend_beside(right)


def main() -> dict[str, float]:
    robot = trunk()
    found, targets = circle(robot)
    values = {name: np.linspace(0.0, HIGHEST, 8) for name in CHAMBERS}
    space = pl.workspace(robot, values, "arm.tip")
    draw(found, space)
    space.plot(color="air 1")
    tips = np.array([one.position("arm.tip")[:2] for one in found])
    wanted = np.array([target[:2] for target in targets], dtype=float)
    return {
        "largest miss / mm": float(np.linalg.norm(tips - wanted, axis=1).max() * 1e3),
        "largest pressure / bar": max(max(one.found.values()) for one in found) / 1e5,
        "width of the workspace / m": float(np.ptp(space.positions[:, 0])),
    }


if __name__ == "__main__":
    main()
    plt.show()
