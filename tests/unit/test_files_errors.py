"""A wrong robot file is told everything at once: line, part, field, value and remedy."""

import io
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given, settings, strategies as st
from ruamel.yaml import YAML

from pliant.files import FileError, load_robot_file
from pliant.model import PliantError


@dataclass(frozen=True)
class Spline:
    degree: int = 3
    points: int = 15


FORMULATIONS = {"Spline": Spline}
INTEGRATORS = {}

ROD = "{length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.5}}"


def errors(tmp_path, text):
    file = tmp_path / "robot.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_robot_file(file, FORMULATIONS, INTEGRATORS)
    assert isinstance(caught.value, PliantError)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems)
    return [line.removeprefix(str(tmp_path) + "/") for line in lines]


def only_error(tmp_path, text):
    found = errors(tmp_path, text)
    assert len(found) == 1, found
    return found[0]


def test_all_problems_come_at_once_in_the_order_of_the_file(tmp_path):
    text = """
gravity: [0, 0]
rods:
  arm:
    length: -1
    section: {circle: {radius: 0}}
    material: {E: 0, nu: 0.7}
    base: {part: hnad}
    formulation: {spline: {degree: x}}
  hand: {length: 0.1, section: {circle: {radius: 0.01}}}
loads:
  push: {on: {part: had}, force: [0]}
  pull: {on: {part: hand, at: 1}}
constraints:
  grip: {on: {part: arm}, kind: fix}
inputs: {psh: 1}
simulate: {duration: 0, dt: 0}
"""
    found = errors(tmp_path, text)
    places = [tuple(int(item) for item in line.split(":")[1:3]) for line in found]
    assert places == sorted(places)
    for part in (
        "gravity = ",
        "length = -1",
        "section.circle.radius = 0",
        "material.E = 0",
        "base.part = 'hnad'",
        "formulation.spline.degree = 'x'",
        "rod 'hand': material is missing",
        "on.part = 'had'",
        "force = [0]",
        "on.at = 1.0",
        "kind = 'fix'",
        "input 'psh'",
        "simulate: duration = 0",
        "simulate: dt = 0",
    ):
        assert sum(part in line for line in found) == 1, (part, found)
    assert len(found) == 14


def test_an_empty_simulation_lacks_its_duration(tmp_path):
    found = errors(tmp_path, f"rods: {{arm: {ROD}}}\nsimulate:\n")
    assert [line.split(" is missing")[0] for line in found] == [
        "robot.yaml:2:1: simulate: duration"
    ]


def test_cycle_of_bases_is_told(tmp_path):
    rod = ROD[:-1]
    text = f"rods:\n  a: {rod}, base: {{part: b}}}}\n  b: {rod}, base: {{part: a}}}}\n"
    assert "rod 'a': base = 'a -> b -> a': must be a chain" in only_error(tmp_path, text)


def test_a_wrong_rod_is_not_called_unknown_as_well(tmp_path):
    text = "rods: {arm: {length: 0}}\nloads: {p: {on: {part: arm}}, q: {on: arm}}\n"
    found = errors(tmp_path, text)
    assert len(found) == 2
    assert not any("load" in line for line in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; describe at least one rod under 'rods:'"),
        ("# nothing\n", "is empty"),
        ("---\n", "is empty"),
        ("just words", "must hold named sections"),
        ("[1, 2]", "must hold named sections"),
        ("rods: {}", "robot: rods = 'none': must be at least one rod"),
        ("gravity: [0, 0, 0]", "rods is missing (the rods by name)"),
        ("rods: {arm: [}", "robot.yaml:1:14: is not valid YAML here"),
        ("rods:\n\tarm: 3\n", "robot.yaml:2:1: the line is indented with a tab"),
        ("a: 1\n---\nb: 2\n", "is not valid YAML here"),
        ("a: &x [*x]\n", "repeats itself"),
        ("[" * 5000, "is nested too deeply"),
    ],
)
def test_file_that_is_no_robot(tmp_path, text, message):
    assert message in only_error(tmp_path, text)


def test_missing_file_names_its_neighbours(tmp_path):
    (tmp_path / "arm.yaml").touch()
    with pytest.raises(FileError, match=r"amr\.yaml: does not exist; .*this folder has arm\.yaml"):
        load_robot_file(tmp_path / "amr.yaml")


def test_folder_and_binary_file_get_a_sentence(tmp_path):
    with pytest.raises(FileError, match="is a folder; give the name of a robot file"):
        load_robot_file(tmp_path)
    file = tmp_path / "picture.yaml"
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(FileError, match="is not a text file in UTF-8"):
        load_robot_file(file)


def test_tags_never_run_code(tmp_path):
    marker = tmp_path / "ran"
    text = f"rods: {{arm: {ROD}}}\nmodes: !!python/object/apply:os.mkdir ['{marker}']\n"
    found = errors(tmp_path, text)
    assert any(
        "2:8: modes: the tag !!python/object/apply:os.mkdir is not understood" in line
        for line in found
    )
    assert not marker.exists()


def test_alias_bomb_is_refused(tmp_path):
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    for new, old in zip("bcdefgh", "abcdefg", strict=True):
        lines.append(f"{new}: &{new} [" + ", ".join([f"*{old}"] * 10) + "]")
    assert "*aliases repeat" in only_error(tmp_path, "\n".join(lines))


def test_no_registry_means_no_formulation(tmp_path):
    file = tmp_path / "robot.yaml"
    rod = ROD[:-1] + ", formulation: spline}"
    file.write_text(f"rods: {{arm: {rod}}}", encoding="utf-8")
    with pytest.raises(FileError, match=r"formulation = 'spline'.*there are none"):
        load_robot_file(file)


def test_error_crosses_process_borders(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text("rods: {}", encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_robot_file(file)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["arm", "tip", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["arm", "part", "at", "on", "table", "s", "values", "circle", "radius", "E"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
SECTIONS = ["gravity", "rods", "loads", "constraints", "inputs", "statics", "simulate", "modes"]
FIELDS = ["length", "section", "material", "pose", "base", "natural", "formulation", "theory"]


@settings(max_examples=150, deadline=None)
@given(
    sections=st.dictionaries(st.sampled_from(SECTIONS), plain, max_size=4),
    fields=st.dictionaries(st.sampled_from(FIELDS), plain, max_size=4),
)
def test_any_yaml_is_either_loaded_or_refused_in_words(tmp_path_factory, sections, fields):
    base = {
        "length": 0.3,
        "section": {"circle": {"radius": 0.01}},
        "material": {"E": 1e6, "nu": 0.5},
    }
    stream = io.StringIO()
    YAML(typ="safe", pure=True).dump({"rods": {"arm": {**base, **fields}}, **sections}, stream)
    file = tmp_path_factory.mktemp("any") / "robot.yaml"
    file.write_text(stream.getvalue(), encoding="utf-8")
    try:
        load_robot_file(file, FORMULATIONS, INTEGRATORS)
    except FileError as error:
        assert error.problems
        assert all("must be" in str(item) or "missing" in str(item) for item in error.problems)
