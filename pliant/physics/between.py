"""Frames in the middle of a step, and how what acts there is shared by its ends.

Between ga and gb = ga exp(xi) the frame in the middle is gm = ga exp(xi / 2). Twists xa, xb of the ends
move it by Aa xa + Ab xb,

    Aa = 1/2 dexp(-xi/2) dexp(-xi)^-1,     Ab = 1/2 dexp(xi/2) dexp(xi)^-1,

(left-trivialised), so that a gradient p in the middle acts as Aa^T p at a and as Ab^T p at b. Momentum
is kept exactly, and a stiff effect is implicit, its change of direction included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.lie import se3
from pliant.rods.contract import Array


@dataclass
class Middle:
    """Middles of some stations in a step: frames g (S, 4, 4), displacements xi (S, 6) from a to b,
    shares Aa and Ab (S, 6, 6), and turn (S, 6, 6), the derivative of xi in the twist of b.
    """

    g: Array
    xi: Array
    Aa: Array
    Ab: Array
    turn: Array


def middle(ga: Array, gb: Array) -> Middle:
    """The middles of frames ga and gb (S, 4, 4)."""
    xi = np.asarray(se3.log(se3.inverse(ga) @ gb))
    turn = se3.dexp_inverse(xi)
    Aa = 0.5 * se3.dexp(-0.5 * xi) @ se3.dexp_inverse(-xi)
    Ab = 0.5 * se3.dexp(0.5 * xi) @ turn
    return Middle(ga @ se3.exp(0.5 * xi), xi, np.asarray(Aa), np.asarray(Ab), np.asarray(turn))


def earlier(g: Array, eta: Array, time: float) -> Array:
    """Frames (S, 4, 4) a time before g, s, with body twists eta (S, 6)."""
    return np.asarray(g @ se3.exp(-time * eta)) if time else g
