"""Tendons whose friction follows the way: pulled and let go, by tension and by length."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

K, MU = 200.0, 0.3
CORNERS = ((-0.1, 0, 0.1), (0, 0, 0.1), (0, 0.1, 0.1))
"""Pulled end and two corners in the world: the tendon turns by a quarter twice, then hangs down."""
CAPSTAN = np.exp(-MU * np.pi)


def lift(**given):
    """A weightless carriage on a spring, pulled up over two corners."""
    robot = pl.Robot(gravity=(0, 0, 0))
    guide = pl.Prismatic("z", stiffness=K)
    body = pl.pose((0, 0.1, 0))
    robot.add_body("carriage", 0.1, (1e-4,) * 3, pose=body, joint=guide)
    path = [*CORNERS, "carriage"]
    robot.add_tendon("tendon", path, friction=MU, sliding="way", **given)
    return robot


def test_pull_and_release_by_tension_have_the_capstan_between_them():
    """The carriage stays while the pull changes by less than the square of the capstan's factor."""
    robot, still, z = lift(), None, 0.0
    for tension in (5.0, 10.0, 4.0, 1.0, 2.0, 9.0, 0.5):
        still = robot.statics({"tendon": tension}, start=still)
        z = np.clip(z, tension * CAPSTAN / K, tension / CAPSTAN / K)
        assert still.position("carriage")[2] == pytest.approx(z, abs=1e-4)
        along = np.asarray(still.tension("tendon"))
        assert along[0] == pytest.approx(tension)
        assert along[-1] == pytest.approx(K * still.position("carriage")[2], rel=1e-8)
        quarter = along[1:] / along[:-1]
        bounds = np.exp(np.array([-1.0, 1.0]) * MU * np.pi / 2.0)
        assert np.all((quarter > bounds[0] * (1 - 1e-9)) & (quarter < bounds[1] * (1 + 1e-9)))


def test_pull_and_release_by_length_have_the_capstan_between_them():
    robot, still = lift(drive="length", stiffness=1e4), None
    ratios = []
    for pulled in (0.01, 0.02, 0.0199, 0.015):
        still = robot.statics({"tendon": pulled}, start=still)
        along = np.asarray(still.tension("tendon"))
        assert along[-1] == pytest.approx(K * still.position("carriage")[2], rel=1e-8)
        ratios.append(along[-1] / along[0])
    assert ratios[:2] == pytest.approx([CAPSTAN, CAPSTAN], rel=1e-9)
    assert ratios[3] == pytest.approx(1.0 / CAPSTAN, rel=1e-9)
    assert CAPSTAN < ratios[2] < 1.0 / CAPSTAN


def test_arm_keeps_a_part_of_its_bend_when_its_tendon_lets_go():
    """Far from the reel less of a pull arrives, and more is left of it on release."""
    robot = pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.008), soft, pose=pl.along("x"))
    points = [arm.at(x, offset=(0.006, 0)) for x in np.linspace(0.0, 0.2, 6)]
    robot.add_tendon("tendon", points, friction=0.5, sliding="way")
    pulled = robot.statics({"tendon": 3.0})
    let_go = robot.statics({"tendon": 2.0}, start=pulled)
    fresh = robot.statics({"tendon": 2.0})
    depths = [abs(x.tip("arm")[2, 3]) for x in (pulled, let_go, fresh)]
    assert depths[0] > depths[1] > 1.02 * depths[2]
    assert np.all(np.diff(np.asarray(pulled.tension("tendon"))) < 0.0)
    assert np.any(np.diff(np.asarray(let_go.tension("tendon"))) > 0.0)
