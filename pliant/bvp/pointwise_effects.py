"""What acts on the sections of a chain, point by point.

This is the only place where strong forms name effects. Each built-in effect is a function that adds its
share to the arrays of `Sections`, which kernels read at every station:

    line wrench per length    columns FORCE_WORLD ... MASS_DAMPING of the table
    stress                    C, D, natural and active of the law m = C (xi - natural) + D xi_t + active

`LAWS` do not change with the inputs; `LOADS` are those of one set of input values. Any other effect is
a `PointwiseEffect` in plain Python, given to `Chain`; kernels call it at every station by its address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.bvp import rod_equations as eq
from pliant.bvp.chain import Chain, Piece
from pliant.bvp.effect_callback import RESULT
from pliant.lie.tuples import Array
from pliant.model import Chamber, Load, Rod

if TYPE_CHECKING:
    from pliant.bvp.sections import Sections


def elasticity(sections: Sections, rows: slice, rod: Rod, s: Array) -> None:
    """Stress C (xi - natural); a rod without shear and stretch has no law for its force."""
    sections.C[rows], sections.natural[rows] = rod.stiffness(s), rod.natural_strain(s)
    sections.rigid[rows] = rod.theory == "kirchhoff"


def viscosity(sections: Sections, rows: slice, rod: Rod, s: Array) -> None:
    """Stress D xi_t, one value for each of the six strains."""
    sections.D[rows] = rod.damping(s)


def inertia(sections: Sections, rows: slice, rod: Rod, s: Array) -> None:
    """Rotary inertia and mass per length."""
    sections.M[rows] = rod.inertia(s)
    sections.table[rows, eq.ROTARY : eq.MASS + 1] = sections.M[rows, :4]


def drag(sections: Sections, rows: slice, rod: Rod, s: Array) -> None:
    """Force -c_i q_i |q_i| per length."""
    sections.table[rows, eq.DRAG : eq.DRAG + 3] = rod.drag_coefficients()


def mass_damping(sections: Sections, rows: slice, rod: Rod, s: Array) -> None:
    """Wrench per length of -c times the momentum."""
    sections.table[rows, eq.MASS_DAMPING] = rod.mass_damping


LAWS = (elasticity, viscosity, inertia, drag, mass_damping)


def weight(sections: Sections, values: Mapping[str, Any], share: float) -> None:
    """Force A g per length."""
    gravity = share * np.asarray(sections.chain.description.gravity)
    sections.table[:, eq.FORCE_WORLD : eq.FORCE_WORLD + 3] += sections.M[:, 3:4] * gravity


def line_loads(sections: Sections, values: Mapping[str, Any], share: float) -> None:
    """Loads along rods, with world directions or following the section."""
    for load in sections.chain.description.loads.values():
        if load.distributed:
            for rows, density in line_densities(sections, load, values):
                world = load.frame == "world"
                moment, force = (
                    (eq.MOMENT_WORLD, eq.FORCE_WORLD) if world else (eq.MOMENT_BODY, eq.FORCE_BODY)
                )
                sections.table[rows, moment : moment + 3] += share * density[:, :3]
                sections.table[rows, force : force + 3] += share * density[:, 3:]


def line_densities(
    sections: Sections, load: Load, values: Mapping[str, Any]
) -> list[tuple[slice, Array]]:
    """Stations that a load along a rod covers, piece by piece, and its (moment, force) per metre there.

    Pieces are cut where a load ends: at an end of a piece, what counts is its inside.
    """
    found = []
    for piece, rows in zip(sections.chain.pieces, sections.rows, strict=True):
        if piece.rod.name == load.part:
            inner = 1e-9 * piece.length
            s = np.clip(sections.s[rows], piece.a + inner, piece.b - inner)
            found.append((rows, load.density(s, values[load.name])))
    return found


def chambers(sections: Sections, values: Mapping[str, Any], share: float) -> None:
    """Stress -p dV/d(strain) of pressurised chambers."""
    for chamber in sections.chain.description.chambers.values():
        for piece, rows in zip(sections.chain.pieces, sections.rows, strict=True):
            if covers(chamber, piece):
                sweep = chamber.sweep(sections.s[rows], piece.rod.length)
                sections.active[rows] -= share * float(values[chamber.name]) * sweep


def covers(chamber: Chamber, piece: Piece) -> bool:
    """Tell whether a chamber runs along a piece; pieces are cut where chambers end."""
    start, end = chamber.span(piece.rod.length)
    return chamber.part == piece.rod.name and start < 0.5 * (piece.a + piece.b) < end


LOADS = (weight, line_loads, chambers)


def along_rods(chain: Chain) -> list[str]:
    """Names of what acts along rods; those that are inputs may change in time."""
    loads = [load.name for load in chain.description.loads.values() if load.distributed]
    return [*loads, *(effect.name for effect in chain.effects), *chain.description.chambers]


def conservative(sections: Sections, values: Mapping[str, Any]) -> bool:
    """Tell whether all that acts along the rods has a potential: no follower loads, no dead moments."""
    for load in sections.chain.description.loads.values():
        if load.distributed:
            for _, density in line_densities(sections, load, values):
                if density.any() and (load.frame != "world" or density[:, :3].any()):
                    return False
    return True


class PointwiseEffect(Protocol):
    """Something that acts on the sections of one rod, pointwise.

    name : of its input, whose value u is None if there is none.  rod : name of the rod.
    """

    name: str
    rod: str

    def line_wrench(
        self, s: float, g: Array, strain: Array, twist: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Wrench p (6,) per length on the rod, body frame, with its derivatives (6, 6).

        s : arclength, m.  g : (4, 4) world pose.  strain, twist : (6,) body frame. The derivatives are
        those in the chart g exp(x), x = (rotation, translation), and in the twist.
        """

    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Internal wrench (6,) that it adds to the law of the section, body frame, with its derivatives
        (6, 6) in strain and strain rate. A pressure that stretches the rod adds a negative force.
        """


class OwnEffects:
    """All effects in plain Python of a chain, evaluated at the stations of sections.

    address : of a function (station, c0, state, result), see `effect_callback`.  error : raised by one.
    """

    def __init__(self, sections: Sections, effects: list[PointwiseEffect]) -> None:
        self.sections = sections
        self.error: Exception | None = None
        rods = [piece.rod.name for piece in sections.chain.pieces]
        self._of_piece = [[e for e in effects if e.rod == rod] for rod in rods]
        number, pointer = ctypes.c_int64, ctypes.c_int64
        make = ctypes.CFUNCTYPE(None, number, ctypes.c_double, pointer, pointer)
        self._function = make(self._answer)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value

    def set_inputs(self, values: Mapping[str, Any], share: float) -> None:
        """Let `share` of the effects act with input values by name."""
        self._values, self._share = dict(values), share

    def keep_follower_loads(self) -> None:
        """Note the follower loads that the wrenches are added to."""
        self._follower = self.sections.table[:, eq.MOMENT_BODY : eq.DRAG].copy()

    def _answer(self, station: int, c0: float, state: int, result: int) -> None:
        """Write strain, compliance, wrench and its derivatives for a state (24,), both by address."""
        out = np.ctypeslib.as_array((ctypes.c_double * RESULT).from_address(result))
        y = np.ctypeslib.as_array((ctypes.c_double * 24).from_address(state))
        out[:] = np.nan
        if not np.isfinite(y).all():
            return
        try:
            strain, compliance = self.strain(station, c0, y[:6])
            wrench = self.line_wrench(station, y, strain)
            parts = (strain, compliance, *wrench, self.stress(station, c0, strain)[0])
            out[:] = np.concatenate([np.ravel(part) for part in parts])
        except Exception as error:  # a callback must not raise
            self.error = error

    def raise_error(self) -> None:
        """Raise what an effect has raised."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def _acting(self, station: int) -> list[PointwiseEffect]:
        return self._of_piece[self.sections.piece[station]] if self._share else []

    def stress(self, station: int, c0: float, strain: Array) -> tuple[Array, Array]:
        """Sum of the stresses (6,) at a strain and its derivative (6, 6), rates included."""
        sections, total, slope = self.sections, np.zeros(6), np.zeros((6, 6))
        rate = c0 * strain + sections.table[station, 12:18]
        for effect in self._acting(station):
            u = self._values.get(effect.name)
            found = effect.stress(float(sections.s[station]), strain, rate, u)
            total, slope = total + found[0], slope + found[1] + c0 * np.asarray(found[2])
        return self._share * total, self._share * slope

    def strain(self, station: int, c0: float, wrench: Array) -> tuple[Array, Array]:
        """Strain (6,) that carries a wrench (6,), and the compliance (6, 6).

        The law without these effects gives xi_0; with their stress, xi = xi_0 - S stress(xi).
        """
        S, first = self.sections.table[station, :6], self.sections.table[station, 6:12]
        start = first + S * wrench
        strain, one = start.copy(), np.eye(6)
        for _ in range(30):
            stress, slope = self.stress(station, c0, strain)
            gap, J = strain - start + S * stress, one + S[:, None] * slope
            strain = strain - np.linalg.solve(J, gap)
            if np.abs(gap).max() <= 1e-14 * (1.0 + np.abs(strain).max()):
                break
        return strain, np.asarray(np.linalg.solve(J, np.diag(S)), dtype=float)

    def line_wrench(self, station: int, y: Array, strain: Array) -> tuple[Array, Array, Array]:
        """Sum of the wrenches (6,) per length at a state (24,), and its derivatives (6, 6)."""
        sections, g = self.sections, np.eye(4)
        g[:3, :3], g[:3, 3] = y[15:].reshape(3, 3), y[12:15]
        sums = [np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))]
        for effect in self._acting(station):
            u = self._values.get(effect.name)
            found = effect.line_wrench(float(sections.s[station]), g, strain, y[6:12].copy(), u)
            sums = [a + self._share * np.asarray(b) for a, b in zip(sums, found, strict=True)]
        return sums[0], sums[1], sums[2]

    def linearise_stress(self, c0: float, strain: Array) -> None:
        """Take the stresses into the law of the sections, to first order about strains (S, 6).

        Coupling between different strains is taken at these strains.
        """
        for station, (P, here) in enumerate(zip(self.sections.table, strain, strict=True)):
            stress, slope = self.stress(station, c0, here)
            own = np.diag(slope)
            less = 1.0 / (1.0 + P[:6] * own)
            P[6:12] = less * (P[6:12] - P[:6] * (stress - own * here))
            P[:6] *= less

    def apply_line_wrench(self, states: Array, strain: Array) -> Array:
        """Add the wrenches at states (S, 24) to the follower loads; return derivatives (S, 6, 12)."""
        slopes = np.zeros((len(states), 6, 12))
        for station, (y, here) in enumerate(zip(states, strain, strict=True)):
            p, slopes[station, :, :6], slopes[station, :, 6:] = self.line_wrench(station, y, here)
            follower = self._follower[station] + p
            self.sections.table[station, eq.MOMENT_BODY : eq.DRAG] = follower
        return slopes
