"""
Joints with friction, springs and stops
=======================================

A carriage slides on a rail with dry friction, pushed by a force that swings to and fro, against a
spring and up to elastic stops. Two fingers with soft tips hang on it by hinges whose springs are
prestressed: they press the fingers inwards against hard stops.

The force against the position is a hysteresis loop: at each end the carriage sticks until the force
has changed by twice the friction. What it encloses is the energy that friction takes.

Assumed: an aluminium carriage (0.54 kg), steel fingers, silicone tips of 8 mm diameter.
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

FRICTION, SPRING, STOP = 2.0, 60.0, 0.08
EXPECTED = {
    "pushed to": ((9.0 - FRICTION + 4e3 * STOP) / (SPRING + 4e3), 1e-6),
    "angle of the left finger": (-0.15, 1e-9),
    "breaks away at": (FRICTION, 0.15),
    "taken in a cycle": (0.965, 0.01),
    "energy gap": (0.0, 1e-3),
}


def gripper() -> pl.Robot:
    robot = pl.Robot()
    rail = pl.Prismatic(
        "x", stiffness=SPRING, damping=4.0, friction=FRICTION, limits=(-STOP, STOP),
        limit_stiffness=4e3, drive="force", input="push",
    )  # fmt: skip
    box = pl.SolidBox((0.1, 0.05, 0.04))
    carriage = robot.add_body("carriage", joint=rail, shape=box, density=2700.0)
    silicone = pl.Material(E=5e5, nu=0.49, rho=1100.0, viscosity=500.0)
    for name, side in (("left", -1.0), ("right", 1.0)):
        hinge = pl.Revolute(
            "y", stiffness=0.3, damping=2e-3, rest=0.6 * side, limits=(-0.15, 0.15),
        )  # fmt: skip
        finger = robot.add_body(
            name, on=carriage.at((0.035 * side, 0, -0.02)), joint=hinge, density=7800.0,
            shape=pl.SolidBox((0.008, 0.02, 0.06), pose=pl.pose((0, 0, -0.03))),
        )  # fmt: skip
        robot.add_rod(
            f"{name} tip", 0.04, pl.Circle(0.004), silicone, base=finger.at((0, 0, -0.06)),
            pose=pl.along("-z"), formulation=pl.BSpline(3, 5),
        )  # fmt: skip
    return robot


@style()
def main() -> dict[str, float]:
    robot = gripper()
    pushed = robot.statics({"push": 9.0})
    pushed.plot(view=(12, -60))
    motion = robot.simulate(6.0, 2e-3, inputs={"push": pl.Sine(9.0, 0.25)}, output_every=0.01)
    force, position = motion.inputs["push"], motion.joint("carriage")[:, 0]
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(1e3 * position, force)
    left.set(xlabel="position of the carriage / mm", ylabel="push / N")
    right.plot(motion.t, 1e3 * position)
    right.set(xlabel="time / s", ylabel="position of the carriage / mm")
    moving = np.flatnonzero(np.abs(position) > 2e-5)[0]
    lost = motion.energy["dissipated"]
    return {
        "pushed to": float(pushed.joint("carriage")[0]),
        "angle of the left finger": float(pushed.joint("left")[0]),
        "breaks away at": float(force[moving - 1]),
        "taken in a cycle": float(lost[-1] - lost[200]),
        "energy gap": motion.energy_gap.share_taken + motion.energy_gap.share_added,
    }


if __name__ == "__main__":
    main()
