"""Effects in plain Python, point by point along the rods of a chain.

All other effects are arrays that kernels read, see `sections`. Kernels call these at every station by
their address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant._numba import kernel
from pliant.lie.tuples import Array

if TYPE_CHECKING:
    from pliant.bvp.sections import Sections


COMPLIANCE, WRENCH, BY_POSE, BY_TWIST, STRESS, RESULT = 6, 42, 48, 84, 120, 126
"""Places in the result of `evaluate`, after the strain."""


@intrinsic
def _call(typing, address, station, c0, state, result):  # type: ignore[no-untyped-def]
    """Call a function by its address."""
    signature = types.void(types.int64, types.int64, types.float64, types.int64, types.int64)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        integer = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [integer, ir.DoubleType(), integer, integer])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return signature, generate


@kernel
def evaluate(address, station, c0, y, out):  # type: ignore[no-untyped-def]
    """Write strain (6), compliance (36), line wrench (6) and its derivatives in pose (36) and twist
    (36), and stress (6) at a state y (24,) into `out` (126,).
    """
    _call(address, station, c0, np.int64(y.ctypes.data), np.int64(out.ctypes.data))


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

    address : of a function (station, c0, state, result), see `evaluate`.  error : raised by one.
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
        self._follower = self.sections.follower.copy()

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
        except np.linalg.LinAlgError:
            return  # no strain carries this wrench: a shorter step may avoid it
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
            found = effect.stress(float(sections.inside[station]), strain, rate, u)
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
            found = effect.line_wrench(
                float(sections.inside[station]), g, strain, y[6:12].copy(), u
            )
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
            self.sections.follower[station] = self._follower[station] + p
        return slopes
