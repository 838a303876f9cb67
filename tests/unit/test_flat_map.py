"""Maps, momenta and charts in a plane have the numbers of those in space."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.lie import se3
from pliant.lie.charts import set_chart_rates
from pliant.physics.inertia import flat_momentum, step_momentum
from pliant.rods.flat import FlatMap
from pliant.rods.spectral import SpectralMap

CHANCE = np.random.default_rng(4)
SIZES = (1e-9, 0.05, 0.8, 2.0)


def inside(normal: int) -> np.ndarray:
    return np.array([normal, 3 + (normal + 1) % 3, 3 + (normal + 2) % 3])


def in_plane(size: float, count: int, normal: int) -> np.ndarray:
    found = np.zeros((count, 6))
    found[:, inside(normal)] = size * CHANCE.uniform(-1.0, 1.0, (count, 3))
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("normal", [0, 1])
def test_flat_maps_are_those_of_space(normal: int, size: float) -> None:
    rod = pl.Robot().add_rod("arm", 1.0, pl.Circle(0.01), pl.Material(E=1e6, nu=0.4))
    space, own = SpectralMap(rod, 3, 4), inside(normal)
    flat = space.in_plane(normal)
    assert isinstance(flat, FlatMap)
    base, q = se3.exp(CHANCE.normal(size=6)), in_plane(size, 12, normal)
    q[:, 5] += 1.0 / 12.0
    at, there = space.configuration(), flat.configuration()
    space.update(at, base, q.ravel())
    flat.update(there, base, q.ravel())
    s, _ = space.strain_rule()
    a, b = space.strains(s), flat.strains(s)
    space.frame_and_strain(a, at)
    flat.frame_and_strain(b, there)
    columns = np.concatenate([6 * i + own for i in range(4)])
    close = {"rtol": 0.0, "atol": 1e-13}
    np.testing.assert_allclose(b.g, a.g, **close)
    np.testing.assert_allclose(b.J, a.J[:, :, columns], **close)
    np.testing.assert_allclose(b.e, a.e, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(b.B, a.B[:, :, columns], rtol=0.0, atol=1e-12 * np.abs(a.B).max())

    x = in_plane(size, 13, normal)
    moves = (x.ravel(), np.concatenate([x[0], x[1:, own].ravel()]))
    moved = base @ se3.exp(x[0])
    for one, other in (
        (space.retract(at, moved, moves[0]), flat.retract(there, moved, moves[1])),
        (space.advance(at, base, moves[0]), flat.advance(there, base, moves[1])),
    ):
        np.testing.assert_allclose(other, one, **close)

    force, rates = in_plane(1.0, len(s), normal), CHANCE.normal(size=(4, 12))
    for second, third in (
        (space.frame_second, flat.frame_second),
        (space.strain_second, flat.strain_second),
    ):
        K, H = np.zeros((4, 24, 24)), np.zeros((4, 12, 12))
        second(a, at, force, K)
        third(b, there, force, H)
        K = K[:, columns][:, :, columns]
        np.testing.assert_allclose(H, K, rtol=0.0, atol=1e-12 * np.abs(K).max())
    whole, bias = np.zeros((4, 24)), np.zeros((2, len(s), 6))
    whole[:, columns] = rates
    space.frame_bias(a, at, whole, bias[0])
    flat.frame_bias(b, there, rates, bias[1])
    np.testing.assert_allclose(bias[1], bias[0], rtol=0.0, atol=1e-12)


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
