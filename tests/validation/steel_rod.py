"""The spring steel rod of Till and Rucker's experiments, with their calibrated values (Table II)."""

from __future__ import annotations

import numpy as np

import pliant as pl

DIAMETER = 1.42e-3
AREA, MOMENT = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
TABLE_2 = {"rk4": (0.03803, 7621.0, 0.003556), "euler": (0.03823, 7640.0, 0.003507)}
"""EI (N m^2), rho (kg/m^3) and drag C (kg/m^2), by scheme."""
FORMS = {"rk4": pl.Shooting(steps=100), "euler": pl.Shooting(steps=400, scheme="euler")}
ALPHA = pl.BDFAlpha(-0.48)
WEIGHT = 0.02 * 9.81
HIT_AT = 0.05
"""Where the impulse acts, in parts of the length; the paper says near the base."""


def steel_rod(scheme: str, length: float) -> tuple[pl.Robot, pl.Rod]:
    """The rod along x with y up: it neither stretches nor shears, its sections have rotary inertia."""
    bending, rho, drag = TABLE_2[scheme]
    E, spin = bending / MOMENT, rho * MOMENT
    section = pl.Stiffness(
        bending=bending,
        twist=bending / 1.3,
        shear=E * AREA / 2.6,
        axial=E * AREA,
        mass=rho * AREA,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    return robot, robot.add_rod(
        "rod", length, section, pose=pl.along("x"), drag=drag, theory="kirchhoff"
    )


def with_weight(scheme: str = "rk4") -> pl.Robot:
    """The rod of 0.408 m with 20 g on a string at its tip: input weight."""
    robot, rod = steel_rod(scheme, 0.408)
    robot.add_load("weight", rod.tip, force=(0, -WEIGHT, 0))
    return robot


def with_hit(scheme: str = "rk4") -> pl.Robot:
    """The rod of 0.517 m with a force of 1 N near its base: input hit."""
    robot, rod = steel_rod(scheme, 0.517)
    robot.add_load("hit", rod.at(HIT_AT * 0.517), force=(0, -1, 0))
    return robot


def hat(t: float, peak: float = 5.0, duration: float = 0.016) -> float:
    """The force of the impulse at time t, N: up to `peak` and down again within `duration` s."""
    return peak * max(0.0, 1.0 - abs(2.0 * t / duration - 1.0))


def release(dt: float, scheme: str = "rk4", duration: float = 0.5, **more: object) -> pl.Motion:
    """The motion after the string is cut at t = 0."""
    robot = with_weight(scheme)
    held = robot.statics(formulation=FORMS[scheme])
    return robot.simulate(duration, dt, {"weight": 0.0}, held, integrator=ALPHA, **more)


def impulse(
    dt: float,
    scheme: str = "rk4",
    duration: float = 0.5,
    formulation: object = None,
    **more: object,
) -> pl.Motion:
    """The motion of the hit rod, from its sag."""
    robot = with_hit(scheme)
    held = robot.statics({"hit": 0.0}, formulation or FORMS[scheme])
    return robot.simulate(duration, dt, {"hit": hat}, held, integrator=ALPHA, **more)
