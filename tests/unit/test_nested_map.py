"""Every derivative of the map of nested tubes, perturbed on the manifold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from pliant.lie import se3
from pliant.model import Annulus, Centreline, Circle, Rod, Tube, centreline
from pliant.rods.bspline import BSpline
from pliant.rods.contract import Array, Formulation
from pliant.rods.hermite import Hermite
from pliant.rods.nested import NestedMap
from pliant.rods.strain import Strain
from tests.perturbed import LENGTH, RUBBER, Bent, second_difference


@dataclass(frozen=True)
class Nested(Formulation):
    """A formulation of the centreline, of nested tubes."""

    centre: Formulation

    def discretise(self, rod: Rod) -> NestedMap:
        assert isinstance(rod, Centreline)
        return NestedMap(rod, self.centre.discretise(rod))


def nest() -> Centreline:
    """A rod with two tubes inside, of which the inner one is the longest and turned by an input."""
    around = Rod("around", 0.3, Annulus(0.03, 0.025), RUBBER, natural=(0.3, 0.0, 0.2))
    middle = Tube(
        *("middle", 0.6, Annulus(0.02, 0.015), RUBBER),
        natural=(0.0, 0.5, 0.0),
        inside="around",
        start=-0.1,
    )
    inner = Tube(
        *("inner", LENGTH + 0.2, Circle(0.01), RUBBER),
        inside="middle",
        start=-0.2,
        angle=0.4,
        rotation="turn",
    )
    beside = Tube(
        *("beside", 0.7, Circle(0.005), RUBBER),
        inside="around",
        start=-0.1,
        shift="push",
        offset=(0.01, 0.02),
    )
    both = Tube(
        *("both", 0.5, Circle(0.005), RUBBER),
        natural=(0.0, 0.4, 0.1),
        inside="around",
        start=-0.15,
        angle=-0.3,
        shift="pull",
        rotation="twist",
        offset=(-0.02, 0.01),
    )
    return centreline((around, middle, inner, beside, both))


class BentTubes(Bent):
    """Sections of the centreline and of all tubes, also behind the entry plane."""

    def __init__(self, settings: Formulation) -> None:
        super().__init__(Nested(settings), nest())
        assert isinstance(self.map, NestedMap)
        rng, nested = np.random.default_rng(8), self.map
        own = [nested.station(1) + np.array([0.1, 0.2, 0.4, 0.6])]
        own += [nested.station(2) + np.array([0.05, 0.2, 0.55, 0.9, LENGTH + 0.2])]
        own += [nested.station(3) + np.array([0.05, 0.15, 0.4, 0.6, 0.7])]
        own += [nested.station(4) + np.array([0.05, 0.2, 0.3, 0.5])]
        guides = [nested.guide_station(field) for field in nested.fields]
        s = np.concatenate([[0.0, 0.1, 0.33, LENGTH], *own])
        self.frames, self.strains = nested.frames(s), nested.strains(np.append(s, guides))
        self.f, self.sigma = (
            rng.normal(size=(len(s), 6)),
            rng.normal(size=(len(s) + len(guides), 6)),
        )
        self.evaluate(self.c)
        self.g0 = self.frames.g.copy()

    def velocity(self, x: Array) -> Array:
        y = np.empty((len(self.map.elements), self.map.m))
        self.map.lift_velocity(self.c, np.append(x, 0.0)[self.map.elements], y)
        return y

    def _dense(self, block: Array) -> Array:
        """The sum over elements of rows or blocks, without unused entries."""
        shape = (self.size + 1,) * (block.ndim - 1)
        total = np.zeros(shape)
        for index, own in zip(self.map.elements, block, strict=True):
            np.add.at(total, np.ix_(*(index,) * own.ndim), own)
        return total[tuple(slice(self.size) for _ in shape)]

    def gradient(self) -> Array:
        r = np.empty(self.map.elements.shape)
        self.map.lift_vector(self.c, self.covector(), r)
        return self._dense(r)

    def hessian(self, balance: Array | None) -> tuple[Array, Array | None]:
        count, n = self.map.elements.shape
        Ky = np.zeros((count, self.map.m, self.map.m))
        self.map.frame_second(self.frames, self.c, self.f, Ky)
        self.map.strain_second(self.strains, self.c, self.sigma, Ky)
        K, base = np.empty((count, n, n)), np.empty(6)
        self.map.lift_tangent(self.c, self.covector(), balance, Ky, K, base)
        return self._dense(K), None if balance is None else base


@pytest.fixture(
    scope="module", params=[BSpline(3, 7), Hermite(3), Strain(2, 2)], ids=lambda x: type(x).__name__
)
def bent(request: pytest.FixtureRequest) -> BentTubes:
    return BentTubes(request.param)


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_frames_and_strains_of_tubes_follow_coordinates(bent: BentTubes, chart: str) -> None:
    step = 1e-6
    ends = [bent.moved(getattr(bent.map, chart), sign * step * bent.x) for sign in (1, -1)]
    y = bent.velocity(bent.x)
    eta = np.einsum("sia,sa->si", bent.frames.J, y[bent.frames.element])
    rate = np.einsum("sia,sa->si", bent.strains.B, y[bent.strains.element])
    size = np.max(np.abs(rate))
    assert (ends[0][0] - ends[1][0]) / (2 * step) == pytest.approx(eta, rel=1e-7, abs=1e-7)
    assert (ends[0][1] - ends[1][1]) / (2 * step) == pytest.approx(rate, rel=1e-7, abs=2e-8 * size)


def test_covectors_do_the_same_work_on_variables_and_coordinates(bent: BentTubes) -> None:
    work = float((bent.covector() * bent.velocity(bent.x)).sum())
    assert bent.gradient() @ bent.x == pytest.approx(work, rel=1e-11)


@pytest.mark.parametrize("chart", ["retract", "advance"])
def test_second_derivative_of_tubes(bent: BentTubes, chart: str) -> None:
    gradient = bent.gradient() if chart == "advance" else None
    x = bent.x.copy()
    if chart == "advance":
        x[:6] = 0.0  # how the base moves is not part of the chart
    H, _ = bent.hessian(gradient)
    exact = second_difference(lambda x: np.array(bent.potential(getattr(bent.map, chart), x)), x)
    assert x @ H @ x == pytest.approx(float(exact), rel=2e-5)


def test_bias_is_the_acceleration_at_constant_rates(bent: BentTubes) -> None:
    step, x = 1e-5, bent.x
    y = bent.velocity(x)
    bias, lifted = np.empty((len(bent.f), 6)), np.empty_like(y)
    bent.map.frame_bias(bent.frames, bent.c, y, bias)
    bent.map.lift_bias(bent.c, np.append(x, 0.0)[bent.map.elements], lifted)
    bias += np.einsum("sia,sa->si", bent.frames.J, lifted[bent.frames.element])

    def twists(t: float) -> Array:
        base = bent.base @ se3.exp(t * x[:6])
        other = bent.map.configuration()
        bent.map.update(other, base, bent.map.retract(bent.c, base, t * x))
        bent.map.frame(bent.frames, other)
        rates = np.empty_like(y)
        bent.map.lift_velocity(other, np.append(x, 0.0)[bent.map.elements], rates)
        found = np.einsum("sia,sa->si", bent.frames.J, rates[bent.frames.element])
        bent.evaluate(bent.c)
        return np.asarray(found)

    exact = (twists(step) - twists(-step)) / (2 * step)
    assert bias == pytest.approx(exact, rel=1e-5, abs=1e-6 * np.abs(exact).max())


def test_strain_of_a_tube_is_the_arclength_derivative_of_its_frame(bent: BentTubes) -> None:
    nested = bent.map
    assert isinstance(nested, NestedMap)
    own, step = np.array([0.05, 0.3, 0.47, 0.71, 0.93]), 1e-5
    plan = nested.strains(nested.station(2) + own)
    centre = nested.strains(np.maximum(own - 0.2, 0.0))
    nested.strain(plan, bent.c)
    nested.strain(centre, bent.c)
    ends = [nested.frames(nested.station(2) + own + sign * step) for sign in (1, -1)]
    for frames in ends:
        nested.frame(frames, bent.c)
    exact = se3.log(se3.inverse(ends[1].g) @ ends[0].g) / (2 * step)
    found = nested.tube_strains(plan, centre.e)
    assert found == pytest.approx(exact, rel=1e-5, abs=1e-5 * np.abs(exact).max())
