"""Damping per strain: each kind of vibration of a beam decays by its own number."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

LENGTH, MASS, TURNED = 1.0, 1.0, 1e-2
EI, EA, GJ, STIFF = 1.0, 10.0, 0.15, 1e4
BETA = 1.8751040687119611
"""First root of cos(x) cosh(x) = -1: the wave number of a cantilever times its length."""
SPEED = 1e-3
BENDING = BETA**2 * np.sqrt(EI / MASS) / LENGTH**2
AXIAL = 0.5 * np.pi * np.sqrt(EA / MASS) / LENGTH
TWIST = 0.5 * np.pi * np.sqrt(GJ / TURNED) / LENGTH

BSPLINE = pl.BSpline(degree=3, points=8)
IN_SPACE = [BSPLINE, pl.Hermite(elements=4), pl.Strain(4), pl.ANCF(4, planar=False)]


def section(**others: float) -> pl.Stiffness:
    given = {"bending": EI, "twist": GJ, "shear": STIFF, "axial": EA, **others}
    return pl.Stiffness(**given, mass=MASS, inertia=(1e-6, 1e-6, TURNED))


def cantilever_shape(s: float) -> tuple[float, float]:
    """First bending shape of a cantilever, 1 at the tip, and its slope."""
    x, k = BETA * s / LENGTH, BETA / LENGTH
    share = (np.cosh(BETA) + np.cos(BETA)) / (np.sinh(BETA) + np.sin(BETA))
    shape = np.cosh(x) - np.cos(x) - share * (np.sinh(x) - np.sin(x))
    slope = k * (np.sinh(x) + np.sin(x) - share * (np.cosh(x) - np.cos(x)))
    return 0.5 * shape, 0.5 * slope


def pushed(s: float) -> np.ndarray:
    """Body twists (w, v) along the first shape of every kind of vibration."""
    shape, slope = cantilever_shape(s)
    wave = np.sin(0.5 * np.pi * s / LENGTH)
    return SPEED * np.array([-slope, slope, wave, shape, shape, wave])


def swing(t: np.ndarray, omega: float, ratio: float) -> np.ndarray:
    """Free motion of an oscillator that starts at zero with `SPEED`."""
    damped = omega * np.sqrt(1 - ratio**2)
    return SPEED / damped * np.exp(-ratio * omega * t) * np.sin(damped * t)


def released(damping: pl.Damping, formulation: pl.Formulation, **others: float) -> pl.Motion:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("rod", LENGTH, section(**others), strain_damping=damping)
    velocity = pushed if not others else sheared
    return robot.simulate(3.0, 0.01, velocity={"rod": velocity}, formulation=formulation)


@pytest.mark.parametrize("formulation", IN_SPACE, ids=lambda f: type(f).__name__)
def test_bending_twist_and_stretch_decay_each_by_its_own_damping(formulation):
    """An oscillator of stiffness C and damping D has the damping ratio omega D / (2 C)."""
    about_x, about_y, twist, axial = 0.05, 0.1, 0.15, 0.02
    if isinstance(formulation, pl.ANCF):
        about_x = about_y
    damping = pl.Damping(
        bending=(2 * about_x * EI / BENDING, 2 * about_y * EI / BENDING),
        twist=2 * twist * GJ / TWIST,
        axial=2 * axial * EA / AXIAL,
    )
    move = released(damping, formulation)
    moved = move.position("rod", LENGTH) - [0, 0, LENGTH]
    close = 0.01 * SPEED / BENDING
    assert moved[:, 0] == pytest.approx(swing(move.t, BENDING, about_y), abs=close)
    assert moved[:, 1] == pytest.approx(swing(move.t, BENDING, about_x), abs=close)
    assert moved[:, 2] == pytest.approx(swing(move.t, AXIAL, axial), abs=close)
    if not isinstance(formulation, pl.ANCF):  # which has no twist
        turned = np.asarray(move.tip("rod"))[:, 1, 0]
        assert turned == pytest.approx(swing(move.t, TWIST, twist), abs=close)
    energy = move.energy
    assert np.abs(energy["balance"]).max() < 1e-4 * energy["kinetic"][0]


def test_cable_refuses_bending_damping_that_differs_by_direction():
    with pytest.raises(pl.DescriptionError, match=r"strain_damping.*equal bending damping"):
        released(pl.Damping(bending=(0.1, 0.2)), pl.ANCF(4, planar=False))


def sheared(s: float) -> np.ndarray:
    """Body twists (w, v) along the first shape of a rod that only shears."""
    return SPEED * np.sin(0.5 * np.pi * s / LENGTH) * np.array([0, 0, 0, 1, 1, 0])


@pytest.mark.parametrize("formulation", IN_SPACE[:3], ids=lambda f: type(f).__name__)
def test_shear_decays_by_its_own_damping_in_each_direction(formulation):
    along_x, along_y = 0.03, 0.12
    damping = pl.Damping(shear=(2 * along_x * EA / AXIAL, 2 * along_y * EA / AXIAL))
    move = released(damping, formulation, bending=STIFF, shear=EA)
    moved = move.position("rod", LENGTH)
    close = 0.01 * SPEED / AXIAL
    assert moved[:, 0] == pytest.approx(swing(move.t, AXIAL, along_x), abs=close)
    assert moved[:, 1] == pytest.approx(swing(move.t, AXIAL, along_y), abs=close)


@pytest.mark.parametrize(
    "integrator",
    [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(), pl.Variational()],
    ids=lambda i: type(i).__name__,
)
@pytest.mark.parametrize("formulation", [BSPLINE, pl.ANCF(4)], ids=lambda f: type(f).__name__)
def test_damping_that_varies_along_the_rod_counts_where_the_rod_strains(formulation, integrator):
    """Light damping D(s) of a stretching rod: its ratio is the mean of D u'^2 over 2 omega m u^2."""
    s = np.linspace(0.0, LENGTH, 2001)
    strain = 0.5 * np.pi / LENGTH * np.cos(0.5 * np.pi * s / LENGTH)
    shape = np.sin(0.5 * np.pi * s / LENGTH)
    per_unit = np.trapezoid((1 - s / LENGTH) * strain**2, s) / np.trapezoid(MASS * shape**2, s)
    ratio = 0.05
    largest = 2 * AXIAL * ratio / per_unit
    robot = pl.Robot(gravity=(0, 0, 0))
    taper = pl.Table([0.0, LENGTH], [largest, 0.0])
    robot.add_rod("rod", LENGTH, section(), strain_damping=pl.Damping(axial=taper, bending=0.1))
    move = robot.simulate(
        2.0,
        0.005,
        velocity={"rod": lambda s: SPEED * np.sin(0.5 * np.pi * s / LENGTH) * np.eye(6)[5]},
        formulation=formulation,
        integrator=integrator,
    )
    moved = move.position("rod", LENGTH)[:, 2] - LENGTH
    assert moved == pytest.approx(swing(move.t, AXIAL, ratio), abs=0.015 * SPEED / AXIAL)


def test_damping_in_proportion_to_stiffness_is_retardation():
    """The damping of a tapered rod, given as a function of s, or by the retardation time."""

    def bending(s: float) -> float:
        return EI * (1.5 - s)

    tips = []
    for time, damping in ((0.02, None), (0.0, pl.Damping(bending=lambda s: 0.02 * bending(s)))):
        robot = pl.Robot(gravity=(9.81, 0, 0))
        part = pl.Stiffness(bending, GJ, STIFF, EA, 0.05, (1e-6, 1e-6, 1e-6), retardation=time)
        robot.add_rod(
            "rod", LENGTH, part, theory="kirchhoff", strain_damping=damping, formulation=pl.ANCF(4)
        )
        tips.append(robot.simulate(0.5, 0.01).position("rod", LENGTH))
    assert tips[1] == pytest.approx(tips[0], abs=1e-12)
