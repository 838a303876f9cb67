"""Pressure chambers: work p dV on strains, for every formulation; lines; refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.linalg.matrices import Sparse
from pliant.model import Array, Description
from pliant.physics.chambers import PressureChamber
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.rods.ancf import ANCF
from pliant.solve.balance import balance
from pliant.solve.energy import potential
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work
from tests.reference import exact

FORMULATIONS = {
    "bspline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(4),
    "strain": pl.Strain(2, 2),
    "planar": pl.ANCF(4),
    "cable": pl.ANCF(4, planar=False),
}
by_formulation = pytest.mark.parametrize("name", FORMULATIONS)
SILICONE = pl.Material(E=5e5, nu=0.45, rho=1100.0, viscosity=300.0)
AREA, X = 1.1e-4, 0.009


def finger(theory: str = "cosserat", **chamber: object) -> tuple[pl.Robot, pl.Rod]:
    """A rod of 0.2 m along x with one chamber on its +x side (below)."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod(
        "finger", 0.2, pl.Circle(0.012), SILICONE, pose=pl.along("x"), theory=theory
    )
    robot.add_chamber("air", rod, area=AREA, **{"offset": (X, 0.0), **chamber})  # type: ignore[arg-type]
    return robot, rod


def bent(robot: pl.Robot, name: str, pressure: float) -> tuple[Effects, State, Inputs]:
    """A robot moved away from rest, and its inputs."""
    description: Description = robot.description
    effects = effects_of(description, {"finger": FORMULATIONS[name]})
    tree = effects.tree
    q = tree.moved(tree.rest, 0.02 * direction(effects, 5))
    return effects, State(tree).place(q), effects.at({"air": pressure})


def direction(effects: Effects, seed: int) -> Array:
    x = np.zeros(effects.tree.total)
    free = effects.tree.coordinates
    x[free] = np.random.default_rng(seed).normal(size=len(free))
    return x


def moved(effects: Effects, state: State, x: Array) -> State:
    return State(effects.tree).place(effects.tree.moved(state, x, newton=False))


def gradient(
    effects: Effects, state: State, inputs: Inputs, filled: Tangent | None = None
) -> Array:
    """Residual (total,) without force fields, and the tangent in the second-order chart."""
    tree = effects.tree
    z = np.zeros(tree.total)
    return balance(effects, state, Work(tree), inputs, z, filled, chart=False)


# -- the effect on strains ------------------------------------------------------------------------


@by_formulation
@pytest.mark.parametrize("over", [None, (0.03, 0.15)])
def test_gradient_is_that_of_minus_pressure_times_volume(
    name: str, over: tuple[float, float] | None
) -> None:
    robot, _ = finger(over=over)
    effects, state, inputs = bent(robot, name, 3e4)
    (chamber,) = effects.of_kind(PressureChamber)
    x = direction(effects, 1)

    def volume(step: float) -> tuple[float, float]:
        there = moved(effects, state, step * x)
        return chamber.measure(there), potential(effects, there, inputs)["loads"]

    quiet = effects.at({"air": 0.0})
    force = gradient(effects, state, inputs) - gradient(effects, state, quiet)
    h = 1e-6
    ahead, behind = volume(h), volume(-h)
    assert force @ x == pytest.approx(-3e4 * (ahead[0] - behind[0]) / (2 * h), rel=1e-6)
    assert force @ x == pytest.approx((ahead[1] - behind[1]) / (2 * h), rel=1e-6)


@by_formulation
def test_tangent_is_the_derivative_of_the_gradient(name: str) -> None:
    robot, _ = finger(over=(0.03, 0.15))
    effects, state, inputs = bent(robot, name, 3e4)
    filled = Tangent(effects.tree, Sparse, effects.pairs())
    found = []
    for one in (inputs, effects.at({"air": 0.0})):
        gradient(effects, state, one, filled)
        matrix = filled.matrix
        assert isinstance(matrix, Sparse)
        found.append(matrix.matrix.toarray().copy())
    K = found[0] - found[1]
    assert np.abs(K - K.T).max() <= 1e-9 * np.abs(found[0]).max()
    x = direction(effects, 2)

    def energy(step: float) -> float:
        return potential(effects, moved(effects, state, step * x), inputs)["loads"]

    h = 2e-4
    values = [energy(k * h) for k in (-2, -1, 0, 1, 2)]
    second = (-values[0] + 16 * values[1] - 30 * values[2] + 16 * values[3] - values[4]) / 12 / h**2
    # strain modes are linear in their coordinates: there both vanish
    assert x @ K @ x == pytest.approx(second, rel=2e-5, abs=1e-6)
    assert (abs(second) > 1e-3) is (name != "strain")


@by_formulation
@pytest.mark.parametrize("thrust", [True, False])
def test_a_chamber_along_the_whole_rod_bends_it_into_an_arc(name: str, thrust: bool) -> None:
    robot, rod = finger(thrust=thrust)
    pressure = 2e4
    C = rod.stiffness(np.zeros(1))[0]
    strain = np.array(
        [0, -pressure * AREA * X / C[1], 0, 0, 0, 1 + thrust * pressure * AREA / C[5]]
    )
    found = robot.statics({"air": pressure}, FORMULATIONS[name])
    truth = pl.along("x") @ exact.constant_strain_pose(strain, 0.2)
    tolerance = 2e-5 if name in ("planar", "cable") else 1e-10
    assert found.tip("finger") == pytest.approx(truth, abs=tolerance)
    assert abs(strain[1]) * 0.2 > 0.4
    assert found.reactions["finger"] == pytest.approx(np.zeros(6), abs=1e-8)
    assert found.stable is True


@by_formulation
def test_a_chamber_along_a_part_bends_that_part(name: str) -> None:
    robot, rod = finger(over=(0.05, 0.15), thrust=False)
    C = rod.stiffness(np.zeros(1))[0]
    strain = np.array([0, -2e4 * AREA * X / C[1], 0, 0, 0, 1.0])
    straight = np.array([0, 0, 0, 0, 0, 1.0])
    truth = (
        pl.along("x")
        @ exact.constant_strain_pose(straight, 0.05)
        @ exact.constant_strain_pose(strain, 0.1)
        @ exact.constant_strain_pose(straight, 0.05)
    )
    found = robot.statics({"air": 2e4}, FORMULATIONS[name])
    # elements of 0.05 m (and the spline's spans) need not end where the chamber does
    assert found.tip("finger") == pytest.approx(truth, abs=2e-3)
    angle = np.arctan2(-found.tip("finger")[2, 2], found.tip("finger")[0, 2])
    expected = np.arctan2(-truth[2, 2], truth[0, 2])
    assert angle == pytest.approx(expected, rel=1e-3)


@by_formulation
@pytest.mark.parametrize("over", [(0.05, 0.15), (0.037, 0.141)])
def test_a_chamber_along_a_part_is_a_pair_of_torques_at_its_ends(
    name: str, over: tuple[float, float]
) -> None:
    """To rounding, whether its ends are those of elements or not, in a rod that also stretches."""
    robot, rod = finger(over=over, thrust=False)
    robot.add_load("weight", on=rod.tip, force=(0.3, 0.0, 0.02))
    moment = 2e4 * AREA * X
    for s, side in zip(over, (1.0, -1.0), strict=True):
        where = rod.at(s)
        robot.add_load(f"torque at {s}", on=where, moment=(0.0, side * moment, 0.0), frame="body")
    still = {f"torque at {s}": (0.0,) * 6 for s in over}
    chamber = robot.statics({"air": 2e4, **still}, FORMULATIONS[name])
    torques = robot.statics({"air": 0.0}, FORMULATIONS[name])
    assert abs(torques.tip("finger")[2, 2]) > 0.1
    assert chamber.tip("finger") == pytest.approx(torques.tip("finger"), abs=1e-8)
    s = np.linspace(0.0, 0.2, 9)
    assert chamber.strain("finger", s) == pytest.approx(torques.strain("finger", s), abs=1e-6)


def test_two_sides_bend_both_ways_and_add_up() -> None:
    robot, rod = finger()
    robot.add_chamber("other", rod, area=AREA, offset=(-X, 0.0))
    up = robot.statics({"air": 2e4}).tip("finger")
    down = robot.statics({"other": 2e4}).tip("finger")
    assert up[2, 3] == pytest.approx(-down[2, 3], rel=1e-9)
    assert up[2, 3] > 0.03
    both = robot.statics({"air": 2e4, "other": 2e4}).tip("finger")
    stretch = 2 * 2e4 * AREA / rod.stiffness(np.zeros(1))[0, 5]
    assert both[:3, 3] == pytest.approx([0.2 * (1 + stretch), 0, 0], abs=1e-10)


@by_formulation
def test_a_chamber_under_gravity_agrees_between_formulations(name: str) -> None:
    robot = pl.Robot()
    rod = robot.add_rod(
        "finger", 0.2, pl.Circle(0.012), SILICONE, pose=pl.along("x"), theory="kirchhoff"
    )
    robot.add_chamber("air", rod, area=AREA, offset=(X, 0.0), pressure=2e4)
    truth = robot.statics(formulation=pl.Strain(4, 8)).tip("finger")
    finer = {"planar": pl.ANCF(8), "cable": pl.ANCF(8, planar=False)}
    found = robot.statics(formulation=finer.get(name, FORMULATIONS[name])).tip("finger")
    tolerance = 1e-5 if name in finer else 2e-6
    assert found[:3, 3] == pytest.approx(truth[:3, 3], abs=tolerance * 0.2)


# -- equations 17 and 18 of the paper -------------------------------------------------------------


def test_generalised_forces_are_the_pair_of_end_torques_of_the_paper() -> None:
    """Equation 17, M (n x dn) at the two nodes of an element, and 18 for slopes of unit length."""
    rod_map = ANCF(1).discretise(pl.Rod("arm", 0.1, pl.Circle(0.01), SILICONE))
    c = rod_map.configuration()
    s, w = np.polynomial.legendre.leggauss(24)
    plan = rod_map.strains(0.05 + 0.05 * s)
    for length in (1.3, 1.0):
        q = np.array([1.0, 0.03, 0.09, length * np.sin(0.8), length * np.cos(0.8)])
        rod_map.update(c, np.eye(4), q)
        rod_map.strain(plan, c)
        moment = 0.7
        found = moment * np.einsum("s,sa->a", 0.05 * w, plan.B[:, 1, 6:])
        n = np.array([np.sin(0.8), np.cos(0.8)])
        # about y, in the order (x, z): n x dn = n_z dn_x - n_x dn_z, dn = (1 - n n^T) dq / |q|
        end = moment * np.array([n[1], -n[0]]) / length
        assert found[6:8] == pytest.approx(end, abs=1e-9)
        assert found[2:4] == pytest.approx(-moment * np.array([1.0, 0.0]), abs=1e-9)
        assert found[[0, 1, 4, 5]] == pytest.approx(np.zeros(4), abs=1e-9)
        simplified = moment * np.array([q[4], -q[3]])
        same = found[6:8] == pytest.approx(simplified, abs=1e-9)
        assert same is (length == 1.0)


# -- in motion ------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [pl.Midpoint(), pl.Newmark()], ids=str)
@pytest.mark.parametrize("name", ["bspline", "planar"])
def test_work_of_the_pressure_is_booked(name: str, integrator: pl.Integrator) -> None:
    robot, _ = finger(over=(0.02, 0.18))
    signal = pl.Sine(amplitude=2e4, frequency=2.0)
    motion = robot.simulate(
        0.5, dt=1e-3, inputs={"air": signal}, formulation=FORMULATIONS[name], integrator=integrator
    )
    energy = motion.energy
    scale = np.abs(energy["work"]).max()
    assert scale > 1e-3
    assert np.abs(energy["balance"]).max() < 1e-4 * scale
    assert motion.inputs["air"] == pytest.approx([signal(t) for t in motion.t])


def test_frequencies_do_not_feel_an_inner_pressure_of_a_straight_rod() -> None:
    """Pressure in a chamber on the axis does the work p dV of its length alone: no column effect."""
    robot, _ = finger(offset=(0.0, 0.0), thrust=False)
    free = robot.modes(3, inputs={"air": 0.0}).frequencies
    assert robot.modes(3, inputs={"air": 5e4}).frequencies == pytest.approx(free, rel=1e-6)


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"area": 0.0}, "area"),
        ({"area": lambda s: 1e-4 - 1e-3 * s}, "area"),
        ({"offset": (1.0,)}, "offset"),
        ({"offset": lambda s: (np.nan, 0.0)}, "offset"),
        ({"over": (0.1, 0.3)}, "over"),
        ({"over": (0.1, 0.05)}, "over"),
        ({"pressure": np.inf}, "pressure"),
        ({"thrust": 1}, "thrust"),
        ({"line": 0.1}, "line"),
        ({"on": "thumb"}, "on"),
    ],
)
def test_bad_chambers_are_refused_by_name(fields: dict[str, object], word: str) -> None:
    robot = pl.Robot()
    rod = robot.add_rod("finger", 0.2, pl.Circle(0.012), SILICONE)
    with pytest.raises(pl.DescriptionError, match=word) as caught:
        robot.add_chamber("air", **{"on": rod, "area": AREA, **fields})  # type: ignore[arg-type]
    assert "chamber 'air'" in str(caught.value)


@pytest.mark.parametrize(
    "make", [lambda: pl.Lag(0.0), lambda: pl.Flow(-1.0), lambda: pl.Flow(1, -1)]
)
def test_bad_lines_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(pl.DescriptionError):
        make()


def test_a_pressure_is_one_number() -> None:
    robot, _ = finger()
    with pytest.raises(pl.DescriptionError, match="pressure in Pa"):
        robot.statics({"air": (1.0, 2.0, 3.0)})
    with pytest.raises(pl.DescriptionError, match="chamber"):
        robot.statics({"are": 1.0})


def test_a_chamber_beside_the_plane_of_a_planar_rod_is_refused() -> None:
    robot, _ = finger(offset=(0.0, 0.005))
    with pytest.raises(pl.DescriptionError, match="offset"):
        robot.statics(formulation=pl.ANCF(4))
    robot.statics(formulation=pl.ANCF(4, plane="yz"))


# -- pressure lines -------------------------------------------------------------------------------


def test_a_lag_is_exact_for_ramps() -> None:
    line = pl.Lag(0.05)
    pressure, h = 3.0, 0.02
    for k in range(10):
        pressure = line.step(h, pressure, (10.0 * k * h, 10.0 * (k + 1) * h), (1.0, 1.0))
    expected = 10.0 * (0.2 - 0.05) + (3.0 + 10.0 * 0.05) * np.exp(-0.2 / 0.05)
    assert pressure == pytest.approx(expected, rel=1e-12)


def test_gas_is_kept_where_nothing_flows() -> None:
    line = pl.Flow(1e-30, dead_volume=1e-5, atmosphere=1e5)
    after = line.step(0.1, 2e4, (0.0, 0.0), (2e-5, 3e-5))
    assert (after + 1e5) * 4e-5 == pytest.approx((2e4 + 1e5) * 3e-5, rel=1e-12)


def test_flow_fills_a_fixed_volume_exponentially() -> None:
    line = pl.Flow(1e-4)
    after = line.step(0.3, 0.0, (2e4, 2e4), (2e-5, 2e-5))
    assert after == pytest.approx(2e4 * (1 - np.exp(-0.3 * 1e-4 / 2e-5)), rel=1e-9)


@pytest.mark.parametrize("inside", [False, True])
def test_a_chamber_behind_a_lag_gets_the_pressure_late(inside: bool) -> None:
    robot, _ = finger(line=pl.Lag(0.1))
    times = np.linspace(0.0, 0.3, 8) if inside else None
    motion = robot.simulate(
        0.3, dt=5e-3, inputs={"air": lambda t: 2e4 * (t > 0)}, formulation=pl.ANCF(4),
        output_times=times,
    )  # fmt: skip
    t = motion.t[1:]
    # the first step ramps from nothing to 2e4
    begun = 2e4 * (1 - 0.1 / 5e-3 * (1 - np.exp(-5e-3 / 0.1)))
    late = 2e4 + (begun - 2e4) * np.exp(-(t - 5e-3) / 0.1)
    assert motion.inputs["air"][1:] == pytest.approx(late, rel=1e-9)
    balance = motion.energy["balance"]
    assert np.abs(balance).max() < 2e-3 * motion.energy["work"].max()


def test_bending_open_lowers_the_pressure_of_a_closed_chamber() -> None:
    """Isothermal gas in a chamber that hardly anything flows into: p V = constant."""
    robot, rod = finger(line=pl.Flow(1e-30, atmosphere=1e5), thrust=False)
    robot.add_load("push", rod.tip, force=(0, 0, 1.0))
    motion = robot.simulate(
        0.4, dt=2e-3, inputs={"air": 1e4, "push": pl.Ramp(0, 0.15, 0, 0.2)},
        start="statics", formulation=pl.ANCF(4),
    )  # fmt: skip
    strain = motion.strain("finger", 0.1 + 0.1 * np.polynomial.legendre.leggauss(8)[0])
    weight = 0.1 * np.polynomial.legendre.leggauss(8)[1]
    volume = AREA * (0.2 - X * strain[:, :, 1] @ weight)
    pressure = motion.inputs["air"]
    assert np.ptp(volume) > 0.02 * volume[0]
    assert (pressure + 1e5) * volume == pytest.approx(1.1e5 * volume[0], rel=1e-4)


# -- files ----------------------------------------------------------------------------------------


def test_chambers_in_a_robot_file(tmp_path: Path) -> None:
    file = tmp_path / "finger.yaml"
    file.write_text(
        """
gravity: [0, 0, 0]
rods:
  finger:
    length: 0.2
    section: {circle: {radius: 0.012}}
    material: {E: 5.0e5, nu: 0.45, rho: 1100, viscosity: 300}
    pose: {along: x}
    formulation: {ANCF: {elements: 4}}
chambers:
  air: {on: finger, area: 1.1e-4, offset: [0.009, 0], line: {lag: {time: 0.05}}}
  other:
    {on: finger, area: 1.1e-4, offset: [-0.009, 0], over: [0, 0.1], thrust: false,
     line: {flow: {conductance: 1.0e-4}}}
inputs:
  air: {sum: [{sine: {amplitude: 2.0e4, frequency: 1.0}}, {constant: 0}]}
  other: 1.0e4
"""
    )
    robot = pl.Robot.from_file(file)
    chambers = robot.description.chambers
    assert chambers["air"].line == pl.Lag(0.05)
    assert chambers["other"].line == pl.Flow(1e-4)
    assert chambers["other"].over == (0.0, 0.1) and not chambers["other"].thrust
    assert robot.statics({"air": 2e4}).tip("finger")[2, 3] > 0.01
    assert robot.simulate(0.02, dt=0.01).inputs["other"][0] == 1e4


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("air: {on: fingr, area: 1.0e-4}", ("chamber 'air'", "did you mean 'finger'?")),
        ("air: {on: finger, area: -1}", ("chamber 'air'", "area")),
        ("air: {on: finger, area: 1.0e-4, over: [0, 3]}", ("chamber 'air'", "over")),
        ("air: {on: finger, area: 1.0e-4, line: {}}", ("chamber 'air'", "line")),
        ("air: {on: finger}", ("chamber 'air'", "area")),
    ],
)
def test_files_with_wrong_chambers(tmp_path: Path, line: str, words: tuple[str, ...]) -> None:
    file = tmp_path / "finger.yaml"
    part = "length: 0.2, section: {circle: {radius: 0.01}}, material: {E: 1.0e6, nu: 0.5}"
    text = f"rods:\n  finger: {{{part}}}"
    file.write_text(f"{text}\nchambers:\n  {line}\n")
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    for word in words:
        assert word in str(caught.value)


# -- the actuator as a ready part -----------------------------------------------------------------


def actuated(**more: object) -> tuple[pl.Robot, pl.BendingActuator]:
    actuator = pl.BendingActuator(
        0.175, bending=0.0186, chamber_radius=0.006, arm=0.009, mass=0.12, mass_damping=2.4
    )
    robot = pl.Robot(gravity=(0, 0, 0))
    robot.add_actuator("finger", actuator, pl.along("-z"), **more)  # type: ignore[arg-type]
    return robot, actuator


@pytest.mark.parametrize("formulation", [None, pl.ANCF(8), pl.BSpline(3, 12)], ids=str)
def test_an_actuator_bends_by_moment_times_length_over_stiffness(
    formulation: pl.Formulation | None,
) -> None:
    robot, actuator = actuated()
    moment = np.pi * 0.006**2 * 0.009 * (6e4 - 1e4)
    assert actuator.moment(6e4, 1e4) == pytest.approx(moment)
    tip = robot.statics({"chamber1": 6e4, "chamber2": 1e4}, formulation).tip("finger")
    assert tip[0, 3] > 0, "towards local x"
    assert np.arctan2(tip[0, 2], -tip[2, 2]) == pytest.approx(moment * 0.175 / 0.0186, rel=1e-5)


def test_actuators_on_one_another_need_names_for_their_chambers() -> None:
    robot, actuator = actuated(chambers=("a1", "a2"), line=pl.Lag(0.1))
    first = robot.description.rods["finger"]
    with pytest.raises(pl.DescriptionError, match="chambers"):
        robot.add_actuator("more", actuator, base=first.tip, chambers=("a1", "b2"))
    assert list(robot.description.rods) == ["finger"]
    robot.add_actuator("more", actuator, base=first.tip, chambers=("b1", "b2"))
    tip = robot.statics({"a1": 5e4, "b2": 5e4}, pl.ANCF(6)).tip("more")
    assert tip[:3, :3] == pytest.approx(pl.along("-z")[:3, :3], abs=1e-5)
    assert tip[0, 3] > 0.005
    assert robot.description.chambers["a1"].line == pl.Lag(0.1)


def test_wrong_actuators_are_refused() -> None:
    with pytest.raises(pl.DescriptionError, match="arm"):
        pl.BendingActuator(0.1, 0.01, 0.006, arm=0.0)
    with pytest.raises(pl.DescriptionError, match="mass_damping"):
        pl.BendingActuator(0.1, 0.01, 0.006, 0.009, mass_damping=-1.0)
    with pytest.raises(pl.DescriptionError, match="BendingActuator"):
        pl.Robot().add_actuator("finger", 3)  # type: ignore[arg-type]
    with pytest.raises(pl.DescriptionError, match="two names"):
        actuated(chambers="both")


# -- sums of signals ------------------------------------------------------------------------------


def test_signals_add_up() -> None:
    one, two = pl.Sine(2.0, 0.7), pl.Ramp(0.0, 1.0, 0.0, 2.0)
    total = one + two + 3.0
    for t in (0.0, 0.4, 1.7):
        assert total(t) == pytest.approx(one(t) + two(t) + 3.0)
        assert total.rate(t) == pytest.approx(one.rate(t) + two.rate(t))
        assert total.acceleration(t) == pytest.approx(one.acceleration(t))
    for wrong in ((), 3.0, ("a",)):
        with pytest.raises(pl.DescriptionError, match="signals"):
            pl.Sum(wrong)  # type: ignore[arg-type]
