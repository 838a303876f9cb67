"""Maps, momenta and charts in a plane have the numbers of those in space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.lie.charts import set_chart_rates
from pliant.physics.inertia import flat_momentum, step_momentum
from pliant.rods.bspline import BSplineMap
from pliant.rods.nodal import NodalMap

CHANCE = np.random.default_rng(4)
SIZES = (1e-9, 0.05, 0.8, 2.0)


def inside(normal: int) -> np.ndarray:
    return np.array([normal, 3 + (normal + 1) % 3, 3 + (normal + 2) % 3])


def in_plane(size: float, count: int, normal: int) -> np.ndarray:
    found = np.zeros((count, 6))
    found[:, inside(normal)] = size * CHANCE.uniform(-1.0, 1.0, (count, 3))
    return found


def spaces(rod: pl.Rod) -> dict[str, Any]:
    return {
        "nodes": NodalMap(rod, 3, 4),
        "curve": BSplineMap(rod, pl.BSpline(3, 7)),
        "fine curve": BSplineMap(rod, pl.BSpline(5, 9)),
        "power": BSplineMap(rod, pl.BSpline(2, 7, basis="power")),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("normal", [0, 1])
@pytest.mark.parametrize("kind", ["nodes", "curve", "fine curve", "power"])
def test_flat_maps_are_those_of_space(kind: str, normal: int, size: float) -> None:
    rod = pl.Robot().add_rod("arm", 1.0, pl.Circle(0.01), pl.Material(E=1e6, nu=0.4))
    space, own = spaces(rod)[kind], inside(normal)
    flat = space.in_plane(normal)
    count = space.increments
    base, q = se3.exp(CHANCE.normal(size=6)), in_plane(size, count, normal)
    q[:, 5] += 1.0 / count
    at, there = space.configuration(), flat.configuration()
    space.update(at, base, q.ravel())
    flat.update(there, base, q.ravel())
    s, _ = space.strain_rule()
    a, b = space.strains(s), flat.strains(s)
    space.frame_and_strain(a, at)
    flat.frame_and_strain(b, there)
    close = {"rtol": 0.0, "atol": 1e-13}
    np.testing.assert_allclose(b.g, a.g, **close)
    np.testing.assert_allclose(b.e, a.e, rtol=0.0, atol=1e-12 * np.abs(a.e).max())
    for one, other in (
        (b.J, lifted(space, at, a.element, a.J)),
        (b.B, lifted(space, at, a.element, a.B)),
    ):
        other = columns_of(other, own)
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * np.abs(other).max())

    x = in_plane(size, count + 1, normal)
    moves = (x.ravel(), np.concatenate([x[0], x[1:, own].ravel()]))
    moved = base @ se3.exp(x[0])
    for one, other in (
        (space.retract(at, moved, moves[0]), flat.retract(there, moved, moves[1])),
        (space.advance(at, base, moves[0]), flat.advance(there, base, moves[1])),
    ):
        np.testing.assert_allclose(other, one, **close)

    force, elements = in_plane(1.0, len(s), normal), len(space.first)
    for which in ("frame", "strain"):
        K, H = np.zeros((elements, space.m, space.m)), np.zeros((elements, flat.m, flat.m))
        getattr(space, f"{which}_second")(a, at, force, K)
        getattr(flat, f"{which}_second")(b, there, force, H)
        gradient = np.zeros((elements, space.m))
        np.add.at(
            gradient, a.element, np.einsum("sia,si->sa", a.J if which == "frame" else a.B, force)
        )
        whole = np.zeros_like(K)
        space.lift_tangent(at, gradient, None, K, whole, np.zeros(6))
        flats = np.zeros((elements, *2 * flat.elements.shape[1:]))
        flat.lift_tangent(there, gradient, None, H, flats, np.zeros(6))
        # in space an increment gives what it gives to one of its elements
        one, other = assembled(flat, flats), assembled(space, whole)
        places = np.concatenate([own + 6 * n for n in range(count + 1)])
        here = np.concatenate([own, np.arange(6, 6 + 3 * count)])
        other = other[np.ix_(places, places)]
        size = np.abs(other).max()
        np.testing.assert_allclose(one[np.ix_(here, here)], other, rtol=0.0, atol=1e-11 * size)
    rates = in_plane(1.0, count + 1, normal)
    accelerations = []
    for map, c, plan, v in ((space, at, a, rates.ravel()), (flat, there, b, None)):
        v = np.concatenate([rates[0], rates[1:, own].ravel()]) if v is None else v
        entries = np.where(map.elements >= 0, v[np.maximum(map.elements, 0)], 0.0)
        y, bias = np.zeros((2, elements, map.m)), np.zeros((len(s), 6))
        map.lift_velocity(c, entries, y[0])
        map.lift_bias(c, entries, y[1])
        map.frame_bias(plan, c, y[0], bias)
        accelerations.append(bias + np.einsum("sia,sa->si", plan.J, y[1][plan.element]))
    np.testing.assert_allclose(accelerations[1], accelerations[0], rtol=0.0, atol=1e-12)


def lifted(space: Any, c: Any, element: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Derivatives (S, 6, m) in the twists of poses from those in element variables."""
    found = np.empty_like(J)
    for s, e in enumerate(element):
        rows, out = np.zeros((2, len(space.first), 6, space.m))
        rows[e] = J[s]
        space.lift_rows(c, rows, out)
        found[s] = out[e]
    return found


def assembled(space: Any, K: np.ndarray) -> np.ndarray:
    """Blocks (E, n, n) of elements as one matrix."""
    found = np.zeros((6 + space.nv + 1, 6 + space.nv + 1))
    for entries, block in zip(space.elements, K, strict=True):
        found[np.ix_(entries, entries)] += block
    return found[:-1, :-1]


def columns_of(values: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Entries in the plane of the last axis, which has those of twists."""
    return values.reshape(*values.shape[:-1], -1, 6)[..., own].reshape(*values.shape[:-1], -1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("normal", [0, 1, 2])
def test_momenta_in_a_plane_are_those_of_space(normal: int, size: float) -> None:
    x, M, own = in_plane(size, 5, normal), CHANCE.uniform(0.5, 2.0, (5, 6)), inside(normal)
    ga = se3.exp(CHANCE.normal(size=(5, 6)))
    step = (M, ga, ga @ se3.exp(x), 0.1, True)
    found, space = (tuple(np.zeros((5, 6)) for _ in range(3)) for _ in range(2))
    slope, slopes = np.zeros((2, 5, 6, 6))
    flat_momentum(normal, *step, *found, slope)
    step_momentum(*step, *space, slopes)
    for one, other in zip(found, space, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-13 * max(1.0, np.abs(other).max()))
    places = np.ix_(range(5), own, own)
    np.testing.assert_allclose(slope[places], slopes[places], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("normal", [0, 1, 2])
def test_chart_rates_in_a_plane_are_those_of_space(normal: int, size: float) -> None:
    X = in_plane(size, 1, normal)[0]
    W, Y = in_plane(1.0, 2, normal)
    own, found = inside(normal), np.zeros((4, 6))
    flat, none = np.full((1, 6), -1), np.zeros((0, 3), dtype=np.int64)
    flat[0, own] = own
    set_chart_rates(np.arange(6)[None], none, X, W, Y, *found[:2])
    set_chart_rates(flat, none, X, W, Y, *found[2:])
    np.testing.assert_allclose(found[2:], found[:2], rtol=0.0, atol=1e-14)
