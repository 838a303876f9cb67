"""Workspace of a solver: what effects write at the stations, and the elements of every part."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear
from pliant.rods.contract import Array
from pliant.tree.part import Part
from pliant.tree.tree import Tree


class PartWork:
    """Workspace of one part.

    p (F, 6) gradients at the frame stations in their body frames, k (F, 6, 6) their derivatives;
    sigma (S, 6) weighted stresses at the strain rule, slope (S, 6) their derivative in the strain.
    met (S, 6) is the strain that meets the law, rate (S, 6) its time derivative, shift (S, 6) the
    derivative of `met` in the strain at the configuration that is sought, lag (S, 6) the retardation.
    ry (E, m) and Ky (E, m, m) collect all of it in element variables, r (E, n) and K (E, n, n) in the
    entries of x. Parts of one shape share K, for each is done with it before the next one begins.
    """

    def __init__(self, part: Part, lifted: dict[tuple[int, int], Array]) -> None:
        self.part = part
        E, n = part.map.elements.shape
        m, S = part.map.m, len(part.strain_s)
        P = len(part.point_s)
        F = len(part.mass_s) + P
        self.p = np.zeros((F, 6))
        self.k = np.zeros((F, 6, 6))
        self.pb = np.zeros((F, 6))
        """Of a step from one configuration to another, what arrives at its end."""
        self.sigma = np.zeros((S, 6))
        self.slope = np.zeros((S, 6))
        self.inner = np.zeros((len(part.inner_s), 6))
        """Weighted stresses at the inner stations."""
        X = len(part.inner_s)
        self.inner_met, self.inner_rate = np.zeros((X, 6)), np.zeros((X, 6))
        """Strain that meets the law at the inner stations, and its time derivative."""
        self.inner_full = np.zeros((X, 6, 6))
        """Derivative of the stresses there."""
        self.full = np.zeros((S if part.coupled else 0, 6, 6))
        """(S, 6, 6): derivative of stresses whose rows depend on each other."""
        self.met = np.zeros((S, 6))
        self.rate = np.zeros((S, 6))
        self.shift = np.ones((S, 6))
        self.lag = part.lag.copy()
        self.eta = np.zeros((F, 6))
        """Twists of the frame stations, rad/s and m/s."""
        self.acceleration = np.zeros((F, 6))
        self.ry = np.zeros((E, m))
        self.Ky = np.zeros((E, m, m))
        self.r = np.zeros((E, n))
        self.K = lifted.setdefault((E, n), np.zeros((E, n, n)))
        self.row = np.zeros(m)
        self.base = np.zeros(6)
        """Gradient in the twist of the base."""
        self.passed, self.excess = np.zeros(6), np.zeros(6)
        """In the Newton chart, the wrench passed on to the base, and what it is beyond `base`."""
        self.left = np.zeros(6 + part.map.nv)
        """Residual that is left on base and own coordinates."""
        self.extra, self.sections = np.zeros((P, 6)), np.zeros((P, 6))
        """Excess of carried parts at the points, and wrenches of the points on their sections."""
        self.rate_x, self.second_x = np.zeros(6 + part.map.nv), np.zeros(6 + part.map.nv)
        """First and second time derivatives of base and own coordinates."""
        self.entries = np.zeros((E, n))
        self.y, self.ydd, self.bias = np.zeros((E, m)), np.zeros((E, m)), np.zeros((E, m))
        """Time derivatives of the element variables; bias : the second one at constant rates."""
        self.frame_bias = np.zeros((F, 6))
        self.mass = False
        """Whether anything acts at the mass stations."""

    def clear(self, tangent: bool) -> None:
        """Begin anew."""
        arrays: list[Array] = [self.p, self.ry, self.sigma, self.inner]
        if tangent:
            arrays += [self.k, self.Ky, self.slope, self.full]
        for array in arrays:
            clear(array)
        self.mass = self.part.loaded


class Work:
    """Workspace of one solver for the whole robot; it belongs to one thread."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        lifted: dict[tuple[int, int], Array] = {}
        self.parts = [PartWork(part, lifted) for part in tree.parts]
        self.residual: Array = np.zeros(tree.total)
        self.active: Array = np.zeros(tree.m)
        """Which multipliers hold, 1 or 0, as the last residual had it; 0 for two-sided ones."""
        self.notes: Array = np.zeros(tree.notes)
        """What terms note of an iterate to judge the next one by."""
        self.cross: Array = np.zeros((len(tree.couplings), 2, 6, 6))
        """What effects add between the stations of each coupling, see `couplings`."""

    def refill(self) -> None:
        """Take over the numbers of the parts."""
        for work in self.parts:
            work.lag[...] = work.part.lag

    def clear(self, tangent: bool) -> None:
        """Begin anew with the gradient, and with the tangent if it is wanted."""
        clear(self.residual)
        if tangent and len(self.cross):
            clear(self.cross)
        for part in self.parts:
            part.clear(tangent)
