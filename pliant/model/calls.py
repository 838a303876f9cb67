"""Calls that refuse arguments they do not know, with a sentence that names the nearest one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pliant.model.errors import DescriptionError, did_you_mean

P = ParamSpec("P")
T = TypeVar("T")


def _refuse_arguments(
    signature: inspect.Signature, where: str, known: list[str], args: Any, kwargs: Any
) -> None:
    """Say what is wrong with the arguments of a call, if it is they."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise DescriptionError(
            where, "arguments", str(error), f"among {', '.join(known)}", "correct the call"
        ) from None


def checked(method: Callable[P, T]) -> Callable[P, T]:
    """Refuse unknown and missing arguments of a method with a sentence."""
    signature = inspect.signature(method)
    known = [name for name in signature.parameters if name != "self"]
    where = method.__qualname__.removesuffix(".__init__")

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for name, value in kwargs.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise DescriptionError(where, name, value, "an argument that it takes", hint)
        try:
            return method(*args, **kwargs)
        except TypeError:
            _refuse_arguments(signature, where, known, args, kwargs)
            raise

    return call
