"""
A falling soft rod, with nothing to choose
==========================================

A soft rod of 1 m is clamped at one end and released from straight. Nothing damps it, and it whips: a
hard case for implicit integrators, which need steps below a millisecond. Here
``simulate(1.0, accuracy=2e-3)`` chooses spectral elements and explicit steps, refines the mesh until
the extrapolated error of the whole shape is below 2 mm, and reports it.

The picture shows the rod at equal times, and the errors that several fixed meshes have at the tip.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

EXPECTED = {
    "lowest tip height": (-0.981, 0.003),
    "estimated error, mm": (0.104, 0.05),
    "true error over the accuracy": (0.011, 0.005),
    "order of the mesh": (4.0, 0.5),
}
TIMES = np.linspace(0.0, 1.0, 21)
S = np.linspace(0.0, 1.0, 81)


def soft_rod() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pose=pl.along("x"))
    return robot


def moved(robot: pl.Robot, elements: int) -> pl.Motion:
    mesh = pl.Spectral(elements=elements)
    return robot.simulate(1.0, 0.05, formulation=mesh, integrator=pl.Explicit(), output_times=TIMES)


@style()
def draw(motion: pl.Motion, meshes: list[int], errors: list[float]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    shapes = motion.position("rod", S)
    for k, shape in enumerate(shapes):
        colour = plt.get_cmap("viridis")(k / len(shapes))
        left.plot(shape[:, 0], shape[:, 2], color=colour, linewidth=1.5)
    left.set(xlabel="x / m", ylabel="z / m", title="every 50 ms", aspect="equal")
    right.loglog(meshes, errors, "o-")
    right.set(
        xlabel="elements",
        ylabel="largest error of the tip / m",
        title="fixed meshes",
        xticks=meshes,
    )
    right.set_xticks(meshes, [str(n) for n in meshes])
    right.minorticks_off()


def main() -> dict[str, float]:
    robot = soft_rod()
    found = robot.simulate(1.0, accuracy=2e-3, output_times=TIMES)
    truth = moved(robot, 40).tip("rod")[:, :3, 3]
    meshes = [8, 12, 16, 24]
    tips = [moved(robot, n).tip("rod")[:, :3, 3] for n in meshes]
    errors = [float(np.linalg.norm(tip - truth, axis=1).max()) for tip in tips]
    draw(found, meshes, errors)
    assert found.error is not None
    miss = np.linalg.norm(found.tip("rod")[:, :3, 3] - truth, axis=1).max()
    return {
        "lowest tip height": float(found.tip("rod")[:, 2, 3].min()),
        "estimated error, mm": 1e3 * found.error.shape,
        "true error over the accuracy": float(miss) / 2e-3,
        "order of the mesh": float(np.log(errors[0] / errors[-1]) / np.log(meshes[-1] / meshes[0])),
    }


if __name__ == "__main__":
    print(main())
    plt.show()
