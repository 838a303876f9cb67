"""Initial shapes from points along rods, for every formulation with coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

LENGTH = 0.3
FORMULATIONS = [
    pl.BSpline(3, 9), pl.Hermite(4), pl.Strain(2, 3), pl.Spectral(3, 3), pl.EBA(12), pl.EBR(12),
    pl.SRL(12), pl.ROM(4), pl.ROM(4, "free"), pl.ANCF(6, planar=False),
]  # fmt: skip


def arm(theory: str = "cosserat", **more: Any) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    silicone = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=1e3)
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), silicone, theory=theory, **more)
    robot.add_load("push", rod.tip, force=(0.0, 0.0, 0.0))
    return robot


def arc(s: Any, angle: float = 2.0) -> Any:
    """Points (n, 3) of an arc in a slanted plane that leaves the origin along z."""
    radius = LENGTH / angle
    x, z = radius * (1 - np.cos(s / radius)), radius * np.sin(s / radius)
    return np.stack([0.6 * x, 0.8 * x, z], axis=-1)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_motion_starts_at_the_points(formulation: Any) -> None:
    s = np.linspace(0.0, LENGTH, 9)
    motion = arm().simulate(2e-3, 1e-3, formulation=formulation, start={"arm": arc(s)})
    assert motion.position("arm", s)[0] == pytest.approx(arc(s), abs=3e-3 * LENGTH)


def test_points_may_have_their_own_arclengths() -> None:
    s = np.array([0.02, 0.11, 0.13, 0.28])
    motion = arm().simulate(2e-3, 1e-3, formulation=pl.EBA(24), start={"arm": (s, arc(s))})
    assert motion.position("arm", s)[0] == pytest.approx(arc(s), abs=1e-3 * LENGTH)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("angle", [0.5, 2.0, 3.5])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_strain_of_the_fitted_shape_is_that_of_the_arc(formulation: Any, angle: float) -> None:
    if formulation == pl.ROM(4) and angle > np.pi:
        pytest.skip("the vector part of a quaternion ends at half a turn")
    s = np.linspace(0.0, LENGTH, 9)
    start = {"arm": arc(s, angle)}
    motion = arm().simulate(1e-4, 1e-4, formulation=formulation, start=start)
    strain = motion.strain("arm", (np.arange(48) + 0.5) / 48 * LENGTH)[0]
    bent = np.linalg.norm(strain[:, :2], axis=1)
    # least energy leaves the ends a little straighter than the arc
    assert bent.mean() == pytest.approx(angle / LENGTH, rel=5e-2)
    # between the nodes of low orders the rod is straight, and points there bend its neighbours
    assert bent.std() < 0.25 * bent.mean() and np.abs(strain[:, 2]).max() < 0.5
    assert strain[:, 5] == pytest.approx(1.0, abs=2e-2)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_equilibrium_is_sought_near_the_points(side: float) -> None:
    """A strut under twice its critical load buckles to the side on which it starts."""
    critical = np.pi**2 * 1e6 * np.pi * 0.01**4 / 4 / (4 * LENGTH**2)
    s = np.linspace(0.0, LENGTH, 7)
    start = {"arm": arc(s) * np.array([side, side, 1.0])}
    found = arm().statics({"push": (0.0, 0.0, -2.0 * critical)}, pl.Strain(2, 3), start=start)
    tip = found.tip("arm")[:3, 3]
    assert side * tip[0] > 0.1 * LENGTH and tip[1] / tip[0] == pytest.approx(4 / 3, rel=1e-3)
    assert found.stable


def test_free_rod_moves_to_its_points() -> None:
    s = np.linspace(0.0, LENGTH, 7)
    points = arc(s) + np.array([0.5, -0.2, 0.1])
    robot = arm(joint=pl.Free())
    motion = robot.simulate(1e-3, 1e-3, formulation=pl.EBA(8), start={"arm": points})
    assert motion.position("arm", s)[0] == pytest.approx(points, abs=3e-3 * LENGTH)


WRONG: dict[str, tuple[Any, str]] = {
    "another rod": ({"arn": np.zeros((3, 3))}, r"start\['arn'\].*did you mean 'arm'"),
    "shape": ({"arm": np.zeros(3)}, r"positions \(n, 3\) of two points or more"),
    "not finite": ({"arm": np.full((3, 3), np.nan)}, r"positions \(n, 3\)"),
    "too long": ({"arm": [[0, 0, 0], [0, 0, 300.0]]}, r"no farther apart than the rod.* 0\.3 m"),
    "arclengths": ({"arm": ([0.0, 0.4], np.zeros((2, 3)))}, r"increasing, from 0 to 0\.3 m"),
    "elsewhere": ({"arm": [[1.0, 0, 0], [1.0, 0, 0.2]]}, r"it misses one by"),
}


@pytest.mark.parametrize("case", WRONG)
def test_points_that_cannot_be_are_refused(case: str) -> None:
    start, words = WRONG[case]
    with pytest.raises(pl.DescriptionError, match=words):
        arm().simulate(1e-3, 1e-3, formulation=pl.EBA(6), start=start)
    with pytest.raises(pl.DescriptionError, match=words):
        arm().statics(formulation=pl.EBA(6), start=start)


def test_strong_forms_refuse_points() -> None:
    with pytest.raises(pl.DescriptionError, match=r"no coordinates to fit to points"):
        arm().statics(formulation=pl.Shooting(), start={"arm": arc(np.linspace(0, LENGTH, 4))})
