"""
A finger whose joints are shaped by control points
==================================================

Two bones on two sheets that bend: the natural shape of each sheet is a B-spline, and its control points
decide how the fingertip moves when a cable is pulled. This is the study of section 8.4 of Xun et al.
(2025): sheets of 1 mm by 20 mm and 5 GPa (Table 9), shape 1 of degree 2 with four control points and
shape 2 of degree 3 with five, all four pairs of them, and a cable force from 0 to 3.3 N. Then an
optimiser moves control points until the fingertip follows a wanted path.

The paper leaves out the rest. Assumed here: sheets that span 40 mm between bones of 40 mm and 30 mm,
bulging by some millimetres; the cable 15 mm in front of the bones, straight across the joints, without
friction; no weight. Masses do not matter at rest.
"""

# sphinx_gallery_group = "actuators"

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import pliant as pl
from pliant.view import rod_color, style

MM = 1e-3
SHEET, PLASTIC = pl.Rectangle(1 * MM, 20 * MM), pl.Material(E=5e9, nu=0.35, rho=1200.0)
SPAN, ARM, BONES = 40 * MM, 15 * MM, {"proximal": 40 * MM, "distal": 30 * MM}
PULLS = np.linspace(0.0, 3.3, 7)
FILE = Path(pl.__file__).parent / "robots" / "finger.yaml"
EXPECTED = {
    "tip of 1-1, x / mm": (65.0, 0.1),
    "tip of 1-1, z / mm": (125.0, 0.1),
    "tip of 1-2, x / mm": (60.0, 0.1),
    "tip of 2-1, x / mm": (46.3, 0.1),
    "tip of 2-2, x / mm": (40.0, 0.1),
    "first design off the path / mm": (20.6, 0.2),
    "last design off the path / mm": (0.1, 0.05),
    "robot file off / mm": (0.0, 1e-6),
}


def shape1(a: float = -10.0, b: float = -10.0) -> pl.Curve:
    """Degree 2, four control points; the inner ones a and b mm in front of the bones."""
    points = [(0, 0, 0), (a * MM, 0, 12 * MM), (b * MM, 0, 28 * MM), (0, 0, SPAN)]
    return pl.Curve(points, degree=2)


def shape2() -> pl.Curve:
    """Degree 3, five control points."""
    across = [0, 0, 8 * MM, 0, 0]
    return pl.Curve([(x, 0, k * SPAN / 4) for k, x in enumerate(across)], degree=3)


def finger(knuckle: pl.Curve, joint: pl.Curve) -> tuple[pl.Robot, pl.Frame]:
    """The finger along z, and the place of its fingertip."""
    robot = pl.Robot(gravity=(0, 0, 0))
    base, cable = "world", [(ARM, 0.0, 0.0)]
    for name, shape, (bone_name, length) in zip(
        ("knuckle", "joint"), (knuckle, joint), BONES.items(), strict=True
    ):
        rod = robot.add_rod(
            name, shape.length, SHEET, PLASTIC, natural=shape, base=base, pose=shape.base
        )
        place = np.linalg.inv(shape.tip) @ pl.pose((0, 0, SPAN))
        bone = robot.add_body(bone_name, 0.01, (1e-6, 1e-6, 1e-7), on=rod.tip, pose=place)
        cable += [bone.at((ARM, 0, 0)), bone.at((ARM, 0, length))]
        base = bone.at((0, 0, length))
    robot.add_tendon("cable", path=cable[:-1])
    return robot, base


def tip_path(robot: pl.Robot, tip: pl.Frame, pulls: Sequence[float]) -> np.ndarray:
    """x and z of the fingertip under cable forces, each equilibrium from the last."""
    still, found = None, []
    for pull in pulls:
        still = robot.statics({"cable": pull}, pl.BSpline(3, 8), start=still)
        found.append(still.position(tip)[[0, 2]])
    return np.array(found)


def design(wanted: np.ndarray, pulls: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Control points (mm) of two joints of shape 1 that lead the tip along a path, and all misses."""
    misses = []

    def off(x: np.ndarray) -> np.ndarray:
        gap = (tip_path(*finger(shape1(*x[:2]), shape1(*x[2:])), pulls) - wanted) / MM
        misses.append(np.linalg.norm(gap, axis=1).max())
        return gap.ravel()

    found = least_squares(off, np.full(4, -10.0), diff_step=0.02, bounds=(-14, 14), max_nfev=6)
    return found.x, np.array(misses)


def draw(ax: plt.Axes, robot: pl.Robot, pull: float, colour: str, label: str) -> None:
    """Sheets, bones and cable in the plane of the finger."""
    still = robot.statics({"cable": pull}, pl.BSpline(3, 8))
    for rod in ("knuckle", "joint"):
        x = still.position(rod) / MM
        ax.plot(x[:, 0], x[:, 2], colour, lw=2.5, label=label if rod == "joint" else None)
    for name, length in BONES.items():
        corners = [(0, 0, 0), (ARM, 0, 0), (ARM, 0, length), (0, 0, length)]
        at = [still.position(pl.Frame(name, 0.0, corner)) / MM for corner in corners]
        ax.fill(*np.array(at)[:, [0, 2]].T, color=colour, alpha=0.25, lw=0)
    path = robot.description.tendons["cable"].path
    line = [p if isinstance(p, tuple) else still.position(p) for p in path]
    ax.plot(*(np.array(line)[:, [0, 2]] / MM).T, "C3-", lw=1)


@style()
def main() -> dict[str, float]:
    shapes = {"1": shape1(), "2": shape2()}
    _, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
    found = {}
    for first, knuckle in shapes.items():
        for second, joint in shapes.items():
            path = tip_path(*finger(knuckle, joint), PULLS) / MM
            middle.plot(*path.T, "o-", ms=3, label=f"joints {first}-{second}")
            found[f"tip of {first}-{second}, x / mm"] = float(path[-1, 0])
            if first == second == "1":
                found["tip of 1-1, z / mm"] = float(path[-1, 1])
    for pull, colour in ((0.0, "0.6"), (3.3, rod_color(0))):
        draw(left, finger(shapes["1"], shapes["2"])[0], pull, colour, f"{pull:g} N")

    pulls = [1.1, 2.2, 3.3]
    share = np.array(pulls) / 3.3
    wanted = np.stack([50 * share, 150 - 11 * share**2], axis=1) * MM
    points, misses = design(wanted, pulls)
    for x, label in ((np.full(4, -10.0), "first design"), (points, "last design")):
        path = tip_path(*finger(shape1(*x[:2]), shape1(*x[2:])), PULLS) / MM
        right.plot(*path.T, "-", label=label)
    right.plot(*(wanted / MM).T, "kx", label="wanted at 1.1, 2.2, 3.3 N")

    described, tip = finger(shapes["1"], shapes["2"])
    read = pl.Robot.from_file(FILE)
    apart = [tip_path(robot, tip, [3.3])[0] for robot in (described, read)]
    titles = ("Shapes 1 and 2", "Fingertip, 0 to 3.3 N", "Control points moved by an optimiser")
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.set(xlabel="x / mm", ylabel="z / mm", title=title)
        ax.legend(fontsize=8)
    left.set_aspect("equal")
    return {
        **found,
        "first design off the path / mm": float(misses[0]),
        "last design off the path / mm": float(misses.min()),
        "robot file off / mm": float(np.abs(apart[0] - apart[1]).max() / MM),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
