"""Reads the code blocks of Markdown pages and runs them, checking the numbers they show.

A Python block that imports pliant starts a new program; a block that does not goes on from the one
before it. A line that ends in ``# -> value`` states what its expression is:

    still.tip("arm")[2, 3]          # -> -0.0451
    print(move.t[-1])               # -> 2.0
    robot.modes(3).frequencies      # -> [1.2, 7.6, 21.3]

Each shown number must be right in every digit shown.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.model import registry

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
STATED = re.compile(r"#\s*->\s*(.+?)\s*$")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass
class Block:
    """One fenced block: its language, its text and the line of the page where the text starts."""

    language: str
    text: str
    line: int


@dataclass
class Program:
    """Python blocks that share their variables."""

    page: Path
    blocks: list[Block] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.page.name}:{self.blocks[0].line}"


def read_blocks(page: Path, language: str) -> list[Block]:
    """All fenced blocks of one language, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
        if found[1] == language
    ]


def read_programs(page: Path) -> list[Program]:
    """The Python blocks of a page, grouped into programs."""
    programs: list[Program] = []
    for block in read_blocks(page, "python"):
        if not programs or re.search(r"^\s*(import|from) pliant\b", block.text, re.MULTILINE):
            programs.append(Program(page))
        programs[-1].blocks.append(block)
    return programs


def run(program: Program) -> int:
    """Run a program and return how many numbers or assertions in it were checked."""
    namespace: dict[str, Any] = {"__name__": "__snippet__"}
    known = len(registry._CLASSES)
    try:
        return sum(_run_block(program.page, block, namespace) for block in program.blocks)
    finally:  # classes of a page do not stand in for those of the same name in tests
        more = registry._CLASSES[known:]
        registry._CLASSES[known:] = [cls for cls in more if cls.__module__.startswith("pliant.")]


def _run_block(page: Path, block: Block, namespace: dict[str, Any]) -> int:
    lines = block.text.splitlines()
    checked = 0
    tree = ast.parse(block.text, filename=str(page))
    ast.increment_lineno(tree, block.line - 1)
    for statement in tree.body:
        last = lines[(statement.end_lineno or statement.lineno) - block.line]
        stated = STATED.search(last)
        if stated is None:
            _execute(statement, page, namespace)
            checked += isinstance(statement, ast.Assert)
            continue
        where = f"{page.name}:{statement.lineno}"
        assert isinstance(statement, ast.Expr), f"{where}: '# ->' needs an expression before it"
        code = compile(ast.Expression(_shown(statement.value)), str(page), "eval")
        _compare(eval(code, namespace), stated[1], where)
        checked += 1
    return checked


def _execute(statement: ast.stmt, page: Path, namespace: dict[str, Any]) -> None:
    exec(compile(ast.Module([statement], []), str(page), "exec", dont_inherit=True), namespace)


def _shown(value: ast.expr) -> ast.expr:
    """The expression itself, or what is printed when it is a call of print with one argument."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "print":
        return value.args[0]
    return value


def _compare(value: Any, stated: str, where: str) -> None:
    texts = NUMBER.findall(stated)
    if not texts:
        assert str(value) == stated.strip("'\""), f"{where}: got {value}, the page says {stated}"
        return
    actual = np.atleast_1d(np.asarray(value, dtype=float)).ravel()
    message = f"{where}: got {value}, the page says {stated}"
    assert len(texts) == actual.size, message
    for number, text in zip(actual, texts, strict=True):
        assert abs(number - float(text)) <= 0.5001 * last_digit(text), message


def last_digit(text: str) -> float:
    """Size of one unit in the last digit shown: 0.01 for "3.14", 1e-8 for "2.5e-7"."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)
