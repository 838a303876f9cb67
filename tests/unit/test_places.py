"""Places by name, and suggestions that keep what was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pliant as pl
from pliant.model.checks import nearest_name
from pliant.model.place_names import place_hint
from pliant.study.outputs import probes

SOFT = pl.Material(E=1e6, nu=0.45, rho=1100.0)


def robot_with(*names: str) -> pl.Robot:
    robot = pl.Robot()
    for name in names or ("arm",):
        robot.add_rod(name, 0.3, pl.Circle(0.01), SOFT)
    robot.add_body("hand", 0.1, (1e-5, 1e-5, 1e-5), on=f"{(names or ('arm',))[0]}.tip")
    return robot


@pytest.mark.parametrize(("text", "part", "s"), [
    ("arm.tip", "arm", 0.3), ("arm.base", "arm", 0.0), ("arm.0.12", "arm", 0.12),
    ("arm.0", "arm", 0.0), ("arm.1e-1", "arm", 0.1), ("arm.at(0.12)", "arm", 0.12),
    ("hand", "hand", 0.0),
])  # fmt: skip
def test_places_by_name_are_frames(text: str, part: str, s: float) -> None:
    load = robot_with().add_load("push", text, force=(0.0, 0.0, 0.1))
    assert load.on == pl.Frame(part, s)
    assert not load.distributed


def test_load_at_a_named_tip_acts_as_one_on_its_frame() -> None:
    """It does not spread along the rod: F L^3 / (3 EI) as at the tip, not F L^4 / (8 EI)."""
    robots = [robot_with(), robot_with()]
    robots[0].add_load("push", "arm.tip", force=(1e-3, 0.0, 0.0))
    robots[1].add_load("push", robots[1].description.rods["arm"].tip, force=(1e-3, 0.0, 0.0))
    tips = [robot.statics().tip("arm") for robot in robots]
    assert np.array_equal(tips[0], tips[1])
    assert tips[0][0, 3] > 1e-3


def test_every_field_for_a_frame_takes_its_name() -> None:
    robot = robot_with()
    rod = robot.add_rod("finger", 0.1, pl.Circle(0.01), SOFT, base="hand")
    assert rod.base == pl.Frame("hand")
    assert rod.carrier is robot.description.rods["finger"].carrier
    body = robot.add_body("nail", 0.1, on="finger.0.05")
    assert body.on == pl.Frame("finger", 0.05)
    held = robot.add_constraint("grip", "finger.tip", "arm.base", hold=("x",))
    assert (held.on, held.to) == (pl.Frame("finger", 0.1), pl.Frame("arm", 0.0))
    added = robot.add(pl.Load("pull", "finger.tip", force=(0.0, 0.0, 1.0)))
    assert added.on == pl.Frame("finger", 0.1) and robot.description.loads["pull"] is added
    actuator = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009)
    assert robot.add_actuator("tongue", actuator, base="finger.tip").base == pl.Frame("finger", 0.1)


@dataclass(frozen=True, eq=False)
class Route(pl.FrameEffect):
    """Pulls at its first place; frames by annotation alone."""

    on: pl.Frame = pl.Frame("arm", 0.3)
    path: tuple[pl.Frame, ...] = ()

    def frames(self) -> Any:
        return (self.on, *self.path)

    def potential(self, g: Any, u: Any) -> float:
        return -0.01 * float(g[0][0, 3])


def test_effects_of_your_own_take_places_by_name() -> None:
    robot = robot_with()
    effect = robot.add(Route("route", on="arm.0.1", path=("arm.tip", "hand")))  # type: ignore[arg-type]
    assert effect.on == pl.Frame("arm", 0.1)
    assert effect.path == (pl.Frame("arm", 0.3), pl.Frame("hand"))
    with pytest.raises(pl.DescriptionError, match=r"path\[1\] = 'hnad'.*did you mean 'hand'"):
        robot.add(Route("other", path=("arm.tip", "hnad")))  # type: ignore[arg-type]


def test_names_with_dots_are_places_too() -> None:
    robot = robot_with("arm", "arm.left", "arm.0")
    for text, part, s in (
        ("arm.left.tip", "arm.left", 0.3),
        ("arm.left.0.1", "arm.left", 0.1),
        ("arm.0.tip", "arm.0", 0.3),
        ("arm.0.25", "arm", 0.25),  # 25 m of rod "arm.0" would be beyond its tip
    ):
        assert robot.description.place(text) == pl.Frame(part, s)
    assert robot.add_load("line", "arm.0", force=(0.0, 0.0, 1.0)).distributed
    long = pl.Robot()
    for name in ("a", "a.0"):
        long.add_rod(name, 2.0, pl.Circle(0.01), SOFT)
    with pytest.raises(pl.DescriptionError, match=r"s = 0.1 m of rod 'a' or s = 1 m of rod 'a.0'"):
        long.add_load("push", "a.0.1", force=(0.0, 0.0, 1.0))


@given(st.text(alphabet="ab.0123456789tipse()-", max_size=12))
def test_any_text_is_a_place_or_a_sentence(text: str) -> None:
    try:
        robot_with("a", "b").add_load("push", text, force=(0.0, 0.0, 1.0))
    except pl.DescriptionError as error:
        assert "load 'push': on" in str(error)


@pytest.mark.parametrize(("text", "hint"), [
    ("amr.tip", "did you mean 'arm.tip'?"), ("arm.tpi", "did you mean 'arm.tip'?"),
    ("amr.0.12", "did you mean 'arm.0.12'?"), ("arm.-0.1", "give e.g. 'arm.tip'"),
    ("arm.end", "give e.g. 'arm.tip'"), ("hnad", "did you mean 'hand'?"),
    ("hand.tip", "a body has no arclength"), ("arm.0.4", "from 0 to the length 0.3"),
])  # fmt: skip
def test_hint_for_a_place_is_a_place(text: str, hint: str) -> None:
    with pytest.raises(pl.DescriptionError) as caught:
        robot_with().add_load("push", text, force=(0.0, 0.0, 1.0))
    assert hint in str(caught.value)
    assert "did you mean 'arm'?" not in str(caught.value)


def test_rod_where_a_place_is_asked_for_and_the_reverse() -> None:
    robot = robot_with()
    with pytest.raises(pl.DescriptionError, match=r"on = 'arm'.*'arm\.tip', 'arm\.base'"):
        robot.add_body("nail", 0.1, on="arm")
    with pytest.raises(
        pl.DescriptionError, match=r"not a place on it; give 'arm', which stands for"
    ):
        robot.add_chamber("air", "arm.tip", 1e-5)
    assert place_hint("amr", ["arm"], []) == "did you mean a place on rod 'arm', such as 'arm.tip'?"


def test_results_answer_for_places() -> None:
    robot = robot_with()
    robot.add_load("push", "arm.tip", force=(0.1, 0.0, 0.0))
    still = robot.statics()
    assert np.array_equal(still.position("arm.tip"), still.tip("arm")[:3, 3])
    assert np.array_equal(still.pose("arm.0.12"), still.pose("arm", 0.12))
    assert np.array_equal(still.strain("arm.base"), still.strain("arm", 0.0))
    assert np.array_equal(still.wrench("arm.base"), still.wrench("arm", 0.0))
    motion = robot.simulate(0.01, 5e-3)
    assert np.array_equal(motion.velocity("arm.tip"), motion.velocity("arm", 0.3))
    with pytest.raises(pl.DescriptionError, match="is one place"):
        still.position("arm.tip", 0.1)
    with pytest.raises(pl.DescriptionError, match=r"did you mean 'arm\.tip'"):
        still.position("amr.tip")


def test_outputs_take_places_and_names_with_dots() -> None:
    robot = robot_with("arm", "arm.left")
    still = robot.statics()
    paths = ["arm.0.12.z", "arm.left.tip.z", "arm.at(0.1).z"]
    found = [
        float(probe.ask(still, robot.description)) for probe in probes(robot.description, paths)
    ]
    wanted = [still.position(*at)[2] for at in (("arm", 0.12), ("arm.left", 0.3), ("arm", 0.1))]
    assert found == pytest.approx(wanted, abs=1e-15)
    with pytest.raises(pl.DescriptionError, match=r"did you mean 'arm\.tip\.z'"):
        probes(robot.description, ["amr.tip.z"])


def test_robot_files_take_places_by_name(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(
        "rods:\n"
        "  arm: {length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.45}}\n"
        "  finger: {length: 0.1, section: {circle: {radius: 0.01}}, material: {E: 1e6, nu: 0.45},"
        " base: arm.tip}\n"
        "bodies: {nail: {mass: 0.1, on: finger.0.05}}\n"
        "loads: {push: {on: finger.tip, force: [0, 0, 1]}, line: {on: arm, force: [0, 0, 1]}}\n"
        "constraints: {grip: {on: nail, to: arm.base, hold: [x]}}\n"
    )
    parts: Any = pl.Robot.from_file(file).description.parts
    assert parts["finger"].base == pl.Frame("arm", 0.3)
    assert parts["nail"].on == pl.Frame("finger", 0.05)
    assert parts["push"].on == pl.Frame("finger", 0.1) and parts["line"].on == "arm"
    assert (parts["grip"].on, parts["grip"].to) == (pl.Frame("nail"), pl.Frame("arm", 0.0))


# -- suggestions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "known", "found"), [
    ("lenght", ["length", "depth"], "length"), ("raduis", ["radius"], "radius"),
    ("amr", ["arm"], "arm"),
    ("lods", ["rods", "loads"], "loads"), ("kirchof", ["cosserat", "kirchhoff"], "kirchhoff"),
    ("b_spline", ["BSpline"], "BSpline"), ("visc", ["viscosity"], "viscosity"),
    ("rotation", ["position", "rotation_vector"], "rotation_vector"),
    # another thing of the same kind is no misspelling
    ("rotation", ["position", "translation"], None), ("chamber3", ["chamber1", "chamber2"], None),
    ("force_z", ["force_x", "force_y"], None), ("left", ["right"], None), ("pull", ["push"], None),
    ("arm2", ["arm"], None), ("rx", ["x", "ry"], None), ("outer", ["inner"], None),
])  # fmt: skip
def test_suggestions_are_misspellings_not_other_things(
    asked: str, known: list[str], found: str | None
) -> None:
    assert nearest_name(asked, known) == found
