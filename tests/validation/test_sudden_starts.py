"""First steps in acceleration form: after a jump of a load, from smooth starts, and short ones."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.model import Array

INTEGRATORS = [pl.Newmark(), *(pl.GeneralizedAlpha(rho) for rho in (0.9, 0.8, 0.5, 0.0))]
DURATION = 0.02
RUBBER = pl.Material(E=1e7, nu=0.45, rho=1000.0, viscosity=500.0)


def named(integrator: object) -> str:
    return f"{type(integrator).__name__}{getattr(integrator, 'rho', '')}"


def actuator() -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot.add_actuator("finger", part, pl.along("z"))
    return robot


def laden() -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod(
        "finger", 0.3, pl.Circle(0.005), RUBBER, pose=pl.along("x"), theory="kirchhoff"
    )
    robot.add_load("weight", rod.tip, force=(0.0, 0.0, -0.15))
    return robot


RELEASES = {"pressure": (actuator, "chamber1", 1e4), "weight": (laden, "weight", 1.0)}


@functools.cache
def release(
    kind: str,
    formulation: pl.Formulation,
    integrator: pl.Integrator,
    dt: float,
    other: bool = False,
) -> pl.Motion:
    """Let go at t = 0 what has bent the rod; `other` adds a second rod, for the general path."""
    make, name, before = RELEASES[kind]
    robot, formulations = make(), {"finger": formulation}
    if other:
        robot.add_rod("other", 0.1, pl.Circle(0.005), RUBBER, pose=pl.along("x"))
        formulations["other"] = pl.BSpline(3, 4)
    bent = robot.statics({name: before}, formulations)
    return robot.simulate(
        DURATION,
        dt,
        {name: 0.0},
        bent,
        formulation=formulations,
        integrator=integrator,
        output_every=DURATION / 10,
    )


@functools.cache
def reference(kind: str) -> Array:
    """Tip positions (T, 3) by another integrator in short steps and, if it can, another formulation."""
    formulation = pl.ANCF(8) if kind == "pressure" else pl.BSpline(3, 14)
    return release(kind, formulation, pl.Midpoint(), 5e-5).tip("finger")[:, :3, 3]


def judge(kind: str, motion: pl.Motion, elements: int, dt: float) -> None:
    truth = reference(kind)
    gone = np.abs(truth - truth[0]).max()
    # a pressure lets go a wave with no shortest length, a weight a smoother one
    allowed = {"pressure": {1e-3: 0.09, 1e-4: 0.025}, "weight": {1e-3: 0.008, 1e-4: 0.005}}
    limit = allowed[kind][dt] + (0.012 if elements == 4 else 0.0)
    assert motion.tip("finger")[:, :3, 3] == pytest.approx(truth, abs=limit * gone)
    energy = motion.energy
    stored = np.ptp(energy["elastic"])
    assert energy["balance"].max() < 1e-3 * stored
    assert energy["balance"].min() > {"pressure": -0.7, "weight": -0.02}[kind] * stored
    assert motion.iterations < 5.5 * motion.steps


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
@pytest.mark.parametrize("elements", [4, 8, 16])
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=named)
@pytest.mark.parametrize("kind", RELEASES)
def test_what_is_let_go_moves_as_it_should(
    kind: str, integrator: pl.Integrator, elements: int, dt: float
) -> None:
    judge(kind, release(kind, pl.ANCF(elements), integrator, dt), elements, dt)


@pytest.mark.parametrize("elements", [8, 16])
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=named)
@pytest.mark.parametrize("kind", RELEASES)
def test_what_is_let_go_beside_another_rod_moves_the_same(
    kind: str, integrator: pl.Integrator, elements: int
) -> None:
    motion = release(kind, pl.ANCF(elements), integrator, 1e-3, other=True)
    judge(kind, motion, elements, 1e-3)
    alone = release(kind, pl.ANCF(elements), integrator, 1e-3).tip("finger")[:, :3, 3]
    gone = np.ptp(alone, axis=0).max()
    assert motion.tip("finger")[:, :3, 3] == pytest.approx(alone, abs=1e-4 * gone)


@pytest.mark.parametrize("carried", [pl.ANCF(6), pl.BSpline()], ids=named)
@pytest.mark.parametrize("carrier", [pl.ANCF(6), pl.BSpline()], ids=named)
def test_jump_of_pressure_below_a_carried_rod(carrier: object, carried: object) -> None:
    """Its inertia bends the map of the rod that carries it, which the tangent has to know."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12)
    first = robot.add_actuator("first", part, pl.along("x"))
    robot.add_actuator("second", part, base=first.tip, chambers=("left", "right"))
    found, truth = (
        robot.simulate(
            0.05,
            dt,
            {"chamber1": 5e4},
            formulation={"first": carrier, "second": carried},
            integrator=integrator,
            output_every=0.01,
        )
        for integrator, dt in ((pl.GeneralizedAlpha(0.8), 1e-3), (pl.Midpoint(), 5e-4))
    )
    tip = found.tip("second")[:, :3, 3]
    assert tip == pytest.approx(truth.tip("second")[:, :3, 3], abs=5e-4)
    assert found.iterations < 9 * found.steps


# -- smooth starts ------------------------------------------------------------------------------


def falling(
    elements: int, viscosity: float, integrator: pl.Integrator, duration: float, steps: int
) -> Array:
    """Tip position and velocity of a horizontal rod that is let go under its own weight."""
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=viscosity)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), material, pose=pl.along("x"), theory="kirchhoff")
    motion = robot.simulate(
        duration,
        duration / steps,
        formulation=pl.ANCF(elements),
        integrator=integrator,
        output_times=[duration],
    )
    velocity = motion.velocity("arm", 0.3)[-1]
    return np.concatenate([motion.tip("arm")[-1, :3, 3], 0.03 * velocity])


EXACT = [
    pl.Newmark(tolerance=1e-11),
    pl.GeneralizedAlpha(0.8, 1e-11),
    pl.GeneralizedAlpha(0, 1e-11),
]


@pytest.mark.parametrize("integrator", EXACT, ids=named)
def test_order_two_from_a_start_with_acceleration(integrator: pl.Integrator) -> None:
    duration = 0.04
    coarse, fine = (falling(2, 2e3, pl.Midpoint(), duration, steps) for steps in (100, 200))
    truth = fine + (fine - coarse) / 3
    finest = 160 if getattr(integrator, "rho", 1.0) else 320
    errors = [
        np.abs(falling(2, 2e3, integrator, duration, steps) - truth).max()
        for steps in (finest // 4, finest // 2, finest)
    ]
    assert np.log2(errors[:-1] / np.array(errors[1:])) == pytest.approx([2.0, 2.0], abs=0.1)
    assert errors[-1] < 2e-5


@pytest.mark.parametrize("integrator", EXACT, ids=named)
def test_first_step_is_in_error_by_the_cube_of_its_length(integrator: pl.Integrator) -> None:
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        truth = falling(1, 0.0, pl.Midpoint(), h, 50)
        errors.append(np.abs(falling(1, 0.0, integrator, h, 1) - truth).max())
    assert np.log2(errors[:-1] / np.array(errors[1:])) == pytest.approx([3.0, 3.0], abs=0.05)


# -- short steps --------------------------------------------------------------------------------


def test_midpoint_gets_better_with_ever_shorter_steps() -> None:
    truth = falling(2, 2e3, pl.Newmark(tolerance=1e-11), 0.02, 2000)
    errors = [
        np.abs(falling(2, 2e3, pl.Midpoint(tolerance=1e-9), 0.02, steps) - truth).max()
        for steps in (100, 200, 400)
    ]
    assert np.log2(errors[:-1] / np.array(errors[1:])) == pytest.approx([2.0, 2.0], abs=0.2)


@pytest.mark.parametrize("other", [False, True], ids=["compiled", "general"])
@pytest.mark.parametrize("integrator", [pl.Midpoint(), *INTEGRATORS], ids=named)
def test_short_steps_of_a_rod_that_cannot_stretch_make_no_energy(
    integrator: pl.Integrator, other: bool
) -> None:
    robot, formulations = pl.Robot(), {"arm": pl.ANCF(4)}
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2e3)
    section = pl.Circle(0.01)
    robot.add_rod("arm", 0.3, section, material, pose=pl.along("x"), theory="kirchhoff")
    if other:
        robot.add_rod("other", 0.1, section, material, pose=pl.along("x"))
        formulations["other"] = pl.BSpline(3, 4)
    motion = robot.simulate(
        0.01, 5e-5, formulation=formulations, integrator=integrator, output_every=1e-3
    )
    fallen = -np.min(motion.energy["gravity"])
    assert np.abs(motion.energy["balance"]).max() < 1e-5 * fallen
    assert motion.iterations < 3.5 * motion.steps
