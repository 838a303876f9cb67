"""Parts of a robot from a URDF file: a body for each link, on the joint that carries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.files.urdf import UrdfFile, UrdfJoint
from pliant.model.body import Body
from pliant.model.checks import Array, choice, known_name
from pliant.model.places import Frame
from pliant.model.registry import Joint, variants

_DRIVES = ("motion", "force")
_WORDS = {"motion": ("angle", "position"), "force": ("torque", "force")}
_JOINTS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
}


class UrdfOptions(NamedTuple):
    """How a file becomes parts, see `Robot.add_urdf`."""

    prefix: str
    on: Frame | None
    pose: Array
    floating: bool
    drive: Any
    limits: bool
    limit_stiffness: float | None


def urdf_bodies(file: UrdfFile, options: UrdfOptions) -> Iterator[tuple[str, Body | None]]:
    """Yield links with their bodies, from the root outwards; None for a root that is nothing.

    A root without mass that stands still is what carries it: the next links hang there.
    """
    label, prefix = f"URDF {file.name!r}", options.prefix
    drives = _drives(label, file, options.drive)
    kinds = variants(Joint)
    root = file.named_links[file.root]
    absent = not options.floating and root.mass == 0.0 and root.shape is None
    joint = kinds["free"]() if options.floating else None
    places = {file.root: (options.on, np.asarray(options.pose))}
    if absent:
        yield file.root, None
    else:
        first = (prefix + file.root, root.mass, root.inertia, options.on, tuple(root.centre))
        body = Body(*first, options.pose, joint, root.shape)  # type: ignore[arg-type]
        places[file.root] = body.origin, np.eye(4)
        yield file.root, body
    for given in file.joints:
        link = file.named_links[given.child]
        on, before = places[given.parent]
        joint = _joint(given, kinds, drives.get(given.name), options)
        where = (on, tuple(link.centre), before @ given.pose, joint, link.shape)
        body = Body(prefix + link.name, link.mass, link.inertia, *where)  # type: ignore[arg-type]
        places[link.name] = body.origin, np.eye(4)
        yield link.name, body


def _drives(label: str, file: UrdfFile, given: Any) -> dict[str, str]:
    """The drive of each joint that has one."""
    free = [x.name for x in file.joints if x.kind in _JOINTS and x.mimic is None]
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        choice(label, "drive", given, _DRIVES)
        return {x.name: given for x in file.joints if x.name in free and x.kind != "floating"}
    for name, word in given.items():
        known_name(label, "drive", name, free, "the name of a joint that can be driven")
        choice(label, f"drive[{name!r}]", word, _DRIVES)
    return dict(given)


def _joint(
    given: UrdfJoint, kinds: Mapping[str, Any], drive: str | None, options: UrdfOptions
) -> Any:
    """The joint of a link; None for one that is fixed."""
    if given.kind == "fixed":
        return None
    kind = kinds[_JOINTS[given.kind]]
    if given.kind == "floating":
        return kind()
    axis = tuple(given.axis.tolist())
    fields: dict[str, Any] = {"axis": axis, "damping": given.damping, "friction": given.friction}
    if given.limits is not None and options.limits:
        fields |= {"limits": given.limits, "limit_stiffness": options.limit_stiffness}
    if drive is not None:
        turn, shift = _WORDS[drive]
        name, planar = options.prefix + given.name, given.kind == "planar"
        fields["drive"] = (shift, shift, turn) if planar else _one(given, turn, shift)
        fields["input"] = tuple(f"{name}.{x}" for x in ("x", "y", "angle")) if planar else name
    return kind(**fields)


def _one(given: UrdfJoint, turn: str, shift: str) -> str:
    return shift if given.kind == "prismatic" else turn
