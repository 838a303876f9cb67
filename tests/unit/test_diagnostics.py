"""Warnings of a fit about unsuitable data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

METHOD = pl.Strain(order=2, segments=2)
FORCES = np.array([0.0, 0.5, 1.0, 1.5])


def arm(bending: float = 6e-3, inertia: tuple = (6e-6, 6e-6, 1.2e-5)) -> pl.Robot:
    robot = pl.Robot()
    section = pl.Stiffness(bending, 5e-3, shear=60.0, axial=200.0, mass=0.2, inertia=inertia)
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"))
    robot.add_load("pull", rod.tip, force=(0.0, 0.05, 0.1))
    return robot


def droop(noise: float = 1e-4) -> dict[str, np.ndarray]:
    tips = [arm(7e-3).statics({"pull": f}, METHOD).tip("arm")[:3, 3] for f in FORCES]
    found = np.array(tips) + np.random.default_rng(3).normal(0.0, noise, (4, 3))
    return {"pull": FORCES, "arm.tip.x": found[:, 0], "arm.tip.z": found[:, 2]}


def quick(columns: dict, parameters: list, **more: object) -> pl.Fit:
    return pl.fit(arm(), pl.Measurement(columns), parameters, formulation=METHOD, **more)


def test_good_data_raise_no_warning() -> None:
    assert quick(droop(), ["arm.bending"]).warnings == []


def test_unused_column_is_named_with_the_closest_input() -> None:
    columns = droop()
    columns["pul"] = columns.pop("pull")
    with pytest.warns(pl.FitWarning, match="'pul' not used.*'pull'"):
        quick(columns, ["arm.bending"])


def test_columns_of_other_outputs_may_be_ignored() -> None:
    assert quick(droop(), ["arm.bending"], outputs=["arm.tip.z"]).warnings == []


def test_another_sign_is_suspected() -> None:
    columns = droop()
    columns["arm.tip.z"] = -columns["arm.tip.z"]
    with pytest.warns(pl.FitWarning, match="further from arm.tip.z.*check its unit"):
        quick(columns, ["arm.bending"])


def test_outputs_with_few_numbers_share_the_noise_of_their_unit() -> None:
    """One load case, one parameter, two outputs: either alone could be met exactly."""
    columns = {name: values[2:3] for name, values in droop(1e-3).items()}
    with pytest.warns(pl.FitWarning, match="too few numbers to estimate the noise of each"):
        found = quick(columns, ["arm.bending"])
    left = found.data[0].residuals[0]
    assert found.noise["arm.tip.x"] == pytest.approx(found.noise["arm.tip.z"], rel=1e-9)
    assert found.noise["arm.tip.x"] == pytest.approx(np.linalg.norm(left), rel=0.02)
    exact = quick(columns, ["arm.bending"], outputs=[
        pl.Output(f"arm.tip.{axis}", std=found.noise["arm.tip.x"]) for axis in "xz"
    ])  # fmt: skip
    assert found["arm.bending"].value == pytest.approx(exact["arm.bending"].value, rel=1e-4)
    assert found["arm.bending"].error == pytest.approx(exact["arm.bending"].error, rel=0.03)


def test_factors_of_one_product_are_undetermined_and_anticorrelated() -> None:
    """Only the load times its factor matters: force and input column share one effect."""
    robot = arm()
    robot.add_load("push", robot.description.rods["arm"].tip, force=(0.0, 0.05, 0.1))
    data = pl.Measurement({**droop(), "push": FORCES})
    with pytest.warns(pl.FitWarning, match="do not determine"):
        found = pl.fit(robot, data, ["pull.force", "push.force"], formulation=METHOD)
    assert found.correlation[0, 1] == pytest.approx(-1.0, abs=1e-6)
    assert np.isinf(found.covariance[0, 0]) and np.isinf(found["push.force"].error)
    assert str(found).count("undetermined") == 2


def test_parameter_that_nothing_depends_on_is_undetermined() -> None:
    with pytest.warns(pl.FitWarning, match="do not determine arm.mass"):
        robot = arm()
        robot.description.gravity = (0.0, 0.0, 0.0)
        found = pl.fit(robot, pl.Measurement(droop()), ["arm.mass"], formulation=METHOD)
    assert np.isinf(found["arm.mass"].error) and found.correlation == pytest.approx(1.0)


def test_empty_outputs_are_refused() -> None:
    with pytest.raises(pl.DescriptionError, match=r"outputs = .*one or more"):
        quick(droop(), ["arm.bending"], outputs=[])


def test_marker_at_the_tip_moves_with_the_length() -> None:
    data = pl.Measurement({"pull": FORCES, "arm.at(0.3).z": droop()["arm.tip.z"]})
    found = pl.fit(arm(7e-3), data, ["arm.length"], formulation=METHOD)
    assert found["arm.length"].value == pytest.approx(0.3, abs=1e-3)


def test_report_says_how_the_robot_was_solved() -> None:
    found = quick(droop(), ["arm.bending"])
    assert found.method == {"arm": repr(METHOD)} and repr(METHOD) in " ".join(str(found).split())
    t = np.linspace(0.0, 0.1, 11)
    data = pl.Measurement({"t": t, "arm.tip.z": 0.0 * t}, "t")
    moved = pl.fit(arm(), data, ["arm.bending"], formulation=METHOD, dt=0.01, iterations=0,
                   integrator=pl.ImplicitEuler())  # fmt: skip
    assert moved.to_dict()["method"]["integrator"] == repr(pl.ImplicitEuler())
    assert moved.method["dt"] == "0.01 s"


def test_rod_that_cannot_move_is_refused_by_name() -> None:
    data = pl.Measurement({"t": [0.0, 0.1, 0.2], "arm.tip.z": [0.0, 0.0, 0.0]}, "t")
    with pytest.raises(pl.DescriptionError, match=r"'arm': section\.inertia"):
        pl.fit(arm(inertia=(0.0, 0.0, 0.0)), data, ["arm.bending"], formulation=METHOD)


def test_picture_of_many_outputs_says_how_many_are_not_shown() -> None:
    data = [pl.Measurement(droop(), name=f"run {k}") for k in range(5)]
    found = pl.fit(arm(), data, ["arm.bending"], formulation=METHOD)
    assert found.plot().get_suptitle() == "the first 8 of 10 outputs"


@pytest.mark.parametrize("name", ["Time (s)", "time_s", "Time (Seconds)", "t [s]", "TIME"])
def test_time_is_recognised_with_its_unit(tmp_path: Path, name: str) -> None:
    file = tmp_path / "tip.csv"
    file.write_text(f"{name},arm.tip.z\n0.0,0.1\n0.1,0.2\n")
    assert pl.read_measurement(file).time == name


def test_time_in_another_unit_is_refused_and_other_names_are_not_time(tmp_path: Path) -> None:
    file = tmp_path / "tip.csv"
    for name in ("t / ms", "time [ms]", "Time (min)"):
        file.write_text(f"{name},arm.tip.z\n0.0,0.1\n100,0.2\n")
        with pytest.raises(pl.DescriptionError, match="times in seconds"):
            pl.read_measurement(file)
    file.write_text("t_base,arm.tip.z\n0.0,0.1\n100,0.2\n")
    assert pl.read_measurement(file).time is None


def test_command_without_parameters_lists_them_and_takes_missing_rows_and_cells(
    tmp_path: Path,
) -> None:
    robot, data = tmp_path / "arm.yaml", tmp_path / "tip.csv"
    robot.write_text(
        "rods: {arm: {length: 0.3, section: {circle: {radius: 0.01}}, "
        "material: {E: 1.0e6, nu: 0.5, rho: 1000, viscosity: 500}, pose: {along: x}}}\n"
    )
    move = pl.Robot.from_file(robot).simulate(0.3, 0.01)
    rows = [f"{t:.9g},{z:.9g}" for t, z in zip(move.t, move.tip("arm")[:, 2, 3], strict=True)]
    rows[22:27] = [row.partition(",")[0] + "," for row in rows[22:27]]
    data.write_text("\n".join(["t,arm.tip.z", *rows[:10], *rows[20:]]))

    def call(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["fit", *map(str, words), "-o", str(tmp_path / "out")])
        return done.exit_code, done.output

    code, text = call(robot, data)
    assert code == 1 and "arm.material.E" in text and "Traceback" not in text
    code, text = call(robot, data, "-p", "arm.E=0.9e6", "--dt", 0.01)
    assert code == 0 and "1e+06" in text and "5 missing" in text, text
