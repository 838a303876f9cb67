"""The mean of forces on frames at two configurations: kernels.

Forces and moments of both are averaged in the world. A moment of 1/4 (p_h - p_g) x (f_h - f_g) keeps
the angular impulse: half of the mean acts at each of the frames g and h, at their origins p,

    p_g x f + p_h x f + 2 m = p_g x f_g + m_g + p_h x f_h + m_h,      f = (f_g + f_h) / 2.
"""

from __future__ import annotations

from pliant._numba import kernel
from pliant.lie.tuples import add, apply, combine, cross, read_block, transpose


@kernel
def mean_wrenches(g, h, frames, index, r, far, out):  # type: ignore[no-untyped-def]
    """out[index] : mean of wrenches r[index] in frames g and far[index] in frames h (F, 4, 4), in g.

    frames (n,) : numbers of the frames.  index (n, 6) : places of moment and force of each wrench.
    """
    for k in range(frames.shape[0]):
        G, H, at = g[frames[k]], h[frames[k]], index[k]
        Rg, Rh = read_block(G), read_block(H)
        near_f = apply(Rg, (r[at[3]], r[at[4]], r[at[5]]))
        far_f = apply(Rh, (far[at[3]], far[at[4]], far[at[5]]))
        near_m = apply(Rg, (r[at[0]], r[at[1]], r[at[2]]))
        far_m = apply(Rh, (far[at[0]], far[at[1]], far[at[2]]))
        arm = (H[0, 3] - G[0, 3], H[1, 3] - G[1, 3], H[2, 3] - G[2, 3])
        twist = cross(arm, add(1.0, far_f, -1.0, near_f))
        back = transpose(Rg)
        moment = apply(back, combine(0.5, near_m, 0.5, far_m, 0.25, twist))
        force = apply(back, add(0.5, near_f, 0.5, far_f))
        for a in range(3):
            out[at[a]], out[at[3 + a]] = moment[a], force[a]


@kernel
def mean_torque(g, h, index, r, far, out):  # type: ignore[no-untyped-def]
    """The same of torques in the axes of poses g and h (4, 4), index (3,)."""
    Rg = read_block(g)
    near = apply(Rg, (r[index[0]], r[index[1]], r[index[2]]))
    other = apply(read_block(h), (far[index[0]], far[index[1]], far[index[2]]))
    mean = apply(transpose(Rg), add(0.5, near, 0.5, other))
    for a in range(3):
        out[index[a]] = mean[a]
