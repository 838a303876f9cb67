"""Shapes of bodies: mass from density, meshes from files, pictures and robot files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model import Solid

TURN = pl.pose((0.02, -0.01, 0.03), (0.4, -0.2, 0.9))


def as_mesh(solid: Solid) -> pl.SolidMesh:
    """The same surface as triangles."""
    quads = solid.faces()
    corners = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    area = np.linalg.norm(np.cross(*(corners[:, k] - corners[:, 0] for k in (1, 2))), axis=1)
    kept = corners[area > 1e-14]
    points, numbers = np.unique(np.round(kept.reshape(-1, 3), 12), axis=0, return_inverse=True)
    return pl.SolidMesh(vertices=points, triangles=numbers.reshape(-1, 3))


@pytest.mark.parametrize(
    ("solid", "close"),
    [
        (pl.SolidBox((0.1, 0.2, 0.3), pose=TURN), 1e-9),
        (pl.SolidCylinder(0.05, 0.2, pose=TURN), 0.025),  # 24 corners around it
        (pl.SolidSphere(0.1, pose=TURN), 0.07),
    ],
    ids=lambda x: type(x).__name__,
)
def test_mass_of_a_shape_is_that_of_its_surface(solid: Any, close: float) -> None:
    exact, found = solid.mass_properties(1000.0), as_mesh(solid).mass_properties(1000.0)
    assert found[0] == pytest.approx(exact[0], rel=close)
    assert found[1] == pytest.approx(exact[1], abs=1e-9)
    assert found[2] == pytest.approx(exact[2], abs=close * np.abs(exact[2]).max())


def test_box_hangs_as_its_density_has_it() -> None:
    robot = pl.Robot()
    box = pl.SolidBox((0.02, 0.02, 0.3), pose=pl.pose((0, 0, -0.15)))
    robot.add_body("bar", joint=pl.Revolute("x"), shape=box, density=500.0)
    mass, length = 500.0 * 0.02 * 0.02 * 0.3, 0.3
    about = mass * (length**2 / 3 + 0.02**2 / 12)
    exact = np.sqrt(mass * 9.81 * length / 2 / about) / (2 * np.pi)
    assert robot.modes(1).frequencies == pytest.approx([exact], rel=1e-9)


CUBE = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def test_meshes_come_from_stl_and_obj_files(tmp_path: Path) -> None:
    triangles = as_mesh(pl.SolidBox((1.0, 1.0, 1.0)))
    corners = np.asarray(triangles.vertices)[np.asarray(triangles.triangles)]
    binary, text, obj = (tmp_path / name for name in ("a.stl", "b.stl", "c.obj"))
    records = [struct.pack("<12fH", *np.zeros(3), *tri.ravel(), 0) for tri in corners]
    binary.write_bytes(b"\0" * 80 + struct.pack("<I", len(corners)) + b"".join(records))
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join(f"  vertex {x} {y} {z}\n" for x, y, z in tri)
        + " endloop\nendfacet\n"
        for tri in corners
    ]
    text.write_text("solid cube\n" + "".join(facets) + "endsolid cube\n")
    sides = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    obj.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE)
        + "".join("f " + " ".join(f"{k}/1/1" for k in side) + "\n" for side in sides)
    )
    for file in (binary, text, obj):
        mass, centre, inertia = pl.SolidMesh(file=str(file), scale=0.1).mass_properties(1000.0)
        assert mass == pytest.approx(1.0) and centre == pytest.approx(np.zeros(3), abs=1e-9)
        assert inertia == pytest.approx(np.eye(3) * 1.0 * 0.01 / 6.0, abs=1e-9)


def test_shapes_survive_a_robot_file_and_are_drawn(tmp_path: Path) -> None:
    robot = pl.Robot()
    base = robot.add_body("base", shape=pl.SolidCylinder(0.03, 0.02), density=2700.0)
    robot.add_body(
        "arm", on=base.at((0, 0, 0.01)), joint=pl.Universal("x", "y", stiffness=1.0),
        shape=pl.SolidBox((0.02, 0.02, 0.1), pose=pl.pose((0, 0, 0.05))), density=1000.0,
    )  # fmt: skip
    cube = as_mesh(pl.SolidBox((0.01, 0.02, 0.03)))
    robot.add_body("stone", 0.1, (1e-5,) * 3, joint=pl.Spherical(stiffness=1.0), shape=cube)
    again = pl.Robot.from_file(robot.save(tmp_path / "robot.yaml"))
    for name, body in robot.description.bodies.items():
        other = again.description.bodies[name]
        assert other.mass == pytest.approx(body.mass) and other.shape is not None
        assert other.shape.faces() == pytest.approx(body.shape.faces())  # type: ignore[union-attr]
    figure = again.statics().plot()
    drawn = [len(x.get_facecolor()) for x in figure.axes[0].collections]
    assert sum(drawn) > 300
    again.simulate(0.02, 1e-2).animate(tmp_path / "robot.gif")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Robot().add_body("b", joint=pl.Free()), ("mass", "density")),
        (lambda: pl.Robot().add_body("b", density=1.0), ("density", "shape")),
        (lambda: pl.Robot().add_body("b", 1.0, shape=pl.SolidSphere(1), density=1.0), ("density",)),
        (lambda: pl.SolidMesh(file="none.stl"), ("SolidMesh", "file", "can be read")),
        (lambda: pl.SolidMesh(file="none.txt"), ("SolidMesh", ".stl or .obj")),
        (lambda: pl.SolidMesh(vertices=CUBE, triangles=[[0, 1, 9]]), ("triangles", "from 0")),
        (
            lambda: pl.SolidMesh(vertices=CUBE, triangles=[[0, 1, 2]]).mass_properties(1.0),
            ("closed surface",),
        ),
    ],
)
def test_bad_shapes_are_refused_by_name(make: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(pl.DescriptionError) as told:
        make()
    assert all(word in str(told.value) for word in words), told.value
