"""Columns of CSV files."""

from __future__ import annotations

import csv
from pathlib import Path

from pliant.model.errors import DescriptionError


def read_csv(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file with a header and at least two rows of numbers."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DescriptionError(
            "Table",
            "path",
            str(path),
            f"a readable CSV file ({reason})",
            "check the name and the folder",
        ) from error
    if len([row for row in rows if row]) < 3 or not rows[0]:
        raise DescriptionError(
            "Table",
            "path",
            str(path),
            "a CSV file with a header row and at least two rows of numbers",
            "add a first row such as t,value",
        )
    return rows


def csv_column(file: str, rows: list[list[str]], index: int, argument: str) -> list[float]:
    """Return one column of the rows of a file as numbers; `argument` named it."""
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        text = row[index] if index < len(row) else ""
        try:
            found.append(float(text))
        except ValueError:
            raise DescriptionError(
                "Table",
                argument,
                text,
                f"a column of numbers (row {line} of {file})",
                "correct this cell",
            ) from None
    return found
