"""Motions by shooting: free and held bases, energy balance, failure, against splines and theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl

SOFT = pl.Material(E=2e5, nu=0.45, rho=1000.0)
KINDS = (pl.Shooting(steps=60), pl.MultipleShooting(intervals=4, steps=60))


def name(form: pl.Shooting | pl.MultipleShooting) -> str:
    return type(form).__name__


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_free_rod_falls_without_bending(form):
    robot = pl.Robot()
    robot.add_rod("rod", 0.7, pl.Circle((0.03, 0.02)), SOFT, pl.along("x"), base=None)
    move = robot.simulate(0.3, 0.01, formulation=form)
    s = np.linspace(0.0, 0.7, 5)
    assert move.position("rod", s)[-1, :, 2] == pytest.approx(-0.5 * 9.81 * 0.09, abs=1e-8)
    assert np.abs(move.velocity("rod", s)[:, :, :3]).max() < 1e-6


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_stiff_rod_on_a_pivot_swings_as_a_pendulum(form):
    robot = pl.Robot()
    stiff = pl.Material(E=1e11, nu=0.45, rho=1000.0)
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.01), stiff, pl.along("x"), base=None)
    robot.add_constraint("pivot", rod.base_frame, to=pl.along("x"), kind="articulated")
    times = [0.1, 0.2, 0.3, 0.4]
    move = robot.simulate(0.4, 0.002, formulation=form, output_times=times)
    inertia = 0.5**2 / 3.0 + 0.01**2 / 4.0
    swing = solve_ivp(
        lambda t, y: [y[1], 9.81 * 0.25 * np.cos(y[0]) / inertia],
        (0.0, 0.4), [0.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    tip = move.tip("rod")[:, :3, 3]
    assert move.position("rod", 0.0) == pytest.approx(np.zeros((4, 3)), abs=1e-12)
    assert np.arctan2(-tip[:, 2], tip[:, 0]) == pytest.approx(swing.y[0], abs=1e-3)
    assert np.linalg.norm(tip, axis=1) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_soft_pendulum_agrees_with_splines(form):
    robot = pl.Robot()
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.02), SOFT, pl.along("x"), base=None)
    robot.add_constraint("pivot", rod.base_frame, to=pl.along("x"), kind="articulated")
    tips = []
    fine_form = replace(form, steps=300)
    for other in (fine_form, pl.BSpline(degree=4, points=16)):
        coarse, fine = (
            robot.simulate(0.1, dt, formulation=other, output_times=[0.1]).tip("rod")[0, :3, 3]
            for dt in (4e-3, 2e-3)
        )
        tips.append(fine + (fine - coarse) / 3.0)
    assert tips[0] == pytest.approx(tips[1], abs=1e-4)


def pushed(**options: object) -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=500.0)
    rod = robot.add_rod("rod", 0.5, pl.Circle(0.02), material, pl.along("x"), drag=20.0, **options)
    robot.add_load("tip", rod.at(0.5, offset=(0.01, 0.0)), force=(0, 0.2, 0.1), frame="body")
    robot.add_load("along", "rod", force=(0, 0.2, 0.1), moment=(0.01, 0.0, 0.02))
    robot.add_body("hand", 0.02, (1e-5, 1e-5, 1e-5), on=rod.tip, centre=(0.0, 0.01, 0.01))
    return robot


FINE = (pl.Shooting(steps=300), pl.MultipleShooting(intervals=4, steps=300))


@pytest.mark.parametrize("form", FINE, ids=name)
def test_work_pays_for_energy_and_loss(form):
    """The energy balance closes to second order in the step."""
    robot = pushed(mass_damping=0.5)
    start = robot.statics({"tip": 0.0, "along": 0.0}, formulation=form)
    inputs = {"tip": lambda t: np.sin(5 * t) ** 2, "along": lambda t: np.sin(10 * t) ** 2}
    missing = []
    for dt in (4e-3, 2e-3):
        energy = robot.simulate(0.2, dt, inputs, formulation=form, start=start).energy
        assert set(energy) >= {"kinetic", "elastic", "gravity", "dissipated", "work", "balance"}
        missing.append(np.abs(energy["balance"]).max() / np.abs(energy["work"]).max())
    assert missing[0] < 1e-4
    assert missing[1] < 0.3 * missing[0]


def test_moving_base_agrees_with_splines():
    robot = pushed()
    robot.add_base_motion("shake", "rod", translation=(0, 0, 0.02))
    inputs = {"shake": lambda t: np.sin(20.0 * t) ** 2, "tip": 0.0, "along": 0.0}
    tips = []
    for form in (pl.Shooting(steps=300), pl.BSpline(degree=4, points=16)):
        start = robot.statics({"shake": 0.0, "tip": 0.0, "along": 0.0}, formulation=form)
        coarse, fine = (
            robot.simulate(0.1, dt, inputs, formulation=form, start=start, output_times=[0.1]).tip(
                "rod"
            )[0]
            for dt in (4e-3, 2e-3)
        )
        tips.append(fine + (fine - coarse) / 3.0)
    assert tips[0] == pytest.approx(tips[1], abs=5e-5)


def test_joined_rods_move_as_one():
    tips = []
    for cut in (0.5, 0.2):
        robot = pl.Robot()
        rod = robot.add_rod("first", cut, pl.Circle(0.02), SOFT, pl.along("x"))
        if cut < 0.5:
            rod = robot.add_rod("second", 0.5 - cut, pl.Circle(0.02), SOFT, base=rod.tip)
        robot.add_load("tip", rod.tip, force=(0.0, 0.1, 0.05), frame="body")
        move = robot.simulate(0.1, 2e-3, formulation=pl.Shooting(steps=100))
        tips.append(move.tip(rod.name)[-1])
    assert tips[1] == pytest.approx(tips[0], abs=1e-7)


@pytest.mark.parametrize("form", KINDS, ids=name)
def test_step_that_cannot_converge_is_said_and_the_motion_so_far_kept(form):
    robot = pushed()
    inputs = {"tip": lambda t: 1.0 if t < 0.031 else 1e12, "along": 0.0}
    with pytest.raises(pl.ConvergenceError, match=r"stopped at t = 0.03 s of 0.1 s") as caught:
        robot.simulate(0.1, 2e-3, inputs, formulation=form)
    assert "did not converge" in str(caught.value)
    last = caught.value.last
    assert not last.complete
    assert last.t[-1] == pytest.approx(0.03)
    assert np.isfinite(last.tip("rod")).all()
    clean = robot.simulate(0.03, 2e-3, {"tip": 1.0, "along": 0.0}, formulation=form)
    assert last.tip("rod") == pytest.approx(clean.tip("rod"), abs=1e-9)
