"""Levenberg-Marquardt within bounds, for residuals that are expensive and may fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, ConvergenceError, PliantError

Evaluate = Callable[[Array], tuple[Array, Array]]
"""Residuals (N,) and their derivatives (N, P) at z (P,); may raise PliantError."""
Progress = Callable[[int, float, Array], object]
"""Told the iteration, half the sum of squares and z."""

NEGLIGIBLE = 1e-4
"""What a step must promise, as a part of the mean square residual (half of it): one that promises less
moves no parameter by more than a hundredth of its standard error."""
LONGEST = 1.0
"""Longest step of one coordinate: a factor e of a logarithmic parameter."""


@dataclass
class Minimum:
    """Where the search ended: z (P,), residuals (N,), derivatives (N, P), and why."""

    z: Array
    residuals: Array
    slopes: Array
    iterations: int
    reason: str
    converged: bool

    @property
    def cost(self) -> float:
        """Half the sum of squares."""
        return 0.5 * float(self.residuals @ self.residuals)


def minimise(
    evaluate: Evaluate,
    z: Array,
    low: Array,
    high: Array,
    iterations: int = 50,
    tolerance: float = 1e-8,
    progress: Progress | None = None,
) -> Minimum:
    """Return the z between low and high at which the sum of squared residuals is smallest nearby.

    A step solves (J^T J + lambda D^2) d = -J^T r on the coordinates that their bounds leave free, D
    the largest column norms so far (Marquardt's scaling, More 1978). A trial that fails to
    compute counts as one that is too long. The search ends when the sum of squares falls by less
    than `tolerance` of itself, z moves by less than its root, or a step would move the parameters by
    less than noise in the residuals leaves them uncertain (`NEGLIGIBLE`).
    """
    r, J = evaluate(z)
    found = Minimum(z.copy(), r, J, 0, "", False)
    scale = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
    damping = 1e-3
    for count in range(1, iterations + 1):
        if progress is not None:
            progress(count - 1, found.cost, found.z)
        scale = np.maximum(scale, np.linalg.norm(found.slopes, axis=0))
        trial, step, reason = _downhill(evaluate, found, (low, high), scale, damping)
        found.iterations = count
        if trial is None:
            found.reason, found.converged = reason, not reason.startswith("failed")
            if not found.converged:
                raise ConvergenceError(
                    f"no step of the search can be computed: {reason.removeprefix('failed: ')}"
                )
            return found
        (r, J), damping = trial
        before = found.cost
        moved = float(np.abs(step).max())
        found.z, found.residuals, found.slopes = found.z + step, r, J
        if before - found.cost <= tolerance * before or moved <= 1e-1 * np.sqrt(tolerance):
            found.reason, found.converged = "the sum of squares no longer falls", True
            break
    else:
        found.reason = f"{iterations} iterations were not enough"
    if progress is not None:
        progress(found.iterations, found.cost, found.z)
    return found


def _downhill(
    evaluate: Evaluate,
    found: Minimum,
    bounds: tuple[Array, Array],
    scale: Array,
    damping: float,
) -> tuple[tuple[tuple[Array, Array], float] | None, Array, str]:
    """Return a trial that lowers the sum of squares, with the damping for the next, and the step."""
    low, high = bounds
    z, r, J = found.z, found.residuals, found.slopes
    gradient = J.T @ r
    free = ~(((z <= low) & (gradient > 0)) | ((z >= high) & (gradient < 0)))
    failure = ""
    spare = len(r) - len(z)
    for _ in range(12):
        step = _step(J, r, free, scale, damping, z, low, high)
        if not np.abs(step).max(initial=0.0) > 1e-10:
            return None, step, "no parameter can be improved"
        model = r + J @ step
        promised = found.cost - 0.5 * float(model @ model)
        if spare > 0 and promised * spare < NEGLIGIBLE * found.cost and not failure:
            return None, step, "what is left to gain is small beside the noise"
        try:
            new = evaluate(z + step)
        except PliantError as error:
            failure, damping = f"failed: {error}", 10.0 * damping
            continue
        cost = 0.5 * float(new[0] @ new[0])
        if np.isfinite(cost) and cost < found.cost:
            gain = (found.cost - cost) / max(promised, 1e-300)
            factor = 0.01 if gain > 0.9 else 0.1 if gain > 0.75 else 1.0 if gain > 0.25 else 5.0
            return (new, max(damping * factor, 1e-12)), step, ""
        failure, damping = "", 10.0 * max(damping, 1e-9)
    return None, np.zeros_like(z), failure or "the sum of squares no longer falls"


def _step(
    J: Array,
    r: Array,
    free: NDArray[np.bool_],
    scale: Array,
    damping: float,
    z: Array,
    low: Array,
    high: Array,
) -> Array:
    """The damped step on the free coordinates, cut to the bounds."""
    step = np.zeros_like(z)
    if not free.any():
        return step
    stacked = np.concatenate([J[:, free], np.diag(np.sqrt(damping) * scale[free])])
    right = np.concatenate([-r, np.zeros(int(free.sum()))])
    step[free] = np.linalg.lstsq(stacked, right, rcond=None)[0]
    longest = float(np.abs(step).max())
    if longest > LONGEST:
        step *= LONGEST / longest
    return np.clip(z + step, low, high) - z
