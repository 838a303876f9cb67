"""One tool in its own process: reads orders as lines of JSON, answers with tips and CPU time.

    python worker.py exudyn

An order is {"task": "T2", "spatial": false, "setting": {...}, "calls": 3}; the answer is {"tips":
(T, 3) or of some of many robots (K, T, 3), "cpu": seconds of each call} or {"error": "..."}. CPU time
is that of the process with all its threads.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from tasks import EVERY, TASKS


def answer(tool: Any, order: dict[str, Any]) -> dict[str, Any]:
    """Solve a task as often as asked for; report what went wrong instead of failing."""
    if "sweep" in order:
        task = TASKS[order["sweep"]]
        if task.name not in tool.TASKS or not (task.planar or order["spatial"]):
            return {"settings": []}
        return {"settings": tool.settings(task.variant(order["spatial"]), order["spatial"])}
    task = TASKS[order["task"]].variant(order["spatial"])
    seconds = []
    try:
        for _ in range(order["calls"]):
            began = time.process_time()
            tips = tool.solve(task, order["spatial"], **order["setting"])
            seconds.append(time.process_time() - began)
    except Exception as error:  # a peer may raise anything
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    if not np.all(np.isfinite(tips)):
        return {"error": "the result is not finite"}
    return {"tips": np.asarray(tips)[:: EVERY.get(task.name, 1)].tolist(), "cpu": seconds}


def main() -> None:
    """Answer orders until there are no more; what the tool itself prints is dropped."""
    replies = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    tool = importlib.import_module(f"tool_{sys.argv[1]}")
    for line in sys.stdin:
        print(json.dumps(answer(tool, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
