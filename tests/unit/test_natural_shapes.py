"""Natural shapes by control points and control poses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline

import pliant as pl
from pliant.lie import se3
from pliant.model import Array, number_paths, value_at, with_values

STEEL = pl.Material(E=5e9, nu=0.3, rho=1200.0)
SHEET = pl.Rectangle(0.02, 0.001)
POINTS = ((0, 0, 0), (0, 0, 0.01), (0.006, 0.002, 0.02), (0.01, 0.008, 0.03), (0.01, 0.01, 0.045))
FORMULATIONS = {
    "bspline": pl.BSpline(3, 20),
    "hermite": pl.Hermite(12),
    "strain": pl.Strain(3, 6),
    "shooting": pl.Shooting(100),
}


def rod_of(shape: Any, length: float) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_rod("finger", length, SHEET, STEEL, natural=shape)
    return robot


def turned(first: Array) -> Array:
    """The smallest rotation (3, 3) that takes z to a direction (3,)."""
    z, t = np.array([0, 0, 1.0]), first / np.linalg.norm(first)
    half = (z + t) / np.linalg.norm(z + t)
    return (2 * np.outer(half, half) - np.eye(3)) @ np.diag([-1, -1, 1.0])


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_rod_rests_on_the_curve_of_its_control_points(name: str, degree: int) -> None:
    """Against the spline itself, evaluated without Pliant at equal arclengths."""
    inner = np.linspace(0, 1, len(POINTS) - degree + 1)
    spline = BSpline(np.pad(inner, degree, mode="edge"), np.array(POINTS), degree)
    x = np.linspace(0, 1, 20001)
    walked = np.append(0, np.cumsum(np.linalg.norm(np.diff(spline(x), axis=0), axis=1)))
    curve = pl.Curve(POINTS, degree)
    assert curve.length == pytest.approx(walked[-1], rel=1e-7)
    s = np.linspace(0, 1, 7) * curve.length
    truth = spline(np.interp(s, walked, x)) @ turned(spline.derivative()(0.0))
    still = rod_of(curve, curve.length).statics(formulation=FORMULATIONS[name])
    near = 1e-6 if name in ("strain", "shooting") else 3e-5
    assert still.position("finger", s) == pytest.approx(truth, abs=near * curve.length)


def test_frames_along_points_do_not_twist() -> None:
    """A helix through points: its curvature has the size of theory, and turns back by its torsion."""
    radius, rise, turns = 0.02, 0.01, 1.5
    angle = np.linspace(0, 2 * np.pi * turns, 40)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), rise * angle], axis=1)
    curve = pl.Curve(points, degree=5, through=True)
    scale = radius**2 + rise**2
    assert curve.length == pytest.approx(angle[-1] * np.sqrt(scale), rel=2e-5)
    s = np.linspace(0.3, 0.7, 5) * curve.length
    strain = curve.strain(s, curve.length)
    assert np.hypot(*strain.T[:2]) == pytest.approx(radius / scale, rel=1e-3)
    assert np.abs(strain[:, 2]).max() == 0.0
    way = np.unwrap(np.arctan2(strain[:, 1], strain[:, 0]))
    assert np.polyfit(s, way, 1)[0] == pytest.approx(rise / scale, rel=1e-3)
    assert strain[:, 3:] == pytest.approx(np.tile([0, 0, 1.0], (5, 1)))


def test_rod_rests_on_the_spline_of_its_control_poses() -> None:
    rng, poses = np.random.default_rng(1), [pl.along("y")]
    for _ in range(4):
        step = np.array([*(0.4 * rng.normal(size=3)), 0.001, 0, 0.01])
        poses.append(poses[-1] @ se3.exp(step))
    shape = pl.PoseSpline(poses, degree=3)
    truth = se3.inverse(poses[0]) @ poses[-1]
    for name, formulation in FORMULATIONS.items():
        still = rod_of(shape, shape.length).statics(formulation=formulation)
        assert np.abs(still.tip("finger") - truth).max() < 2e-6, name

    def along(s: float, y: Array) -> Array:
        e = shape.strain(np.array([s]), shape.length)[0]
        R = y[3:].reshape(3, 3)
        return np.concatenate([R @ e[3:], (R @ np.cross(np.eye(3), e[:3])).ravel()])

    begin = np.append(np.zeros(3), np.eye(3))
    end = solve_ivp(along, (0, shape.length), begin, rtol=1e-10, atol=1e-12).y[:, -1]
    assert end[:3] == pytest.approx(truth[:3, 3], abs=1e-9)
    assert np.linalg.norm(shape.strain(np.array([0.01]), shape.length)[0, 3:]) == pytest.approx(1.0)


def test_control_points_are_parameters_by_path(tmp_path: Path) -> None:
    robot = rod_of(pl.Curve(POINTS, degree=2, scale=True), 0.05)
    path = "finger.natural.points[2][0]"
    assert path in number_paths(robot.description)
    assert value_at(robot.description, path).value == 0.006
    other = with_values(robot.description, {path: 0.012})
    assert value_at(other, "finger.points[2][0]").value == 0.012
    robot.save(tmp_path / "finger.yaml")
    again = pl.Robot.from_file(tmp_path / "finger.yaml")
    truth = robot.statics().tip("finger")
    assert again.statics().tip("finger") == pytest.approx(truth, abs=1e-12)
    shape = robot.description.rods["finger"].natural
    assert isinstance(shape, pl.Curve)
    # a curve scaled to the rod keeps its angles: the tip is as far as the scaled last point
    assert np.linalg.norm(truth[:3, 3]) == pytest.approx(
        np.linalg.norm(POINTS[-1]) * 0.05 / shape.length, rel=1e-5
    )


def test_planar_curve_suits_a_planar_formulation() -> None:
    points = [(0, 0, 0), (0, 0, 0.01), (0.01, 0, 0.02), (0.012, 0, 0.035)]
    curve = pl.Curve(points, degree=2)
    robot = rod_of(points, pl.Curve(points).length)  # a list is a spline of degree 3
    assert robot.statics().tip("finger")[:3, 3] == pytest.approx(points[-1], abs=1e-7)
    robot = rod_of(curve, curve.length)
    still = robot.statics(formulation=pl.ANCF(12))
    assert still.tip("finger")[:3, 3] == pytest.approx(points[-1], abs=1e-6)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (POINTS, r"natural = 'a curve 0.04803\d* m long'.*as long as the rod, 0.1 m.*length="),
        (((0, 0, 0), (0, 0, 0.1)), "natural.degree = 2.*there are 2 control points"),
        (((0, 0, 0), (0, 0, 0), (0, 0, 0)), "natural.points.*a curve that goes on everywhere"),
        ([(0, 0, 0), (0, 0, 1, 2)], "natural"),
        ([np.eye(4), 2 * np.eye(4), np.eye(4)], r"natural.poses\[1\]"),
    ],
)
def test_shapes_that_cannot_be_are_refused(shape: Any, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        rod_of(shape, 0.1)


def test_fit_finds_a_control_point() -> None:
    """From where sections of the rod rest: the shape is its own measurement."""
    bent = pl.Curve([(0, 0, 0), (0, 0, 0.01), (0.008, 0, 0.02), (0.01, 0, 0.035)], 2, scale=True)
    plain = pl.Curve([(0, 0, 0), (0, 0, 0.01), (0.007, 0, 0.02), (0.01, 0, 0.035)], 2, scale=True)
    forces, method = np.array([0.0, 1.0]), pl.Strain(2, 4)

    def finger(shape: pl.Curve) -> pl.Robot:
        robot = rod_of(shape, 0.04)
        robot.add_load("push", "finger.tip", force=(0.1, 0, 0))
        return robot

    tips = [finger(bent).statics({"push": f}, method).tip("finger")[:3, 3] for f in forces]
    columns = {f"finger.tip.{axis}": np.array(tips)[:, "xyz".index(axis)] for axis in "xz"}
    data = pl.Measurement({"push": forces, **columns})
    found = pl.fit(finger(plain), data, ["finger.natural.points[2][0]"], formulation=method)
    assert found["finger.natural.points[2][0]"].value == pytest.approx(0.008, rel=1e-4)
