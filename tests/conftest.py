"""Set-up shared by all tests: no window, no leftovers, the same random numbers every time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from pliant.solve import coordinates
from pliant.solve.pool import Pool

# The first call of a kernel compiles it, so no deadline per example; derandomised, so that a
# failure seen once is seen again.
settings.register_profile(
    "pliant",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pliant")

# A shell that starts the tests in the background lets them ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the repository."""
    return ROOT


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(20260101)


@pytest.fixture(autouse=True)
def no_robots_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test take over what another one has compiled."""
    monkeypatch.setattr(coordinates, "POOL", Pool())


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no figure open for the next test."""
    yield
    plt.close("all")
