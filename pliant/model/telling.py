"""Studies that solve a robot many times tell once, at their end, what each solve would warn of."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[bool] = ContextVar("told", default=True)
_SILENCE = threading.Lock()
"""Filters of warnings belong to all threads: two that change them at once would not restore them."""


def is_told() -> bool:
    """Whether solvers warn of doubtful results at once."""
    return _told.get()


@contextmanager
def untold() -> Iterator[None]:
    """Solve without warnings of energy and resolution, in this thread only."""
    token = _told.set(False)
    try:
        yield
    finally:
        _told.reset(token)


@contextmanager
def silenced() -> Iterator[None]:
    """Solve without any warning, for a solution that an error is estimated from."""
    with _SILENCE, untold(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
