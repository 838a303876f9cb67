"""Meshes for an accuracy: what `accuracy=` chooses where you do not.

Equilibria and modes carry an estimate of their error, by which the mesh is refined (`refine`). Motions
are repeated on a ladder of meshes (`motion_search`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.model import Description, ResolutionWarning, Rod
from pliant.model.plausible import scale_of
from pliant.model.telling import untold
from pliant.rods.contract import RodModel
from pliant.solve.registry import default_formulation, lumped_formulation

DEFAULT = 1e-3
"""Accuracy, relative to the length, where neither it nor dt is given."""
MARGIN = 0.7
"""Part of the accuracy that an estimate may reach."""
FINER, FINEST = 1.5, 256
"""Factor of intervals from one mesh to the next, at least, and most intervals of a rod."""
RUNGS = (1, 2, 4, 8, 16, 24, 32, 48, 64)
"""Intervals of a rod on the meshes of motions."""
FIRST, FIRST_SMOOTH = 2, 1
"""Intervals of a rod on the first mesh of a motion, of elements and of smooth curves, at least."""
HEAVY = 1.1
"""Elements on the first mesh within the length at which the weight of a rod bends it by a radian."""


def finer(formulations: Mapping[str, RodModel], factor: float) -> dict[str, RodModel] | None:
    """Formulations with `factor` times as many intervals, None if one of them cannot have more."""
    found: dict[str, RodModel] = {}
    for name, item in formulations.items():
        if item.intervals is None or item.intervals >= FINEST:
            return None
        found[name] = with_intervals(name, item, math.ceil(factor * item.intervals))
    return found


def with_intervals(name: str, item: RodModel, count: int) -> RodModel:
    """The formulation of a rod with another number of intervals."""
    return item.with_size(item.least_size(name) + min(FINEST, count) - 1)


def intervals(formulations: Mapping[str, RodModel]) -> int:
    """Intervals of the coarsest rod."""
    return min((item.intervals or 1 for item in formulations.values()), default=1)


def next_rung(formulations: Mapping[str, RodModel], least: float) -> dict[str, RodModel] | None:
    """Formulations on a finer rung of the ladder with at least `least` intervals; None at its end."""
    if not formulations or any(item.intervals is None for item in formulations.values()):
        return None
    now = intervals(formulations)
    rungs = [count for count in RUNGS if count > now]
    if not rungs:
        return None
    count = next((rung for rung in rungs if rung >= least), rungs[-1])
    return finer(formulations, count / now)


def refine(
    solve: Callable[[Any], Any],
    error_of: Callable[[Any], float],
    formulations_of: Callable[[Any], Mapping[str, RodModel]],
    accuracy: float,
) -> Any:
    """The result of solve(formulations) on the first mesh whose estimated error is small enough.

    The first one is solve(None). A warning says if no mesh is fine enough.
    """
    with untold():
        result = solve(None)
        while (error := error_of(result)) > MARGIN * accuracy:
            factor = min(4.0, max(FINER, 1.2 * (error / (MARGIN * accuracy)) ** (1.0 / 3.0)))
            choice = finer(formulations_of(result), factor)
            if choice is None:
                break
            result = solve(choice)
    if error > accuracy:
        text = (
            f"the accuracy {accuracy:g} was not reached: the finest mesh has an estimated error of "
            f"{error:.2g} of the length. Ask for less, or give a formulation."
        )
        warnings.warn(text, ResolutionWarning, stacklevel=4)
    return result


def first_mesh(description: Description, lumped: bool = True) -> dict[str, RodModel]:
    """The first mesh of a motion, by name of the rod, where a rod has no formulation of its own.

    lumped : whether inertia is to be lumped at nodes, for explicit steps; else a smooth curve, which
    turns far within a step. Heavy soft rods fold, which takes more than two elements.
    """
    found: dict[str, RodModel] = {}
    rods, gravity = description.rods, float(np.linalg.norm(description.gravity))
    folds = min((_folds(rod, gravity) for rod in rods.values()), default=0.0)
    first = max(count for count in RUNGS if count <= max(FIRST, folds))
    for name, rod in rods.items():
        if rod.formulation is None:
            nodes = lumped and rod.theory != "kirchhoff"
            item = lumped_formulation(FIRST) if nodes else default_formulation(rod)
            found[name] = with_intervals(name, item, first if lumped else FIRST_SMOOTH)
    return found


def _folds(rod: Rod, gravity: float) -> float:
    """Elements for the folds of a rod in a gravity, m/s^2."""
    scale = scale_of(rod)
    return HEAVY * scale.length * float(np.cbrt(scale.mass * gravity / scale.bending))
