"""Fits of features of a motion: first peak, first valley, frequency and decay instead of rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.study.experiments import Family
from pliant.study.features import FEATURES, Oscillation
from pliant.study.fit import _Setup
from pliant.study.outputs import probes
from pliant.study.parameters import variables

METHOD = pl.Strain(order=1, segments=4)
T = np.arange(0.0, 3.0, 0.01)
ALL = [f"{name}(arm.tip.z)" for name in ("first_peak", "first_valley", "frequency", "decay")]


def damped(frequency: float, decay: float, level: float = -0.1, size: float = 0.05) -> np.ndarray:
    """A decaying cosine that starts at its lowest point."""
    return level - size * np.exp(-decay * T) * np.cos(2 * np.pi * frequency * T)


@pytest.mark.parametrize(("frequency", "decay"), [(2.0, 0.5), (1.1, 0.1), (7.3, 1.5)])
def test_features_of_a_decaying_cosine_are_its_own(frequency: float, decay: float) -> None:
    y = damped(frequency, decay)
    of = Oscillation(T, y, "signal")
    rate = 2 * np.pi * frequency
    # extrema where the derivative vanishes: tan(rate t) = -decay / rate
    first = (np.pi - np.arctan(decay / rate)) / rate
    value = {k: first + k * np.pi / rate for k in range(2)}
    for k, name in enumerate(("first_peak", "first_valley")):
        t = value[k]
        exact = -0.1 - 0.05 * np.exp(-decay * t) * np.cos(rate * t)
        assert of.feature(name, y) == pytest.approx(exact, abs=3e-3 * 0.05)
    assert of.feature("frequency", y) == pytest.approx(frequency, rel=2e-4)
    assert of.feature("decay", y) == pytest.approx(decay, rel=1e-3)
    assert of.feature("last_peak", y) < of.feature("first_peak", y)
    assert of.feature("last_valley", y) > of.feature("first_valley", y)


def test_noise_and_gaps_add_no_extrema() -> None:
    rng = np.random.default_rng(5)
    clean = damped(2.0, 0.5)
    noisy = clean + rng.normal(0.0, 0.03 * 0.05, len(T))
    noisy[rng.random(len(T)) < 0.2] = np.nan
    exact, of = Oscillation(T, clean, "clean"), Oscillation(T, noisy, "noisy")
    assert (of.peaks, of.valleys) == (exact.peaks, exact.valleys) == (6, 5)
    y = noisy[of.there]
    for name in FEATURES:
        tolerance = {"frequency": 0.01, "decay": 0.03}.get(name, 1.5e-3)
        assert of.feature(name, y) == pytest.approx(exact.feature(name, clean), abs=tolerance)


def test_features_are_linear_functions_of_small_changes() -> None:
    """So that the search has derivatives: halving a change halves what it does."""
    y, change = damped(2.0, 0.5), 1e-5 * np.sin(7.0 * T)
    of = Oscillation(T, y, "signal")
    for name in FEATURES:
        here = of.feature(name, y)
        whole, half = (of.feature(name, y + part * change) - here for part in (1.0, 0.5))
        assert whole == pytest.approx(2.0 * half, rel=1e-3)
        assert whole != 0.0


def arm(bending: float = 6e-3, retardation: float = 0.01) -> pl.Robot:
    robot = pl.Robot()
    section = pl.Stiffness(
        bending, 5e-3, 60.0, 200.0, 0.2, (6e-6, 6e-6, 1.2e-5), retardation=retardation
    )
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"))
    robot.add_load("hang", rod.tip, force=(0, 0, -0.05))
    return robot


def released(robot: pl.Robot, noise: float = 0.0, seed: int = 2) -> pl.Measurement:
    held = robot.statics(formulation=METHOD)
    motion = robot.simulate(3.0, 0.01, {"hang": 0.0}, held, formulation=METHOD)
    z = motion.tip()[:, 2, 3] + np.random.default_rng(seed).normal(0.0, noise, len(motion.t))
    return pl.Measurement(
        {"t": motion.t, "arm.tip.z": z}, "t", {"hang": 0.0}, {"hang": 1.0}, name="cut"
    )


PARAMETERS = ["arm.bending", "arm.retardation"]


def test_stiffness_and_damping_follow_from_features_of_a_released_rod() -> None:
    data = released(arm(7e-3, 0.016))
    found = pl.fit(arm(), data, PARAMETERS, ALL, formulation=METHOD, dt=0.01)
    assert found["arm.bending"].value == pytest.approx(7e-3, rel=1e-6)
    assert found["arm.retardation"].value == pytest.approx(0.016, rel=1e-6)
    text = found.summary()
    assert "frequency(arm.tip.z): " in text and " Hz computed, " in text
    assert found.data[0].columns == tuple(ALL) and found.data[0].units == ("m", "m", "Hz", "1/s")
    assert found.method["dt"] == "0.01 s"
    json.dumps(found.to_dict())
    figure = found.plot()  # the motion, over time
    assert any(len(line.get_xdata()) == 301 for line in figure.axes[0].lines)


def test_standard_errors_follow_from_the_noise_of_the_signal() -> None:
    scores = []
    for seed in range(5):
        data = released(arm(7e-3, 0.016), noise=5e-4, seed=seed)
        found = pl.fit(arm(), data, PARAMETERS, ALL, formulation=METHOD, dt=0.01)
        for name, truth in zip(PARAMETERS, (7e-3, 0.016), strict=True):
            scores.append((found[name].value - truth) / found[name].error)
    assert found["arm.bending"].error == pytest.approx(1e-5, rel=0.5)  # 0.14 %
    # ten normal numbers: their root mean square is within 0.5 and 1.7 with 99 %
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.7


def test_derivatives_of_features_are_those_of_the_motion() -> None:
    robot, data = arm(), released(arm(7e-3, 0.016))
    setup = _Setup(robot, ALL, {}, 0.01, None)
    (run,) = setup.experiments(data, "data")
    family = Family(robot, variables(robot.description, PARAMETERS), METHOD)
    z = np.array([item.start for item in family.variables.items])
    _, slopes = run.evaluate(family, z, True)
    for j, unit in enumerate(np.eye(2)):
        above, below = (run.evaluate(family, z + s * 1e-3 * unit, False)[0] for s in (1.0, -1.0))
        np.testing.assert_allclose(slopes[..., j], (above - below) / 2e-3, rtol=2e-3, atol=1e-6)


def test_rows_and_features_of_one_measurement_are_fitted_together() -> None:
    truth = released(arm(7e-3, 0.016))
    columns = {"t": truth.t, "height": truth.column("arm.tip.z")}
    data = pl.Measurement(columns, "t", {"hang": 0.0}, {"hang": 1.0})
    outputs = [pl.Output("arm.tip.z", "height"), pl.Output("decay(arm.tip.z)", "height", 0.01)]
    found = pl.fit(arm(), data, PARAMETERS, outputs, formulation=METHOD, dt=0.01)
    assert found["arm.retardation"].value == pytest.approx(0.016, rel=1e-6)
    assert [item.columns for item in found.data] == [("height",), ("decay(height)",)]
    assert not any("not used" in text for text in found.warnings)


def test_features_that_cannot_be_are_told() -> None:
    robot = arm()
    with pytest.raises(pl.DescriptionError, match="did you mean 'first_peak'"):
        probes(robot.description, ["first_peek(arm.tip.z)"])
    with pytest.raises(pl.DescriptionError, match="a feature of one component"):
        probes(robot.description, ["decay(arm.tip)"])
    still = pl.Measurement({"hang": [0.0, 1.0, 2.0], "arm.tip.z": [0.0, 0.1, 0.2]})
    with pytest.raises(pl.DescriptionError, match="has no times"):
        pl.fit(robot, still, ["arm.bending"], ["decay(arm.tip.z)"])
    t = np.linspace(0.0, 1.0, 30)
    steady = pl.Measurement({"t": t, "arm.tip.z": -0.1 * t}, "t")
    with pytest.raises(pl.DescriptionError, match="does not oscillate enough"):
        pl.fit(robot, steady, ["arm.bending"], ["frequency(arm.tip.z)"])
    short = pl.Measurement({"t": t[:5], "arm.tip.z": t[:5]}, "t")
    with pytest.raises(pl.DescriptionError, match="eight numbers or more"):
        pl.fit(robot, short, ["arm.bending"], ["frequency(arm.tip.z)"])


def test_a_motion_without_oscillation_says_so() -> None:
    data = released(arm(7e-3, 0.016))
    with pytest.raises(pl.ConvergenceError, match="does not oscillate enough"):
        pl.fit(arm(retardation=2.0), data, PARAMETERS, ALL, formulation=METHOD, dt=0.01)


def test_command_line_takes_features(tmp_path) -> None:
    robot, data = arm(), released(arm(7e-3, 0.016))
    file = robot.save(tmp_path / "arm.yaml")
    rows = np.column_stack([data.t, data.column("arm.tip.z")])
    np.savetxt(tmp_path / "cut.csv", rows, delimiter=",", header="t,z", comments="")
    options = [word for path in ALL for word in ("--output", f"{path}=z")]
    answer = CliRunner().invoke(
        main,
        ["fit", str(file), str(tmp_path / "cut.csv"), "-p", "arm.bending", "-p", "arm.retardation",
         *options, "--input", "hang=0", "--start", "hang=1", "--dt", "0.01",
         "--with", "Strain(order=1, segments=4)", "-o", str(tmp_path / "out")],
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    report = json.loads((tmp_path / "out" / "arm-fit.json").read_text())
    assert report["parameters"]["arm.bending"]["value"] == pytest.approx(7e-3, rel=1e-5)
