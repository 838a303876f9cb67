"""An identification in a page of text."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.results.fit import Estimate, Fit, FitData


def describe_fit(fit: Fit) -> str:
    """Return estimates, correlation, goodness of fit, validation and warnings."""
    rows = [["parameter", "value", "standard error", "", "start"]]
    rows += [_row(item) for item in fit.estimates]
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "-" * len(lines[0]))
    if len(fit.estimates) > 1:
        lines += ["", "correlation"]
        for item, row in zip(fit.estimates, fit.correlation, strict=True):
            lines.append(f"{item.name:<{widths[0]}}  " + "  ".join(f"{x:+.3f}" for x in row))
    lines += ["", *_goodness("fitted", fit.data)]
    if fit.validation:
        lines += _goodness("held out", fit.validation)
    noise = ", ".join(f"{name} {value:.3g}" for name, value in fit.noise.items())
    lines.append(f"noise: {noise}")
    lines.append(f"chi2 / degrees of freedom: {fit.chi2:.4g} / {fit.dof}")
    lines.append(
        f"{fit.iterations} iterations, {fit.solves} solves and {fit.followed} neighbours followed, "
        f"{fit.seconds:.3g} s; {fit.reason}"
    )
    solved = ", ".join(f"{name} {value}" for name, value in fit.method.items())
    lines += textwrap.wrap(f"solved with: {solved}", 98, subsequent_indent="  ") if solved else []
    for text in fit.warnings:
        lines += textwrap.wrap(f"warning: {text}", 98, subsequent_indent="  ")
    return "\n".join(lines)


def _row(item: Estimate) -> list[str]:
    value = f"{item.value:.6g}" + (" x" if item.factor else "")
    if not math.isfinite(item.error):
        return [item.name, value, "undetermined", "", f"{item.initial:.4g}"]
    share = f"{100 * item.error / abs(item.value):.2g} %" if item.value else ""
    mark = "at bound" if item.at_bound else share
    return [item.name, value, f"{item.error:.2g}", mark, f"{item.initial:.4g}"]


def _goodness(what: str, data: list[FitData]) -> list[str]:
    lines = []
    for item in data:
        rms, r2, missing = item.rms, item.r2, item.missing
        for name, unit in zip(item.columns, item.units, strict=True):
            lines.append(
                f"{what} {item.name}, {name}: rms {rms[name]:.3g} {unit}, R2 {r2[name]:.5f}, "
                f"{len(item.t)} rows" + (f", {missing[name]} missing" if missing[name] else "")
            )
    return lines
