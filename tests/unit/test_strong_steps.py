"""Steps of strong forms: time rules around a step that is taken in shorter ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.bvp.contract import TimeRule
from pliant.model.checks import StepError
from pliant.solve.problem import Start
from pliant.solve.strong_steps import StrongSteps

H = 0.01


def hanging() -> StrongSteps:
    """A rod that begins to sag."""
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=2000.0)
    robot.add_rod("arm", 0.2, pl.Circle(0.01), soft, pl.along("x"))
    problem = robot._compiled(pl.Collocation(nodes=10), None, "start")
    steps = problem._steps(pl.BDFAlpha(-0.4), {}, H, Start(), 1)
    steps.start()
    return steps


def test_rules_know_the_length_of_the_step_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a step in two halves, the next one follows a step of h / 2 and all others one of h."""
    steps, rules = hanging(), []
    times, nobody = H * np.arange(9), np.zeros(8, dtype=bool)
    steps.take(times[:3], nobody[:2])
    true = steps.solver.advance

    def too_long(rule: TimeRule, step: float, *inputs: Any) -> int:
        steps.solver.failure = StepError("too long")
        return true(rule, step, *inputs) if step < 0.9 * H else 0

    def watched(rule: TimeRule, step: float, values: Any, bases: Any) -> int:
        rules.extend([rule] * len(values))
        return true(rule, step, values, bases)

    monkeypatch.setattr(steps.solver, "advance", too_long)
    with pytest.raises(StepError, match="too long") as error:
        steps.take(times[2:4], nobody[:1])
    steps.rescue(error.value, times[2], times[3], False)
    assert steps.rescues == {"shorter steps": 1}
    monkeypatch.setattr(steps.solver, "advance", watched)
    steps.take(times[3:], nobody[:5])
    method = pl.BDFAlpha(-0.4)
    for rule, before in zip(rules, (0.5 * H, H, H, H, H), strict=True):
        assert rule.weights() == pytest.approx(method.rule(H, before).weights(), rel=1e-9)
