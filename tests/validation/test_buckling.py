"""Buckling loads from the stability flag, by bisection on the load.

A perfect column stays straight: only the flag tells that it has become unstable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from tests.reference import exact, values

SLENDER = pl.Stiffness(bending=1.0, twist=1.0, shear=1e7, axial=1e7)


def column(section: pl.Stiffness | pl.Circle, material: pl.Material | None, ends: str) -> pl.Robot:
    """An upright column with the input `push`, a force along -z at its top."""
    robot = pl.Robot(gravity=(0, 0, 0))
    base = None if ends == "pinned-pinned" else "world"
    rod = robot.add_rod("column", 1.0, section, material, base=base)
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    if ends == "pinned-pinned":
        robot.add_constraint("foot", rod.base_frame, hold=("x", "y", "z", "rz"))
        robot.add_constraint("head", rod.tip, hold=("x", "y"))
    if ends == "clamped-clamped":
        robot.add_constraint("head", rod.tip, hold=("rx", "ry", "rz", "x", "y"))
    return robot


def critical(stable: Callable[[float], bool | None], low: float, high: float) -> float:
    """The load between low and high at which the flag flips, to 1e-6."""
    assert stable(low) is True
    assert stable(high) is False
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return 0.5 * (low + high)


def buckling_load(robot: pl.Robot, formulation: pl.Formulation, guess: float) -> float:
    def stable(load: float) -> bool | None:
        found = robot.statics({"push": load}, formulation)
        assert np.abs(found.position("column", [0.5, 1.0])[:, :2]).max() < 1e-9, "it left its line"
        return found.stable

    return critical(stable, 0.8 * guess, 1.2 * guess)


FORMULATIONS = [
    pl.BSpline(3, 12),
    pl.BSpline(2, 20),
    pl.Hermite(6),
    pl.Spectral(3, 6),
    pl.Strain(2, 4),
]
STRONG = [pl.Shooting(), pl.MultipleShooting(), pl.Collocation()]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_cosserat_column(formulation: pl.Formulation) -> None:
    data = values.COSSERAT_COLUMN
    material = pl.Material(E=data["E"], nu=data["nu"])
    robot = column(pl.Circle(data["radius"]), material, "clamped-free")
    found = buckling_load(robot, formulation, values.COSSERAT_COLUMN_LOAD)
    assert found == pytest.approx(values.COSSERAT_COLUMN_LOAD, rel=3e-4)
    # closer to the true load than the load of an inextensible column is
    gap = values.COSSERAT_COLUMN_INEXTENSIBLE_LOAD - values.COSSERAT_COLUMN_LOAD
    assert abs(found - values.COSSERAT_COLUMN_LOAD) < 0.1 * gap


@pytest.mark.parametrize("formulation", FORMULATIONS[:3], ids=str)
@pytest.mark.parametrize("ends", ["clamped-free", "pinned-pinned", "clamped-clamped"])
def test_slender_column(ends: str, formulation: pl.Formulation) -> None:
    truth = 4 * np.pi**2 if ends == "clamped-clamped" else exact.euler_load(1.0, 1.0, ends)
    found = buckling_load(column(SLENDER, None, ends), formulation, truth)
    assert found == pytest.approx(truth, rel=5e-4)


@pytest.mark.parametrize("form", STRONG, ids=lambda form: type(form).__name__)
@pytest.mark.parametrize("ends", ["clamped-free", "clamped-clamped"])
def test_conjugate_points_tell_the_buckling_load(ends: str, form: pl.StrongForm) -> None:
    truth = 4 * np.pi**2 if ends == "clamped-clamped" else exact.euler_load(1.0, 1.0, ends)
    found = buckling_load(column(SLENDER, None, ends), form, truth)
    assert found == pytest.approx(truth, rel=2e-5)  # of which shear and shortening take up 8e-6


def test_conjugate_points_tell_the_load_of_a_thick_column() -> None:
    data = values.COSSERAT_COLUMN
    material = pl.Material(E=data["E"], nu=data["nu"])
    robot = column(pl.Circle(data["radius"]), material, "clamped-free")
    found = buckling_load(robot, STRONG[0], values.COSSERAT_COLUMN_LOAD)
    assert found == pytest.approx(values.COSSERAT_COLUMN_LOAD, rel=2e-6)


def test_inextensible_column() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 1.0, SLENDER, theory="kirchhoff")
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    for formulation in (pl.Strain(2, 4), STRONG[0]):
        found = buckling_load(robot, formulation, values.EULER_CLAMPED_FREE)
        assert found == pytest.approx(values.EULER_CLAMPED_FREE, rel=1e-5)


def test_column_under_its_own_weight() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 1.0, SLENDER)
    robot.add_load("push", rod, force=(0, 0, -1))
    found = buckling_load(robot, pl.BSpline(3, 12), values.OWN_WEIGHT_BUCKLING)
    assert found == pytest.approx(values.OWN_WEIGHT_BUCKLING, rel=3e-4)


def test_a_nudged_column_bends_aside_and_is_stable_again() -> None:
    # weak about x only: a round column could still turn about its line, a neutral motion
    weak = pl.Stiffness(bending=(1.0, 2.0), twist=1.0, shear=1e7, axial=1e7)
    robot = column(weak, None, "clamped-free")
    rod = robot.description.rods["column"]
    robot.add_load("nudge", rod.tip, force=(0, 1, 0))
    load = 1.2 * values.EULER_CLAMPED_FREE
    beside = robot.statics({"push": load, "nudge": 0.05}, pl.BSpline(3, 12))
    assert beside.tip("column")[1, 3] > 0.3, "it went against the push"
    alone = robot.statics({"push": load, "nudge": 0.0}, pl.BSpline(3, 12), start=beside)
    assert alone.stable is True
    assert alone.tip("column")[1, 3] > 0.3
