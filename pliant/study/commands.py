"""The commands ``compare``, ``resolve`` and ``fit``. Heavy modules are imported inside them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pliant.study.json_output import emit, json_option

if TYPE_CHECKING:
    from pliant.files import RobotFile, SimulateRun
    from pliant.robot import Robot


def check_folder(command: str, output: Path | None) -> None:
    """Refuse an output folder in which nothing can be written, before anything is computed."""
    from pliant.model.file_access import check_folder as check

    if output is not None:
        check(command, "--output", output)


_ALLOWED, _SET = "pliant.allow", "pliant.set"


def _keep_allowed(context: click.Context, _: click.Parameter, given: tuple[Path, ...]) -> None:
    context.meta[_ALLOWED] = given


def _keep_set(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[_SET] = given


robot_argument: Any = click.argument("file", type=click.Path(path_type=Path))
"""The robot file that a command reads."""

allow_option: Any = click.option(
    "--allow",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path),
    expose_value=False,
    callback=_keep_allowed,
    help="Folder besides that of the robot file in which it may name files; may be repeated.",
)
"""Folders that `read_robot` allows."""

set_option: Any = click.option(
    "--set",
    metavar="NAME=VALUE",
    multiple=True,
    expose_value=False,
    callback=_keep_set,
    help="Value of a named parameter of the robot file, e.g. radius=0.01; may be repeated.",
)
"""Parameters that `read_robot` sets."""


def file_options(command: Any) -> Any:
    """Add what every command takes that reads a robot file."""
    return allow_option(set_option(command))


def _kept(key: str) -> tuple[Any, ...]:
    context = click.get_current_context(silent=True)
    return () if context is None else context.meta.get(key, ())


def set_parameters() -> dict[str, Any]:
    """Return the values of parameters from the command line, by name."""
    from pliant.files.parameters import values_from_text

    return values_from_text("--set", _kept(_SET))


def read_robot(file: Path, parameters: dict[str, Any] | None = None) -> tuple[RobotFile, Robot]:
    """Return the contents of a robot file, and the robot.

    parameters : values of its named parameters; None for those of the command line.
    """
    from pliant.files import load_robot_file
    from pliant.robot import Robot
    from pliant.solve.registry import formulations, integrators

    values = set_parameters() if parameters is None else parameters
    contents = load_robot_file(file, formulations(), integrators(), _kept(_ALLOWED), values)
    return contents, Robot._from(contents.description, contents.inputs)


def _tell(result: Any, files: list[tuple[Any, Path]], as_json: bool) -> None:
    """Print the summary of a study and write its files, or print all of it as JSON."""
    if not as_json:
        click.echo(result.summary())
    for write, path in files:
        write(path)
    written = [path for _, path in files]
    if as_json:
        emit(results=[result.to_dict()], written=written)
    elif written:
        click.echo("\n".join(["written:", *(f"  {path}" for path in written)]))


def _tell_study(result: Any, output: Path | None, stem: str, as_json: bool) -> None:
    """Tell a study; write its table and picture if there is a folder."""
    files = []
    if output is not None:
        files = [(result.save, output / f"{stem}.csv"), (result.plot, output / f"{stem}.png")]
    _tell(result, files, as_json)


def _task(contents: RobotFile, run: SimulateRun | None) -> dict[str, Any]:
    """Arguments of `compare` and `resolve`: the motion of a robot file, else its equilibrium."""
    from pliant.model.checks import refuse

    if run is None:
        return {"inputs": contents.inputs_at(0.0)}
    for field, given in {
        "start": run.start,
        "joints": run.joints,
        "velocity": run.velocity,
    }.items():
        elsewhere = given is not None and not isinstance(given, str)
        expected = "'rest' or 'statics' for start, and nothing else, to compare or resolve a motion"
        remedy = "give joints an initial value, or compare in Python"
        refuse(elsewhere, "simulate", field, list(given or ()), expected, remedy)
    return {"duration": run.duration, "integrator": run.integrator, "start": run.start}


def _motion(contents: RobotFile) -> SimulateRun | None:
    from pliant.files import SimulateRun

    return next((run for run in contents.runs if isinstance(run, SimulateRun)), None)


def _default_first(entry: tuple[str, object]) -> bool:
    """Sorts formulations: the default one is the reference, for it carries whatever acts."""
    return entry[0] != "BSpline"


@click.command()
@robot_argument
@file_options
@click.option(
    "--with",
    "entries",
    multiple=True,
    help="A formulation as Python code, e.g. 'Strain(order=3)', or with an integrator: "
    "'BSpline(), Newmark()'. May be repeated. Default: all formulations, BSpline() first.",
)
@click.option("--reference", help="The method to compare with. Default: the first.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and the table."
)
@json_option
def compare(
    file: Path,
    entries: tuple[str, ...],
    reference: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Solve a robot with several formulations and print how much they differ.

    Motions are compared if FILE has an entry 'simulate:', equilibria otherwise.
    """
    from pliant.model.checks import refuse
    from pliant.solve.clock import make_clock
    from pliant.solve.registry import formulations, integrators
    from pliant.study.compare import compare as compare_formulations
    from pliant.study.parsing import settings_from_text

    check_folder("compare", output)
    known = {**formulations(), **integrators()}
    methods = [settings_from_text("--with", text, known) for text in entries]
    truth = None if reference is None else settings_from_text("--reference", reference, known)
    contents, robot = read_robot(file)
    run = _motion(contents)
    clock = None
    if run is not None:
        expected = "a time step where motions are compared"
        refuse(run.dt is None, "simulate", "dt", run.dt, expected, "give e.g. dt: 0.005")
        clock = make_clock(run.duration, run.dt, run.output_every)
    result = compare_formulations(
        robot,
        methods or [cls() for _, cls in sorted(formulations().items(), key=_default_first)],
        truth,
        dt=None if run is None else run.dt,
        output_times=None if clock is None else clock.outputs,
        progress=lambda label, k, n: click.echo(f"{k + 1} of {n}: {label}", err=True),
        **_task(contents, run),
    )
    _tell_study(result, output, f"{file.stem}-comparison", as_json)


@click.command()
@robot_argument
@file_options
@click.option(
    "--accuracy",
    type=float,
    default=1e-3,
    show_default=True,
    help="Largest distance from the exact solution, as a fraction of the rod's length.",
)
@click.option("--with", "method", help="Formulation, or with an integrator, as for compare.")
@click.option(
    "--dt", type=float, help="Longest step to try, s. Default: a fiftieth of the duration."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and the table."
)
@json_option
def resolve(
    file: Path,
    accuracy: float,
    method: str | None,
    dt: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the number of elements, and the step, that an accuracy needs.

    A motion is resolved if FILE has an entry 'simulate:', an equilibrium otherwise.
    """
    from pliant.study.resolve import resolve as choose

    check_folder("resolve", output)
    formulation, integrator = _method(method)
    contents, robot = read_robot(file)
    task = _task(contents, _motion(contents))
    result = choose(
        robot,
        accuracy,
        formulation,
        dt=dt,
        progress=lambda text, k: click.echo(f"{k + 1}: {text}", err=True),
        **(task if integrator is None else {**task, "integrator": integrator}),
    )
    _tell_study(result, output, f"{file.stem}-resolution", as_json)


def _method(text: str | None) -> tuple[Any, Any]:
    """Formulation and integrator of an option --with, None for those not given."""
    from pliant.solve.registry import formulations, integrators
    from pliant.study.parsing import settings_from_text

    known = {**formulations(), **integrators()}
    chosen = None if text is None else settings_from_text("--with", text, known)
    return (*chosen, None)[:2] if isinstance(chosen, tuple) else (chosen, None)


@click.command()
@robot_argument
@file_options
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    help="A path such as arm.material.E. Add a start value and bounds as in 'arm.drag=0.5[0,2]', and "
    "a prior (mean and standard deviation) as in 'arm.drag=0.5[0,2]~0.6+-0.1' or 'arm.drag~0.6+-0.1'. "
    "Paths separated by commas share one value. Without this option, the paths in FILE are listed.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    help="A path such as arm.tip.z, or arm.tip.z=COLUMN; add the standard deviation of its noise if "
    "you know it: arm.tip.z=COLUMN+-1e-3. Default: every column whose name is a path.",
)
@click.option(
    "--hold-out",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Data to predict, not to fit.",
)
@click.option("--dt", type=float, help="Time step of motions, s.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    help="An input that is not a column: 'chamber1=2e4', or 'push=0,0,1' for a vector.",
)
@click.option(
    "--start",
    multiple=True,
    help="Start of motions: rest (the default), statics, or the equilibrium with other inputs, which "
    "are released at t = 0: 'thread=1'.",
)
@click.option("--with", "method", help="Formulation, or with an integrator, as for compare.")
@click.option(
    "-o",
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("pliant-results"),
    show_default=True,
    help="Folder for the report and the picture.",
)
@click.option(
    "--write-robot",
    type=click.Path(path_type=Path),
    help="Write FILE with the estimated values to this robot file; comments stay.",
)
@json_option
def fit(
    file: Path,
    data: tuple[Path, ...],
    parameters: tuple[str, ...],
    outputs: tuple[str, ...],
    hold_out: tuple[Path, ...],
    dt: float | None,
    inputs: tuple[str, ...],
    start: tuple[str, ...],
    method: str | None,
    folder: Path,
    write_robot: Path | None,
    as_json: bool,
) -> None:
    """Identify parameters of the robot in FILE from measurements in CSV files DATA.

    A file with a column t or time holds a motion; any other file holds one equilibrium per row. A
    column with the name of an input (a load, a chamber) is that input. A column with the path of an
    output (arm.tip.z) is a measured output.
    """
    from pliant.files.measurement import read_measurement
    from pliant.results.fit import FitWarning
    from pliant.study import parsing
    from pliant.study.fit import fit as identify

    check_folder("fit", folder)
    check_folder("fit", None if write_robot is None else write_robot.parent)
    formulation, integrator = _method(method)
    wanted = [parsing.parameter_from_text(text) for text in parameters]
    measured = [parsing.output_from_text(text) for text in outputs]
    given = parsing.inputs_from_text("--input", inputs)
    initial = parsing.start_from_text(start)
    _, robot = read_robot(file)
    _require_parameters(wanted, robot)
    paths = [path for parameter in wanted for path in parameter.paths]
    if write_robot is not None:
        _check_writing(file, robot, wanted, paths, write_robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # the summary has them
        result = identify(
            robot,
            [read_measurement(path, start=initial) for path in data],
            wanted,
            measured or None,
            validation=[read_measurement(path, start=initial) for path in hold_out] or None,
            inputs=given,
            formulation=formulation,
            integrator=integrator,
            dt=dt,
            progress=_print_iteration,
        )
    stem = folder / f"{file.stem}-fit"
    endings = {".md": result.save, ".json": result.save, ".nc": result.save, ".png": result.plot}
    files = [(write, stem.with_suffix(ending)) for ending, write in endings.items()]
    if write_robot is not None:
        new = result.robot.description
        files.append((lambda path: _write_robot(file, new, paths, path), write_robot))
    _tell(result, files, as_json)


def _write_robot(file: Path, new: Any, paths: list[str], path: Path) -> None:
    """Write a robot file with the values of a new description at these paths, and check it."""
    from pliant.files.rewrite import check_rewritten, rewritten
    from pliant.model import whole_file

    with whole_file(path) as partial:
        every = dict.fromkeys([*(f"parameters.{name}" for name in set_parameters()), *paths])
        partial.write_text(rewritten(file, new, every), encoding="utf-8")
        check_rewritten(file, read_robot(partial, {})[0].description, new)


def _check_writing(file: Path, robot: Any, wanted: list[Any], paths: list[str], path: Path) -> None:
    """Check before the fit that its values can be written: try values near the start."""
    import numpy as np

    from pliant.study.parameters import variables

    unknowns = variables(robot.description, wanted)
    nudged = [
        item.start + (1e-3 if item.start + 1e-3 <= item.high else -1e-3) for item in unknowns.items
    ]
    # in the same folder, to which names of other files in it are relative
    trial = path.with_name(f".{path.stem}-trial{path.suffix}")
    try:
        _write_robot(file, unknowns.described(np.array(nudged)), paths, trial)
    finally:
        trial.unlink(missing_ok=True)


def _print_iteration(k: int, cost: float, values: dict[str, float]) -> None:
    listed = ", ".join(f"{name} {value:.5g}" for name, value in values.items())
    click.echo(f"{k}: {cost:.6g}  {listed}", err=True)


def _require_parameters(parameters: list[Any], robot: Any) -> None:
    from pliant.model import DescriptionError, number_paths

    if not parameters:
        listed = ", ".join(number_paths(robot.description))
        raise DescriptionError(
            "fit", "--parameter", "none", "one or more, such as -p PATH", f"choose from {listed}"
        )
