"""Linear systems about equilibria, against oscillators, undamped modes and simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl

SILICONE = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)


def arm() -> pl.Robot:
    """A horizontal arm with a hinged hand; inputs push, twist, shake (base) and grip (prescribed)."""
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
    robot.add_base_motion("shake", rod, translation=(0, 0, 1), rotation=(0.5, 0, 0))
    robot.add_load("push", rod.tip, force=(0, 0, 1))
    joint = pl.Revolute("x", stiffness=0.02, damping=1e-4)
    robot.add_body("hand", 0.01, (1e-6,) * 3, on=rod.tip, centre=(0, 0.01, 0.01), joint=joint)
    drive = pl.Revolute("y", drive="angle")
    robot.add_body("grip", 0.01, (1e-6,) * 3, on=rod.at(0.15), centre=(0.03, 0, 0), joint=drive)
    return robot


def test_oscillator_has_its_frequency_damping_and_gain() -> None:
    """m z'' + c z' + k z = u on a slide, from a spring with a damper."""
    m, c, k = 0.2, 0.4, 50.0
    robot = pl.Robot(gravity=(0, 0, 0))
    body = robot.add_body("mass", m, joint=pl.Prismatic("z", stiffness=k, damping=c))
    robot.add_load("push", body.at((0, 0, 0)), force=(0, 0, 1))
    found = robot.linearise(inputs="push", outputs=[("mass", "z")], values={"push": 0.0})
    omega, zeta = np.sqrt(k / m), c / (2.0 * np.sqrt(k * m))
    assert found.frequencies == pytest.approx([omega / (2.0 * np.pi)])
    assert found.damping == pytest.approx([zeta])
    f = np.array([0.1, 2.0, 30.0])
    w = 2.0 * np.pi * f
    assert found.response(f)[:, 0, 0] == pytest.approx(1.0 / (k - m * w**2 + 1j * c * w))
    assert found.stable and found.inputs == ["push"] and found.outputs == ["mass z"]


def test_shaken_support_enters_by_value_rate_and_acceleration() -> None:
    """A pendulum on a prescribed arm: the gain has k, c w and m w^2 of the support."""
    robot = pl.Robot(gravity=(0, 0, 0))
    crank = robot.add_body("crank", 1.0, (1.0,) * 3, joint=pl.Revolute("z", drive="angle"))
    inertia, c, k = 0.3, 0.5, 7.0
    robot.add_body(
        "wheel",
        1.0,
        (inertia,) * 3,
        on=crank.at((0, 0, 0)),
        joint=pl.Revolute("z", stiffness=k, damping=c),
    )
    found = robot.linearise(inputs="crank", outputs=[("wheel", "rz")])
    f = np.array([0.0, 0.5, 1.0, 10.0])
    w = 2.0 * np.pi * f
    gain = (k + 1j * c * w) / (k + 1j * c * w - inertia * w**2)
    assert found.response(f)[:, 0, 0] == pytest.approx(gain, rel=1e-9)


@pytest.mark.parametrize("formulation", [pl.BSpline(3, 8), pl.Hermite(4), pl.Strain()], ids=repr)
def test_gain_at_no_frequency_is_the_jacobian(formulation: pl.Formulation) -> None:
    robot = arm()
    still = robot.statics({"push": 0.1, "shake": 0.1, "grip": 0.3}, formulation)
    names = ["push", "shake", "grip"]
    found = robot.linearise(still, names, ["arm.tip", ("hand", "rx")])
    truth = np.concatenate(
        [
            still.jacobian("arm.tip", names, frame="world")[3:],
            still.jacobian("hand", names, frame="world")[:1],
        ]
    )
    static = found.D - found.C @ np.linalg.solve(found.A, found.B)
    assert static == pytest.approx(truth, rel=1e-6, abs=1e-7)
    assert found.outputs == ["arm.tip x", "arm.tip y", "arm.tip z", "hand rx"]


def test_without_damping_the_modes_are_the_undamped_ones() -> None:
    robot = pl.Robot()
    rod = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.45, rho=1000.0), pl.along("-z")
    )
    robot.add_constraint("guide", rod.tip, hold=("x", "ry"))
    still = robot.statics()
    found = robot.linearise(still)
    modes = robot.modes(6, at=still)
    assert found.frequencies[:6] == pytest.approx(modes.frequencies, rel=1e-7)
    assert np.abs(found.damping[:6]).max() < 1e-7
    shape, other = found.shape(0), modes.shape(0)
    overlap = abs(np.vdot(shape, other)) / (np.linalg.norm(shape) * np.linalg.norm(other))
    assert overlap == pytest.approx(1.0, abs=1e-6)
    assert np.abs(shape[-1, 3]) < 1e-9 * np.abs(shape).max()


def test_viscosity_damps_a_mode_in_proportion_to_its_frequency() -> None:
    """Kelvin-Voigt with the ratio tau of viscosity to modulus: zeta = pi f tau."""
    tau = 2e-3
    robot = pl.Robot(gravity=(0, 0, 0))
    stiffness = pl.Stiffness(bending=0.01, twist=0.008, shear=100.0, axial=300.0, mass=0.3)
    damping = pl.Damping(
        bending=0.01 * tau, twist=0.008 * tau, shear=100.0 * tau, axial=300.0 * tau
    )
    robot.add_rod("arm", 0.3, stiffness, strain_damping=damping, rotary=False)
    found = robot.linearise(modes=6)
    undamped = robot.modes(4).frequencies
    assert found.frequencies[:4] == pytest.approx(undamped, rel=1e-6)
    assert found.damping[:4] == pytest.approx(np.pi * undamped * tau, rel=1e-5)


@pytest.mark.parametrize("name", ["push", "shake", "grip"])
def test_linear_system_moves_as_a_simulation_with_small_inputs(name: str) -> None:
    from scipy.signal import lsim

    robot, size = arm(), 1e-4
    still = robot.statics({"push": 0.05, "shake": 0.0, "grip": 0.2})
    found = robot.linearise(still, [name], ["arm.tip", ("hand", "z")])
    h, end = 5e-4, 0.3

    def signal(t: Any) -> Any:
        # smooth from rest, with rate and acceleration zero at the start
        return size * np.where(
            t < 0.1, (t / 0.1) ** 3 * (10 - 15 * t / 0.1 + 6 * (t / 0.1) ** 2), 1.0
        )

    value = still.inputs[name]
    inputs = {**still.inputs, name: lambda t: value + float(signal(t))}
    motion = robot.simulate(end, h, inputs, start=still)
    t = motion.t
    linear = lsim((found.A, found.B, found.C, found.D), signal(t)[:, None], t)[1]
    moved = np.column_stack(
        [
            motion.position("arm.tip") - still.position("arm.tip"),
            motion.position("hand")[:, 2] - still.position("hand")[2],
        ]
    )
    assert np.abs(linear - moved).max() < 2e-3 * np.abs(moved).max()


def test_modes_keep_the_slow_part_of_the_system() -> None:
    robot = arm()
    still = robot.statics({"push": 0.0, "shake": 0.0, "grip": 0.0})
    names, outputs = ["push", "shake"], [("arm.tip", "z")]
    whole = robot.linearise(still, names, outputs)
    some = robot.linearise(still, names, outputs, modes=12)
    assert len(some.A) == 24
    assert some.frequencies[:3] == pytest.approx(whole.frequencies[:3], rel=1e-4)
    f = np.geomspace(0.3, 6.0, 20)
    assert some.response(f) == pytest.approx(whole.response(f), rel=0.02, abs=0.02)


def test_control_system_is_the_same_system(tmp_path: Any) -> None:
    control = pytest.importorskip("control")
    robot = arm()
    found = robot.linearise(inputs=["push"], outputs=[("arm.tip", "z")], modes=4)
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.input_labels == ["push"] and system.output_labels == ["arm_tip z"]
    gain = control.frequency_response(system, 2.0 * np.pi * np.array([1.0, 3.0])).complex
    assert np.ravel(gain) == pytest.approx(found.response([1.0, 3.0])[:, 0, 0])
    found.plot(tmp_path / "bode.png")
    assert "damping ratio" in found.summary()
    assert np.shape(found.to_dict()["A"]) == (8, 8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": ["pus"]}, "'push'"),
        ({"outputs": ["arm"]}, r"arm\.tip"),
        ({"outputs": [("arm.tip", "w")]}, "'rx'"),
        ({"modes": 0}, "modes"),
        ({"formulation": pl.Shooting()}, "coordinates"),
    ],
)
def test_linearise_refuses_bad_input(change: dict[str, Any], words: str) -> None:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), SILICONE)
    robot.add_load("push", rod.tip, force=(0, 0, 1))
    with pytest.raises(pl.DescriptionError, match=words):
        robot.linearise(**change)
