"""Pressure chambers: the internal wrench that does the work p dV.

With dV = sum_s w_s a_s.de_s, a (S, 6) from `Chamber.sweep`, a pressure p has the potential -p V, whose
gradient at a station is the stress -p w a and whose second derivative is that of the strains alone.
A formulation may let these stresses act in another way, see `rods.actuation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.model import Chamber, DescriptionError
from pliant.model.profile import evaluate
from pliant.physics import lines
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.rods.quadrature import stretch_rule
from pliant.tree import collect
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class PressureChamber(KernelTerm):
    """A chamber along one rod; its input is the gauge pressure in Pa."""

    smooth = True
    at_strains = True
    size = 1

    def __init__(self, tree: Tree, chamber: Chamber) -> None:
        self.chamber = chamber
        self.input = chamber.name
        self.i = tree.number_of(chamber.part)
        self.part = part = tree.parts[self.i]
        assert part.rod is not None
        self.squeezes = part.rod.theory == "cosserat"
        length = part.rod.length
        felt = np.any(part.strain_w > 0.0, axis=0)
        cuts = chamber.breaks_along(length).places
        s, w = stretch_rule(part.map, *chamber.span(length), cuts)
        sweep = chamber.sweep(s, length)
        self._refuse_bending(felt, sweep)
        self.first = len(part.inner_s)
        self.rule = np.zeros((len(part.strain_s), 6))
        """Stresses per Pa at the strain rule (S, 6)."""
        self.inner = np.zeros((0, 6))
        """Stresses per Pa at its own inner stations (X, 6)."""
        if chamber.over is None:
            self.rule = -part.strain_w * chamber.sweep(part.strain_s, length)
        else:
            self.inner = -w[:, None] * sweep * felt
            part.inner_s.extend(float(x) for x in s)
        area = evaluate(chamber.label, "area", chamber.area, s, length)
        held = not (chamber.thrust and felt[5])
        self.rest_volume = float(w @ area) if held else 0.0
        """What the strains leave out of the volume: all of it at rest, where there is no thrust."""

    def _refuse_bending(self, felt: Array, sweep: Array) -> None:
        for row, axis in ((0, "y"), (1, "x")):
            if not felt[row] and sweep[:, row].any():
                raise DescriptionError(
                    part=self.chamber.label,
                    field="offset",
                    value=self.chamber.offset,
                    expected=f"without {axis}, for the formulation of rod {self.part.name!r} does not "
                    f"bend that way",
                    remedy="choose another plane or formulation, such as BSpline()",
                )

    def close(self, tree: Tree) -> None:
        rest = tree.rest.parts[self.i]
        self.rest_strain, self.rest_inner = rest.strain.e.copy(), self._inner(rest.inner.e).copy()
        self._direct = not self.part.map.actuation.conservative
        line = self.chamber.line
        self.line, self._line = line, lines.constants(line)
        """The line that feeds it, and its constants for kernels, None if it is one of your own."""
        self.memory = 0 if line is None else lines.MEMORY

    def _inner(self, values: Array) -> Array:
        """Those of the inner stations of the rod that belong to this chamber."""
        return values[self.first : self.first + len(self.inner)]

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return not self._direct or not self.active(u)

    # -- what acts ---------------------------------------------------------------------------

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        """Whether its stresses act on strains, and its line, if any, is one that kernels know."""
        return not self._direct and self._line is not None

    def _add(self, state: State, work: Work, u: Array, scale: float, tangent: bool) -> None:
        w = work.parts[self.i]
        if not self._direct:
            for stress, out in ((self.rule, w.sigma), (self.inner, self._inner(w.inner))):
                if len(stress):
                    run(add_pressure, u[self.at], scale, stress, out)
            return
        pressure = scale * float(u[self.at][0])
        at, acts = state.parts[self.i], self.part.map.actuation
        whole = np.zeros_like(w.inner)
        self._inner(whole)[...] = self.inner
        for plan, stress in ((at.strain, self.rule), (at.inner, whole)):
            if len(stress):
                given = pressure * stress
                collect.add_vector(plan.element, acts.jacobian(plan, at.c), given, w.ry)
                if tangent:
                    acts.add_slope(plan, at.c, given, w.Ky)

    def act(self, m: Moment) -> None:
        self._add(m.state, m.work, m.u, 1.0, m.tangent is not None)

    def leave(self, step: Step) -> None:
        self._add(step.a, step.work, step.u, step.h * step.first, False)

    def arrive(self, step: Step) -> None:
        wanted = step.tangent is not None
        self._add(step.b, step.work, step.u, -step.h * (1.0 - step.first), wanted)

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        if i == self.i:
            start, end = self.chamber.span(self.part.length)
            inside = (s >= start) & (s <= end)
            sweep = -self.chamber.sweep(s, self.part.length) * inside[:, None]
            run(add_pressure, m.u[self.at], 1.0, sweep, stress)

    def symbolic(self, x: Symbols) -> None:
        """The potential -p V of the volume that the strains sweep; p is the pressure in the chamber."""
        if self._direct:
            x.refuse(self, "choose SRL, EBR, EBA or ROM")
        pressure, chamber = x.input(self.chamber.name), self.chamber
        for s, w in self._weighed():
            e = x.strain(self.i, s)
            px, py = x.math.vertsplit(x.math.SX(x.number(chamber, "offset", s)))
            bent = w[0] * py * e[0] - w[1] * px * e[1]
            swept = bent + (w[5] * e[5] if chamber.thrust else 0.0)
            x.store(-pressure * x.along(chamber, "area", s, self.part.length) * swept)

    def _weighed(self) -> Iterator[tuple[float, Array]]:
        """Arclengths, m, and weights (6,) of the stations at which its volume is collected."""
        part, chamber = self.part, self.chamber
        if chamber.over is None:
            yield from zip(part.strain_s.tolist(), part.strain_w, strict=True)
            return
        assert part.rod is not None
        length = part.rod.length
        cuts = chamber.breaks_along(length).places
        felt = np.any(part.strain_w > 0.0, axis=0)
        for s, w in zip(*stretch_rule(part.map, *chamber.span(length), cuts), strict=True):
            yield float(s), w * felt

    # -- the line that feeds it ----------------------------------------------------------------

    def remember(self, m: Moment, memory: Array) -> None:
        pressure = float(m.u[self.at][0])
        memory[:] = pressure, self.measure(m.state), 0.0, pressure, pressure

    def feed(self, h: float, memory: Array, u: Array) -> None:
        if self._line is not None:
            run(lines.feed, *self._line, h, memory, u[self.at])
        else:
            assert self.line is not None
            lines.feed_own(self.line, h, memory, u[self.at])

    def keep(self, h: float, state: State, memory: Array, u: Array) -> None:
        if self._line is not None:
            at, swept = state.parts[self.i], np.zeros(1)
            clear(swept)
            for stress, e in ((self.rule, at.strain.e), (self.inner, self._inner(at.inner.e))):
                if len(stress):
                    run(add_swept, stress, e, swept)
            run(lines.keep, *self._line, h, self.rest_volume, swept, memory, u[self.at])
        else:
            assert self.line is not None
            lines.keep_own(self.line, h, self.measure(state), memory, u[self.at])

    def jump(self, numbers: Array, memory: Array) -> None:
        memory[3] = numbers[0]

    # -- volume and energy -------------------------------------------------------------------

    def measure(self, state: State) -> float:
        """Volume at a configuration, m^3."""
        at = state.parts[self.i]
        swept = np.sum(self.rule * at.strain.e) + np.sum(self.inner * self._inner(at.inner.e))
        return self.rest_volume - float(swept)

    def energy(self, state: State, u: Array) -> float:
        pressure, at = float(u[self.at][0]), state.parts[self.i]
        if self._direct or pressure == 0.0:
            return 0.0
        swept = np.sum(self.rule * (at.strain.e - self.rest_strain))
        swept += np.sum(self.inner * (self._inner(at.inner.e) - self.rest_inner))
        return pressure * float(swept)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        start, end = a.parts[self.i], b.parts[self.i]
        if not self._direct:
            changes = [(self.rule, start.strain.e, end.strain.e)]
            changes += [(self.inner, self._inner(start.inner.e), self._inner(end.inner.e))]
            for stress, before, after in changes:
                if len(stress):
                    run(add_pressure_work, u[self.at], stress, before, after, out)
            return
        path, ends = self.part.map.actuation.path, (start.c, end.c)
        swept = np.sum(self.rule * path((start.strain, end.strain), ends))
        if len(self.inner):
            swept += np.sum(self.inner * self._inner(path((start.inner, end.inner), ends)))
        out[0] -= float(u[self.at][0]) * float(swept)


@kernel
def add_pressure(u, scale, stress, out):  # type: ignore[no-untyped-def]
    """out (S, 6) += scale u_0 stress."""
    pressure = scale * u[0]
    if pressure != 0.0:
        for s in range(stress.shape[0]):
            for i in range(6):
                out[s, i] += pressure * stress[s, i]


@kernel
def add_swept(stress, e, out):  # type: ignore[no-untyped-def]
    """out_0 += sum_s stress_s . e_s, all (S, 6): minus the volume that strains sweep."""
    for s in range(stress.shape[0]):
        for i in range(6):
            out[0] += stress[s, i] * e[s, i]


@kernel
def add_pressure_work(u, stress, before, after, out):  # type: ignore[no-untyped-def]
    """out_0 -= u_0 sum_s stress_s . (after_s - before_s), all (S, 6)."""
    swept = 0.0
    for s in range(stress.shape[0]):
        for i in range(6):
            swept += stress[s, i] * (after[s, i] - before[s, i])
    out[0] -= u[0] * swept


def terms(tree: Tree) -> list[Term]:
    """The chambers of a robot."""
    return [PressureChamber(tree, chamber) for chamber in tree.description.of(Chamber).values()]
