"""A cable-driven joint with a natural shape by control points, against a plane elastica."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline
from scipy.optimize import root

import pliant as pl
from pliant.model import Array

MM = 1e-3
POINTS = np.array([(0, 0, 0), (-10, 0, 12), (-10, 0, 28), (0, 0, 40)]) * MM
ARM, PULL = 15 * MM, 3.3
EI = 5e9 * 20 * MM * (1 * MM) ** 3 / 12


def elastica() -> Array:
    """Pose (x, z, angle) of the tip, the sheet inextensible, from its curve in the plane.

    The cable pulls a bone at the tip, ARM in front of it, towards the place ARM in front of the base.
    """
    spline = BSpline([0, 0, 0, 0.5, 1, 1, 1], POINTS[:, [0, 2]], 2)

    def along(x: float, y: Array, tip: Array) -> Array:
        """y = (x, z, angle), with the curve's own parameter; angles turn z towards x."""
        first, second = spline.derivative()(x), spline.derivative(2)(x)
        speed = np.linalg.norm(first)
        turn = (second[0] * first[1] - second[1] * first[0]) / speed**3
        bone = tip[:2] + ARM * np.array([np.cos(tip[2]), -np.sin(tip[2])])
        force = (ARM, 0.0) - bone
        force *= PULL / np.linalg.norm(force)
        lever = bone - y[:2]
        moment = lever[1] * force[0] - lever[0] * force[1]
        return speed * np.array([np.sin(y[2]), np.cos(y[2]), turn + moment / EI])

    start = spline.derivative()(0.0)
    rest = np.arctan2(start[0], start[1])

    def end(tip: Array) -> Array:
        bone = tip - (0, 0, -rest)  # the bone stands upright at rest, where the sheet ends at -rest
        y = np.array([0, 0, rest])
        for a, b in ((0, 0.5), (0.5, 1)):
            y = solve_ivp(along, (a, b), y, args=(bone,), rtol=1e-10, atol=1e-13).y[:, -1]
        return y

    found = root(lambda tip: end(tip) - tip, np.array([0.0, 40 * MM, -rest]), tol=1e-12)
    assert found.success
    return np.asarray(found.x)


@pytest.mark.parametrize("formulation", [pl.BSpline(3, 12), pl.Strain(3, 4), pl.ANCF(12)])
def test_joint_of_a_finger_bends_as_the_elastica(formulation: object) -> None:
    shape = pl.Curve(POINTS, degree=2)
    robot = pl.Robot(gravity=(0, 0, 0))
    sheet, plastic = pl.Rectangle(1 * MM, 20 * MM), pl.Material(E=5e9, nu=0.35, rho=1200.0)
    rod = robot.add_rod(
        "joint", shape.length, sheet, plastic, natural=shape, pose=shape.base, theory="kirchhoff"
    )
    place = np.linalg.inv(shape.tip) @ pl.pose(POINTS[-1])
    bone = robot.add_body("bone", 0.01, (1e-6, 1e-6, 1e-7), on=rod.tip, pose=place)
    robot.add_tendon("cable", path=[(ARM, 0, 0), bone.at((ARM, 0, 0))])
    still = robot.statics({"cable": PULL}, formulation)
    x, z, angle = elastica()
    tip = still.tip("joint")
    assert tip[[0, 2], 3] == pytest.approx([x, z], abs=2e-5 * shape.length)
    assert np.arctan2(tip[0, 2], tip[2, 2]) == pytest.approx(angle, abs=2e-4)
    assert np.hypot(x, z - 40 * MM) > 5 * MM
