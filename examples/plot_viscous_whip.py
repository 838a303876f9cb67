"""
When a falling rod depends on its mesh
======================================

A soft rod of 1 m is released from straight and swings for 5 s. Without damping its energy moves to ever
shorter waves. Once these are as short as the elements, the motion depends on the mesh, whatever the
integrator; ``Explicit()`` then shortens its steps and tells you the time. A little viscosity takes up
such waves: with a retardation time of 2 ms two meshes stay within 3 mm;
without it they come to be 10 cm apart.

``motion.scheme`` names the steps that ``Explicit()`` has chosen: leapfrog steps of order 4 without
damping, Runge-Kutta-Chebyshev steps with this viscosity.

The picture shows the distance between the tips on 24 and on 36 elements.
"""

# sphinx_gallery_group = "dynamics"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

EXPECTED = {
    "undamped, difference at 1 s, mm": (0.076, 0.03),
    "undamped over viscous, powers of ten": (1.7, 0.7),
    "viscous, largest difference, mm": (2.4, 0.8),
    "schemes chosen": (2.0, 0.0),
}
TIMES = np.linspace(0.0, 5.0, 101)
MESHES = (24, 36)


def swung(retardation: float, elements: int) -> pl.Motion:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=1e6 * retardation)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pose=pl.along("x"))
    mesh = pl.Spectral(elements=elements)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.ResolutionWarning)  # it is what the picture shows
        return robot.simulate(
            5.0, 0.05, formulation=mesh, integrator=pl.Explicit(), output_times=TIMES
        )


@style()
def main() -> dict[str, float]:
    _, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    apart, schemes = {}, set()
    for name, retardation in (("undamped", 0.0), ("retardation time 2 ms", 2e-3)):
        motions = [swung(retardation, n) for n in MESHES]
        coarse, fine = (motion.tip("rod")[:, :3, 3] for motion in motions)
        apart[name] = 1e3 * np.linalg.norm(coarse - fine, axis=1)
        scheme = motions[0].scheme.split(",")[0]
        schemes.add(scheme)
        axes.semilogy(TIMES[1:], apart[name][1:], label=f"{name}: {scheme}")
    axes.set(xlabel="time / s", ylabel="distance of the tips on two meshes / mm", ylim=(1e-5, 1e3))
    axes.legend()
    undamped, viscous = apart.values()
    return {
        "undamped, difference at 1 s, mm": float(undamped[20]),
        "undamped over viscous, powers of ten": float(np.log10(undamped.max() / viscous.max())),
        "viscous, largest difference, mm": float(viscous.max()),
        "schemes chosen": float(len(schemes)),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
