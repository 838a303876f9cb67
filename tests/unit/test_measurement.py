"""Measured files: whole ones are read, others refused with file, line, column and remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl

GOOD = "t,push,arm.tip.z\n0.0,0,0.1\n0.1,1,0.2\n0.2,1,0.3\n"


def write(folder: Path, text: str) -> Path:
    file = folder / "tip.csv"
    file.write_text(text)
    return file


def test_columns_are_read_in_their_units(tmp_path: Path) -> None:
    found = pl.read_measurement(write(tmp_path, GOOD))
    assert found.time == "t" and found.rows == 3 and found.name == "tip.csv"
    assert found.column("arm.tip.z").tolist() == [0.1, 0.2, 0.3]
    found = pl.read_measurement(write(tmp_path, GOOD.replace(",", ";").replace("t;", "time / s;")))
    assert found.t is not None and found.t.tolist() == [0.0, 0.1, 0.2]


def test_file_without_time_holds_load_cases(tmp_path: Path) -> None:
    found = pl.read_measurement(write(tmp_path, "push,arm.tip.z\n1,0.1\n0,0.2\n"))
    assert found.t is None and found.rows == 2


def test_window_compares_some_rows_and_keeps_all(tmp_path: Path) -> None:
    found = pl.read_measurement(write(tmp_path, GOOD)).between(0.05, 0.2)
    assert found.compared.tolist() == [False, True, True] and found.rows == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("0.1,1,0.2", ",1,0.2"), ("line 3", "'t'", "empty")),
        (GOOD.replace("0.1,1,0.2", "0.1,1,inf"), ("line 3", "'arm.tip.z'", "finite")),
        (GOOD.replace("0.1,1,0.2", "0.1,x,0.2"), ("line 3", "'push'", "'x'")),
        (GOOD.replace("0.1,1,0.2", "0.1,1"), ("line 3", "2 cells", "3")),
        (GOOD.replace("0.1,1", "0.3,1"), ("line 4", "'t'", "later", "0.3")),
        (GOOD.replace("0.1,1", "0.0,1"), ("line 3", "'t'", "later")),
        (GOOD.replace("push", "t"), ("line 1", "named once")),
        (GOOD.replace("push", ""), ("line 1", "column 2", "name")),
        ("0,1\n1,2\n", ("line 1", "names of the columns")),
        ("t,a\n", ("no rows",)),
        ("", ("line 1", "header")),
    ],
)
def test_file_that_is_not_whole_is_refused(
    tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(pl.DescriptionError) as caught:
        pl.read_measurement(write(tmp_path, text))
    for word in ("tip.csv", *words):
        assert word in str(caught.value)


def test_missing_file_and_column_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pl.DescriptionError, match="readable"):
        pl.read_measurement(tmp_path / "nothing.csv")
    with pytest.raises(pl.DescriptionError, match="did you mean 't'"):
        pl.read_measurement(write(tmp_path, GOOD), time="T")
    with pytest.raises(pl.DescriptionError, match=r"arm\.tip\.z"):
        pl.read_measurement(write(tmp_path, GOOD)).column("arm.tip.zz")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"columns": {}}, "columns"),
        ({"columns": {"a": [1.0, np.inf]}}, "row 2"),
        ({"columns": {"t": [0.0, np.nan], "b": [1.0, 2.0]}, "time": "t"}, "row 2"),
        ({"columns": {"a": [1.0], "b": [1.0, 2.0]}}, "one length"),
        ({"columns": {"t": [0.0, 0.0], "b": [1.0, 2.0]}, "time": "t"}, "later"),
        ({"columns": {"t": [-1.0, 0.0], "b": [1.0, 2.0]}, "time": "t"}, "0 s or later"),
        ({"columns": {"t": [0.0, 1.0]}, "time": "time"}, "'t'"),
        ({"columns": {"a": [1.0]}, "start": "state"}, "start"),
        ({"columns": {"a": [1.0]}, "window": (3.0, 4.0)}, "window"),
    ],
)
def test_arrays_that_are_not_whole_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(pl.DescriptionError, match=words):
        pl.Measurement(**arguments)
