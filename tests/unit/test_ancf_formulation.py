"""The ANCF rod: derivatives by differences, frames and strains of the curve, rest shape, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.model import Circle, DescriptionError, Rectangle, Rod
from pliant.rods.ancf import ANCF, ANCFMap
from pliant.rods.contract import Array
from tests import perturbed
from tests.perturbed import LENGTH, RUBBER

KINDS = {"xz": ANCF(3), "yz": ANCF(3, plane="yz"), "space": ANCF(3, planar=False)}


def rod_with(natural: object = (0.0, 0.0, 0.0), section: object = None) -> Rod:
    return Rod("arm", LENGTH, section or Circle(0.02), RUBBER, natural=natural)  # type: ignore[arg-type]


class Bent(perturbed.Bent):
    """A strongly deformed ANCF rod, whose elements may lack coordinates (-1)."""

    def __init__(self, kind: str) -> None:
        super().__init__(KINDS[kind], rod_with())

    def local(self, x: Array) -> Array:
        return np.where(self.map.elements >= 0, x[self.map.elements], 0.0)

    def gradient(self) -> Array:
        ry = np.zeros((len(self.map.elements), self.map.m))
        np.add.at(ry, self.frames.element, np.einsum("sia,si->sa", self.frames.J, self.f))
        np.add.at(ry, self.strains.element, np.einsum("sia,si->sa", self.strains.B, self.sigma))
        total = np.zeros(self.size)
        alive = self.map.elements >= 0
        np.add.at(total, self.map.elements[alive], ry[alive])
        return total

    def hessian(self, balance: Array | None) -> Array:
        K = np.zeros((len(self.map.elements), self.map.m, self.map.m))
        self.map.frame_second(self.frames, self.c, self.f, K)
        self.map.strain_second(self.strains, self.c, self.sigma, K)
        self.map.lift_tangent(self.c, np.zeros(K.shape[:2]), balance, K.copy(), K, np.empty(6))
        total = np.zeros((self.size, self.size))
        for index, block in zip(self.map.elements, K, strict=True):
            keep = index >= 0
            total[np.ix_(index[keep], index[keep])] += block[np.ix_(keep, keep)]
        return total


@pytest.fixture(scope="module", params=list(KINDS))
def bent(request: pytest.FixtureRequest) -> Bent:
    return Bent(request.param)


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_frames_and_strains_follow_coordinates_to_first_order(bent: Bent, chart: str) -> None:
    step = 1e-6
    ahead = bent.moved(getattr(bent.map, chart), step * bent.x)
    behind = bent.moved(getattr(bent.map, chart), -step * bent.x)
    y = bent.local(bent.x)
    eta = np.einsum("sia,sa->si", bent.frames.J, y[bent.frames.element])
    rate = np.einsum("sia,sa->si", bent.strains.B, y[bent.strains.element])
    assert (ahead[0] - behind[0]) / (2 * step) == pytest.approx(eta, rel=1e-7, abs=1e-7)
    assert (ahead[1] - behind[1]) / (2 * step) == pytest.approx(rate, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_second_derivative_in_both_charts(bent: Bent, chart: str) -> None:
    move = getattr(bent.map, chart)
    K = bent.hessian(bent.gradient() if chart == "advance" else None)
    assert np.abs(K - K.T).max() < 1e-12 * np.abs(K).max()
    h = 2e-4
    values = [bent.potential(move, k * h * bent.x) for k in (-2, -1, 0, 1, 2)]
    second = (-values[0] + 16 * values[1] - 30 * values[2] + 16 * values[3] - values[4]) / 12 / h**2
    assert bent.x @ K @ bent.x == pytest.approx(second, rel=2e-6)


def test_bias_is_the_acceleration_at_constant_rates(bent: Bent) -> None:
    y = bent.local(bent.x)
    bias = np.empty((len(bent.s), 6))
    bent.map.frame_bias(bent.frames, bent.c, y, bias)
    h = 2e-4
    parts = [bent.moved(bent.map.retract, k * h * bent.x)[0] for k in (-2, -1, 0, 1, 2)]
    second = (-parts[0] + 16 * parts[1] - 30 * parts[2] + 16 * parts[3] - parts[4]) / 12 / h**2
    assert bias == pytest.approx(second, rel=2e-6, abs=2e-6 * np.abs(second).max())


def test_strains_are_the_derivative_of_frames_along_the_curve(bent: Bent) -> None:
    s, h = np.array([0.11, 0.3, 0.47, 0.71]), 1e-5
    ahead, behind, here = (bent.map.frames(s + k) for k in (h, -h, 0.0))
    for plan in (ahead, behind, here):
        bent.map.frame(plan, bent.c)
    strains = bent.map.strains(s)
    bent.map.strain(strains, bent.c)
    slope = se3.log(se3.inverse(here.g) @ ahead.g) - se3.log(se3.inverse(here.g) @ behind.g)
    assert slope / (2 * h) == pytest.approx(strains.e, rel=1e-6, abs=1e-6)


def test_one_pass_gives_what_two_give(bent: Bent) -> None:
    plan = bent.map.frames(bent.s)
    bent.map.frame_and_strain(plan, bent.c)
    for name, other in (("g", bent.frames), ("J", bent.frames), ("e", bent.strains)):
        assert np.array_equal(getattr(plan, name), getattr(other, name))


def test_only_declared_rows_move_and_strain(bent: Bent) -> None:
    declared = bent.map.settings.capabilities
    twist = np.einsum(
        "sia,sa->si", bent.frames.J[:, :, 6:], bent.local(bent.x)[bent.frames.element, 6:]
    )
    if declared.planar:
        still = [i for i in range(6) if i not in declared.frame_rows]
        assert not twist[:, still].any()
        assert not bent.strains.e[:, [i for i in range(5) if i not in declared.strain_rows]].any()
    assert not bent.map.strain_rule()[1][
        :, [i for i in range(6) if i not in declared.strain_rows]
    ].any()


def mass_matrix(rod_map: ANCFMap, q: Array, base: Array) -> Array:
    s, w = rod_map.mass_rule()
    plan, c = rod_map.frames(s), rod_map.configuration()
    rod_map.update(c, base, q)
    rod_map.frame(plan, c)
    M = rod_map.inertia(s) * w[:, None]
    total = np.zeros((6 + rod_map.nv,) * 2)
    for k, index in enumerate(rod_map.elements[plan.element]):
        keep = index >= 0
        block = plan.J[k].T @ (M[k][:, None] * plan.J[k])
        total[np.ix_(index[keep], index[keep])] += block[np.ix_(keep, keep)]
    return total[6:, 6:]


@pytest.mark.parametrize("kind", KINDS)
def test_mass_matrix_is_the_same_in_every_configuration(kind: str) -> None:
    bent = Bent(kind)
    straight = mass_matrix(bent.map, bent.map.rest(), np.eye(4))
    assert mass_matrix(bent.map, bent.c.q, bent.base) == pytest.approx(
        straight, rel=1e-12, abs=1e-15
    )
    line = bent.map.rod.mass_per_length(np.zeros(1))[0]
    h = LENGTH / 3
    # last node: int H^T H of one element, 13/35 for positions and h^2/105 for slopes
    assert straight[-1, -1] == pytest.approx(line * h**3 / 105, rel=1e-12)
    at = -1 - bent.map.d
    assert straight[at, at] == pytest.approx(line * h * 13 / 35, rel=1e-12)


def test_rotary_inertia_makes_the_mass_depend_on_the_configuration() -> None:
    rod_map = ANCF(3, rotary=True).discretise(rod_with())
    q = rod_map.rest()
    bent = q + 0.3 * np.random.default_rng(1).normal(size=q.size)
    first, second = (mass_matrix(rod_map, x, np.eye(4)) for x in (q, bent))
    assert np.abs(first - second).max() > 1e-6 * np.abs(first).max()


@pytest.mark.parametrize(("plane", "sign"), [("xz", 1.0), ("yz", -1.0)])
def test_rest_lies_on_the_natural_curve(plane: str, sign: float) -> None:
    def natural(s: float) -> tuple[float, ...]:
        bend = 2.0 - 3.0 * s
        return (0.0, bend, 0.0) if plane == "xz" else (bend, 0.0, 0.0)

    rod_map = ANCF(8, plane=plane).discretise(rod_with(natural))
    c, plan = rod_map.configuration(), rod_map.frames(np.linspace(0, LENGTH, 21))
    rod_map.update(c, np.eye(4), rod_map.rest())
    rod_map.frame(plan, c)
    angle = 2.0 * plan.s - 1.5 * plan.s**2
    axis = 0 if plane == "xz" else 1
    fine = np.linspace(0, LENGTH, 200001)
    side = np.sin(2.0 * fine - 1.5 * fine**2)
    where = np.concatenate([[0], np.cumsum(0.5 * (side[1:] + side[:-1]) * np.diff(fine))])
    expected = sign * np.interp(plan.s, fine, where)
    assert plan.g[:, axis, 3] == pytest.approx(expected, abs=2e-6)
    assert plan.g[:, axis, 2] == pytest.approx(sign * np.sin(angle), abs=2e-4)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"elements": 0}, "elements"),
        ({"elements": 2.5}, "elements"),
        ({"planar": "yes"}, "planar"),
        ({"plane": "xy"}, "plane"),
        ({"planar": False, "plane": "yz"}, "plane"),
        ({"inextensible": 1}, "inextensible"),
        ({"rotary": None}, "rotary"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, object], field: str) -> None:
    with pytest.raises(DescriptionError, match=field):
        ANCF(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("formulation", "rod", "field"),
    [
        (ANCF(3), rod_with((0.5, 0.0, 0.0)), "natural"),
        (ANCF(3, plane="yz"), rod_with((0.0, 0.5, 0.0)), "natural"),
        (ANCF(3), rod_with((0.0, 0.0, 0.5)), "natural"),
        (ANCF(3, planar=False), rod_with((0.0, 0.5, 0.0)), "natural"),
        (ANCF(3, planar=False), rod_with(section=Rectangle(0.01, 0.02)), "section"),
    ],
)
def test_rods_that_it_cannot_be_are_refused(formulation: ANCF, rod: Rod, field: str) -> None:
    with pytest.raises(DescriptionError, match=field):
        formulation.discretise(rod)


@pytest.mark.parametrize(("along", "told"), [("x", False), ("-z", False), ("y", True)])
def test_gravity_across_the_plane_is_told(along: str, told: bool) -> None:
    """The rod bends in its local xz plane: vertical for poses along x and z, horizontal along y."""
    robot = pl.Robot()
    section = pl.Stiffness(bending=0.02, twist=0.02, shear=1e4, axial=1e4, mass=0.1)
    robot.add_rod("finger", 0.2, section, pose=pl.along(along))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        still = robot.statics(formulation=ANCF(4))
    assert [bool(item) for item in found] == [True] * told
    if told:
        # a cantilever under its weight, q L^4 / (8 EI)
        assert "'finger': in equilibrium" in str(found[0].message)
        assert "local x axis by about 0.0098 m (4.9 % of its length)" in str(found[0].message)
        assert abs(still.tip("finger")[2, 3]) < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.statics(formulation=ANCF(4, planar=False))
        robot.statics(formulation=ANCF(4, plane="yz") if told else ANCF(4))
