"""What people do first: ask a result without arguments, look at it, copy, change and print robots."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

SMALL = pl.BSpline(degree=3, points=6)
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def one_rod() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pl.along("x"), formulation=SMALL)
    robot.add_body("ball", 0.01, on=arm.tip)
    return robot


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    robot = one_rod()
    motion = robot.simulate(0.02, dt=0.01)
    stepper = robot.stepper(0.01)
    return {"equilibrium": robot.statics(), "motion": motion, "state": stepper.step()}


@pytest.mark.parametrize("kind", ["equilibrium", "motion", "state"])
def test_a_rod_without_s_is_the_whole_rod_from_base_to_tip(results, kind) -> None:
    result = results[kind]
    s = np.linspace(0.0, 0.3, 51)
    for ask in ("pose", "position", "strain", "wrench", "velocity"):
        if not hasattr(result, ask):
            continue
        whole = getattr(result, ask)("arm")
        np.testing.assert_array_equal(whole, getattr(result, ask)("arm", s))
        np.testing.assert_array_equal(whole, getattr(result, ask)())
    np.testing.assert_array_equal(result.position()[..., -1, :], result.tip()[..., :3, 3])
    np.testing.assert_array_equal(result.tip(), result.tip("arm"))
    leading = (3,) if kind == "motion" else ()
    assert result.position("arm").shape == (*leading, 51, 3)
    assert result.position("ball").shape == (*leading, 3)


@pytest.mark.parametrize("kind", ["equilibrium", "motion", "state"])
def test_a_frame_is_a_place_of_which_results_know_the_pose(results, kind) -> None:
    result = results[kind]
    arm = one_rod().description.rods["arm"]
    np.testing.assert_allclose(result.pose(arm.tip), result.tip(), atol=1e-15)
    beside = result.position(arm.at(0.1, offset=(0.02, 0.0)))
    expected = result.pose("arm", 0.1) @ np.array([0.02, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(beside, expected[..., :3], atol=1e-15)
    with pytest.raises(pl.DescriptionError, match="Frame is one place"):
        result.pose(arm.tip, 0.1)
    with pytest.raises(pl.DescriptionError, match="'leg'"):
        result.pose(pl.Frame("leg", 0.1))
    with pytest.raises(pl.DescriptionError, match="from 0 to the rod's length"):
        result.pose(pl.Frame("arm", 0.4))


def test_with_several_rods_the_rod_has_to_be_named() -> None:
    robot = one_rod()
    robot.add_rod("leg", 0.1, pl.Circle(0.01), SOFT, formulation=SMALL)
    still = robot.statics()
    for ask in (still.tip, still.pose, still.position, still.strain):
        with pytest.raises(pl.DescriptionError, match="has 2 of them; choose from 'arm', 'leg'"):
            ask()


def test_modes_without_s_have_the_shape_of_the_whole_rod() -> None:
    modes = one_rod().modes(2)
    whole = modes.shape(1)
    np.testing.assert_array_equal(whole, modes.shape(1, "arm", np.linspace(0.0, 0.3, 51)))


def test_dir_lists_the_names_of_pliant_and_nothing_else() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import pliant as pl; pl.Robot; import pliant.cli; print(*dir(pl))"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert set(listed) == set(pl.__all__)
    assert {"Robot", "Step", "fit"} <= set(listed)


def test_type_checkers_find_the_types() -> None:
    assert (Path(pl.__file__).parent / "py.typed").is_file()


def test_a_picture_that_is_written_leaves_no_figure_open(results, tmp_path) -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
    for k, result in enumerate((results["equilibrium"], results["motion"], one_rod().modes(1))):
        result.plot(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 1000
    with pytest.raises(pl.DescriptionError):
        results["equilibrium"].plot(tmp_path / "picture.bmp")
    assert plt.get_fignums() == []
    results["equilibrium"].plot()
    assert len(plt.get_fignums()) == 1
    plt.close("all")
