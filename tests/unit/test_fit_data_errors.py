"""Mistakes in measurements: wrong units, clocks with an offset, priors without data."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pliant as pl
from pliant.study.fit import make_experiment
from pliant.study.outputs import probes

PRESSURES = np.linspace(0.0, 1e5, 6)
BENDING = "finger.bending[1]"


def finger(bending: float = 0.0186, line: pl.PressureLine | None = None) -> pl.Robot:
    robot = pl.Robot()
    made = pl.BendingActuator(0.175, bending, 0.006, 0.009, mass=0.12, retardation=0.02)
    robot.add_actuator("finger", made, pl.along("x"), formulation=pl.ANCF(2), line=line)
    return robot


def equilibria() -> dict[str, np.ndarray]:
    tips = np.array([finger().statics({"chamber2": p}).tip("finger") for p in PRESSURES])
    angle = np.arctan2(tips[:, 2, 2], tips[:, 0, 2])
    return {"z": tips[:, 2, 3], "angle": angle}


def motion(line: pl.PressureLine | None = None) -> tuple[dict[str, np.ndarray], pl.Motion]:
    t = np.linspace(0.0, 0.5, 51)
    pressure = pl.TimeTable(t, 3e4 * (1.0 - np.cos(12.0 * t)))
    move = finger(line=line).simulate(
        0.5,
        2.5e-3,
        {"chamber2": pressure},
        start="statics",
        integrator=pl.Newmark(),
        output_every=0.01,
    )
    columns = {"t": t, "chamber2": pressure.over(t), "finger.tip.z": move.tip("finger")[:, 2, 3]}
    return columns, move


def test_millimetres_are_refused_before_anything_is_solved() -> None:
    data = pl.Measurement({"chamber2": PRESSURES, "finger.tip.z": 1e3 * equilibria()["z"]})
    with pytest.raises(pl.DescriptionError, match=r"finger.tip.z.*reaches 0.175 m.*metres"):
        pl.fit(finger(0.02), data, [BENDING])


def test_reach_includes_all_supporting_rods() -> None:
    def robot(base: object) -> pl.Robot:
        found = pl.Robot(gravity=(0, 0, 0))
        steel = pl.Stiffness(bending=0.02, twist=0.02, shear=1e4, axial=1e4, mass=0.1)
        lower = found.add_rod("lower", 1.0, steel, pose=pl.pose(position=(5.0, 0, 0)))
        found.add_rod("upper", 0.2, steel, base=lower.tip if base == "tip" else base)
        found.add_load("push", found.description.rods["lower"].tip, force=(0.01, 0, 0))
        return found

    def refused(given: pl.Robot, column: str, value: float) -> bool:
        data = pl.Measurement({"push": [0.0, 1.0], column: [value, value]})
        try:
            make_experiment(data, probes(given.description, [column]), given, None, None)
        except pl.DescriptionError:
            return True
        return False

    assert not refused(robot("tip"), "upper.tip.x", 8.0) and refused(robot("tip"), "upper.tip.x", 9)
    assert not refused(robot("tip"), "upper.at(0.1, 1.0, 0).x", 11.0)
    assert refused(robot("world"), "upper.tip.x", 1.0)
    assert not refused(robot(None), "upper.tip.x", 1e3)
    assert not refused(robot("tip"), "upper.tip.angle_xz", 1e3)


def test_degrees_are_suspected_where_radians_are_meant() -> None:
    angle = equilibria()["angle"]

    def fitted(values: np.ndarray) -> pl.Fit:
        data = pl.Measurement({"chamber2": PRESSURES, "finger.tip.angle_xz": values})
        return pl.fit(finger(0.02), data, [BENDING])

    good = fitted(angle)
    assert not good.warnings
    # load cases with one input are drawn over it
    axis = good.plot().axes[0]
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), PRESSURES)
    assert axis.figure.axes[1].get_xlabel() == "input chamber2 / Pa"
    plt.close(axis.figure)
    assert not fitted(angle + 2 * np.pi).warnings
    with pytest.warns(pl.FitWarning, match=r"angle_xz.*radians, not degrees"):
        fitted(np.degrees(angle))


def test_parameter_determined_by_its_prior_alone_is_reported() -> None:
    noisy = equilibria()["z"] + 1e-4 * np.array([1, -1, 1, 1, -1, 1])
    data = pl.Measurement({"chamber2": PRESSURES, "finger.tip.z": noisy})
    sideways = pl.Parameter("finger.bending[0]", prior=(0.02, 0.002))
    known = pl.Parameter(BENDING, prior=(0.02, 0.002))
    with pytest.warns(pl.FitWarning, match=r"nothing about finger.bending\[0\].*prior"):
        found = pl.fit(finger(0.02), data, [known, sideways])
    assert len(found.warnings) == 1
    with pytest.warns(pl.FitWarning, match=r"finger.bending\[0\]: give a prior, leave it out"):
        pl.fit(finger(0.02), data, [BENDING, "finger.bending[0]"])


@pytest.mark.parametrize("first", [12.3, 1.7e9])
def test_a_motion_begins_at_the_first_row_where_its_inputs_do(first: float) -> None:
    """The clock of a logger was running before: the fit is that of times from 0, and as quick."""
    line = pl.Lag(0.05)
    columns, _ = motion(line)
    names = [BENDING, "chamber2.line.time"]
    plain = pl.Measurement(columns, "t", start="statics")
    late = pl.Measurement({**columns, "t": columns["t"] + first}, "t", start="statics")
    at_once = pl.fit(finger(0.02, line), plain, names, integrator=pl.Newmark())
    with pytest.warns(pl.FitWarning, match="taken to begin there"):
        found = pl.fit(finger(0.02, line), late, names, integrator=pl.Newmark())
    for name in names:
        assert found[name].value == pytest.approx(at_once[name].value, rel=1e-5)
    assert found[BENDING].value == pytest.approx(0.0186, rel=1e-5)
    assert found.data[0].t[0] == pytest.approx(first)


def test_late_first_row_is_refused_with_functions_of_time_as_inputs() -> None:
    columns, _ = motion()
    data = pl.Measurement({**columns, "t": columns["t"] + 3.0}, "t", {"chamber1": pl.Sine(1e3, 1)})
    with pytest.raises(pl.DescriptionError, match=r"about 0 s.*chamber1.*count time"):
        pl.fit(finger(), data, [BENDING])
    free = {"t": columns["t"] + 1.7e9, "finger.tip.z": columns["finger.tip.z"]}
    with pytest.raises(pl.DescriptionError, match=r"since the start of the motion.*count time"):
        pl.fit(finger(), pl.Measurement(free, "t"), [BENDING])


def test_a_motion_that_begins_elsewhere_is_suspected() -> None:
    """The finger hung in its weight when the pressure began to rise; nobody said so."""
    columns, _ = motion()
    settings = {"integrator": pl.Newmark(), "dt": 2.5e-3}
    with pytest.warns(pl.FitWarning, match=r"begins 0\.\d+ m from where.*start=\"statics\""):
        pl.fit(finger(), pl.Measurement(columns, "t"), [BENDING], iterations=3, **settings)
    found = pl.fit(finger(), pl.Measurement(columns, "t", start="statics"), [BENDING], **settings)
    assert not any("begins" in note for note in found.warnings)


def test_paths_into_missing_objects_are_refused() -> None:
    with pytest.raises(pl.DescriptionError, match=r"there is no chamber2.line; give chamber2.line"):
        pl.fit(finger(), pl.Measurement({"finger.tip.z": [0.0, 0.1]}), ["chamber2.line.time"])


def test_columns_without_outputs_suggest_a_path() -> None:
    with pytest.raises(pl.DescriptionError, match=r"such as 'finger\.tip\.z'"):
        pl.fit(finger(), pl.Measurement({"Z": [0.0, 0.1]}), [BENDING])


def test_measurements_with_equal_names_are_all_drawn() -> None:
    """Two columns of two experiments and of one held out: three rows of two, none over another."""
    columns, _ = motion()
    twice = {**columns, "finger.at(0.1).z": 0.3 * columns["finger.tip.z"]}
    data = pl.Measurement(twice, "t", start="statics")
    parts = [data.between(0.0, 0.2), data.between(0.2, 0.4)]
    found = pl.fit(
        finger(0.02), parts, [BENDING], validation=data.between(0.4, 0.5), integrator=pl.Newmark()
    )
    figure = found.plot()
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    assert titles == [
        f"measurement{which}: finger.{place}.z"
        for which in (" 1", " 2", " (held out)")
        for place in ("tip", "at(0.1)")
    ]
    assert len(figure.axes) == 12
    plt.close(figure)


def test_modes_about_a_motion_are_refused() -> None:
    _, move = motion()
    with pytest.raises(pl.DescriptionError, match=r"modes: at .*Equilibrium"):
        finger().modes(1, at=move)  # type: ignore[arg-type]
