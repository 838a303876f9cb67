"""The oracle itself: its solvers agree with closed forms, with each other and with the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import (
    PointLoad,
    RodProblem,
    base_pose,
    circular_stiffness,
    exact,
    solve_bvp_cantilever,
    solve_cantilever,
    solve_path,
    values,
)

ALONG_X = base_pose((1, 0, 0), (0, 0, -1))
TAPERED = circular_stiffness(2e5, 0.45, lambda s: 0.03 - 0.015 * s)
STRAIGHT = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def constant(value):
    return lambda s: np.broadcast_to(np.asarray(value, dtype=float), (*np.shape(s), 6))


def bend(force):
    return RodProblem(
        length=25.0 * np.pi,
        stiffness=constant(np.array([1 / 12, 1 / 12, 1 / 12, 0.5, 0.5, 1.0]) * 1e7),
        natural=constant((0.0, 0.01, 0.0, 0.0, 0.0, 1.0)),
        base=base_pose((0, 1, 0), (1, 0, 0)),
        tip_force=(0, 0, force),
    )


def tip_angle(solution):
    return np.arctan2(solution.tip[2, 2], solution.tip[0, 2])


@pytest.mark.parametrize("force", values.TAPERED_FORCE)
def test_tapered_rod_under_tip_force(force):
    position, theta = values.TAPERED_FORCE[force]
    rod = RodProblem(1.0, TAPERED, base=ALONG_X, tip_force=(0, 0, force))
    solution = solve_cantilever(rod)
    assert solution.tip[:3, 3] == pytest.approx(position, abs=1e-10)
    assert tip_angle(solution) == pytest.approx(theta, abs=1e-10)
    # A dead force makes the base moment equal to force times lever arm.
    assert solution.base_wrench == pytest.approx(
        [0, -force * position[0], 0, 0, 0, force], abs=1e-10
    )


@pytest.mark.parametrize("moment", values.TAPERED_MOMENT)
def test_tapered_rod_under_tip_moment(moment):
    position, theta = values.TAPERED_MOMENT[moment]
    rod = RodProblem(1.0, TAPERED, base=ALONG_X, tip_moment=(0, -moment, 0))
    solution = solve_cantilever(rod)
    assert solution.tip[:3, 3] == pytest.approx(position, abs=1e-10)
    assert np.exp(1j * tip_angle(solution)) == pytest.approx(np.exp(1j * theta), abs=1e-10)
    assert solution.wrench(np.linspace(0, 1, 4))[:, 1] == pytest.approx(-moment, abs=1e-12)


@pytest.mark.parametrize("force", values.BEND_TIP)
def test_curved_rod_under_force_out_of_its_plane(force):
    tip = solve_cantilever(bend(force)).tip[:3, 3]
    assert tip == pytest.approx(values.BEND_TIP[force], rel=1e-11)


def test_force_and_moment_coil_rod_into_helix():
    rod = RodProblem(
        length=10.0,
        stiffness=constant((100, 100, 100, 1e4, 1e4, 1e4)),
        base=ALONG_X,
        tip_force=(0, 50, 0),
        tip_moment=(0, 200 * np.pi, 0),
    )
    for solution in solve_path(rod, list(values.HELIX_TIP)):
        expected = values.HELIX_TIP[solution.factor]
        assert solution.tip[:3, 3] == pytest.approx(expected, abs=1e-10)


def test_soft_rod_before_release():
    data, expected = values.RELEASED_ROD, values.RELEASED_STATIC
    taper = data["tip_radius"] - data["base_radius"]
    stiffness = circular_stiffness(data["E"], data["nu"], lambda s: data["base_radius"] + taper * s)
    rod = RodProblem(1.0, stiffness, base=ALONG_X, tip_force=(0, 0, data["force"]))
    solution = solve_cantilever(rod)
    assert solution.tip[[0, 2], 3] == pytest.approx((expected["x"], expected["z"]), abs=1e-10)
    assert tip_angle(solution) == pytest.approx(expected["theta"], abs=1e-10)
    assert -solution.base_wrench[1] == pytest.approx(expected["base_moment"], abs=1e-9)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    s = 0.5 * (nodes + 1.0)
    density = 0.5 * np.sum(solution.wrench(s) * (solution.strain(s) - STRAIGHT), axis=-1)
    assert 0.5 * weights @ density == pytest.approx(values.RELEASED_ENERGY, abs=1e-9)


@pytest.mark.parametrize("follower", [True, False])
def test_uniform_helix_is_an_equilibrium(follower):
    bending, twist, shear, axial = 2.0, 1.5, 40.0, 90.0
    strain, wrench = exact.uniform_helix(bending, twist, shear, axial, 4.0, 2.5)
    tip = ALONG_X @ exact.constant_strain_pose(strain, 1.0)
    load = {"follower_moment": wrench[:3], "follower_force": wrench[3:]}
    if not follower:
        load = {"tip_moment": tip[:3, :3] @ wrench[:3], "tip_force": tip[:3, :3] @ wrench[3:]}
    stiffness = constant((bending, bending, twist, shear, shear, axial))
    solution = solve_cantilever(RodProblem(1.0, stiffness, base=ALONG_X, **load))
    assert solution.tip == pytest.approx(tip, abs=1e-10)
    s = np.array([0.0, 0.37, 1.0])
    assert solution.wrench(s) == pytest.approx(np.tile(wrench, (3, 1)), abs=1e-10)
    middle = ALONG_X @ exact.constant_strain_pose(strain, 0.37)
    assert solution.pose(0.37) == pytest.approx(middle, abs=1e-10)


def test_inextensible_shooting_is_the_elastica():
    stiffness = constant((1, 1, 1, np.inf, np.inf, np.inf))
    rod = RodProblem(1.0, stiffness, base=ALONG_X, tip_force=(0, 0, 10.0))
    theta, x, y = exact.elastica_end_force(10.0)
    solution = solve_cantilever(rod)
    assert solution.tip[:3, 3] == pytest.approx((x, 0, y), abs=1e-11)
    assert tip_angle(solution) == pytest.approx(theta, abs=1e-11)


def test_inextensible_shooting_is_the_heavy_elastica():
    stiffness = constant((1, 1, 1, np.inf, np.inf, np.inf))
    weight = RodProblem(1.0, stiffness, base=ALONG_X, distributed=lambda s: (0, 0, -5.0))
    theta, x, y = exact.heavy_elastica(5.0)
    solution = solve_cantilever(weight)
    assert solution.tip[:3, 3] == pytest.approx((x, 0, -y), abs=1e-11)
    assert tip_angle(solution) == pytest.approx(-theta, abs=1e-11)


def test_load_at_mid_rod_leaves_the_rest_straight():
    stiffness = circular_stiffness(2e5, 0.45, lambda s: 0.02 + 0.0 * s)
    load = PointLoad(0.4, force=(0, 0, 0.8))
    solution = solve_cantilever(RodProblem(1.0, stiffness, base=ALONG_X, point_loads=(load,)))
    short = solve_cantilever(RodProblem(0.4, stiffness, base=ALONG_X, tip_force=(0, 0, 0.8)))
    assert solution.pose(0.4) == pytest.approx(short.tip, abs=1e-11)
    beyond = short.tip @ exact.constant_strain_pose(STRAIGHT, 0.6)
    assert solution.tip == pytest.approx(beyond, abs=1e-11)
    assert solution.wrench(0.7) == pytest.approx(np.zeros(6), abs=1e-12)


def test_body_load_at_mid_rod_turns_with_its_section():
    stiffness = circular_stiffness(2e5, 0.45, lambda s: 0.02 + 0.0 * s)
    load = PointLoad(0.4, force=(-0.3, 0, 0), moment=(0, 0, 0.01), frame="body")
    solution = solve_cantilever(RodProblem(1.0, stiffness, base=ALONG_X, point_loads=(load,)))
    assert solution.wrench(0.4) == pytest.approx([0, 0, 0.01, -0.3, 0, 0], abs=1e-12)


@pytest.mark.parametrize("rod", [
    RodProblem(1.0, TAPERED, base=ALONG_X, tip_force=(0, 0.1, 0.3), follower_moment=(0, 0, 0.01)),
    bend(600.0),
], ids=["tapered", "bend"])  # fmt: skip
def test_collocation_agrees_with_shooting(rod):
    shooting = solve_cantilever(rod)
    collocation = solve_bvp_cantilever(rod, tolerance=1e-8, load_steps=4, vectorised=True)
    s = np.linspace(0.0, rod.length, 5)
    error = np.abs(collocation.pose(s) - shooting.pose(s)).max()
    assert error < 1e-8 * max(1.0, rod.length)


def test_continuation_reports_where_it_stopped(monkeypatch):
    monkeypatch.setattr("tests.reference.cosserat_shooting._newton", lambda *args: None)
    with pytest.raises(ArithmeticError, match="stopped at load factor 0"):
        solve_cantilever(bend(300.0))


@pytest.mark.parametrize("force", values.ELASTICA_FORCE)
def test_elastica_by_elliptic_integrals(force):
    tip = exact.elastica_end_force(force)
    assert tip == pytest.approx(values.ELASTICA_FORCE[force], abs=1e-14)
    scaled = exact.elastica_end_force(force * 3.0 / 4.0, bending=3.0, length=2.0)
    assert scaled == pytest.approx((tip.theta, 2 * tip.x, 2 * tip.y), abs=1e-14)


def test_heavy_elastica():
    assert exact.heavy_elastica(5.0) == pytest.approx(values.ELASTICA_OWN_WEIGHT[5.0], abs=1e-12)
    by_ellipse = exact.elastica_end_force(10.0)
    assert exact.heavy_elastica(0.0, tip_force=10.0) == pytest.approx(by_ellipse, abs=1e-12)


def test_end_moment_bends_rod_into_circle():
    angle, x, y = exact.circle_end_moment(2.0 * np.pi * 3.0, 3.0, np.array([0.0, 0.5, 1.0]))
    assert angle == pytest.approx([0.0, np.pi, 2.0 * np.pi])
    assert x == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)
    assert y == pytest.approx([0.0, 1.0 / np.pi, 0.0], abs=1e-15)


@pytest.mark.parametrize("ends", ["clamped-free", "free-free"])
def test_timoshenko_frequencies(ends):
    for beam, expected in (
        (values.RUBBER_BEAM, values.RUBBER_BEAM_HZ),
        (values.STEEL_BEAM, values.STEEL_BEAM_HZ),
    ):
        if "radius" in beam:
            area, second = np.pi * beam["radius"] ** 2, np.pi * beam["radius"] ** 4 / 4
        else:
            area, second = beam["side"] ** 2, beam["side"] ** 4 / 12
        shear = beam["E"] * area / (2 * (1 + beam["nu"]))
        section = (beam["E"] * second, shear, beam["rho"] * area, beam["rho"] * second)
        found = exact.timoshenko_frequencies(*section, ends=ends)
        assert found == pytest.approx(expected[ends], rel=1e-13)


def test_slender_limit_is_euler_bernoulli():
    found = exact.timoshenko_frequencies(1.0, np.inf, 1.0, 0.0, count=2)
    assert np.sqrt(2 * np.pi * found) == pytest.approx([1.875104068711961, 4.694091132974175])


def test_frequencies_of_tapered_beam():
    data = values.RELEASED_ROD
    shear = data["E"] / (2 * (1 + data["nu"]))

    def section(s):
        radius = data["base_radius"] + (data["tip_radius"] - data["base_radius"]) * s
        area, second = np.pi * radius**2, np.pi * radius**4 / 4
        return data["E"] * second, shear * area, data["rho"] * area, data["rho"] * second

    found = exact.timoshenko_frequencies_varying(section)
    assert found == pytest.approx(values.RELEASED_HZ, rel=1e-9)


def test_buckling_loads():
    stiffness = values.COSSERAT_COLUMN_STIFFNESS
    assert exact.euler_load(1.0, 1.0) == pytest.approx(values.EULER_CLAMPED_FREE, rel=1e-15)
    pinned = exact.euler_load(1.0, 1.0, "pinned-pinned")
    assert pinned == pytest.approx(values.EULER_PINNED_PINNED, rel=1e-15)
    assert exact.own_weight_load(1.0, 1.0) == pytest.approx(values.OWN_WEIGHT_BUCKLING, rel=1e-14)
    cosserat = exact.cosserat_euler_load(**stiffness, length=1.0)
    assert cosserat == pytest.approx(values.COSSERAT_COLUMN_LOAD, rel=1e-14)
    rigid = exact.euler_load(stiffness["bending"], 1.0)
    assert rigid == pytest.approx(values.COSSERAT_COLUMN_INEXTENSIBLE_LOAD, rel=1e-14)


def test_cosserat_column_is_softest_at_its_buckling_load():
    """A tiny side force deflects the compressed column as 1 / (P_cr - P), so 1/x extrapolates."""
    data = values.COSSERAT_COLUMN
    stiffness = circular_stiffness(data["E"], data["nu"], lambda s: data["radius"] + 0.0 * s)
    loads = np.array([0.97, 0.98, 0.99]) * values.COSSERAT_COLUMN_LOAD
    sway = [
        solve_cantilever(RodProblem(1.0, stiffness, tip_force=(1e-7, 0, -load))).tip[0, 3]
        for load in loads
    ]
    critical = np.roots(np.polyfit(loads, 1.0 / np.array(sway), 2))
    nearest = critical[np.argmin(np.abs(critical - values.COSSERAT_COLUMN_LOAD))]
    assert nearest == pytest.approx(values.COSSERAT_COLUMN_LOAD, rel=1e-5)
