"""ANCF: rods whose coordinates are positions and slopes of nodes (Rong and Gu 2024, section 2).

r(s) is a cubic on each element, given by position and slope at its two nodes, both seen from the base
frame; the base holds position and direction of the first node, so that only the stretch of its slope
is free. Sections stand normal to the curve: no shear. Without rotary inertia the mass matrix of the
coordinates is the same in every configuration,

    M = sum over elements of rho A int H^T H ds,

since r is linear in them. Strains are those of a Cosserat rod, curvature from slope and second
derivative (see `ancf_section`) and stretch |r'|, not the curvature |r''| and the Green strain of the
paper, which agree with them only as long as the curve keeps its length. The axial force is carried by
force fields (piecewise quadratic, continuous), so that thin rods do not lock and a rod that cannot
stretch is the same with no compliance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.model import Rod, refuse
from pliant.model.fields import Choice, Whole, holds
from pliant.rods import ancf_chart, ancf_kernels
from pliant.rods.ancf_moments import SimplifiedMoments
from pliant.rods.ancf_nodes import (
    ANCFConfiguration,
    ANCFPlan,
    check_rod,
    hermite_shapes,
    natural_nodes,
    reversal,
)
from pliant.rods.ancf_section import SPACE, XZ, YZ
from pliant.rods.contract import (
    Array,
    Capabilities,
    ForceBasis,
    Formulation,
    Ints,
    KernelMap,
)
from pliant.rods.quadrature import gauss_per_span, spans_with_breaks

PLANES = {"xz": XZ, "yz": YZ}
_SHARED = {"theories": ("cosserat", "kirchhoff"), "massless_rotation": True, "rotary": False}
_PLANAR = {
    "xz": Capabilities(strain_rows=(1, 5), frame_rows=(1, 3, 5), planar=True, **_SHARED),  # type: ignore[arg-type]
    "yz": Capabilities(strain_rows=(0, 5), frame_rows=(0, 4, 5), planar=True, **_SHARED),  # type: ignore[arg-type]
}
_CABLE = Capabilities(
    strain_rows=(0, 1, 5),
    frame_rows=(0, 1, 3, 4, 5),
    **_SHARED,  # type: ignore[arg-type]
)


@dataclass(frozen=True)
class ANCF(Formulation):
    """Absolute nodal coordinates: cubic elements between nodes with position and slope.

    elements : number of elements of equal length, at least 1. Where data of the rod jump along s, a
        node is moved there, or another one is added.
    planar : True for a rod that bends in one plane of its base frame, False for a cable in space,
        which has no twist: it needs the same bending stiffness in both directions and a straight
        natural shape, and its tangent must not turn against the tangent of the base: a warning, or
        the error of a solve that failed, tells where it does.
    plane : "xz" (bends about the local y axis) or "yz" (about the local x axis), if planar.
    inextensible : True holds the length of the curve by constraint; False lets it stretch by the
        axial stiffness of the rod. A rod of theory "kirchhoff" is always inextensible.
    rotary : True gives the sections their rotary inertia; the mass matrix then depends on the
        configuration.
    moments : of chambers, "exact" (the work of the pressure on the curvature) or "simplified" (slopes
        at the nodes taken for unit vectors, the same for a rod that keeps its length), if planar.
    """

    elements: int = holds(Whole(least=1, example="8"), 8)
    planar: bool = True
    plane: str = holds(Choice(names=tuple(PLANES)), "xz")
    inextensible: bool = False
    rotary: bool = False
    moments: str = holds(Choice(names=("exact", "simplified")), "exact")

    capabilities: ClassVar[Capabilities] = _PLANAR["xz"]

    def __post_init__(self) -> None:
        super().__post_init__()
        for field, usual in (("plane", "xz"), ("moments", "exact")):
            given = getattr(self, field)
            wrong, expected = not self.planar and given != usual, f"{usual!r} for a cable in space"
            refuse(wrong, self.label, field, given, expected, "leave it out, or give planar=True")
        own = _PLANAR[self.plane] if self.planar else _CABLE
        object.__setattr__(self, "capabilities", replace(own, rotary=self.rotary))

    def discretise(self, rod: Rod) -> ANCFMap:
        """The map of `rod` under these settings."""
        return ANCFMap(rod, self)


class ANCFMap(KernelMap):
    """The map of one rod under `ANCF`.

    q = (stretch of the first slope, then position and slope of nodes 1 to N), base frame; x the
    base twist and variations of q. An element depends on the base twist and its two nodes.
    """

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, settings: ANCF) -> None:
        even = np.linspace(0.0, rod.length, settings.elements + 1)
        nodes, _ = spans_with_breaks(rod, even)
        count = len(nodes) - 1
        self.turn = PLANES[settings.plane] if settings.planar else SPACE
        self.shortest_turn = self.turn == SPACE
        axes = {XZ: (0, 2), YZ: (1, 2), SPACE: (0, 1, 2)}[self.turn]
        self.axes = np.array(axes, dtype=np.int64)
        self.d = d = len(axes)
        super().__init__(rod, 1 + 2 * d * count)
        self.m = 6 + 4 * d
        self.base_variables = 6
        self.settings = settings
        self.inextensible = settings.inextensible or rod.theory == "kirchhoff"
        self.breaks = self.nodes = nodes
        self.elements = self._number(count)
        check_rod(rod, self.turn)
        if settings.moments == "simplified":
            self.actuation = SimplifiedMoments(self, self.turn)
        s, _ = self.strain_rule()
        values = self.force_values(s)[1]
        index = 2 * np.arange(count)[:, None] + np.arange(3)
        self.bent = self.m
        before = 7 + 2 * d * ((np.arange(2 * count + 1) + 1) // 2 - 1)
        before[0] = 6
        self._modes = ForceBasis(
            values, index, 2 * count + 1, before, rows=(5,), rigid=self.inextensible
        )

    def refill(self, rod: Rod) -> bool:
        check_rod(rod, self.turn)
        return super().refill(rod)

    def _number(self, count: int) -> Ints:
        """(E, m): base twist, then the entries of x of both nodes, -1 where the base holds them."""
        d = self.d
        node = 7 + 2 * d * np.arange(-1, count)[:, None] + np.arange(2 * d)
        node[0] = -1
        node[0, 2 * d - 1] = 6
        base = np.tile(np.arange(6), (count, 1))
        return np.concatenate([base, node[:-1], node[1:]], axis=1).astype(np.int64)

    # -- stations ----------------------------------------------------------------------------

    def _place(self, s: Array) -> tuple[Ints, Array, Array]:
        """Element (S,), t in [0, 1] within it (S,), and its length (S,), m."""
        count = len(self.nodes) - 1
        element = np.clip(np.searchsorted(self.nodes, s, side="right") - 1, 0, count - 1)
        h = np.diff(self.nodes)[element]
        return element, (s - self.nodes[element]) / h, h

    def _plan(self, s: Array) -> ANCFPlan:
        s = np.asarray(s, dtype=float)
        element, t, h = self._place(s)
        return ANCFPlan(s, element, self.m, hermite_shapes(t, h))

    frames = _plan
    strains = _plan

    def centres(self, s: Array) -> ANCFPlan:
        """Plan for frames at centres, whose derivative in the nodes is constant."""
        plan = self._plan(s)
        plan.at_centres = True
        plan.J[:, :6, :6] = np.eye(6)
        for i, axis in enumerate(self.axes):
            plan.J[:, 3 + axis, 6 + i :: self.d] = plan.H
        return plan

    def mass_rule(self) -> tuple[Array, Array]:
        """Four Gauss points an element, exact for the mass matrix of a uniform rod."""
        return gauss_per_span(self.nodes, 4)

    def strain_rule(self) -> tuple[Array, Array]:
        """Four Gauss points an element; weight only on the rows that the curve can feel."""
        s, w = self.mass_rule()
        weights = np.zeros((len(s), 6))
        weights[:, list(self.settings.capabilities.strain_rows)] = w[:, None]
        return s, weights

    def inertia(self, s: Array) -> Array:
        """Inertia per length (S, 6); rotary only if the settings want it."""
        found = self.rod.inertia(s)
        if not self.settings.rotary:
            found[:, :3] = 0.0
        return found

    def force_basis(self) -> ForceBasis:
        """Continuous, piecewise quadratic axial force."""
        return self._modes

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        """Element (S,) and quadratic Bernstein polynomials (S, 3) at s."""
        element, t, _ = self._place(np.asarray(s, dtype=float))
        return element, np.stack([(1 - t) ** 2, 2 * t * (1 - t), t**2], axis=1)

    # -- configuration -----------------------------------------------------------------------

    def rest(self) -> Array:
        """Nodes on the natural curve."""
        row, sign = {XZ: (1, 1.0), YZ: (0, -1.0), SPACE: (None, 1.0)}[self.turn]
        nodes = natural_nodes(self.rod, self.nodes, self.d, row, sign)
        return np.concatenate([nodes[0, -1:], nodes[1:].ravel()])

    def configuration(self) -> ANCFConfiguration:
        """Room for one configuration."""
        return ANCFConfiguration(self.nq, np.zeros((len(self.nodes), 2 * self.d)))

    def update(self, c: ANCFConfiguration, base: Array, q: Array) -> None:
        """Set `c` to base pose (4, 4) and coordinates q (nq,)."""
        super().update(c, base, q)
        run(ancf_chart.set_nodes, c.q, c.nodes)

    def advance_to(self, c: ANCFConfiguration, base: Array, x: Array, out: Array) -> None:
        """q after slopes and chords between nodes turned and stretched by what x says of them.

        A vector c moved by x gets the length |c| + x.d and turns from its direction d by
        x_perp / |c|, which keeps lengths where straight moves of the nodes would stretch the rod.
        """
        run(ancf_chart.advance, c.nodes, x[6:], out)

    def trouble(self, c: ANCFConfiguration) -> str:
        """Say where the tangent of a cable comes close to the reverse of the tangent at the base."""
        return reversal(self.rod, self.nodes, c.nodes) if self.turn == SPACE else ""

    # -- the map -----------------------------------------------------------------------------

    def frame(self, plan: ANCFPlan, c: ANCFConfiguration) -> None:
        """Write plan.g and plan.J."""
        if plan.at_centres:
            where = (
                self.axes,
                plan.element,
                plan.H,
                c.nodes,
                c.base,
                plan.grounded,
                plan.workspace,
            )
            run(ancf_kernels.place_centres, *where, plan.g, plan.J)
        else:
            curve = (self.turn, self.axes, plan.element, plan.H, plan.dH, c.nodes, c.base)
            run(ancf_kernels.place_sections, *curve, plan.workspace, plan.g, plan.J)

    def strain(self, plan: ANCFPlan, c: ANCFConfiguration) -> None:
        """Write plan.e and plan.B."""
        where = (plan.element, plan.dH, plan.ddH, c.nodes)
        if self.turn == SPACE:
            run(ancf_kernels.place_space_strains, self.axes, *where, plan.workspace, plan.e, plan.B)
        else:
            run(ancf_kernels.place_plane_strains, self.turn, *where, plan.e, plan.B)

    def frame_second(self, plan: ANCFPlan, c: ANCFConfiguration, f: Array, K: Array) -> None:
        """Add to K (E, m, m); `frame` was called with this plan and configuration before."""
        if plan.at_centres:
            run(ancf_kernels.add_centre_second, self.axes, plan.element, plan.H, f, K)
            return
        curve = (self.turn, self.axes, plan.element, plan.dH, c.nodes, plan.workspace)
        run(ancf_kernels.add_frame_second, *curve, plan.J, f, K)

    def strain_second(self, plan: ANCFPlan, c: ANCFConfiguration, sigma: Array, K: Array) -> None:
        """Add to K (E, m, m) the second derivative of sum sigma.e."""
        where = (plan.element, plan.dH, plan.ddH, c.nodes)
        if self.turn == SPACE:
            run(ancf_kernels.add_space_second, self.axes, *where, plan.workspace, sigma, K)
        else:
            run(ancf_kernels.add_plane_second, self.turn, *where, sigma, K)

    def set_centre_values(self, plan: ANCFPlan, y: Array, out: Array) -> None:
        """Velocities of centres."""
        run(ancf_kernels.set_centre_values, self.axes, plan.element, plan.H, y, out)

    def add_centre_vector(self, plan: ANCFPlan, p: Array, r: Array) -> None:
        """Add sum J^T p of centres."""
        run(ancf_kernels.add_centre_vector, self.axes, plan.element, plan.H, p, r)

    def add_centre_form(self, plan: ANCFPlan, k: Array, K: Array) -> None:
        """Add sum J^T k J of centres."""
        run(ancf_kernels.add_centre_form, self.axes, plan.element, plan.H, k, K)

    def frame_bias(self, plan: ANCFPlan, c: ANCFConfiguration, ydot: Array, bias: Array) -> None:
        """Write bias (S, 6); `frame` was called with this plan and configuration before."""
        if plan.at_centres:
            run(
                ancf_kernels.centre_bias,
                self.axes,
                plan.element,
                plan.H,
                plan.workspace,
                ydot,
                bias,
            )
            return
        curve = (self.turn, self.axes, plan.element, plan.dH, c.nodes, plan.workspace)
        run(ancf_kernels.frame_bias, *curve, plan.J, ydot, bias)

    def lift_tangent(
        self,
        c: ANCFConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Add the second derivative of the chart of `advance`, felt by the residual `balance`.

        A chord carries the residual of all nodes beyond it.
        """
        super().lift_tangent(c, ry, balance, Ky, K, passed)
        if balance is not None:
            run(ancf_chart.add_second, c.nodes, balance[6:], K)


__all__ = ["ANCF", "ANCFMap"]
