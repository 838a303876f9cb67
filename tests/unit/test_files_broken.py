# ruff: noqa: E501 - messages stand as they are told
"""Broken robot files in the language of parameters, repetitions and includes: each has its message."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import pliant as pl

ARM = "length: 0.3, section: {circle: {radius: 0.01}}, material: {E: 1.0e6, nu: 0.5, rho: 1000}"
ROBOT = f"rods:\n  arm: {{{ARM}}}\n"
P = "parameters: {radius: 0.01, n: 3, sizes: [1, 2]}\n"


def rods(fields: str, name: str = "seg<i>") -> str:
    return f"rods:\n  {name}: {{{fields}, section: {{circle: {{radius: 0.01}}}}, material: {{E: 1e6, nu: 0.5}}}}\n"


BROKEN = {
    "unknown parameter": (
        P + ROBOT.replace("radius: 0.01", "radius: 2*raduis"),
        "robot.yaml:3:41: rod 'arm': section.circle.radius = '2*raduis': must be a positive number in metres; "
        "there is no parameter 'raduis'; did you mean 'radius'?",
    ),
    "in a vector": (
        P + ROBOT + "loads: {push: {on: arm.tip, force: [0, radus, 0]}}\n",
        "load 'push': force = [0, 'radus', 0]: must be 3 finite numbers in N (N per metre when distributed); there is no parameter 'radus'; "
        "did you mean 'radius'?",
    ),
    "no parameters at all": (
        ROBOT.replace("length: 0.3", "length: 2*l"),
        "there is no parameter 'l'; declare it under 'parameters:'",
    ),
    "open parenthesis": (
        P + ROBOT.replace("length: 0.3", "length: 2*(radius"),
        "length = '2*(radius': must be a positive number in metres; for arithmetic, it lacks a closing parenthesis",
    ),
    "two operators": (
        P + ROBOT.replace("length: 0.3", "length: radius* /2"),
        "for arithmetic, it has '/' where a number is expected",
    ),
    "division by zero": (
        P + ROBOT.replace("length: 0.3", "length: radius/(n - 3)"),
        "robot.yaml:3:9: rod 'arm': length = 'radius/(n - 3)': must be arithmetic that has a value; it divides by zero",
    ),
    "overflow": (
        P + ROBOT.replace("length: 0.3", "length: 1e200*1e200*radius"),
        "must be arithmetic that has a value; its value is too large",
    ),
    "root of a negative number": (
        P + ROBOT.replace("length: 0.3", "length: sqrt(-radius)"),
        "sqrt(-0.01) is not a real number",
    ),
    "negative length": (
        P + ROBOT.replace("length: 0.3", "length: -2*radius"),
        "length = -0.02 (-2*radius): must be a positive number in metres",
    ),
    "list as a number": (
        P + ROBOT.replace("length: 0.3", "length: 2*sizes"),
        "sizes is a list; write sizes(1) for its first entry",
    ),
    "no such entry": (
        P + ROBOT.replace("length: 0.3", "length: sizes(3)"),
        "sizes has the entries 1 to 2, but no entry 3",
    ),
    "entry of a number": (
        P + ROBOT.replace("length: 0.3", "length: radius(1)"),
        "radius is one number, not a list",
    ),
    "circle of parameters": (
        "parameters:\n  a: 2*b\n  b: c + 1\n  c: a\n" + ROBOT,
        "robot.yaml:2:3: parameter 'a': refers to itself: a -> b -> c -> a; give one of these parameters a number",
    ),
    "text as a parameter": (
        "parameters: {a: hello world}\n" + ROBOT,
        "parameter 'a': value = 'hello world': must be a finite number, arithmetic of parameters, or a list of these; "
        "it has 'world' where an operator is expected",
    ),
    "infinite parameter": (
        "parameters: {a: .inf}\n" + ROBOT,
        "parameter 'a': value = inf: must be a finite number",
    ),
    "reserved name": (
        "parameters: {tip: 1}\n" + ROBOT,
        "parameter 'tip': name = 'tip': must be another name, for 'tip' has a meaning in robot files",
    ),
    "name of a part": (
        "parameters: {arm: 1}\n" + ROBOT,
        "parameter 'arm': name = 'arm': must be another name than that of rod 'arm'; rename one of them",
    ),
    "odd name": (
        "parameters: {a-b: 1}\n" + ROBOT,
        "must be a name of letters, digits and underscores",
    ),
    "parameters as a list": (
        "parameters: [1, 2]\n" + ROBOT,
        "parameters = [1, 2]: must be a group of entries by name",
    ),
    "repeated without index": (
        rods("repeat: 2, length: 0.1", "arm"),
        "robot.yaml:2:3: rod 'arm' (i = 2): name = 'arm': must be different in each repetition; give e.g. arm<i>",
    ),
    "fault in all repetitions": (
        rods("repeat: 5, length: -i"),
        "robot.yaml:2:23: rod 'seg1' (i = 1, and 4 others): length = -1 (-i): must be a positive number in metres",
    ),
    "fault in one repetition": (
        rods("repeat: 4, length: 1/(i-3)*(i-3)*0.1, base: world"),
        "rod 'seg<i>' (i = 3): length = '1/(i-3)*(i-3)*0.1': must be arithmetic that has a value; it divides by zero",
    ),
    "chain without a beginning": (
        rods("repeat: 2, length: 0.1, base: seg<i-1>.tip"),
        "rod 'seg1' (i = 1): base = 'seg0.tip': must be 'world', 'free', or a place on another part",
    ),
    "half a repetition": (
        rods("repeat: 2.5, length: 0.1"),
        "rod 'seg<i>': repeat = 2.5: must be a whole number of 0 or more; give e.g. 5",
    ),
    "repetition with a slip": (
        rods("repeat: {cuont: 3}, length: 0.1"),
        "repeat.cuont = 3: must be left out, there is no such field (there are count, index, start, first, last); "
        "did you mean 'count'?",
    ),
    "index of a parameter": (
        P + rods("repeat: {count: 2, index: n}, length: 0.1", "seg<n>"),
        "repeat.index = 'n': must be another name than that of a parameter or of an outer index",
    ),
    "unknown index": (
        rods("repeat: 2, length: 0.1", "seg<j>"),
        "rod 'seg<j>' (i = 1): name = 'seg<j>': must be a text with whole numbers between < and >; "
        "there is no parameter 'j'",
    ),
    "index that is not whole": (
        rods("repeat: 2, length: 0.1", "seg<i/4>"),
        "must be a text with whole numbers between < and >; <i/4> is 0.25",
    ),
    "same index inside": (
        "groups: {g: {repeat: 2, groups: {h: {repeat: 2, rods: {}}}}}\n" + ROBOT,
        "group 'g': groups.h.repeat.index = 'i': must be another name than that of a parameter or of an outer index",
    ),
    "section in a group": (
        "groups: {g: {rodz: {}}}\n" + ROBOT,
        "group 'g': rodz = {}: must be left out, there is no such field",
    ),
    "group that is none": (
        "groups: {g: 3}\n" + ROBOT,
        "group 'g': entry = 3: must be a group of entries by name",
    ),
    "misspelt section": (
        "parametrs: {a: 1}\n" + ROBOT,
        "did you mean 'parameters'?",
    ),
    "missing include": (
        "include: [prats.yaml]\n" + ROBOT,
        "prats.yaml: does not exist; check the name and the folder (this folder has",
    ),
    "include outside": (
        "include: [../parts.yaml]\n" + ROBOT,
        "robot.yaml:1:11: robot: include[0] = '../parts.yaml': must be a file below the folder of the robot file",
    ),
    "include of itself": (
        "include: {file: robot.yaml, prefix: a_}\n" + ROBOT,
        "must be a file that does not include itself (robot.yaml -> robot.yaml); remove one of these includes",
    ),
    "circle of includes": (
        "include: first.yaml\n" + ROBOT,
        "second.yaml:1:1: robot: include = 'first.yaml': must be a file that does not include itself "
        "(robot.yaml -> first.yaml -> second.yaml -> first.yaml)",
    ),
    "fault in an include": (
        "include: {file: faulty.yaml, prefix: a_}\n" + ROBOT,
        "faulty.yaml:3:43: rod 'a_bone2' (i = 2): length = -1 (1-i): must be a positive number in metres",
    ),
    "syntax in an include": (
        "include: syntax.yaml\n" + ROBOT,
        "syntax.yaml:1:14: is not valid YAML here",
    ),
    "twice the same name": (
        "include: [second_arm.yaml, second_arm.yaml]\n" + ROBOT,
        "rod 'bone': name = 'bone': must be unique in its section; choose another name, or give a prefix",
    ),
    "twice the same parameter": (
        "parameters: {size: 1}\ninclude: parts.yaml\n" + ROBOT,
        "parameter 'size': name = 'size': must be declared once, and",
    ),
    "parameter that an include lacks": (
        "include: {file: parts.yaml, parameters: {siez: 2}}\n" + ROBOT,
        "must be left out, there is no such parameter (there are size); did you mean 'size'?",
    ),
    "odd prefix": (
        "include: {file: parts.yaml, prefix: a b}\n" + ROBOT,
        "include.prefix = 'a b': must be letters, digits and underscores; give e.g. left_",
    ),
    "mesh without a file": (
        "meshes: {net: {mass: 1, section: {circle: {radius: 0.001}}, wireframe: {tolerance: 1}}}\n",
        "mesh 'net': wireframe = 'tolerance': must be a file with tolerance, pose, scale and segments, or nodes with",
    ),
    "mesh of another kind": (
        "meshes: {net: {mass: 1, section: {circle: {radius: 0.001}}, wireframe: {file: parts.yaml}}}\n",
        "mesh 'net': wireframe.file = ",
    ),
}  # fmt: skip
OTHERS = {
    "first.yaml": "include: second.yaml\n",
    "second.yaml": "include: first.yaml\n",
    "parts.yaml": f"parameters: {{size: 1}}\nrods: {{bone: {{{ARM}}}}}\n",
    "faulty.yaml": f"rods:\n  # bones\n  bone<i>: {{repeat: 2, {ARM.replace('0.3', '1-i', 1)}}}\n".replace(
        "repeat: 2", "repeat: {count: 1, start: 2}"
    ),
    "second_arm.yaml": f"rods: {{bone: {{{ARM}}}}}\n",
    "syntax.yaml": "rods: {arm: [}",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_gets_its_message(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    for other, content in OTHERS.items():
        (tmp_path / other).write_text(content)
    file = tmp_path / "robot.yaml"
    file.write_text(text)
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    told = str(caught.value).replace(f"{tmp_path}/", "")
    assert message in told
    # one fault, one message: what follows from it is not told as well
    assert len(caught.value.problems) <= (2 if "circle of parameters" in name else 1), told


BOMBS = {
    "repeat of repeat": "groups: {a: {repeat: 1000, groups: {b: {repeat: {count: 1000, index: j}, rods: {}}}}}\n",
    "a million parts": rods("repeat: 1000000, length: 0.1"),
    "many parts": rods("repeat: 1000, length: 0.1, base: seg<i-1>.tip"),
    "many groups": "groups: {a: {repeat: {count: 1000, index: j}, " + rods("repeat: 3, length: 1", "s<j>_<i>").strip().replace("\n  ", " {") + "}}}\n",
    "many faults": ROBOT + "loads: {push<i>: {repeat: 1000, on: amr<i>.tip}}\n",
    "many unknown bases": rods("repeat: 1000, length: 0.1, base: sge<i-1>.tip"),
    "lists of lists": "inputs: {push: ["
    + "{repeat: 1000, each: [{repeat: {count: 1000, index: j}, each: 1}]}]}\n" + ROBOT,
    "deep parentheses": ROBOT.replace("length: 0.3", f"length: {'(' * 140}1{')' * 140}"),
    "long sum": ROBOT.replace("length: 0.3", f"length: {'1+' * 5000}n"),
    "long chain of parameters": "parameters:\n"
    + "".join(f"  a{k}: a{k + 1} + 1\n" for k in range(9000)) + "  a9000: a0\n" + ROBOT,
    "squares": "parameters:\n  a0: 9\n"
    + "".join(f"  a{k + 1}: a{k}*a{k}\n" for k in range(200)) + ROBOT,
    "huge": "parameters: {a: 1e308*10}\n" + ROBOT,
    "digits": f"parameters: {{a: {'9' * 250}*2, b: a*a}}\n" + ROBOT,
    "twice twice": "include: [{file: d0.yaml, prefix: a_}, {file: d0.yaml, prefix: b_}]\n" + ROBOT,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_in_a_sentence_within_seconds(name: str, tmp_path: Path) -> None:
    for k in range(20):
        more = f"[{{file: d{k + 1}.yaml, prefix: a_}}, {{file: d{k + 1}.yaml, prefix: b_}}]"
        (tmp_path / f"d{k}.yaml").write_text(f"include: {more}\n")
    file = tmp_path / "robot.yaml"
    file.write_text(BOMBS[name])
    began = time.process_time()
    with pytest.raises(pl.FileError) as caught:
        pl.Robot.from_file(file)
    assert time.process_time() - began < 5.0
    assert 0 < len(str(caught.value)) < 20_000


def test_long_chain_of_parameters_is_computed(tmp_path: Path) -> None:
    chain = "".join(f"  a{k}: a{k + 1} + 1\n" for k in range(5000))
    file = tmp_path / "robot.yaml"
    file.write_text(f"parameters:\n{chain}  a5000: 0\n{ROBOT}")
    assert pl.Robot.from_file(file).parameters["a0"] == 5000
