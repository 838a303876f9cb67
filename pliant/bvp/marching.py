"""What a shooting solver keeps for its compiled marches on one mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.bvp.aiming import Aim
from pliant.bvp.books import Ledger
from pliant.bvp.contract import Record, TimeRule
from pliant.bvp.foresight import begin_trail, new_trail
from pliant.bvp.histories import Histories
from pliant.bvp.joined import new_parts
from pliant.bvp.march import (
    BY_MODIFIED,
    BY_MULTIPLE,
    ITERATIONS,
    RESIDUAL,
    RETRY,
    SEGMENTS,
    Memory,
    Setting,
    march,
)
from pliant.bvp.segments import cut_places
from pliant.bvp.shooter import Shooter, more_segments
from pliant.bvp.variations import equal_runs
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState

STEP_TOLERANCE = 1e-10


def _rows(make: Callable[[Any], Array], items: Sequence[Any]) -> Array:
    """What `make` gives for each of the items, made once for the same one again and again."""
    found: list[Array] = []
    for k, item in enumerate(items):
        found.append(found[-1] if k > 0 and item is items[k - 1] else make(item))
    return np.array(found)


def _base_row(base: BaseState) -> Array:
    """Rotation by rows, position and twist (18,) of a base."""
    return np.concatenate([base.pose[:3, :3].ravel(), base.pose[:3, 3], base.twist])


class Marching:
    """The trail of a motion, the derivatives that are kept, and how much help is in use.

    Chains that are clamped at the base and free at the tip march; for others only the trail serves.
    """

    def __init__(self, shooter: Shooter, rescue: bool) -> None:
        mesh = shooter.mesh
        self.shooter, self.mesh = shooter, mesh
        self.trail = new_trail(mesh.N)
        self.kept = np.zeros((mesh.N, 2, 24))
        self.mode = np.zeros(4, dtype=np.int64)
        self.most = self.plain = shooter.count
        self._aims = tuple(
            Aim(0, last, np.zeros(6), np.zeros((6, 6)), np.zeros(1, dtype=np.bool_))
            for last in (max(1, mesh.N // 2), mesh.N)
        )
        counts = [shooter.count] if shooter.count > 1 else []
        counts += more_segments(shooter.count, mesh.N)
        self._parts = new_parts([cut_places(mesh, count) for count in counts])
        self._setting = self._constants(rescue)
        self.reset()

    def _constants(self, rescue: bool) -> Setting:
        mesh, shooter = self.mesh, self.shooter
        return Setting(
            shooter.kind,
            shooter.scheme,
            mesh.chain.length,
            mesh.chain.scale,
            STEP_TOLERANCE,
            0 if self.plain == 1 else 1,
            rescue,
            equal_runs(mesh.arrays.h, mesh.arrays.first_event),
            np.ones(1, dtype=np.int64),
            mesh.C,
            mesh.D,
            mesh.natural,
            mesh.rigid,
            mesh.active,
            mesh.M,
            mesh.load_sites,
            mesh.sites,
        )

    def reset(self) -> None:
        """Use as little help as possible."""
        self.mode[:] = 0 if self.plain == 1 else 1, 0, 0, RETRY
        self.most = self.plain
        self.forget()

    def begin(self) -> None:
        """Start from what the shooter holds."""
        begin_trail(self.trail, self.shooter.x, self.shooter.nodes)
        self.reset()

    def forget(self) -> None:
        """Drop derivatives that belong to another time rule."""
        for aim in self._aims:
            aim.known[0] = False
        self._parts.known[0] = -1

    def go(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
        keep_older: bool,
        histories: Histories,
        books: Ledger,
    ) -> int:
        """Go through several instants in one compiled call; return how many were reached.

        The shooter then holds the last of them.
        """
        shooter, mesh, h = self.shooter, self.mesh, histories
        mesh.load(values[0])
        result = np.zeros(5)
        self.kept[:] = shooter.nodes
        memory = Memory(
            self.trail,
            self.mode,
            h.xi,
            h.xi_t,
            h.eta,
            h.eta_t,
            h.xi_older,
            h.eta_older,
            h.body,
            h.body_t,
            h.body_older,
            books,
            shooter.nodes,
            shooter.slopes,
            self.kept,
        )
        done = march(
            self._setting,
            mesh.arrays,
            memory,
            self._aims,
            self._parts,
            np.array([rule.c0, rule.c1, rule.c2, rule.d1]),
            np.array(rule.shares(step)),
            keep_older,
            _rows(mesh.point_loads, values),
            _rows(_base_row, bases),
            result,
        )
        # a failed step has overwritten the nodes
        shooter.nodes[:] = self.kept
        shooter.x = self.trail.past[0].copy()
        self._report(shooter.record, result, done)
        return int(done)

    def _report(self, record: Record, result: Array, done: int) -> None:
        """Add what a march tells to the record."""
        record.iterations += int(result[ITERATIONS])
        if done > 0:
            record.residual = float(result[RESIDUAL])
        self.most = max(self.most, int(result[SEGMENTS]))
        for name, entry in (("modified", BY_MODIFIED), ("multiple", BY_MULTIPLE)):
            if result[entry]:
                record.rescues[f"{name} shooting"] += int(result[entry])
