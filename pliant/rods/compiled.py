"""What a rod map may offer to loops that take many time steps in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

STRAIN_SIGNATURE = (
    "void(int64[::1], float64[::1], float64[::1], float64[:, ::1], float64[:, :, ::1])"
)
SECOND_SIGNATURE = STRAIN_SIGNATURE


@dataclass
class CompiledMap:
    """Strains of a rod at S stations, for kernels to be handed.

    It is for maps of which, with the base at rest, q moves by addition, variables are y = x, and the
    centres of sections are linear in q: their inertia without rotation, their weight and dead forces
    are then the same in every configuration, and only strains are left to be computed.

    strain(ints, floats, q, e, B) writes strains e (S, R) and derivatives B (S, R, n);
    second(ints, floats, q, sigma, K) adds to K (E, n, n) the second derivative of sum_s sigma_s.e_s.
    Both come from `_numba.handed` and know their stations from ints and floats.
    rows : (R,) the strain rows that are written; the others rest.
    n : own entries of an element, those of `elements` behind the base twist.
    """

    strain: Any
    second: Any
    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    element: NDArray[np.int64]
    rows: tuple[int, ...]
    n: int
