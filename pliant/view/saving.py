"""Writing pictures: a file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pliant.model import DescriptionError
from pliant.view.theme import style


def check_suffix(part: str, path: str | os.PathLike[str], known: tuple[str, ...]) -> Path:
    """Return the path if it ends in one of the known suffixes, such as ".png"."""
    found = Path(path)
    if found.suffix.lower() not in known:
        listed = ", ".join(known)
        raise DescriptionError(
            part,
            "path",
            str(path),
            f"a file name that ends in one of {listed}",
            f"give e.g. {found.stem or 'robot'}{known[0]!s}",
        )
    return found


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; move it there at the end, or remove it on failure.

    Folders that do not exist are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
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


def save_figure(fig: Figure, path: str | os.PathLike[str]) -> Path:
    """Write the figure as .png, .pdf, .svg or .jpg and return the path.

    The file appears whole or not at all; an old one is replaced only at the end.
    """
    found = check_suffix("save_figure", path, (".png", ".pdf", ".svg", ".jpg", ".jpeg"))
    with whole_file(found) as partial, style():
        fig.savefig(partial)
    return found


def show() -> None:
    """Open a window with the figures drawn so far and wait until it is closed."""
    plt.show()
