"""PID, computed torque, task space, LQR: against closed-loop solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve import checkpoint

M = 0.5


def cart(drive: str = "force") -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("cart", M, joint=pl.Prismatic("z", drive=drive, input="push"))
    return robot


def torque(**given: Any) -> pl.ComputedTorque:
    known = {"inputs": "push", "targets": {"cart.z": 0}, "every": 0.1, "kp": 1.0, "kd": 1.0}
    return pl.ComputedTorque(cart().equations(), **{**known, **given})


def sprung() -> pl.Robot:
    robot = pl.Robot()
    joint = pl.Prismatic("z", drive="force", input="push", stiffness=50.0)
    robot.add_body("cart", M, joint=joint)
    return robot


def task(**given: Any) -> pl.TaskSpace:
    known = {"robot": sprung(), "place": "cart", "target": 0.0, "inputs": "push", "every": 0.1}
    return pl.TaskSpace(**{**known, "gain": 1.0, "axes": "z", **given})


def held(law: Any) -> None:
    sprung().simulate(0.2, 0.1, controllers=law)


def test_pid_is_the_sampled_loop_to_rounding() -> None:
    """Exact motion under held forces, with the integral as a third state."""
    kp, ki, kd, h = 30.0, 20.0, 5.0, 0.01
    pid = pl.PID("push", "cart.joint", 0.3, h, kp, ki, kd, rate="cart.joint_rate", offset=0.1)
    motion = cart().simulate(1.0, h, controllers=pid)
    z, v, integral, rows = 0.0, 0.0, 0.0, [0.0]
    for _ in range(100):
        integral += ki * (0.3 - z) * h
        a = (0.1 + kp * (0.3 - z) + integral - kd * v) / M
        z, v = z + h * v + 0.5 * h * h * a, v + h * a
        rows.append(z)
    assert motion.joint("cart")[:, 0] == pytest.approx(np.array(rows), abs=1e-12)


def test_fast_pd_is_the_second_order_response() -> None:
    """m z'' + kd z' + kp z = kp: error falls with the sampling time, by half its delay."""
    kp, kd, end = 50.0, 2.0, 1.0
    w, zeta = np.sqrt(kp / M), kd / (2 * np.sqrt(kp * M))
    damped = w * np.sqrt(1 - zeta**2)
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        pid = pl.PID("push", "cart.joint", 1.0, h, kp, 0.0, kd, rate="cart.joint_rate")
        motion = cart().simulate(end, h, controllers=pid)
        t = motion.t
        swing = np.cos(damped * t) + zeta / np.sqrt(1 - zeta**2) * np.sin(damped * t)
        exact = 1 - np.exp(-zeta * w * t) * swing
        errors.append(np.abs(motion.joint("cart")[:, 0] - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(1.0, abs=0.06) and errors[-1] < 0.01


def test_integral_does_not_wind_up_at_a_bound() -> None:
    def overshoot(bounds: Any, ki: float) -> float:
        pid = pl.PID("push", "cart.joint", 1.0, 0.01, 8.0, ki, 5.0, bounds=bounds, filter=0.02)
        motion = cart().simulate(8.0, 0.01, controllers=pid)
        assert np.abs(motion.inputs["push"]).max() <= 1.0 + 1e-12
        assert motion.joint("cart")[-1, 0] == pytest.approx(1.0, abs=0.02)
        return float(motion.joint("cart").max()) - 1.0

    pid = pl.PID("push", "cart.joint", 50.0, 0.01, 1.0, 10.0, bounds=(-1, 1))
    robot = cart()
    robot.simulate(2.0, 0.01, controllers=pid)
    assert pid.integral == 0.0  # at the bound from the first sample on
    assert overshoot((-1.0, 1.0), 2.0) < 0.15


def test_derivative_by_differences_is_filtered() -> None:
    """A ramp of y at rate r: the filtered derivative goes to r as (1 - share)^k."""

    class Ramp:
        t, y = 0.0, 0.0

    pid = pl.PID("push", lambda state: state.y, 0.0, 0.1, 0.0, kd=-1.0, filter=0.3)
    out = []
    for k in range(6):
        state = Ramp()
        state.t, state.y = 0.1 * k, 0.2 * k
        out.append(pid(state)["push"])
    assert out == pytest.approx(2.0 * (1 - 0.75 ** np.arange(6)))
    kept = pid.state()
    other = pl.PID("push", lambda state: state.y, 0.0, 0.1, 0.0, kd=-1.0, filter=0.3)
    other.restore(kept)
    assert other(state) == pid(state)


def test_pid_on_a_pressure_bends_a_finger() -> None:
    rubber = pl.Material(E=5e5, nu=0.48, rho=1070.0, viscosity=2e4)
    robot = pl.Robot()
    rod = robot.add_rod("finger", 0.1, pl.Circle(0.006), rubber, pl.along("-z"))
    robot.add_chamber("air", rod, area=5e-5, offset=(0.003, 0.0))
    gain = float(robot.statics({"air": 1e3}).jacobian("finger.tip", "air", frame="world")[3, 0])
    pid = pl.PID(
        *("air", "finger.tip.x", 0.5e4 * gain, 0.02, 0.5 / gain, 10.0 / gain),
        bounds=(0.0, 1e5),
    )
    motion = robot.simulate(1.5, 5e-3, controllers=pid, formulation=pl.Strain(1, 2))
    assert motion.position("finger.tip")[-1, 0] == pytest.approx(0.5e4 * gain, rel=1e-3)
    assert motion.inputs["air"][-1] == pytest.approx(0.5e4, rel=0.05)


def pendulum() -> pl.Robot:
    robot = pl.Robot(gravity=(0, -9.81, 0))
    swing = pl.Revolute("z", drive="torque")
    first = robot.add_body("one", 0.7, (1e-3, 1e-3, 2e-3), centre=(0, -0.3, 0), joint=swing)
    robot.add_body("two", 0.4, (1e-3,) * 3, first.at((0, -0.5, 0)), (0, -0.2, 0), joint=swing)
    return robot


HAND = pl.Frame("two", offset=(0.0, -0.4, 0.0))


def test_computed_torque_follows_joint_paths_to_the_error_of_sampling() -> None:
    """Torques are exact at samples and held in between: the error falls with the sampling time."""
    robot = pendulum()
    paths = {"one.angle": lambda t: np.sin(3 * t), "two.angle": lambda t: 0.5 * np.cos(2 * t)}
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        law = pl.ComputedTorque(robot.equations(), ["one", "two"], paths, h, 100.0, 20.0)
        motion = robot.simulate(
            0.8, h, controllers=law, joints={"one": 0.0, "two": 0.5}, velocity={"one": 3.0},
            integrator=pl.Newmark(),
        )  # fmt: skip
        apart = [
            motion.joint(part)[:, 0] - paths[f"{part}.angle"](motion.t) for part in ("one", "two")
        ]
        errors.append(np.abs(apart).max())
    assert errors[-1] < 3e-3
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(1.0, abs=0.15)


def test_computed_torque_moves_a_place_and_keeps_to_a_loop() -> None:
    """The hand of two links goes along a line; its start error decays as kp and kd say."""
    robot = pendulum()
    start = robot.simulate(1e-3, 1e-3, joints={"one": 0.4, "two": 0.8}).position(HAND)[0]
    goal = start[:2] + np.array([0.02, 0.0])
    kp, kd, h = 64.0, 16.0, 1e-3
    law = pl.ComputedTorque(
        robot.equations(), ["one", "two"], {HAND: goal}, h, kp, kd, axes={HAND: "xy"}
    )
    motion = robot.simulate(0.6, h, controllers=law, joints={"one": 0.4, "two": 0.8})
    t, x = motion.t, motion.position(HAND)
    decay = 0.02 * (1 + 8.0 * t) * np.exp(-8.0 * t)
    assert goal[0] - x[:, 0] == pytest.approx(decay, abs=2e-4)
    assert np.abs(x[:, 1] - start[1]).max() < 2e-4


def test_task_space_brings_a_soft_tip_where_reach_would() -> None:
    rubber = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e5)
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), rubber, pl.along("-z"))
    for k, at in enumerate([(0.006, 0), (-0.003, 0.005), (-0.003, -0.005)]):
        robot.add_tendon(f"pull{k}", along=rod, offset=at)
    names = [f"pull{k}" for k in range(3)]
    first = dict.fromkeys(names, 1.5)
    goal = np.array([0.02, 0.01])
    law = pl.TaskSpace(
        robot, "arm.tip", goal, names, 0.05, 2.0, axes="xy", damping=1e-3, bounds=(0.0, 5.0),
        values=first, formulation=pl.Strain(1, 2),
    )  # fmt: skip
    motion = robot.simulate(
        2.0, 0.01, first, start="statics", controllers=law, formulation=pl.Strain(1, 2)
    )
    error = np.linalg.norm(motion.position("arm.tip")[:, :2] - goal, axis=1)
    assert error[-1] < 0.025 * error[0]
    middle = int(1.0 / 0.01)
    assert error[middle] / error[0] == pytest.approx(np.exp(-2.0), rel=0.4)


def test_controller_begins_anew_in_each_motion_and_goes_on_from_one() -> None:
    pid = pl.PID("push", "cart.joint", 0.3, 0.01, 30.0, 60.0, 8.0)
    robot = cart()
    first, again = (robot.simulate(0.5, 0.01, controllers=pid) for _ in range(2))
    assert np.array_equal(first.joint("cart"), again.joint("cart"))
    stepper = robot.stepper(0.01, controllers=pid)
    for _ in range(50):
        state = stepper.step()
    assert state.joint("cart") == pytest.approx(first.joint("cart")[-1], abs=1e-12)
    whole = robot.simulate(1.0, 0.01, controllers=pid)
    half = robot.simulate(0.5, 0.01, controllers=pid)
    rest = robot.simulate(0.5, 0.01, start=half, controllers=pid)
    assert rest.joint("cart")[-1] == pytest.approx(whole.joint("cart")[-1], abs=1e-12)


def test_task_space_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0.0)
    rubber, model = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e5), pl.Strain(0, 2)
    robot, values = pl.Robot(), {"a": 1.5, "b": 1.5}
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), rubber, pl.along("-z"))
    robot.add_tendon("a", along=rod, offset=(0.006, 0))
    robot.add_tendon("b", along=rod, offset=(-0.003, 0.005))

    def run(**more: Any) -> Any:
        law = pl.TaskSpace(
            robot, "arm.tip", (0.02, 0.01), ["a", "b"], 0.05, 2.0, "xy", bounds=(0.0, 5.0),
            values=values, formulation=model,
        )  # fmt: skip
        options: Any = {"start": "statics", "formulation": model, "controllers": law}
        return robot.simulate(0.6, 0.01, values, **options, **more)

    def interrupt(t: float, end: float) -> None:
        if t > 0.33:
            raise KeyboardInterrupt

    whole, file = run(), tmp_path / "motion.nc"
    assert not run(save=file, progress=interrupt).complete
    rest = run(resume=file)
    assert np.array_equal(rest.tip("arm"), whole.tip("arm"))
    assert np.array_equal(rest.inputs["a"], whole.inputs["a"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pl.PID("push", 3, 0.0, 0.1, 1.0), "measured"),
        (lambda: pl.PID("push", "cart.joint", 0.0, -0.1, 1.0), "every"),
        (lambda: pl.PID("push", "cart.joint", 0.0, 0.1, 1.0, bounds=(2, 1)), "bounds"),
        (lambda: pl.PID("push", "cart.joint", 0.0, 0.1, np.nan), "kp"),
        (lambda: pl.ComputedTorque(cart().equations(), "posh", {"cart.z": 0}, 0.1, 1, 1), "push"),
        (lambda: pl.ComputedTorque(cart().equations(), "push", {}, 0.1, 1, 1), "targets"),
        (lambda: torque(targets=["cart.z"]), "targets"),
        (lambda: torque(inputs=[]), "inputs"),
        (lambda: torque(kp=-1.0), "kp"),
        (lambda: torque(kd=-1.0), "kd"),
        (lambda: torque(damping=-1.0), "damping"),
        (lambda: torque(axes={"card": "z"}), "axes"),
        (lambda: torque(axes="z"), "axes"),
        (lambda: torque(targets={"cart": 0.0}, axes={"cart": ""}), "axes"),
        (lambda: torque(targets={"cart": (0, 0)}, axes={"cart": "zz"}), "axes"),
        (lambda: task(inputs=["posh"]), "push"),
        (lambda: task(inputs=[]), "inputs"),
        (lambda: task(axes=""), "axes"),
        (lambda: task(damping=-0.1), "damping"),
        (lambda: task(robot=None), "robot"),
        (lambda: held(task(target=0.1, axes="xz")), "2 numbers"),
        (lambda: held(task(target=(0.1, 0.0, 0.0), axes="xz")), "2 numbers"),
        (lambda: held((pl.PID("push", "cart.joint", 0.0, 0.1, 1.0), 0.2)), "its own, 0.1 s"),
        (lambda: held(pl.PID("push", "cart.z", 0.0, 0.1, 1.0)), "'cart.joint'"),
        (lambda: held(pl.PID("push", "crt.joint", 0.0, 0.1, 1.0)), "'cart.joint'"),
    ],
)  # fmt: skip
def test_bad_settings_are_told(make: Any, message: str) -> None:
    with pytest.raises(pl.DescriptionError, match=message):
        make()
    pid = pl.PID("push", "cart.joint.q", 0.0, 0.1, 1.0)
    with pytest.raises(pl.DescriptionError, match="coordinate of the joint"):
        cart().simulate(0.1, 0.1, controllers=pid)
