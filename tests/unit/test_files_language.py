"""Robot files as a language: parameters, repeated parts, groups, includes, meshes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main
from pliant.model import number_paths, value_at, with_values
from pliant.model.differences import difference

SOFT = "material: {E: 1.0e6, nu: 0.5, rho: 1000}"
CHAIN = f"""
parameters:
  radius: 0.01              # m
  total: 0.3                # m
  n: 3
  taper: [1, 0.8, 0.6]
  weight: 0.01*n            # N
rods:
  segment<i>:
    repeat: {{count: n, first: {{base: world, pose: {{along: x}}}}}}
    length: total/n
    section: {{circle: {{radius: radius*taper(i)}}}}
    {SOFT}
    base: segment<i-1>.tip
loads:
  push: {{on: segment<n>.tip, force: [0, 0, -weight]}}
inputs: {{push: 1}}
"""
FINGER = f"""
parameters: {{length: 0.1, angle: 0}}
rods:
  bone: {{length: length, section: {{circle: {{radius: 0.004}}}}, {SOFT},
         base: {{part: palm, offset: [0.02, 0, 0], rotation_vector: [0, 0, angle]}},
         joint: {{revolute: {{axis: y, drive: angle, input: bend}}}}}}
loads:
  touch: {{on: bone.tip, force: [0, 0, 0.01]}}
inputs:
  touch: {{table: {{csv: touch.csv, time: t, value: touch}}}}
statics:
"""


def write(folder: Path, text: str, name: str = "robot.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def described(folder: Path, text: str) -> pl.Robot:
    return pl.Robot.from_file(write(folder, text))


def chained(radius: float = 0.01, taper: tuple[float, ...] = (1.0, 0.8, 0.6)) -> pl.Robot:
    """The chain as Python describes it."""
    robot, count = pl.Robot(), len(taper)
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    for k, share in enumerate(taper, 1):
        base = {"pose": pl.along("x")} if k == 1 else {"base": f"segment{k - 1}.tip"}
        robot.add_rod(f"segment{k}", 0.3 / count, pl.Circle(radius * share), soft, **base)
    robot.add_load("push", f"segment{count}.tip", (0, 0, -0.01 * count))
    return robot


def same(a: pl.Robot, b: pl.Robot) -> None:
    """Assert that two robots have the same parts, whatever their origin."""
    assert set(a.description.parts) == set(b.description.parts)
    for name, part in a.description.parts.items():
        assert difference(part, b.description.parts[name]) is None, name


def test_a_number_stands_in_a_name(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text("bodies:\n  b<2>: {mass: 1}\n  c<1+2>: {mass: 1}\n")
    assert list(pl.Robot.from_file(file).description.bodies) == ["b2", "c3"]


def test_chain_is_that_of_python(tmp_path: Path) -> None:
    same(described(tmp_path, CHAIN), chained())


def test_parameters_are_varied_when_loading_and_afterwards(tmp_path: Path) -> None:
    file = write(tmp_path, CHAIN)
    wanted = chained(0.02, (1.0, 0.8))
    same(pl.Robot.from_file(file, parameters={"radius": 0.02, "n": 2}), wanted)
    robot = pl.Robot.from_file(file)
    new = robot.with_parameters({"radius": np.float64(0.02), "n": 2})
    same(new, wanted)
    assert new.parameters["weight"] == 0.02
    assert robot.parameters["radius"] == 0.01
    same(robot.with_parameters({"taper": [1, 0.5, 0.2]}), chained(0.01, (1.0, 0.5, 0.2)))
    same(robot.with_parameters({"radius": "total/15"}), chained(0.02))


def test_parts_added_after_loading_stay_when_parameters_vary(tmp_path: Path) -> None:
    robot = described(tmp_path, CHAIN)
    robot.add_body("camera", 0.01, on="segment1.tip")
    robot.remove("push")
    robot.inputs["push"] = 3.0
    new = robot.with_parameters({"radius": 0.02})
    assert "camera" in new.description.parts and "push" not in new.description.parts
    assert new.description.rods["segment1"].section.radius == 0.02
    assert new.inputs["push"] == 3.0


def test_unknown_parameters_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    file = write(tmp_path, CHAIN)
    with pytest.raises(pl.DescriptionError, match="did you mean 'radius'"):
        pl.Robot.from_file(file, parameters={"raduis": 0.1})
    with pytest.raises(pl.DescriptionError, match="did you mean 'radius'"):
        pl.Robot.from_file(file).with_parameters({"raduis": 0.1})
    with pytest.raises(pl.DescriptionError, match="named in the robot file"):
        chained().with_parameters({"radius": 0.1})
    with pytest.raises(pl.DescriptionError, match="must be a positive number"):
        pl.Robot.from_file(file).with_parameters({"radius": -1})


COMMANDS = ["check", "run", "modes", "follow", "reach", "compare", "resolve", "fit"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_a_robot_file_sets_parameters(
    command: str, tmp_path: Path
) -> None:
    file = write(tmp_path, CHAIN)
    more = {"follow": ["push", "0", "1"], "reach": ["segment1.tip=0,0,0"], "fit": [str(file)]}
    call = [command, str(file), *more.get(command, []), "--set", "raduis=0.1"]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 1
    assert "did you mean 'radius'" in result.output


def test_check_sets_and_tells_parameters(tmp_path: Path) -> None:
    file = str(write(tmp_path, CHAIN))
    call = ["check", file, "--set", "n=2", "--set", "taper=1,0.5"]
    found = json.loads(CliRunner().invoke(main, [*call, "--json"]).output)
    assert found["parts"]["rods"] == ["segment1", "segment2"]
    assert found["parameters"]["taper"] == [1.0, 0.5]
    assert "taper = 1,0.5" in CliRunner().invoke(main, call).output
    for wrong in ("radius", "=3", "radius="):
        answer = CliRunner().invoke(main, ["check", file, "--set", wrong])
        assert answer.exit_code == 1 and "name=value" in answer.output


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*3", 6),
        ("1 + 2*3 - 4/2", 5),
        ("-(2 - 5)*-2", -6),
        ("7/2", 3.5),
        ("1.5e-2*2", 0.03),
        (".5*4", 2),
        ("2*pi", 2 * np.pi),
        ("sqrt(2)*sqrt(2)", 2.0),
        ("cos(pi) + sin(pi/2)", 0.0),
        ("8/2/2", 2),
        ("2 - 3 - 4", -5),
    ],
)
def test_arithmetic(text: str, value: float, tmp_path: Path) -> None:
    robot = described(tmp_path, f"parameters: {{a: {text}}}\n{CHAIN.split('parameters:')[0]}{ROD}")
    assert robot.parameters["a"] == pytest.approx(value, rel=1e-15, abs=1e-15)


ROD = f"rods: {{arm: {{length: 0.3, section: {{circle: {{radius: 0.01}}}}, {SOFT}}}}}\n"


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    text = "parameters: {n: 4}\n" + ROD.replace(
        SOFT, SOFT + ", formulation: {strain: {order: n/2}}"
    )
    assert described(tmp_path, text).description.rods["arm"].formulation.order == 2


def test_texts_that_are_also_parameters_stay_texts(tmp_path: Path) -> None:
    """An axis, a column and a joint's direction may have the name of a parameter."""
    (tmp_path / "x.csv").write_text("t,x\n0,1\n1,2\n")
    text = f"""
parameters: {{x: 0.2, t: 3, rx: 1}}
{ROD.replace(SOFT, SOFT + ", pose: {along: x, origin: [x, 0, 0]}")}
bodies:
  tip: {{mass: x, on: arm.tip, joint: {{free_directions: {{directions: [rx]}}}}}}
loads: {{push: {{on: arm.tip, force: [x, 0, 0]}}}}
inputs: {{push: {{table: {{csv: x.csv, time: t, value: x}}}}}}
"""
    text = text.replace("  tip:", "  head:")
    robot = described(tmp_path, text)
    np.testing.assert_array_equal(robot.description.rods["arm"].pose, pl.along("x", (0.2, 0, 0)))
    assert robot.inputs["push"](0.5) == 1.5
    assert robot.description.bodies["head"].mass == 0.2


def test_groups_repeat_and_nest(tmp_path: Path) -> None:
    text = f"""
parameters: {{legs: 2, step: 0.1}}
groups:
  leg:
    repeat: {{count: legs, index: k}}
    rods:
      thigh<k>: {{length: 0.1, section: {{circle: {{radius: 0.01}}}}, {SOFT},
                 pose: {{position: [0, k*step, 0]}}}}
    loads:
      push<k>: {{on: shin<k>_2.tip, force: [0, 0, k]}}
    inputs: {{push<k>: 0.5*k}}
    groups:
      shin:
        repeat:
          count: 2
          first: {{rods: {{shin<k>_<i>: {{base: thigh<k>.tip}}}}}}
        rods:
          shin<k>_<i>: {{length: 0.05, section: {{circle: {{radius: 0.01/i}}}}, {SOFT},
                        base: shin<k>_<i-1>.tip}}
"""
    robot = described(tmp_path, text)
    assert set(robot.description.rods) == {
        *("thigh1", "thigh2"),
        *("shin1_1", "shin1_2", "shin2_1", "shin2_2"),
    }
    assert robot.description.rods["shin2_1"].base.part == "thigh2"
    assert robot.description.rods["shin2_2"].base.part == "shin2_1"
    assert robot.description.rods["thigh2"].pose[1, 3] == 0.2
    assert robot.inputs["push2"](0.0) == 1.0


def test_items_of_lists_are_repeated(tmp_path: Path) -> None:
    text = f"""
parameters: {{n: 3}}
{ROD}
tendons:
  pull:
    path:
      - {{part: arm, at: base, offset: [0.007, 0]}}
      - {{repeat: n, part: arm, at: 0.3*i/(n+1), offset: [0.007, 0]}}
      - {{repeat: 1, each: arm.tip}}
"""
    path = described(tmp_path, text).description.tendons["pull"].path
    assert [frame.s for frame in path] == pytest.approx([0, 0.075, 0.15, 0.225, 0.3])


def test_last_and_start_of_a_repetition(tmp_path: Path) -> None:
    text = f"""
{ROD}
loads:
  push<i>:
    repeat: {{count: 3, start: 0, last: {{force: [9, 0, 0]}}}}
    on: {{part: arm, at: 0.1*i}}
    force: [i, 0, 0]
inputs:
  push<i>: {{repeat: {{count: 3, start: 0}}, each: 0.1*i}}
"""
    robot = described(tmp_path, text)
    loads = robot.description.loads
    assert [load.force[0] for load in loads.values()] == [0.0, 1.0, 9.0]
    assert list(loads) == ["push0", "push1", "push2"]
    assert robot.inputs["push2"](0.0) == pytest.approx(0.2)


@pytest.fixture
def hand(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts", FINGER, "finger.yaml")
    write(tmp_path / "parts", "t,touch\n0,1\n1,3\n", "touch.csv")
    text = f"""
parameters: {{apart: 2*pi/3}}
bodies: {{palm: {{mass: 0.1, on: wrist.tip}}}}
rods: {{wrist: {{length: 0.2, section: {{circle: {{radius: 0.01}}}}, {SOFT}}}}}
include:
  - {{file: parts/finger.yaml, prefix: left_}}
  - {{file: parts/finger.yaml, prefix: right_, parameters: {{angle: apart, length: left_length/2}}}}
"""
    return write(tmp_path, text)


def test_one_file_is_included_twice(hand: Path) -> None:
    robot = pl.Robot.from_file(hand)
    rods = robot.description.rods
    assert set(rods) == {"wrist", "left_bone", "right_bone"}
    assert rods["left_bone"].base.part == rods["right_bone"].base.part == "palm"
    assert rods["right_bone"].base.rotation == pytest.approx((0, 0, 2 * np.pi / 3))
    assert rods["right_bone"].length == 0.05
    assert robot.description.loads["right_touch"].on.part == "right_bone"
    assert {"left_bend", "right_bend", "left_touch"} <= set(robot.description.inputs())
    assert robot.inputs["left_touch"](0.5) == 2.0  # the column keeps its name
    assert robot.parameters["left_length"] == 0.1
    longer = robot.with_parameters({"left_length": 0.2}).description.rods
    assert (longer["left_bone"].length, longer["right_bone"].length) == (0.2, 0.1)


def test_included_files_obey_the_rule_of_folders(hand: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    text = hand.read_text().replace("parts/finger.yaml", "../parts/finger.yaml")
    file = write(inside, text)
    with pytest.raises(pl.FileError, match=r"below the folder of the robot file.*--allow"):
        pl.Robot.from_file(file)
    assert len(pl.Robot.from_file(file, allow=tmp_path / "parts").description.rods) == 3


def test_included_gravity_must_be_that_of_the_robot(tmp_path: Path) -> None:
    write(tmp_path, f"gravity: [0, 0, 0]\n{ROD}", "arm.yaml")
    file = write(tmp_path, "include: arm.yaml\n")
    with pytest.raises(pl.FileError, match=r"arm.yaml:1:1: .*given in robot.yaml"):
        pl.Robot.from_file(file)
    robot = described(tmp_path, "include: arm.yaml\ngravity: [0, 0, -1]\n")
    assert robot.description.gravity == (0.0, 0.0, -1.0)


def test_saved_file_has_everything_written_out(hand: Path, tmp_path: Path) -> None:
    robot = pl.Robot.from_file(hand)
    again = pl.Robot.from_file(robot.save(tmp_path / "saved.yaml"))
    same(robot, again)
    assert again.parameters == {}


def test_paths_lead_to_parameters(tmp_path: Path) -> None:
    robot = described(tmp_path, CHAIN)
    description = robot.description
    assert {"parameters.radius", "parameters.taper[1]"} <= set(number_paths(description))
    assert value_at(description, "parameters.taper[1]").value == 0.8
    new = with_values(
        description,
        {"segment1.E": 2e6, "parameters.radius": 0.02, "parameters.taper[1]": 0.5},
    )
    assert new.rods["segment1"].section.radius == 0.02
    assert new.rods["segment1"].material.E == 2e6
    assert new.rods["segment2"].section.radius == 0.01
    with pytest.raises(pl.DescriptionError, match="varied before the part itself is changed"):
        with_values(new, {"parameters.radius": 0.01})
    assert with_values(new, {"parameters.weight": 1.0}).loads["push"].force[2] == -1.0
    with pytest.raises(pl.DescriptionError, match=r"did you mean 'parameters\.radius'"):
        value_at(description, "parameters.raduis")


def test_parameters_of_inputs_cannot_be_fitted(tmp_path: Path) -> None:
    robot = described(tmp_path, CHAIN.replace("{push: 1}", "{push: 2*taper(1)}"))
    with pytest.raises(pl.DescriptionError, match="no input of the robot file depends on"):
        value_at(robot.description, "parameters.taper[0]")
    assert robot.with_parameters({"taper": [2, 1, 1]}).inputs["push"](0.0) == 4.0


def test_fit_finds_a_parameter_and_writes_it(tmp_path: Path) -> None:
    file = write(tmp_path, CHAIN)
    truth = pl.Robot.from_file(file, parameters={"radius": 0.011})
    tip = [truth.statics({"push": x}).position("segment3.tip")[2] for x in (0.0, 1.0, 2.0)]
    rows = "\n".join(f"{x},{z!r}" for x, z in zip((0.0, 1.0, 2.0), map(float, tip), strict=True))
    data = write(tmp_path, f"push,segment3.tip.z\n{rows}\n", "tip.csv")
    new = tmp_path / "new.yaml"
    call = ["fit", str(file), str(data), "-p", "parameters.radius", "--write-robot", str(new)]
    result = CliRunner().invoke(main, [*call, "-o", str(tmp_path), "--set", "total=0.3"])
    assert result.exit_code == 0, result.output
    assert pl.Robot.from_file(new).parameters["radius"] == pytest.approx(0.011, rel=1e-5)
    assert "segment<i>" in new.read_text() and "# m" in new.read_text()


NET = """
parameters: {apart: 0.1}
meshes:
  net:
    wireframe:
      nodes: [[0, 0, 0], [apart, 0, 0], [2*apart, 0, 0], [apart, 0, -apart]]
      edges: [[0, 1], [1, 2], [1, 3]]
    mass: 0.03
    section: {circle: {radius: 0.001}}
    material: {E: 1.0e6, nu: 0.5}
    fixed: [0, 2]
loads: {push: {on: net_3, force: [0, 0, -1]}}
"""


def test_mesh_is_that_of_python(tmp_path: Path) -> None:
    nodes = np.array([(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0), (0.1, 0, -0.1)])
    robot = pl.Robot()
    frame = pl.Wireframe(nodes, np.array([(0, 1), (1, 2), (1, 3)]))
    cloth = pl.Material(E=1e6, nu=0.5)
    bodies = robot.add_mesh("net", frame, 0.03, pl.Circle(0.001), cloth, fixed=[0, 2])
    assert [body is None for body in bodies] == [True, False, True, False]
    robot.add_load("push", "net_3", (0, 0, -1))
    found = described(tmp_path, NET)
    same(found, robot)
    same(found, pl.Robot.from_file(found.save(tmp_path / "saved.yaml")))


def test_schema_command_writes_the_schema(tmp_path: Path) -> None:
    out = tmp_path / "robot.schema.json"
    assert CliRunner().invoke(main, ["schema", "-o", str(out)]).exit_code == 0
    printed = json.loads(CliRunner().invoke(main, ["schema"]).output)
    assert json.loads(out.read_text()) == printed
    assert {"parameters", "include", "groups", "meshes"} <= set(printed["properties"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("length: total/n", "length: 0.3-0.1", "length = '0.3-0.1'.*put spaces around '-'"),
        ("count: n,", "count: n, index: pi,", "repeat.index = 'pi'.*no other meaning"),
    ],
)
def test_texts_that_look_like_arithmetic_are_refused_with_a_hint(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(pl.FileError, match=words):
        described(tmp_path, CHAIN.replace(old, new))
    spaced = described(tmp_path, CHAIN.replace("length: total/n", "length: 0.3 - 0.2"))
    assert spaced.description.rods["segment1"].length == pytest.approx(0.1)


def test_parameters_without_names_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, CHAIN)
    with pytest.raises(pl.DescriptionError, match=r"parameters = .*values by name"):
        pl.Robot.from_file(file, parameters=[0.01])  # type: ignore[arg-type]
