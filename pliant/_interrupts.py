"""Ctrl-C held back while something is done that cannot be done again after half of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C act at the end of the block only.

    For short work: a library whose import was interrupted, or registries that were half read, stay
    broken until the end of the process.
    """
    unknown = signal.getsignal(signal.SIGINT) is None  # set by a program that runs Python inside
    if unknown or threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)
