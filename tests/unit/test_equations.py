"""Equations of motion as functions: energy identities, differences, textbooks, and simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=1e3)
FORMULATIONS = [
    pl.BSpline(3, 6),
    pl.Hermite(2),
    pl.Strain(1, 2),
    pl.ANCF(2, planar=False),
    pl.Spectral(4, 2),
    pl.SRL(3),
    pl.EBR(3),
    pl.EBA(3),
    pl.EBA(3, rotation="free"),
    pl.ROM(3),
]


def arm(**rod: Any) -> pl.Robot:
    """A shaken arm with a hinged hand, a ball joint and a driven grip; loads and a tendon act."""
    robot = pl.Robot()
    link = robot.add_rod("arm", 0.3, pl.Circle(0.01), RUBBER, pl.along("x"), drag=0.2, **rod)
    robot.add_base_motion("shake", link, translation=(0, 0, 1), rotation=(0.5, 0, 0))
    robot.add_load("push", link.tip, force=(0, 0, 1))
    hinge = pl.Revolute("x", stiffness=0.02, damping=1e-4, drive="torque", input="turn")
    robot.add_body("hand", 0.01, (1e-6, 2e-6, 3e-6), link.tip, centre=(0, 0.01, 0.01), joint=hinge)
    ball = pl.Spherical(stiffness=0.02, damping=1e-4)
    robot.add_body("ball", 0.02, (1e-6, 2e-6, 3e-6), link.at(0.15), (0, 0.01, 0), joint=ball)
    drive = pl.Revolute("y", drive="angle")
    robot.add_body("grip", 0.01, (1e-6,) * 3, link.at(0.15), (0.03, 0, 0), joint=drive)
    points = [(0, 0, 0.02), link.at(0.15, (0.01, 0, 0)), "hand"]
    robot.add_tendon("pull", points)
    return robot


def constrained() -> pl.Robot:
    """A rod without stretch or shear in a loop with a body, and a cable of fixed length."""
    robot = pl.Robot()
    link = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), RUBBER, pl.along("x"), theory="kirchhoff",
        joint=pl.Revolute("y"),
    )  # fmt: skip
    bar = robot.add_body(
        "bar",
        0.05,
        (1e-5, 2e-5, 3e-5),
        pose=pl.pose((0.3, 0, -0.1)),
        centre=(0, 0, 0.05),
        joint=pl.Revolute("y"),
    )
    robot.connect("loop", link.tip, bar.at((0, 0, 0.1)), joint=pl.Universal())
    return robot


def random_state(eq: pl.Equations, seed: int, size: float = 0.05) -> tuple[Any, Any, Any]:
    """Coordinates near rest, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    n = len(eq.names)
    return (
        eq.moved(eq.rest, size * rng.normal(size=n)),
        0.5 * rng.normal(size=n),
        rng.normal(size=n),
    )


def slope(function: Any, h: float = 1e-4) -> Any:
    """Derivative at zero, by differences of fourth order."""
    near, far = (function(k * h) - function(-k * h) for k in (1, 2))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_power_of_inertia_is_the_rate_of_the_kinetic_energy(formulation: Any) -> None:
    eq = arm().equations(formulation=formulation)
    q, v, a = random_state(eq, 1)
    M = eq.mass(q)
    assert pytest.approx(M.T, rel=1e-12, abs=1e-14 * np.abs(M).max()) == M

    def energy(t: float) -> float:
        rates = v + t * a
        return 0.5 * float(rates @ eq.mass(eq.moved(q, t * v + 0.5 * t * t * a)) @ rates)

    assert v @ (M @ a + eq.bias(q, v)) == pytest.approx(slope(energy), rel=1e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_forces_are_gradients_of_energies_and_lose_power(formulation: Any) -> None:
    """Without velocity the forces are those of statics; with it only dissipation is added."""
    robot = arm()
    still = robot.statics({"push": 0.1, "pull": 0.5, "turn": 1e-3, "shake": 0.02}, formulation)
    eq = robot.equations(still.inputs, at=still)
    q, v = eq.state(still)
    assert not v.any()
    free = eq.forces(q)[: eq.free]
    scale = np.abs(eq.forces(q, inputs={"pull": 0.0})[: eq.free]).max()
    assert np.abs(free).max() < 1e-7 * scale
    _, v, _ = random_state(eq, 2)
    v[eq.free :] = 0.0
    assert v @ (eq.forces(q, v) - eq.forces(q)) < 0.0
    fast = np.abs(eq.accelerations(q, inputs={"pull": 0.0}).a).max()
    assert np.abs(eq.accelerations(q).a).max() < 1e-6 * fast


@pytest.mark.parametrize("formulation", FORMULATIONS[:4], ids=repr)
def test_inputs_enter_linearly(formulation: Any) -> None:
    eq = arm().equations(formulation=formulation)
    q, v, _ = random_state(eq, 3)
    names = ["push", "turn", "pull"]
    B = eq.input_matrix(q, names, {"pull": 1.0})
    values = {"push": 0.3, "turn": -0.01, "pull": 2.0}
    none = dict.fromkeys(names, 0.0)
    added = eq.forces(q, v, values) - eq.forces(q, v, none)
    assert B @ [values[name] for name in names] == pytest.approx(added, abs=1e-9)
    # virtual work: a unit load at the tip pushes along the third row of the tip's Jacobian
    push = eq.jacobian("arm.tip", q, frame="world")[5]
    assert B[:, 0] == pytest.approx(push, abs=1e-9 * np.abs(push).max())


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_places_move_as_differences_say(formulation: Any) -> None:
    eq = arm().equations(formulation=formulation)
    q, v, a = random_state(eq, 4)
    for place in ("arm.tip", "arm.0.1", "hand", "ball"):

        def position(t: float, place: str = place) -> Any:
            return eq.place_motion(place, eq.moved(q, t * v + 0.5 * t * t * a), v)[0][:3, 3]

        _, velocity, acceleration = eq.place_motion(place, q, v, a)
        assert velocity[3:] == pytest.approx(slope(position), rel=1e-6, abs=1e-7)
        second = slope(lambda t: slope(lambda s: position(t + s), 1e-3), 1e-3)
        assert acceleration[3:] == pytest.approx(second, rel=1e-4, abs=1e-4)
        assert eq.jacobian(place, q, "world") @ v == pytest.approx(velocity, abs=1e-10)


def test_constraints_are_derivatives_of_their_gaps() -> None:
    robot = constrained()
    eq = robot.equations(formulation=pl.BSpline(3, 6))
    assert len(eq.constraints) == len(eq.constraint_gaps(eq.rest)) > 10
    assert np.abs(eq.constraint_gaps(eq.rest)).max() < 1e-12
    q, v, a = random_state(eq, 5, 0.02)
    J, c = eq.constraint_jacobian(q), eq.constraint_bias(q, v)

    def gaps(t: float) -> Any:
        return eq.constraint_gaps(eq.moved(q, t * v + 0.5 * t * t * a))

    assert J @ v == pytest.approx(slope(gaps), abs=1e-8)
    second = slope(lambda t: slope(lambda s: gaps(t + s), 1e-3), 1e-3)
    assert J @ a + c == pytest.approx(second, rel=1e-4, abs=1e-5)


def test_accelerations_balance_and_keep_constraints() -> None:
    robot = constrained()
    eq = robot.equations(formulation=pl.BSpline(3, 6))
    q = eq.rest
    J = eq.constraint_jacobian(q)
    rng = np.random.default_rng(6)
    v = rng.normal(size=len(eq.names))
    v -= np.linalg.lstsq(J, J @ v)[0]
    found = eq.accelerations(q, v)
    left = eq.mass(q) @ found.a + eq.bias(q, v) - eq.forces(q, v) - J.T @ found.multipliers
    assert np.abs(left).max() < 1e-9 * np.abs(eq.forces(q, v)).max()
    assert J @ found.a == pytest.approx(-eq.constraint_bias(q, v), abs=1e-6)


def test_double_pendulum_has_the_matrices_of_the_textbook() -> None:
    """Point masses m1, m2 at the ends of massless rods: M, Coriolis and gravity in closed form."""
    m1, m2, l1, l2, g = 0.7, 0.4, 0.5, 0.3, 9.81
    robot = pl.Robot(gravity=(0, -g, 0))
    zero = (0.0, 0.0, 0.0)
    first = robot.add_body("one", m1, zero, centre=(0, -l1, 0), joint=pl.Revolute("z"))
    robot.add_body("two", m2, zero, first.at((0, -l1, 0)), (0, -l2, 0), joint=pl.Revolute("z"))
    eq = robot.equations()
    assert eq.names == ["one.angle", "two.angle"]
    q, v = np.array([0.4, -0.9]), np.array([1.1, 2.3])
    c, s = np.cos(q[1]), np.sin(q[1])
    coupled = m2 * l2 * (l2 + l1 * c)
    M = [[m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c + l2**2), coupled], [coupled, m2 * l2**2]]
    b = m2 * l1 * l2 * s * np.array([-(2 * v[0] + v[1]) * v[1], v[0] ** 2])
    low = m2 * g * l2 * np.sin(q.sum())
    f = -np.array([(m1 + m2) * g * l1 * np.sin(q[0]) + low, low])
    assert eq.mass(q) == pytest.approx(np.array(M), rel=1e-12)
    assert eq.bias(q, v) == pytest.approx(b, rel=1e-12)
    assert eq.forces(q, v) == pytest.approx(f, rel=1e-12)
    a = np.linalg.solve(M, f - b)
    assert eq.accelerations(q, v).a == pytest.approx(a, rel=1e-10)
    assert eq.inverse_dynamics(q, v, a) == pytest.approx(np.zeros(2), abs=1e-10)


def test_any_ode_solver_gives_the_motion_of_simulate() -> None:
    """A swinging arm with a ball joint on a shaken base: DOP853 on (q, v), against Newmark."""
    robot, formulation = arm(), pl.SRL(2)
    eq = robot.equations({"push": 0.02}, formulation=formulation)
    nq, w = len(eq.rest), 20.0

    def motion(t: float) -> tuple[float, float, float]:
        return 0.01 * (1 - np.cos(w * t)), 0.01 * w * np.sin(w * t), 0.01 * w**2 * np.cos(w * t)

    def rates(t: float, y: Any) -> Any:
        q, v, known = eq.prescribe(y[:nq], y[nq:], {"shake": motion(t)})
        moves = eq.coordinate_rates(q, v)
        return np.concatenate([moves, eq.accelerations(q, v, prescribed=known).a])

    q, v, _ = eq.prescribe(eq.rest, np.zeros(len(eq.names)), {"shake": motion(0.0)})
    end = 0.04
    found = solve_ivp(rates, (0, end), np.r_[q, v], rtol=1e-8, atol=1e-9, method="BDF")
    assert found.success
    q, v, known = eq.prescribe(found.y[:nq, -1], found.y[nq:, -1], {"shake": motion(end)})
    inputs = {"push": 0.02, "shake": lambda t: motion(t)[0]}
    ends = []
    for dt in (2e-4, 1e-4):
        result = robot.simulate(
            end, dt, inputs, formulation=formulation, integrator=pl.Newmark(), output_every=end
        )
        ends.append(result.position("arm.tip")[-1])
    best = ends[1] + (ends[1] - ends[0]) / 3.0
    pose, _, _ = eq.place_motion("arm.tip", q, v)
    assert np.linalg.norm(pose[:3, 3] - [0.3, 0, 0]) > 1e-3
    assert pose[:3, 3] == pytest.approx(best, abs=2e-8)
    drives = eq.accelerations(q, v, prescribed=known).drives
    assert drives["grip"] == pytest.approx(result.drive_forces["grip"][-1], rel=1e-3)


def test_one_sided_rows_hold_where_they_push() -> None:
    """A ball on a floor: no acceleration while it lies, g when it is lifted or pulled."""
    robot = pl.Robot()
    robot.add_body("ball", 0.1, (1e-5,) * 3, pose=pl.pose((0, 0, 0.02)), joint=pl.Prismatic("z"))
    robot.add_load("lift", "ball", force=(0, 0, 1))
    robot.add_contact("floor", pl.Sphere(0.02, on="ball"), pl.Plane())
    eq = robot.equations()
    lying = eq.accelerations(eq.rest, inputs={"lift": 0.0})
    assert lying.a == pytest.approx([0.0], abs=1e-9)
    assert np.abs(lying.multipliers).max() == pytest.approx(0.981, rel=1e-6)
    lifted = eq.accelerations(eq.rest, inputs={"lift": 2.0})
    assert lifted.a == pytest.approx([20.0 - 9.81]) and not lifted.multipliers.any()
    above = eq.accelerations(eq.rest + 0.1, inputs={"lift": 0.0})
    assert above.a == pytest.approx([-9.81]) and not above.multipliers.any()


def test_large_robots_have_sparse_matrices() -> None:
    robot = pl.Robot()
    robot.add_rod("arm", 1.0, pl.Circle(0.01), RUBBER, pl.along("x"))
    eq = robot.equations(formulation=pl.EBA(120))
    M = eq.mass(eq.rest, sparse=True)
    assert M.shape == (720, 720) and M.nnz < 40 * 720
    a = eq.accelerations(eq.rest).a
    assert M @ a == pytest.approx(eq.forces(eq.rest), abs=1e-12)


def test_rotations_that_drift_count_as_the_nearest_ones() -> None:
    robot = pl.Robot()
    robot.add_body("bob", 0.2, (1e-4, 2e-4, 3e-4), centre=(0, 0, -0.3), joint=pl.Spherical())
    robot.add_body("kite", 0.1, (1e-4, 2e-4, 3e-4), joint=pl.Free())
    eq = robot.equations()
    q, v = eq.moved(eq.rest, 0.3 * np.arange(1, 10) / 9), np.linspace(-1.0, 1.0, 9)
    drifted = q.copy()
    turns = np.flatnonzero(np.abs(eq.moved(1.02 * q, np.zeros(9)) - 1.02 * q) > 1e-9)
    drifted[turns] *= 1.02
    for ask in (eq.mass, lambda x: eq.bias(x, v), lambda x: eq.forces(x, v)):
        assert ask(drifted) == pytest.approx(ask(q), abs=1e-12)
    assert eq.accelerations(drifted, v).a == pytest.approx(eq.accelerations(q, v).a, abs=1e-9)
    with pytest.raises(pl.DescriptionError, match="unit quaternions"):
        eq.mass(np.zeros(len(q)))


def test_bad_arguments_are_told() -> None:
    robot = arm()
    eq = robot.equations(formulation=pl.SRL(2))
    n = len(eq.names)
    with pytest.raises(pl.DescriptionError, match=r"\(\d+,\)"):
        eq.mass(np.zeros(3))
    with pytest.raises(pl.DescriptionError, match="finite"):
        eq.bias(eq.rest, np.full(n, np.nan))
    with pytest.raises(pl.DescriptionError, match="'push'"):
        eq.forces(eq.rest, inputs={"posh": 1.0})
    with pytest.raises(pl.DescriptionError, match="shake"):
        eq.input_matrix(eq.rest, "shake")
    with pytest.raises(pl.DescriptionError, match="prescribes"):
        eq.prescribe(eq.rest, np.zeros(n), {"push": (0, 0, 0)})
    with pytest.raises(pl.DescriptionError, match="formulation"):
        eq.state(robot.statics(formulation=pl.SRL(3)))
    with pytest.raises(pl.DescriptionError, match="coordinates"):
        robot.equations(formulation=pl.Shooting())
    hard = pl.Robot()
    hard.add_body("ball", 0.1, (1e-5,) * 3, pose=pl.pose((0, 0, 0.02)), joint=pl.Free())
    hard.add_contact("floor", pl.Sphere(0.02, on="ball"), pl.Plane(), friction=0.3)
    with pytest.raises(pl.DescriptionError, match="stiffness"):
        hard.equations()
