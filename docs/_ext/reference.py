"""The page of all public names, generated from ``pliant.__all__``.

Docstrings are plain prose with the symbols of the field (xi*, |x|, q_), and explain arguments as
``name : meaning``. Here the symbols that reStructuredText would take for markup are escaped, and
the explanations become lists.
"""

from __future__ import annotations

import html
import importlib
import inspect
import re
from itertools import chain
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.inspect import TypeAliasForwardRef

logger = logging.getLogger(__name__)

TITLES = {
    "robot": "The robot",
    "study": "Studies",
    "control": "Controllers and estimators",
    "model": "Describing parts",
    "rods": "Formulations",
    "physics": "Physics",
    "system": "The assembled system",
    "solve": "Solvers and integrators",
    "results": "Results",
    "files": "Robot files",
    "view": "Pictures",
    "lie": "Lie groups",
}
ARGUMENT = re.compile(r"(\w+(?:, \w+)*) : (.+)")
SEVERAL = re.compile(r" {2,}(?=\w+(?:, \w+)* : )")
GLUED = re.compile(r"\S {2,}(\w+(?:, \w+)*) : ")
DIRECTIVES = ((inspect.isclass, "autoclass"), (callable, "autofunction"))


def folder_of(value: object) -> str:
    """The folder of Pliant in which a public object is defined."""
    parts = (getattr(value, "__module__", None) or "").split(".")
    return parts[1] if parts[0] == "pliant" and len(parts) > 1 else ""


def entry(name: str, value: object) -> str:
    """The autodoc directive of one public name."""
    kind = next((directive for test, directive in DIRECTIVES if test(value)), "autodata")
    # results share their methods through base classes
    shared = folder_of(value) == "results" and kind == "autoclass"
    warning = shared and issubclass(value, Warning)  # type: ignore[arg-type]
    options = "   :inherited-members:\n" if shared and not warning else ""
    return f"```{{eval-rst}}\n.. {kind} :: pliant.{name}\n{options}```\n".replace(" ::", "::")


def page() -> str:
    """The whole page, in Markdown, grouped by folder."""
    package = importlib.import_module("pliant")
    groups: dict[str, list[str]] = {}
    for name in sorted(getattr(package, "__all__", ()), key=str.lower):
        value = getattr(package, name)
        if folder_of(value) and not inspect.ismodule(value):
            groups.setdefault(folder_of(value), []).append(entry(name, value))
    lines = [
        "# Public names\n",
        "After `import pliant as pl`, each name is available as `pl.name`.\n",
    ]
    order = [*TITLES, *sorted(set(groups) - set(TITLES))]
    for folder in order:
        if folder in groups:
            lines += [f"## {TITLES.get(folder, folder.capitalize() or 'Other')}\n", *groups[folder]]
    return "\n".join([*lines, "## Fields of robot files\n", *field_tables()])


def field_tables() -> list[str]:
    """A table of the fields of every section of robot files, from the classes themselves."""
    registry = importlib.import_module("pliant.model.registry")
    fields_of = importlib.import_module("pliant.model.fields").fields_of
    lines = []
    for heading in registry.headings():
        cls = registry.class_of(heading)
        if cls is None:
            continue
        lines += [f"### `{heading}`\n", "| field | meaning | default |", "|---|---|---|"]
        for name, item in fields_of(cls).items():
            if item.kind.listed:
                default = "" if item.default is None else f"`{item.default}`"
                shown = "required" if item.required else default
                lines.append(f"| `{name}` | {item.kind.note.replace('|', '/')} | {shown} |")
        lines.append("")
    return lines


def write_page(app: Sphinx) -> None:
    path = Path(app.srcdir) / "api" / "reference.md"
    path.parent.mkdir(exist_ok=True)
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def escape_symbols(line: str) -> str:
    """Escape symbols of the field that are markup by accident, outside literals."""
    pieces = re.split(r"(``.*?``|`[^`]*`_?)", line)
    for k in range(0, len(pieces), 2):
        text = re.sub(r"(?<=\w)\*(?![\w*])", r"\\*", pieces[k])
        text = re.sub(r"(?<!\\)\|", r"\\|", text)
        pieces[k] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", text)
    return "".join(pieces)


def list_arguments(lines: list[str]) -> list[str]:
    """Turn paragraphs of ``name : meaning`` into bullet lists, each item on one line.

    Several explanations may share a line: two spaces set them apart.
    """
    result: list[str] = []
    inside = False
    for line in chain.from_iterable(map(SEVERAL.split, lines)):
        found = ARGUMENT.match(line)
        if found:
            result += [] if inside else [""]
            result.append(f"* ``{found[1]}``: {found[2]}")
        elif inside and line.strip():
            result[-1] += " " + line.strip()
        else:
            result.append(line)
        inside = bool(found) or (inside and bool(line.strip()))
    return result


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    # an empty comment: napoleon takes "Energies in J: kinetic" on the first line for a type
    start = ["..", ""] if what in {"attribute", "property", "data"} else []
    lines[:] = start + [escape_symbols(line) for line in list_arguments(lines)]


def faults(text: str) -> list[str]:
    """What went wrong on a rendered page of the reference, as sentences."""
    plain = html.unescape(re.sub(r"<[^>]+>", "", text))
    found = [f"shows {name}" for name in re.findall(r"TypeAliasForwardRef", plain)]
    found += [f"has {names!r} inside the item before it" for names in GLUED.findall(plain)]
    for kind in re.findall(r"Type<[^\n]*</dt>\n<dd[^>]*>(.*?)</dd>", text, re.DOTALL):
        found.append(f"takes {re.sub('<[^>]+>', '', kind)!r} for a type")
    return found


def check(app: Sphinx, exception: Exception | None) -> None:
    path = Path(app.outdir) / "api" / "reference.html"
    if exception is None and path.exists():
        for fault in faults(path.read_text(encoding="utf-8")):
            logger.warning("%s %s", path.name, fault)


def setup(app: Sphinx) -> dict[str, Any]:
    # inside a union or a list, Sphinx shows the names of autodoc_type_aliases by their repr
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]
    app.connect("builder-inited", write_page, priority=100)
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
