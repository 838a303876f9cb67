"""C source of equations of motion, by CasADi's code generator, behind plain functions of arrays.

CasADi writes one function for each of ours, with arguments as arrays of pointers and a workspace. Below
them stand functions with the arguments by name, which are all that the header declares:

    void robot_forces(const double *q, const double *v, const double *u, const double *p, double *f);

Matrices are written row by row. Nothing is allocated, and no state is kept between calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.model import known_name, refuse

if TYPE_CHECKING:
    from pliant.symbolic.equations import SymbolicEquations

FUNCTIONS = (
    "rates",
    "mass",
    "bias",
    "forces",
    "constraint_gaps",
    "constraint_jacobian",
    "constraint_bias",
    "kinetic_energy",
    "potential_energy",
    "accelerations",
)
"""What can be written."""

_README = """/* {name}: equations of motion of a robot, written by Pliant.

   M(q) a + b(q, v) = f(q, v, u) + J(q)^T lambda,   J(q) a + c(q, v) = 0,   q' = rates(q, v)

   Compile {name}.c with any C99 compiler and link the math library:  cc -O2 -c {name}.c
   Every function takes arrays of doubles and writes its results; matrices are row by row. Arguments
   that a robot does not have ({NAME}_NU = 0 and so on) may be NULL, and so may results that you do not
   need. SI units and radians. Nothing is allocated, and functions may be called from several threads.

   q ({NAME}_NQ)  coordinates; {name}_rest has those of the undeformed robot. The pose of a free part or
                  node is a position and a unit quaternion (w, x, y, z), which you keep at unit length.
   v ({NAME}_NV)  velocities, the first {NAME}_FREE of them unknown, the others prescribed by inputs
   u ({NAME}_NU)  inputs; {name}_inputs has their values in the robot
   p ({NAME}_NP)  parameters; {name}_parameters has their values in the robot
   c ({NAME}_NC)  accelerations that are given
   lambda ({NAME}_NL)  multipliers of the constraints
*/
"""


def write_source(
    eq: SymbolicEquations,
    folder: Path,
    name: str,
    functions: Sequence[str],
    places: Mapping[str, Any],
) -> Path:
    """Write name.c and name.h; returns the first."""
    good = re.fullmatch(r"[A-Za-z]\w*", name) is not None
    refuse(not good, "export_c", "name", name, "a C identifier", "give e.g. 'robot'")
    wanted = {
        known_name("export_c", "functions", x, list(FUNCTIONS), "a function"): "" for x in functions
    }
    found = {key: getattr(eq, key) for key in wanted}
    refuse(not isinstance(places, Mapping), "export_c", "places", places, "places by name",
           "give e.g. {'tip': 'arm.tip'}")  # fmt: skip
    for key, place in places.items():
        refuse(
            not _word(key).isidentifier(), "export_c", "places", key, "a name", "give e.g. 'tip'"
        )
        twice = f"pose_{_word(key)}" in found
        refuse(twice, "export_c", "places", key, "another name in C than the others", "rename it")
        found[f"pose_{_word(key)}"] = eq.pose(place)
    dense = {key: _dense(eq._math, f"{name}_{key}_casadi", f) for key, f in found.items()}
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.c"
    source.write_text(_source(eq, name, dense), encoding="utf-8")
    (folder / f"{name}.h").write_text(_header(eq, name, dense), encoding="utf-8")
    return source


def _dense(math: Any, name: str, function: Any) -> Any:
    """The same function with all entries of its results, row by row."""
    arguments = [
        math.SX.sym(function.name_in(k), function.size1_in(k)) for k in range(function.n_in())
    ]
    results = function.call(arguments)
    rows = [math.vec(math.densify(x).T) for x in results]
    names = [function.name_in(k) for k in range(function.n_in())]
    return math.Function(name, arguments, rows, names, function.name_out(), {"cse": True})


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")


def _macro(text: str) -> str:
    return _word(text).upper()


def _declared(name: str, key: str, function: Any) -> str:
    """The declaration of a function, without a semicolon."""
    given = [f"const double *{function.name_in(k)}" for k in range(function.n_in())]
    made = [f"double *{function.name_out(k)}" for k in range(function.n_out())]
    return f"void {name}_{key}({', '.join([*given, *made])})"


def _sizes(eq: SymbolicEquations) -> dict[str, int]:
    return {
        "NQ": len(eq.rest),
        "NV": len(eq.names),
        "FREE": eq.free,
        "NU": len(eq.inputs),
        "NP": len(eq.parameters),
        "NC": len(eq.controls),
        "NL": eq.rows,
    }


def _header(eq: SymbolicEquations, name: str, functions: Mapping[str, Any]) -> str:
    lines = [_README.format(name=name, NAME=name.upper())]
    lines += [f"#ifndef {name.upper()}_H", f"#define {name.upper()}_H", ""]
    lines += [f"#define {name.upper()}_{key} {size}" for key, size in _sizes(eq).items()]
    named = {"V": eq.names, "U": eq.inputs, "P": eq.parameters, "C": eq.controls}
    for letter, names in named.items():
        lines.append("")
        words: list[str] = []
        for k, text in enumerate(names):
            word = _macro(text)
            words.append(f"{word}_AT_{k}" if word in words else word)
            lines.append(f"#define {name.upper()}_{letter}_{words[-1]} {k} /* {text} */")
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [f"extern const double {name}_rest[];"]
    lines += [
        f"extern const double {name}_inputs[];",
        f"extern const double {name}_parameters[];",
        "",
    ]
    lines += [f"{_declared(name, key, f)};" for key, f in functions.items()]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def _source(eq: SymbolicEquations, name: str, functions: Mapping[str, Any]) -> str:
    generator = eq._math.CodeGenerator(name, {"casadi_int": "int", "with_header": False})
    for function in functions.values():
        generator.add(function)
    lines = [f'#include "{name}.h"', "", "#include <stddef.h>", "", generator.dump(), ""]
    values = {"rest": eq.rest, "inputs": eq.u(), "parameters": eq.p()}
    for key, numbers in values.items():
        listed = ", ".join(repr(float(x)) for x in numbers) or "0.0"
        lines.append(f"const double {name}_{key}[] = {{{listed}}};")
    for key, function in functions.items():
        lines += ["", f"{_declared(name, key, function)} {{", *_body(function), "}"]
    return "\n".join([*lines, ""])


def _body(function: Any) -> list[str]:
    """A call of a function of CasADi with a workspace on the stack."""
    given = ", ".join(function.name_in(k) for k in range(function.n_in()))
    made = ", ".join(function.name_out(k) for k in range(function.n_out()))
    more, rest = function.sz_arg() - function.n_in(), function.sz_res() - function.n_out()
    return [
        f"    const double *arg[{function.sz_arg()}] = {{{given}{', NULL' * more}}};",
        f"    double *res[{function.sz_res()}] = {{{made}{', NULL' * rest}}};",
        f"    int iw[{max(function.sz_iw(), 1)}];",
        f"    double w[{max(function.sz_w(), 1)}];",
        f"    {function.name()}(arg, res, iw, w, 0);",
    ]
