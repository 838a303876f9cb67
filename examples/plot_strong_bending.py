"""
Circle, helix and 45-degree bend by strong forms
================================================

Three classical problems with large rotations, solved as boundary value problems: by shooting from the
base to the tip, and by Chebyshev polynomials of the moment. A rod under a moment becomes a circle, for
which two nodes are exact. A force and a moment wind another rod up ten times. An eighth of a circle is
pulled out of its plane by up to 3000 N, starting from the last load or from none. Where shooting does
not converge at once it takes load steps, and the result reports how many.
"""

# sphinx_gallery_group = "validation"

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex

import pliant as pl
from pliant.view import RodShape, draw_robot, style

HELIX = {0.2: (0.11506069827139738, -0.598497490880649, -0.008362222875119446),
         1.0: (0.004803249659646768, -0.0764417417325678, -7.249684685814977e-05)}  # fmt: skip
BEND = {300.0: (22.244780945367616, 58.77912248968282, 40.19189167015013),
        600.0: (15.684800534038756, 47.150438573629025, 53.47485879182495)}  # fmt: skip
EXPECTED = {
    "worst gap of the circle with 2 nodes": (0.0, 1e-10),
    "worst error of the helix": (0.0, 3e-7),
    "worst error of the bend": (0.0, 1e-7),
    "shooting against collocation at 3000 N": (0.0, 1e-6),
    "load steps to 3000 N from nothing": (5.0, 2.0),
}


def circles() -> tuple[list[np.ndarray], float]:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=2.0, twist=1 / 2.6, shear=0.25 / 2.6, axial=0.25)
    rod = robot.add_rod("rod", 1.0, section, pose=pl.along("x"))
    robot.add_load("turn", rod.tip, moment=(0, 2.0, 0))
    lines, worst = [], 0.0
    for angle in np.linspace(0.0, 2 * np.pi, 9)[1:]:
        still = robot.statics({"turn": angle}, pl.Collocation(nodes=2))
        tip = np.array([np.sin(angle), 0.0, np.cos(angle) - 1.0]) / angle
        worst = max(worst, np.abs(still.tip("rod")[:3, 3] - tip).max())
        lines.append(still.position("rod", np.linspace(0, 1, 101)))
    return lines, worst


def helices() -> tuple[list[np.ndarray], float]:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=100.0, twist=100.0, shear=1e4, axial=1e4)
    rod = robot.add_rod("rod", 10.0, section, pose=pl.along("x"))
    robot.add_load("wind", rod.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    lines, errors = [], []
    for level, tip in HELIX.items():
        still = robot.statics({"wind": level}, pl.Shooting(steps=800))
        errors.append(np.abs(still.tip("rod")[:3, 3] - tip).max())
        lines.append(still.pose("rod", np.linspace(0, 10, 801)))
    return lines, max(errors)


def bends() -> tuple[list[np.ndarray], dict[str, float]]:
    robot = pl.Robot(gravity=(0, 0, 0))
    pose = pl.along("y")
    natural = tuple(pose[:3, :3].T @ (0.0, 0.0, -0.01))
    section = pl.Section(1.0, 1 / 12, 1 / 12, 1 / 6)
    rod = robot.add_rod(
        "rod", 25 * np.pi, section, pl.Material(E=1e7, nu=0.0), pose, natural=natural
    )
    robot.add_load("up", rod.tip, force=(0, 0, 1.0))
    lines, errors, last = [], [], None
    for load in np.arange(300.0, 3001.0, 300.0):
        last = robot.statics({"up": load}, pl.Shooting(steps=200), start=last)
        lines.append(last.pose("rod", np.linspace(0, 25 * np.pi, 101)))
        if load in BEND:
            errors.append(np.abs(last.tip("rod")[:3, 3] - BEND[load]).max())
    cold = robot.statics({"up": 3000.0}, pl.Shooting(steps=200))
    other = robot.statics({"up": 3000.0}, pl.Collocation())
    return lines, {
        "worst error of the bend": max(errors),
        "shooting against collocation at 3000 N": np.abs(cold.tip("rod") - other.tip("rod")).max(),
        "load steps to 3000 N from nothing": cold.rescues["load steps"],
    }


def main() -> dict[str, float]:
    rings, gap = circles()
    coils, error = helices()
    arcs, numbers = bends()
    with style():
        _, flat = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
        for k, line in enumerate(rings):
            flat.plot(line[:, 0], line[:, 2], color=plt.cm.viridis(k / 8))
        flat.set(aspect="equal", xlabel="x / m", ylabel="z / m", title="a moment, in eight parts")
    for poses, title in ((coils, "20 % and all of the load"), (arcs, "300 N to 3000 N")):
        colors = plt.cm.viridis(np.arange(len(poses)) / len(poses))
        shapes = [RodShape("rod", g, 0.0, to_hex(c)) for g, c in zip(poses, colors, strict=True)]
        draw_robot(shapes, title=title, view="iso")
    return {
        "worst gap of the circle with 2 nodes": gap,
        "worst error of the helix": error,
        **numbers,
    }


if __name__ == "__main__":
    main()
    plt.show()
