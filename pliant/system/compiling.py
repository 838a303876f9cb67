"""Small steps on the way from a description to a system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model import Chamber, DescriptionError, Frame, Load, Rod
from pliant.model.profile import evaluate
from pliant.rods.contract import Array, Formulation, Ints, RodMap
from pliant.rods.quadrature import gauss_per_span
from pliant.system.block import Block, Level

_SAME = 1e-9
"""Distance, in lengths of the rod, below which a stretch ends at a break of its map."""


def discretise(rod: Rod, formulation: Formulation) -> RodMap:
    """The map of a rod, or a sentence if the formulation cannot carry its theory."""
    theories = formulation.capabilities.theories
    if rod.theory not in theories:
        raise DescriptionError(
            part=f"rod {rod.name!r}",
            field="theory",
            value=rod.theory,
            expected=f"{' or '.join(theories)} with {type(formulation).__name__}",
            remedy="choose a formulation that can carry it, such as Strain",
        )
    return formulation.discretise(rod)


def attach_load(block: Block, load: Load) -> list[tuple[int, float]]:
    """Stations and weights of a load at a point (one, of weight 1) or over a stretch of a rod.

    A stretch gets Gauss points of its own; a load over a whole rod is collected at the mass stations
    and needs none.
    """
    if isinstance(load.on, Frame):
        return [(block.attach(load.on), 1.0)]
    if load.over is None:
        return []
    s, w = stretch_rule(block.map, *load.over)
    name = block.rod.name
    return [(block.attach(Frame(name, float(a))), float(b)) for a, b in zip(s, w, strict=True)]


def stretch_rule(rod_map: RodMap, start: float, end: float) -> tuple[Array, Array]:
    """Gauss points s (S,) and weights w (S,) between two arclengths, m.

    Its ends need not be breaks of the map, but no span crosses one: what is collected has the
    derivative of strains as a factor, and that jumps there by as much as its own size.
    """
    breaks, near = rod_map.breaks, _SAME * rod_map.rod.length
    inside = breaks[(breaks > start + near) & (breaks < end - near)]
    return gauss_per_span(np.concatenate([[start], inside, [end]]), 5)


@dataclass
class ChamberStations:
    """Where a chamber acts: stresses per Pa at the strain rule (S, 6), at inner stations (X, 6)."""

    block: Block
    rule: Array
    inner: Array
    first: int
    """Its first inner station."""
    rest_volume: float
    """What `sweep` leaves out of the volume: all of it at rest, where there is no thrust."""

    def at_inner(self) -> Array:
        """Stresses per Pa at all inner stations of the rod (X, 6)."""
        found = np.zeros((len(self.block.inner_s), 6))
        found[self.first : self.first + len(self.inner)] = self.inner
        return found

    def volume(self, level: Level) -> float:
        """Volume of the chamber at the strains of `level`, m^3."""
        inner = level.inner.e[self.first : self.first + len(self.inner)]
        swept = -np.sum(self.rule * level.strain.e) - np.sum(self.inner * inner)
        return self.rest_volume + float(swept)


def attach_chamber(block: Block, chamber: Chamber) -> ChamberStations:
    """Stations of a chamber: the strain rule for one along the whole rod, else those of a stretch."""
    length = block.rod.length
    felt = np.any(block.strain_w > 0.0, axis=0)
    start, end = chamber.span(length)
    first, inner = len(block.inner_s), np.zeros((0, 6))
    rule = np.zeros((len(block.strain_s), 6))
    s, w = stretch_rule(block.map, start, end)
    sweep = chamber.sweep(s, length)
    if chamber.over is None:
        rule = -block.strain_w * chamber.sweep(block.strain_s, length)
    else:
        inner = -w[:, None] * sweep * felt
        block.inner_s.extend(float(x) for x in s)
    for row, axis in ((0, "y"), (1, "x")):
        if not felt[row] and sweep[:, row].any():
            raise DescriptionError(
                part=chamber.label,
                field="offset",
                value=chamber.offset,
                expected=f"without {axis}, for the formulation of rod {block.rod.name!r} does not "
                f"bend that way",
                remedy="choose another plane or formulation, such as BSpline()",
            )
    area = evaluate(chamber.label, "area", chamber.area, s, length)
    held = not (chamber.thrust and felt[5])
    return ChamberStations(block, rule, inner, first, float(w @ area) if held else 0.0)


def interleave(block: Block, index: Ints, n: int) -> int:
    """Number own coordinates and stress modes of a rod from n on, each mode where it is felt."""
    nv = block.map.nv
    count = 0 if block.modes is None else block.modes.count
    rows = len(block.mode_rows)
    keys = np.arange(nv, dtype=float)
    if block.modes is not None:
        keys = np.concatenate([keys, np.repeat(block.modes.before - 6 - 0.5, rows)])
    place = np.empty(nv + rows * count, dtype=np.int64)
    place[np.argsort(keys, kind="stable")] = n + np.arange(nv + rows * count)
    index[6:] = place[:nv]
    block.mode_index = place[nv:].reshape(count, rows)
    return n + nv + rows * count
