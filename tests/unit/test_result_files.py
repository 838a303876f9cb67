"""Result files: damage is found, whatever it is, and nothing else than Pliant's own error comes out."""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

import pliant as pl

OLDER = "no checksum"


@pytest.fixture(scope="module")
def still() -> pl.Equilibrium:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("arm", 0.2, pl.Circle(0.01), soft, formulation=pl.BSpline(points=6))
    return robot.statics()


@pytest.fixture(scope="module")
def saved(still: pl.Equilibrium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return still.save(tmp_path_factory.mktemp("results") / "still.nc")


def refused(path: object) -> str:
    with pytest.raises(pl.DescriptionError) as caught:
        pl.load(path)  # type: ignore[arg-type]
    assert str(caught.value).startswith("load: path = ")
    return str(caught.value)


def test_any_flipped_bit_is_found(saved: Path, tmp_path: Path) -> None:
    whole, chance, file = saved.read_bytes(), random.Random(12), tmp_path / "flipped.nc"
    ends = [*range(16), *range(len(whole) - 110, len(whole))]
    for place in ends + [chance.randrange(len(whole)) for _ in range(300)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        refused(file)


def test_truncated_and_extended_files_are_refused(saved: Path, tmp_path: Path) -> None:
    whole, chance, file = saved.read_bytes(), random.Random(13), tmp_path / "cut.nc"
    for end in [0, 1, 8, len(whole) - 1, len(whole) - 100] + [
        chance.randrange(len(whole)) for _ in range(20)
    ]:
        file.write_bytes(whole[:end])
        refused(file)
    file.write_bytes(whole + b"\0")
    refused(file)
    file.write_bytes(whole[:300] + bytes(len(whole) - 300))
    refused(file)


def test_checksum_leaves_the_file_readable_by_other_programs(
    saved: Path, still: pl.Equilibrium
) -> None:
    with h5py.File(saved) as file:
        assert file["position"].shape[2] == 3
    with xr.open_dataset(saved, engine="h5netcdf") as data, warnings.catch_warnings():
        warnings.simplefilter("error")
        back = pl.load(saved)
        np.testing.assert_array_equal(data.position, back.position)
    np.testing.assert_array_equal(back.position[0, -1], still.tip("arm")[:3, 3])
    assert "checksum" not in back.attrs


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    assert "folder" in refused(tmp_path)
    assert "No such file" in refused(tmp_path / "missing.nc")
    assert "must be the path" in refused(None)
    for value in (3.5, [], {"path": 1}):
        assert "must be the path" in refused(value)
    refused("with a zero\0inside.nc")
    os.mkfifo(tmp_path / "pipe.nc")
    assert "pipe" in refused(tmp_path / "pipe.nc")
    assert "device" in refused("/dev/zero")
    (tmp_path / "loop.nc").symlink_to(tmp_path / "loop.nc")
    refused(tmp_path / "loop.nc")


@pytest.mark.parametrize("path", [None, 3, ["a.csv"], b"a.csv", {}], ids=repr)
@pytest.mark.parametrize(
    "read",
    [
        pl.Robot.from_file,
        pl.read_measurement,
        pl.Wireframe.from_file,
        lambda path: pl.Robot().add_urdf(path),
        lambda path: pl.Robot().save(path),
    ],
    ids=["robot", "measurement", "wireframe", "urdf", "save"],
)
def test_what_is_no_path_is_refused_by_all_readers(read: Any, path: object) -> None:
    with pytest.raises(pl.DescriptionError, match=r"path = .*: must be the (path|name) of a"):
        read(path)


def test_huge_sparse_files_are_refused_at_once(saved: Path, tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.nc"
    with sparse.open("wb") as stream:
        stream.truncate(1 << 40)
    assert "another format" in refused(sparse)
    with h5py.File(sparse, "w") as file:
        file.attrs.update(kind="Motion", pliant_version="0.1.0")
        file.create_dataset("position", (1 << 37,), chunks=(1 << 16,), dtype="f8")
    assert "claims to hold" in refused(sparse)


def test_files_of_other_programs_are_refused(tmp_path: Path) -> None:
    text, table, other = (tmp_path / name for name in ("a.nc", "b.nc", "c.nc"))
    text.write_text("t,arm.tip.z\n0,1\n")
    assert "another format" in refused(text)
    with h5py.File(table, "w") as file:
        file["x"] = np.arange(3.0)
        file["group/y"] = np.array([("a", 1)], dtype=[("name", "S3"), ("n", "i4")])
    assert "Pliant" in refused(table)
    xr.Dataset({"position": ("x", np.zeros(3))}).to_netcdf(other, engine="h5netcdf")
    assert "another program wrote it" in refused(other)


def test_file_without_checksum_is_read_with_one_warning(saved: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.nc"
    back = pl.load(saved)
    back.to_netcdf(older, engine="h5netcdf")
    with pytest.warns(UserWarning, match=OLDER) as told:
        np.testing.assert_array_equal(pl.load(older).position, back.position)
    assert len(told) == 1
    assert "\n" not in str(told[0].message)


def test_file_that_another_program_changed_is_refused(saved: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.nc"
    with xr.open_dataset(saved, engine="h5netcdf") as data:
        (data * 2.0).assign_attrs(data.attrs).to_netcdf(changed, engine="h5netcdf")
    assert "changed since" in refused(changed)


@pytest.mark.parametrize("name", ["position", "energy"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_does_not_come_out_of_a_file(
    saved: Path, tmp_path: Path, name: str, value: float
) -> None:
    data = pl.load(saved)
    data[name].values.flat[0] = value
    data.to_netcdf(tmp_path / "nan.nc", engine="h5netcdf")
    with pytest.warns(UserWarning, match=OLDER):
        assert f"{name} holds numbers that are not finite" in refused(tmp_path / "nan.nc")


def test_missing_cells_of_a_measurement_are_kept_in_a_file(tmp_path: Path) -> None:
    from pliant.results.result_file import write

    cells = np.array([1.0, np.nan])
    data = xr.Dataset({"measured": ("row", cells)}, attrs={"kind": "Fit", "pliant_version": "1"})
    np.testing.assert_array_equal(pl.load(write(data, tmp_path / "fit.nc")).measured, cells)


@pytest.mark.parametrize(
    ("reader", "told"),
    [("while True: pass", "not end"), ("import os; os._exit(9)", "ends the process")],
)
def test_older_file_whose_damage_stops_its_reader_is_refused(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, told: str
) -> None:
    from pliant.results import result_file

    monkeypatch.setattr(result_file, "_READER", reader)
    monkeypatch.setattr(result_file, "_WAIT", 0.5)
    older = tmp_path / "older.nc"
    pl.load(saved).to_netcdf(older, engine="h5netcdf")
    assert told in refused(older)
