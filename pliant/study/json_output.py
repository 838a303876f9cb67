"""Machine-readable answers of the command line: one JSON object on standard output, nothing else."""

from __future__ import annotations

import json
from typing import Any

import click

_META = "pliant.json"


def _remember(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    ctx.find_root().meta[_META] = value
    return value


json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    callback=_remember,
    help="Print one JSON object and nothing else.",
)


def asked_for(ctx: click.Context) -> bool:
    """Return whether the command was called with --json."""
    return bool(ctx.find_root().meta.get(_META))


def emit(**data: Any) -> None:
    """Print plain data as JSON; numbers that are not finite become null."""
    from pliant.results.export import plain_data

    click.echo(json.dumps(plain_data({"ok": True, **data}), allow_nan=False))


def emit_error(error: BaseException, message: str) -> None:
    """Print an error as JSON, with the problems of a robot file by line and column."""
    listed = [vars(problem) for problem in getattr(error, "problems", ())]
    emit(ok=False, error=message, **({"problems": listed} if listed else {}))
