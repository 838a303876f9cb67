"""Moving bases: centrifugal stretch, the equivalence of acceleration and gravity, energy books."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.unit.test_contract_toy import Toy

RUBBER = pl.Material(E=1e5, nu=0.45, rho=1000.0)
FORMULATIONS = [pl.BSpline(3, 6), pl.Hermite(3), pl.Spectral(3, 3), pl.Strain(2, 2)]
INTEGRATORS = [
    pl.Midpoint(tolerance=1e-10),
    pl.Variational(),
    pl.Newmark(),
    pl.GeneralizedAlpha(0.8),
    pl.ImplicitEuler(),
]


def name(item: object) -> str:
    return type(item).__name__


# -- a rod that turns ------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", [*FORMULATIONS, Toy(3)], ids=name)
@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()], ids=name)
def test_rod_on_a_turning_base_is_stretched_as_the_exact_solution_says(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    """EA x'' + rho A Omega^2 x = 0, x(0) = 0, EA (x'(L) - 1) = m Omega^2 x(L): a sine."""
    if isinstance(formulation, Toy) and isinstance(integrator, pl.Newmark):
        pytest.skip("one integrator is enough for a formulation made of differences")
    speed, length, mass = 20.0, 0.3, 0.01
    line, axial = 0.3, 30.0
    section = pl.Stiffness(
        bending=0.5,
        twist=0.5,
        shear=1e3,
        axial=axial,
        mass=line,
        inertia=(1e-5, 1e-5, 2e-5),
        retardation=0.03,
    )
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod("arm", length, section)
    robot.add_body("weight", mass, on=arm.tip)
    robot.add_base_motion("turn", arm, rotation=(0, 1, 0))
    # it starts as a rigid body on its way, and sways until viscosity has taken the rest
    move = robot.simulate(
        1.2,
        0.005,
        {"turn": lambda t: speed * t},
        velocity={"arm": lambda s: (0, speed, 0, speed * s, 0, 0)},
        formulation=formulation,
        integrator=integrator,
        output_times=[0.0, 0.6, 1.2],
    )
    k = speed * np.sqrt(line / axial)
    # x = a sin(k s) with EA (a k cos(k L) - 1) = m Omega^2 a sin(k L)
    a = axial / (axial * k * np.cos(k * length) - mass * speed**2 * np.sin(k * length))
    reach = np.linalg.norm(move.tip("arm")[-1, :3, 3])
    assert reach > 1.05 * length
    rel = 2e-2 if isinstance(formulation, Toy) else 2e-4
    assert reach == pytest.approx(a * np.sin(k * length), rel=rel)
    angle = np.arctan2(move.tip("arm")[-1, 0, 3], move.tip("arm")[-1, 2, 3])
    assert np.cos(angle - speed * 1.2) == pytest.approx(1.0, abs=1e-4)
    # the base has done the work that is now in stretch and speed, and what viscosity took
    assert np.abs(move.energy["balance"]).max() < 3e-3 * move.energy["kinetic"][0]


# -- an accelerating base is gravity the other way -----------------------------------------------------


def pair(acceleration: np.ndarray) -> tuple[pl.Robot, pl.Robot]:
    """The same arm and body on an accelerating base, and at rest in a field of gravity."""
    robots = []
    for moving in (True, False):
        robot = pl.Robot(gravity=(0, 0, 0) if moving else -acceleration)
        arm = robot.add_rod(
            "arm", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along("x"), natural=(1.0, 0.5, 0.0)
        )
        robot.add_body("b", 0.02, (1e-6, 2e-6, 2e-6), on=arm.at(0.25), centre=(0.0, 0.01, 0.02))
        if moving:
            robot.add_base_motion("ride", arm, translation=acceleration)
        robots.append(robot)
    return robots[0], robots[1]


@pytest.mark.parametrize("formulation", [*FORMULATIONS, Toy(2)], ids=name)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=name)
def test_arm_on_an_accelerating_base_moves_as_in_gravity(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    """x = a t^2 / 2 from rest: in the frame of the base, gravity -a, from rest.

    For Midpoint, whose second difference of x is a, but for the screws between the poses.
    """
    if isinstance(formulation, Toy) and not isinstance(integrator, pl.Midpoint):
        pytest.skip("one integrator is enough for a formulation made of differences")
    a = np.array((0.5, 1.0, -3.0))
    riding, still = pair(a)
    rel = 2e-5 if isinstance(integrator, pl.Midpoint) else 2e-2
    dt, duration = (5e-5, 0.01) if isinstance(integrator, pl.Variational) else (0.002, 0.1)
    settings = {"formulation": formulation, "integrator": integrator}
    one = riding.simulate(duration, dt, {"ride": lambda t: 0.5 * t * t}, **settings)
    two = still.simulate(duration, dt, **settings)
    s = np.array([0.0, 0.15, 0.3])
    shift = 0.5 * one.t[:, None, None] ** 2 * a
    found = one.position("arm", s) - shift
    moved = np.abs(two.position("arm", s) - two.position("arm", s)[:1]).max()
    rel = max(rel, 1e-4) if isinstance(formulation, Toy) else rel
    np.testing.assert_allclose(found, two.position("arm", s), rtol=0, atol=rel * moved)
    assert moved > 0.3 * 0.5 * 3.0 * duration**2


def test_shaken_base_moves_the_arm_as_a_field_that_shakes() -> None:
    """Sine instead of a parabola; the field is a load along the rod and at the body."""
    shake = pl.Sine(0.01, 3.0, phase=np.pi / 2)
    riding, _ = pair(np.array((0.0, 0.3, 1.0)))
    field = pl.Robot(gravity=(0, 0, 0))
    arm = field.add_rod(
        "arm", 0.3, pl.Circle(0.01), RUBBER, pose=pl.along("x"), natural=(1.0, 0.5, 0.0)
    )
    field.add_body("b", 0.02, (1e-6, 2e-6, 2e-6), on=arm.at(0.25), centre=(0.0, 0.01, 0.02))
    along = np.array((0.0, 0.3, 1.0))
    line = float(arm.mass_per_length(0.0))
    field.add_load("line", arm, force=-line * along)
    field.add_load("point", arm.at(0.25, offset=(0.0, 0.01, 0.02)), force=-0.02 * along)
    gaps = []
    for dt in (0.004, 0.002):
        one = riding.simulate(0.3, dt, {"ride": shake}, start="rest")
        two = field.simulate(0.3, dt, {"line": shake.acceleration, "point": shake.acceleration})
        shift = np.array([shake(t) for t in one.t])[:, None] * along
        gap = one.position("arm", 0.3) - shift - two.position("arm", 0.3)
        gaps.append(np.abs(gap).max())
    assert gaps[1] < 1e-5
    assert gaps[1] < 0.3 * gaps[0]


def test_derivatives_of_a_plain_function_serve_as_well_as_those_of_a_signal() -> None:
    shake = pl.Sine(0.01, 3.0)
    riding, _ = pair(np.array((0.0, 0.3, 1.0)))
    moves = [
        riding.simulate(0.1, 0.002, {"ride": given}, integrator=pl.Newmark())
        for given in (shake, lambda t: shake(t))
    ]
    np.testing.assert_allclose(moves[0].tip("arm"), moves[1].tip("arm"), atol=1e-8)


# -- books -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name)
@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9)], ids=name
)
def test_energy_books_close_with_everything_at_once(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    """Base shifted and turned, offset body, drag, both dampings: what is lost comes from the base."""
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=500.0)
    arm = robot.add_rod(
        "arm", 0.4, pl.Circle(0.01), material, pose=pl.along("x"), drag=0.5, mass_damping=0.5
    )
    tensor = (2e-5, 3e-5, 4e-5, 1e-6, 2e-6, 0.0)
    robot.add_body("b", 0.03, tensor, on=arm.at(0.3, (0.01, 0.0)), centre=(0.0, 0.02, 0.01))
    robot.add_base_motion("ride", arm, translation=(0, 0.3, 1), rotation=(3, 0, 1.5))
    gaps = []
    for dt in (0.004, 0.002):
        move = robot.simulate(
            0.4,
            dt,
            {"ride": lambda t: 0.1 * np.sin(8 * t) ** 2},
            start="statics",
            formulation=formulation,
            integrator=integrator,
        )
        books = move.energy
        assert books["dissipated"][-1] > 0.005
        assert np.abs(books["work"]).max() > 0.05
        gaps.append(np.abs(books["balance"]).max() / np.abs(books["work"]).max())
    assert gaps[1] < 1e-3
    assert gaps[1] < 0.35 * gaps[0]


def test_rod_on_a_carrier_rides_along() -> None:
    """Rigid motion of the base carries a mounted rod: same as both described there."""
    still = pl.Robot()
    moving = pl.Robot()
    there = pl.pose((0.2, 0.0, 0.1)) @ pl.along("x") @ pl.pose(rotation=(0.0, 0.0, 0.7))
    found = []
    for robot, pose in ((still, there), (moving, pl.along("x"))):
        arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.45), pose=pose)
        robot.add_rod(
            "hand",
            0.1,
            pl.Circle(0.01),
            pl.Material(E=1e6, nu=0.45, rho=1000.0),
            base=arm.at(0.2, offset=(0.01, 0)),
            pose=pl.pose(rotation=(0.3, 0, 0)),
        )
    moving.add_base_motion("to", "arm", translation=(2.0, 0.0, 1.0), rotation=(0, 0, 7.0))
    found = [still.statics(), moving.statics({"to": 0.1})]
    np.testing.assert_allclose(found[0].tip("hand"), found[1].tip("hand"), atol=1e-10)
