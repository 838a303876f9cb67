"""Files: output files that appear complete or not at all, and rows of CSV files."""

from __future__ import annotations

import csv
import errno
import hashlib
import os
import platform
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pliant.model.checks import DescriptionError, refuse

_LARGEST = 1 << 28
"""Bytes of the largest text that is read."""
_DAY = 24 * 3600.0
_MARK, _HOST = "pliant", hashlib.sha256(platform.node().encode()).hexdigest()[:6]
_TEMPORARY = re.compile(rf"\..*-{_MARK}-([0-9a-f]{{6}})-(\d+)-")
"""Names of temporary files: computer and process that write them."""


def file_path(part: str, path: Any, expected: str, example: str) -> Path:
    """Return the path that a user gave; refuse what is the name of no file."""
    named = isinstance(path, str | os.PathLike)
    refuse(not named, part, "path", path, expected, f"give e.g. {example}")
    return Path(path)


def check_suffix(part: str, path: str | os.PathLike[str], known: tuple[str, ...]) -> Path:
    """Return the path if it ends in one of the known suffixes, such as ".png", and can be written."""
    checked = file_path(part, path, "the name of a file", f"robot{known[0]}")
    if checked.suffix.lower() not in known:
        endings = known[0] if len(known) == 1 else f"one of {', '.join(known)}"
        raise DescriptionError(
            part,
            "path",
            str(path),
            f"a file name that ends in {endings}",
            f"give e.g. {checked.stem or 'robot'}{known[0]}",
        )
    expected = "the name of a file, and this is a folder"
    refuse(checked.is_dir(), part, "path", str(path), expected, "choose another name")
    check_folder(part, "path", checked.parent, path)
    return checked


def check_folder(
    part: str, field: str, folder: Path, given: str | os.PathLike[str] | None = None
) -> None:
    """Refuse a folder in which no file can be written, or that cannot be made; nothing is left there.

    part, field, given : what the user gave, for messages; the folder itself if given is None.
    """
    there = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    reason = "it is a file"
    if there.is_dir():
        try:
            with tempfile.TemporaryFile(dir=there):
                return
        except OSError as error:
            reason = error.strerror or str(error)
    raise DescriptionError(
        part,
        field,
        str(folder if given is None else given),
        f"in a folder in which files can be written ({there}: {reason})",
        "choose another place",
    )


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; move it there at the end, remove it on failure.

    Missing folders are created. What processes that were killed left in the folder is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    prefix = f".{path.stem}-{_MARK}-{_HOST}-{os.getpid()}-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=path.suffix, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        # mkstemp makes files that only their owner can read: give the usual rights of a new file
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o666 & ~mask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of processes that no longer run here, and those of yesterday."""
    for path in folder.glob(f".*-{_MARK}-*"):
        match = _TEMPORARY.match(path.name)
        with suppress(OSError):
            old = time.time() - path.stat().st_mtime > _DAY
            if match and (old or (match[1] == _HOST and not _runs(int(match[2])))):
                path.unlink()


def _runs(process: int) -> bool:
    """Whether a process runs on this computer; True where that cannot be asked."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def read_bytes(file: Path) -> bytes:
    """Return what a regular file holds; raises OSError.

    Pipes and devices, whose reading may not end, and files that do not fit into memory are OSErrors.
    """
    _require_readable(file)
    return file.read_bytes()


def read_text(file: Path) -> str:
    """Return the text of a regular file in UTF-8, as `read_bytes`; raises OSError or ValueError."""
    _require_readable(file)
    return file.read_text(encoding="utf-8-sig")


def _require_readable(file: Path) -> None:
    """Raise an OSError unless a file is a regular one of a size that can be read."""
    status = file.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(file))
    if status.st_size > _LARGEST:
        raise OSError(errno.EFBIG, "it is too large", str(file))


def read_csv(part: str, file: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a file as cells, each with its line number.

    part : what the file is read for, for messages. Cells are separated by the comma, semicolon or tab
    that the first line has most of.
    """
    try:
        text = read_text(file)
    except (OSError, ValueError) as error:
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
