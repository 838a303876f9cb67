"""One step per call: the motion of simulate, bounded room, sentences for what cannot be used."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import pliant as pl

DT, STEPS = 2e-3, 12


def finger(line: object = None) -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12, mass_damping=2.4)
    rod = robot.add_actuator("finger", part, pl.along("x"), line=line)
    robot.add_body("weight", 0.02, on=rod.tip)
    return robot


def arm(**more: object) -> pl.Robot:
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), material, pl.along("x"), **more)
    robot.add_load("push", rod.tip, force=(0.0, 0.0, 0.1))
    robot.add_load("side", rod.at(0.2), force=(0.0, 0.05, 0.0))
    return robot


def ramp(t: float) -> float:
    return 40.0 * t


def sideways(t: float) -> tuple[float, float, float]:
    return (0.0, 2.0 * t, 0.1)


PUSHES = {"push": ramp, "side": sideways}
IN_PLANE = {"push": ramp, "side": 0.0}
PRESSURES = {"chamber1": lambda t: 3e4 * (1.0 + np.sin(30.0 * t)), "chamber2": lambda t: 1e6 * t}
FINE = pl.Newmark(tolerance=1e-12)

COORDINATES = [
    (arm, pl.BSpline(3, 8), pl.Midpoint(), PUSHES),
    (arm, pl.BSpline(3, 8), pl.Newmark(), PUSHES),
    (arm, pl.Hermite(4), pl.GeneralizedAlpha(), PUSHES),
    (arm, pl.Strain(order=2), pl.ImplicitEuler(), PUSHES),
    (arm, pl.Strain(order=1), pl.Midpoint(), PUSHES),
    (arm, pl.ANCF(3), FINE, IN_PLANE),
    (arm, pl.ANCF(3, planar=False), FINE, PUSHES),
    (finger, pl.ANCF(4), FINE, PRESSURES),
    (finger, pl.ANCF(4), pl.Midpoint(), PRESSURES),
    (lambda: finger(pl.Lag(0.01)), pl.ANCF(3), pl.GeneralizedAlpha(), PRESSURES),
    (lambda: finger(pl.Flow(2e-3)), pl.ANCF(3), FINE, PRESSURES),
    (lambda: finger(pl.Flow(2e-3)), pl.Strain(order=2), pl.Midpoint(), PRESSURES),
]
STRONG = [
    (arm, pl.Shooting(steps=40), pl.BDFAlpha(-0.2), PUSHES),
    (arm, pl.MultipleShooting(steps=40), pl.BDFAlpha(), PUSHES),
    (arm, pl.Collocation(nodes=12), pl.BDFAlpha(), PUSHES),
]


def name_of(case: object) -> str:
    return type(case).__name__ if not callable(case) and not isinstance(case, dict) else ""


def same_forces(state: object, motion: pl.Motion, k: int, rod: str) -> None:
    """Reactions and wrenches of a state are those of the motion at its k-th output."""
    assert set(state.reactions) == set(motion.reactions)
    for name, rows in motion.reactions.items():
        assert state.reactions[name] == pytest.approx(rows[k], abs=1e-5 * np.abs(rows).max()), name
    s = np.array([[0.0, 0.05], [0.1, 0.15]])
    for by in ("balance", "law"):
        rows = motion.wrench(rod, s, by=by)
        found = state.wrench(rod, s, by=by)
        assert found == pytest.approx(rows[k], abs=1e-5 * np.abs(rows).max()), by


@pytest.mark.parametrize("make, formulation, integrator, inputs", COORDINATES + STRONG, ids=name_of)
def test_steps_are_those_of_simulate(
    make, formulation: object, integrator: pl.Integrator, inputs: dict
) -> None:
    robot = make()
    now = {name: ask(0.0) if callable(ask) else ask for name, ask in inputs.items()}
    settings = {"formulation": formulation, "integrator": integrator}
    start = robot.statics(now, formulation)
    motion = robot.simulate(STEPS * DT, DT, inputs, start=start, **settings)
    stepper = robot.stepper(DT, now, start=start, **settings)
    rod = next(iter(robot.description.rods))
    assert stepper.state.tip(rod) == pytest.approx(motion.tip(rod)[0], abs=1e-14)
    length, tips = robot.description.rods[rod].length, motion.tip(rod)
    velocity, energy = motion.velocity(rod, length), motion.energy
    kept = [stepper.state]
    for k in range(1, STEPS + 1):
        moving = {name: ask(k * DT) for name, ask in inputs.items() if callable(ask)}
        state = stepper.step(moving)
        assert state.converged and state.message == ""
        assert state.t == pytest.approx(k * DT, rel=1e-14)
        assert state.tip(rod) == pytest.approx(tips[k], abs=1e-11)
        assert state.velocity(rod, length) == pytest.approx(velocity[k], rel=1e-7, abs=1e-8)
        kept.append(state)
        if k == STEPS // 2:  # asking in between changes nothing
            same_forces(state, motion, k, rod)
    for k in (0, 3, STEPS):
        same_forces(kept[k], motion, k, rod)
    for key, value in state.energy.items():
        scale = np.abs(energy["total"]).max() + np.abs(energy["work"]).max()
        assert value == pytest.approx(energy[key][-1], abs=1e-9 * scale), key
    assert sum(map(abs, state.coordinates)) > 0.0
    assert stepper.t == state.t and state is stepper.state


def test_base_that_is_driven_follows_its_samples() -> None:
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), material)
    robot.add_base_motion("shake", "arm", translation=(1.0, 0.0, 0.0))

    def shake(t: float) -> float:
        return 2.0 * t * t * t

    still = robot.statics()
    motion = robot.simulate(0.05, 1e-3, {"shake": shake}, start=still)
    for formulation in (None, pl.Shooting(steps=40)):
        start = still if formulation is None else robot.statics(formulation=formulation)
        stepper = robot.stepper(1e-3, start=start, formulation=formulation)
        for k in range(50):
            state = stepper.step({"shake": shake((k + 1) * 1e-3)})
        assert state.tip("arm")[0, 3] == pytest.approx(motion.tip("arm")[-1, 0, 3], abs=1e-5)
        assert state.position("arm", 0.0)[0] == pytest.approx(shake(0.05), abs=1e-9)
        # within a step the base keeps its rate: rates at its end are those of half a step before
        force = state.reactions["arm"][3]
        assert force == pytest.approx(motion.reactions["arm"][-1, 3], rel=0.05)
        assert force == pytest.approx(-state.wrench("arm", 0.0)[3], rel=1e-4)


def test_inputs_left_out_stay_what_they_were() -> None:
    robot = finger()
    settings = {"formulation": pl.ANCF(3), "integrator": pl.Newmark(), "start": "statics"}
    one, other = robot.stepper(DT, **settings), robot.stepper(DT, **settings)
    one.step({"chamber1": 3e4, "chamber2": 1e4})
    other.step({"chamber1": 3e4, "chamber2": 1e4})
    for _ in range(5):
        first = one.step()
        second = other.step({"chamber1": 3e4, "chamber2": 1e4})
    assert first.coordinates == pytest.approx(second.coordinates, abs=1e-15)
    assert one.inputs == {"chamber1": 3e4, "chamber2": 1e4}
    still = robot.statics({"chamber1": 3e4, "chamber2": 1e4}, pl.ANCF(3)).tip("finger")
    for _ in range(16000):
        first = one.step()
    assert first.tip("finger")[:3, 3] == pytest.approx(still[:3, 3], abs=1e-5)


def test_state_stays_as_it_is_when_the_stepper_goes_on() -> None:
    stepper = finger().stepper(DT, formulation=pl.ANCF(3), integrator=pl.Newmark())
    first = stepper.step({"chamber1": 2e4})
    tip, energy = first.tip("finger").copy(), dict(first.energy)
    for _ in range(10):
        last = stepper.step()
    assert (first.tip("finger") == tip).all() and first.t == DT
    assert first.energy == energy
    assert not np.allclose(last.tip("finger"), tip, atol=1e-6)


@pytest.mark.parametrize(
    "make, formulation, integrator, inputs",
    [COORDINATES[1], COORDINATES[7], STRONG[0], STRONG[2]],
    ids=["general", "compiled", "shooting", "collocation"],
)
def test_step_that_fails_returns_the_state_before_it(
    make, formulation: object, integrator: pl.Integrator, inputs: dict
) -> None:
    robot = make()
    stepper = robot.stepper(DT, formulation=formulation, integrator=integrator)
    name, rod = next(iter(inputs)), next(iter(robot.description.rods))
    twin = robot.stepper(DT, formulation=formulation, integrator=integrator)
    for _ in range(3):
        good = stepper.step({name: 1.0})
        twin.step({name: 1.0})
    bad = stepper.step({name: 1e15})
    assert not bad.converged
    assert "failed" in bad.message or "converge" in bad.message
    assert bad.t == good.t and stepper.inputs[name] == 1.0
    assert (bad.tip(rod) == good.tip(rod)).all() and np.isfinite(bad.coordinates).all()
    # inputs left out are what they were before the step that failed
    again, other = stepper.step(), twin.step()
    assert again.converged and again.t == pytest.approx(4 * DT)
    assert again.tip(rod) == pytest.approx(other.tip(rod), abs=1e-8)


@pytest.mark.parametrize(
    "make, formulation, integrator, name, count",
    [
        (finger, pl.ANCF(4), pl.Newmark(), "chamber1", 1000),
        (finger, pl.ANCF(4), pl.Midpoint(), "chamber1", 200),
        (arm, pl.BSpline(3, 8), pl.GeneralizedAlpha(), "push", 200),
        (arm, pl.Shooting(steps=30), pl.BDFAlpha(), "push", 200),
        (arm, pl.Collocation(nodes=10), pl.BDFAlpha(), "push", 200),
    ],
    ids=["compiled", "Midpoint", "GeneralizedAlpha", "Shooting", "Collocation"],
)
def test_steps_keep_no_memory(
    make, formulation: object, integrator: pl.Integrator, name: str, count: int
) -> None:
    stepper = make().stepper(DT, formulation=formulation, integrator=integrator, start="statics")

    def run() -> None:
        for k in range(count):
            stepper.step({name: 0.1 * np.sin(2.0 * np.pi * k / count)})

    for _ in range(2):
        run()
    held = []
    tracemalloc.start()
    try:
        for _ in range(5):  # the interpreter fills its free lists first
            run()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert held[-1] - held[-2] < 60 * count, held  # one state of a step is several times as much


@pytest.mark.parametrize("make, formulation", [(finger, pl.ANCF(4)), (arm, pl.Collocation(12))])
def test_advance_moves_as_step_does(make, formulation: object) -> None:
    robot = make()
    one, two = (robot.stepper(DT, formulation=formulation) for _ in range(2))
    name, rod = (next(iter(a)) for a in (robot.description.inputs(), robot.description.rods))
    for k in range(5):
        assert one.advance({name: 0.1 * k})
        state = two.step({name: 0.1 * k})
        assert one.t == two.t
        assert (one.state.tip(rod) == state.tip(rod)).all() and one.state is one.state


@pytest.mark.parametrize("formulation", [pl.ANCF(4), pl.ANCF(3, planar=False)])
def test_compiled_steps_make_no_arrays(formulation: pl.ANCF) -> None:
    from numba.core.runtime import _nrt_python as memory

    stepper = finger().stepper(DT, formulation=formulation, integrator=pl.Newmark())
    pressures = [1e4 * np.sin(0.1 * k) for k in range(200)]
    stepper.advance({"chamber1": 0.0})
    memory.memsys_enable_stats()
    try:
        before = memory.memsys_get_stats_alloc()
        for pressure in pressures:
            assert stepper.advance({"chamber1": pressure})
        assert memory.memsys_get_stats_alloc() == before
    finally:
        memory.memsys_disable_stats()


def test_collector_rests_within_a_block() -> None:
    assert gc.isenabled()
    with finger().stepper(DT, formulation=pl.ANCF(2), integrator=pl.Newmark()) as stepper:
        assert not gc.isenabled()
        stepper.step()
    assert gc.isenabled()


@pytest.mark.parametrize(
    "inputs, words",
    [
        ({"chamber3": 1.0}, "choose from 'chamber1', 'chamber2'"),
        ({"chambr2": 1.0}, "did you mean 'chamber2'"),
        ({"chamber1": float("nan")}, "one finite number, the pressure in Pa"),
        ({"chamber1": (1.0, 2.0, 3.0)}, "one finite number"),
        ({"chamber1": "much"}, "one finite number"),
        ({"chamber1": lambda t: 1.0}, "one finite number"),
        (3.0, "a dict of values by name"),
    ],
)
def test_inputs_that_cannot_be_used_are_refused(inputs: object, words: str) -> None:
    stepper = finger().stepper(DT, formulation=pl.ANCF(2), integrator=pl.Newmark())
    stepper.step({"chamber2": 10.0})
    with pytest.raises(pl.DescriptionError, match=words):
        stepper.step(inputs)
    assert stepper.t == DT and stepper.inputs["chamber2"] == 10.0


def test_shape_of_an_input_stays() -> None:
    stepper = arm().stepper(DT)
    with pytest.raises(pl.DescriptionError, match="same shape"):
        stepper.step({"push": (0.0, 0.0, 1.0)})
    forced = arm().stepper(DT, {"push": (0.0, 0.0, 0.1)})
    assert forced.step({"push": [0.0, 0.1, 0.1]}).converged


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"dt": 0.0}, "dt"),
        ({"dt": 1e-3, "start": "later"}, "start"),
        ({"dt": 1e-3, "inputs": {"pull": 1.0}}, "pull"),
        ({"dt": 1e-3, "inputs": {"push": lambda t: t}}, "no time"),
        ({"dt": 1e-3, "integrator": pl.Newmark}, "Newmark"),
        ({"dt": 1e-3, "formulation": pl.Shooting(), "integrator": pl.Newmark()}, "BDFAlpha"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict, words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        arm().stepper(**settings)
