"""A time step that does not converge is taken as two of half its length, and the motion tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.physics.effects import Effects
from pliant.solve.integrators.contract import StepError, Stepper
from pliant.solve.integrators.variational import OwnEndsStepper


class _Fussy(OwnEndsStepper):
    """Takes no step longer than `longest` between two times of its motion."""

    longest = 0.0

    def take(self, rows: np.ndarray, wanted: Any = None) -> int:
        if self.h > self.longest:
            self.done = 0
            raise StepError(f"a time step of {self.h:g} s failed: too long; try a smaller dt")
        return super().take(rows, wanted)


@dataclass(frozen=True)
class Fussy(pl.Midpoint):
    """Midpoint that fails where its step is longer than `longest`, s."""

    longest: float = 1.0

    def stepper(self, effects: Effects, h: float) -> Stepper:
        stepper = _Fussy(effects, h, self.tolerance, 0.5)
        stepper.longest = self.longest
        return stepper

    def damped_stepper(self, effects: Effects, h: float) -> Stepper:
        return self.stepper(effects, h)


def falling(integrator: pl.Integrator, dt: float) -> pl.Motion:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1000.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0.1, 0))
    return robot.simulate(
        0.1, dt, {"push": lambda t: 10 * t}, formulation=pl.BSpline(3, 6), integrator=integrator
    )


@pytest.mark.parametrize(("longest", "halvings"), [(0.0026, 1), (0.0014, 3)])
def test_halved_steps_lead_to_the_motion_of_shorter_ones(longest: float, halvings: int) -> None:
    motion = falling(Fussy(longest=longest), 0.005)
    assert motion.complete and motion.steps == 20
    assert motion.t == pytest.approx(np.linspace(0, 0.1, 21))
    assert motion.rescues == {"halved steps": 20 * halvings}
    short = falling(pl.Midpoint(), 0.005 / (halvings + 1))
    gap = motion.tip("arm")[:, :3, 3] - short.tip("arm")[:: halvings + 1, :3, 3]
    assert np.abs(gap).max() < 2e-6
    for name in ("work", "dissipated"):
        assert motion.energy[name][-1] == pytest.approx(short.energy[name][-1], rel=1e-3)


def test_a_motion_without_trouble_reports_none() -> None:
    assert falling(pl.Midpoint(), 0.005).rescues == {}


def test_a_step_that_fails_at_any_length_stops_with_what_there_is() -> None:
    with pytest.raises(pl.ConvergenceError, match=r"stopped at t = 0 s.*failed: too long") as error:
        falling(Fussy(longest=1e-9), 0.005)
    assert isinstance(error.value.last, pl.Motion)
    assert len(error.value.last.t) == 1


def test_an_output_inside_a_step_that_is_halved_does_not_stop_the_motion() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1000.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pl.along("x"), formulation=pl.BSpline(3, 6))
    robot.add_chamber("air", "arm", 1e-4, (0.004, 0.0), line=pl.Flow(1e-5, 1e-6))
    times = [0.0, 0.009, 0.02]  # inside the second step, near its end
    fussy = Fussy(longest=0.0026)
    motion = robot.simulate(0.02, 0.005, {"air": 1e4}, integrator=fussy, output_times=times)
    whole = robot.simulate(0.02, 0.005, {"air": 1e4}, integrator=fussy)
    fine = robot.simulate(0.02, 0.0005, {"air": 1e4}, output_times=times)
    assert motion.complete and motion.rescues == whole.rescues == {"halved steps": 4}
    assert np.array_equal(motion.tip("arm")[-1], whole.tip("arm")[-1])
    gap = motion.tip("arm")[1, :3, 3] - fine.tip("arm")[1, :3, 3]
    assert np.abs(gap).max() < 5e-5
    assert motion.energy["work"][1] == pytest.approx(fine.energy["work"][1], rel=0.05)


@pytest.mark.parametrize(
    ("formulation", "dt", "method"),
    [
        (None, 0.005, pl.Midpoint()),
        (None, 0.02, pl.Midpoint()),
        (pl.BSpline(3, 20), 0.002, pl.Midpoint()),
        (None, 0.005, pl.Newmark()),
    ],
)
def test_a_whip_that_no_shorter_step_resolves_arrives_by_damped_steps(
    formulation: Any, dt: float, method: Any
) -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    with pytest.warns(pl.ResolutionWarning, match="damped ones were taken instead"):
        motion = robot.simulate(
            2.0, dt, formulation=formulation, integrator=method, output_every=0.1
        )
    assert motion.complete and motion.t == pytest.approx(np.linspace(0.0, 2.0, 21))
    assert motion.rescues["damped steps"] > 0
    # it falls from rest: no part of it can be above the height from which it came
    energy = motion.energy
    total = energy["kinetic"] + energy["elastic"] + energy["gravity"]
    assert np.linalg.norm(motion.tip("arm")[:, :3, 3], axis=1).max() < 1.2
    assert total[-1] < 0.5 * np.abs(energy["gravity"]).max()


def test_an_arm_on_a_base_that_spins_fast_arrives() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    arm = robot.add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    robot.add_base_motion("turn", arm, rotation=(1.0, 0.0, 0.0))
    motion = robot.simulate(0.8, 0.004, {"turn": lambda t: 20.0 * t})
    assert motion.complete and len(motion.t) == 201
    assert np.linalg.norm(motion.tip("arm")[:, :3, 3], axis=1).max() < 1.2


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_motion_with_damped_steps_resumes_to_the_same_end(tmp_path: Path) -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))

    def stop(t: float, duration: float) -> None:
        if t > 1.0:
            raise KeyboardInterrupt

    part = robot.simulate(2.0, 0.02, save=tmp_path / "part.nc", progress=stop)
    assert not part.complete and part.rescues["damped steps"] > 0
    resumed, whole = (
        robot.simulate(2.0, 0.02, resume=tmp_path / "part.nc"),
        robot.simulate(2.0, 0.02),
    )
    assert resumed.rescues == whole.rescues != part.rescues
    assert np.array_equal(resumed.tip("arm"), whole.tip("arm"))
