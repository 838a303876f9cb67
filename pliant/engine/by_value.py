"""Results of pure functions of arrays, kept by the values of their arguments.

Meshes of robots of one kind have the same stations, shape functions and patterns of matrices; only what
depends on stiffness and loads differs. Functions of the former are made `by_value`: the next robot, the
next state and another thread share the result, which therefore nobody changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

LARGEST = 20_000
"""Bytes of an array from which on a result is not kept, for it takes memory and is rare."""


def by_value(most: int) -> Callable[[Function], Function]:
    """Keep the last `most` results of a function of arrays and hashable arguments.

    Arrays are equal if all their bytes, shapes and types are. With one that is LARGEST nothing is kept.
    """

    def decorate(function: Function) -> Function:
        kept: OrderedDict[Any, Any] = OrderedDict()
        lock = threading.Lock()

        @wraps(function)
        def call(*arguments: Any) -> Any:
            if any(isinstance(x, np.ndarray) and x.nbytes >= LARGEST for x in arguments):
                return function(*arguments)
            key = tuple(map(_value, arguments))
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            result = function(*arguments)
            with lock:
                kept[key] = result
                while len(kept) > most:
                    kept.popitem(last=False)
            return result

        return call  # type: ignore[return-value]

    return decorate


def _value(argument: Any) -> Any:
    """What stands for an argument in a key."""
    if isinstance(argument, np.ndarray):
        return argument.tobytes(), argument.shape, argument.dtype.char
    return argument
