"""
A rod wound into a helix
========================

A straight rod of ten metres, with a force and a moment on its tip that grow together: the moment
winds it up, the force pulls the coil sideways. At the full load it has made about ten turns. The way
there is long, so the load is applied in many small steps, chosen automatically. The tip is compared
with a shooting solution.
"""

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
    found, still = {}, None
    for level in (0.05, *TIP):
        still = found[level] = robot.statics({"wind": level}, pl.BSpline(3, 80), start=still)
    shapes = [
        RodShape(f"{100 * level:g} %", found[level].pose("arm", s), 0.04) for level in found
    ]
    draw_robot(shapes[:2], title="5 % and 20 % of the load", view=(20, -60))
    draw_robot(shapes[2:], title="60 % and all of the load", view=(20, -60))
    curvature = np.linalg.norm(found[1.0].strain("arm", s)[:, :3], axis=1)
    errors = [np.abs(found[level].tip("arm")[:3, 3] - tip).max() for level, tip in TIP.items()]
    return {
        "worst error of the tip": max(errors),
        "turns at full load": np.trapezoid(curvature, s) / (2 * np.pi),
    }


if __name__ == "__main__":
    main()
    plt.show()
