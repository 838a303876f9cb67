"""Tubes that are pushed during a motion, against equilibria, energy balance and convergence in time."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl

STRAIN = pl.Strain(3, 3)


def two_tubes(viscosity: float, formulation: Any = STRAIN, theory: str = "kirchhoff") -> pl.Robot:
    """Two curved tubes that are pushed and turned, with a force at the tip."""
    nitinol = pl.Material(E=6e10, nu=0.33, rho=6450.0, viscosity=viscosity)
    robot = pl.Robot()
    outer = robot.add_tube(
        *("outer", 0.15, pl.Annulus(2.2e-3, 1.7e-3), nitinol),
        natural=(0, 5, 0),
        start=-0.05,
        insertion="push outer",
        formulation=formulation,
        theory=theory,
    )
    inner = robot.add_tube(
        *("inner", 0.3, pl.Annulus(1.5e-3, 1.2e-3), nitinol, outer),
        natural=(0, 12, 0),
        start=-0.1,
        insertion="push",
        rotation="turn",
    )
    robot.add_load("force", inner.tip, force=(0, 0, -0.2))
    return robot


@pytest.mark.parametrize(
    ("name", "formulation", "theory"),
    [("push", STRAIN, "kirchhoff"), ("push outer", pl.Hermite(5), "cosserat")],
)
def test_slow_push_follows_equilibria_and_loses_nothing(
    name: str, formulation: Any, theory: str
) -> None:
    robot, end = two_tubes(3e7, formulation, theory), 0.01
    inputs = {"turn": 1.0, name: pl.Ramp(0.0, end, 0.0, 0.4)}
    motion = robot.simulate(0.4, 8e-3, inputs, "statics", output_every=0.08)
    shift = np.linalg.norm(motion.tip("inner")[-1, :3, 3] - motion.tip("inner")[0, :3, 3])
    assert shift > 0.4 * end
    for k, push in enumerate(motion.inputs[name]):
        still = robot.statics({"turn": 1.0, name: float(push)}).tip("inner")[:3, 3]
        # it lags behind by viscosity / E times its velocity, and rings a little as the push begins
        assert np.linalg.norm(motion.tip("inner")[k, :3, 3] - still) < 4e-3 * shift
    energy = motion.energy
    kept = [robot.statics({"turn": 1.0, name: x}).energy for x in (0.0, end)]
    stored = [x["elastic"] + x["gravity"] for x in kept]
    # the work goes into the tubes; next to nothing is lost on the way
    assert energy["work"][-1] == pytest.approx(stored[1] - stored[0], rel=1e-3)
    assert energy["dissipated"][-1] < 2e-3 * abs(energy["work"][-1])
    assert np.ptp(energy["balance"]) < 2e-4 * abs(energy["work"][-1])


def test_formulations_agree_on_work_and_loss_of_a_push() -> None:
    found = []
    for formulation in (STRAIN, pl.Hermite(5), pl.BSpline(points=12)):
        robot = two_tubes(3e7, formulation)
        inputs = {"turn": 1.0, "push outer": pl.Ramp(0.0, 0.01, 0.0, 0.4)}
        energy = robot.simulate(0.4, 8e-3, inputs, "statics", output_every=0.4).energy
        found.append((energy["work"][-1], energy["dissipated"][-1]))
    works, losses = np.array(found).T
    assert works == pytest.approx(works[0], rel=1e-4)
    assert losses == pytest.approx(losses[0], rel=0.05)


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.9)], ids=repr)
def test_motion_of_a_pushed_tube_is_of_second_order_in_time(integrator: Any) -> None:
    robot = two_tubes(3e6)
    inputs = {"turn": 1.0, "push": lambda t: 0.004 * np.sin(15 * t) ** 2}
    motions = [
        robot.simulate(0.06, dt, inputs, "statics", integrator=integrator, output_every=0.02)
        for dt in (1e-3, 5e-4, 2.5e-4)
    ]
    a, b, c = (motion.tip("inner")[:, :3, 3] for motion in motions)
    assert np.log2(np.abs(b - a).max() / np.abs(c - b).max()) == pytest.approx(2.0, abs=0.35)


def test_tube_comes_out_of_another_and_goes_back(tmp_path: Path) -> None:
    """Breaks come and go; a motion that starts where another ended goes on there."""
    robot = two_tubes(1e8)
    first = {"turn": 0.5, "push": pl.Ramp(-0.05, -0.12, 0.0, 0.3)}
    motion = robot.simulate(0.3, 5e-3, first, "statics", output_every=0.1)
    assert motion.tip("inner")[-1, 2, 3] < motion.tip("outer")[-1, 2, 3]  # it is inside
    hold = {"turn": 0.5, "push": -0.12}
    rest = robot.simulate(0.2, 5e-3, hold, motion, integrator=pl.ImplicitEuler())
    still = robot.statics(hold)
    assert rest.tip("outer")[-1, :3, 3] == pytest.approx(still.tip("outer")[:3, 3], abs=2e-5)
    saved = motion.save(tmp_path / "tubes.nc")
    assert Path(saved).exists()
    assert copy.deepcopy(motion).tip("outer") == pytest.approx(motion.tip("outer"))


def test_stepper_pushes_as_a_simulation_does() -> None:
    robot = two_tubes(3e7)
    stepper = robot.stepper(5e-3, {"turn": 1.0}, start="statics")
    for k in range(8):
        state = stepper.step({"push": 1e-3 * (k + 1)})
        assert state.converged
    inputs = {"turn": 1.0, "push": pl.Ramp(0.0, 8e-3, 0.0, 0.04)}
    motion = robot.simulate(0.04, 5e-3, inputs, "statics")
    assert state.tip("inner") == pytest.approx(motion.tip("inner")[-1], abs=1e-9)
    assert state.energy["work"] == pytest.approx(motion.energy["work"][-1], rel=1e-6)
