"""Progress bars from Python: progress=True shows what is done and how long it still takes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant as pl
from pliant.model.progress import Bar, duration, line

METHOD = pl.Strain(order=1, segments=2)


def arm() -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), pl.Material(E=1e6, nu=0.5, rho=1000.0), pl.along("x"),
        formulation=METHOD,
    )  # fmt: skip
    robot.add_load("pull", rod.tip, force=(0, 0, -0.05))
    return robot


def test_remaining_time_is_what_the_rest_takes_at_the_same_pace() -> None:
    assert line("simulate", 0.25, "1 of 4 s", 10.0).endswith(" 25 %, 1 of 4 s, 0:30 left")
    assert line("simulate", 1.0, "4 of 4 s", 75.0).endswith("100 %, 4 of 4 s, done in 1:15")
    assert line("simulate", 0.0, "0 of 4 s", 1.0).endswith("  0 %, 0 of 4 s, ...")
    assert line("fit", None, "iteration 3", 7.0) == "fit: iteration 3, 0:07"
    assert [duration(x) for x in (0.4, 59.6, 3605.0)] == ["0:00", "1:00", "1:00:05"]


def _calls(robot: pl.Robot) -> dict:
    droop = pl.Measurement({"pull": [0.0, 1.0], "arm.tip.z": [-0.07, -0.12]})
    return {
        "statics": lambda p: robot.statics(progress=p),
        "simulate": lambda p: robot.simulate(0.05, 0.01, progress=p),
        "compare": lambda p: pl.compare(robot, [METHOD, pl.Strain(order=2)], repeat=1, progress=p),
        "fit": lambda p: pl.fit(robot, droop, ["arm.E"], progress=p),
        "resolve": lambda p: pl.resolve(robot, 0.02, METHOD, progress=p),
        "simulate_many": lambda p: pl.simulate_many([robot] * 2, 0.02, 0.01, progress=p),
        "statics_many": lambda p: pl.statics_many([robot] * 2, progress=p),
    }


@pytest.mark.parametrize("what", list(_calls(arm())))
@pytest.mark.filterwarnings("ignore::pliant.FitWarning")
def test_progress_true_writes_to_standard_error_only(what: str, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    call = _calls(arm())[what]
    call(True)
    out, err = capsys.readouterr()
    assert out == ""
    assert what in err and err.endswith("\n")
    last = re.split(r"[\r\n]+", err.strip())[-1]
    assert "done in" in last
    assert ("100 %" in last) == (what not in ("fit", "resolve"))
    for nothing in (None, False):
        call(nothing)
        assert capsys.readouterr() == ("", "")
    with pytest.raises(pl.DescriptionError, match="True for a bar, or a function"):
        call("yes")


def test_a_bar_does_not_change_the_motion_nor_cut_it_into_single_steps() -> None:
    robot, seen = arm(), []
    plain = robot.simulate(0.5, 0.005)
    shown = robot.simulate(0.5, 0.005, progress=True)
    each = robot.simulate(0.5, 0.005, progress=lambda t, end: seen.append((t, end)))
    assert len(seen) == 100 and seen[-1] == (0.5, 0.5)
    np.testing.assert_array_equal(plain.tip(), shown.tip())
    np.testing.assert_allclose(plain.tip(), each.tip(), atol=1e-9)


def test_a_log_file_is_not_flooded(capsys) -> None:
    bar = Bar("simulate")
    for k in range(1000):
        bar.show(k / 1000, "")
    bar.show(1.0, "all")
    bar.close()
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_failure_ends_the_line(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    class Boom(Exception):
        """Raised by an input."""

    def push(t: float) -> float:
        if t > 0.02:
            raise Boom
        return 1.0

    with pytest.raises(Boom):
        arm().simulate(0.05, 0.01, {"pull": push}, progress=True)
    err = capsys.readouterr().err
    assert err == "" or err.endswith("\n")
