"""Studies that solve a robot many times tell once, at their end, what each solve would warn of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[bool] = ContextVar("told", default=True)


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
