"""Robots of one kind in the lanes of one processor: the motions of each of them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.study import parallel

INSIDE = np.array([0.0, 0.0123, 0.03, 0.0307, 0.05])
GIVEN = {"formulation": pl.Spectral(3, 3), "integrator": pl.Explicit(0.4), "output_times": INSIDE}


def rod(E: float, viscosity: float = 0.0, radius: float = 0.01) -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=viscosity)
    robot.add_rod("arm", 0.3, pl.Circle(radius), soft, pl.along("x"))
    return robot


def loaded(E: float) -> pl.Robot:
    """A rod with a body, a load on its tip, a tendon, and another rod that it carries."""
    robot = rod(E, viscosity=300.0)
    arm = robot.description.rods["arm"]
    robot.add_body("block", 0.01, (1e-6, 1e-6, 1e-6), on=arm.tip, centre=(0.0, 0.004, 0.0))
    robot.add_load("push", arm.tip, force=(0.0, 0.05, 0.0))
    robot.add_tendon("pull", path=[arm.at(s, (0.007, 0.0)) for s in (0.0, 0.15, 0.3)])
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("twig", 0.1, pl.Circle(0.005), soft, pl.along("y"), base=arm.at(0.2))
    return robot


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the groups that moved together."""
    sizes: list[int] = []

    def watched(plans: Any) -> Any:
        found = parallel_move(plans)
        sizes.append(len(plans) if found is not None else -len(plans))
        return found

    parallel_move = parallel.move_together
    monkeypatch.setattr(parallel, "move_together", watched)
    return sizes


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_equal_robots_move_as_one_alone_to_rounding(moved: list[int]) -> None:
    starts = [{"arm": np.array([0.0, w, 0.0, 0.0, 0.0, 0.0])} for w in (0.5, 1.0, 2.0)]
    found = pl.simulate_many(
        [rod(1e6) for _ in starts], 0.05, 0.01, velocity=starts, workers=1, **GIVEN
    )
    assert sum(moved) == 3
    for given, motion in zip(starts, found, strict=True):
        alone = rod(1e6).simulate(0.05, 0.01, velocity=given, **GIVEN)
        assert motion.scheme == alone.scheme
        np.testing.assert_allclose(motion.tip("arm"), alone.tip("arm"), atol=1e-12)
        np.testing.assert_allclose(motion.velocity("arm"), alone.velocity("arm"), atol=1e-9)
        for name, values in alone.energy.items():
            np.testing.assert_allclose(motion.energy[name], values, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [rod, loaded])
def test_different_robots_differ_from_each_alone_by_the_error_of_steps(
    make: Any, moved: list[int]
) -> None:
    moduli = [1e6, 1.1e6, 1.2e6, 0.9e6, 1.15e6]
    inputs = [{"push": lambda t, k=k: k * t, "pull": 0.1 * k} for k in range(5)]
    given = None if make is rod else inputs
    found = pl.simulate_many([make(E) for E in moduli], 0.05, 0.01, given, workers=1, **GIVEN)
    assert max(moved) > 1 and min(moved) > 0
    sizes = []
    for k, motion in enumerate(found):
        own = None if given is None else given[k]
        alone = make(moduli[k]).simulate(0.05, 0.01, own, **GIVEN)
        np.testing.assert_allclose(motion.tip("arm"), alone.tip("arm"), atol=2e-6)
        assert motion.inputs.keys() == alone.inputs.keys()
        largest = alone.energy["kinetic"].max()
        for name in ("kinetic", "elastic", "work", "dissipated"):
            np.testing.assert_allclose(motion.energy[name], alone.energy[name], atol=1e-3 * largest)
        sizes.append(motion.tip("arm")[-1, 2, 3])
    assert np.ptp(sizes) > 1e-4


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_robots_of_other_kinds_and_much_stiffer_ones_keep_their_own_steps(moved: list[int]) -> None:
    robots = [rod(1e6), rod(1e6), rod(3e7), rod(3e7), loaded(1e6), rod(1e6)]
    found = pl.simulate_many(robots, 0.05, 0.01, workers=1, **GIVEN)
    assert sorted(moved) == [2, 3]
    for robot, motion in zip(robots, found, strict=True):
        alone = robot.simulate(0.05, 0.01, **GIVEN)
        np.testing.assert_allclose(motion.tip("arm"), alone.tip("arm"), atol=1e-12)


def test_a_group_that_loses_its_energy_balance_moves_one_by_one(moved: list[int]) -> None:
    given = {
        "formulation": pl.Spectral(3, 8), "integrator": pl.Explicit(0.95), "output_every": 1.0,
    }  # fmt: skip
    robots = []
    for _ in range(2):
        robots.append(pl.Robot())
        soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
        robots[-1].add_rod("arm", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    with pytest.warns(pl.ResolutionWarning, match="depends on the mesh"):
        found = pl.simulate_many(robots, 6.0, 0.1, workers=1, **given)
    assert moved == [-2]
    assert all(np.isfinite(motion.tip("arm")).all() for motion in found)


def test_wrong_inputs_of_robots_side_by_side_name_the_robot() -> None:
    robots, late = [loaded(1e6), loaded(1e6)], {"push": lambda t: 1.0 if t < 0.03 else np.nan}
    with pytest.raises(
        pl.DescriptionError, match=r"robots\[1\], input 'push': value at t = 0.03 s"
    ):
        pl.simulate_many(robots, 0.05, 0.01, [{"push": 1.0}, late], workers=1, **GIVEN)


def test_each_robot_of_a_group_is_judged(moved: list[int]) -> None:
    """Energy and resolution are looked at for every motion, not for one of a group."""
    robots = [rod(1e6, viscosity=1.0), rod(1.01e6, viscosity=1.0)]
    judged: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.Motion, "warn_of_energy", lambda self, method: judged.append(self))
        found = pl.simulate_many(robots, 0.02, 0.01, workers=1, formulation=pl.Spectral(3, 3),
                                 integrator=pl.Explicit(0.4))  # fmt: skip
    assert moved == [2] and judged == found
