"""Compiled robots that are no longer in use, for the next robots of their kind.

Numbering, layouts, programs and workspaces depend on the kind of a robot only: on all that its
description says but for plain numbers (`model.likeness`). So a robot that nobody needs any more is
kept, and the next one of its kind takes it over and fills in its own numbers: stiffness, density,
loads. A sweep over them compiles once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from typing import Any

from pliant.model import Description
from pliant.model.likeness import kind_of
from pliant.physics.effects import effects_of
from pliant.rods.contract import Formulation
from pliant.solve.in_plane import Planes
from pliant.solve.load_steps import StaticSolver
from pliant.solve.sampling import Sampler

MOST_KEPT, MOST_UNKNOWNS = 16, 5000
"""Robots that are kept, and unknowns of all of them: steps of larger ones take far more time than to
compile them.
"""


class CompiledRobot:
    """A tree with all that acts on it, and what solvers have made for it.

    shared : whether others than its problem may hold its arrays, so that it is not taken over.
    """

    def __init__(
        self,
        description: Description,
        formulations: Mapping[str, Formulation],
        kind: Hashable | None,
    ) -> None:
        self.kind, self.shared = kind, False
        self.effects = effects_of(description, dict(formulations))
        self.sampler = Sampler(self.effects)
        self.planes = Planes(self.effects, formulations)
        self.solvers: list[StaticSolver] = []

    @property
    def size(self) -> int:
        """Unknowns."""
        return self.effects.tree.size

    def refill(self, description: Description) -> bool:
        """Become the robot of a description of the same kind; False if that has to be compiled."""
        if not self.effects.refill(description):
            return False
        self.planes.refill()
        for solver in self.solvers:
            solver.refill()
        return True


class Pool:
    """Keeps robots by kind. Each is taken out while it is in use, so that threads do not meet."""

    def __init__(self) -> None:
        self._kept: OrderedDict[CompiledRobot, None] = OrderedDict()
        """From the one that was given back first."""
        self._returned: deque[CompiledRobot] = deque()
        self._lock = threading.Lock()

    def take(
        self, description: Description, formulations: Mapping[str, Formulation]
    ) -> CompiledRobot:
        """A robot for one user, who gives it back if nobody else has come to hold its arrays."""
        kind = _kind(description, formulations)
        while kind is not None and (known := self._find(kind)) is not None:
            if known.refill(description):
                return known
        return CompiledRobot(description, formulations, kind)

    def _find(self, kind: Hashable) -> CompiledRobot | None:
        with self._lock:
            while self._returned:
                self._kept[self._returned.popleft()] = None
            while _are_many(self._kept):
                self._kept.popitem(last=False)
            found = next((x for x in reversed(self._kept) if x.kind == kind), None)
            if found is not None:
                del self._kept[found]
            return found

    def give_back(self, robot: CompiledRobot) -> None:
        """Keep a robot that nobody uses; takes no lock, for it is called wherever memory is freed."""
        if robot.shared or robot.kind is None or _are_many([robot]):
            return
        self._returned.append(robot)
        with suppress(IndexError):  # another thread may have taken them
            while _are_many(list(self._returned)):
                self._returned.popleft()


def _are_many(robots: Collection[CompiledRobot]) -> bool:
    """Whether robots are more than are kept."""
    return len(robots) > MOST_KEPT or sum(robot.size for robot in robots) > MOST_UNKNOWNS


def _kind(description: Description, formulations: Mapping[str, Formulation]) -> Hashable | None:
    """What robots have in common that can take over each other; None for one that cannot."""
    found: Any = kind_of(description)
    if found is None:
        return None
    known = (found, tuple(formulations.items()))
    try:
        hash(known)
    except TypeError:
        return None
    return known


POOL = Pool()
