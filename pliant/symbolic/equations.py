"""Equations of motion of a robot as CasADi functions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError, did_you_mean, refuse
from pliant.model.place_names import frame_of
from pliant.results.result import ShapeResult
from pliant.symbolic.numbers import Parameters
from pliant.symbolic.system import Inputs, System

if TYPE_CHECKING:
    from pliant.robot import Robot
