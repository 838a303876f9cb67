"""
A ball that bounces
===================

A ball falls on the ground and leaves it with 0.8 of its speed. Each flight is a motion that an event
ends: the instant at which the height crosses zero is found inside a time step. The next flight starts
from there with the velocity turned round. The impacts follow a geometric series, which the chart marks.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import draw_curves

HEIGHT, BOUNCE, IMPACTS = 0.3, 0.8, 7
EXPECTED = {
    "last impact": (1.70714, 1e-5),
    "largest error of an impact": (0.0, 1e-8),
}


def main() -> dict[str, float]:
    robot = pl.Robot()
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free())
    ground = pl.Event(lambda state: state.position("ball")[2], "ground", direction="falling")
    given = {"joints": {"ball": pl.pose((0, 0, HEIGHT))}}
    t, height, impacts = [], [], [0.0]
    for _ in range(IMPACTS):
        flight = robot.simulate(1.0, dt=0.01, events=ground, **given)
        t.append(impacts[-1] + flight.t)
        height.append(flight.position("ball")[:, 2])
        impacts.append(impacts[-1] + flight.event[1])
        turned = flight.velocity("ball")[-1] * (1, 1, 1, 1, 1, -BOUNCE)
        given = {"start": flight, "velocity": {"ball": turned}}
    fall = np.sqrt(2.0 * HEIGHT / 9.81)
    exact = fall * (2.0 * np.cumsum(BOUNCE ** np.arange(IMPACTS)) - 1.0)
    title = "flights between impacts"
    figure = draw_curves(np.concatenate(t), {"ball": np.concatenate(height)}, "height / m", title)
    figure.axes[0].plot(exact, np.zeros(IMPACTS), "o", label="exact impacts")
    return {
        "last impact": impacts[-1],
        "largest error of an impact": float(np.abs(impacts[1:] - exact).max()),
    }


if __name__ == "__main__":
    main()
    plt.show()
