"""Results as labelled arrays in NetCDF files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, DescriptionError, check_suffix, whole_file

if TYPE_CHECKING:
    import xarray as xr

AXES = {
    "axis": ["x", "y", "z"],
    "local": ["x", "y", "z"],
    "strain_part": ["ux", "uy", "uz", "vx", "vy", "vz"],
    "wrench_part": ["mx", "my", "mz", "nx", "ny", "nz"],
    "twist_part": ["wx", "wy", "wz", "vx", "vy", "vz"],
}
UNITS = {
    "position": "m",
    "rotation": "1",
    "strain": "rad/m, 1",
    "wrench": "N m, N",
    "velocity": "rad/s, m/s",
    "shape": "rad, m for unit modal mass",
    "energy": "J",
    "reaction": "N m, N",
    "frequency": "Hz",
    "growth": "1/s",
    "time": "s",
    "s": "m",
}


def variable(name: str, dims: tuple[str, ...], values: Any, **more: object) -> Any:
    """Return a labelled array with its unit."""
    unit = {"units": UNITS[name]} if name in UNITS else {}
    return dims, np.asarray(values), {**unit, **more}


def names(items: Iterable[str]) -> NDArray[Any]:
    """Return names as the labels of an axis, which may be empty."""
    listed = list(items)
    return np.array(listed, dtype=object if listed else "U1")


def pose_variables(dims: tuple[str, ...], poses: Array, of: str = "") -> dict[str, Any]:
    """Return position and rotation of poses (..., 4, 4) whose leading axes are `dims`."""
    return {
        f"{of}position": variable("position", (*dims, "axis"), poses[..., :3, 3], frame="world"),
        f"{of}rotation": variable(
            "rotation", (*dims, "axis", "local"), poses[..., :3, :3], columns="local axes in world"
        ),
    }


def dataset(
    variables: Mapping[str, Any], coordinates: Mapping[str, Any], attributes: Mapping[str, Any]
) -> xr.Dataset:
    """Return an xarray Dataset with the components of vectors named."""
    import xarray as xr

    used = {dim for dims, *_ in variables.values() for dim in dims}
    axes = {name: parts for name, parts in AXES.items() if name in used}
    return xr.Dataset(dict(variables), {**axes, **coordinates}, dict(attributes))


def write(data: xr.Dataset, path: str | os.PathLike[str]) -> Path:
    """Write a dataset as NetCDF and return the path; an old file is replaced only at the end."""
    target = check_suffix("save", path, (".nc",))
    with whole_file(target) as partial:
        data.to_netcdf(partial, engine="h5netcdf")
    return target


def load(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a saved result into memory as an xarray Dataset.

    path : a .nc file written by the `save` method of a result.
    """
    import xarray as xr

    try:
        return xr.load_dataset(path, engine="h5netcdf")
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise DescriptionError(
            "load",
            "path",
            str(path),
            f"a NetCDF file written by the save of a result ({reason})",
            "check the name, or save the result again",
        ) from error
