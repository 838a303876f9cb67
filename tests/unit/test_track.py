"""Markers in video frames: rendered pictures of known motion, and what cannot be tracked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pliant as pl

FINE = 8
"""Subpixels of a rendered frame, which a camera would average over each of its pixels."""


def render(
    path: Path, centres: list, colour=(255, 255, 255), back=(0, 0, 0), size=(160, 120), radius=5.3,
    noise=0.0, seed=0,
) -> None:  # fmt: skip
    """Write a frame with discs whose centres (column, row) are in pixels, each pixel averaged."""
    width, height = size
    # centres of the subpixels; the centre of the first pixel is (0, 0)
    x = (np.arange(width * FINE) + 0.5) / FINE - 0.5
    y = (np.arange(height * FINE) + 0.5) / FINE - 0.5
    inside = np.zeros((height * FINE, width * FINE))
    for u, v in centres:
        inside[(x[None, :] - u) ** 2 + (y[:, None] - v) ** 2 < radius**2] = 1.0
    share = inside.reshape(height, FINE, width, FINE).mean(axis=(1, 3))[..., None]
    image = share * np.array(colour) + (1.0 - share) * np.array(back)
    image = image + np.random.default_rng(seed).normal(0.0, noise, image.shape)
    Image.fromarray(np.clip(np.round(image), 0, 255).astype(np.uint8)).save(path)


def circling(frames: int) -> np.ndarray:
    angle = np.linspace(0.0, 5.0, frames)
    return np.stack([80.3 + 40.0 * np.cos(angle), 60.7 - 30.0 * np.sin(angle)], axis=1)


RULER = {"fps": 100.0, "length": 0.2, "between": ((20, 60), (120, 60))}


@pytest.mark.parametrize(
    ("marker", "colour", "back", "noise", "off"),
    [
        ("bright", (255, 255, 255), (0, 0, 0), 0.0, 0.02),
        ("dark", (20, 20, 20), (200, 200, 200), 0.0, 0.02),
        ("red", (255, 0, 0), (40, 90, 60), 0.0, 0.02),
        ((30, 60, 200), (30, 60, 200), (220, 220, 220), 4.0, 0.1),
    ],
)
def test_known_motion_is_recovered_to_a_fraction_of_a_pixel(
    tmp_path, marker, colour, back, noise, off
) -> None:
    pixels = circling(12)
    for k, centre in enumerate(pixels):
        name = f"frame{k + 1}.png"  # frame10 comes after frame2
        render(tmp_path / name, [centre], colour, back, noise=noise, seed=k)
    (tmp_path / "notes.txt").write_text("no frame")
    track = pl.track_marker(
        tmp_path, "arm.tip", marker=marker, origin=(30, 90), at=(0.1, -0.2), **RULER
    )
    assert track.scale == pytest.approx(0.002)
    assert np.abs(np.asarray(track.pixels) - pixels).max() < off
    np.testing.assert_allclose(track.t, np.arange(12) / 100.0)
    expected = 0.1 + 0.002 * (pixels[:, 0] - 30), -0.2 - 0.002 * (pixels[:, 1] - 90)
    for axis, values in zip("xz", expected, strict=True):
        np.testing.assert_allclose(track.column(f"arm.tip.{axis}"), values, atol=0.002 * off)
    assert track.lost == []


def test_axes_may_point_the_other_way(tmp_path) -> None:
    for k in range(3):
        render(tmp_path / f"{k}.png", [(60 + 10 * k, 50)])
    track = pl.track_marker(tmp_path, "arm.at(0.1)", axes=("-y", "z"), **RULER)
    steps = np.diff(track.column("arm.at(0.1).y"))
    np.testing.assert_allclose(steps, -0.02, atol=1e-5)
    np.testing.assert_allclose(track.column("arm.at(0.1).z"), 0.02, atol=1e-5)


def test_the_marker_is_followed_past_others_and_missing_frames(tmp_path) -> None:
    for k in range(6):
        spots = [(60 + 5 * k, 40), (20, 100), (20, 100)]
        render(tmp_path / f"{k}.png", spots[1:] if k == 3 else spots)
    # a larger still spot is the first choice; the region leaves it out
    track = pl.track_marker(tmp_path, "arm.tip", region=(40, 0, 160, 80), **RULER)
    assert track.lost == [3]
    assert np.isnan(track.column("arm.tip.x")[3])
    seen = np.asarray(track.pixels)[[0, 1, 2, 4, 5], 0]
    np.testing.assert_allclose(seen, [60, 65, 70, 80, 85], atol=0.02)


def test_of_several_spots_the_nearest_to_the_last_is_the_marker(tmp_path) -> None:
    for k in range(5):
        render(tmp_path / f"{k}.png", [(40 + 6 * k, 40), (110 - 6 * k, 80)])
    track = pl.track_marker(tmp_path, "arm.tip", region=(0, 0, 160, 60), **RULER)
    both = pl.track_marker(sorted(tmp_path.glob("*.png")), "arm.tip", **RULER)
    np.testing.assert_allclose(track.pixels, both.pixels, atol=1e-9)


def test_deep_grey_frames_are_read(tmp_path) -> None:
    for k in range(2):
        image = np.full((40, 50), 2000, dtype=np.uint16)
        image[10:15, 20 + k : 25 + k] = 60000
        Image.fromarray(image).save(tmp_path / f"{k}.png")
    track = pl.track_marker(tmp_path, "arm.tip", **RULER)
    np.testing.assert_allclose(track.pixels, [[22, 12], [23, 12]], atol=1e-9)


def test_what_cannot_be_tracked_is_told(tmp_path) -> None:
    def refused(match: str, frames: object = tmp_path, **more: object) -> None:
        with pytest.raises(pl.DescriptionError, match=match):
            pl.track_marker(frames, "arm.tip", **{**RULER, **more})

    refused("two images or more")
    refused("a folder of images", tmp_path / "nothing")
    for k in range(3):
        render(tmp_path / f"{k}.png", [(60, 50)])
    refused("in sight in two frames", marker="blue")
    refused("name of a colour", marker="redd")
    refused("name of a colour", marker=(300, 0, 0))
    refused("two different pixels", between=((1, 1), (1, 1)))
    refused("two pixels", between=(1, 2))
    refused("two different world axes", axes=("x", "x"))
    refused("two different world axes", axes=("x", "up"))
    refused("within the image of 160 x 120", region=(0, 0, 500, 10))
    refused("fps = 0", fps=0)
    refused("length = -1", length=-1)
    render(tmp_path / "3.png", [(60, 50)], size=(80, 60))
    refused("of the same size as 0.png")
    (tmp_path / "3.png").write_bytes(b"no image")
    refused("a readable image")


def test_frames_of_a_moving_rod_identify_its_stiffness(tmp_path) -> None:
    """From the simulation to frames and back to the parameter, through the picture of its tip."""
    method = pl.Strain(order=1, segments=2)

    def arm(bending: float) -> pl.Robot:
        robot = pl.Robot()
        section = pl.Stiffness(bending, 5e-3, 60.0, 200.0, 0.2, (6e-6, 6e-6, 1.2e-5), 0.02)
        robot.add_rod("arm", 0.3, section, pose=pl.along("x"))
        return robot

    motion = arm(7e-3).simulate(0.2, 0.01, formulation=method)
    for k, (x, _, z) in enumerate(motion.tip()[:, :3, 3]):
        render(
            tmp_path / f"{k:03}.png",
            [(10 + x / 0.002, 20 - z / 0.002)],
            radius=4.0,
            size=(180, 180),
        )
    track = pl.track_marker(
        tmp_path, "arm.tip", 100.0, length=0.3, between=((10, 20), (160, 20)), start="rest"
    )
    found = pl.fit(arm(6e-3), track, ["arm.bending"], formulation=method, dt=0.01)
    assert found["arm.bending"].value == pytest.approx(7e-3, rel=2e-3)
    assert abs(found["arm.bending"].value - 7e-3) < 4 * found["arm.bending"].error
