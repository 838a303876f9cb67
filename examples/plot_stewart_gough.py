"""
A parallel continuum robot
==========================

Six elastic rods carry a plate, as the legs of a Stewart-Gough platform do. Their bases slide along
their axes, and these six positions are the inputs. `reach` finds the positions that lead the plate
along a circle, level all the way. `compliance` of the plate gives its stiffness: under a payload it
fades, until the rods buckle and the plate is singular, which `statics` tells.

Assumed: Nitinol rods (E = 60 GPa) of 2.4 mm diameter, a base circle of 150 mm and a plate of 80 mm
radius 0.4 m above it, legs in pairs 24 degrees apart, rods clamped to slider and plate.
"""

# sphinx_gallery_group = "mechanisms"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import rod_color, style

HEIGHT = 0.4
LEGS = [f"leg{k}" for k in range(1, 7)]
FORM = pl.BSpline(degree=3, points=8)
EXPECTED = {
    "largest leg position": (0.03777, 5e-5),
    "off the circle": (0.0, 1e-6),
    "tilt": (0.0, 1e-5),
    "softest stiffness, no payload": (89219.0, 20.0),
    "singular payload": (130.0, 3.0),
}


def points(radius: float, first: float) -> np.ndarray:
    """Six points in three pairs on a circle; first : angle of the first pair, degrees."""
    angles = np.radians(np.repeat([0.0, 120.0, 240.0], 2) + np.tile([-12.0, 12.0], 3) + first)
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def platform() -> pl.Robot:
    robot = pl.Robot()
    nitinol = pl.Material(E=60e9, nu=0.33, rho=6450.0)
    up = np.array([0.0, 0.0, HEIGHT])
    plate = robot.add_body("plate", 0.1, (2e-4, 2e-4, 4e-4), pose=pl.pose(up), joint=pl.Free())
    below, above = points(0.15, 0.0), np.roll(points(0.08, 60.0), 1, axis=0)
    for name, p, q in zip(LEGS, below, above, strict=True):
        way = q + up - p
        z = way / np.linalg.norm(way)
        x = np.cross([0.0, 0.0, 1.0], z) / np.linalg.norm(z[:2])
        turn = np.column_stack([x, np.cross(z, x), z])
        slider = pl.Prismatic("z", drive="position", input=name)
        rod = robot.add_rod(
            f"rod of {name}", np.linalg.norm(way), pl.Circle(0.0012), nitinol,
            pose=pl.pose(p, turn), joint=slider, formulation=FORM,
        )  # fmt: skip
        robot.connect(f"tip of {name}", rod.tip, plate.at(q, turn))
    robot.add_load("payload", plate.at((0, 0, 0)), force=(0, 0, -1.0))
    return robot


def circle(robot: pl.Robot) -> tuple[np.ndarray, list[pl.Equilibrium]]:
    """Positions of the legs (K, 6) that lead the level plate along a circle, and the equilibria."""
    found, still = [], None
    for angle in np.linspace(0.0, 2.0 * np.pi, 13):
        goal = pl.pose((0.06 * np.cos(angle), 0.06 * np.sin(angle), HEIGHT + 0.02))
        still = robot.reach({"plate": goal}, LEGS, values={"payload": 5.0}, start=still)
        found.append(still)
    return np.array([[still.inputs[name] for name in LEGS] for still in found]), found


def softest(still: pl.Equilibrium) -> float:
    """The smallest stiffness of the plate, N/m; rotations count with an arm of 0.1 m."""
    arm = np.repeat([1.0 / 0.1, 1.0], 3)
    compliance = still.compliance("plate") / np.outer(arm, arm)
    return 1.0 / float(np.linalg.eigvalsh(0.5 * (compliance + compliance.T))[-1])


@style()
def main() -> dict[str, float]:
    robot = platform()
    legs, path = circle(robot)
    centre = np.array([still.position("plate") for still in path])
    upright = np.array([still.pose("plate")[2, 2] for still in path])

    payloads = np.linspace(0.0, 140.0, 57)
    stiffness, told = [], np.nan
    for payload in payloads:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            still = robot.statics({"payload": float(payload)})
        if any(issubclass(item.category, pl.StabilityWarning) for item in caught):
            told = payload
            break
        stiffness.append(softest(still))

    path[2].plot(view=(14, -60))
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.plot(np.linspace(0.0, 360.0, len(legs)), 1e3 * legs, ".-", label=LEGS)
    left.set(xlabel="place on the circle / degrees", ylabel="position of the slider / mm")
    left.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small")
    right.plot(payloads[: len(stiffness)], stiffness, ".-")
    right.axvline(told, color=rod_color(3), linestyle="--")
    right.set_title(f"singular at {told:g} N: told", color=rod_color(3), fontsize="medium")
    right.set(xlabel="payload / N", ylabel="softest stiffness of the plate / (N/m)", ylim=(0, None))
    return {
        "largest leg position": float(np.abs(legs).max()),
        "off the circle": float(np.abs(np.linalg.norm(centre[:, :2], axis=1) - 0.06).max()),
        "tilt": float(np.arccos(np.minimum(upright, 1.0)).max()),
        "softest stiffness, no payload": stiffness[0],
        "singular payload": told,
    }


if __name__ == "__main__":
    main()
