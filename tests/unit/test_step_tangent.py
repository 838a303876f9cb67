"""Tangents of steps in acceleration form, against differences of the residual, and what they save."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.engine import loops, modes
from pliant.engine.program import recorder
from pliant.model import Array
from pliant.solve.integrators import contract
from pliant.solve.integrators.acceleration import AccelerationStepper
from pliant.solve.integrators.resolved_accelerations import set_excess

ACTUATOR = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12)
CABLE, SPLINE = pl.ANCF(6), pl.BSpline(points=8)
JUMP = {"chamber1": 5e4}


def actuators(lower: Any, upper: Any) -> tuple[pl.Robot, dict[str, Any]]:
    """An actuator that cannot stretch on the tip of another."""
    robot = pl.Robot()
    a = robot.add_actuator("a", ACTUATOR, pl.along("x"))
    robot.add_actuator("b", ACTUATOR, base=a.tip, chambers=("left", "right"))
    return robot, {"a": lower, "b": upper}


def viscous_arms() -> tuple[pl.Robot, dict[str, Any]]:
    """A viscous rod that can shear and stretch, held askew by another before its tip."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=3000.0)
    arm = robot.add_rod("a", 0.2, pl.Circle(0.01), soft, pl.along("x"))
    place = arm.at(0.15, offset=(0.004, 0.0))
    robot.add_rod("b", 0.1, pl.Circle(0.008), soft, pl.along("y"), base=place)
    robot.add_load("chamber1", on=arm.tip, force=(0, 2e-6, 0))
    return robot, {"a": SPLINE, "b": SPLINE}


def after_steps(
    robot: pl.Robot, formulation: Any, integrator: Any, steps: int
) -> tuple[AccelerationStepper, Any]:
    """The stepper some steps of 1 ms after a jump, and the inputs there."""
    stream = robot.stepper(1e-3, JUMP, formulation=formulation, integrator=integrator)
    for _ in range(steps):
        stream.step()
    motion = stream._stream.motion
    return motion.stepper, motion.schedule.at(0.0)


def tangent_error(stepper: AccelerationStepper, load: Any) -> float:
    """Spectral radius of T^-1 (dr/dD) - 1: what an iteration leaves of a small error, coordinates."""
    stepper.after[...] = load.u
    a, b = stepper.a, stepper.b
    plain = modes.uncompiled(loops.__name__)
    end = plain.solve_step(stepper.prepare()[1][stepper.side[0]], *stepper.control)
    assert end == loops.CONVERGED
    D = stepper.D.copy()
    matrix, size = stepper.tangent.matrix, stepper.tree.size

    def residual(D: Array, tangent: bool = False) -> Array:
        stepper.D[...] = D
        stepper.place_iterate(a, b)
        stepper.set_residual(a, b, tangent)
        return stepper.left[:size].copy()

    residual(D, True)
    matrix.factorise()
    free, step = stepper.tree.coordinates, 1e-7
    left = []
    for j in free:
        x = np.zeros_like(D)
        x[j] = step
        column = (residual(D + x) - residual(D - x)) / (2.0 * step)
        left.append(matrix.solve(column)[free])
    return float(np.abs(np.linalg.eigvals(np.array(left).T - np.eye(len(free)))).max())


@pytest.mark.parametrize("integrator", [pl.Newmark(), pl.GeneralizedAlpha(0.8)])
@pytest.mark.parametrize(
    "robot",
    [actuators(CABLE, SPLINE), actuators(CABLE, pl.Strain()), viscous_arms()],
    ids=["spline on cable", "strain on cable", "viscous"],
)
def test_tangent_of_a_step_of_carried_rods_is_that_of_differences(
    robot: tuple[pl.Robot, Any], integrator: Any
) -> None:
    assert tangent_error(*after_steps(*robot, integrator, 6)) < 0.015


def test_damped_strains_of_carried_rods_take_few_iterations() -> None:
    robot, formulation = actuators(CABLE, pl.BSpline())
    motion = robot.simulate(
        0.03, 1e-3, inputs=JUMP, formulation=formulation, integrator=pl.Newmark()
    )
    assert motion.iterations < 6 * motion.steps


@pytest.mark.parametrize("lower", [CABLE, pl.BSpline()], ids=["on cable", "on spline"])
def test_newmark_carries_a_cable_through_a_jump_of_pressure(lower: Any) -> None:
    robot, formulation = actuators(lower, CABLE)

    def motion(integrator: Any, dt: float) -> pl.Motion:
        return robot.simulate(
            0.06, dt, inputs=JUMP, formulation=formulation, integrator=integrator, output_every=0.01
        )

    truth, found = motion(pl.Midpoint(), 2.5e-4), motion(pl.Newmark(), 1e-3)
    assert found.iterations < 10 * found.steps
    gap = np.abs(found.tip("b")[:, :3, 3] - truth.tip("b")[:, :3, 3]).max()
    assert gap < 0.02 * np.abs(truth.tip("b")[:, 2, 3]).max()


def test_forces_that_hold_lengths_do_not_alternate_after_a_jump() -> None:
    """They stay near Euler's load of 1.5 N; alternating from step to step they reached 9 N."""
    robot, formulation = actuators(CABLE, CABLE)
    stream = robot.stepper(1e-3, JUMP, formulation=formulation, integrator=pl.Newmark())
    forces = []
    for _ in range(20):
        stream.step()
        stepper = stream._stream.motion.stepper
        set_excess(stepper, stepper.a)
        excess = stepper.x[stepper.tree.coordinates]
        assert np.abs(excess).max() < 1e-3 * np.abs(stepper.acc).max()
        forces.append(stepper.z[stepper.tree.parts[1].field_index[:, 0]])
    assert np.abs(np.array(forces)[3:]).max() < 2.5


def test_rods_that_hold_lengths_on_each_other_jump_in_compiled_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Accelerations are freed of what alternates within the programs, as plain calls do it."""
    robot, formulation = actuators(CABLE, CABLE)
    freed: list[object] = []
    free = AccelerationStepper._free_acceleration

    def counted(stepper: AccelerationStepper, b: object) -> None:
        freed.append(recorder())
        free(stepper, b)

    monkeypatch.setattr(AccelerationStepper, "_free_acceleration", counted)

    def accelerations() -> tuple[object, np.ndarray]:
        stream = robot.stepper(1e-3, JUMP, formulation=formulation, integrator=pl.Newmark())
        found = []
        for _ in range(6):
            stream.step()
            stepper = stream._stream.motion.stepper
            found.append(np.concatenate([stepper.acc, stepper.z]))
        return stepper._table(), np.array(found)

    table, compiled = accelerations()
    assert isinstance(table, np.ndarray) and all(freed)
    freed.clear()
    monkeypatch.setattr(contract, "record", partial)
    monkeypatch.setattr(contract, "table_of", lambda rows: None)
    table, plain = accelerations()
    assert isinstance(table, list) and freed.count(None) >= 1
    assert compiled == pytest.approx(plain, rel=1e-6, abs=1e-6 * np.abs(plain).max())


def test_a_step_that_fails_without_damping_says_what_damps() -> None:
    robot, formulation = actuators(CABLE, CABLE)
    weak, _ = after_steps(robot, formulation, pl.Newmark(), 1)
    assert "GeneralizedAlpha(rho=0.5)" in str(weak.error("no convergence"))
    strong, _ = after_steps(robot, formulation, pl.GeneralizedAlpha(0.5), 1)
    assert str(strong.error("no convergence")).endswith("try a smaller dt")
