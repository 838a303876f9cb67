"""The steel rods of the strong-form papers, for the speed tables."""

from __future__ import annotations

from _common import pl  # puts the repository on the path

from tests.validation.steel_rod import (
    ALPHA,
    FORMS,
    hat,
    with_hit,
    with_weight,
)

__all__ = ["ALPHA", "FORMS", "cantilever", "hat", "scenario", "with_hit", "with_weight"]

SCENARIOS = ("weight release", "impulse")


def scenario(name: str, scheme: str = "rk4") -> tuple[pl.Robot, pl.Equilibrium, dict[str, object]]:
    """Return the robot, where it starts and the inputs of one of SCENARIOS."""
    if name == "impulse":
        robot = with_hit(scheme)
        return robot, robot.statics({"hit": 0.0}, FORMS[scheme]), {"hit": hat}
    robot = with_weight(scheme)
    return robot, robot.statics(formulation=FORMS[scheme]), {"weight": 0.0}


def cantilever(force: float) -> pl.Robot:
    """Return the square steel cantilever of the collocation paper; the force along z acts at once."""
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", rod.tip, force=(0, 0, force))
    return robot
