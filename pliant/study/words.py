"""Formulations, integrators and parameters as texts, for the command line."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from typing import Any

from pliant.model import DescriptionError, did_you_mean
from pliant.study.parameters import Parameter

_PARAMETER = re.compile(r"^([^=]+?)(?:\s*=\s*([^\[]+?)\s*(?:\[([^\]]*)\])?)?$")


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


def parameter_from_text(text: str) -> Parameter:
    """Return the parameter that a text such as "arm.drag=0.5[0,2]" asks for: start and bounds."""
    match = _PARAMETER.match(text.strip())
    try:
        assert match is not None
        start = None if match[2] is None else float(match[2])
        ends = None if match[3] is None else tuple(float(item) for item in match[3].split(","))
        assert ends is None or len(ends) == 2
    except (AssertionError, ValueError):
        raise DescriptionError(
            "--parameter",
            "text",
            text,
            "a path, or with a start and bounds",
            "give e.g. 'arm.material.E', 'arm.drag=0.5' or 'arm.drag=0.5[0,2]'",
        ) from None
    return Parameter(match[1].strip(), start, ends)


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
