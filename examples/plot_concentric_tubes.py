"""
Concentric tubes that snap
==========================

Two precurved tubes in one another: the base of the inner one is turned 0.21 m behind the entry plane,
where both come out of a straight guide. It does not turn at its tip as it does at its base. Beyond a
base angle of 4.06 rad there is no equilibrium nearby, and the tubes snap to another one, more than half
a turn further.

The line is the solution of the differential equation of two tubes, with its unstable part dashed.
Circles are one call of ``robot.statics`` each, squares the classical model by shooting. Turned by
1 rad/s in a simulation the robot follows the curve up to the fold and jumps to the other branch.

Curvatures, lengths, moduli and Poisson's ratio are those of Xun et al. (2025, section 8.2).
It leaves out walls, densities and viscosity: here the tubes have walls of 2 mm and 0.5 mm, 1200 kg/m^3
and 4e6 Pa s, and the base of the outer tube is held 0.21 m behind the plane too. Its third tube is the
guide.
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.view import style

BEHIND, OVERLAP = 0.21, 0.23
"""Straight parts behind the entry plane and overlap of the tubes beyond it, m."""
PRODUCT = 1.45 * 6.0 * 4.0
"""lambda = (1 + nu) k1 k2, 1/m^2."""
EXPECTED = {
    "base angle at the fold / rad": (4.0586, 0.004),
    "largest gap to the differential equation / rad": (0.0, 1e-5),
    "base angle when it snaps at 1 rad/s / rad": (4.135, 0.01),
}


def tubes() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    plastic = pl.Material(E=2e9, nu=0.45, rho=1200.0, viscosity=4e6)
    outer = robot.add_tube(
        *("outer", BEHIND + OVERLAP, pl.Annulus(5e-3, 3e-3), plastic),
        natural=(0, 4, 0),
        start=-BEHIND,
        theory="kirchhoff",
        formulation=pl.BSpline(points=15),
    )
    robot.add_tube(
        *("inner", 0.6, pl.Annulus(2.5e-3, 2e-3), plastic, outer),
        natural=(0, 6, 0),
        start=-BEHIND,
        rotation="turn",
    )
    return robot


def base_angles(tips: np.ndarray) -> np.ndarray:
    """Angles of the base for those at the end of the overlap, rad."""

    def slope(s, y):
        return [y[1], PRODUCT * np.sin(y[0])]

    ends = [
        solve_ivp(slope, (OVERLAP, 0.0), [x, 0.0], rtol=1e-9, atol=1e-11).y[:, -1] for x in tips
    ]
    return np.array([theta - BEHIND * rate for theta, rate in ends])


def tip_angle(found) -> np.ndarray:
    """Angle of the inner tube against the outer one at the end of the overlap, rad."""
    R, Q = (
        np.asarray(found.pose(name, BEHIND + OVERLAP))[..., :3, :3] for name in ("outer", "inner")
    )
    turned = np.swapaxes(R, -1, -2) @ Q
    return np.asarray(np.arctan2(turned[..., 1, 0], turned[..., 0, 0]))


def main() -> dict[str, float]:
    robot = tubes()
    turns = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 3.9, 4.04])
    still = [robot.statics({"turn": turn}) for turn in turns]
    found = np.array([float(tip_angle(x)) for x in still])
    classical = [robot.statics({"turn": turn}, formulation=pl.Shooting()) for turn in turns[1::3]]
    tips = np.linspace(0.0, np.pi, 300)
    bases = base_angles(tips)
    fold = int(np.argmax(bases))
    turning = {"turn": lambda t: 3.9 + t}
    motion = robot.simulate(0.6, 1e-3, turning, robot.statics({"turn": 3.9}))
    path = np.mod(tip_angle(motion), 2 * np.pi)

    with style():
        _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for x, y in ((bases, tips), (2 * np.pi - bases, 2 * np.pi - tips)):
        (line,) = ax.plot(x[: fold + 1], y[: fold + 1], color="0.3", label="differential equation")
        ax.plot(x[fold:], y[fold:], color="0.3", ls="--")
    line.set_label("")
    ax.plot(turns, found, "o", label="statics")
    ax.plot(2 * np.pi - turns, 2 * np.pi - found, "o", color=ax.lines[-1].get_color())
    ax.plot(
        turns[1::3],
        [float(tip_angle(x)) for x in classical],
        "s",
        mfc="none",
        ms=9,
        label="shooting",
    )
    ax.plot(3.9 + motion.t, path, lw=1.0, label="turned by 1 rad/s")
    ax.set_xlabel("angle of the base / rad")
    ax.set_ylabel("angle at the end of the overlap / rad")
    ax.legend(loc="upper left")
    still[-2].plot(view=(20, -60))
    return {
        "base angle at the fold / rad": float(bases[fold]),
        "largest gap to the differential equation / rad": float(
            np.abs(base_angles(found) - turns).max()
        ),
        "base angle when it snaps at 1 rad/s / rad": float(3.9 + motion.t[np.argmax(path > np.pi)]),
    }


if __name__ == "__main__":
    main()
    plt.show()
