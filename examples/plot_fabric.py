"""
A fabric sleeve on a driven pendulum
====================================

A wireframe of 3 × 5 nodes and 22 edges is drawn in a CAD program, here by a few lines of Python, saved
as IGES and imported. Nodes become bodies, edges elastic links. Two nodes are clamped to a pendulum that
swings as prescribed, as in the study of a jersey sleeve by Sadati et al. (2021).

Their table gives E = 5 kPa, ν = 1 (no isotropic material has that: G = E / 4 is taken), a cloth of
350 mm × 99 mm × 0.8 mm, clamps at ±38 mm, 30 mm below the hinge, and twice a mass m1, 40 g and 36 g; the
second is taken for that of the fabric. Assumed here: the sleeve hangs between its clamps, three ribbons
wide, bowed by 3 mm so that it knows to which side to buckle, with a viscosity of 500 Pa s and 1e-4 N m² s
of damping against folding; with a tenth of it, the limp cloth folds up. The pendulum swings by 60° at
its own frequency.
"""

# sphinx_gallery_thumbnail_number = 2

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import draw_wireframe, legend_beside, style

# %%
# The drawing, and its way through a file
# ---------------------------------------
across, down = np.meshgrid(np.linspace(-0.038, 0.038, 3), np.linspace(0.0, -0.099, 5))
bow = 0.003 * (1 - (across / 0.038) ** 2)
points = np.stack([across.ravel(), bow.ravel(), down.ravel()], axis=1)
rows = [(k, k + 1) for k in range(15) if k % 3 < 2]
columns = [(k, k + 3) for k in range(12)]
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "sleeve.igs"
    pl.Wireframe(points, np.array(rows + columns)).save(file)
    sleeve = pl.Wireframe.from_file(file, tolerance=1e-3, pose=pl.pose((0, 0, -0.03)))
assert (len(sleeve.nodes), len(sleeve.edges)) == (15, 22)
draw_wireframe(sleeve)

# %%
# Pendulum, fabric and clamps
# ---------------------------
robot = pl.Robot()
pendulum = robot.add_body(
    "pendulum",
    mass=0.04,
    inertia=(2.4e-4, 2.4e-4, 1e-6),
    centre=(0, 0, -0.135),
    joint=pl.Revolute("y", drive="angle", input="swing"),
    shape=pl.SolidBox((0.02, 0.01, 0.27)),
)
cloth = pl.Material(E=5e3, G=1.25e3, viscosity=500.0)
ribbon = pl.Rectangle(0.35 / 3, 0.0008)
wide, thick, high = 0.35 / 3, 0.0008, 0.099 / 5
plate = 0.036 / 15 / 12 * np.array([thick**2 + high**2, wide**2 + high**2, wide**2 + thick**2])
folding = pl.Damping(bending=1e-4, twist=1e-4)
options = {"inertia": plate, "x_axis": (1, 0, 1), "strain_damping": folding}
nodes = robot.add_mesh("fabric", sleeve, 0.036, ribbon, cloth, **options)
for side, x in (("left", -0.038), ("right", 0.038)):
    corner = nodes[sleeve.nearest((x, 0, -0.03))]
    robot.connect(side, pendulum.at((x, 0, -0.03)), corner.at((0, 0, 0)))

# %%
# Ten seconds of swinging
# -----------------------
# Cloth that soft has many equilibria. The motion starts from the drawing and finds its own.
omega = 2 * np.pi * 1.18


def swing(t: float) -> float:
    """Angle of the pendulum, rad: from rest to swings of 60 degrees."""
    return np.radians(60.0) * (1 - np.exp(-t)) * np.sin(omega * t)


motion = robot.simulate(10.0, 0.005, inputs={"swing": swing}, output_every=0.02)
low = motion.position("fabric_13") - motion.position("pendulum")
late = motion.t >= 4.0


def frequency(values: np.ndarray) -> float:
    """The strongest frequency of a signal, Hz."""
    share = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)), 4096))
    return np.fft.rfftfreq(4096, 0.02)[np.argmax(share)]


sideways, upwards = frequency(low[late, 0]), frequency(low[late, 2])
print(f"horizontal {sideways:.2f} Hz, vertical {upwards:.2f} Hz")
assert abs(upwards / sideways - 2.0) < 0.05
assert np.isfinite(low).all()

with style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
    left.plot(motion.t, 1e3 * low[:, 0], label="x")
    left.plot(motion.t, 1e3 * low[:, 2], label="z")
    left.set(xlabel="time / s", ylabel="lowest node, middle / mm")
    legend_beside(left)
    for k in np.linspace(len(motion.t) - 38, len(motion.t) - 1, 5).astype(int):
        shape = np.array([motion.position(f"fabric_{n}")[k] for n in range(15)])
        for a, b in sleeve.edges:
            right.plot(*1e3 * shape[[a, b]][:, [0, 2]].T, color=plt.cm.viridis(k % 38 / 38), lw=1.2)
    right.set(xlabel="x / mm", ylabel="z / mm", aspect="equal", title="the sleeve at five instants")
