"""What maps have to say of a configuration at which a solve ended or failed."""

from __future__ import annotations

import numpy as np

from pliant.rods.contract import Array, RodMap
from pliant.system.system import System


def trouble(system: System, q: Array) -> str:
    """Sentences about rods whose maps are near their limits at configuration q (nq,), or ""."""
    found = []
    for block in system.blocks:
        if type(block.map).trouble is RodMap.trouble or not np.isfinite(q).all():
            continue
        c = block.map.configuration()
        block.map.update(c, np.eye(4), q[block.q_slice])
        found.append(block.map.trouble(c))
    return " ".join(text for text in found if text)


def with_trouble(text: str, system: System, q: Array) -> str:
    """The message of a solve that failed at or after q (nq,), with what maps say of it."""
    note = trouble(system, q)
    return f"{text.rstrip('.')}. {note}" if note else text
