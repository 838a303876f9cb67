"""Friction of tendons embedded in rods: tangents, the way of sliding, and energy in motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.linalg.matrices import Sparse
from pliant.model import Array
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.physics.embedded_friction import RubbingTendon
from pliant.solve.balance import balance
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

SILICONE = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
LENGTH, X, MU = 0.3, 0.007, 0.4


def arm(material: pl.Material = SILICONE, **given: Any) -> tuple[pl.Robot, float]:
    """A weightless rod with a parallel tendon that rubs, and its bending stiffness."""
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("arm", LENGTH, pl.Circle(0.01), material, pose=pl.along("x"))
    robot.add_tendon("pull", along=rod, offset=(X, 0.0), friction=MU, **given)
    return robot, float(rod.stiffness(np.zeros(1))[0, 1])


def pulled(tension: float, s: Array, EI: float) -> Array:
    """T' = -mu T |u| with u = T x / EI, N: the tendon slides towards its pulled end everywhere."""
    return 1.0 / (1.0 / tension + MU * X * s / EI)


def released(tension: float, s: Array, EI: float) -> Array:
    """T' = mu T |u|: the tendon slides back everywhere, N."""
    return 1.0 / (1.0 / tension - MU * X * s / EI)


# -- tangents --------------------------------------------------------------------------------------


def winding(**given: Any) -> pl.Robot:
    """A tendon that winds along two rods with a plate between them, on a joint."""
    robot = pl.Robot()
    free = pl.Revolute("y", stiffness=0.05)
    lower = robot.add_rod("lower", 0.15, pl.Circle(0.01), SILICONE, pl.along("x"), joint=free)
    plate = robot.add_body("plate", 0.01, (1e-6,) * 3, on=lower.tip)
    turned = pl.pose(rotation=(0, 0.7, 0))
    base = plate.at((0, 0, 0.02))
    upper = robot.add_rod("upper", 0.1, pl.Circle(0.01), SILICONE, base=base, pose=turned)

    def offset(s: float) -> tuple[float, float]:
        return X * np.cos(15.0 * s), X * np.sin(15.0 * s)

    robot.add_tendon("pull", along=[lower, upper], offset=offset, friction=MU, **given)
    return robot


def moved(formulation: Any, **given: Any) -> tuple[Effects, State, Inputs, Array]:
    """The robot away from rest, its inputs, and what its tendon remembers of the rest."""
    robot = winding(**given)
    effects = effects_of(robot.description, dict.fromkeys(("lower", "upper"), formulation))
    tree = effects.tree
    inputs = effects.at({"pull": 0.02 if given.get("drive") == "length" else 4.0})
    memory = np.zeros(effects.memory)
    rest = State(tree).place(effects.prescribed.put(tree.q_rest, inputs.drive))
    effects.remember(rest, inputs.u, np.zeros(tree.total), memory)
    x = np.zeros(tree.total)
    x[tree.coordinates] = 0.02 * np.random.default_rng(3).normal(size=len(tree.coordinates))
    return effects, State(tree).place(tree.moved(rest, x)), inputs, memory


def gradient(effects: Effects, state: State, inputs: Inputs, memory: Array, filled: Any) -> Array:
    z = np.zeros(effects.tree.total)
    given = (Work(effects.tree), inputs, z, filled)
    return balance(effects, state, *given, chart=False, memory=memory).copy()


@pytest.mark.parametrize("formulation", [pl.Strain(2, 2), pl.BSpline(3, 6), pl.Hermite(3)])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"sliding": "release"},
        {"sliding": "way"},
        {"drive": "length", "stiffness": 300.0},
        {"drive": "length", "stiffness": 300.0, "sliding": "way"},
    ],
)
def test_tangent_is_the_derivative_of_the_forces(formulation: Any, given: Any) -> None:
    effects, state, inputs, memory = moved(formulation, **given)
    tree, n = effects.tree, effects.tree.size
    if memory.size:
        memory[memory.size // 2 :] = 0.3  # it sticks
        lengths = effects_lengths(effects, state)
        memory[: memory.size // 2] = lengths * (1.0 + 1e-6)
    filled = Tangent(tree, Sparse, effects.pairs())
    gradient(effects, state, inputs, memory, filled)
    assert isinstance(filled.matrix, Sparse)
    K = filled.matrix.matrix.toarray()
    rng = np.random.default_rng(1)
    for _ in range(4):
        x = np.zeros(tree.total)
        x[tree.coordinates] = rng.normal(size=len(tree.coordinates))
        h = 1e-8 if memory.size else 1e-6
        ends = [tree.moved(state, step * x, newton=False) for step in (h, -h)]
        r = [gradient(effects, State(tree).place(q), inputs, memory, None) for q in ends]
        change = (r[0] - r[1]) / (2.0 * h)
        size = np.abs(K).max()
        assert x[:n] @ K @ x[:n] == pytest.approx(x @ change, rel=1e-5, abs=1e-7 * size)


def effects_lengths(effects: Effects, state: State) -> Array:
    (tendon,) = effects.of_kind(RubbingTendon)
    return tendon._lengths(state)[0]


@pytest.mark.parametrize("given", [{}, {"drive": "length", "stiffness": 300.0}])
def test_jacobian_in_the_pull_is_the_difference_of_equilibria(given: Any) -> None:
    robot, form = winding(**given), pl.BSpline(3, 8)
    value, step = (0.004, 1e-6) if given else (1.5, 1e-4)
    still = robot.statics({"pull": value}, form, tolerance=1e-12)
    found = still.jacobian("upper.tip", "pull", frame="world")[3:, 0]
    ends = [
        robot.statics({"pull": value + x}, form, tolerance=1e-12).position("upper.tip")
        for x in (step, -step)
    ]
    truth = (ends[0] - ends[1]) / (2.0 * step)
    assert found == pytest.approx(truth, abs=1e-5 * np.abs(truth).max())


# -- the way of sliding ----------------------------------------------------------------------------


def test_way_of_a_first_pull_is_that_of_a_pull() -> None:
    robot, EI = arm(sliding="way")
    s = np.linspace(0.01, 0.29, 9)
    still = robot.statics({"pull": 4.0}, pl.BSpline(3, 16))
    assert still.strain("arm", s)[:, 1] == pytest.approx(pulled(4.0, s, EI) * X / EI, rel=3e-3)


def test_tendon_that_is_let_go_slides_back_as_far_as_the_pull_has_fallen() -> None:
    """Near the pulled end tension grows by the capstan, beyond the place where both branches meet the
    tendon sticks: 1 / T2 - mu x s / EI = 1 / T1 + mu x s / EI.
    """
    robot, EI = arm(sliding="way")
    form, s = pl.BSpline(3, 24), np.linspace(0.01, 0.29, 15)
    first, second = 4.0, 2.8
    meet = (1.0 / second - 1.0 / first) * EI / (2.0 * MU * X)
    assert 0.2 * LENGTH < meet < 0.8 * LENGTH
    still = robot.statics({"pull": first}, form)
    back = robot.statics({"pull": second}, form, start=still)
    held = np.minimum(released(second, s, EI), pulled(first, s, EI))
    away = np.abs(s - meet) > 0.03  # splines round the kink off
    assert back.strain("arm", s[away])[:, 1] * EI / X == pytest.approx(held[away], rel=1e-2)
    along = np.asarray(back.tension("pull"))
    assert np.argmax(along) == pytest.approx(len(along) * meet / LENGTH, abs=4)
    again = robot.statics({"pull": first}, form, start=back)
    assert again.tip("arm") == pytest.approx(still.tip("arm"), abs=2e-5)
    fresh = robot.statics({"pull": second}, form)
    assert abs(back.tip("arm")[2, 3]) > 1.02 * abs(fresh.tip("arm")[2, 3])


def test_length_pulls_against_friction_and_lets_go() -> None:
    """With the strains of the capstan formula the tendon is shorter by the sum of x T x / EI."""
    robot, EI = arm(sliding="way", drive="length", stiffness=1e5)
    form, s = pl.BSpline(3, 16), np.linspace(0.01, 0.29, 9)
    still = robot.statics({"pull": 0.02}, form)
    along = np.asarray(still.tension("pull"))
    assert still.strain("arm", s)[:, 1] == pytest.approx(
        pulled(float(still.drive_forces["pull"]), s, EI) * X / EI, rel=5e-3
    )
    assert along[0] > 1.2 * along[-1]
    taken = 0.02 - along[0] * LENGTH / 1e5
    assert LENGTH - still.tendon_length("pull") == pytest.approx(taken, rel=1e-3)
    assert still.slack("pull") == 0.0
    back = robot.statics({"pull": 0.01}, form, start=still)
    along = np.asarray(back.tension("pull"))
    assert along[0] < along[-1]
    loose = robot.statics({"pull": -0.01}, form)
    assert loose.slack("pull") == pytest.approx(0.01, rel=1e-6)
    assert loose.tension("pull") == pytest.approx(np.zeros(len(along)), abs=1e-9)


def test_friction_with_a_given_length_needs_stretch() -> None:
    with pytest.raises(pl.PliantError, match=r"stiffness .* with friction and drive='length'"):
        arm(drive="length")


# -- motion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "gap"),
    [
        (pl.Midpoint(), 2e-4),
        (pl.Newmark(), 2e-4),
        (pl.GeneralizedAlpha(0.8), 1e-3),
        (pl.Radau(), 1e-3),
    ],
)
@pytest.mark.parametrize("drive", ["tension", "length"])
def test_friction_dissipates_and_the_balance_closes(
    integrator: Any, gap: float, drive: str
) -> None:
    more = {"drive": "length", "stiffness": 300.0} if drive == "length" else {}
    robot, _ = arm(creep=0.02, **more)
    top = 0.02 if drive == "length" else 4.0
    wave = {"pull": lambda t: top * np.sin(8.0 * t) ** 2}
    form = pl.BSpline(3, 8)
    motion = robot.simulate(0.5, 2e-3, inputs=wave, integrator=integrator, formulation=form)
    lost = motion.energy["dissipated"]
    assert motion.energy_gap.share_taken < gap
    assert np.all(np.diff(lost) > -1e-9 * lost[-1])


@pytest.mark.filterwarnings("ignore::pliant.PlausibilityWarning")
def test_slow_motion_follows_the_way() -> None:
    """Pulled, then let go, slowly: tension falls along the tendon, then grows."""
    light = pl.Material(E=1e6, nu=0.45, rho=5.0, viscosity=1e3)
    robot, EI = arm(light, creep=3e-5)
    slow = {"pull": pl.Table([0.0, 1.0, 2.0], [0.0, 4.0, 2.0])}
    motion = robot.simulate(2.0, 5e-3, inputs=slow, formulation=pl.BSpline(3, 14))
    s = np.linspace(0.03, 0.27, 7)
    bent = motion.strain("arm", s)[:, :, 1] * EI / X
    assert bent[200] == pytest.approx(pulled(4.0, s, EI), rel=0.01)
    held = np.minimum(released(2.0, s, EI), pulled(4.0, s, EI))
    assert bent[-1] == pytest.approx(held, rel=0.01)
    along = np.array([motion.tension("pull")[k] for k in (200, -1)])
    assert np.all(np.diff(along[0]) < 0.0) and along[1, 0] < along[1, -1]
