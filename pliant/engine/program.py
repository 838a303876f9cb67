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

import threading
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from numba.core.dispatcher import Dispatcher

from pliant.engine.calls import execute, execute_times, execute_when
from pliant.engine.linking import address_of, link

Function = Callable[..., Any]
Entry = tuple[Function, tuple[Any, ...]]


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


def include(inner: Any) -> None:
    """Call a program, or what stands for it; write down a call of it as a whole."""
    program = _recording.program
    if program is not None and isinstance(inner, Program) and inner.compiled and inner.entries:
        program.inner.append(inner)
        program.entries.append((execute, (inner.address,)))
    else:
        inner()


class Shared:
    """A function of kernel calls that several programs have in common: it is recorded for all of them.

    Where nothing is recorded it is called at once.
    """

    def __init__(self, function: Function, *arguments: Any) -> None:
        self._function, self._arguments = function, arguments
        self._program: Program | None = None

    def __call__(self) -> None:
        if _recording.program is None:
            self._function(*self._arguments)
            return
        self._program = self._program or record(self._function, *self._arguments)
        include(self._program)


def _plainly_repeat(count: Any, inner: Program) -> None:
    for _ in range(int(count[0])):
        inner()


@cache
def _is_kernel_class(kind: type) -> bool:
    """Whether functions of a class are kernels; Numba's own check is slow."""
    return issubclass(kind, Dispatcher)


def _is_kernel_call(entry: Entry) -> bool:
    kind: Any = type(entry[0])
    return _is_kernel_class(kind)


_claims: dict[type, bool | None] = {}
"""By class, whether its methods only call kernels; None where each object knows for itself."""


def is_compiled(owner: object) -> bool:
    """Whether the class of an object, not a base of it, says that its methods only call kernels."""
    kind = type(owner)
    if kind not in _claims:
        said = vars(kind).get("compiled", False)
        _claims[kind] = said if isinstance(said, bool) else None
    claim = _claims[kind]
    return bool(owner.compiled) if claim is None else claim  # type: ignore[attr-defined]


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
        classes: set[Any] = {type(function) for function, _ in self.entries}
        return all(_is_kernel_class(kind) for kind in classes)

    def __call__(self) -> None:
        """Make all calls, or write them down in a longer program."""
        if _recording.program is not None:
            _recording.program.entries += self.entries
            _recording.program.inner.append(self)
            return
        self.link()
        for piece in self._pieces or ():
            piece()

    def link(self) -> None:
        """Turn the calls into words in memory; where that is one block, its call stands for them."""
        if self._pieces is None:
            self._pieces = self._cut()
            if (stretch := self.stretch) is not None:
                self.entries = [(execute, (stretch.address,))]

    def _cut(self) -> list[Callable[[], object]]:
        """The program in pieces, each one compiled or one plain call."""
        if not self.entries:
            return []
        if self.compiled:
            return [Stretch.of(self.entries)]
        pieces: list[Callable[[], object]] = []
        for compiled, group in groupby(self.entries, _is_kernel_call):
            calls = list(group)
            pieces += [Stretch.of(calls)] if compiled else [_plain(*call) for call in calls]
        return pieces

    @property
    def stretch(self) -> Stretch | None:
        """All its calls in one compiled piece, if they are."""
        self.link()
        first = self._pieces[0] if self._pieces and len(self._pieces) == 1 else None
        return first if isinstance(first, Stretch) else None

    @classmethod
    def of(cls, stretch: Stretch) -> Program:
        """The program that a stretch of calls is."""
        program = cls()
        program._pieces, program.entries = [stretch], [(execute, (stretch.address,))]
        return program

    @property
    def address(self) -> int:
        """Where compiled loops find the program; kept alive by it."""
        stretch = self.stretch
        assert stretch is not None or not self.entries
        return 0 if stretch is None else stretch.address


class Recurring:
    """A function of kernel calls that is made at once at first, and recorded when it is called again.

    plain : how many calls are made at once. A recording costs about two of them.
    """

    def __init__(self, function: Function, *arguments: Any, plain: int = 1) -> None:
        self._function, self._arguments, self._plain = function, arguments, plain
        self._program: Program | None = None

    def __call__(self) -> None:
        if self._program is None and (self._plain or _recording.program is not None):
            self._plain = max(0, self._plain - 1)
            self._function(*self._arguments)
            return
        if self._program is None:
            self._program = record(self._function, *self._arguments)
        self._program()


def _plain(function: Function, arguments: tuple[Any, ...]) -> Callable[[], object]:
    return lambda: function(*arguments)


class Stretch:
    """Kernel calls one after another: their blocks of words, and a table of the blocks.

    kept : what the words have addresses of.
    """

    def __init__(self, words: Any, table: Any, kept: Sequence[Any]) -> None:
        self.words, self.table, self._kept = words, table, kept
        self.address = address_of(table)

    @classmethod
    def of(cls, calls: list[Entry]) -> Stretch:
        """Link calls; they are not kept themselves, for they are many objects to be counted."""
        return cls(*link(calls), [value for _, arguments in calls for value in arguments])

    def __call__(self) -> None:
        execute(self.address)
