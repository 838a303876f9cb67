"""Pictures: what they show, that files are whole, and that mistakes are told in sentences."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image

from pliant.model import DescriptionError, along
from pliant.view import (
    Arrow,
    RodShape,
    animate,
    draw_band,
    draw_comparison,
    draw_convergence,
    draw_curves,
    draw_energy,
    draw_modes,
    draw_robot,
    save_figure,
    style,
)
from pliant.view.mesh import force_arrow, moment_arrow, sweep
from pliant.view.robot import choose_view
from pliant.view.theme import FORCE, length_unit


def arc(curvature=4.0, length=0.3, sections=20, base=None):
    """Poses (S, 4, 4) of a circular arc in the local x-z plane."""
    s = np.linspace(0.0, length, sections)
    angle = curvature * s
    poses = np.tile(np.eye(4), (sections, 1, 1))
    poses[:, 0, 0] = poses[:, 2, 2] = np.cos(angle)
    poses[:, 0, 2], poses[:, 2, 0] = np.sin(angle), -np.sin(angle)
    poses[:, 0, 3] = (1.0 - np.cos(angle)) / curvature
    poses[:, 2, 3] = np.sin(angle) / curvature
    return (along("x") if base is None else base) @ poses


def swing(instants=9, duration=0.4):
    times = np.linspace(0.0, duration, instants)
    poses = np.array([arc(4.0 * np.cos(8 * t) + 0.01) for t in times])
    return times, RodShape("arm", poses, 0.01)


ARM = RodShape("arm", arc(), 0.01)
REST = RodShape("arm", arc(1e-6), 0.01)
PUSH = Arrow(arc()[-1, :3, 3], (0.0, 0.0, -0.1), "force", "push")
TURN = Arrow((0.0, 0.0, 0.0), (0.0, 0.02, 0.0), "moment", "turn")


def legend_texts(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


class TestMesh:
    def test_straight_tube_encloses_the_volume_of_a_cylinder(self):
        quads = sweep(arc(1e-9), np.full((20, 2), 0.01), around=200)
        # divergence theorem on the two triangles of each quadrilateral
        a, b, c, d = np.moveaxis(quads, 1, 0)
        volume = (np.einsum("ni,ni", a, np.cross(b, c)) + np.einsum("ni,ni", a, np.cross(c, d))) / 6
        assert volume == pytest.approx(np.pi * 0.01**2 * 0.3, rel=1e-3)

    def test_force_arrow_ends_where_the_force_points(self):
        quads = force_arrow(np.array([1.0, 0, 0]), np.array([0, 0, -5.0]), 0.2, 0.004)
        assert quads.reshape(-1, 3)[:, 2].min() == pytest.approx(-0.2)
        assert np.abs(quads.reshape(-1, 3)[:, 0] - 1.0).max() < 0.011

    def test_moment_arrow_turns_right_handed_about_the_moment(self):
        axis = np.array([0.0, 0.0, 2.0])
        quads = moment_arrow(np.zeros(3), axis, 0.1, 0.004)
        centres = quads[:-24].mean(axis=1).reshape(-1, 12, 3).mean(axis=1)
        turning = np.cross(centres[:-1], centres[1:])[:, 2]
        assert (turning[:20] > 0).all()


class TestRobot:
    def test_picture_is_written_and_not_blank(self, tmp_path):
        figure = draw_robot([ARM], [PUSH, TURN], [REST], title="Arm")
        path = save_figure(figure, tmp_path / "made" / "arm.png")
        pixels = np.asarray(Image.open(path).convert("RGB"), dtype=float)
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100
        force = np.abs(pixels / 255 - to_rgb(FORCE)).max(axis=2) < 0.15
        assert force.sum() > 50, "the force arrow can be seen"

    def test_figure_stays_open_for_notebooks(self):
        figure = draw_robot([ARM])
        assert plt.fignum_exists(figure.number)

    def test_legend_names_rods_ghosts_and_loads_with_units(self):
        texts = legend_texts(draw_robot([ARM], [PUSH, TURN], [REST]))
        assert texts == ["arm", "undeformed", "push: 0.1 N", "turn: 0.02 N m"]
        assert legend_texts(draw_robot([ARM])) == []

    def test_one_scale_on_all_axes_and_everything_inside(self):
        ax = draw_robot([ARM], [PUSH]).axes[0]
        limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
        sides = np.diff(limits, axis=1)[:, 0]
        np.testing.assert_allclose(ax._box_aspect / ax._box_aspect.max(), sides / sides.max())
        assert (ARM.points >= limits[:, 0]).all() and (ARM.points <= limits[:, 1]).all()

    def test_small_robot_is_labelled_in_millimetres(self):
        small = RodShape("wire", arc(40.0, length=0.03), 0.0005)
        assert draw_robot([small]).axes[0].get_xlabel() == "x / mm"
        assert draw_robot([ARM]).axes[0].get_xlabel() == "x / m"
        assert length_unit(0.05) == ("mm", 1000.0)

    def test_planar_robot_is_seen_nearly_square_to_its_plane(self):
        elevation, azimuth = np.radians(choose_view(None, [ARM]))
        towards = np.array(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)]
        )
        assert towards[1] < -0.85  # the arc lies in the x-z plane
        flat = RodShape("arm", arc(base=along("y")), 0.01)
        elevation, _ = choose_view(None, [flat])
        assert elevation > 55  # this one lies in the x-y plane

    @pytest.mark.parametrize("view", [(20.0, 30.0), "iso", "front", "side", "top"])
    def test_view_can_be_chosen(self, view):
        ax = draw_robot([ARM], view=view).axes[0]
        if not isinstance(view, str):
            assert (ax.elev, ax.azim) == view

    def test_unknown_view_is_refused(self):
        with pytest.raises(DescriptionError, match=r"view.*'iso', 'front'"):
            draw_robot([ARM], view="behind")

    def test_motion_shows_earlier_instants_lighter(self):
        _, moving = swing()
        still = draw_robot([ARM]).axes[0]
        blurred = draw_robot([moving]).axes[0]
        count = [
            sum(isinstance(artist, Poly3DCollection) for artist in ax.collections)
            for ax in (still, blurred)
        ]
        assert count == [1, 6]

    def test_given_axes_are_drawn_into(self):
        figure = plt.figure()
        ax = figure.add_subplot(projection="3d")
        assert draw_robot([ARM], [PUSH], ax=ax, title="Arm") is figure
        assert ax.get_title() == "Arm"
        with pytest.raises(DescriptionError, match="three-dimensional axes"):
            draw_robot([ARM], ax=plt.figure().add_subplot())

    def test_no_rods_and_no_load_at_all(self):
        with pytest.raises(DescriptionError, match="one rod or more"):
            draw_robot([])
        draw_robot([ARM], [Arrow((0, 0, 0), (0, 0, 0), "force", "off")])

    def test_modes_fill_a_grid(self, tmp_path):
        _, moving = swing()
        figure = draw_modes([[moving], [ARM], [moving], [ARM]], [1.0, 2.5, 17.25, 1e3], [REST])
        assert len(figure.axes) == 4
        assert "mode 3: 17.2 Hz" in [text.get_text() for text in figure.texts]
        assert save_figure(figure, tmp_path / "modes.png").stat().st_size > 5000
        with pytest.raises(DescriptionError, match="one value for each of the 1 modes"):
            draw_modes([[ARM]], [1.0, 2.0])


class TestCharts:
    t = np.linspace(0.0, 1.0, 50)

    def test_vector_curve_is_drawn_by_components(self):
        figure = draw_curves(self.t, {"tip": np.ones((50, 3)), "goal": self.t}, "position / m")
        labels = [line.get_label() for line in figure.axes[0].lines]
        assert labels == ["tip x", "tip y", "tip z", "goal"]

    def test_curve_of_wrong_length_is_refused(self):
        with pytest.raises(DescriptionError, match=r"tip.*shape \(49,\)"):
            draw_curves(self.t, {"tip": np.ones(49)}, "m")
        with pytest.raises(DescriptionError, match="finite"):
            draw_curves(self.t, {"tip": np.full(50, np.nan)}, "m")

    def test_total_energy_is_the_sum_unless_given(self):
        parts = {"kinetic": self.t * 1e-3, "elastic": 1e-3 - self.t * 1e-3}
        ax = draw_energy(self.t, parts).axes[0]
        total = next(line for line in ax.lines if line.get_label() == "total")
        np.testing.assert_allclose(total.get_ydata(), 1e-3)
        assert ax.get_ylabel() == "energy / mJ"
        ax = draw_energy(self.t, {**parts, "total": 2 * self.t}).axes[0]
        total = next(line for line in ax.lines if line.get_label() == "total")
        np.testing.assert_allclose(total.get_ydata(), 2 * self.t)

    @pytest.mark.parametrize(("sign", "order"), [(1.0, 2.0), (-1.0, 4.0)])
    def test_reference_slope_has_the_order_and_follows_the_data(self, sign, order):
        x = np.array([1.0, 2.0, 4.0, 8.0])
        figure = draw_convergence(x, {"a": 3.0 * x ** (sign * order)}, {"a": order})
        line = next(one for one in figure.axes[0].lines if one.get_label() == f"order {order:g}")
        slope = np.polyfit(np.log(line.get_xdata()), np.log(line.get_ydata()), 1)[0]
        assert slope == pytest.approx(sign * order)

    def test_exact_result_is_left_out_of_logarithmic_chart(self):
        figure = draw_convergence({"a": [1.0, 2.0, 3.0]}, {"a": [1.0, 0.5, 0.0]})
        assert len(figure.axes[0].lines[0].get_xdata()) == 2

    def test_band_counts_entries(self, tmp_path):
        band = np.tri(12, 12, 1) - np.tri(12, 12, -2)
        figure = draw_band([np.tri(12), band], ["strain", "spline"])
        assert "78 of 144" in figure.axes[0].get_xlabel()
        assert [ax.get_title() for ax in figure.axes] == ["strain", "spline"]
        assert save_figure(figure, tmp_path / "band.pdf").stat().st_size > 1000
        assert len(draw_band(band != 0).axes) == 1
        with pytest.raises(DescriptionError, match="one title for each of the 2"):
            draw_band([band, band], ["one"])

    def test_comparison_draws_loads_in_the_plane_with_references(self):
        shapes = {f"{k} N": RodShape("arm", arc(float(k)), 0.01) for k in range(1, 7)}
        points = arc(2.0)[:, :3, 3]
        figure = draw_comparison(shapes, {"2 N": points, "measured": points[:, [0, 2]]})
        ax = figure.axes[0]
        assert len(ax.lines) == 8
        np.testing.assert_allclose(ax.lines[6].get_xydata(), points[:, [0, 2]])
        assert ax.lines[6].get_color() == ax.lines[1].get_color()
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x / m", "z / m")
        with pytest.raises(DescriptionError, match="plane"):
            draw_comparison(shapes, plane="xw")

    def test_style_ends_with_its_context(self):
        before = plt.rcParams["axes.grid"], plt.rcParams["font.size"]
        with style():
            assert plt.rcParams["axes.grid"]
        assert (plt.rcParams["axes.grid"], plt.rcParams["font.size"]) == before


class TestFiles:
    def test_failure_leaves_the_old_picture_and_no_other_file(self, tmp_path, monkeypatch):
        path = tmp_path / "arm.png"
        path.write_bytes(b"old")
        figure = draw_robot([ARM])

        def fail(target, **options):
            target.write_bytes(b"half")
            raise OSError("disk full")

        monkeypatch.setattr(figure, "savefig", fail)
        with pytest.raises(OSError, match="disk full"):
            save_figure(figure, path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_unknown_suffix_is_refused_with_what_is_known(self, tmp_path):
        with pytest.raises(DescriptionError, match=r"path = .*arm.xyz.*\.png.*give e.g. arm\.png"):
            save_figure(draw_robot([ARM]), tmp_path / "arm.xyz")
        times, moving = swing()
        with pytest.raises(DescriptionError, match=r"\.gif, \.mp4"):
            animate([moving], times, tmp_path / "arm.avi")
        assert not list(tmp_path.iterdir())


class TestAnimation:
    def test_pictures_are_resampled_to_the_rate(self, tmp_path):
        times, moving = swing(instants=9, duration=0.4)
        seen = []
        push = Arrow(moving.points[:, -1], np.outer(times, (0, 0, 1.0)), "force", "push")
        path = animate(
            [moving],
            times,
            tmp_path / "swing.gif",
            fps=25,
            arrows=[push, TURN],
            title="Swing",
            progress=lambda k, n: seen.append((k, n)),
        )
        with Image.open(path) as film:
            assert film.n_frames == 11  # 0.4 s at 25 per second, both ends
            assert film.info["duration"] == 40
            first = np.asarray(film.convert("RGB"), dtype=int)
            film.seek(10)
            last = np.asarray(film.convert("RGB"), dtype=int)
        assert (np.abs(first - last).max(axis=2) > 40).sum() > 500, "the arm has moved"
        assert seen == [(k, 11) for k in range(1, 12)]
        assert [item.name for item in tmp_path.iterdir()] == ["swing.gif"]
        assert not plt.get_fignums(), "no figure stays open"

    def test_slow_motion_has_more_pictures(self, tmp_path):
        times, moving = swing(instants=5, duration=0.1)
        path = animate([moving, ARM], times, tmp_path / "slow.gif", fps=20, speed=0.5)
        with Image.open(path) as film:
            assert film.n_frames == 5

    def test_odd_rates_last_as_long_as_the_motion(self, tmp_path):
        times, moving = swing(instants=5, duration=0.3)
        with Image.open(animate([moving], times, tmp_path / "a.gif", fps=30)) as film:
            total = 0
            for index in range(film.n_frames):
                film.seek(index)
                total += film.info["duration"]
            assert total == pytest.approx(1000 * film.n_frames / 30, abs=10)

    def test_interrupted_animation_leaves_no_file(self, tmp_path):
        times, moving = swing()

        def stop(k, n):
            if k == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            animate([moving], times, tmp_path / "swing.gif", progress=stop)
        assert not list(tmp_path.iterdir())

    def test_film_without_encoder_names_the_package(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
        times, moving = swing()
        with pytest.raises(DescriptionError, match="imageio-ffmpeg"):
            animate([moving], times, tmp_path / "swing.mp4")

    def test_film_is_written_with_the_encoder(self, tmp_path):
        encoder = pytest.importorskip("imageio_ffmpeg")
        times, moving = swing()
        path = animate([moving], times, tmp_path / "swing.mp4")
        assert encoder.count_frames_and_secs(str(path))[0] == 11

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"times": [0.0, 1.0]}, "poses of 'arm' = '9 times'"),
            ({"times": np.zeros(9)}, "increasing times"),
            ({"fps": 0}, "fps = 0"),
            ({"fps": 60}, "50 or less"),
            ({"speed": -1}, "speed = -1"),
            ({"shapes": []}, "one rod or more"),
        ],
    )
    def test_impossible_requests_are_refused(self, tmp_path, change, words):
        times, moving = swing()
        given = {"shapes": [moving], "times": times, "path": tmp_path / "swing.gif", **change}
        with pytest.raises(DescriptionError, match=words):
            animate(**given)
        assert not list(tmp_path.iterdir())


class TestShapes:
    def test_half_widths_are_spread_over_the_sections(self):
        shape = RodShape("arm", arc(), (0.01, 0.02))
        assert shape.half_widths.shape == (20, 2)
        assert shape.frames.shape == (1, 20, 4, 4) and shape.points.shape == (1, 20, 3)

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"poses": np.zeros((20, 3))}, "shape \\(20, 3\\)"),
            ({"poses": np.full((20, 4, 4), np.nan)}, "finite"),
            ({"half_widths": np.ones((3, 2))}, "shape \\(20, 2\\)"),
            ({"half_widths": -0.01}, "zero or more"),
            ({"color": "no colour"}, "a colour"),
        ],
    )
    def test_impossible_shapes_are_refused(self, fields, words):
        with pytest.raises(DescriptionError, match=words):
            RodShape(**{"name": "arm", "poses": arc(), "half_widths": 0.01, **fields})

    def test_impossible_arrows_are_refused(self):
        with pytest.raises(DescriptionError, match=r"kind.*'force', 'moment'"):
            Arrow((0, 0, 0), (0, 0, 1), "torque")
        with pytest.raises(DescriptionError, match="vector"):
            Arrow((0, 0, 0), (0, 1), "force")
