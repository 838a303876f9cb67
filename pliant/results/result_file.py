"""Result files: NetCDF with a checksum at the end, so that what is read is what was written.

A file ends in ``pliant-sha256``, the number of bytes before this mark, and their hash. Programs that
read HDF5 ignore it. It is checked before anything else looks into the file.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pliant.model import DescriptionError, check_suffix, whole_file
from pliant.results.export import UNITS

if TYPE_CHECKING:
    import xarray as xr

_MARK = b"\npliant-sha256 "
_LENGTH = 20
_TRAILER = len(_MARK) + _LENGTH + 1 + 64
"""Bytes of mark, length in decimal digits, a space and the hash in hexadecimal digits."""
_SEALED = "checksum"
_NOTE = "SHA-256 of the file, in its last bytes"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_BLOCK = 1 << 20
_SPARSE, _SMALL = 100, 1 << 26
"""Arrays larger than this many times their file, and than this many bytes, are not in it."""
_WAIT, _SPEED = 10.0, 1e7
"""Seconds, and bytes per second, that reading a file takes at most."""
_READER = """
import sys, h5py
left = int(sys.argv[2])
def look(name, item):
    global left
    dict(item.attrs)
    if isinstance(item, h5py.Dataset):
        left -= item.size * item.dtype.itemsize
        if left < 0:
            sys.exit("it claims to hold more numbers than fit into it")
        item[()]
with h5py.File(sys.argv[1], "r") as file:
    dict(file.attrs)
    file.visititems(look)
"""


def write(data: xr.Dataset, path: str | os.PathLike[str]) -> Path:
    """Write a dataset as NetCDF and return the path; an old file is replaced only at the end."""
    target = check_suffix("save", path, (".nc",))
    with whole_file(target) as partial:
        data.assign_attrs({_SEALED: _NOTE}).to_netcdf(partial, engine="h5netcdf")
        with partial.open("r+b") as stream:
            size, digest = _digest(stream, None)
            stream.write(_MARK + f"{size:0{_LENGTH}d} {digest}".encode())
    return target


def load(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a saved result into memory as an xarray Dataset.

    path : a .nc file written by the `save` method of a result. A file that was damaged or changed since
    is refused; one of an older version, without a checksum, is read with a warning.
    """
    data = read(path, "load")
    if data.attrs["kind"] == "Checkpoint":
        expected = "a finished result (this one is a checkpoint of a simulation)"
        remedy = "finish it with simulate(..., resume=path)"
        raise DescriptionError("load", "path", str(path), expected, remedy)
    _check_finite(path, data)
    return data


def read(path: str | os.PathLike[str], part: str) -> xr.Dataset:
    """Return the dataset in a file that `write` wrote.

    part : what the file is read for, for messages.
    """
    import xarray as xr

    file = _regular_file(path, part)
    try:
        sealed = _check_seal(file, part)
        if not sealed:
            _try_reading(file, part)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xr.open_dataset(file, engine="h5netcdf", cache=False) as lazy:
                _check_origin(file, lazy, part)
                data = lazy.load()
    except DescriptionError:
        raise
    except Exception as error:  # whatever HDF5 and its readers stumble over
        text = str(error).strip() or type(error).__name__
        reason = getattr(error, "strerror", None) or text.splitlines()[0]
        raise _refused(file, part, f"a NetCDF file written by Pliant ({reason})") from error
    promised = data.attrs.pop(_SEALED, None) is not None
    if promised and not sealed:
        raise _damaged(file, part, "its checksum is missing at the end")
    if not sealed:
        text = f"{file} has no checksum, as in files of older versions: damage would not be found"
        warnings.warn(text, stacklevel=3)
    return data


def _regular_file(path: object, part: str) -> Path:
    """Return the path of a file; refuse folders, devices, pipes and what is no path at all."""
    try:
        file = Path(path)  # type: ignore[arg-type]
        mode = file.stat().st_mode
    except TypeError:
        expected = "the path of a .nc file written by the save of a result"
        raise DescriptionError(part, "path", path, expected, "give e.g. 'motion.nc'") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refused(path, part, f"a NetCDF file written by Pliant ({reason})") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise _refused(file, part, f"a NetCDF file written by Pliant (it is {what})")
    return file


def _check_seal(file: Path, part: str) -> bool:
    """Whether the file ends in its checksum; refuse one whose checksum is wrong."""
    with file.open("rb") as stream:
        if stream.read(len(_SIGNATURE)) != _SIGNATURE:
            raise _refused(file, part, "a NetCDF file written by Pliant (it is another format)")
        end = stream.seek(0, os.SEEK_END) - _TRAILER
        stream.seek(max(end, 0))
        trailer = stream.read()
        if end < 0 or not trailer.startswith(_MARK):
            return False
        size, _, digest = trailer[len(_MARK) :].partition(b" ")
        if size != f"{end:0{_LENGTH}d}".encode() or digest != _digest(stream, end)[1].encode():
            raise _damaged(file, part, "its checksum does not match")
        return True


def _try_reading(file: Path, part: str) -> None:
    """Read a file without checksum in another process before it is read here.

    A damaged HDF5 file can hang or end the process that reads it.
    """
    size = file.stat().st_size
    limit = str(max(_SMALL, _SPARSE * size))
    command = [sys.executable, "-c", _READER, str(file.absolute()), limit]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_WAIT + size / _SPEED, check=False
        )
    except subprocess.TimeoutExpired:
        raise _damaged(file, part, "reading it does not end") from None
    if done.returncode != 0:
        reason = (done.stderr.strip() or "reading it ends the process").splitlines()[-1]
        expected = f"a NetCDF file written by Pliant ({reason.partition(': ')[2] or reason})"
        raise _refused(file, part, expected)


def _digest(stream: BinaryIO, size: int | None) -> tuple[int, str]:
    """Number of the first `size` bytes of a stream, None for all of them, and their hash."""
    sha, count = hashlib.sha256(), 0
    stream.seek(0)
    while block := stream.read(_BLOCK if size is None else min(_BLOCK, size - count)):
        sha.update(block)
        count += len(block)
    return count, sha.hexdigest()


def _check_origin(file: Path, data: xr.Dataset, part: str) -> None:
    """Refuse what Pliant did not write."""
    if not {"kind", "pliant_version"} <= set(data.attrs):
        raise _refused(file, part, "a file written by Pliant (another program wrote it)")


def _check_finite(path: object, data: xr.Dataset) -> None:
    """Refuse NaN and infinity among quantities that never have any."""
    for name, values in data.variables.items():
        number = np.issubdtype(values.dtype, np.floating)
        if number and name in UNITS and not np.isfinite(values.values).all():
            raise _damaged(path, "load", f"{name} holds numbers that are not finite")


def _refused(path: Any, part: str, expected: str) -> DescriptionError:
    remedy = "check the name, or save the result again"
    return DescriptionError(part, "path", str(path), expected, remedy)


def _damaged(path: Any, part: str, reason: str) -> DescriptionError:
    expected = f"a file as Pliant wrote it ({reason}: it was damaged or changed since)"
    remedy = "take it from a backup, or save the result again"
    return DescriptionError(part, "path", str(path), expected, remedy)
