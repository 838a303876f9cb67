"""Wireframes from IGES curves and triangle meshes, and nets of bodies and links made from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model import file_access
from pliant.model.iges import read_iges
from pliant.solve.limits import with_limits
from pliant.solve.problem import Problem
from pliant.solve.resolution_hint import PAIRS, rough_errors
from pliant.tree.tree import Tree
from pliant.view import draw_wireframe

CLOTH = pl.Material(E=1e6, nu=0.3, viscosity=1e4)


def grid(across: int = 3, down: int = 5) -> pl.Wireframe:
    x, z = np.meshgrid(np.linspace(-0.05, 0.05, across), np.linspace(0, -0.2, down))
    count = across * down
    edges = [(k, k + 1) for k in range(count) if k % across < across - 1]
    edges += [(k, k + across) for k in range(count - across)]
    return pl.Wireframe(np.stack([x.ravel(), 0 * x.ravel(), z.ravel()], axis=1), np.array(edges))


def iges(entities: list[tuple[int, int, int, str]], unit: int = 2) -> str:
    """An IGES file of entities: type, form, number of the transformation's entry, parameters."""
    lines = [f"{'start':<72}S{1:7d}"]
    words = f"1H,,1H;,1Ha,1Ha,1Ha,1Ha,32,38,6,308,15,1Ha,1.0,{unit},2HMM,1,0.0,1Ha,1E-6,0.0;"
    for k in range(0, len(words), 72):
        lines.append(f"{words[k : k + 72]:<72}G{k // 72 + 1:7d}")
    data: list[str] = []
    directory: list[str] = []
    for kind, form, matrix, text in entities:
        pieces = [text[k : k + 64] for k in range(0, len(text), 64)]
        first = len(data) + 1
        number = len(directory) + 1
        data += [f"{piece:<64}{number:8d}P{first + k:7d}" for k, piece in enumerate(pieces)]
        row = f"{kind:8d}{first:8d}{0:8d}{0:8d}{0:8d}{0:8d}{matrix:8d}{0:8d}{'00000000'}"
        directory.append(f"{row}D{number:7d}")
        row = f"{kind:8d}{0:8d}{0:8d}{len(pieces):8d}{form:8d}{' ' * 32}"
        directory.append(f"{row}D{number + 1:7d}")
    return "\n".join([*lines, *directory, *data, f"{'':<72}T{1:7d}"])


def test_lines_and_units() -> None:
    for unit, metres in ((1, 0.0254), (2, 1e-3), (6, 1.0), (10, 0.01)):
        curves = read_iges(iges([(110, 0, 0, "110,0.,0.,0.,1.D1,2.,3.;")], unit), 4)
        assert curves.lines[0] == pytest.approx(metres * np.array([[0, 0, 0], [10, 2, 3]]))


def test_arcs_polylines_and_transformations() -> None:
    turn = "124,0.,-1.,0.,5.,1.,0.,0.,0.,0.,0.,1.,7.;"
    arc = "100,2.,1.,1.,2.,1.,1.,2.;"
    entities = [
        (124, 0, 0, turn),
        (100, 0, 1, arc),
        (106, 11, 0, "106,1,3,4.,0.,0.,1.,0.,1.,1.;"),
        (106, 12, 0, "106,2,2,0.,0.,0.,1.,2.,3.;"),
        (106, 63, 0, "106,1,3,0.,0.,0.,1.,0.,1.,1.;"),
        (408, 0, 0, "408,1;"),
    ]
    found = read_iges(iges(entities, 6), 2)
    s = np.sqrt(0.5)
    flat = np.array([[2, 1, 2], [1 + s, 1 + s, 2], [1, 2, 2]])
    assert found.lines[0] == pytest.approx(
        np.stack([5 - flat[:, 1], flat[:, 0], flat[:, 2] + 7], 1)
    )
    assert found.lines[1] == pytest.approx(np.array([[0, 0, 4], [1, 0, 4], [1, 1, 4]]))
    assert found.lines[2] == pytest.approx(np.array([[0, 0, 0], [1, 2, 3]]))
    assert len(found.lines[3]) == 4 and (found.lines[3][0] == found.lines[3][-1]).all()
    assert found.skipped == {408: 1}


def test_composite_curves_move_their_parts() -> None:
    shift = "124,1.,0.,0.,5.,0.,1.,0.,0.,0.,0.,1.,0.;"
    entities = [
        (124, 0, 0, shift),
        (110, 0, 0, "110,0.,0.,0.,1.,0.,0.;"),
        (102, 0, 1, "102,1,3;"),
    ]
    assert read_iges(iges(entities, 6), 2).lines[0][:, 0] == pytest.approx([5, 6])


def test_splines_are_the_curves_that_they_describe() -> None:
    """A quarter circle as a rational spline, and a parabola as a parametric one."""
    w = repr(float(np.sqrt(0.5)))
    circle = (
        f"126,2,2,0,0,0,0,0.,0.,0.,1.,1.,1.,1.,{w},1.,1.,0.,0.,1.,1.,0.,0.,1.,0.,0.,1.,0.,0.,1.;"
    )
    points = read_iges(iges([(126, 0, 0, circle)], 6), 8).lines[0]
    assert len(points) == 9
    assert np.linalg.norm(points, axis=1) == pytest.approx(1.0)
    cubic = "112,3,2,3,1,0.,2.,0.,1.,0.,0.,0.,0.,1.,0.,3.,0.,0.,0.;"
    points = read_iges(iges([(112, 0, 0, cubic)], 6), 4).lines[0]
    assert points[:, 1] == pytest.approx(points[:, 0] ** 2)
    assert points[-1] == pytest.approx([2, 4, 3])


def test_a_wireframe_survives_its_file(tmp_path: Path) -> None:
    drawn = grid()
    drawn.save(tmp_path / "net.igs")
    read = pl.Wireframe.from_file(tmp_path / "net.igs", 1e-4, pl.pose((0, 0, 1)))
    assert (len(read.nodes), len(read.edges)) == (15, 22)
    back = [drawn.nearest(point - (0, 0, 1)) for point in read.nodes]
    assert read.nodes - (0, 0, 1) == pytest.approx(drawn.nodes[back], abs=1e-15)
    ends = {tuple(sorted((back[a], back[b]))) for a, b in read.edges}
    assert ends == {tuple(sorted(edge)) for edge in drawn.edges.tolist()}


def test_points_within_the_tolerance_are_one_node() -> None:
    lines = [[[0, 0, 0], [1, 0, 0]], [[1.0005, 0, 0], [2, 0, 0]], [[1, 0, 0], [1.0002, 0, 0]]]
    welded = pl.Wireframe.from_lines(lines, 1e-3)
    assert welded.edges.tolist() == [[0, 1], [1, 2]]
    assert len(pl.Wireframe.from_lines(lines, 1e-6).nodes) == 5


def test_triangles_become_edges(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
    (tmp_path / "solid.obj").write_text(text)
    frame = pl.Wireframe.from_file(tmp_path / "solid.obj", scale=1e-3)
    assert (len(frame.nodes), len(frame.edges)) == (4, 6)
    assert np.abs(frame.nodes).max() == pytest.approx(1.0)


def test_a_net_hangs_from_its_single_edge_nodes() -> None:
    """Two strings carry a chain: the links hold its weight, and the world takes it."""
    points = [[-0.1, 0, 0.1], [-0.1, 0, 0], [0.1, 0, 0], [0.1, 0, 0.1]]
    frame = pl.Wireframe(np.array(points), np.array([[0, 1], [1, 2], [2, 3]]))
    robot = pl.Robot()
    bodies = robot.add_mesh("net", frame, 0.4, pl.Circle(0.002), CLOTH, fixed="single-edge")
    assert [body is None for body in bodies] == [True, False, False, True]
    assert sum(body.mass for body in bodies if body) == pytest.approx(0.3)
    still = robot.statics()
    carried = still.tension("net_edge_0") + still.tension("net_edge_2")
    assert carried == pytest.approx(0.3 * 9.81, rel=2e-2)


def test_a_net_is_a_robot_file(tmp_path: Path) -> None:
    robot = pl.Robot()
    robot.add_mesh("net", grid(2, 2), 0.02, pl.Circle(0.002), CLOTH, fixed=[0, 1])
    robot.save(tmp_path / "net.yaml")
    again = pl.Robot.from_file(tmp_path / "net.yaml")
    here, there = (x.statics().position("net_3") for x in (robot, again))
    assert here == pytest.approx(there, abs=1e-12)


def test_several_meshes_hang_on_each_other_in_one_robot(tmp_path: Path) -> None:
    """A net from an IGES drawing and a sheet from an OBJ file: weights add up from one to the other."""
    grid(3, 2).save(tmp_path / "net.igs")
    (tmp_path / "sheet.obj").write_text("v 0 0 0\nv 0.1 0 0\nv 0 0 -0.1\nf 1 2 3\n")
    drawing = pl.Wireframe.from_file(tmp_path / "net.igs", tolerance=1e-6)
    top = np.flatnonzero(drawing.nodes[:, 2] == drawing.nodes[:, 2].max())
    low = drawing.nodes[drawing.nearest((0.0, 0.0, -9.0))]
    robot = pl.Robot()
    net = robot.add_mesh("net", drawing, 0.03, pl.Circle(2e-3), CLOTH, fixed=top.tolist())
    below = pl.pose(tuple(low - np.array([0.0, 0.0, 0.05])))
    triangle = pl.Wireframe.from_file(tmp_path / "sheet.obj", pose=below)
    sheet = robot.add_mesh("sheet", triangle, 0.02, pl.Circle(2e-3), CLOTH)
    ends = (net[drawing.nearest(low)].at((0, 0, 0)), sheet[0].at((0, 0, 0)))  # type: ignore[union-attr]
    robot.add_link("tie", *ends, pl.Circle(2e-3), CLOTH)
    still = robot.statics()
    assert still.reading("tie", "tension") == pytest.approx(
        0.02 * 9.81, rel=5e-3
    )  # it bends a little
    again = pl.Robot.from_file(robot.save(tmp_path / "robot.yaml")).statics()
    assert again.position("sheet_2") == pytest.approx(still.position("sheet_2"), abs=1e-9)


def test_numbers_are_shown(tmp_path: Path) -> None:
    figure = draw_wireframe(grid(), tmp_path / "numbers.png")
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {str(k) for k in range(22)} <= words
    assert (tmp_path / "numbers.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Wireframe([[0, 0, 0]], [[0, 1]]), "edges"),
        (lambda: pl.Wireframe([[0, 0, 0], [1, 0, 0]], [[1, 1]]), "two nodes"),
        (lambda: pl.Wireframe([[0, 0], [1, 0]], [[0, 1]]), "nodes"),
        (lambda: grid().chosen("loose"), "single-edge"),
        (lambda: grid().chosen([99]), "numbers of nodes"),
        (lambda: pl.Wireframe.from_file("missing.igs"), "can be read"),
        (lambda: pl.Wireframe.from_file(__file__), "stl or .obj"),
    ],
)
def test_bad_wireframes_are_refused(make, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        make()


def test_files_without_curves_are_refused(tmp_path: Path) -> None:
    for text in ("nothing", iges([(408, 0, 0, "408,1;")]), iges([(110, 0, 0, "110,a,b;")])):
        (tmp_path / "bad.igs").write_text(text)
        with pytest.raises(pl.DescriptionError, match="IGES file with lines"):
            pl.Wireframe.from_file(tmp_path / "bad.igs")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"path": None}, "the path of a file"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"scale": float("nan")}, "scale"),
        ({"scale": 0.0}, "scale"),
        ({"segments": 0}, "segments"),
    ],
    ids=str,
)
def test_impossible_settings_of_a_drawing_are_refused(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    pl.Wireframe(np.array([[0, 0, 0], [0.1, 0, 0]]), np.array([[0, 1]])).save(tmp_path / "net.igs")
    with pytest.raises(pl.DescriptionError, match=told):
        pl.Wireframe.from_file(**{"path": tmp_path / "net.igs", **given})


@pytest.mark.parametrize("name", ["pipe.igs", "pipe.stl", "pipe.obj"])
def test_a_pipe_is_no_drawing(tmp_path: Path, name: str) -> None:
    """Reading one would never end."""
    os.mkfifo(tmp_path / name)
    with pytest.raises(pl.DescriptionError, match="device or a pipe"):
        pl.Wireframe.from_file(tmp_path / name)


def test_a_drawing_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    net = pl.Wireframe(np.array([[0, 0, 0], [0.1, 0, 0]]), np.array([[0, 1]]))
    for wrong in (None, tmp_path / "net.txt", tmp_path):
        with pytest.raises(pl.DescriptionError, match="path"):
            net.save(wrong)  # type: ignore[arg-type]
    left = tmp_path / f".net-pliant-{file_access._HOST}-{2**22 + 1}-x.igs"
    left.write_text("of a process that was killed")
    net.save(tmp_path / "net.igs")
    assert [file.name for file in tmp_path.iterdir()] == ["net.igs"]


def hanging(across: int) -> pl.Robot:
    """A net whose upper corners are fixed."""
    robot = pl.Robot()
    robot.add_mesh("net", grid(across, across), 0.05, pl.Circle(2e-3), CLOTH, fixed=[0, across - 1])
    return robot


def test_judging_a_motion_takes_one_pass_over_the_robot_for_each_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = {}
    for count in (2, 4):
        motion = hanging(count).simulate(0.04, 0.01)
        passes: list[int] = []
        plain = Tree.variations

        def counted(*given: Any, _plain: Any = plain, _passes: list[int] = passes) -> Any:
            _passes.append(1)
            return _plain(*given)

        with monkeypatch.context() as patch:
            patch.setattr(Tree, "variations", counted)
            rough_errors(motion._compiled, motion._trajectory, 2)
        calls[count] = len(passes)
    assert calls[2] == calls[4] <= 2 * PAIRS


def test_centres_of_all_bodies_at_once_are_those_of_each() -> None:
    """Bodies on a rod, on a body and by themselves, with centres and slanted axes."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.006), soft, pose=pl.along("x"))
    slanted = (2e-4, 3e-4, 4e-4, 1e-5, -2e-5, 3e-5)
    hung = {"centre": (0.02, 0.01, -0.03), "pose": pl.pose((0, 0.01, 0), (0.1, 0.2, 0.3))}
    hand = robot.add_body("hand", 0.05, slanted, on=rod.at(0.1), joint=pl.Spherical(), **hung)
    more = {"on": hand.at((0.02, 0, 0), (0.3, 0, 0)), "joint": pl.Revolute("z"), **hung}
    robot.add_body("nail", 0.01, slanted, **more)
    robot.add_body("ring", 0.01, (1e-5,) * 3, on=rod.tip)
    robot.add_body("ball", 0.05, slanted, joint=pl.Free(), **hung)
    motion = robot.simulate(0.02, 2e-3, velocity={"ball": (1, 2, 3, 0.1, 0.2, 0.3)})
    problem, path = motion._compiled, motion._trajectory
    together = problem.centres(path.q[-1], path.v[-1])
    one_by_one = Problem.centres(problem, path.q[-1], path.v[-1])
    assert len(together[0]) == 3 and np.linalg.norm(together[1], axis=1).min() > 0.1
    for some, each in zip(together, one_by_one, strict=True):
        assert some == pytest.approx(each, abs=1e-14)


def test_velocities_are_those_of_the_state_and_rates_asked_for() -> None:
    robot = hanging(3)
    motion = robot.simulate(0.1, 0.01)
    problem, path = motion._compiled, motion._trajectory
    rates = np.array(path.v[3])
    known = problem.body_twist(path.q[3], rates, "net_4")
    # other rates, another configuration, poses of many configurations, then rates changed in place
    assert np.abs(problem.body_twist(path.q[3], 2.0 * rates, "net_4") - 2.0 * known).max() < 1e-15
    other = problem.body_twist(path.q[8], path.v[8], "net_4")
    assert np.abs(other - known).max() > 0.1
    problem.poses_along(path.q, "net_4", np.zeros(1))
    assert np.array_equal(problem.body_twist(path.q[3], rates, "net_4"), known)
    rates *= 3.0
    assert np.abs(problem.body_twist(path.q[3], rates, "net_4") - 3.0 * known).max() < 1e-14
    pose = problem.frame(path.q[3], robot.description.bodies["net_4"].at((0, 0, 0)))
    assert np.array_equal(pose[:3, 3], motion.position("net_4")[3])


def test_a_link_that_is_turned_over_is_told() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    one = pl.Wireframe(np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]), np.array([[0, 1]]))
    robot.add_mesh("net", one, 0.05, pl.Circle(2e-3), CLOTH, kind="tension")
    problem = robot.simulate(0.02, 0.01)._compiled

    def told(x: float) -> str:
        q = problem.tree.q_rest.copy()
        q[problem.tree.part("net_1").joint_slice][3] += x - 0.1
        assert (
            abs(problem.frame(q, robot.description.bodies["net_1"].at((0, 0, 0)))[0, 3] - x) < 1e-15
        )
        return str(problem.trouble(q))

    assert told(0.1) == told(0.3) == told(0.05) == told(-0.05) == ""
    assert "link 'net_edge_0' is turned over" in told(-0.2)
    q = problem.tree.q_rest.copy()
    q[problem.tree.part("net_1").joint_slice][3] -= 0.3
    failed = with_limits("a time step failed", problem.effects, q)
    assert failed.startswith("a time step failed. link 'net_edge_0' is turned over")


def test_a_limp_net_holds_what_falls_with_it() -> None:
    """Links pull by the distance of their ends, however its nodes have turned: the ball comes back."""
    limp, size = pl.Material(E=2e6, nu=0.5, viscosity=2e4), 5
    net = grid(size, size)
    flat = pl.Wireframe(net.nodes[:, [0, 2, 1]] * (10.0, 5.0, 1.0), net.edges)
    robot = pl.Robot()
    nodes = robot.add_mesh(
        "net",
        flat,
        0.2,
        pl.Circle(1e-3),
        limp,
        kind="tension",
        fixed=[0, size - 1, size * (size - 1), size**2 - 1],
        strain_damping=pl.Damping(bending=1e-6, twist=1e-6),
    )
    robot.add_body("ball", 2.0, (3e-4,) * 3, on=nodes[size**2 // 2].at((0, 0, 0)))
    motion = robot.simulate(1.5, 0.01, output_every=0.1)
    height, falling = motion.position("ball")[:, 2], -0.5 * 9.81 * motion.t**2
    assert height[6] > falling[6] + 0.2 and height[-1] > height.min() + 1.0
    assert max(motion.energy_gap.share_added, motion.energy_gap.share_taken) < 0.01
