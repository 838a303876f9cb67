"""The strain formulation: Magnus frames, and derivatives that belong to exactly these frames."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.lie import se3
from pliant.model import Circle, DescriptionError, Material, Rod
from pliant.rods.strain import Strain, StrainMap, default_steps

LENGTH = 0.7
STEP = 1e-5
CASES = [
    (Strain(0, 3), "cosserat"),
    (Strain(0, 3, steps=2), "kirchhoff"),
    (Strain(1, 3), "cosserat"),
    (Strain(1, 3), "kirchhoff"),
    (Strain(3, 2, steps=3), "cosserat"),
    (Strain(3, 2, steps=3), "kirchhoff"),
]


def bent(s):
    """A natural curvature and twist that vary along the rod, rad/m."""
    return (3.0 * s, 1.0, 2.0 - 4.0 * s * s)


def make_rod(theory="cosserat", natural=bent, radius=0.01):
    material = Material(E=1e6, nu=0.4, rho=1000.0)
    return Rod("arm", LENGTH, Circle(radius), material, natural=natural, theory=theory)


def posed(m: StrainMap, rng, size=1.5):
    c = m.configuration()
    m.update(c, se3.exp(rng.normal(size=6)), size * rng.normal(size=m.nq))
    return c


def moved(m: StrainMap, c, x):
    """Configuration moved on the manifold: base times exp, coordinates by addition."""
    other = m.configuration()
    m.update(other, c.base @ se3.exp(x[:6]), c.q + x[6:])
    return other


def stations(m: StrainMap):
    """Base, tip, a jump between segments, nodes of the grid, and places in between, unsorted."""
    return np.array([0.0, LENGTH, m.breaks[1], m.nodes[1], 0.45, 0.11, 0.31, 0.69])


def poses(m: StrainMap, c, s):
    plan = m.frames(s)
    m.frame(plan, c)
    return plan.g


@pytest.mark.parametrize(("settings", "theory"), CASES)
def test_jacobian_is_the_derivative_of_the_frames(settings, theory, rng):
    m = settings.discretise(make_rod(theory))
    c = posed(m, rng)
    s = stations(m)
    plan = m.frames(s)
    m.frame(plan, c)
    back = se3.inverse(plan.g)
    for a in range(m.m):
        x = np.zeros(m.m)
        x[a] = STEP
        ahead = se3.log(back @ poses(m, moved(m, c, x), s))
        behind = se3.log(back @ poses(m, moved(m, c, -x), s))
        np.testing.assert_allclose(plan.J[:, :, a], (ahead - behind) / (2 * STEP), atol=2e-9)


@pytest.mark.parametrize(("settings", "theory"), CASES)
def test_second_derivative_of_the_frames(settings, theory, rng):
    m = settings.discretise(make_rod(theory))
    c = posed(m, rng)
    plan = m.frames(stations(m))
    f = rng.normal(size=(len(plan.s), 6))
    H = np.empty((m.m, m.m))
    for a in range(m.m):
        x = np.zeros(m.m)
        x[a] = STEP
        m.frame(plan, moved(m, c, x))
        ahead = np.einsum("sia,si->a", plan.J, f)
        m.frame(plan, moved(m, c, -x))
        H[a] = (ahead - np.einsum("sia,si->a", plan.J, f)) / (2 * STEP)
    m.frame(plan, c)
    K = np.ones((1, m.m, m.m))
    m.frame_second(plan, c, f, K)
    np.testing.assert_allclose(K[0] - 1.0, 0.5 * (H + H.T), atol=5e-9)


@pytest.mark.parametrize(("settings", "theory"), CASES)
def test_bias_is_the_acceleration_at_constant_rate(settings, theory, rng):
    m = settings.discretise(make_rod(theory))
    c = posed(m, rng)
    plan = m.frames(stations(m))
    v = rng.normal(size=(1, m.m))
    m.frame(plan, moved(m, c, STEP * v[0]))
    ahead = plan.J @ v[0]
    m.frame(plan, moved(m, c, -STEP * v[0]))
    expected = (ahead - plan.J @ v[0]) / (2 * STEP)
    m.frame(plan, c)
    bias = np.empty((len(plan.s), 6))
    m.frame_bias(plan, c, v, bias)
    np.testing.assert_allclose(bias, expected, atol=1e-8)


@pytest.mark.parametrize(("settings", "theory"), CASES)
def test_strains_are_linear_in_the_coordinates(settings, theory, rng):
    m = settings.discretise(make_rod(theory))
    c = posed(m, rng)
    plan = m.strains(stations(m))
    m.strain(plan, c)
    x = rng.normal(size=m.m)
    e, B = plan.e.copy(), plan.B.copy()
    m.strain(plan, moved(m, c, x))
    np.testing.assert_allclose(plan.e - e, B @ x, atol=1e-12)
    np.testing.assert_array_equal(B[:, :, :6], 0.0)
    K = np.zeros((1, m.m, m.m))
    m.strain_second(plan, c, e, K)
    np.testing.assert_array_equal(K, 0.0)
    if theory == "kirchhoff":
        np.testing.assert_allclose(e[:, 3:], np.tile([0.0, 0.0, 1.0], (len(e), 1)), atol=0)


def test_frames_have_the_strain_they_were_made_of(rng):
    m = Strain(2, 2, steps=40).discretise(make_rod())
    c = posed(m, rng)
    s, h = np.array([0.1, 0.2, 0.5, 0.66]), 1e-4
    around = poses(m, c, np.concatenate([s - h, s + h]))
    slope = se3.log(se3.inverse(around[:4]) @ around[4:]) / (2 * h)
    plan = m.strains(s)
    m.strain(plan, c)
    np.testing.assert_allclose(slope, plan.e, rtol=1e-5, atol=1e-5)


def test_magnus_frames_converge_with_order_four(rng):
    rod = make_rod()
    fine = Strain(3, 1).discretise(rod)
    q = rng.normal(size=fine.nq)

    def slope(s, g):
        plan = fine.strains(np.array([s]))
        c.q[...] = q
        fine.strain(plan, c)
        return (g.reshape(4, 4) @ se3.hat(plan.e[0])).ravel()

    c = fine.configuration()
    exact = solve_ivp(
        slope, (0.0, LENGTH), np.eye(4).ravel(), method="DOP853", rtol=1e-11, atol=1e-12
    )
    tip = exact.y[:, -1].reshape(4, 4)
    errors = []
    for steps in (8, 16, 32):
        m = Strain(3, 1, steps).discretise(rod)
        at = m.configuration()
        m.update(at, np.eye(4), q)
        errors.append(np.abs(poses(m, at, np.array([LENGTH]))[0] - tip).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(rates, 4.0, atol=0.25)
    assert errors[-1] < 1e-6


@pytest.mark.parametrize("order", [1, 2, 3])
def test_default_steps_err_less_than_the_modes_they_carry(order):
    def curve(s):
        return 6.0 / LENGTH * np.array([np.exp(-s), np.sin(2 * s + 1), 0.6 * np.cos(3 * s)])

    def tip(settings, natural, q=None):
        m = settings.discretise(make_rod("kirchhoff", natural))
        c = m.configuration()
        m.update(c, np.eye(4), m.rest() if q is None else q)
        return poses(m, c, np.array([LENGTH]))[0, :3, 3]

    segments = 2
    x, w = np.polynomial.legendre.leggauss(12)
    basis = np.polynomial.legendre.legvander(x, order) * (np.arange(order + 1) + 0.5)
    s = LENGTH / segments * (np.arange(segments)[:, None] + 0.5 * (x + 1))
    q = np.einsum("p,pk,gpr->gkr", w, basis, np.moveaxis(curve(s), 0, -1)).ravel()
    straight = (0.0, 0.0, 0.0)
    exact = tip(Strain(0, 1, 300), lambda s: tuple(curve(s)))
    modes = tip(Strain(order, segments, 200), straight, q)
    steps = tip(Strain(order, segments), straight, q)
    assert np.abs(steps - modes).max() < 0.2 * np.abs(modes - exact).max()


def test_constant_strain_is_a_product_of_exponentials(rng):
    natural = (1.0, -2.0, 0.5)
    m = Strain(0, 3).discretise(make_rod(natural=natural))
    assert m.steps == 1
    c = posed(m, rng)
    xi = np.array([*natural, 0.0, 0.0, 1.0]) + c.q.reshape(3, 6)
    h = LENGTH / 3
    first, second = se3.exp(h * xi[0]), se3.exp(h * xi[1])
    expected = c.base @ first @ second @ se3.exp(0.4 * h * xi[2])
    np.testing.assert_allclose(poses(m, c, np.array([2.4 * h]))[0], expected, atol=1e-14)


def test_pose_does_not_depend_on_the_other_stations_asked_for(rng):
    m = Strain(2, 3).discretise(make_rod())
    c = posed(m, rng)
    s = rng.uniform(0, LENGTH, 12)
    together = poses(m, c, s)
    alone = np.array([poses(m, c, s[i : i + 1])[0] for i in range(len(s))])
    np.testing.assert_array_equal(together, alone)


def test_frames_are_continuous_across_grid_nodes(rng):
    m = Strain(1, 3, steps=2).discretise(make_rod())
    c = posed(m, rng)
    inner = m.nodes[1:-1]
    below, above = poses(m, c, inner - 1e-10), poses(m, c, inner + 1e-10)
    np.testing.assert_allclose(below, above, atol=2e-9)


def test_moving_the_base_moves_all_frames(rng):
    m = Strain(1, 3).discretise(make_rod())
    c = posed(m, rng)
    s = stations(m)
    plan = m.frames(s)
    m.frame(plan, c)
    g, J = plan.g.copy(), plan.J.copy()
    shift = se3.exp(rng.normal(size=6))
    q = c.q.copy()
    m.update(c, shift @ c.base, q)
    m.frame(plan, c)
    np.testing.assert_allclose(plan.g, shift @ g, atol=1e-13)
    np.testing.assert_allclose(plan.J, J, atol=1e-13)


def test_a_station_does_not_feel_segments_beyond_it(rng):
    m = Strain(1, 4).discretise(make_rod())
    plan = m.frames(np.array([0.6 * LENGTH]))
    m.frame(plan, posed(m, rng))
    assert np.all(plan.J[0, :, 6 + 3 * 12 :] == 0.0)
    assert np.any(plan.J[0, :, 6 + 2 * 12 : 6 + 3 * 12] != 0.0)


def test_rest_has_the_natural_strain():
    m = Strain(0, 5).discretise(make_rod())
    c = m.configuration()
    m.update(c, np.eye(4), m.rest())
    plan = m.strains(stations(m))
    m.strain(plan, c)
    np.testing.assert_array_equal(plan.e, m.rod.natural_strain(plan.s))


@pytest.mark.parametrize("order", [0, 1, 3])
def test_rules_are_exact_for_energy_and_mass_of_the_straight_rod(order):
    m = Strain(order, 2).discretise(make_rod(natural=(0.0, 0.0, 0.0)))
    c = m.configuration()
    m.update(c, np.eye(4), m.rest())

    def sums(s, w, plan, rows):
        return np.einsum(
            "sia,si,sib->ab", rows(plan), np.broadcast_to(w, (6, len(s))).T, rows(plan)
        )

    def mass(s, w):
        plan = m.frames(s)
        m.frame(plan, c)
        return sums(s, w, plan, lambda p: p.J)

    fine, weight = np.polynomial.legendre.leggauss(12)
    s = np.concatenate([0.25 * LENGTH * (fine + 1), 0.25 * LENGTH * (fine + 3)])
    w = np.tile(0.25 * LENGTH * weight, 2)
    # from order 2 on, the Magnus steps themselves are not exact polynomials
    magnus = 1e-13 if order < 2 else 1e-9
    np.testing.assert_allclose(mass(*m.mass_rule()), mass(s, w), atol=magnus)
    station, weights = m.strain_rule()
    energy = sums(station, weights[:, 0], m.strains(station), lambda p: p.B)
    np.testing.assert_allclose(energy, sums(s, w, m.strains(s), lambda p: p.B), atol=1e-13)


def test_rules_follow_the_section_and_the_theory():
    slender, tapered = make_rod("kirchhoff"), make_rod(radius=(0.02, 0.01))
    s, w = Strain(1, 3).discretise(slender).strain_rule()
    assert len(s) == 6 and np.all(w[:, 3:] == 0.0)
    np.testing.assert_allclose(w[:, 0].sum(), LENGTH)
    s, w = Strain(1, 3).discretise(tapered).strain_rule()
    assert len(s) == 9 and np.all(w > 0.0)


def test_settings_and_defaults():
    assert default_steps(0, varying=False) == 1
    assert default_steps(1, varying=False) == 4
    assert default_steps(0, varying=True) == default_steps(1, varying=True) == 8
    assert default_steps(8, varying=True) == 32
    m = Strain().discretise(make_rod())
    assert (m.nv, m.m, m.elements.shape) == (48, 54, (1, 54))
    assert m.pose_coordinate(0.0) == 0 and m.pose_coordinate(LENGTH) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("order", -1),
        ("order", 9),
        ("order", 1.5),
        ("segments", 0),
        ("segments", True),
        ("steps", 0),
    ],
)
def test_bad_settings_are_refused_by_name(field, value):
    with pytest.raises(DescriptionError, match=field) as caught:
        Strain(**{field: value})
    assert caught.value.value == value
