"""Intervals along the rods: too few for a time step, chosen, and following the solution."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.chain import Chain
from pliant.bvp.rod_equations import QUATERNION
from pliant.bvp.shooting.attenuation import attenuation, chosen_steps, too_few
from pliant.bvp.shooting.integration import RK4, integrate
from pliant.bvp.shooting.mesh import STAGES, Mesh, even_edges

SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)
ALPHA = pl.BDFAlpha(-0.2)


def arm(theory: str = "cosserat", radius: float = 0.01) -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(radius), SOFT, pl.along("x"), theory=theory)
    robot.add_load("push", rod.tip, force=(0, 0.01, -0.02))
    return robot


def moved(robot: pl.Robot, form: object, dt: float, steps: int = 12) -> np.ndarray:
    """Tip (3,) after some steps in which the push grows as a sine, m."""
    push = pl.Sine(1.0, 20.0 / (2 * np.pi))
    motion = robot.simulate(
        steps * dt, dt, {"push": push}, formulation=form, integrator=ALPHA, output_every=steps * dt
    )
    return motion.tip("arm")[-1, :3, 3]


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("rate", [300.0, 3000.0, 30000.0])
def test_attenuation_is_the_growth_of_the_linearised_rod(theory: str, rate: float) -> None:
    """Of a straight rod at rest: the largest growth over one short interval, by its propagator."""
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("arm", 0.3, pl.Circle(0.002), SOFT, theory=theory)
    chain = Chain(robot.description, "Shooting")
    mesh = Mesh(chain, even_edges(chain, 3000))
    zero = np.zeros((len(mesh.s), 6))
    mesh.set_history(rate, zero, zero, np.zeros((0, 6)))
    y, Z = np.zeros(24), np.eye(18)
    y[15::4] = 1.0
    room = np.zeros((mesh.N, 2, 24)), np.zeros((mesh.N, STAGES, 12))
    h = mesh.intervals.h[0]
    integrate(QUATERNION, RK4, mesh.intervals, rate, 0, 1, y, Z, *room)
    units = np.concatenate([chain.scale, np.full(3, rate), np.full(3, 0.3 * rate)])
    growth = np.linalg.eigvals(Z[:12, :12] * units / units[:, None])
    found = np.log(np.abs(growth).max()) / h
    assert attenuation(chain.rods[0], rate) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("form", [pl.Shooting(steps=20), pl.MultipleShooting(4, 20)], ids=repr)
def test_too_few_steps_for_a_short_dt_are_said(form: object) -> None:
    robot = arm()
    with pytest.warns(pl.ResolutionWarning) as caught:
        wrong = moved(robot, form, 1e-3)
    text = str(caught[0].message)
    for part in ("steps = 20", "rod 'arm'", "dt = 0.001 s", "steps=None", "Collocation()"):
        assert part in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = moved(robot, pl.Collocation(), 1e-3)
        chosen = moved(robot, type(form)(steps=None), 1e-3)
    way = np.linalg.norm(right - (0.3, 0, 0))
    assert np.linalg.norm(wrong - right) > 1e-3 * way  # the warning is not for nothing
    assert np.linalg.norm(chosen - right) < 1e-3 * way


def test_chosen_steps_follow_the_time_step() -> None:
    chain = Chain(arm().description, "Shooting")
    counts = [chosen_steps(chain, "rk4", rate) for rate in (0.0, 300.0, 3000.0, 12000.0)]
    assert counts[0] == counts[1] == 100
    assert counts[3] == pytest.approx(4 * counts[2], rel=0.02)  # shear waves: in proportion
    assert all(
        not too_few(chain, "rk4", n, r)
        for n, r in zip(counts, (0.0, 300.0, 3000.0, 12000.0), strict=True)
    )
    assert chosen_steps(chain, "euler", 0.0) == 400


def test_chosen_steps_serve_at_rest() -> None:
    robot = arm()
    given, chosen = (robot.statics(formulation=pl.Shooting(steps=n)) for n in (100, None))
    np.testing.assert_allclose(chosen.tip("arm"), given.tip("arm"), atol=1e-14)


# -- intervals that follow the solution ------------------------------------------------------


def kinked() -> pl.Robot:
    """A rod that is thick but for a thin neck: most happens on a tenth of it."""
    robot = pl.Robot()

    def radius(s: np.ndarray) -> np.ndarray:
        return 0.012 - 0.008 * np.exp(-(((s - 0.12) / 0.015) ** 2))

    rod = robot.add_rod("arm", 0.3, pl.Circle(radius), SOFT, pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0.01, -0.02))
    return robot


@pytest.fixture(scope="module")
def fine() -> pl.Equilibrium:
    return kinked().statics(formulation=pl.Shooting(steps=4000))


@pytest.mark.parametrize("form", [pl.Shooting, pl.MultipleShooting])
def test_adaptive_statics_meet_their_tolerance(form: type, fine: pl.Equilibrium) -> None:
    errors, counts = [], []
    for tolerance in (1e-4, 1e-6, 1e-8):
        found = kinked().statics(formulation=form(steps=12, scheme="adaptive", tolerance=tolerance))
        errors.append(np.abs(found.tip("arm") - fine.tip("arm")).max())
        counts.append(len(found._solution.q.s))
    assert np.all(np.array(errors) < 3.0 * np.array([1e-4, 1e-6, 1e-8])), errors
    assert counts[0] < counts[1] < counts[2]


def test_adaptive_intervals_are_short_where_the_rod_is_thin(fine: pl.Equilibrium) -> None:
    found = kinked().statics(formulation=pl.Shooting(12, "adaptive", tolerance=1e-7))
    s = found._solution.q.s
    h, middle = np.diff(s), 0.5 * (s[1:] + s[:-1])
    neck = np.abs(middle - 0.12) < 0.02
    assert np.median(h[neck]) < 0.25 * h[~neck & (middle > 0.2)].max()


def test_adaptive_motion_meets_its_tolerance() -> None:
    robot, dt = kinked(), 5e-3
    truth = moved(robot, pl.Shooting(steps=1000), dt)
    errors = [
        np.abs(moved(robot, pl.Shooting(12, "adaptive", tolerance=tol), dt) - truth).max()
        for tol in (1e-4, 1e-6, 1e-8)
    ]
    assert np.all(np.array(errors) < np.array([1e-3, 3e-5, 1e-6])), errors
    assert errors[0] > errors[1] > errors[2]


def test_adaptive_motion_cuts_intervals_as_the_rod_is_loaded() -> None:
    """It begins with twelve intervals at rest and ends with those that the motion needs."""
    robot = kinked()
    motion = robot.simulate(
        0.1,
        5e-3,
        {"push": pl.Sine(1.0, 20.0 / (2 * np.pi))},
        formulation=pl.Shooting(12, "adaptive", tolerance=1e-7),
        integrator=ALPHA,
    )
    counts = [len(state.s) for state in motion._trajectory.q]
    assert counts[1] < counts[-1]
    balance = np.abs(motion.energy["balance"]).max()
    assert balance < 0.02 * np.ptp(motion.energy["kinetic"])
