"""Wireframes: nodes and the edges between them, from points, IGES curves or triangle meshes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pliant.model.checks import (
    Array,
    DescriptionError,
    count as whole,
    finite_array,
    pose_matrix,
    positive,
    refuse,
)
from pliant.model.file_access import check_suffix, read_bytes, whole_file
from pliant.model.iges import read_iges, written_iges
from pliant.model.mesh_file import read_mesh

Ints = NDArray[np.int64]
_LABEL = "Wireframe"


@dataclass(frozen=True, eq=False)
class Wireframe:
    """Nodes and straight edges between them.

    nodes : (N, 3), metres, in the world.  edges : (E, 2), numbers of the nodes at their ends.
    """

    nodes: Array
    edges: Ints

    def __post_init__(self) -> None:
        nodes = finite_array(
            _LABEL,
            "nodes",
            self.nodes,
            "points (N, 3) in metres",
            "give e.g. [[0, 0, 0], [0.1, 0, 0]]",
            lambda x: x.ndim == 2 and x.shape[1] == 3 and len(x) > 0,
        )
        edges = np.asarray(self.edges)
        good = edges.ndim == 2 and edges.shape[1] == 2 and edges.dtype.kind in "iu" and len(edges)
        if not good or edges.min() < 0 or edges.max() >= len(nodes):
            raise DescriptionError(
                _LABEL,
                "edges",
                self.edges,
                f"pairs (E, 2) of node numbers from 0 to {len(nodes) - 1}",
                "give e.g. [[0, 1], [1, 2]]",
            )
        if (edges[:, 0] == edges[:, 1]).any():
            raise DescriptionError(
                _LABEL, "edges", self.edges, "edges between two nodes", "leave out loops"
            )
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "edges", edges.astype(np.int64))

    @classmethod
    def from_lines(cls, lines: list[Any], tolerance: float = 1e-6) -> Self:
        """Return the wireframe of polylines, each (K, 3), metres.

        tolerance : metres; points closer than this are one node, at their mean.
        """
        tolerance = positive(_LABEL, "tolerance", tolerance, "m", "give e.g. 1e-3")
        points = np.concatenate([np.asarray(line, dtype=float).reshape(-1, 3) for line in lines])
        bad, remedy = not np.isfinite(points).all(), "look for NaN"
        refuse(bad, _LABEL, "lines", points, "finite points (K, 3) in metres", remedy)
        from scipy.spatial import cKDTree

        near = cKDTree(points).query_pairs(tolerance, output_type="ndarray")
        ones = np.ones(len(near))
        graph = coo_array((ones, (near[:, 0], near[:, 1])), shape=(len(points),) * 2)
        count, number = connected_components(graph, directed=False)
        order = np.full(count, len(points))
        np.minimum.at(order, number, np.arange(len(points)))
        rank = np.empty(count, dtype=np.int64)
        rank[np.argsort(order)] = np.arange(count)
        number = rank[number]
        nodes = np.zeros((count, 3))
        np.add.at(nodes, number, points)
        nodes /= np.bincount(number, minlength=count)[:, None]
        ends, at = [], 0
        for line in lines:
            ends += list(pairwise(number[at : at + len(line)].tolist()))
            at += len(line)
        unique = dict.fromkeys((min(a, b), max(a, b)) for a, b in ends if a != b)
        return cls(nodes, np.array(list(unique), dtype=np.int64).reshape(-1, 2))

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        tolerance: float = 1e-3,
        pose: ArrayLike | None = None,
        scale: float = 1.0,
        segments: int = 8,
    ) -> Self:
        """Return the wireframe of the curves of an IGES file, or of the edges of an STL or OBJ mesh.

        tolerance : metres; points closer than this are one node.
        pose : 4x4 pose of the drawing in the world.  scale : metres per unit of the file; IGES files
        know their unit, STL and OBJ files do not (1e-3 for millimetres).
        segments : into which arcs and each span of a spline are cut.
        """
        scale = positive(_LABEL, "scale", scale, "m per unit of the file", "give e.g. 1e-3")
        segments = whole(_LABEL, "segments", segments, 1, "give e.g. 8")
        named = isinstance(path, str | os.PathLike)
        refuse(not named, _LABEL, "path", path, "the path of a file", "give e.g. 'net.igs'")
        file = Path(path)
        if file.suffix.lower() in (".igs", ".iges"):
            lines = _curves(file, segments)
        else:
            mesh = read_mesh(_LABEL, str(file))
            sides = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
            lines = list(mesh.vertices[sides])
        placed = np.eye(4) if pose is None else pose_matrix(_LABEL, "pose", pose)
        moved = [scale * line @ placed[:3, :3].T + placed[:3, 3] for line in lines]
        return cls.from_lines(moved, tolerance)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an IGES file with a line for each edge, in metres."""
        file = check_suffix(_LABEL, path, (".igs", ".iges"))
        text = written_iges(iter(self.nodes[self.edges]))
        with whole_file(file) as part:
            part.write_text(text, encoding="ascii")

    @property
    def lengths(self) -> Array:
        """(E,): of its edges, metres."""
        ends: Array = self.nodes[self.edges]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)

    @property
    def degree(self) -> Ints:
        """(N,): how many edges each node has."""
        return np.bincount(self.edges.ravel(), minlength=len(self.nodes)).astype(np.int64)

    def nearest(self, point: ArrayLike) -> int:
        """Return the number of the node that is nearest to a point (3,), metres."""
        return int(np.argmin(np.linalg.norm(self.nodes - np.asarray(point, dtype=float), axis=1)))

    def chosen(self, rule: Any) -> Ints:
        """Return the numbers of nodes that a rule chooses.

        rule : None for none; "single-edge" for nodes with one edge; numbers; or a function of a
        position (3,), metres, that tells whether.
        """
        count = len(self.nodes)
        if rule is None:
            return np.zeros(0, dtype=np.int64)
        if isinstance(rule, str):
            if rule != "single-edge":
                raise _bad_rule(rule)
            return np.flatnonzero(self.degree == 1)
        if callable(rule):
            test: Callable[[Array], Any] = rule
            return np.array([k for k in range(count) if test(self.nodes[k])], dtype=np.int64)
        numbers = np.asarray(rule)
        if numbers.dtype.kind not in "iu" or (numbers < 0).any() or (numbers >= count).any():
            raise _bad_rule(rule)
        return np.unique(numbers).astype(np.int64)


def _bad_rule(rule: Any) -> DescriptionError:
    return DescriptionError(
        _LABEL,
        "fixed",
        rule,
        "'single-edge', numbers of nodes, or a function of a position",
        "see the numbers with pliant.view.draw_wireframe",
    )


def _curves(file: Path, segments: int) -> list[Array]:
    """The polylines of an IGES file."""
    try:
        text = read_bytes(file).decode("ascii", errors="replace")
    except OSError as error:
        raise DescriptionError(
            _LABEL, "path", str(file), f"a file that can be read ({error.strerror})", "check it"
        ) from None
    try:
        found = read_iges(text, segments)
    except (ValueError, IndexError, KeyError):
        found = None
    if found is None or not found.lines or not all(np.isfinite(x).all() for x in found.lines):
        told = "" if found is None else f" (found: entities {sorted(found.skipped)})"
        raise DescriptionError(
            _LABEL,
            "path",
            str(file),
            f"an IGES file with lines, polylines, arcs or splines{told}",
            "export the sketch as a wireframe in IGES format",
        )
    return found.lines
