"""Runs one program of an earlier commit, for `size.py`, and writes down which functions it reached.

`python _size_work.py PROGRAM LOG`: a Python file with `main()`, or a Markdown page with Python blocks.
The log has file, relative to the package, and first line of each function. Compiled kernels leave no
trace: those that a function names which was called, or a kernel that is reached, count as reached.
"""

from __future__ import annotations

import inspect
import json
import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pliant

PACKAGE = Path(pliant.__file__).resolve().parent
codes: set[CodeType] = set()


def note(frame: Any, event: str, _: object) -> None:
    if event == "call":
        codes.add(frame.f_code)


def run(program: Path) -> None:
    """Run a program as its own tests do."""
    if program.suffix == ".py":
        sys.path.insert(0, str(program.parent))
        runpy.run_path(str(program))["main"]()
        return
    sys.path.insert(0, str(PACKAGE.parent))
    from tests.snippets import read_programs, run as run_page

    problems = []
    for one in read_programs(program):
        try:
            run_page(one)
        except Exception as error:
            problems.append(f"{one}: {type(error).__name__}: {error}".splitlines()[0])
    if problems:
        raise RuntimeError("; ".join(problems))


def kernels_named(code: CodeType, module: ModuleType) -> list[CodeType]:
    """Codes of the compiled kernels that a code names, in its module or in one that it imports."""
    found = []
    for name in code.co_names:
        value = vars(module).get(name)
        holders = (
            [value, *(vars(value).get(x) for x in code.co_names)]
            if (inspect.ismodule(value))
            else [value]
        )
        found += [x.py_func.__code__ for x in holders if hasattr(x, "py_func")]
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += kernels_named(inner, module)
    return found


def reached() -> list[tuple[str, int]]:
    """Files and first lines of all functions of the package that were reached."""
    modules = {
        Path(x.__file__): x for x in list(sys.modules.values()) if getattr(x, "__file__", None)
    }
    todo, done = list(codes), set[CodeType]()
    while todo:
        code = todo.pop()
        module = modules.get(Path(code.co_filename))
        if code in done or module is None or PACKAGE not in Path(code.co_filename).parents:
            continue
        done.add(code)
        todo += kernels_named(code, module)
    named = [x for x in done if not x.co_name.startswith("<")]
    return sorted(
        {(Path(x.co_filename).relative_to(PACKAGE).as_posix(), x.co_firstlineno) for x in named}
    )


def main() -> None:
    program, log = (Path(x) for x in sys.argv[1:])
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run(program)
    finally:
        sys.setprofile(None)
        log.write_text(json.dumps(reached()))


if __name__ == "__main__":
    main()
