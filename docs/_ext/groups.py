"""The gallery in groups: a page for each, and all of them on the first page.

The examples lie in one folder. Each names its group in a comment, which the gallery does not show:

    # sphinx_gallery_group = "loads"

Sphinx-Gallery writes one list of thumbnails; here it is split by these names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

GROUPS = {
    "first steps": "Short programs to start from: an arm that sags, swings, is driven and shaken.",
    "loads": "Forces, moments, supports and joined rods; loads of your own.",
    "actuators": "Pneumatic actuators: statics, motions, loads, and a controller in the loop.",
    "mechanisms": "Bodies, joints and loops: linkages, platforms, structures of rods and plates.",
    "dynamics": "Releases and blows, energy, many robots at once, and the speed of it all.",
    "methods": "Formulations, integrators and solvers: what they cost and how they converge.",
    "identification": "Parameters of a robot from measurements of it.",
    "validation": "Results next to exact solutions and published cases.",
}
NAMED = re.compile(r'^# sphinx_gallery_group = "([^"\n]*)"$', re.MULTILINE)
OPEN, CLOSE = ".. thumbnail-parent-div-open\n", ".. thumbnail-parent-div-close\n"
THUMBNAIL = re.compile(
    r"^\.\. raw:: html\n\n +<div class=\"sphx-glr-thumbcontainer\"", re.MULTILINE
)
PAGE = re.compile(r":doc:`/gallery/(\w+)`")


def group_of(example: Path) -> str:
    """The group that an example names; "" if it names none or one that does not exist."""
    found = NAMED.search(example.read_text(encoding="utf-8"))
    return found[1] if found and found[1] in GROUPS else ""


def title(group: str) -> str:
    return group[:1].upper() + group[1:]


def page_of(group: str) -> str:
    """Name of the page of a group."""
    return "group_" + group.replace(" ", "_")


def thumbnails(index: str) -> dict[str, str]:
    """The thumbnail of each example on the page that Sphinx-Gallery wrote, by name."""
    listed = index[index.index(OPEN) + len(OPEN) : index.index(CLOSE)]
    starts = [found.start() for found in THUMBNAIL.finditer(listed)]
    pieces = [listed[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return {PAGE.search(piece)[1]: piece.rstrip() + "\n" for piece in pieces}  # type: ignore[index]


def grid(pictures: list[str]) -> str:
    """Thumbnails side by side."""
    start = '.. raw:: html\n\n    <div class="sphx-glr-thumbnails">\n\n'
    return start + "\n\n".join(pictures) + "\n\n.. raw:: html\n\n    </div>\n"


def toctree(pages: list[str]) -> str:
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   /gallery/{p}" for p in pages), ""])


def pages(index: str, group_by_name: dict[str, str]) -> dict[str, str]:
    """The first page and one for each group, as reStructuredText, by name."""
    pictures = thumbnails(index)
    head = index[: index.index(".. raw:: html")]
    written, first = {}, [head]
    for group, about in GROUPS.items():
        names = [name for name in pictures if group_by_name[name] == group]
        if not names:
            continue
        shown = f"{about}\n\n{grid([pictures[name] for name in names])}"
        heading = title(group)
        written[page_of(group)] = f"{heading}\n{'=' * len(heading)}\n\n{shown}\n{toctree(names)}"
        first.append(f"{heading}\n{'-' * len(heading)}\n\n{shown}")
    written["index"] = "\n".join([*first, toctree([name for name in written if name != "index"])])
    return written


def write_groups(app: Sphinx) -> None:
    """Replace the page of Sphinx-Gallery by pages of groups."""
    folder, examples = Path(app.srcdir) / "gallery", Path(app.srcdir).parent / "examples"
    index = (folder / "index.rst").read_text(encoding="utf-8")
    groups = {path.stem: group_of(path) for path in sorted(examples.glob("plot_*.py"))}
    for name in [name for name, group in groups.items() if not group]:
        logger.warning('%s.py names no group: write # sphinx_gallery_group = "..."', name)
    for name, text in pages(index, groups).items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_groups, priority=600)  # after Sphinx-Gallery
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
