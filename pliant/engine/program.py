"""Programs: what maps, joints and effects do in one pass, written down once and then repeated.

Forward and backward passes, effects and steps are plain Python that calls kernels on arrays made
beforehand, by ``run(kernel, ...)``. Within `record` nothing is computed: every call is written down
with its arrays. The `Program` that results repeats all of them in one compiled call, whatever robot
they are for: the loop over the calls knows neither formulations nor effects and is compiled once.

A method of a user's class in plain Python is asked by ``ask(method, ...)``. It becomes one entry of the
program that runs uncompiled, between compiled stretches. A class says that its methods only call
kernels through `run` by ``compiled = True``.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import typeof
from numba.core.dispatcher import Dispatcher

from pliant.engine.calls import execute, execute_times, execute_when, trampoline

Function = Callable[..., Any]
Entry = tuple[Function, tuple[Any, ...]]


Words = dict[int, tuple[Any, list[int], Any]]
"""By identity of an array: what tells its type, its words, and the array, which stays alive by it."""


class _Recording(threading.local):
    """The program that this thread is writing down, if any."""

    program: Program | None = None


_recording = _Recording()


def run(function: Function, *arguments: Any) -> None:
    """Call a kernel, or write the call down. What it returns is lost."""
    program = _recording.program
    if program is None:
        function(*arguments)
    else:
        program.entries.append((function, arguments))


def ask(method: Any, *arguments: Any) -> None:
    """Call a method that may be plain Python, or write it down as a whole."""
    if _recording.program is None or is_compiled(method.__self__):
        method(*arguments)
    else:
        _recording.program.entries.append((method, arguments))


def when(flag: Any, function: Function, *arguments: Any) -> None:
    """Call a function, or write down what it does, where flag (1,) is not zero by then.

    A program in its place is not written down again.
    """
    program = _recording.program
    if program is None:
        if flag[0]:
            function(*arguments)
        return
    inner = function if isinstance(function, Program) else record(function, *arguments)
    if inner.compiled:
        program.inner.append(inner)
        program.entries.append((execute_when, (flag, inner.address)))
    else:
        program.entries.append((_plainly_when, (flag, inner)))


def _plainly_when(flag: Any, inner: Program) -> None:
    if flag[0]:
        inner()


def repeat(count: Any, function: Function, *arguments: Any) -> None:
    """Call a function, or write down what it does, count (1,) times as it is by then.

    A program in its place is not written down again.
    """
    program = _recording.program
    inner = function if isinstance(function, Program) else None
    if program is None:
        if inner is not None and inner.compiled:
            execute_times(count, inner.address)
            return
        for _ in range(int(count[0])):
            function(*arguments)
        return
    inner = inner or record(function, *arguments)
    if inner.compiled:
        program.inner.append(inner)
        program.entries.append((execute_times, (count, inner.address)))
    else:
        program.entries.append((_plainly_repeat, (count, inner)))


def _plainly_repeat(count: Any, inner: Program) -> None:
    for _ in range(int(count[0])):
        inner()


def is_compiled(owner: object) -> bool:
    """Whether the class of an object, not a base of it, says that its methods only call kernels."""
    return "compiled" in vars(type(owner)) and bool(owner.compiled)  # type: ignore[attr-defined]


def recorder() -> Program | None:
    """The program that is being written down in this thread, None if calls are made at once."""
    return _recording.program


def record(function: Function, *arguments: Any) -> Program:
    """Write down what a function does; it must not decide anything by numbers that may change."""
    outer = _recording.program
    program = _recording.program = Program()
    try:
        function(*arguments)
    finally:
        _recording.program = outer
    return program


class Program:
    """Calls with their arrays. Call it to make all of them, in the order of their recording."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.inner: list[Program] = []
        """Programs that its calls know by their addresses."""
        self._pieces: list[Callable[[], object]] | None = None

    @property
    def compiled(self) -> bool:
        """Whether all calls are kernels, so that the program is one compiled call."""
        return all(isinstance(function, Dispatcher) for function, _ in self.entries)

    def __call__(self) -> None:
        """Make all calls, or write them down in a longer program."""
        if _recording.program is not None:
            _recording.program.entries += self.entries
            _recording.program.inner += self.inner
            return
        self.link()
        for piece in self._pieces or ():
            piece()

    def link(self, known: Words | None = None) -> None:
        """Turn the calls into words in memory.

        known : words of arrays, for programs with the same arrays that are linked one after another.
        """
        if self._pieces is None:
            self._pieces = self._cut({} if known is None else known)

    def _cut(self, known: Words) -> list[Callable[[], object]]:
        """The program in pieces, each one compiled or one plain call."""
        pieces: list[Callable[[], object]] = []
        kernels: list[Entry] = []
        for function, arguments in [*self.entries, (None, ())]:
            if isinstance(function, Dispatcher):
                kernels.append((function, arguments))
                continue
            if kernels:
                pieces.append(_Stretch(kernels, known))
                kernels = []
            if function is not None:
                pieces.append(_plain(function, arguments))
        return pieces

    @property
    def address(self) -> int:
        """Where compiled loops find the program; kept alive by it."""
        self.link()
        if not self._pieces:
            return 0
        (stretch,) = self._pieces
        assert isinstance(stretch, _Stretch)
        return stretch.address


def _plain(function: Function, arguments: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(*arguments)


class _Stretch:
    """Kernel calls one after another: their blocks of words, and a table of the blocks."""

    def __init__(self, calls: list[Entry], known: Words) -> None:
        self._kept = calls
        words: list[int] = []
        starts = []
        for function, arguments in calls:
            starts.append(len(words))
            words += _block(function, arguments, known)
        self._words = np.array(words, dtype=np.int64)
        at = self._words.ctypes.data
        self._table = np.array([len(calls), *(at + 8 * start for start in starts)], dtype=np.int64)
        self.address = int(self._table.ctypes.data)

    def __call__(self) -> None:
        execute(self.address)


_known: dict[tuple[Any, ...], tuple[int, int]] = {}


def _block(kernel: Any, arguments: tuple[Any, ...], arrays: Words) -> list[int]:
    """Words of one call: trampoline, kernel, arguments; `arrays` keeps the words of arrays by id."""
    key: list[Any] = [kernel]
    words: list[int] = [0, 0]
    for value in arguments:
        known = arrays.get(id(value))
        if known is not None and known[2] is value:
            key.append(known[0])
            words += known[1]
        else:
            _append(value, words, key, arrays)
    found = tuple(key)
    if found not in _known:
        types = tuple(typeof(value) for value in arguments)
        kernel.compile(types)
        _known[found] = trampoline(kernel.overloads[types])
    words[0], words[1] = _known[found]
    return words


def _append(value: Any, words: list[int], key: list[Any], arrays: Words) -> None:
    """Append a value in the order in which compiled functions take it, and what tells its type."""
    if isinstance(value, np.ndarray):
        known = arrays.get(id(value))
        if known is None or known[2] is not value:
            known = arrays[id(value)] = _array_words(value)
        key.append(known[0])
        words += known[1]
    elif isinstance(value, tuple):
        key.append(type(value))
        for item in value:
            _append(item, words, key, arrays)
    else:
        key.append(type(value))
        whole = isinstance(value, bool | int | np.integer)
        words.append(int(value) if whole else _float_word(value))


def _array_words(array: Any) -> tuple[Any, list[int], Any]:
    """What tells the type of an array, its words, and the array itself."""
    flags, (at, _) = array.flags, array.__array_interface__["data"]
    kind = (array.dtype.char, array.ndim, flags.carray or flags.num)
    return kind, [0, 0, array.size, array.itemsize, at, *array.shape, *array.strides], array


def _float_word(value: float) -> int:
    return int(struct.unpack("q", struct.pack("d", value))[0])
