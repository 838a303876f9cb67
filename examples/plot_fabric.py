"""
A fabric sleeve on a driven pendulum
====================================

A wireframe of 3 × 5 nodes and 22 edges, drawn by a few lines of Python, is saved as IGES and imported
as a drawing of a CAD program would be. Nodes become bodies, edges elastic links. Two nodes are clamped
to a pendulum that swings as prescribed, as in the study of a jersey sleeve by Sadati et al. (2021).

Their table gives E = 5 kPa, ν = 1 (no isotropic material has that: G = E / 4 is taken), a cloth of
350 mm × 99 mm × 0.8 mm, clamps at ±38 mm, 30 mm below the hinge, and twice a mass m1, 40 g and 36 g;
the second is taken for that of the fabric. Assumed here: the sleeve hangs between its clamps, three
ribbons wide, bowed by 3 mm so that it knows to which side to buckle, with a viscosity of 500 Pa s and
1e-4 N m² s of damping against folding; with a tenth of it, the limp cloth folds up. The pendulum swings
by 60° at its own frequency. As in the paper, the cloth moves up and down twice in each swing. The last
figure has the same sleeve with 12 × 20 nodes.
"""

# sphinx_gallery_group = "mechanisms"
# sphinx_gallery_thumbnail_number = 2

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import draw_wireframe, legend_beside, rod_color, style

EXPECTED = {
    "nodes": (15, 0),
    "edges": (22, 0),
    "swings / Hz": (1.18, 0.02),
    "vertical over horizontal frequency": (2.0, 0.03),
    "largest change of energy by the integrator": (0.0, 0.01),
    "the same of 12 × 20 nodes": (0.0, 0.01),
}
CLAMPS = ((-0.038, 0.0, -0.03), (0.038, 0.0, -0.03))
MASS, THICK, WIDTH, HEIGHT = 0.036, 0.0008, 0.35, 0.099
OMEGA = 2 * np.pi * 1.18


def drawing(across: int = 3, down: int = 5) -> pl.Wireframe:
    """The sleeve of across x down nodes, on its way through an IGES file."""
    x, z = np.meshgrid(np.linspace(-0.038, 0.038, across), np.linspace(0.0, -0.099, down))
    bow = 0.003 * (1 - (x / 0.038) ** 2)
    points, count = np.stack([x.ravel(), bow.ravel(), z.ravel()], axis=1), across * down
    rows = [(k, k + 1) for k in range(count) if k % across < across - 1]
    columns = [(k, k + across) for k in range(count - across)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sleeve.igs"
        pl.Wireframe(points, np.array(rows + columns)).save(file)
        return pl.Wireframe.from_file(file, tolerance=1e-3, pose=pl.pose((0, 0, -0.03)))


def sleeve_on_pendulum(sleeve: pl.Wireframe, across: int = 3, down: int = 5) -> pl.Robot:
    """The pendulum, the fabric and its clamps; the input is the angle of the pendulum.

    across, down : nodes of the sleeve, whose ribbons are as wide and as stiff against folding.
    """
    wide, high, folding = WIDTH / across, HEIGHT / down, 3e-4 / across
    robot = pl.Robot()
    pendulum = robot.add_body(
        "pendulum",
        mass=0.04,
        inertia=(2.4e-4, 2.4e-4, 1e-6),
        centre=(0, 0, -0.135),
        joint=pl.Revolute("y", drive="angle", input="swing"),
    )
    squares = np.array([THICK**2 + high**2, wide**2 + high**2, wide**2 + THICK**2])
    plate = MASS / (across * down) / 12 * squares
    nodes = robot.add_mesh(
        "fabric",
        sleeve,
        MASS,
        pl.Rectangle(wide, THICK),
        pl.Material(E=5e3, G=1.25e3, viscosity=500.0),
        inertia=plate,
        strain_damping=pl.Damping(bending=folding, twist=folding),
        x_axis=(1, 0, 1),
    )
    for name, point in zip(("left", "right"), CLAMPS, strict=True):
        robot.connect(name, pendulum.at(point), nodes[sleeve.nearest(point)].at((0, 0, 0)))
    return robot


def swing(t: float) -> float:
    """Angle of the pendulum, rad: from rest to swings of 60 degrees."""
    return np.radians(60.0) * (1 - np.exp(-t)) * np.sin(OMEGA * t)


def draw_fine_sleeve() -> float:
    """Figure of 12 × 20 nodes in motion; returns the change of energy by the integrator, its share."""
    sleeve = drawing(12, 20)
    robot = sleeve_on_pendulum(sleeve, 12, 20)
    motion = robot.simulate(1.2, 0.01, inputs={"swing": swing}, output_every=0.05)
    nodes = 1e3 * np.array([motion.position(f"fabric_{k}") for k in range(240)])
    with style():
        _, panels = plt.subplots(1, 3, figsize=(8.5, 3.4), sharey=True, layout="constrained")
        for axes, k in zip(panels, (0, 16, 24), strict=True):
            for pair in sleeve.edges:
                axes.plot(*nodes[pair, k].T[[0, 2]], color=rod_color(0), linewidth=0.6)
            axes.set(title=f"{motion.t[k]:.1f} s", xlabel="x / mm", aspect="equal")
        panels[0].set(ylabel="z / mm")
    return float(max(motion.energy_gap.share_added, motion.energy_gap.share_taken))


def frequency(values: np.ndarray) -> float:
    """The strongest frequency of a signal with 50 values per second, Hz."""
    share = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)), 4096))
    return float(np.fft.rfftfreq(4096, 0.02)[np.argmax(share)])


def main() -> dict[str, float]:
    sleeve = drawing()
    draw_wireframe(sleeve)
    robot = sleeve_on_pendulum(sleeve)
    # Cloth that soft has many equilibria: the motion starts from the drawing and finds its own.
    motion = robot.simulate(10.0, 0.005, inputs={"swing": swing}, output_every=0.02)
    low = motion.position("fabric_13")
    sideways, upwards = (frequency(low[motion.t >= 4.0, axis]) for axis in (0, 2))

    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
        left.plot(motion.t, 1e3 * low[:, 0], label="x")
        left.plot(motion.t, 1e3 * low[:, 2], label="z")
        left.set(xlabel="time / s", ylabel="lowest node in the middle / mm")
        legend_beside(left)
        instants = np.linspace(len(motion.t) - 38, len(motion.t) - 1, 5).astype(int)
        for n, k in enumerate(instants):
            shape = 1e3 * np.array([motion.position(f"fabric_{n}")[k] for n in range(15)])
            for a, b in sleeve.edges:
                right.plot(*shape[[a, b]][:, [0, 2]].T, color=rod_color(n), linewidth=1.2)
        right.set(xlabel="x / mm", ylabel="z / mm", aspect="equal", title="Five instants")
    gap = motion.energy_gap
    fine = draw_fine_sleeve()
    return {
        "nodes": len(sleeve.nodes),
        "edges": len(sleeve.edges),
        "swings / Hz": sideways,
        "vertical over horizontal frequency": upwards / sideways,
        "largest change of energy by the integrator": max(gap.share_added, gap.share_taken),
        "the same of 12 × 20 nodes": fine,
    }


if __name__ == "__main__":
    print(main())
    plt.show()
