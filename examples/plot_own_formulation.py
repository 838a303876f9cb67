"""
A formulation of your own
=========================

Your own rod model needs only a map from coordinates to frames and strains. Here it is a rod of
piecewise constant strain, written in forty lines with the Lie-group functions of Pliant. Statics,
dynamics and frequencies work as with the built-in formulations, and the results are compared with those
of a spline. `docs/formulations.md` explains the contract.
"""

# sphinx_gallery_group = "methods"

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.lie import se3
from pliant.rods.contract import RodMap
from pliant.view import style

EXPECTED = {
    "tip apart from the spline, 8 pieces": (0.0, 6e-3),
    "order of the tip": (2.0, 0.1),
    "apart from Strain(0), which is the same rod": (0.0, 1e-9),
    "energy balance of the motion": (0.0, 1e-3),
    "first frequency apart, relative": (0.0, 5e-3),
}


@dataclass(frozen=True)
class Pieces(pl.Formulation):
    """Constant strain on each of `count` equal pieces."""

    count: int = 8

    def discretise(self, rod):
        return PiecesMap(rod, self.count)


class PiecesMap(RodMap):
    """q (count, 6), flat: what the strain of each piece adds to the natural one."""

    def __init__(self, rod, count):
        super().__init__(rod, nv=6 * count)
        self.starts = rod.length / count * np.arange(count)
        self.piece = rod.length / count
        self.natural = rod.natural_strain(self.starts + 0.5 * self.piece)

    def rest(self):
        return np.zeros(self.nq)

    def mass_rule(self):
        x, w = np.polynomial.legendre.leggauss(3)
        s = self.starts[:, None] + 0.5 * self.piece * (x + 1)
        return s.ravel(), np.tile(0.5 * self.piece * w, len(self.starts))

    def strain_rule(self):
        return self.starts + 0.5 * self.piece, np.full((len(self.starts), 6), self.piece)

    def frame(self, plan, c):
        strains = self.natural + c.q.reshape(-1, 6)
        plan.g[...], plan.J[...] = c.base, 0.0
        plan.J[:, :, :6] = np.eye(6)
        for k, strain in enumerate(strains):
            inside = np.clip(plan.s - self.starts[k], 0.0, self.piece)[:, None]
            step = se3.exp(inside * strain)
            plan.g[...] = plan.g @ step
            plan.J[...] = se3.Ad(se3.inverse(step)) @ plan.J
            columns = slice(6 + 6 * k, 12 + 6 * k)
            plan.J[:, :, columns] = inside[:, :, None] * se3.dexp(inside * strain)

    def strain(self, plan, c):
        k = np.minimum((plan.s / self.piece).astype(int), len(self.starts) - 1)
        plan.e[...] = (self.natural + c.q.reshape(-1, 6))[k]
        plan.B[...] = 0.0
        for row in range(6):
            plan.B[np.arange(len(k)), row, 6 + 6 * k + row] = 1.0


def arm() -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=0.01e6)
    rod = robot.add_rod(
        "arm", 0.4, pl.Circle(0.01), material, pose=pl.along("x"), natural=(0, 0, 3)
    )
    robot.add_load("push", rod.tip, force=(0, 0.1, 0))
    return robot


def main() -> dict[str, float]:
    robot = arm()
    spline = pl.BSpline(3, 20)
    truth = robot.statics(formulation=spline)
    counts = (2, 4, 8)
    stills = {count: robot.statics(formulation=Pieces(count)) for count in counts}
    errors = [
        np.linalg.norm((s.tip("arm") - truth.tip("arm"))[:3, 3]) / 0.4 for s in stills.values()
    ]
    same = robot.statics(formulation=pl.Strain(0, 8)).tip("arm") - stills[8].tip("arm")
    motions = {
        name: robot.simulate(0.6, 0.01, {"push": 0.0}, truth if form is spline else stills[4],
                             formulation=form)
        for name, form in {"spline": spline, "4 pieces": Pieces(4)}.items()
    }  # fmt: skip
    first = {form: robot.modes(1, formulation=form).frequencies[0] for form in (spline, Pieces(8))}
    with style():
        _, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
        s = np.linspace(0, 0.4, 81)
        for label, still in {"spline": truth, **{f"{n} pieces": stills[n] for n in counts}}.items():
            axes[0].plot(*still.position("arm", s)[:, [0, 2]].T, label=label)
        axes[0].set(title="at rest", xlabel="x / m", ylabel="z / m", aspect="equal")
        axes[0].legend()
        for label, motion in motions.items():
            axes[1].plot(motion.t, motion.tip("arm")[:, 1, 3], label=label)
        axes[1].set(title="released", xlabel="time / s", ylabel="y of the tip / m")
        axes[1].legend()
    energy = motions["4 pieces"].energy
    return {
        "tip apart from the spline, 8 pieces": errors[-1],
        "order of the tip": np.log2(errors[-2] / errors[-1]),
        "apart from Strain(0), which is the same rod": np.abs(same).max(),
        "energy balance of the motion": np.abs(energy["balance"]).max() / energy["elastic"].max(),
        "first frequency apart, relative": abs(first[Pieces(8)] / first[spline] - 1),
    }


if __name__ == "__main__":
    main()
    plt.show()
