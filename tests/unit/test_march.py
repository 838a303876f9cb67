"""Many steps in one compiled call: the same motion and the same books as step by step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.rods.ancf import ANCFMap
from pliant.solve.integrators import acceleration
from pliant.solve.integrators.acceleration import AccelerationStepper
from pliant.solve.integrators.contract import rounding_force
from pliant.solve.integrators.march import March
from pliant.solve.integrators.march_parts import strains_at

DT, STEPS = 1e-3, 15
PRESSURES = {
    "chamber1": lambda t: 3e4 + 2e4 * np.sin(40.0 * t),
    "chamber2": lambda t: 1e4 * np.cos(25.0 * t),
}


def finger(line: object = None, weight: float = 0.02, retardation: float = 0.004) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(
        0.175, 0.0186, 0.006, 0.009, mass=0.12, retardation=retardation, mass_damping=2.4
    )
    rod = robot.add_actuator("finger", part, pl.along("x"), line=line)
    robot.add_body("weight", weight, on=rod.tip)
    return robot


def soft_rod(taper: bool = False, **more: object) -> pl.Robot:
    """A rod that stretches, with a push at 0.2 m and a chamber along a part of it."""
    robot = pl.Robot(gravity=(0.0, 0.0, -9.81))
    section = pl.Circle((0.01, 0.006) if taper else 0.01)
    material = pl.Material(E=5e5, nu=0.45, rho=1000.0, viscosity=800.0)
    rod = robot.add_rod("arm", 0.3, section, material, pose=pl.along("x"), **more)
    robot.add_load("push", rod.at(0.2), force=(0.0, 0.0, 0.05))
    robot.add_load("wind", rod, force=(0.0, 0.0, 0.2))
    robot.add_chamber("air", rod, area=2e-5, offset=(0.004, 0.0), over=(0.05, 0.17))
    return robot


SOFT = {"push": lambda t: np.sin(60.0 * t), "wind": lambda t: 1.0 - t, "air": lambda t: 4e5 * t}
CASES: dict[str, tuple[Callable[[], pl.Robot], dict[str, object], object]] = {
    "actuator": (finger, PRESSURES, pl.ANCF(4)),
    "lag": (lambda: finger(pl.Lag(0.01)), PRESSURES, pl.ANCF(4)),
    "flow": (lambda: finger(pl.Flow(2e-3, 1e-6)), PRESSURES, pl.ANCF(3)),
    "flow at rest": (lambda: finger(pl.Flow(2e-3)), {"chamber2": lambda t: 1e4}, pl.ANCF(3)),
    "stretching": (soft_rod, SOFT, pl.ANCF(4)),
    "tapered": (lambda: soft_rod(True), SOFT, pl.ANCF(3)),
    "held length": (soft_rod, SOFT, pl.ANCF(3, inextensible=True)),
    "cable": (soft_rod, {**SOFT, "push": lambda t: (0.0, 9 * t, 0.1)}, pl.ANCF(3, planar=False)),
    "still inputs": (soft_rod, {"push": 0.3, "air": 2e4}, pl.ANCF(3)),
}
INTEGRATORS = (
    pl.Newmark(tolerance=1e-13),
    pl.GeneralizedAlpha(tolerance=1e-13),
    pl.ImplicitEuler(tolerance=1e-13),
)


def simulate(
    robot: pl.Robot, inputs: dict, formulation: object, integrator: pl.Integrator, **more: object
) -> pl.Motion:
    now = {name: ask(0.0) if callable(ask) else ask for name, ask in inputs.items()}
    start = robot.statics(now, formulation)
    return robot.simulate(
        STEPS * DT, DT, inputs, start=start, formulation=formulation, integrator=integrator, **more
    )


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each compiled call took."""
    taken: list[int] = []
    advance = March.advance

    def counted(self: March, *given: object) -> int:
        taken.append(advance(self, *given))
        return taken[-1]

    monkeypatch.setattr(March, "advance", counted)
    return taken


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("case", CASES)
def test_compiled_steps_are_the_general_ones(
    case: str, integrator: pl.Integrator, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, inputs, formulation = CASES[case]
    robot = make()
    # almost as far as rounding lets either go
    monkeypatch.setattr(
        acceleration, "rounding_force", lambda system, h: 1e-3 * rounding_force(system, h)
    )
    fast = simulate(robot, inputs, formulation, integrator)
    assert sum(calls) == STEPS
    monkeypatch.setattr(AccelerationStepper, "march", lambda self, schedule: None)
    slow = simulate(robot, inputs, formulation, integrator)
    assert sum(calls) == STEPS
    name = next(iter(robot.description.rods))
    s = np.linspace(0.0, robot.description.rods[name].length, 7)
    assert fast.position(name, s) == pytest.approx(slow.position(name, s), abs=1e-12)
    assert fast.velocity(name, s) == pytest.approx(slow.velocity(name, s), abs=1e-12 / DT)
    for key, value in slow.energy.items():
        scale = np.abs(slow.energy["total"]).max() + np.abs(slow.energy["work"]).max()
        assert fast.energy[key] == pytest.approx(value, abs=1e-10 * scale), key
    for key, value in slow.inputs.items():
        assert fast.inputs[key] == pytest.approx(value, rel=1e-9, abs=1e-9), key
        assert fast.inputs[key].shape == value.shape


@pytest.mark.parametrize("formulation", [pl.ANCF(3), pl.ANCF(2, plane="yz"), pl.ANCF(3, False)])
def test_compiled_strains_are_those_of_the_map(formulation: pl.ANCF) -> None:
    rod = soft_rod().description.rods["arm"]
    mapped = formulation.discretise(rod)
    assert isinstance(mapped, ANCFMap)
    s = np.linspace(0.0, 0.3, 11)
    found = mapped.march_map(s)
    rng = np.random.default_rng(4)
    q = mapped.rest() + 0.02 * rng.normal(size=mapped.nq)
    configuration, plan = mapped.configuration(), mapped.strains(s)
    mapped.update(configuration, np.eye(4), q)
    mapped.strain(plan, configuration)
    rows = list(found.rows)
    e, B = np.zeros((11, len(rows))), np.zeros((11, len(rows), found.n))
    strains_at(found.strain, found.ints, found.floats, q, e, B)
    assert e == pytest.approx(plan.e[:, rows], abs=1e-12)
    assert pytest.approx(plan.B[:, rows, 6:], abs=1e-10) == B
    sigma = rng.normal(size=e.shape)
    full = np.zeros((11, 6))
    full[:, rows] = sigma
    K = np.zeros((len(mapped.elements), found.n, found.n))
    strains_at(found.second, found.ints, found.floats, q, sigma, K)
    expected = np.zeros((len(mapped.elements), mapped.m, mapped.m))
    mapped.strain_second(plan, configuration, full, expected)
    assert pytest.approx(expected[:, 6:, 6:], rel=1e-10, abs=1e-9) == K
    element, P = mapped.centres(s)
    frames = mapped.frames(s)
    mapped.frame(frames, configuration)
    moved = np.einsum("sij,sja->sia", frames.g[:, :3, :3], frames.J[:, 3:, 6:])
    assert pytest.approx(moved, abs=1e-12) == P
    assert (element == frames.element).all()


def spinning(robot: pl.Robot) -> pl.Robot:
    robot.add_body("plate", 0.01, (1e-6, 1e-6, 1e-6), robot.description.rods["arm"].tip)
    return robot


def pushed(robot: pl.Robot) -> pl.Robot:
    robot.add_load("jet", robot.description.rods["arm"].tip, force=(0.01, 0.0, 0.0), frame="body")
    return robot


@pytest.mark.parametrize(
    "robot, formulation, inputs",
    [
        (spinning(soft_rod()), pl.ANCF(3), SOFT),
        (pushed(soft_rod()), pl.ANCF(3), SOFT),
        (soft_rod(drag=0.5), pl.ANCF(3), SOFT),
        (soft_rod(), pl.ANCF(3, rotary=True), SOFT),
        (soft_rod(), pl.BSpline(3, 8), SOFT),
        (soft_rod(), pl.ANCF(3), {"push": lambda t: (0.1 * t, 0.0, 0.1)}),
    ],
    ids=["turning body", "follower", "drag", "rotary", "spline", "force of three numbers"],
)
def test_other_robots_take_the_general_path(
    robot: pl.Robot, formulation: object, inputs: dict, calls: list[int]
) -> None:
    motion = robot.simulate(0.01, DT, inputs, formulation=formulation, integrator=pl.Newmark())
    assert motion.complete and not calls


def test_outputs_are_taken_at_their_times(
    calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = finger()
    every = simulate(robot, PRESSURES, pl.ANCF(3), pl.Newmark())
    some = simulate(robot, PRESSURES, pl.ANCF(3), pl.Newmark(), output_times=[0.004, 0.011, 0.015])
    tip = every.tip("finger")
    assert some.t == pytest.approx([0.004, 0.011, 0.015])
    assert some.tip("finger") == pytest.approx(tip[[4, 11, 15]], abs=1e-14)
    assert sum(calls) == 2 * STEPS
    times = [0.0003, 0.0045, 0.0047, 0.011, 0.0114, 0.015]
    between = simulate(robot, PRESSURES, pl.ANCF(3), pl.Newmark(), output_times=times)
    assert sum(calls) == 3 * STEPS
    assert between.t == pytest.approx(times)
    assert between.tip("finger")[[3, 5]] == pytest.approx(tip[[11, 15]], abs=1e-14)
    monkeypatch.setattr(AccelerationStepper, "march", lambda self, schedule: None)
    slow = simulate(robot, PRESSURES, pl.ANCF(3), pl.Newmark(), output_times=times)
    assert between.tip("finger") == pytest.approx(slow.tip("finger"), abs=1e-8)
    assert between.energy["work"] == pytest.approx(slow.energy["work"], rel=1e-6)


def test_who_watches_is_told_every_ten_steps() -> None:
    robot = finger()
    watched: list[float] = []
    simulate(
        robot, PRESSURES, pl.ANCF(3), pl.Newmark(), progress=lambda t, whole: watched.append(t)
    )
    assert watched == pytest.approx([0.01, 0.015])


def test_outputs_inside_steps_behind_a_line_take_the_general_path(calls: list[int]) -> None:
    robot = finger(pl.Lag(0.01))
    motion = simulate(robot, PRESSURES, pl.ANCF(2), pl.Newmark(), output_times=[0.0045, 0.015])
    assert motion.complete and not calls


def test_step_that_fails_leaves_the_motion_before_it() -> None:
    robot = finger()

    def burst(t: float) -> float:
        return 1e12 if t > 0.0095 else 0.0

    with pytest.raises(pl.ConvergenceError, match=r"stopped at t = 0.009 s of 0.015 s") as caught:
        simulate(robot, {"chamber1": burst}, pl.ANCF(4), pl.Newmark())
    last = caught.value.last
    assert isinstance(last, pl.Motion) and not last.complete
    assert len(last.t) == 10
    assert np.isfinite(last.tip("finger")).all()


def test_bad_value_of_an_input_is_named() -> None:
    with pytest.raises(pl.DescriptionError, match=r"chamber1.*t = 0.012"):
        simulate(
            finger(),
            {"chamber1": lambda t: 0.0 if t < 0.0115 else float("nan")},
            pl.ANCF(2),
            pl.Newmark(),
        )


def test_tangent_is_kept_from_step_to_step(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[March] = []
    begin = March.begin

    def noted(self: March, inputs: np.ndarray) -> None:
        made.append(self)
        begin(self, inputs)

    monkeypatch.setattr(March, "begin", noted)
    robot, pressure = finger(), pl.Sine(2e4, 0.7, offset=3e4)
    start = robot.statics({"chamber1": pressure(0.0)}, pl.ANCF(4))
    inputs = {"chamber1": pressure}
    motion = robot.simulate(0.5, DT, inputs, start=start, integrator=pl.Newmark())
    iterations, factors = made[0].counts[:2]
    assert motion.iterations == iterations
    assert iterations < 3 * motion.steps
    assert factors < 0.2 * motion.steps


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "general"])
def test_sudden_release_is_stepped_over(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The accelerations of the jump belong to modes far above the step and must not be followed."""
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    robot.add_actuator("finger", part, pl.along("z"))
    if not compiled:
        monkeypatch.setattr(AccelerationStepper, "march", lambda self, schedule: None)
    bent = robot.statics({"chamber1": 1e4}, pl.ANCF(8))
    tips = [
        robot.simulate(0.02, dt, {"chamber1": 0.0}, bent, integrator=pl.Newmark()).tip("finger")
        for dt in (2.5e-3, 1.25e-3)
    ]
    gone = abs(tips[0][-1, 0, 3] - tips[0][0, 0, 3])
    assert tips[0][-1, 0, 3] == pytest.approx(tips[1][-1, 0, 3], abs=0.05 * gone)
