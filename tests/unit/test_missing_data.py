"""Missing cells: a fit uses the measured cells and counts the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.view.studies import gaps

METHOD = pl.Strain(order=1, segments=2)
FORCES = np.array([0.0, 0.4, 0.8, 1.2, 1.6, 2.0])
T = np.linspace(0.0, 0.3, 61)


def arm(bending: float = 6e-3, mass: float = 0.2) -> pl.Robot:
    robot = pl.Robot()
    section = pl.Stiffness(
        bending, 5e-3, shear=60.0, axial=200.0, mass=mass, inertia=(6e-6, 6e-6, 1.2e-5)
    )
    rod = robot.add_rod("arm", 0.3, section, pose=pl.along("x"), mass_damping=2.0)
    robot.add_load("pull", rod.tip, force=(0.0, 0.05, 0.1))
    return robot


def still() -> dict[str, np.ndarray]:
    noise = np.random.default_rng(5)
    tips = np.array([arm(7e-3).statics({"pull": f}, METHOD).tip("arm")[:3, 3] for f in FORCES])
    tips += noise.normal(0.0, 1e-3, tips.shape)
    return {"pull": FORCES, "arm.tip.x": tips[:, 0], "arm.tip.z": tips[:, 2]}


def shaken() -> dict[str, np.ndarray]:
    move = arm(7e-3, 0.22).simulate(T[-1], 0.005, formulation=METHOD)
    tips = move.tip("arm")[:, :3, 3] + np.random.default_rng(6).normal(0.0, 1e-3, (len(T), 3))
    tangent = move.tip("arm")[:, :3, 2]
    angle = np.arctan2(tangent[:, 2], tangent[:, 0]) + 2 * np.pi  # the camera counts turns
    return {"t": T, "arm.tip.x": tips[:, 0], "arm.tip.z": tips[:, 2], "arm.tip.angle_xz": angle}


def quick(columns: dict, parameters: list, time: str | None = None, **more: object) -> pl.Fit:
    data = pl.Measurement(columns, time)
    return pl.fit(arm(), data, parameters, formulation=METHOD, **more)


def same(found: pl.Fit, other: pl.Fit) -> None:
    for name, value in other.values.items():
        assert found[name].value == pytest.approx(value, rel=1e-12)
        assert found[name].error == pytest.approx(other[name].error, rel=1e-9)
        assert found[name].dof == other[name].dof
    assert found.dof == other.dof and found.chi2 == pytest.approx(other.chi2, rel=1e-9)
    for one, two in zip(found.data, other.data, strict=True):
        for what in ("rms", "r2"):
            assert getattr(one, what) == pytest.approx(getattr(two, what), rel=1e-9)
        assert one.chi2 == pytest.approx(two.chi2, rel=1e-9) and one.counts == two.counts
    assert found.noise == pytest.approx(other.noise, rel=1e-9)


def without(values: np.ndarray, *rows: int) -> np.ndarray:
    found = values.copy()
    found[list(rows)] = np.nan
    return found


def test_missing_load_case_is_as_if_it_had_not_been_measured() -> None:
    columns = still()
    one = {"pull": FORCES, "arm.tip.z": without(columns["arm.tip.z"], 1, 4)}
    keep = [0, 2, 3, 5]
    found = quick(one, ["arm.bending"])
    same(found, quick({"pull": FORCES[keep], "arm.tip.z": one["arm.tip.z"][keep]}, ["arm.bending"]))
    assert found.data[0].t.tolist() == keep and found.dof == 3


def test_missing_cells_do_not_affect_other_cells_of_the_row() -> None:
    """Against two measurements, each of the rows in which one of the outputs is there."""
    columns = still()
    z, x = without(columns["arm.tip.z"], 0, 3), without(columns["arm.tip.x"], 5)
    found = quick({"pull": FORCES, "arm.tip.x": x, "arm.tip.z": z}, ["arm.bending", "arm.mass"])
    split = [
        pl.Measurement({"pull": FORCES[np.isfinite(v)], name: v[np.isfinite(v)]})
        for name, v in (("arm.tip.x", x), ("arm.tip.z", z))
    ]
    other = pl.fit(arm(), split, ["arm.bending", "arm.mass"], formulation=METHOD)
    for name, value in other.values.items():
        assert found[name].value == pytest.approx(value, rel=1e-9)
        assert found[name].error == pytest.approx(other[name].error, rel=1e-7)
    assert found.dof == other.dof == 7 and found.noise == pytest.approx(other.noise, rel=1e-8)
    assert found.data[0].rms["arm.tip.x"] == pytest.approx(other.data[0].rms["arm.tip.x"])
    assert found.data[0].r2["arm.tip.z"] == pytest.approx(other.data[1].r2["arm.tip.z"])
    assert found.data[0].missing == {"arm.tip.x": 1, "arm.tip.z": 2}
    assert (
        "2 missing" in found.summary() and found.to_dict()["data"][0]["missing"]["arm.tip.x"] == 1
    )


def test_marker_hidden_during_a_motion_is_as_if_those_rows_were_not_there() -> None:
    columns = shaken()
    hidden = range(20, 33)
    keep = [k for k in range(len(T)) if k not in hidden]
    names = ["arm.bending", "arm.mass", "arm.mass_damping"]
    holes = {name: v if name == "t" else without(v, *hidden) for name, v in columns.items()}
    found = quick(holes, names, "t")
    same(found, quick({name: v[keep] for name, v in columns.items()}, names, "t"))
    same(found, quick(holes, names, "t", sensitivities="auto"))
    by_differences = quick(holes, names, "t", sensitivities="differences")
    for name, value in found.values.items():
        assert by_differences[name].value == pytest.approx(value, rel=1e-4)
        assert by_differences[name].error == pytest.approx(found[name].error, rel=1e-3)
    item = found.data[0]
    assert np.isfinite(item.predicted).all() and len(item.t) == len(T)
    angle = item.predicted[:, 2]
    assert abs(np.diff(angle)).max() < 0.5 and angle.min() > np.pi  # turns counted in the gap too


def test_held_out_rows_with_gaps_count_measured_cells_only() -> None:
    columns = shaken()
    holes = {**columns, "arm.tip.z": without(columns["arm.tip.z"], *range(40, 50))}
    keep = [*range(40), *range(50, len(T))]
    names = ["arm.bending", "arm.mass"]
    found = quick(columns, names, "t", validation=pl.Measurement(holes, "t"))
    item = found.validation[0]
    r = (item.predicted[:, 1] - columns["arm.tip.z"])[keep]
    assert item.rms["arm.tip.z"] == pytest.approx(np.sqrt(np.mean(r**2)), rel=1e-12)
    spread = columns["arm.tip.z"][keep] - columns["arm.tip.z"][keep].mean()
    assert item.r2["arm.tip.z"] == pytest.approx(1 - r @ r / (spread @ spread), rel=1e-12)
    again = found.validate(pl.Measurement(holes, "t"))[0]
    assert again.missing == {"arm.tip.x": 0, "arm.tip.z": 10, "arm.tip.angle_xz": 0}
    assert np.isnan(again.residuals[40:50, 1]).all() and np.isfinite(again.chi2)


def test_pictures_and_files_show_what_is_missing(tmp_path: Path) -> None:
    columns = still()
    found = quick({**columns, "arm.tip.z": without(columns["arm.tip.z"], 2, 3)}, ["arm.bending"])
    figure = found.plot(tmp_path / "fit.png")
    shaded = [len(axes.patches) for axes in figure.axes]
    assert shaded == [0, 1, 0, 1]
    found.save(tmp_path / "fit.nc")
    found.save(tmp_path / "fit.json")
    assert "NaN" not in (tmp_path / "fit.json").read_text()
    assert gaps(np.arange(5.0), np.array([1, 0, 1, 1, 0], bool)) == [(0.0, 0.5), (1.5, 3.5)]


def test_empty_cells_of_a_file_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "tip.csv"
    file.write_text("t,push,arm.tip.z\n0.0,0,0.1\n0.1,1,\n0.2,1,nan\n")
    found = pl.read_measurement(file)
    assert np.isnan(found.column("arm.tip.z")).tolist() == [False, True, True]
    for text in ("\n,1,0.2\n", "\nnan,1,0.2\n"):
        file.write_text("t,push,arm.tip.z\n0.0,0,0.1" + text)
        with pytest.raises(pl.DescriptionError, match=r"line 3: column 't'.*the cell is empty"):
            pl.read_measurement(file)


@pytest.mark.parametrize(
    ("columns", "time", "words"),
    [
        ({"pull": [0.0, np.nan], "arm.tip.z": [0.1, 0.2]}, None, r"'pull', row 2.*input"),
        ({"t": [0.0, np.nan], "arm.tip.z": [0.1, 0.2]}, "t", r"'t', row 2.*the time"),
        ({"arm.tip.z": [np.nan, np.nan]}, None, r"arm\.tip\.z.*one row or more"),
        ({"arm.tip.z": [0.1, np.inf]}, None, r"row 2.*finite.*NaN"),
        ({"arm.tip.z": [0.1, np.nan]}, None, "1 measured numbers"),
        (
            {"t": [0.0, 0.1, 0.2, 0.3, 1.0], "pull": np.zeros(5), "arm.tip.z": np.zeros(5)},
            "t",
            r"row 5.*without a gap, because 'pull' is an input.*cells of outputs empty",
        ),
    ],
)
def test_missing_times_and_inputs_are_refused(
    columns: dict[str, object], time: str | None, words: str
) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        quick(columns, ["arm.bending"], time)


def test_output_without_any_number_is_ignored_with_a_warning() -> None:
    columns = still()
    nothing = {**columns, "arm.tip.x": np.full(6, np.nan)}
    with pytest.warns(pl.FitWarning, match=r"'arm\.tip\.x' ignored"):
        found = quick(nothing, ["arm.bending"])
    columns.pop("arm.tip.x")
    same(found, quick(columns, ["arm.bending"]))


def test_correlated_residuals_are_reported_despite_a_gap() -> None:
    columns = shaken()
    columns = {"t": T, "arm.tip.z": columns["arm.tip.z"] + 0.01 * np.sin(20 * T)}
    columns["arm.tip.z"][25:35] = np.nan
    with pytest.warns(pl.FitWarning, match="correlated from row to row"):
        quick(columns, ["arm.bending"], "t")
