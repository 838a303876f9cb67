"""Features of an oscillation: a fit can compare extrema, frequency and decay of a motion instead of its
rows (Till et al. 2019, III.A, compare first peak, first valley, final peak and frequency).

A column is smoothed by local parabolas over a sixth of its dominant period on either side. Extrema are
those of a cubic spline through it, without ripples below 5 % of its range. Smoothing, ripples and the
number of extrema follow from the measured column; the computed one is treated in the same way, so that
features are smooth functions of it and what the smoothing changes cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.sparse import csr_matrix, identity

from pliant.model import Array, ConvergenceError, DescriptionError, refuse
from pliant.study.experiments import Experiment, Family, MotionRun
from pliant.study.outputs import Probe

Flags = NDArray[np.bool_]

WINDOW = 1.0 / 6.0
"""Half the width of the smoothing window, in dominant periods."""
RIPPLE = 0.05
"""Least difference between neighbouring extrema, as a fraction of the range of the measured column."""
STEP = 1e-4
"""Change of a column for derivatives of its features, as a fraction of its range."""
_SAMPLES = 64
"""Noisy columns from which the noise of a feature follows."""
_EXACT = 1e-6
"""Least noise of a feature, as a fraction of its value."""


class Oscillation:
    """Extrema of a column over time, found as the measured one determines.

    t : (N,) times, s.  measured : (N,) values, NaN where missing.  label : for messages.
    """

    def __init__(self, t: Array, measured: Array, label: str) -> None:
        self.label = label
        self.there = np.isfinite(measured)
        self.t = t[self.there]
        y = measured[self.there]
        self.range = float(np.ptp(y))
        refuse(
            len(y) < 8 or self.range == 0.0,
            label,
            "column",
            f"{len(y)} numbers with a range of {self.range:g}",
            "eight numbers or more that oscillate",
            "measure longer or more often, or compare the column itself",
        )
        self._smooth = _smoother(self.t, WINDOW * _period(self.t, y))
        self._measured = y
        # all extrema of the measured column count, and as many of a computed one
        self.peaks = self.valleys = len(y)
        _, _, peak = self.extrema(y)
        self.peaks, self.valleys = int(peak.sum()), int((~peak).sum())

    def extrema(self, y: Array) -> tuple[Array, Array, Flags]:
        """Times (K,), values (K,) and whether they are peaks (K,) of values y (n,) at `t`."""
        spline = CubicSpline(self.t, self._smooth @ y)
        roots = spline.derivative().roots(extrapolate=False)
        inside = np.unique(roots[(roots > self.t[0]) & (roots < self.t[-1])])
        times = [float(self.t[0]), *inside.tolist(), float(self.t[-1])]
        times = _without_ripples(times, spline(times).tolist(), RIPPLE * self.range)
        values = spline(times)
        peak = values[1:-1] > values[:-2]
        most = min(self.peaks + self.valleys, len(peak))
        return np.array(times)[1:-1][:most], values[1:-1][:most], peak[:most]

    def feature(self, name: str, y: Array) -> float:
        """A feature of values y (n,) at `t`; raises ConvergenceError where it has none."""
        t, values, peak = self.extrema(y)
        return FEATURES[name][1](self, t, values, peak)

    def noise(self, name: str) -> float:
        """Standard deviation of a feature of the measured column, from what its smoothing removes.

        With r = (1 - S) y the variance of the noise is r.r / tr (1 - S)(1 - S)^T.
        """
        y, rest = self._measured, identity(len(self.t)) - self._smooth
        freedom = max(float(rest.multiply(rest).sum()), 1e-9)
        sigma = float(np.linalg.norm(rest @ y)) / np.sqrt(freedom)
        step, here = STEP * self.range, self.feature(name, y)
        random = np.random.default_rng(0).normal(size=(_SAMPLES, len(y)))
        changes = [(self.feature(name, y + step * row) - here) / step for row in random]
        return max(sigma * float(np.sqrt(np.mean(np.square(changes)))), _EXACT * abs(here), 1e-300)

    def need(self, there: int, least: int, what: str) -> None:
        """Raise if there are fewer than `least` extrema."""
        if there < least:
            raise ConvergenceError(
                f"{self.label}: {there} {what}, and at least {least} {'is' if least == 1 else 'are'} "
                "needed: it does not oscillate enough"
            )


_Feature = Callable[[Oscillation, Array, Array, Flags], float]
"""Of times, values and whether they are peaks (K,) of extrema."""


def _extreme(peak: bool, last: bool) -> _Feature:
    """The feature that is the value of the first or last peak or valley."""

    def value(of: Oscillation, t: Array, values: Array, peaks: Flags) -> float:
        kind = values[peaks == peak]
        of.need(len(kind), 1, "peaks" if peak else "valleys")
        count = of.peaks if peak else of.valleys
        return float(kind[min(count, len(kind)) - 1 if last else 0])

    return value


def _frequency(of: Oscillation, t: Array, values: Array, peaks: Flags) -> float:
    """Extrema are half a period apart."""
    of.need(len(t), 2, "extrema")
    return float((len(t) - 1) / (2.0 * (t[-1] - t[0])))


def _decay(of: Oscillation, t: Array, values: Array, peaks: Flags) -> float:
    """Rate at which the logarithm of the differences between neighbouring extrema falls."""
    of.need(len(t), 3, "extrema")
    middle, height = 0.5 * (t[1:] + t[:-1]), np.abs(np.diff(values))
    return -float(np.polynomial.polynomial.polyfit(middle - middle[0], np.log(height), 1)[1])


FEATURES: dict[str, tuple[str, _Feature]] = {
    "first_peak": ("", _extreme(True, False)),
    "first_valley": ("", _extreme(False, False)),
    "last_peak": ("", _extreme(True, True)),
    "last_valley": ("", _extreme(False, True)),
    "frequency": ("Hz", _frequency),
    "decay": ("1/s", _decay),
}
"""By name: the unit, "" for that of the column, and the function of times, values and kinds."""


def _period(t: Array, y: Array) -> float:
    """The period of the largest entry of the spectrum of y (N,), s."""
    even = np.linspace(t[0], t[-1], len(t))
    values = np.interp(even, t, y)
    values -= np.polynomial.Polynomial.fit(even, values, 1)(even)
    spectrum = np.abs(np.fft.rfft(values * np.hanning(len(t)), 4 * len(t)))
    k = int(np.argmax(spectrum[2:])) + 2
    return 4.0 * len(t) * float(even[1] - even[0]) / k


def _smoother(t: Array, half: float) -> csr_matrix:
    """The matrix (N, N) of local parabolas at t (N,), weighted by (1 - u^2)^2 within `half` seconds."""
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    first = np.searchsorted(t, t - half, side="right")
    last = np.searchsorted(t, t + half, side="left")
    for i, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if b - a < 5:
            a, b, line = i, i + 1, np.ones(1)
        else:
            u = (t[a:b] - t[i]) / half
            powers, weight = u[:, None] ** np.arange(3), (1.0 - u**2) ** 2
            line = np.linalg.solve(powers.T @ (weight[:, None] * powers), powers.T * weight)[0]
        rows += [i] * (b - a)
        columns += range(a, b)
        entries += line.tolist()
    return csr_matrix((entries, (rows, columns)), shape=(len(t), len(t)))


def _without_ripples(times: list[float], values: list[float], least: float) -> list[float]:
    """The times of the extrema that differ by `least` or more; the first and last time are the ends.

    The smallest ripple goes first, with both of its extrema; one next to an end goes alone.
    """
    while len(times) > 2:
        steps = np.abs(np.diff(values))
        k = int(np.argmin(steps))
        if steps[k] >= least:
            break
        gone = [j for j in (k, k + 1) if 0 < j < len(times) - 1]
        times = [x for j, x in enumerate(times) if j not in gone]
        values = [x for j, x in enumerate(values) if j not in gone]
    return times


class FeatureRun(Experiment):
    """A motion of which features are compared: one row with a column for each feature.

    inner : the motion with the columns they are features of.
    """

    moving = False

    def __init__(self, inner: MotionRun, probes: list[Probe]) -> None:
        self.inner, self.measurement, self.notes = inner, inner.measurement, inner.notes
        self.empty, self.unused, self.known_inputs = inner.empty, inner.unused, inner.known_inputs
        self.input_columns, self.units = [], {}
        columns = {probe.column: k for k, probe in enumerate(inner.probes)}
        self.probes = [probe for probe in probes if probe.source in columns]
        self._column = [columns[probe.source] for probe in self.probes]
        self._of = {k: self._oscillation(k) for k in dict.fromkeys(self._column)}
        self.t, self.rows = np.zeros(1), np.zeros(1, dtype=np.int64)
        try:
            self.target = self._features(inner.target)
        except ConvergenceError as error:
            raise DescriptionError(
                inner.measurement.label, "outputs", [probe.column for probe in self.probes],
                f"features that the measured columns have ({error})",
                "measure longer, or compare the column itself",
            ) from error  # fmt: skip
        of = [self._of[k] for k in self._column]
        self.probes = [
            replace(probe, std=probe.std or item.noise(probe.feature))
            for probe, item in zip(self.probes, of, strict=True)
        ]

    def _oscillation(self, k: int) -> Oscillation:
        label = f"{self.measurement.label}, column {self.inner.probes[k].column!r}"
        return Oscillation(self.inner.t, self.inner.target[:, k], label)

    def _features(self, y: Array) -> Array:
        """Features (1, C) of the columns y (N, K)."""
        of = [(probe, k, self._of[k]) for probe, k in zip(self.probes, self._column, strict=True)]
        return np.array([[item.feature(p.feature, y[item.there, k]) for p, k, item in of]])

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        y, J = self.inner.evaluate(family, z, slopes)
        self.signal = self.inner, y
        if J is None:
            return self._features(y), None
        size = np.array([self._of[k].range if k in self._of else 1.0 for k in range(y.shape[1])])
        derivatives = []
        for slope in np.moveaxis(J, -1, 0):
            change = float(np.max(np.abs(slope) / size))
            step = STEP / change if change > 0 else 1.0
            above, below = (self._features(y + side * step * slope) for side in (1.0, -1.0))
            derivatives.append((above - below) / (2.0 * step))
        return self._features(y), np.stack(derivatives, axis=-1)


def feature_run(run: Callable[[list[Probe]], Experiment], probes: list[Probe]) -> FeatureRun:
    """Return the experiment of features, given what makes a motion of their columns."""
    plain = {
        probe.source: replace(probe, column=probe.source, feature="", source="") for probe in probes
    }
    motion = run(list(plain.values()))
    assert isinstance(motion, MotionRun)
    return FeatureRun(motion, probes)
