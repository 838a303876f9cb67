"""
Cable-driven manipulator
========================

A tapered soft rod hangs from its clamp and carries triangular plates. Three cables run through the
vertices of the plates and end at the last one. They are driven by tension, or by the length that reels
pull in; with the lengths that the tensions pull in, both give one shape.

The rod is that of Xun et al., section 8.1 (Table 6): 1 m long, radius 4 to 2 cm, E = 1 MPa, Poisson's
ratio 0.45, viscosity 10 Pa s. The paper leaves the rest open. Assumed here: density 1000 kg/m^3, ten
plates 10 cm apart, of 20 g each, with vertices 6 cm from the axis, gravity along the rod, and tensions
of 20 N at rest and 8 N in motion.
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

PLATES, VERTEX = 10, 0.06
TENSION, STRONG = 8.0, 20.0
METHOD = pl.BSpline(points=12)
CABLES = ("a", "b", "c")
EXPECTED = {
    "tip aside at rest, m": (0.2625, 5e-4),
    "length that 20 N pull in, m": (0.1168, 5e-4),
    "tips by tension and by length apart, m": (0.0, 1e-7),
    "tensions by length off, N": (0.0, 1e-6),
    "radius of the circle that the tip goes round, m": (0.1432, 2e-3),
    "tips of both motions apart, m": (0.0, 1e-5),
    "energy balance, relative": (0.0, 1e-4),
}


def manipulator(**cable):
    """Return the robot; cable : how its cables are driven."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=10.0)
    arm = robot.add_rod("arm", 1.0, pl.Circle((0.04, 0.02)), soft, pose=pl.along("-z"))
    turns = 2.0 * np.pi / 3.0 * np.arange(3)
    holes = VERTEX * np.column_stack([np.cos(turns), np.sin(turns)])
    stations = np.linspace(0.0, 1.0, PLATES + 1)
    # a triangle of mass m with vertices at radius R: m R^2 / 8 in its plane, m R^2 / 4 about its axis
    inertia = 0.02 * VERTEX**2 / np.array([8.0, 8.0, 4.0])
    for k, s in enumerate(stations[1:]):
        robot.add_body(f"plate {k}", 0.02, inertia, on=arm.at(s))
    for name, hole in zip(CABLES, holes, strict=True):
        robot.add_tendon(name, [arm.at(s, hole) for s in stations], **cable)
    return robot


def in_turn(t, k):
    """Return the tension of cable k, N: from one to the next in two seconds, from rest in one."""
    return 0.5 * TENSION * min(t, 1.0) * (1.0 + np.cos(np.pi * t - 2.0 * np.pi * k / 3.0))


def main():
    by_tension, by_length = manipulator(), manipulator(drive="length")
    pulls = {"a": STRONG, "b": 2.0, "c": 1.0}
    still = by_tension.statics(pulls, formulation=METHOD)
    rest = by_tension.statics(formulation=METHOD)
    pulled = {name: 1.0 - still.tendon_length(name) for name in CABLES}
    same = by_length.statics(pulled, formulation=METHOD)
    off = max(abs(same.tension(name) - pulls[name]) for name in CABLES)

    inputs = {name: (lambda t, k=k: in_turn(t, k)) for k, name in enumerate(CABLES)}
    given = {"dt": 4e-3, "formulation": METHOD, "integrator": pl.GeneralizedAlpha(0.8)}
    motion = by_tension.simulate(4.0, inputs=inputs, start=rest, **given)
    tip = motion.tip("arm")[:, :3, 3]
    reels = {name: pl.TimeTable(motion.t, 1.0 - motion.tendon_length(name)) for name in CABLES}
    slack = {name: 1.0 - rest.tendon_length(name) for name in CABLES}
    start = by_length.statics(slack, formulation=METHOD)
    reeled = by_length.simulate(2.0, inputs=reels, start=start, **given).tip("arm")[:, :3, 3]

    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    for force in (0.0, 5.0, 10.0, 20.0):
        shape = by_tension.statics({"a": force}, formulation=METHOD).position("arm")
        left.plot(shape[:, 0], shape[:, 2], label=f"{force:g} N in cable a")
    left.set(xlabel="x / m", ylabel="z / m", aspect="equal", title="Equilibria")
    left.legend(loc="lower right", fontsize="small")
    left.set_xlim(-0.1, 0.9)
    for name in CABLES:
        right.plot(motion.t, motion.tension(name), label=f"cable {name} / N", linewidth=1.0)
    for k, axis in enumerate("xy"):
        right.plot(motion.t, 100.0 * tip[:, k], label=f"tip {axis} / cm", linewidth=2.0)
    right.set(xlabel="time / s", title="Cables pulled in turns")
    legend_beside(right)
    still.plot(view=(18, -70))
    energy = motion.energy
    circle = tip[motion.t > 2.0]
    return {
        "tip aside at rest, m": float(still.tip("arm")[0, 3]),
        "length that 20 N pull in, m": float(pulled["a"]),
        "tips by tension and by length apart, m": float(
            np.linalg.norm((still.tip("arm") - same.tip("arm"))[:3, 3])
        ),
        "tensions by length off, N": float(off),
        "radius of the circle that the tip goes round, m": float(np.hypot(*circle[:, :2].T).mean()),
        "tips of both motions apart, m": float(np.abs(reeled - tip[: len(reeled)]).max()),
        "energy balance, relative": float(np.abs(energy["balance"]).max() / energy["work"].max()),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name}: {value:.6g}")
