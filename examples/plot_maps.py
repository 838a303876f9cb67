"""
Exponential or Cayley map, splines or strain
============================================

The same rod in different descriptions. Splines with the exponential map and with the Cayley map
approach each other as control poses are added. Splines of degree 1 are identical to piecewise constant
strain, and moving the whole robot moves the solution with it, both up to rounding.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.lie import se3
from pliant.view import draw_convergence

S = np.linspace(0.0, 1.0, 41)
EXPECTED = {
    "maps apart, 80 poses": (0.0, 1e-5),
    "degree 1 and constant strain apart": (0.0, 1e-8),
    "after moving the robot": (0.0, 1e-9),
}


def robot_at(place) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    arm = robot.add_rod(
        "arm", 1.0, pl.Circle(0.02), pl.Material(E=2e5, nu=0.45),
        pose=place @ pl.along("x"), natural=(0.5, -0.3, 0.8),
    )  # fmt: skip
    robot.add_load("push", arm.tip, force=place[:3, :3] @ (0.0, 0.1, 0.25))
    return robot


def gap(one, other) -> float:
    pairs = zip(one, other, strict=True)
    return max(np.linalg.norm(se3.log(se3.inverse(a) @ b)) for a, b in pairs)


def main() -> dict[str, float]:
    robot = robot_at(np.eye(4))

    def poses(formulation, of=robot):
        return of.statics(formulation=formulation).pose("arm", S)

    counts = (10, 20, 40, 80)
    maps = {
        f"degree {k}": [
            gap(poses(pl.BSpline(k, n)), poses(pl.BSpline(k, n, "cayley"))) for n in counts
        ]
        for k in (1, 2, 3, 5)
    }
    draw_convergence(
        counts,
        maps,
        xlabel="number of control poses",
        ylabel="largest pose difference / length",
        title="exponential against Cayley map",
    )
    robot.statics().plot()
    place = se3.exp(np.array([0.4, -1.1, 0.7, 2.0, -3.0, 0.5]))
    moved = poses(pl.BSpline(3, 15), robot_at(place))
    return {
        "maps apart, 80 poses": maps["degree 3"][-1],
        "degree 1 and constant strain apart": gap(poses(pl.BSpline(1, 9)), poses(pl.Strain(0, 8))),
        "after moving the robot": gap(moved, place @ poses(pl.BSpline(3, 15))),
    }


if __name__ == "__main__":
    main()
    plt.show()
