"""Refusal of what a formulation cannot carry, from the rows that it declares.

A rod in a plane does not move out of it, and a cable does not twist. A load that would make them do
so, a body whose inertia would, and a constraint that holds what they cannot resist are refused by name
instead of being carried by nobody. They are judged in the undeformed robot. A planar rod on a moving
base passes such loads on to its carrier. What depends on the shape and the motion is judged there, see
`solve.uncarried`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pliant.lie import se3
from pliant.model import DescriptionError
from pliant.physics.frame_rows import FrameRows
from pliant.rods.contract import Array, Ints
from pliant.tree.part import Part
from pliant.tree.tree import Tree

_NAMES = (
    "a moment about x",
    "a moment about y",
    "a twist moment",
    "a force along x",
    "a force along y",
    "an axial force",
)
_ROUNDING = 1e-9
"""Share of a wrench, of an inertia or of the motion of a gap that counts as rounding."""


class Directed(Protocol):
    """Something that exerts wrenches with directions of the "world" or of the "body"."""

    @property
    def frame(self) -> object:
        """Whose directions they have."""

    @property
    def label(self) -> str:
        """How error messages call it."""


def uncarried_rows(part: Part) -> list[int]:
    """Rows of a body wrench that the rod neither carries nor passes on."""
    missing = [row for row in range(6) if row not in part.capabilities.frame_rows]
    clamped = part.rod is not None and part.rod.base == "world" and part.rod.joint is None
    return [] if len(missing) > 1 and not clamped else missing


def _formulation(part: Part) -> str:
    return "its planar formulation" if part.capabilities.planar else "a formulation without twist"


def check_carried(part: Part, load: Directed, stations: Ints, g: Array, wrench: Array) -> None:
    """Refuse wrenches (S, 6) of `load` with components that the rod cannot carry.

    g (S, 4, 4) rest poses of the frame stations at which it acts.
    """
    rows = uncarried_rows(part)
    if not rows:
        return
    body = wrench
    if load.frame == "world":
        halves = (wrench[:, :3], wrench[:, 3:])
        turned = [np.einsum("sji,sj->si", g[:, :3, :3], half) for half in halves]
        body = np.concatenate(turned, axis=1)
    body = part.at_sections(stations, body)
    size = np.linalg.norm(body[:, :3], axis=1) + part.length * np.linalg.norm(body[:, 3:], axis=1)
    arm = np.repeat([1.0, part.length], 3)
    for row in rows:
        if np.any(np.abs(body[:, row]) * arm[row] > _ROUNDING * size):
            raise DescriptionError(
                load.label,
                "moment" if row < 3 else "force",
                tuple(float(x) for x in wrench[np.argmax(np.abs(body[:, row]))]),
                f"without {_NAMES[row]} of the section of rod {part.name!r}, which "
                f"{_formulation(part)} cannot carry",
                "choose another plane or formulation, such as BSpline()",
            )


def check_bodies(tree: Tree) -> None:
    """Refuse bodies whose weight and inertia move a rod where its formulation does not follow.

    A body carries motion from one row of twists to another by its inertia (6 x 6) about the section.
    """
    for body in tree.description.bodies.values():
        i, _, pose = tree.place_of_part(body.name)
        part = tree.parts[i]
        rows = uncarried_rows(part)
        if part.rod is None or not rows:
            continue
        inertia, axes = body.principal()
        A = np.asarray(se3.Ad(se3.inverse(pose @ axes)))
        arm = np.repeat([1.0 / part.length, 1.0], 3)
        M = arm[:, None] * (A.T @ (inertia[:, None] * A)) * arm
        coupled = np.abs(M[np.ix_(rows, part.capabilities.frame_rows)])
        if np.max(coupled) > _ROUNDING * np.max(M):
            raise DescriptionError(
                body.label,
                "centre or inertia",
                body.centre,
                f"symmetric to the axis or plane of rod {part.name!r}, for beside it weight and "
                f"inertia twist the rod, which {_formulation(part)} cannot do",
                "choose another plane or formulation, such as BSpline()",
            )


def check_held(tree: Tree, term: FrameRows) -> None:
    """Refuse rows that hold a rod where its formulation neither moves nor resists.

    Across the plane of a planar rod such a row is met at any shape, or never. How a cable turns about
    its tangent is a convention, which no constraint can hold.
    """
    parts = [tree.parts[i] for i, _ in term.sides]
    lame = next((part for part in parts if len(part.capabilities.frame_rows) < 6), None)
    if lame is None or term.one_sided or not term.hard:
        return
    gaps, slopes = term.measured(tree.rest)
    moved = np.max(np.abs(term.jacobian(tree.rest)), axis=1, initial=0.0)
    idle = moved <= _ROUNDING * np.max(np.abs(slopes), axis=1)
    met = lame.capabilities.planar & (np.abs(gaps) <= _ROUNDING * lame.length)
    for row in np.flatnonzero(idle & ~met):
        raise DescriptionError(
            term.label,
            "held direction",
            term.row_name(int(row)),
            f"one in which rod {lame.name!r} moves and resists, while {_formulation(lame)} cannot",
            "hold the other directions only, or choose a formulation such as BSpline()",
        )
