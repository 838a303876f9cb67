"""Small steps on the way from a description to a system."""

from __future__ import annotations

import numpy as np

from pliant.model import DescriptionError, Frame, Load, Rod
from pliant.rods.contract import Formulation, Ints, RodMap
from pliant.rods.quadrature import gauss_per_span
from pliant.system.block import Block


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

    A stretch gets Gauss points of its own, since its ends need not be ends of elements; a load over
    a whole rod is collected at the mass stations and needs none.
    """
    if isinstance(load.on, Frame):
        return [(block.attach(load.on), 1.0)]
    if load.over is None:
        return []
    start, end = load.over
    share = (end - start) / block.rod.length
    panels = max(1, int(np.ceil(share * len(block.map.elements))))
    s, w = gauss_per_span(np.linspace(start, end, panels + 1), 5)
    name = block.rod.name
    return [(block.attach(Frame(name, float(a))), float(b)) for a, b in zip(s, w, strict=True)]


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
