"""Eight numbers in the lanes of a SIMD register, for kernels that do the same for many elements.

Inside a kernel, `load(array, row, column)` takes eight entries of a row of an array (R, C) and `store`
writes them back. Between them lanes are added, subtracted, multiplied and divided like numbers, also
with numbers, so that the leaves of `lie.tuples` serve for them too. Nothing here is called from Python.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from pliant import _numba  # noqa: F401 - kernels that use lanes are kept with this file

LANES = 8
"""Entries of a register; two of four where the processor has no wider ones."""
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FLAGS = ("contract", "reassoc", "arcp", "nsz")


class _Lanes(types.Type):  # type: ignore[misc]
    """Type of eight numbers."""

    def __init__(self) -> None:
        super().__init__(name="lanes")


lanes = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """A vector of the processor."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _spread(builder: Any, value: Any) -> Any:
    """A number in all lanes."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _define(symbol: Any, method: str) -> None:
    """Define an operation on lanes and on lanes with numbers."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != 2 or lanes not in args:
                return None
            if all(x is lanes or isinstance(x, types.Float) for x in args):
                return signature(lanes, *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x, y = (
            value
            if kind is lanes
            else _spread(builder, context.cast(builder, value, kind, types.float64))
            for value, kind in zip(args, sig.args, strict=True)
        )
        return getattr(builder, method)(x, y, flags=_FLAGS)

    infer_global(symbol)(Template)
    for kinds in ((_Lanes, _Lanes), (_Lanes, types.Float), (types.Float, _Lanes)):
        lower_builtin(symbol, *kinds)(lower)


for _symbol, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_symbol, _method)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(lanes, lanes) if args == (lanes,) else None


@lower_builtin(operator.neg, _Lanes)
def _negate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0], flags=_FLAGS)


def _place(context: Any, builder: Any, kind: Any, args: Any) -> Any:
    """Pointer to the lanes at a row and a column of an array whose rows are in one piece."""
    array = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    row = builder.extract_value(array.strides, 0)
    start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    column = builder.mul(args[2], args[2].type(8))
    at = builder.gep(start, [builder.add(builder.mul(args[1], row), column)])
    return builder.bitcast(at, _VECTOR.as_pointer())


@intrinsic
def load(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Lanes from the columns [column, column + 8) of a row."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], args), align=8)

    return signature(lanes, array, types.int64, types.int64), generate


@intrinsic
def store(typing: Any, array: Any, row: Any, column: Any, value: Any) -> Any:
    """Write lanes to the columns [column, column + 8) of a row."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[3], _place(context, builder, sig.args[0], args), align=8)
        return context.get_dummy_value()

    return signature(types.none, array, types.int64, types.int64, lanes), generate


@intrinsic
def largest(typing: Any, value: Any) -> Any:
    """The largest of the numbers in all lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = [builder.extract_element(args[0], ir.IntType(32)(i)) for i in range(LANES)]
        while len(numbers) > 1:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            numbers = [builder.select(builder.fcmp_ordered(">", x, y), x, y) for x, y in pairs]
        return numbers[0]

    return types.float64(value), generate
