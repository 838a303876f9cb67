"""Moments of chambers on a planar ANCF rod with slopes taken for unit vectors (Rong and Gu 2024, 18).

A moment M along a rod does the work M d(theta) at its ends. The turn of a slope w of the curve is
d(theta) = (w x dw) / |w|^2; in the plane, a x b is one number. Without the denominator, each element
has forces on the slopes of its nodes that are linear in them,

    M (w x dw) between its ends = int M d/ds (w x dw) ds = int M (z x dw + w x dz) ds,   z = w',

where the integral serves moments that vary along the rod as well. While the curve keeps its length it
is the work of M on the curvature; else it is |w|^2 times that, depends on the way, and has a derivative
without symmetric part that is the same in every configuration.
"""

from __future__ import annotations

import numpy as np

from pliant.rods.actuation import Actuation
from pliant.rods.ancf_nodes import ANCFConfiguration, ANCFPlan
from pliant.rods.ancf_section import XZ
from pliant.rods.contract import Array, RodMap


class SimplifiedMoments(Actuation):
    """Moments on slopes taken for unit vectors; a thrust acts on the stretch as it is."""

    def __init__(self, rod_map: RodMap, turn: int) -> None:
        self._map = rod_map
        self._row, self._sign = (1, 1.0) if turn == XZ else (0, -1.0)

    @staticmethod
    def _curve(plan: ANCFPlan, c: ANCFConfiguration) -> tuple[ANCFPlan, Array, Array]:
        """The plan, slope w (S, 2) and its derivative z (S, 2) at its stations, base frame."""
        ends = np.stack([c.nodes[plan.element], c.nodes[plan.element + 1]], axis=1)
        X = ends.reshape(len(plan.s), 4, 2)
        return plan, np.einsum("sk,ski->si", plan.dH, X), np.einsum("sk,ski->si", plan.ddH, X)

    def jacobian(self, plan: ANCFPlan, c: ANCFConfiguration) -> Array:
        """(S, 6, m): d/ds of w x dw for the bending row, the derivative of |w| for the stretch."""
        plan, w, z = self._curve(plan, c)
        A = plan.B.copy()
        own = np.empty((len(plan.s), 4, 2))
        own[:, :, 0] = z[:, 1:] * plan.dH + w[:, 1:] * plan.ddH
        own[:, :, 1] = -z[:, :1] * plan.dH - w[:, :1] * plan.ddH
        A[:, self._row, 6:] = self._sign * own.reshape(len(plan.s), 8)
        return A

    def add_slope(self, plan: ANCFPlan, c: ANCFConfiguration, stress: Array, K: Array) -> None:
        """Add to K (E, m, m) the derivative of the force in y, which is not symmetric."""
        both = np.einsum("sk,sn->skn", plan.dH, plan.ddH)
        both = (both + both.transpose(0, 2, 1)) * (self._sign * stress[:, self._row, None, None])
        own = np.zeros((len(plan.s), 4, 2, 4, 2))
        own[:, :, 0, :, 1] = both
        own[:, :, 1, :, 0] = -both
        np.add.at(K[:, 6:, 6:], plan.element, own.reshape(len(plan.s), 8, 8))
        thrust = np.zeros_like(stress)
        thrust[:, 5] = stress[:, 5]
        self._map.strain_second(plan, c, thrust, K)

    def path(
        self, plans: tuple[ANCFPlan, ANCFPlan], ends: tuple[ANCFConfiguration, ANCFConfiguration]
    ) -> Array:
        """(S, 6): integral of z x dw + w x dz on the straight way, which is wa x zb - wb x za."""
        _, wa, za = self._curve(plans[0], ends[0])
        _, wb, zb = self._curve(plans[1], ends[1])
        out = plans[1].e - plans[0].e
        out[:, self._row] = self._sign * (_cross(wa, zb) - _cross(wb, za))
        return np.asarray(out)


def _cross(a: Array, b: Array) -> Array:
    """(S,): a x b about the normal of the plane, of vectors (S, 2) = (across, along the base)."""
    return np.asarray(a[:, 1] * b[:, 0] - a[:, 0] * b[:, 1])
