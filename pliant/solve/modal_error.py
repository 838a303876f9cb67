"""How wrong the frequencies of a robot are, from the same modes on a finer grid.

The equilibrium is sought with twice as many intervals, and its modes are the reference. Frequencies
converge with the fourth order or faster, so that the reference is wrong by less than a tenth of the
difference; it can come close to a frequency by chance, as convergence is not monotone, and then the
differences of the neighbouring modes tell.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.model import PliantError
from pliant.model.telling import silenced
from pliant.rods.contract import Array
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.finer import finer_problem, same_equilibrium
from pliant.solve.modes import ModalSolution, modal_analysis
from pliant.solve.problem import Still

FINER, FAR_FINER, POOR = 2, 4, 0.01
"""Factor of intervals of the reference; the second one where the error of the equilibrium, over the
length, is estimated above this part, for then doubling may not be enough.
"""
_CHANCE = 0.2
"""Part of the smaller difference of both neighbours that the difference of a mode has at least."""


def modal_errors(problem: CoordinateProblem, still: Still, found: ModalSolution) -> Array:
    """Relative errors (k,) of the frequencies about an equilibrium, 0 for rigid motions.

    Of modes that grow, those of the growth. Infinite where no finer solution can be had.
    """
    values = np.asarray(found.eigenvalues, dtype=complex)
    if not problem.formulations:
        return np.zeros(len(values))
    with silenced():
        fine = _reference(problem, still, len(values))
    if fine is None:
        return np.where(values == 0.0, 0.0, math.inf)
    fine = np.concatenate([fine, np.full(max(len(values) - len(fine), 0), np.inf)])
    size = np.sqrt(np.abs(values))
    gap = np.abs(np.sqrt(values) - np.sqrt(fine[: len(values)]))
    errors = np.divide(gap, size, out=np.zeros(len(values)), where=size > 0.0)
    return _without_chance(errors)


def _without_chance(errors: Array) -> Array:
    """Differences (k,) of which none is far below those of both neighbours."""
    least = np.zeros(len(errors))
    least[1:-1] = _CHANCE * np.minimum(errors[:-2], errors[2:])
    return np.where(errors > 0.0, np.maximum(errors, least), 0.0)


def _reference(problem: CoordinateProblem, still: Still, count: int) -> Array | None:
    """Eigenvalues on the finer grid, None if they cannot be had."""
    try:
        poor = still.solution.error is not None and still.solution.error.relative > POOR
        finer = finer_problem(problem, FAR_FINER if poor else FINER)
        at = same_equilibrium(finer, problem, still)
        if at is None:
            return None
        found = modal_analysis(finer.effects, at.q, at.z, at.inputs, count, at.memory)
    except PliantError:
        return None
    return np.asarray(found.eigenvalues, dtype=complex)
