"""Whether pose and axes of a joint of one's own belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.checks import refuse

if TYPE_CHECKING:
    from pliant.joints.contract import JointMap

_AWAY = 0.01
"""How far from the origin a joint is looked at too, radians and metres."""
_STEP = 1e-5
"""Step of the differences, radians and metres."""
_ALLOWED = 1e-3
"""Largest difference between axes and differences of the pose, relative to the larger of both."""


def check_map(joint: JointMap) -> None:
    """Refuse a joint whose pose is none, or whose axes S are not those of its pose j,

        S e = d/dt log(j(q)^-1 j(q o t e)) at t = 0,

    at its origin and, where its pose is finite there, a little away from it.
    """
    q = np.asarray(joint.origin(), dtype=float)
    _check_shape(joint, "origin", q, (joint.nq,))
    uneven = joint.additive and joint.nq != joint.nv
    expected = "as many as nv where coordinates move by addition"
    refuse(uneven, joint.label, "nq", joint.nq, expected, "give retract and difference as well")
    _check_pose(joint, joint.pose(q))
    _check_axes(joint, q)
    low, high = np.clip(joint.bounds, -_AWAY, _AWAY).T
    turns = np.arange(1.0, joint.nv + 1.0) / (joint.nv + 1.0)
    away = np.asarray(joint.retract(q, low + (0.5 + 0.5 * turns) * (high - low)))
    with np.errstate(all="ignore"):
        finite = np.isfinite(joint.pose(away)).all()
    if finite:
        _check_axes(joint, away)


def _check_pose(joint: JointMap, given: Any) -> None:
    _check_shape(joint, "pose", given, (4, 4))
    R, last = np.asarray(given)[:3, :3], np.asarray(given)[3]
    rigid = np.allclose(R.T @ R, np.eye(3), atol=1e-6) and np.linalg.det(R) > 0.0
    rigid = rigid and np.allclose(last, (0.0, 0.0, 0.0, 1.0), atol=1e-9)
    expected = "a rotation and a position, with (0, 0, 0, 1) below"
    refuse(not rigid, joint.label, "pose", np.asarray(given).tolist(), expected, "correct pose")


def _check_axes(joint: JointMap, q: Array) -> None:
    _check_shape(joint, "axes", joint.axes(q), (6, joint.nv))
    axes, back = np.asarray(joint.axes(q), dtype=float), se3.inverse(joint.pose(q))
    for k, e in enumerate(np.eye(joint.nv)):
        ahead, behind = (
            se3.log(back @ joint.pose(joint.retract(q, t * e))) for t in (_STEP, -_STEP)
        )
        found = (ahead - behind) / (2.0 * _STEP)
        size = max(np.abs(found).max(), np.abs(axes[:, k]).max())
        wrong = not np.abs(found - axes[:, k]).max() <= _ALLOWED * size
        expected = (
            f"the body twist (rotation, translation) of its pose in each column; "
            f"differences of the pose at q = {_text(q)} give {_text(found)} in column {k}"
        )
        refuse(
            wrong, joint.label, "axes", _text(axes[:, k]), expected, "correct axes, or else pose"
        )


def _check_shape(joint: JointMap, field: str, given: Any, shape: tuple[int, ...]) -> None:
    found = np.asarray(given)
    good = found.shape == shape and found.dtype.kind in "fiu" and np.isfinite(found).all()
    seen = found.tolist() if found.shape == shape else f"an array of shape {found.shape}"
    expected = f"an array {shape} of finite numbers"
    refuse(not good, joint.label, field, seen, expected, f"correct {field}, or nq and nv")


def _text(values: Array) -> list[float]:
    return [float(f"{x:.4g}") for x in values]
