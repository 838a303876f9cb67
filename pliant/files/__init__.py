"""Robot files: the description of a robot, its inputs and what to compute, in YAML."""

from pliant.files.robot_file import RobotFile, load_robot_file
from pliant.files.runs import FollowRun, ModesRun, ReachRun, Run, SimulateRun, StaticsRun
from pliant.files.schema import json_schema
from pliant.files.source import FileError, Problem
from pliant.files.writer import save_robot_file

__all__ = [
    "FileError",
    "FollowRun",
    "ModesRun",
    "Problem",
    "ReachRun",
    "RobotFile",
    "Run",
    "SimulateRun",
    "StaticsRun",
    "json_schema",
    "load_robot_file",
    "save_robot_file",
]
