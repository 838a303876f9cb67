"""Parts and effects that act inside a rod: spans end there, and strains may jump."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.rods import quadrature
from tests.reference.random_robots import distance

SOFT = pl.Material(E=5e5, nu=0.45, rho=1100.0)
LENGTH, RADIUS = 0.3, 0.008
FINE = pl.BSpline(5, 60)


def arm_of(robot: pl.Robot) -> pl.Rod:
    return robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), SOFT, pose=pl.along("x"))


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(3, 11), pl.Hermite(8), pl.Strain(0, 6), pl.BSpline(2, 8)], ids=repr
)
@pytest.mark.parametrize("s", [0.13, 0.137, 0.15, 0.16])
def test_a_couple_at_any_place_bends_a_rod_into_an_exact_arc(formulation: Any, s: float) -> None:
    """Up to the couple a circle of curvature M / EI, beyond it a straight line."""
    robot = pl.Robot(gravity=(0, 0, 0))
    couple, stiffness = 0.005, SOFT.E * np.pi * RADIUS**4 / 4.0
    robot.add_load("couple", arm_of(robot).at(s), moment=(0, couple, 0))
    still = robot.statics(formulation=formulation)
    at, k = np.linspace(0.0, LENGTH, 31), couple / stiffness
    bent = np.minimum(at, s)
    straight = at - bent
    x = np.sin(k * bent) / k + straight * np.cos(k * bent)
    z = -(1.0 - np.cos(k * bent)) / k - straight * np.sin(k * bent)
    exact = np.stack([x, np.zeros_like(x), z], axis=1)
    assert still.position("arm", at) == pytest.approx(exact, abs=1e-10)
    assert still.error is not None and still.error.relative < 1e-10


def twig(robot: pl.Robot) -> None:
    on = arm_of(robot).at(0.16, rotation=(0, 1.2, 0))
    robot.add_rod("twig", 0.15, pl.Circle(0.005), SOFT, base=on)


def pin(robot: pl.Robot) -> None:
    robot.add_constraint("pin", arm_of(robot).at(0.19), kind="articulated")


def body_beside(robot: pl.Robot) -> None:
    robot.add_body("bob", 0.03, (1e-6,) * 3, on=arm_of(robot).at(0.17), centre=(0, 0.06, 0))


@pytest.mark.parametrize("add", [twig, pin, body_beside], ids=lambda add: add.__name__)
@pytest.mark.parametrize("formulation", [None, pl.Hermite(8), pl.Strain(2, 6)], ids=repr)
def test_shapes_are_far_more_accurate_and_their_errors_known(
    add: Callable[[pl.Robot], None], formulation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = pl.Robot()
    add(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = robot.statics(formulation=FINE)
        still = robot.statics(formulation=formulation)
        monkeypatch.setattr(quadrature, "_MOST_POINTS", -1)
        without = pl.Robot()
        add(without)
        smooth = without.statics(formulation=formulation)
    assert still.error is not None
    assert 0.5 < still.error.relative / distance(still, truth) < 2.0
    assert distance(still, truth) < 0.25 * distance(smooth, truth)


def unknowns(robot: pl.Robot, formulation: Any) -> int:
    still: Any = robot.statics(formulation=formulation)
    return len(still._compiled.effects.tree.coordinates)


def test_many_points_do_not_multiply_the_unknowns() -> None:
    for count, formulation, most in (
        (1, pl.BSpline(3, 15), 84 + 12),
        (4, pl.BSpline(3, 15), 84 + 48),
        (12, pl.BSpline(3, 15), 84),
        (3, pl.Strain(2, 6), 108),
        (1, pl.Strain(0, 1), 6),
        (1, pl.BSpline(3, 4), 18),
    ):
        robot = pl.Robot()
        arm = arm_of(robot)
        for k, s in enumerate(np.linspace(0.0, LENGTH, count + 2)[1:-1]):
            robot.add_load(f"push{k}", arm.at(s + 0.003), force=(0, 0, 1e-3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert unknowns(robot, formulation) == most


def test_points_near_ends_and_near_each_other_make_no_short_spans() -> None:
    robot = pl.Robot()
    arm = arm_of(robot)
    for k, s in enumerate((1e-6, 0.15, 0.1501, LENGTH - 1e-6)):
        robot.add_load(f"push{k}", arm.at(s), force=(0, 0, 1e-3))
    for formulation in (pl.BSpline(3, 15), pl.Hermite(8), pl.Strain(2, 6), pl.ANCF(8)):
        still: Any = robot.statics(formulation=formulation)
        borders = still._compiled.effects.tree.parts[0].map.breaks
        assert np.diff(borders).min() > 0.4 * LENGTH / (len(borders) - 1)


def test_motions_that_carry_a_rod_inside_a_span_know_their_error() -> None:
    """A quiet swing of a soft arm with a twig: elements are what is coarse."""
    robot = pl.Robot()
    damped = pl.Material(E=5e5, nu=0.45, rho=1100.0, viscosity=2e3)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(RADIUS), damped, pose=pl.along("x"))
    robot.add_rod("twig", 0.15, pl.Circle(0.005), damped, base=arm.at(0.16, rotation=(0, 1.2, 0)))
    coarse, fine = pl.BSpline(3, 7), pl.BSpline(3, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = robot.simulate(0.2, 2e-3, formulation=coarse, start="rest", error=True)
        truth = robot.simulate(0.2, 1e-3, formulation=fine, start="rest", output_times=motion.t)
    s = np.linspace(0.0, LENGTH, 11)
    gap = motion.position("arm", s) - truth.position("arm", s)
    assert motion.error is not None
    assert 0.2 < motion.error.shape / np.linalg.norm(gap, axis=-1).max() < 5.0


def test_a_cable_that_passes_a_torque_to_its_base_knows_its_error() -> None:
    """Its sections turn by the shortest turn: a couple about a tangent bends it on the way."""
    robot = pl.Robot()
    robot.add_load("couple", arm_of(robot).at(0.2), moment=(0, 0, 0.005))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        still = robot.statics(formulation=pl.ANCF(8, planar=False))
        truth = robot.statics(formulation=pl.ANCF(60, planar=False))
    assert still.error is not None and truth.error is not None
    assert 0.5 < still.error.relative / distance(still, truth) < 2.0
    assert truth.error.relative < 1e-6
