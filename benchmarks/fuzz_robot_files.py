"""Mutated robot files: every one is loaded, or refused with a sentence, within five seconds.

Run it as ``python benchmarks/fuzz_robot_files.py --count 10000 --seed 7``. The bundled robots, those of
the documentation and a robot with all of the language (parameters, repetitions, groups, includes) are
changed at random: bytes, keys, values, indentation, nesting. Some of those that still load are solved
as well. Anything but Pliant's own errors counts as a traceback.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pliant as pl

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 5.0
"""Seconds of computing time for one file."""
EXTREMES = (
    "0", "-1", "1.0e+308", "-1.0e+308", "1.0e-308", "5e-324", ".nan", ".inf", "-.inf", "1e400",
    "9" * 400, "0x" + "f" * 400, "true", "null", "~", "''", "[]", "{}", "[1]", "[1, 2]",
    "[0, 0, 0]", "{a: 1}", "[[[[1]]]]", "text", "'3'", "1_000", "0o17", "2026-11-18",
    "!!python/object:os.system x", "*missing",
    "&a [*a]", "/etc/passwd", "../../etc/passwd", "{csv: /dev/zero}", "{csv: /etc/passwd}",
    "{table: {csv: /etc/passwd}}", "{table: {t: [0, 1], values: [0, .nan]}}", "|\n  x", "\u0000",
    "\ufeff", "\u202e", "é", "🦾", "tip", "arm", "world", "x" * 3000, "[" * 50, "1e-3 m",
    "{constant: 1e308}", "[3, right]", "{sine: {amplitude: 1e308, frequency: 1e308}}",
    "{part: arm, at: 1e308}", "-0.0", "2*radius", "radius/0", "n*n*n*n*n*n*1e300", "i", "n", "sizes(i)",
    "sizes(0)", "(" * 60 + "1", "1" + "+1" * 140, "seg<i-1>.tip", "<i", "seg<<i>>", "<n/0>", "pi(2)",
    "{repeat: 1000000, each: 1}", "{repeat: n, each: i}", "{count: n, index: n}", "robot.yaml",
    "part.yaml", "{file: robot.yaml, prefix: x_}", "{file: part.yaml, prefix: y_}", "a b*c",
)  # fmt: skip
LANGUAGE = """parameters:
  radius: 0.01
  n: 3
  sizes: [1, 0.8, radius*60]
  total: 0.1*n
include:
  - {file: part.yaml, prefix: left_, parameters: {size: 2*radius}}
  - {file: part.yaml, prefix: right_}
rods:
  arm: {length: total, section: {circle: {radius: radius}}, material: {E: 1.0e6, nu: 0.5, rho: 1000}}
  seg<i>:
    repeat: {count: n, first: {base: arm.tip}}
    length: total/n
    section: {circle: {radius: radius*sizes(i)}}
    material: {E: 1.0e6, nu: 0.5, rho: 1000}
    base: seg<i-1>.tip
groups:
  weights:
    repeat: {count: n, index: k}
    bodies:
      weight<k>: {mass: 0.01*k, on: seg<k>.tip}
    loads:
      push<k>: {on: weight<k>, force: [0, 0.01*k, 0]}
    inputs: {push<k>: 1/k}
tendons:
  pull: {path: [{part: arm, at: base, offset: [radius, 0]}, {repeat: n, each: seg<i>.tip}]}
meshes:
  net:
    wireframe: {nodes: [[0, 0, 0], [radius, 0, 0], [2*radius, 0, 0]], edges: [[0, 1], [1, 2]]}
    mass: 0.01
    section: {circle: {radius: 0.001}}
    material: {E: 1.0e6, nu: 0.5}
    fixed: [0]
statics:
"""
PART = """parameters: {size: 0.004}
rods:
  bone:
    {length: 0.05, base: arm.tip, section: {circle: {radius: size}}, material: {E: 1.0e6, nu: 0.5}}
"""


EVERYTHING = (ROOT / "benchmarks" / "everything.yaml").read_text()


class TooLongError(BaseException):
    """A file that takes longer than the limit."""


def sources() -> list[str]:
    """The bundled robot files, those in the documentation, and one with all of the language."""
    bundled = sorted((ROOT / "pliant" / "robots").rglob("*.yaml"))
    texts = [
        LANGUAGE,
        LANGUAGE,
        EVERYTHING,
        EVERYTHING,
        EVERYTHING,
        *(file.read_text() for file in bundled),
    ]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for indent, block in re.findall(
            r"^( *)```yaml\n(.*?)^ *```", page.read_text(), re.S | re.M
        ):
            lines = [line.removeprefix(indent) for line in block.splitlines()]
            if any(line.startswith(("rods:", "actuators:", "groups:")) for line in lines):
                texts.append("\n".join(lines) + "\n")
    return texts


# -- mutations -------------------------------------------------------------------------------------


def flip_bytes(text: str, chance: random.Random) -> bytes:
    """Change single bits."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def replace_value(text: str, chance: random.Random) -> str:
    """Put something extreme in place of a value."""
    values = list(re.finditer(r"(?<=[:\[,] )[^\s,\[\]{}#]+|\[[^\[\]\n]*\]|\{[^{}\n]*\}", text))
    at = chance.choice(values)
    return text[: at.start()] + chance.choice(EXTREMES) + text[at.end() :]


def scale_number(text: str, chance: random.Random) -> str:
    """Multiply a number by some power of ten, which changes the robot but rarely the file."""
    at = chance.choice(list(re.finditer(r"(?<=[:\[,] )-?\d+(\.\d+)?(e[-+]?\d+)?", text)))
    power = chance.choice((-200, -20, -3, -1, 1, 3, 20, 200))
    return f"{text[: at.start()]}{float(at[0]) * 10.0**power!r}{text[at.end() :]}"


def swap_keys(text: str, chance: random.Random) -> str:
    """Exchange two keys, or two values."""
    words = list(re.finditer(chance.choice((r"\w+(?=:)", r"(?<=: )[\w.+-]+")), text))
    first, second = sorted(chance.sample(words, 2), key=lambda m: m.start())
    between = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]


def change_lines(text: str, chance: random.Random) -> str:
    """Repeat, remove, move or indent a line, some with tabs."""
    lines = text.splitlines()
    k, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(6)
    if kind == 0:
        lines.insert(j, lines[k])
    elif kind == 1:
        del lines[k]
    elif kind == 2:
        lines[k], lines[j] = lines[j], lines[k]
    elif kind == 3:
        lines[k] = chance.choice(("\t", "  ", "        ", " \t")) + lines[k]
    elif kind == 4:
        lines[k] = lines[k].replace("  ", "\t")
    else:
        lines[k] = lines[k].strip()
    return "\n".join(lines) + "\n"


def insert_text(text: str, chance: random.Random) -> str:
    """Put characters with a meaning in YAML, or something extreme, anywhere."""
    marks = (
        *"[]{}:,#&*!|>'\"%@`?-\t\n\\",
        ": ",
        "- ",
        "<<: ",
        "---\n",
        "...\n",
        "é",
        "\u2028",
        *EXTREMES,
    )
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(marks) + text[at:]


def nest(text: str, chance: random.Random) -> str:
    """Put a value into lists or groups, a few or many levels deep."""
    values = list(re.finditer(r"(?<=: )[^\s,\[\]{}#]+", text))
    at, depth = chance.choice(values), chance.choice((1, 2, 5, 40, 2000))
    before, after = chance.choice((("[", "]"), ("{a: ", "}"), ("{table: ", "}"), ("{sum: [", "]}")))
    return text[: at.start()] + before * depth + at[0] + after * depth + text[at.end() :]


def truncate(text: str, chance: random.Random) -> str:
    """Cut off the end, or a piece in the middle."""
    first, second = sorted(chance.randrange(len(text)) for _ in range(2))
    return text[:first] + (text[second:] if chance.random() < 0.5 else "")


MUTATIONS: tuple[Callable[[str, random.Random], str | bytes], ...] = (
    flip_bytes,
    replace_value,
    replace_value,
    scale_number,
    scale_number,
    swap_keys,
    change_lines,
    insert_text,
    nest,
    truncate,
)


def mutated(texts: list[str], chance: random.Random) -> tuple[str, bytes]:
    """A robot file changed once to three times; returns the names of the changes, and the file."""
    text, names = chance.choice(texts), []
    for _ in range(chance.choice((1, 1, 2, 3))):
        change = chance.choice(MUTATIONS)
        try:
            changed = change(text, chance)
        except (IndexError, ValueError):  # nothing of that kind is left in the text
            continue
        names.append(change.__name__)
        if isinstance(changed, bytes):
            return " ".join(names), changed
        text = changed
    return " ".join(names), text.encode("utf-8", "surrogatepass")


# -- what becomes of them --------------------------------------------------------------------------


def attempt(file: Path, solve: bool) -> str:
    """Load a file, and solve it if asked; returns what came of it."""
    from pliant.study.commands import read_robot

    try:
        contents, robot = read_robot(file)
        str(contents)
    except pl.PliantError as error:
        assert str(error).strip(), "an error without a sentence"
        return "refused"
    if not solve:
        return "loaded"
    try:
        robot.statics()
    except pl.PliantError as error:
        assert str(error).strip(), "an error without a sentence"
        return "not solved"
    return "solved"


def judged(file: Path, solve: bool) -> tuple[str, str]:
    """What came of a file, and the traceback if there was one."""

    def stop(_: int, frame: FrameType | None) -> None:
        raise TooLongError

    # the time limit of the process itself, so that other processes do not count; compiling may
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT if not solve else 12 * LIMIT)
    try:
        return attempt(file, solve), ""
    except TooLongError:
        return "too long", traceback.format_exc()
    except BaseException:
        return "traceback", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def study(count: int, seed: int, solve_every: int, folder: Path, tell: bool) -> Counter[str]:
    """Try `count` mutations; solve one of `solve_every` that load (0: none)."""
    chance, counts, texts = random.Random(seed), Counter[str](), sources()
    longest = 0.0
    (folder / "part.yaml").write_text(PART)
    shutil.copy(ROOT / "pliant" / "robots" / "sleeve.igs", folder)
    for k in range(count):
        names, data = mutated(texts, chance)
        file = folder / "robot.yaml"
        file.write_bytes(data)
        began = time.process_time()
        end, report = judged(file, False)
        longest = max(longest, time.process_time() - began)
        counts[end] += 1
        if end == "loaded" and solve_every and counts["loaded"] % solve_every == 0:
            end, report = judged(file, True)
            counts[f"statics: {end}"] += 1
        if report:
            kept = folder / f"{end.replace(' ', '-')}-{k}.yaml"
            kept.write_bytes(data)
            print(f"{kept} ({names}):\n{report}")
        if tell and (k + 1) % 1000 == 0:
            print(f"{k + 1:6d}: {dict(counts)}, longest {longest:.2f} s", flush=True)
    return counts


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None, help="chosen at random if left out")
    parser.add_argument("--solve-every", type=int, default=20, help="0 solves none")
    options = parser.parse_args()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-robot-files-"))
    print(f"{options.count} mutations of {len(sources())} robot files, seed {seed}, in {folder}")
    counts = study(options.count, seed, options.solve_every, folder, True)
    for name, number in sorted(counts.items()):
        print(f"{name:<22}{number:8d}")
    bad = sum(n for name, n in counts.items() if "traceback" in name or "too long" in name)
    print(f"tracebacks or over {LIMIT:g} s: {bad}")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
