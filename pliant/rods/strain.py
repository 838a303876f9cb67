"""Strain: rods whose coordinates are strain modes (Boyer et al. 2020, Renda et al. 2020).

xi(s) = xi*(s) + Phi(s) q, with Legendre polynomials on equal segments and jumps between them.
Frames follow from xi by the fourth-order Magnus expansion on a fixed grid, so that the pose at s is
one fixed, smooth function of q whatever else is asked for; all derivatives are those of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.model import Rod
from pliant.model.fields import Whole, holds
from pliant.rods import strain_kernels, strain_second
from pliant.rods.contract import (
    Array,
    Capabilities,
    Configuration,
    Formulation,
    Ints,
    KernelMap,
    Plan,
)
from pliant.rods.quadrature import gauss_per_span, spans_with_breaks
from pliant.rods.strain_kernels import Steps

HIGHEST_ORDER = 8
_MOST = 10**6
_GAUSS = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)


@dataclass(frozen=True)
class Strain(Formulation):
    """Strain modes: Legendre polynomials on each of a number of equal segments.

    order : 0 (constant on a segment) to 8, the highest degree of the polynomials.
    segments : number of equal segments; the strain may jump between them. Where data of the rod jump
        along s, the border of two segments is moved there, or another one is added.
    steps : Magnus steps in each segment; `default_steps` if not given.
    """

    order: int = holds(Whole(least=0, most=HIGHEST_ORDER, example="1"), 1)
    segments: int = holds(Whole(least=1, most=_MOST, example="4"), 4)
    steps: int | None = holds(Whole(least=1, most=_MOST, example="8"), None)

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> StrainMap:
        """The map of `rod` under these settings."""
        return StrainMap(rod, self)


class StrainPlan(Plan):
    """Stations for frames: the grid step of each (S,) and the Magnus step that ends there."""

    def __init__(self, s: Array, m: int, step: Ints, stations: Steps) -> None:
        super().__init__(s, np.zeros(len(s), dtype=np.int64), m)
        self.step = step
        self.stations = stations


class StrainStations(Plan):
    """Stations for strains: segment (S,), basis phi (S, K) and natural strain (S, 6)."""

    def __init__(self, s: Array, m: int, segment: Ints, phi: Array, natural: Array) -> None:
        super().__init__(s, np.zeros(len(s), dtype=np.int64), m)
        self.segment = segment
        self.phi = phi
        self.natural = natural


class StrainConfiguration(Configuration):
    """The Magnus steps of the grid."""

    def __init__(self, nq: int, grid: Steps) -> None:
        super().__init__(nq)
        self.grid = grid
        self.total = np.zeros_like(grid.theta)


class StrainMap(KernelMap):
    """The map of one rod under `Strain`. q (segments, modes, rows), flat; rows 6, Kirchhoff 3."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, settings: Strain) -> None:
        self.order = settings.order
        even = np.linspace(0.0, rod.length, settings.segments + 1)
        borders, _ = spans_with_breaks(rod, even)
        self.segments = len(borders) - 1
        self.rows = 6 if rod.theory == "cosserat" else 3
        modes = self.order + 1
        super().__init__(rod, self.segments * modes * self.rows)
        self.shape = (self.segments, modes, self.rows)
        self.steps = settings.steps or default_steps(self.order, not isinstance(rod.natural, tuple))
        self.breaks = borders
        inner = np.arange(self.segments * self.steps + 1) / self.steps
        self.nodes = np.interp(inner, np.arange(self.segments + 1), borders)
        self._grid = self._magnus_steps(self.nodes[:-1], self.nodes[1:])
        probes = np.linspace(0.0, rod.length, 33)
        properties = np.hstack([rod.stiffness(probes), rod.inertia(probes)])
        self.uniform = bool(np.all(np.abs(np.ptp(properties, axis=0)) <= 1e-12 * properties.max(0)))

    # -- stations ----------------------------------------------------------------------------

    def _place(self, nodes: Array, s: Array) -> Ints:
        """Index of the interval of `nodes` that holds s; at a node the one that starts there."""
        found = np.searchsorted(nodes, s + 1e-12 * self.rod.length, side="right") - 1
        return np.clip(found, 0, len(nodes) - 2).astype(np.int64)

    def _basis(self, segment: Ints, s: Array) -> Array:
        """Legendre polynomials of the segments at s, (..., K)."""
        width = np.diff(self.breaks)[segment]
        x = 2.0 * (s - self.breaks[segment]) / width - 1.0
        return np.ascontiguousarray(np.polynomial.legendre.legvander(x, self.order))

    def _magnus_steps(self, start: Array, end: Array) -> Steps:
        """Steps from start to end (n,), each within one segment, with room for their state."""
        n, modes = len(start), self.shape[1]
        segment = self._place(self.breaks, start)
        length = end - start
        points = start[:, None] + length[:, None] * _GAUSS
        return Steps(
            segment=segment,
            length=length,
            phi=self._basis(segment[:, None], points),
            natural=self.rod.natural_strain(points),
            **_state(n, modes),
        )

    def frames(self, s: Array) -> StrainPlan:
        """Plan for frames at arclengths s (S,), each one Magnus step from the node below it."""
        s = np.asarray(s, dtype=float)
        step = self._place(self.nodes, s)
        start = self.nodes[step]
        return StrainPlan(s, self.m, step, self._magnus_steps(start, np.maximum(s, start)))

    def strains(self, s: Array) -> StrainStations:
        """Plan for strains at s (S,), at a jump those of the segment that starts there; fills B."""
        s = np.asarray(s, dtype=float)
        segment = self._place(self.breaks, s)
        phi = self._basis(segment, s)
        plan = StrainStations(s, self.m, segment, phi, self.rod.natural_strain(s))
        modes, rows = self.shape[1], np.arange(self.rows)
        for k in range(modes):
            first = 6 + (segment * modes + k) * self.rows
            plan.B[np.arange(len(s))[:, None], rows, first[:, None] + rows] = phi[:, k, None]
        return plan

    def mass_rule(self) -> tuple[Array, Array]:
        """Gauss points on each segment: exact for the mass of the straight rod.

        There a mode of degree p moves the centreline by degree p + 2, so that products of two need
        p + 3 points; one more where the section varies.
        """
        return gauss_per_span(self.breaks, self.order + (3 if self.uniform else 4))

    def strain_rule(self) -> tuple[Array, Array]:
        """order + 1 Gauss points on each segment, exact for a uniform rod; one more otherwise."""
        s, w = gauss_per_span(self.breaks, self.order + (1 if self.uniform else 2))
        weights = np.zeros((len(s), 6))
        weights[:, : self.rows] = w[:, None]
        return s, weights

    # -- configuration -----------------------------------------------------------------------

    def rest(self) -> Array:
        """Zero: the natural strain is part of the map."""
        return np.zeros(self.nq)

    def configuration(self) -> StrainConfiguration:
        """Room for one configuration and the state of its grid."""
        grid = self._grid
        fresh = grid._replace(**_state(len(grid.length), self.shape[1]))
        return StrainConfiguration(self.nq, fresh)

    def update(self, c: StrainConfiguration, base: Array, q: Array) -> None:
        """Set base pose (4, 4) and q (nq,), and the Magnus steps of the grid."""
        super().update(c, base, q)
        run(strain_kernels.sweep, c.grid, self.steps, c.q.reshape(self.shape), c.total)

    # -- the map -----------------------------------------------------------------------------

    def frame(self, plan: StrainPlan, c: StrainConfiguration) -> None:
        """Write plan.g and plan.J."""
        q, where = c.q.reshape(self.shape), (c.total, plan.stations, plan.step)
        run(
            strain_kernels.evaluate_frames,
            c.grid, self.steps, *where, q, c.base, plan.g, plan.J,
        )  # fmt: skip

    def strain(self, plan: StrainStations, c: Configuration) -> None:
        """Write plan.e; plan.B does not depend on q and was written with the plan."""
        q = c.q.reshape(self.shape)
        run(strain_kernels.evaluate_strains, plan.segment, plan.phi, plan.natural, q, plan.e)

    def frame_second(self, plan: StrainPlan, c: StrainConfiguration, f: Array, K: Array) -> None:
        """Add to K (1, m, m); `frame` was called with this plan and configuration before."""
        where = (c.total, plan.stations, plan.step)
        run(strain_second.add_frame_second, c.grid, self.steps, *where, self.rows, f, K[0])

    def strain_second(self, plan: Plan, c: Configuration, sigma: Array, K: Array) -> None:
        """Add nothing: strains are linear in q."""

    def frame_bias(
        self, plan: StrainPlan, c: StrainConfiguration, ydot: Array, bias: Array
    ) -> None:
        """Write bias (S, 6); `frame` was called with this plan and configuration before."""
        rate = ydot[0]
        own = rate[6:].reshape(self.shape)
        run(strain_second.frame_bias, c.grid, plan.stations, plan.step, rate[:6], own, bias)


def default_steps(order: int, varying: bool) -> int:
    """Magnus steps in a segment; `varying` tells that the natural strain is not constant.

    One step is exact for constant strain. Else 2 (order^2 + 1), at most 32, and at least 8 where
    the natural strain varies. Measured on 1 to 4 segments of a curve that bends and twists by 2 to
    6 rad, positions then err 5 to 500 times less by these steps than by the modes, up to order 3
    (at 6 rad on 4 segments, as fractions of the length: 9e-6 against 1e-3 at order 1, 4e-7 against
    5e-6 at order 2, 2e-8 against 1e-7 at order 3). At higher orders the steps set the accuracy,
    1e-6 of the length on one segment and 4e-9 on four at 6 rad.
    """
    if order == 0 and not varying:
        return 1
    return max(min(2 * (order * order + 1), 32), 8 if varying else 1)


def _state(n: int, modes: int) -> dict[str, Any]:
    """Room for the state of n Magnus steps."""
    return {
        "xi": np.zeros((n, 2, 6)),
        "omega": np.zeros((n, 6)),
        "tangent": np.zeros((n, 6, 3)),
        "pose": np.zeros((n, 3, 4)),
        "theta": np.zeros((n, modes, 6, 3)),
    }


__all__ = ["Strain", "StrainMap"]
