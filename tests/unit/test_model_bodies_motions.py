"""Bodies, motions of bases, drag and damping of rods as a user describes them."""

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.model import BaseMotion, Body, DescriptionError, Moving, Rod, base_state
from pliant.model.signals import Constant, Ramp, Sine, Step, Sweep, Table, as_signal

RUBBER = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def rod(**given):
    return Rod("arm", 0.3, pl.Circle(0.01), RUBBER, **given)


def test_one_drag_number_holds_along_all_axes():
    assert rod(drag=0.5).drag_coefficients().tolist() == [0.5, 0.5, 0.5]
    assert rod(drag=(1, 2, 3)).drag_coefficients().tolist() == [1.0, 2.0, 3.0]
    assert rod().drag_coefficients().tolist() == [0.0, 0.0, 0.0]


def test_rod_without_rotary_inertia_keeps_its_mass():
    with_rotary, without = rod().inertia([0.1]), rod(rotary=False).inertia([0.1])
    assert (with_rotary[0, :3] > 0).all()
    assert without[0, :3].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(without[0, 3:], with_rotary[0, 3:])


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("drag", -1.0, "zero or a positive number in kg/m^2"),
        ("drag", (1.0, -1.0, 0.0), "zero or positive numbers in kg/m^2"),
        ("drag", (1.0, 2.0), "3 finite numbers in kg/m^2"),
        ("drag", float("nan"), "zero or a positive number"),
        ("drag", "water", "3 finite numbers"),
        ("mass_damping", -0.1, "zero or a positive number in 1/s"),
        ("mass_damping", "much", "zero or a positive number in 1/s"),
        ("rotary", 0, "True or False"),
    ],
)
def test_wrong_rod_effect_is_refused(field, value, expected):
    with pytest.raises(DescriptionError, match=field) as caught:
        rod(**{field: value})
    assert expected in str(caught.value)
    assert "rod 'arm'" in str(caught.value)


def test_body_inertia_in_three_ways():
    tip = rod().tip
    principal = Body("b", 0.1, (2e-6, 3e-6, 4e-6), tip)
    np.testing.assert_array_equal(principal.inertia, np.diag((2e-6, 3e-6, 4e-6)))
    six = Body("b", 0.1, (2e-6, 3e-6, 4e-6, 1e-7, 2e-7, 3e-7), tip)
    expected = [[2e-6, 1e-7, 2e-7], [1e-7, 3e-6, 3e-7], [2e-7, 3e-7, 4e-6]]
    np.testing.assert_array_equal(six.inertia, expected)
    np.testing.assert_array_equal(Body("b", 0.1, expected, tip).inertia, expected)


def test_body_inertia_about_the_section_is_that_of_its_particles():
    rng = np.random.default_rng(1)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(1, 2, 5)
    mass = masses.sum()
    centre = masses @ points / mass
    about = points - centre
    inertia = np.einsum("p,pij->ij", masses, [(x @ x) * np.eye(3) - np.outer(x, x) for x in about])
    offset = np.array([0.3, -0.2, 0.1])
    body = Body("b", mass, inertia, rod().at(0.1, offset), tuple(centre))
    twist = rng.normal(size=6)
    velocities = twist[3:] + np.cross(twist[:3], points + offset)
    energy = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    np.testing.assert_allclose(0.5 * twist @ body.spatial_inertia() @ twist, energy, rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"mass": -1.0}, "mass = -1.0: must be zero or a positive number in kg"),
        ({"inertia": (1.0, 2.0)}, "inertia"),
        ({"inertia": (-1e-6, 1e-6, 1e-6)}, "of zero or more"),
        ({"inertia": (1e-6, 1e-6, 3e-6)}, "no one exceeds the sum"),
        ({"inertia": np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])}, "symmetric"),
        ({"centre": (1.0,)}, "centre"),
        ({"name": "world"}, "reserved"),
    ],
)
def test_wrong_body_is_refused(given, expected):
    fields = {"name": "b", "mass": 0.1, "on": rod().tip, **given}
    with pytest.raises(DescriptionError) as caught:
        Body(**fields)
    assert expected in str(caught.value)


def test_robot_takes_bodies_and_motions_and_names_their_inputs():
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, drag=0.2, mass_damping=1, rotary=False)
    camera = robot.add_body("camera", mass=0.02, inertia=(1e-6, 1e-6, 1e-6), on=arm.tip)
    shake = robot.add_base_motion("shake", of=arm, translation=(0, 0, 1))
    assert (arm.drag, arm.mass_damping, arm.rotary) == (0.2, 1.0, False)
    assert robot.description.bodies == {"camera": camera}
    assert robot.description.base_motions == {"shake": shake}
    assert robot.description.inputs() == {"shake": 0.0}
    assert robot.description.motions_of("arm") == [shake]
    assert "camera" in repr(robot)
    with pytest.raises(DescriptionError, match="unique in the robot"):
        robot.add_body("arm", mass=1.0, on=arm.tip)
    with pytest.raises(DescriptionError, match=r"on\.s"):
        robot.add_body("late", mass=1.0, on=pl.Frame("arm", 0.5))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"of": 3}, "a rod or the name of a rod"),
        ({"of": "amr"}, "a part of this robot"),
        ({"of": "second"}, "clamped to the world (rod 'second' is mounted on 'arm')"),
        ({"of": "third"}, "clamped to the world (rod 'third' is free)"),
        ({"translation": (0, 0, 0)}, "not both zero"),
        ({"translation": 1.0}, "3 finite numbers in metres per unit of input"),
        ({"rotation": (0, 0, np.inf)}, "3 finite numbers in radians per unit of input"),
    ],
)
def test_wrong_base_motion_is_refused(given, expected):
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER)
    robot.add_rod("second", 0.3, pl.Circle(0.01), RUBBER, base=arm.tip)
    robot.add_rod("third", 0.3, pl.Circle(0.01), RUBBER, base=None)
    with pytest.raises(DescriptionError) as caught:
        robot.add_base_motion(**{"name": "m", "of": arm, "translation": (0, 0, 1), **given})
    assert expected in str(caught.value)


def motions():
    """Two motions of one rod, each a translation with a rotation about its own axis."""
    first = BaseMotion("a", "arm", (1.0, 0.2, 0.0), (0.3, 0.0, 1.0))
    second = BaseMotion("b", "arm", (0.0, -1.0, 0.5), (1.0, -0.4, 0.0))
    return (first, Sine(0.3, 1.0, 0.2)), (second, Sine(0.5, 0.7, 1.0))


def state(t):
    pose = pl.pose((0.1, 0.2, 0.3), (0.4, -0.2, 0.1))
    return base_state(pose, [Moving(m, x(t), x.rate(t), x.acceleration(t)) for m, x in motions()])


def test_base_pose_is_that_of_the_formula():
    (first, x), (second, y) = motions()
    pose = pl.pose((0.1, 0.2, 0.3), (0.4, -0.2, 0.1))
    for motion, value in ((first, x(0.3)), (second, y(0.3))):
        shift = pl.pose(value * np.array(motion.translation))
        turn = np.concatenate((value * np.array(motion.rotation), np.zeros(3)))
        pose = shift @ pose @ se3.exp(turn)
    np.testing.assert_allclose(state(0.3).pose, pose, atol=1e-15)


def test_base_twist_and_its_rate_are_derivatives_of_the_pose():
    t, h = 0.3, 1e-4
    relative = np.linalg.inv(state(t - h).pose) @ state(t + h).pose
    # log over a centred step agrees with the mid twist to second order
    np.testing.assert_allclose(state(t).twist, se3.log(relative) / (2 * h), atol=1e-6)
    rate = (state(t + h).twist - state(t - h).twist) / (2 * h)
    np.testing.assert_allclose(state(t).twist_rate, rate, rtol=1e-6, atol=1e-6)


SIGNALS = [
    Constant(2.0),
    Ramp(0.0, 3.0, 0.1, 0.7),
    Step(1.0, 3.0, 0.1, rise=0.9),
    Step(1.0, 3.0, 0.5),
    Sine(1.5, 2.0, 0.3, 0.1),
    Sweep(0.7, 1.0, 4.0, 2.0),
    Table([0.0, 0.5, 1.0], [0.0, 2.0, 1.0]),
]


@pytest.mark.parametrize(
    "signal",
    [*SIGNALS, Sine(1.0, 2.0) + Table([0.0, 1.0], [1.0, 3.0]) + 0.5],
    ids=lambda s: str(s)[:5],
)
def test_signal_over_many_times_is_that_of_each(signal):
    t = np.linspace(0.0, 3.0, 50)
    found = signal.over(t)
    assert found.shape == t.shape
    np.testing.assert_allclose(found, [signal(x) for x in t], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("t", [0.33, 0.62, 1.9, 3.0])
def test_signal_derivatives_are_those_of_its_values(signal, t):
    h = 1e-5
    rate = (signal(t + h) - signal(t - h)) / (2 * h)
    assert signal.rate(t) == pytest.approx(rate, rel=1e-6, abs=1e-6)
    second = (signal.rate(t + h) - signal.rate(t - h)) / (2 * h)
    assert signal.acceleration(t) == pytest.approx(second, rel=1e-6, abs=1e-6)


def test_step_changes_at_its_time_or_smoothly_within_its_rise():
    jump = Step(1.0, 3.0, 0.5)
    assert [jump(t) for t in (0.0, 0.5 - 1e-12, 0.5, 2.0)] == [1.0, 1.0, 3.0, 3.0]
    smooth = Step(1.0, 3.0, 0.5, rise=0.2)
    assert [smooth(t) for t in (0.0, 0.5, 0.7, 2.0)] == [1.0, 1.0, 3.0, 3.0]
    assert smooth(0.6) == pytest.approx(2.0, abs=1e-14)
    for t in (0.5, 0.7):  # no corner and no jump of the acceleration at either end
        assert smooth.rate(t + 1e-7) == pytest.approx(smooth.rate(t - 1e-7), abs=1e-9)
        assert smooth.acceleration(t + 1e-9) == pytest.approx(
            smooth.acceleration(t - 1e-9), abs=1e-4
        )


def test_rate_at_a_corner_is_the_one_to_come():
    assert Ramp(0.0, 3.0, 0.0, 1.5).rate(0.0) == 2.0
    assert Ramp(0.0, 3.0, 0.0, 1.5).rate(1.5) == 0.0
    assert Table([0.0, 0.5, 1.0], [0.0, 2.0, 1.0]).rate(0.5) == -2.0
    assert Sweep(0.7, 1.0, 4.0, 2.0).rate(0.0) == pytest.approx(0.7 * 2 * np.pi)


@pytest.mark.parametrize("t", [0.0, 1e-4, 0.3, 2.0])
def test_plain_function_gets_derivatives_by_differences(t):
    exact = Sine(0.4, 2.0, 0.3)
    found = as_signal(lambda time: exact(time) if time >= 0 else np.nan)
    assert found(t) == exact(t)
    assert found.rate(t) == pytest.approx(exact.rate(t), abs=1e-8 * 0.4 * 4 * np.pi)
    peak = 0.4 * (4 * np.pi) ** 2
    assert found.acceleration(t) == pytest.approx(exact.acceleration(t), abs=1e-6 * peak)


def test_numbers_and_signals_become_signals():
    assert as_signal(2.0) == Constant(2.0)
    sine = Sine(1.0, 1.0)
    assert as_signal(sine) is sine


FILE = """
rods:
  arm:
    length: 0.3
    section: {circle: {radius: 0.01}}
    material: {E: 1.0e6, nu: 0.5, rho: 1000}
    drag: [0.1, 0.2, 0.3]
    mass_damping: 0.5
    rotary: false
bodies:
  camera: {mass: 0.02, inertia: [1.0e-6, 1.0e-6, 1.0e-6], on: {part: arm}, centre: [0, 0, 0.01]}
  plate:
    mass: 0.1
    inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 3]]
    on: {part: arm, at: 0.1}
base_motions:
  shake: {of: arm, translation: [0, 0, 1], rotation: [0, 1, 0]}
inputs:
  shake: {sine: {amplitude: 0.01, frequency: 3}}
"""


def test_robot_file_says_the_same(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(FILE)
    robot = pl.Robot.from_file(path)
    found = robot.description
    arm = found.rods["arm"]
    assert arm.drag == (0.1, 0.2, 0.3)
    assert (arm.mass_damping, arm.rotary) == (0.5, False)
    assert found.bodies["camera"].centre == (0.0, 0.0, 0.01)
    assert found.bodies["camera"].on == arm.tip
    assert np.asarray(found.bodies["plate"].inertia)[0, 1] == 0.1
    assert found.base_motions["shake"].rotation == (0.0, 1.0, 0.0)
    assert robot.inputs["shake"].rate(0.0) == pytest.approx(0.01 * 6 * np.pi)


def test_robot_file_of_the_manual_is_right(tmp_path):
    page = Path(__file__).resolve().parents[2] / "docs" / "robot_files.md"
    text = page.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "robot.yaml"
    path.write_text(text)
    robot = pl.Robot.from_file(path)
    assert set(robot.description.inputs()) == {"push", "shake"}
    move = robot.simulate(0.05, 0.01)
    assert move.position("arm", 0.0)[-1, 2] == pytest.approx(0.002 * np.sin(2 * np.pi * 3 * 0.05))
    assert np.abs(move.energy["work"]).max() > 0
