"""Identification recovers what made the data, within the uncertainty that it reports."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.study.experiments import Family
from pliant.study.fit import make_experiment
from pliant.study.outputs import probes
from pliant.study.parameters import variables

METHOD = pl.Strain(order=1, segments=1)
TRUTH = {"arm.bending": 6.5e-3, "arm.mass": 0.22, "arm.drag": 1.4, "arm.retardation": 0.012}
TIMES = np.linspace(0.0, 0.8, 81)


def rod(values: dict[str, float]) -> pl.Robot:
    """A rod of 30 cm, held at its tip by a known force until it is let go."""
    robot = pl.Robot()
    section = pl.Stiffness(
        bending=values["arm.bending"],
        twist=5e-3,
        shear=60.0,
        axial=200.0,
        mass=values["arm.mass"],
        inertia=(6e-6, 6e-6, 1.2e-5),
        retardation=values["arm.retardation"],
    )
    arm = robot.add_rod("arm", 0.3, section, pose=pl.along("x"), drag=values["arm.drag"])
    robot.add_load("thread", arm.tip, force=(0.0, 0.05, 0.12))
    return robot


def released(robot: pl.Robot) -> np.ndarray:
    still = robot.statics({"thread": 1.0}, METHOD)
    move = robot.simulate(0.8, 0.01, inputs={"thread": 0.0}, start=still, formulation=METHOD)
    return move.tip("arm")[:, :3, 3]


def test_calibration_from_a_tip_motion_covers_the_truth_over_twenty_seeds() -> None:
    """EI, mass, drag and damping from the noisy motion of a tip that is let go."""
    motion = released(rod(TRUTH))
    guess = rod({"arm.bending": 6e-3, "arm.mass": 0.25, "arm.drag": 1.0, "arm.retardation": 0.01})
    scores = []
    for seed in range(20):
        noisy = motion + np.random.default_rng(seed).normal(0.0, 1e-3, motion.shape)
        columns = {f"arm.tip.{axis}": noisy[:, k] for k, axis in enumerate("xyz")}
        data = pl.Measurement(
            {"t": TIMES, **columns}, "t", inputs={"thread": 0.0}, start={"thread": 1.0}
        )
        found = pl.fit(
            guess, data, list(TRUTH), [pl.Output("arm.tip")], formulation=METHOD, dt=0.01
        )
        assert found.converged and found.noise["arm.tip"] == pytest.approx(1e-3, rel=0.15)
        scores.append(
            [(found[name].value - truth) / found[name].error for name, truth in TRUTH.items()]
        )
        assert all(item.error < 0.2 * item.value for item in found.estimates)
    # what is reported as one standard deviation is one, in each parameter and overall
    spread = np.sqrt(np.mean(np.square(scores), axis=0))
    assert (spread > 0.55).all() and (spread < 1.5).all(), spread
    assert 0.8 < np.sqrt(np.mean(np.square(scores))) < 1.2
    assert np.mean(np.abs(scores) < 2.0) > 0.9
    assert np.abs(np.mean(scores, axis=0)).max() < 0.7


@pytest.mark.parametrize(
    ("integrator", "method"),
    [
        (pl.Midpoint(1e-12), pl.Strain(order=1, segments=2)),
        (pl.Midpoint(1e-12), pl.BSpline(points=6)),
        (pl.Variational(), pl.Strain(order=0, segments=1)),
        (pl.Newmark(tolerance=1e-12), pl.Strain(order=1, segments=1)),
        (pl.GeneralizedAlpha(tolerance=1e-12), pl.BSpline(points=5)),
        (pl.ImplicitEuler(1e-12), pl.Hermite(elements=2)),
    ],
)
def test_slopes_of_a_motion_agree_with_differences_of_simulations(
    integrator: pl.Integrator, method: pl.Formulation
) -> None:
    """Direct differentiation against central differences of whole simulations."""
    robot = rod(TRUTH)
    robot.add_body("camera", 0.004, (1e-7, 1e-7, 1e-7), on=robot.description.rods["arm"].tip)
    dt, count = (2e-4, 4) if isinstance(integrator, pl.Variational) else (0.01, 21)
    natural = pl.Parameter("arm.natural[0]", typical=1.0)
    names = [*TRUTH, "arm.length", natural, "thread.force", "camera.mass"]
    unknowns = variables(robot.description, names)
    paths = ["arm.tip", "arm.at(0.2).rz", "arm.tip.vz", "arm.tip.angle_xz"]
    asked = probes(robot.description, paths)
    columns = {probe.column: np.zeros(count) for probe in asked}
    times = 0.01 * np.arange(count)
    data = pl.Measurement(
        {"t": times, **columns}, "t", start={"thread": 1.0}, inputs={"thread": 0.2}
    )
    z = np.array([item.start for item in unknowns.items])
    run = make_experiment(data, asked, robot, dt, integrator)
    family = Family(robot, unknowns, method)
    y, J = run.evaluate(family, z, True)
    assert J is not None
    assert (family.solves, family.followed) == (1, len(z))
    assert np.abs(y - run.evaluate(family, z, False)[0]).max() < 1e-6
    for j in range(len(z)):
        step = 1e-4 * np.eye(len(z))[j]
        ends = [run.evaluate(family, z + sign * step, False)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-4
        error = np.abs(J[..., j] - slope).max() / np.abs(slope).max()
        assert error < 1e-3, (unknowns.names[j], error)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (pl.Lag(0.03), "chamber1.line.time"),
        (pl.Flow(1e-4, dead_volume=1e-6), "chamber1.line.conductance"),
    ],
)
@pytest.mark.parametrize("method", [pl.ANCF(3), pl.Strain(order=1, segments=2)])
def test_slopes_of_a_motion_behind_a_pressure_line(
    line: pl.PressureLine, path: str, method: pl.Formulation
) -> None:
    """The motion that is followed is the one that is simulated, gas included."""
    robot = pl.Robot()
    finger = pl.BendingActuator(
        0.175, 0.0186, chamber_radius=0.006, arm=0.009, mass=0.12, retardation=5e-3
    )
    robot.add_actuator("finger", finger, pl.along("-z"), line=line)
    t = np.linspace(0.0, 0.3, 31)
    pressure = 3e4 * (1.0 - np.cos(10.0 * t))
    data = pl.Measurement({"t": t, "chamber1": pressure, "finger.tip.x": 0.0 * t}, "t")
    unknowns = variables(robot.description, [path, "finger.bending[1]"])
    asked = probes(robot.description, ["finger.tip.x"])
    run = make_experiment(data, asked, robot, 5e-3, pl.Newmark(tolerance=1e-12))
    z = np.array([item.start for item in unknowns.items])
    found = [
        run.evaluate(Family(robot, unknowns, method, mode), z, True)
        for mode in ("auto", "differences")
    ]
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-9
    for j in range(2):
        one, other = (J[..., j] for _, J in found)  # type: ignore[index]
        assert np.abs(one - other).max() < 1e-4 * np.abs(other).max()


def test_stiffness_from_a_shaken_base_whose_way_was_sampled() -> None:
    """A base has an acceleration, though a column of its positions has corners at every row."""

    def shaken(bending: float) -> pl.Robot:
        robot = pl.Robot()
        finger = pl.BendingActuator(
            0.175, bending, chamber_radius=0.006, arm=0.009, mass=0.12, mass_damping=2.4
        )
        robot.add_actuator("finger", finger, pl.along("-z"))
        robot.add_base_motion("shake", of="finger", translation=(1, 0, 0))
        return robot

    method = {"formulation": pl.ANCF(3), "integrator": pl.Newmark()}
    t = np.linspace(0.0, 0.3, 61)
    move = shaken(0.0186).simulate(
        0.3, 2.5e-3, {"shake": lambda x: 0.005 * (1 - np.cos(12 * x))}, start="statics",
        output_times=t, **method,
    )  # fmt: skip
    columns = {"shake": 0.005 * (1 - np.cos(12 * t)), "finger.tip.x": move.tip("finger")[:, 0, 3]}
    data = pl.Measurement({"t": t, **columns}, "t", start="statics")
    found = pl.fit(shaken(0.021), data, ["finger.bending[1]"], dt=2.5e-3, **method)
    assert found["finger.bending[1]"].value == pytest.approx(0.0186, rel=1e-4)


def test_slopes_of_equilibria_agree_with_differences_of_solutions() -> None:
    robot = rod(TRUTH)
    names = ["arm.bending", "arm.mass", "arm.length", "thread.force[2]", "gravity[2]"]
    unknowns = variables(robot.description, names)
    asked = probes(robot.description, ["arm.tip", "arm.at(0.1).uy", "arm.reaction.fz"])
    columns = {probe.column: np.zeros(3) for probe in asked}
    data = pl.Measurement({"thread": [0.0, 0.5, 1.0], **columns})
    run = make_experiment(data, asked, robot, None, None)
    z = np.array([item.start for item in unknowns.items])
    slopes = {}
    for mode in ("auto", "differences"):
        family = Family(robot, unknowns, pl.BSpline(points=8), mode)
        slopes[mode] = run.evaluate(family, z, True)[1]
        assert family.solves == (3 if mode == "auto" else 3 + 2 * 3 * len(z))
    assert np.abs(slopes["auto"] - slopes["differences"]).max() < 1e-6


def test_stiffness_of_an_actuator_from_its_droop() -> None:
    """30 g at the tip of a horizontal actuator of 175 mm; the droop of the linear beam as start."""

    def actuator(bending: float) -> pl.Robot:
        robot = pl.Robot()
        section = pl.Stiffness(bending=bending, twist=0.02, shear=1e4, axial=1e4, mass=0.1)
        arm = robot.add_rod("arm", 0.175, section, pose=pl.along("x"))
        robot.add_load("hang", arm.tip, force=(0.0, 0.0, -9.81))
        return robot

    droop = actuator(0.0186).statics({"hang": 0.03}, pl.Strain(order=4)).tip("arm")[2, 3]
    data = pl.Measurement({"hang": [0.03, 0.03], "arm.tip.z": [droop, droop]})
    found = pl.fit(actuator(0.03), data, ["arm.bending"], formulation=pl.BSpline(points=12))
    assert found["arm.bending"].value == pytest.approx(0.0186, rel=1e-6)


def test_other_solvers_calibrate_by_differences_and_agree() -> None:
    """Shooting offers no slopes; the estimates are those of the strain rod, with more simulations."""
    motion = released(rod(TRUTH))[:31]
    noisy = motion + np.random.default_rng(5).normal(0.0, 1e-3, motion.shape)
    columns = {f"arm.tip.{axis}": noisy[:, k] for k, axis in enumerate("xyz")}
    data = pl.Measurement(
        {"t": TIMES[:31], **columns}, "t", inputs={"thread": 0.0}, start={"thread": 1.0}
    )
    guess = rod({**TRUTH, "arm.bending": 7e-3, "arm.mass": 0.2})
    names = ["arm.bending", "arm.mass"]
    followed = pl.fit(guess, data, names, [pl.Output("arm.tip")], formulation=pl.Strain(order=2))
    shot = pl.fit(
        guess,
        data,
        names,
        [pl.Output("arm.tip")],
        formulation=pl.Shooting(steps=30),
        integrator=pl.BDFAlpha(-0.5),
    )
    assert followed.followed and not shot.followed and shot.solves >= 4 * followed.solves
    for name in names:
        # both are second order in time with the same step, not the same method
        assert abs(shot[name].value - followed[name].value) < 1.5 * followed[name].error
        assert shot[name].error == pytest.approx(followed[name].error, rel=0.2)
