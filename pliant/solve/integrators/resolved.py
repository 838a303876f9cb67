"""Accelerations that balance and constraints ask for at one instant, as far as a step resolves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.rods.contract import Array
from pliant.solve.integrators.contract import momentum
from pliant.solve.integrators.held import gap_accelerations
from pliant.system.loading import Loading

if TYPE_CHECKING:
    from pliant.solve.integrators.acceleration import AccelerationStepper


def first_acceleration(stepper: AccelerationStepper, loading: Loading) -> Array:
    """Accelerations (n,) that balance asks for at the start, as far as a step resolves them.

    M^-1 f holds those of all modes, also of the many with periods far below the step. After a jump
    of a load they are huge: Newton's method follows them far away, and generalised-alpha makes
    velocities of them. With the tangent T of a step instead,

        (M + (v_D / a_D) C + K / a_D) a = f,   that is  a = a_D T^-1 f,

    the acceleration of a mode of frequency w is multiplied by F = 1 / (1 + w^2 / a_D), here, with
    M a once more in place of f, by 1 - (1 - F)^2. What the step resolves keeps its order and its
    energy, and what it does not goes to its new place within a step or two, as it does after a
    jump in the midst of a motion.
    """
    system = stepper.system
    residual = stepper.factorise(stepper.v, stepper.acc, stepper.mult, loading)
    force, free = residual[: system.n], system.coordinates
    stepper.scale = float(np.linalg.norm(force[free]))
    held = _held(stepper)
    right = np.concatenate([-stepper.a_slope * force, held[system.n :]])
    right[system.mode_unknowns] = held[system.mode_unknowns]
    first = _resolved(stepper, right)
    right[free] = stepper.a_slope * momentum(system, stepper.a, first)[free]
    return 2.0 * first - _resolved(stepper, right)


def excess_acceleration(stepper: AccelerationStepper) -> Array:
    """Accelerations (n,) at the present instant beyond those that strains held by constraint allow.

    Newmark's method with gamma = 1/2 that holds e + h/2 e' leaves e and e' at zero one step later,
    but then h^2 (e0'' + e1'') = 0: the acceleration of the strain, and with it the force that holds
    it, changes its sign from step to step and stays. The system is placed at the end of a step.
    """
    system = stepper.system
    if not any(block.rigid for block in system.blocks):
        return np.zeros(system.n)
    right = _held(stepper)
    right[system.n :] = 0.0
    return -_resolved(stepper, right)


def _held(stepper: AccelerationStepper) -> Array:
    """Rows (n + m,) of held strains and constraints that take away their second derivatives."""
    system = stepper.system
    found = gap_accelerations(system, stepper.a, stepper.q, stepper.v, stepper.acc)
    right = np.zeros_like(found)
    right[system.n :] = -found[system.n :]
    for block, lag in zip(system.blocks, stepper.rates.lag, strict=True):
        if block.rigid:
            at, slope = block.mode_index, 1.0 + stepper.v_slope * lag[0, block.mode_rows]
            right[at] = -slope * found[at]
    return right


def _resolved(stepper: AccelerationStepper, right: Array) -> Array:
    """Accelerations (n,) of the coordinates from the tangent that was factorised last."""
    system = stepper.system
    right[system.driven] = 0.0
    out = np.zeros(system.n)
    out[system.coordinates] = stepper.filled.matrix.solve(right)[system.coordinates]
    return out
