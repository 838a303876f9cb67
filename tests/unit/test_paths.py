"""Paths into a description: every number can be read and replaced, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.paths import number_paths, value_at, with_values


def robot() -> pl.Robot:
    found = pl.Robot()
    arm = found.add_rod(
        "arm",
        0.3,
        pl.Circle((0.01, 0.006)),
        pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=500.0),
        natural=lambda s: (s, 0.0, 0.0),
        drag=(1.0, 2.0, 3.0),
    )
    section = pl.Stiffness(bending=(1e-3, 2e-3), twist=1e-3, shear=10.0, axial=20.0, mass=0.1)
    hand = found.add_rod("hand", 0.2, section, base=arm.tip)
    found.add_load("push", hand.tip, force=(0.0, 0.0, -0.05))
    found.add_load("wind", arm, force=(0.0, 1.0, 0.0), over=(0.1, 0.3))
    found.add_body("camera", 0.02, on=hand.at(0.1))
    return found


@pytest.mark.parametrize(
    ("path", "full", "value", "whole"),
    [
        ("arm.material.E", "arm.material.E", 1e6, False),
        ("arm.E", "arm.material.E", 1e6, False),
        ("hand.bending", "hand.section.bending", 1.0, True),
        ("hand.bending[1]", "hand.section.bending[1]", 2e-3, False),
        ("arm.section.radius", "arm.section.radius", 1.0, True),
        ("arm.radius[1]", "arm.section.radius[1]", 0.006, False),
        ("arm.natural", "arm.natural", 1.0, True),
        ("arm.pose[2,3]", "arm.pose[2,3]", 0.0, False),
        ("push.force[2]", "push.force[2]", -0.05, False),
        ("camera.mass", "camera.mass", 0.02, False),
        ("gravity[2]", "gravity[2]", -9.81, False),
        ("hand.retardation", "hand.section.retardation", 0.0, False),
    ],
)
def test_path_leads_to_its_number(path: str, full: str, value: float, whole: bool) -> None:
    found = value_at(robot().description, path)
    assert (found.path, found.value, found.whole) == (full, value, whole)


def test_every_listed_path_can_be_read_and_replaced() -> None:
    description = robot().description
    for path in number_paths(description):
        found = value_at(description, path)
        assert found.path == path
        new = with_values(description, {path: found.value})
        assert value_at(new, path).value == found.value
    assert "arm.material.nu" in number_paths(description)
    assert not any(".on" in path or "formulation" in path for path in number_paths(description))


def test_described_robot_stays_as_it_is() -> None:
    before = robot().description
    after = with_values(before, {"arm.E": 2e6, "push.force": 2.0, "arm.natural": 3.0})
    assert before.rods["arm"].material.E == 1e6 and after.rods["arm"].material.E == 2e6
    assert after.loads["push"].force == (0.0, 0.0, -0.1)
    assert after.rods["arm"].natural_strain([0.1])[0, 0] == pytest.approx(0.3)
    assert after.rods["hand"] is before.rods["hand"]


def test_tables_and_pairs_are_scaled_as_a_whole() -> None:
    found = pl.Robot()
    table = pl.Table([0.0, 0.3], [0.01, 0.02])
    found.add_rod("arm", 0.3, pl.Circle(table), pl.Material(E=1e6, nu=0.5))
    new = with_values(found.description, {"arm.radius": 0.5})
    assert new.rods["arm"].section.geometry([0.3], 0.3).area == pytest.approx(np.pi * 1e-4)


def test_frames_at_the_tip_follow_the_length() -> None:
    new = with_values(robot().description, {"arm.length": 0.4, "hand.length": 0.15})
    assert new.rods["hand"].base.s == 0.4
    assert new.loads["push"].on.s == 0.15
    assert new.loads["wind"].over == (0.1, 0.4)
    assert new.bodies["camera"].on.s == 0.1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("arm.materia.E", "arm.material.E"),
        ("arm.Q", "path into this robot"),
        ("arm", "path of a number"),
        ("arm.theory", "path of a number"),
        ("arm.natural[0]", "index"),
        ("arm.drag[5]", "index"),
        ("arm.drag[0][1]", "index"),
        ("arm.dr-ag", "brackets"),
        ("", "dotted path"),
        (3, "dotted path"),
    ],
)
def test_wrong_path_is_refused_with_a_hint(path: object, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        value_at(robot().description, path)


def test_value_that_cannot_be_is_refused_by_the_part() -> None:
    with pytest.raises(pl.DescriptionError, match="E"):
        with_values(robot().description, {"arm.E": -1.0})


def mounted() -> pl.Robot:
    found = pl.Robot()
    for name in ("block", "wheel"):
        joint = pl.FreeDirections(("x", "z")) if name == "block" else pl.Revolute("z")
        found.add_body(name, 0.2, (1e-4,) * 3, joint=joint)
    found.add_bushing("mount", "block", stiffness={"x": 50.0, "z": 60.0})
    found.add_gear("rack", "wheel", {"block.x": 2.0, "block.z": 0.5})
    return found


def test_numbers_by_name_have_paths() -> None:
    before = mounted().description
    paths = [path for path in number_paths(before) if path.startswith("mount.")]
    assert paths == ["mount.stiffness.x", "mount.stiffness.z", "mount.power"]
    after = with_values(before, {"mount.stiffness.z": 70.0})
    assert value_at(after, "mount.stiffness.z").value == 70.0
    assert after.parts["mount"].stiffness == {"x": 50.0, "z": 70.0}
    with pytest.raises(pl.DescriptionError, match=r"path of a number.*mount.stiffness.x"):
        value_at(before, "mount.stiffness")
    with pytest.raises(pl.DescriptionError, match=r"path into this robot") as error:
        value_at(before, "mount.stiffness.y")
    below = "choose from 'mount.stiffness.x', 'mount.stiffness.z'"
    assert str(error.value).endswith(below), "no paths of other parts"
    with pytest.raises(
        pl.DescriptionError, match=r"choose from .*'block', 'wheel', 'mount', 'rack'$"
    ):
        value_at(before, "q")
