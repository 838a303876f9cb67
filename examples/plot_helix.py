"""
A rod wound into a helix
========================

A straight rod of ten metres with a force and a moment at its tip that grow together: the moment winds
it up, the force pulls the coil sideways. At full load it has made about ten turns. The load is applied
in many small steps, which are chosen automatically. The tip is compared with a shooting solution.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_robot

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


def main() -> dict[str, float]:
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=100, twist=100, shear=1e4, axial=1e4)
    arm = robot.add_rod("arm", 10.0, section, pose=pl.along("x"))
    robot.add_load("wind", arm.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    s = np.linspace(0.0, 10.0, 401)
    equilibria, still = {}, None
    for level in (0.05, *TIP):
        still = equilibria[level] = robot.statics({"wind": level}, pl.BSpline(3, 80), start=still)
    for levels, radius, view in (((0.05, 0.2), 0.04, (20, -60)), ((0.6, 1.0), 0.002, (22, -35))):
        shapes = [RodShape(f"{100 * x:g} %", equilibria[x].pose("arm", s), radius) for x in levels]
        title = " and ".join(shape.name for shape in shapes)
        draw_robot(shapes, title=f"{title} of the load", view=view)
    curvature = np.linalg.norm(equilibria[1.0].strain("arm", s)[:, :3], axis=1)
    errors = [np.abs(equilibria[level].tip("arm")[:3, 3] - tip).max() for level, tip in TIP.items()]
    return {
        "worst error of the tip": max(errors),
        "turns at full load": np.trapezoid(curvature, s) / (2 * np.pi),
    }


if __name__ == "__main__":
    main()
    plt.show()
