"""Robot files from elsewhere: they name no files outside their folder, and end in a sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

ROOT = Path(__file__).resolve().parents[2]
ROBOT = """rods:
  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1.0e6, nu: 0.48, rho: 1070}}
loads:
  push: {on: {part: arm, at: tip}, force: [0, 0.05, 0]}
"""
SECRET = "t,value\n0,secret-0\n1,secret-1\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "data").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.csv").write_text(SECRET)
    (tmp_path / "outside" / "good.csv").write_text("t,value\n0,1\n1,2\n")
    (tmp_path / "home" / "data" / "good.csv").write_text("t,value\n0,1\n1,2\n")
    return tmp_path / "home"


def write(home: Path, csv: object, name: str = "robot.yaml") -> Path:
    file = home / name
    file.write_text(f"{ROBOT}inputs:\n  push: {{table: {{csv: '{csv}'}}}}\n")
    return file


def refusal(file: Path, **more: object) -> str:
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file, **more)  # type: ignore[arg-type]
    assert "secret-" not in str(caught.value)
    return str(caught.value)


def test_table_below_the_folder_of_the_robot_file_is_read(home: Path) -> None:
    for csv in ("data/good.csv", "./data/../data/good.csv", home / "data" / "good.csv"):
        assert pl.Robot.from_file(write(home, csv)).inputs["push"](0.5) == 1.5


@pytest.mark.parametrize(
    "csv", ["../outside/secret.csv", "../outside/missing.csv", "data/../../x.csv"]
)
def test_table_outside_is_refused_unless_its_folder_is_allowed(home: Path, csv: str) -> None:
    text = refusal(write(home, csv))
    assert "below the folder of the robot file" in text
    assert "--allow" in text
    assert "robot.yaml:6:" in text


def test_allowed_folders_may_be_named(home: Path) -> None:
    file = write(home, "../outside/good.csv")
    assert pl.Robot.from_file(file, allow=home.parent / "outside").inputs["push"](0.5) == 1.5
    assert pl.Robot.from_file(file, allow=[str(home.parent)]).inputs["push"](0.5) == 1.5
    refusal(file, allow=home / "data")
    with pytest.raises(pl.DescriptionError, match="a folder, or a list of them"):
        pl.Robot.from_file(file, allow=3)


def test_absolute_paths_and_links_that_lead_out_are_refused(home: Path) -> None:
    secret = home.parent / "outside" / "secret.csv"
    (home / "link.csv").symlink_to(secret)
    (home / "folder").symlink_to(secret.parent)
    for csv in (secret, "link.csv", "folder/secret.csv", "/etc/passwd"):
        assert "below the folder of the robot file" in refusal(write(home, csv))
    assert "number" in refusal_of_contents(home, "folder/secret.csv")


def refusal_of_contents(home: Path, csv: str) -> str:
    """What is said of an allowed file whose contents are wrong: these may be shown."""
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(write(home, csv), allow=home.parent)
    return str(caught.value)


def test_devices_pipes_and_folders_are_refused(home: Path) -> None:
    os.mkfifo(home / "pipe.csv")
    assert "no folder, device or pipe" in refusal(write(home, "pipe.csv"))
    assert "no folder, device or pipe" in refusal(write(home, "data"))
    assert "no folder, device or pipe" in refusal(write(home, "/dev/zero"), allow="/dev")
    refusal(write(home, "a\\0b.csv"))


@pytest.mark.parametrize("name", ["../outside/part.stl", "/etc/part.stl", "link.stl", "pipe.stl"])
def test_meshes_obey_the_same_rule(home: Path, name: str) -> None:
    (home.parent / "outside" / "part.stl").write_text(SECRET)
    (home / "link.stl").symlink_to(home.parent / "outside" / "part.stl")
    os.mkfifo(home / "pipe.stl")
    file = home / "robot.yaml"
    shape = f"{{mesh: {{file: {name}}}}}"
    file.write_text(f"{ROBOT}bodies:\n  part: {{mass: 0.1, shape: {shape}}}\n")
    text = refusal(file)
    assert "no folder, device or pipe" in text or "below the folder of the robot file" in text
    assert "csv" not in text.lower()


def test_command_line_allows_a_folder(home: Path) -> None:
    file = write(home, "../outside/good.csv")
    assert CliRunner().invoke(main, ["check", str(file)]).exit_code == 1
    allowed = CliRunner().invoke(
        main, ["check", str(file), "--allow", str(home.parent / "outside")]
    )
    assert allowed.exit_code == 0, allowed.output


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "nothing"])
def test_robot_file_that_is_no_file_is_refused(tmp_path: Path, what: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "folder": tmp_path}
    if what == "nothing":
        with pytest.raises(pl.DescriptionError, match="the path of a robot file"):
            pl.Robot.from_file(None)  # type: ignore[arg-type]
        return
    assert "robot file" in refusal(path[what]) or "device or a pipe" in refusal(path[what])


# -- large and deep files --------------------------------------------------------------------------


def listed(count: int, separator: str) -> str:
    return "[" + separator.join(f"{0.001 * k:.4f}" for k in range(count)) + "]"


def lines(count: int) -> str:
    return "".join(f"\n        - {0.001 * k:.4f}" for k in range(count))


@pytest.mark.parametrize("form", ["flow", "flow lines", "comments", "block"])
def test_long_tables_have_the_numbers_that_are_written(tmp_path: Path, form: str) -> None:
    count, file = 2000, tmp_path / "robot.yaml"
    columns = {
        "flow": listed(count, ", "),
        "flow lines": listed(count, ",\n        "),
        "comments": listed(count, ",  # s\n        "),
        "block": lines(count),
    }
    values = listed(count, ", ")
    table = f"    table:\n      t: {columns[form]}\n      values: {values}\n"
    file.write_text(f"{ROBOT}inputs:\n  push:\n{table}")
    signal = pl.Robot.from_file(file).inputs["push"]
    assert len(signal.t) == count
    assert signal(1.2345) == pytest.approx(1.2345, rel=1e-12)


@pytest.mark.parametrize("form", ["flow", "block"])
def test_error_behind_a_long_table_is_where_the_file_has_it(tmp_path: Path, form: str) -> None:
    column = listed(2000, ", ") if form == "flow" else lines(2000)
    text = f"{ROBOT}inputs:\n  push:\n    table:\n      t: {column}\n      wrong: 1\n"
    file = tmp_path / "robot.yaml"
    file.write_text(text)
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    line = 1 + text[: text.index("wrong")].count("\n")
    assert f"robot.yaml:{line}:7: input 'push'" in str(caught.value)


def test_rows_of_a_long_table_are_read(tmp_path: Path) -> None:
    s = [0.3 * k / 999 for k in range(1000)]
    rows = "".join(f"\n          - [0, {x:.6f}, 0]" for x in s)
    given = f"push:\n    on: arm\n    force:\n      table:\n        s: {s}\n        values:{rows}"
    file = tmp_path / "robot.yaml"
    file.write_text(ROBOT.replace("push: {on: {part: arm, at: tip}, force: [0, 0.05, 0]}", given))
    force = pl.Robot.from_file(file).description.loads["push"].force
    assert force.values.shape == (1000, 3)
    assert force.values[-1, 1] == 0.3


def net(count: int, size: int) -> str:
    """Meshes that are chains of nodes."""
    nodes = ", ".join(f"[{k}, 0, 0]" for k in range(size))
    edges = ", ".join(f"[{k}, {k + 1}]" for k in range(size - 1))
    fields = (
        f"wireframe: {{nodes: [{nodes}], edges: [{edges}]}}, mass: 1, "
        "section: {circle: {radius: 0.01}}, material: {E: 1.0e6, nu: 0.4}"
    )
    return "meshes:\n" + "".join(f"  net{k}: {{{fields}}}\n" for k in range(count))


ADVERSARIES = {
    "deep lists": "inputs: " + "[" * 20000 + "]" * 20000,
    "deep groups": "inputs: " + "{a: " * 20000 + "}" * 20000,
    "deep dashes": "inputs:\n  " + "- " * 20000 + "\n",
    "nested sums": "inputs:\n  push: {sum: " + "[{sum: " * 300 + "[1]" + "}]" * 300 + "}\n",
    "many texts": "inputs: [" + "a, " * 100_000 + "a]\n",
    "many keys": "inputs:\n" + "".join(f"  k{k}: 1\n" for k in range(100_000)),
    "unknown keys": "inputs:\n" + "".join(f"  k{k}: 1\n" for k in range(5000)),
    "spaces": "inputs:" + " " * 200_000 + "1\n",
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in ("ab", "bc", "cd", "de", "ef")),
    "itself": "a: &a [*a]\n",
    "digits": "inputs: {push: 0x" + "f" * 20000 + "}\n",
    "arithmetic": "parameters:\n  a: 1\n"
    + "".join(f"  b{k}: {k}+{'+'.join('a' * 140)}\n" for k in range(1200)),
    "broken arithmetic": "loads: {l: {on: arm, force: [0, 0, 1], breaks: ["
    + ", ".join(f"{k}+{'+'.join('0' * 140)}+" for k in range(1200)) + "]}}\n",
    "large mesh": net(1, 6000),
    "many meshes": net(25, 250),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVERSARIES)
def test_hostile_files_are_refused_with_few_words(tmp_path: Path, name: str) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(ROBOT + ADVERSARIES[name])
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    assert len(str(caught.value)) < 100_000


@pytest.mark.parametrize("dash", ["- ", "-   "])
def test_long_lists_with_a_dash_for_each_number_need_no_parser(tmp_path: Path, dash: str) -> None:
    file, count = tmp_path / "robot.yaml", 20_001
    column = "".join(f"\n        {dash}{0.001 * k:.4f}" for k in range(count))
    file.write_text(
        f"{ROBOT}inputs:\n  push:\n    table:\n      t:{column}\n      values:{column}\n"
    )
    assert len(pl.Robot.from_file(file).inputs["push"].t) == count


def test_too_many_numbers_are_not_called_aliases(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(f"{ROBOT}parameters: {{values: {listed(200_001, ', ')}, other: 1}}\n")
    with pytest.raises(pl.FileError, match="more than 200000 numbers and entries"):
        pl.Robot.from_file(file)
    file.write_text(f"{ROBOT}parameters: &all {{values: *all}}\n")
    with pytest.raises(pl.FileError, match="aliases without end"):
        pl.Robot.from_file(file)


def test_hundred_thousand_numbers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    column = listed(100_000, ", ")
    file.write_text(f"{ROBOT}inputs:\n  push: {{table: {{t: {column}, values: {column}}}}}\n")
    assert len(pl.Robot.from_file(file).inputs["push"].t) == 100_000


# -- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("indent", "line"), [("\t", 2), ("  \t", 2)])
def test_tabs_are_called_by_their_name(tmp_path: Path, indent: str, line: int) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(f"rods:\n{indent}arm: {{length: 1}}\n")
    with pytest.raises(
        pl.FileError, match=rf"robot.yaml:{line}:\d+: the line is indented with a tab"
    ):
        pl.Robot.from_file(file)


FINGER = (
    "{length: 0.175, bending: 0.0186, chamber_radius: 0.006, arm: 0.009, mass: 0.12, "
    "chambers: [a, b]}"
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "arm: 0.009",
            "arm: 1.0e+308",
            "arm = 1e+308: must be a positive number in metres of",
        ),
        ("bending: 0.0186", "bending: 1.0e-308", "bending = 1e-308"),
        ("chambers: [a, b]", "chambers: [3, right]", "chambers[0] = 3: must be a text"),
    ],
)
def test_impossible_actuators_give_sentences(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(f"actuators:\n  finger: {FINGER.replace(old, new)}\n")
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    assert told in str(caught.value)


def test_actuator_of_impossible_size_is_refused_in_python() -> None:
    with pytest.raises(pl.DescriptionError, match="arm"):
        pl.BendingActuator(0.175, 0.0186, 0.006, 1e308)


def test_mutated_robot_files_end_in_a_robot_or_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    sys.modules.pop("fuzz_robot_files", None)
    from fuzz_robot_files import study

    counts = study(300, 2026, 0, tmp_path, False)
    assert set(counts) == {"loaded", "refused"}, capsys.readouterr().out
    assert counts["loaded"] > 10
