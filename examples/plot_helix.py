"""
A rod wound into a helix
========================

A straight rod of ten metres with a force and a moment at its tip that grow together: the moment winds
it up, the force pulls the coil sideways. At full load it has made about ten turns. The load is applied
in many small steps, which are chosen automatically. The tip is compared with a shooting solution. The
picture stretches the coil along its axis.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_robot, style

# part of the load: tip position
TIP = {
    0.2: (0.11506069827139738, -0.598497490880649, -0.008362222875119446),
    0.6: (0.01329859386349836, -0.1801190533662063, -0.0003335690307966273),
    1.0: (0.004803249659646768, -0.0764417417325678, -7.249684685814977e-05),
}
EXPECTED = {
    "worst error of the tip": (0.0, 1e-4),
    "turns at full load": (10.0, 1.0),
}


def draw_coils(lines) -> None:
    """Draw the centre lines beside each other, base and tip marked."""
    with style():
        figure = plt.figure(figsize=(9.0, 3.6))
        for k, (level, points) in enumerate(lines.items()):
            ax = figure.add_subplot(1, 3, k + 1, projection="3d")
            ax.plot(*points.T, color="#3a7ca5", linewidth=1.6)
            ax.plot(*points[:1].T, "o", color="#2b2f36", markersize=5)
            ax.plot(*points[-1:].T, "o", color="#b8202c", markersize=5)
            ax.set_aspect("equal")
            ax.view_init(22, -50)
            ax.locator_params(nbins=3)
            ax.tick_params(labelsize=7, pad=-1)
            ax.set_box_aspect(None, zoom=1.0)
            ax.set_title(f"{100 * level:g} % of the load")
        figure.subplots_adjust(left=0.02, right=0.95, top=0.92, bottom=0.02, wspace=0.12)


def main() -> dict[str, float]:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=100, twist=100, shear=1e4, axial=1e4)
    arm = robot.add_rod("arm", 10.0, section, pose=pl.along("x"))
    robot.add_load("wind", arm.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    s = np.linspace(0.0, 10.0, 401)
    equilibria, still = {}, None
    for level in (0.05, *TIP):
        still = equilibria[level] = robot.statics({"wind": level}, pl.BSpline(3, 80), start=still)
    shapes = [RodShape(f"{100 * x:g} %", equilibria[x].pose("arm", s), 0.04) for x in (0.05, 0.2)]
    draw_robot(shapes, title="5 % and 20 % of the load", view=(20, -60))
    draw_coils({level: equilibria[level].position("arm", s) for level in TIP})
    curvature = np.linalg.norm(equilibria[1.0].strain("arm", s)[:, :3], axis=1)
    errors = [np.abs(equilibria[level].tip("arm")[:3, 3] - tip).max() for level, tip in TIP.items()]
    return {
        "worst error of the tip": max(errors),
        "turns at full load": np.trapezoid(curvature, s) / (2 * np.pi),
    }


if __name__ == "__main__":
    main()
    plt.show()
