"""The tasks by MuJoCo (https://mujoco.readthedocs.io): a chain of rigid segments with elastic joints.

Joints sit in the middle of the elements, half an element behind the clamp, which makes the chain second
order. Planar: a hinge, with or without two slides for stretch and shear; without them steps are longer,
and errors stay above those of a rod that stretches and shears. Spatial: three hinges, with or without
three slides.

Traps avoided: contacts off (neighbouring capsules touch); no armature and no joint damping by default;
springs act explicitly with all integrators, so that the step is bounded by the stiffest joint; RK4 for
motions; there is no static solver, so that T1 is the rest of a damped motion with implicit damping; the
tendon is MuJoCo's own spatial tendon through a site on each segment, with a motor as its actuator.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from tasks import Task

TASKS = ("T1", "T2", "T3", "T4")


def settings(task: Task, spatial: bool) -> list[dict]:
    """The settings that are swept: segments, whether they stretch and shear, step."""
    stiff, soft = {"stretch": False}, {"stretch": True}
    if task.name == "T1":
        kinds = [(n, stiff) for n in (10, 20, 40)] + [(n, soft) for n in (10, 20, 40)]
        return [{"n": n, "h": 0.0, **kind} for n, kind in kinds]
    if task.name == "T2":
        rigid = [{"n": n, "h": h, **stiff} for n, h in ((20, 2e-3), (40, 5e-4))]
        return rigid if spatial else [*rigid, *({"n": n, "h": 2e-4, **soft} for n in (20, 40, 60))]
    if task.name == "T3":
        return [{"n": n, "h": h, **stiff} for n, h in ((5, 2e-4), (10, 5e-5), (20, 1e-5))]
    return [{"n": n, "h": h, **stiff} for n, h in ((5, 5e-3), (10, 1e-3), (20, 2e-4))] + [
        {"n": n, "h": h, **soft} for n, h in (() if spatial else ((10, 1e-4), (20, 1e-4)))
    ]


def joints(task: Task, spatial: bool, stretch: bool, gap: float) -> str:
    """The elastic joints between two segments."""
    rod = task.rod
    turns = {"0 1 0": rod.bending}
    slides = {"1 0 0": rod.axial, "0 0 1": rod.shear} if stretch else {}
    if spatial:
        turns = {"1 0 0": rod.torsion, "0 1 0": rod.bending, "0 0 1": rod.bending}
        slides = slides and {**slides, "0 1 0": rod.shear}
    return "".join(
        f'<joint type="{kind}" axis="{axis}" stiffness="{value / gap:.17g}"/>'
        for kind, table in (("slide", slides), ("hinge", turns))
        for axis, value in table.items()
    )


def model_of(task: Task, spatial: bool, n: int, stretch: bool, h: float) -> mujoco.MjModel:
    """A chain of n joints; the last segment has half the length of the others."""
    rod, gap = task.rod, task.rod.length / n
    between = joints(task, spatial, stretch, gap)
    chain, close, sites = "", "", ["base eye"]
    for k in range(n):
        long = gap if k < n - 1 else 0.5 * gap
        mass, turn = rod.rho * rod.area * long, rod.rho * rod.second_moment * long
        across = turn + mass * long**2 / 12.0
        chain += f'''<body pos="{gap if k else 0.5 * gap:.17g} 0 0">{between}
            <inertial pos="{0.5 * long:.17g} 0 0" mass="{mass:.17g}"
             diaginertia="{2 * turn:.17g} {across:.17g} {across:.17g}"/>'''
        if task.tension:
            chain += f'<site name="eye{k}" pos="{0.5 * long:.17g} 0 {task.offset}"/>'
            sites.append(f"eye{k}")
        close += "</body>"
    tip = f'<site name="tip" pos="{0.5 * gap:.17g} 0 0"/>'
    if task.tension:
        tip += f'<site name="tip eye" pos="{0.5 * gap:.17g} 0 {task.offset}"/>'
        sites.append("tip eye")
    rope = "".join(f'<site site="{name}"/>' for name in sites)
    pull = (
        f"""<tendon><spatial name="pull">{rope}</spatial></tendon>
        <actuator><motor tendon="pull"/></actuator>"""
        if task.tension
        else ""
    )
    return mujoco.MjModel.from_xml_string(f'''<mujoco><compiler angle="radian"/>
        <option timestep="{h:.17g}" integrator="RK4" gravity="0 0 {-task.gravity}">
        <flag contact="disable" constraint="disable"/></option>
        <worldbody><site name="base eye" pos="0 0 {task.offset}"/>{chain}{tip}{close}</worldbody>
        {pull}</mujoco>''')


def push(model: mujoco.MjModel, data: mujoco.MjData, task: Task, n: int) -> None:
    """Set the forces of the task, which act in the middle of a body in MuJoCo, at their points."""
    places = [(1.0, (0.0, 0.0, task.tip_force)), (task.lateral_at, (0.0, task.lateral, 0.0))]
    data.qfrc_applied[:] = 0.0
    gap = task.rod.length / n
    for where, force in places:
        if any(force):
            s = where * task.rod.length
            body = min(int(s / gap + 0.5), n)
            point = data.xpos[body] + (s - (body - 0.5) * gap) * data.xmat[body].reshape(3, 3)[:, 0]
            mujoco.mj_applyFT(
                model, data, np.array(force), np.zeros(3), point, body, data.qfrc_applied
            )


def solve(task: Task, spatial: bool, n: int, stretch: bool, h: float) -> np.ndarray:
    """The tip (T, 3) at the times of the task."""
    model = model_of(task, spatial, n, stretch, h or 1e-3)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    if not task.duration:
        return rest(model, data, task, n)[None]
    tip = data.site("tip").xpos
    path = [tip.copy()]
    loaded = task.tip_force or task.lateral
    step, moment = model.opt.timestep, 0.0
    for target in task.times[1:]:
        while moment < target - 0.5 * step:
            if task.tension:
                data.ctrl[0] = -task.tension * min((moment + 0.5 * step) / task.ramp, 1.0)
            if loaded:
                push(model, data, task, n)
            constant = not loaded and (not task.tension or moment >= task.ramp)
            count = round((target - moment) / step) if constant else 1
            mujoco.mj_step(model, data, count)
            moment += count * step
        mujoco.mj_kinematics(model, data)
        path.append(tip.copy())
    return np.array(path)


def rest(model: mujoco.MjModel, data: mujoco.MjData, task: Task, n: int) -> np.ndarray:
    """The tip at rest: Newton's method on MuJoCo's forces, by differences, in load steps."""

    def forces(q: np.ndarray) -> np.ndarray:
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        push(model, data, load, n)
        return data.qfrc_passive - data.qfrc_bias + data.qfrc_applied

    q, eps = data.qpos.copy(), 1e-6
    for level in LEVELS:
        model.opt.gravity[2] = -level * task.gravity
        load = replace(task, lateral=level * task.lateral)
        for _ in range(30):
            residual = forces(q)
            slope = np.array([(forces(q + eps * unit) - residual) / eps for unit in np.eye(len(q))])
            move = np.linalg.solve(slope.T, -residual)
            q += move * min(1.0, 0.5 / np.abs(move).max())
            if np.abs(move).max() < 1e-4:
                break
    forces(q)
    return data.site("tip").xpos.copy()


LEVELS = (0.003, 0.03, 0.3, 1.0)
"""Load steps of an equilibrium."""
