"""Random robots of rods, bodies, joints, springs, tendons and loops, by seed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import pliant as pl
from pliant.lie import se3

PARTS = (3, 7)
"""Least and largest number of parts."""
_AXES = ("x", "y", "z")


def random_tree(seed: int, loops: bool = True) -> tuple[pl.Robot, dict[str, Any]]:
    """A soft robot under gravity with everything that moves held by a stiffness, and its inputs.

    loops : whether it may have some.
    """
    rng = np.random.default_rng(seed)
    robot = pl.Robot()
    places: list[Any] = []
    inputs: dict[str, Any] = {}
    for k in range(int(rng.integers(*PARTS))):
        on = places[int(rng.integers(len(places)))] if places else None
        if not places or rng.random() < 0.6:
            places.append(_add_rod(robot, rng, f"rod{k}", on).tip)
        else:
            places.append(_add_body(robot, rng, f"body{k}", on).at((0.0, 0.0, 0.02)))
    tip = places[-1]
    robot.add_load("push", tip, force=rng.uniform(-0.15, 0.15, 3), frame=_one(rng, "world", "body"))
    inputs["push"] = 1.0
    if rng.random() < 0.6:
        a, b = _two(rng, places)
        robot.add_spring("spring", a, b, stiffness=float(rng.uniform(0.5, 20.0)))
    rods = list(robot.description.rods.values())
    if rng.random() < 0.6:
        _add_tendon(robot, rng, rods[int(rng.integers(len(rods)))])
        inputs["pull"] = float(rng.uniform(0.2, 1.5))
    if loops and len(places) > 2 and rng.random() < 0.5:
        joint = (None, pl.Spherical(), pl.Revolute(_one(rng, *_AXES)))[int(rng.integers(3))]
        robot.connect("loop", places[-1], places[0], joint=joint)
    return robot, inputs


def _one(rng: Any, *words: str) -> str:
    return words[int(rng.integers(len(words)))]


def _two(rng: Any, places: list[Any]) -> tuple[Any, Any]:
    """Two different places, the second perhaps in the world."""
    a = places[int(rng.integers(len(places)))]
    b = places[int(rng.integers(len(places)))]
    return a, (tuple(rng.uniform(-0.3, 0.3, 3)) if b is a else b)


def _turned(rng: Any) -> Any:
    """A pose turned by up to 1.2 rad about a random axis."""
    turn = rng.standard_normal(3)
    turn *= rng.uniform(0.0, 1.2) / np.linalg.norm(turn)
    return se3.exp(np.concatenate([turn, np.zeros(3)]))


def _add_rod(robot: pl.Robot, rng: Any, name: str, on: Any) -> pl.Rod:
    soft = pl.Material(
        E=float(10 ** rng.uniform(6.0, 7.5)), nu=float(rng.uniform(0.3, 0.5)),
        rho=float(rng.uniform(900.0, 2000.0)), viscosity=float(10 ** rng.uniform(2.0, 3.5)),
    )  # fmt: skip
    natural = rng.uniform(-4.0, 4.0, 3) if rng.random() < 0.3 else (0.0, 0.0, 0.0)
    joint = _joint(rng) if on is not None and rng.random() < 0.3 else None
    return robot.add_rod(
        *(name, float(rng.uniform(0.08, 0.25)), pl.Circle(float(rng.uniform(0.004, 0.01))), soft),
        pose=_turned(rng), base="world" if on is None else on, natural=natural, joint=joint,
    )  # fmt: skip


def _add_body(robot: pl.Robot, rng: Any, name: str, on: Any) -> pl.Body:
    mass = float(rng.uniform(0.002, 0.02))
    joint = _joint(rng) if rng.random() < 0.7 else None
    return robot.add_body(
        *(name, mass, (mass * 1e-4, mass * 2e-4, mass * 2e-4)), on=on, joint=joint,
        centre=rng.uniform(-0.02, 0.02, 3), pose=_turned(rng),
    )  # fmt: skip


def _joint(rng: Any) -> Any:
    k = float(10 ** rng.uniform(-1.5, 0.0))
    damping = 1e-3 * k
    kind = int(rng.integers(4))
    if kind == 0:
        return pl.Revolute(_one(rng, *_AXES), stiffness=k, damping=damping)
    if kind == 1:
        return pl.Universal("x", "y", stiffness=k, damping=damping)
    if kind == 2:
        return pl.Spherical(stiffness=k, damping=damping)
    return pl.Prismatic(_one(rng, *_AXES), stiffness=200.0 * k, damping=damping)


def _add_tendon(robot: pl.Robot, rng: Any, rod: pl.Rod) -> None:
    angle = float(rng.uniform(0.0, 2.0 * np.pi))
    hole = (0.004 * np.cos(angle), 0.004 * np.sin(angle))
    if rng.random() < 0.5:
        robot.add_tendon("pull", along=rod, offset=hole)
    else:
        where = np.linspace(0.0, rod.length, int(rng.integers(3, 6)))
        robot.add_tendon("pull", [rod.at(float(s), hole) for s in where])


def answers(seed: int, formulation: Any) -> tuple[str, Any, list[str]]:
    """What `statics` says of a random tree: "solved" with positions (N, 3) of all parts, or "refused"
    with the sentence; and the names of the warnings.
    """
    robot, inputs = random_tree(seed)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = robot.statics(inputs, formulation)
            names = [*robot.description.rods, *robot.description.bodies]
            places = [f"{name}.tip" if name in robot.description.rods else name for name in names]
            result: tuple[str, Any] = "solved", np.array([found.position(x) for x in places])
            unstable = ["unstable"] if found.stable is False else []
        except pl.PliantError as error:
            result, unstable = ("refused", str(error)), []
    return *result, [x.category.__name__ for x in told] + unstable


def motions(seed: int, formulation: Any, dt: float = 1e-3) -> tuple[str, Any, float, list[str]]:
    """A short motion of a random tree from rest: as `answers`, with the share of the energy that its
    balance lacks.
    """
    robot, inputs = random_tree(seed)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            motion = robot.simulate(0.05, dt, inputs, formulation=formulation, output_every=0.05)
            rods = robot.description.rods
            places = [f"{x}.tip" if x in rods else x for x in (*rods, *robot.description.bodies)]
            ends = np.array([motion.position(x)[-1] for x in places])
            result: tuple[str, Any, float] = "solved", ends, float(motion.energy_gap.share_taken)
        except pl.PliantError as error:
            result = "refused", str(error), 0.0
    return *result, [x.category.__name__ for x in told]
