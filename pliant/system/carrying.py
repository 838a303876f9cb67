"""Refusal of loads that a formulation cannot carry, from the rows it declares.

A rod in a plane does not move out of it, and a cable does not twist. A load that would make them do
so is refused by name instead of being carried by nobody. It is judged in the undeformed robot; a
planar rod on a moving base passes such loads on to its carrier, and gravity on to its base.
"""

from __future__ import annotations

import numpy as np

from pliant.model import DescriptionError, Load
from pliant.rods.contract import Array
from pliant.system.block import Block

_NAMES = (
    "a moment about x",
    "a moment about y",
    "a twist moment",
    "a force along x",
    "a force along y",
    "an axial force",
)


def uncarried_rows(block: Block) -> list[int]:
    """Rows of a body wrench that the rod neither carries nor passes on."""
    missing = [row for row in range(6) if row not in block.frame_rows]
    return [] if len(missing) > 1 and block.rod.base != "world" else missing


def check_carried(block: Block, load: Load, g: Array, offset: Array, wrench: Array) -> None:
    """Refuse wrenches (S, 6) of `load` with parts that the rod cannot carry.

    g (S, 4, 4) rest poses of the sections, offset (S, 3) of the points from them, body frame.
    """
    rows = uncarried_rows(block)
    if not rows:
        return
    moment, force = wrench[:, :3], wrench[:, 3:]
    if load.frame == "world":
        moment, force = (np.einsum("sji,sj->si", g[:, :3, :3], part) for part in (moment, force))
    body = np.concatenate([moment + np.cross(offset, force), force], axis=1)
    size = np.linalg.norm(body[:, :3], axis=1) + block.rod.length * np.linalg.norm(force, axis=1)
    arm = np.repeat([1.0, block.rod.length], 3)
    for row in rows:
        if np.any(np.abs(body[:, row]) * arm[row] > 1e-9 * size):
            planar = len(rows) > 1
            raise DescriptionError(
                load.label,
                "moment" if row < 3 else "force",
                tuple(float(x) for x in wrench[np.argmax(np.abs(body[:, row]))]),
                f"without {_NAMES[row]} of the section of rod {block.rod.name!r}, which "
                + ("its planar formulation" if planar else "a formulation without twist")
                + " cannot carry",
                "choose another plane or formulation, such as BSpline()",
            )
