"""Gears: rows that tie values of joints together, value - sum of ratio times value = offset + input.

The input is the position of a slider without mass that the gear brings along, so that its rate and its
acceleration come in as those of prescribed joints do, and its work is counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import Gear
from pliant.model.gear import coordinate
from pliant.physics.contract import Moment, Term
from pliant.physics.joint_rows import JointRows
from pliant.tree.tree import Tree


class GearRows(JointRows):
    """The rows of one gear, one for each joint that follows."""

    compiled = True

    def __init__(self, tree: Tree, gear: Gear) -> None:
        self.gear = self.source = gear
        self.label, self.name = gear.label, gear.name
        pairs = {name: coordinate(tree.description, name) for name in (*gear.joint, *gear.ratios)}
        found = {name: (tree.number_of(x[0]), x[1]) for name, x in pairs.items() if x is not None}
        if gear.input is not None:
            found[""] = (tree.number_of(gear.name), 0)
        numbers = list(dict.fromkeys(i for i, _ in found.values()))
        ends = np.cumsum([0, *(tree.parts[i].joint.nv for i in numbers)])
        place = {name: int(ends[numbers.index(i)]) + k for name, (i, k) in found.items()}
        C = np.zeros((len(gear.joint), int(ends[-1])))
        for row, name in zip(C, gear.joint, strict=True):
            row[place[name]] = 1.0
            for other, ratio in gear.ratios.items():
                row[place[other]] -= ratio
            if "" in place:
                row[place[""]] -= 1.0
        units = [tree.parts[i].joint.units for i, _ in (found[name] for name in gear.joint)]
        which = [found[name][1] for name in gear.joint]
        slides = np.array([bool(u) and u[k] == "m" for u, k in zip(units, which, strict=True)])
        super().__init__(tree, numbers, C, np.full(len(C), gear.offset), slides)

    def row_name(self, row: int) -> str:
        return self.gear.joint[row]

    def readings(self, m: Moment) -> dict[str, Any]:
        """Torque or force on the joints that follow, N m or N."""
        force = -m.z[self.rows]
        return {"force": force if len(force) > 1 else float(force[0])}


def terms(tree: Tree) -> list[Term]:
    """The gears of a robot."""
    return [GearRows(tree, gear) for gear in tree.description.of(Gear).values()]
