"""The trees to which the numbers of `tree_values` belong; SI units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.reference.tree_problem import (
    FIXED,
    BodyPart,
    Joint,
    TreeProblem,
    circular_rod,
    placed,
)

RUBBER = {"young": 1e6, "poisson": 0.45, "density": 1100.0}
QUARTER = np.pi / 2.0
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WEIGHTLESS = (0.0, 0.0, 0.0)

FIRST = circular_rod("first", 0.3, 0.012, **RUBBER)
BODY = BodyPart(name="body", mass=0.03, inertia=(2e-5, 3e-5, 1e-5), centre=(0.01, 0.0, 0.02),
                on="first", s=0.3)  # fmt: skip
SECOND = circular_rod(
    "second", 0.2, 0.01, **RUBBER, on="body", pose=placed((0.02, 0.0, 0.03), "y", QUARTER)
)


def rod_body_rod(joint: Joint = FIXED) -> TreeProblem:
    """Rod along +x, body at its tip, a second rod at a right angle, up; gravity and a load in space."""
    return TreeProblem((
        replace(FIRST, pose=placed(about="y", angle=QUARTER)),
        replace(BODY, joint=joint, centre=(0.01, 0.005, 0.02)),
        replace(SECOND, pose=placed((0.02, 0.0, 0.03), "y", -QUARTER), force=(0.05, 0.1, -0.02)),
    ))  # fmt: skip


def body_rod_body() -> TreeProblem:
    """A body on a sprung hinge at the world, an oblique rod on it, an eccentric body at its tip."""
    return TreeProblem((
        BodyPart(name="crank", mass=0.05, inertia=(4e-5, 4e-5, 2e-5), centre=(0.0, 0.01, 0.03),
                 pose=placed((0.0, 0.0, 0.5), "x", 0.4), joint=Joint(Y, 0.08)),
        circular_rod("arm", 0.25, 0.01, **RUBBER, on="crank", pose=placed((0.0, 0.0, 0.06), "y", 2.0)),
        BodyPart(name="bob", mass=0.02, inertia=(5e-6, 6e-6, 4e-6), centre=(0.01, -0.005, 0.015),
                 on="arm", s=0.25, pose=placed((0.0, 0.0, 0.01), "z", 0.3), moment=(0.0, 0.0, 0.002)),
    ))  # fmt: skip


def welded_rods(loaded: bool = True) -> TreeProblem:
    """A rod along +z and a second one welded to its tip along +x."""
    force = (0.02, 0.15, 0.1) if loaded else WEIGHTLESS
    return TreeProblem((
        circular_rod("post", 0.2, 0.012, **RUBBER),
        circular_rod("beam", 0.25, 0.01, **RUBBER, on="post", s=0.2,
                     pose=placed(about="y", angle=QUARTER),
                     force=force),
    ), (0.0, 0.0, -9.81) if loaded else WEIGHTLESS)  # fmt: skip


def star() -> TreeProblem:
    """A rod with a hub on its middle section and one at its tip; each hub carries a rod of its own."""
    return TreeProblem((
        circular_rod("spine", 0.3, 0.012, **RUBBER, pose=placed(about="x", angle=0.7)),
        BodyPart(name="hub", mass=0.01, inertia=(1e-6, 1e-6, 1e-6), on="spine", s=0.12,
                 pose=placed((0.01, 0.0, 0.0))),
        circular_rod("left", 0.15, 0.008, **RUBBER, on="hub", pose=placed(about="y", angle=QUARTER)),
        BodyPart(name="head", mass=0.015, inertia=(2e-6, 2e-6, 2e-6), on="spine", s=0.3,
                 pose=placed((0.0, 0.0, 0.02)), joint=Joint(X, 0.03)),
        circular_rod("right", 0.12, 0.008, **RUBBER, on="head",
                     pose=placed((0.0, 0.01, 0.0), "x", -1.0),
                     force=(0.05, 0.0, 0.0)),
    ))  # fmt: skip


def planar_rods(angle: float = QUARTER, joint: Joint = FIXED) -> TreeProblem:
    """Rod along +z, body, second rod turned by `angle` about y; unloaded, symmetric about x-z."""
    second = replace(SECOND, pose=placed((0.02, 0.0, 0.03), "y", angle))
    return TreeProblem((FIRST, replace(BODY, joint=joint), second), WEIGHTLESS)


STATIC_HINGE = Joint(Y, 0.05)
PLANAR_HINGE = Joint(Y, 0.02)
DAMPED_HINGE = Joint(Y, 0.02, 2e-4)
PULSE_LENGTH = 0.2


def pulse(t: float) -> float:
    """Factor on the tip force of `pulsed`: a smooth push that ends after PULSE_LENGTH seconds."""
    return float(np.sin(np.pi * t / PULSE_LENGTH) ** 4) if 0.0 < t < PULSE_LENGTH else 0.0


def pulsed(joint: Joint = FIXED) -> TreeProblem:
    """`planar_rods` from rest, without gravity, pushed at the tip of the second rod by `pulse`."""
    first, body, second = planar_rods(joint=joint).parts
    return TreeProblem((first, body, replace(second, force=(-1.2, 0.0, 0.4))), WEIGHTLESS)


def swing() -> TreeProblem:
    """A crank on a damped hinge, a rod hanging from it, a bob, under gravity.

    From its equilibrium the crank is turned by a moment times `pulse`.
    """
    hinge = Joint(Y, 0.01, 5e-4)
    return TreeProblem((
        BodyPart(name="crank", mass=0.05, inertia=(4e-5, 4e-5, 2e-5), centre=(0.005, 0.0, -0.02),
                 joint=hinge, moment=(0.0, 0.12, 0.0)),
        circular_rod("arm", 0.25, 0.012, **RUBBER, on="crank",
                     pose=placed((0.0, 0.0, -0.04), "y", np.pi)),
        BodyPart(name="bob", mass=0.02, inertia=(5e-6, 6e-6, 4e-6), centre=(0.01, 0.0, 0.015),
                 on="arm", s=0.25),
    ))  # fmt: skip


def pendulum(spatial: bool, springs: bool) -> TreeProblem:
    """Two rigid bodies on hinges about y, or about z and a skew axis, with or without springs."""
    k, d = (np.array([0.3, 0.2]), np.array([0.01, 0.02])) if springs else (np.zeros(2), np.zeros(2))
    slant = (0.0, 0.6, 0.8)
    axes = (Z, slant) if spatial else (Y, Y)
    aside = 0.05 if spatial else 0.0
    return TreeProblem((
        BodyPart(name="upper", mass=0.7, inertia=(4e-3, 5e-3, 2e-3), centre=(0.08, aside, -0.15),
                 pose=placed((0.0, 0.0, 1.0)), joint=Joint(axes[0], k[0], d[0])),
        BodyPart(name="lower", mass=0.4, inertia=(2e-3, 3e-3, 1e-3), centre=(0.0, aside, -0.12),
                 on="upper", pose=placed((0.1, 0.0, -0.3), "x", 0.5 if spatial else 0.0),
                 joint=Joint(axes[1], k[1], d[1])),
    ))  # fmt: skip


PENDULUM_ANGLES, PENDULUM_RATES = (1.2, 0.5), (2.0, -3.0)
DRIVE_RATE = 4.0


def drive(t: float) -> tuple[float, float, float]:
    """Angle, rate and acceleration of a prescribed first hinge: 0.8 (1 - cos(4 t))."""
    w = DRIVE_RATE
    return 0.8 * (1 - np.cos(w * t)), 0.8 * w * np.sin(w * t), 0.8 * w * w * np.cos(w * t)


TOP = {
    "inertia": (1e-3, 2e-3, 2.8e-3), "spin": (4.0, 0.0, 5.0), "mass": 0.6,
    "centre": (0.02, -0.01, 0.03), "velocity": (0.3, -0.2, 1.0), "gravity": (0.0, 0.0, -9.81),
}  # fmt: skip
