"""A norm of displacements that no formulation changes: how far the stations of all parts move.

    |x|^2 = mean over parts and their frame stations of |w|^2 + |v|^2 / L^2

with (w, v) the body twist of a station for a variation x and L the length of the longest part. Turns in
radians and displacements over the length count alike, whatever the coordinates are.
"""

from __future__ import annotations

import numpy as np

from pliant.engine.program import Program, record, run
from pliant.rods.contract import Array
from pliant.solve.mass import set_momenta
from pliant.tree.backward import gather
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class StationNorm:
    """The norm at the configuration of one state; belongs to one thread."""

    def __init__(self, tree: Tree, state: State) -> None:
        self.tree, self.state, self.work = tree, state, Work(tree)
        self._x = np.zeros(tree.total)
        units = np.array([1.0, 1.0, 1.0, *(3 * [tree.length**-2])])
        self._weights = [
            np.tile(units / (len(tree.parts) * max(1, len(w.p))), (len(w.p), 1))
            for w in self.work.parts
        ]
        self._program: Program | None = None

    def dual(self, x: Array) -> Array:
        """The covector (total,) whose product with y is the inner product of x (total,) and y."""
        self._x[...] = x
        if self._program is None:
            self._apply()
            self._program = record(self._apply)
        else:
            self._program()
        return self.work.residual.copy()

    def _apply(self) -> None:
        tree, work = self.tree, self.work
        set_rates(tree, self.state, work, self._x, strains=False)
        work.clear(False)
        for weights, w in zip(self._weights, work.parts, strict=True):
            if len(w.p):
                run(set_momenta, weights, w.eta, w.p)
            w.mass = True
        gather(tree, self.state, work, work.residual)
