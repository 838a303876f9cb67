"""States of a chain on Chebyshev grids: the past that time rules need, and what results need."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp import chebyshev
from pliant.bvp.arrays import BODY, JOINT
from pliant.bvp.chain import Chain
from pliant.bvp.collocation_grid import Grid, Order
from pliant.bvp.collocation_kernels import Shape
from pliant.bvp.collocation_system import System
from pliant.bvp.contract import State, blank_state
from pliant.lie import quaternion
from pliant.lie.tuples import Array

LEAST_KNOTS = 49


@dataclass
class Instant:
    """What a time rule needs of one instant, on the grid; body frame.

    strain : (6, G) beyond the one at rest, velocity : (6, G), bodies : (B, 6) velocity of bodies,
    each with its rate; base : (4, 4), twist : (6,) of the base; x : (U,) unknowns.
    """

    strain: Array
    strain_rate: Array
    velocity: Array
    velocity_rate: Array
    bodies: Array
    bodies_rate: Array
    base: Array
    twist: Array
    x: Array

    def regridded(self, old: Grid, new: Grid) -> Instant:
        """The same instant on other grids."""

        def moved(field: Array) -> Array:
            return on_grid(old.orders, new.orders, field)

        return replace(
            self,
            strain=moved(self.strain),
            strain_rate=moved(self.strain_rate),
            velocity=moved(self.velocity),
            velocity_rate=moved(self.velocity_rate),
            x=moved_unknowns(old, new, self.x),
        )


def on_grid(old: list[Order], new: list[Order], field: Array) -> Array:
    """Values (c, G) of a field on the grids of other orders."""
    parts, place = [], 0
    for a, b in zip(old, new, strict=True):
        values = field[:, place : place + a.grid]
        parts.append(values if a.grid == b.grid else values @ chebyshev.between(a.grid, b.grid).T)
        place += a.grid
    return np.concatenate(parts, axis=1)


def moved_unknowns(old: Grid, new: Grid, x: Array) -> Array:
    """Unknowns (U,) on the nodes of other orders."""
    found = np.zeros(new.unknowns)
    found[: old.base_unknowns] = x[: old.base_unknowns]
    found[new.unknowns - new.tip_unknowns :] = x[old.unknowns - old.tip_unknowns :]
    for k, (a, b) in enumerate(zip(old.orders, new.orders, strict=True)):
        for n, m, of, to in (
            (a.moment, b.moment, old.layout.moment_at[k], new.layout.moment_at[k]),
            (a.force, b.force, old.layout.force_at[k], new.layout.force_at[k]),
        ):
            if n and m:
                values = chebyshev.between(n, m) @ x[of : of + 3 * n].reshape(n, 3)
                found[to : to + 3 * m] = values.ravel()
    return found


def body_velocities(chain: Chain, shape: Shape) -> Array:
    """Body twists (B, 6) of the sections that carry bodies."""
    rows = [e for e, event in enumerate(chain.events) if event.kind == BODY]
    found = np.zeros((len(rows), 6))
    for k, e in enumerate(rows):
        R = shape.sections[e, :9].reshape(3, 3)
        found[k] = np.concatenate([R.T @ shape.sections[e, 12:15], R.T @ shape.sections[e, 15:18]])
    return found


def in_body(shape: Shape, angular: Array, linear: Array) -> Array:
    """World fields (3, G) as one field (6, G) in the body frame."""
    R = shape.R.reshape(3, 3, -1)
    return np.concatenate([np.einsum("jig,jg->ig", R, f) for f in (angular, linear)])


def make_state(chain: Chain, grid: Grid, shape: Shape, strain_rate: Array) -> State:
    """The state at knots: Chebyshev points again, dense enough for cubic interpolation."""
    counts = [max(LEAST_KNOTS, 3 * order.grid) for order in grid.orders]
    piece = np.repeat(np.arange(len(counts)), counts)
    state = blank_state(piece, np.zeros(len(piece)))
    wrench, velocity = in_body(shape, shape.M, shape.N), in_body(shape, shape.W, shape.V)
    fields = np.concatenate([shape.h, shape.p, wrench, grid.fields.natural + shape.e, velocity,
                             strain_rate])  # fmt: skip
    place = 0
    for k, part in enumerate(grid.slices()):
        rows = slice(place, place + counts[k])
        place += counts[k]
        a, b = chain.pieces[k].a, chain.pieces[k].b
        state.s[rows] = a + 0.5 * (b - a) * (1.0 + chebyshev.points(counts[k]))
        state.s[rows.stop - 1] = b
        values = chebyshev.between(grid.orders[k].grid, counts[k]) @ fields[:, part].T
        h = values[:, :4] / np.linalg.norm(values[:, :4], axis=1, keepdims=True)
        state.pose[rows, :3, :3] = quaternion.to_matrix(h)
        state.pose[rows, :3, 3] = values[:, 4:7]
        state.wrench[rows], state.strain[rows] = values[:, 7:13], values[:, 13:19]
        state.velocity[rows], state.strain_rate[rows] = values[:, 19:25], values[:, 25:31]
    return state


# -- from a state that another method may have made ------------------------------------------


def sampled(state: State, piece: int, values: Array, s: Array) -> Array:
    """Values (S, c) at arclengths s of a piece from values (K, c) at the knots, by cubic splines."""
    rows = np.flatnonzero(state.piece == piece)
    places, index = np.unique(state.s[rows], return_index=True)
    return np.asarray(CubicSpline(places, values[rows[index]])(np.clip(s, places[0], places[-1])))


def instant_from(chain: Chain, system: System, state: State) -> Instant:
    """A state at knots as an instant on the grid, rates zero."""
    grid = system.grid
    strain, velocity = np.zeros((6, grid.size)), np.zeros((6, grid.size))
    for k, part in enumerate(grid.slices()):
        strain[:, part] = sampled(state, k, state.strain, grid.s[part]).T
        velocity[:, part] = sampled(state, k, state.velocity, grid.s[part]).T
    strain -= grid.fields.natural
    strain[grid.rigid] = 0.0
    zero = np.zeros_like(strain)
    bodies = _velocities_at_bodies(chain, state)
    first = state.pose[0], state.velocity[0]
    x = unknowns_from(chain, system, state)
    return Instant(strain, zero, velocity, zero.copy(), bodies, np.zeros_like(bodies), *first, x)


def unknowns_from(chain: Chain, system: System, state: State) -> Array:
    """Unknowns (U,) that a state at knots says; reactions at the tip are left zero."""
    grid = system.grid
    x = np.zeros(grid.unknowns)
    force = np.einsum("kij,kj->ki", state.pose[:, :3, :3], state.wrench[:, 3:])
    for k, order in enumerate(grid.orders):
        piece = chain.pieces[k]
        for count, first, values in (
            (order.moment, grid.layout.moment_at[k], state.wrench[:, :3]),
            (order.force, grid.layout.force_at[k], force),
        ):
            if count:
                s = piece.a + 0.5 * piece.length * (1.0 + chebyshev.points(count))
                x[first : first + 3 * count] = sampled(state, k, values, s).ravel()
    return x


def _velocities_at_bodies(chain: Chain, state: State) -> Array:
    """Body twists (B, 6) at the bodies of a state at knots."""
    found = []
    last = len(chain.pieces) - 1
    groups = [(k, piece.before) for k, piece in enumerate(chain.pieces)]
    for k, events in [*groups, (last + 1, chain.at_tip)]:
        joint = max((i for i, e in enumerate(events) if e.kind == JOINT), default=-1)
        for i, event in enumerate(events):
            if event.kind != BODY:
                continue
            ends = np.flatnonzero(state.piece == (k - 1 if i < joint or k > last else k))
            found.append(state.velocity[ends[-1] if i < joint or k > last else ends[0]])
    return np.array(found).reshape(-1, 6)
