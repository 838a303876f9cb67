"""Robot files: the description of a robot, its inputs and what to compute, in YAML."""

from pliant.files.problems import FileError, Problem
from pliant.files.robot_file import (
    ModesRun,
    RobotFile,
    Run,
    SimulateRun,
    StaticsRun,
    load_robot_file,
)
from pliant.files.schema_file import json_schema

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
