"""Every example runs, returns the numbers it promises, and leaves a picture.

An example is a file of ``examples/`` with

- a docstring that opens with a title (the gallery shows it),
- ``main() -> dict[str, float]``, which solves something, draws figures and leaves them open,
- ``EXPECTED: dict[str, tuple[float, float]]``, value and tolerance of what main returns.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import pytest

from tests.figures import faults

FOLDER = Path(__file__).resolve().parents[1] / "examples"
EXAMPLES = sorted(p for p in FOLDER.glob("*.py") if not p.name.startswith("_"))


def load(path: Path) -> ModuleType:
    name = f"pliant_example_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_examples() -> None:
    assert EXAMPLES, f"no example in {FOLDER}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_returns_what_it_promises(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = load(path)
    result = example.main()
    assert example.EXPECTED, f"{path.name} promises no number"
    for name, (value, tolerance) in example.EXPECTED.items():
        assert name in result, f"{path.name}: main returns {sorted(result)}, not {name!r}"
        assert abs(result[name] - value) <= tolerance, (
            f"{path.name}: {name} is {result[name]:.6g}, not {value:.6g} within {tolerance:.1g}"
        )
    assert plt.get_fignums(), f"{path.name} leaves no figure open for the gallery"
    for number in plt.get_fignums():
        assert not faults(plt.figure(number)), f"{path.name}, figure {number}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_is_fit_for_the_gallery(path: Path) -> None:
    example = load(path)
    lines = (example.__doc__ or "").strip().splitlines()
    assert len(lines) >= 2 and set(lines[1]) == {"="}, (
        f"{path.name}: the docstring opens with a title underlined by ==="
    )
    assert '__name__ == "__main__"' in path.read_text(encoding="utf-8"), (
        f"{path.name}: the gallery runs the file, so it has to call main() at its end"
    )
    for name, (value, tolerance) in example.EXPECTED.items():
        assert math.isfinite(value) and 0 <= tolerance < math.inf
        assert value == 0 or tolerance <= 0.5 * abs(value), (
            f"{path.name}: {name} = {value} ± {tolerance} would accept almost anything"
        )
