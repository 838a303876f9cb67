"""Nodes of an ANCF rod: shape functions, what rods they carry, the natural curve, Newton's chart."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.model import DescriptionError, Rod
from pliant.rods.ancf_section import SPACE, XZ, YZ
from pliant.rods.contract import Array, Configuration, Ints, Plan
from pliant.rods.quadrature import gauss_per_span, gauss_points

_NEAR = np.radians(5.0)
"""Angle (rad) to the reverse of the base tangent at which the frame of a cable is in doubt: there it
turns about the tangent 20 times as fast as the tangent turns."""
_SAMPLES = 8
"""Spans of an element between which the tangent is looked at."""


class ANCFPlan(Plan):
    """Stations with the shape functions H (S, 4) and their first and second derivatives."""

    at_centres = False
    """Whether its frames have the axes of the base, not those of the sections."""

    def __init__(self, s: Array, element: Ints, m: int, shapes: tuple[Array, Array, Array]) -> None:
        super().__init__(s, element, m)
        self.H, self.dH, self.ddH = shapes
        self.workspace = np.zeros((6, 3, 3))
        """Workspace of kernels at one station."""


class ANCFConfiguration(Configuration):
    """Nodes (N + 1, 2 d) of the base frame: position, then slope."""

    def __init__(self, nq: int, nodes: Array) -> None:
        super().__init__(nq)
        self.nodes = nodes


def hermite_shapes(t: Array, h: Array | float) -> tuple[Array, Array, Array]:
    """Cubic shape functions (S, 4) at t in [0, 1] of elements of length h, and two derivatives.

    For position and slope of the first node, then of the second (equation 4 of the paper).
    """
    H = [1 - 3 * t**2 + 2 * t**3, h * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, h * (t**3 - t**2)]
    dH = [6 * (t**2 - t) / h, 1 - 4 * t + 3 * t**2, 6 * (t - t**2) / h, 3 * t**2 - 2 * t]
    ddH = [(12 * t - 6) / h**2, (6 * t - 4) / h, (6 - 12 * t) / h**2, (6 * t - 2) / h]
    H_, dH_, ddH_ = (np.ascontiguousarray(np.stack(x, axis=1)) for x in (H, dH, ddH))
    return H_, dH_, ddH_


def natural_nodes(rod: Rod, at: Array, d: int, row: int | None, sign: float) -> Array:
    """Position and slope (N + 1, 2 d) of the natural curve at arclengths `at`, base frame.

    row : strain row of the natural curvature, None for a straight rod; sign : of the angle in it.
    """
    nodes = np.zeros((len(at), 2 * d))
    slope = rod.natural_strain(at)[:, 5]
    angle, place = 0.0, np.zeros(2)
    nodes[0, -1] = slope[0]
    for i in range(1, len(at)):
        fine = np.linspace(at[i - 1], at[i], 9)
        s, w = gauss_per_span(fine, 4)
        strain = rod.natural_strain(s)
        bend = np.zeros(len(s)) if row is None else sign * strain[:, row]
        angles = angle + _integrals(fine, bend)
        place = place + (w * strain[:, 5]) @ np.stack([np.sin(angles), np.cos(angles)], axis=1)
        angle += float(w @ bend)
        nodes[i, [0, d - 1]] = place
        nodes[i, [d, 2 * d - 1]] = slope[i] * np.array([np.sin(angle), np.cos(angle)])
    return nodes


def _integrals(breaks: Array, f: Array) -> Array:
    """Integral (S,) from breaks[0] to each of the four Gauss points a span at which f (S,) is given."""
    h = np.diff(breaks)[:, None]
    values = f.reshape(-1, 4)
    spans = 0.5 * h[:, 0] * (values @ gauss_points(4)[1])
    whole = np.concatenate([[0.0], np.cumsum(spans)[:-1]])
    return np.asarray((whole[:, None] + 0.5 * h * (values @ _partial_rule().T)).ravel())


@lru_cache
def _partial_rule() -> Array:
    """(4, 4): integrals from -1 to each of four Gauss points of the cubic through values at them."""
    legendre = np.polynomial.legendre
    x = gauss_points(4)[0]
    up_to = [legendre.legval(x, legendre.legint(row, lbnd=-1)) for row in np.eye(4)]
    return np.asarray(np.stack(up_to, axis=1) @ np.linalg.inv(legendre.legvander(x, 3)))


def reversal(rod: Rod, at: Array, nodes: Array) -> str:
    """A sentence if the tangent of a cable comes within `_NEAR` of -e3, else "".

    at (N + 1,) are the arclengths of its nodes (N + 1, 6). Between samples the tangent is taken to go
    straight, so that a passage is not missed.
    """
    h = np.diff(at)
    slopes = hermite_shapes(np.linspace(0.0, 1.0, _SAMPLES + 1), 1.0)[1]
    pairs = np.concatenate([nodes[:-1].reshape(-1, 2, 3), nodes[1:].reshape(-1, 2, 3)], axis=1)
    pairs[:, ::2] /= h[:, None, None]
    w = np.einsum("tk,ekc->etc", slopes, pairs)
    w /= np.maximum(np.linalg.norm(w, axis=2, keepdims=True), 1e-300)
    a, d = w[:, :-1], np.diff(w, axis=1)
    along = -np.einsum("etc,etc->et", a, d) - d[..., 2]
    x = np.clip(along / np.maximum(np.einsum("etc,etc->et", d, d), 1e-300), 0.0, 1.0)
    nearest = a + x[..., None] * d
    angle = np.arctan2(np.hypot(nearest[..., 0], nearest[..., 1]), -nearest[..., 2])
    e, i = np.unravel_index(int(np.argmin(angle)), angle.shape)
    if angle[e, i] > _NEAR:
        return ""
    s = at[e] + h[e] * (i + x[e, i]) / _SAMPLES
    return (
        f"At s = {s:.4g} m of {rod.label} the tangent of the cable comes within "
        f"{np.degrees(angle[e, i]):.2g} degrees of the reverse of the tangent at its base. There the "
        "frames of ANCF(planar=False) turn over, and neither what acts by moments, offsets and "
        "viscosity nor the iteration can be trusted: split the rod before that place into two "
        "joined rods, or use BSpline()."
    )


def check_rod(rod: Rod, turn: int) -> None:
    """Refuse a natural shape or a section that the curve cannot have."""
    name = "an ANCF cable" if turn == SPACE else "a planar ANCF rod"
    probes = np.linspace(0.0, rod.length, 33)
    natural = rod.natural_strain(probes) - [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    row = {XZ: 1, YZ: 0, SPACE: 5}[turn]
    others = [i for i in range(5) if i != row]
    shape = {XZ: "curved about y", YZ: "curved about x", SPACE: "straight"}[turn]
    if np.any(natural[:, others] != 0.0):
        raise DescriptionError(
            rod.label,
            "natural",
            rod.natural,
            f"{shape} and nothing else with {name}",
            "choose another plane, or a formulation such as BSpline()",
        )
    for field, given, kind, values in (
        ("section", rod.section, "stiffness", rod.stiffness(probes)),
        ("strain_damping", rod.strain_damping, "damping", rod.damping(probes)),
    ):
        unequal = np.abs(values[:, 0] - values[:, 1]) > 1e-9 * values[:, :2].max(axis=1)
        if turn == SPACE and np.any(unequal):
            raise DescriptionError(
                rod.label,
                field,
                given,
                f"of equal bending {kind} in both directions with {name}",
                "choose BSpline(), or ANCF(planar=True) if it bends in one plane",
            )
