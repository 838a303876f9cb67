"""Build a formulation or an integrator from its name and settings in a robot file."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from pliant.files.leaves import Choice
from pliant.files.report import part_and_field, report_description_error, unknown_name
from pliant.files.source import Place, Source
from pliant.model import DescriptionError, PliantError, did_you_mean
from pliant.model.errors import nearest_name


def build_choice(
    source: Source, path: Place, given: Choice | None, registry: Mapping[str, type]
) -> Any:
    """Return the object that a file names, or None after reporting what is wrong with it.

    Names match whatever their case and underscores: bspline, BSpline, b_spline.
    """
    if given is None:
        return None
    cls = {_plain(name): item for name, item in registry.items()}.get(_plain(given.name))
    if cls is None:
        error = DescriptionError(
            "",
            "",
            given.name,
            f"one of {', '.join(registry) or 'those installed'}",
            did_you_mean(given.name, registry),
        )
        report_description_error(source, path, error)
        return None
    before = len(source.problems)
    settings = _check_settings(source, (*path, given.name), given.settings, cls)
    if len(source.problems) > before:
        return None
    return _construct(source, (*path, given.name), settings, cls)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _check_settings(
    source: Source, path: Place, settings: Mapping[str, object], cls: type
) -> dict[str, object]:
    """Return the settings in their declared types; report unknown, missing and wrong ones."""
    clean = dict(settings)
    parameters = inspect.signature(cls).parameters
    known = [name for name, item in parameters.items() if item.kind not in _OPEN]
    anything = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values())
    types = _annotations(cls)
    for name, value in settings.items():
        if name in known:
            clean[name] = _in_type(source, (*path, name), value, types.get(name))
        elif not anything:
            error = unknown_name("setting", name, name, value, known)
            report_description_error(source, path, error)
    meant = {nearest_name(name, known) for name in settings if name not in known}
    for name in known:
        if name in meant:
            continue
        if parameters[name].default is inspect.Parameter.empty and name not in settings:
            part, field = part_and_field((*path, name))
            source.report(path, part, field, f"{field} is missing; give it")
    return clean


_OPEN = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _annotations(cls: type) -> dict[str, Any]:
    """Return the types of the constructor's arguments, as far as they can be found."""
    constructor: Any = getattr(cls, "__init__", None)
    for holder in (constructor, cls):
        try:
            found = typing.get_type_hints(holder)
        except (NameError, TypeError):
            continue
        if found:
            return found
    return {}


def _in_type(source: Source, path: Place, value: object, expected: Any) -> object:
    """Return a value in its declared type (a list as a tuple); report one that does not fit."""
    if expected is None:
        return value
    try:
        # JSON mode lets a list stand for a tuple, and strict mode nothing else
        return TypeAdapter(expected).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        reason = first["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        article = "" if reason.startswith(("'", "less", "greater", "a ", "an ")) else "a valid "
        told = DescriptionError("", "", value, f"{article}{reason}", "correct the value")
        report_description_error(source, path, told)
    except (PydanticUserError, TypeError):
        pass  # not a type that a file can be checked for: the constructor decides
    return value


def _construct(source: Source, path: Place, settings: Mapping[str, object], cls: type) -> Any:
    try:
        return cls(**settings)
    except DescriptionError as error:
        report_description_error(source, path, error)
    except (TypeError, ValueError, PliantError) as error:
        part, field = part_and_field(path)
        source.report(path, part, field, f"{field}: {error}; correct its settings")
    return None
