"""
A tendon finger under PID control
=================================

A silicone finger is bent by a tendon in a channel beside its axis. A PID controller reads the position
of the fingertip fifty times a second and sets the tension, which can only pull. First it answers a step
of the target, then it follows a slow path. The gains come from the static compliance of the finger.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

silicone = pl.Material(E=5e5, nu=0.48, rho=1070.0, viscosity=2e4)
robot = pl.Robot()
finger = robot.add_rod("finger", 0.1, pl.Circle(0.006), silicone, pose=pl.along("-z"))
robot.add_tendon("flexor", along=finger, offset=(0.004, 0.0))
model = pl.Strain(1, 2)

# %%
# The static gain dx/dT tells how much a newton moves the tip. A PID controller with the gains below
# brings it to a new place without a lasting error. Its integral stops at the bounds of the tension.

middle = robot.statics({"flexor": 0.5}, model)
gain = middle.jacobian("finger.tip", "flexor", frame="world")[3, 0]
EVERY = 0.02


def pid(target, **gains):
    return pl.PID(
        *("flexor", "finger.tip.x", target, EVERY),
        **gains,
        rate="finger.tip.vx",
        bounds=(0.0, 3.0),
    )


GAINS = {
    "P": {"kp": 1.0 / gain},
    "PI": {"kp": 1.0 / gain, "ki": 12.0 / gain},
    "PID": {"kp": 1.0 / gain, "ki": 12.0 / gain, "kd": 0.02 / gain},
}
steps = {
    name: robot.simulate(1.5, 5e-3, controllers=pid(0.02, **gains), formulation=model)
    for name, gains in GAINS.items()
}
for name, motion in steps.items():
    x = motion.position("finger.tip")[:, 0]
    print(f"{name:>3}: overshoot {1e3 * max(0.0, x.max() - 0.02):.2f} mm, end {1e3 * x[-1]:.2f} mm")
assert abs(steps["PID"].position("finger.tip")[-1, 0] - 0.02) < 2e-4

# %%
# Then the tip follows a path: the target is a function of time.


def path(t):
    return 0.015 - 0.01 * np.cos(2.0 * np.pi * t / 2.0)


follow = robot.simulate(4.0, 5e-3, controllers=pid(path, **GAINS["PID"]), formulation=model)
x = follow.position("finger.tip")[:, 0]
late = follow.t > 1.0
error = np.abs(x - path(follow.t))[late].max()
print(f"largest error on the path after 1 s: {1e3 * error:.2f} mm")
assert error < 3e-3

# %%
# The step response, the path, and the tension that the controller asks for.

with style():
    figure, (first, second, third) = plt.subplots(3, 1, figsize=(6.4, 7.2), layout="constrained")
    for name, motion in steps.items():
        first.plot(motion.t, 1e3 * motion.position("finger.tip")[:, 0], label=name)
    first.axhline(20.0, color="0.5", linestyle=":", label="target")
    first.set(xlabel="time / s", ylabel="tip x / mm", title="Step response")
    first.legend()
    second.plot(follow.t, 1e3 * path(follow.t), color="0.5", linestyle=":", label="target")
    second.plot(follow.t, 1e3 * x, label="tip")
    second.set(xlabel="time / s", ylabel="tip x / mm", title="Path")
    second.legend()
    third.step(follow.t, follow.inputs["flexor"], where="pre")
    third.set(xlabel="time / s", ylabel="tension / N", title="Tension on the path")
plt.show()
