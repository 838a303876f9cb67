"""Joints that are tied together: reflected inertia, racks, differentials, prescribed phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

WHEEL, PINION, RATIO, SPRING = 2e-3, 3e-4, -4.0, 0.5
REFLECTED = WHEEL + RATIO**2 * PINION
"""Inertia about the axis of the wheel, kg m^2, with that of the geared pinion."""
STEPS = [pl.Midpoint(), pl.GeneralizedAlpha(0.9), pl.Newmark(), pl.Radau(1e-8), pl.ImplicitEuler()]


def geared(**more: Any) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, 0.0, 0.0))
    hinge = pl.Revolute("z", drive="torque", input="push", stiffness=SPRING)
    robot.add_body("wheel", 1.0, (WHEEL,) * 3, joint=hinge)
    shaft = pl.pose((0.1, 0.0, 0.0))
    robot.add_body("pinion", 0.1, (PINION,) * 3, pose=shaft, joint=pl.Revolute("z"))
    robot.add_gear("gear", "pinion", "wheel", RATIO, **more)
    return robot


@pytest.mark.parametrize("integrator", STEPS, ids=repr)
def test_a_gear_reflects_inertia_by_the_square_of_its_ratio(integrator: Any) -> None:
    motion = geared().simulate(0.2, 1e-3, inputs={"push": 0.1}, integrator=integrator)
    rate = np.sqrt(SPRING / REFLECTED)
    exact = 0.1 / SPRING * (1.0 - np.cos(rate * motion.t))
    error = np.abs(motion.joint("wheel")[:, 0] - exact).max() / exact.max()
    damps = isinstance(integrator, pl.ImplicitEuler)
    assert error < (3e-3 if damps else 2e-5)
    assert motion.joint("pinion") == pytest.approx(RATIO * motion.joint("wheel"), abs=1e-12)
    force = PINION * RATIO * exact_acceleration(rate, motion.t)
    assert motion.reading("gear", "force") == pytest.approx(force, abs=2e-3 if damps else 1e-5)


def exact_acceleration(rate: float, t: Any) -> Any:
    return 0.1 / SPRING * rate**2 * np.cos(rate * t)


def test_modes_and_linear_systems_have_the_reflected_inertia() -> None:
    frequency = np.sqrt(SPRING / REFLECTED) / (2.0 * np.pi)
    assert geared().modes(1).frequencies == pytest.approx([frequency], rel=1e-9)


def test_an_input_shifts_the_teeth_and_its_work_is_counted_at_second_order() -> None:
    signal = pl.Step(0.0, 0.3, 0.02, 0.2)
    gaps = []
    for dt in (2e-3, 1e-3):
        motion = geared(input="shift").simulate(0.3, dt, inputs={"shift": signal})
        wanted = RATIO * motion.joint("wheel")[:, 0] + signal.over(motion.t)
        assert motion.joint("pinion")[:, 0] == pytest.approx(wanted, abs=1e-12)
        energy = motion.energy
        total = energy["kinetic"] + energy["elastic"] - energy["work"]
        gaps.append(np.abs(total - total[0]).max() / energy["kinetic"].max())
    assert 3.5 < gaps[0] / gaps[1] < 4.5 and gaps[1] < 2e-5


def test_fingers_share_the_coordinate_of_one_motor() -> None:
    robot = pl.Robot()
    robot.add_body("motor", 0.1, (1e-4,) * 3, joint=pl.Revolute("y", drive="torque"))
    names = ("thumb", "index", "middle")
    for k, name in enumerate(names):
        hinge = pl.Revolute("y", stiffness=0.01 * (k + 1))
        robot.add_body(name, 0.02, (1e-5,) * 3, pose=pl.pose((0, 0.1 * k, 0)), joint=hinge)
    robot.add_gear("tendons", names, "motor", 0.5)
    still = robot.statics({"motor": 0.012})
    assert still.joint("motor") == pytest.approx([0.012 / (0.25 * 0.06)], rel=1e-9)
    for k, name in enumerate(names):
        assert still.joint(name) == pytest.approx(0.5 * still.joint("motor"), abs=1e-12)
        assert still.reading("tendons", "force")[k] == pytest.approx(
            0.01 * (k + 1) * still.joint(name)[0], rel=1e-9
        )


def test_a_rack_and_a_differential() -> None:
    robot = pl.Robot()
    robot.add_body("left", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", drive="angle"))
    robot.add_body("right", 0.1, (1e-4,) * 3, joint=pl.Revolute("x", drive="angle"))
    robot.add_body("cage", 0.2, (1e-4,) * 3, joint=pl.Revolute("x"))
    robot.add_body("rack", 0.5, joint=pl.FreeDirections(("z", "x"), stiffness=(0.0, 10.0)))
    robot.add_gear("differential", "cage", {"left": 0.5, "right": 0.5}, offset=0.1)
    robot.add_gear("teeth", "rack.z", "cage", 0.02)
    still = robot.statics({"left": 1.0, "right": -0.4})
    assert still.joint("cage") == pytest.approx([0.4], abs=1e-12)
    assert still.joint("rack") == pytest.approx([0.008, 0.0], abs=1e-12)
    assert still.reading("teeth", "force") == pytest.approx(0.5 * 9.81, rel=1e-9)
    weight = 0.5 * 9.81 * 0.02 * 0.5
    assert still.drive_forces["left"] == pytest.approx(weight, rel=1e-9)


def test_gears_survive_a_robot_file_and_are_drawn(tmp_path: Any) -> None:
    robot = geared(input="shift", offset=0.05)
    again = pl.Robot.from_file(robot.save(tmp_path / "gear.yaml"))
    inputs = {"push": 0.1, "shift": 0.2}
    assert again.statics(inputs).joint("pinion") == robot.statics(inputs).joint("pinion")
    assert robot.statics(inputs).plot() is not None and robot.plot() is not None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (("pinion", "motor"), ("follows", "'motor'", "wheel, pinion")),
        (("pinion", "pinion"), ("follows", "another coordinate")),
        (("ball", "wheel"), ("joint", "ball.rx")),
        (("pinion", "wheel", 0.0), ("ratio", "not zero")),
        (("pinion", {"wheel": 2.0}, 3.0), ("ratio", "left out")),
        (("pinion", {}), ("follows", "ratios by name")),
        ((("pinion", "pinion"), "wheel"), ("joint", "each coordinate once")),
        (("turned", "other"), ("joint", "not prescribed")),
    ],
)
def test_bad_gears_are_refused_by_name(fields: tuple[Any, ...], words: tuple[str, ...]) -> None:
    robot = geared()
    robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Spherical())
    for name in ("turned", "other"):
        robot.add_body(name, 0.1, (1e-4,) * 3, joint=pl.Revolute("x", drive="angle"))
    with pytest.raises(pl.DescriptionError) as told:
        robot.add_gear("bad", *fields)
    assert all(word in str(told.value) for word in ("gear 'bad'", *words)), told.value


def test_fit_finds_ratio_and_offset_of_a_gear() -> None:
    def train(ratio: float, offset: float) -> pl.Robot:
        robot = pl.Robot()
        motor = pl.Revolute("z", stiffness=1e-3, drive="torque")
        robot.add_body("motor", 0.1, (1e-5,) * 3, joint=motor)
        robot.add_body("arm", 0.5, (1e-3,) * 3, joint=pl.Revolute("z", stiffness=2.0))
        robot.add_gear("gearbox", "arm", "motor", ratio, offset=offset)
        return robot

    torque = np.array([0.01, 0.02, 0.05])
    ratio, offset = 0.13, 0.05
    motor = (torque - 2.0 * ratio * offset) / (1e-3 + 2.0 * ratio**2)  # least energy
    angle = offset + ratio * motor
    data = pl.Measurement({"motor": torque, "arm.joint.angle": angle})
    asked = ["gearbox.ratio", pl.Parameter("gearbox.offset", typical=0.1)]
    found = pl.fit(train(0.1, 0.0), data, asked).values
    assert found == pytest.approx({"gearbox.ratio": ratio, "gearbox.offset": offset}, rel=1e-6)
    motion = train(ratio, 0.0).simulate(0.3, 1e-3, inputs={"motor": 0.05})
    columns = {"t": motion.t, "arm.joint.angle": motion.joint("arm")[:, 0]}
    moved = pl.Measurement(columns, "t", inputs={"motor": 0.05})
    again = pl.fit(train(0.1, 0.0), moved, ["gearbox.ratio"], dt=1e-3).values
    assert again["gearbox.ratio"] == pytest.approx(ratio, rel=1e-5)
