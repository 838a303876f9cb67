"""Comparison of formulations: agreement, errors, failures as rows, files and pictures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.results.export import settings_text

CABLE = pl.ANCF(4, planar=False)
"""Refuses a curved rod."""


def curved_robot(theory: str = "cosserat") -> pl.Robot:
    """A tapered, naturally curved rod with a force, a moment and a follower force at its tip."""
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=3000.0)
    arm = robot.add_rod(
        "arm",
        0.4,
        pl.Circle((0.012, 0.006)),
        rubber,
        pose=pl.along("x"),
        natural=(1.0, -3.0, 0.5),
        theory=theory,
    )
    robot.add_load("pull", arm.tip, force=(0.0, 0.05, 0.1))
    robot.add_load("turn", arm.tip, moment=(0.002, 0.0, -0.004))
    robot.add_load("follow", arm.tip, force=(0.05, 0.02, 0.0), frame="body")
    return robot


FINE = {
    "spline": pl.BSpline(degree=4, points=30),
    "hermite": pl.Hermite(elements=40),
    "strain": pl.Strain(order=4, segments=5),
}


def test_all_formulations_agree_on_a_tapered_curved_rod() -> None:
    found = pl.compare(curved_robot(), FINE, pl.Strain(order=6, segments=4))
    assert [row.method for row in found.table] == ["Strain(order=6)", *FINE]
    assert found.table[0].is_reference and found.table[0].position == 0.0
    for row in found.table[1:]:
        assert row.solved and 0.0 < row.position < 1e-6 and row.orientation < 1e-5
        assert row.tip <= row.position
        assert row.unknowns == found.results[row.method].unknowns
        assert row.seconds > 0.0 and row.iterations > 0


def test_all_formulations_agree_in_motion() -> None:
    inputs = {"pull": pl.Sine(amplitude=1.0, frequency=2.0), "turn": 0.0, "follow": 0.0}
    found = pl.compare(
        curved_robot(),
        FINE,
        pl.Strain(order=6, segments=4),
        inputs=inputs,
        duration=0.2,
        dt=0.005,
        start="statics",
        repeat=1,
    )
    assert len(found.t) == 41
    for row in found.table[1:]:
        assert 0.0 < row.position < 2e-6
        assert found.error(row.method).shape == (41,)
        assert found.error(row.method, "arm").shape == (41, 51)
        assert found.error(row.method).max() == row.position
        assert row.integrator is not None and row.integrator.startswith("Midpoint")


def test_errors_are_distances_over_length_and_angles() -> None:
    robot = curved_robot()
    coarse, fine = pl.Strain(order=1, segments=1), pl.Strain(order=4, segments=4)
    found = pl.compare(robot, [coarse], fine, sections=11)
    a, b = robot.statics(formulation=coarse), robot.statics(formulation=fine)
    s = np.linspace(0.0, 0.4, 11)
    gap = np.linalg.norm(a.position("arm", s) - b.position("arm", s), axis=1) / 0.4
    R = np.swapaxes(b.pose("arm", s)[:, :3, :3], 1, 2) @ a.pose("arm", s)[:, :3, :3]
    angle = np.arccos((np.trace(R, axis1=1, axis2=2) - 1.0) / 2.0)
    row = found.table[1]
    assert row.position == pytest.approx(gap.max(), rel=1e-12)
    assert row.tip == pytest.approx(gap[-1], rel=1e-12)
    assert row.orientation == pytest.approx(angle.max(), rel=1e-8)


def test_methods_may_have_their_own_integrator_and_step() -> None:
    entries = [
        (pl.Strain(order=2), pl.Midpoint()),
        (pl.Strain(order=2), pl.GeneralizedAlpha(), 0.0005),
        (pl.Strain(order=2), pl.Newmark(), 0.001),
    ]
    reference = (pl.Strain(order=2), pl.Midpoint(), 0.0005)
    found = pl.compare(curved_robot(), entries, reference, duration=0.05, dt=0.002, repeat=1)
    assert all(row.solved for row in found.table) and len(found.t) == 26
    errors = {row.method: row.position for row in found.table}
    assert errors["Strain(order=2), Newmark(), dt = 0.001 s"] < 0.02
    assert errors["Strain(order=2), GeneralizedAlpha(), dt = 0.0005 s"] < 5e-3


def test_refused_method_becomes_a_row_with_the_reason() -> None:
    found = pl.compare(curved_robot(), {"modes": pl.Strain(), "cable": CABLE, "class": pl.Strain})
    assert [row.solved for row in found.table] == [True, False, False]
    assert "natural" in found.table[1].note and "Strain()" in found.table[2].note
    assert "failed" in str(found) and "natural" in str(found)
    assert list(found.results) == ["modes"]
    with pytest.raises(pl.DescriptionError, match="was solved"):
        found.error("cable")


def test_failing_method_does_not_stop_the_others() -> None:
    found = pl.compare(
        curved_robot(),
        [pl.BSpline(points=8), (pl.BSpline(points=8), pl.Variational())],
        duration=0.1,
        dt=0.01,
        repeat=1,
    )
    assert found.table[0].solved and not found.table[1].solved
    assert "stopped at t = " in found.table[1].note and "stopped" not in found.table[0].note


def test_reference_that_fails_raises() -> None:
    with pytest.raises(pl.DescriptionError, match="natural"):
        pl.compare(curved_robot(), [pl.Strain()], CABLE)


def test_results_are_methods_and_other_theories_are_noted() -> None:
    kirchhoff = curved_robot("kirchhoff").statics()
    found = pl.compare(curved_robot(), {"rigid in shear": kirchhoff}, pl.Strain(order=4))
    assert "its theory (kirchhoff)" in found.row("rigid in shear").note
    assert 1e-4 < found.row("rigid in shear").position < 1e-2


class Stranger:
    """A result of a method without coordinates: what `compare` may use, and nothing else."""

    def __init__(self, still: pl.Equilibrium) -> None:
        self.rods = still.rods
        self.pose = still.pose
        self.formulation = {"arm": "Shooting()"}
        self.unknowns = 6
        self.iterations = 4
        self.seconds = 0.001


def test_only_the_public_face_of_results_is_used() -> None:
    robot = curved_robot()
    stranger = Stranger(robot.statics(formulation=pl.Strain(order=3)))
    found = pl.compare(robot, [pl.Strain(order=3)], stranger)
    assert found.table[0].unknowns == 6 and found.table[1].position < 1e-12


def test_reference_among_the_methods_is_solved_once() -> None:
    found = pl.compare(curved_robot(), [pl.Strain(order=3), pl.Strain()], pl.Strain())
    assert [row.method for row in found.table] == ["Strain()", "Strain(order=3)"]
    twice = pl.compare(curved_robot(), [pl.Strain(), pl.Strain()])
    assert [row.method for row in twice.table] == ["Strain()", "Strain() (2)"]


def test_comparison_is_saved_and_drawn(tmp_path: Path) -> None:
    entries = [pl.Strain(order=2), pl.BSpline(points=8)]
    found = pl.compare(curved_robot(), [*entries, pl.Strain], repeat=1)
    rows = list(csv.DictReader(found.save(tmp_path / "table.csv").open()))
    assert [row["method"] for row in rows] == [row.method for row in found.table]
    assert float(rows[1]["position"]) == found.table[1].position and rows[2]["unknowns"] == ""
    data = pl.load(found.save(tmp_path / "table.nc"))
    assert data["error"].dims == ("method", "rod", "station")
    assert float(data["error"].sel(method="BSpline(points=8)").max()) == found.table[1].position
    assert not np.isnan(data["error"]).any() and "Strain" in data.attrs["failed"]
    found.plot(tmp_path / "table.png")
    moving = pl.compare(curved_robot(), entries, duration=0.02, dt=0.01, repeat=1)
    moving.plot(tmp_path / "motion.png")
    assert moving.to_xarray()["error"].dims == ("method", "rod", "time", "station")
    assert (tmp_path / "table.png").stat().st_size > 5000
    with pytest.raises(pl.DescriptionError, match=r"\.csv"):
        found.save(tmp_path / "table.txt")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"formulations": []}, "one or more"),
        ({"formulations": [pl.Midpoint()]}, "formulation first"),
        ({"formulations": [(pl.Strain(), pl.Midpoint())]}, "duration"),
        ({"dt": 0.1}, "no duration"),
        ({"duration": 1.0}, "dt"),
        ({"duration": -1.0, "dt": 0.1}, "duration"),
        ({"sections": 1}, "2 or more"),
        ({"repeat": 0}, "1 or more"),
        ({"robot": "arm"}, "Robot"),
        ({"formulations": [(1, 2, 3, 4)]}, "integrator"),
    ],
)
def test_bad_arguments_get_a_message(arguments: dict[str, object], words: str) -> None:
    good = {"robot": curved_robot(), "formulations": [pl.Strain()]}
    with pytest.raises(pl.DescriptionError, match=words):
        pl.compare(**{**good, **arguments})


def test_settings_are_printed_without_their_defaults() -> None:
    assert settings_text(pl.BSpline(points=9)) == "BSpline(points=9)"
    assert settings_text(pl.Midpoint()) == "Midpoint()"
    assert "8 values" in settings_text(pl.BSpline(points=12, knots=np.linspace(0, 1, 10)[1:-1]))


ARM = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000, viscosity: 500}
    pose: {along: x}
"""


def call(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(word) for word in words])
    return done.exit_code, done.output


def test_command_without_methods_compares_all_with_the_default(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    push = "loads: {push: {on: arm.tip, force: [0, 0.01, 0]}}\n"  # planar ANCF refuses it
    file.write_text(ARM + push)
    code, text = call("compare", file)
    assert code == 0 and "BSpline()" in text and "failed" in text
    assert text.index("1 of 12: BSpline()") < text.index("ANCF()")


def test_command_prints_the_table_and_writes_files(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    code, text = call("compare", file, "--with", "strain(order=3)", "--with", "BSpline(points=9)")
    assert code == 0 and "Strain(order=3)" in text and "equilibria" in text
    file.write_text(ARM + "simulate: {duration: 0.02, dt: 0.01}\n")
    with_newmark = "Strain(order=3), Newmark()"
    out = tmp_path / "out"
    code, text = call(
        "compare", file, "--with", with_newmark, "--reference", "Strain(order=3)", "-o", out
    )
    assert code == 0 and "motions of 0.02 s" in text and "Newmark()" in text
    assert {item.name for item in out.iterdir()} == {"arm-comparison.csv", "arm-comparison.png"}
    for wrong, words in (
        ("BSplin()", "BSpline"),
        ("BSpline(point=3)", "points"),
        ("BSpline(points=os.getcwd())", "as in Python"),
        ("BSpline(", "as in Python"),
        ("BSpline(3, 4, 5, 6, 7, 8, 9)", "settings"),
    ):
        code, text = call("compare", file, "--with", wrong)
        assert code == 1 and words in text and "Traceback" not in text


def released(**more: object) -> pl.Robot:
    """A thick rod that a force at its tip sets going all at once."""
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    section = pl.Stiffness(
        0.02, 0.02, shear=1e5, axial=1e5, mass=0.1, inertia=(2e-5, 2e-5, 4e-5), retardation=0.01
    )
    arm = robot.add_rod("arm", 0.175, section, pose=pl.along("x"), **more)
    robot.add_load("push", arm.tip, force=(0.0, 0.0, 1.0))
    return robot


def test_neglected_rotary_inertia_is_noted_with_its_remedy() -> None:
    settings = {"duration": 0.03, "dt": 1e-3, "repeat": 1}
    entries = {"plain": pl.ANCF(12), "rotary": pl.ANCF(12, rotary=True)}
    found = pl.compare(released(), entries, pl.BSpline(points=12), **settings)
    plain, rotary = found.row("plain"), found.row("rotary")
    assert "ANCF neglects the rotary inertia of arm" in plain.note
    assert "ANCF(..., rotary=True)" in plain.note and "rotary" not in rotary.note
    assert plain.position > 5 * rotary.position  # the remedy is one
    turned = pl.compare(released(), {"spline": pl.BSpline(points=12)}, pl.ANCF(12), **settings)
    assert "the reference, ANCF, neglects the rotary" in turned.row("spline").note
    assert "rotary" in str(turned)
    still = pl.compare(released(), entries, pl.BSpline(points=12), repeat=1)
    assert all("rotary" not in row.note for row in still.table)


def test_rod_without_rotary_inertia_gets_no_note() -> None:
    entries = [pl.ANCF(4, rotary=True)]
    found = pl.compare(
        released(rotary=False), entries, pl.ANCF(4), duration=0.01, dt=1e-3, repeat=1
    )
    assert found.table[1].note == "" and found.table[1].position < 1e-9
