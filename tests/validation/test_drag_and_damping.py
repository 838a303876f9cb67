"""Drag and mass damping against motions known in closed form, and a measured kind of release."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.reference import values

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1000.0)
FORMULATIONS = [pl.BSpline(3, 6), pl.Hermite(2), pl.Spectral(3, 2), pl.Strain(1, 2)]
SECOND_ORDER = [
    pl.Midpoint(),
    pl.Newmark(tolerance=1e-9),
    pl.GeneralizedAlpha(0.8, tolerance=1e-9),
]


def name(item: object) -> str:
    return type(item).__name__


def falling(axis: str, drag: object) -> tuple[pl.Robot, float]:
    """A free rod, and its mass per length."""
    robot = pl.Robot(gravity=(0, 0, -9.81))
    rod = robot.add_rod(
        "rod", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along(axis), base=None, drag=drag
    )
    return robot, float(rod.mass_per_length(0.0))


def fall(t: float, C: float, mass: float) -> tuple[float, float]:
    """Distance and speed of a body falling from rest against square-law drag."""
    speed = np.sqrt(mass * 9.81 / C)
    return speed**2 / 9.81 * np.log(np.cosh(9.81 * t / speed)), speed * np.tanh(9.81 * t / speed)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name)
@pytest.mark.parametrize("integrator", SECOND_ORDER, ids=name)
def test_level_rod_falls_to_its_terminal_velocity(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    robot, mass = falling("x", 3.0)
    distance, speed = fall(0.6, 3.0, mass)
    assert speed > 0.99 * np.sqrt(mass * 9.81 / 3.0)
    moves = [
        robot.simulate(0.6, dt, formulation=formulation, integrator=integrator)
        for dt in (0.01, 0.005)
    ]
    errors = []
    for move in moves:
        reached = -move.position("rod", 0.1)[-1, 2]
        errors.append(abs(reached - distance))
        # local x points down: the rod was turned about world y
        assert move.velocity("rod", 0.1)[-1, 3] == pytest.approx(speed, rel=1e-3)
        assert np.abs(move.energy["balance"]).max() < 2e-3 * move.energy["dissipated"][-1]
    assert errors[1] < 1e-4 * distance
    assert errors[1] < 0.3 * errors[0]


def test_drag_has_a_coefficient_for_each_axis() -> None:
    robot, mass = falling("z", (9.0, 9.0, 0.5))
    move = robot.simulate(0.6, 0.002)
    distance, _ = fall(0.6, 0.5, mass)
    assert -move.position("rod", 0.0)[-1, 2] == pytest.approx(distance, rel=1e-4)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name)
@pytest.mark.parametrize("integrator", [*SECOND_ORDER, pl.ImplicitEuler()], ids=name)
@pytest.mark.parametrize(
    "twist", [(0, 0, 2.0, 0, 0, 0.5), (0, 0, 0, 0.3, 0.1, 0.5)], ids=["spin", "drift"]
)
def test_mass_damping_slows_a_free_rod_exponentially(
    formulation: pl.Formulation, integrator: pl.Integrator, twist: tuple[float, ...]
) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("rod", 0.3, pl.Circle(0.01), RUBBER, base=None, mass_damping=4.0)
    move = robot.simulate(
        0.5, 0.005, velocity={"rod": twist}, formulation=formulation, integrator=integrator
    )
    decay, rel = np.exp(-4.0 * 0.5), 3e-2 if isinstance(integrator, pl.ImplicitEuler) else 2e-4
    found = move.velocity("rod", 0.15)[-1]
    np.testing.assert_allclose(found, decay * np.array(twist), rtol=rel, atol=1e-9)
    kinetic = move.energy["kinetic"]
    assert kinetic[-1] == pytest.approx(kinetic[0] * decay**2, rel=2 * rel)
    assert move.energy["dissipated"][-1] == pytest.approx(kinetic[0] - kinetic[-1], rel=2 * rel)


def test_mass_damping_takes_half_its_rate_from_every_vibration() -> None:
    """x'' + c x' + omega^2 x = 0 for a mode: it decays as exp(-c t / 2) at a lower frequency."""
    c = 6.0
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", 0.4, pl.Circle(0.01), RUBBER, mass_damping=c)
    modes = robot.modes(2)
    omega = 2 * np.pi * modes.frequencies[0]
    size = 1e-3
    shape = modes.shape(0, "arm", np.linspace(0, 0.4, 201))
    move = robot.simulate(1.0, 0.001, velocity={"arm": size * shape}, output_every=0.05)
    damped = np.sqrt(omega**2 - c**2 / 4)
    wave = np.exp(-c * move.t / 2) * np.sin(damped * move.t) / damped
    tip = shape[-1, 3:] @ move.tip("arm")[:, :3, 3].T  # along the mode
    expected = size * wave * (shape[-1, 3:] @ shape[-1, 3:])
    np.testing.assert_allclose(tip, expected, atol=2e-3 * np.abs(expected).max())
    assert arm.mass_damping == c


# -- a weight of 20 g cut from the tip of a steel rod ------------------------------------------------

POINTS = 12


def steel_rod() -> pl.Robot:
    given = values.WEIGHT_RELEASE_ROD
    area, moment = np.pi * given["diameter"] ** 2 / 4, np.pi * given["diameter"] ** 4 / 64
    line, spin = given["rho"] * area, given["rho"] * moment
    axial = 10 * given["EI"] / moment * area  # the reference does not stretch
    section = pl.Stiffness(
        bending=given["EI"],
        twist=given["EI"],
        shear=axial,
        axial=axial,
        mass=line,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -given["g"], 0))
    rod = robot.add_rod("rod", given["length"], section, pose=pl.along("x"), drag=given["drag"])
    robot.add_load("weight", rod.tip, force=(0, -given["weight"] * given["g"], 0))
    return robot


def test_weight_bends_the_steel_rod_as_the_reference_says() -> None:
    tip = steel_rod().statics(formulation=pl.BSpline(3, POINTS)).tip("rod")
    known = values.WEIGHT_RELEASE_STATIC
    assert tip[:2, 3] == pytest.approx((known["x"], known["y"]), abs=1e-7)
    assert np.arctan2(tip[1, 2], tip[0, 2]) == pytest.approx(known["theta"], abs=1e-6)


def test_body_of_that_mass_bends_it_alike_and_slows_it_down() -> None:
    robot = steel_rod()
    hung = robot.statics(formulation=pl.BSpline(3, POINTS)).tip("rod")
    bare = robot.modes(1, inputs={"weight": 0.0}).frequencies[0]
    robot.add_body(
        "weight of 20 g", values.WEIGHT_RELEASE_ROD["weight"], on=robot.description.rods["rod"].tip
    )
    same = robot.statics({"weight": 0.0}, formulation=pl.BSpline(3, POINTS)).tip("rod")
    np.testing.assert_allclose(same, hung, atol=1e-10)
    assert robot.modes(1, inputs={"weight": 0.0}).frequencies[0] < 0.5 * bare


def test_released_rod_swings_through_air_as_the_reference_says() -> None:
    """Within 0.1 mm at steps of 1/8 ms; the rest is the step: 0.4 mm at 1/4 ms, 8 um at 1/32."""
    robot = steel_rod()
    hung = robot.statics(formulation=pl.BSpline(3, POINTS))
    modes = robot.modes(4, inputs={"weight": 0.0}, formulation=pl.BSpline(3, 24))
    assert modes.frequencies[[1, 2]] == pytest.approx(values.WEIGHT_RELEASE_FREQUENCIES, rel=2e-5)
    t = values.WEIGHT_RELEASE_T
    move = robot.simulate(t[-1], 1.25e-4, {"weight": 0.0}, start=hung, output_times=t)
    np.testing.assert_allclose(move.tip("rod")[:, :2, 3], values.WEIGHT_RELEASE_TIP, atol=1e-4)
    lost = move.energy["total"][0] - move.energy["total"][-1]
    assert move.energy["dissipated"][-1] == pytest.approx(lost, rel=1e-4)
