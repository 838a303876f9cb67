"""What a variational time step asks of the stations of a rod, in one pass each."""

from __future__ import annotations

from pliant._numba import kernel
from pliant.physics.collect import add_vector
from pliant.physics.drag import add_step_resistance
from pliant.physics.elasticity import lagging_strain, stress
from pliant.physics.inertia import step_momentum


@kernel
def add_departure(  # type: ignore[no-untyped-def]
    M, ga, gb, Ja, mass_element, eta, pa, pb, slope, resisted, drag, damping,
    k, w, soft, e0, N, rows, mode, at, mult, ea, eb, Ba, element, lag, rate, mean, met,
    sigma, tangent, gap, impulse, h, share, first, ry,
):  # fmt: skip
    """ry (E, m) += Ja^T pa + Ba^T impulse: momentum and elastic impulse that leave the start.

    Inertia (first line): `step_momentum` between the poses ga and gb and, if `resisted`,
    `add_step_resistance`. Elasticity (second line): the strain of `lagging_strain` between ea and
    eb meets the law of `stress`, `met` (either that strain or eb) its stress modes;
    impulse = h first sigma.
    """
    step_momentum(M, ga, gb, h, False, eta, pa, pb, slope)
    if resisted:
        add_step_resistance(drag, damping, eta, h, first, 1.0 - first, False, pa, pb, slope)
    add_vector(mass_element, Ja, pa, ry)
    lagging_strain(ea, eb, h, share, lag, rate, mean)
    stress(k, w, soft, mean, met, e0, N, rows, mode, element, at, mult, sigma, tangent, gap)
    for s in range(sigma.shape[0]):
        for i in range(6):
            impulse[s, i] = h * first * sigma[s, i]
    add_vector(element, Ba, impulse, ry)
