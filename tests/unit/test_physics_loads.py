"""Loads as gradients on frames, at offsets and along rods; which of them have a potential."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.linalg.matrices import Sparse
from pliant.model import Circle, Description, DescriptionError, Load, Material, Rod, along
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs, effects_of
from pliant.physics.force_fields import ForceFields
from pliant.physics.gravity import Gravity
from pliant.physics.loads import PointOrLineLoad, add_loads
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array
from pliant.rods.strain import Strain
from pliant.solve.balance import balance
from pliant.solve.energy import potential
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

RUBBER = Material(E=2e5, nu=0.45, rho=1000.0)
STEP = 1e-5
STATION = np.zeros(1, dtype=np.int64)


def one_frame(wrench: Array, follower: bool) -> tuple[Array, Array, Array]:
    """A random pose (1, 4, 4) with gradient p (1, 6) and derivative k (1, 6, 6) of one load."""
    g = se3.exp(np.array([[0.4, -1.1, 0.7, 0.3, 0.2, -0.5]]))
    p, k = np.zeros((1, 6)), np.zeros((1, 6, 6))
    add_one(g, wrench, follower, True, p, k)
    return g, p, k


def add_one(g: Array, wrench: Array, follower: bool, tangent: bool, p: Array, k: Array) -> None:
    """Add the wrench (6,) of an input to the only station."""
    described, u = np.zeros((1, 6)), np.concatenate([np.zeros(2), wrench])
    add_loads(g, STATION, np.ones(1), described, described, u, follower, tangent, p, k)


def gradient(g: Array, wrench: Array, follower: bool) -> Array:
    p, k = np.zeros((1, 6)), np.zeros((1, 6, 6))
    add_one(g, wrench, follower, False, p, k)
    assert not k.any()
    return p[0]


# -- on one frame ---------------------------------------------------------------------------------


def test_a_dead_force_is_the_gradient_of_its_potential() -> None:
    F = np.array([0.3, -0.8, 0.5])
    g, p, _ = one_frame(np.array([0, 0, 0, *F]), False)
    for a in range(6):
        x = STEP * np.eye(6)[a]
        ahead, behind = (g @ se3.exp(sign * x)[None] for sign in (1, -1))
        slope = -(ahead - behind)[0, :3, 3] @ F / (2 * STEP)
        assert p[0, a] == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize("follower", [False, True], ids=["dead", "follower"])
@pytest.mark.parametrize(
    "wrench",
    [(0, 0, 0, 0.3, -0.8, 0.5), (0.4, 0.1, -0.9, 0, 0, 0), (0.4, 0.1, -0.9, 0.3, -0.8, 0.5)],
)
def test_k_is_the_derivative_of_the_gradient_in_the_chart_of_the_station(
    wrench: tuple[float, ...], follower: bool
) -> None:
    """In the chart g exp(x) the covector of a body gradient p(x) is dexp(x)^T p(x)."""
    w = np.array(wrench, dtype=float)
    g, _, k = one_frame(w, follower)
    for a in range(6):
        x = STEP * np.eye(6)[a]
        ahead = se3.dexp(x).T @ gradient(g @ se3.exp(x)[None], w, follower)
        behind = se3.dexp(-x).T @ gradient(g @ se3.exp(-x)[None], w, follower)
        assert k[0, :, a] == pytest.approx((ahead - behind) / (2 * STEP), abs=1e-9)


@pytest.mark.parametrize(
    ("wrench", "follower", "symmetric"),
    [
        ((0, 0, 0, 0.3, -0.8, 0.5), False, True),
        ((0.4, 0.1, -0.9, 0, 0, 0), False, False),
        ((0, 0, 0, 0.3, -0.8, 0.5), True, False),
        ((0.4, 0.1, -0.9, 0, 0, 0), True, False),
    ],
    ids=["dead-force", "dead-moment", "follower-force", "follower-moment"],
)
def test_only_dead_forces_have_a_potential(
    wrench: tuple[float, ...], follower: bool, symmetric: bool
) -> None:
    _, _, k = one_frame(np.array(wrench, dtype=float), follower)
    skew = np.max(np.abs(k[0] - k[0].T))
    assert (skew < 1e-15) if symmetric else (skew > 0.1)


def test_loads_on_one_frame_add_up() -> None:
    w = np.array([0.4, 0.1, -0.9, 0.3, -0.8, 0.5])
    g, p, k = one_frame(w, False)
    add_one(g, w, True, True, p, k)
    once = one_frame(w, False), one_frame(w, True)
    assert p == pytest.approx(once[0][1] + once[1][1], abs=1e-15)
    assert k == pytest.approx(once[0][2] + once[1][2], abs=1e-15)


# -- on a rod -------------------------------------------------------------------------------------


def bent_arm(
    formulation: object, gravity: Array = (0, 0, 0), **load: object
) -> tuple[Effects, Inputs, State]:
    """An arm with one load, far from equilibrium."""
    description = Description(gravity=gravity)
    rod = description.add(Rod("arm", 0.6, Circle((0.02, 0.01)), RUBBER, pose=along("x")))
    if load:
        on = load.pop("at", None)
        load["on"] = "arm" if on is None else rod.at(*on)
        description.add(Load("load", **load))
    effects = effects_of(description, {"arm": formulation})
    tree = effects.tree
    rng = np.random.default_rng(3)
    scale = 0.1 if isinstance(formulation, BSpline) else 2.0
    q = tree.q_rest + scale * rng.normal(size=tree.nq)
    return effects, effects.at({}), State(tree).place(q)


def unknowns(effects: Effects, state: State) -> Array:
    """Force fields in balance with the strains of a state, at their places."""
    z = np.zeros(effects.tree.total)
    for term in effects.of_kind(ForceFields):
        z[term.part.field_index] = term.settled(state.parts[term.i].strain.e)
    return z


def tangent(effects: Effects, state: State, inputs: Inputs, chart: bool = True) -> Array:
    filled = Tangent(effects.tree, Sparse, effects.pairs())
    z = unknowns(effects, state)
    balance(effects, state, Work(effects.tree), inputs, z, filled, chart)
    return filled.matrix.matrix.toarray()


def residual(effects: Effects, state: State, inputs: Inputs) -> Array:
    return balance(effects, state, Work(effects.tree), inputs, unknowns(effects, state))


def direction(effects: Effects) -> Array:
    x = np.random.default_rng(0).normal(size=effects.tree.total)
    x[effects.tree.fields] = 0.0
    return x


def moved(effects: Effects, state: State, x: Array) -> State:
    return State(effects.tree).place(effects.tree.moved(state, x, newton=False))


CONSERVATIVE = {
    "tip": {"at": (0.6,), "force": (0.4, -0.2, 0.3)},
    "midway": {"at": (0.25,), "force": (0.4, -0.2, 0.3)},
    "offset": {"at": (0.25, (0.02, -0.03, 0.01)), "force": (0.4, -0.2, 0.3)},
    "line": {"force": (0.4, -0.2, 0.3)},
    "part of the line": {"force": lambda s: (s, 0.1, -0.2), "over": (0.1, 0.35)},
    "weight": {},
}
FORMULATIONS = [BSpline(1, 5), BSpline(3, 6), BSpline(2, 6, map="cayley"), Strain(1, 2)]


@pytest.mark.parametrize("load", list(CONSERVATIVE))
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_the_residual_is_the_gradient_of_the_potential(formulation: object, load: str) -> None:
    weight = (0, 0.5, -9.81) if load == "weight" else (0, 0, 0)
    effects, inputs, state = bent_arm(formulation, weight, **CONSERVATIVE[load])
    x = direction(effects)
    r = residual(effects, state, inputs)
    energies = []
    for sign in (1, -1):
        there = moved(effects, state, sign * STEP * x)
        energies.append(sum(potential(effects, there, inputs).values()))
    slope = (energies[0] - energies[1]) / (2 * STEP)
    assert r @ x == pytest.approx(slope, rel=1e-6)
    assert r[effects.tree.fields] == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("load", list(CONSERVATIVE))
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_conservative_loads_have_a_symmetric_tangent_away_from_equilibrium(
    formulation: object, load: str
) -> None:
    weight = (0, 0.5, -9.81) if load == "weight" else (0, 0, 0)
    effects, inputs, state = bent_arm(formulation, weight, **CONSERVATIVE[load])
    assert np.linalg.norm(residual(effects, state, inputs)) > 1e-2
    assert effects.conservative(inputs.u)
    for chart in (True, False):
        K = tangent(effects, state, inputs, chart)
        assert np.max(np.abs(K - K.T)) < 1e-9 * np.max(np.abs(K))


@pytest.mark.parametrize(
    "load",
    [
        {"at": (0.6,), "moment": (0.1, 0.2, -0.1)},
        {"at": (0.3,), "force": (0.4, -0.2, 0.3), "frame": "body"},
        {"at": (0.3, (0.02, 0.01)), "moment": (0.1, 0.2, -0.1), "frame": "body"},
        {"force": (0.4, -0.2, 0.3), "frame": "body"},
        {"moment": (0.4, -0.2, 0.3)},
    ],
    ids=["dead-moment", "follower-force", "offset-follower", "follower-line", "moment-line"],
)
@pytest.mark.parametrize("formulation", [BSpline(3, 6), Strain(1, 2)], ids=repr)
def test_other_loads_have_none(formulation: object, load: dict) -> None:
    effects, inputs, state = bent_arm(formulation, **load)
    K = tangent(effects, state, inputs)
    x, y = np.random.default_rng(1).normal(size=(2, effects.tree.size))
    bare = tangent(effects, state, effects.nothing)
    assert not effects.conservative(inputs.u)
    assert effects.conservative(effects.nothing.u)
    assert abs(x @ (K - bare) @ y - y @ (K - bare) @ x) > 1e-3 * abs(x @ (K - bare) @ y)
    assert np.max(np.abs(K - K.T)) > 1e-7 * np.max(np.abs(K - bare))


ANY = {
    **CONSERVATIVE,
    "dead moment": {"at": (0.6,), "moment": (0.1, 0.2, -0.1)},
    "follower": {"at": (0.3,), "force": (0.4, 0.3, 0.2), "moment": (0.1, 0, 0.2), "frame": "body"},
    "offset follower": {"at": (0.3, (0.02, 0.01)), "force": (0.4, 0.3, 0.2), "frame": "body"},
    "follower line": {"force": (0.4, -0.2, 0.3), "moment": (0, 0.1, 0), "frame": "body"},
}


@pytest.mark.parametrize("load", list(ANY))
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_the_tangent_predicts_the_work_of_the_residual_to_second_order(
    formulation: object, load: str
) -> None:
    """Along a constant rate x, r(t).x(t) changes by x.K x: no potential is needed for it."""
    weight = (0, 0.5, -9.81) if load == "weight" else (0, 0, 0)
    effects, inputs, state = bent_arm(formulation, weight, **ANY[load])
    x, z = direction(effects), unknowns(effects, state)
    K = tangent(effects, state, inputs, chart=False)
    powers = []
    for sign in (1, -1):
        there = moved(effects, state, sign * STEP * x)
        powers.append(balance(effects, there, Work(effects.tree), inputs, z) @ x)
    # retract keeps the body twists of control poses, or rates of strain, constant
    expected = (powers[0] - powers[1]) / (2 * STEP)
    assert x @ K @ x == pytest.approx(expected, rel=1e-6)


def test_an_offset_force_is_a_force_and_a_moment_at_the_section() -> None:
    offset, force = np.array([0.02, -0.03, 0.01]), np.array([0.4, -0.2, 0.3])
    kinds = [
        {"at": (0.25, offset), "force": force, "frame": "body"},
        {"at": (0.25,), "force": force, "moment": np.cross(offset, force), "frame": "body"},
    ]
    found = []
    for load in kinds:
        effects, inputs, state = bent_arm(BSpline(3, 6), **load)
        found.append(residual(effects, state, inputs))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def exerted(effects: Effects, inputs: Inputs, state: State, kind: type) -> Array:
    """World moment and force (F, 6) that the one term of a kind exerts at the frame stations."""
    (term,) = effects.of_kind(kind)
    work = Work(effects.tree)
    z = np.zeros(effects.tree.total)
    term.act(Moment(effects.tree, state, work, inputs.u, z))
    turn = state.parts[0].g[:, :3, :3]
    halves = (work.parts[0].p[:, :3], work.parts[0].p[:, 3:])
    return -np.concatenate([np.einsum("sij,sj->si", turn, half) for half in halves], axis=1)


def test_a_line_load_weighs_as_much_as_it_says() -> None:
    arm = bent_arm(BSpline(3, 6), force=lambda s: (0.0, 0.0, 2.0 * s))
    wrenches = exerted(*arm, PointOrLineLoad)
    assert wrenches[:, 5].sum() == pytest.approx(0.36, rel=1e-12)
    assert wrenches[:, :5] == pytest.approx(0.0)


def test_gravity_is_the_weight_of_the_rod() -> None:
    arm = bent_arm(Strain(1, 3), (0, 0, -9.81))
    cone = 0.6 * np.pi / 3 * (0.02**2 + 0.02 * 0.01 + 0.01**2)
    mass = 1000.0 * cone
    assert exerted(*arm, Gravity)[:, 5].sum() == pytest.approx(-9.81 * mass, rel=1e-12)


def test_inputs_mix_linearly() -> None:
    effects, full, state = bent_arm(BSpline(3, 6), at=(0.6,), force=(0.4, -0.2, 0.3))
    none = effects.nothing
    half = none.mix(full, 0.5)
    r = [residual(effects, state, inputs) for inputs in (none, half, full)]
    assert r[1] == pytest.approx(0.5 * (r[0] + r[2]), abs=1e-12)


def test_inputs_take_the_place_of_the_described_load() -> None:
    effects, _, state = bent_arm(
        BSpline(3, 6), at=(0.6,), force=(0.4, -0.2, 0.3), moment=(0.1, 0, 0)
    )
    values = {2.0: (0.2, 0, 0, 0.8, -0.4, 0.6), (1, 2, 3): (0.1, 0, 0, 1, 2, 3)}
    values[(1, 2, 3, 4, 5, 6)] = (1, 2, 3, 4, 5, 6)
    for value, wrench in values.items():
        found = exerted(effects, effects.at({"load": value}), state, PointOrLineLoad)
        assert found[-1] == pytest.approx(np.array(wrench))
        assert not found[:-1].any()
    with pytest.raises(DescriptionError, match="load"):
        effects.at({"laod": 1.0})
