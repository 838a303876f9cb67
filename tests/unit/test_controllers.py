"""Controllers in motions: samples, holds, rates, memories, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.solve import checkpoint

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
M, KP, KD, EVERY = 0.5, 40.0, 6.0, 0.02


def cart() -> pl.Robot:
    """A mass on a slide with a force."""
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("cart", M, joint=pl.Prismatic("z", drive="force", input="push"))
    return robot


def spring_law(state: pl.StepState) -> dict[str, float]:
    """A sampled spring and damper towards z = 1."""
    return {"push": KP * (1.0 - state.joint("cart")[0]) - KD * state.joint_rate("cart")[0]}


def exact(count: int) -> Any:
    """Positions at the samples: constant force in between."""
    y, rows = np.zeros(2), [0.0]
    for _ in range(count):
        u = KP * (1.0 - y[0]) - KD * y[1]
        y = np.array([[1.0, EVERY], [0.0, 1.0]]) @ y + np.array([EVERY**2 / 2, EVERY]) * u / M
        rows.append(float(y[0]))
    return np.array(rows)


def arm(**tendon: Any) -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), RUBBER, pl.along("-z"))
    robot.add_load("push", rod.tip, force=(1, 0, 0))
    path = [(0.006, 0, 0.01), *(rod.at(s, (0.006, 0)) for s in (0.05, 0.1, 0.15, 0.2))]
    robot.add_tendon("pull", path, **tendon)
    return robot


@pytest.mark.parametrize(
    "integrator", [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.6), pl.Radau(1e-9)], ids=repr
)
@pytest.mark.parametrize("per_sample", [1, 3])
def test_force_is_held_from_sample_to_sample(integrator: Any, per_sample: int) -> None:
    """These integrators are exact under constant forces; so is then the sampled loop."""
    robot, count = cart(), 40
    motion = robot.simulate(
        count * EVERY, EVERY / per_sample, controllers=(spring_law, EVERY), integrator=integrator
    )
    z = motion.joint("cart")[::per_sample, 0]
    close = 1e-9 if isinstance(integrator, pl.Radau) else 1e-12
    assert z == pytest.approx(exact(count), abs=close)
    assert np.abs(motion.energy["balance"]).max() < close * motion.energy["work"].max()
    samples = EVERY * np.arange(count + 1)
    assert np.abs(motion.step_times[:, None] - samples).min(axis=0).max() < 1e-12
    first = motion.inputs["push"][: per_sample + 2]
    assert first[0] == 0.0 and first[1 : per_sample + 1] == pytest.approx(KP)
    assert first[-1] < KP
    stepper = robot.stepper(
        EVERY / per_sample, controllers=(spring_law, EVERY), integrator=integrator
    )
    for _ in range(count * per_sample):
        stepper.advance()
    apart = {"rel": 0.0, "abs": KP * close if isinstance(integrator, pl.Radau) else 0.0}
    assert stepper.state.joint("cart")[0] == pytest.approx(z[-1], **apart)
    assert stepper.inputs["push"] == pytest.approx(motion.inputs["push"][-1], **apart)


def test_radau_meets_a_sampled_arm_as_fine_steps_do(tmp_path: Path) -> None:
    """A tendon arm under feedback, with steps that choose their length; and resumed, bit by bit."""

    def hold(state: pl.StepState) -> dict[str, float]:
        return {"pull": 1.0 + 30.0 * max(0.0, state.tip("arm")[0, 3])}

    given: dict[str, Any] = {
        "inputs": {"push": (0.0, 0.0, 0.0)}, "controllers": (hold, 0.02),
        "formulation": pl.Strain(1), "output_every": 0.02,
    }  # fmt: skip
    fine = arm().simulate(0.2, 1e-4, integrator=pl.Newmark(), **given)
    given |= {"integrator": pl.Radau(1e-6)}
    motion = arm().simulate(0.2, 0.02, **given)
    assert motion.position("arm.tip") == pytest.approx(fine.position("arm.tip"), abs=2e-6)

    def interrupt(t: float, end: float) -> None:
        if t > 0.1:
            raise KeyboardInterrupt

    path = tmp_path / "motion.nc"
    arm().simulate(0.2, 0.02, **given, save=path, progress=interrupt)
    again = arm().simulate(0.2, 0.02, **given, resume=path)
    whole = arm().simulate(0.2, 0.02, **given, progress=lambda t, end: None)
    assert (again.position("arm.tip") == whole.position("arm.tip")).all()


def test_each_controller_is_asked_at_its_own_rate_with_what_acts() -> None:
    robot, seen = arm(), {"slow": [], "fast": []}

    def slow(state: pl.StepState) -> dict[str, float]:
        seen["slow"].append((state.t, state.inputs["push"], state.tension("pull")))
        return {"pull": 1.0 + state.t}

    def fast(state: pl.StepState) -> dict[str, float] | None:
        seen["fast"].append(state.t)
        return {"push": 0.01 * len(seen["fast"])} if state.t < 0.05 else None

    motion = robot.simulate(
        0.1, 5e-3, {"push": 0.0}, controllers=[(slow, 0.03), (fast, 0.01)], formulation=pl.SRL(4)
    )
    assert [t for t, _, _ in seen["slow"]] == pytest.approx([0.0, 0.03, 0.06, 0.09])
    assert seen["fast"] == pytest.approx(np.arange(10) * 0.01)
    # at 0.03 the slow one is asked first: 0.03 N were set at 0.02, and 1 N pulls since 0
    assert seen["slow"][1][1:] == pytest.approx((0.03, 1.0))
    assert motion.inputs["pull"][[1, 6, 7, -1]] == pytest.approx([1.0, 1.0, 1.03, 1.09])
    assert motion.inputs["push"][-1] == pytest.approx(0.05)


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.GeneralizedAlpha(0.8)], ids=repr)
def test_work_of_held_inputs_closes_the_energy_balance(integrator: Any) -> None:
    robot = arm()

    def law(state: pl.StepState) -> dict[str, float]:
        return {"push": 0.05 * np.sign(0.01 - state.position("arm.tip")[0]), "pull": 0.3}

    found = [
        robot.simulate(0.3, dt, controllers=(law, 0.02), integrator=integrator).energy
        for dt in (2e-3, 1e-3)
    ]
    sizes = [np.abs(energy["balance"]).max() / energy["work"].max() for energy in found]
    assert sizes[1] < 0.01 and sizes[1] < 0.5 * sizes[0]


def test_prescribed_joint_goes_straight_to_what_a_controller_wants() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_body("arm", 1.0, (1.0,) * 3, joint=pl.Revolute("z", drive="angle", input="turn"))
    wanted = iter((0.2, 0.5, 0.5, 0.1))
    law = (lambda state: {"turn": next(wanted)}, 0.1)
    motion = robot.simulate(0.4, 0.02, {"turn": 0.1}, controllers=law, integrator=pl.Newmark())
    corners = np.interp(motion.t, np.arange(5) * 0.1, (0.1, 0.2, 0.5, 0.5, 0.1))
    assert motion.joint("arm")[:, 0] == pytest.approx(corners)
    assert motion.joint_rate("arm")[[3, 8, 13, 18], 0] == pytest.approx([1.0, 3.0, 0.0, -4.0])
    stepper = robot.stepper(0.02, {"turn": 0.1}, controllers=(lambda s: {"turn": 0.2}, 0.1))
    assert [stepper.step().joint("arm")[0] for _ in range(6)] == pytest.approx(
        [0.12, 0.14, 0.16, 0.18, 0.2, 0.2]
    )


def test_pressure_line_lags_behind_what_a_controller_asks() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    finger = pl.BendingActuator(0.175, bending=0.0186, chamber_radius=0.006, arm=0.009, mass=0.12)
    robot.add_actuator("finger", finger, pose=pl.along("-z"), line=pl.Lag(0.05))
    seen = []

    def law(state: pl.StepState) -> dict[str, float]:
        seen.append(state.inputs["chamber1"])
        return {"chamber1": 1e4}

    robot.simulate(0.1, 1e-3, controllers=(law, 0.02), formulation=pl.ANCF(4))
    assert seen[0] == 0.0
    assert seen[1:] == pytest.approx(1e4 * (1 - np.exp(-np.arange(1, 5) * 0.02 / 0.05)), rel=1e-3)


def test_strong_forms_and_coordinates_agree() -> None:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.2, pl.Circle(0.008), RUBBER, pl.along("-z"))
    robot.add_load("push", rod.tip, force=(1, 0, 0))

    def law(state: pl.StepState) -> dict[str, float]:
        return {"push": 5.0 * (0.01 - state.position("arm.tip")[0])}

    tips = [
        robot.simulate(0.1, 1e-3, controllers=(law, 0.02), formulation=one).tip("arm")[-1, :3, 3]
        for one in (pl.Shooting(), pl.BSpline(3, 8))
    ]
    assert tips[0] == pytest.approx(tips[1], abs=3e-4)


class Integral:
    """A force by the integral of the error; it tells its memory."""

    every = 0.01

    def __init__(self) -> None:
        self.sum, self.asked = 0.0, 0

    def __call__(self, state: pl.StepState) -> dict[str, float]:
        self.asked += 1
        self.sum += self.every * (0.02 - state.position("arm.tip")[0])
        return {"push": 5.0 * self.sum}

    def state(self) -> float:
        return self.sum

    def restore(self, state: float) -> None:
        self.sum = state


def test_controllers_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, file = arm(), tmp_path / "motion.nc"
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0.0)

    def interrupt(t: float, end: float) -> None:
        if t > 0.0547:
            raise KeyboardInterrupt

    options: dict[str, Any] = {
        "duration": 0.1, "dt": 2.5e-3, "formulation": pl.SRL(4), "inputs": {"push": 0.0},
    }  # fmt: skip
    whole = robot.simulate(**options, controllers=Integral())
    part = robot.simulate(**options, controllers=Integral(), save=file, progress=interrupt)
    assert not part.complete
    again = Integral()
    rest = robot.simulate(**options, controllers=again, resume=file)
    assert np.array_equal(rest.position("arm.tip"), whole.position("arm.tip"))
    assert np.array_equal(rest.inputs["push"], whole.inputs["push"])
    assert again.asked == 4  # after 0.05, of ten
    with pytest.raises(pl.DescriptionError, match="controller 1"):
        robot.simulate(**options, controllers=(lambda state: {"push": 0.1}, 0.01), resume=file)


def test_controller_that_hides_its_memory_is_refused_with_checkpoints(tmp_path: Path) -> None:
    past: list[float] = []

    def law(state: pl.StepState) -> dict[str, float]:
        past.append(state.t)
        return {"push": 0.1}

    with pytest.raises(pl.DescriptionError, match=r"controller 1.*state\(\).*restore"):
        arm().simulate(0.1, 0.01, controllers=law, save=tmp_path / "motion.nc")


def pulled(every: float = 0.02) -> pl.PID:
    """A PID that holds the tip of `arm` to the side."""
    given = {"kp": 30.0, "ki": 200.0, "bounds": (0.0, 20.0), "offset": 1.0}
    return pl.PID("pull", "arm.tip.x", target=-0.02, every=every, **given)


@pytest.mark.parametrize(("points", "dt"), [(24, 0.01), (8, 0.0025)])
def test_error_of_a_controlled_motion_is_estimated(points: int, dt: float) -> None:
    """The coarser motions have the same controllers, sampled at the same times."""
    given: dict[str, Any] = {"inputs": {"push": (0.0, 0.0, 0.0)}, "output_every": 0.02}
    mesh, fine = pl.BSpline(3, points), pl.BSpline(3, 40)
    best = arm().simulate(0.4, 3.125e-4, controllers=pulled(), formulation=fine, **given)
    law = pulled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.ResolutionWarning)
        motion = arm().simulate(0.4, dt, controllers=law, formulation=mesh, error=True, **given)
        kept = law.state()
        plain = arm().simulate(0.4, dt, controllers=law, formulation=mesh, **given)
    assert law.state() == kept, "what it remembers afterwards is of the motion itself"
    assert (motion.tip("arm") == plain.tip("arm")).all()
    apart = motion.tip("arm")[:, :3, 3] - best.tip("arm")[:, :3, 3]
    true = float(np.linalg.norm(apart, axis=1).max())
    assert true / 3.0 < motion.error.shape < 5.0 * true


def test_error_of_a_controlled_rigid_robot_is_estimated() -> None:
    """Springs and dampers as sampled laws; the order of the step is that of the integrator."""
    robot = cart()
    robot.add_body("ball", 0.2, (1e-5,) * 3, on="cart", joint=pl.Prismatic("z", stiffness=40.0))
    best = robot.simulate(2.0, EVERY / 64, controllers=(spring_law, EVERY), output_every=EVERY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.ResolutionWarning)
        motion = robot.simulate(2.0, EVERY / 2, controllers=(spring_law, EVERY), error=True)
    apart = motion.position("ball")[::2, 2] - best.position("ball")[:, 2]
    true = float(np.abs(apart).max())
    assert true / 3.0 < motion.error.shape < 5.0 * true


def test_controllers_that_ask_too_often_or_do_not_tell_their_memory_have_no_error() -> None:
    seen = []

    def law(state: pl.StepState) -> dict[str, float]:
        seen.append(state.t)
        return {"push": 0.1 * len(seen)}

    for controllers, message in (
        (spring_law, "even number of time steps.*take dt=0.01"),
        ((spring_law, 3 * EVERY), "even number of time steps.*take dt=0.03"),
        ((law, 2 * EVERY), r"state\(\).*leave out save, resume and error"),
    ):
        with pytest.raises(pl.DescriptionError, match=message):
            cart().simulate(2.0, EVERY, controllers=controllers, error=True)
    with pytest.raises(pl.DescriptionError, match="16 steps or more"):
        cart().simulate(0.2, EVERY, controllers=(spring_law, 2 * EVERY), error=True)


def test_a_law_for_one_mesh_says_why_the_error_is_unknown() -> None:
    robot = arm()
    equations = robot.equations(formulation=pl.BSpline(3, 16))

    def law(state: pl.StepState) -> dict[str, float]:
        return {"pull": 1.0 + abs(float(equations.state(state)[1][0]))}

    given: dict[str, Any] = {"formulation": pl.BSpline(3, 16), "error": True}
    with pytest.warns(pl.ResolutionWarning, match="unknown, for a coarser one.*same rods and form"):
        motion = robot.simulate(0.2, 0.005, controllers=(law, 0.02), **given)
    assert np.isinf(motion.error.shape)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"controllers": 3.0}, "function of the state"),
        ({"controllers": []}, "function of the state"),
        ({"controllers": (lambda state: {}, -1.0)}, "seconds between samples"),
        ({"controllers": (lambda state: {}, 0.015)}, r"0\.015.*whole multiple.*dt=0\.0075"),
        ({"controllers": lambda state: 3.0}, "inputs by name"),
        ({"controllers": lambda state: {"posh": 1.0}}, "'push'"),
        ({"controllers": lambda state: {"push": np.nan}}, "push"),
        ({"controllers": lambda state: {"push": (1.0, 0.0, 0.0)}}, "same shape"),
        ({"controllers": lambda state: {"push": 1.0}, "inputs": {"push": np.sin}}, "time"),
        ({"controllers": [lambda state: {"push": 1.0}] * 2}, "controller 1 does not set"),
        ({"controllers": lambda state: {}, "error": True}, "controllers"),
        ({"controllers": lambda state: {}, "accuracy": 1e-3}, "seconds between samples = None"),
    ],
)  # fmt: skip
def test_bad_controllers_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pl.DescriptionError, match=f"(?s){message}"):
        arm().simulate(0.1, 0.01, formulation=pl.SRL(2), **options)


def test_stepper_refuses_inputs_that_a_controller_sets() -> None:
    stepper = cart().stepper(EVERY, controllers=spring_law)
    stepper.step()
    with pytest.raises(pl.DescriptionError, match="no controller sets"):
        stepper.step({"push": 1.0})
