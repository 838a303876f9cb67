"""Random soft and stiff robots: tapered and curved rods with loads, bodies and chambers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pliant as pl
from pliant.model import Array

SECTIONS = 41
SOFT, STIFF = (5.0, 6.5), (8.5, 11.3)
"""Ranges of the decimal logarithm of Young's modulus, Pa."""


def random_robot(seed: int, moduli: tuple[float, float] = SOFT) -> pl.Robot:
    """A robot that bends by a fraction of its length up to several turns."""
    rng = np.random.default_rng(seed)
    down = rng.normal(size=3)
    robot = pl.Robot(gravity=tuple(9.81 * down / np.linalg.norm(down)))
    rod = None
    for k in range(int(rng.choice([1, 1, 1, 2, 3]))):
        rod = _add_rod(robot, rng, moduli, k, rod)
    return robot


def _add_rod(
    robot: pl.Robot,
    rng: np.random.Generator,
    moduli: tuple[float, float],
    k: int,
    carrier: pl.Rod | None,
) -> pl.Rod:
    length = rng.uniform(0.1, 0.6)
    radius = length * 10.0 ** rng.uniform(-2.1, -1.2)
    tip = radius * rng.uniform(0.4, 1.2)
    E = 10.0 ** rng.uniform(*moduli)
    soft = pl.Material(E=E, nu=0.45, rho=rng.uniform(800.0, 1500.0))
    axis = "xyz"[int(rng.integers(3))]
    place: dict[str, Any] = {"base": carrier.tip} if carrier else {"pose": pl.along(axis)}
    if rng.random() < 0.4:
        place["natural"] = tuple(rng.normal(size=3) * (1.5, 1.5, 0.5) / length)
    rod = robot.add_rod(f"rod{k}", length, pl.Circle((radius, tip)), soft, **place)
    stiff = E * np.pi * tip**4 / 4.0
    if rng.random() < 0.6:
        force = rng.normal(size=3)
        force *= stiff / length**2 * 10.0 ** rng.uniform(-1.0, 0.6) / np.linalg.norm(force)
        on = rod.tip if rng.random() < 0.7 else rod.at(length * rng.uniform(0.3, 0.9))
        robot.add_load(
            f"force{k}", on, force=tuple(force), frame=str(rng.choice(["world", "body"]))
        )
    if rng.random() < 0.25:
        mass = 1000.0 * np.pi * tip**2 * length * rng.uniform(0.05, 0.5)
        robot.add_body(
            f"bob{k}", mass, on=rod.at(length * rng.uniform(0.5, 1.0), offset=(tip, 0.0))
        )
    if rng.random() < 0.25:
        area = np.pi * (0.3 * tip) ** 2
        pressure = rng.uniform(0.2, 2.0) * stiff / (area * 0.5 * tip * length)
        robot.add_chamber(f"chamber{k}", rod, area, (0.5 * tip, 0.0), pressure=pressure)
    return rod


@dataclass
class RandomTask:
    """A robot that is soft or stiff, and what is asked of it: an equilibrium, or a motion from rest
    under its weight and loads for `duration` seconds.
    """

    seed: int
    robot: pl.Robot
    stiff: bool
    duration: float | None

    @property
    def text(self) -> str:
        kind = "statics" if self.duration is None else f"motion of {self.duration:.3g} s"
        return f"{self.seed}: {'stiff' if self.stiff else 'soft'}, {kind}"


def random_task(seed: int) -> RandomTask:
    """Every other one soft, every other pair a motion of half a swing to one and a half."""
    stiff, moves = bool(seed % 2), bool(seed // 2 % 2)
    robot = random_robot(seed, STIFF if stiff else SOFT)
    rng = np.random.default_rng([seed, 1])
    duration = rng.uniform(0.5, 1.5) * _swing(robot) if moves else None
    return RandomTask(seed, robot, stiff, duration)


def _swing(robot: pl.Robot) -> float:
    """Period of the slowest swing of a chain of rods, by its stiffness or its weight, s."""
    rods = list(robot.description.rods.values())
    length = sum(rod.length for rod in rods)
    stiffness = min(float(rod.stiffness(np.zeros(1))[0, 0]) for rod in rods)
    mass = sum(float(rod.inertia(np.zeros(1))[0, 3]) * rod.length for rod in rods) / length
    bending = 3.516 * np.sqrt(stiffness / (mass * length**4))
    return float(2.0 * np.pi / max(bending, 1.5 * np.sqrt(9.81 / length)))


def length_of(result: Any) -> float:
    """Length of the longest rod, m."""
    return max(rod.length for rod in result._compiled.description.rods.values())


def shapes(result: Any) -> Array:
    """Positions (..., P, 3) of sections of all rods of an equilibrium or a motion, m."""
    rods = result._compiled.description.rods.items()
    found = [result.position(name, np.linspace(0.0, rod.length, SECTIONS)) for name, rod in rods]
    return np.concatenate(found, axis=-2)


def distance(one: Any, other: Any) -> float:
    """Largest distance between the shapes of two results over the length of the longest rod."""
    apart = np.linalg.norm(shapes(one) - shapes(other), axis=-1)
    return float(apart.max()) / length_of(one)
