"""What loads a robot at one moment: gravity and the wrench of every load, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.model import DescriptionError, Frame, did_you_mean
from pliant.rods.contract import Array
from pliant.system.system import System


@dataclass
class Loading:
    """Wrenches on every rod, in the order of the system's blocks; scales and mixes linearly.

    point_dead, point_follower : per block (P, 6) at its points, world and body frame.
    line_dead, line_follower : per block (S, 6) at its mass stations, already weighted.
    """

    point_dead: list[Array]
    point_follower: list[Array]
    line_dead: list[Array]
    line_follower: list[Array]

    def mix(self, other: Loading, t: float) -> Loading:
        """The loading a fraction t of the way from this one to `other`."""

        def blend(a: list[Array], b: list[Array]) -> list[Array]:
            return [(1.0 - t) * x + t * y for x, y in zip(a, b, strict=True)]

        return Loading(
            blend(self.point_dead, other.point_dead),
            blend(self.point_follower, other.point_follower),
            blend(self.line_dead, other.line_dead),
            blend(self.line_follower, other.line_follower),
        )

    @classmethod
    def nothing(cls, system: System) -> Loading:
        """No load at all, not even gravity."""
        blocks = system.blocks
        return cls(
            [np.zeros((len(b.point_s), 6)) for b in blocks],
            [np.zeros((len(b.point_s), 6)) for b in blocks],
            [np.zeros((len(b.mass_s), 6)) for b in blocks],
            [np.zeros((len(b.mass_s), 6)) for b in blocks],
        )

    def scaled(self, factor: float) -> Loading:
        """All wrenches times `factor`."""
        return Loading(
            [factor * a for a in self.point_dead],
            [factor * a for a in self.point_follower],
            [factor * a for a in self.line_dead],
            [factor * a for a in self.line_follower],
        )

    @cached_property
    def line_active(self) -> list[bool]:
        """Per block, whether anything acts along it."""
        pairs = zip(self.line_dead, self.line_follower, strict=True)
        return [bool(a.any() or b.any()) for a, b in pairs]

    @cached_property
    def point_active(self) -> list[bool]:
        """Per block, whether anything acts at its points."""
        pairs = zip(self.point_dead, self.point_follower, strict=True)
        return [bool(a.any() or b.any()) for a, b in pairs]

    @cached_property
    def conservative(self) -> bool:
        """True if the wrenches have a potential: dead forces only."""
        moments = any(a[:, :3].any() for a in self.point_dead + self.line_dead)
        return not (moments or any(a.any() for a in self.point_follower + self.line_follower))

    @cached_property
    def empty(self) -> bool:
        """True if nothing acts."""
        return not (any(self.point_active) or any(self.line_active))


_NOTHING: WeakKeyDictionary[System, Loading] = WeakKeyDictionary()


def no_loading(system: System) -> Loading:
    """The one `Loading.nothing` that is kept for a system; not to be changed."""
    kept = _NOTHING.get(system)
    if kept is None:
        kept = _NOTHING[system] = Loading.nothing(system)
    return kept


def make_loading(system: System, inputs: Mapping[str, Any]) -> Loading:
    """Gravity and all loads for input values by name (those not named keep their default)."""
    known = system.description.inputs()
    check_inputs(known, inputs)
    blocks = system.blocks
    out = Loading.nothing(system)
    gravity = np.asarray(system.description.gravity)
    if gravity.any():
        for i, block in enumerate(blocks):
            out.line_dead[i][:, 3:] = block.line_mass[:, None] * gravity
    for load in system.description.loads.values():
        value = inputs.get(load.name, known[load.name])
        i = blocks.index(system.by_name[load.part])
        world = load.frame == "world"
        stations = system.load_points[load.name]
        points = out.point_dead if world else out.point_follower
        if isinstance(load.on, Frame):
            points[i][stations[0][0]] += load.wrench(value)
        elif stations:
            s = np.array([blocks[i].point_s[at] for at, _ in stations])
            for (at, weight), wrench in zip(stations, load.density(s, value), strict=True):
                points[i][at] += weight * wrench
        else:
            lines = out.line_dead if world else out.line_follower
            lines[i] += load.density(blocks[i].mass_s, value) * blocks[i].mass_w[:, None]
    return out


def check_inputs(known: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Refuse inputs the robot does not have."""
    for name in inputs:
        if name not in known:
            raise DescriptionError(
                part="inputs",
                field=str(name),
                value=inputs[name],
                expected="the name of a load of this robot",
                remedy=did_you_mean(str(name), list(known)),
            )
