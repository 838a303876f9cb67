"""Steppers that go on from a state, and what their first step may not cost."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import pliant as pl

METHODS = [
    (pl.ANCF(2), pl.Newmark()),
    (pl.ANCF(2), pl.Midpoint()),
    (pl.BSpline(points=6), pl.GeneralizedAlpha()),
    (pl.Shooting(40), pl.BDFAlpha(0.0)),
]


def finger() -> pl.Robot:
    robot = pl.Robot()
    made = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, retardation=0.02)
    robot.add_actuator("finger", made, pl.along("x"))
    return robot


@pytest.mark.parametrize(("formulation", "integrator"), METHODS)
def test_a_stepper_goes_on_from_the_state_of_another(
    formulation: pl.Formulation, integrator: pl.Integrator
) -> None:
    """Half of the steps by one stepper and half by another give the motion of one."""
    robot = finger()
    how = {"formulation": formulation, "integrator": integrator}
    whole = robot.stepper(2e-3, start="statics", **how)
    first = robot.stepper(2e-3, start="statics", **how)
    for k in range(20):
        whole.step({"chamber1": 1e3 * k})
        first.step({"chamber1": 1e3 * k})
    kept = first.state
    second = robot.stepper(2e-3, first.inputs, start=kept, **how)
    assert second.t == 0.0
    np.testing.assert_allclose(second.state.tip("finger"), kept.tip("finger"), atol=1e-12)
    speed = [state.velocity("finger", 0.1) for state in (second.state, kept)]
    np.testing.assert_allclose(*speed, atol=1e-9)
    for k in range(20, 40):
        one, two = whole.step({"chamber1": 1e3 * k}), second.step({"chamber1": 1e3 * k})
    # accelerations, or the history of a multistep method, begin anew
    moved = np.abs(one.tip("finger") - kept.tip("finger")).max()
    assert np.abs(one.tip("finger") - two.tip("finger")).max() < 2e-3 * moved
    ahead = robot.simulate(
        0.04, 2e-3, {"chamber1": lambda t: 1e3 * (19 + t / 2e-3)}, start=kept, **how
    )
    np.testing.assert_allclose(ahead.tip("finger")[-1], two.tip("finger"), atol=1e-9)


def test_another_step_is_another_stepper() -> None:
    stepper = finger().stepper(1e-3, formulation=pl.ANCF(2), integrator=pl.Newmark())
    with pytest.raises(pl.DescriptionError, match=r"dt = 0.002.*for 0.001 s.*start=stepper.st"):
        stepper.dt = 2e-3
    assert stepper.dt == 1e-3
    stepper.step()
    assert stepper.t == 1e-3


def test_states_of_other_robots_are_no_start() -> None:
    state = finger().stepper(1e-3, formulation=pl.ANCF(2)).state
    with pytest.raises(pl.DescriptionError, match="same rods, formulations"):
        finger().stepper(1e-3, start=state, formulation=pl.ANCF(3))
    with pytest.raises(pl.DescriptionError, match="'rest'"):
        finger().stepper(1e-3, start="rset")


FIRST_STEP = """
import sys
import pliant as pl
import pliant.results.stepper as stepping

def ready():
    kernels = {
        (name, item): len(value.overloads)
        for name, module in list(sys.modules.items()) if name.startswith("pliant.")
        for item, value in vars(module).items() if hasattr(value, "overloads")
    }
    return kernels, set(sys.modules)

if "unrehearsed" in sys.argv:
    stepping._rehearse = lambda stepper: None
robot = pl.Robot()
made = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12)
robot.add_actuator("finger", made, pl.along("x"))
stepper = robot.stepper(1e-3, formulation=pl.ANCF(2), integrator=pl.Newmark())
assert stepper.t == 0.0
before = ready()
stepper.step({"chamber1": 10.0}).tip("finger")
print(ready() == before)
"""


@pytest.mark.parametrize(("words", "same"), [((), "True"), (("unrehearsed",), "False")])
def test_the_first_step_of_a_process_finds_everything_loaded(
    words: tuple[str, ...], same: str
) -> None:
    """Kernels and modules that a step needs are there before: one was rehearsed."""
    command = [sys.executable, "-c", FIRST_STEP, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == same
