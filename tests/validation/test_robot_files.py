"""Robot files: all follow the schema, and those of the literature are the robots of Python."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

import pliant as pl
from pliant.files import json_schema
from pliant.model.differences import difference

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = Path(pl.__file__).parent / "robots"
FILES = sorted(ROBOTS.rglob("*.yaml"))


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def plain(text: str) -> Any:
    return json.loads(json.dumps(YAML(typ="safe").load(text)))


def in_documents() -> list[str]:
    """Whole robots in the documentation."""
    texts = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for indent, block in re.findall(
            r"^( *)```yaml\n(.*?)^ *```", page.read_text(), re.S | re.M
        ):
            text = "\n".join(line.removeprefix(indent) for line in block.splitlines())
            if re.search(r"^(rods|bodies|actuators|meshes|groups|include):", text, re.M):
                texts.append(text)
    return texts


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_file_follows_the_schema(file: Path, validator: Any) -> None:
    assert [error.message for error in validator.iter_errors(plain(file.read_text()))] == []
    pl.Robot.from_file(file)


def test_files_of_the_documentation_follow_the_schema(validator: Any) -> None:
    texts = in_documents()
    assert len(texts) >= 5
    for text in texts:
        assert [error.message for error in validator.iter_errors(plain(text))] == [], text


@pytest.mark.parametrize(
    "text",
    [
        "parameters: {a: hello, world}",
        "parameters: {a: {b: 1}}",
        "groups: {g: {rodz: {}}}",
        "include: [{prefix: a}]",
        "rods: {arm: {length: 'a b', section: {circle: {radius: 1}}, repeat: {cuont: 1}}}",
        "meshes: {net: {mass: 1}}",
        "rods: {arm: {length: -1, section: {circle: {radius: 1}}}}",
    ],
)
def test_schema_refuses(text: str, validator: Any) -> None:
    assert not validator.is_valid(plain(text))


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "examples")
    sys.modules.pop(name, None)
    return __import__(name)


def assert_same(a: pl.Robot, b: pl.Robot) -> None:
    assert set(a.description.parts) == set(b.description.parts)
    for name, part in a.description.parts.items():
        assert difference(part, b.description.parts[name]) is None, name


def test_fabric_is_that_of_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("plot_fabric", monkeypatch)
    described = module.sleeve_on_pendulum(module.drawing())
    read = pl.Robot.from_file(ROBOTS / "fabric.yaml")
    names = {"swing": "angle"}  # a parameter of the file has the name of the example's input
    pendulum = described.description.bodies["pendulum"]
    assert pendulum.joint.input == "swing" and set(described.description.inputs()) == set(names)
    motions = []
    for robot, name in ((described, "swing"), (read, "angle")):
        swing = {name: pl.Sine(np.pi / 3, 1.18)}
        motions.append(robot.simulate(0.2, 0.005, swing).position("fabric_13"))
    np.testing.assert_allclose(motions[1], motions[0], atol=1e-12)
    assert np.ptp(motions[0][:, 0]) > 0.01
    for name, part in described.description.parts.items():
        if name != "pendulum":
            assert difference(part, read.description.parts[name]) is None, name


def test_finger_is_that_of_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("plot_finger_design", monkeypatch)
    described, tip = module.finger(module.shape1(), module.shape2())
    read = pl.Robot.from_file(ROBOTS / "finger.yaml")
    ends = [
        robot.statics({"cable": 3.3}, pl.BSpline(3, 8)).position(tip) for robot in (described, read)
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-11)
    assert np.linalg.norm(ends[0] - (0.0, 0.0, 0.15)) > 0.01
    half = read.with_parameters({"pull": 1.65}).statics(formulation=pl.BSpline(3, 8))
    wanted = described.statics({"cable": 1.65}, pl.BSpline(3, 8))
    np.testing.assert_allclose(half.position(tip), wanted.position(tip), atol=1e-11)


def appendage() -> pl.Robot:
    """The STIFF-FLOP appendage by the equations of Sadati et al.: Table 2, section and equation 44."""
    length, outer, inner, chamber, ring = 0.05, 0.0125, 0.0045, 0.0025, 0.0085
    mass, height, psi = 0.01347, 0.0145, np.pi / 9
    hole = np.pi * chamber**2
    area = np.pi * (outer**2 - inner**2) - 6 * hole
    centres = [np.pi / 2 - 2 * k * np.pi / 3 for k in range(3)]
    places = {
        f"air {k + 1}{side}": ring * np.array([np.cos(a + turn), np.sin(a + turn)])
        for side, turn in (("a", -psi), ("b", psi))
        for k, a in enumerate(centres)
    }
    second = np.pi / 4 * (outer**4 - inner**4 - 6 * chamber**4)
    Ix = second - hole * sum(y**2 for _, y in places.values())
    robot = pl.Robot()
    silicone = pl.Material(E=205e3, nu=0.5, rho=0.028 / (area * length), viscosity=300.0)
    arm = robot.add_rod("arm", length, pl.Section(area, Ix, Ix, 2 * Ix), silicone)
    across = mass * (3 * outer**2 + height**2) / 12
    sensor = robot.add_body(
        "sensor",
        mass,
        (across, across, mass * outer**2 / 2),
        on=arm.tip,
        centre=(0, 0, height / 2),
    )
    robot.add_load("push", sensor.at((0, 0, height)))
    for name, place in places.items():
        robot.add_chamber(name, arm, hole, tuple(place))
    return robot


def test_stiff_flop_is_that_of_its_equations() -> None:
    read, described = pl.Robot.from_file(ROBOTS / "stiff_flop.yaml"), appendage()
    assert set(read.description.parts) == set(described.description.parts)
    pressed = {"air 1a": 6e4, "air 1b": 6e4, "push": (0.1, 0.0, 0.0)}
    ends = [robot.statics(pressed, pl.Spectral(3, 8)).tip("arm") for robot in (described, read)]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-11)
    assert np.degrees(np.arccos(ends[0][2, 2])) > 15.0
    motions = [
        robot.simulate(0.02, 0.005, pressed, formulation=pl.EBR(3)).tip("arm")
        for robot in (described, read)
    ]
    np.testing.assert_allclose(motions[1], motions[0], atol=1e-11)
