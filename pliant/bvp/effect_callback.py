"""How kernels call effects in plain Python, see `pointwise_effects.OwnEffects`: by an address."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant._numba import kernel

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
