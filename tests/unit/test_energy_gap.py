"""What integrators do to energy: exact for linear oscillators, told whatever the outputs are."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant import EnergyWarning, NumericalDamping
from tests.reference.random_motions import random_motion

INERTIA, STIFFNESS, DT = 2e-3, 0.8, 0.02
"""About the hinge, kg m^2 and N m/rad: 20 rad/s, so that a step is 0.4 rad of the vibration."""


def oscillator() -> pl.Robot:
    """A rigid body on a hinge with a spring: exactly linear in the angle."""
    robot = pl.Robot(gravity=(0, 0, 0))
    joint = pl.Revolute("x", stiffness=STIFFNESS)
    robot.add_body("wheel", 1.0, (INERTIA, 1e-3, 1e-3), joint=joint)
    return robot


def swung(integrator: Any, steps: int = 40) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Angles, rates and energies of the oscillator, released at 0.3 rad."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (EnergyWarning, NumericalDamping))
        motion = oscillator().simulate(steps * DT, DT, integrator=integrator, joints={"wheel": 0.3})
    return motion.joint("wheel")[:, 0], motion.velocity("wheel")[:, 0], motion.energy


def test_implicit_euler_takes_the_energy_of_the_increments() -> None:
    """1/2 (dv I dv + dq k dq) in each step, whatever its length."""
    q, v, energy = swung(pl.ImplicitEuler(tolerance=1e-13))
    taken = 0.5 * (INERTIA * np.diff(v) ** 2 + STIFFNESS * np.diff(q) ** 2)
    assert taken.sum() > 0.5 * energy["elastic"][0]
    np.testing.assert_allclose(np.diff(energy["numerical"]), taken, atol=1e-9 * energy["total"][0])


@pytest.mark.parametrize(("beta", "gamma"), [(0.25, 0.5), (0.3025, 0.6), (0.5, 0.9)])
def test_newmark_takes_what_its_discrete_balance_says(beta: float, gamma: float) -> None:
    """(gamma - 1/2) (dq k dq + c h^2 da I da) + c h^2 (a I a)' / 2 with c = beta - gamma / 2."""
    q, _, energy = swung(pl.Newmark(beta, gamma, tolerance=1e-13))
    a, c = -STIFFNESS * q / INERTIA, (beta - gamma / 2) * DT**2 * INERTIA
    taken = (gamma - 0.5) * (STIFFNESS * np.diff(q) ** 2 + c * np.diff(a) ** 2)
    taken += 0.5 * c * np.diff(a**2)
    step = np.diff(energy["numerical"])
    np.testing.assert_allclose(step[1:], taken[1:], atol=1e-9 * energy["total"][0])


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.5])
def test_generalised_alpha_takes_energy_at_its_spectral_radius(rho: float) -> None:
    """The energy of a vibration falls by the squared modulus of the eigenvalues of a step."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    w, h = STIFFNESS / INERTIA, DT
    # unknowns (q, v, a) after a step from those before, by their four equations without forces
    after = np.array(
        [[1, 0, -beta * h * h], [0, 1, -gamma * h], [(1 - af) * w, 0, 1 - am]], dtype=float
    )
    before = np.array([[1, h, (0.5 - beta) * h * h], [0, 1, (1 - gamma) * h], [-af * w, 0, -am]])
    radius = np.abs(np.linalg.eigvals(np.linalg.solve(after, before))).max()
    _, _, energy = swung(pl.GeneralizedAlpha(rho, tolerance=1e-13), steps=120)
    left = energy["total"][0] - energy["numerical"]
    assert radius < 0.9999
    # the same phase of the vibration, many periods apart
    peaks = [k for k in range(20, 119) if left[k] > 0 and k % 8 == 4]
    rate = np.polyfit(peaks, np.log(left[peaks]), 1)[0]
    assert rate == pytest.approx(2 * math.log(radius), rel=0.03)


@pytest.mark.parametrize("alpha", [-0.48, -0.3, 0.0])
@pytest.mark.parametrize(
    "form", [pl.Shooting(100), pl.Collocation()], ids=["shooting", "collocation"]
)
def test_bdf_alpha_takes_energy_at_its_spectral_radius(form: Any, alpha: float) -> None:
    """A slender cantilever that begins with the velocities of its first mode."""
    robot = pl.Robot(gravity=(0, 0, 0))
    L, r, E, rho = 0.4, 0.004, 1e8, 1000.0
    robot.add_rod("rod", L, pl.Circle(r), pl.Material(E=E, nu=0.4, rho=rho), pl.along("x"))
    w = 1.875104**2 / L**2 * math.sqrt(E * r**2 / 4 / rho)

    def first(s: float) -> np.ndarray:
        x, c = 1.875104 * s / L, 0.734096
        shape = math.cosh(x) - math.cos(x) - c * (math.sinh(x) - math.sin(x))
        slope = 1.875104 / L * (math.sinh(x) + math.sin(x) - c * (math.cosh(x) - math.cos(x)))
        return 1e-3 * np.array([slope, 0, 0, 0, -shape, 0])

    h, steps = 0.3 / w, 60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (EnergyWarning, NumericalDamping))
        motion = robot.simulate(
            steps * h, h, velocity={"rod": first}, formulation=form, integrator=pl.BDFAlpha(alpha)
        )
    rule, energy = pl.BDFAlpha(alpha).rule(h, h), motion.energy
    # y_t = c0 y + c1 y_1 + c2 y_2 + d1 y_1t and y_t = i w y
    z = 1j * w
    roots = np.roots([z - rule.c0, -rule.c1 - rule.d1 * z, -rule.c2])
    left = energy["kinetic"][0] - energy["numerical"]
    rate = np.polyfit(np.arange(10, steps), np.log(left[10:steps]), 1)[0]
    assert rate == pytest.approx(2 * math.log(np.abs(roots).max()), rel=0.05, abs=2e-5)


def arm(height: float = 0.0) -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0)
    place = np.array(pl.along("x"))
    place[2, 3] = height
    robot.add_rod("arm", 0.3, pl.Circle(0.01), soft, place)
    return robot


DAMPING = [pl.ImplicitEuler(), pl.GeneralizedAlpha(0.0), pl.Newmark(0.4, 0.75)]


@pytest.mark.parametrize("integrator", DAMPING, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("outputs", [[0.6], [0.0, 0.3, 0.6], [0.123, 0.4567]])
def test_numerical_damping_is_told_whatever_the_outputs(integrator: Any, outputs: list) -> None:
    with pytest.warns(NumericalDamping, match=r"took .* % of the 0\.1.* J in play") as told:
        some = arm().simulate(0.6, 0.02, integrator=integrator, output_times=outputs)
    assert [w for w in told if issubclass(w.category, EnergyWarning)] == []
    with pytest.warns(NumericalDamping):
        every = arm().simulate(0.6, 0.02, integrator=integrator)
    assert some.energy_gap.taken == pytest.approx(every.energy_gap.taken, rel=1e-6)
    assert some.energy_gap.in_play == pytest.approx(every.energy_gap.in_play, rel=1e-6)
    # all steps hold no more than 20 % beyond what is looked at
    assert every.energy["numerical"].max() < 1.2 * every.energy_gap.taken
    assert (
        f"J in play the integrator took {100 * every.energy_gap.share_taken:.0f}" in every.summary()
    )


@pytest.mark.parametrize("alpha", [-0.2, 0.0])
def test_numerical_damping_of_strong_forms_is_told(alpha: float) -> None:
    with pytest.warns(NumericalDamping, match=r"BDFAlpha\(alpha=-0\.5\)"):
        motion = arm().simulate(
            0.6,
            0.02,
            formulation=pl.Collocation(),
            integrator=pl.BDFAlpha(alpha),
            output_times=[0.6],
        )
    assert motion.energy_gap.share_taken > 0.01


def test_energy_that_midpoint_adds_is_told() -> None:
    """Steps that do not resolve the bending of an undamped rod at large rotation."""
    robot = arm()
    robot.add_load("push", pl.Frame("arm", 0.3), force=(0, 0.05, 0))
    with pytest.warns(EnergyWarning, match=r"added .*GeneralizedAlpha\(rho=0\.5\)") as told:
        robot.simulate(
            0.27, 5e-3, {"push": pl.Sine(1.0, 3.0)}, "statics", formulation=pl.Hermite(6),
            output_times=[0.01],
        )  # fmt: skip
    assert not [w for w in told if issubclass(w.category, NumericalDamping)]


def test_one_per_cent_between_the_states_that_are_looked_at_is_told() -> None:
    """A step in eight is looked at; at one of the others Newmark has taken 1.1 %."""
    case = random_motion(91011, integrator="Newmark")
    still = case.robot.statics(case.released, case.formulation)
    duration = case.dt * case.steps
    with pytest.warns(EnergyWarning, match=r"Newmark\(.* took 0\.87"):
        motion = case.robot.simulate(
            duration, case.dt, case.inputs, still, formulation=case.formulation,
            integrator=case.integrator,
        )  # fmt: skip
    assert motion.energy["numerical"].max() > 0.01 * motion.energy_gap.in_play


def test_energy_that_newmark_gives_up_at_a_sudden_start_is_told() -> None:
    robot = pl.Robot()
    part = pl.BendingActuator(0.175, 0.0186, 0.006, 0.009, mass=0.12)
    robot.add_actuator("finger", part, pl.along("z"))
    bent = robot.statics({"chamber1": 1e4}, pl.ANCF(8))
    with pytest.warns(EnergyWarning, match=r"Newmark\(.* took .* dt = 0\.001 s is too long"):
        robot.simulate(0.02, 1e-3, {"chamber1": 0.0}, bent, integrator=pl.Newmark())


def test_energies_close_with_the_numerical_column() -> None:
    with pytest.warns(NumericalDamping):
        motion = arm().simulate(0.2, 0.005, integrator=pl.ImplicitEuler())
    e = motion.energy
    closed = e["total"] + e["dissipated"] + e["numerical"] - e["work"]
    assert np.ptp(closed) < 1e-15
    np.testing.assert_array_equal(e["balance"], -e["numerical"])
    assert list(motion.to_xarray().energy_part.values) == list(e)


def test_energy_in_play_does_not_depend_on_the_origin() -> None:
    gaps = []
    for height in (0.0, 50.0):
        with pytest.warns(NumericalDamping):
            gaps.append(arm(height).simulate(0.3, 0.01, integrator=pl.ImplicitEuler()).energy_gap)
    assert gaps[1].in_play == pytest.approx(gaps[0].in_play, rel=1e-6)
    assert gaps[1].share_taken == pytest.approx(gaps[0].share_taken, rel=1e-6)


FORMS = [None, pl.Strain(order=3), pl.Hermite(6), pl.Shooting(100), pl.Collocation()]


@pytest.mark.parametrize("form", FORMS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("height", [0.0, 50.0])
def test_robot_at_rest_has_no_energy_to_tell_of(form: Any, height: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        warnings.simplefilter("error", NumericalDamping)
        arm(height).simulate(0.05, 2e-3, start="statics", formulation=form)


@pytest.mark.parametrize(
    "form", [pl.Strain(order=2), pl.Collocation(8)], ids=["coordinates", "strong"]
)
def test_a_fit_tells_once_of_numerical_damping(form: Any) -> None:
    """The parameters make up for it: damping that is fitted comes out too small."""
    times = np.linspace(0.0, 0.3, 16)
    fine = arm().simulate(0.3, 5e-3, formulation=form, output_times=times).tip("arm")[:, 2, 3]
    data = pl.Measurement({"t": times, "arm.tip.z": fine}, time="t")
    damping = pl.ImplicitEuler() if isinstance(form, pl.Formulation) else pl.BDFAlpha(0.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit = pl.fit(
            arm(), data, [pl.Parameter("arm.E", 9e5)], formulation=form, integrator=damping, dt=0.02
        )
    notes = [text for text in fit.warnings if "the integrator took" in text]
    assert len(notes) == 1 and "smaller dt than 0.02 s" in notes[0]
    of_energy = (EnergyWarning, NumericalDamping)
    assert [w for w in told if issubclass(w.category, of_energy)] == []
