"""Figures can be read: labels whole and apart, legends beside the data, units, equal scales."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import pliant as pl
from pliant.cli import main
from pliant.model import along
from pliant.view import (
    Arrow,
    ErrorPanel,
    RodShape,
    draw_comparison,
    draw_convergence,
    draw_curves,
    draw_energy,
    draw_fits,
    draw_methods,
    draw_modes,
    draw_resolution,
    draw_robot,
    style,
    theme,
)
from tests.figures import faults


def wave(turns: float, length: float = 0.3, out_of_plane: float = 0.0) -> np.ndarray:
    """Poses (40, 4, 4) along a curve that turns in a plane and climbs out of it."""
    s = np.linspace(0.0, length, 40)
    angle = 2 * np.pi * turns * s / length + 1e-9
    poses = np.tile(np.eye(4), (40, 1, 1))
    poses[:, 0, 0] = poses[:, 2, 2] = np.cos(angle)
    poses[:, 0, 2], poses[:, 2, 0] = np.sin(angle), -np.sin(angle)
    poses[1:, :3, 3] = np.cumsum(poses[:-1, :3, 2], axis=0) * length / 39
    poses[:, 1, 3] = out_of_plane * s
    return along("x") @ poses


class TestTheChecker:
    """Each fault is found; without this, the tests below could not fail."""

    def figure(self) -> tuple[Figure, Any]:
        with style():
            figure, ax = plt.subplots(layout="constrained")
            ax.plot([0, 1], [0, 1], label="a")
            ax.set(xlabel="time / s", ylabel="tip / m")
        return figure, ax

    def test_axes_and_colours_of_matplotlib(self) -> None:
        figure, ax = plt.subplots(layout="constrained")
        ax.plot([0, 1], [0, 1])
        ax.set(xlabel="time / s", ylabel="tip / m")
        assert faults(figure) == [
            "axes of 'time / s' are not in the style of Pliant",
            "a line over 'time / s' has a colour of matplotlib",
        ]

    def test_a_plain_chart_has_no_fault(self) -> None:
        assert faults(self.figure()[0]) == []

    def test_text_beyond_the_edge_is_cut_off(self) -> None:
        figure, _ = self.figure()
        figure.text(0.98, 0.5, "too far to the right")
        assert faults(figure) == ["'too far to the right' is cut off by the edge of the picture"]

    def test_text_over_text(self) -> None:
        figure, ax = self.figure()
        ax.text(0.2, 0.8, "first")
        ax.text(0.22, 0.81, "second")
        assert faults(figure) == ["'first' lies over 'second'"]

    def test_tick_labels_over_each_other(self) -> None:
        figure, ax = self.figure()
        ax.set_xticks([0.50, 0.51], ["one half", "a little more"])
        assert faults(figure) == ["'one half' lies over 'a little more'"]

    def test_legend_over_a_curve(self) -> None:
        figure, ax = self.figure()
        ax.legend(loc="center")
        assert faults(figure) == ["the legend (a) lies over data"]

    def test_curve_through_a_label(self) -> None:
        figure, ax = self.figure()
        ax.text(0.45, 0.48, "label")
        assert faults(figure) == ["a line runs through 'label'"]

    @pytest.mark.parametrize("label", ["time (s)", "time, s", "time [s]", "time", "residual"])
    def test_label_without_unit_in_the_common_style(self, label: str) -> None:
        figure, ax = self.figure()
        ax.set_xlabel(label)
        assert len(faults(figure)) == 1

    def test_numbers_without_a_label(self) -> None:
        figure, ax = self.figure()
        ax.set_ylabel("")
        assert faults(figure) == ["an axis y has numbers and no label"]

    def test_three_dimensional_axes_of_unequal_scale(self) -> None:
        figure = plt.figure()
        ax = figure.add_subplot(projection="3d")
        ax.plot([0, 1], [0, 1], [0, 5])
        ax.set(xlabel="x / m", ylabel="y / m", zlabel="z / m")
        assert [fault for fault in faults(figure) if "scales" in fault]


class TestCharts:
    @pytest.mark.parametrize("seed", range(4))
    def test_random_curves_are_not_hidden(self, seed: int) -> None:
        noise = np.random.default_rng(seed).normal
        t = np.linspace(0.0, 10.0 ** noise(0, 2), 200)
        scale = 10.0 ** noise(0, 3)
        vectors = {f"tip of arm {k}": scale * noise(size=(200, 3)) for k in range(2)}
        assert faults(draw_curves(t, vectors, "position / m", title="two tips")) == []
        energies = {
            name: scale * noise(size=200) ** 2 for name in ("kinetic", "elastic", "gravity")
        }
        assert faults(draw_energy(t, energies)) == []

    def test_components_have_the_colours_of_their_axes(self) -> None:
        t = np.arange(5.0)
        values = {"arm": np.ones((5, 3)), "finger": np.zeros((5, 3)), "load": t}
        lines = draw_curves(t, values, "position / m").axes[0].lines
        assert [to_hex(line.get_color()) for line in lines[:6]] == [*theme.AXES, *theme.AXES]
        assert len({line.get_linestyle() for line in lines[:3]}) == 1
        assert lines[0].get_linestyle() != lines[3].get_linestyle()
        assert to_hex(lines[6].get_color()) not in theme.AXES

    @pytest.mark.parametrize("spread", [0.02, 0.5, 3.0, 9.0])
    def test_logarithmic_axes_have_two_labels_or_more_and_none_overlap(self, spread: float) -> None:
        x = 3.3e-2 * 10.0 ** np.linspace(0.0, spread, 4)
        figure = draw_convergence(x, {"a": x**2, "b": 2 * x**2}, {"a": 2})
        assert faults(figure) == []
        for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
            low, high = axis.get_view_interval()
            assert sum(low <= place <= high for place in axis.get_majorticklocs()) >= 2
        points = {f"method {k}": (x[k : k + 1], x[k : k + 1] ** 3) for k in range(4)}
        panels = [ErrorPanel("unknowns", "position error / length", points, logarithmic=True)] * 2
        shapes = {name: [RodShape(name, wave(0.1 * k), 0.01)] for k, name in enumerate(points)}
        assert faults(draw_methods(shapes, wave(0.0)[:, :3, 3], panels)) == []

    def test_comparison_of_shapes(self) -> None:
        shapes = {f"{k} turns": RodShape("arm", wave(k), 0.01) for k in range(4)}
        assert faults(draw_comparison(shapes, title="turns")) == []

    def test_resolution(self) -> None:
        rows = [[n, dt, 1 / n**2 + dt, n / dt] for n in (1, 2, 4, 8) for dt in (0.01, 0.02)]
        assert faults(draw_resolution(rows, 1e-1, 3, moving=True, title="chosen")) == []
        assert faults(draw_resolution(rows, 1e-1, 3, moving=False)) == []

    def test_residuals_have_units(self) -> None:
        x = np.linspace(0.0, 1.0, 30)
        columns = {
            "camera: arm.tip.z": (x, np.sin(9 * x), np.sin(9 * x) + 1e-3, "time / s", "tip / m"),
            "cell: force": (x, np.cos(9 * x), np.cos(9 * x) + 1e-3, "time / s", "force / N"),
        }
        figure = draw_fits(columns)
        assert faults(figure) == []
        labels = [ax.get_ylabel() for ax in figure.axes]
        assert labels == ["tip / m", "force / N", "residual / mm", "residual / N"]


class TestRobots:
    @pytest.mark.parametrize("view", ["iso", "front", "side", "top", (20.0, 30.0), None])
    @pytest.mark.parametrize("length", [0.012, 0.3, 40.0])
    def test_robot_is_labelled_whole_from_every_side(self, view: Any, length: float) -> None:
        shapes = [RodShape(f"arm {k}", wave(0.3, length, 0.5 * k), 0.03 * length) for k in range(2)]
        pull = Arrow(shapes[0].points[0, -1], (0.0, 0.5, 1.0), "force", "pull")
        ghosts = [RodShape("arm 0", wave(0.0, length), 0.03 * length)]
        assert faults(draw_robot(shapes, [pull], ghosts, view=view, title="two arms")) == []

    @pytest.mark.parametrize("seed", range(12))
    def test_random_robots_from_random_sides(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        length = 10.0 ** random.uniform(-3, 2)
        shapes = []
        for k in range(random.integers(1, 6)):
            place = pl.pose(0.3 * length * random.normal(size=3), random.normal(size=3))
            poses = place @ wave(random.uniform(0, 2), length * random.uniform(0.2, 1), 0.3)
            name = f"rod with a long name {k}" if random.random() < 0.3 else f"arm {k}"
            shapes.append(RodShape(name, poses, 0.02 * length, axes=random.random() < 0.2))
        view = random.uniform((-90, -180), (90, 180))
        pull = Arrow(shapes[0].points[0, -1], random.normal(size=3), "moment", "pull")
        assert faults(draw_robot(shapes, [pull], shapes[:1], view=view, title="arms")) == []

    def test_section_axes_are_drawn_on_request_and_named(self) -> None:
        def names(**given: bool) -> list[str]:
            figure = draw_robot([RodShape("arm", wave(0.2), 0.01, **given)])
            assert faults(figure) == []
            return [text.get_text() for legend in figure.legends for text in legend.get_texts()]

        assert names() == []
        assert names(axes=True) == ["arm", *(f"{axis} of the section" for axis in "xyz")]

    def test_coil_is_drawn_round(self) -> None:
        def faces(poses: np.ndarray) -> int:
            figure = draw_robot([RodShape("arm", poses, 0.01)])
            figure.canvas.draw()
            return len(figure.axes[0].collections[0].get_paths())

        s = np.linspace(0.0, 2 * np.pi * 10, 4001)
        poses = np.tile(np.eye(4), (4001, 1, 1))
        poses[:, 0, 0] = poses[:, 2, 2] = np.cos(s)
        poses[:, 0, 2], poses[:, 2, 0] = np.sin(s), -np.sin(s)
        assert faces(poses) > 3 * faces(wave(1.0))

    def test_modes(self) -> None:
        shapes = [[RodShape("arm", wave(0.1 * k), 0.01)] for k in range(5)]
        assert faults(draw_modes(shapes, [1.0, 2.0, 3.3, 5.5, 1234.5], title="modes")) == []


ROBOT = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000, viscosity: 500}
    pose: {along: x}
    formulation: {bspline: {points: 6}}
loads:
  push: {on: {part: arm, at: tip}, force: [0, 0.1, -0.1]}
inputs:
  push: {sine: {amplitude: 1, frequency: 3}}
"""
RUNS = "statics:\nsimulate: {duration: 0.2, dt: 0.01, start: statics}\nmodes: {count: 3}\n"
METHODS = ("--with", "BSpline(points=8)", "--with", "Hermite(6)", "--with", "Strain(2, 2)")


def test_inputs_on_axes_have_their_unit() -> None:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    small = pl.Strain(order=1, segments=2)
    arm = robot.add_rod("arm", 0.3, pl.Annulus(0.01, 0.002), soft, formulation=small)
    disks = [arm.at(s, (0.0, 0.008)) for s in (0.0, 0.15, 0.3)]
    robot.add_tendon("pull", disks)
    robot.add_tendon("reel", disks, drive="length", slack=1.0)
    robot.add_tendon("bend", along=arm, offset=(0.008, 0.0))
    robot.add_tendon("wind", along=arm, offset=(-0.008, 0.0), drive="length", slack=1.0)
    robot.add_chamber("air", arm, area=1e-5, offset=(0.005, 0.0))
    robot.add_load("push", arm.tip, force=(0.01, 0.0, 0.0))
    figure = robot.follow("pull", 0.0, 0.1).plot()
    assert figure.axes[0].get_xlabel() == "input pull / N"
    figure = pl.workspace(robot, {"air": [0.0, 1e3]}, "arm.tip").plot()
    assert "input air / Pa" in [ax.get_ylabel() for ax in figure.axes]

    for name, drive in (("turn", "angle"), ("twist", "torque")):
        robot.add_body(name, 0.1, (1e-4,) * 3, joint=pl.Revolute("z", drive=drive))
    thin = {"section": pl.Circle(0.001), "material": soft}
    robot.add_tube("inner", length=0.2, inside=arm, insertion="in", rotation="spin", **thin)
    units = {"pull": "N", "reel": "m", "bend": "N", "wind": "m", "air": "Pa", "push": ""}
    units |= {"turn": "rad", "twist": "N m", "in": "m", "spin": "rad"}
    for name, unit in units.items():
        assert robot.description.input_label(name) == f"input {name} / {unit}".removesuffix(" / ")


@pytest.mark.parametrize("names", [4, 5, 16])
def test_motions_of_many_bodies_with_long_names_can_be_read(names: int) -> None:
    t = np.linspace(0.0, 2.0, 60)
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
    wave = np.sin(3.0 * t[:, None] + np.arange(3.0))
    places = {f"centre of left_proximal_phalanx_{k}": (k + 1) * wave for k in range(names)}
    draw_curves(t, places, "position / m", ax=above)
    draw_energy(t, {"kinetic": t, "elastic": 1.0 - t}, ax=below)
    assert faults(figure) == []
    entries = [text.get_text() for text in above.get_legend().get_texts()]
    assert len(entries) == (12 if names == 4 else 3)
    plain = {line.get_linestyle() for line in above.lines} == {"-"}
    assert plain == (names > 4) == entries[0].startswith("x, ")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "moving.yaml"],
        ["compare", "moving.yaml", *METHODS, "-o", "out"],
        ["compare", "still.yaml", *METHODS, "-o", "out"],
        ["resolve", "moving.yaml", "--accuracy", "1e-2", "-o", "out"],
        ["resolve", "still.yaml", "-o", "out"],
        ["fit", "still.yaml", "measured.csv", "--parameter", "arm.material.E"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_pictures_of_the_command_line_can_be_read(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("still.yaml").write_text(ROBOT)
    Path("moving.yaml").write_text(ROBOT + RUNS)
    robot = pl.Robot.from_file("still.yaml")
    with Path("measured.csv").open("w", newline="") as file:
        rows = [[x, robot.statics({"push": x}).tip("arm")[2, 3]] for x in (0.0, 0.4, 0.8)]
        csv.writer(file).writerows([["push", "arm.tip.z"], *rows])
    pictures: dict[str, list[str]] = {}

    def look(figure: Figure, path: Path) -> Path:
        pictures[str(path)] = faults(figure)
        return Path(path)

    monkeypatch.setattr(theme, "save_figure", look)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert pictures and not any(pictures.values()), pictures
