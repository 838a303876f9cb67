"""How reliable `simulate(error=True)` is: estimated against true errors of random soft robots.

Run ``python benchmarks/motion_error.py [--seed 0] [--count 100] [--integrator Newmark] [--form SRL]``.
The truth is the same theory with two to three times the intervals and a quarter of the step; robots
whose truth is uncertain (it moves by more than half of the error when it is made coarser) or fails are
counted apart.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from dataclasses import dataclass

import numpy as np
from _common import pl

from pliant.solve.resolution_hint import rough_errors
from tests.reference.random_motions import RandomMotion, distance, random_motion

REPEATS = 5
LONG = 0.1
"""Processor seconds from which costs count: setting up a companion takes about a hundredth."""
LONGEST = 60
"""Seconds for one robot; some need very short steps."""
LARGE, SMALL = 1e-3, 2e-4
"""Errors over the length that must not be missed, and that may hardly ever be warned of."""


@dataclass
class Row:
    """True and estimated error over the length, warnings, and costs over that of the motion."""

    seed: int
    text: str
    true: float
    estimate: float
    certain: bool
    hinted: bool
    seconds: float
    cost: float
    hint_cost: float

    @property
    def ratio(self) -> float:
        return self.estimate / max(self.true, 1e-12)


def _warned(motion_of: object, **options: object) -> tuple[pl.Motion, bool, float]:
    """A motion, whether it warned of its resolution, and seconds of processor time."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = motion_of(**options)  # type: ignore[operator]
    spent = time.process_time() - began
    return motion, any("under-resolved" in str(item.message) for item in caught), spent


def measure(seed: int, case: RandomMotion) -> Row:
    """Estimated and true error of one robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.simulate(error=True)  # compiles and records
    plain, hinted, seconds = _warned(case.simulate)
    motion, _, more = _warned(case.simulate, error=True)
    assert motion.error is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        size = getattr(case.formulation, case.formulation.size)
        finer = 3.0 if isinstance(size, int) and size <= 5 else 2.0
        truth = case.shapes(case.simulate(finer, 4))
        check = case.shapes(case.simulate(1.5, 2))
    true = distance(case.shapes(motion), truth) / case.length
    certain = distance(truth, check) / case.length <= 0.5 * true
    estimate = motion.error.shape / case.length
    began = time.process_time()
    for _ in range(REPEATS):
        rough_errors(plain._compiled, plain._trajectory, case.integrator.drift_order)
    hint = (time.process_time() - began) / REPEATS / max(seconds, 1e-9)
    cost = (more - seconds) / max(seconds, 1e-9)
    return Row(seed, case.text, true, estimate, certain, hinted, seconds, cost, hint)


def summary(rows: list[Row]) -> str:
    """The counts that matter."""
    known = [row for row in rows if row.certain and row.true > 1e-6]
    near = [row for row in known if 0.2 <= row.ratio <= 5.0]
    large = [row for row in known if row.true > LARGE]
    missed = [row for row in large if row.ratio < 0.1]
    small = [row for row in rows if row.true < SMALL]
    long = [row for row in rows if row.seconds > LONG] or rows
    costs = [row.cost for row in long]
    return "\n".join(
        (
            f"{len(rows)} motions, {len(known)} with a certain truth above 1e-6 of the length",
            f"within a factor of 5: {len(near)} of {len(known)} ({100 * len(near) / len(known):.0f} %)",
            f"above {LARGE:g} and estimated below a tenth: {len(missed)} of {len(large)}",
            f"below {SMALL:g} and estimated above {LARGE:g}: "
            f"{sum(row.estimate > LARGE for row in small)} of {len(small)}; "
            f"hinted at: {sum(row.hinted for row in small)}",
            f"above {LARGE:g} and hinted at: {sum(row.hinted for row in large)} of {len(large)}",
            f"cost of the estimate in {len(long)} motions that take {LONG:g} s or more: median "
            f"{np.median(costs):.2f}, nine of ten below {np.quantile(costs, 0.9):.2f} of the motion; "
            f"of the hint: median {np.median([row.hint_cost for row in long]):.3f}",
        )
    )


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {LONGEST} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--integrator", default="", help="one integrator, by its name")
    parser.add_argument("--form", default="", help="one formulation, by its name")
    options = parser.parse_args()
    rows: list[Row] = []
    failed = 0
    signal.signal(signal.SIGALRM, _too_slow)
    seed = 1000 * options.seed
    while len(rows) < options.count:
        case = random_motion(seed, None, options.integrator, options.form)
        signal.alarm(LONGEST)
        try:
            row = measure(seed, case)
        except (pl.PliantError, TimeoutError) as error:
            failed += 1
            print(f"{seed}  {case.text}  failed: {' '.join(str(error).split())[:80]}", flush=True)
        else:
            rows.append(row)
            mark = "" if row.certain else "  (truth uncertain)"
            print(
                f"{seed}  {row.text}  true {row.true:.1e}  estimate {row.estimate:.1e}  ratio "
                f"{row.ratio:.2f}  cost {row.cost:.2f}{'  hint' if row.hinted else ''}{mark}",
                flush=True,
            )
        signal.alarm(0)
        seed += 1
    print(summary(rows))
    print(f"{failed} robots could not be simulated as finely as needed")


if __name__ == "__main__":
    main()
