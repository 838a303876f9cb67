"""
Tendons inside an arm
=====================

A tendon in a channel of a soft arm bends it by its offset from the centreline. Parallel to the axis it
makes an arc, converging towards the axis a spiral, and a helical one twists the arm as well. Without
other loads rod and tendon balance each other in every section, so that each shape follows from one
small system of equations per section: no solver is needed to check them. On the right the parallel
tendon is pulled by its length: the first millimetres take up the slack.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

import pliant as pl
from pliant.view import style

LENGTH, X, PULL = 0.3, 0.007, 6.0
SOFT = pl.Material(E=1e6, nu=0.45, rho=1000.0)
ROUTES = {
    "parallel": (X, 0.0),
    "converging": ((X, 0.0), (0.0, 0.0)),
    "helical": lambda s: (X * np.cos(20 * s), X * np.sin(20 * s)),
}
EXPECTED = {
    "parallel off / mm": (0.0, 1e-3),
    "converging off / mm": (0.0, 1e-3),
    "helical off / mm": (0.0, 1e-3),
    "tension for 10 mm / N": (1.678, 0.002),
    "slack without a pull / mm": (5.0, 1e-6),
}


def arm(**tendon: object) -> tuple[pl.Robot, pl.Rod]:
    """An arm along x, without weight."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    robot.add_tendon("tendon", along=rod, **tendon)
    return robot, rod


def offset_and_slope(route: object, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Offset and its derivative along s, in the axes of the section."""
    if callable(route):
        x, y = route(s)
        return np.array([x, y, 0]), 20 * np.array([-y, x, 0])
    base, tip = np.array(route if np.ndim(route) == 2 else (route, route))
    slope = (tip - base) / LENGTH
    return np.append(base + s * slope, 0), np.append(slope, 0)


def balanced_tip(route: object, stiffness: np.ndarray) -> np.ndarray:
    """The tip from the balance of each section, C (e - e0) + T (r x t, t) / |t| = 0, without Pliant."""
    straight = np.array([0, 0, 0, 0, 0, 1.0])

    def along(s: float, y: np.ndarray) -> np.ndarray:
        r, slope = offset_and_slope(route, s)

        def left(e: np.ndarray) -> np.ndarray:
            t = e[3:] + np.cross(e[:3], r) + slope
            t /= np.linalg.norm(t)
            pull = PULL * np.append(np.cross(r, t), t)
            return (stiffness * (e - straight) + pull) / stiffness[0]

        e, R = root(left, straight, tol=1e-12).x, y[3:].reshape(3, 3)
        return np.append(R @ e[3:], R @ np.cross(np.eye(3), e[:3]))

    start = np.append(np.zeros(3), pl.along("x")[:3, :3])
    return solve_ivp(along, (0, LENGTH), start, rtol=1e-8, atol=1e-10).y[:3, -1]


@style()
def main() -> dict[str, float]:
    _, (side, top, plane) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    found = {}
    for name, route in ROUTES.items():
        robot, rod = arm(offset=route)
        still = robot.statics({"tendon": PULL}, pl.Strain(4, 4))
        line = still.position("arm")
        s = np.linspace(0, LENGTH, 60)
        inside = [still.position(rod.at(x, offset_and_slope(route, x)[0][:2])) for x in s]
        for ax, seen in ((side, (0, 2)), (top, (0, 1))):
            ax.plot(*line[:, seen].T, lw=5, alpha=0.5, label=name)
            ax.plot(*np.array(inside)[:, seen].T, "k-", lw=1)
        truth = balanced_tip(route, rod.stiffness(np.zeros(1))[0])
        found[f"{name} off / mm"] = float(1e3 * np.linalg.norm(line[-1] - truth))
    side.set(xlabel="x / m", ylabel="z / m", title=f"{PULL:g} N on one tendon, from the side")
    top.set(xlabel="x / m", ylabel="y / m", title="From above")
    side.legend(fontsize=8)

    robot, _ = arm(offset=ROUTES["parallel"], drive="length", stiffness=2e3, slack=5e-3)
    pulled = np.linspace(0, 20e-3, 21)
    stills = [robot.statics({"tendon": x}) for x in pulled]
    plane.plot(1e3 * pulled, [still.tension("tendon") for still in stills], "o-", ms=3)
    plane.set(xlabel="pulled length / mm", ylabel="tension / N", title="A reel, with 5 mm of slack")
    return {
        **found,
        "tension for 10 mm / N": float(stills[10].tension("tendon")),
        "slack without a pull / mm": float(1e3 * stills[0].slack("tendon")),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
