"""accuracy= : mesh, integrator and step are chosen, and the result is as near as it was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

S = np.linspace(0.0, 0.4, 17)
SOFT = pl.Material(E=5e5, nu=0.45, rho=1000.0)


def arm(**more: Any) -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("arm", 0.4, pl.Circle(0.006), SOFT, pl.along("x"), **more)
    return robot


@pytest.mark.parametrize("accuracy", [1e-3, 1e-5])
def test_equilibria_are_as_accurate_as_asked_for(accuracy: float) -> None:
    truth = arm().statics(formulation=pl.Spectral(5, 40)).position("arm", S)
    found = arm().statics(accuracy=accuracy)
    assert np.abs(found.position("arm", S) - truth).max() < accuracy * 0.4
    assert found.error is not None and found.error.relative < accuracy


def test_frequencies_are_as_accurate_as_asked_for() -> None:
    truth = arm().modes(3, formulation=pl.Spectral(5, 30)).frequencies
    found = arm().modes(3, accuracy=1e-4)
    assert found.frequencies == pytest.approx(truth, rel=1e-4)


def test_motions_need_neither_step_nor_mesh() -> None:
    truth = arm().simulate(
        0.3, 0.01, formulation=pl.Spectral(3, 40), integrator=pl.Explicit(), output_every=0.03
    )
    found = arm().simulate(0.3, output_every=0.03)
    gap = np.linalg.norm(found.position("arm", S) - truth.position("arm", S), axis=-1).max()
    assert gap < 1e-3 * 0.4
    assert found.error is not None and found.error.relative < 1e-3
    assert gap < 5.0 * found.error.shape + 1e-6


@pytest.mark.parametrize("part", [0.0, 0.5, 0.95])
def test_ctrl_c_leaves_the_finest_motion_so_far(part: float) -> None:
    """In the first motion of a search and in later ones; comparing cut motions was a ValueError."""

    def search(most: float) -> tuple[pl.Motion, int]:
        calls = 0

        def count(_: float, __: float) -> None:
            nonlocal calls
            calls += 1
            if calls > most:
                raise KeyboardInterrupt

        return arm().simulate(0.1, output_every=0.01, progress=count), calls

    whole, calls = search(np.inf)
    assert whole.complete
    with pytest.warns(pl.ResolutionWarning, match="interrupted before the accuracy 0.001"):
        found, _ = search(part * calls)
    assert not found.complete
    assert found.error is None
    assert np.isfinite(found.position("arm", S)).all()
    assert (found.t[-1] == pytest.approx(0.1)) == (part > 0.0)


@pytest.mark.parametrize(
    "formulation", [pl.BSpline(points=5), pl.Strain(1, 1), pl.Hermite(1)], ids=lambda x: str(x)[:8]
)
def test_the_error_of_a_given_mesh_counts(formulation: Any) -> None:
    """By a coarser mesh or, of the coarsest, by a finer one; the error was that of the steps alone."""
    robot = pl.Robot()
    soft = pl.Material(E=2e5, nu=0.45, rho=1000.0, viscosity=200.0)
    robot.add_rod("arm", 0.3, pl.Circle((0.012, 0.006)), soft, pl.along("x"))
    s = np.linspace(0.0, 0.3, 17)
    truth = robot.simulate(0.4, 1e-3, formulation=pl.BSpline(points=24), output_every=0.04)
    with pytest.warns(pl.ResolutionWarning, match="the accuracy 0.001 was not reached"):
        found = robot.simulate(0.4, accuracy=1e-3, formulation=formulation, output_every=0.04)
    gap = np.linalg.norm(found.position("arm", s) - truth.position("arm", s), axis=-1).max()
    assert gap > 1e-3 * 0.3 and found.error is not None
    assert 0.3 * gap < found.error.shape < 5.0 * gap


def test_motions_with_constraints_take_implicit_steps() -> None:
    robots = [arm(), arm()]
    for robot in robots:
        robot.add_constraint("pin", "arm.tip", kind="articulated")
    truth = robots[0].simulate(0.1, 2e-4, formulation=pl.Spectral(3, 24), output_every=0.02)
    found = robots[1].simulate(0.1, accuracy=2e-3, output_every=0.02)
    gap = np.linalg.norm(found.position("arm", S) - truth.position("arm", S), axis=-1).max()
    assert gap < 2e-3 * 0.4
    assert "Radau" in str(found.integrator)
    assert found.error is not None and found.error.relative < 2e-3


def test_stiff_rods_take_few_long_steps() -> None:
    """Steel cantilever under a sudden force: explicit steps would be 100,000, those of Radau 100."""
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0)
    beam = robot.add_rod("beam", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("push", beam.tip, force=(0, 0, -10.0))
    times = np.linspace(0.0, 0.5, 21)
    found = robot.simulate(0.5, accuracy=1e-3, output_times=times)
    fine = pl.BSpline(3, 10)
    truth = robot.simulate(
        0.5, 0.0125, formulation=fine, integrator=pl.Radau(1e-7), output_times=times
    )
    gap = np.linalg.norm(found.tip("beam")[:, :3, 3] - truth.tip("beam")[:, :3, 3], axis=1).max()
    assert gap < 1e-3 and found.error is not None and found.error.relative <= 1e-3
    assert "Radau" in found.integrator and found.steps < 150


def test_what_you_give_is_kept() -> None:
    mesh, step = pl.BSpline(3, 9), pl.Midpoint()
    found = arm().simulate(0.05, 1e-3, formulation=mesh, integrator=step, accuracy=0.05)
    assert "points=9" in str(found.formulation) and "Midpoint" in str(found.integrator)


@pytest.mark.parametrize("accuracy", [0.0, 1.0, "fine"])
def test_accuracies_that_mean_nothing_are_refused(accuracy: Any) -> None:
    with pytest.raises(pl.DescriptionError, match="a fraction of the length"):
        arm().statics(accuracy=accuracy)
    with pytest.raises(pl.DescriptionError, match="a fraction of the length"):
        arm().simulate(0.1, accuracy=accuracy)


def test_a_motion_with_an_accuracy_is_not_saved_halfway() -> None:
    with pytest.raises(pl.DescriptionError, match=r"save.*left out"):
        arm().simulate(0.1, save="motion.nc")
