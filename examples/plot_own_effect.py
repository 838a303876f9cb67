"""
Effects of your own
===================

A soft arm falls onto a stop while a magnet draws its tip. Neither effect is part of Pliant: both are
classes of a few lines in this script. The equilibrium rests on the stop, the impact is inelastic, and
the energy that it takes appears as dissipated. `docs/effects.md` explains the contract.
"""

# sphinx_gallery_group = "loads"

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.model import Frame, drawing
from pliant.model.fields import holds, quantity
from pliant.model.places import OnFrame
from pliant.view import legend_beside, style

EXPECTED = {
    "height of the tip at rest, m": (-0.08, 1e-9),
    "force of the stop, N": (0.05699, 1e-4),
    "lowest height of the tip, m": (-0.08, 1e-9),
    "energy balance, relative": (0.0, 4e-3),
}


@dataclass(frozen=True, eq=False)
class Stop(pl.ConstraintEffect):
    """A floor below a frame."""

    on: Frame = holds(OnFrame())
    height: float = quantity("m")
    unilateral = True

    def frames(self):
        return [self.on]

    def gap(self, g):
        return self.height - g[0, 2, 3]


@dataclass(frozen=True, eq=False)
class Magnet(pl.FrameEffect):
    """Attracts a frame to a point in the world."""

    on: Frame = holds(OnFrame())
    strength: float = quantity("N m^2")
    at: tuple = quantity("m", shape=3)

    def frames(self):
        return [self.on]

    def potential(self, g, u):
        return -self.strength / (0.05 + np.linalg.norm(g[0, :3, 3] - np.array(self.at)))

    def drawing(self, at):
        return [drawing.Line("magnet", np.array([at.frame(self.on)[:3, 3], self.at]))]


def main():
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, pose=pl.along("x"))
    robot.add(Stop("stop", arm.tip, -0.08))
    robot.add(Magnet("magnet", arm.tip, 0.004, (0.30, 0.08, -0.08)))
    method = pl.BSpline(points=8)
    still = robot.statics(formulation=method)
    motion = robot.simulate(0.6, 0.001, formulation=method)
    still.plot()
    energy = motion.energy
    with style():
        _, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
        axes[0].plot(motion.t, motion.tip("arm")[:, 2, 3])
        axes[0].set(xlabel="time / s", ylabel="height of the tip / m")
        for name in ("kinetic", "elastic", "gravity", "potential", "dissipated"):
            axes[1].plot(motion.t, energy[name] - energy[name][0], label=name)
        axes[1].set(xlabel="time / s", ylabel="change of energy / J")
        legend_beside(axes[1])
    return {
        "height of the tip at rest, m": still.tip("arm")[2, 3],
        "force of the stop, N": np.linalg.norm(still.reactions["stop"][3:]),
        "lowest height of the tip, m": motion.tip("arm")[:, 2, 3].min(),
        "energy balance, relative": np.abs(energy["balance"]).max() / energy["dissipated"].max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
