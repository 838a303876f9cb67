"""Texts of settings and inputs that are the same for equal values in every process.

Functions count by their code, by what they close over, and by the data and functions that they take
from their module; objects by their attributes and by what they do where they are called.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from pliant.model import Signal

_DEEPEST, _LONG = 100, 500
"""Levels of objects in objects that are told apart; characters from which a text becomes its hash."""
_NUMBERS = (bool, int, float, complex, str, bytes)


def text_of(value: Any) -> str:
    """Return the text of a value."""
    return _Texts().of(value)


class _Texts:
    """Writes the texts of values in values, each object once."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []
        """Objects with a text, so that no other one gets their place in memory."""
        self._depth = 0

    def of(self, value: Any) -> str:
        """The text of a value, as a hash if it is long."""
        if value is None or isinstance(value, _NUMBERS):
            return repr(value)
        if isinstance(value, np.generic):
            return repr(value.item())
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            return f"{value.dtype.str}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
        if id(value) in self._known:
            return self._known[id(value)]
        if self._depth > _DEEPEST:
            return "..."
        self._known[id(value)] = "in a circle"
        self._kept.append(value)
        self._depth += 1
        text = self._of_items(value)
        self._depth -= 1
        if len(text) > _LONG:
            text = hashlib.sha256(text.encode()).hexdigest()
        self._known[id(value)] = text
        return text

    def _of_items(self, value: Any) -> str:
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{self.of(k)}: {self.of(v)}' for k, v in value.items())}}}"
        if isinstance(value, (list, tuple, np.ndarray)):
            return self._list(value)
        if isinstance(value, (set, frozenset)):
            return f"{{{', '.join(sorted(map(self.of, value)))}}}"
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, types.FunctionType):
            return self._of_function(value)
        return self._of_object(value)

    def _list(self, values: Iterable[Any]) -> str:
        return f"[{', '.join(map(self.of, values))}]"

    def _of_function(self, value: types.FunctionType) -> str:
        cells = [_contents(cell) for cell in value.__closure__ or ()]
        taken = {name: self.of(item) for name, item in _taken(value)}
        rest = self._list([cells, value.__defaults__, value.__kwdefaults__])
        return f"function({_code(value.__code__)}, {rest}, {taken})"

    def _of_class(self, kind: type) -> str:
        """A class, with what its objects do where they are called."""
        call = kind.__dict__.get("__call__")
        own = isinstance(call, types.FunctionType) and not kind.__module__.startswith("pliant.")
        return f"{kind.__qualname__}{self.of(call) if own else ''}"

    def _of_object(self, value: Any) -> str:
        """A method or an object of any class."""
        if isinstance(value, types.MethodType):
            return self.of(value.__func__) + self.of(value.__self__)
        if isinstance(value, partial):
            return f"partial{self._list([value.func, value.args, value.keywords])}"
        if isinstance(getattr(value, "py_func", None), types.FunctionType):
            return f"compiled {self.of(value.py_func)}"
        kind = self.of(type(value))
        if is_dataclass(value):
            given = {item.name: getattr(value, item.name) for item in fields(value) if item.init}
            return f"{kind}({self._of_items(given)})"
        kept = getattr(value, "__dict__", None) or _state(value)
        if kept is None:
            builtin = type(value).__module__ == "builtins" and callable(value)
            return f"{kind}({repr(value) if builtin else ''})"
        return f"{kind}({self.of(kept)})"


def _contents(cell: types.CellType) -> Any:
    """What a function closes over, None for what has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _state(value: Any) -> Any:
    """What an object without a dict of attributes holds, None if it does not say."""
    try:
        return value.__getstate__()
    except Exception:  # of any class
        return None


def _taken(function: types.FunctionType) -> list[tuple[str, Any]]:
    """Data and functions that a function and those inside it take from their module, by name."""
    names, codes = set[str](), [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [x for x in code.co_consts if isinstance(x, types.CodeType)]
    around = function.__globals__
    found = [(name, around[name]) for name in sorted(names) if name in around]
    return [(name, item) for name, item in found if _is_own(item, function) or _is_plain(item)]


def _is_own(item: Any, function: types.FunctionType) -> bool:
    """Whether an item is a function of the same module, compiled or not."""
    plain = getattr(item, "py_func", item)
    return isinstance(plain, types.FunctionType) and plain.__module__ == function.__module__


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is data: numbers, texts, signals, or lists, dicts and sets of them."""
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        items = value.values() if isinstance(value, Mapping) else value
        return depth < _DEEPEST and all(_is_plain(item, depth + 1) for item in items)
    return value is None or isinstance(value, (*_NUMBERS, np.generic, np.ndarray, Signal, partial))


def _code(code: types.CodeType) -> str:
    """The text of a compiled function: what it does, whatever its file and line."""
    constants = [_code(x) if isinstance(x, types.CodeType) else repr(x) for x in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
