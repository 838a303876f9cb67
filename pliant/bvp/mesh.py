"""A chain of rods cut into intervals: section data at their stages, loads, and time histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.bvp import equations as eq
from pliant.bvp.arrays import BODY, JOINT, LOAD, Arrays
from pliant.bvp.chain import Chain, Event
from pliant.lie.tuples import Array
from pliant.model import Body
from pliant.rods.contract import Ints


class Mesh:
    """The chain on N intervals.

    s : (N, 3) arclength on its rod of start, middle and end of each interval, m.
    piece : (N,) piece of each interval; first : (pieces + 1,) first interval of each piece.
    C, D, natural, M : (N, 3, 6) stiffness, damping, strain at rest, inertia per length.
    active : (N, 3, 6) wrench that chambers carry.
    rigid : (N,) True where the rod neither shears nor stretches.
    arrays : what kernels read; `load` and `set_history` write into it.
    """

    def __init__(self, chain: Chain, edges: list[Array]) -> None:
        self.chain = chain
        counts = [len(e) - 1 for e in edges]
        self.N = sum(counts)
        self.first = np.concatenate([[0], np.cumsum(counts)])
        self.piece = np.repeat(np.arange(len(counts)), counts)
        starts = np.concatenate([e[:-1] for e in edges])
        ends = np.concatenate([e[1:] for e in edges])
        self.s = np.stack([starts, 0.5 * (starts + ends), ends], axis=1)
        self._sample()
        self.arrays = self._arrays(ends - starts)
        self.sites, self.load_sites = self._sites(BODY), self._sites(LOAD)
        self.rest()

    def _sample(self) -> None:
        N = self.N
        self.C, self.D, self.natural, self.M = (np.zeros((N, 3, 6)) for _ in range(4))
        self.active = np.zeros((N, 3, 6))
        self.rigid = np.zeros(N, dtype=bool)
        for k, piece in enumerate(self.chain.pieces):
            rows = slice(self.first[k], self.first[k + 1])
            rod, s = piece.rod, self.s[rows].ravel()
            for target, ask in (
                (self.C, rod.stiffness),
                (self.D, rod.damping),
                (self.natural, rod.natural_strain),
                (self.M, rod.inertia),
            ):
                target[rows] = ask(s).reshape(-1, 3, 6)
            self.rigid[rows] = rod.theory == "kirchhoff"

    def _arrays(self, h: Array) -> Arrays:
        chain, N = self.chain, self.N
        counts = np.zeros(N + 2, dtype=np.int64)
        for k, piece in enumerate(chain.pieces):
            counts[self.first[k] + 1] += len(piece.before)
        counts[N + 1] += len(chain.at_tip)
        kinds = np.array([event.kind for event in chain.events], dtype=np.int64)
        rows = np.zeros(len(kinds), dtype=np.int64)
        for kind in (LOAD, BODY, JOINT):
            rows[kinds == kind] = np.arange(int(np.sum(kinds == kind)))
        bodies = [event for event in chain.events if event.kind == BODY]
        joints = [event.pose for event in chain.events if event.kind == JOINT]
        gravity = np.array(chain.description.gravity)
        return Arrays(
            h=np.ascontiguousarray(h),
            stages=self._stages(gravity),
            first_event=np.cumsum(counts),
            event_kind=kinds,
            event_row=rows,
            loads=np.zeros((int(np.sum(kinds == LOAD)), 15)),
            body_mass=np.array([_inertia(event) for event in bodies]).reshape(-1, 6, 6),
            body_history=np.zeros((len(bodies), 6)),
            body_weight=np.array([_weight(event) for event in bodies]).reshape(-1, 4),
            joints=np.array([[*g[:3, :3].ravel(), *g[:3, 3]] for g in joints]).reshape(-1, 12),
            gravity=gravity,
        )

    def _sites(self, kind: int) -> Ints:
        """Interval and end of it (.., 2) that each load or body sits at, on its own rod."""
        found = []
        starts = [*self.first[:-1], self.N]
        groups = [piece.before for piece in self.chain.pieces] + [self.chain.at_tip]
        for i, events in zip(starts, groups, strict=True):
            kinds = [event.kind for event in events]
            for k, event in enumerate(events):
                if event.kind == kind:
                    # at the end of the rod before it if a joint is still to come, or at the tip
                    last = i == self.N or JOINT in kinds[k:]
                    found.append((i - 1, 1) if last else (i, 0))
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _stages(self, gravity: Array) -> Array:
        P = np.zeros((self.N, 3, eq.COLUMNS))
        P[..., eq.ROTARY : eq.ROTARY + 3] = self.M[..., :3]
        P[..., eq.MASS] = self.M[..., 3]
        for k, piece in enumerate(self.chain.pieces):
            rows = slice(self.first[k], self.first[k + 1])
            P[rows, :, eq.DRAG : eq.DRAG + 3] = piece.rod.drag_coefficients()
            P[rows, :, eq.MASS_DAMPING] = piece.rod.mass_damping
        P[..., eq.FORCE_WORLD : eq.FORCE_WORLD + 3] = self.M[..., 3:4] * gravity
        return P

    # -- loads -------------------------------------------------------------------------------

    def load(self, values: Mapping[str, Any], share: float = 1.0) -> None:
        """Apply `share` of gravity, loads and pressures for input values by name.

        The law of pressurised rods changes with it: set the history, or `rest`, afterwards.
        """
        self.active[:] = share * self.pressures(values)
        self.arrays.loads[:] = share * self.point_loads(values)
        self.arrays.stages[..., eq.FORCE_WORLD : eq.DRAG] = share * self.line_loads(values)
        self.arrays.gravity[:] = share * np.asarray(self.chain.description.gravity)

    def point_loads(self, values: Mapping[str, Any]) -> Array:
        """Rows (loads, 15) of the loads at points."""
        offsets = [event.offset for event in self.chain.events if event.kind == LOAD]
        rows = np.array(offsets).reshape(-1, 3)
        return np.concatenate([rows, self.chain.point_wrenches(values)], axis=1)

    def pressures(self, values: Mapping[str, Any]) -> Array:
        """Wrench (N, 3, 6) that chambers carry inside the rods: -p dV/d(strain), body frame."""
        found = np.zeros((self.N, 3, 6))
        for k, piece in enumerate(self.chain.pieces):
            rows = slice(self.first[k], self.first[k + 1])
            wrench = self.chain.active_wrench(piece, self.s[rows].ravel(), values)
            found[rows] = wrench.reshape(-1, 3, 6)
        return found

    def line_loads(self, values: Mapping[str, Any]) -> Array:
        """Columns FORCE_WORLD to FORCE_BODY (N, 3, 12) of the stage data, gravity included."""
        found = np.zeros((self.N, 3, 12))
        found[..., :3] = self.M[..., 3:4] * np.asarray(self.chain.description.gravity)
        for k, piece in enumerate(self.chain.pieces):
            rows = slice(self.first[k], self.first[k + 1])
            for load in self.chain.line_loads(piece.rod):
                density = self.chain.line_density(load, piece, self.s[rows].ravel(), values)
                wrench = density.reshape(-1, 3, 6)
                if load.frame == "world":
                    found[rows, :, 0:3] += wrench[..., 3:]
                    found[rows, :, 3:6] += wrench[..., :3]
                else:
                    found[rows, :, 6:9] += wrench[..., :3]
                    found[rows, :, 9:12] += wrench[..., 3:]
        return found

    def lines_move(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether a load along a rod, or a pressure, differs between sets of input values."""
        names = [load.name for load in self.chain.description.loads.values() if load.distributed]
        names += list(self.chain.description.chambers)
        others = [later for later in values if later is not values[0]]
        return any(
            not np.array_equal(later[name], values[0][name]) for later in others for name in names
        )

    # -- time --------------------------------------------------------------------------------

    def rest(self) -> None:
        """No motion: the law without damping, no history."""
        zero = np.zeros((self.N, 3, 6))
        self.set_history(0.0, zero, zero, np.zeros((len(self.arrays.body_mass), 6)))

    def set_history(self, c0: float, strain: Array, velocity: Array, bodies: Array) -> None:
        """Set c0 and the histories H (N, 3, 6) of strain and velocity, and of bodies (B, 6)."""
        write_history(
            c0,
            self.C,
            self.D,
            self.natural,
            self.rigid,
            self.active,
            strain,
            velocity,
            self.arrays.stages,
        )
        self.arrays.body_history[:] = bodies

    def at_bodies(self, values: Array) -> Array:
        """Of values (N, 2, ...) at both ends of the intervals, those where the bodies sit."""
        return np.asarray(values[self.sites[:, 0], self.sites[:, 1]])

    def strains(self, wrench: Array) -> Array:
        """Strains (..., 6) of the law as it is set, for wrenches (..., 6) at the stages."""
        P = self.arrays.stages
        return P[..., eq.STRAIN : eq.STRAIN + 6] + P[..., :6] * wrench


@kernel
def write_history(c0, C, D, natural, rigid, active, strain, velocity, stages):  # type: ignore[no-untyped-def]
    """Write law and histories into stage data.

    From (m, n) = C (xi - xi*) + D (c0 xi + H) + active: xi = S ((m, n) - active + C xi* - D H) with
    S = 1 / (C + c0 D). The force of a rod that neither shears nor stretches has no law: there S = 0
    and v = v*.
    """
    for i in range(stages.shape[0]):
        for j in range(stages.shape[1]):
            for r in range(6):
                if rigid[i] and r >= 3:
                    stages[i, j, r] = 0.0
                    stages[i, j, 6 + r] = natural[i, j, r]
                else:
                    S = 1.0 / (C[i, j, r] + c0 * D[i, j, r])
                    stages[i, j, r] = S
                    stages[i, j, 6 + r] = S * (
                        C[i, j, r] * natural[i, j, r]
                        - D[i, j, r] * strain[i, j, r]
                        - active[i, j, r]
                    )
                stages[i, j, 12 + r] = strain[i, j, r]
                stages[i, j, 18 + r] = velocity[i, j, r]


def even_edges(chain: Chain, steps: int) -> list[Array]:
    """About `steps` equal intervals over the chain, whole numbers of them in each piece."""
    found = []
    for piece in chain.pieces:
        count = max(1, round(steps * piece.length / chain.length))
        found.append(np.linspace(piece.a, piece.b, count + 1))
    return found


def _inertia(event: Event) -> Array:
    assert isinstance(event.part, Body)
    return event.part.spatial_inertia()


def _weight(event: Event) -> Array:
    assert isinstance(event.part, Body)
    return np.array([event.part.mass, *event.part.arm()])
