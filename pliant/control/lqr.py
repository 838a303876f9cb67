"""A linear-quadratic regulator about an equilibrium, through python-control.

With small motions x' = A x + B u about an equilibrium (`Robot.linearise`), discretised exactly with
inputs held between samples, u = -K x minimises the sum of x.Q x + u.R u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from pliant.control.signals import bounds_of, inputs_of
from pliant.model import Array, DescriptionError, checks
from pliant.results.equilibrium import Equilibrium
from pliant.robot import Robot


class LQR:
    """Keeps a robot at an equilibrium by the feedback u = u_0 − K x of its state.

    robot, at : the robot and the equilibrium.  inputs : names of those that it sets: forces, torques,
    tensions or pressures.  every : seconds between samples.
    Q : cost of the state, displacements then velocities, (2 k,) or (2 k, 2 k); None for ones.
    R : cost of the inputs (m,) or (m, m), or one number.
    modes : how many vibration modes the state has; None for all motions.
    bounds : (lowest, highest) of all inputs, or a pair for each.

    K : (m, 2 k) gains.  eigenvalues : (2 k,) of the sampled closed loop.  A, B : of the sampled system.
    It needs the package python-control: pip install 'pliant[control]'.
    """

    def __init__(
        self,
        robot: Robot,
        at: Equilibrium,
        inputs: Sequence[str] | str,
        every: float,
        Q: ArrayLike | None = None,
        R: ArrayLike = 1.0,
        modes: int | None = None,
        bounds: Any = None,
    ) -> None:
        self.every = checks.positive("LQR", "every", every, "seconds", "give e.g. 0.01")
        checks.instance("LQR", "at", at, Equilibrium, "an equilibrium", "give robot.statics()")
        self.inputs = inputs_of("LQR", inputs, at.inputs)
        self.bounds = bounds_of("LQR", bounds, len(self.inputs))
        system = robot.linearise(at, self.inputs, modes=modes)
        self._equations = robot.equations(at.inputs, at=at)
        driven = self._equations._system.effects.prescribed.names
        for name in self.inputs:
            checks.refuse(name in driven, "LQR", "inputs", name, "an input that exerts forces",
                          "leave out base motions and prescribed joints")  # fmt: skip
        self.A, self.B = _sampled(system.A, system.B, self.every)
        size, count = len(self.A), self.B.shape[1]
        Q = np.ones(size) if Q is None else Q
        self.K, self.eigenvalues = _gains(self.A, self.B, _cost("Q", Q, size), _cost("R", R, count))
        self._q0, _ = self._equations.state(at)
        self._frame = self._equations.displacement_basis(self._q0)
        basis = system._basis[self._equations._system.numbers]
        M = self._equations.mass(self._q0)
        self._project = np.linalg.solve(basis.T @ M @ basis, basis.T @ M)
        self._u0 = np.array([float(at.inputs[name]) for name in self.inputs])

    def coordinates(self, state: Any) -> Array:
        """Return the state x (2 k,) of the linear system: displacements, then velocities."""
        q, v = self._equations.state(state)
        moved = self._equations.displacement(self._q0, q, self._frame)
        return np.concatenate([self._project @ moved, self._project @ v])

    def __call__(self, state: Any) -> dict[str, float]:
        """Return the inputs for the state of the robot at a sample."""
        u = np.clip(self._u0 - self.K @ self.coordinates(state), *self.bounds.T)
        return dict(zip(self.inputs, u.tolist(), strict=True))

    def state(self) -> None:
        """It remembers nothing."""

    def restore(self, state: None) -> None:
        """It remembers nothing."""


def _sampled(A: Array, B: Array, h: float) -> tuple[Array, Array]:
    """A and B of the system with inputs held for h seconds."""
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = A, B
    found = expm(h * whole)
    return found[:n, :n], found[:n, n:]


def _cost(field: str, given: ArrayLike, size: int) -> Array:
    """A cost matrix (size, size) from a number, a diagonal or a matrix."""
    expected = f"one number, {size} numbers or a matrix ({size}, {size}), positive"
    array = checks.finite_array("LQR", field, given, expected, "give e.g. 1.0")
    diagonal = array.ndim < 2 and array.size in (1, size)
    square = np.diag(np.broadcast_to(array, (size,))) if diagonal else array
    wrong = square.shape != (size, size) or np.linalg.eigvalsh(0.5 * (square + square.T))[0] < 0.0
    checks.refuse(wrong, "LQR", field, given, expected, "give e.g. 1.0")
    return np.asarray(square)


def _gains(A: Array, B: Array, Q: Array, R: Array) -> tuple[Array, Any]:
    """Gains and eigenvalues of the sampled closed loop, by python-control."""
    try:
        import control
    except ImportError as error:
        raise DescriptionError(
            "LQR", "python-control", "control", "an installed package",
            "run: pip install 'pliant[control]'",
        ) from error  # fmt: skip
    K, _, eigenvalues = control.dlqr(A, B, Q, R)
    return np.asarray(K), np.asarray(eigenvalues)
