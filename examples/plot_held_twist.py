"""
A rod twisted by more than a turn
=================================

The base of a bent rod turns about its axis while its tip is held. The torque grows with all turns of
the base, not with what is left of them after whole turns. The line follows the base in short steps;
each dot is one call of ``robot.statics`` from the unloaded robot, which goes the same way by itself.
The natural bend of the rod makes the torque wave about that of a straight rod.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

E, NU, RADIUS, LENGTH = 1e8, 0.5, 0.005, 0.3
TORQUE = E / (2.0 * (1.0 + NU)) * np.pi * RADIUS**4 / 2.0 / LENGTH
"""Torque for a radian between the ends of a straight rod, N m/rad."""
EXPECTED = {
    "torque over that of a straight rod after half a turn": (1.098, 0.005),
    "torque over that of a straight rod after three turns": (0.973, 0.005),
    "largest gap between cold answers and the path": (0.0, 1e-9),
}


def held_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=E, nu=NU, rho=1000.0)
    rod = robot.add_rod("rod", LENGTH, pl.Circle(RADIUS), rubber, natural=(3.0, 0.0, 0.0))
    robot.add_base_motion("turn", rod, rotation=(0, 0, 2.0 * np.pi))
    robot.add_constraint("tip", rod.tip)
    return robot


def torque(still: pl.Equilibrium) -> float:
    """Torque at the base, N m."""
    return -float(still.wrench("rod", 0.0)[2])


def main() -> dict[str, float]:
    robot = held_rod()
    turns = np.linspace(0.0, 3.0, 61)
    dots = np.arange(5, 61, 5)
    path = [robot.statics({"turn": 0.0})]
    for turn in turns[1:]:
        path.append(robot.statics({"turn": turn}, start=path[-1]))
    cold = [robot.statics({"turn": turn}) for turn in turns[dots]]
    followed = np.array([torque(still) for still in path])
    alone = np.array([torque(still) for still in cold])
    straight = TORQUE * 2.0 * np.pi * turns
    with style():
        _, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.plot(turns, straight, ls="--", lw=0.8, color="0.5", label="straight rod")
    ax.plot(turns, followed, label="in short steps")
    ax.plot(turns[dots], alone, "o", label="one call each")
    ax.set_xlabel("angle of the base / turns")
    ax.set_ylabel("torque at the base / N m")
    ax.legend(loc="upper left")
    cold[-1].plot()
    return {
        "torque over that of a straight rod after half a turn": followed[10] / straight[10],
        "torque over that of a straight rod after three turns": followed[-1] / straight[-1],
        "largest gap between cold answers and the path": float(
            np.abs(alone - followed[dots]).max()
        ),
    }


if __name__ == "__main__":
    main()
    plt.show()
