"""Identification: outputs, bounds, priors, what data cannot tell, files, and sentences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.study.least_squares import minimise
from pliant.study.outputs import infer, probes

METHOD = pl.Strain(order=1, segments=2)
FORCES = np.array([0.0, 0.5, 1.0, 1.5])


def arm(bending: float = 6e-3, mass: float = 0.2) -> pl.Robot:
    robot = pl.Robot()
    section = pl.Stiffness(
        bending=bending,
        twist=5e-3,
        shear=60.0,
        axial=200.0,
        mass=mass,
        inertia=(6e-6, 6e-6, 1.2e-5),
        retardation=0.01,
    )
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"))
    robot.add_load("pull", rod.tip, force=(0.0, 0.05, 0.1))
    return robot


def droop(robot: pl.Robot, noise: float = 0.0) -> pl.Measurement:
    tips = [robot.statics({"pull": f}, METHOD).tip("arm")[:3, 3] for f in FORCES]
    found = np.array(tips) + np.random.default_rng(3).normal(0.0, noise, (4, 3))
    columns = {f"arm.tip.{axis}": found[:, k] for k, axis in enumerate("xyz")}
    return pl.Measurement({"pull": FORCES, **columns})


def quick(robot: pl.Robot, data: object, parameters: list, **more: object) -> pl.Fit:
    return pl.fit(robot, data, parameters, formulation=METHOD, **more)


def test_load_cases_and_motions_are_fitted_together() -> None:
    truth = arm(7e-3, 0.24)
    t = np.linspace(0.0, 0.2, 21)
    inputs = {"pull": lambda time: np.sin(20 * time)}
    move = truth.simulate(0.2, 0.01, inputs=inputs, formulation=METHOD)
    shaken = pl.Measurement(
        {"t": t, "pull": np.sin(20 * t), "arm.tip.z": move.tip("arm")[:, 2, 3]}, "t"
    )
    still = droop(truth)
    found = quick(arm(), [still, shaken], ["arm.bending", "arm.mass"], dt=0.01)
    assert found["arm.bending"].value == pytest.approx(7e-3, rel=1e-6)
    assert found["arm.mass"].value == pytest.approx(0.24, rel=1e-6)
    assert [item.moving for item in found.data] == [False, True]
    fitted = found.robot.statics({"pull": 1.0}, METHOD).tip("arm")
    assert fitted == pytest.approx(truth.statics({"pull": 1.0}, METHOD).tip("arm"), abs=1e-8)
    assert found.robot.description.rods["arm"].section.mass == pytest.approx(0.24, rel=1e-6)


def test_rows_between_steps_are_interpolated() -> None:
    truth = arm(7e-3)
    t = np.sort(np.random.default_rng(0).uniform(0.0, 0.2, 30))
    fine = truth.simulate(0.2, 0.0025, formulation=METHOD)
    z = [np.interp(t, fine.t, fine.tip("arm")[:, 2, 3])][0]
    data = pl.Measurement({"t": t, "arm.tip.z": z}, "t")
    found = quick(arm(), data, ["arm.bending"], dt=0.0025)
    assert found["arm.bending"].value == pytest.approx(7e-3, rel=2e-3)


def test_standard_errors_follow_the_noise_that_is_given_or_found() -> None:
    data = droop(arm(7e-3), noise=1e-3)
    found = quick(arm(), data, ["arm.bending"])
    given = quick(arm(), data, ["arm.bending"], outputs=[pl.Output("arm.tip", std=2e-3)])
    assert found.noise["arm.tip.z"] > 0
    assert given.noise == {"arm.tip": 2e-3}
    twice = quick(arm(), data, ["arm.bending"], outputs=[pl.Output("arm.tip", std=4e-3)])
    assert twice["arm.bending"].error == pytest.approx(2 * given["arm.bending"].error, rel=1e-4)
    assert twice.chi2 == pytest.approx(given.chi2 / 4, rel=1e-4)
    low, high = given["arm.bending"].interval()
    assert low < 7e-3 < high and given.dof == 11
    for item, wide in ((given, 1.959964), (found, 2.200985)):  # noise known, and from 11 to spare
        estimate = item["arm.bending"]
        low, high = estimate.interval(0.95)
        assert high - low == pytest.approx(2 * wide * estimate.error, rel=1e-6)
    with pytest.raises(pl.DescriptionError, match="confidence = 95"):
        given["arm.bending"].interval(95)


def test_prior_counts_like_a_measurement() -> None:
    data = droop(arm(7e-3), noise=1e-3)
    outputs = [pl.Output("arm.tip", std=1e-3)]
    free = quick(arm(), data, ["arm.bending"], outputs=outputs)["arm.bending"]
    prior = pl.Parameter("arm.bending", prior=(8e-3, free.error), scale="linear")
    both = quick(arm(), data, [prior], outputs=outputs)["arm.bending"]
    assert both.value == pytest.approx(0.5 * (free.value + 8e-3), rel=1e-2)
    assert both.error == pytest.approx(free.error / np.sqrt(2.0), rel=0.1)


def test_bound_stops_the_search_and_is_told() -> None:
    with pytest.warns(pl.FitWarning, match="bound"):
        found = quick(arm(), droop(arm(7e-3)), [pl.Parameter("arm.bending", bounds=(5e-3, 6.5e-3))])
    assert found["arm.bending"].value == pytest.approx(6.5e-3) and found["arm.bending"].at_bound


def test_drag_that_is_not_there_stays_at_zero() -> None:
    t = np.linspace(0.0, 0.2, 21)
    z = arm().simulate(0.2, 0.01, formulation=METHOD).tip("arm")[:, 2, 3]
    drag = pl.Parameter("arm.drag", initial=0.5, typical=1.0, scale="linear")
    with pytest.warns(pl.FitWarning):
        found = quick(arm(), pl.Measurement({"t": t, "arm.tip.z": z}, "t"), [drag])
    assert 0.0 <= found["arm.drag"].value < 1e-4


def test_what_the_data_cannot_tell_apart_is_named() -> None:
    with pytest.warns(pl.FitWarning, match="do not determine"):
        found = quick(arm(), droop(arm(7e-3), 1e-4), ["arm.bending", "arm.mass", "gravity[2]"])
    assert found["arm.bending"].error < 0.1 * found["arm.bending"].value
    assert np.isinf(found["arm.mass"].error) and np.isinf(found["gravity[2]"].error)
    assert "arm.mass" in found.warnings[0] and "gravity[2]" in found.warnings[0]
    assert found.singular_values[-1] < 1e-8 * found.singular_values[0]
    assert "undetermined" in str(found)


def test_several_paths_share_one_value() -> None:
    robot = arm()
    robot.add_rod("twin", 0.3, robot.description.rods["arm"].section, pose=pl.along("x"))
    pair = pl.Parameter(("arm.bending", "twin.bending"))
    found = quick(robot, droop(arm(7e-3)), [pair])
    rods = found.robot.description.rods
    assert rods["arm"].section.bending == rods["twin"].section.bending == pytest.approx(7e-3)


def test_held_out_rows_are_predicted_not_fitted() -> None:
    data = droop(arm(7e-3), 1e-4)
    found = quick(arm(), data.between(0, 2), ["arm.bending"], validation=data.between(3, 3))
    assert found.data[0].measured.shape == (3, 3) and found.validation[0].measured.shape == (1, 3)
    again = found.validate(data.between(3, 3))[0]
    assert again.rms == found.validation[0].rms and again.rms["arm.tip.z"] < 5e-4


def test_residuals_that_are_not_noise_are_told() -> None:
    t = np.linspace(0.0, 0.4, 41)
    z = arm().simulate(0.4, 0.01, formulation=METHOD).tip("arm")[:, 2, 3] + 0.01 * np.sin(9 * t)
    with pytest.warns(pl.FitWarning, match="correlated from row to row"):
        quick(arm(), pl.Measurement({"t": t, "arm.tip.z": z}, "t"), ["arm.bending"])


def test_outputs_are_what_their_names_say() -> None:
    robot = arm()
    paths = ["arm.tip", "arm.at(0.1, 0.01, 0.02).x", "arm.tip.angle_xz", "arm.tip.turn"]
    paths += ["arm.at(0.2).uy", "arm.base.my", "arm.reaction.fz", "arm.tip.tz"]
    asked = {p.column: p for p in probes(robot.description, paths)}
    still = robot.statics(formulation=METHOD)
    found = {name: float(p.ask(still, robot.description)) for name, p in asked.items()}
    tip = still.tip("arm")
    assert [found[f"arm.tip.{axis}"] for axis in "xyz"] == tip[:3, 3].tolist()
    marker = still.pose("arm", 0.1) @ np.array([0.01, 0.02, 0.0, 1.0])
    assert found["arm.at(0.1, 0.01, 0.02).x"] == pytest.approx(marker[0], abs=1e-14)
    assert found["arm.tip.angle_xz"] == pytest.approx(np.arctan2(tip[2, 2], tip[0, 2]))
    turn = np.array([found[f"arm.tip.{part}"] for part in ("rx", "ry", "rz")])
    R = still.pose("arm", 0.0)[:3, :3].T @ tip[:3, :3]
    assert pl.pose(rotation=turn)[:3, :3] == pytest.approx(R, abs=1e-12)
    assert found["arm.at(0.2).uy"] == still.strain("arm", 0.2)[1]
    assert found["arm.base.my"] == pytest.approx(still.wrench("arm", 0.0)[1])
    assert found["arm.reaction.fz"] == still.reactions["arm"][5]
    shake = {"pull": pl.Sine(amplitude=1.0, frequency=2.0)}
    move = robot.simulate(0.05, 0.001, inputs=shake, start="statics", formulation=METHOD)
    speed = probes(robot.description, ["arm.tip.vz"])[0].ask(move, robot.description)
    z = move.tip("arm")[:, 2, 3]
    assert speed[40] == pytest.approx((z[41] - z[39]) / 0.002, rel=1e-2)
    own = pl.Output(lambda result: result.tip("arm")[2, 3] ** 2, column="squared")
    assert probes(robot.description, [own])[0].ask(still, robot.description) == tip[2, 3] ** 2
    names = [p.column for p in infer(robot.description, ["t", "arm.tip.z", "notes", "pull"])]
    assert names == ["arm.tip.z"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("arm.tip.q", "component"),
        ("leg.tip.z", "arm"),
        ("arm.at(0.5).z", "from 0 to 0.3"),
        ("arm.middle.z", "place"),
        ("arm.reaction.zz", "reaction"),
        ("leg.reaction.fx", "constraint"),
        (3, "path"),
    ],
)
def test_wrong_output_is_refused(path: object, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        probes(arm().description, [path])


def test_fit_is_told_saved_and_drawn(tmp_path: Path) -> None:
    data = droop(arm(7e-3, 0.21), 1e-3)
    found = quick(arm(), data, ["arm.bending", "arm.mass"])
    text = str(found)
    for word in ("arm.bending", "standard error", "correlation", "R2", "chi2", "neighbours"):
        assert word in text
    report = json.loads(found.save(tmp_path / "fit.json").read_text())
    assert report["parameters"]["arm.bending"]["value"] == found.values["arm.bending"]
    assert "arm.mass" in found.save(tmp_path / "fit.md").read_text()
    kept = pl.load(found.save(tmp_path / "fit.nc"))
    assert kept["predicted_data_0"].shape == (4, 3)
    found.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 5000
    with pytest.raises(pl.DescriptionError, match="fitted"):
        found["arm.length"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"parameters": []}, "one or more"),
        ({"parameters": "arm.E"}, "one or more"),
        ({"parameters": ["arm.bendin"]}, "arm.bending"),
        ({"parameters": ["arm.bending", "arm.section.bending"]}, "once"),
        ({"parameters": [pl.Parameter("arm.drag")]}, "typical"),
        ({"parameters": [pl.Parameter("arm.drag", scale="log", typical=1.0)]}, "above 0"),
        ({"parameters": [pl.Parameter("arm.bending", bounds=(1.0, 2.0))]}, "around"),
        ({"outputs": ["arm.at(0.1).z"]}, "column"),
        ({"outputs": ["arm.tip.z", "arm.tip.z"]}, "once"),
        ({"data": 3}, "CSV"),
        ({"data": []}, "one measurement"),
        ({"data": pl.Measurement({"a": [1.0, 2.0]})}, "path of an output"),
        ({"inputs": {"push": 1.0}}, "pull"),
        ({"sensitivities": "exact"}, "sensitivities"),
        ({"dt": -1.0}, "dt"),
        ({"robot": 3}, "Robot"),
        ({"data": pl.Measurement({"arm.tip.z": [0.1]})}, "more than"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments: dict, words: str) -> None:
    good = {"robot": arm(), "data": droop(arm()), "parameters": ["arm.bending"]}
    with pytest.raises(pl.DescriptionError, match=words):
        pl.fit(**{**good, **arguments})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": ()}, "path"),
        ({"path": "a", "bounds": (2.0, 1.0)}, "lowest"),
        ({"path": "a", "bounds": 3.0}, "two numbers"),
        ({"path": "a", "initial": 3.0, "bounds": (0.0, 1.0)}, "within"),
        ({"path": "a", "prior": (1.0, 0.0)}, "prior"),
        ({"path": "a", "scale": "cubic"}, "scale"),
        ({"path": "a", "initial": float("nan")}, "initial"),
    ],
)
def test_bad_parameter_gets_a_sentence(arguments: dict, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        pl.Parameter(**arguments)


def test_search_finds_the_minimum_of_a_curved_valley_within_bounds() -> None:
    def rosenbrock(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r = np.array([10.0 * (z[1] - z[0] ** 2), 1.0 - z[0]])
        return r, np.array([[-20.0 * z[0], 10.0], [-1.0, 0.0]])

    free = np.full(2, np.inf)
    found = minimise(rosenbrock, np.array([-1.2, 1.0]), -free, free, tolerance=1e-14)
    assert found.z == pytest.approx([1.0, 1.0], abs=1e-6)
    held = minimise(rosenbrock, np.array([-1.2, 1.0]), -free, np.array([0.5, np.inf]))
    assert held.z == pytest.approx([0.5, 0.25], abs=1e-4)


def test_search_ends_where_noise_hides_what_is_left() -> None:
    """A slowly converging slope would take many more steps than the standard error is worth."""
    rng = np.random.default_rng(3)
    x = np.linspace(0.0, 1.0, 400)
    noise = rng.normal(0.0, 0.1, x.size)
    calls = []

    def slow(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        calls.append(z[0])
        return z[0] * x - noise, 1.25 * x[:, None]

    free = np.full(1, np.inf)
    found = minimise(slow, np.array([0.9]), -free, free)
    best = float(x @ noise / (x @ x))
    error = 0.1 / np.sqrt(x @ x)
    assert abs(found.z[0] - best) < 0.02 * error
    assert found.converged and "noise" in found.reason
    assert len(calls) < 8


def test_step_that_cannot_be_computed_is_shortened() -> None:
    def only_small(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if abs(z[0]) > 0.3:
            raise pl.ConvergenceError("too far")
        return np.array([z[0] - 0.29]), np.array([[0.1]])

    free = np.full(1, np.inf)
    assert minimise(only_small, np.zeros(1), -free, free).z[0] == pytest.approx(0.29, abs=0.02)


ARM = """
rods:
  arm:
    length: 0.3
    section: {stiffness: {bending: 6.0e-3, twist: 5.0e-3, shear: 60, axial: 200, mass: 0.2}}
    pose: {along: x}
    formulation: {strain: {order: 1, segments: 2}}
loads:
  pull: {on: {part: arm, at: tip}, force: [0, 0.05, 0.1]}
"""


def test_command_fits_a_file_and_keeps_the_report(tmp_path: Path) -> None:
    file, data = tmp_path / "arm.yaml", tmp_path / "droop.csv"
    file.write_text(ARM)
    measured = droop(arm(7e-3), 1e-4)
    rows = zip(*(measured.columns[name] for name in measured.columns), strict=True)
    lines = [",".join(f"{x:.9g}" for x in row) for row in rows]
    data.write_text("\n".join([",".join(measured.columns), *lines]))

    def call(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["fit", *map(str, words)])
        return done.exit_code, done.output

    out = tmp_path / "out"
    code, text = call(file, data, "-p", "arm.bending=5e-3[1e-3,1e-2]", "-o", out)
    assert code == 0 and "standard error" in text, text
    assert {item.suffix for item in out.iterdir()} == {".md", ".json", ".nc", ".png"}
    value = json.loads((out / "arm-fit.json").read_text())["parameters"]["arm.bending"]["value"]
    assert value == pytest.approx(7e-3, rel=0.02)
    for words, told in (
        (("-p", "arm.bendng"), "'arm.bending'"),
        (("-p", "arm.bending=x"), "start and bounds"),
        (("-p", "arm.bending", "--output", "arm.tip.zz"), "component"),
    ):
        code, text = call(file, data, *words, "-o", out)
        assert code == 1 and told in text and "Traceback" not in text


def test_damping_is_found_per_strain() -> None:
    """Sideways and along: the two numbers of a rod that one retardation time cannot describe."""

    def shaken(bending: float, axial: float) -> pl.Robot:
        robot = pl.Robot(gravity=(0, 0, 0))
        section = pl.Stiffness(0.01, 0.01, 50.0, 5.0, 0.2, (6e-6, 6e-6, 1.2e-5))
        damping = pl.Damping(bending=bending, axial=axial)
        rod = robot.add_rod("arm", 0.3, section, strain_damping=damping)
        robot.add_load("pull", rod.tip, force=(0.02, 0.0, 0.2))
        return robot

    truth = shaken(2e-4, 0.05).simulate(0.3, 0.01, formulation=METHOD)
    place = truth.position("arm", 0.3)
    data = pl.Measurement({"t": truth.t, "arm.tip.x": place[:, 0], "arm.tip.z": place[:, 2]}, "t")
    paths = ["arm.strain_damping.bending", "arm.strain_damping.axial"]
    found = quick(shaken(1e-4, 0.1), data, paths, dt=0.01)
    assert found[paths[0]].value == pytest.approx(2e-4, rel=1e-5)
    assert found[paths[1]].value == pytest.approx(0.05, rel=1e-5)
