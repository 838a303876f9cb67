"""The pneumatic actuator of Rong and Gu (2024): stiffness from a tip drop, angle under pressure.

The mass per length is the one with which 30 g at the tip of the horizontal actuator make the measured
drop at the published stiffness (the paper does not print it). References are boundary-value solutions
of the elastica and the exact arc; none of them is Pliant's.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

import pliant as pl
from pliant.model import Array

LENGTH, BENDING, DROP, WEIGHT, G = 0.175, 0.0186, 0.03437, 0.03, 9.81
MASS = 0.12038370137467044
ANGLE = 0.29001573371719336
RADIUS, ARM = 0.006, 0.009
KINDS = {
    "ANCF": pl.ANCF(8),
    "cable": pl.ANCF(8, planar=False),
    "BSpline": pl.BSpline(3, 15),
    "Hermite": pl.Hermite(8),
    "Strain": pl.Strain(2, 6),
}


def actuator(bending: float = BENDING, **more: float) -> pl.BendingActuator:
    return pl.BendingActuator(LENGTH, bending, RADIUS, ARM, mass=MASS, **more)


def horizontal(bending: float = BENDING, weight: float = WEIGHT) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, -G))
    rod = robot.add_actuator("finger", actuator(bending), pl.along("x"))
    robot.add_body("weight", weight, on=rod.tip)
    return robot


def drop(bending: float, formulation: pl.Formulation) -> float:
    return -float(horizontal(bending).statics(formulation=formulation).tip("finger")[2, 3])


@functools.cache
def elastica(bending: float) -> tuple[float, float]:
    """Drop and angle of the tip of a heavy elastica with a weight, by collocation (SciPy)."""

    def slopes(s: Array, y: Array) -> Array:
        load = G * (WEIGHT + MASS * (LENGTH - s))
        return np.stack([y[1], -load * np.cos(y[0]) / bending, np.sin(y[0])])

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], b[1], a[2]])

    s = np.linspace(0.0, LENGTH, 41)
    guess = np.stack([0.3 * s / LENGTH, 0 * s, 0 * s])
    found = solve_bvp(slopes, ends, s, guess, tol=1e-10, max_nodes=20000)
    assert found.success
    return float(found.y[2, -1]), float(found.y[0, -1])


# -- stiffness identification ---------------------------------------------------------------------


def test_the_reference_drop() -> None:
    assert elastica(BENDING) == pytest.approx((DROP, ANGLE), abs=1e-9)


def test_stiffness_identified_from_the_drop_of_the_tip() -> None:
    found = brentq(lambda EI: drop(EI, pl.ANCF(15)) - DROP, 0.01, 0.04, xtol=1e-12)
    assert found == pytest.approx(0.0186, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_every_formulation_finds_the_same_drop(kind: str) -> None:
    found = horizontal().statics(formulation=KINDS[kind])
    tip = found.tip("finger")
    assert -tip[2, 3] == pytest.approx(DROP, abs=5e-8)
    assert np.arctan2(-tip[2, 2], tip[0, 2]) == pytest.approx(ANGLE, abs=5e-7)


@pytest.mark.parametrize("bending", [0.008, 0.012, 0.025, 0.04])
def test_drop_over_stiffness(bending: float) -> None:
    assert drop(bending, pl.ANCF(15)) == pytest.approx(elastica(bending)[0], rel=1e-6)


# -- angle under pressure -------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [pl.ANCF(6), pl.BSpline(points=12)], ids=str)
def test_penalty_tends_to_the_constraint_as_its_inverse(formulation: pl.Formulation) -> None:
    """Length held by an axial stiffness k instead of by constraint: what is left goes as 1/k."""

    def tip(axial: float | None) -> np.ndarray:
        robot = pl.Robot()
        part = pl.BendingActuator(LENGTH, BENDING, 0.006, 0.009, mass=MASS, axial=axial)
        rod = robot.add_actuator("finger", part, pl.along("x"))
        robot.add_body("weight", 0.03, on=rod.tip)
        return robot.statics({"chamber1": 8e4}, formulation).tip("finger")[:3, 3]

    held = tip(None)
    gaps = [np.linalg.norm(tip(axial) - held) for axial in (1e4, 1e5, 1e6)]
    assert gaps[0] < 5e-5 * LENGTH
    assert gaps[0] / gaps[1] == pytest.approx(10.0, rel=0.02)
    assert gaps[1] / gaps[2] == pytest.approx(10.0, rel=0.1)


def angle(pressure: float, formulation: pl.Formulation) -> float:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_actuator("finger", actuator(), pl.along("-z"))
    tip = robot.statics({"chamber1": pressure}, formulation, tolerance=1e-13).tip("finger")
    return float(np.arctan2(tip[0, 2], -tip[2, 2]))


@pytest.mark.parametrize("pressure", [2e4, 6e4, 1.2e5, 1.8e5])
def test_tip_angle_is_moment_times_length_over_stiffness(pressure: float) -> None:
    expected = np.pi * RADIUS**2 * ARM * pressure * LENGTH / BENDING
    assert angle(pressure, pl.ANCF(8)) == pytest.approx(expected, rel=1e-5)
    assert angle(pressure, pl.BSpline(3, 8)) == pytest.approx(expected, rel=1e-10)


def test_tip_angle_converges_with_the_error_that_theory_predicts() -> None:
    """An element of a uniform arc that turns by phi and keeps its length in the mean against
    continuous quadratics has the energy EI phi^2 / (2 h) (1 + phi^4 / 720 + ...). With phi = theta / n
    and M = dU/dphi, the angle theta = M L / EI comes out too small by theta^5 / (240 n^4).
    """
    theta = np.pi * RADIUS**2 * ARM * 1.5e5 * LENGTH / BENDING
    counts = np.array([4, 8, 16, 32])
    errors = theta - np.array([angle(1.5e5, pl.ANCF(int(n))) for n in counts])
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(4.0, abs=0.04)
    assert errors[2:] == pytest.approx(theta**5 / (240.0 * counts[2:] ** 4), rel=0.01)


@pytest.mark.parametrize("pressure", [5e4, 1.5e5])
def test_large_deflection_agrees_with_the_spline(pressure: float) -> None:
    """Bent down by pressure, its own weight and 30 g at the tip, to 42 and 90 degrees."""
    robot = horizontal()
    s = np.linspace(0.0, LENGTH, 36)
    spline = robot.statics({"chamber1": pressure}, pl.BSpline(3, 15)).position("finger", s)
    found = robot.statics({"chamber1": pressure}, pl.ANCF(8)).position("finger", s)
    assert np.linalg.norm(found - spline, axis=1).max() < 1e-5 * LENGTH
    assert spline[-1, 2] < (-0.09 if pressure > 1e5 else -0.06)


# -- in motion ------------------------------------------------------------------------------------


@functools.cache
def driven(kind: str, integrator: pl.Integrator) -> pl.Motion:
    """Hanging, one chamber at 1.6 Hz, with the damping that the paper found, for 1 s."""
    robot = pl.Robot(gravity=(0, 0, -G))
    rod = robot.add_actuator("finger", actuator(mass_damping=2.4), pl.along("-z"))
    robot.add_body("weight", 0.02, on=rod.tip)
    pressure = pl.Sine(4e4, 1.6, phase=-np.pi / 2, offset=4e4)
    return robot.simulate(
        1.0, 1e-3, {"chamber1": pressure}, start="statics", formulation=KINDS[kind],
        integrator=integrator, output_every=0.01,
    )  # fmt: skip


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()], ids=str)
@pytest.mark.parametrize("kind", ["ANCF", "BSpline"])
def test_length_and_energy_are_kept_in_motion(kind: str, integrator: pl.Integrator) -> None:
    motion = driven(kind, integrator)
    energy = motion.energy
    assert np.abs(energy["balance"]).max() < 1e-4 * np.abs(energy["work"]).max()
    x, w = np.polynomial.legendre.leggauss(8)
    s = LENGTH * (np.arange(8)[:, None] + 0.5 + 0.5 * x).ravel() / 8
    h = 1e-6
    slope = (motion.position("finger", s + h) - motion.position("finger", s - h)) / (2 * h)
    length = np.linalg.norm(slope, axis=2) @ np.tile(0.5 * w / 8, 8)
    assert length == pytest.approx(1.0, abs=1e-6)
    assert np.ptp(motion.tip("finger")[:, 0, 3]) > 0.05


@pytest.mark.parametrize("kind", ["BSpline", "Hermite"])
def test_formulations_agree_in_motion(kind: str) -> None:
    truth = driven("ANCF", pl.Midpoint()).tip("finger")[:, :3, 3]
    found = driven(kind, pl.Midpoint()).tip("finger")[:, :3, 3]
    # the others have the rotary inertia of their sections, ANCF has none
    assert np.linalg.norm(found - truth, axis=1).max() < 2e-3 * LENGTH
