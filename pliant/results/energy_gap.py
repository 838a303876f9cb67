"""What an integrator did to the energy of a motion, and how it is told."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.model import Array
from pliant.model.telling import is_told
from pliant.solve.integrators.contract import Integrator

TOLD = 0.008
"""Share of the energy in play from which on the integrator's part in it is told: less than one per
cent, for between the states that are looked at it may be a fifth more."""
_AT_REST, _ROUNDING, _ACCURACY = 1e-22, 1e-13, 3e-7
"""A change of energy below which there is nothing to judge: J; relative to all energies that are added
up; relative to those that do not depend on where potentials are zero, which are as accurate as an
equilibrium or a step was solved.
"""
_OF_NO_ORIGIN = ("kinetic", "elastic", "dissipated", "work")


class EnergyWarning(UserWarning):
    """An integrator changed the energy of a motion that it is meant to keep, or added to it."""


class NumericalDamping(UserWarning):
    """An integrator that is meant to damp took a noticeable share of the energy of a motion."""


@dataclass(frozen=True)
class EnergyGap:
    """The largest changes of energy by the integrator in a motion, relative to its start.

    taken, added : J, both positive or zero.  taken_at, added_at : when they were largest, s.
    in_play : the energy that the motion turned over, J: the largest of the kinetic energy and of the
        ranges of all other energies, of work and of what was dissipated. The height of the origin,
        where gravity is zero, and a constant prestress do not count.
    """

    taken: float
    taken_at: float
    added: float
    added_at: float
    in_play: float

    @property
    def share_taken(self) -> float:
        """Part of the energy in play that the integrator took, where that was most."""
        return self.taken / self.in_play

    @property
    def share_added(self) -> float:
        """Part of the energy in play that the integrator added, where that was most."""
        return self.added / self.in_play

    def __str__(self) -> str:
        told = [
            f"{verb} {percent(share)} (t = {at:.4g} s)"
            for verb, share, at in (
                ("took", self.share_taken, self.taken_at),
                ("added", self.share_added, self.added_at),
            )
            if share >= 1e-4
        ]
        what = f"of the {self.in_play:.3g} J in play the integrator "
        return what + (" and ".join(told) if told else "changed less than 0.01 %")


def energy_gap(t: Array, parts: Mapping[str, Array]) -> EnergyGap:
    """The gap of energies (T,) by name, as in `Motion.energy`, at times t (T,) from the start on."""
    numerical = parts["numerical"]
    summed = [values for name, values in parts.items() if name not in ("balance", "numerical")]
    ranges = [np.ptp(values) for values in summed]
    sizes = {name: float(np.abs(values).max()) for name, values in parts.items()}
    noise = _ACCURACY * max(sizes[name] for name in _OF_NO_ORIGIN)
    noise = max(_AT_REST, noise, _ROUNDING * max(sizes.values()))
    most, least = int(np.argmax(numerical)), int(np.argmin(numerical))
    taken, added = float(numerical[most]), -float(numerical[least])
    return EnergyGap(
        taken if taken > noise else 0.0,
        float(t[most]),
        added if added > noise else 0.0,
        float(t[least]),
        max(float(max(ranges)), sizes["kinetic"], noise),
    )


def percent(share: float) -> str:
    """A share in per cent, to two digits or so."""
    digits = 0 if share >= 0.1 else 1 if share >= 0.01 else 2
    return f"{100 * share:.{digits}f} %"


def warn_of_gap(gap: EnergyGap, integrator: Integrator, dt: float, level: int) -> None:
    """Tell if the integrator changed the energy by more than 1 % of what is in play.

    level : how many calls above this one the user's is.
    """
    added = gap.share_added > (TOLD if integrator.damps else max(TOLD, gap.share_taken))
    share = gap.share_added if added else gap.share_taken
    if not share > TOLD or not is_told():
        return
    what, at = ("added", gap.added_at) if added else ("took", gap.taken_at)
    of_all = f"{percent(share)} of the {gap.in_play:.3g} J in play (t = {at:.4g} s)"
    told = f"{integrator!r} {what} {of_all}"
    steps, by = f"dt = {dt:g} s is", f" by dt = {dt:g} s"
    if integrator.chooses_steps:
        steps, by = "its steps are", ""
    if added or not integrator.damps:
        warnings.warn(
            f"{told}: {steps} too long for this motion. Take {integrator.finer}, add viscosity, or "
            f"use {integrator.damped}, which damps what the step cannot resolve.",
            EnergyWarning,
            stacklevel=level + 1,
        )
        return
    warnings.warn(
        f"{told}: numerical damping, which acts on all that is not resolved well{by}. "
        f"Vibrations die out faster than the robot damps them; shapes at rest are not affected. If "
        f"vibrations matter, take {integrator.finer} or {integrator.undamped}.",
        NumericalDamping,
        stacklevel=level + 1,
    )
