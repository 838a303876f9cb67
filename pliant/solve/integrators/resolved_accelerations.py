"""Accelerations of the modes that a step resolves, for the integrators in acceleration form.

M^-1 f holds those of all modes, also of the many with periods far below the step. After a jump
of a load they are huge: Newton's method follows them far away, and generalised-alpha makes
velocities of them. With the tangent T of a step instead,

    (M + (v_D / a_D) C + K / a_D) a = f,   that is  a = a_D T^-1 f,

the acceleration of a mode of frequency w is multiplied by F = 1 / (1 + w^2 / a_D), here, with
M a once more in place of f, by 1 - (1 - F)^2. What the step resolves keeps its order and its
energy, and what it does not goes to its new place within a step or two, as it does after a
jump in the midst of a motion. Its energy is lost: Newmark's method could keep it, but would
gain more where rotations are large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import copy
from pliant.engine.newton import SINGULAR
from pliant.engine.program import run
from pliant.linalg.matrices import SingularError
from pliant.rods.contract import Array
from pliant.solve.integrators.hard_rows import gap_accelerations
from pliant.solve.mass import Mass
from pliant.tree.forward import set_rates
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.integrators.acceleration import AccelerationStepper


def first_acceleration(stepper: AccelerationStepper, u: Array) -> Array:
    """Accelerations (total,) that balance asks for at the start under inputs u (J,), as far as a step
    of the stepper resolves them.
    """
    tree, effects, state = stepper.tree, stepper.effects, stepper.a
    free, rows = tree.coordinates, effects.gap_rows
    for term in effects.one_sided:
        term.touch(state, stepper.v, stepper.z)
    pulled = np.ones(1, dtype=np.int64)
    while pulled[0]:
        pulled[0] = 0
        set_rates(tree, stepper.b, stepper.workspace, stepper.v, stepper.acc)
        given = (stepper.b, stepper.v, stepper.z, u, stepper.tangent)
        force = stepper.balance_at(*given).copy()
        _factorise(stepper)
        right = -stepper.a_slope * force
        right[rows] = _held(stepper, state, rows)[rows]
        x = stepper.matrix.solve(right[: tree.size])
        for term in effects.one_sided:
            term.release(x, stepper.z, pulled)
    stepper.scale = float(np.linalg.norm(force[free]))
    first = np.zeros(tree.total)
    first[free] = x[free]
    return _filtered(stepper, first, right)


def jump_acceleration(stepper: AccelerationStepper, before: Array, u: Array) -> Array:
    """Accelerations (total,) that a change of the inputs from `before` to u (J,) makes, as far as a
    step resolves them. Both states are placed where the stepper is.
    """
    tree, free = stepper.tree, stepper.tree.coordinates
    stepper.a.place(stepper.q)
    stepper.b.place(stepper.q)
    set_rates(tree, stepper.b, stepper.workspace, stepper.v, stepper.acc)
    now = (stepper.b, stepper.v, stepper.z)
    forces = stepper.balance_at(*now, before, None).copy()
    change = stepper.balance_at(*now, u, stepper.tangent) - forces
    _factorise(stepper)
    right = np.zeros(tree.total)
    right[free] = -stepper.a_slope * change[free]
    return _filtered(stepper, _resolved(stepper, right), right)


def _filtered(stepper: AccelerationStepper, first: Array, right: Array) -> Array:
    """first (total,), with the factor F of each mode, becomes 1 - (1 - F)^2 of it; right (total,) :
    right-hand side from which it came.
    """
    free = stepper.tree.coordinates
    right[free] = stepper.a_slope * Mass(stepper.effects).momentum(stepper.a, first)[free]
    return 2.0 * first - _resolved(stepper, right)


def set_excess(stepper: AccelerationStepper, state: State) -> None:
    """Solve, with a new factor, for minus the accelerations beyond those that held strains allow.

    Newmark's method with gamma = 1/2 that holds e + h/2 e' leaves e and e' at zero one step later,
    but then h^2 (e0'' + e1'') = 0: the acceleration of the strain, and with it the force that holds
    it, changes its sign from step to step and stays.
    """
    tree, left = stepper.tree, np.zeros(stepper.tree.total)
    copy(stepper.left, left)
    set_rates(tree, state, stepper.workspace, stepper.v, stepper.acc)
    stepper.set_residual(state, state, True)
    copy(left, stepper.left)
    stepper.matrix.record_factorise()
    right = _held(stepper, state, tree.fields)
    copy(right[: tree.size], stepper.right)
    stepper.matrix.record_solve(stepper.right, stepper.x)


def _held(stepper: AccelerationStepper, state: State, places: Array) -> Array:
    """Right-hand sides (total,) that take away the second derivatives of hard rows at some places."""
    slopes, kept = np.zeros((2, stepper.tree.total))
    for term in stepper.effects.hard:
        slopes[term.rows] = -term.rate_slope(stepper.workspace, stepper.v_slope)
    kept[places] = slopes[places]
    right = gap_accelerations(stepper.effects, state, stepper.v, stepper.acc, stepper.z)
    run(scale_entries, kept, right)
    return right


def _resolved(stepper: AccelerationStepper, right: Array) -> Array:
    """Accelerations (total,) of the coordinates from the tangent that was factorised last."""
    tree = stepper.tree
    out, free = np.zeros(tree.total), tree.coordinates
    out[free] = stepper.matrix.solve(right[: tree.size])[free]
    return out


def _factorise(stepper: AccelerationStepper) -> None:
    stepper.forget_factor()
    try:
        stepper.matrix.factorise()
    except SingularError:
        raise stepper.error(SINGULAR) from None
    stepper.counts[loops.THERE] = 1


@kernel
def scale_entries(factors, x):  # type: ignore[no-untyped-def]
    """x *= factors, entry by entry."""
    for i in range(x.shape[0]):
        x[i] *= factors[i]
