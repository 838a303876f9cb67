"""Rigid bodies on rods against the exact frequencies of beams with a body at the tip."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from tests.unit.test_contract_toy import Toy

LENGTH, EI, LINE = 0.5, 0.02, 0.05
FORMULATIONS = [pl.BSpline(3, 16), pl.Hermite(8), pl.Spectral(3, 8), pl.Strain(3, 4)]


def name(item: object) -> str:
    return type(item).__name__


def beam_frequencies(mass: float, inertia: float, centre: float, count: int) -> list[float]:
    """Hz of a clamped Euler-Bernoulli beam with a rigid body at its tip, by its own equation.

    w = a (cosh - cos)(k s) + b (sinh - sin)(k s), and at the tip, with the centre of mass a
    distance c ahead of it, EI w''' = -m omega^2 (w + c w'),
    EI w'' = omega^2 ((J + m c^2) w' + m c w).
    """

    def determinant(k: float) -> float:
        x = k * LENGTH
        ch, sh, co, si = np.cosh(x), np.sinh(x), np.cos(x), np.sin(x)
        w = np.array([ch - co, sh - si])
        w1 = k * np.array([sh + si, ch - co])
        w2 = k**2 * np.array([ch + co, sh + si])
        w3 = k**3 * np.array([sh - si, ch + co])
        square = EI * k**4 / LINE
        shear = EI * w3 + mass * square * (w + centre * w1)
        moment = EI * w2 - square * ((inertia + mass * centre**2) * w1 + mass * centre * w)
        return float(np.linalg.det([shear, moment]) / np.exp(2 * x))

    grid = np.linspace(0.05, 30.0, 4000) / LENGTH
    signs = np.sign([determinant(k) for k in grid])
    found = np.flatnonzero(signs[:-1] * signs[1:] < 0)[:count]
    roots = [brentq(determinant, grid[i], grid[i + 1], xtol=1e-14) for i in found]
    return [k**2 * np.sqrt(EI / LINE) / (2 * np.pi) for k in roots]


def beam(**more: object) -> tuple[pl.Robot, pl.Rod]:
    """Without rotary inertia, without shear to speak of: as Euler and Bernoulli have it."""
    section = pl.Stiffness(bending=EI, twist=EI, shear=1e5, axial=1e5, mass=LINE, inertia=(1, 1, 1))
    robot = pl.Robot(gravity=(0, 0, 0))
    return robot, robot.add_rod("beam", LENGTH, section, rotary=False, **more)


def test_the_equation_itself_is_that_of_a_cantilever_without_body() -> None:
    found = beam_frequencies(0.0, 0.0, 0.0, 2)
    exact = np.array([1.8751040687, 4.6940911330]) ** 2 * np.sqrt(EI / LINE) / LENGTH**2
    assert found == pytest.approx(exact / (2 * np.pi), rel=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name)
@pytest.mark.parametrize(
    ("mass", "inertia", "centre"),
    [(0.02, 0.0, 0.0), (0.3, 0.0, 0.0), (0.02, 4e-5, 0.0), (0.02, 4e-5, 0.05), (0.02, 0, -0.03)],
    ids=["light", "heavy", "wide", "ahead", "behind"],
)
def test_beam_with_a_body_at_its_tip_has_the_exact_frequencies(
    formulation: pl.Formulation, mass: float, inertia: float, centre: float
) -> None:
    robot, rod = beam()
    robot.add_body("body", mass, (inertia, inertia, 0.0), on=rod.tip, centre=(0, 0, centre))
    found = robot.modes(4, formulation=formulation).frequencies
    exact = np.repeat(beam_frequencies(mass, inertia, centre, 2), 2)  # two planes
    assert found == pytest.approx(exact, rel=2e-5)


def test_body_along_a_rod_is_one_between_two_rods() -> None:
    """A rod cut in two where the body sits, each piece with functions of its own."""
    one, rod = beam()
    one.add_body("body", 0.02, (2e-5, 2e-5, 0.0), on=rod.at(0.3))
    two = pl.Robot(gravity=(0, 0, 0))
    section = pl.Stiffness(bending=EI, twist=EI, shear=1e5, axial=1e5, mass=LINE)
    first = two.add_rod("first", 0.3, section)
    two.add_rod("second", 0.2, section, base=first.tip)
    two.add_body("body", 0.02, (2e-5, 2e-5, 0.0), on=first.tip)
    found = one.modes(4, formulation=pl.BSpline(3, 41)).frequencies
    exact = two.modes(4, formulation=pl.BSpline(3, 16)).frequencies
    assert found == pytest.approx(exact, rel=1e-4)
    assert exact[0] < 0.95 * beam_frequencies(0.0, 0.0, 0.0, 1)[0]


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9)], ids=name
)
@pytest.mark.parametrize("formulation", [pl.BSpline(3, 6), pl.Hermite(3), Toy(2)], ids=name)
def test_swinging_body_keeps_the_books(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    """A soft arm with an unbalanced body falls from level: energy changes form, not amount."""
    if isinstance(formulation, Toy) and not isinstance(integrator, pl.Midpoint):
        pytest.skip("one integrator is enough for a formulation made of differences")
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.45, rho=1000.0), pose=pl.along("x")
    )
    tensor = (4e-5, 5e-5, 6e-5, 1e-5, -5e-6, 2e-6)
    robot.add_body("b", 0.1, tensor, on=arm.at(0.25), centre=(0.0, 0.03, 0.02))
    gains = []
    for dt in (0.004, 0.002):
        move = robot.simulate(0.2, dt, formulation=formulation, integrator=integrator)
        books = move.energy
        assert books["kinetic"].max() > 0.05
        gains.append(np.abs(books["balance"]).max() / books["kinetic"].max())
    assert gains[1] < 1e-2
    if not isinstance(integrator, pl.GeneralizedAlpha):
        assert gains[1] < 0.4 * gains[0]
