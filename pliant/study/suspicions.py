"""What looks wrong about data, or about residuals that are not noise, as sentences."""

from __future__ import annotations

import numpy as np

from pliant.model import Array, did_you_mean
from pliant.results.fit import FitData
from pliant.study.experiments import Experiment, MotionRun

BEGINS = 0.1
"""Part of the range of an output by which the first row may differ from the start of a motion."""
CHANCE = 1.2
"""Rms of the residuals of an angle, rad, that speaks of another unit or plane: random ones have 1.8."""


def residual_warnings(data: list[FitData]) -> list[str]:
    """Return sentences about residuals that are not noise."""
    return [*_explained_nothing(data), *_angles_by_chance(data), *_follow_one_another(data)]


def _explained_nothing(data: list[FitData]) -> list[str]:
    """Outputs that a constant would predict better; the mean of pure noise is allowed for."""
    worst: dict[str, list[tuple[float, str]]] = {}
    for item in data:
        for name, r2 in item.r2.items():
            if r2 < -0.1 - 4.0 / item.counts[name]:
                worst.setdefault(name, []).append((r2, item.name))
    notes = []
    for name, found in worst.items():
        r2, where = min(found)
        others = f" and {len(found) - 1} more" if len(found) > 1 else ""
        notes.append(
            f"the robot is further from {name} in {where}{others} than a constant would be (R2 "
            f"{r2:.2f}): check its unit (SI), axis and sign, and whether all inputs are there, in SI "
            "units too; else start the search nearer to the answer (initial=...)"
        )
    return notes


def _angles_by_chance(data: list[FitData]) -> list[str]:
    """Angles as far from the robot's as random ones, whose rms is pi / sqrt(3) once turns are out."""
    notes = []
    for item in data:
        for k, name in enumerate(item.columns):
            rms = item.rms[name]
            if item.units[k] == "rad" and rms > CHANCE:
                notes.append(
                    f"{name} in {item.name} is as far from the robot's angle as any number would be "
                    f"(rms {rms:.2f} rad, full turns left out): check that it is in radians, not "
                    "degrees, and its axes"
                )
    return notes


def _follow_one_another(data: list[FitData]) -> list[str]:
    notes = []
    for item in data:
        for k, name in enumerate(item.columns):
            r = item.residuals[:, k]
            pairs = r[1:] * r[:-1]
            if not item.moving or np.isfinite(pairs).sum() < 19:
                continue
            power = float(np.nanmean(r**2))
            scale = float(np.nanmax(abs(item.measured[:, k])))
            if power <= (1e-6 * scale) ** 2:
                continue
            lag = min(float(np.nanmean(pairs)) / power, 1.0)
            if lag > 0.5:
                notes.append(
                    f"the residuals of {name} in {item.name} follow one another (correlation "
                    f"{lag:.2f} from row to row): the model misses something, and the standard "
                    "errors are too small"
                )
    return notes


def start_warnings(experiments: list[Experiment], data: list[FitData]) -> list[str]:
    """Return sentences about motions that begin at rest, but far from what was measured first."""
    notes = []
    for experiment, item in zip(experiments, data, strict=True):
        begins = isinstance(experiment, MotionRun) and experiment.t[0] == experiment.origin
        if not begins or experiment.measurement.start != "rest":
            continue
        off, range_ = np.abs(item.residuals[0]), np.ptp(np.nan_to_num(item.measured), axis=0)
        parts = np.nan_to_num(off / np.maximum(range_, 1e-300))
        k = int(np.argmax(parts))
        if parts[k] > BEGINS and off[k] > 5.0 * _roughness(item.measured[:, k]):
            notes.append(
                f"{item.name} begins {off[k]:.3g} {item.units[k]} from where the robot is at rest "
                f'({item.columns[k]} in its first row): give start="statics" if the robot hung in '
                "equilibrium with its inputs, or the inputs that held it"
            )
    return notes


def _roughness(values: Array) -> float:
    """Noise of a smooth motion (N,), from the second differences of its rows; 0 for fewer than 3."""
    second = np.diff(values[np.isfinite(values)], 2)
    return float(1.4826 * np.median(np.abs(second)) / np.sqrt(6.0)) if len(second) else 0.0


def noise_warnings(few: list[str]) -> list[str]:
    """Return a sentence about outputs whose noise their own residuals cannot tell."""
    if not few:
        return []
    return [
        f"{_listed(few)}: too few numbers to estimate the noise of each output, which is taken to be "
        "alike in outputs of one unit, and the same part of what was measured in others; give "
        "Output(..., std=...) if it is known"
    ]


def column_warnings(experiments: list[Experiment]) -> list[str]:
    """Return sentences about columns that nobody used, or that are empty."""
    notes = []
    for experiment in experiments:
        notes += experiment.notes
        if experiment.empty:
            notes.append(
                f"{experiment.measurement.name}: {_listed(experiment.empty)} left aside, without a "
                "number in the rows that are compared"
            )
        if not experiment.unused:
            continue
        inputs = experiment.known_inputs
        remedy = did_you_mean(experiment.unused[0], inputs) if inputs else "it has no inputs"
        notes.append(
            f"{experiment.measurement.name}: {_listed(experiment.unused)} not used, for it is neither "
            f"an input of the robot ({remedy}) nor the path of an output"
        )
    return notes


def _listed(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
