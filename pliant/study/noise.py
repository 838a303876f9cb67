"""Noise of outputs that nobody gave: where to begin, and where residuals cannot tell it."""

from __future__ import annotations

from pliant.study.experiments import Experiment


def size_of(experiments: list[Experiment], group: str) -> float:
    """A size of the numbers that were measured of one output."""
    sizes = [
        float(abs(e.target[e.there[:, k], k]).max())
        for e in experiments
        for k, p in enumerate(e.probes)
        if p.group == group
    ]
    return max(*sizes, 1e-9)


def too_few(experiments: list[Experiment], known: set[str], parameters: int) -> list[str]:
    """Groups of which so few numbers were measured that parameters could meet all of them.

    Their residuals, which can be made zero, say nothing about their noise.
    """
    counts: dict[str, int] = {}
    for experiment in experiments:
        numbers = experiment.there.sum(axis=0).tolist()
        for probe, count in zip(experiment.probes, numbers, strict=True):
            counts[probe.group] = counts.get(probe.group, 0) + count
    few = [group for group, count in counts.items() if count <= parameters and group not in known]
    return few if len(set(counts) - known) > 1 else []


def first_noise(experiments: list[Experiment], by_unit: bool) -> dict[str, float]:
    """Noise by group to begin with: as given, or a hundredth of what was measured.

    by_unit : whether outputs of one unit share it, the hundredth of the largest of them.
    """
    found: dict[str, float] = {}
    every = [probe for experiment in experiments for probe in experiment.probes]
    for probe in every:
        alike = {p.group for p in every if by_unit and p.unit and p.unit == probe.unit}
        sizes = [size_of(experiments, group) for group in {probe.group, *alike}]
        found[probe.group] = probe.std or 0.01 * max(sizes)
    return found
