"""The comparison with peers: fronts, equal error, peers that are missing, and the page."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import a file of benchmarks/peers by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in ("run", "page", "tasks", "worker", "tool_pliant"):
        sys.modules.pop(name, None)


def row(tool: str, cpu: float, percent: float, **more: Any) -> dict[str, Any]:
    setting = more.pop("setting", {})
    given = {"task": "T1", "spatial": False, "cpu": [cpu], "percent": percent, "setting": setting}
    return {"tool": tool, **given, **more}


def test_cpu_at_equal_error_is_interpolated_on_the_front(peers: Any) -> None:
    page = peers("page")
    points = [
        (1.0, 1.0),
        (3.0, 2.0),
        (100.0, 0.01),
    ]  # the second is slower and worse than the first
    assert page.front(points) == [(1.0, 1.0), (100.0, 0.01)]
    assert page.cpu_at(points, 0.1) == pytest.approx(10.0)
    assert page.cpu_at(points, 5.0) == 1.0
    assert page.cpu_at(points, 1e-3) is None


def test_a_loss_is_shown_as_a_loss(peers: Any, tmp_path: Path) -> None:
    page = peers("page")
    found = {
        "date": "today", "machine": "this", "repeats": 1, "skipped": {"mujoco": "no network"},
        "versions": {"pliant": "1", "exudyn": "2"}, "lines": {"pliant": 3, "exudyn": 4},
        "rows": [
            row("pliant", 0.02, 0.05, setting={"accuracy": 1e-3}),
            row("pliant", 0.01, 0.05, setting={"n": 4}),
            row("exudyn", 0.005, 0.05),
            {**row("exudyn", 0.0, 0.0), "cpu": [], "error": "it did not converge"},
        ],
    }  # fmt: skip
    page.write_page(found, tmp_path)
    text = (tmp_path / "peers.md").read_text()
    assert "| T1 planar | 0.1 % | 20 | 10 | 5 | **0.25** | **0.5** |" in text
    assert "MuJoCo, which could not be installed (no network)" in text
    assert "it did not converge" in text and "@" not in text
    assert (tmp_path / "images" / "peers.png").stat().st_size > 10_000


def test_a_peer_that_cannot_be_installed_is_skipped_by_name(
    peers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = peers("run")
    monkeypatch.setitem(run.PEERS, "exudyn", str(tmp_path / "no-such-package.whl"))
    workers, versions, skipped = run.open_tools(["pliant", "exudyn"], tmp_path)
    assert set(workers) == set(versions) == {"pliant"}
    assert set(skipped) == {"exudyn"}
    assert "exudyn is skipped" in capsys.readouterr().out


def test_pliant_meets_the_reference_of_a_task(peers: Any) -> None:
    run = peers("run")
    truth = json.loads((FOLDER / "references.json").read_text())["tips"]["T1 planar"]
    worker = run.Worker("pliant", sys.executable)
    try:
        assert worker.ask(sweep="T1", spatial=False)["settings"]
        order = {"task": "T1", "spatial": False, "setting": {"n": 16}, "calls": 2}
        got = worker.ask(**order)
        assert len(got["cpu"]) == 2
        assert run.error_of(got["tips"], truth, 1.0) < 0.01
        assert "error" in worker.ask(**{**order, "setting": {"n": -1}})
    finally:
        worker.close()


def test_many_equilibria_are_solved_in_the_order_of_their_grid(peers: Any) -> None:
    tasks, tool = peers("tasks"), peers("tool_pliant")
    task = tasks.replace(tasks.TASKS["T7"], grid=3)
    grid, tips = tasks.tension_grid(task), tool.solve(task, True, n=2)
    assert grid.shape == (27, 3) and tips.shape == (27, 1, 3)
    assert max(abs(grid[1:] - grid[:-1]).sum(axis=1)) == pytest.approx(2.5), "neighbours all along"
    equal = [k for k, row in enumerate(grid) if row[0] == row[1] == row[2]]
    assert abs(tips[equal, 0, 1:]).max() < 1e-9, "equal tensions do not bend"
    assert tips[equal, 0, 0].min() < 0.3 - 1e-3, "but shorten"


def test_rows_of_other_tasks_and_tools_can_be_kept(peers: Any) -> None:
    run = peers("run")
    rows = [row("exudyn", 1.0, 1.0), row("pliant", 1.0, 1.0), row("pliant", 1.0, 1.0, task="T2")]
    old = {
        "rows": rows,
        "versions": {"exudyn": "1"},
        "lines": {"exudyn": 9},
        "skipped": {"mujoco": "x"},
    }
    new = {"rows": [], "versions": {"pliant": "2"}, "lines": {"pliant": 3}, "skipped": {}}
    found = run.kept(old, new, ["T1"], ["pliant"])
    assert [(r["tool"], r["task"]) for r in found["rows"]] == [("exudyn", "T1"), ("pliant", "T2")]
    assert found["versions"] == {"exudyn": "1", "pliant": "2"} and "mujoco" in found["skipped"]


def test_lines_of_code_leave_prose_out(peers: Any, tmp_path: Path) -> None:
    path = tmp_path / "tool.py"
    path.write_text(
        '"""Prose\nof two lines."""\n\n# a comment\nx = 1\n\n\n'
        'def f():\n    """Prose."""\n    return x\n'
    )
    assert peers("run").code_lines(path) == 3


def test_references_agree_by_two_methods() -> None:
    found = json.loads((FOLDER / "references.json").read_text())
    assert set(found["between methods"]) == set(found["tips"])
    assert max(found["between meshes"].values()) < 1e-5
    assert max(found["between methods"].values()) < 1e-4
