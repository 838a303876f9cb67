"""Slips of units are told with the unit that was probably meant; real robots raise no alarm."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pliant as pl
from pliant.cli import main

STEEL = {"E": 2.1e11, "nu": 0.3, "rho": 7850.0}
NITINOL = {"E": 6e10, "nu": 0.33, "rho": 6450.0}
SILICONE = {"E": 1e6, "nu": 0.49, "rho": 1070.0}


def rod(
    length: float = 0.3,
    section: Any = None,
    material: dict[str, float] | None = None,
    gravity: float = 9.81,
    along: str = "x",
    **more: Any,
) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, -gravity))
    matter = None if isinstance(section, pl.Stiffness) else pl.Material(**(material or SILICONE))
    robot.add_rod("arm", length, section or pl.Circle(0.01), matter, pose=pl.along(along), **more)
    return robot


def with_parts(robot: pl.Robot, **parts: dict[str, Any]) -> pl.Robot:
    for kind, given in parts.items():
        getattr(robot, f"add_{kind}")(kind, **given)
    return robot


REAL: dict[str, Callable[[], pl.Robot]] = {
    "silicone finger": lambda: rod(0.1, pl.Circle(0.008), SILICONE),
    "soft silicone arm": lambda: rod(0.25, pl.Circle(0.02), {**SILICONE, "E": 6e4}),
    "very soft arm in water": lambda: rod(0.4, pl.Circle((0.02, 0.003)), {**SILICONE, "E": 2e4}, 0.0),
    "octopus arm": lambda: rod(0.45, pl.Circle((0.015, 0.004)), {**SILICONE, "E": 1.1e5}, along="-z"),
    "hydrogel gripper": lambda: rod(0.02, pl.Circle(0.003), {"E": 5e3, "nu": 0.5, "rho": 1050.0}),
    "magnetic catheter": lambda: rod(0.05, pl.Circle(5e-4), {"E": 3e6, "nu": 0.49, "rho": 2300.0}),
    "magnetic elastomer": lambda: rod(0.02, pl.Circle(1e-3), {"E": 5e5, "nu": 0.49, "rho": 3600.0}),
    "catheter": lambda: rod(1.2, pl.Annulus(1e-3, 7e-4), {"E": 8e7, "nu": 0.45, "rho": 1150.0},
                            along="-z"),
    "guide wire": lambda: rod(0.5, pl.Circle(1.8e-4), NITINOL),
    "nitinol tube": lambda: rod(0.2, pl.Annulus(1e-3, 8e-4), NITINOL, natural=(12.0, 0.0, 0.0)),
    "helix of nitinol": lambda: rod(1.0, pl.Circle(2e-4), NITINOL, natural=(180.0, 0.0, 30.0)),
    "tendon robot": lambda: with_parts(
        rod(0.24, pl.Circle(8e-4), {"E": 2e11, "nu": 0.3, "rho": 7800.0}),
        load={"on": "arm.tip", "force": (0.0, 0.0, -10.0)}),
    "steel wire": lambda: rod(0.5, pl.Circle(5e-4), STEEL),
    "steel cable with a load": lambda: with_parts(
        rod(2.0, pl.Circle(1e-3), STEEL, along="-z"),
        load={"on": "arm.tip", "force": (0.0, 0.0, -500.0)}),
    "spring steel strip": lambda: rod(0.3, pl.Rectangle(0.02, 3e-4), STEEL),
    "fibreglass fishing rod": lambda: rod(2.7, pl.Circle((6e-3, 7e-4)),
                                          {"E": 4e10, "nu": 0.25, "rho": 1900.0}),
    "carbon rod": lambda: rod(1.0, pl.Annulus(4e-3, 3e-3), {"E": 1.3e11, "nu": 0.3, "rho": 1600.0}),
    "nylon tether": lambda: rod(5.0, pl.Circle(1e-3), {"E": 2.5e9, "nu": 0.4, "rho": 1140.0},
                                along="-z"),
    "pneumatic arm of 2 m": lambda: with_parts(
        rod(2.0, pl.Annulus(0.06, 0.05), {"E": 2e6, "nu": 0.45, "rho": 1100.0}, along="-z"),
        chamber={"on": "arm", "area": 2e-3, "offset": (0.04, 0.0), "pressure": 1e5}),
    "fabric arm": lambda: with_parts(
        rod(1.0, pl.Stiffness(bending=1.5, twist=0.5, shear=800.0, axial=3e3, mass=0.25)),
        chamber={"on": "arm", "area": 3e-3, "offset": (0.03, 0.0), "pressure": 2e4}),
    "inflated vine robot": lambda: rod(10.0, pl.Annulus(0.04, 0.03992),
                                       {"E": 3e8, "nu": 0.4, "rho": 920.0}, 0.0),
    "foam arm": lambda: rod(0.5, pl.Circle(0.04), {"E": 8e4, "nu": 0.2, "rho": 45.0}),
    "fibre-reinforced finger": lambda: with_parts(
        rod(0.16, pl.Circle(0.01), {"E": 7e5, "nu": 0.49, "rho": 1100.0}),
        chamber={"on": "arm", "area": 6e-5, "offset": (0.003, 0.0), "pressure": 1.2e5}),
    "micro actuator": lambda: with_parts(
        rod(4e-3, pl.Circle(1.5e-4), {"E": 1.5e6, "nu": 0.49, "rho": 1030.0}),
        load={"on": "arm.tip", "force": (0.0, 0.0, 2e-6)}),
    "artificial cilium": lambda: rod(7e-5, pl.Circle(5e-6), {"E": 2e6, "nu": 0.49, "rho": 1200.0}),
    "arm with a camera": lambda: with_parts(
        rod(0.3, pl.Circle(0.015), SILICONE, along="-z"),
        body={"on": "arm.tip", "mass": 0.05, "inertia": (1e-5, 1e-5, 1e-5)}),
    "tendon finger": lambda: pulled("tendon", tension=12.0),
    "tendon robot on a wire": lambda: with_parts(
        rod(0.24, pl.Circle(8e-4), {"E": 2e11, "nu": 0.3, "rho": 7800.0}),
        tendon={"path": [pl.Frame("arm", s, (0.01, 0.0)) for s in (0.0, 0.12, 0.24)], "tension": 20.0}),
    "arm with a muscle": lambda: pulled("muscle", strength=5.0),
    "arm with an elastic tether": lambda: linked(),
    "arm with a net": lambda: netted(5e-4),
    "printed flexure": lambda: rod(
        0.06, pl.Rectangle(0.01, 8e-4), {"E": 2e9, "nu": 0.38, "rho": 1240.0}),
    "tungsten probe": lambda: rod(0.04, pl.Circle(6e-5), {"E": 4e11, "nu": 0.28, "rho": 19300.0}),
}  # fmt: skip
"""Robots as they are built and published."""


@pytest.mark.parametrize("name", REAL)
def test_real_robots_raise_no_alarm(name: str) -> None:
    robot = REAL[name]()
    assert robot.description.doubts() == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.PlausibilityWarning)
        robot.statics()


def soft(**changes: Any) -> pl.Robot:
    """A silicone arm with one slip."""
    size, material = {"length": 0.3, "radius": 0.015, "gravity": 9.81}, dict(SILICONE)
    for name, value in changes.items():
        (size if name in size else material)[name] = value
    return rod(size["length"], pl.Circle(size["radius"]), material, size["gravity"])


SLIPS: dict[str, tuple[Callable[[], pl.Robot], str, str]] = {
    "both in mm": (lambda: soft(length=300, radius=15), "both were given in mm", "0.3 and 0.015 m"),
    "both in cm": (lambda: soft(length=30, radius=1.5), "both were given in cm", "0.3 and 0.015 m"),
    "length in mm": (lambda: soft(length=300), "the length was given in mm", "0.3 and 0.015 m"),
    "radius in mm": (lambda: soft(radius=15), "the section was given in mm", "0.3 and 0.015 m"),
    "radius in cm": (lambda: soft(radius=1.5), "the section was given in cm", "0.3 and 0.015 m"),
    "E in kPa": (lambda: soft(E=200.0), "given in kPa", "2e+05 Pa"),
    "E of 1000 kPa": (lambda: soft(E=1000.0), "given in kPa", "1e+06 Pa"),
    "E in MPa": (lambda: soft(E=0.5), "given in MPa", "5e+05 Pa"),
    "E in GPa": (lambda: soft(E=0.0005), "given in GPa", "5e+05 Pa"),
    "steel in GPa": (lambda: rod(0.5, pl.Circle(1e-3), {**STEEL, "E": 210.0}), "in GPa", "2.1e+11 Pa"),
    "steel in MPa": (lambda: rod(0.5, pl.Circle(1e-3), {**STEEL, "E": 2.1e5}), "in MPa", "2.1e+11 Pa"),
    "nitinol in GPa": (lambda: rod(0.2, pl.Circle(1e-3), {**NITINOL, "E": 60.0}), "in GPa", "6e+10"),
    "nitinol in MPa": (lambda: rod(0.2, pl.Circle(1e-3), {**NITINOL, "E": 6e4}), "in MPa", "6e+10"),
    "plastic in MPa": (
        lambda: rod(0.3, pl.Circle(3e-3), {"E": 2000.0, "nu": 0.38, "rho": 1200.0}), "in MPa", "2e+09"),
    "exponent of E": (lambda: soft(E=5e55), "stiffer than diamond", "exponent"),
    "rho in g/cm^3": (lambda: soft(rho=1.07), "given in g/cm^3", "1070 kg/m^3"),
    "steel in g/cm^3": (lambda: rod(0.5, pl.Circle(1e-3), {**STEEL, "rho": 7.85}), "g/cm^3", "7850"),
    "steel in t/mm^3": (lambda: rod(0.5, pl.Circle(1e-3), {**STEEL, "rho": 7.85e-9}), "t/mm^3", "7850"),
    "rho in g/m^3": (lambda: soft(rho=1.07e6), "given in g/m^3", "1070 kg/m^3"),
    "gravity in mm/s^2": (lambda: soft(gravity=9810.0), "given in mm/s^2", "9.81 m/s^2"),
    "natural in degrees": (
        lambda: rod(0.2, pl.Circle(1e-3), NITINOL, natural=(600.0, 0.0, 0.0)),
        "degrees per metre", "(10.47, 0, 0)"),
    "force in mN": (lambda: with_parts(soft(), load={"on": "arm.tip", "force": (0.0, 0.0, -2000.0)}),
                    "given in mN", "2 N"),
    "moment in N mm": (
        lambda: with_parts(soft(), load={"on": "arm.tip", "moment": (0.0, 500.0, 0.0)}),
        "given in N mm", "0.5 N m"),
    "mass in g": (
        lambda: with_parts(soft(), body={"on": "arm.tip", "mass": 50.0}), "given in g", "0.05 kg"),
    "pressure in kPa": (lambda: chambered(50.0), "given in kPa", "5e+04 Pa"),
    "pressure in bar": (lambda: chambered(0.5), "given in bar", "5e+04 Pa"),
    "pressure in mbar": (lambda: chambered(500.0), "given in mbar", "5e+04 Pa"),
    "pressure in MPa": (lambda: chambered(0.05), "given in MPa", "5e+04 Pa"),
    "area in mm^2": (lambda: chambered(5e4, area=100.0), "given in mm^2", "0.0001 m^2"),
    "offset in mm": (lambda: chambered(5e4, offset=(6.0, 0.0)), "given in mm", "0.006 m"),
    "tension in mN": (lambda: pulled("tendon", tension=8000.0), "given in mN", "8 N"),
    "strength in mN": (lambda: pulled("muscle", strength=8000.0), "given in mN", "8 N"),
    "link section in mm": (lambda: linked(radius=2.0), "given in mm", "0.002 m"),
    "link section of half a mm": (lambda: linked(radius=0.5), "given in mm", "0.0005 m"),
    "link of MPa": (lambda: linked(E=0.5), "given in MPa", "5e+05 Pa"),
    "net in mm": (lambda: netted(2.0), "given in mm", "0.002 m"),
    "stiffness in N mm^2": (
        lambda: rod(0.3, pl.Stiffness(bending=4e4, twist=3e4, shear=200.0, axial=700.0, mass=0.7)),
        "given in N mm^2", "1e-6"),
}  # fmt: skip


def chambered(pressure: float, area: float = 1e-4, offset: Any = (0.006, 0.0)) -> pl.Robot:
    where = {"on": "arm", "area": area, "offset": offset, "pressure": pressure}
    return with_parts(soft(), chamber=where)


def pulled(kind: str, **force: float) -> pl.Robot:
    """An arm with a tendon or a muscle along its side."""
    robot = soft()
    arm = robot.description.rods["arm"]
    path = [(0.0, 0.0, 0.01), *(arm.at(s, (0.01, 0.0)) for s in (0.0, 0.15, 0.3))]
    return with_parts(robot, **{kind: {"path": path, **force}})


def linked(radius: float = 1e-3, E: float = 1e6) -> pl.Robot:
    matter = pl.Material(E=E, nu=0.45)
    link = {"a": "arm.tip", "b": (0.3, 0.0, 0.1), "section": pl.Circle(radius), "material": matter}
    return with_parts(soft(), link=link)


def netted(radius: float) -> pl.Robot:
    """A square of four links on an arm's side, with one slip in all of them."""
    square = [[0.0, 0.1, 0.0], [0.1, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.2, 0.0]]
    net = pl.Wireframe(square, [[0, 1], [1, 2], [2, 3], [3, 0]])
    robot, matter = soft(), pl.Material(E=1e6, nu=0.45)
    robot.add_mesh("net", net, mass=0.01, section=pl.Circle(radius), material=matter, fixed=[0])
    return robot


@pytest.mark.parametrize("name", SLIPS)
def test_slip_is_told_with_the_unit_that_was_meant(name: str) -> None:
    make, unit, value = SLIPS[name]
    doubts = make().description.doubts()
    assert len(doubts) == 1
    assert unit in doubts[0] and value in doubts[0]


FAR: dict[str, tuple[Callable[[pl.Robot], object], str]] = {
    "path of a tendon": (
        lambda r: r.add_tendon(
            "far", [r.description.rods["arm"].at(s, (8, 0)) for s in (0.0, 0.3)]
        ),
        "path is 8 m beside rod 'arm', .* write 0.008 m",
    ),
    "point of a load": (
        lambda r: r.add_load("far", r.description.rods["arm"].at(0.1, (0, 8)), force=(0, 0, 0.1)),
        "on is 8 m beside rod 'arm', .* write 0.008 m",
    ),
    "rest of a spring": (
        lambda r: r.add_spring("far", "arm.tip", (0.3, 0, 0.1), stiffness=10.0, rest=100.0),
        "rest: 100 m is .* write 0.1 m",
    ),
    "end of a spring": (
        lambda r: r.add_spring("far", "arm.tip", (300.0, 0, 0), stiffness=10.0),
        "b: 300 m is .* write 0.3 m",
    ),
    "end of a link": (
        lambda r: r.add_link(
            "far", "arm.tip", (300.0, 0, 0), pl.Circle(0.001), pl.Material(1e6, 0.5)
        ),
        "b: 300 m is .* write 0.3 m",
    ),
    "place of a constraint": (
        lambda r: r.add_constraint("far", "arm.tip", pl.pose((250.0, 0, 0)), kind="articulated"),
        "to: 250 m is .* write 0.25 m",
    ),
}


@pytest.mark.parametrize("name", FAR)
def test_places_in_millimetres_are_told(name: str) -> None:
    add, words = FAR[name]
    robot = rod()
    add(robot)
    (doubt,) = robot.description.doubts()
    assert re.search(f"'far': {words}", doubt)


def test_robots_and_anchors_may_stand_anywhere() -> None:
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), pl.Material(**SILICONE), pl.along("x", (500, 0, 0))
    )
    robot.add_spring("near", arm.tip, (501.0, 0, 0), stiffness=10.0)
    assert robot.description.doubts() == []


def test_slip_is_told_once_when_the_robot_is_solved() -> None:
    robot = soft(rho=1.07)
    with pytest.warns(pl.PlausibilityWarning, match=r"rod 'arm': rho = 1.07 .*g/cm\^3") as told:
        robot.statics()
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", pl.PlausibilityWarning)
        robot.statics()


def test_time_step_in_milliseconds_is_told() -> None:
    robot = soft()
    with pytest.warns(pl.PlausibilityWarning, match=r"dt = 5 s .*given in ms: then write 0.005 s"):
        robot.simulate(10.0, 5.0)


def test_angles_in_degrees_are_told() -> None:
    with pytest.warns(pl.PlausibilityWarning, match=r"in degrees, write \(0, 1\.571, 0\)"):
        pl.pose((0.0, 0.0, 0.0), (0.0, 90.0, 0.0))
    with pytest.warns(pl.PlausibilityWarning, match="in degrees"):
        soft().description.rods["arm"].at(0.1, rotation=(0.0, 45.0, 0.0))


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (pl.FreeDirections(("x", ("rx", 90), "rz"), stiffness=1.0), "rx = 90 rad is 14.3 turns.*1.571"),
        (pl.FreeDirections(("x", ("turn", (1, 1, 0), -45)), stiffness=1.0), "turn = -45 rad.*-0.7854"),
        (pl.Revolute("y", stiffness=1.0, limits=(-90, 90)), "limits of its joint = 90 rad.*1.571"),
        (pl.Revolute("y", stiffness=1.0, rest=30), "rest of its joint = 30 rad.*0.5236"),
        (pl.Universal("x", "y", stiffness=1.0, initial=(0, 45)), "initial of its joint = 45 rad"),
        (pl.Spherical(stiffness=1.0, rest=(0, 90, 0)), "rest of its joint = 90 rad"),
    ],
)  # fmt: skip
def test_angles_of_joints_in_degrees_are_told(joint: Any, words: str) -> None:
    robot = pl.Robot()
    robot.add_body("hand", 0.1, (1e-4,) * 3, joint=joint)
    (doubt,) = robot.description.doubts()
    assert re.search(words, doubt)


def test_angles_of_files_gears_and_starts_in_degrees_are_told(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><origin rpy="0 90 0"/><axis xyz="0 1 0"/>'
        '<limit lower="-180" upper="180"/></joint></robot>'
    )
    robot = pl.Robot(gravity=(0, 0, 0))
    with pytest.warns(pl.PlausibilityWarning, match="joint 'j': rpy = 90 rad.*1.571"):
        robot.add_urdf(tmp_path / "robot.urdf")
    assert "limits of its joint = 180 rad" in robot.description.doubts()[0]
    robot = pl.Robot(gravity=(0, 0, 0))
    for name in ("left", "right"):
        robot.add_body(name, 0.1, (1e-4,) * 3, joint=pl.Revolute("z", stiffness=1.0))
    with pytest.warns(pl.PlausibilityWarning, match=r"joints\['left'\] = 90 rad"):
        robot.simulate(0.02, 0.01, joints={"left": 90})
    robot.add_gear("gear", "left", "right", offset=45)
    assert "gear 'gear': offset = 45 rad" in robot.description.doubts()[0]


@pytest.mark.parametrize(
    "joint",
    [
        pl.FreeDirections(("x", ("rx", np.pi), ("rz", -2 * np.pi))),
        pl.Revolute("y", limits=(-9.42, 9.42), initial=4.0),
        pl.Prismatic("z", limits=(-20.0, 20.0), rest=15.0),
        pl.Planar("z", rest=(30.0, 45.0, 0.5)),
    ],
)
def test_angles_in_radians_and_lengths_raise_no_doubt(joint: Any) -> None:
    robot = pl.Robot()
    robot.add_body("hand", 0.1, (1e-4,) * 3, joint=joint)
    assert robot.description.doubts() == []


def test_impossible_stretch_is_refused_with_its_reason() -> None:
    """E = 0.0005 Pa: the tip would fall a thousand kilometres."""
    robot = soft(E=0.0005)
    with (
        pytest.warns(pl.PlausibilityWarning),
        pytest.raises(
            pl.ConvergenceError, match=r"result is impossible: rod 'arm'.*in GPa"
        ) as error,
    ):
        robot.statics()
    assert isinstance(error.value.last, pl.Equilibrium)


def test_great_stretch_is_told() -> None:
    robot = rod(0.1, pl.Circle(0.005), {**SILICONE, "E": 1e5}, 0.0)
    robot.add_load("pull", "arm.tip", force=(1.0, 0.0, 0.0))
    with pytest.warns(pl.PlausibilityWarning, match=r"stretched to 8\.64 times its length"):
        still = robot.statics({"pull": 60.0})
    assert np.linalg.norm(still.tip("arm")[:3, 3]) == pytest.approx(
        0.1 * (1.0 + 60.0 / (1e5 * np.pi * 0.005**2)), rel=1e-6
    )


def test_rod_pushed_through_itself_is_refused() -> None:
    """Twice the axial stiffness: by the linear law the tip would lie as far behind the base."""
    robot = rod(0.1, pl.Circle(0.005), {**SILICONE, "E": 1e5}, 0.0)
    robot.add_load("push", "arm.tip", force=(-1.0, 0.0, 0.0))
    axial = 1e5 * np.pi * 0.005**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot.statics({"push": 0.5 * axial})
        with pytest.raises(pl.ConvergenceError):
            robot.statics({"push": 2.0 * axial})


ROBOT = """
rods:
  arm:
    length: {length}
    section: {{circle: {{radius: 0.015}}}}
    material: {{E: {E}, nu: 0.49, rho: 1070}}
    pose: {{along: x}}
statics: {{}}
"""


@pytest.mark.parametrize(("values", "unit"), [
    ({"length": 300, "E": 1e6}, "mm"), ({"length": 0.3, "E": 0.5}, "MPa"),
    ({"length": 0.3, "E": 5e55}, "diamond"),
])  # fmt: skip
def test_check_warns_of_slips(tmp_path: Path, values: dict[str, float], unit: str) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(ROBOT.format(**values))
    found = CliRunner().invoke(main, ["check", str(file)])
    assert found.exit_code == 0
    assert "warning: rod 'arm'" in found.output and unit in found.output
    assert "1 warning" in found.output


def test_run_refuses_an_impossible_result(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(ROBOT.format(length=0.3, E=0.0005))
    found = CliRunner().invoke(main, ["run", str(file), "-o", str(tmp_path / "out")])
    assert found.exit_code == 1
    assert "the result is impossible" in found.output and "GPa" in found.output
