"""Levenberg-Marquardt method with bounds, for residuals that are expensive and may fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, ConvergenceError, PliantError

Evaluate = Callable[[Array], tuple[Array, Array]]
"""Residuals (N,) and their derivatives (N, P) at z (P,); may raise PliantError."""
Progress = Callable[[int, float, Array], object]
"""Called with the iteration, half the sum of squares and z."""

NEGLIGIBLE = 1e-4
"""Smallest predicted decrease worth a step, as a fraction of half the mean square residual: a smaller
one changes no parameter by more than a hundredth of its standard error."""
LONGEST = 1.0
"""Longest step of one coordinate: a factor e of a logarithmic parameter."""


@dataclass
class Minimum:
    """The end of the search: z (P,), residuals (N,), derivatives (N, P), and the reason."""

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
    """Return a local minimum of the sum of squared residuals with z between low and high.

    A step solves (J^T J + lambda D^2) d = -J^T r for the coordinates that are not held by a bound,
    where D are the largest column norms so far (Marquardt's scaling, More 1978). A trial that cannot
    be computed counts as too long. The search ends when the relative decrease of the sum of squares
    is below `tolerance`, when z moves by less than its square root, or when a step is small compared
    with the uncertainty of the parameters (`NEGLIGIBLE`).
    """
    r, J = evaluate(z)
    minimum = Minimum(z.copy(), r, J, 0, "", False)
    scale = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
    damping = 1e-3
    for count in range(1, iterations + 1):
        if progress is not None:
            progress(count - 1, minimum.cost, minimum.z)
        scale = np.maximum(scale, np.linalg.norm(minimum.slopes, axis=0))
        trial, step, reason = _downhill(evaluate, minimum, (low, high), scale, damping)
        minimum.iterations = count
        if trial is None:
            minimum.reason, minimum.converged = reason, True
            return minimum
        (r, J), damping = trial
        before = minimum.cost
        moved = float(np.abs(step).max())
        minimum.z, minimum.residuals, minimum.slopes = minimum.z + step, r, J
        if before - minimum.cost <= tolerance * before or moved <= 1e-1 * np.sqrt(tolerance):
            minimum.reason, minimum.converged = "the sum of squares no longer decreases", True
            break
    else:
        minimum.reason = f"{iterations} iterations were not enough"
    if progress is not None:
        progress(minimum.iterations, minimum.cost, minimum.z)
    return minimum


def _downhill(
    evaluate: Evaluate,
    minimum: Minimum,
    bounds: tuple[Array, Array],
    scale: Array,
    damping: float,
) -> tuple[tuple[tuple[Array, Array], float] | None, Array, str]:
    """Return a trial that decreases the sum of squares with the next damping, and its step."""
    low, high = bounds
    z, r, J = minimum.z, minimum.residuals, minimum.slopes
    gradient = J.T @ r
    free = ~(((z <= low) & (gradient > 0)) | ((z >= high) & (gradient < 0)))
    failure = ""
    spare = len(r) - len(z)
    for _ in range(12):
        step = _step(J, r, free, scale, damping, z, low, high)
        if not np.abs(step).max(initial=0.0) > 1e-10:
            return None, step, "no parameter can be improved"
        model = r + J @ step
        predicted = minimum.cost - 0.5 * float(model @ model)
        if spare > 0 and predicted * spare < NEGLIGIBLE * minimum.cost and not failure:
            return None, step, "the remaining decrease is small compared with the noise"
        try:
            new = evaluate(z + step)
        except PliantError as error:
            failure, damping = str(error), 10.0 * damping
            continue
        cost = 0.5 * float(new[0] @ new[0])
        if np.isfinite(cost) and cost < minimum.cost:
            gain = (minimum.cost - cost) / max(predicted, 1e-300)
            factor = 0.01 if gain > 0.9 else 0.1 if gain > 0.75 else 1.0 if gain > 0.25 else 5.0
            return (new, max(damping * factor, 1e-12)), step, ""
        failure, damping = "", 10.0 * max(damping, 1e-9)
    if failure:
        raise ConvergenceError(f"no step of the search can be computed: {failure}")
    return None, np.zeros_like(z), "the sum of squares no longer decreases"


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
    """The damped step of the free coordinates, clipped to the bounds."""
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
