"""Descriptions of concentric tubes: what they refuse, robot files, results and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.model import DescriptionError, PlausibilityWarning, with_values

NITINOL = pl.Material(E=6e10, nu=0.33, rho=6450.0)
WIDE, NARROW = pl.Annulus(1.5e-3, 1.2e-3), pl.Annulus(1.0e-3, 0.8e-3)


def three_tubes(**more: Any) -> pl.Robot:
    """Three tubes, each turned and inserted by inputs of its own."""
    robot = pl.Robot()
    outer = robot.add_tube(
        *("outer", 0.15, pl.Annulus(2.2e-3, 1.7e-3), NITINOL),
        natural=(0, 3, 0),
        start=-0.05,
        insertion="push0",
        rotation="turn0",
        formulation=pl.BSpline(points=10),
        **more,
    )
    middle = robot.add_tube(
        *("middle", 0.25, WIDE, NITINOL, outer),
        natural=lambda s: (8.0 if s > 0.15 else 0.0, 0, 0),
        start=-0.1,
        insertion="push1",
        rotation="turn1",
    )
    robot.add_tube(
        *("inner", 0.4, NARROW, NITINOL, middle),
        natural=(0, -12, 0),
        start=-0.2,
        insertion="push2",
        rotation="turn2",
    )
    return robot


def test_tubes_survive_a_robot_file(tmp_path: Path) -> None:
    robot = pl.Robot()
    outer = robot.add_tube("outer", 0.2, WIDE, NITINOL, natural=(0, 5, 0), start=-0.05, angle=0.4)
    robot.add_tube(
        *("inner", 0.3, NARROW, NITINOL, outer), start=-0.1, insertion="push", rotation="turn"
    )
    robot.add_load("pull", "inner.tip", force=(0.1, 0, 0))
    again = pl.Robot.from_file(robot.save(tmp_path / "tubes.yaml"))
    values = {"push": 0.03, "turn": 1.0}
    first, second = (x.statics(values).tip("inner") for x in (robot, again))
    assert first == pytest.approx(second, abs=1e-14)
    assert again.description.inputs() == {"push": 0.0, "turn": 0.0, "pull": 1.0}


def refused(match: str, **more: Any) -> None:
    robot = pl.Robot()
    outer = robot.add_tube("outer", 0.2, WIDE, NITINOL)
    given = {"length": 0.3, "section": NARROW, "material": NITINOL, "inside": outer, **more}
    with pytest.raises(DescriptionError, match=match):
        robot.add_tube("inner", **given)


def test_crossing_tubes_are_refused() -> None:
    refused(
        "outer radius 0.0013 m.*0.0012 m of tube 'outer'.*cross", section=pl.Annulus(1.3e-3, 1e-3)
    )


def test_a_tube_in_a_solid_rod_is_refused() -> None:
    robot = pl.Robot()
    robot.add_rod("wire", 0.2, pl.Circle(1e-3), NITINOL)
    with pytest.raises(DescriptionError, match="cross"):
        robot.add_tube("inner", 0.3, NARROW, NITINOL, "wire")


def test_a_base_in_front_of_the_entry_plane_is_refused() -> None:
    refused("stays behind the entry plane", start=0.05)
    robot = three_tubes()
    with pytest.raises(DescriptionError, match=r"push2.*0.05 m in front"):
        robot.statics({"push2": 0.25})


def test_all_tubes_withdrawn_are_refused() -> None:
    robot = pl.Robot()
    robot.add_tube("only", 0.2, WIDE, NITINOL, insertion="push")
    with pytest.raises(DescriptionError, match="all are withdrawn"):
        robot.statics({"push": -0.2})


def test_oval_tubes_and_two_in_one_are_refused() -> None:
    refused("equally stiff", section=pl.Rectangle(1e-3, 5e-4))
    refused("left out in a tube that is inside", pose=pl.along("x"))
    robot = three_tubes()
    with pytest.raises(DescriptionError, match="'inner' is in tube 'middle' already"):
        robot.add_tube("fourth", 0.1, pl.Annulus(5e-4, 4e-4), NITINOL, "middle")


def test_tubes_with_a_fixed_tip_need_a_rod_there() -> None:
    refused("'inner'.*a rod, or tubes in a rod", shift="push")
    refused("'inner'.*a rod, or tubes in a rod", tip_turns=False)
    refused("left out with shift, which moves", shift="push", insertion="push more")
    refused("left out with shift alone", shift="push", angle=0.3)
    refused("left out with shift alone", shift="push", tip_turns=True)
    refused("another input than insertion or shift", shift="push", rotation="push")
    refused("left out where the tube does not slide", offset=(1e-3, 0))
    robot = pl.Robot()
    robot.add_rod("spine", 0.2, WIDE, NITINOL)
    with pytest.raises(DescriptionError, match=r"tube 'wire'.*start.*0.1 m beyond"):
        robot.add_tube("wire", 0.3, pl.Circle(4e-4), NITINOL, "spine", shift="push")
    robot.add_tube("beside", 0.2, WIDE, NITINOL, "spine", shift="push", offset=(4e-3, 0))
    with pytest.raises(DescriptionError, match=r"a tube in the middle, while tube 'beside'"):
        robot.add_tube("in it", 0.2, NARROW, NITINOL, "beside")
    with pytest.raises(DescriptionError, match=r"outermost, which has no rod"):
        robot.add_tube("alone", 0.3, WIDE, NITINOL, tip_turns=False)


def test_a_tube_that_slides_in_the_middle_of_a_solid_rod_is_refused() -> None:
    robot = pl.Robot()
    robot.add_rod("wire", 0.2, pl.Circle(1e-3), NITINOL)
    with pytest.raises(DescriptionError, match="cross"):
        robot.add_tube("inner", 0.2, NARROW, NITINOL, "wire", shift="push")


def test_a_tube_that_stands_out_by_metres_is_doubted() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    outer = robot.add_tube("outer", 0.2, WIDE, NITINOL)
    robot.add_tube("inner", 30.0, NARROW, NITINOL, outer)
    with pytest.warns(PlausibilityWarning, match="stands out of the others by 29.8 m"):
        robot.statics()


def test_places_in_the_guide_are_refused() -> None:
    robot = three_tubes()
    robot.add_load("pull", robot.description.rods["inner"].at(0.1), force=(0.1, 0, 0))
    with pytest.raises(DescriptionError, match=r"tube 'inner'.*0.1 m farther"):
        robot.statics()
    robot.remove("pull")
    with pytest.raises(DescriptionError, match=r"push2.*value at t = 0.02[0-9]* s.*in front"):
        robot.simulate(0.1, 0.01, {"push2": lambda t: 10.0 * t}, "statics")


def test_drives_of_tubes_that_make_no_sense_are_refused() -> None:
    refused("drive.*rotation names no input", drive="torque")
    refused("angle.*left out with drive='torque'", drive="torque", rotation="turn", angle=0.3)
    robot = pl.Robot()
    robot.add_tube("only", 0.2, WIDE, NITINOL, theory="kirchhoff", rotation="turn", drive="torque")
    with pytest.raises(DescriptionError, match=r"drive.*'angle' with Shooting"):
        robot.statics(formulation=pl.Shooting())


def test_formulations_that_do_not_turn_are_refused() -> None:
    with pytest.raises(DescriptionError, match=r"tube 'outer'.*turn each other"):
        three_tubes().statics(formulation=pl.ANCF(6))


def test_strong_forms_and_effects_along_tubes_are_refused_by_name() -> None:
    robot = three_tubes()
    with pytest.raises(DescriptionError, match=r"tube 'outer'.*Collocation"):
        robot.statics(formulation=pl.Collocation())
    robot.add_chamber("air", "middle", area=1e-7)
    with pytest.raises(DescriptionError, match=r"chamber 'air'.*centreline of its own"):
        robot.statics()


def test_tip_of_tubes_reaches_a_place_and_follows_its_jacobian() -> None:
    robot = three_tubes()
    turns, still = ["turn0", "turn1", "turn2"], {"push2": 0.02}
    known = robot.statics({**still, "turn0": 0.2, "turn1": 0.9, "turn2": -0.4})
    target = known.tip("inner")[:3, 3]
    found = robot.reach({"inner.tip": target}, turns, values=still)
    assert found.tip("inner")[:3, 3] == pytest.approx(target, abs=1e-6)
    step, slopes = 1e-5, known.jacobian("inner.tip", turns, frame="world")
    for k, name in enumerate(turns):
        ends = [
            robot.statics({**known.inputs, name: known.inputs[name] + x}, start=known)
            for x in (step, -step)
        ]
        move = (ends[0].tip("inner") - ends[1].tip("inner"))[:3, 3] / (2 * step)
        assert slopes[3:, k] == pytest.approx(move, abs=1e-6)
    ends = [robot.statics({**known.inputs, "push2": 0.02 + x}) for x in (1e-4, -1e-4)]
    move = (ends[0].tip("inner") - ends[1].tip("inner"))[:3, 3] / 2e-4
    found = known.jacobian("inner.tip", "push2", frame="world")
    assert found[3:, 0] == pytest.approx(move, abs=1e-5)


def test_precurvature_of_a_tube_is_identified(tmp_path: Path) -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    outer = robot.add_tube("outer", 0.2, WIDE, NITINOL, natural=(0, 5, 0), start=-0.05)
    robot.add_tube(
        *("inner", 0.3, NARROW, NITINOL, outer), natural=(0, 8, 0), start=-0.1, rotation="turn"
    )
    lines = ["turn,inner.tip.x,inner.tip.y,inner.tip.z"]
    for turn in (0.5, 1.5, 2.5):
        tip = robot.statics({"turn": turn}).tip("inner")[:3, 3].tolist()
        lines.append(",".join(repr(x) for x in (turn, *tip)))
    (tmp_path / "tips.csv").write_text("\n".join(lines), encoding="utf-8")
    guess = pl.Robot._from(
        with_values(robot.description, {"inner.natural[1]": 6.0, "outer.natural[1]": 4.0}), {}
    )
    found = pl.fit(guess, tmp_path / "tips.csv", ["inner.natural[1]", "outer.natural[1]"])
    assert found.values == pytest.approx({"inner.natural[1]": 8.0, "outer.natural[1]": 5.0})


def test_three_tubes_under_load_agree_with_the_classical_model() -> None:
    robot = three_tubes(theory="kirchhoff")
    robot.add_load("pull", "inner.tip", force=(0.1, -0.2, 0.1), moment=(0, 0, 2e-3))
    robot.add_load("push", "middle.tip", force=(0, 0.2, 0), frame="body")
    robot.add_load("wind", "outer", force=(0.5, 0, 0), over=(0.06, 0.11))
    robot.add_body("tool", 5e-4, on="inner.tip", centre=(0, 0, 2e-3))
    values = {"turn0": 0.3, "turn1": 1.2, "turn2": -0.6, "push2": 0.02}
    mine = robot.statics(values, formulation=pl.BSpline(points=24))
    classical = robot.statics(values, formulation=pl.Shooting(200))
    for name in ("outer", "middle", "inner"):
        assert mine.tip(name) == pytest.approx(classical.tip(name), abs=2e-6)
    for name, torque in classical.drive_forces.items():
        assert mine.drive_forces[name] == pytest.approx(torque, abs=2e-6)
    (held,) = classical.reactions.values()
    assert mine.reactions["outer"] == pytest.approx(held, abs=1e-6)
    for column in ("gravity", "loads"):
        assert mine.energy[column] == pytest.approx(classical.energy[column], abs=1e-6)
    assert mine.energy["elastic"] == pytest.approx(classical.energy["elastic"], rel=1e-3)


def test_shooting_refuses_what_the_classical_model_has_not() -> None:
    robot = three_tubes()
    with pytest.raises(DescriptionError, match=r"theory.*'kirchhoff' with Shooting"):
        robot.statics(formulation=pl.Shooting())
    robot = three_tubes(theory="kirchhoff")
    with pytest.raises(DescriptionError, match="tubes at rest only"):
        robot.simulate(0.1, 0.01, formulation=pl.Shooting())
    robot.add_constraint("hold", "inner.tip")
    with pytest.raises(DescriptionError, match=r"constraint 'hold'.*Shooting"):
        robot.statics(formulation=pl.Shooting())


def test_results_of_tubes(tmp_path: Path) -> None:
    robot = three_tubes()
    robot.add_load("wind", "middle", force=(0.2, 0, 0))
    found = robot.statics({"turn1": 1.0, "turn2": -0.5, "push2": 0.02})
    assert found.stable
    # behind the entry plane tubes are straight, and turned by their inputs at their bases
    assert found.pose("inner", 0.0)[:3, 3] == pytest.approx((0, 0, -0.18), abs=1e-12)
    assert np.arctan2(*found.pose("middle", 0.0)[[1, 0], 0]) == pytest.approx(1.0)
    # the law of the inner tube: twist is free at its tip, and the same torque twists its straight part
    ends = found.wrench("inner", [0.0, 0.18, 0.4])
    assert ends[0, 2] == pytest.approx(ends[1, 2], rel=1e-3)
    assert abs(ends[2, 2]) < 1e-3 * abs(ends[0, 2])
    # which is the torque that turns its base
    assert abs(found.drive_forces["turn2"]) == pytest.approx(abs(ends[0, 2]), rel=1e-6)
    # all tubes together carry what acts: the force on the part of "middle" beyond the entry plane
    assert found.reactions["outer"][3] == pytest.approx(-0.2 * 0.15, rel=1e-9)
    found.plot(tmp_path / "tubes.png")
    found.save(tmp_path / "tubes.nc")
    assert robot.modes(at=found, count=3).frequencies[0] > 1.0
    stepper = robot.stepper(1e-3, {"turn1": 1.0}, start=found)
    state = stepper.step({"turn1": 1.001})
    assert np.isfinite(state.tip("inner")).all()
    with pytest.raises(DescriptionError, match=r"push0.*0.45 m in front"):
        stepper.step({"push0": 0.5})
    pushed = stepper.step({"push0": 1e-5})
    assert pushed.converged and stepper.inputs["push0"] == 1e-5


def test_tubes_carry_other_parts_and_are_carried() -> None:
    robot = pl.Robot(gravity=(0, 0, -9.81))
    arm = robot.add_rod("arm", 0.2, pl.Circle(0.01), pl.Material(E=1e8, nu=0.4, rho=1000.0))
    outer = robot.add_tube("outer", 0.15, WIDE, NITINOL, natural=(0, 3, 0), base=arm.tip)
    inner = robot.add_tube(
        "inner", 0.25, NARROW, NITINOL, outer, natural=(2, 0, 0), rotation="turn"
    )
    robot.add_body("tool", 0.01, on=inner.tip)
    robot.add_rod("needle", 0.05, pl.Circle(4e-4), NITINOL, base=inner.tip)
    motion = robot.simulate(0.02, 1e-3, {"turn": lambda t: 10 * t}, "statics")
    energy = motion.energy
    total = energy["kinetic"] + energy["elastic"] + energy["gravity"] - energy["work"]
    assert np.ptp(total) < 1e-4 * np.max(np.abs(energy["elastic"]))
    base = motion.pose("needle", 0.0)[-1]
    assert base == pytest.approx(motion.tip("inner")[-1], abs=1e-12)


def test_checkpoints_and_outputs_inside_steps_are_refused_while_a_tube_is_pushed(
    tmp_path: Path,
) -> None:
    robot, inputs = three_tubes(), {"push2": lambda t: 0.1 * t}
    with pytest.raises(DescriptionError, match=r"save, resume.*mesh moves"):
        robot.simulate(0.02, 0.01, inputs, "statics", save=tmp_path / "tubes.nc")
    with pytest.raises(DescriptionError, match=r"output_times.*multiples of dt"):
        robot.simulate(0.02, 0.01, inputs, "statics", output_times=[0.004])
