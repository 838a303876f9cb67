"""Initial values of joints: the undeformed robot, springs that are relaxed there, and inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl

ANGLE = 0.3
HAND = {"mass": 0.2, "inertia": (1e-4, 2e-4, 2.5e-4), "centre": (0.01, 0.0, -0.1)}
TURNED = pl.pose((0.0, 0.0, 0.0), (0.0, ANGLE, 0.0))
STRAIGHT = pl.pose()


def robot(joint: Any, gravity: float = 9.81, **more: Any) -> pl.Robot:
    found = pl.Robot(gravity=(0.0, 0.0, -gravity))
    found.add_body("hand", **HAND, joint=joint, **more)
    return found


RELAXED = {"stiffness": 1.0, "damping": 0.01}
STIFF = {"stiffness": (1.0, 200.0)}
SIDE = (0.0, ANGLE, 0.0)
CASES = {
    "revolute": (
        pl.Revolute("y", **RELAXED, initial=ANGLE, rest=None),
        pl.Revolute("y", **RELAXED),
        TURNED,
    ),
    "spherical": (
        pl.Spherical(**RELAXED, initial=SIDE, rest=None),
        pl.Spherical(**RELAXED, initial=SIDE, rest=SIDE),
        STRAIGHT,
    ),
    "free directions": (
        pl.FreeDirections(("ry", "z"), **STIFF, initial=(ANGLE, 0.1), rest=(None, 0.05)),
        pl.FreeDirections((("ry", ANGLE), "ry", "z"), **STIFF, rest=(0.0, 0.05)),
        STRAIGHT,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_springs_are_relaxed_as_initially(case: str) -> None:
    """A joint with an initial value is one whose frame was turned by it, or whose rest is given."""
    joint, same, pose = CASES[case]
    ours, other = robot(joint), robot(same, pose=pose)
    still = ours.statics()
    assert still.pose("hand") == pytest.approx(other.statics().pose("hand"), abs=1e-9)
    begin = {"hand": (0.0, 0.1)} if joint.nv == 2 else {}
    moved = [ours.simulate(0.2, 2e-3), other.simulate(0.2, 2e-3, joints=begin)]
    assert moved[0].pose("hand") == pytest.approx(moved[1].pose("hand"), abs=1e-9)
    assert moved[0].joint("hand")[0] == pytest.approx(joint.start())


def test_what_takes_its_rest_from_the_undeformed_robot_is_relaxed_there() -> None:
    """A spring, a bushing, a link and a weld, without gravity: nothing moves."""
    found = robot(pl.Revolute("y", initial=ANGLE), gravity=0.0)
    hand = found.description.bodies["hand"]
    found.add_spring("spring", hand.at((0.05, 0, -0.1)), (0.3, 0, 0), stiffness=50.0)
    found.add_bushing("bushing", "hand", stiffness={"x": 10.0, "ry": 1.0})
    rubber = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    found.add_link("link", hand.at((0, 0, -0.2)), (0.0, 0.0, -0.3), pl.Circle(0.003), rubber)
    other = found.add_body("other", 0.1, (1e-4,) * 3, pose=pl.pose((0.1, 0, -0.2)), joint=pl.Free())
    found.connect("weld", other.origin, hand.at((0, 0, -0.2)))
    still = found.statics()
    assert still.joint("hand") == pytest.approx([ANGLE], abs=1e-12)
    assert still.energy["total"] == pytest.approx(0.0, abs=1e-12)
    assert still.position("other") == pytest.approx((0.1, 0.0, -0.2), abs=1e-12)


def test_input_that_prescribes_a_joint_has_its_initial_value() -> None:
    found = robot(pl.Revolute("y", initial=ANGLE, drive="angle", input="turn"))
    assert found.description.inputs() == {"turn": ANGLE}
    assert found.statics().joint("hand") == pytest.approx([ANGLE])
    assert found.statics({"turn": 0.5}).joint("hand") == pytest.approx([0.5])
    turn = found.simulate(0.1, 0.01, inputs={"turn": lambda t: ANGLE + t})
    assert turn.joint("hand")[:, 0] == pytest.approx(ANGLE + turn.t)
    pushed = robot(pl.Revolute("y", initial=ANGLE, drive="torque", input="turn"))
    assert pushed.description.inputs() == {"turn": 0.0}


def test_a_motion_takes_other_values_to_start_from() -> None:
    found = robot(pl.Revolute("y", stiffness=1.0, initial=ANGLE, rest=None))
    moved = found.simulate(0.1, 0.01, joints={"hand": 0.7})
    assert moved.joint("hand")[0] == pytest.approx([0.7])
    torque = found.equations().forces([0.7], [0.0])
    arm = 0.2 * 9.81 * (0.01 * np.cos(0.7) - 0.1 * np.sin(0.7))
    assert torque == pytest.approx([arm - (0.7 - ANGLE)], rel=1e-9)


def test_equations_with_symbols_know_it() -> None:
    symbolic = pytest.importorskip("pliant.symbolic")
    pytest.importorskip("casadi")
    joint = pl.FreeDirections(("ry", "z"), stiffness=(1.0, 9.0), initial=0.2, rest=(None, 0.05))
    found = robot(joint)
    ours, numeric = symbolic.equations(found), found.equations()
    assert ours.rest == pytest.approx([0.2, 0.2])
    told = np.array(ours.forces([0.4, 0.3], [0.1, 0.2], [], [])).ravel()
    assert told == pytest.approx(numeric.forces([0.4, 0.3], [0.1, 0.2]), abs=1e-12)


def test_robot_files_have_it(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    found = robot(pl.FreeDirections(("ry", "z"), stiffness=9.0, initial=(0.2, 0), rest=(None, 0.1)))
    found.save(path)
    assert "initial: [0.2, 0.0], rest: [null, 0.1]" in path.read_text()
    again = pl.Robot.from_file(path)
    assert again.statics().joint("hand") == pytest.approx(found.statics().joint("hand"))
    text = path.read_text().replace("rest: [null, 0.1]", "rest: null")
    path.write_text(text)
    assert pl.Robot.from_file(path).description.bodies["hand"].joint.rest is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"initial": 2.0, "limits": (-1, 1)}, r"initial = 2\.0.*between the limits -1 and 1 of angle"),
        ({"initial": (0.1, 0.2)}, "one for all, or 1 for angle"),
        ({"initial": None}, "initial = None.*finite number"),
        ({"rest": "soft"}, "rest = 'soft'.*finite number"),
        ({"rest": (None, 0.2)}, "one for all, or 1 for angle"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pl.DescriptionError, match=message):
        pl.Revolute("y", **options)
