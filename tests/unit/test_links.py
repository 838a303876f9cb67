"""Elastic links: beams without mass between places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.lie import se3
from pliant.physics import link_kernels
from pliant.physics.between import middle, set_middle
from pliant.physics.effects import effects_of

STEEL = pl.Material(E=2e9, nu=0.3)
RUBBER = pl.Material(E=1e6, nu=0.5, viscosity=2e4)
RADIUS = 0.004
EI = STEEL.E * np.pi * RADIUS**4 / 4
GA = STEEL.shear_modulus * np.pi * RADIUS**2


def chain(count: int, length: float = 0.3, material: pl.Material = STEEL, **options) -> pl.Robot:
    """Nodes with links in a row along x from a wall, without gravity."""
    robot = pl.Robot(gravity=(0, 0, 0))
    last: object = (0.0, 0.0, 0.0)
    for k in range(count):
        place = pl.pose((length * (k + 1) / count, 0, 0))
        mass = 0.05 / count
        node = robot.add_body(f"n{k}", mass=mass, inertia=(1e-6,) * 3, joint=pl.Free(), pose=place)
        robot.add_link(f"l{k}", last, node.at((0, 0, 0)), pl.Circle(RADIUS), material, **options)
        last = node.at((0, 0, 0))
    return robot


LAWS = {"link": lambda: rule(), "updated link": lambda: updated_rule()}


def random_frames(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return se3.exp(rng.normal(size=(2, 6)) * 0.5), se3.exp(
        rng.normal(size=(2, 6)) * [1, 1, 1, 0, 0, 0]
    )


def rule(kind: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.array(
        [
            1 + rng.random(6),
            rng.random(6),
            0.1 * rng.random(6),
            [0, 0, 0, 0, 0, kind],
            [0, 0, 0, 2, 3, 0.7],
            np.ones(6),
            np.zeros(6),
        ]
    )


def updated_rule() -> np.ndarray:
    law = rule()
    law[6], law[2] = 1.0, [0, 0, 0, 0, 0, 0.4]
    return law


def bushing_rule(kind: float = 0.0) -> np.ndarray:
    law = rule(kind)
    law[4] = 0.0
    return law


MEASURES = {
    "link": link_kernels.LINK,
    "updated link": link_kernels.LINK,
    "bushing": np.arange(6),
    "some rows": np.array([1, 3, 5]),
}
"""Rows that are used, by what uses them; none stand for a link."""


def gradient(g, turns, law, used=link_kernels.LINK):
    p, H = np.zeros((2, 6)), np.zeros((12, 12))
    link_kernels.set_gradient(used, g, turns, law, np.zeros((2, 6)), 0.0, True, p, H)
    return p.ravel(), H


def potential(g, turns, law, used=link_kernels.LINK):
    x = np.zeros(6)
    link_kernels.set_strain(used, g, turns, law[4], x)
    rows = used if len(used) else np.arange(6)
    stretch = x[5] / law[2, 5] if law[6].any() else 1.0
    soft = stretch ** -np.array([4, 4, 4, 3, 3, 2])
    return 0.5 * np.sum((law[0] * soft * (x - law[2]) ** 2)[rows])


def moved(g, x):
    return g @ se3.exp(x.reshape(2, 6))


@pytest.mark.parametrize("size", [1.5, 0.1, 1e-3, 1e-6, 0.0])
def test_middles_of_a_step_have_the_shares_of_their_ends(size: float) -> None:
    """The closed form against products of exponential maps, also of turns next to none."""
    rng = np.random.default_rng(3)
    ga = se3.exp(rng.normal(size=6))
    gb = ga @ se3.exp(size * rng.normal(size=6))
    g, shares = np.zeros((4, 4)), np.zeros((2, 6, 6))
    set_middle(ga[None], gb[None], 0, True, g, shares)
    wanted = middle(ga[None], gb[None])
    assert g == pytest.approx(wanted.g[0], abs=1e-14)
    assert shares == pytest.approx(np.stack([wanted.Aa[0], wanted.Ab[0]]), abs=1e-14)


@pytest.mark.parametrize("what", MEASURES)
def test_gradient_and_its_derivative_are_those_of_the_potential(what: str) -> None:
    rng, used = np.random.default_rng(1), MEASURES[what]
    law, h = LAWS.get(what, bushing_rule)(), 1e-4
    for _ in range(4):
        g, turns = random_frames(rng)
        if what not in LAWS:
            turns = np.tile(np.eye(4), (2, 1, 1))
        p, H = gradient(g, turns, law, used)
        E = h * np.eye(12)
        V = lambda x, g=g, turns=turns: potential(moved(g, x), turns, law, used)  # noqa: E731
        slope = [(V(e) - V(-e)) / (2 * h) for e in E]
        assert p == pytest.approx(slope, abs=1e-6)
        bent = [[(V(a + b) - V(a - b) - V(b - a) + V(-a - b)) / (4 * h * h) for b in E] for a in E]
        assert pytest.approx(np.array(bent), abs=2e-6 * np.abs(H).max()) == H
        assert pytest.approx(H.T, abs=1e-12 * np.abs(H).max()) == H


@pytest.mark.parametrize("angle", [0.5, 2.5, 3.1, 3.2, 4.0, 4.2])
def test_a_link_bends_on_beyond_half_a_turn(angle: float) -> None:
    """An arc of a circle has its curvature and no stretch, whichever way its ends have come."""
    x = np.array([0.6 * angle, 0.8 * angle, 0.0, 0.0, 0.0, 0.3])
    turns = np.tile(np.eye(4), (2, 1, 1))
    e, half = np.zeros(6), np.array([0.3 * 2 / np.pi, 0, 0, 0, 0, 0])
    for sign in (1.0, -1.0):
        arc = x * [sign, sign, 1, 1, 1, 1]
        g = np.array([np.eye(4), se3.exp(arc)])
        link_kernels.set_strain(link_kernels.LINK, g, turns, half, e)
        assert e == pytest.approx(arc, abs=1e-12)
    law, h = rule(), 1e-4
    law[4, 0] = 0.25
    g = moved(np.array([np.eye(4), se3.exp(x)]), 0.03 * np.arange(12.0))
    V = lambda y: potential(moved(g, y), turns, law)  # noqa: E731
    slope = [(V(y) - V(-y)) / (2 * h) for y in h * np.eye(12)]
    assert gradient(g, turns, law)[0] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("what", ["link", "bushing", "updated link"])
@pytest.mark.parametrize("kind", [0.0, 1.0])
def test_impulses_keep_momentum_and_energy(kind: float, what: str) -> None:
    """What leaves and arrives adds up to nothing, and does the work of the change of potential."""
    rng, used = np.random.default_rng(2), MEASURES[what]
    law = {"link": rule, "bushing": bushing_rule}.get(what, lambda kind: updated_rule())(kind)
    law[1] = 0.0
    for _ in range(4):
        ga, turns = random_frames(rng)
        if what == "bushing":
            turns = np.tile(np.eye(4), (2, 1, 1))
        gb = ga @ se3.exp(0.02 * rng.normal(size=(2, 6)))
        at = middle(ga, gb)
        shares = [np.stack([at.Aa[k], at.Ab[k]]) for k in range(2)]
        first, second = ((0, ga[[k]], gb[[k]], at.g[k], shares[k]) for k in range(2))
        out = np.zeros((2, 2, 1, 6))
        given = (used, first, second, turns, law, 1.0, True)
        link_kernels.add_impulses(*given, *out[0], *out[1])
        leaving, arriving = out[:, 0, 0], out[:, 1, 0]
        to_world = lambda g, p: np.linalg.solve(se3.Ad(g).T, p)  # noqa: E731
        total = sum(to_world(ga[k], leaving[k]) - to_world(gb[k], arriving[k]) for k in range(2))
        assert total == pytest.approx(np.zeros(6), abs=1e-12)
        if kind == 0.0 and what != "updated link":  # whose stress is that of the mean strain
            xi = np.asarray(se3.log(se3.inverse(ga) @ gb))
            work = np.sum(xi * (leaving - arriving))
            change = potential(gb, turns, law, used) - potential(ga, turns, law, used)
            assert work == pytest.approx(change, rel=5e-3)


def test_one_link_is_a_timoshenko_beam() -> None:
    """Deflection and rotation under a small force and a small moment at the tip, exact."""
    length, force, moment = 0.3, 1e-3, 2e-4
    robot = chain(1, length)
    robot.add_load("push", "n0", force=(0, 0, force), moment=(0, -moment, 0))
    still = robot.statics()
    shown = still.pose("n0")
    lift = force * (length**3 / (3 * EI) + length / GA) + moment * length**2 / (2 * EI)
    turn = force * length**2 / (2 * EI) + moment * length / EI
    assert shown[2, 3] == pytest.approx(lift, rel=1e-5)
    assert -shown[2, 0] == pytest.approx(-turn, rel=1e-5)
    assert still.stable


def test_tension_stiffens_a_beam() -> None:
    """Lateral stiffness 12 EI / l^3 + 6 T / (5 l) between clamps that slide, and no instability."""
    length, tension = 0.3, 400.0
    robot = pl.Robot(gravity=(0, 0, 0))
    slider = pl.FreeDirections(("x", "z"))
    node = robot.add_body("node", mass=0.1, joint=slider, pose=pl.pose((length, 0, 0)))
    robot.add_link("link", (0, 0, 0), node.at((0, 0, 0)), pl.Circle(RADIUS), STEEL)
    robot.add_load("pull", node.at((0, 0, 0)), force=(tension, 0, 0.01))
    still = robot.statics()
    assert still.stable
    shear = 1.0 / (1.0 / GA + length**2 / (12 * EI))
    share = shear * length**2 / (12 * EI)
    stretched = length * (1 + tension / (STEEL.E * np.pi * RADIUS**2))
    lateral = shear / length + 1.2 * share**2 * tension / stretched
    assert 0.01 / still.position("node")[2] == pytest.approx(lateral, rel=2e-3)
    assert lateral == pytest.approx(12 * EI / length**3 + 1.2 * tension / stretched, rel=5e-3)


@pytest.mark.parametrize(("beam", "order"), [(True, 4.0), (False, 2.0)])
def test_chains_of_links_converge_to_a_rod(beam: bool, order: float) -> None:
    """Beams whose moment varies along them are of order four, those of constant strain of order two."""
    force, length = 6.0, 0.3
    rod = pl.Robot(gravity=(0, 0, 0))
    arm = rod.add_rod("arm", length, pl.Circle(RADIUS), STEEL, pose=pl.along("x"))
    rod.add_load("push", arm.tip, force=(0, 0, -force))
    exact = rod.statics(formulation=pl.BSpline(degree=5, points=40)).position("arm.tip")
    assert abs(exact[2]) > 0.3 * length
    errors = []
    for count in (4, 8, 16):
        robot = chain(count, length, beam=beam)
        robot.add_load("push", f"n{count - 1}", force=(0, 0, -force))
        errors.append(np.linalg.norm(robot.statics().position(f"n{count - 1}") - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([order, order], abs=0.15)
    assert errors[-1] < (1e-6 if beam else 5e-3) * length


@pytest.mark.parametrize(
    "integrator",
    [pl.Midpoint(), pl.Newmark(), pl.GeneralizedAlpha(0.9), pl.ImplicitEuler(), pl.Variational()],
    ids=lambda x: type(x).__name__,
)
def test_energy_balance_closes(integrator) -> None:
    explicit = isinstance(integrator, pl.Variational)
    robot = chain(3, material=RUBBER)
    robot.add_load("push", "n2", force=(0, 0.02, -0.05))
    motion = robot.simulate(0.2, 1e-4 if explicit else 1e-3, integrator=integrator)
    reference = robot.simulate(0.2, 2.5e-4)
    gap = motion.energy_gap
    assert gap.share_added < 0.01
    assert gap.share_taken < (0.5 if isinstance(integrator, pl.ImplicitEuler) else 0.01)
    assert motion.energy["dissipated"][-1] > 0.01 * gap.in_play
    off = np.linalg.norm(motion.position("n2")[-1] - reference.position("n2")[-1])
    assert off < (0.02 if isinstance(integrator, pl.ImplicitEuler) else 1e-3) * 0.3


def test_two_nodes_in_space_keep_their_momentum() -> None:
    robot = pl.Robot(gravity=(0, 0, 0))
    a = robot.add_body("a", mass=0.1, inertia=(1e-5, 2e-5, 3e-5), joint=pl.Free())
    b = robot.add_body(
        "b", mass=0.2, inertia=(3e-5, 2e-5, 1e-5), joint=pl.Free(), pose=pl.pose((0.1, 0, 0))
    )
    robot.add_link("link", a.at((0, 0, 0)), b.at((0, 0.01, 0)), pl.Circle(0.003), RUBBER)
    twist = {"a": (3.0, 1.0, 0.5, 0, 0.4, 0), "b": (0, 0.5, -2.0, 0.3, 0, 0.2)}
    motion = robot.simulate(0.5, 2e-3, velocity=twist)
    masses = {"a": 0.1, "b": 0.2}
    p = sum(m * motion.velocity(name)[:, 3:] for name, m in masses.items())
    world = [
        m * np.einsum("tij,tj->ti", motion.pose(name)[:, :3, :3], motion.velocity(name)[:, 3:])
        for name, m in masses.items()
    ]
    assert np.ptp(sum(world), axis=0).max() < 1e-3 * np.abs(p).max()
    assert max(motion.energy_gap.share_added, motion.energy_gap.share_taken) < 1e-2


def test_cloth_gives_way_when_shortened_and_holds_when_lengthened() -> None:
    for push, expected in ((0.5, 0.5), (-0.1, 0.0)):
        robot = pl.Robot(gravity=(0, 0, 0))
        node = robot.add_body(
            "node", mass=0.1, joint=pl.Prismatic("x", stiffness=1.0), pose=pl.pose((0.2, 0, 0))
        )
        section = pl.Circle(1e-3)
        robot.add_link("link", (0, 0, 0), node.at((0, 0, 0)), section, RUBBER, kind="tension")
        robot.add_load("pull", node.at((0, 0, 0)), force=(push, 0, 0))
        still = robot.statics()
        moved_by = still.position("node")[0] - 0.2
        stiffness = RUBBER.E * np.pi * 1e-6 / 0.2
        assert moved_by == pytest.approx(push / (1.0 + stiffness * (expected > 0)), rel=1e-9)
        pulled = still.tension("link")
        assert pulled == pytest.approx(stiffness * moved_by * (expected > 0), abs=1e-9)


def test_a_turned_over_link_pulls_along_its_chord() -> None:
    """Ends that both point backwards: tension between them, in balance, and no slack."""
    law = rule(1.0)
    law[0], law[2] = [0, 0, 0, 0, 0, 100.0], [0, 0, 0, 0, 0, 0.3]
    law[4] = [0.2, 0, 0, 0, 0, 1.2]
    over = np.diag([-1.0, 1.0, -1.0, 1.0])
    g = np.array([over, over])
    g[1, 2, 3] = 0.4
    p = gradient(g, np.tile(np.eye(4), (2, 1, 1)), law)[0].reshape(2, 6)
    pull = 1.4 * 100.0 * (1.4 * 0.4 - 0.3)
    assert over[:3, :3] @ p[1, 3:] == pytest.approx([0, 0, pull], rel=1e-9)
    assert over[:3, :3] @ p[0, 3:] == pytest.approx([0, 0, -pull], rel=1e-9)


@pytest.mark.parametrize("stiffness", [1e-4, 1e-5])
def test_a_limp_chain_hangs_as_a_catenary(stiffness: float) -> None:
    """Sag of an inextensible chain; the links start from the arc of a circle of the same length."""
    count, span = 24, 0.7
    radius = brentq(
        lambda R: 2 * count * R * np.sin(np.arcsin(0.5 * span / R) / count) - 1, 0.35003, 9
    )
    angle = np.linspace(-1, 1, count + 1) * np.arcsin(0.5 * span / radius)
    points = radius * np.stack([np.sin(angle), 0 * angle, np.cos(angle[0]) - np.cos(angle)], axis=1)
    robot, edges = pl.Robot(), np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
    thread = pl.Stiffness(bending=stiffness, twist=stiffness, shear=500.0, axial=500.0, mass=0.1)
    robot.add_mesh("chain", pl.Wireframe(points, edges), 0.1, thread, fixed=[0, count])
    low = robot.statics().position(f"chain_{count // 2}")[2]
    a = brentq(lambda a: 2 * a * np.sinh(0.5 * span / a) - 1.0, 0.05, 5.0)
    sag = a * (np.cosh(0.5 * span / a) - 1.0)
    assert low == pytest.approx(-sag, rel=60 * stiffness + 5e-4)


def test_a_short_rest_length_pulls() -> None:
    robot = chain(1, rest=0.99)
    node = robot.description.bodies["n0"]
    robot.add_spring("wall", node.at((0, 0, 0)), (0.4, 0, 0), stiffness=1e6, rest=0.1)
    EA = STEEL.E * np.pi * RADIUS**2
    k = EA / (0.99 * 0.3)
    force = robot.statics().tension("l0")
    assert force == pytest.approx(0.003 * k * 1e6 / (k + 1e6), rel=1e-6)


def test_files_hold_links(tmp_path: Path) -> None:
    robot = chain(2, strain_damping=pl.Damping(axial=0.1), x_axis=(0, 1, 0), rest=0.98)
    robot.add_load("push", "n1", force=(0, 0, -0.1))
    robot.save(tmp_path / "net.yaml")
    again = pl.Robot.from_file(tmp_path / "net.yaml")
    assert again.statics().position("n1") == pytest.approx(
        robot.statics().position("n1"), abs=1e-12
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "rope"}, "two-way"),
        ({"rest": 0.0}, "rest"),
        ({"material": None}, "material"),
        ({"b": (0.0, 0.0, 0.1)}, "a place on a part"),
    ],
)
def test_bad_links_are_refused(change: dict, words: str) -> None:
    robot = pl.Robot()
    node = robot.add_body("node", mass=0.1, inertia=(1e-6,) * 3, joint=pl.Free())
    given = {
        "a": (0, 0, 1),
        "b": node.at((0, 0, 0)),
        "section": pl.Circle(0.001),
        "material": STEEL,
    }
    with pytest.raises(pl.DescriptionError, match=words):
        robot.add_link("link", **(given | change))


def test_ends_at_one_place_have_no_direction() -> None:
    robot = pl.Robot()
    node = robot.add_body("node", mass=0.1, inertia=(1e-6,) * 3, joint=pl.Free())
    robot.add_link("link", (0, 0, 0), node.at((0, 0, 0)), pl.Circle(0.001), STEEL)
    with pytest.raises(pl.DescriptionError, match="apart"):
        robot.statics()


def updated_link() -> tuple[pl.Robot, float]:
    """A mass that hangs on a soft link whose section follows the stretch, and EA of the link."""
    robot = pl.Robot()
    body = robot.add_body("ball", 0.1, (1e-4,) * 3, joint=pl.Free(), pose=pl.pose((0, 0, -0.2)))
    section, rubber = pl.Circle(0.004), pl.Material(E=2e5, nu=0.5)
    robot.add_link("band", (0, 0, 0), body.at((0, 0, 0)), section, rubber, updated=True)
    return robot, 2e5 * np.pi * 0.004**2


def test_updated_link_stretches_as_its_closed_form_says() -> None:
    """EA (l - 1) / l^3 at the stretch l carries the weight."""
    robot, axial = updated_link()
    stretch = brentq(lambda x: axial * (x - 1) / x**3 - 0.1 * 9.81, 1.0, 1.5)
    still = robot.statics()
    assert still.position("ball")[2] == pytest.approx(-0.2 * stretch, rel=1e-8)
    assert still.reading("band", "tension") == pytest.approx(0.981, rel=1e-8)
    energy = 0.5 * axial * 0.2 * (1 - 1 / stretch) ** 2
    assert still.energy["elastic"] == pytest.approx(energy, rel=1e-8)


def test_updated_link_keeps_energy_in_motion() -> None:
    motion = updated_link()[0].simulate(0.5, 1e-3, joints={"ball": pl.pose((0.05, 0, -0.25))})
    assert np.abs(motion.energy["balance"]).max() < 1e-3 * motion.energy["kinetic"].max()


def test_links_that_act_one_way_have_no_section_update() -> None:
    with pytest.raises(pl.DescriptionError, match="one way"):
        section = pl.Circle(0.004)
        pl.Robot().add_link(
            "a", (0, 0, 0), (0, 0, 1), section, RUBBER, kind="tension", updated=True
        )


def test_links_do_not_couple_masses() -> None:
    """The mass matrix of free nodes has one block a node, whatever links join them."""
    effects = effects_of(chain(5).description, {})
    assert effects.mass_tangent().matrix.bandwidth == 5
    assert effects.tangent(symmetric=True).matrix.bandwidth == 11
