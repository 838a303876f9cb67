"""Branches of equilibria against exact ones: buckled columns, snapping trusses, twisted rods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipe, ellipk

import pliant as pl
from tests.validation.test_concentric_tubes import FOLDS, base_angle, tip_angle, tubes

SLENDER = pl.Stiffness(bending=(1.0, 2.0), twist=1.0, shear=1e7, axial=1e7, mass=1.0)


def column(section: pl.Stiffness = SLENDER) -> pl.Robot:
    """An upright column, clamped below, free above, which is pushed down."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 1.0, section)
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    return robot


def truss(width: float = 1.0, height: float = 0.3, stiffness: float = 100.0) -> pl.Robot:
    """Von Mises' truss: two springs from supports at +-width up to a body that slides down."""
    robot = pl.Robot(gravity=(0, 0, 0))
    body = robot.add_body("top", 0.1, pose=pl.pose((0, 0, height)), joint=pl.Prismatic("z"))
    for k, x in enumerate((-width, width)):
        robot.add_spring(f"spring{k}", (x, 0, 0), body.at((0, 0, 0)), stiffness=stiffness)
    robot.add_load("press", body.at((0, 0, 0)), force=(0, 0, -1))
    return robot


def truss_force(z: Any, width: float = 1.0, height: float = 0.3, stiffness: float = 100.0) -> Any:
    """Force that holds the top of the truss at a height z, downwards."""
    rest, long = np.hypot(width, height), np.hypot(width, z)
    return -2.0 * stiffness * (1.0 - rest / long) * z


# -- bifurcations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formulation", "limit"),
    [(pl.BSpline(), 1e-7), (pl.Hermite(6), 5e-6), (pl.Strain(segments=8), 3e-5)],
    ids=repr,
)
def test_column_buckles_at_the_loads_of_euler(formulation: pl.Formulation, limit: float) -> None:
    path = column().follow("push", 0.0, 10.0, formulation=formulation)
    found = [turn.value for turn in path.bifurcations]
    assert found == pytest.approx([np.pi**2 / 4, np.pi**2 / 2], rel=limit)
    assert path.folds == []
    assert path.values[-1] == 10.0
    first = path.bifurcations[0].index
    assert all(path.stable[:first])
    assert not any(path.stable[first + 1 :])


@pytest.mark.parametrize("side", [1, -1])
def test_buckled_column_is_the_elastica(side: int) -> None:
    """P / P_cr = (2 K(k) / pi)^2, k = sin(half the angle of the tip); both sides of the pitchfork."""
    straight = column().follow("push", 0.0, 8.0)
    bent = straight.branch(0, side)
    assert all(bent.stable[1:])
    tips = bent.pose("column.tip")
    angle = np.arctan2(np.hypot(tips[:, 0, 2], tips[:, 1, 2]), tips[:, 2, 2])
    m = np.sin(0.5 * angle[1:]) ** 2
    K, E = ellipk(m), ellipe(m)
    assert bent.values[1:] == pytest.approx(K**2, rel=2e-5)
    assert tips[1:, 2, 3] == pytest.approx(2.0 * E / K - 1.0, abs=2e-5)
    sideways = np.hypot(tips[1:, 0, 3], tips[1:, 1, 3])
    assert sideways == pytest.approx(2.0 * np.sqrt(m) / K, abs=2e-5)
    other = straight.branch(0, -side)
    assert other.tip("column")[-1, :2, 3] == pytest.approx(-tips[-1, :2, 3], abs=1e-7)


def test_buckled_round_column_stays_in_its_plane() -> None:
    """It has no stiffness against turning about its axis, which is kept out of all corrections."""
    straight = column(pl.Stiffness(1.0, 1.0, 1e7, 1e7, mass=1.0)).follow("push", 0.0, 6.0)
    (turn,) = straight.bifurcations
    assert turn.directions == 2
    bent = straight.branch(0, which=1)
    assert bent.folds == [] and len(bent.bifurcations) == 1
    assert all(bent.stable[1:])
    x, y = bent.position("column.tip")[1:, :2].T
    assert np.unwrap(np.arctan2(y, x)) == pytest.approx(np.arctan2(y[0], x[0]), abs=1e-6)
    angle = np.arccos(bent.tip("column")[-1, 2, 2])
    assert ellipk(np.sin(0.5 * angle) ** 2) ** 2 == pytest.approx(6.0, rel=1e-5)


def test_loads_without_potential_show_bifurcations_by_the_sign_of_the_determinant() -> None:
    robot = column()
    robot.add_load("drill", robot.description.rods["column"].tip, moment=(0, 0, 1e-9), frame="body")
    path = robot.follow("push", 0.0, 6.0, inputs={"drill": 1.0})
    found = [turn.value for turn in path.bifurcations]
    assert found == pytest.approx([np.pi**2 / 4, np.pi**2 / 2], rel=1e-6)
    bent = path.branch(0)
    angle = np.arccos(bent.tip("column")[-1, 2, 2])
    assert ellipk(np.sin(0.5 * angle) ** 2) ** 2 == pytest.approx(6.0, rel=1e-5)


def test_follower_force_never_buckles_a_column_at_rest() -> None:
    """Beck's column: it has no static bifurcation, only flutter at 20.05 EI / L^2."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 1.0, pl.Stiffness(1.0, 1.0, 1e7, 1e7, mass=1.0))
    robot.add_load("push", rod.tip, force=(0, 0, -1), frame="body")
    path = robot.follow("push", 0.0, 22.0, points=11, formulation=pl.BSpline(3, 10))
    assert path.bifurcations == [] and path.folds == []
    unstable = [value for value, good in zip(path.values, path.stable, strict=True) if not good]
    last_stable = max(v for v, good in zip(path.values, path.stable, strict=True) if good)
    assert last_stable < 20.05 < min(unstable) + 2.1 and min(unstable) > 19.9


def test_twisted_rod_buckles_at_greenhills_moment() -> None:
    """Clamped at both ends, one of which is turned: M L / EI = 8.9868, from tan(x / 2) = x / 2."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("rod", 1.0, pl.Stiffness(1.0, 0.8, 1e7, 1e7, mass=1.0))
    robot.add_base_motion("turn", rod, rotation=(0, 0, 1))
    robot.add_constraint("end", rod.tip, hold=("rx", "ry", "rz", "x", "y"))
    path = robot.follow("turn", 0.0, 13.0, points=8, formulation=pl.BSpline(3, 12))
    (turn,) = path.bifurcations
    assert turn.directions == 2
    assert turn.value * 0.8 == pytest.approx(8.98681891, rel=1e-5)


# -- folds -----------------------------------------------------------------------------------------


def test_truss_snaps_at_both_folds_of_von_mises() -> None:
    robot = truss()
    path = robot.follow("press", -2.0, 20.0)
    z = np.sqrt(np.hypot(1.0, 0.3) ** (2.0 / 3.0) - 1.0)
    folds = [truss_force(z), truss_force(-z)]
    assert [turn.value for turn in path.folds] == pytest.approx(folds, rel=1e-6)
    heights = path.position("top")[:, 2]
    assert path.values == pytest.approx(truss_force(heights), abs=1e-7)
    stable = np.array([good is True for good in path.stable])
    plain = np.array([good is not None for good in path.stable])
    assert (stable == (np.abs(heights) > z))[plain].all()
    assert path.values[-1] == 20.0
    assert path.ended == "the input arrived at 20"


def test_statics_names_the_fold_and_does_not_jump() -> None:
    robot = truss()
    z = np.sqrt(np.hypot(1.0, 0.3) ** (2.0 / 3.0) - 1.0)
    with pytest.raises(pl.ConvergenceError, match=r"turns back there \(a fold\)") as caught:
        robot.statics({"press": 20.0})
    value = float(str(caught.value).split("press = ")[1].rstrip("."))
    assert value == pytest.approx(truss_force(z), rel=1e-5)
    last = caught.value.last
    assert last.position("top")[2] > z - 1e-3
    assert last.stable


def test_arch_keeps_its_energy_balance_through_its_folds() -> None:
    """dV / da = -(work of the load per a): along the whole branch."""
    robot = pl.Robot(gravity=(0, 0, 0))
    strip = pl.Stiffness(bending=(50.0, 1.0), twist=20.0, shear=1e4, axial=1e4, mass=1.0)
    start = pl.pose(rotation=(0, np.pi / 2 - 0.3, 0))
    arch = robot.add_rod("arch", 1.0, strip, pose=start, natural=(0, 0.6, 0))
    robot.add_constraint("end", arch.tip, kind="fixed")
    robot.add_load("press", arch.at(0.5), force=(0, 0, -1))
    path = robot.follow("press", 0.0, 30.0, points=100)
    assert len(path.folds) == 2
    sink = path.position("arch", 0.5)[:, 2]
    gained = np.concatenate([[0.0], np.cumsum(np.diff(path.values) * (sink[1:] + sink[:-1]) / 2)])
    total = path.energy["total"] - path.energy["total"][0]
    assert total == pytest.approx(gained, abs=1e-3 * np.ptp(total))
    again = robot.statics({"press": 30.0}, start=path[-1])
    assert again.position("arch", 0.5)[2] == pytest.approx(sink[-1], abs=1e-9)


@pytest.mark.parametrize("product", FOLDS)
def test_concentric_tubes_turn_back_at_both_folds(product: float) -> None:
    """The S-curve of two tubes, Xun et al. equation (56), also between its folds."""
    robot = tubes(product)
    path = robot.follow("turn", 0.0, 2.0 * np.pi, inputs={"force": 0.0}, points=20)
    first, second = (turn.value for turn in path.folds)
    assert first == pytest.approx(FOLDS[product], rel=2e-5)
    assert second == pytest.approx(2.0 * np.pi - first, rel=1e-5)
    tips = np.unwrap(tip_angle(path))
    assert tips[-1] == pytest.approx(2.0 * np.pi, abs=1e-5)
    for k in range(5, len(path), 20):
        assert base_angle(product, float(tips[k])) == pytest.approx(path.values[k], abs=1e-6)
    a, b = (turn.index for turn in path.folds)
    assert all(path.stable[:a]) and not any(path.stable[a + 1 : b]) and all(path.stable[b + 1 :])


def test_path_is_followed_backwards_and_from_an_equilibrium() -> None:
    robot = truss()
    snapped = robot.follow("press", -2.0, 20.0)[-1]
    back = robot.follow("press", 20.0, -5.0, at=snapped)
    z = np.sqrt(np.hypot(1.0, 0.3) ** (2.0 / 3.0) - 1.0)
    assert [turn.value for turn in back.folds] == pytest.approx(
        [truss_force(-z), truss_force(z)], rel=1e-6
    )
    assert back.values[-1] == -5.0


def test_prescribed_hinge_snaps_a_strip() -> None:
    """A buckled strip between two clamps, one of which turns: force fields, constraints, a drive."""
    robot = pl.Robot(gravity=(0, 0, 0))
    strip = pl.Stiffness(bending=(50.0, 1.0), twist=20.0, shear=1e4, axial=1e4, mass=1.0)
    foot = robot.add_body("foot", 0.1, (1e-3,) * 3, joint=pl.Revolute("y", drive="angle"))
    rod = robot.add_rod("strip", 1.0, strip, base=foot.at((0, 0, 0)))
    robot.add_constraint("end", rod.tip, to=pl.pose((0, 0, 0.9)), kind="fixed")
    robot.add_load("aside", rod.at(0.5), force=(1, 0, 0))
    bowed = robot.statics({"aside": 5.0, "foot": 0.0})
    still = robot.statics({"aside": 0.0, "foot": 0.0}, start=bowed)
    side = np.sign(still.position("strip", 0.5)[0])
    path = robot.follow("foot", 0.0, -2.5 * side, at=still)
    assert path.folds
    assert np.sign(path.position("strip", 0.5)[-1, 0]) == -side
    before = path.folds[0].value
    for k in (3, path.folds[0].index + 2):
        again = robot.statics({"aside": 0.0, "foot": path.values[k]}, start=path[k])
        assert again.position("strip", 0.5) == pytest.approx(
            path.position("strip", 0.5)[k], abs=1e-8
        )
    assert abs(before) < 2.5


# -- results and bad input -------------------------------------------------------------------------


def test_path_answers_is_saved_and_drawn(tmp_path: Any) -> None:
    path = truss().follow("press", -2.0, 20.0, points=20)
    assert path.pose("top").shape == (len(path), 4, 4)
    assert path.joint("top").shape == (len(path), 1)
    assert path.tension("spring0").shape == (len(path),)
    data = pl.load(path.save(tmp_path / "path.nc"))
    assert data["folds"].values == pytest.approx([turn.value for turn in path.folds])
    assert len((path.to_csv(tmp_path / "path.csv")).read_text().splitlines()) == len(path) + 1
    path.plot(tmp_path / "path.png")
    assert "folds at press = " in path.summary()
    with pytest.raises(pl.DescriptionError, match="0 bifurcations"):
        path.branch(0)
    with pytest.raises(pl.DescriptionError, match="count points from 0"):
        path[len(path)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pres", 0, 1), "'press'"),
        (("press", 0, 0), "another value than start"),
        (("press", 0, np.nan), "stop"),
        (("press", 0, 1, None, None, pl.Shooting()), "with coordinates"),
    ],
)
def test_follow_refuses_bad_input(arguments: tuple[Any, ...], words: str) -> None:
    robot = column() if len(arguments) > 3 else truss()
    named = ("push", *arguments[1:]) if len(arguments) > 3 else arguments
    with pytest.raises(pl.DescriptionError, match=words):
        robot.follow(*named)
