"""Refusal of loads that a formulation cannot carry, from the rows it declares.

A rod in a plane does not move out of it, and a cable does not twist. A load that would make them do
so is refused by name instead of being carried by nobody. It is judged in the undeformed robot; a
planar rod on a moving base passes such loads on to its carrier, and gravity on to its base. Gravity
across the plane of a rod that is clamped to the world is left out with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Description, DescriptionError, ResolutionWarning
from pliant.rods.contract import Array, Ints
from pliant.tree.part import Part

_NAMES = (
    "a moment about x",
    "a moment about y",
    "a twist moment",
    "a force along x",
    "a force along y",
    "an axial force",
)


class Directed(Protocol):
    """Something that exerts wrenches with directions of the "world" or of the "body"."""

    @property
    def frame(self) -> str:
        """Whose directions they have."""

    @property
    def label(self) -> str:
        """How error messages call it."""


def uncarried_rows(part: Part) -> list[int]:
    """Rows of a body wrench that the rod neither carries nor passes on."""
    missing = [row for row in range(6) if row not in part.frame_rows]
    clamped = part.rod is not None and part.rod.base == "world" and part.rod.joint is None
    return [] if len(missing) > 1 and not clamped else missing


def warn_of_weight(parts: Iterable[Part], gravity: ArrayLike) -> None:
    """Tell of gravity that a planar rod does not feel, since it acts across its plane."""
    size = float(np.linalg.norm(gravity))
    for part in parts:
        rows = [row for row in uncarried_rows(part) if row >= 3]
        felt = part.pose[:3, :3].T @ np.asarray(gravity, dtype=float)
        for row in rows:
            if abs(felt[row - 3]) > 1e-6 * size:
                warnings.warn(
                    f"{part.source.label}: gravity has {abs(felt[row - 3]):.3g} m/s^2 across the plane "
                    "in which its planar formulation bends, and does not bend it there; turn its "
                    "pose, choose the other plane, or a formulation in space such as BSpline()",
                    ResolutionWarning,
                    stacklevel=2,
                )


def warn_of_unresolved(description: Description) -> None:
    """Tell of data along rods that change too quickly to be integrated."""
    for doubt in description.unresolved():
        warnings.warn(doubt, ResolutionWarning, stacklevel=2)


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
        if np.any(np.abs(body[:, row]) * arm[row] > 1e-9 * size):
            planar = len(rows) > 1
            raise DescriptionError(
                load.label,
                "moment" if row < 3 else "force",
                tuple(float(x) for x in wrench[np.argmax(np.abs(body[:, row]))]),
                f"without {_NAMES[row]} of the section of rod {part.name!r}, which "
                + ("its planar formulation" if planar else "a formulation without twist")
                + " cannot carry",
                "choose another plane or formulation, such as BSpline()",
            )
