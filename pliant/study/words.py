"""Formulations and integrators written as in Python, for the command line."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from pliant.model import DescriptionError, did_you_mean


def settings_from_text(option: str, text: str, registry: Mapping[str, type]) -> Any:
    """Return the object, or the tuple of objects, that a text such as "BSpline(points=9)" names.

    option : where the text stands, for messages.  registry : the classes it may name. Nothing but
    names of the registry with plain numbers, texts and lists as settings is understood.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _refused(option, text, registry) from None
    if isinstance(tree, ast.Tuple):
        return tuple(_object(option, text, item, registry) for item in tree.elts)
    return _object(option, text, tree, registry)


def _object(option: str, text: str, tree: ast.expr, registry: Mapping[str, type]) -> Any:
    function = tree.func if isinstance(tree, ast.Call) else tree
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)):
        return tree.value
    if not isinstance(function, ast.Name):
        raise _refused(option, text, registry)
    plain = {name.lower(): item for name, item in registry.items()}
    cls = plain.get(function.id.lower().replace("_", ""))
    if cls is None:
        raise DescriptionError(
            option,
            "name",
            function.id,
            f"one of {', '.join(registry)}",
            did_you_mean(function.id, registry),
        )
    if not isinstance(tree, ast.Call):
        return cls()
    try:
        values = [ast.literal_eval(item) for item in tree.args]
        named = {str(item.arg): ast.literal_eval(item.value) for item in tree.keywords}
    except ValueError:
        raise _refused(option, text, registry) from None
    known = list(inspect.signature(cls).parameters)
    for name, value in named.items():
        if name not in known:
            raise DescriptionError(
                option, f"{cls.__name__}.{name}", value, "a setting", did_you_mean(name, known)
            )
    try:
        return cls(*values, **named)
    except TypeError as error:
        raise DescriptionError(
            option, cls.__name__, text, f"right in its settings ({error})", "correct them"
        ) from None


def _refused(option: str, text: str, registry: Mapping[str, type]) -> DescriptionError:
    return DescriptionError(
        option,
        "text",
        text,
        f"one of {', '.join(registry)} with its settings as in Python",
        "give e.g. 'BSpline(degree=3, points=15)', or 'BSpline(), Newmark()' with an integrator",
    )
