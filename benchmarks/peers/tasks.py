"""The tasks of the comparison as plain numbers: every tool reads them from here.

Only NumPy is needed, for this file is imported in the environment of each peer. SI units
throughout; the rods lie along x, their base is clamped at the origin and gravity acts along -z.
*Planar* tasks stay in the x-z plane; *spatial* ones have an additional force along y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

GRAVITY = 9.81


@dataclass(frozen=True)
class Rod:
    """A straight uniform rod; its section is a circle of ``radius`` or a square of ``side``."""

    length: float
    E: float
    nu: float
    rho: float
    radius: float = 0.0
    side: float = 0.0

    @property
    def area(self) -> float:
        return self.side**2 if self.side else math.pi * self.radius**2

    @property
    def second_moment(self) -> float:
        """About an axis in the section, m^4."""
        return self.side**4 / 12.0 if self.side else math.pi * self.radius**4 / 4.0

    @property
    def shear_modulus(self) -> float:
        return self.E / (2.0 * (1.0 + self.nu))

    @property
    def bending(self) -> float:
        return self.E * self.second_moment

    @property
    def torsion(self) -> float:
        """With the polar moment 2 I, also for the square (the bending of no task depends on it)."""
        return 2.0 * self.shear_modulus * self.second_moment

    @property
    def axial(self) -> float:
        return self.E * self.area

    @property
    def shear(self) -> float:
        """G A, without a correction factor."""
        return self.shear_modulus * self.area


@dataclass(frozen=True)
class Task:
    """What a tool has to solve; ``times`` are those of the outputs, empty for statics.

    tip_force : at the tip along z, N.  lateral : along y, N, at ``lateral_at`` of the length; in the
    spatial variant only.  tension : of a tendon at ``offset`` above the axis, ramped up in ``ramp``.
    """

    name: str
    title: str
    rod: Rod
    duration: float = 0.0
    outputs: int = 1
    gravity: float = 0.0
    tip_force: float = 0.0
    lateral: float = 0.0
    lateral_at: float = 1.0
    offset: float = 0.0
    tension: float = 0.0
    ramp: float = 0.0
    copies: int = 0
    """Of the rod, with other moduli each (T5)."""
    grid: int = 0
    """Tensions from zero to ``tension`` of each of three tendons around the rod (T7)."""
    rods: int = 0
    """Side by side on a circle of radius ``circle`` about the axis x, clamped to one plate of ``mass``
    with the moments of inertia ``turning`` about x, y and z, kg m^2 (T6)."""
    circle: float = 0.0
    mass: float = 0.0
    turning: tuple[float, float, float] = (0.0, 0.0, 0.0)
    travel: float = 0.0
    """How far sliders move the bases along x, m, see `slider_travels`."""
    planar: bool = True
    """Whether the task has a planar variant."""

    @property
    def times(self) -> np.ndarray:
        return np.linspace(0.0, self.duration, self.outputs) if self.duration else np.zeros(1)

    def variant(self, spatial: bool) -> Task:
        """Return this task, without its lateral force if it is planar."""
        return self if spatial else replace(self, lateral=0.0)


SOFT = Rod(1.0, 1e6, 0.5, 1000.0, radius=0.01)
STEEL = Rod(1.0, 210e9, 0.2, 7800.0, side=0.01)
ARM = Rod(0.3, 1e6, 0.5, 1000.0, radius=0.01)
WIRE = Rod(0.4, 207e9, 0.3, 7850.0, radius=0.67e-3)

TASKS = {
    task.name: task
    for task in (
        Task("T1", "sag of a soft rod", SOFT, gravity=GRAVITY, lateral=0.2),
        Task("T2", "fall of a soft rod, 2 s", SOFT, 2.0, 41, GRAVITY, lateral=0.2),
        Task(
            "T3", "steel cantilever, 0.5 s", STEEL, 0.5, 41,
            tip_force=-10.0, lateral=5.0, lateral_at=0.5,
        ),
        Task(
            "T4", "tendon arm, 2 s", ARM, 2.0, 41,
            lateral=0.05, offset=0.007, tension=5.0, ramp=0.5,
        ),
        Task("T5", "64 falls of soft rods", SOFT, 2.0, 41, GRAVITY, lateral=0.2, copies=64),
        Task(
            "T6", "six-rod parallel robot, 2 s", WIRE, 2.0, 41, rods=6, circle=0.1, mass=0.1,
            turning=(5e-4, 2.5e-4, 2.5e-4), travel=0.02, planar=False,
        ),
        Task(
            "T7", "1,000 equilibria of a tendon arm", ARM,
            offset=0.007, tension=5.0, grid=10, planar=False,
        ),
    )
}  # fmt: skip
"""All tasks by name."""

EVERY = {"T5": 9, "T7": 37}
"""Of many results, those whose error is measured: the first one and every so many after it."""


def moduli(task: Task) -> np.ndarray:
    """Young's moduli of the copies of a rod, Pa, from its own up to twice that."""
    return task.rod.E * np.geomspace(1.0, 2.0, task.copies)


def rod_places(task: Task) -> np.ndarray:
    """Where the axes of the rods of T6 are at the start, (rods, 3), m; the plate is in their middle."""
    angles = 2.0 * np.pi * np.arange(task.rods) / task.rods
    places = [np.zeros_like(angles), np.cos(angles), np.sin(angles)]
    return task.circle * np.stack(places, axis=-1)


def slider_travels(task: Task) -> np.ndarray:
    """Travels a (rods,) of the bases of T6, m: at the time t they are at a (1 - cos(2 pi t / T)) / 2,
    T the duration. The bases stay in a plane that moves and tilts.
    """
    angles = 2.0 * np.pi * np.arange(task.rods) / task.rods
    return task.travel * (0.5 + np.cos(angles) + 0.5 * np.sin(angles))


def tension_grid(task: Task) -> np.ndarray:
    """Tensions (K, 3) of three tendons, N, each row next to the one before it."""
    levels = np.linspace(0.0, task.tension, task.grid)
    rows = []
    for i, a in enumerate(levels):
        for j, b in enumerate(levels[:: 1 if i % 2 == 0 else -1]):
            turned = (i * task.grid + j) % 2
            rows += [(a, b, c) for c in (levels[::-1] if turned else levels)]
    return np.array(rows)


def tendon_angles() -> np.ndarray:
    """Angles of the three tendons of T7 about the axis x, from z towards y, rad."""
    return 2.0 * np.pi * np.arange(3) / 3.0
