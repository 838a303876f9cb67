"""Files that a robot file may name: those below its folder, or below folders that the user allows."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from pliant.model import DescriptionError, refuse


def named_file(name: str, what: str, folder: Path, roots: Sequence[str | os.PathLike[str]]) -> str:
    """Return the path of a file that is named relative to a folder.

    what : it is, for messages, such as "CSV file".  roots : the folders below which it must be,
    whatever links lead to it. What is no regular file is refused.
    """
    try:
        file = Path(os.path.realpath(folder / name))
        mode = file.stat().st_mode if file.exists() else stat.S_IFREG
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        expected = f"a readable {what} ({reason})"
        raise DescriptionError("", "", name, expected, "check the name") from None
    refuse(
        not any(file.is_relative_to(os.path.realpath(root)) for root in roots),
        "",
        "",
        name,
        "a file below the folder of the robot file",
        "move it there, or allow its folder by --allow DIR (in Python allow=DIR)",
    )
    regular, remedy = "a regular file, no folder, device or pipe", "check the name"
    refuse(not stat.S_ISREG(mode), "", "", name, regular, remedy)
    return str(folder / name)
