"""The tasks by Exudyn (https://exudyn.readthedocs.io).

Planar: `ObjectBeamGeometricallyExact2D` with two or three nodes, which shears and stretches; the
ANCF cables do not shear, which on T2 is an error of 5 %. Spatial: `ObjectBeamGeometricallyExact`
with two nodes.

Traps avoided: the build without range checks (``sys.exudynFast``); no solution file, sensors in
memory; no console output; ramps and sliders as symbolic user functions, for each evaluation of a
Python function costs more than a step; modified Newton with a tolerance of 1e-4 in time steps, which
halves the cost at the same error, but full Newton in T6, where modified Newton is slower or fails;
sparse matrices above 16 nodes, dense ones below; load steps, without which T1 fails on fine meshes.
The explicit solvers take 20 times more steps than they save: their mass matrix is not the consistent
one, and the error of T2 is three times larger on the same mesh.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from itertools import pairwise

sys.exudynFast = True
warnings.simplefilter("ignore")

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as item  # noqa: E402
import numpy as np  # noqa: E402
from exudyn.advancedUtilities import CreateSymbolicUserFunction  # noqa: E402
from exudyn.beams import GenerateBeamElementsAlongLine  # noqa: E402
from tasks import Task, moduli, rod_places, slider_travels, tendon_angles, tension_grid  # noqa: E402

TASKS = ("T1", "T2", "T3", "T4", "T5", "T6", "T7")
POSITION = exu.OutputVariableType.Position


def settings(task: Task, spatial: bool) -> list[dict]:
    """The settings that are swept: element, number of elements, step."""
    pairs = {
        "T1": [(n, 0.0) for n in (2, 4, 8, 16, 32, 64, 128)],
        "T2": [(16, 2e-3), (32, 2e-3), (64, 2e-3), (64, 1e-3), (64, 5e-4), (96, 1e-3), (96, 5e-4)],
        "T3": [(n, h) for n in (2, 4, 6, 8) for h in (5e-3, 2.5e-3, 1e-3, 5e-4)],
        "T4": [(n, h) for n in (4, 8, 16, 32, 64) for h in (2e-2, 1e-2, 5e-3)],
        "T5": [(32, 2e-3), (64, 1e-3)],
        "T6": [(2, 5e-2), (2, 2.5e-2), (4, 5e-2), (4, 2.5e-2), (8, 5e-2), (8, 2.5e-2)],
        "T7": [(8, 0.0), (16, 0.0)],
    }[task.name]
    if spatial and task.name == "T5":
        return []  # its spatial elements do not reach 1 % on T2
    if spatial and task.name == "T2":
        pairs = [(32, 2e-3), (64, 2e-3), (96, 2e-3)]
    if spatial and task.name == "T4":
        pairs = [(8, 1e-2), (16, 1e-2), (16, 5e-3), (32, 5e-3)]
    elements = ("linear",) if spatial or task.tension else ("linear", "quadratic")
    elements = ("quadratic",) if task.copies else elements
    if task.name in ("T1", "T3"):
        elements += ("cable",)
    return [
        {"element": kind, "n": max(1, n // (2 if kind == "quadratic" else 1)), "h": h}
        for kind in elements
        for n, h in pairs
        if not (kind == "cable" and h > 4e-3 and n > 4)  # cables fail there, some after minutes
    ]


def cable(mbs: exu.MainSystem, task: Task, spatial: bool, n: int) -> tuple[list[int], list[int]]:
    """Add a clamped ANCF cable along x and return its nodes and elements."""
    rod = task.rod
    kind = item.ObjectANCFCable if spatial else item.ObjectANCFCable2D
    beam = kind(
        massPerLength=rod.rho * rod.area, bendingStiffness=rod.bending, axialStiffness=rod.axial
    )
    beam.useReducedOrderIntegration = 1
    fixed = [1, 1, 1, 0, 1, 1] if spatial else [1, 1, 0, 1]
    made = GenerateBeamElementsAlongLine(
        mbs, [0, 0, 0], [rod.length, 0, 0], n, beam,
        gravity=[0, -task.gravity, 0], groundConstraintsStart=fixed,
    )  # fmt: skip
    return made["nodes"], made["elements"]


def planar_beam(
    mbs: exu.MainSystem, task: Task, element: str, n: int
) -> tuple[list[int], list[int]]:
    """Add a clamped rod in the x-y plane and return its nodes and elements."""
    rod = task.rod
    beam = item.ObjectBeamGeometricallyExact2D(
        nodeNumbers=[0] * (3 if element == "quadratic" else 2),
        massPerLength=rod.rho * rod.area,
        crossSectionInertia=rod.rho * rod.second_moment,
        bendingStiffness=rod.bending,
        axialStiffness=rod.axial,
        shearStiffness=rod.shear,
    )
    made = GenerateBeamElementsAlongLine(
        mbs, [0, 0, 0], [rod.length, 0, 0], n, beam,
        gravity=[0, -task.gravity, 0], groundConstraintsStart=[1, 1, 1],
    )  # fmt: skip
    return made["nodes"], made["elements"]


def spatial_beam(
    mbs: exu.MainSystem, task: Task, n: int, static: bool, place: tuple = (0.0, 0.0, 0.0)
) -> tuple[list[int], list[int]]:
    """Add a rod along x, clamped but in T6, and return nodes and elements; gravity acts along -y."""
    rod = task.rod
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag(
        [rod.axial, rod.shear, rod.shear, rod.torsion, rod.bending, rod.bending]
    )
    turn = rod.rho * rod.second_moment
    section.inertia = np.diag([2.0 * turn, turn, turn])
    section.massPerLength = rod.rho * rod.area
    kind = item.NodeRigidBodyEP if static else item.NodeRigidBodyRotVecLG
    upright = [1, 0, 0, 0] if static else [0, 0, 0]
    nodes = [
        mbs.AddNode(kind(referenceCoordinates=[rod.length * k / n, *place[1:], *upright]))
        for k in range(n + 1)
    ]
    beams = []
    for pair in pairwise(nodes):
        beam = mbs.AddObject(
            item.ObjectBeamGeometricallyExact(
                nodeNumbers=list(pair), length=rod.length / n, sectionData=section
            )
        )
        beams.append(beam)
        if task.gravity:
            marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=beam))
            mbs.AddLoad(
                item.LoadMassProportional(markerNumber=marker, loadVector=[0, -task.gravity, 0])
            )
    if task.rods:
        return nodes, beams
    ground = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=mbs.AddNode(item.NodePointGround())))
    base = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))
    mbs.AddObject(item.GenericJoint(markerNumbers=[ground, base]))
    return nodes, beams


def add_loads(
    mbs: exu.MainSystem, task: Task, spatial: bool, nodes: list[int], beams: list[int]
) -> list:
    """Forces at the tip and on the way, and the tendon; what is returned has to be kept."""
    if task.tip_force:
        tip = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
        mbs.AddLoad(item.Force(markerNumber=tip, loadVector=[0, task.tip_force, 0]))
    if task.lateral:
        where = round(task.lateral_at * (len(nodes) - 1))
        marker = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[where]))
        mbs.AddLoad(item.Force(markerNumber=marker, loadVector=[0, 0, task.lateral]))
    if not task.tension:
        return []
    pairs = spatial_eyes(mbs, task, beams) if spatial else planar_eyes(mbs, task, nodes)
    return [add_tendon(mbs, task, pairs)]


def spatial_eyes(mbs: exu.MainSystem, task: Task, beams: list[int]) -> list[list[int]]:
    """A pair of markers at the tendon's offset for each element."""
    half = 0.5 * task.rod.length / len(beams)
    return [
        [
            mbs.AddMarker(
                item.MarkerBodyPosition(bodyNumber=beam, localPosition=[x, task.offset, 0])
            )
            for x in (-half, half)
        ]
        for beam in beams
    ]


def planar_eyes(mbs: exu.MainSystem, task: Task, nodes: list[int]) -> list[list[int]]:
    """A pair of markers at the tendon's offset for each two neighbouring nodes.

    Planar beams take forces on their axis only: massless bodies share their nodes.
    """
    disks = [
        mbs.AddObject(item.ObjectRigidBody2D(mass=0.0, inertia=0.0, nodeNumber=node))
        for node in nodes
    ]
    markers = [
        mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=disk, localPosition=[0, task.offset, 0]))
        for disk in disks
    ]
    return [list(pair) for pair in pairwise(markers)]


def add_tendon(mbs: exu.MainSystem, task: Task, pairs: list[list[int]]) -> object:
    """Pull neighbouring points at the tendon's offset towards each other.

    The ramp is a symbolic function, which has to outlive the simulation. A compressive force that
    turns with the tip instead would be Beck's column, which flutters.
    """

    def pull(mbs, t, number, stretch, rate, stiffness, damping, force):
        return exu.symbolic.min(t / task.ramp, 1.0) * force

    name = "springForceUserFunction"
    function = CreateSymbolicUserFunction(
        mbs, pull, name, itemTypeName="ObjectConnectorSpringDamper"
    )
    for pair in pairs:
        mbs.AddObject(
            item.SpringDamper(
                markerNumbers=pair, referenceLength=task.rod.length / len(pairs), stiffness=0.0,
                damping=0.0, force=task.tension, springForceUserFunction=function,
            )
        )  # fmt: skip
    return function


def solver_settings(nodes: int) -> exu.SimulationSettings:
    made = exu.SimulationSettings()
    made.solution.file.write = False
    made.timeIntegration.verboseMode = made.staticSolver.verboseMode = 0
    kind = exu.LinearSolverType
    made.linearSolver.solverType = kind.EigenSparse if nodes > 16 else kind.EXUdense
    return made


def solve(task: Task, spatial: bool, element: str, n: int, h: float) -> np.ndarray:
    """The tip (T, 3) at the times of the task; of many rods or equilibria (K, T, 3)."""
    if task.copies:
        rods = [replace(task, copies=0, rod=replace(task.rod, E=float(E))) for E in moduli(task)]
        return np.array([solve(one, spatial, element, n, h) for one in rods])
    if task.grid:
        return equilibria(task, n)
    if task.rods:
        return parallel_robot(task, n, h)
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    static = not task.duration
    if element == "cable":
        line, beams = cable(mbs, task, spatial, n)
    elif spatial:
        line, beams = spatial_beam(mbs, task, n, static)
    else:
        line, beams = planar_beam(mbs, task, element, n)
    kept = add_loads(mbs, task, spatial, line, beams)
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=line[-1], outputVariableType=POSITION, storeInternal=True, writeToFile=False
        )
    )
    mbs.Assemble()
    if static:
        options = solver_settings(len(line))
        options.staticSolver.numberOfLoadSteps = 5
        options.staticSolver.newton.relativeTolerance = 1e-3
        mbs.SolveStatic(options)
        path = mbs.GetNodeOutput(line[-1], POSITION)[None]
    else:
        path = motion(mbs, task, len(line), h, sensor)
    del kept
    return path[:, [0, 2, 1]]  # Exudyn's y is up here


def motion(
    mbs: exu.MainSystem, task: Task, nodes: int, h: float, sensor: int, modified: bool = True
) -> np.ndarray:
    """Places (T, 3) of a sensor in time steps of h seconds."""
    options = solver_settings(nodes)
    options.timeIntegration.endTime = task.duration
    options.timeIntegration.numberOfSteps = round(task.duration / h)
    options.timeIntegration.newton.relativeTolerance = 1e-4
    options.timeIntegration.newton.useModifiedNewton = modified
    options.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    options.solution.sensors.writePeriod = task.times[1]
    mbs.SolveDynamic(options)
    return mbs.GetSensorStoredData(sensor)[:, 1:]


def parallel_robot(task: Task, n: int, h: float) -> np.ndarray:
    """Places (T, 3) of the plate, to which the tips of rods on sliders are clamped.

    The twelve clamps are joints; the sliders are offsets of those at the bases.
    """
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    plate = mbs.AddNode(
        item.NodeRigidBodyRotVecLG(referenceCoordinates=[task.rod.length, 0, 0, 0, 0, 0])
    )
    turning = [*task.turning, 0.0, 0.0, 0.0]
    body = mbs.AddObject(
        item.ObjectRigidBody(physicsMass=task.mass, physicsInertia=turning, nodeNumber=plate)
    )
    ground, kept = mbs.AddObject(item.ObjectGround()), []
    for place, travel in zip(rod_places(task), slider_travels(task), strict=True):
        line, _ = spatial_beam(mbs, task, n, False, tuple(place))
        start, tip, base, end = (
            mbs.AddMarker(marker)
            for marker in (
                item.MarkerNodeRigid(nodeNumber=line[0]),
                item.MarkerNodeRigid(nodeNumber=line[-1]),
                item.MarkerBodyRigid(bodyNumber=ground, localPosition=list(place)),
                item.MarkerBodyRigid(bodyNumber=body, localPosition=list(place)),
            )
        )
        mbs.AddObject(item.GenericJoint(markerNumbers=[tip, end]))
        joint = mbs.AddObject(item.GenericJoint(markerNumbers=[base, start]))
        kept.append(slide(mbs, task, joint, float(travel)))
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=plate, outputVariableType=POSITION, storeInternal=True, writeToFile=False
        )
    )
    mbs.Assemble()
    path = motion(mbs, task, 6 * (n + 1), h, sensor, modified=False)
    del kept
    return path


def slide(mbs: exu.MainSystem, task: Task, joint: int, travel: float) -> object:
    """Move the base of a rod along x as the task tells; the function has to outlive the simulation."""
    turns = 2.0 * np.pi / task.duration

    def offset(mbs, t, number, parameters):  # type: ignore[no-untyped-def]
        x = 0.5 * travel * (1.0 - exu.symbolic.cos(turns * t))
        return exu.symbolic.Vector([x, 0.0, 0.0, 0.0, 0.0, 0.0])

    name = "offsetUserFunction"
    function = CreateSymbolicUserFunction(mbs, offset, name, itemTypeName="ObjectJointGeneric")
    mbs.SetObjectParameter(joint, name, function)
    return function


def equilibria(task: Task, n: int) -> np.ndarray:
    """Tips (K, 1, 3) of the arm over the grid of tensions, each solved for from the one before."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    line, beams = spatial_beam(mbs, task, n, static=True)
    half, tendons = 0.5 * task.rod.length / n, []
    for angle in tendon_angles():
        at = [task.offset * np.cos(angle), task.offset * np.sin(angle)]
        eyes = [
            [
                mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=beam, localPosition=[x, *at]))
                for x in (-half, half)
            ]
            for beam in beams
        ]
        tendons.append(
            [
                mbs.AddObject(item.SpringDamper(markerNumbers=pair, referenceLength=2.0 * half))
                for pair in eyes
            ]
        )
    mbs.Assemble()
    options = solver_settings(len(line))
    options.staticSolver.newton.relativeTolerance = 1e-3
    kind, tips = exu.ConfigurationType, []
    for row in tension_grid(task):
        for springs, tension in zip(tendons, row, strict=True):
            for spring in springs:
                mbs.SetObjectParameter(spring, "force", float(tension))
        mbs.SolveStatic(options)
        state = mbs.systemData.GetSystemState(kind.Current)
        mbs.systemData.SetSystemState(state, kind.Initial)
        tips.append(mbs.GetNodeOutput(line[-1], POSITION))
    return np.array(tips)[:, None, [0, 2, 1]]
