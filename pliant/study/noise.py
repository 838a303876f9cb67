"""Noise of the outputs: an initial guess, and the estimate from residuals."""

from __future__ import annotations

import numpy as np

from pliant.model import Array
from pliant.study.experiments import Experiment


class NoiseModel:
    """Standard deviation of each group of outputs, given or estimated.

    std : by group.  given : groups whose noise is given.
    scarce : groups with so few numbers that the parameters could fit all of them; their residuals do
        not tell their noise. If there are any, outputs of one unit share their noise.
    """

    def __init__(self, experiments: list[Experiment], parameters: int) -> None:
        self._experiments = experiments
        probes = [probe for experiment in experiments for probe in experiment.probes]
        self.given = {probe.group for probe in probes if probe.std is not None}
        self.scarce = self._scarce(parameters)
        self.std: dict[str, float] = {}
        for probe in probes:
            shared = {p.group for p in probes if self.scarce and p.unit and p.unit == probe.unit}
            sizes = [self._magnitude(group) for group in {probe.group, *shared}]
            self.std[probe.group] = probe.std or 0.01 * max(sizes)

    def _columns(self, group: str) -> list[tuple[Experiment, int]]:
        """The experiments and columns that measure a group."""
        return [
            (experiment, k)
            for experiment in self._experiments
            for k, probe in enumerate(experiment.probes)
            if probe.group == group
        ]

    def _magnitude(self, group: str) -> float:
        """The largest measured value of a group."""
        columns = self._columns(group)
        return max(*(float(np.nanmax(abs(e.target[:, k]))) for e, k in columns), 1e-9)

    def _scarce(self, parameters: int) -> list[str]:
        groups = list(dict.fromkeys(p.group for e in self._experiments for p in e.probes))
        unknown = [group for group in groups if group not in self.given]
        counts = {g: sum(int(e.there[:, k].sum()) for e, k in self._columns(g)) for g in unknown}
        return [g for g in unknown if counts[g] <= parameters] if len(unknown) > 1 else []

    def estimate(self, predictions: list[Array], parameters: int) -> float:
        """Update the unknown noise from the residuals of predictions (N, C), one per experiment.

        Returns the largest change of the logarithm of a standard deviation.
        """
        residuals = {
            id(e): y - e.target for e, y in zip(self._experiments, predictions, strict=True)
        }
        squares: dict[str, float] = {}
        counts: dict[str, int] = {}
        for group in self.std:
            parts = [residuals[id(e)][e.there[:, k], k] for e, k in self._columns(group)]
            squares[group] = sum(float(part @ part) for part in parts)
            counts[group] = sum(len(part) for part in parts)
        total = sum(counts.values())
        share = max(1.0 - parameters / total, 1.0 / total)
        unknown = [group for group in self.std if group not in self.given]
        values = {g: np.sqrt(squares[g] / (counts[g] * share)) for g in unknown}
        if self.scarce:
            sum_of_squares = sum(squares[g] / self.std[g] ** 2 for g in unknown)
            common = np.sqrt(sum_of_squares / (share * sum(counts[g] for g in unknown)))
            values = {g: common * self.std[g] for g in unknown}
        before = dict(self.std)
        for group, value in values.items():
            self.std[group] = max(float(value), 1e-12 * self._magnitude(group))
        return max(abs(np.log(self.std[g] / before[g])) for g in self.std)
