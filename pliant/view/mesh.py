"""Meshes of quadrilaterals: a section outline swept along poses, and arrows."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgb

from pliant.model import Array


class Mesh:
    """Coloured quadrilaterals of several surfaces.

    Everything drawn together is one mesh, because matplotlib sorts by depth only within one
    collection.
    """

    def __init__(self) -> None:
        self._quads: list[Array] = []
        self._colors: list[Array] = []

    def add(self, quads: Array, color: str) -> None:
        """Add quadrilaterals (N, 4, 3), outward side counter-clockwise, in one colour."""
        self._quads.append(quads)
        self._colors.append(np.broadcast_to(to_rgb(color), (len(quads), 3)))

    @property
    def quads(self) -> Array:
        """Corners, (N, 4, 3), metres."""
        return np.concatenate(self._quads) if self._quads else np.zeros((0, 4, 3))

    def shaded(self, light: Array) -> Array:
        """Return the colours (N, 3) under light that comes from direction ``light`` (3,)."""
        if not self._quads:
            return np.zeros((0, 3))
        quads = self.quads
        normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = normals / np.where(length > 0, length, 1.0)
        towards = normals @ light
        diffuse = 0.78 + 0.26 * np.clip(towards, -0.5, 1.0)
        shine = 0.22 * np.clip(towards, 0.0, 1.0) ** 14
        matt: Array = np.concatenate(self._colors) * diffuse[:, None]
        return np.clip(matt + (1.0 - matt) * shine[:, None], 0.0, 1.0)


def sweep(poses: Array, half_widths: Array, around: int = 24) -> Array:
    """Return the closed tube (N, 4, 3) of ellipses (S, 2) swept along poses (S, 4, 4)."""
    angle = np.linspace(0.0, 2 * np.pi, around + 1)
    outline = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    local = half_widths[:, None, :] * outline
    rings = poses[:, None, :3, 3] + np.einsum("sij,saj->sai", poses[:, :3, :2], local)
    side = np.stack([rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]], axis=2)
    return np.concatenate(
        [side.reshape(-1, 4, 3), _cap(rings[0][::-1]), _cap(rings[-1])],
    )


def _cap(ring: Array) -> Array:
    """Return a fan over a closed ring (around + 1, 3); each quadrilateral is a triangle.

    The centre is the doubled corner, split so that the diagonals still give the normal.
    """
    centre = np.broadcast_to(ring[:-1].mean(axis=0), ring[:-1].shape)
    return np.stack([centre, ring[:-1], ring[1:], centre], axis=1)


def thin(poses: Array, half_widths: Array, most: int) -> tuple[Array, Array]:
    """Return at most ``most`` of the sections, including the first and the last."""
    count = len(poses)
    if count <= most:
        return poses, half_widths
    keep = np.unique(np.linspace(0, count - 1, most).round().astype(int))
    return poses[keep], half_widths[keep]


def force_arrow(origin: Array, vector: Array, length: float, thickness: float) -> Array:
    """Return a straight arrow that starts at ``origin`` and points along ``vector``."""
    head = min(0.45 * length, 5.5 * thickness)
    along = np.array([0.0, length - head, length - head, length])
    frame = _frame_along(vector)
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, :3, :3] = frame
    poses[:, :3, 3] = origin + along[:, None] * frame[:, 2]
    return sweep(poses, _profile(thickness, 4), around=14)


def moment_arrow(origin: Array, vector: Array, radius: float, thickness: float) -> Array:
    """Return an arrow that turns three quarters of a circle about ``vector``, right-handed."""
    frame = _frame_along(vector)
    head = min(0.9, 6.0 * thickness / radius)
    shaft = np.linspace(0.0, 1.5 * np.pi - head, 22)
    # the head is straight along the tangent where the shaft ends: it looks crooked otherwise
    angle = np.concatenate([shaft, shaft[-1:], shaft[-1:]])
    ahead = np.zeros(len(angle))
    ahead[-1] = head * radius
    outward = np.cos(angle)[:, None] * frame[:, 0] + np.sin(angle)[:, None] * frame[:, 1]
    tangent = -np.sin(angle)[:, None] * frame[:, 0] + np.cos(angle)[:, None] * frame[:, 1]
    poses = np.tile(np.eye(4), (len(angle), 1, 1))
    poses[:, :3, 0] = outward
    poses[:, :3, 1] = np.cross(tangent, outward)
    poses[:, :3, 2] = tangent
    poses[:, :3, 3] = origin + radius * outward + ahead[:, None] * tangent
    return sweep(poses, _profile(thickness, len(angle)), around=12)


def _profile(thickness: float, count: int) -> Array:
    """Return half widths (count, 2): a shaft, then a cone on the last two stations."""
    radii = np.full(count, thickness)
    radii[-2:] = 2.4 * thickness, 0.0
    return np.stack([radii, radii], axis=1)


def _frame_along(vector: Array) -> Array:
    """Return a rotation (3, 3) whose third column points along ``vector`` (3,), not zero."""
    third = vector / np.linalg.norm(vector)
    first = np.cross(np.eye(3)[np.argmin(np.abs(third))], third)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)
