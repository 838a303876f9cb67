"""
A gripper of three fingers
==========================

Three soft fingers with a pressure chamber each close around a ball, lift it off the floor and hold it
by friction. Fingers and floor touch the ball by unilateral constraints with Coulomb friction. What the
fingers carry at the end is the weight of the ball; it creeps down slowly, for friction is regularised
by a creep velocity (`docs/theory/contact.md`).
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

EXPECTED = {
    "lift of the ball, m": (0.0783, 5e-4),
    "force of the fingers over the weight": (1.0, 0.03),
    "deepest overlap over the radius of a finger": (0.0, 0.02),
    "energy balance over work": (0.0, 2e-3),
}

RADIUS, MASS = 0.03, 0.03
SKIN = pl.Material(E=4e5, nu=0.5, rho=1000.0, viscosity=600.0)


def gripper():
    robot = pl.Robot()
    fingers = []
    for k, angle in enumerate(np.radians([90.0, 210.0, 330.0])):
        out, down = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([0.0, 0.0, -1.0])
        turn = np.column_stack([out, np.cross(down, out), down])
        place = pl.pose(0.04 * out + (0.0, 0.0, 0.105), turn)
        finger = robot.add_rod(
            f"finger {k + 1}", 0.1, pl.Circle(0.007), SKIN, place, formulation=pl.BSpline(points=8)
        )
        robot.add_chamber(f"pressure {k + 1}", finger, area=3e-5, offset=(0.004, 0.0))
        robot.add_base_motion(f"lift {k + 1}", finger, translation=(0.0, 0.0, 1.0))
        fingers.append(finger)
    moments = (0.4 * MASS * RADIUS**2,) * 3
    robot.add_body("ball", MASS, moments, pose=pl.pose((0, 0, RADIUS)), joint=pl.Free())
    ball = pl.Sphere(RADIUS, on="ball")
    robot.add_contact("grip", fingers, ball, friction=0.8)
    robot.add_contact("floor", ball, pl.Plane(), friction=0.5)
    return robot


def main():
    robot = gripper()
    squeeze, lift = pl.Ramp(0.0, 8e4, 0.0, 0.4), pl.Ramp(0.0, 0.08, 0.6, 1.2)
    inputs = {f"pressure {k}": squeeze for k in (1, 2, 3)} | {f"lift {k}": lift for k in (1, 2, 3)}
    motion = robot.simulate(1.4, 0.004, inputs=inputs)
    motion.plot_at(1.4, view=(12, -60))
    height, grip = motion.position("ball")[:, 2], motion.contacts("grip")
    with style():
        _, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
        axes[0].plot(motion.t, 1e3 * (height - RADIUS), label="ball")
        axes[0].plot(motion.t, 1e3 * motion.inputs["lift 1"], "--", label="fingers")
        axes[0].set(xlabel="time / s", ylabel="lift / mm")
        axes[0].legend()
        floor = motion.contacts("floor").total[:, 2]
        axes[1].plot(motion.t[1:], -grip.total[1:, 2], label="fingers")
        axes[1].plot(motion.t[1:], floor[1:], label="floor")
        axes[1].axhline(MASS * 9.81, color="#8a8f98", ls=":", label="weight")
        axes[1].set(xlabel="time / s", ylabel="force on the ball, upwards / N", ylim=(-0.3, 0.8))
        legend_beside(axes[1])
    energy = motion.energy
    return {
        "lift of the ball, m": height[-1] - RADIUS,
        "force of the fingers over the weight": -grip.total[-10:, 2].mean() / (MASS * 9.81),
        "deepest overlap over the radius of a finger": max(-grip.gap.min(), 0.0) / 0.007,
        "energy balance over work": np.abs(energy["balance"]).max() / energy["work"].max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
