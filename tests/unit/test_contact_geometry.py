"""Gaps of contacts, their slopes and second derivatives, against differences."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lie import se3
from pliant.physics.contacts import friction
from pliant.physics.contacts.found import nothing_found
from pliant.physics.contacts.segments import Segments, bend_segments, find_segments
from pliant.physics.contacts.surfaces import (
    CYLINDER,
    PLANE,
    SPHERE,
    Balls,
    bend_balls,
    find_balls,
)


def random_balls(rng):
    """Balls outside and inside of obstacles, in the world and on a station that moves."""
    frames = np.asarray(se3.exp(0.7 * rng.normal(size=(4, 6))))
    axis = rng.normal(size=(6, 3))
    return frames, Balls(
        np.array([0, 1, 2, 0, 1, 2]),
        np.array([3, 3, 3, -1, -1, 3]),
        np.full(6, 0.1),
        np.array([PLANE, SPHERE, CYLINDER, SPHERE, CYLINDER, SPHERE]),
        rng.normal(size=(6, 3)),
        axis / np.linalg.norm(axis, axis=1)[:, None],
        np.full(6, 0.2),
        np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0]),
    )


def crossing_segments(rng):
    """Two crooked rods of varying radius that cross."""

    def rod(start, along, count):
        frames = np.tile(np.eye(4), (count, 1, 1))
        z = np.array(along) / np.linalg.norm(along)
        x = np.cross((0.3, 1.0, 0.2), z)
        x /= np.linalg.norm(x)
        frames[:, :3, :3] = np.column_stack([x, np.cross(z, x), z])
        frames[:, :3, 3] = np.array(start) + np.outer(np.linspace(0.0, 1.0, count), z)
        return frames @ np.asarray(
            se3.exp(rng.normal(size=(count, 6)) * np.repeat([0.15, 0.01], 3))
        )

    frames = np.concatenate([rod((-0.5, 0, 0.05), (1, 0, 0), 6), rod((0, -0.5, 0), (0.1, 1, 0), 7)])
    return frames, Segments(
        np.arange(6),
        6 + np.arange(7),
        np.linspace(0.04, 0.03, 6),
        np.linspace(0.03, 0.04, 7),
        np.linspace(0.0, 1.0, 6),
        np.linspace(0.0, 1.0, 7),
        -1.0,
        0.0,
    )


def searches():
    rng = np.random.default_rng(1)
    frames, balls = random_balls(rng)
    yield (
        "balls",
        frames,
        6,
        lambda G, found: find_balls(balls, G, found),
        lambda G, found, f, out: bend_balls(balls, G, f, out),
    )
    frames, segments = crossing_segments(rng)
    yield (
        "segments",
        frames,
        5,
        lambda G, found: find_segments(segments, G, 0, found),
        (lambda G, found, f, out: bend_segments(segments, G, 0, found, f, out)),
    )


@pytest.mark.parametrize(("frames", "rows", "find", "bend"), [
    pytest.param(*rest, id=name) for name, *rest in searches()
])  # fmt: skip
def test_slopes_and_second_derivatives_are_those_of_the_gap(frames, rows, find, bend):
    def at(x):
        found = nothing_found(rows)
        find(frames @ np.asarray(se3.exp(x.reshape(-1, 6))), found)
        return found

    here, size = at(np.zeros(6 * len(frames))), 6 * len(frames)
    unit = np.eye(size)
    met = np.flatnonzero(here.at[:, 0] >= 0)
    assert len(met) >= rows - 1
    force, blocks = np.linspace(0.5, 2.0, rows), np.zeros((rows, 24, 24))
    bend(frames, here, force, blocks)

    def gradients(found):
        out = np.zeros((rows, size))
        for i in range(rows):
            for k, station in enumerate(found.at[i]):
                if station >= 0:
                    out[i, 6 * station : 6 * station + 6] += found.slopes[i, k]
        return out

    step = 1e-6
    slopes = np.array([(at(step * e).gap - at(-step * e).gap) / (2.0 * step) for e in unit]).T
    assert gradients(here)[met] == pytest.approx(slopes[met], abs=1e-8)
    # phi(x) = phi + slope x + x B x / 2 along straight lines through zero of the charts
    step = 2e-5
    for x in np.random.default_rng(2).normal(size=(20, size)):
        ends = at(step * x).gap - 2.0 * here.gap + at(-step * x).gap
        for i in met:
            parts = [x[6 * s : 6 * s + 6] if s >= 0 else np.zeros(6) for s in here.at[i]]
            y = np.concatenate(parts)
            second = ends[i] / step**2 * force[i]
            assert y @ blocks[i] @ y == pytest.approx(second, abs=3e-5 * (1.0 + abs(second)))


def test_rods_find_the_closest_points_of_all_pairs():
    """Against the smallest distance of many points on both centre lines."""
    frames, segments = crossing_segments(np.random.default_rng(3))
    found = nothing_found(5)
    find_segments(segments, frames, 0, found)

    def points(stations, s):
        t = np.linspace(0.0, 1.0, 400)[:, None]
        rows = []
        for a, b, length in zip(stations, stations[1:], np.diff(s), strict=False):
            p, q, d, e = frames[a, :3, 3], frames[b, :3, 3], frames[a, :3, 2], frames[b, :3, 2]
            h = (2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, 3 * t**2 - 2 * t**3, t**3 - t**2)
            rows.append(h[0] * p + h[2] * q + length * (h[1] * d + h[3] * e))
        return np.array(rows)

    one, other = (
        points(x, s)
        for x, s in ((segments.first, segments.s_first), (segments.second, segments.s_second))
    )
    t = np.linspace(0.0, 1.0, 400)
    radii = np.concatenate(
        [a + t * (b - a) for a, b in zip(segments.r_second, segments.r_second[1:], strict=False)]
    )
    for i in np.flatnonzero(found.at[:, 0] >= 0):
        far = np.linalg.norm(one[i][:, None] - other.reshape(-1, 3)[None], axis=2)
        own = segments.r_first[i] + t * (segments.r_first[i + 1] - segments.r_first[i])
        assert found.gap[i] == pytest.approx(np.max(own[:, None] + radii - far), abs=1e-5)


def test_derivative_of_friction_in_the_twists():
    frames, balls = random_balls(np.random.default_rng(4))
    found, eta = nothing_found(6), np.random.default_rng(5).normal(size=(4, 6))
    find_balls(balls, frames, found)
    on, creep = np.ones(6), 0.3

    def rubbing(eta):
        slip, tau, out = np.zeros((6, 3)), np.zeros((6, 3)), np.zeros((6, 4, 6))
        friction.set_slip(found, frames, eta, 1.0, creep, on, slip, tau)
        friction.set_rubbing(found, frames, tau, on, out)
        return slip, out

    slip, out = rubbing(eta)
    assert np.abs(np.sum(slip * found.normal, axis=1)).max() < 1e-12
    lost = sum(
        np.sum(out[:, k] * eta[found.at[:, k]], axis=1) * (found.at[:, k] >= 0) for k in (0, 1)
    )
    assert (lost > 0.0).all()
    blocks = np.zeros((6, 24, 24))
    friction.bend_rubbing(found, frames, slip, creep, on, on, blocks)
    step = 1e-6
    for k in (0, 1):
        for j in range(6):
            for i in range(6):
                station = found.at[i, k]
                if station < 0:
                    continue
                x = np.zeros((4, 6))
                x[station, j] = step
                change = (rubbing(eta + x)[1][i] - rubbing(eta - x)[1][i]) / (2.0 * step)
                assert blocks[i, :, 6 * k + j].reshape(4, 6)[:2] == pytest.approx(
                    change[:2], abs=1e-7
                )
