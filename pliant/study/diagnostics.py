"""Diagnostics of a fit: warnings about suspicious data and residuals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.model import Array, did_you_mean
from pliant.results.energy_gap import TOLD, percent
from pliant.results.fit import FitData
from pliant.robot import Robot
from pliant.solve.shape_error import WARNED
from pliant.study.experiments import Experiment, LoadCases, MotionRun

BEGINS = 0.1
"""Largest difference between the first row and the start of a motion, over the range of an output."""
CHANCE = 1.2
"""Rms of angle residuals, rad, that indicates another unit or plane; random angles have 1.8."""


def residual_warnings(data: list[FitData]) -> list[str]:
    """Return warnings about residuals that are not noise."""
    return [*_unexplained(data), *_random_angles(data), *_correlated(data)]


def _unexplained(data: list[FitData]) -> Iterator[str]:
    """Outputs that a constant would predict better, beyond what noise explains."""
    worst: dict[str, list[tuple[float, str]]] = {}
    for item in data:
        for name, r2 in item.r2.items():
            if r2 < -0.1 - 4.0 / item.counts[name]:
                worst.setdefault(name, []).append((r2, item.name))
    for name, cases in worst.items():
        r2, where = min(cases)
        others = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        yield (
            f"the robot is further from {name} in {where}{others} than a constant (R2 {r2:.2f}): "
            "check its unit (SI), axis and sign, and that all inputs are given in SI units; or start "
            "the search closer to the solution (initial=...)"
        )


def _random_angles(data: list[FitData]) -> Iterator[str]:
    """Angles that look random: without full turns their rms would be pi / sqrt(3)."""
    for item in data:
        for (name, rms), unit in zip(item.rms.items(), item.units, strict=True):
            if unit == "rad" and rms > CHANCE:
                yield (
                    f"{name} in {item.name} looks unrelated to the robot's angle (rms {rms:.2f} rad "
                    "without full turns): check its axes, and that it is in radians, not degrees"
                )


def _correlated(data: list[FitData]) -> Iterator[str]:
    """Residuals of motions that are not independent from row to row."""
    for item in (item for item in data if item.moving):
        for name, r, measured in zip(item.columns, item.residuals.T, item.measured.T, strict=True):
            pairs, power = r[1:] * r[:-1], float(np.nanmean(r**2))
            exact = power <= (1e-6 * float(np.nanmax(abs(measured)))) ** 2
            if np.isfinite(pairs).sum() < 19 or exact:
                continue
            lag = min(float(np.nanmean(pairs)) / power, 1.0)
            if lag > 0.5:
                yield (
                    f"the residuals of {name} in {item.name} are correlated from row to row "
                    f"({lag:.2f}): the model misses something, and the standard errors are too small"
                )


def start_warnings(experiments: list[Experiment], data: list[FitData]) -> Iterator[str]:
    """Yield warnings about motions that start at rest, far from their first measured row."""
    for experiment, item in zip(experiments, data, strict=True):
        begins = isinstance(experiment, MotionRun) and experiment.t[0] == experiment.origin
        if not begins or experiment.measurement.start != "rest":
            continue
        off, range_ = np.abs(item.residuals[0]), np.ptp(np.nan_to_num(item.measured), axis=0)
        parts = np.nan_to_num(off / np.maximum(range_, 1e-300))
        k = int(np.argmax(parts))
        if parts[k] > BEGINS and off[k] > 5.0 * _roughness(item.measured[:, k]):
            yield (
                f"{item.name} begins {off[k]:.3g} {item.units[k]} from where the robot is at rest "
                f'({item.columns[k]} in its first row): give start="statics" if the robot was in '
                "equilibrium with its inputs, or the inputs that held it"
            )


def _roughness(values: Array) -> float:
    """Noise of a smooth motion (N,) from second differences; 0 for fewer than three rows."""
    second = np.diff(values[np.isfinite(values)], 2)
    return float(1.4826 * np.median(np.abs(second)) / np.sqrt(6.0)) if len(second) else 0.0


def energy_warnings(experiments: list[Experiment], robot: Robot, formulation: Any) -> Iterator[str]:
    """Yield warnings about motions of the fitted robot in which the integrator changed the energy."""
    for experiment in experiments:
        if not isinstance(experiment, MotionRun):
            continue
        gap = experiment.simulate(robot, formulation).energy_gap
        share = max(gap.share_taken, gap.share_added)
        if share > TOLD:
            verb = "took" if share == gap.share_taken else "added"
            yield (
                f"{experiment.measurement.name}: the integrator {verb} {percent(share)} of the energy "
                f"in play, which the parameters make up for, damping above all; take a smaller dt "
                f"than {experiment.h:.4g} s"
            )


def resolution_warnings(
    experiments: list[Experiment], robot: Robot, formulation: Any
) -> Iterator[str]:
    """Yield warnings about equilibria of the fitted robot whose shape is under-resolved."""
    for experiment in experiments:
        if not isinstance(experiment, LoadCases):
            continue
        results = experiment.solve(robot, formulation)
        errors = [still.error for still in results if still.error is not None]
        worst = max(errors, key=lambda error: error.relative, default=None)
        if worst is not None and worst.relative > WARNED:
            yield (
                f"{experiment.measurement.name}: the shape is under-resolved, which the parameters "
                f"make up for; its estimated error is {worst}. Fit with a finer formulation"
            )


def noise_warnings(scarce: list[str]) -> Iterator[str]:
    """Yield a warning about outputs with too few values to estimate their noise."""
    if scarce:
        yield (
            f"{_listed(scarce)}: too few numbers to estimate the noise of each output. Outputs of one "
            "unit are assumed to have the same noise, others the same relative noise; give "
            "Output(..., std=...) if you know it"
        )


def column_warnings(experiments: list[Experiment]) -> Iterator[str]:
    """Yield warnings about columns that are not used or empty."""
    for experiment in experiments:
        yield from experiment.notes
        name, inputs = experiment.measurement.name, experiment.known_inputs
        if experiment.empty:
            columns = _listed(experiment.empty)
            yield f"{name}: {columns} ignored: no number in the compared rows"
        if experiment.unused:
            remedy = did_you_mean(experiment.unused[0], inputs) if inputs else "it has no inputs"
            yield (
                f"{name}: {_listed(experiment.unused)} not used: neither an input of the robot "
                f"({remedy}) nor the path of an output"
            )


def _listed(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
