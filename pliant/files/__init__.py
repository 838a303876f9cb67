"""Robot files: the description of a robot, its inputs and what to compute, in YAML."""

from pliant.files.robot_file import (
    ModesRun,
    RobotFile,
    Run,
    SimulateRun,
    StaticsRun,
    json_schema,
    load_robot_file,
)
from pliant.files.source import FileError, Problem

__all__ = [
    "FileError",
    "ModesRun",
    "Problem",
    "RobotFile",
    "Run",
    "SimulateRun",
    "StaticsRun",
    "json_schema",
    "load_robot_file",
]
