"""From video frames to columns: the path of a marker on a rod in a folder of images."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from pliant.files.measurement import Measurement
from pliant.model import Array, DescriptionError, finite_array, positive, refuse

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".webp")
_LEAST = 4.0
"""Pixels that a marker must cover."""
_EDGE = 2
"""Pixels around a marker that count as its blurred edge."""
_CONTRAST = 0.1
"""Least difference between a marker and its background, as a fraction of the range of the image."""
_AXES = re.compile(r"^-?[xyz]$")


@dataclass(frozen=True, eq=False)
class Track(Measurement):
    """The path of a marker in video frames, as a measurement for `fit`.

    pixels : (N, 2) column and row of the marker in each frame, from the upper left corner, NaN where
        it was not found; the centre of the first pixel is (0, 0).
    scale : metres per pixel.
    columns, time, inputs, start, velocity, name, window, places : as for `Measurement`; the columns
        are the times and two positions in metres.
    """

    pixels: ArrayLike = ()
    scale: float = 1.0

    @property
    def lost(self) -> list[int]:
        """Numbers of the frames, from 0, in which the marker was not found."""
        return np.flatnonzero(np.isnan(np.asarray(self.pixels)[:, 0])).tolist()


def track_marker(
    frames: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    place: str,
    fps: float,
    length: float,
    between: tuple[ArrayLike, ArrayLike],
    marker: str | ArrayLike = "bright",
    axes: tuple[str, str] = ("x", "z"),
    origin: ArrayLike | None = None,
    at: ArrayLike = (0.0, 0.0),
    region: tuple[int, int, int, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    start: str | Mapping[str, Any] = "rest",
) -> Track:
    """Follow a marker on a rod through video frames and return its path in metres.

    frames : a folder of images (.png, .jpg, ...), taken in the order of the numbers in their names,
        or a list of images.
    place : of the marker on the robot, such as "arm.tip" or "arm.at(0.2)"; the columns of the result
        are called ``place.x`` and so on.
    fps : frames per second; the first frame is t = 0.
    length, between : the scale. ``length`` metres lie between two pixels ((column, row), (column,
        row)), such as the ends of a ruler at the distance of the marker from the camera.
    marker : "bright" or "dark" for the brightest or darkest spot of the first frame, the name of a
        colour ("red", "#20c040"), or (red, green, blue) from 0 to 255.
    axes : world axes that point to the right and upwards in the image, such as ("x", "z"); "-x" points
        the other way.
    origin, at : the pixel (column, row) whose position along these axes is ``at``, metres. None for
        the first pixel of ``between``.
    region : (left, top, right, bottom) in pixels, where the marker is looked for; None for everywhere.
    inputs, start : of the robot, as for `Measurement`.

    A pixel counts by how much of its colour is the marker's, and the centroid of the spot is found to
    a fraction of a pixel. Of several spots the largest is taken in the first frame, then the one
    nearest to where the marker was. Frames without the marker become missing cells (NaN). The camera
    looks at a right angle on the plane of motion; lens distortion is not corrected. A rod whose colour
    lies between those of background and marker shifts the centroid by about a tenth of a pixel.
    """
    files = _frames(frames)
    rate = positive("track_marker", "fps", fps, "frames per second", "give e.g. 100")
    ends = _pixel("between", np.asarray(between, dtype=object).tolist(), (2, 2))
    distance = float(np.linalg.norm(ends[1] - ends[0]))
    refuse(
        distance == 0.0,
        "track_marker",
        "between",
        between,
        "two different pixels",
        "give both ends of a ruler",
    )
    scale = positive("track_marker", "length", length, "metres", "give e.g. 0.3") / distance
    zero = ends[0] if origin is None else _pixel("origin", origin, (2,))
    signs, names = _directions(place, axes)
    pixels = _follow(files, marker, region)
    offset = scale * (pixels - zero) * (1.0, -1.0)  # rows count downwards
    positions = _pixel("at", at, (2,)) + offset * signs
    columns = {"t": np.arange(len(files)) / rate, **dict(zip(names, positions.T, strict=True))}
    return Track(
        columns,
        "t",
        dict(inputs or {}),
        start,
        name=Path(files[0]).parent.name or "frames",
        places=[f"frame {file.name}" for file in files],
        pixels=pixels,
        scale=scale,
    )


def _frames(given: Any) -> list[Path]:
    """The images of a folder in the order of the numbers in their names, or those of a list."""
    if isinstance(given, (str, os.PathLike)):
        folder = Path(given)
        expected, remedy = "a folder of images", "give the folder that holds the frames"
        refuse(not folder.is_dir(), "track_marker", "frames", str(folder), expected, remedy)
        found = [file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES]
        files = sorted(found, key=lambda file: _numbered(file.name))
    else:
        files = [Path(item) for item in given]
    refuse(
        len(files) < 2,
        "track_marker",
        "frames",
        str(given),
        f"two images or more ({', '.join(SUFFIXES)})",
        "write the frames of the video as images",
    )
    return files


def _numbered(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts frame2 before frame10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _pixel(field: str, value: Any, shape: tuple[int, ...]) -> Array:
    expected = "two numbers" if shape == (2,) else "two pixels ((column, row), (column, row))"
    return finite_array(
        "track_marker", field, value, expected, "give e.g. (120, 300)", lambda x: x.shape == shape
    )


def _directions(place: str, axes: Any) -> tuple[Array, list[str]]:
    """Signs (2,) of the axes to the right and upwards, and the names of the two columns."""
    given = list(axes) if isinstance(axes, (tuple, list)) else []
    good = len(given) == 2 and all(isinstance(a, str) and _AXES.match(a) for a in given)
    letters = [axis[-1] for axis in given] if good else []
    refuse(
        not good or letters[0] == letters[1],
        "track_marker",
        "axes",
        axes,
        "two different world axes, those to the right and upwards in the image",
        "give e.g. ('x', 'z') or ('-y', 'z')",
    )
    signs = np.array([-1.0 if axis.startswith("-") else 1.0 for axis in given])
    return signs, [f"{place}.{letter}" for letter in letters]


def _follow(files: list[Path], marker: Any, region: Any) -> Array:
    """Pixels (N, 2) of the marker in all frames."""
    first = _image(files[0])
    window = _window(region, first)
    target = _target(marker, first[window])
    found, last = np.full((len(files), 2), np.nan), None
    for k, file in enumerate(files):
        image = first if k == 0 else _image(file)
        if image.shape != first.shape:
            raise DescriptionError(
                "track_marker", "frames", file.name, f"of the same size as {files[0].name}",
                "crop all frames alike",
            )  # fmt: skip
        spot = _spot(image[window], target, last)
        if spot is not None:
            last = spot
            found[k] = spot + np.array([window[1].start, window[0].start])
    refuse(
        np.isfinite(found[:, 0]).sum() < 2,
        "track_marker",
        "marker",
        marker,
        f"in sight in two frames or more of {len(files)}",
        "give its colour as it is in the images, and the region where it moves",
    )
    return found


def _image(file: Path) -> Array:
    """The image (rows, columns, channels) in numbers from 0 to 1; deep grey images have one channel."""
    from PIL import Image

    try:
        with Image.open(file) as opened:
            deep = opened.mode.startswith(("I", "F"))
            data = np.asarray(opened if deep else opened.convert("RGB"), dtype=float)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DescriptionError(
            "track_marker", "frames", str(file), f"a readable image ({reason})", "remove or replace it"
        ) from error  # fmt: skip
    return data[..., None] / 65535.0 if deep else data / 255.0


def _window(region: Any, image: Array) -> tuple[slice, slice]:
    """Rows and columns of the region."""
    rows, columns = image.shape[:2]
    if region is None:
        return slice(0, rows), slice(0, columns)
    left, top, right, bottom = _pixel4(region)
    refuse(
        not (0 <= left < right <= columns and 0 <= top < bottom <= rows),
        "track_marker",
        "region",
        region,
        f"(left, top, right, bottom) within the image of {columns} x {rows} pixels",
        "leave it out for everywhere",
    )
    return slice(top, bottom), slice(left, right)


def _pixel4(region: Any) -> list[int]:
    numbers = finite_array(
        "track_marker", "region", region, "four numbers (left, top, right, bottom)",
        "leave it out for everywhere", lambda x: x.shape == (4,),
    )  # fmt: skip
    return [round(x) for x in numbers.tolist()]


def _target(marker: Any, image: Array) -> Array:
    """The colour of the marker (channels,): as given, or that of the brightest or darkest pixel."""
    from PIL import ImageColor

    if isinstance(marker, str) and marker in ("bright", "dark"):
        light = ndimage.uniform_filter(image.mean(axis=-1), 3)
        index = light.argmax() if marker == "bright" else light.argmin()
        return image.reshape(-1, image.shape[-1])[index]
    expected = "'bright', 'dark', the name of a colour, or (red, green, blue) from 0 to 255"
    remedy = "give e.g. 'red' or (220, 40, 30)"
    if isinstance(marker, str):
        try:
            marker = ImageColor.getrgb(marker)[:3]
        except ValueError:
            raise DescriptionError("track_marker", "marker", marker, expected, remedy) from None
    colour = finite_array(
        "track_marker", "marker", marker, expected, remedy,
        lambda x: x.shape == (3,) and x.min() >= 0 and x.max() <= 255,
    )  # fmt: skip
    return colour[: image.shape[-1]] / 255.0


def _spot(image: Array, target: Array, last: Array | None) -> Array | None:
    """Column and row (2,) of the marker's centroid in an image, None if it is not there.

    A pixel that is partly marker lies between its colour and that of the background, the median of
    the image: its share of the marker is its weight.
    """
    background = np.median(image.reshape(-1, image.shape[-1]), axis=0)
    away = float(np.linalg.norm(target - background))
    if away < _CONTRAST:
        return None
    share = np.clip(1.0 - np.linalg.norm(image - target, axis=-1) / away, 0.0, 1.0)
    labels, count = ndimage.label(share > 0.5)
    if not count:
        return None
    numbers = np.arange(1, count + 1)
    areas = np.asarray(ndimage.sum_labels(share, labels, numbers))
    large = numbers[areas >= _LEAST]
    if not len(large):
        return None
    centres = np.array([ndimage.center_of_mass(share, labels, n)[::-1] for n in large])
    nearest = areas[large - 1].argmax()
    if last is not None:
        nearest = np.linalg.norm(centres - last, axis=1).argmin()
    return _centroid(share, labels == large[nearest], (labels > 0) & (labels != large[nearest]))


def _centroid(share: Array, spot: NDArray[np.bool_], others: NDArray[np.bool_]) -> Array:
    """Column and row (2,) of a spot with its blurred edge, but without other spots and theirs."""
    ball = ndimage.generate_binary_structure(2, 2)
    around = ndimage.binary_dilation(spot, ball, iterations=_EDGE)
    around &= ~ndimage.binary_dilation(others, ball) if others.any() else True
    weight = np.where(around, share, 0.0)
    rows, columns = np.indices(share.shape)
    return np.array([(weight * columns).sum(), (weight * rows).sum()]) / weight.sum()
