"""Loops over programs from one source: compiled, and in plain Python for programs that are not.

A module with such loops begins with ``kernel, execute = modes.tools(__name__)``. Imported as usual, its
functions are compiled and programs are given by their addresses. `uncompiled` imports it a second time
with compilation off; programs are then objects that are called.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from pliant import _numba
from pliant.engine import calls

_PLAIN = "_uncompiled"


def _call(program: Any) -> None:
    if program is not None:
        program()


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def tools(module: str) -> tuple[Any, Any]:
    """The decorator of loops and the function that executes a program, for a module by name."""
    if module.endswith(_PLAIN):
        return _as_it_is, _call
    return _numba.kernel, calls.execute


@cache
def uncompiled(module: str) -> ModuleType:
    """A module with loops, by name, with compilation off."""
    source = sys.modules[module]
    spec = importlib.util.spec_from_file_location(module + _PLAIN, source.__file__)
    assert spec is not None and spec.loader is not None
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    return plain
