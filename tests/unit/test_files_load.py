"""Robot files say the same as Python, with the same names."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from pliant.files import FileError, ModesRun, SimulateRun, StaticsRun, json_schema, load_robot_file
from pliant.joints.free import Free
from pliant.joints.revolute import Revolute
from pliant.model import (
    Annulus,
    Circle,
    Constant,
    Frame,
    Material,
    Ramp,
    Rectangle,
    Section,
    Sine,
    Step,
    Sweep,
    along,
    pose,
)


@dataclass(frozen=True)
class Spline:
    degree: int = 3
    points: int = 15
    spacing: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Alpha:
    rho: float


FORMULATIONS = {"Spline": Spline}
INTEGRATORS = {"GeneralAlpha": Alpha}

FULL = """
gravity: [0, 0, 0]
rods:
  hand:                                   # listed before the rod that carries it
    length: 0.1
    section: {annulus: {outer: 0.01, inner: {table: {s: [0, 0.1], values: [5.0e-3, 4.0e-3]}}}}
    material: &soft {E: 1e6, nu: 0.5, rho: 1_000, viscosity: 10}
    base: {part: arm, at: tip, offset: [0, 0.01]}
    pose: {position: [0, 0, 0.1], rotation_vector: [0, 0, 0.5]}
  arm:
    length: 0.3
    section: {circle: {radius: [0.01, 0.005], shear_factor: 0.9}}
    material: *soft
    pose: {along: x, origin: [1, 2, 3]}
    natural: {table: {s: [0, 0.3], values: [[0, 0, 0], [0, 1, 0]]}}
    formulation: {spline: {degree: 2, spacing: [0.5, 0.5]}}
  strip:
    length: 0.2
    section: {rectangle: {width: 0.02, height: 0.01}}
    material: {<<: *soft, rho: 1200}
    base: free
    theory: kirchhoff
    natural: [0, 0, 0, 0, 0, 1.1]
    formulation: spline
  wire:
    length: 1
    section: {stiffness: {bending: [1, 2], twist: 3, shear: 4, axial: 5, mass: 0.1}}
  any:
    length: 1
    section: {section: {area: 1e-4, Ix: 1e-9, Iy: 2e-9, J: 3e-9}}
    material: {E: 1e6, G: 4e5}
loads:
  push: {on: {part: arm, at: tip}, force: [0, 0, -0.1], frame: body}
  middle: {on: {part: arm, at: 0.15, offset: [0, 0, 0.01]}, moment: [1, 0, 0]}
  root: {on: {part: arm, at: base}}
  wind: {on: strip, force: [1, 0, 0], over: [0.05, 0.1]}
  gust: {on: strip, force: {table: {s: [0, 0.2], values: [[0, 0, 0], [2, 0, 0]]}}}
constraints:
  grip: {on: {part: strip, at: tip}, to: {position: [0.1, 0, 0]}, kind: articulated}
  tie: {on: {part: strip, at: 0.1}, to: {part: arm, at: 0.2}, hold: [y, x]}
  here: {on: {part: wire, at: tip}}
inputs:
  push: {ramp: {start: 0, end: 1, t0: 0, t1: 0.5}}
  middle: 2
  root: [1, 2, 3]
  wind: {sine: {amplitude: 1, frequency: 2}}
  gust: {table: {csv: gust.csv, time: time, value: speed}}
modes: {count: 4}
statics:
simulate:
  duration: 2
  dt: 0.01
  start: statics
  integrator: {general_alpha: {rho: 1}}
  output_every: 0.02
"""


@pytest.fixture
def full(tmp_path):
    (tmp_path / "gust.csv").write_text("time,speed\n0,0\n1,4\n", encoding="utf-8")
    file = tmp_path / "robot.yaml"
    file.write_text(FULL, encoding="utf-8")
    return load_robot_file(file, FORMULATIONS, INTEGRATORS)


def load_text(tmp_path, text):
    file = tmp_path / "robot.yaml"
    file.write_text(text, encoding="utf-8")
    return load_robot_file(file, FORMULATIONS, INTEGRATORS)


def test_rods_come_in_the_order_that_carries_them(full):
    names = list(full.description.rods)
    assert names.index("arm") < names.index("hand")
    full.description.validate()


def test_arm_is_as_described(full):
    arm = full.description.rods["arm"]
    assert arm.length == 0.3
    assert arm.section == Circle((0.01, 0.005), shear_factor=0.9)
    assert arm.material == Material(E=1e6, nu=0.5, rho=1000, viscosity=10)
    np.testing.assert_array_equal(arm.pose, along("x", (1, 2, 3)))
    np.testing.assert_allclose(arm.natural_strain([0.15]), [[0, 0.5, 0, 0, 0, 1]])
    assert arm.formulation == Spline(degree=2, spacing=(0.5, 0.5))
    assert (arm.base, arm.theory) == ("world", "cosserat")


def test_other_sections_bases_and_poses(full):
    rods = full.description.rods
    hand = rods["hand"]
    assert isinstance(hand.section, Annulus)
    np.testing.assert_allclose(hand.section.inner(0.05), 4.5e-3)
    assert hand.base == Frame("arm", 0.3, (0, 0.01))
    np.testing.assert_allclose(hand.pose, pose((0, 0, 0.1), (0, 0, 0.5)), atol=1e-15)
    strip = rods["strip"]
    assert strip.section == Rectangle(0.02, 0.01)
    assert strip.material.rho == 1200
    assert (strip.base, strip.theory, strip.formulation) == (None, "kirchhoff", Spline())
    assert strip.natural == (0, 0, 0, 0, 0, 1.1)
    np.testing.assert_array_equal(rods["wire"].stiffness([0.5]), [[1, 2, 3, 4, 4, 5]])
    assert rods["any"].section == Section(1e-4, 1e-9, 2e-9, 3e-9)
    assert rods["any"].material.shear_modulus == 4e5


def test_loads_and_constraints(full):
    loads, constraints = full.description.loads, full.description.constraints
    assert loads["push"].on == Frame("arm", 0.3)
    assert loads["push"].frame == "body"
    np.testing.assert_array_equal(loads["push"].wrench(), [0, 0, 0, 0, 0, -0.1])
    assert loads["middle"].on == Frame("arm", 0.15, (0, 0, 0.01))
    assert loads["root"].on == Frame("arm", 0)
    assert (loads["wind"].on, loads["wind"].over) == ("strip", (0.05, 0.1))
    np.testing.assert_allclose(loads["gust"].density([0.1]), [[0, 0, 0, 1, 0, 0]])
    assert constraints["grip"].rows == (3, 4, 5)
    np.testing.assert_array_equal(constraints["grip"].to, pose((0.1, 0, 0)))
    assert constraints["tie"].rows == (3, 4)
    assert constraints["tie"].to == Frame("arm", 0.2)
    assert constraints["here"].to is None
    assert constraints["here"].kind == "fixed"


def test_inputs_over_time(full):
    assert full.inputs["push"] == Ramp(0, 1, 0, 0.5)
    assert full.inputs["middle"] == Constant(2)
    assert full.inputs["root"] == (1, 2, 3)
    assert full.inputs["wind"] == Sine(1, 2)
    now = full.inputs_at(0.25)
    assert (now["push"], now["middle"], now["root"], now["gust"]) == (0.5, 2.0, (1, 2, 3), 1.0)


def test_runs_come_in_the_order_of_the_file(full):
    assert full.runs == (
        ModesRun(4),
        StaticsRun(),
        SimulateRun(2.0, 0.01, "statics", Alpha(1), 0.02),
    )


SMALL = """
rods:
  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.5}}
"""


def test_what_is_left_out_takes_its_default(tmp_path):
    found = load_text(tmp_path, SMALL)
    assert found.description.gravity == (0.0, 0.0, -9.81)
    assert (found.inputs, found.runs) == ({}, ())
    arm = found.description.rods["arm"]
    np.testing.assert_array_equal(arm.pose, np.eye(4))
    assert (arm.natural, arm.formulation) == ((0.0, 0.0, 0.0), None)


@pytest.mark.parametrize(
    "section", ["statics:", "statics: {}", "modes:", "simulate: {duration: 1, dt: 0.1}"]
)
def test_short_run_sections(tmp_path, section):
    (run,) = load_text(tmp_path, SMALL + section).runs
    assert run in (StaticsRun(), ModesRun(6), SimulateRun(1.0, 0.1))


def test_runs_take_an_accuracy_instead_of_a_step(tmp_path):
    text = "statics: {accuracy: 1e-4}\nmodes: {count: 2, accuracy: 1e-3}\nsimulate: {duration: 1}\n"
    still, modes, move = load_text(tmp_path, SMALL + text).runs
    assert (still.accuracy, modes.accuracy, move.dt, move.accuracy) == (1e-4, 1e-3, None, None)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("statics: {accuracy: 2}", "between 1e-08 and 0.1; give e.g. 1e-3"),
        ("simulate: {duration: 1, error: true}", "error = True: must be false, for a motion"),
        ("simulate: {duration: 1, dt: 0.1, accuracy: 1e-3, error: true}", "error = True"),
        ("simulate: {duration: 1, dt: 2}", "at most the duration 1 s"),
    ],
)
def test_accuracies_that_cannot_be_are_refused(tmp_path, section, words):
    with pytest.raises(FileError, match=words):
        load_text(tmp_path, SMALL + section)


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("{constant: 3}", Constant(3)),
        ("3.5", Constant(3.5)),
        ("{step: {before: 1, after: 2, time: 0.5}}", Step(1, 2, 0.5)),
        ("{step: {before: 1, after: 2, time: 0.5, rise: 0.1}}", Step(1, 2, 0.5, 0.1)),
        ("{sweep: {amplitude: 1, f0: 0, f1: 2, duration: 3}}", Sweep(1, 0, 2, 3)),
    ],
)
def test_each_kind_of_signal(tmp_path, text, signal):
    body = SMALL + "loads: {p: {on: arm}}\ninputs:\n  p: " + text
    assert load_text(tmp_path, body).inputs["p"] == signal


def test_inline_table_signal(tmp_path):
    body = SMALL + "loads: {p: {on: arm}}\ninputs: {p: {table: {t: [0, 1], values: [0, 5]}}}"
    assert load_text(tmp_path, body).inputs["p"](0.5) == 2.5


def test_column_of_a_profile_table_may_be_called_value(tmp_path):
    text = SMALL.replace("radius: 0.01", "radius: {table: {s: [0, 0.3], value: [0.01, 0.02]}}")
    arm = load_text(tmp_path, text).description.rods["arm"]
    np.testing.assert_allclose(arm.section.radius(0.15), 0.015)


def test_byte_order_mark_is_forgiven(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert list(load_robot_file(file).description.rods) == ["arm"]


def test_json_schema_names_every_section_and_is_plain_json():
    schema = json.loads(json.dumps(json_schema()))
    parts = {"rods", "loads", "constraints", "bodies", "base_motions", "chambers", "actuators"}
    sections = {"gravity", *parts, "parts", "effects", "inputs", "statics", "simulate", "modes"}
    assert sections <= set(schema["properties"])
    assert schema["additionalProperties"] is False
    assert {"required": ["rods"]} in schema["anyOf"] and {"required": ["bodies"]} in schema["anyOf"]
    assert set(schema["$defs"]["Rod"]["required"]) == {"length", "section"}
    length = schema["$defs"]["Rod"]["properties"]["length"]["anyOf"]
    assert length == [{"type": "number", "exclusiveMinimum": 0}, {"$ref": "#/$defs/arithmetic"}]


def test_damping_per_strain_is_read(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(
        "rods:\n  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.5},\n"
        "    strain_damping: {bending: [1e-4, 2e-4], axial: {table: {s: [0, 0.3], values: [0, 1]}}}}\n"
    )
    found = load_robot_file(file).description.rods["arm"].damping([0.0, 0.3])
    np.testing.assert_allclose(found[1], [1e-4, 2e-4, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(found[0, 5], 0.0)


@pytest.mark.parametrize("gap", [", ", ",\n      "], ids=["one line", "many lines"])
def test_long_lists_of_numbers_are_read_as_short_ones(tmp_path, gap):
    t = np.arange(4000) * 0.25
    columns = [gap.join(f"{x:.6g}" for x in column) for column in (t, np.sin(t))]
    table = f"{{t: [{columns[0]}], values: [{columns[1]}]}}"
    text = SMALL + f"loads: {{p: {{on: arm}}}}\ninputs: {{p: {{table: {table}}}}}\n"
    found = load_text(tmp_path, text).inputs["p"]
    np.testing.assert_array_equal(found.t, t)
    np.testing.assert_allclose(found.values, np.sin(t), rtol=1e-5)
    lines = text.count("\n")
    with pytest.raises(FileError, match=rf"{lines + 1}:9: modes: count = 0"):
        load_text(tmp_path, text + "modes: {count: 0}\n")
    columns[1] = columns[1].rpartition(",")[0]
    with pytest.raises(FileError, match="as many values as t has entries"):
        load_text(tmp_path, text.replace(table, f"{{t: [{columns[0]}], values: [{columns[1]}]}}"))


def test_parts_hang_on_each_other_by_joints(tmp_path):
    text = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1e6, nu: 0.5}
    base: {part: crank, offset: [0, 0.02, 0], rotation_vector: [0, 1.5, 0]}
bodies:
  crank: {mass: 1, joint: {revolute: {axis: z, drive: angle, input: turn}}}
  hand: {mass: 0.1, on: {part: arm}, pose: {along: x}, joint: {revolute: {stiffness: 0.1}}}
  ball: {mass: 0.1, joint: free}
inputs: {turn: 0.5}
"""
    found = load_text(tmp_path, text)
    parts = found.description.parts
    assert list(found.description.bodies) == ["crank", "hand", "ball"]
    assert [part.name for part in found.description.from_root()][-2:] == ["arm", "hand"]
    assert parts["arm"].base == Frame("crank", 0.0, (0, 0.02, 0), (0, 1.5, 0))
    assert parts["hand"].joint == Revolute(stiffness=0.1)
    assert parts["ball"].joint == Free()
    assert parts["crank"].motion_inputs() == ["turn"]
    assert found.inputs_at(0.0) == {"turn": 0.5}
