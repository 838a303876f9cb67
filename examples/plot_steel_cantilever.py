"""
A steel cantilever, struck at its tip
=====================================

A steel beam of one metre and one square centimetre with a force suddenly applied to its tip: 10 N,
which leaves it nearly straight, and 100 N, which does not. Shooting and collocation take steps of 2 ms
with the trapezoidal rule; dots are an independent solution. For very short steps simple shooting cannot
integrate along the beam, because solutions of the rod equations grow faster along the rod the shorter
the step is. Multiple shooting then takes over, and `rescues` of the result reports it.
"""

# sphinx_gallery_group = "validation"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

TIMES = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
DROP = {
    10.0: (-0.009322406483726078, -0.027772501591740897, -0.03738611806929453, -0.02972728909974834,
           -0.01249235977615112),
    100.0: (-0.06879057010786598, -0.21621073091243187, -0.3331923259791208, -0.3367646606556853,
            -0.23092572860198313),
}  # fmt: skip
EXPECTED = {
    "worst error of the drop, 10 N": (0.0, 1e-3),
    "worst error of the drop, 100 N": (0.0, 8e-3),
    "shooting against collocation": (0.0, 1e-5),
    "largest sideways velocity": (0.0, 1e-8),
    "steps of 0.1 ms by multiple shooting": (200.0, 20.0),
}
TRAPEZOIDAL = pl.BDFAlpha(-0.5)


def beam(force: float) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    rod = robot.add_rod("beam", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("strike", rod.tip, force=(0, 0, -force))
    return robot


def main() -> dict[str, float]:
    errors = {}
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharex=True, layout="constrained")
    sideways, apart = [], []
    for (force, known), ax in zip(DROP.items(), axes, strict=True):
        moves = [
            beam(force).simulate(0.5, 2e-3, formulation=form, integrator=TRAPEZOIDAL)
            for form in (pl.Shooting(steps=100), pl.Collocation(nodes=24))
        ]
        for move, line in zip(moves, ("-", "--"), strict=True):
            drop = move.tip("beam")[:, 2, 3]
            ax.plot(move.t, drop, line, label=move.formulation["beam"].split("(")[0])
            sideways.append(np.abs(move.velocity("beam", np.linspace(0, 1, 11))[..., 4]).max())
        ax.plot(TIMES, known, "ko", markersize=4, label="reference")
        ax.set(title=f"{force:g} N", xlabel="time / s", ylabel="height of the tip / m")
        rows = np.searchsorted(moves[0].t, TIMES - 1e-9)
        tips = [move.tip("beam")[:, :3, 3] for move in moves]
        errors[f"worst error of the drop, {force:g} N"] = np.abs(tips[0][rows, 2] - known).max()
        apart.append(np.abs(tips[0] - tips[1]).max())
    with style():
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    quick = beam(10.0).simulate(0.02, 1e-4, formulation=pl.Shooting(), integrator=TRAPEZOIDAL)
    print("steps of 0.1 ms:", quick.rescues)
    return {
        **errors,
        "shooting against collocation": max(apart),
        "largest sideways velocity": max(sideways),
        "steps of 0.1 ms by multiple shooting": quick.rescues.get("multiple shooting", 0),
    }


if __name__ == "__main__":
    main()
    plt.show()
