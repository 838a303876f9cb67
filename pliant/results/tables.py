"""Rows of results as text and as comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose first row is the heading, ruled off: first column left, others right."""
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    lines = []
    for line in cells:
        rest = "  ".join(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))
        lines.append(f"{line[0]:<{widths[0]}}  {rest}".rstrip())
    lines.insert(1, "-" * len(lines[0]))
    return lines


def write_rows(path: Path, names: Sequence[str], rows: Iterable[Any]) -> None:
    """Write the attributes `names` of rows as .csv, whole or not at all; None stays empty."""
    from pliant.view.saving import whole_file

    with whole_file(path) as partial, partial.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for row in rows:
            values = (getattr(row, name) for name in names)
            writer.writerow(["" if value is None else value for value in values])
