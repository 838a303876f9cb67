"""Each wrong field of a robot file gets one line with place, part, field, value and remedy."""

from dataclasses import dataclass
from typing import Literal

import pytest

from pliant.files import FileError, load_robot_file
from pliant.model import DescriptionError


@dataclass(frozen=True)
class Spline:
    degree: int = 3
    points: int = 15
    map: Literal["exp", "cayley"] = "exp"

    def __post_init__(self):
        if self.points <= self.degree:
            raise ValueError(f"points must be more than degree {self.degree}")
        if self.degree < 1:
            raise DescriptionError("Spline", "degree", self.degree, "1 or more", "give e.g. 3")


class Needs:
    def __init__(self, steps: int, tolerance: float = 1e-8):
        self.steps, self.tolerance = steps, tolerance


FORMULATIONS = {"Spline": Spline, "Needs": Needs}
INTEGRATORS = {"Midpoint": Needs}

ROD = "{length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.5}}"


def only_error(tmp_path, text):
    file = tmp_path / "robot.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_robot_file(file, FORMULATIONS, INTEGRATORS)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value).removeprefix(str(tmp_path) + "/")


def in_rod(fields):
    """Return a file whose rod 'arm' has these lines changed or added, and the fields of a rod."""
    rod = {
        "length": "0.3",
        "section": "{circle: {radius: 0.01}}",
        "material": "{E: 1.0e6, nu: 0.5}",
        **fields,
    }
    lines = "".join(f"    {name}: {value}\n" for name, value in rod.items() if value is not None)
    return "rods:\n  arm:\n" + lines


def test_the_line_of_the_manual(tmp_path):
    assert only_error(tmp_path, in_rod({"length": "-1"})) == (
        "robot.yaml:3:5: rod 'arm': length = -1: must be a positive number in metres; give e.g. 0.3"
    )


ROD_CASES = [
    ({"length": None}, "2:3: rod 'arm': length is missing (metres); give e.g. 0.3"),
    ({"length": '"0.3"'}, "3:5: rod 'arm': length = '0.3': must be a positive number in metres"),
    ({"length": "true"}, "3:5: rod 'arm': length = True: must be a positive number"),
    ({"length": ".nan"}, "3:5: rod 'arm': length = nan: must be a positive number"),
    ({"length": ".inf"}, "3:5: rod 'arm': length = inf: must be a positive number"),
    ({"length": ""}, "3:5: rod 'arm': length = None: must be a positive number"),
    ({"lenght": "3"}, "6:5: rod 'arm': lenght = 3: must be left out"),
    ({"colour": "red"}, "remove it"),
    ({"section": "3"}, "4:5: rod 'arm': section = 3: must be a group with the fields circle"),
    ({"section": "{}"}, "4:5: rod 'arm': section = 'nothing': must be exactly one of circle"),
    (
        {"section": "{circle: {radius: -1}}"},
        "4:24: rod 'arm': section.circle.radius = -1: must be a pos",
    ),
    ({"section": "{circle: {raduis: 1}}"}, "did you mean 'radius'?"),
    ({"section": "{circl: {radius: 1}}"}, "did you mean 'circle'?"),
    (
        {"section": "{circle: {radius: [1, 2, 3]}}"},
        "radius = [1, 2, 3]: must be a number, a (base, tip)",
    ),
    ({"section": "{circle: {radius: {tabel: 3}}}"}, "give {table: {s: [...], values: [...]}}"),
    ({"section": "{circle: {radius: {table: {s: [0]}}}}"}, "given with s and values"),
    ({"section": "{circle: {radius: {table: {s: [0], x: [1]}}}}"}, "radius.table.x = [1]"),
    (
        {"section": "{circle: {radius: {table: {s: [0, 0], values: [1, 1]}}}}"},
        "strictly increasing",
    ),
    ({"section": "{circle: {radius: {table: {s: [0, 0.1], values: [1, 1]}}}}"}, "end it at 0.3"),
    (
        {"section": "{annulus: {outer: 1, inner: 2}}"},
        "4:35: rod 'arm': section.annulus.inner = 2.0: must be less",
    ),
    (
        {
            "section": "{stiffness: {bending: [1, -2], twist: 1, shear: 1, axial: 1}}",
            "material": None,
        },
        "section.stiffness.bending = -2: must be a positive number in N m^2",
    ),
    (
        {"section": "{stiffness: {bending: 1, twist: 1, shear: 1, axial: 1}}"},
        "left out when the section is",
    ),
    ({"material": None}, "2:3: rod 'arm': material is missing; give e.g. {E: 1.0e6, nu: 0.5"),
    (
        {"material": "{E: 1.0e6}"},
        "5:5: rod 'arm': material.nu, G = (None, None): must be exactly one",
    ),
    (
        {"material": "{E: -1, nu: 0.5}"},
        "5:16: rod 'arm': material.E = -1: must be a positive number in Pa",
    ),
    ({"material": "{E: 1, nu: 0.9}"}, "5:22: rod 'arm': material.nu = 0.9: must be above -1"),
    (
        {"material": "{E: 1, nu: 0.5, rho: heavy}"},
        "material.rho = 'heavy': must be zero or a positive",
    ),
    ({"pose": "{along: w}"}, "6:12: rod 'arm': pose.along = 'w': must be one of 'x'"),
    ({"pose": "{along: x, position: [0, 0, 0]}"}, "along with origin, or position with"),
    ({"pose": "{}"}, "rod 'arm': pose = 'nothing'"),
    ({"pose": "{position: [0, 0]}"}, "pose.position = [0, 0]: must be 3 finite numbers in metres"),
    (
        {"base": "wrld"},
        "6:5: rod 'arm': base = 'wrld': must be 'world', 'free', or a place on another part such as "
        "'other.tip'; did you mean 'world'?",
    ),
    ({"base": "{part: amr}"}, "6:12: rod 'arm': base.part = 'amr': must be the name of a rod"),
    ({"base": "{part: arm}"}, "rod 'arm': base = {'part': 'arm'}: must be a frame of another part"),
    (
        {"natural": "[1, 2]"},
        "6:5: rod 'arm': natural = [1, 2]: must be 3 or 6 finite numbers in rad/m",
    ),
    (
        {"natural": "{table: {s: [0, 0.3], values: [1, 2]}}"},
        "natural.table.values = 1.0: must be rows",
    ),
    ({"drag": "-1"}, "6:5: rod 'arm': drag = -1: must be zero or a positive number in kg/m^2"),
    ({"drag": "[1, 2]"}, "6:5: rod 'arm': drag = [1, 2]: must be 3 finite numbers in kg/m^2"),
    ({"drag": "[1, -2, 1]"}, "rod 'arm': drag = [1, -2, 1]: must be zero or positive numbers"),
    ({"mass_damping": "-1"}, "mass_damping = -1: must be zero or a positive number in 1/s"),
    ({"rotary": "0"}, "6:5: rod 'arm': rotary = 0: must be True or False"),
    ({"theory": "cossert"}, "6:5: rod 'arm': theory = 'cossert': must be one of 'cosserat'"),
    (
        {"formulation": "splin"},
        "6:5: rod 'arm': formulation = 'splin': must be one of Spline, Needs; did",
    ),
    ({"formulation": "3"}, "6:5: rod 'arm': formulation = 3: must be a name"),
    ({"formulation": "{spline: {degre: 3}}"}, "6:28: rod 'arm': formulation.spline.degre = 3"),
    ({"formulation": "{spline: {degree: 3.5}}"}, "formulation.spline.degree = 3.5: must be"),
    ({"formulation": "{spline: {degree: two}}"}, "spline.degree = 'two': must be a whole number"),
    ({"formulation": "{spline: {degree: true}}"}, "spline.degree = True: must be a whole number"),
    ({"formulation": "{spline: {map: log}}"}, "spline.map = 'log': must be one of 'exp', 'cayley'"),
    (
        {"formulation": "{spline: {points: 2}}"},
        "6:19: rod 'arm': formulation.spline: points must be more",
    ),
    ({"formulation": "{spline: {degree: 0}}"}, "formulation.spline.degree = 0: must be 1 or more"),
    ({"formulation": "needs"}, "formulation.needs.steps is missing"),
]


@pytest.mark.parametrize(("fields", "message"), ROD_CASES, ids=[text for _, text in ROD_CASES])
def test_wrong_rod(tmp_path, fields, message):
    found = only_error(tmp_path, in_rod(fields))
    assert message in found
    assert found.startswith("robot.yaml:")


OTHER_CASES = [
    (
        "gravity: 9.81",
        "2:1: robot: gravity = 9.81: must be 3 finite numbers in m/s^2; give e.g. [0.0, ",
    ),
    ("robot: 3", "2:1: robot: robot = 3: must be left out"),
    ("lods: {}", "did you mean 'loads'?"),
    ("loads: 3", "2:1: robot: loads = 3: must be a group of named entries"),
    ("loads: {p: 3}", "2:9: load 'p': entry = 3: must be a group with the fields on, force"),
    ("loads: {p: {}}", "2:9: load 'p': on is missing (a place, or the name of a rod"),
    (
        "loads: {p: {on: amr}}",
        "2:13: load 'p': on = 'amr': must be a place such as 'arm.tip', or the name of a rod for all "
        "of it; did you mean 'arm'?",
    ),
    (
        "loads: {p: {on: amr.tip}}",
        "2:13: load 'p': on = 'amr.tip': must be a place such as 'arm.tip'",
    ),
    ("loads: {p: {on: amr.tip}}", "did you mean 'arm.tip'?"),
    ("loads: {p: {on: arm.tpi}}", "did you mean 'arm.tip'?"),
    ("loads: {p: {on: arm.0.4}}", "2:13: load 'p': on.s = 0.4: must be"),
    (
        "bodies: {b: {mass: 1, on: arm}}",
        "on = 'arm': must be a Frame, or its name such as 'arm.tip'",
    ),
    ("chambers: {c: {on: arm.tip, area: 1e-5}}", "all of it"),
    ("loads: {p: {on: 3}}", "2:13: load 'p': on = 3: must be a place such as 'arm.tip'"),
    ("loads: {p: {on: {part: amr}}}", "2:18: load 'p': on.part = 'amr'"),
    (
        "loads: {p: {on: {part: arm, at: 0.4}}}",
        "load 'p': on.at = 0.4: must be an arclength from 0",
    ),
    (
        "loads: {p: {on: {part: arm, at: tpi}}}",
        "on.at = 'tpi': must be one of 'tip', 'base'; did you",
    ),
    ("loads: {p: {on: arm, force: [0, x, 0]}}", "load 'p': force = [0, 'x', 0]: must be 3 finite"),
    (
        "loads: {p: {on: arm, frame: word}}",
        "frame = 'word': must be 'world', 'body', or a place on another part such as 'table'; did",
    ),
    ("loads: {p: {on: arm, over: [0, 9]}}", "load 'p': over = 9.0: must be an arclength"),
    (
        "loads: {p: {on: {part: arm}, over: [0, 0.1]}}",
        "load 'p': over = [0, 0.1]: must be left out",
    ),
    ("loads: {arm: {on: arm}}", "2:9: load 'arm': name = 'arm': must be unique in the robot (rod"),
    ("loads: {world: {on: arm}}", "name = 'world': must be a name of your own"),
    ("constraints: {c: {}}", "2:15: constraint 'c': on is missing"),
    ("constraints: {c: {on: {part: arm}, to: {part: arm}}}", "must be another frame than 'on'"),
    ("constraints: {c: {on: {part: arm}, to: {x: 1, part: arm}}}", "to.x = 1: must be left out"),
    ("constraints: {c: {on: {part: arm}, to: {position: [0]}}}", "to.position = [0]: must be 3"),
    ("constraints: {c: {on: {part: arm}, kind: fixd}}", "kind = 'fixd': must be one of 'fixed'"),
    ("constraints: {c: {on: {part: arm}, hold: [x, w]}}", "hold[1] = 'w': must be one of 'rx'"),
    (
        "constraints: {c: {on: {part: arm}, hold: x}}",
        "hold = 'x': must be a list; give e.g. [x, y]",
    ),
    ("constraints: {c: {on: {part: arm}, kind: fixed, hold: [x]}}", "left out when kind is given"),
    ("bodies: {b: {on: {part: arm}}}", "2:10: body 'b': mass is missing (kg); give e.g. 0.02"),
    (
        "bodies: {b: {mass: 1, on: {part: b}}}",
        "body 'b': on = {'part': 'b'}: must be a frame of ano",
    ),
    (
        "bodies: {b: {mass: 1}, c: {mass: 1, on: {part: b, at: 0.1}}}",
        "on.at = 0.1: must be left out",
    ),
    ("bodies: {b: {mass: 1, joint: hing}}", "2:23: body 'b': joint = 'hing': must be one of f"),
    ("bodies: {b: {mass: 1, joint: {revolut: {}}}}", "did you mean 'revolute'?"),
    ("bodies: {b: {mass: 1, joint: {revolute: {axis: w}}}}", "joint.revolute.axis = 'w': must be"),
    ("bodies: {b: {mass: -1, on: {part: arm}}}", "body 'b': mass = -1: must be zero or a pos"),
    ("bodies: {b: {mass: 1, on: {part: amr}}}", "body 'b': on.part = 'amr': must be the name"),
    (
        "bodies: {b: {mass: 1, on: {part: arm}, inertia: [1, 1]}}",
        "body 'b': inertia = [1, 1]: must be 3 or 6 finite numbers in kg m^2",
    ),
    (
        "bodies: {b: {mass: 1, on: {part: arm}, inertia: [1, 1, 3]}}",
        "body 'b': inertia = [1, 1, 3]: must be moments of which no one exceeds",
    ),
    ("bodies: {arm: {mass: 1, on: {part: arm}}}", "body 'arm': name = 'arm': must be unique"),
    (
        "base_motions: {m: {}}",
        "2:16: base motion 'm': of is missing (name of a rod); give e.g. arm",
    ),
    ("base_motions: {m: {of: amr}}", "base motion 'm': of = 'amr': must be the name of a rod"),
    ("base_motions: {m: {of: arm}}", "base motion 'm': translation, rotation = "),
    (
        "base_motions: {m: {of: arm, rotation: 3}}",
        "base motion 'm': rotation = 3: must be 3 finite numbers in radians per unit of input",
    ),
    (
        "base_motions: {m: {of: arm, rotation: [0, 0, 1]}}\ninputs: {m: [1, 2, 3]}",
        "3:10: input 'm': entry = [1, 2, 3]: must be a number or a signal for a base motion",
    ),
    ("inputs: {p: 1}", "2:10: input 'p': name = 'p': must be the name of a load, a base"),
    ("statics: 3", "2:1: robot: statics = 3: must be a group with the fields accuracy"),
    ("statics: {x: 3}", "statics: x = 3: must be left out"),
    ("simulate: {dt: 0.1}", "simulate: duration is missing (seconds)"),
    (
        "simulate: {duration: 1, dt: 0}",
        "2:25: simulate: dt = 0: must be a positive number in seconds",
    ),
    (
        "simulate: {duration: 1, dt: 2}",
        "2:25: simulate: dt = 2.0: must be at most the duration 1 s",
    ),
    (
        "simulate: {duration: 1, dt: 0.1, output_every: 0.01}",
        "output_every = 0.01: must be at least",
    ),
    ("simulate: {duration: 1, dt: 0.1, start: now}", "simulate: start = 'now': must be one of"),
    (
        "simulate: {duration: 1, dt: 0.1, integrator: euler}",
        "integrator = 'euler': must be one of Midpoint",
    ),
    (
        "simulate: {duration: 1, dt: 0.1, integrator: {midpoint: {step: 1, steps: 2}}}",
        "did you mean 'steps'?",
    ),
    ("modes: {count: 0}", "2:9: modes: count = 0: must be a whole number of 1 or more"),
    ("modes: {count: 1.5}", "modes: count = 1.5: must be a whole number"),
    ("rods: {}", "the key 'rods' stands here twice"),
    ("3: 4", "2:1: the key '3' is not a text; put it in quotes"),
]


@pytest.mark.parametrize(("line", "message"), OTHER_CASES, ids=[line for line, _ in OTHER_CASES])
def test_wrong_section(tmp_path, line, message):
    assert message in only_error(tmp_path, f"rods: {{arm: {ROD}}}\n{line}\n")


INPUT_CASES = [
    ("text", "must be a finite number"),
    ("[1, 2]", "must be 3 or 6 finite numbers"),
    ("{}", "input 'p': entry = 'nothing': must be exactly one of constant, ramp"),
    ("{rmp: {}}", "did you mean 'ramp'?"),
    ("{constant: x}", "input 'p': constant = 'x': must be a finite number"),
    ("{ramp: {start: 0, end: 1, t0: 1, t1: 0}}", "ramp.t1 = 0.0: must be later than t0 = 1 s"),
    ("{sine: {amplitude: 1, frequency: 0}}", "sine.frequency = 0: must be a positive number in Hz"),
    ("{sweep: {amplitude: 1, f0: 1, f1: 2}}", "sweep.duration is missing (seconds)"),
    ("{table: {t: [0, 1]}}", "input 'p': table = 't': must be t with values, or csv"),
    ("{table: {t: [0, 1], values: [1]}}", "table.values = [1]: must be as many values"),
    ("{table: {t: [1, 0], values: [1, 2]}}", "table.t = [1, 0]: must be strictly increasing"),
    ("{table: {csv: no.csv}}", "must be a readable CSV file (No such file or directory)"),
    (
        "{table: {csv: p.csv, value: forces}}",
        "table.value = 'forces': must be the name of a column",
    ),
    (
        "{table: {csv: p.csv, value: bad}}",
        "table.value = 'x': must be a column of numbers (row 3 of p.csv)",
    ),
]


@pytest.mark.parametrize(("text", "message"), INPUT_CASES, ids=[text for text, _ in INPUT_CASES])
def test_wrong_input(tmp_path, text, message):
    (tmp_path / "p.csv").write_text("t,force,bad\n0,1,1\n1,2,x\n", encoding="utf-8")
    body = f"rods: {{arm: {ROD}}}\nloads: {{p: {{on: arm}}}}\ninputs: {{p: {text}}}\n"
    found = only_error(tmp_path, body)
    assert message in found
    assert found.startswith("robot.yaml:3:")
