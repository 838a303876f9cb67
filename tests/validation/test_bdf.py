"""Backward differentiation of orders 1 to 6 for strong forms."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pliant as pl

TIMES = np.linspace(0.1, 0.3, 5)
COLLOCATION = pl.Collocation(10)


def rod(viscosity: float = 3000.0) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=viscosity)
    arm = robot.add_rod("rod", 0.3, pl.Circle(0.01), rubber, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0, 0))
    return robot


def smooth(t: float) -> tuple[float, float, float]:
    return 0.0, 0.0, 0.05 * float(np.sin(np.pi * t / 0.4)) ** 8


@cache
def tips(order: int, steps: int, form: Any = COLLOCATION) -> Any:
    motion = rod().simulate(
        0.3, 0.3 / steps, {"push": smooth}, formulation=form, integrator=pl.BDF(order),
        output_times=TIMES,
    )  # fmt: skip
    return motion.tip("rod")[:, :3, 3]


@pytest.mark.parametrize("order", range(1, 7))
def test_order(order: int) -> None:
    best = tips(6, 480)
    errors = [np.abs(tips(order, n) - best).max() for n in (120, 240)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert errors[-1] < 5e-4


def test_shooting_and_collocation_agree() -> None:
    by_shooting = tips(4, 120, pl.Shooting(60))
    assert np.abs(by_shooting - tips(4, 120)).max() < 2e-7


def test_it_agrees_with_a_formulation_with_coordinates() -> None:
    motion = rod().simulate(
        0.3, 1e-3, {"push": smooth}, integrator=pl.Radau(1e-7), output_times=TIMES,
        formulation=pl.Hermite(12),
    )  # fmt: skip
    assert np.abs(motion.tip("rod")[:, :3, 3] - tips(5, 240)).max() < 2e-5


@pytest.mark.parametrize("order", [1, 3, 6])
def test_what_is_at_rest_stays_at_rest(order: int) -> None:
    robot = rod()
    form = pl.Collocation(10)
    still = robot.statics({"push": (0, 0, 0.05)}, formulation=form)
    motion = robot.simulate(
        0.1, 0.005, {"push": (0, 0, 0.05)}, start=still, formulation=form, integrator=pl.BDF(order)
    )
    tip = motion.tip("rod")[:, :3, 3]
    assert np.abs(tip - still.tip("rod")[:3, 3]).max() < 1e-9


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_free_base_has_the_order_too() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=3000.0)
    arm = robot.add_rod("rod", 0.3, pl.Circle(0.01), rubber, base=None)
    robot.add_load("push", arm.tip, force=(0, 0, 0))
    found = [
        robot.simulate(
            0.3, 0.3 / n, {"push": lambda t: (smooth(t)[2], 0.0, 0.0)}, integrator=pl.BDF(4),
            formulation=pl.Collocation(10), output_times=(0.3,),
        ).tip("rod")[-1, :3, 3]
        for n in (60, 120, 240)
    ]  # fmt: skip
    errors = [np.abs(a - b).max() for a, b in pairwise(found)]
    assert np.log2(errors[0] / errors[1]) > 3.5


def test_undamped_rods_are_warned_of() -> None:
    with pytest.warns(pl.ResolutionWarning, match=r"BDF\(order=3\).*vibrations grow.*viscosity"):
        rod(0.0).simulate(0.02, 0.005, formulation=pl.Collocation(10), integrator=pl.BDF(3))


@pytest.mark.parametrize("order", [0, 7, 2.5, "two", True])
def test_odd_orders_are_refused(order: Any) -> None:
    with pytest.raises(pl.DescriptionError, match=r"order.*1 to 6"):
        pl.BDF(order)


def test_formulations_with_coordinates_refuse_it() -> None:
    with pytest.raises(pl.DescriptionError, match="BDF goes with Shooting"):
        rod().simulate(0.1, 0.01, formulation=pl.BSpline(3, 6), integrator=pl.BDF(2))


def test_checkpoints_go_on_bit_by_bit(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file, stop = tmp_path / "moved.nc", iter(range(1000))

    def run(**more: Any) -> pl.Motion:
        return rod().simulate(
            0.1,
            0.005,
            {"push": smooth},
            formulation=pl.Collocation(10),
            integrator=pl.BDF(5),
            **more,
        )

    def interrupted(t: float, duration: float) -> None:
        if next(stop) == 12:
            raise KeyboardInterrupt

    whole = run()
    monkeypatch.setattr("pliant.solve.checkpoint.EVERY", 0.0)
    assert not run(save=file, progress=interrupted).complete
    assert np.array_equal(run(resume=file).tip("rod"), whole.tip("rod"))
