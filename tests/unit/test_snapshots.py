"""Outputs of motions in stretches of steps: at their times, behind pressure lines, up to a failure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.engine import loops
from pliant.solve.integrators.contract import Stepper

DT, STEPS = 1e-3, 15
PRESSURES = {
    "chamber1": lambda t: 3e4 + 2e4 * np.sin(40.0 * t),
    "chamber2": lambda t: 1e4 * np.cos(25.0 * t),
}
INTEGRATORS = (pl.Newmark(), pl.GeneralizedAlpha(), pl.ImplicitEuler(), pl.Midpoint())


def finger(line: object = None, weight: float = 0.02) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(
        0.175, 0.0186, 0.006, 0.009, mass=0.12, retardation=0.004, mass_damping=2.4
    )
    rod = robot.add_actuator("finger", part, pl.along("x"), line=line)
    robot.add_body("weight", weight, on=rod.tip)
    return robot


class Held(pl.PressureLine):
    """A line of a user's own: the pressure follows as `Lag` does, in plain Python."""

    def step(
        self, h: float, pressure: float, asked: tuple[float, float], volume: tuple[float, float]
    ) -> float:
        return pl.Lag(0.01).step(h, pressure, asked, volume)


LINES = {None: None, "lag": pl.Lag(0.01), "flow": pl.Flow(2e-3, 1e-6), "own": Held()}


def simulate(robot: pl.Robot, integrator: pl.Integrator, **more: object) -> pl.Motion:
    start = robot.statics({name: ask(0.0) for name, ask in PRESSURES.items()}, pl.ANCF(3))
    settings = {"formulation": pl.ANCF(3), "integrator": integrator}
    return robot.simulate(STEPS * DT, DT, PRESSURES, start=start, **settings, **more)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_outputs_are_those_of_single_steps(line: str | None, integrator: pl.Integrator) -> None:
    robot = finger(LINES[line])
    every = simulate(robot, integrator)
    start = robot.statics({name: ask(0.0) for name, ask in PRESSURES.items()}, pl.ANCF(3))
    now = {name: float(ask(0.0)) for name, ask in PRESSURES.items()}
    stepper = robot.stepper(DT, now, start, formulation=pl.ANCF(3), integrator=integrator)
    assert every.t == pytest.approx(DT * np.arange(STEPS + 1))
    for k in range(1, STEPS + 1):
        state = stepper.step({name: float(ask(k * DT)) for name, ask in PRESSURES.items()})
        assert every.tip("finger")[k] == pytest.approx(state.tip("finger"), abs=1e-13)
        twist = state.velocity("finger", 0.1)
        assert every.velocity("finger", 0.1)[k] == pytest.approx(twist, abs=1e-9)
    assert every.energy["work"][-1] == pytest.approx(state.energy["work"], rel=1e-9)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
def test_outputs_are_taken_at_their_times(line: str | None, integrator: pl.Integrator) -> None:
    robot = finger(LINES[line])
    tip = simulate(robot, integrator).tip("finger")
    some = simulate(robot, integrator, output_times=[0.004, 0.011, 0.015])
    assert some.t == pytest.approx([0.004, 0.011, 0.015])
    assert some.tip("finger") == pytest.approx(tip[[4, 11, 15]], abs=1e-14)
    times = [0.0003, 0.0045, 0.0047, 0.011, 0.0114, 0.015]
    between = simulate(robot, integrator, output_times=times)
    assert between.t == pytest.approx(times)
    assert between.tip("finger")[[3, 5]] == pytest.approx(tip[[11, 15]], abs=1e-14)
    # inside a step a shorter one leads there: between its ends, closer to the nearer one
    for k, (before, after) in ((1, (4, 5)), (4, (11, 12))):
        share = times[k] / DT - before
        line_between = (1 - share) * tip[before, :3, 3] + share * tip[after, :3, 3]
        step = np.abs(tip[after, :3, 3] - tip[before, :3, 3]).max()
        assert between.tip("finger")[k, :3, 3] == pytest.approx(line_between, abs=0.4 * step)


def test_output_times_that_steps_cannot_tell_apart_share_a_snapshot() -> None:
    robot = finger()
    times = [0.0, 0.004, 0.004 + 1e-13, 0.015]
    motion = simulate(robot, pl.Newmark(), output_times=times)
    tip = simulate(robot, pl.Newmark()).tip("finger")
    assert motion.t == pytest.approx(times)
    assert motion.tip("finger") == pytest.approx(tip[[0, 4, 4, 15]], abs=1e-14)


WAYS = [(pl.ANCF(3), x) for x in INTEGRATORS]
WAYS += [(pl.Strain(order=2), pl.Variational()), (pl.BSpline(3, 5), pl.Midpoint())]
WAYS += [(x, None) for x in (pl.Shooting(40), pl.MultipleShooting(3, 40), pl.Collocation(8))]


@pytest.mark.parametrize(("form", "integrator"), WAYS, ids=lambda x: type(x).__name__)
def test_output_times_may_be_as_close_as_numbers_can_be(form: object, integrator: object) -> None:
    """Each output is within a step of the state that its time asks for, none is left unset."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=200.0)
    robot.add_rod("rod", 0.2, pl.Circle(0.01), soft, pl.along("x"))
    dt = 2e-5 if isinstance(integrator, pl.Variational) else 2e-3
    settings = {"formulation": form, "integrator": integrator}
    every = robot.simulate(10 * dt, dt, **settings)
    height = every.position("rod", 0.2)[:, 2]
    times = [0.0]
    for begin in (5 * dt, 7.3 * dt):
        times += [begin, *(begin + 10.0**k for k in range(-16, -5) if begin + 10.0**k < begin + dt)]
    times = sorted({*times, 10 * dt - 1e-9, 10 * dt})
    some = robot.simulate(10 * dt, dt, output_times=times, **settings)
    assert some.t.tolist() == times
    expected = np.interp(times, every.t, height)
    off = 0.3 * np.abs(np.diff(height)).max()
    assert some.position("rod", 0.2)[:, 2] == pytest.approx(expected, abs=off)
    assert np.isfinite(some.energy["total"]).all()


@pytest.mark.parametrize("line", ["lag", "flow"])
def test_inputs_behind_a_line_are_the_pressures_in_the_chamber(line: str) -> None:
    """They lag behind what is asked for, and come closer with a faster line."""
    slow = simulate(finger(LINES[line]), pl.Newmark())
    fast = simulate(finger(pl.Lag(1e-5)), pl.Newmark())
    asked = np.array([PRESSURES["chamber1"](t) for t in slow.t])
    assert slow.inputs["chamber1"][0] == pytest.approx(asked[0])
    assert np.abs(slow.inputs["chamber1"] - asked)[5:].min() > 100.0
    assert fast.inputs["chamber1"] == pytest.approx(asked, rel=2e-3)


def test_every_step_is_told_to_who_watches() -> None:
    watched: list[float] = []
    simulate(finger(), pl.Newmark(), progress=lambda t, whole: watched.append(t))
    assert watched == pytest.approx(DT * np.arange(1, STEPS + 1))


def test_step_that_fails_leaves_the_motion_before_it() -> None:
    robot = finger()

    def burst(t: float) -> float:
        return 1e12 if t > 0.0095 else 0.0

    with pytest.raises(pl.ConvergenceError, match=r"stopped at t = 0.009 s of 0.015 s") as caught:
        robot.simulate(
            0.015, DT, {"chamber1": burst}, formulation=pl.ANCF(4), integrator=pl.Newmark()
        )
    last = caught.value.last
    assert isinstance(last, pl.Motion) and not last.complete
    assert len(last.t) == 10
    assert np.isfinite(last.tip("finger")).all()


def test_bad_value_of_an_input_is_named() -> None:
    with pytest.raises(pl.DescriptionError, match=r"chamber1.*t = 0.012"):
        finger().simulate(
            0.015,
            DT,
            {"chamber1": lambda t: 0.0 if t < 0.0115 else float("nan")},
            formulation=pl.ANCF(2),
            integrator=pl.Newmark(),
        )


def test_tangent_is_kept_from_step_to_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a smooth motion a factor serves many steps, and few residuals are found beyond corrections."""
    counted: dict[str, int] = {"residual": 0, "tangent": 0}
    original = Stepper._objects

    def counting(self: Stepper, rows: list) -> list:
        rows = original(self, rows)

        def noted(name: str, program: Callable[[], None]) -> Callable[[], None]:
            def call() -> None:
                counted[name] += 1
                program()

            return call

        for row in rows:
            row[loops.RESIDUAL] = noted("residual", row[loops.RESIDUAL])
            row[loops.SLOPE] = noted("tangent", row[loops.SLOPE])
        return rows

    monkeypatch.setattr(Stepper, "_objects", counting)
    monkeypatch.setattr("pliant.solve.integrators.contract.table_of", lambda rows: None)
    robot, pressure = finger(), pl.Sine(2e4, 0.7, offset=3e4)
    start = robot.statics({"chamber1": pressure(0.0)}, pl.ANCF(4))
    motion = robot.simulate(
        0.2,
        DT,
        {"chamber1": pressure},
        start=start,
        formulation=pl.ANCF(4),
        integrator=pl.Newmark(),
    )
    assert motion.iterations < 3 * motion.steps
    assert counted["tangent"] < 0.2 * motion.steps
    assert counted["residual"] < 3.5 * motion.steps


def test_sudden_release_is_stepped_over() -> None:
    """The accelerations of the jump belong to modes far above the step and must not be followed."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot.add_actuator("finger", part, pl.along("z"))
    bent = robot.statics({"chamber1": 1e4}, pl.ANCF(8))
    tips = [
        robot.simulate(0.02, dt, {"chamber1": 0.0}, bent, integrator=pl.Newmark()).tip("finger")
        for dt in (2.5e-3, 1.25e-3)
    ]
    gone = abs(tips[0][-1, 0, 3] - tips[0][0, 0, 3])
    assert tips[0][-1, 0, 3] == pytest.approx(tips[1][-1, 0, 3], abs=0.05 * gone)
