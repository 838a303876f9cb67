"""The fields of the parts in a robot file: rods and all that stands on them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)

from pliant.files import leaves as leaf
from pliant.model import DescriptionError
from pliant.model.chamber import ATMOSPHERE
from pliant.model.checks import as_float, choice, number
from pliant.model.constraint import DIRECTIONS, KINDS
from pliant.model.load import FRAMES
from pliant.model.rod import THEORIES


class Group(BaseModel):
    """A group of fields that refuses fields it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def given(self) -> dict[str, Any]:
        """Return the fields that the file gives, by name, groups left as they are."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class OneOf(Group):
    """A group of which exactly one field is given."""

    @model_validator(mode="after")
    def _exactly_one(self) -> OneOf:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            names = ", ".join(type(self).model_fields)
            raise DescriptionError(
                "", "", ", ".join(given) or "nothing", f"exactly one of {names}", "give one of them"
            )
        return self

    def only(self) -> tuple[str, Any]:
        """Return the name and the value of the field that is given."""
        for name in type(self).model_fields:
            if getattr(self, name) is not None:
                return name, getattr(self, name)
        raise AssertionError("validated to have one field")


def named(*names: str) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of a field that takes one of these names."""
    return PlainValidator(leaf.one_of(*names)), WithJsonSchema({"enum": list(names)})


def _place(value: object) -> float | str:
    if as_float(value) is not None:
        return number("", "", value)
    return choice("", "", value, ("tip", "base"))


Place = Annotated[
    float | str,
    PlainValidator(_place),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["tip", "base"]}]}),
]


class FrameFields(Group):
    """A place on a rod."""

    part: Annotated[str, Field(strict=True)] = Field(description="name of a rod", examples=["arm"])
    at: Place = Field(
        default="tip", description="tip, base, or the arclength in metres", examples=["tip"]
    )
    offset: leaf.Offset = Field(default=(0.0, 0.0, 0.0), description="in the section frame, metres")


class PoseFields(Group):
    """A pose: an axis to point along, or a position with a rotation."""

    along: Annotated[str, *named("x", "-x", "y", "-y", "z", "-z")] | None = None
    origin: leaf.Position | None = Field(default=None, description="with along: world, metres")
    position: leaf.Position | None = Field(default=None, description="metres")
    rotation_vector: leaf.RotationVector | None = Field(default=None, description="radians")

    @model_validator(mode="after")
    def _one_way(self) -> PoseFields:
        first = [name for name in self.model_fields_set if name in ("along", "origin")]
        second = [name for name in self.model_fields_set if name not in first]
        if (first and second) or first == ["origin"] or not first + second:
            raise DescriptionError(
                "",
                "",
                ", ".join(first + second) or "nothing",
                "along with origin, or position with rotation_vector",
                "give e.g. {along: x, origin: [0, 0, 0]}",
            )
        return self


class CircleFields(Group):
    """A solid round section."""

    radius: leaf.LengthProfile = Field(description="metres", examples=[0.01])
    shear_factor: leaf.Factor = 1.0


class AnnulusFields(Group):
    """A round tube."""

    outer: leaf.LengthProfile = Field(description="outer radius, metres", examples=[0.01])
    inner: leaf.LengthProfile = Field(description="inner radius, metres", examples=[0.008])
    shear_factor: leaf.Factor = 1.0


class RectangleFields(Group):
    """A solid rectangle, width along local x and height along local y."""

    width: leaf.LengthProfile = Field(description="along local x, metres", examples=[0.02])
    height: leaf.LengthProfile = Field(description="along local y, metres", examples=[0.01])
    shear_factor: leaf.Factor = 1.0


class AnySectionFields(Group):
    """A section by its area and moments."""

    area: leaf.AreaProfile = Field(description="m^2", examples=[3e-4])
    Ix: leaf.MomentProfile = Field(description="integral of y^2, m^4", examples=[8e-9])
    Iy: leaf.MomentProfile = Field(description="integral of x^2, m^4", examples=[8e-9])
    J: leaf.MomentProfile = Field(description="torsion constant, m^4", examples=[1.6e-8])
    shear_factor: leaf.Factor = 1.0


class StiffnessFields(Group):
    """Stiffness and mass per length; a list of two means the two directions."""

    bending: leaf.BendingProfiles = Field(description="N m^2", examples=[0.01])
    twist: leaf.TwistProfile = Field(description="N m^2", examples=[0.01])
    shear: leaf.ShearProfiles = Field(description="N", examples=[100])
    axial: leaf.AxialProfile = Field(description="N", examples=[300])
    mass: leaf.MassProfile = Field(default=0.0, description="kg/m")
    inertia: leaf.Inertia | None = Field(default=None, description="rotary inertia, kg m")
    retardation: leaf.SecondsOrZero = Field(default=0.0, description="Kelvin-Voigt time, seconds")


class DampingFields(Group):
    """Damping per strain; a list of two means the two directions."""

    bending: leaf.BendingDampings = Field(default=0.0, description="N m^2 s")
    twist: leaf.TwistDamping = Field(default=0.0, description="N m^2 s")
    shear: leaf.ShearDampings = Field(default=0.0, description="N s")
    axial: leaf.AxialDamping = Field(default=0.0, description="N s")


class SectionFields(OneOf):
    """The section of a rod."""

    circle: CircleFields | None = None
    annulus: AnnulusFields | None = None
    rectangle: RectangleFields | None = None
    section: AnySectionFields | None = None
    stiffness: StiffnessFields | None = None


class MaterialFields(Group):
    """An isotropic material: E with nu or G."""

    E: leaf.Pascal = Field(description="Young's modulus, Pa", examples=[1e6])
    nu: leaf.Number | None = Field(default=None, description="Poisson's ratio")
    G: leaf.Pascal | None = Field(default=None, description="shear modulus, Pa")
    rho: leaf.Density = Field(default=0.0, description="density, kg/m^3")
    viscosity: leaf.PascalSeconds = Field(default=0.0, description="Kelvin-Voigt, Pa s")


# The tag tells which member of a union is meant, so that errors speak of that one only.
def _frame_or_name(value: object) -> str:
    return "<frame>" if isinstance(value, (dict, FrameFields)) else "<name>"


def _frame_or_pose(value: object) -> str:
    if isinstance(value, dict) and "part" not in value:
        return "<pose>" if set(value) & set(PoseFields.model_fields) else "<frame>"
    return "<frame>"


Base = Annotated[
    Annotated[str, *named("world", "free"), Tag("<name>")] | Annotated[FrameFields, Tag("<frame>")],
    Discriminator(_frame_or_name),
]
On = Annotated[
    Annotated[str, Field(strict=True), Tag("<name>")] | Annotated[FrameFields, Tag("<frame>")],
    Discriminator(_frame_or_name),
]
To = Annotated[
    Annotated[FrameFields, Tag("<frame>")] | Annotated[PoseFields, Tag("<pose>")],
    Discriminator(_frame_or_pose),
]


class RodFields(Group):
    """A rod along its local z axis."""

    length: leaf.Metres = Field(description="metres", examples=[0.3])
    section: SectionFields = Field(examples=["{circle: {radius: 0.01}}"])
    material: MaterialFields | None = None
    pose: PoseFields | None = None
    base: Base = Field(default="world", description="world, free, or a place on another rod")
    natural: leaf.Natural = Field(default=(0.0, 0.0, 0.0), description="strain at rest, rad/m")
    formulation: leaf.Named | None = None
    theory: Annotated[str, *named(*THEORIES)] = "cosserat"
    drag: leaf.Drag = Field(default=0.0, description="square law, kg/m^2, one or three body axes")
    mass_damping: leaf.PerSecond = Field(default=0.0, description="Rayleigh's first, 1/s")
    rotary: leaf.YesOrNo = Field(default=True, description="false: no rotary inertia of sections")
    strain_damping: DampingFields | None = Field(default=None, description="one value per strain")


class LoadFields(Group):
    """A force and a moment at a place, or along a rod."""

    on: On = Field(
        description="a place, or the name of a rod for a load along it",
        examples=["{part: arm, at: tip}"],
    )
    force: leaf.Force = (0.0, 0.0, 0.0)
    moment: leaf.Moment = (0.0, 0.0, 0.0)
    frame: Annotated[str, *named(*FRAMES)] = "world"
    over: leaf.Interval | None = None


class ConstraintFields(Group):
    """A place held by another place or by the world."""

    on: FrameFields = Field(examples=["{part: arm, at: tip}"])
    to: To | None = None
    kind: Annotated[str, *named(*KINDS)] | None = None
    hold: list[Annotated[str, *named(*DIRECTIONS)]] | None = None


class BodyFields(Group):
    """A rigid body fixed to a place on a rod."""

    mass: leaf.Kilograms = Field(description="kg", examples=[0.02])
    inertia: leaf.BodyInertia = Field(
        default=(0.0, 0.0, 0.0),
        description="about its centre of mass, kg m^2: 3 principal moments, 6 numbers or 3 rows",
    )
    on: FrameFields = Field(examples=["{part: arm, at: tip}"])
    centre: leaf.Position = Field(
        default=(0.0, 0.0, 0.0), description="of its mass, in the frame, metres"
    )


class LagFields(Group):
    """A line through which the pressure follows with first order."""

    time: leaf.Seconds = Field(description="seconds", examples=[0.05])


class FlowFields(Group):
    """A narrow line through which gas flows into the chamber."""

    conductance: leaf.Conductance = Field(description="m^3/s", examples=[1e-4])
    dead_volume: leaf.Volume = Field(default=0.0, description="of hoses, m^3")
    atmosphere: leaf.Pascal = Field(default=ATMOSPHERE, description="absolute pressure outside, Pa")


class LineFields(OneOf):
    """What lies between the input and the pressure in a chamber."""

    lag: LagFields | None = None
    flow: FlowFields | None = None


class ChamberFields(Group):
    """A pressure chamber along a rod; its name is an input, the pressure in Pa."""

    on: Annotated[str, Field(strict=True)] = Field(description="name of a rod", examples=["arm"])
    area: leaf.AreaProfile = Field(description="m^2", examples=[1e-4])
    offset: leaf.SectionPoint = Field(default=(0.0, 0.0), description="of its centroid, metres")
    over: leaf.Interval | None = None
    pressure: leaf.Number = Field(default=0.0, description="where no input is given, Pa")
    thrust: leaf.YesOrNo = Field(default=True, description="false: its moment alone")
    line: LineFields | None = None


class ActuatorFields(Group):
    """A bending actuator of two chambers: a rod that keeps its length, under its name."""

    length: leaf.Metres = Field(description="metres", examples=[0.175])
    bending: leaf.BendingStiffness = Field(description="stiffness, N m^2", examples=[0.0186])
    chamber_radius: leaf.Metres = Field(description="metres", examples=[0.006])
    arm: leaf.Metres = Field(description="from the layer to the chambers, m", examples=[0.009])
    mass: leaf.KilogramsPerMetre = Field(default=0.0, description="per length, kg/m")
    sideways: leaf.BendingStiffness | None = Field(
        default=None, description="the other bending stiffness, N m^2"
    )
    twist: leaf.BendingStiffness | None = Field(default=None, description="N m^2")
    retardation: leaf.SecondsOrZero = Field(default=0.0, description="of the material, seconds")
    mass_damping: leaf.PerSecond = Field(default=0.0, description="Rayleigh's first, 1/s")
    axial: leaf.AxialStiffness | None = Field(
        default=None, description="stiffness against stretch, N"
    )
    pose: PoseFields | None = None
    base: Base = Field(default="world", description="world, free, or a place on another rod")
    chambers: list[Annotated[str, Field(strict=True)]] = Field(
        default=["chamber1", "chamber2"], description="their names, which are inputs, Pa"
    )
    formulation: leaf.Named | None = None
    line: LineFields | None = None


class BaseMotionFields(Group):
    """A motion of the base of a rod that is clamped to the world; its name is an input."""

    of: Annotated[str, Field(strict=True)] = Field(description="name of a rod", examples=["arm"])
    translation: leaf.PerUnit = Field(
        default=(0.0, 0.0, 0.0), description="world frame, metres per unit of input"
    )
    rotation: leaf.PerUnit = Field(
        default=(0.0, 0.0, 0.0), description="frame of the base, radians per unit of input"
    )
