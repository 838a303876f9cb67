"""Triangles from STL files, text or binary, and from OBJ files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.checks import Array, DescriptionError
from pliant.model.file_access import read_bytes

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84


class Triangles(NamedTuple):
    """Vertices (V, 3), metres, and for each triangle the numbers (F, 3) of its vertices."""

    vertices: Array
    faces: NDArray[np.int64]


def read_mesh(label: str, path: str) -> Triangles:
    """Return the triangles of an STL or OBJ file; label : of what is read, for messages."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".stl", ".obj"):
        raise _wrong(label, path, "the path of an .stl or .obj file")
    try:
        content = read_bytes(file)
    except OSError as error:
        raise _wrong(label, path, f"a file that can be read ({error.strerror})") from None
    try:
        found = _read_stl(content) if kind == ".stl" else _read_obj(content)
    except (ValueError, IndexError):
        found = None
    if found is None or not len(found.faces) or not np.isfinite(found.vertices).all():
        raise _wrong(label, path, f"triangles as {kind} files have them")
    return found


def _read_stl(content: bytes) -> Triangles:
    count = int.from_bytes(content[80:_HEADER], "little") if len(content) >= _HEADER else -1
    if len(content) == _HEADER + count * _RECORD.itemsize:
        corners = np.frombuffer(content, _RECORD, count, _HEADER)["corners"].astype(float)
    else:
        words = content.decode("utf-8").split()
        rows = [words[k + 1 : k + 4] for k, word in enumerate(words) if word == "vertex"]
        corners = np.array(rows, dtype=float).reshape(-1, 3, 3)
    vertices, numbers = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return Triangles(vertices, numbers.reshape(-1, 3).astype(np.int64))


def _read_obj(content: bytes) -> Triangles:
    vertices, faces = [], []
    for line in content.decode("utf-8").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            ring = [x - 1 if x > 0 else len(vertices) + x for x in numbers]
            faces += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    return Triangles(np.array(vertices, dtype=float), np.array(faces, dtype=np.int64))


def _wrong(label: str, path: str, expected: str) -> DescriptionError:
    return DescriptionError(label, "file", path, expected, "check the path, or save it as STL")
