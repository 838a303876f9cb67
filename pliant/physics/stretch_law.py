"""Stress of sections that follow their stretch, of rods and of links, beyond that of linear elasticity.

With the stretch l, strains d beyond the natural ones and powers p = 4 (bending, twist) and 3 (shear),

    W = 1/2 sum C d^2 / l^p + 1/2 E A (1 - 1/l)^2,   stress = dW/de - C d.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel


@kernel
def add_update(weight, C, natural, ea, eb, scale, tangent, sigma, full):  # type: ignore[no-untyped-def]
    """sigma (S, 6) += scale weight (dW/de - C d) at the mean of ea and eb, full its slope."""
    d = np.empty(6)
    for s in range(ea.shape[0]):
        rest = natural[s, 5]
        for i in range(6):
            d[i] = 0.5 * (ea[s, i] + eb[s, i]) - natural[s, i]
        inverse = rest / (d[5] + rest)
        pull, stiff = 0.0, 0.0
        cube = inverse * inverse * inverse
        for i in range(5):
            p = 4.0 if i < 3 else 3.0
            soft = C[s, i] * (cube * inverse if i < 3 else cube)
            w = weight[s, i]
            side = p * soft * d[i] * inverse / rest
            sigma[s, i] += scale * w * (soft - C[s, i]) * d[i]
            pull -= 0.5 * w * side * d[i]
            stiff += 0.5 * w * (p + 1.0) * side * d[i] * inverse / rest
            if tangent != 0.0:
                full[s, i, i] += tangent * w * (soft - C[s, i])
                full[s, i, 5] -= tangent * w * side
                full[s, 5, i] -= tangent * w * side
        w = weight[s, 5]
        sigma[s, 5] += scale * (pull + w * C[s, 5] * d[5] * (cube - 1.0))
        if tangent != 0.0:
            own = C[s, 5] * ((3.0 - 2.0 / inverse) * cube * inverse - 1.0)
            full[s, 5, 5] += tangent * (stiff + w * own)
