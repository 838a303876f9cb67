"""Tendons embedded in rods: tension times length, any routing, for every formulation and solver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import root

import pliant as pl
from pliant.linalg.matrices import Sparse
from pliant.model import Array, value_at
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.physics.embedded_tendons import EmbeddedTension
from pliant.results.shapes_and_arrows import effect_shapes, tensions_of
from pliant.solve.balance import balance
from pliant.solve.energy import potential
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work
from tests.reference import exact

FORMULATIONS: dict[str, Any] = {
    "bspline": pl.BSpline(3, 8),
    "hermite": pl.Hermite(4),
    "strain": pl.Strain(2, 3),
    "planar": pl.ANCF(8),
    "cable": pl.ANCF(8, planar=False),
    "shooting": pl.Shooting(steps=40),
    "multiple": pl.MultipleShooting(),
    "collocation": pl.Collocation(16),
}
STRONG = ("shooting", "multiple", "collocation")
SPATIAL = ("bspline", "hermite", "strain")
SILICONE = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
LENGTH, X, PULL = 0.3, 0.007, 5.0
WIND = 2.0 * np.pi / LENGTH


def helix(s: float) -> tuple[float, float]:
    return X * np.cos(WIND * s), X * np.sin(WIND * s)


def arm(offset: Any = (X, 0.0), theory: str = "cosserat", **more: Any) -> tuple[pl.Robot, pl.Rod]:
    """A rod along x with one tendon, without weight."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), SILICONE, pose=pl.along("x"), theory=theory)
    robot.add_tendon("pull", along=rod, offset=offset, **more)
    return robot, rod


def free_strain(C: Array, r: Array, slope: Array, tension: float) -> Array:
    """Strains (6,) at which the section and the tendon balance each other: C (e - e0) + T dl/de = 0."""

    def left(e: Array) -> Array:
        t = e[3:] + np.cross(e[:3], r) + slope
        n = t / np.linalg.norm(t)
        return C * (e - (0, 0, 0, 0, 0, 1)) / C[0] + tension * np.append(np.cross(r, n), n) / C[0]

    found = root(left, np.array([0, 0, 0, 0, 0, 1.0]), tol=1e-13)
    assert np.abs(left(found.x)).max() < 1e-9
    return np.asarray(found.x)


# -- equilibrium against independent solutions -------------------------------------------------------


@pytest.mark.parametrize("theory", ["cosserat", "kirchhoff"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_parallel_tendon_bends_a_rod_into_an_arc(name: str, theory: str) -> None:
    robot, rod = arm(theory=theory)
    C = rod.stiffness(np.zeros(1))[0]
    stretch = 1.0 - (PULL / C[5] if theory == "cosserat" else 0.0)
    # the tendon keeps in the plane, so that its tangent is the normal of the section: m = T x, n = -T
    strain = np.array([0, PULL * X / C[1], 0, 0, 0, stretch])
    still = robot.statics({"pull": PULL}, FORMULATIONS[name])
    truth = pl.along("x") @ exact.constant_strain_pose(strain, LENGTH)
    assert np.linalg.norm(still.tip("arm")[:3, 3] - truth[:3, 3]) < 1e-5 * LENGTH
    assert strain[1] * LENGTH > 1.0
    assert still.reactions["arm"] == pytest.approx(np.zeros(6), abs=1e-7)


@pytest.mark.parametrize("offset", [helix, ((0.009, 0.0), (0.002, 0.004))])
@pytest.mark.parametrize("name", [*SPATIAL, "shooting", "collocation"])
def test_winding_and_converging_tendons_agree_with_an_ordinary_equation(
    name: str, offset: Any
) -> None:
    robot, rod = arm(offset)
    C = rod.stiffness(np.zeros(1))[0]

    def strain(s: float) -> Array:
        if callable(offset):
            x, y = offset(s)
            r, slope = np.array([x, y, 0.0]), WIND * np.array([-y, x, 0.0])
        else:
            base, tip = np.array([(*row, 0.0) for row in offset])
            r, slope = base + s / LENGTH * (tip - base), (tip - base) / LENGTH
        return free_strain(C, r, slope, PULL)

    def along(s: float, y: Array) -> Array:
        R, e = y[3:].reshape(3, 3), strain(s)
        turn = np.cross(np.eye(3), e[:3])
        return np.concatenate([R @ e[3:], (R @ turn).ravel()])

    begin = np.append(np.zeros(3), pl.along("x")[:3, :3])
    end = solve_ivp(along, (0, LENGTH), begin, rtol=1e-9, atol=1e-11).y[:, -1]
    finer = {"bspline": pl.BSpline(3, 16), "hermite": pl.Hermite(10), "strain": pl.Strain(4, 3)}
    still = robot.statics({"pull": PULL}, finer.get(name, FORMULATIONS[name]))
    assert np.linalg.norm(still.tip("arm")[:3, 3] - end[:3]) < 1e-5 * LENGTH
    assert np.linalg.norm(end[:3] - (LENGTH, 0, 0)) > 0.1 * LENGTH


def test_tendon_goes_on_over_a_rigid_insert() -> None:
    """Two rods with a plate between them, the tendon from 0.05 m on: straight, arc, straight, arc."""
    robot = pl.Robot(gravity=(0, 0, 0))
    lower = robot.add_rod("lower", 0.15, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
    plate = robot.add_body("plate", 0.01, (1e-6, 1e-6, 1e-6), on=lower.tip)
    upper = robot.add_rod("upper", 0.1, pl.Circle(0.01), SILICONE, base=plate.at((0, 0, 0.02)))
    robot.add_tendon("pull", along=[lower, upper], offset=(X, 0.0), over=(0.05, 0.25))
    C = lower.stiffness(np.zeros(1))[0]
    strain = np.array([0, PULL * X / C[1], 0, 0, 0, 1.0 - PULL / C[5]])
    straight = np.array([0, 0, 0, 0, 0, 1.0])
    pieces = ((straight, 0.05), (strain, 0.1), (straight, 0.02), (strain, 0.1))
    truth = pl.along("x")
    for e, s in pieces:
        truth = truth @ exact.constant_strain_pose(e, s)
    for name in ("bspline", "hermite", "strain", "planar"):
        still = robot.statics({"pull": PULL}, FORMULATIONS[name])
        assert still.tip("upper") == pytest.approx(truth, abs=3e-6), name


def test_friction_lets_less_of_the_pull_arrive_towards_the_tip() -> None:
    """Planar arc with T' = -mu T |u|, u = T x / EI: T = T0 / (1 + mu T0 x s / EI)."""
    mu = 0.3
    robot, rod = arm(friction=mu)
    C = rod.stiffness(np.zeros(1))[0]

    def tension(s: float) -> float:
        return PULL / (1.0 + mu * PULL * X * s / C[1])

    def angle(s: float) -> float:
        return float(np.log(1.0 + mu * PULL * X * s / C[1]) / mu)

    # no load from outside, so that rod and tendon balance each other in every section
    still = robot.statics({"pull": PULL}, pl.BSpline(3, 16))
    bent = still.strain("arm", np.linspace(0.02, 0.28, 5))[:, 1]
    assert bent == pytest.approx(
        [tension(s) * X / C[1] for s in np.linspace(0.02, 0.28, 5)], rel=2e-3
    )
    ahead = quad(lambda s: (1.0 - tension(s) / C[5]) * np.cos(angle(s)), 0, LENGTH)[0]
    down = quad(lambda s: (1.0 - tension(s) / C[5]) * np.sin(angle(s)), 0, LENGTH)[0]
    assert still.tip("arm")[:3, 3] == pytest.approx([ahead, 0, -down], abs=2e-4 * LENGTH)
    with pytest.raises(pl.DescriptionError, match="strong forms do not carry"):
        robot.statics({"pull": PULL}, pl.Shooting())
    # released to 2 N, tension grows towards the tip: T = T0 / (1 - mu T0 x s / EI)
    robot, _ = arm(friction=mu, sliding="release")
    s = np.linspace(0.02, 0.28, 5)
    left = 2.0 / (1.0 - mu * 2.0 * X * s / C[1])
    still = robot.statics({"pull": 2.0}, pl.BSpline(3, 16))
    assert still.strain("arm", s)[:, 1] == pytest.approx(left * X / C[1], rel=2e-3)


def test_bends_between_rods_count_for_friction() -> None:
    """A stiff right angle with the tendon across the corner: exp(-mu pi / 2) arrives behind it."""
    mu, stiff = 0.3, pl.Material(E=1e9, nu=0.4, rho=1000.0)
    robot = pl.Robot(gravity=(0, 0, 0))
    lower = robot.add_rod("lower", 0.1, pl.Circle(0.01), stiff)
    plate = robot.add_body("plate", 0.01, (1e-6, 1e-6, 1e-6), on=lower.tip)
    corner, turned = plate.at((0.02, 0, 0.02)), pl.pose(rotation=(0, np.pi / 2, 0))
    upper = robot.add_rod("upper", 0.1, pl.Circle(0.01), stiff, base=corner, pose=turned)
    robot.add_tendon("pull", along=[lower, upper], offset=(0.0, 0.0), friction=mu)
    still = robot.statics({"pull": 1.0})
    tension = still.tension("pull")
    assert isinstance(tension, np.ndarray)
    assert tension[[0, -1]] == pytest.approx([1.0, np.exp(-mu * np.pi / 2)], rel=1e-6)
    assert still.tendon_length("pull") == pytest.approx(0.2 + 0.02 * np.sqrt(2), rel=1e-5)


# -- derivatives -----------------------------------------------------------------------------------


def bent(name: str, offset: Any) -> tuple[Effects, State, Inputs]:
    """A robot moved away from rest, and its inputs."""
    robot, _ = arm(offset)
    effects = effects_of(robot.description, {"arm": FORMULATIONS[name]})
    tree = effects.tree
    size = 0.002 if name == "planar" else 0.02  # of slopes, which make sharp curves
    q = tree.moved(tree.rest, size * direction(effects, 5))
    return effects, State(tree).place(q), effects.at({"pull": PULL})


def direction(effects: Effects, seed: int) -> Array:
    x = np.zeros(effects.tree.total)
    free = effects.tree.coordinates
    x[free] = np.random.default_rng(seed).normal(size=len(free))
    return x


@pytest.mark.parametrize("name", [*SPATIAL, "planar"])
def test_gradient_and_tangent_are_those_of_tension_times_length(name: str) -> None:
    effects, state, inputs = bent(name, (X, 0.0) if name == "planar" else helix)
    tree, x = effects.tree, direction(effects, 1)
    filled, found = Tangent(tree, Sparse, effects.pairs()), []
    for one in (inputs, effects.at({"pull": 0.0})):
        r = balance(effects, state, Work(tree), one, np.zeros(tree.total), filled, chart=False)
        assert isinstance(filled.matrix, Sparse)
        found.append((r.copy(), filled.matrix.matrix.toarray().copy()))
    force, K = (a - b for a, b in zip(*found, strict=True))
    (tendon,) = effects.of_kind(EmbeddedTension)

    def energy(step: float) -> float:
        there = State(tree).place(tree.moved(state, step * x, newton=False))
        assert potential(effects, there, inputs)["loads"] == pytest.approx(
            PULL * (tendon.measure(there) - tendon.rest_length)
        )
        return potential(effects, there, inputs)["loads"]

    h = 2e-5 if name == "planar" else 2e-4
    v = [energy(k * h) for k in (-2, -1, 0, 1, 2)]
    assert force @ x == pytest.approx((v[0] - 8 * v[1] + 8 * v[3] - v[4]) / 12 / h, rel=1e-6)
    second = (-v[0] + 16 * v[1] - 30 * v[2] + 16 * v[3] - v[4]) / 12 / h**2
    size = tree.size
    assert x[:size] @ K @ x[:size] == pytest.approx(second, rel=5e-5)
    assert np.abs(K - K.T).max() <= 1e-9 * np.abs(found[0][1]).max()


# -- motion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "gap"),
    [
        (pl.Midpoint(), 3e-5),
        (pl.Newmark(), 5e-5),
        (pl.GeneralizedAlpha(0.8), 1e-4),
        (pl.ImplicitEuler(), 0.03),
    ],
)
def test_work_of_the_tension_balances_in_motion(integrator: Any, gap: float) -> None:
    robot, _ = arm(helix)
    pull = {"pull": lambda t: min(50.0 * t, PULL)}
    shares = []
    for dt in (4e-3, 2e-3):
        motion = robot.simulate(
            0.2, dt, inputs=pull, integrator=integrator, formulation=pl.BSpline(3, 8)
        )
        found = motion.energy_gap
        shares.append(max(found.share_taken, found.share_added))
    assert shares[1] < gap
    order = 1 if isinstance(integrator, pl.ImplicitEuler) else 2
    assert shares[1] < shares[0] / 1.5**order


def test_strong_form_moves_as_coordinates_do() -> None:
    robot, _ = arm()
    pull = {"pull": lambda t: min(100.0 * t, PULL)}
    one = robot.simulate(0.06, 2e-3, inputs=pull, formulation=pl.BSpline(3, 10))
    two = robot.simulate(0.06, 2e-3, inputs=pull, formulation=pl.Collocation(12))
    assert np.abs(one.tip("arm")[-1] - two.tip("arm")[-1]).max() < 1e-3
    assert np.linalg.norm(one.tip("arm")[-1, :3, 3] - (LENGTH, 0, 0)) > 0.02


# -- descriptions ----------------------------------------------------------------------------------


def test_file_keeps_every_routing(tmp_path: Path) -> None:
    robot, _ = arm(((0.009, 0.0), (0.002, 0.0)), friction=0.1, over=(0.1, 0.3), tension=1.0)
    table = pl.Table([0.0, 0.1, 0.3], [[0.01, 0.0], [0.005, 0.001], [0.003, 0.0]])
    robot.add_tendon("other", along="arm", offset=table)
    robot.save(tmp_path / "robot.yaml")
    again = pl.Robot.from_file(tmp_path / "robot.yaml")
    inputs = {"pull": 2.0, "other": 1.0}
    truth = robot.statics(inputs).tip("arm")
    assert again.statics(inputs).tip("arm") == pytest.approx(truth, abs=1e-12)
    assert value_at(again.description, "pull.offset[0][0]").value == 0.009
    assert np.isclose(value_at(again.description, "pull.friction").value, 0.1)


def two_rods(**joint: Any) -> pl.Robot:
    robot = pl.Robot()
    a = robot.add_rod("a", 0.1, pl.Circle(0.01), SILICONE, pose=pl.along("x"))
    robot.add_rod("b", 0.1, pl.Circle(0.01), SILICONE, base=a.tip, **joint)
    return robot


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: arm((0.1, 0.2, 0.3)), "offset.*2 finite numbers.*metres"),
        (lambda: arm(over=(0.1, 0.4)), "over.*0.4.*arclength from 0 to"),
        (lambda: arm(tension=-1.0), "tension.*zero or a positive"),
        (lambda: arm(lambda s: (np.nan, 0.0)), "offset.*finite numbers in metres at every s"),
        (lambda: arm(pl.Table([0.0, 0.1], [[X, 0.0], [X, 0.0]])), "offset.*cover the rod"),
        (lambda: two_rods().add_tendon("t", along=["b", "a"], offset=(X, 0)), "end to end.*'a'"),
        (
            lambda: two_rods(joint=pl.Revolute("x")).add_tendon(
                "t", along=["a", "b"], offset=(X, 0)
            ),
            "not fixed to the tip of rod 'a'.*via-points",
        ),
        (lambda: two_rods().add_tendon("t", along="c", offset=(X, 0)), "along.*'c'"),
        (lambda: arm()[0].statics({"pull": -1.0}), "cannot push"),
        (lambda: arm(helix)[0].statics({}, pl.ANCF(4)), "offset.*does not bend that way"),
        (lambda: arm(helix)[0].statics({}, pl.ANCF(4, planar=False)), "offset.*does not twist"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(build: Callable[[], object], words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        build()


def test_results_tell_tension_and_length() -> None:
    robot, rod = arm()
    C = rod.stiffness(np.zeros(1))[0]
    still = robot.statics({"pull": PULL})
    length = LENGTH * (1.0 - PULL / C[5] - PULL * X**2 / C[1])
    assert still.tendon_length("pull") == pytest.approx(length, rel=1e-9)
    assert still.tension("pull") == PULL
    assert still.slack("pull") == 0.0
    strong = robot.statics({"pull": PULL}, pl.Collocation(12))
    assert strong.tendon_length("pull") == pytest.approx(length, rel=1e-9)
    assert strong.tension("pull") == PULL
    robot, _ = arm(friction=0.3)
    along = robot.statics({"pull": PULL}).tension("pull")
    assert isinstance(along, np.ndarray)
    assert (np.diff(along) < 0.0).all() and along[0] < PULL < 1.4 * along[-1]


def test_pictures_show_tendons_in_rods_coloured_by_tension() -> None:
    robot, rod = arm(friction=0.3)
    robot.add_tendon("other", along=rod, offset=(-X, 0.0))
    still = robot.statics({"pull": PULL, "other": 1.0})
    inputs = {"pull": [PULL], "other": [1.0]}
    shapes, _ = effect_shapes(still._compiled, still._configurations, inputs, tensions_of(still))
    assert all(shape.inside for shape in shapes)
    # the line stands where the tendon is, and pales towards the tip
    tip = still.pose(rod.at(LENGTH, (X, 0.0)))[:3, 3]
    assert shapes[0].points[0, -1] == pytest.approx(tip, abs=1e-9)
    assert len({shape.color for shape in shapes if shape.name.startswith("pull")}) > 10
    figure = still.plot()
    texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "other: 1 N" in texts
    assert any(text.startswith("pull: ") and " to " in text for text in texts)
    plt.close(figure)


def test_fit_finds_the_channel_and_its_friction() -> None:
    pulls, method = np.array([0.5, 1.0, 2.0, 4.0]), pl.Strain(2, 3)
    truth, _ = arm((0.007, 0.002), friction=0.2)
    tips = np.array([truth.statics({"pull": f}, method).tip("arm")[:3, 3] for f in pulls])
    columns = {f"arm.tip.{axis}": tips[:, k] for k, axis in enumerate("xyz")}
    robot, _ = arm((0.006, 0.001), friction=0.1)
    names = ["pull.offset[0]", "pull.offset[1]", "pull.friction"]
    found = pl.fit(robot, pl.Measurement({"pull": pulls, **columns}), names, formulation=method)
    assert [found[name].value for name in names] == pytest.approx([0.007, 0.002, 0.2], rel=1e-4)


def test_stepper_takes_the_steps_of_simulate() -> None:
    robot, _ = arm(helix)
    method = pl.BSpline(3, 8)
    motion = robot.simulate(0.05, 5e-3, inputs={"pull": 2.0}, formulation=method)
    stream = robot.stepper(5e-3, {"pull": 2.0}, formulation=method)
    for _ in range(10):
        state = stream.step()
    assert state.tip("arm") == pytest.approx(motion.tip("arm")[-1], abs=1e-9)


@pytest.mark.parametrize(
    ("integrator", "method"),
    [(pl.Variational(), pl.BSpline(3, 8)), (pl.Explicit(), pl.Spectral(3, 4))],
)
@pytest.mark.filterwarnings("ignore")
def test_explicit_steps_balance_to_their_order(integrator: Any, method: Any) -> None:
    robot, _ = arm(helix)
    pull = {"pull": lambda t: min(500.0 * t, PULL)}
    shares = [
        robot.simulate(
            0.01, dt, inputs=pull, integrator=integrator, formulation=method
        ).energy_gap.share_taken
        for dt in (4e-5, 2e-5)
    ]
    assert shares[1] < 2e-3
    assert shares[1] <= 0.6 * shares[0]
