"""Rods whose shape is known in closed form or to many digits."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.reference import exact, values

SLENDER = pl.Stiffness(bending=1.0, twist=1.0, shear=1e9, axial=1e9, mass=1.0)
FORMULATIONS = {
    "bspline": pl.BSpline(3, 40),
    "quintic": pl.BSpline(5, 40),
    "cayley": pl.BSpline(3, 40, map="cayley"),
    "hermite": pl.Hermite(30),
    "spectral": pl.Spectral(5, 16),
}
by_formulation = pytest.mark.parametrize("name", FORMULATIONS)


def cantilever(theory: str = "cosserat") -> tuple[pl.Robot, pl.Rod]:
    """A rod along x with EI = L = 1 that hardly stretches, or not at all."""
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 1.0, SLENDER, pose=pl.along("x"), theory=theory)
    return robot, arm


def planar_tip(found: pl.Equilibrium) -> tuple[float, float, float]:
    """Angle, x and z of the tip; the angle counts from the x axis towards z."""
    tip = found.tip("arm")
    return float(np.arctan2(tip[2, 2], tip[0, 2])), tip[0, 3], tip[2, 3]


# -- elastica -------------------------------------------------------------------------------------


@by_formulation
@pytest.mark.parametrize("force", values.ELASTICA_FORCE)
def test_elastica_under_an_end_force(name: str, force: float) -> None:
    robot, arm = cantilever()
    robot.add_load("push", arm.tip, force=(0, 0, force))
    found = planar_tip(robot.statics(formulation=FORMULATIONS[name]))
    assert found == pytest.approx(values.ELASTICA_FORCE[force], abs=1e-6)


@pytest.mark.parametrize("force", [0.3, 1.0, 4.0, 10.0])
def test_elastica_without_any_stretch(force: float) -> None:
    robot, arm = cantilever("kirchhoff")
    robot.add_load("push", arm.tip, force=(0, 0, force))
    found = planar_tip(robot.statics(formulation=pl.Strain(order=3, segments=8)))
    assert found == pytest.approx(exact.elastica_end_force(force), abs=1e-8)


@pytest.mark.parametrize("weight", [1.0, *values.ELASTICA_OWN_WEIGHT, 20.0])
def test_heavy_elastica(weight: float) -> None:
    theta, x, y = exact.heavy_elastica(weight)
    robot = pl.Robot(gravity=(0, 0, -weight))  # mass per length 1
    robot.add_rod("arm", 1.0, SLENDER, pose=pl.along("x"))
    found = planar_tip(robot.statics(formulation=pl.BSpline(3, 40)))
    assert found == pytest.approx((-theta, x, -y), abs=1e-7)
    robot, arm = cantilever("kirchhoff")
    robot.add_load("weight", arm, force=(0, 0, -weight))
    found = planar_tip(robot.statics(formulation=pl.Strain(order=3, segments=8)))
    assert found == pytest.approx((-theta, x, -y), abs=1e-8)


def test_heavy_elastica_value() -> None:
    for weight, tip in values.ELASTICA_OWN_WEIGHT.items():
        assert exact.heavy_elastica(weight) == pytest.approx(tip, abs=1e-12)


# -- circles --------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0.25, 1.0, 2.0])
@pytest.mark.parametrize(
    "formulation",
    [*(pl.BSpline(k, 12) for k in (1, 2, 3, 4, 5)), pl.Hermite(8), pl.Strain(0, 1)],
    ids=str,
)
def test_an_end_moment_rolls_a_rod_into_circles(formulation: pl.Formulation, turns: float) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 2.0, pl.Circle(0.02), pl.Material(E=1e6, nu=0.4), pose=pl.along("x"))
    bending = 1e6 * np.pi * 0.02**4 / 4
    moment = 2 * np.pi * turns * bending / 2.0
    robot.add_load("turn", arm.tip, moment=(0, -moment, 0))
    found = robot.statics(formulation=formulation)
    s = np.linspace(0.0, 2.0, 23)
    theta, x, z = exact.circle_end_moment(moment, bending, s)
    poses = found.pose("arm", s)
    assert poses[:, 0, 3] == pytest.approx(x, abs=1e-9)
    assert poses[:, 2, 3] == pytest.approx(z, abs=1e-9)
    assert poses[:, 0, 2] == pytest.approx(np.cos(theta), abs=1e-8)
    assert found.strain("arm", s)[:, 1] == pytest.approx(-np.pi * turns, rel=1e-8)


# -- in space -------------------------------------------------------------------------------------


def bend() -> pl.Robot:
    """A quarter of a right angle of radius 100 in the plane z = 0, pushed out of it."""
    robot = pl.Robot(gravity=(0, 0, 0))
    section = pl.Section(area=1.0, Ix=1 / 12, Iy=1 / 12, J=1 / 6)
    arm = robot.add_rod(
        "arm", 25 * np.pi, section, pl.Material(E=1e7, nu=0.0), pose=pl.along("y"),
        natural=(0, 0.01, 0),
    )  # fmt: skip
    robot.add_load("push", arm.tip, force=(0, 0, 1))
    return robot


@pytest.mark.parametrize("force", values.BEND_TIP)
def test_forty_five_degree_bend(force: float) -> None:
    robot = bend()
    for formulation, tolerance in (
        (pl.BSpline(3, 15), 3e-5),
        (pl.BSpline(3, 60), 1e-7),
        (pl.BSpline(4, 30), 3e-6),
        (pl.Hermite(20), 1e-5),
        (pl.Strain(3, 8), 1e-6),
    ):
        tip = robot.statics({"push": force}, formulation).tip("arm")[:3, 3]
        assert tip == pytest.approx(values.BEND_TIP[force], abs=tolerance), str(formulation)


def test_the_bend_is_stress_free_without_load() -> None:
    found = bend().statics({"push": 0.0})
    quarter = np.pi / 4
    tip = found.tip("arm")[:3, 3]
    assert tip == pytest.approx([100 * (1 - np.cos(quarter)), 100 * np.sin(quarter), 0], abs=1e-9)
    assert found.energy["elastic"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("level", values.HELIX_TIP)
def test_a_straight_rod_wound_into_a_helix(level: float) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 10.0, pl.Stiffness(100, 100, 1e4, 1e4), pose=pl.along("x"))
    robot.add_load("wind", arm.tip, force=(0, 50, 0), moment=(0, 200 * np.pi, 0))
    found = robot.statics({"wind": level}, pl.BSpline(3, 60))
    tip = found.tip("arm")[:3, 3]
    assert tip == pytest.approx(values.HELIX_TIP[level], abs=2e-4)


@by_formulation
def test_a_uniform_helix_under_follower_loads(name: str) -> None:
    strain, wrench = exact.uniform_helix(2.0, 1.5, 300.0, 700.0, curvature=2.0, twist_rate=1.3)
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 3.0, pl.Stiffness(2.0, 1.5, 300.0, 700.0))
    robot.add_load("hold", arm.tip, force=wrench[3:], moment=wrench[:3], frame="body")
    found = robot.statics(formulation=FORMULATIONS[name])
    # a constant strain is a product of exponentials, but not of Cayley maps, and no polynomial
    tolerance = {"cayley": 1e-4, "spectral": 1e-6}.get(name, 1e-8)
    for s in (0.7, 1.9, 3.0):
        truth = exact.constant_strain_pose(strain, s)
        assert found.pose("arm", s) == pytest.approx(truth, abs=tolerance)
        assert found.strain("arm", s) == pytest.approx(strain, abs=10 * tolerance)
