"""The command line: ``pliant check``, ``run``, ``modes``, ``follow``, ``reach``, ``compare``,
``resolve``, ``fit``, ``schema`` and ``warm-up``.

Heavy modules are imported inside the commands, so that ``pliant --help`` answers at once and the
first result does not wait for the libraries that draw and save.
"""

from __future__ import annotations

import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pliant import __version__
from pliant.study.commands import (
    check_folder,
    compare,
    file_options,
    fit,
    read_robot,
    resolve,
    robot_argument,
)
from pliant.study.json_output import asked_for, emit, emit_error, json_option
from pliant.study.warm_up import warm_up_command

if TYPE_CHECKING:
    from rich.progress import TaskID

    from pliant.files import FollowRun, ReachRun, RobotFile, SimulateRun, StaticsRun
    from pliant.robot import Robot

BUNDLED = Path(__file__).resolve().parent / "robots" / "arm.yaml"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells expect it."""


class _Commands(click.Group):
    """Commands whose errors are printed in red without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print errors of Pliant and of the file system."""
        shown, warnings.showwarning = warnings.showwarning, _show_warning
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.secho("interrupted", fg="red", err=True)
            ctx.exit(INTERRUPTED)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            told: BaseException = error
            message = f"{where}{error.strerror or error}"
        except Exception as error:
            from pliant.model import PliantError

            if not isinstance(error, PliantError):
                raise
            told, message = error, str(error)
        finally:
            warnings.showwarning = shown
        if asked_for(ctx):
            emit_error(told, message)
        click.secho(message, fg="red", err=True)
        ctx.exit(1)


def _show_warning(message: Warning | str, *_where: object, **_more: object) -> None:
    """Print a warning as a sentence, without the line of Pliant that it comes from."""
    click.secho(f"warning: {message}", fg="yellow", err=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pliant", message="%(prog)s %(version)s")
def main() -> None:
    """Robots made of slender soft parts: describe once, solve with any rod formulation."""


main.add_command(compare)
main.add_command(resolve)
main.add_command(fit)
main.add_command(warm_up_command)


@main.command()
@robot_argument
@file_options
@json_option
def check(file: Path, as_json: bool) -> None:
    """Check a robot file and list all its errors."""
    contents, robot = _read(file)
    runs = [type(run).__name__.removesuffix("Run").lower() for run in contents.runs]
    doubts = contents.doubts()
    if as_json:
        kinds = contents.description.kinds()
        parts = {kind: list(named) for kind, named in kinds.items() if named}
        inputs = contents.description.inputs()
        known = {"inputs": inputs, "parameters": robot.parameters, "runs": runs}
        emit(file=file, parts=parts, **known, warnings=list(doubts))
        return
    count = len(doubts)
    told = f"No errors, {count} warning{'s' * (count > 1)}." if count else "No errors."
    listed = ", ".join(runs) or "nothing"
    click.echo(f"{file}: {_count_parts(contents)}; {listed} to compute. {told}")
    if robot.parameters:
        values = ", ".join(f"{name} = {_listed(x)}" for name, x in robot.parameters.items())
        click.echo(f"parameters: {values}")


def _listed(value: Any) -> str:
    """A number, or numbers separated by commas, as --set takes them."""
    return ",".join(f"{x:.12g}" for x in (value if isinstance(value, tuple) else (value,)))


@main.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write it to.")
@json_option
def schema(output: Path | None, as_json: bool) -> None:
    """Print the JSON Schema of robot files, with which editors complete and check them.

    In VS Code with the YAML extension, begin a robot file with the line
    # yaml-language-server: $schema=robot.schema.json
    """
    import json

    from pliant.files import json_schema
    from pliant.model import whole_file

    found = json_schema()
    text = json.dumps(found, indent=1)
    if output is not None:
        check_folder("schema", output.parent)
        with whole_file(output) as partial:
            partial.write_text(text + "\n", encoding="utf-8")
    if as_json:
        emit(schema=found, written=[] if output is None else [output])
    else:
        click.echo(text if output is None else f"written:\n  {output}")


@main.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@file_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("pliant-results"),
    show_default=True,
    help="Folder for pictures and results; created if needed.",
)
@click.option("--no-animation", is_flag=True, help="Do not write an animation of a motion.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--resume", is_flag=True, help="Continue a simulation that was ended before its end.")
@json_option
def run(
    file: Path | None,
    output: Path,
    no_animation: bool,
    quiet: bool,
    resume: bool,
    as_json: bool,
) -> None:
    """Compute everything a robot file requests; write pictures and results to a folder.

    Without FILE, an example robot is solved.
    """
    contents, robot = _read(file or BUNDLED)
    check_folder("run", output)
    _Runner(contents, robot, output, not no_animation, quiet, as_json, resume).run()


@main.command()
@robot_argument
@file_options
@click.option(
    "--count", type=int, default=None, help="Number of modes. Default: as in the file, or 6."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and results."
)
@json_option
def modes(file: Path, count: int | None, output: Path | None, as_json: bool) -> None:
    """Print the natural frequencies of a robot about its equilibrium."""
    contents, robot = _read(file, needs_mass=True)
    requested = [run.count for run in contents.runs if hasattr(run, "count")]
    check_folder("modes", output)
    runner = _Runner(contents, robot, output or Path(), False, False, as_json)
    runner.modes(count if count is not None else (requested or [6])[0], save=output is not None)
    runner.conclude(True)


@main.command()
@robot_argument
@click.argument("name")
@click.argument("start", type=float)
@click.argument("stop", type=float)
@file_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and results."
)
@json_option
def follow(
    file: Path, name: str, start: float, stop: float, output: Path | None, as_json: bool
) -> None:
    """Follow equilibria while the input NAME goes from START to STOP, through folds.

    Write -- before negative numbers: pliant follow arm.yaml push -- -1 1
    """
    contents, robot = _read(file)
    check_folder("follow", output)
    runner = _Runner(contents, robot, output or Path(), False, False, as_json)
    runner.report("path", lambda: robot.follow(name, start, stop), output is not None)
    runner.conclude(True)


@main.command()
@robot_argument
@click.argument("targets", nargs=-1, required=True)
@file_options
@click.option("--input", "inputs", multiple=True, help="An input that is sought; give each.")
@click.option("--least", type=float, default=None, help="Lowest value of these inputs.")
@click.option("--most", type=float, default=None, help="Highest value of these inputs.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for a picture and results."
)
@json_option
def reach(
    file: Path,
    targets: tuple[str, ...],
    inputs: tuple[str, ...],
    least: float | None,
    most: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find inputs that bring places to TARGETS such as arm.tip=0.2,0,0.1 (metres).

    Leave a coordinate empty if it does not matter: arm.tip=0.2,,0.1. Without --input all inputs of the
    robot are sought.
    """
    contents, robot = _read(file)
    check_folder("reach", output)
    wanted = dict(_target(text) for text in targets)
    sought = list(inputs) or list(robot.description.inputs())
    runner = _Runner(contents, robot, output or Path(), False, False, as_json)
    found = partial(robot.reach, wanted, sought, bounds=(least, most))
    runner.report("reach", found, output is not None)
    runner.conclude(True)


def _target(text: str) -> tuple[str, Any]:
    """A place and its position, None for coordinates that are left empty."""
    place, _, numbers = text.partition("=")
    parts = numbers.split(",")
    try:
        return place, tuple(float(part) if part.strip() else None for part in parts)
    except ValueError:
        from pliant.model import DescriptionError

        expected, remedy = "place=x,y,z in metres", "give e.g. arm.tip=0.2,0,0.1"
        raise DescriptionError("reach", "target", text, expected, remedy) from None


def _read(file: Path, needs_mass: bool = False) -> tuple[RobotFile, Robot]:
    """Return the contents of a robot file and the robot, with everything checked in advance."""
    from pliant.files import ModesRun, SimulateRun
    from pliant.solve.compiled import choose_formulations, require_mass

    contents, robot = read_robot(file)
    chosen = choose_formulations(contents.description, None)
    simulated = any(isinstance(run, SimulateRun) for run in contents.runs)
    if needs_mass or simulated or any(isinstance(run, ModesRun) for run in contents.runs):
        require_mass(contents.description, chosen if simulated else None)
    for doubt in contents.doubts():
        click.secho(f"warning: {doubt}", fg="yellow", err=True)
    return contents, robot


def _count_parts(contents: RobotFile) -> str:
    from pliant.model.registry import headings

    words = headings()
    counts = {kind: len(parts) for kind, parts in contents.description.kinds().items()}
    names = {kind: words[kind] if n == 1 else kind.replace("_", " ") for kind, n in counts.items()}
    return ", ".join(f"{n} {names[kind]}" for kind, n in counts.items() if n)


class _Runner:
    """Computes everything a robot file requests and prints the progress."""

    def __init__(
        self,
        contents: RobotFile,
        robot: Robot,
        output: Path,
        animation: bool,
        quiet: bool,
        as_json: bool,
        resume: bool = False,
    ) -> None:
        from rich.console import Console

        self.contents = contents
        self.robot = robot
        self.output = output
        self.animation = animation
        self.as_json, self.resume = as_json, resume
        self.console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
        self.results: list[dict[str, Any]] = []
        self.written: list[Path] = []
        self.unsaved: tuple[Callable[[Path], object], str] | None = None
        self.still: Any = None

    def run(self) -> None:
        """Compute everything in the order of the file; Ctrl-C keeps the results so far."""
        from pliant.files import FollowRun, ModesRun, ReachRun, SimulateRun, StaticsRun

        self.console.print(f"[bold]{self.contents.path.name}[/]: {_count_parts(self.contents)}")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        complete = True
        try:
            for run in self.contents.runs or (StaticsRun(),):
                if isinstance(run, SimulateRun):
                    complete = self.simulate(run)
                elif isinstance(run, ModesRun):
                    self.modes(run.count, accuracy=run.accuracy)
                elif isinstance(run, FollowRun):
                    self.follow(run)
                elif isinstance(run, ReachRun):
                    self.reach(run)
                elif isinstance(run, StaticsRun):
                    self.statics(run)
                if not complete:
                    break
        except KeyboardInterrupt:
            complete = False
            if self.unsaved is not None:
                self._write(*self.unsaved)
        self._list_files()
        self.conclude(complete)
        if not complete:
            kept = "the results so far are kept" if self.written else "nothing was written"
            click.secho(f"interrupted: {kept}", fg="red", err=True)
            sys.exit(INTERRUPTED)

    def conclude(self, complete: bool) -> None:
        """Print the results as JSON if they are wanted so."""
        if self.as_json:
            emit(
                file=self.contents.path,
                complete=complete,
                results=self.results,
                written=self.written,
            )

    def statics(self, run: StaticsRun) -> None:
        """Solve for the equilibrium, print it, then save and draw it."""
        with self._working("statics"):
            self.still = self.robot.statics(accuracy=run.accuracy)
            summary = self.still.summary()
        self._report(summary, self.still, "statics")

    def simulate(self, run: SimulateRun) -> bool:
        """Simulate, print, save and draw; return whether the motion is complete."""
        from pliant.model import ConvergenceError
        from pliant.results.motion import Motion

        equilibrium = isinstance(run.start, str) and run.start == "statics" and self.still
        start = self.still if equilibrium else run.start
        checkpoint = self.output / f"{self.contents.path.stem}-checkpoint.nc"
        searched = run.dt is None or run.accuracy is not None
        single = not searched and not self.robot.changing_meshes(self.robot.inputs)
        resume = checkpoint if single and self.resume and checkpoint.exists() else None
        try:
            with self._working("simulate", run.duration) as bar:
                move = self.robot.simulate(
                    run.duration,
                    run.dt,
                    start=start,
                    joints=run.joints,
                    velocity=run.velocity,
                    integrator=run.integrator,
                    output_every=run.output_every,
                    error=run.error,
                    progress=lambda t, _: bar(t),
                    save=checkpoint if single else None,
                    resume=resume,
                    accuracy=run.accuracy,
                )
        except ConvergenceError as error:
            checkpoint.unlink(missing_ok=True)
            if isinstance(error.last, Motion) and len(error.last.t):
                self._report(error.last.summary(), error.last, "motion")
                self._list_files()
            raise
        self._report(move.summary(), move, "motion")
        if move.complete:
            checkpoint.unlink(missing_ok=True)
        elif checkpoint.exists():
            self.console.print("continue it with --resume")
        if self.animation and move.complete and len(move.t) > 1:
            with self._working("animation", int(move.t[-1] * 25) + 1) as bar:
                self._write(
                    lambda path: move.animate(path, progress=lambda k, n: bar(k)), "motion.gif"
                )
        return move.complete

    def modes(self, count: int, save: bool = True, accuracy: float | None = None) -> None:
        """Compute modes about the equilibrium, print, save and draw them."""
        still = self.still if accuracy is None else None
        with self._working("modes"):
            modes = self.robot.modes(count, at=still, accuracy=accuracy)
        self._report(modes.summary(), modes, "modes", save)

    def follow(self, run: FollowRun) -> None:
        """Follow equilibria, print, save and draw them."""
        way = (run.input, run.start, run.stop)
        self.report("path", lambda: self.robot.follow(*way, points=run.points), True)

    def reach(self, run: ReachRun) -> None:
        """Find inputs for targets, print, save and draw the equilibrium."""
        sought = list(run.inputs or self.robot.description.inputs())
        bounds = (run.least, run.most)
        self.report("reach", lambda: self.robot.reach(run.targets, sought, bounds), True)

    def report(self, name: str, solve: Callable[[], Any], save: bool) -> None:
        """Compute a result, print, save and draw it."""
        with self._working(name):
            result = solve()
        self._report(result.summary(), result, name, save)

    def _report(self, summary: str, result: Any, name: str, save: bool = True) -> None:
        """Print a summary, then save and draw the result; Ctrl-C leaves it in `unsaved`."""
        self.unsaved = (result.save, f"{name}.nc") if save else None
        if self.as_json:
            self.results.append(result.to_dict())
        self.console.print(summary, markup=False)
        if save:
            self._write(result.save, f"{name}.nc")
            self._write(result.plot, f"{name}.png")

    def _write(self, write: Callable[[Path], object], ending: str) -> None:
        path = self.output / f"{self.contents.path.stem}-{ending}"
        write(path)
        self.unsaved = None
        self.written.append(path)

    def _list_files(self) -> None:
        if self.written:
            self.console.print("[bold]written:[/]")
            for path in self.written:
                self.console.print(f"  {path}", markup=False)

    @contextmanager
    def _working(self, what: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
        """Show a spinner or a bar during a computation, and the kernels that are compiled."""
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        from pliant._numba import CompileListener

        columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
        if total is not None:
            columns.insert(2, BarColumn(bar_width=30))
        quiet = not self.console.is_terminal
        progress = Progress(*columns, console=self.console, transient=True, disable=quiet)
        task = progress.add_task(what, total=total)
        tell = _Compilation(progress, task, what, self.console)
        with progress, CompileListener(tell):
            yield lambda done: progress.update(task, completed=done)
        tell.conclude()


@dataclass
class _Compilation:
    """Prints which kernel is being compiled, and at the end how many were."""

    progress: Any
    task: TaskID
    what: str
    console: Any
    count: int = 0
    began: float = 0.0

    def __call__(self, kernel: str, seconds: float | None) -> None:
        """Show the kernel's name; called before (seconds None) and after its compilation."""
        if seconds is not None:
            self.progress.update(self.task, description=self.what)
            return
        if self.count == 0:
            self.began = time.perf_counter()
            if not self.console.is_terminal:
                self.console.print(f"{self.what}: compiling kernels, on first use only ...")
        self.count += 1
        name = kernel.removeprefix("pliant.")
        text = f"{self.what}: compiling kernel {name} ({self.count}), on first use only"
        self.progress.update(self.task, description=text, refresh=True)

    def conclude(self) -> None:
        """Print how many kernels were compiled, if any."""
        if self.count:
            took = time.perf_counter() - self.began
            self.console.print(
                f"[dim]{self.what}: {self.count} kernel{'s' * (self.count > 1)} compiled "
                f"within {took:.0f} s, kept for the next start[/]"
            )
