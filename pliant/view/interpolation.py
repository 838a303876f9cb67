"""Shapes and arrows of a motion, interpolated to the times of the frames of an animation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError
from pliant.view.shapes import Arrow, RodShape, finite


def check_times(times: ArrayLike, shapes: Sequence[RodShape], arrows: Sequence[Arrow]) -> Array:
    """Return the times (T,) if they increase and fit the shapes and arrows."""
    clock = finite("animate", "times", times, "(T,)")
    if clock.ndim != 1 or len(clock) == 0 or (np.diff(clock) <= 0).any():
        raise DescriptionError(
            "animate", "times", times, "a row of increasing times in seconds", "give move.t"
        )
    lengths = {f"poses of {shape.name!r}": len(shape.frames) for shape in shapes}
    for arrow in arrows:
        for field in (arrow.origin, arrow.vector):
            lengths[f"arrow {arrow.name!r}"] = len(field) if field.ndim == 2 else 1
    for field_name, length in lengths.items():
        if length not in (1, len(clock)):
            raise DescriptionError(
                "animate",
                field_name,
                f"{length} times",
                f"given at the {len(clock)} times, or once if it is constant",
                "give shapes and times of the same motion",
            )
    return clock


def interpolate_shape(shape: RodShape, clock: Array, shown: Array) -> RodShape:
    """Return the shape at other times: poses interpolated, section axes normalised."""
    poses = _between(shape.frames, clock, shown)
    axes = poses[..., :3, :3]
    length = np.linalg.norm(axes, axis=-2, keepdims=True)
    # axes that cancel halfway between two opposite ones have no direction: leave them
    poses[..., :3, :3] = axes / np.where(length > 1e-9, length, 1.0)
    return RodShape(shape.name, poses, shape.half_widths, shape.color, shape.axes)


def interpolate_arrow(arrow: Arrow, clock: Array, shown: Array) -> Arrow:
    """Return the arrow at other times."""
    origin = _between(np.atleast_2d(arrow.origin), clock, shown)
    vector = arrow.vector
    if vector.ndim == 2:
        vector = _between(vector, clock, shown)
    return Arrow(origin, vector, arrow.kind, arrow.name)


def _between(values: Array, clock: Array, shown: Array) -> Array:
    """Return values (T, ...) at the times ``shown``, linearly interpolated."""
    if len(values) == 1:
        return np.repeat(values, len(shown), axis=0)
    left = np.clip(np.searchsorted(clock, shown, side="right") - 1, 0, len(clock) - 2)
    part = (shown - clock[left]) / (clock[left + 1] - clock[left])
    part = np.clip(part, 0.0, 1.0).reshape(-1, *([1] * (values.ndim - 1)))
    between: Array = values[left] * (1.0 - part) + values[left + 1] * part
    return between
