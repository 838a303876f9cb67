"""
Shape and tip load from two tracked points
==========================================

A camera sees two points of a soft arm, with 1.5 mm of noise. An extended Kalman filter on the time
steps of a coarse model reconstructs the whole shape, its velocity, and the force at the tip, which
nobody measures: it is an unknown input of the model that may wander. The true robot is a finer model
whose tip is pushed aside, and then lifted. The camera's errors have a fixed seed.
"""

# sphinx_gallery_group = "identification"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import rod_color, style

PLACES, NOISE, DT = ["arm.0.15", "arm.tip"], 1.5e-3, 0.02
NONE = {"side": 0.0, "lift": 0.0}
EXPECTED = {
    "mean error of the shape / mm": (0.75, 0.1),
    "side load / mN": (39.9, 2.0),
    "lift load / mN": (30.2, 2.0),
    "normalised squared innovation": (5.93, 0.2),
}


def side(t):
    return 0.04 * (t > 0.4)


def lift(t):
    return 0.06 * np.clip(t - 1.2, 0.0, 0.5)


def make_robot():
    silicone = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2e4)
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), silicone, pose=pl.along("x"))
    robot.add_load("side", arm.tip, force=(0, 1, 0))
    robot.add_load("lift", arm.tip, force=(0, 0, 1))
    return robot


def estimate(robot, seen):
    """Loads and their standard deviations (T, 2), shapes (T, 51, 3) and consistencies (T,)."""
    kalman = pl.KalmanFilter(
        *(robot, PLACES, NOISE),
        unknown={"side": 0.03, "lift": 0.03},
        dt=DT,
        start=robot.statics(NONE, pl.Strain(1, 2)),
        spread=(1e-3, 1e-2, {"side": 0.01, "lift": 0.01}),
    )
    loads, spread, shapes, squares = [], [], [], []
    for measured in seen:
        state = kalman.update(measured)
        loads.append(list(kalman.mean.values()))
        spread.append(list(kalman.std.values()))
        shapes.append(state.position("arm"))
        squares.append(kalman.consistency)
    return np.array(loads), np.array(spread), np.array(shapes), np.array(squares)


def draw(t, loads, spread, shape, true, seen):
    with style():
        _, (first, second) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
        for k, (name, load) in enumerate((("side", side), ("lift", lift))):
            low, high = (1e3 * (loads[:, k] + sign * 2 * spread[:, k]) for sign in (-1, 1))
            first.fill_between(t, low, high, color=rod_color(k), alpha=0.2, linewidth=0)
            first.plot(t, 1e3 * loads[:, k], color=rod_color(k), label=f"{name}, estimated")
            first.plot(
                t, [1e3 * load(x) for x in t], color=rod_color(k), linestyle=":", label="true"
            )
        first.set(xlabel="time / s", ylabel="force / mN", title="Tip load, two standard deviations")
        first.legend(ncols=2)
        for k, axis in enumerate("yz"):
            for x, line, word in ((true, ":", "true"), (shape, "-", "estimated")):
                label = f"{axis}, {word}"
                second.plot(
                    1e3 * x[:, 0],
                    1e3 * x[:, k + 1],
                    color=rod_color(k),
                    linestyle=line,
                    label=label,
                )
            second.plot(1e3 * seen[:, 0], 1e3 * seen[:, k + 1], "o", color=rod_color(k))
        second.set(xlabel="x / mm", ylabel="y, z / mm", title="Shape at the end, and what was seen")
        second.legend(ncols=2)


def main() -> dict[str, float]:
    robot, fine = make_robot(), pl.BSpline(3, 8)
    loads = {"side": side, "lift": lift}
    truth = robot.simulate(2.4, DT, loads, robot.statics(NONE, fine), formulation=fine)
    seen = np.stack([truth.position(place) for place in PLACES], axis=1)
    seen = seen + NOISE * np.random.default_rng(5).normal(size=seen.shape)
    found, spread, shapes, squares = estimate(robot, seen[1:])
    t, true = truth.t[1:], truth.position("arm")[1:]
    draw(t, found, spread, shapes[-1], true[-1], seen[-1])
    late = t > 2.0
    mean = 1e3 * found[late].mean(axis=0)
    return {
        "mean error of the shape / mm": 1e3
        * float(np.linalg.norm(shapes - true, axis=2)[late].mean()),
        "side load / mN": float(mean[0]),
        "lift load / mN": float(mean[1]),
        "normalised squared innovation": float(squares.mean()),
    }


if __name__ == "__main__":
    main()
    plt.show()
