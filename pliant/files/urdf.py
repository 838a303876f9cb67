"""URDF: links, joints, inertias, limits and shapes of a rigid robot, read from XML.

A link has its frame where the joint that carries it has its own; the axis of a joint and all that
belongs to a link are given in that frame. Angles "rpy" are turns about the fixed axes x, y and z of
the parent, in this order. Units are those of Pliant: m, rad, kg, N.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from pliant.model.checks import Array, DescriptionError, refuse
from pliant.model.file_access import file_path, read_text
from pliant.model.places import pose
from pliant.model.plausible import angle_doubts
from pliant.model.solids import Solid, SolidBox, SolidCylinder, SolidMesh, SolidSphere

KINDS = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")


@dataclass(frozen=True)
class UrdfLink:
    """A link: mass (kg), centre (3,) (m) and inertia (3, 3) (kg m^2) about it, in its frame.

    shape : what is drawn of it, None if it has no visual; the parts of several are one mesh.
    """

    name: str
    mass: float
    centre: Array
    inertia: Array
    shape: Solid | None


@dataclass(frozen=True)
class UrdfJoint:
    """A joint: pose (4, 4) of the child in the parent where its value is zero, axis (3,) in the child.

    limits : lower and upper value, rad or m, None without.  effort, velocity : the largest that its
    motor has, N m or N and rad/s or m/s, None if not given.  damping, friction : of its value.
    mimic : joint, multiplier and offset by which its value follows another one; None for none.
    """

    name: str
    kind: str
    parent: str
    child: str
    pose: Array
    axis: Array
    limits: tuple[float, float] | None
    effort: float | None
    velocity: float | None
    damping: float
    friction: float
    mimic: tuple[str, float, float] | None


@dataclass
class UrdfFile:
    """What a file describes: links by name, joints from the root outwards.

    undrawn : what is said of meshes that cannot be drawn, by link.  doubts : sentences about values
    that are not plausible.
    """

    name: str
    root: str
    named_links: dict[str, UrdfLink]
    joints: list[UrdfJoint]
    undrawn: dict[str, str]
    doubts: list[str]


def read_urdf(path: str | os.PathLike[str], packages: Mapping[str, str] | None = None) -> UrdfFile:
    """Return what a URDF file describes.

    packages : folders of the packages that "package://name/..." names; without, a folder of that name
    is looked for above the file.
    """
    file = file_path("URDF file", path, "the path of a URDF file", "'arm.urdf'")
    wrong = packages is not None and not isinstance(packages, Mapping)
    expected, remedy = "folders by name of the package", "give e.g. {'arm_description': folder}"
    refuse(wrong, f"URDF file {str(file)!r}", "packages", packages, expected, remedy)
    reader = _Reader(str(file), file.parent, dict(packages or {}))
    return reader.robot(_parsed(file))


def _parsed(file: Path) -> Element:
    label = f"URDF file {str(file)!r}"
    try:
        text = read_text(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        expected, remedy = f"a readable file ({reason})", "check the name and the folder"
        raise DescriptionError(label, "path", str(file), expected, remedy) from error
    refuse(
        "<!DOCTYPE" in text or "<!ENTITY" in text, label, "content", "<!DOCTYPE",
        "XML without declarations of its own", "remove them; expand xacro files first",
    )  # fmt: skip
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        remedy = "correct it; xacro files have to be expanded first"
        raise DescriptionError(label, "content", str(error), "well-formed XML", remedy) from error
    refuse(root.tag != "robot", label, "root", root.tag, "<robot>", "give a URDF file")
    return root


class _Reader:
    """Reads the elements of one file; messages name the file and the element."""

    def __init__(self, file: str, folder: Path, packages: dict[str, str]) -> None:
        self.file, self.folder, self.packages = file, folder, packages
        self.undrawn: dict[str, str] = {}
        self.doubts: list[str] = []

    # -- structure -----------------------------------------------------------------------------

    def robot(self, root: Element) -> UrdfFile:
        """Links and joints in the order of the tree."""
        xacro = [x.tag for x in root.iter() if "xacro" in str(x.tag)]
        self._refuse(xacro, "robot", "content", "xacro", "plain URDF", "expand it with xacro first")
        named_links = {}
        for element in root.findall("link"):
            link = self._link(element)
            self._refuse(
                link.name in named_links, "link", "name", link.name, "a new one", "rename it"
            )
            named_links[link.name] = link
        self._refuse(
            not named_links, "robot", "link", None, "at least one link", "add <link name=...>"
        )
        joints: dict[str, UrdfJoint] = {}
        for element in root.findall("joint"):
            joint = self._joint(element, named_links)
            self._refuse(
                joint.name in joints, "joint", "name", joint.name, "a new one", "rename it"
            )
            joints[joint.name] = joint
        for joint in joints.values():
            leader = joint.mimic[0] if joint.mimic else joint.name
            expected = "the name of a joint of one value"
            one = leader in joints and joints[leader].kind in (
                "revolute",
                "continuous",
                "prismatic",
            )
            wrong = joint.mimic is not None and not one
            self._refuse(wrong, f"joint {joint.name!r}", "mimic", leader, expected, "correct it")
        first = self._root(named_links, list(joints.values()))
        ordered = self._outwards(first, list(joints.values()), named_links)
        return UrdfFile(
            root.get("name", ""), first, named_links, ordered, self.undrawn, self.doubts
        )

    def _root(self, named_links: Mapping[str, UrdfLink], joints: list[UrdfJoint]) -> str:
        carried: dict[str, str] = {}
        for joint in joints:
            other = carried.setdefault(joint.child, joint.name)
            self._refuse(
                other != joint.name, f"joint {joint.name!r}", "child", joint.child,
                f"a link that no other joint carries, and {other!r} does", "close loops with "
                "robot.connect() afterwards",
            )  # fmt: skip
        roots = [name for name in named_links if name not in carried]
        expected = "one link that no joint carries"
        self._refuse(len(roots) != 1, "robot", "root", roots, expected, "join or remove the others")
        return roots[0]

    def _outwards(
        self, root: str, joints: list[UrdfJoint], named_links: Mapping[str, UrdfLink]
    ) -> list[UrdfJoint]:
        """Joints in an order in which each parent comes before its children."""
        ordered: list[UrdfJoint] = []
        reached = {root}
        while len(ordered) < len(joints):
            more = [x for x in joints if x.parent in reached and x.child not in reached]
            if not more:
                lost = sorted(set(named_links) - reached)
                expected = f"a tree of links; {', '.join(lost)} hang on each other in a ring"
                self._refuse(True, "robot", "joint", lost[0], expected, "correct the parents")
            ordered += more
            reached |= {x.child for x in more}
        return ordered

    # -- links ---------------------------------------------------------------------------------

    def _link(self, element: Element) -> UrdfLink:
        name = self._text(element, "link", "name")
        label = f"link {name!r}"
        mass, place, inertia = 0.0, np.eye(4), np.zeros((3, 3))
        inertial = element.find("inertial")
        if inertial is not None:
            place = self._origin(inertial, label)
            given = inertial.find("mass")
            mass = self._number(given, label, "mass", "value")
            inertia = self._inertia(inertial.find("inertia"), label)
        R = place[:3, :3]
        return UrdfLink(name, mass, place[:3, 3], R @ inertia @ R.T, self._drawn(element, name))

    def _drawn(self, element: Element, name: str) -> Solid | None:
        """What is drawn of a link. It moves the same if a mesh cannot be read, as .dae files."""
        shapes = []
        for visual in element.findall("visual"):
            try:
                shapes.append(self._shape(visual, f"link {name!r}"))
            except DescriptionError as error:
                if visual.find("geometry/mesh") is None:
                    raise
                self.undrawn[name] = error.problem
        return _joined(shapes)

    def _inertia(self, element: Element | None, label: str) -> Array:
        if element is None:
            return np.zeros((3, 3))
        xx, yy, zz = (self._number(element, label, "inertia", key) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (
            self._number(element, label, "inertia", key, 0.0) for key in ("ixy", "ixz", "iyz")
        )
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def _shape(self, visual: Element, label: str) -> Solid:
        place, geometry = self._origin(visual, label), visual.find("geometry")
        shape = None if geometry is None or not len(geometry) else geometry[0]
        expected = "box, cylinder, sphere or mesh"
        known: dict[str, Callable[[Element], Solid]] = {
            "box": lambda x: SolidBox(self._vector(x, label, "size", None), pose=place),
            "sphere": lambda x: SolidSphere(self._number(x, label, "sphere", "radius"), pose=place),
            "cylinder": lambda x: SolidCylinder(
                self._number(x, label, "cylinder", "radius"),
                self._number(x, label, "cylinder", "length"),
                pose=place,
            ),
            "mesh": lambda x: self._mesh(x, label, place),
        }
        tag = None if shape is None else str(shape.tag)
        self._refuse(tag not in known, label, "geometry", tag, expected, "use one of them")
        assert shape is not None and tag is not None
        return known[tag](shape)

    def _mesh(self, element: Element, label: str, place: Array) -> Solid:
        name = self._text(element, label, "filename")
        scale = np.array(self._vector(element, label, "scale", (1.0, 1.0, 1.0)))
        mesh = SolidMesh(file=str(self._resolved(name, label)))
        triangles = np.asarray(mesh.triangles)
        if scale.prod() < 0.0:  # a reflection turns surfaces inside out
            triangles = triangles[:, ::-1]
        vertices = np.asarray(mesh.vertices) * scale @ place[:3, :3].T + place[:3, 3]
        return SolidMesh(vertices=vertices, triangles=triangles)

    def _resolved(self, name: str, label: str) -> Path:
        """The file that a link names, in the folder of the robot or in a package."""
        if not name.startswith("package://"):
            return self.folder / name.removeprefix("file://")
        package, _, rest = name.removeprefix("package://").partition("/")
        if package in self.packages:
            return Path(self.packages[package]) / rest
        above = [self.folder, *self.folder.resolve().parents]
        homes = [x for x in above if x.name == package] + [x / package for x in above]
        found = next((x / rest for x in homes if (x / rest).is_file()), None)
        expected = f"a file of the package {package!r}, which is not above {str(self.folder)!r}"
        remedy = f"give packages={{{package!r}: folder}}"
        self._refuse(found is None, label, "mesh", name, expected, remedy)
        assert found is not None
        return found

    # -- joints --------------------------------------------------------------------------------

    def _joint(self, element: Element, named_links: Mapping[str, UrdfLink]) -> UrdfJoint:
        name = self._text(element, "joint", "name")
        label = f"joint {name!r}"
        kind = self._text(element, label, "type")
        self._refuse(
            kind not in KINDS, label, "type", kind, f"one of {', '.join(KINDS)}", "correct it"
        )
        ends = []
        for end in ("parent", "child"):
            link = self._text(element.find(end), label, "link", end)
            expected = "the name of a link of the file"
            self._refuse(link not in named_links, label, end, link, expected, "correct it")
            ends.append(link)
        axis = np.array(self._vector(element.find("axis"), label, "xyz", (1.0, 0.0, 0.0)))
        size = float(np.linalg.norm(axis))
        self._refuse(size == 0.0, label, "axis", axis.tolist(), "a direction", "give e.g. 0 0 1")
        limit, dynamics = element.find("limit"), element.find("dynamics")
        return UrdfJoint(
            name, kind, ends[0], ends[1], self._origin(element, label), axis / size,
            self._limits(limit, label, kind),
            None if limit is None else self._number(limit, label, "limit", "effort", None),
            None if limit is None else self._number(limit, label, "limit", "velocity", None),
            0.0 if dynamics is None else self._number(dynamics, label, "dynamics", "damping", 0.0),
            0.0 if dynamics is None else self._number(dynamics, label, "dynamics", "friction", 0.0),
            self._mimic(element.find("mimic"), label, kind),
        )  # fmt: skip

    def _limits(self, element: Element | None, label: str, kind: str) -> tuple[float, float] | None:
        """Lower and upper value of a joint that must have them; both are zero if left out."""
        if kind not in ("revolute", "prismatic"):
            return None
        remedy = 'add <limit lower="-1" upper="1"/>, or use type "continuous"'
        self._refuse(element is None, label, "limit", None, "lower and upper values", remedy)
        assert element is not None
        low, high = (self._number(element, label, "limit", key, 0.0) for key in ("lower", "upper"))
        expected = "a lower value below the upper one"
        self._refuse(low >= high, label, "limit", (low, high), expected, remedy)
        return low, high

    def _mimic(
        self, element: Element | None, label: str, kind: str
    ) -> tuple[str, float, float] | None:
        if element is None:
            return None
        one = kind in ("revolute", "continuous", "prismatic")
        expected = "a joint of one value, which can follow another"
        self._refuse(not one, label, "type", kind, expected, "remove <mimic>")
        multiplier = self._number(element, label, "mimic", "multiplier", 1.0)
        offset = self._number(element, label, "mimic", "offset", 0.0)
        return self._text(element, label, "joint"), multiplier, offset

    # -- values --------------------------------------------------------------------------------

    def _origin(self, element: Element, label: str) -> Array:
        origin = element.find("origin")
        if origin is None:
            return np.eye(4)
        xyz = self._vector(origin, label, "xyz", (0.0, 0.0, 0.0))
        angles = self._vector(origin, label, "rpy", (0.0, 0.0, 0.0))
        for angle in angles:
            self.doubts += angle_doubts(f"{self.file}: {label}", "rpy", angle, constant=True)
        return pose(xyz, rpy_matrix(*angles))

    def _vector(
        self,
        element: Element | None,
        label: str,
        key: str,
        default: tuple[float, ...] | None,
    ) -> tuple[float, ...]:
        given = None if element is None else element.get(key)
        if given is None and default is not None:
            return default
        numbers = [_as_float(x) for x in (given or "").split()]
        good = len(numbers) == 3 and all(x is not None for x in numbers)
        self._refuse(not good, label, key, given, "three finite numbers", "give e.g. 0 0 0.1")
        return tuple(x for x in numbers if x is not None)

    def _number(
        self,
        element: Element | None,
        label: str,
        tag: str,
        key: str,
        *default: float | None,
    ) -> float:
        given = None if element is None else element.get(key)
        if given is None and default:
            return default[0]  # type: ignore[return-value]
        found = None if given is None else _as_float(given)
        self._refuse(
            found is None, label, f"{tag} {key}", given, "a finite number", "give e.g. 0.1"
        )
        assert found is not None
        return found

    def _text(self, element: Element | None, label: str, key: str, of: str = "") -> str:
        given = None if element is None else element.get(key)
        self._refuse(not given, label, of or key, given, "a name", f'write {key}="..."')
        assert given is not None
        return given

    def _refuse(
        self, wrong: object, label: str, what: str, value: object, expected: str, remedy: str
    ) -> None:
        refuse(wrong, f"{self.file}: {label}", what, value, expected, remedy)


def rpy_matrix(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix (3, 3) of turns about the fixed axes x, y and z, rad."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_euler("xyz", (roll, pitch, yaw)).as_matrix())


def _as_float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _joined(shapes: list[Solid]) -> Solid | None:
    """One shape for several: a mesh of all their faces."""
    if len(shapes) < 2:
        return shapes[0] if shapes else None
    corners = np.concatenate([shape.faces() for shape in shapes])
    quads = np.arange(4 * len(corners)).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    a, b, c = corners.reshape(-1, 3)[triangles].transpose(1, 0, 2)
    flat = np.linalg.norm(np.cross(b - a, c - a), axis=1) == 0.0
    return SolidMesh(vertices=corners.reshape(-1, 3), triangles=triangles[~flat])
