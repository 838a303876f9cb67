"""Pressure chambers on strains: the internal wrench that does the work p dV.

With dV = sum_s w_s a_s.de_s, a (S, 6) from `Chamber.sweep`, a pressure p has the potential -p V, whose
gradient at a station is the stress -p w a and whose second derivative is that of the strains alone.
"""

from __future__ import annotations

import numpy as np

from pliant.rods.contract import Array


def volume(sweep: Array, weight: Array, e: Array) -> float:
    """Volume swept by chambers along strains e (S, 6), m^3; weight (S,) or (S, 6), m.

    Without thrust (a zero in the last row of `sweep`), its change alone.
    """
    w = weight if weight.ndim == 2 else weight[:, None]
    return float(np.sum(w * sweep * e))


def work(stress: Array, path: Array) -> float:
    """Work that stresses `stress` (S, 6), weighted gradients, do on a path (S, 6) of strains, J."""
    return -float(np.sum(stress * path))
