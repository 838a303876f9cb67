"""A chain of rods on Chebyshev grids: section data, loads, events and the maps between grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pliant.bvp import chebyshev
from pliant.bvp.arrays import BODY, JOINT, LOAD
from pliant.bvp.chain import Chain
from pliant.lie.tuples import Array
from pliant.model import Body
from pliant.rods.contract import Ints


class Order(NamedTuple):
    """Numbers of points in one piece.

    moment, force : nodes at which internal moment and force are unknown; force is 0 for a rod that
    neither shears nor stretches.  grid : points at which states and their histories are kept.
    """

    moment: int
    force: int
    grid: int


class Layout(NamedTuple):
    """Where things are, for P pieces with G grid points and U unknowns in all.

    first : (P + 1,) first grid point of each piece.  moment, force : (P,) nodes of each piece.
    moment_at, force_at : (P,) first unknown of each.  Q, to_moment, from_moment, to_force,
    from_force : matrices of all pieces one after another, that of piece k from at[k] on, for
    integration from the start of the piece (metres), grid to nodes and nodes to grid.
    at : (5, P) these beginnings.
    """

    first: Ints
    moment: Ints
    force: Ints
    moment_at: Ints
    force_at: Ints
    Q: Array
    to_moment: Array
    from_moment: Array
    to_force: Array
    from_force: Array
    at: Ints


class Fields(NamedTuple):
    """Data at the G grid points, one row for each component.

    S : (6, G) compliance 1 / (C + c0 D), 0 for what is rigid.  offset : (6, G) strain beyond the
    one at rest without wrench.  natural : (6, G) strain at rest.  strain, velocity : (6, G)
    histories H.  J : (3, G) rotary inertia, kg m.  A : (G,) kg/m.  force, moment : (3, G) loads per
    length in the world frame; body_force, body_moment : following the section.
    drag : (3, G) kg/m^2.  mass_damping : (G,) 1/s.
    """

    S: Array
    offset: Array
    natural: Array
    strain: Array
    velocity: Array
    J: Array
    A: Array
    force: Array
    moment: Array
    body_force: Array
    body_moment: Array
    drag: Array
    mass_damping: Array


class Events(NamedTuple):
    """Loads, bodies and joints between the pieces.

    first : (P + 2,) events first[k] to first[k + 1] lie before piece k, those of k = P at the tip.
    kind, row : (E,).  loads : (., 15) offset, world wrench, body wrench.  mass : (., 6, 6);
    history : (., 6) H of a body's velocity.  weight : (., 4) mass and centre.
    joints : (., 12) rotation by rows and translation.  gravity : (3,).
    """

    first: Ints
    kind: Ints
    row: Ints
    loads: Array
    mass: Array
    history: Array
    weight: Array
    joints: Array
    gravity: Array


class Grid:
    """The chain on its grids.

    orders : of each piece.  base_unknowns, tip_unknowns : at the beginning and end of the vector.
    unknowns : in all.  s : (G,) arclength on the rod of each grid point.  weights : (G,) of the
    integral over all pieces, m.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], ends: tuple[int, int]) -> None:
        self.chain = chain
        self.orders = list(orders)
        self.base_unknowns, self.tip_unknowns = ends
        self.layout = self._layout()
        self.size = int(self.layout.first[-1])
        self.unknowns = ends[0] + ends[1] + sum(3 * (o.moment + o.force) for o in self.orders)
        self.s = np.concatenate(
            [
                piece.a + 0.5 * piece.length * (1.0 + chebyshev.points(order.grid))
                for piece, order in zip(chain.pieces, self.orders, strict=True)
            ]
        )
        self.weights = np.concatenate(
            [
                0.5 * piece.length * chebyshev.integration(order.grid)[-1]
                for piece, order in zip(chain.pieces, self.orders, strict=True)
            ]
        )
        self.fields = self._sample()
        self.events = compile_events(chain)
        self._given: list[Array] | None = None
        self.rest()

    def slices(self) -> list[slice]:
        """Grid points of each piece."""
        return [slice(int(a), int(b)) for a, b in pairwise(self.layout.first)]

    def scale(self) -> Array:
        """Units (U,) of the balance equations, and of the unknowns: N m, N; 1 at the ends."""
        found = np.ones(self.unknowns)
        for k, order in enumerate(self.orders):
            a, b = int(self.layout.moment_at[k]), int(self.layout.force_at[k])
            found[a : a + 3 * order.moment] = self.chain.scale[0]
            found[b : b + 3 * order.force] = self.chain.scale[3]
        return found

    def _layout(self) -> Layout:
        matrices: list[list[Array]] = [[], [], [], [], []]
        place = self.base_unknowns
        moment_at, force_at = [], []
        for piece, order in zip(self.chain.pieces, self.orders, strict=True):
            moment_at.append(place)
            force_at.append(place + 3 * order.moment)
            place += 3 * (order.moment + order.force)
            matrices[0].append(0.5 * piece.length * chebyshev.integration(order.grid))
            for nodes, which in ((order.moment, 1), (order.force, 3)):
                if nodes:
                    matrices[which].append(chebyshev.between(order.grid, nodes))
                    matrices[which + 1].append(chebyshev.between(nodes, order.grid))
                else:
                    matrices[which].append(np.zeros((0, order.grid)))
                    matrices[which + 1].append(np.zeros((order.grid, 0)))
        at = [np.cumsum([0, *(m.size for m in group[:-1])]) for group in matrices]
        flat = [np.concatenate([m.ravel() for m in group]) for group in matrices]
        return Layout._make(
            [
                np.cumsum([0, *(order.grid for order in self.orders)]),
                np.array([order.moment for order in self.orders]),
                np.array([order.force for order in self.orders]),
                np.array(moment_at),
                np.array(force_at),
                *flat,
                np.array(at),
            ]
        )

    # -- section data ------------------------------------------------------------------------

    def _sample(self) -> Fields:
        G = self.size
        self.C, self.D, self.active = np.zeros((6, G)), np.zeros((6, G)), np.zeros((6, G))
        self.rigid = np.zeros((6, G), dtype=bool)
        six = [np.zeros((6, G)) for _ in range(5)]
        three = [np.zeros((3, G)) for _ in range(5)]
        fields = Fields._make([*six, np.zeros((3, G)), np.zeros(G), *three, np.zeros(G)])
        for part, piece in zip(self.slices(), self.chain.pieces, strict=True):
            rod, s = piece.rod, self.s[part]
            self.C[:, part] = rod.stiffness(s).T
            self.D[:, part] = rod.damping(s).T
            self.rigid[3:, part] = rod.theory == "kirchhoff"
            fields.natural[:, part] = rod.natural_strain(s).T
            inertia = rod.inertia(s).T
            fields.J[:, part] = inertia[:3]
            fields.A[part] = inertia[3]
            fields.drag[:, part] = rod.drag_coefficients()[:, None]
            fields.mass_damping[part] = rod.mass_damping
        return fields

    def rest(self) -> None:
        """No motion: the law without damping, no history."""
        zero = np.zeros((6, self.size))
        self.set_history(0.0, zero, zero, np.zeros_like(self.events.history))

    def set_history(self, c0: float, strain: Array, velocity: Array, bodies: Array) -> None:
        """Set c0 and the histories H (6, G) of strain and velocity, and of bodies (B, 6).

        With e the strain beyond the one at rest, (m, n) = C e + D (c0 e + H) + active, so that
        e = S ((m, n) - D H - active), S = 1 / (C + c0 D), where active is the wrench that chambers
        carry. A rod that neither shears nor stretches has S = 0.
        """
        fields = self.fields
        np.divide(1.0, self.C + c0 * self.D, out=fields.S)
        fields.S[self.rigid] = 0.0
        fields.strain[:] = strain
        self._set_offset()
        fields.velocity[:] = velocity
        self.events.history[:] = bodies

    def _set_offset(self) -> None:
        fields = self.fields
        np.multiply(-fields.S, self.D * fields.strain + self.active, out=fields.offset)

    # -- loads -------------------------------------------------------------------------------

    def load(self, values: Mapping[str, Any], share: float = 1.0) -> None:
        """Apply `share` of gravity and of the loads for input values by name."""
        description = self.chain.description
        names = [*description.loads, *description.chambers]
        given = [share, *(values[name] for name in names)]
        if self._given is not None and all(
            np.array_equal(a, b) for a, b in zip(self._given, given, strict=True)
        ):
            return
        self._given = [np.array(value, dtype=float) for value in given]
        gravity = share * np.asarray(self.chain.description.gravity)
        self.events.gravity[:] = gravity
        self.events.loads[:, 3:] = share * self.chain.point_wrenches(values)
        fields = self.fields
        np.multiply(gravity[:, None], fields.A, out=fields.force)
        for field in (fields.moment, fields.body_force, fields.body_moment):
            field[:] = 0.0
        for part, piece in zip(self.slices(), self.chain.pieces, strict=True):
            for load in self.chain.line_loads(piece.rod):
                density = self.chain.line_density(load, piece, self.s[part], values)
                wrench = share * density.T
                world = load.frame == "world"
                (fields.moment if world else fields.body_moment)[:, part] += wrench[:3]
                (fields.force if world else fields.body_force)[:, part] += wrench[3:]
        self._pressurise(values, share)

    def _pressurise(self, values: Mapping[str, Any], share: float) -> None:
        """Set the wrench -p dV/d(strain) (6, G) that chambers carry inside the rods."""
        for part, piece in zip(self.slices(), self.chain.pieces, strict=True):
            self.active[:, part] = share * self.chain.active_wrench(piece, self.s[part], values).T
        self._set_offset()

    def follows(self) -> bool:
        """True if loads along the rods turn with the sections."""
        return bool(self.fields.body_force.any() or self.fields.body_moment.any())


def compile_events(chain: Chain) -> Events:
    """Events of a chain as arrays, the loads still zero."""
    counts = [len(piece.before) for piece in chain.pieces] + [len(chain.at_tip)]
    kinds = np.array([event.kind for event in chain.events], dtype=np.int64)
    rows = np.zeros(len(kinds), dtype=np.int64)
    for kind in (LOAD, BODY, JOINT):
        rows[kinds == kind] = np.arange(int(np.sum(kinds == kind)))
    bodies = [event.part for event in chain.events if isinstance(event.part, Body)]
    loads = np.zeros((int(np.sum(kinds == LOAD)), 15))
    offsets = [event.offset for event in chain.events if event.kind == LOAD]
    loads[:, :3] = np.array(offsets).reshape(-1, 3)
    poses = [event.pose for event in chain.events if event.kind == JOINT]
    return Events(
        np.cumsum([0, *counts]),
        kinds,
        rows,
        loads,
        np.array([body.spatial_inertia() for body in bodies]).reshape(-1, 6, 6),
        np.zeros((len(bodies), 6)),
        np.array([[body.mass, *body.arm()] for body in bodies]).reshape(-1, 4),
        np.array([[*g[:3, :3].ravel(), *g[:3, 3]] for g in poses]).reshape(-1, 12),
        np.array(chain.description.gravity, dtype=float),
    )
