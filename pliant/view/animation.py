"""Animations: a motion as a .gif or .mp4 file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3D, Poly3DCollection  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray
from PIL import Image
from scipy.interpolate import make_interp_spline

from pliant.model import Array, check_suffix, positive, refuse, whole_file
from pliant.view.layout import WIDTH, compose
from pliant.view.mesh import (
    Arrow,
    Detail,
    Mesh,
    RodShape,
    add_arrows,
    add_rods,
    check_shapes,
    colors_of,
    finite,
    legend_handles,
    paint,
)
from pliant.view.robot import Box, View, axes_in, box_of, choose_view, light_from, set_up_axes
from pliant.view.theme import INK, lighten, style

Pixels = NDArray[np.uint8]
Progress = Callable[[int, int], object]

# GIF files count time in hundredths of a second, and players do not show frames shorter than two
_FASTEST_GIF = 50.0
_MOST_FACES = 2500
_AROUND = 14


def animate(
    shapes: Sequence[RodShape],
    times: ArrayLike,
    path: str | os.PathLike[str],
    fps: float = 25.0,
    arrows: Sequence[Arrow] | None = None,
    title: str | None = None,
    progress: Progress | None = None,
    view: View = None,
    speed: float = 1.0,
) -> Path:
    """Write an animation of a motion and return its path.

    Parameters
    ----------
    shapes : rods over time, poses (T, S, 4, 4), or (S, 4, 4) for a rod that does not move.
    times : (T,) seconds, increasing.
    path : a file name that ends in .gif, or in .mp4 if imageio-ffmpeg is installed. The file
        appears complete at the end or, on failure, not at all.
    fps : frames per second; the motion is interpolated to them.
    arrows : forces and moments; constant, or over time with (T, 3) origins and vectors.
    progress : called as progress(k, n) after frame k of n.
    view : as for `draw_robot`.
    speed : 0.1 plays ten times slower than real time.
    """
    target = check_suffix("animate", path, (".gif", ".mp4"))
    check_shapes(shapes, "animate")
    clock = check_times(times, shapes, arrows or ())
    rate = _check_rate(fps, target)
    pace = positive("animate", "speed", speed, "", "give e.g. 0.1 to play ten times slower")
    refuse(
        target.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None,
        "animate",
        "path",
        str(path),
        "a .gif unless the package imageio-ffmpeg is installed",
        "install it with pip install 'pliant[view]', or write a .gif",
    )
    count = int(np.floor((clock[-1] - clock[0]) / pace * rate + 1e-6)) + 1
    shown = clock[0] + np.arange(count) * pace / rate
    with style():
        film = _Film(shapes, arrows or (), clock, shown, title, view)
        with whole_file(target) as partial:
            write = _write_gif if target.suffix.lower() == ".gif" else _write_mp4
            write(partial, film, rate, progress or (lambda k, n: None))
    return target


def _check_rate(fps: float, path: Path) -> float:
    rate = positive("animate", "fps", fps, "frames per second", "give e.g. 25")
    refuse(
        path.suffix.lower() == ".gif" and rate > _FASTEST_GIF,
        "animate",
        "fps",
        fps,
        f"{_FASTEST_GIF:g} or less for a .gif, because players cannot show it faster",
        "lower fps, or write an .mp4",
    )
    return rate


class _Film:
    """A scene whose background is drawn once; only robot, trails and clock change.

    clock : (T,) times of the shapes, s.  shown : (N,) times of the frames, s. The limits of the scene
    contain the whole motion.
    """

    def __init__(
        self,
        shapes: Sequence[RodShape],
        arrows: Sequence[Arrow],
        clock: Array,
        shown: Array,
        title: str | None,
        view: View,
    ) -> None:
        figure = Figure(figsize=(WIDTH, 4.8), dpi=100)
        self.canvas = FigureCanvasAgg(figure)
        self.ax = axes_in(figure)
        self.clock, self.shown = clock, shown
        self.shapes = [interpolate_shape(shape, clock, shown) for shape in shapes]
        self.arrows = [interpolate_arrow(arrow, clock, shown) for arrow in arrows]
        rods = box_of(shapes)
        self.size = rods.size
        box = _box_with_arrows(rods, self.shapes, self.arrows).with_margin()
        camera = choose_view(view, shapes, arrows)
        self.light = light_from(camera)
        set_up_axes(self.ax, box, camera)
        handles = legend_handles(shapes, arrows, ())
        # a blank title keeps space for the clock
        compose(self.ax, box.corners, title or " ", handles)
        # video codecs want even numbers of pixels
        figure.set_size_inches(*(np.round(figure.get_size_inches() * 50) / 50))
        self.robot, self.inner = (
            Poly3DCollection(np.zeros((1, 4, 3)), linewidths=0.25, clip_on=False, animated=True)
            for _ in range(2)
        )
        for artist in (self.robot, self.inner):
            self.ax.add_collection3d(artist)
        self.detail = Detail(int(np.clip(_MOST_FACES / _AROUND / len(shapes), 8, 48)), _AROUND)
        self.trails = [_trail(self.ax, color) for color in colors_of(shapes)]
        self.tips = [shape.points[:, -1] for shape in shapes]

    def frames(self, every: int = 1) -> Iterator[Pixels]:
        """Yield each frame (height, width, 3), drawn over the background."""
        figure = self.canvas.figure
        stamp = figure.text(0.985, 0.985, "", ha="right", va="top", color=INK, animated=True)
        self.canvas.draw()
        background = self.canvas.copy_from_bbox(figure.bbox)
        for index in range(0, len(self.shown), every):
            self.canvas.restore_region(background)
            self._draw_trails(index)
            self._draw_robot(index)
            stamp.set_text(f"t = {self.shown[index]:.{self.digits}f} s")
            figure.draw_artist(stamp)
            yield np.array(self.canvas.buffer_rgba(), dtype=np.uint8)[..., :3]

    @property
    def digits(self) -> int:
        """Decimals of the clock, enough to distinguish two frames."""
        step = float(np.diff(self.shown).min()) if len(self.shown) > 1 else 1.0
        return max(2, int(np.ceil(-np.log10(step))))

    def _draw_trails(self, index: int) -> None:
        past = int(np.searchsorted(self.clock, self.shown[index], side="right"))
        for shape, tip, trail in zip(self.shapes, self.tips, self.trails, strict=True):
            if len(tip) == len(self.clock):
                trail.set_data_3d(*np.vstack([tip[:past], shape.points[index, -1]]).T)
                self.ax.draw_artist(trail)

    def _draw_robot(self, index: int) -> None:
        mesh, over = Mesh(), Mesh()
        add_rods(mesh, self.shapes, index, self.size, self.detail)
        add_arrows(mesh, self.arrows, index, self.size)
        add_rods(over, self.shapes, index, self.size, self.detail, inside=True)
        for artist, faces in ((self.robot, mesh), (self.inner, over)):
            if len(faces.quads):
                artist.set_verts(faces.quads)
                paint(artist, faces, self.light)
                artist.do_3d_projection()
                self.ax.draw_artist(artist)


def _box_with_arrows(box: Box, shapes: Sequence[RodShape], arrows: Sequence[Arrow]) -> Box:
    """Return the box of the rods, enlarged by the arrows and end frames at a dozen times."""
    size = box.size
    for index in np.unique(np.linspace(0, len(shapes[0].frames) - 1, 12).astype(int)):
        mesh = Mesh()
        add_rods(mesh, shapes, int(index), size, Detail(2, 4))
        add_arrows(mesh, arrows, int(index), size)
        box = box.holding(mesh.quads)
    return box


def _trail(ax: Axes3D, color: str) -> Line3D:
    """Return the line that will show the path of a tip."""
    line = ax.plot([], [], [], color=lighten(color, 0.45), linewidth=1.0, animated=True)[0]
    assert isinstance(line, Line3D)
    return line


def _write_gif(path: Path, film: _Film, fps: float, progress: Progress) -> None:
    """Write a .gif; frame durations are rounded so that the total is that of the motion."""
    count = len(film.shown)
    palette = _palette(film)
    pictures = [_reduce(pixels, palette) for pixels in _counted(film, progress)]
    ticks = np.diff(np.round(np.arange(count + 1) * 100.0 / fps)).astype(int) * 10
    pictures[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=ticks.tolist() if count > 1 else int(ticks[0]),
        loop=0,
    )


def _palette(film: _Film) -> Image.Image:
    """Return the 256 colours of three frames, used in all frames so that none flickers."""
    sample = np.concatenate(list(film.frames(every=max(1, len(film.shown) // 3))))
    return Image.fromarray(sample).quantize(256, Image.Quantize.MEDIANCUT)


def _reduce(pixels: Pixels, palette: Image.Image) -> Image.Image:
    """Return the frame in the colours of the palette, on white.

    The quantiser mixes the background with similar colours; nearly white becomes white.
    """
    reduced = Image.fromarray(pixels).quantize(palette=palette, dither=Image.Dither.NONE)
    colors = np.array(palette.getpalette(), dtype=np.uint8).reshape(-1, 3)
    colors[colors.min(axis=1) > 249] = 255
    reduced.putpalette(colors.ravel().tolist())
    return reduced


def _write_mp4(path: Path, film: _Film, fps: float, progress: Progress) -> None:
    """Write an .mp4 (H.264) through imageio-ffmpeg."""
    from imageio_ffmpeg import write_frames

    width, height = film.canvas.get_width_height()
    sink = write_frames(str(path), (width, height), fps=fps, quality=7, macro_block_size=2)
    sink.send(None)
    try:
        for pixels in _counted(film, progress):
            sink.send(np.ascontiguousarray(pixels))
    finally:
        sink.close()


def _counted(film: _Film, progress: Progress) -> Iterator[Pixels]:
    for index, pixels in enumerate(film.frames()):
        yield pixels
        progress(index + 1, len(film.shown))


def check_times(times: ArrayLike, shapes: Sequence[RodShape], arrows: Sequence[Arrow]) -> Array:
    """Return the times (T,) if they increase and fit the shapes and arrows."""
    clock = finite("animate", "times", times, "(T,)")
    refuse(
        clock.ndim != 1 or len(clock) == 0 or (np.diff(clock) <= 0).any(),
        "animate",
        "times",
        times,
        "a row of increasing times in seconds",
        "give move.t",
    )
    lengths = [(f"poses of {shape.name!r}", len(shape.frames)) for shape in shapes]
    for arrow in arrows:
        parts = np.atleast_2d(arrow.origin), np.atleast_2d(arrow.vector)
        lengths += [(f"arrow {arrow.name!r}", len(part)) for part in parts]
    for field_name, length in lengths:
        refuse(
            length not in (1, len(clock)),
            "animate",
            field_name,
            f"{length} times",
            f"given at the {len(clock)} times, or once if it is constant",
            "give shapes and times of the same motion",
        )
    return clock


def interpolate_shape(shape: RodShape, clock: Array, shown: Array) -> RodShape:
    """Return the shape at other times: poses interpolated, section axes normalised."""
    poses = _between(shape.frames, clock, shown)
    axes = poses[..., :3, :3]
    length = np.linalg.norm(axes, axis=-2, keepdims=True)
    # axes that cancel halfway between two opposite ones have no direction: leave them
    poses[..., :3, :3] = axes / np.where(length > 1e-9, length, 1.0)
    return replace(shape, poses=poses)


def interpolate_arrow(arrow: Arrow, clock: Array, shown: Array) -> Arrow:
    """Return the arrow at other times."""
    origin = _between(np.atleast_2d(arrow.origin), clock, shown)
    still = arrow.vector.ndim == 1  # the legend tells its value, not the largest over time
    vector = arrow.vector if still else _between(arrow.vector, clock, shown)
    return Arrow(origin, vector, arrow.kind, arrow.name)


def _between(values: Array, clock: Array, shown: Array) -> Array:
    """Return values (T, ...) at the times ``shown``, linearly interpolated."""
    if len(values) == 1:
        return np.repeat(values, len(shown), axis=0)
    line = make_interp_spline(clock, values, k=1)
    return np.asarray(line(np.clip(shown, clock[0], clock[-1])))
