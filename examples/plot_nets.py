"""
A net under a weight, soft tissue under a probe
===============================================

A wireframe becomes a net of bodies and links. One of tension-only threads carries a weight: its links
give way when shortened, and hardly resist folding. It sags as a net of strings does, whose shape is the
minimum of their energy: with three links a mesh it is 2.4 % too stiff, with one 7 %, for a link stays
smooth where a string has a kink. A block of soft tissue is a lattice of links with diagonals. A rigid
sphere, driven into it, meets its uppermost nodes: first one, then its neighbours as well.
"""

# sphinx_gallery_group = "mechanisms"

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import pliant as pl
from pliant.view import rod_color, style

EXPECTED = {
    "sag of the net / mm": (-22.04, 0.01),
    "sag of strings / mm": (-22.58, 0.01),
    "probe force at 1 mm / mN": (28.1, 0.1),
    "probe force at 6 mm / mN": (188.6, 0.2),
}
SIDE, MESHES, PARTS = 0.3, 6, 3
STRETCH, REST, PULL = 50.0, 0.99, np.array([0.0, 0.0, -1.0])
SPACING, BALL, SKIN = 0.01, 0.012, 1e-3
DEPTHS = (0.0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3)


def net() -> pl.Wireframe:
    """Square meshes whose threads have several links each."""
    count = MESHES * PARTS
    at = {}
    for i in range(count + 1):
        for j in range(count + 1):
            if i % PARTS == 0 or j % PARTS == 0:
                at[i, j] = len(at)
    edges = [
        (k, at[i + di, j + dj])
        for (i, j), k in at.items()
        for di, dj in ((1, 0), (0, 1))
        if (i + di, j + dj) in at and (j if di else i) % PARTS == 0
    ]
    points = [(SIDE * i / count, SIDE * j / count, 0.0) for i, j in at]
    return pl.Wireframe(np.array(points), np.array(edges))


def on_rim(point: np.ndarray) -> bool:
    """Whether a node of the net is fixed."""
    return bool(min(*point[:2], *(SIDE - point[:2])) < 1e-9)


def strings(wireframe: pl.Wireframe) -> np.ndarray:
    """Nodes of a net of strings under the pull in its middle: a minimum of their energy."""
    points, (a, b) = wireframe.nodes, wireframe.edges.T
    free = np.array([not on_rim(p) for p in points])
    middle, slack = wireframe.nearest((SIDE / 2, SIDE / 2, 0)), REST * wireframe.lengths

    def energy(u: np.ndarray) -> tuple[float, np.ndarray]:
        p = points.copy()
        p[free] += u.reshape(-1, 3)
        way = p[b] - p[a]
        length = np.linalg.norm(way, axis=1)
        longer = np.maximum(length - slack, 0.0)
        force, slope = (STRETCH * longer / slack / length)[:, None] * way, np.zeros_like(p)
        np.add.at(slope, b, force)
        np.add.at(slope, a, -force)
        slope[middle] -= PULL
        stored = 0.5 * np.sum(STRETCH / slack * longer**2)
        return stored - PULL @ (p - points)[middle], slope[free].ravel()

    limits = {"gtol": 1e-9, "ftol": 1e-16, "maxiter": 20000, "maxfun": 40000}
    start = np.zeros(3 * free.sum())
    best = minimize(energy, start, jac=True, method="L-BFGS-B", options=limits)
    found = points.copy()
    found[free] += best.x.reshape(-1, 3)
    return found


def weighed_net() -> tuple[pl.Robot, pl.Wireframe, int]:
    """The net, its wireframe, and the node that carries the weight."""
    wireframe, robot = net(), pl.Robot(gravity=(0, 0, 0))
    limp = pl.Stiffness(bending=1e-7, twist=1e-7, shear=STRETCH, axial=STRETCH, mass=0.1)
    nodes = robot.add_mesh(
        "net", wireframe, 0.05, limp, fixed=on_rim, kind="tension", rest=REST
    )  # fmt: skip
    middle = wireframe.nearest((SIDE / 2, SIDE / 2, 0))
    robot.add_load("weight", nodes[middle].at((0, 0, 0)), force=tuple(PULL))
    return robot, wireframe, middle


def lattice() -> pl.Wireframe:
    """7 x 7 x 4 nodes with links to all neighbours on edges and across faces."""
    x, z = SPACING * (np.arange(7) - 3.0), SPACING * np.arange(4)
    points = np.stack(np.meshgrid(x, x, z, indexing="ij"), axis=-1).reshape(-1, 3)
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    return pl.Wireframe(points, np.argwhere(np.triu(apart < 1.5 * SPACING, 1)))


def tissue_under_probe() -> tuple[pl.Robot, pl.Wireframe]:
    """The block, fixed below, and a sphere above it whose height is prescribed."""
    wireframe, robot = lattice(), pl.Robot(gravity=(0, 0, 0))
    soft = pl.Material(E=2e4, nu=0.45, viscosity=100.0)
    nodes = robot.add_mesh(
        "tissue", wireframe, 0.1, pl.Circle(0.0015), soft, fixed=lambda p: p[2] < 1e-6
    )
    probe = robot.add_body(
        "probe",
        mass=0.1,
        pose=pl.pose((0, 0, 0.03 + BALL + SKIN)),
        joint=pl.Prismatic("z", drive="position", input="height"),
    )
    near = [k for k, p in enumerate(wireframe.nodes) if p[2] > 0.029 and np.hypot(*p[:2]) < 0.025]
    spheres = tuple(pl.Sphere(SKIN, on=nodes[k].at((0, 0, 0))) for k in near)
    robot.add_contact("touch", of=spheres, against=pl.Sphere(BALL, on=probe.at((0, 0, 0))))
    return robot, wireframe


def shape(robot: pl.Robot, found: pl.Equilibrium, name: str, wireframe: pl.Wireframe) -> np.ndarray:
    """Positions (N, 3) of the nodes of a net; those that are fixed have no body."""
    bodies, places = robot.description.bodies, enumerate(wireframe.nodes)
    return np.array(
        [found.position(part) if (part := f"{name}_{k}") in bodies else p for k, p in places]
    )


def main() -> dict[str, float]:
    robot, wireframe, middle = weighed_net()
    hung, reference = shape(robot, robot.statics(), "net", wireframe), strings(wireframe)
    block, cells = tissue_under_probe()
    pressed = [block.statics({"height": -depth}) for depth in DEPTHS]
    forces = [-1e3 * found.reactions["probe"][5] for found in pressed]

    with style():
        _, (left, centre, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
        dented = shape(block, pressed[-1], "tissue", cells)
        slice_edges = [pair for pair in cells.edges if not cells.nodes[pair, 1].any()]
        for axes, points, edges in ((left, hung, wireframe.edges), (centre, dented, slice_edges)):
            for pair in edges:
                axes.plot(*1e3 * points[pair][:, [0, 2]].T, color=rod_color(0), linewidth=0.8)
            axes.set(xlabel="x / mm", ylabel="z / mm")
        left.set_title("The net from the side")
        place = 1e3 * np.array([0.0, 0.03 + BALL + SKIN - DEPTHS[-1]])
        centre.add_patch(plt.Circle(tuple(place), 1e3 * BALL, fill=False))
        centre.set(title="The slice below the probe", aspect="equal", xlim=(-35, 35), ylim=(-2, 52))
        right.plot(1e3 * np.array(DEPTHS), forces, "o-")
        right.set(xlabel="depth of the probe / mm", ylabel="force / mN")
    return {
        "sag of the net / mm": 1e3 * hung[middle, 2],
        "sag of strings / mm": 1e3 * reference[middle, 2],
        "probe force at 1 mm / mN": forces[1],
        "probe force at 6 mm / mN": forces[-1],
    }


if __name__ == "__main__":
    print(main())
    plt.show()
