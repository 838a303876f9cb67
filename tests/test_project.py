"""The project keeps its rules: documented names, short functions, reasons for dependencies."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pliant

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "pliant").rglob("*.py"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# "About 40 lines" of the style guide, with a little room.
LONGEST_FUNCTION = 52
MOST_STATEMENTS = 53_900
"""Statements of the package without docstrings. It grows with new capabilities only."""


def public(kind: Any) -> list[str]:
    names = getattr(pliant, "__all__", [])
    return sorted(n for n in names if kind(getattr(pliant, n, None)))


def written_by_us(value: Any) -> bool:
    return callable(value) and (getattr(value, "__module__", "") or "").startswith("pliant")


def documentation(value: Any) -> str:
    """The docstrings in which the arguments of a class or function may be explained."""
    own = value.__dict__.get("__init__") if inspect.isclass(value) else None
    return f"{inspect.getdoc(value) or ''}\n{(own and inspect.getdoc(own)) or ''}"


@pytest.mark.parametrize("name", public(lambda value: True))
def test_public_name_exists(name: str) -> None:
    assert hasattr(pliant, name)


@pytest.mark.parametrize("name", public(written_by_us))
def test_public_name_explains_each_argument(name: str) -> None:
    value = getattr(pliant, name)
    text = documentation(value)
    assert text.strip(), f"pliant.{name} has no docstring"
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return
    silent = [p for p in parameters if p != "self" and not re.search(rf"\b{re.escape(p)}\b", text)]
    assert not silent, f"the docstring of pliant.{name} does not explain {silent}"


@pytest.mark.parametrize("name", public(written_by_us))
def test_public_name_swallows_no_unknown_keyword(name: str) -> None:
    value = getattr(pliant, name)
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    kinds = [p.kind for p in inspect.signature(value).parameters.values()]
    assert inspect.Parameter.VAR_KEYWORD not in kinds, f"pliant.{name} accepts any keyword"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = body_length(node)
            assert length <= LONGEST_FUNCTION, (
                f"{path.name}:{node.lineno}: {node.name} has {length} lines; split it"
            )


def test_the_package_does_not_grow() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    docstrings = [
        node
        for node in nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    assert len(nodes) - len(docstrings) <= MOST_STATEMENTS


def body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    first = node.body[0]
    explained = ast.get_docstring(node) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if explained else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_source_file_leaves_nothing_for_later(path: Path) -> None:
    found = re.search(r"\b(TODO|FIXME|XXX)\b", path.read_text(encoding="utf-8"))
    assert found is None, f"{path.name} holds {found and found[0]}"


def test_changelog_gives_a_reason_for_each_dependency() -> None:
    extras = PROJECT["optional-dependencies"].values()
    wanted = {
        re.match(r"[\w.-]+", requirement)[0]  # type: ignore[index]
        for group in (PROJECT["dependencies"], *extras)
        for requirement in group
    } - {"pliant"}
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    reasons = dict(re.findall(r"^- `([\w.-]+)`: (.+)", text, re.MULTILINE))
    assert wanted == set(reasons), f"differ in {sorted(wanted ^ set(reasons))}"


def test_package_uses_each_dependency_it_asks_for() -> None:
    modules = {"pillow": "PIL", "imageio-ffmpeg": "imageio_ffmpeg", "h5py": "h5netcdf"}
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["view"]]
    names = [re.match(r"[\w.-]+", requirement)[0] for requirement in wanted]  # type: ignore[index]
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    unused = [n for n in names if not re.search(rf"\b{re.escape(modules.get(n, n))}\b", text)]
    assert not unused, f"asked for in pyproject.toml, but no code of the package names {unused}"


def test_changelog_tells_of_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(PROJECT['version'])}\b", text, re.MULTILINE)
    assert getattr(pliant, "__version__", PROJECT["version"]) == PROJECT["version"]


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if "bvp" not in path.parts],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_kernels_of_coordinates_copy_entry_by_entry(path: Path) -> None:
    """The first array that Numba assigns to a slice compiles two seconds of its library, which strong
    forms alone are worth."""
    for kernel in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        marks = getattr(kernel, "decorator_list", [])
        if {ast.unparse(mark).split("(")[0] for mark in marks} & {"kernel", "inner", "leaf"}:
            for node in ast.walk(kernel):
                assert not assigns_to_slice(node), f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def assigns_to_slice(node: ast.AST) -> bool:
    """Whether a statement assigns anything but a constant to a slice of an array."""
    if not isinstance(node, ast.Assign) or isinstance(node.value, ast.Constant):
        return False
    indices = [item.slice for item in node.targets if isinstance(item, ast.Subscript)]
    parts = [part for item in indices for part in getattr(item, "elts", [item])]
    return any(isinstance(part, ast.Slice) or ast.unparse(part) == "..." for part in parts)
