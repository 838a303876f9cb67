"""How quickly disturbances decay along a rod within one time step, and the intervals that this needs.

A time rule y_t = c0 y + H turns waves into attenuation exp(-k s): k = c0 / c for axial and twist
waves of speed c, and for bending with shear, rotary inertia J and mass m per length (Timoshenko)

    k^4 - c0^2 (J / EI + m / GA) k^2 + c0^2 m / EI (1 + c0^2 J / GA) = 0,

k = (c0^2 m / EI)^(1/4) / sqrt(2) if the rod is slender. An integration along the rod must resolve the
largest of these.
"""

from __future__ import annotations

import numpy as np

from pliant.bvp.chain import Chain
from pliant.lie.tuples import Array
from pliant.model import Rod

LIMITS = {"rk4": 0.7, "euler": 0.1}
"""Interval times attenuation above which the motion is wrong by some thousandths and more."""
AIMS = {"rk4": 0.25, "euler": 0.02}
"""The same product where intervals are chosen."""
USUAL = {"rk4": 100, "euler": 400}
"""Intervals that are chosen at least."""
MOST = 4000


def attenuation(rod: Rod, rate: float) -> float:
    """Largest attenuation along a rod, 1/m, for c0 = `rate`, 1/s."""
    if rate <= 0.0:
        return 0.0
    s = np.linspace(0.0, rod.length, 17)
    mass = rod.inertia(s)
    stiffness = rod.stiffness(s) + rate * rod.damping(s)
    shears = np.full(2, rod.theory != "kirchhoff")
    soft = np.where(shears, 1.0 / stiffness[:, 3:5], 0.0)
    # bending about x goes with shear along y
    flexible, rotary, m = stiffness[:, :2], mass[:, :2], mass[:, 3:4]
    b = rate**2 * (rotary / flexible + m * soft[:, ::-1])
    c = rate**2 * m / flexible * (1.0 + rate**2 * rotary * soft[:, ::-1])
    bending = np.sqrt(0.5 * (b + np.sqrt(b * b - 4.0 * c + 0j))).real
    along: Array = rate * np.sqrt(mass / stiffness)[:, [2, 5] if shears[0] else [2]]
    return float(max(along.max(), bending.max()))


def chosen_steps(chain: Chain, scheme: str, rate: float) -> int:
    """Intervals along all rods that resolve what a time rule with c0 = `rate` needs."""
    kind = "euler" if scheme == "euler" else "rk4"
    most = max(attenuation(rod, rate) for rod in chain.rods)
    needed = int(np.ceil(most * chain.length / AIMS[kind]))
    return min(max(USUAL[kind], needed), MOST)


def too_few(chain: Chain, scheme: str, steps: int, rate: float) -> str:
    """Name the rod that `steps` equal intervals do not resolve, or return nothing."""
    worst, name = 0.0, ""
    for piece in chain.pieces:
        count = piece.intervals(steps, chain.length)
        found = attenuation(piece.rod, rate) * piece.length / count
        if found > worst:
            worst, name = found, piece.rod.label
    return name if worst > LIMITS[scheme] else ""
