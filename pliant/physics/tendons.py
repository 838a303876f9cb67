"""Tendons through via-points that are driven by their tension.

A tension T along a path of length L has the potential T L. It is the same in all spans, so that a
via-point is coupled with its neighbours only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.model import Tendon
from pliant.physics.contract import Moment, Term
from pliant.physics.path_rows import ElasticPathRow, PathRow
from pliant.physics.paths import Path, PathTerm, Pull, Spans
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class TensionTendon(PathTerm):
    """A tendon without friction; its input is the tension, N."""

    compiled = True
    size = 1

    def __init__(self, tree: Tree, tendon: Tendon) -> None:
        self.tendon = tendon
        self.input = self.name = tendon.name
        self.path = Path(tree, tendon.path, coupled=False)

    def close(self, tree: Tree) -> None:
        self.rest_length = self.path.length(tree.rest)

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        pull = self._empty()
        run(set_all, u[self.at], pull.tension)
        return pull

    def energy(self, state: State, u: Array) -> float:
        return float(u[self.at][0]) * (self.path.length(state) - self.rest_length)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        run(add_work, u[self.at], self.path.spans(a, b).lengths, out)

    def readings(self, moment: Moment) -> dict[str, Any]:
        return {**super().readings(moment), "slack": 0.0}


def terms(tree: Tree) -> list[Term]:
    """The tendons through via-points of a robot."""
    return [_term(tree, tendon) for tendon in tree.description.of(Tendon).values()]


def _term(tree: Tree, tendon: Tendon) -> Term:
    if tendon.drive == "tension":
        return TensionTendon(tree, tendon)
    given = (tree, tendon, tendon.whole_path, tendon.slack)
    return PathRow(*given) if tendon.stiffness is None else ElasticPathRow(*given, tendon.stiffness)


@kernel
def set_all(u, out):  # type: ignore[no-untyped-def]
    """out[:] = u_0."""
    for i in range(out.shape[0]):
        out[i] = u[0]


@kernel
def add_work(u, lengths, out):  # type: ignore[no-untyped-def]
    """out_0 -= u_0 times the change of length from a to b."""
    for i in range(lengths.shape[1]):
        out[0] -= u[0] * (lengths[1, i] - lengths[0, i])
