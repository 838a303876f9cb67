"""Classes that a user defines in a script: robot files, paths and schema know them at once."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import pliant as pl
from pliant.files import FileError, json_schema, load_robot_file
from pliant.files.rewrite import rewritten
from pliant.model import Description, DescriptionError, Frame, Rod
from pliant.model.fields import fields_of, holds, quantity
from pliant.model.paths import number_paths, value_at, with_values
from pliant.model.places import OnFrame, OnRod
from pliant.model.registry import Effect, class_of, headings, variants
from pliant.model.section import SectionGeometry, Shape


@dataclass(frozen=True, eq=False)
class SoilBed(Effect):
    """An elastic bed along a rod."""

    on: str = holds(OnRod())
    stiffness: float = quantity("N/m^2", "per length", sign="positive", along=True, example="100")
    normal: tuple[float, ...] = quantity("", "world frame", shape=3, default=(0.0, 0.0, 1.0))

    def inputs(self) -> dict[str, float]:
        return {self.name: 1.0}


@dataclass(frozen=True, eq=False)
class Magnet(Effect):
    """A magnet at a frame, in a section of robot files of its own."""

    on: Frame = holds(OnFrame())
    strength: float = quantity("A m^2", sign="zero", default=1.0)
    turns: int = 1
    label_text: str = ""
    poles: tuple[float, ...] = ()

    heading: ClassVar[str] = "magnets"

    def check(self) -> None:
        if self.turns < 1:
            raise ValueError("turns must be 1 or more")


@dataclass(frozen=True)
class Hexagon(Shape):
    """A solid hexagon by its side."""

    side: float = quantity("metres", sign="positive", along=True, example="0.01")
    shear_factor: float = 1.0

    def geometry(self, s, length):
        a = self._value("side", s, length)
        moment = 5 * np.sqrt(3) / 16 * a**4
        return SectionGeometry(1.5 * np.sqrt(3) * a**2, moment, moment, 2 * moment)

    def outline(self, s, length):
        a = self._value("side", s, length)
        return a, a


ROD = "rods: {arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.5}}}\n"


def load(tmp_path, text):
    file = tmp_path / "robot.yaml"
    file.write_text(text, encoding="utf-8")
    return load_robot_file(file)


def fault(tmp_path, text):
    with pytest.raises(FileError) as caught:
        load(tmp_path, text)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value).removeprefix(str(tmp_path) + "/")


def test_file_names_the_class_in_the_section_of_its_family(tmp_path):
    text = (
        ROD + "effects: {soil: {soil_bed: {on: arm, stiffness: [50, 100]}}}\ninputs: {soil: 0.5}\n"
    )
    found = load(tmp_path, text)
    soil = found.description.parts["soil"]
    assert isinstance(soil, SoilBed)
    assert (soil.on, soil.stiffness, soil.normal) == ("arm", (50.0, 100.0), (0.0, 0.0, 1.0))
    assert found.description.effects == {"soil": soil}
    assert found.description.inputs() == {"soil": 1.0}
    assert found.inputs_at(0.0) == {"soil": 0.5}


def test_class_may_have_a_section_of_its_own(tmp_path):
    text = ROD + "magnets: {m: {on: {part: arm}, turns: 3, poles: [1, 2], label_text: north}}\n"
    magnet = load(tmp_path, text).description.magnets["m"]
    assert magnet.on == Frame("arm", 0.3)
    assert (magnet.turns, magnet.poles, magnet.label_text) == (3, (1.0, 2.0), "north")


def test_section_of_a_rod_may_be_a_shape_of_the_user(tmp_path):
    rod = "{length: 0.3, section: {hexagon: {side: 0.01}}, material: {E: 1e6, nu: 0.5}}"
    found = load(tmp_path, f"rods: {{arm: {rod}}}\n").description.rods["arm"]
    assert found.section == Hexagon(0.01)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("effects: {s: {soil_bed: {on: arm}}}", "2:15: soil bed 's': stiffness is missing (per le"),
        (
            "effects: {s: {soil_bed: {on: arm, stiffness: -1}}}",
            "2:35: soil bed 's': stiffness = -1: must be a positive number in N/m^2; give e.g. 100",
        ),
        (
            "effects: {s: {soil_bed: {on: arm, stifness: 1}}}",
            "2:35: soil bed 's': stifness = 1: must be left out, there is no such field (there are "
            "on, stiffness, normal); did you mean 'stiffness'?",
        ),
        (
            "effects: {s: {soil_bed: {on: amr, stiffness: 1}}}",
            "on = 'amr': must be the name of a rod",
        ),
        ("effects: {s: {soil_bad: {on: arm, stiffness: 1}}}", "did you mean 'soil_bed'?"),
        (
            "effects: {s: {soil_bed: {on: arm, stiffness: 1, normal: [1]}}}",
            "must be 3 finite numbers",
        ),
        ("effects: {s: 3}", "2:11: effect 's': entry = 3: must be one of the classes of effects"),
        ("effects: {arm: {soil_bed: {on: arm, stiffness: 1}}}", "must be unique in the robot (rod"),
        (
            "magnets: {m: {on: {part: arm, at: 9}}}",
            "2:31: magnet 'm': on.at = 9.0: must be an arclen",
        ),
        ("magnets: {m: {on: {part: arm}, turns: 2.5}}", "turns = 2.5: must be a whole number"),
        ("magnets: {m: {on: {part: arm}, turns: 0}}", "magnet 'm': turns must be 1 or more"),
        ("magnts: {}", "did you mean 'magnets'?"),
    ],
)
def test_faults_have_place_field_and_remedy(tmp_path, line, message):
    assert message in fault(tmp_path, ROD + line + "\n")


def test_python_refuses_the_same_in_the_same_words():
    with pytest.raises(DescriptionError, match=r"soil bed 's': stiffness = 0: must be a positive"):
        SoilBed("s", "arm", 0)
    with pytest.raises(DescriptionError, match=r"soil bed: name = 'world'"):
        SoilBed("world", "arm", 1.0)
    robot = Description()
    with pytest.raises(DescriptionError, match=r"soil bed 's': on = 'arm': must be a part of this"):
        robot.add(SoilBed("s", "arm", 1.0))
    assert not robot.parts
    with pytest.raises(DescriptionError, match=r"robot: add = 3: must be a part or an effect"):
        robot.add(3)


def test_numbers_of_the_class_have_paths():
    robot = Description()
    arm = robot.add(Rod("arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5)))
    robot.add(SoilBed("soil", arm, 80.0))
    robot.add(Magnet("m", arm.tip, 2.0))
    assert {"soil.stiffness", "soil.normal[2]", "m.strength"} <= set(number_paths(robot))
    assert value_at(robot, "soil.stiffness").value == 80.0
    new = with_values(robot, {"soil.stiffness": 90.0, "arm.length": 0.5})
    assert new.parts["soil"].stiffness == 90.0
    assert new.parts["m"].on.s == 0.5


def test_schema_has_the_class():
    schema = json_schema()
    bed = schema["properties"]["effects"]["additionalProperties"]["properties"]["soil_bed"]
    assert bed == {"$ref": "#/$defs/SoilBed"}
    assert schema["$defs"]["SoilBed"]["required"] == ["on", "stiffness"]
    magnet = schema["properties"]["magnets"]["additionalProperties"]["$ref"].rpartition("/")[2]
    turns = {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/arithmetic"}]}
    assert schema["$defs"][magnet]["properties"]["turns"] == turns
    assert "hexagon" in schema["$defs"]["ShapeOrStiffness"]["properties"]


def test_schema_keeps_classes_of_one_name_apart():
    """Two scripts may each define a magnet."""

    def other():
        @dataclass(frozen=True, eq=False)
        class Magnet(Effect):
            """Another magnet."""

            gauss: float = 1.0

            file_name: ClassVar[str] = "other_magnet"

        return Magnet

    kept = other()
    schema = json_schema()
    first = schema["properties"]["magnets"]["additionalProperties"]["$ref"].rpartition("/")[2]
    members = schema["properties"]["effects"]["additionalProperties"]["properties"]
    second = members[kept.file_name]["$ref"].rpartition("/")[2]
    assert "turns" in schema["$defs"][first]["properties"]
    assert set(schema["$defs"][second]["properties"]) == {"gauss"}


def test_fields_say_unit_and_meaning():
    found = {name: item.kind.note for name, item in fields_of(SoilBed).items()}
    assert found["stiffness"] == "per length, N/m^2"
    assert fields_of(Rod)["length"].kind.note == "metres"


def test_every_field_of_the_descriptions_says_what_it_is():
    """A field without unit or meaning has a name that says it, or is a group with fields."""
    silent = {
        (cls.__name__, name)
        for cls in [class_of(heading) for heading in headings() if class_of(heading)]
        for name, item in fields_of(cls).items()
        if not item.kind.note and cls.__module__.startswith("pliant")
    }
    assert {name for _, name in silent} <= {
        *("name", "section", "material", "pose", "formulation", "theory", "line", "kind", "hold"),
        *("frame", "on", "to", "joint"),
    }


def test_names_of_sections_are_known_before_their_classes_are_loaded():
    code = (
        "import sys, pliant.files\n"
        "from pliant.model.registry import headings\n"
        "assert {'rods', 'loads', 'chambers', 'actuators'} <= set(headings())\n"
        "loaded = [m for m in sys.modules if m.startswith(('pliant.physics', 'pliant.view'))]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_variants_leave_out_what_files_cannot_say():
    assert list(variants(pl.Signal)) == [
        *("constant", "ramp", "step", "sine", "sweep", "table", "sum", "integral")
    ]
    assert {"lag", "flow"} <= set(variants(pl.PressureLine))


def test_robot_takes_any_registered_object():
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5))
    bed = robot.add(SoilBed("soil", arm, 80.0))
    assert robot.description.parts["soil"] is bed
    assert "soil" in repr(robot)


def test_documentation_lists_every_field():
    page = Path(__file__).resolve().parents[2] / "docs" / "robot_files.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    for heading in (
        "rods",
        "loads",
        "constraints",
        "bodies",
        "base_motions",
        "chambers",
        "actuators",
    ):
        (row,) = [line for line in rows if line.startswith(f"| `{heading}`")]
        told = set(re.findall(r"`(\w+)`", row)) - {heading}
        listed = {name for name, item in fields_of(class_of(heading)).items() if item.kind.listed}
        assert told == listed


def test_fitted_numbers_of_the_class_are_written_back(tmp_path):
    file = tmp_path / "robot.yaml"
    text = ROD + "effects:  # by name\n  soil: {soil_bed: {on: arm, stiffness: 80.0}}  # soft\n"
    file.write_text(text, encoding="utf-8")
    new = with_values(load_robot_file(file).description, {"soil.stiffness": 95.5})
    found = rewritten(file, new, ["soil.stiffness"])
    assert "stiffness: 95.5}}  # soft" in found and "# by name" in found


def test_subclass_of_a_described_class_stays_among_its_kind():
    @dataclass(frozen=True, eq=False)
    class Gust(pl.Load):
        """A load with a class of its own."""

    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5))
    gust = robot.add(Gust("wind", arm.tip, force=(1.0, 0.0, 0.0)))
    assert robot.description.loads == {"wind": gust}
    assert gust.label == "gust 'wind'"
    assert class_of("loads") is pl.Load


@dataclass(frozen=True, eq=False)
class Circling(Effect):
    """The base of a rod goes round a circle in the world's xy plane; the input is the angle, rad."""

    of: str = holds(OnRod())
    radius: float = quantity("metres", sign="positive", example="0.1")

    prescribes = True

    def inputs(self):
        return {self.name: 0.0}

    def moves_base_of(self):
        return self.of

    def displaced(self, base, x, rate, acceleration):
        out, along = np.array([np.cos(x), np.sin(x), 0.0]), np.array([-np.sin(x), np.cos(x), 0.0])
        return base._replace(
            p=base.p + self.radius * (out - (1.0, 0.0, 0.0)),
            velocity=base.velocity + self.radius * rate * along,
            acceleration=base.acceleration + self.radius * (acceleration * along - rate**2 * out),
        )


def test_own_motion_of_a_base_needs_no_edit_elsewhere():
    """A circle of one effect is that of two motions along x and y: positions, velocities, forces."""
    rubber, radius = pl.Material(E=1e7, nu=0.45, rho=1100.0, viscosity=1e4), 0.1
    one, two = pl.Robot(), pl.Robot()
    arms = [robot.add_rod("arm", 0.3, pl.Circle(0.01), rubber) for robot in (one, two)]
    one.add(Circling("turn", arms[0], radius))
    two.add_base_motion("x", arms[1], translation=(1, 0, 0))
    two.add_base_motion("y", arms[1], translation=(0, 1, 0))
    still = one.statics({"turn": np.pi / 2}).position("arm", 0.0)
    np.testing.assert_allclose(still, (-radius, radius, 0.0), atol=1e-12)
    apart = {
        "x": lambda t: radius * (np.cos(3.0 * t**2) - 1.0),
        "y": lambda t: radius * np.sin(3.0 * t**2),
    }
    found = one.simulate(0.3, 5e-3, {"turn": lambda t: 3.0 * t**2})
    truth = two.simulate(0.3, 5e-3, apart)
    s = np.linspace(0.0, 0.3, 5)
    np.testing.assert_allclose(found.pose("arm", s), truth.pose("arm", s), atol=1e-7)
    np.testing.assert_allclose(found.velocity("arm", s), truth.velocity("arm", s), atol=1e-5)
    np.testing.assert_allclose(found.reactions["arm"], truth.reactions["arm"], atol=1e-4)
