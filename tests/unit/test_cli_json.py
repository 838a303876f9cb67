"""--json: one JSON object on standard output, nothing else; and folders checked before computing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

ARM = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5, rho: 1000, viscosity: 500}
    pose: {along: x}
    formulation: {strain: {order: 1, segments: 2}}
loads:
  push: {on: {part: arm, at: tip}, force: [0, 0, -0.01]}
"""
RUNS = "statics:\nsimulate: {duration: 0.05, dt: 0.01}\nmodes: {count: 2}\n"


def answer(*words: object, code: int = 0) -> dict[str, Any]:
    """Everything on standard output must be one JSON object, without NaN."""
    found = CliRunner().invoke(main, [str(word) for word in (*words, "--json")])
    assert found.exit_code == code, found.output

    def refuse(text: str) -> None:
        raise ValueError(text)

    assert found.stdout.count("\n") == 1
    return json.loads(found.stdout, parse_constant=refuse)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "arm.yaml"
    path.write_text(ARM + RUNS)
    return path


def test_every_command_has_the_option() -> None:
    for command in main.commands.values():
        assert any(option.name == "as_json" for option in command.params)


def test_schema_is_told_and_written(tmp_path: Path) -> None:
    path = tmp_path / "robot.schema.json"
    told = answer("schema")["schema"]
    assert answer("schema", "-o", path) == {"ok": True, "schema": told, "written": [str(path)]}
    assert json.loads(path.read_text()) == told and "rods" in told["properties"]


def test_check_lists_parts_inputs_and_runs(file: Path) -> None:
    found = answer("check", file)
    assert found["ok"] and found["parts"] == {"rods": ["arm"], "loads": ["push"]}
    assert found["inputs"] == {"push": 1.0} and found["runs"] == ["statics", "simulate", "modes"]


def test_check_lists_problems_by_line_and_column(file: Path) -> None:
    file.write_text(ARM.replace("length: 0.3", "length: -1").replace("circle", "circel"))
    found = answer("check", file, code=1)
    assert not found["ok"] and "length = -1" in found["error"]
    assert {problem["field"] for problem in found["problems"]} == {"length", "section.circel"}
    assert all(isinstance(problem["line"], int) for problem in found["problems"])


def test_run_gives_the_numbers_of_all_results(file: Path) -> None:
    found = answer("run", file, "--no-animation", "-o", "out")
    kinds = [result["kind"] for result in found["results"]]
    assert kinds == ["Equilibrium", "Motion", "Modes"] and found["complete"]
    still = pl.Robot.from_file(file).statics()
    tip = found["results"][0]["places"]["tip of arm"]
    np.testing.assert_allclose(tip["position"], still.position()[-1], atol=1e-9)
    assert found["results"][0]["stable"] is True
    assert found["results"][1]["t"] == 0.05
    assert len(found["results"][2]["frequencies"]) == 2
    assert all(Path(path).exists() for path in found["written"]) and len(found["written"]) == 6


def test_modes_compare_and_resolve_answer_in_json(file: Path) -> None:
    assert answer("modes", file)["results"][0]["frequencies"][0] > 0
    path = answer("follow", file, "push", "0", "1")["results"][0]
    assert path["values"][-1] == 1.0 and path["folds"] == []
    found = answer("reach", file, "arm.tip=,,-0.22", "--input", "push", "--least", "0")
    assert found["results"][0]["misses"]["arm.tip"]["reached"] is True
    file.write_text(ARM)
    table = answer("compare", file, "--with", "Strain(order=1)", "--with", "Shooting(3)")
    rows = table["results"][0]["table"]
    assert [row["method"] for row in rows] == ["Strain()", "Shooting(steps=3)"]
    found = answer("resolve", file, "--accuracy", "0.02", "-o", "out")["results"][0]
    assert found["kind"] == "Resolution" and found["error"] < 0.02
    assert Path("out/arm-resolution.csv").exists()


def test_fit_answers_in_json(file: Path) -> None:
    file.write_text(ARM)
    robot = pl.Robot.from_file(file)
    heights = [robot.statics({"push": x}).tip()[2, 3] for x in (0.0, 1.0, 2.0)]
    rows = "\n".join(f"{x},{z!r}" for x, z in zip((0, 1, 2), heights, strict=True))
    Path("droop.csv").write_text(
        f"push,arm.tip.z\n{rows}\n".replace("np.float64(", "").replace(")", "")
    )
    found = answer("fit", file, "droop.csv", "-p", "arm.material.E=9e5")
    value = found["results"][0]["parameters"]["arm.material.E"]["value"]
    assert value == pytest.approx(1e6, rel=1e-5)
    assert len(found["written"]) == 4


def test_an_error_is_json_too(file: Path) -> None:
    found = answer("modes", file, "--count", "0", code=1)
    assert found == {"ok": False, "error": found["error"]} and "count = 0" in found["error"]


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["modes"],
        ["compare"],
        ["resolve"],
        ["fit", "droop.csv", "-p", "arm.material.E"],
    ],
)
@pytest.mark.parametrize("where", ["taken", "taken/below", "locked/out", "/proc/nowhere/out"])
def test_a_folder_that_cannot_be_written_is_told_before_computing(
    file: Path, words: list[str], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("taken").write_text("a file")
    Path("locked").mkdir()
    Path("droop.csv").write_text("push,arm.tip.z\n0,0\n1,0\n2,0\n")

    def solved(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    monkeypatch.setattr("pliant.solve.compiled.Compiler.compiled", solved)
    import tempfile

    make = tempfile.TemporaryFile

    def locked(*args: object, **more: Any) -> Any:  # also where tests run as root
        if Path(more["dir"]).name == "locked":
            raise PermissionError(13, "Permission denied")
        return make(*args, **more)

    monkeypatch.setattr(tempfile, "TemporaryFile", locked)
    found = answer(words[0], file, *words[1:], "-o", where, code=1)
    assert "--output = " in found["error"] and "choose another" in found["error"]
    assert sorted(path.name for path in Path().iterdir()) == [
        "arm.yaml", "droop.csv", "locked", "taken",
    ]  # fmt: skip


def test_results_tell_of_a_path_that_cannot_be_written_before_they_compute(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = pl.Robot.from_file(file).statics()
    Path("taken").write_text("a file")
    monkeypatch.setattr(type(still), "to_xarray", None)
    for path, match in (
        ("taken/x.nc", "taken: it is a file"),
        ("x.txt", r"\.nc"),
        (".nc", r"\.nc"),
    ):
        with pytest.raises(pl.DescriptionError, match=match):
            still.save(path)
    Path("folder.nc").mkdir()
    with pytest.raises(pl.DescriptionError, match="this is a folder"):
        still.save("folder.nc")


def test_a_simulation_that_cannot_be_saved_is_told_before_it_starts(file: Path) -> None:
    Path("taken").write_text("a file")
    seen: list[float] = []
    robot = pl.Robot.from_file(file)
    with pytest.raises(pl.DescriptionError, match="taken: it is a file"):
        robot.simulate(0.1, 0.01, save="taken/motion.nc", progress=lambda t, end: seen.append(t))
    assert seen == []
