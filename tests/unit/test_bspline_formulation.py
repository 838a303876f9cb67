"""The spline rod: derivatives on the manifold, objectivity, locality, limits it must agree with."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import Circle, Description, DescriptionError, Load, Material, Rod
from pliant.physics.effects import Effects, effects_of
from pliant.rods.bspline import BSpline, BSplineMap, graded_knots
from pliant.rods.contract import Array, Formulation
from pliant.rods.strain import Strain
from pliant.solve.energy import potential
from pliant.solve.linearise import linearise
from pliant.solve.load_steps import StaticSolver
from pliant.solve.sampling import Sampler
from pliant.tree.state import State
from tests.perturbed import KINKED, LENGTH, REPEATED, UNEVEN, Bent, rod_with

CASES = [
    *[BSpline(degree, 7, map=kind) for degree in (1, 2, 3, 5) for kind in ("exp", "cayley")],
    *[BSpline(3, 8, map=kind, knots=UNEVEN) for kind in ("exp", "cayley")],
    *[BSpline(3, 8, map=kind, knots=REPEATED) for kind in ("exp", "cayley")],
    *[BSpline(3, 8, map=kind, knots=KINKED) for kind in ("exp", "cayley")],
]


def name_of(case: BSpline) -> str:
    names = {"uniform": "uniform", UNEVEN: "uneven", REPEATED: "repeated", KINKED: "kinked"}
    return f"{case.degree}-{case.map}-{names[case.knots]}"


@pytest.fixture(scope="module", params=CASES, ids=name_of)
def bent(request: pytest.FixtureRequest) -> Bent:
    return Bent(request.param)


# -- the curve ------------------------------------------------------------------------------------


def test_the_end_poses_are_the_first_and_last_control_poses(bent: Bent) -> None:
    assert bent.g0[0] == pytest.approx(bent.c.controls[0], abs=1e-13)
    assert bent.g0[-1] == pytest.approx(bent.c.controls[-1], abs=1e-12)
    assert bent.map.pose_coordinate(0.0) == 0
    assert bent.map.pose_coordinate(LENGTH) == bent.size - 6
    assert bent.map.pose_coordinate(0.4 * LENGTH) is None


def test_weights_of_both_rules_add_up_to_the_length(bent: Bent) -> None:
    assert bent.map.mass_rule()[1].sum() == pytest.approx(LENGTH, rel=1e-13)
    assert bent.map.strain_rule()[1].sum(axis=0) == pytest.approx(np.full(6, LENGTH), rel=1e-13)


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_strain_has_degree_minus_one_derivatives_less_one_at_simple_knots(degree: int) -> None:
    bent = Bent(BSpline(degree, degree + 3))
    at = np.unique(bent.map.knots)[1:-1]
    before, after = bent.map.strains(at * (1 - 1e-10)), bent.map.strains(at)
    bent.map.strain(before, bent.c)
    bent.map.strain(after, bent.c)
    assert before.e == pytest.approx(after.e, abs=1e-6)


def test_a_knot_repeated_degree_times_lets_the_strain_jump_but_not_the_pose() -> None:
    bent = Bent(BSpline(3, 8, knots=KINKED))
    at = np.array([0.4 * LENGTH])
    plans = [bent.map.frames(at * (1 - 1e-12)), bent.map.frames(at)]
    for plan in plans:
        bent.map.frame(plan, bent.c)
        bent.map.strain(plan, bent.c)
    assert plans[0].g == pytest.approx(plans[1].g, abs=1e-11)
    assert np.max(np.abs(plans[0].e - plans[1].e)) > 0.1


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_constant_natural_strain_is_represented_exactly(degree: int) -> None:
    rod = rod_with((2.0, -1.0, 3.0, 0.02, 0.01, 1.1))
    s = np.linspace(0, LENGTH, 31)
    strains = strains_at_rest(BSpline(degree, 9).discretise(rod), s)
    assert strains == pytest.approx(rod.natural_strain(s), abs=1e-11)


@pytest.mark.parametrize("kind", ["exp", "cayley"])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_varying_natural_strain_is_met_better_with_more_points(degree: int, kind: str) -> None:
    rod = rod_with(lambda s: (3.0 * np.sin(4 * s), -2.0 * s, 1.0 + s**2))
    s = np.linspace(0, LENGTH, 101)
    error = []
    for points in (12, 24):
        strains = strains_at_rest(BSpline(degree, points, map=kind).discretise(rod), s)
        error.append(np.max(np.abs(strains - rod.natural_strain(s))))
    assert np.log2(error[0] / error[1]) > min(degree, 2) - 0.2


def strains_at_rest(rod_map: BSplineMap, s: Array) -> Array:
    c = rod_map.configuration()
    rod_map.update(c, np.eye(4), rod_map.rest())
    plan = rod_map.strains(s)
    rod_map.strain(plan, c)
    return plan.e


# -- objectivity ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_strain_energy_does_not_feel_a_rigid_motion_of_all_control_poses(case: BSpline) -> None:
    description = Description()
    description.add(rod_with(base=None, radius=(0.02, 0.01)))
    effects = effects_of(description, {"arm": case})
    rod_map, state = effects.tree.parts[0].map, State(effects.tree)
    rng = np.random.default_rng(1)
    q = rod_map.rest() + 0.2 * rng.normal(size=rod_map.nq)
    energies = []
    c = rod_map.configuration()
    rod_map.update(c, se3.exp(rng.normal(size=6)), q)
    for motion in (np.zeros(6), rng.normal(size=6), np.array([2.0, 1.0, -1.5, 30.0, -20.0, 10.0])):
        body = np.einsum("nij,j->ni", se3.Ad(se3.inverse(c.controls)), motion)
        base = c.controls[0] @ se3.exp(body[0])
        moved = rod_map.retract(c, base, body.ravel())
        place = np.linalg.inv(effects.tree.parts[0].pose) @ base
        state.place(np.concatenate([place.ravel(), moved]))
        energies.append(potential(effects, state, effects.nothing)["elastic"])
    assert energies[1:] == pytest.approx(energies[:1] * 2, rel=1e-12)


@pytest.mark.parametrize("case", [BSpline(3, 6), BSpline(2, 6, map="cayley")], ids=name_of)
def test_statics_give_the_same_shape_from_any_base_pose(case: BSpline) -> None:
    s = np.linspace(0, LENGTH, 9)
    shapes = []
    for seed in (None, 1, 2):
        base = (
            np.eye(4) if seed is None else se3.exp(2 * np.random.default_rng(seed).normal(size=6))
        )
        rod = rod_with(pose=base)
        turned = base[:3, :3] @ (0.03, -0.05, 0.02)
        loads = [
            Load("dead", rod.tip, force=turned),
            Load(
                "follower", rod.at(0.5), force=(0.02, 0.0, -0.01), moment=(0, 1e-3, 0), frame="body"
            ),
        ]
        poses = solved_poses(rod, case, loads, s)
        shapes.append(se3.inverse(base) @ poses)
    assert np.linalg.norm(shapes[0][-1][:3, 3] - (0, 0, LENGTH)) > 0.2
    assert shapes[1] == pytest.approx(shapes[0], abs=1e-9)
    assert shapes[2] == pytest.approx(shapes[0], abs=1e-9)


def solved_poses(rod: Rod, formulation: Formulation, loads: list[Load], s: Array) -> Array:
    """Poses (S, 4, 4) in equilibrium, without gravity."""
    description = Description(gravity=(0, 0, 0))
    description.add(rod)
    for load in loads:
        description.add(load)
    effects = effects_of(description, {rod.name: formulation})
    found = StaticSolver(effects).solve(effects.at({}))
    return Sampler(effects).poses(found.q, rod.name, s)


# -- agreement with other discretisations ---------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 3])
def test_exponential_and_cayley_splines_agree_as_the_mesh_is_refined(degree: int) -> None:
    rod = rod_with()
    load = [Load("tip", rod.tip, force=(0.05, 0.08, 0.0))]
    s = np.linspace(0, LENGTH, 11)
    gaps = []
    for points in (6, 11, 21):
        pair = [
            solved_poses(rod, BSpline(degree, points, map=kind), load, s)
            for kind in ("exp", "cayley")
        ]
        gaps.append(np.max(np.abs(pair[0] - pair[1])))
    orders = np.log2(gaps[:-1] / np.array(gaps[1:]))
    assert np.all(orders > 1.9)


@pytest.mark.parametrize("segments", [1, 4, 7])
def test_degree_one_is_piecewise_constant_strain(segments: int) -> None:
    rod = rod_with((1.0, -0.5, 2.0))
    loads = [
        Load("tip", rod.tip, force=(0.05, 0.08, 0.02)),
        Load("turn", rod.tip, moment=(2e-3, 0.0, 1e-3), frame="body"),
    ]
    s = np.linspace(0, LENGTH, 12)
    spline = solved_poses(rod, BSpline(1, segments + 1), loads, s)
    strain = solved_poses(rod, Strain(order=0, segments=segments), loads, s)
    assert spline == pytest.approx(strain, abs=1e-10)


# -- locality -------------------------------------------------------------------------------------


def matrices(formulation: Formulation) -> tuple[Effects, Array, Array]:
    """A bent rod with its stiffness and mass, dense."""
    description = Description()
    rod = description.add(rod_with())
    description.add(Load("tip", rod.tip, force=(0.05, 0.0, 0.0)))
    effects = effects_of(description, {"arm": formulation})
    tree = effects.tree
    q = tree.q_rest + 0.01 * np.random.default_rng(0).normal(size=tree.nq)
    K, M = linearise(effects, q, np.zeros(tree.total), effects.at({}))
    return effects, K.toarray(), M.toarray()


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_bandwidth_of_a_spline_does_not_depend_on_the_number_of_points(degree: int) -> None:
    spreads = set()
    for points in (14, 28):
        effects, K, M = matrices(BSpline(degree, points))
        free = effects.tree.coordinates
        rows, columns = np.nonzero(M[np.ix_(free, free)])
        assert np.max(np.abs(rows // 6 - columns // 6)) == degree
        rows, columns = np.nonzero(K)
        spread = int(np.max(np.abs(rows - columns)))
        bandwidth = effects.tangent(True).matrix.bandwidth
        assert spread <= bandwidth
        spreads.add((spread, bandwidth))
        assert effects.tree.parts[0].map.elements.shape == (points - degree, 6 * (degree + 1))
    assert len(spreads) == 1


def test_strain_rods_couple_every_coordinate_with_every_other() -> None:
    effects, _, M = matrices(Strain(order=0, segments=6))
    # a section is moved by what happens between base and section: tip side feels all
    block_norms = np.abs(M).reshape(6, 6, 6, 6).max(axis=(1, 3))
    assert np.all(block_norms > 0)
    assert effects.tree.parts[0].map.elements.shape == (1, 42)


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": 0}, "degree"),
        ({"degree": 6}, "degree"),
        ({"degree": 2.0}, "degree"),
        ({"degree": 3, "points": 3}, r"degree \+ 1 = 4"),
        ({"map": "quaternion"}, "one of 'exp', 'cayley'"),
        ({"degree": 2, "points": 5, "knots": (0.5,)}, "2 increasing fractions"),
        ({"degree": 2, "points": 5, "knots": (0.6, 0.5)}, "2 increasing fractions"),
        ({"degree": 2, "points": 5, "knots": (0.0, 0.5)}, "2 increasing fractions"),
        ({"degree": 2, "points": 6, "knots": (0.5, 0.5, 0.5)}, "repeated"),
        ({"knots": "even"}, "'uniform', 'graded' or 11 increasing"),
    ],
)
def test_settings_that_make_no_spline_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        BSpline(**settings)


def test_graded_knots_are_dense_where_the_rod_is_thin() -> None:
    tapered = Rod("arm", 2.0, Circle((0.03, 0.015)), Material(E=2e5, nu=0.45))
    inner = np.array([0.0, *graded_knots(tapered, 3, 30), 1.0])
    spans = np.diff(inner)[1:-1]
    middle = 0.5 * (inner[1:] + inner[:-1])[1:-1]
    # the cube root of the bending stiffness, which falls with the fourth power of the radius
    assert spans / spans[0] == pytest.approx(
        ((2.0 - middle) / (2.0 - middle[0])) ** (4.0 / 3.0), rel=3e-3
    )


def test_graded_knots_of_an_even_rod_have_longer_end_spans() -> None:
    even = Rod("arm", 2.0, Circle(0.03), Material(E=2e5, nu=0.45))
    for degree, ends in ((1, 1.0), (2, 1.0), (3, 1.5), (4, 1.85), (5, 1.95)):
        spans = np.diff([0.0, *graded_knots(even, degree, 12), 1.0])
        assert spans[[0, -1]] == pytest.approx(ends * spans[1])
        assert spans[1:-1] == pytest.approx(spans[1])
    assert graded_knots(even, 3, 4).shape == (0,)
