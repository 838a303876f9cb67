"""Cumulative bases as data: powers, functions of the user, what is consistent and at which order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1000.0)


def step(x: float) -> float:
    """A transition function as in Xun (21): from 0 to 1, level at both ends."""
    return 3.0 * x**2 - 2.0 * x**3


def line(x: float) -> float:
    return x


def arm() -> pl.Robot:
    """A bent and twisted rod under its weight and a force."""
    robot = pl.Robot()
    rod = robot.add_rod(
        "arm", 0.3, pl.Circle(0.008), RUBBER, pose=pl.along("x"),
        natural=lambda s: (0, 3 * np.sin(9 * s), 4 * s),
    )  # fmt: skip
    robot.add_load("push", rod.tip, force=(0, 0.02, 0))
    return robot


CASES: dict[str, tuple[Callable[[int], pl.BSpline], float, float]] = {
    "power 1": (lambda n: pl.BSpline(1, n + 1, basis="power"), 2.0, 1e-3),
    "power 2": (lambda n: pl.BSpline(2, 2 * n + 1, basis="power"), 4.0, 1.2e-5),
    "power 3": (lambda n: pl.BSpline(3, 3 * n + 1, basis="power"), 6.5, 1e-7),
    "transition": (lambda n: pl.BSpline(2, 2 * n + 1, basis=(line, step)), 2.0, 1e-3),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::pliant.ResolutionWarning")
def test_tip_converges_at_the_order_of_the_basis(name: str) -> None:
    """Powers to degree k: order 2 k at the ends of spans. With a transition function strains are not
    even linear in a span, which leaves the order of degree 1.
    """
    make, order, size = CASES[name]
    robot = arm()
    truth = robot.statics(formulation=pl.Strain(6, 10)).tip("arm")[:3, 3]
    gaps = [
        float(np.linalg.norm(robot.statics(formulation=make(n)).tip("arm")[:3, 3] - truth))
        for n in (8, 16)
    ]
    assert gaps[0] < size
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.filterwarnings("ignore")
def test_another_basis_moves_and_vibrates_as_splines_do() -> None:
    robot = arm()
    bases: list[Any] = [pl.BSpline(3, 16), pl.BSpline(2, 17, basis="power")]
    frequencies = [robot.modes(3, formulation=one).frequencies for one in bases]
    assert frequencies[1] == pytest.approx(frequencies[0], rel=2e-3)
    motions = [robot.simulate(0.1, 2e-3, formulation=one).tip("arm") for one in bases]
    assert motions[1][-1] == pytest.approx(motions[0][-1], abs=2e-3)


def test_points_are_rounded_up_to_whole_spans(tmp_path: Path) -> None:
    robot = arm()
    tips = [
        robot.statics(formulation=pl.BSpline(3, points, basis="power")).tip("arm")
        for points in (11, 13)
    ]
    assert np.array_equal(*tips)
    plain = pl.Robot()
    plain.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, formulation=pl.BSpline(3, 7, basis="power"))
    plain.save(tmp_path / "arm.yaml")
    again = pl.Robot.from_file(tmp_path / "arm.yaml").description.rods["arm"].formulation
    assert again == pl.BSpline(3, 7, basis="power")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"degree": 1, "basis": (step,)},
            "uniform strain.*miss up to 100%.*too stiff.*lambda x: x",
        ),
        ({"degree": 2, "basis": "sine"}, "'bspline', 'power' or degree = 2 functions"),
        ({"degree": 2, "basis": (line,)}, "as many functions as the degree"),
        ({"degree": 2, "basis": (line, lambda x: abs(x - 0.3) - 0.3)}, "smooth functions"),
        ({"degree": 1, "basis": (np.cos,)}, "one from 1 to 0.54.*0 at x = 0"),
        ({"degree": 1, "points": 4, "basis": "power", "knots": (0.2, 0.4)}, "knots.*left out"),
    ],
)
def test_bases_that_cannot_be_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        pl.BSpline(**{"points": 5, **settings})
