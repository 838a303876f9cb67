"""Collocation: polynomials through Chebyshev points, exact tangent, settings."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.boundary_conditions import make_supports
from pliant.bvp.chain import Chain
from pliant.bvp.collocation import Collocation, chebyshev
from pliant.bvp.collocation.grid import Order, needed
from pliant.bvp.collocation.system import System
from pliant.model import DescriptionError

C0 = 5.0


@pytest.mark.parametrize("n", [2, 5, 16, 40])
def test_integration_is_exact_for_polynomials(n):
    x = chebyshev.points(n)
    degree = n - 1
    found = chebyshev.integration(n) @ x**degree
    expected = (x ** (degree + 1) - (-1.0) ** (degree + 1)) / (degree + 1)
    assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_interpolation_and_coefficients_are_exact_for_polynomials(n):
    x = chebyshev.points(n)
    fine = np.linspace(-1.0, 1.0, 33)
    assert chebyshev.interpolation(n, fine) @ x ** (n - 1) == pytest.approx(
        fine ** (n - 1), abs=1e-13
    )
    unit = np.zeros(n)
    unit[-1] = 1.0
    values = np.polynomial.chebyshev.chebval(x, unit)
    assert chebyshev.to_coefficients(n) @ values == pytest.approx(unit, abs=1e-14)


def test_points_that_are_needed_follow_the_decay_of_the_coefficients():
    # the coefficients of 1 / (2 - x) fall by 2 + sqrt(3) each
    values = (1.0 / (2.0 - chebyshev.points(40)))[None]
    counts = [needed(values, size) for size in (1e-4, 1e-8)]
    assert counts[1] - counts[0] == pytest.approx(np.log(1e4) / np.log(2 + np.sqrt(3)), abs=1)


def test_rounding_does_not_ask_for_more_points(rng):
    values = np.exp(chebyshev.points(60))[None] + 1e-9 * rng.normal(size=(1, 60))
    assert needed(values, 1e-10) < 20


def make_robot(theory="cosserat", base="world", tip=None, held_base=None) -> pl.Robot:
    """Two joined rods with all that the equations know: loads, bodies, drag, damping."""
    robot = pl.Robot()
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=50.0)
    arm = robot.add_rod(
        "arm", 0.7, pl.Circle((0.03, 0.02)), material, pl.along("x"), base, (0.3, -0.2, 0.5),
        theory=theory, drag=(30.0, 20.0, 10.0), mass_damping=0.3,
    )  # fmt: skip
    wrench = {"force": (0.2, 0.1, -0.1), "moment": (0.01, 0.02, 0.03)}
    robot.add_load("mid", arm.at(0.4, offset=(0.01, 0.02)), frame="body", **wrench)
    robot.add_load("line", "arm", frame="body", over=(0.2, 0.6), **wrench)
    robot.add_load("all along", "arm", **wrench)
    body = {"mass": 0.3, "inertia": (1e-3, 2e-3, 3e-3), "centre": (0.01, 0.02, 0.03)}
    robot.add_body("camera", on=arm.at(0.3), **body)
    place = np.array(pl.along("y"))
    place[:3, 3] = 0.01, 0.02, 0.03
    fore = robot.add_rod("fore", 0.4, pl.Circle(0.02), material, place, arm.tip, theory=theory)
    robot.add_load("tip", fore.tip, force=(0.1, 0.05, 0.2))
    robot.add_body("hand", on=fore.tip, **body)
    if tip is not None:
        robot.add_constraint("held", fore.tip, **tip)
    if held_base is not None:
        robot.add_constraint("base", arm.base_frame, **held_base)
    return robot


def make_system(robot: pl.Robot, moving: bool, rng: np.random.Generator) -> System:
    """Its equations with smooth histories, if it moves."""
    chain = Chain(robot.description, "Collocation()")
    supports = make_supports(chain)
    rigid = chain.rods[0].theory == "kirchhoff"
    system = System(chain, [Order(4, 0 if rigid else 3, 22)] * len(chain.pieces), supports)
    system.grid.load({load: 1.0 for load in robot.description.loads})
    if moving:
        s = system.grid.s[:, None]
        line = [rng.normal(size=(1, 6)) + rng.normal(size=(1, 6)) * s for _ in "ab"]
        bodies = rng.normal(size=system.grid.jumps.history.shape)
        system.grid.set_history(C0, 0.1 * line[0], line[1], bodies)
        system.c0 = C0
        supports.history[:] = ~supports.held * rng.normal(size=6)
        supports.twist[:] = supports.held * 0.3 * rng.normal(size=6)
    return system


CASES = {
    "at rest": ({}, False),
    "moving": ({}, True),
    "kirchhoff": ({"theory": "kirchhoff"}, True),
    "held tip": ({"tip": {"kind": "fixed"}}, True),
    "tip held in two directions": ({"tip": {"hold": ("rx", "x")}}, True),
    "both ends articulated": (
        {"base": None, "tip": {"kind": "articulated"}, "held_base": {"kind": "articulated"}},
        True,
    ),
    "free": ({"base": None}, True),
}


@pytest.mark.parametrize("case", CASES)
def test_tangent_is_the_derivative(case, rng):
    given, moving = CASES[case]
    system = make_system(make_robot(**given), moving, rng)
    x = 0.3 * rng.normal(size=system.unknowns) * system.units
    system.evaluate(x)
    K = system.tangent(x)
    h = 1e-4
    for j in range(system.unknowns):
        step = np.zeros(system.unknowns)
        step[j] = h * system.units[j]
        slope = (system.evaluate(x + step) - system.evaluate(x - step)) / (2.0 * h)
        error = np.abs(K[:, j] * system.units[j] - slope) / system.units
        # the square of the step times third derivatives
        assert error.max() < 1e-6 * max(1.0, np.abs(slope / system.units).max())


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"nodes": 0}, "nodes"),
        ({"nodes": (2, 3, 4)}, "nodes"),
        ({"nodes": 2.5}, "nodes"),
        ({"nodes": "many"}, "nodes"),
        ({"nodes": True}, "nodes"),
        ({"nodes": 16, "history_nodes": 12}, "history_nodes"),
        ({"history_nodes": 1}, "history_nodes"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": "fine"}, "tolerance"),
    ],
)
def test_bad_settings_are_named(given, named):
    with pytest.raises(DescriptionError, match=named):
        Collocation(**given)
