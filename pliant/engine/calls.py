"""Calls of compiled functions from compiled code by address, with arguments from memory.

A call is a block of 64-bit words: the address of a trampoline, the address of the function, and the
arguments as the function takes them, arrays taken apart into pointer, shape and strides. A trampoline
loads the words, calls the function and returns its status; functions of the same signature share one.
"""

from __future__ import annotations

import threading
from typing import Any

from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

from pliant._numba import kernel

_WORD = ir.IntType(64)
_ENTER = ir.FunctionType(ir.IntType(32), [_WORD.as_pointer()])
_RETURNED, _RETURNED_NOTHING = 0, -2
"""Status of compiled functions that raised no error."""
_trampolines: dict[str, int] = {}
_engines: list[Any] = []
_lock = threading.Lock()


def trampoline(compiled: Any) -> tuple[int, int]:
    """Addresses of the trampoline and of the function of a compile result."""
    described = compiled.fndesc
    convention = compiled.target_context.call_conv
    signature = convention.get_function_type(described.restype, described.argtypes)
    key = str(signature)
    with _lock:
        if key not in _trampolines:
            _trampolines[key] = _make(signature)
    return _trampolines[key], int(
        compiled.library.get_pointer_to_function(described.llvm_func_name)
    )


def _make(signature: ir.FunctionType) -> int:
    """Compile a trampoline for functions of a signature; it takes the address of a block."""
    module = ir.Module("trampoline")
    function = ir.Function(module, _ENTER, "enter")
    builder = ir.IRBuilder(function.append_basic_block())
    (block,) = function.args

    def word(i: int) -> Any:
        return builder.load(builder.gep(block, [ir.Constant(_WORD, i)]))

    result = builder.alloca(signature.args[0].pointee)
    error = builder.alloca(signature.args[1].pointee)
    arguments = [result, error]
    for i, wanted in enumerate(signature.args[2:]):
        arguments.append(_as(builder, word(2 + i), wanted))
    builder.ret(builder.call(builder.inttoptr(word(1), signature.as_pointer()), arguments))
    return _compile(module)


def _as(builder: Any, value: Any, wanted: Any) -> Any:
    """A word as a value of another type."""
    if isinstance(wanted, ir.PointerType):
        return builder.inttoptr(value, wanted)
    if isinstance(wanted, ir.DoubleType):
        return builder.bitcast(value, wanted)
    return value if wanted.width == 64 else builder.trunc(value, wanted)


def _compile(module: ir.Module) -> int:
    """Compile a module with one function and return its address."""
    made = binding.parse_assembly(str(module))
    machine = binding.Target.from_default_triple().create_target_machine(opt=1)
    engine = binding.create_mcjit_compiler(made, machine)
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("enter"))


@intrinsic
def _load(typing: Any, address: Any) -> Any:
    """The word at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], _WORD.as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def _enter(typing: Any, block: Any) -> Any:
    """Call the function of a block and return its status."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block = builder.inttoptr(arguments[0], _WORD.as_pointer())
        return builder.call(builder.inttoptr(builder.load(block), _ENTER.as_pointer()), [block])

    return types.int32(types.int64), generate


@kernel
def execute(program):  # type: ignore[no-untyped-def]
    """Make all calls of a program, given by the address of its table: count, blocks. 0 is empty."""
    if program != 0:
        for i in range(_load(program)):
            status = _enter(_load(program + 8 * (i + 1)))
            if status not in (_RETURNED, _RETURNED_NOTHING):
                raise RuntimeError("a kernel in a program raised an error")


@kernel
def execute_when(flag, program):  # type: ignore[no-untyped-def]
    """Make all calls of a program, given by its address, unless flag (1,) is zero."""
    if flag[0] != 0:
        execute(program)


@kernel
def execute_times(count, program):  # type: ignore[no-untyped-def]
    """Make all calls of a program, given by its address, count (1,) times."""
    for _ in range(count[0]):
        execute(program)
