"""Strong forms carry tensions and pressures that jump: strains stay what they are for a moment."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

DT, STEPS, LENGTH = 2e-3, 4, 0.3
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def soft_arm() -> tuple[pl.Robot, pl.Rod]:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=100.0)
    return robot, robot.add_rod("arm", LENGTH, pl.Circle(0.01), soft, pose=pl.along("x"))


def moved(form: object, inputs: dict[str, object], dt: float = DT) -> pl.Motion:
    """The motion of an arm with a tendon or a chamber from rest."""
    robot, arm = soft_arm()
    if "pull" in inputs:
        robot.add_tendon("pull", along=arm, offset=(0.007, 0.0))
    else:
        robot.add_chamber("air", arm, area=5e-5, offset=(0.005, 0.0))
    strong = {} if isinstance(form, pl.BSpline) else {"integrator": pl.BDFAlpha(-0.3)}
    return robot.simulate(STEPS * DT, dt, inputs=inputs, formulation=form, **strong)


def tip(motion: pl.Motion) -> np.ndarray:
    """Displacement (3,) of the tip at the end."""
    return np.asarray(motion.tip()[-1][:3, 3] - (LENGTH, 0.0, 0.0))


def test_a_tension_that_jumps_moves_collocation_as_it_moves_splines() -> None:
    strong = tip(moved(pl.Collocation(), {"pull": 2.0}))
    weak = tip(moved(pl.BSpline(3, 20), {"pull": 2.0}, DT / 20.0))
    assert np.linalg.norm(strong - weak) < 0.01 * np.linalg.norm(weak)


@pytest.mark.parametrize("pressure", [2e4, 8e4])
def test_strong_forms_agree_on_a_pressure_that_jumps(pressure: float) -> None:
    """Every form takes the same steps in time: only errors along the arm differ."""
    forms = [pl.Collocation(), pl.MultipleShooting(), pl.Shooting()]
    motions = [moved(form, {"air": pressure}) for form in forms]
    for motion in motions[1:]:
        assert np.linalg.norm(tip(motion) - tip(motions[0])) < 1e-6 * LENGTH
    assert motions[1].iterations < 15 * STEPS and motions[2].iterations < 25 * STEPS


def test_a_tension_acts_from_the_first_step_after_its_jump() -> None:
    quiet = tip(moved(pl.Collocation(), {"pull": 0.0}))
    later = tip(moved(pl.Collocation(), {"pull": lambda t: 2.0 * (t > 5.5 * DT)}))
    inside = tip(moved(pl.Collocation(), {"pull": lambda t: 2.0 * (t > 2.5 * DT)}))
    assert np.array_equal(later, quiet) and np.linalg.norm(inside - quiet) > 1e-3 * LENGTH
