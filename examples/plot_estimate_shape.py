"""
Shape and tip load from two tracked points
==========================================

A camera sees two points of a soft arm, with 1.5 mm of noise. An extended Kalman filter on the time
steps of the model reconstructs the whole shape, its velocity, and the force at the tip, which nobody
measures: it is an unknown input of the model that may wander. The camera's errors have a fixed seed.
"""

# sphinx_gallery_group = "identification"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

silicone = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2e4)
robot = pl.Robot()
arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), silicone, pose=pl.along("x"))
robot.add_load("side", arm.tip, force=(0, 1, 0))
robot.add_load("lift", arm.tip, force=(0, 0, 1))
PLACES, NOISE, DT = ["arm.0.15", "arm.tip"], 1.5e-3, 0.02

# %%
# The true robot: a finer model whose tip is pushed aside, and then lifted.


def side(t):
    return 0.04 * (t > 0.4)


def lift(t):
    return 0.06 * np.clip(t - 1.2, 0.0, 0.5)


fine, coarse = pl.BSpline(3, 8), pl.Strain(1, 2)
none = {"side": 0.0, "lift": 0.0}
truth = robot.simulate(
    2.4, DT, {"side": side, "lift": lift}, robot.statics(none, fine), formulation=fine
)

# %%
# The filter: its own coarse model, which starts from rest and knows nothing of the loads.

kalman = pl.KalmanFilter(
    *(robot, PLACES, NOISE),
    unknown={"side": 0.03, "lift": 0.03},
    dt=DT,
    start=robot.statics(none, coarse),
    spread=(1e-3, 1e-2, {"side": 0.01, "lift": 0.01}),
)
rng = np.random.default_rng(5)
seen = np.stack([truth.position(place) for place in PLACES], axis=1)
seen = seen + NOISE * rng.normal(size=seen.shape)
loads, spread, shapes, consistency = [], [], [], []
for measured in seen[1:]:
    state = kalman.update(measured)
    loads.append([kalman.mean["side"], kalman.mean["lift"]])
    spread.append([kalman.std["side"], kalman.std["lift"]])
    shapes.append(state.position("arm"))
    consistency.append(kalman.consistency)
loads, spread, t = np.array(loads), np.array(spread), truth.t[1:]
late = t > 2.0
error = 1e3 * np.linalg.norm(shapes - truth.position("arm")[1:], axis=2)[late].mean()
print(
    f"mean error of the shape after 2 s: {error:.2f} mm, of the camera {1e3 * NOISE * 3**0.5:.2f} mm"
)
print(f"loads after 2 s: {1e3 * loads[late].mean(axis=0)} mN, true 40 and 30 mN")
print(f"normalised squared innovation: {np.mean(consistency):.2f} for 6 coordinates")
assert error < 1.0
assert np.abs(loads[late].mean(axis=0) - [0.04, 0.03]).max() < 6e-3

# %%
# Estimated and true loads, with bands of two standard deviations, and the shape at the end.

with style():
    figure, (first, second) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
    for k, (name, true) in enumerate((("side", side), ("lift", lift))):
        low, high = (1e3 * (loads[:, k] + sign * 2 * spread[:, k]) for sign in (-1, 1))
        first.fill_between(t, low, high, color=f"C{k}", alpha=0.2, linewidth=0)
        first.plot(t, 1e3 * loads[:, k], color=f"C{k}", label=f"{name}, estimated")
        first.plot(t, [1e3 * true(x) for x in t], color=f"C{k}", linestyle=":", label="true")
    first.set(xlabel="time / s", ylabel="force / mN", title="Tip load")
    first.legend(ncols=2)
    for row, (axis, label) in enumerate(((1, "y"), (2, "z"))):
        x = 1e3 * truth.position("arm")[-1]
        second.plot(x[:, 0], x[:, axis], color=f"C{row}", linestyle=":", label=f"{label}, true")
        x = 1e3 * shapes[-1]
        second.plot(x[:, 0], x[:, axis], color=f"C{row}", label=f"{label}, estimated")
        second.plot(1e3 * seen[-1][:, 0], 1e3 * seen[-1][:, axis], "o", color=f"C{row}")
    second.set(xlabel="x / mm", ylabel="y, z / mm", title="Shape at the end, and what was seen")
    second.legend(ncols=2)
plt.show()
