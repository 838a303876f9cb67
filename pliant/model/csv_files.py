"""Rows of CSV files, numbered by line."""

from __future__ import annotations

import csv
from pathlib import Path

from pliant.model.checks import DescriptionError


def read_csv(part: str, file: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a file as cells, each with its line number.

    part : what the file is read for, for messages. Cells are separated by the comma, semicolon or tab
    that the first line has most of.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        expected, remedy = f"a readable CSV file ({reason})", "check the name and the folder"
        raise DescriptionError(part, "path", str(file), expected, remedy) from error
    mark = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(text.splitlines(), delimiter=mark)
    try:
        return [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        where = f"{part}, line {reader.line_num}"
        raise DescriptionError(where, "file", str(error), "a CSV file", "correct it") from error
