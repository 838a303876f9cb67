"""What acts on a robot at one moment: gravity, every load, moving bases, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.model import DescriptionError, Frame, did_you_mean
from pliant.rods.contract import Array
from pliant.system.carrying import check_carried
from pliant.system.system import System


@dataclass
class Loading:
    """Wrenches on every rod, in the order of the system's blocks; scales and mixes linearly.

    point_dead, point_follower : per block (P, 6) at its points, world and body frame.
    line_dead, line_follower : per block (S, 6) at its mass stations, already weighted.
    stress, inner : per block (S, 6) at its strain stations and (X, 6) at its inner ones, gradients
        of what chambers do on strains, already weighted.
    drive : (K, 3), per base motion its input, the rate (1/s) and the acceleration (1/s^2) of it.
    potential : per block, whether what chambers do there has one.
    """

    point_dead: list[Array]
    point_follower: list[Array]
    line_dead: list[Array]
    line_follower: list[Array]
    drive: Array
    stress: list[Array]
    inner: list[Array]
    potential: list[bool]

    def mix(self, other: Loading, t: float) -> Loading:
        """The loading a fraction t of the way from this one to `other`."""

        def blend(a: list[Array], b: list[Array]) -> list[Array]:
            return [(1.0 - t) * x + t * y for x, y in zip(a, b, strict=True)]

        return Loading(
            blend(self.point_dead, other.point_dead),
            blend(self.point_follower, other.point_follower),
            blend(self.line_dead, other.line_dead),
            blend(self.line_follower, other.line_follower),
            (1.0 - t) * self.drive + t * other.drive,
            blend(self.stress, other.stress),
            blend(self.inner, other.inner),
            self.potential,
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
            np.zeros((len(system.description.base_motions), 3)),
            [np.zeros((len(b.strain_s), 6)) for b in blocks],
            [np.zeros((len(b.inner_s), 6)) for b in blocks],
            [b.map.actuation.conservative for b in blocks],
        )

    def scaled(self, factor: float) -> Loading:
        """All wrenches and motions times `factor`."""
        return Loading(
            [factor * a for a in self.point_dead],
            [factor * a for a in self.point_follower],
            [factor * a for a in self.line_dead],
            [factor * a for a in self.line_follower],
            factor * self.drive,
            [factor * a for a in self.stress],
            [factor * a for a in self.inner],
            self.potential,
        )

    def plus(self, parts: list[Loading], factors: list[float]) -> Loading:
        """Add some others, each times its factor; motions of bases stay."""

        def add(name: str) -> list[Array]:
            found = [a.copy() for a in getattr(self, name)]
            for part, factor in zip(parts, factors, strict=True):
                for own, more in zip(found, getattr(part, name), strict=True):
                    own += factor * more
            return found

        return Loading(
            add("point_dead"),
            add("point_follower"),
            add("line_dead"),
            add("line_follower"),
            self.drive,
            add("stress"),
            add("inner"),
            self.potential,
        )

    def moving(self, drive: Array) -> Loading:
        """The same wrenches with other motions (K, 3) of bases."""
        return replace(self, drive=drive)

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
    def stress_active(self) -> list[bool]:
        """Per block, whether chambers act on its strains."""
        return [bool(a.any() or b.any()) for a, b in zip(self.stress, self.inner, strict=True)]

    @cached_property
    def conservative(self) -> bool:
        """True if all has a potential: dead forces, and chambers that act on strains."""
        moments = any(a[:, :3].any() for a in self.point_dead + self.line_dead)
        follow = any(a.any() for a in self.point_follower + self.line_follower)
        acts = zip(self.stress_active, self.potential, strict=True)
        return not (moments or follow or any(active and not has for active, has in acts))

    @cached_property
    def empty(self) -> bool:
        """True if nothing acts."""
        return not any((*self.point_active, *self.line_active, *self.stress_active))


_NOTHING: WeakKeyDictionary[System, Loading] = WeakKeyDictionary()


def no_loading(system: System) -> Loading:
    """The one `Loading.nothing` that is kept for a system; not to be changed."""
    kept = _NOTHING.get(system)
    if kept is None:
        kept = _NOTHING[system] = Loading.nothing(system)
    return kept


def make_loading(system: System, inputs: Mapping[str, Any]) -> Loading:
    """Gravity, loads and still bases for input values by name (those not named: their default)."""
    known = system.description.inputs()
    check_inputs(known, inputs)
    blocks = system.blocks
    out = Loading.nothing(system)
    gravity = np.asarray(system.description.gravity)
    if gravity.any():
        for i, block in enumerate(blocks):
            out.line_dead[i][:, 3:] = block.line_mass[:, None] * gravity
            out.point_dead[i][:, 3:] = block.point_mass[:, None] * gravity
    for load in system.description.loads.values():
        value = inputs.get(load.name, known[load.name])
        i = blocks.index(system.by_name[load.part])
        world = load.frame == "world"
        stations = system.load_points[load.name]
        points = out.point_dead if world else out.point_follower
        rest_points, rest_mass = system.rest_frames[i]
        if isinstance(load.on, Frame) or stations:
            at, weight = [k for k, _ in stations], np.array([w for _, w in stations])[:, None]
            if isinstance(load.on, Frame):
                wrench = load.wrench(value)[None]
            else:
                wrench = load.density(np.array([blocks[i].point_s[k] for k in at]), value)
            check_carried(blocks[i], load, rest_points[at], blocks[i].offset[at], wrench)
            np.add.at(points[i], at, weight * wrench)
        else:
            lines = out.line_dead if world else out.line_follower
            wrench = load.density(blocks[i].mass_s, value)
            check_carried(blocks[i], load, rest_mass, np.zeros((len(wrench), 3)), wrench)
            lines[i] += wrench * blocks[i].mass_w[:, None]
    for name, chamber in system.chambers.items():
        pressure = float(inputs.get(name, known[name]))
        i = blocks.index(chamber.block)
        out.stress[i] += pressure * chamber.rule
        out.inner[i] += pressure * chamber.at_inner()
    for k, motion in enumerate(system.description.base_motions.values()):
        out.drive[k, 0] = motion.amount(inputs.get(motion.name, known[motion.name]))
    return out


def check_inputs(known: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Refuse inputs the robot does not have."""
    for name in inputs:
        if name not in known:
            raise DescriptionError(
                part="inputs",
                field=str(name),
                value=inputs[name],
                expected="the name of a load, base motion or chamber of this robot",
                remedy=did_you_mean(str(name), list(known)),
            )
