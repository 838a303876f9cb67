"""Parsing of command-line texts: formulations, integrators, parameters, outputs and inputs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pliant.files.reader import class_named
from pliant.model import DescriptionError, did_you_mean, number_in, refuse
from pliant.study.outputs import Output
from pliant.study.parameters import Parameter

_PARAMETER = re.compile(
    r"^(?P<path>[^=~]+?)\s*(?:=\s*(?P<start>[^\[~]+?)\s*(?:\[(?P<bounds>[^\]]*)\])?)?"
    r"\s*(?:~\s*(?P<mean>[^~]+?)\s*(?:\+-|±)\s*(?P<std>[^~]+))?$"
)
_COMMA = re.compile(r",(?![^\[]*\])")
"""Commas outside of brackets."""
_NOISE = re.compile(r"^(?P<rest>.*?)\s*(?:\+-|±)\s*(?P<std>[^+±]*)$")


def settings_from_text(option: str, text: str, registry: Mapping[str, type]) -> Any:
    """Return the object, or the tuple of objects, of a text such as "BSpline(points=9)".

    option : the command-line option, for messages.  registry : the classes that may be named. Their
    settings may be numbers, strings and lists.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _refused(option, text, registry) from None
    if isinstance(tree, ast.Tuple):
        return tuple(_object(option, text, item, registry) for item in tree.elts)
    return _object(option, text, tree, registry)


def parameter_from_text(text: str) -> Parameter:
    """Return the parameter of a text.

    "arm.drag=0.5[0,2]" has a start and bounds, "arm.drag~0.6+-0.1" a prior, and
    "arm.drag=0.5[0,2]~0.6+-0.1" all of them. Paths separated by commas share one value.
    """
    match = _PARAMETER.match(text.strip())
    try:
        assert match is not None
        start = None if match["start"] is None else float(match["start"])
        ends = None if match["bounds"] is None else _two(match["bounds"].split(","))
        prior = None if match["mean"] is None else _two([match["mean"], match["std"]])
    except (AssertionError, ValueError):
        raise DescriptionError(
            "--parameter",
            "text",
            text,
            "a path, or with a start and bounds, and with a prior",
            "give e.g. 'arm.material.E', 'arm.drag=0.5', 'arm.drag=0.5[0,2]' or "
            "'arm.drag=0.5[0,2]~0.6+-0.1'",
        ) from None
    paths = tuple(path.strip() for path in _COMMA.split(match["path"]))
    return Parameter(paths[0] if len(paths) == 1 else paths, start, ends, prior)


def output_from_text(text: str) -> Output:
    """Return the output of a text such as "arm.tip.z=COLUMN+-1e-3".

    The column and the standard deviation of its noise are optional.
    """
    match = _NOISE.match(text.strip())
    std = None
    if match is not None:
        std = number_in(match["std"])
        if std is None:
            raise DescriptionError(
                "--output",
                "text",
                text,
                "a path, or with a column and a standard deviation",
                "give e.g. 'arm.tip.z', 'arm.tip.z=COLUMN' or 'arm.tip.z=COLUMN+-1e-3'",
            )
    path, _, column = (text if match is None else match["rest"]).partition("=")
    return Output(path.strip(), column.strip() or None, std)


def inputs_from_text(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of inputs by name from texts such as "thread=1" or "push=0,0,1".

    option : the command-line option, for messages.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        numbers = [number_in(item) for item in value.split(",")]
        refuse(
            not name.strip() or not equals or any(item is None for item in numbers),
            option,
            "text",
            text,
            "the name of an input with its value",
            "give e.g. 'thread=1.0', or 'push=0,0,1' for a vector",
        )
        refuse(name.strip() in values, option, "text", text, "named once", "remove one of the two")
        values[name.strip()] = numbers[0] if len(numbers) == 1 else tuple(numbers)
    return values


def start_from_text(texts: Sequence[str]) -> str | dict[str, Any]:
    """Return the start of motions: "rest", "statics", or inputs by name from "thread=1.0"."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0].strip()
    return inputs_from_text("--start", texts) if texts else "rest"


def _two(texts: Sequence[str]) -> tuple[float, float]:
    first, second = (float(item) for item in texts)
    return first, second


def _object(option: str, text: str, tree: ast.expr, registry: Mapping[str, type]) -> Any:
    function = tree.func if isinstance(tree, ast.Call) else tree
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)):
        return tree.value
    if not isinstance(function, ast.Name):
        raise _refused(option, text, registry)
    cls: type | None = class_named(function.id, registry)
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
            option, cls.__name__, text, f"given valid settings ({error})", "correct them"
        ) from None


def _refused(option: str, text: str, registry: Mapping[str, type]) -> DescriptionError:
    return DescriptionError(
        option,
        "text",
        text,
        f"one of {', '.join(registry)} with its settings as in Python",
        "give e.g. 'BSpline(degree=3, points=15)', or 'BSpline(), Newmark()' with an integrator",
    )
