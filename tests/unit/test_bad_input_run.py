"""What statics, simulate, modes and results refuse, each with a sentence and before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pliant as pl

SMALL = pl.BSpline(degree=3, points=5)
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def make(material: pl.Material = SOFT, **more: object) -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod(
        "arm", length=0.3, section=pl.Circle(0.01), material=material, formulation=SMALL, **more
    )
    robot.add_load("push", on=rod.tip, force=(0.01, 0, 0))
    return robot


ROBOT = make()


@pytest.fixture(scope="module")
def still() -> pl.Equilibrium:
    return ROBOT.statics()


def refused(act: Callable[[], object], *words: str) -> None:
    with pytest.raises(pl.DescriptionError) as caught:
        act()
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in: {caught.value}"


def test_unknown_keywords_of_parts() -> None:
    robot = pl.Robot()
    refused(
        lambda: robot.add_rod("arm", lenght=0.3, section=pl.Circle(0.01)),  # type: ignore[call-arg]
        "Robot.add_rod",
        "lenght",
        "did you mean 'length'?",
    )
    refused(lambda: robot.add_rod("arm", length=0.3), "section")  # type: ignore[call-arg]
    refused(lambda: pl.Robot(gravty=(0, 0, 0)), "gravty", "'gravity'")  # type: ignore[call-arg]
    refused(lambda: ROBOT.statics(input={}), "Robot.statics", "'inputs'")  # type: ignore[call-arg]
    refused(lambda: ROBOT.simulate(1.0, 0.1, stat="rest"), "stat", "'start'")  # type: ignore[call-arg]
    assert not robot.description.rods


def test_parts_that_cannot_be_leave_the_robot_as_it_was() -> None:
    robot = make()
    refused(lambda: robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT), "arm", "unique")
    refused(lambda: robot.add_load("far", on=pl.Frame("arm", 0.4)), "load 'far'", "0.4", "0.3")
    refused(lambda: robot.add_load("x", on="amr"), "amr", "did you mean 'arm'?")
    refused(lambda: robot.add_constraint("c", on=pl.Frame("leg", 0.1)), "leg")
    assert (len(robot.description.loads), len(robot.description.constraints)) == (1, 0)


def test_robot_with_nothing_to_solve() -> None:
    for ask in (pl.Robot().statics, lambda: pl.Robot().simulate(1.0, 0.1), pl.Robot().modes):
        refused(ask, "robot", "rods", "at least one rod")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), "much", None, [[1, 2, 3]]])
def test_bad_input_values(value: object) -> None:
    refused(lambda: ROBOT.statics({"push": value}), "input 'push'", "finite")
    refused(lambda: ROBOT.simulate(1.0, 0.1, inputs={"push": value}), "input 'push'", "finite")


def test_unknown_inputs_and_inputs_of_time_in_statics() -> None:
    refused(lambda: ROBOT.statics({"psh": 1.0}), "psh", "did you mean 'push'?")
    refused(lambda: ROBOT.simulate(1.0, 0.1, inputs={"psh": 1.0}), "psh", "did you mean 'push'?")
    refused(lambda: ROBOT.statics({"push": pl.Sine(1.0, 1.0)}), "input 'push'", "no time")
    refused(lambda: ROBOT.statics([1.0]), "inputs", "dict")  # type: ignore[arg-type]


def test_input_function_that_goes_wrong_is_named_with_the_time() -> None:
    def late(t: float) -> object:
        return float("nan") if t > 0.035 else 1.0

    refused(
        lambda: ROBOT.simulate(0.1, 0.01, inputs={"push": late}),
        "input 'push'",
        "t = 0.04 s",
        "nan",
    )

    def changing(t: float) -> object:
        return (0.0, 0.0, 0.1) if t > 0.015 else 1.0

    refused(
        lambda: ROBOT.simulate(0.1, 0.01, inputs={"push": changing}), "input 'push'", "t = 0.02 s"
    )
    refused(lambda: ROBOT.simulate(0.1, 0.01, inputs={"push": lambda t: "a"}), "t = 0 s")


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), "long", None])
@pytest.mark.parametrize("field", ["duration", "dt", "output_every"])
def test_bad_times(field: str, value: object) -> None:
    if field in ("dt", "output_every") and value is None:
        return
    options = {"duration": 1.0, "dt": 0.1, field: value}
    refused(lambda: ROBOT.simulate(**options), "simulate", field)  # type: ignore[arg-type]


@given(dt=st.floats(), duration=st.floats())
def test_any_times_are_either_usable_or_refused(dt: float, duration: float) -> None:
    from pliant.solve.clock import make_clock

    try:
        clock = make_clock(duration, dt, output_times=[0.0])
    except pl.DescriptionError:
        return
    assert 0 < clock.h <= dt * (1 + 1e-5)
    assert clock.h * clock.steps == pytest.approx(duration)


def test_step_longer_than_the_duration_and_bad_output_times() -> None:
    refused(lambda: ROBOT.simulate(1.0, 2.0), "dt", "2.0", "duration 1 s")
    for times in ([], [0.5, 0.2], [0.0, float("nan")], "now", [[0.0]]):
        refused(lambda t=times: ROBOT.simulate(1.0, 0.1, output_times=t), "output_times")  # type: ignore[misc]
    refused(lambda: ROBOT.simulate(1.0, 0.1, output_times=[0.0, 1.5]), "duration 1 s")
    refused(lambda: ROBOT.simulate(1.0, 0.1, output_times=[0.0], output_every=0.1), "output_every")


def test_motion_needs_mass() -> None:
    light = make(pl.Material(E=1e6, nu=0.5))
    words = ("rod 'arm'", "material.rho", "kg/m^3", "rho=1000")
    refused(lambda: light.simulate(1.0, 0.1), *words)
    refused(light.modes, *words)
    robot = pl.Robot()
    wire = pl.Stiffness(bending=0.01, twist=0.01, shear=100, axial=300)
    robot.add_rod("wire", 0.3, wire)
    refused(lambda: robot.simulate(1.0, 0.1), "rod 'wire'", "section.mass")
    robot = pl.Robot()
    wire = pl.Stiffness(bending=0.01, twist=0.01, shear=100, axial=300, mass=0.1)
    robot.add_rod("wire", 0.3, wire)
    refused(lambda: robot.simulate(1.0, 0.1), "rod 'wire'", "section.inertia")


def test_formulations_and_integrators_that_are_none() -> None:
    refused(lambda: ROBOT.statics(formulation=pl.BSpline), "rod 'arm'", "write BSpline()")  # type: ignore[arg-type]
    refused(lambda: ROBOT.statics(formulation="spline"), "rod 'arm'", "formulation")  # type: ignore[arg-type]
    refused(lambda: ROBOT.statics(formulation={"amr": SMALL}), "amr", "did you mean 'arm'?")
    refused(lambda: pl.BSpline(degree=3, points=3), "points", "degree + 1")
    refused(lambda: ROBOT.simulate(1.0, 0.1, integrator=pl.Midpoint), "write Midpoint()")  # type: ignore[arg-type]
    refused(lambda: ROBOT.simulate(1.0, 0.1, integrator="euler"), "integrator")  # type: ignore[arg-type]


def test_starts_that_do_not_fit(still: pl.Equilibrium) -> None:
    refused(lambda: ROBOT.simulate(1.0, 0.1, start="static"), "start", "did you mean 'statics'?")
    refused(lambda: ROBOT.simulate(1.0, 0.1, start=3), "start")  # type: ignore[arg-type]
    refused(lambda: make().statics(start=still), "start", "same rods")
    refused(
        lambda: ROBOT.statics(start=still, formulation=pl.BSpline(3, 6)), "start", "formulation"
    )
    refused(lambda: ROBOT.modes(at=still, inputs={"push": 1.0}), "inputs", "at is given")
    refused(lambda: ROBOT.modes(at="rest"), "at")  # type: ignore[arg-type]
    changed = make()
    before = changed.statics()
    changed.add_constraint("end", on=pl.Frame("arm", 0.3))
    refused(lambda: changed.statics(start=before), "start", "same constraints")


def test_constraint_that_the_undeformed_robot_does_not_meet() -> None:
    robot = make()
    robot.add_constraint("grip", on=pl.Frame("arm", 0.3), to=pl.pose((0.05, 0, 0.28)))
    refused(lambda: robot.simulate(1.0, 0.1), "constraint 'grip'", "start='statics'")


def test_velocities_that_make_no_sense() -> None:
    ask = lambda v: ROBOT.simulate(0.1, 0.1, velocity=v)  # noqa: E731
    refused(lambda: ask({"amr": np.zeros(6)}), "amr", "did you mean 'arm'?")
    refused(lambda: ask({"arm": np.zeros(5)}), "velocity['arm']", "six finite numbers")
    refused(lambda: ask({"arm": np.full(6, np.nan)}), "velocity['arm']")
    refused(lambda: ask({"arm": lambda s: (0, 0, s)}), "velocity['arm']", "s = ")
    refused(lambda: ask((0, 0, 0, 0, 0, 1)), "velocity", "dict")


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "six"])
def test_bad_counts_of_modes(count: object) -> None:
    refused(lambda: ROBOT.modes(count), "count", "whole number")  # type: ignore[arg-type]


def test_more_modes_than_coordinates_gives_those_there_are() -> None:
    assert len(ROBOT.modes(count=1000)) == 24


def test_tolerance_must_be_positive() -> None:
    refused(lambda: ROBOT.statics(tolerance=0.0), "tolerance")


def test_results_refuse_other_rods_and_places(still: pl.Equilibrium, tmp_path: Path) -> None:
    refused(lambda: still.tip("amr"), "amr", "did you mean 'arm'?")
    refused(lambda: still.pose("arm", 0.31), "rod 'arm'", "0.31", "0.3 m")
    refused(lambda: still.strain("arm", [0.1, -0.1]), "-0.1")
    refused(lambda: still.wrench("arm", float("nan")), "finite")
    refused(lambda: still.wrench("arm", 0.1, by="magic"), "by", "balance")
    refused(lambda: still.save(tmp_path / "still.csv"), ".nc")
    refused(lambda: still.plot(tmp_path / "still.xyz"), "path")
    refused(lambda: ROBOT.modes(2, at=still).shape(2, "arm", 0.1), "k", "from 0 to 1")
    assert list(tmp_path.iterdir()) == []


def test_load_of_a_file_that_is_no_result(tmp_path: Path) -> None:
    refused(lambda: pl.load(tmp_path / "none.nc"), "none.nc")
    wrong = tmp_path / "wrong.nc"
    wrong.write_text("not a result")
    refused(lambda: pl.load(wrong), "wrong.nc", "NetCDF")


def test_wrench_of_a_motion_by_something_else() -> None:
    robot = pl.Robot()
    robot.add_rod("a", 0.3, pl.Circle(0.01), SOFT, theory="kirchhoff", formulation=pl.Strain(1, 1))
    move = robot.simulate(0.02, dt=0.01)
    refused(lambda: move.wrench("a", 0.1, by="magic"), "by", "balance")
    refused(lambda: move.wrench("b", 0.1), "rod", "'b'")
