"""Large robots are compiled and recorded while Python does not look for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Let no collection begin, as nothing is garbage yet: looking for it in vain again and again takes
    a third of the time in which many objects are made. Threads may overlap; one of them is enough to
    begin collections again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
