"""Reference numbers, computed outside pliant with two independent methods each (SI units, rad, Hz).

Every group states the mechanics it belongs to; ACCURACY is what the numbers are good for. They
are samples: other loads and parameters must come out as well, which the solvers beside this file
can tell.
"""

from __future__ import annotations

# Tapered cantilever along +x, length 1, radius 3.0 cm to 1.5 cm linear in s, E = 2e5, nu = 0.45,
# weightless, Cosserat with shear factor 1. Load -> (tip position, rotation of the tip section).
TAPERED_ACCURACY = 1e-9
TAPERED_FORCE = {  # dead tip force along +z, N
    0.25: ((0.6966977788553055, 0.0, 0.6069968698439159), 1.2650861372287194),
    1.0: ((0.4151547647685104, 0.0, 0.8007060897714507), 1.5493832297900527),
}
TAPERED_MOMENT = {  # dead tip moment about -y, N m; the last one is more than a full turn
    0.05: ((0.7789799933847358, 0.0, 0.43021330402131), 1.8338841179313048),
    0.2: ((0.2686831293128558, 0.0, 0.31142321433857556), 7.335536471725219),
}

# Planar inextensible cantilever along +x, EI = 1, length 1. Load -> (theta, x, y) of the tip, y in
# the direction of the load.
ELASTICA_ACCURACY = 1e-15
ELASTICA_FORCE = {  # dead transverse tip force
    1.0: (0.461351949711879, 0.9435667637166231, 0.30172077379981355),
    10.0: (1.4302855388038576, 0.4450044022462487, 0.8106090248802964),
}
ELASTICA_OWN_WEIGHT = {  # weight per length
    5.0: (0.6970047775364814, 0.8466571799542557, 0.49590504462239526),
}

# Circular arc of radius 100 over 45 degrees, clamped at the origin, tangent +y, bending towards
# +x. Unit square: A = 1, I = 1/12, torsion constant 1/6 (the polar moment), E = 1e7, G = E / 2.
# Dead tip force along +z -> tip position.
BEND_ACCURACY = 1e-9
BEND_TIP = {
    300.0: (22.244780945367616, 58.77912248968282, 40.19189167015013),
    600.0: (15.684800534038756, 47.150438573629025, 53.47485879182495),
}

# Straight rod along +x, length 10, bending and twist stiffness 100, shear and axial 1e4. Dead tip
# force 50 lam along +y and dead tip moment 200 pi lam about +y, on the branch that starts at
# lam = 0 (about ten turns at lam = 1). lam -> tip position.
HELIX_ACCURACY = 1e-9
HELIX_TIP = {
    0.2: (0.11506069827139738, -0.598497490880649, -0.008362222875119446),
    0.6: (0.01329859386349836, -0.1801190533662063, -0.0003335690307966273),
    1.0: (0.004803249659646768, -0.0764417417325678, -7.249684685814977e-05),
}

# Buckling. Inextensible columns: P L^2 / EI, and q L^3 / EI for a clamped-free column under its
# own weight. One Cosserat column, clamped-free, circular, shear factor 1, dead axial force, N.
EULER_CLAMPED_FREE = 2.4674011002723395
EULER_PINNED_PINNED = 9.869604401089358
OWN_WEIGHT_BUCKLING = 7.837347438943484
COSSERAT_COLUMN = {"E": 2.0e6, "nu": 0.45, "radius": 0.05, "length": 1.0}
COSSERAT_COLUMN_STIFFNESS = {
    "bending": 9.817477042468106, "shear": 5416.539057913437, "axial": 15707.963267948968,
}  # fmt: skip
COSSERAT_COLUMN_INEXTENSIBLE_LOAD = 24.223653656484235
COSSERAT_COLUMN_LOAD = 24.15309031561682

# Bending frequencies of straight unloaded Timoshenko beams with rotary inertia, shear factor 1.
BEAM_ACCURACY = 1e-12  # relative
RUBBER_BEAM = {"E": 2.0e6, "nu": 0.45, "rho": 1000.0, "radius": 0.05, "length": 1.0}
RUBBER_BEAM_HZ = {
    "clamped-free": (
        0.6221337784401212, 3.77505252499214, 10.0858410471023, 18.6119238977222, 28.78577021301469,
    ),
    "free-free": (
        3.880378433872502, 10.24273933568966, 18.99056452224731, 29.44592472857198,
        41.0940782443895,
    ),
}  # fmt: skip
STEEL_BEAM = {"E": 210e9, "nu": 0.2, "rho": 7800.0, "side": 0.01, "length": 1.0}
STEEL_BEAM_HZ = {
    "clamped-free": (
        8.381350716675229, 52.50438100947389, 146.9205289669335, 287.6392335161932,
        474.9184618534085,
    ),
    "free-free": (
        53.31859762262528, 146.8889346140941, 287.7163442390529, 475.0740095364141,
        708.6859294450668,
    ),
}  # fmt: skip

# STEEL_BEAM as a cantilever along +x, undamped and weightless; a dead tip force along z acts from
# t = 0 on. Force in N -> tip x and tip z at STEEL_STEP_T.
STEEL_STEP_T = (0.1, 0.2, 0.3, 0.4, 0.5)
STEEL_STEP_ACCURACY = {-10.0: 2e-8, -100.0: 2e-7}
STEEL_STEP_X = {
    -10.0: (
        0.9999457091784205, 0.9995309886197311, 0.999174250861223, 0.9994868423706981,
        0.9999044104476517,
    ),
    -100.0: (
        0.9970148701724114, 0.9709095573418859, 0.930894196640218, 0.9310236100521737,
        0.9684357772189186,
    ),
}  # fmt: skip
STEEL_STEP_Z = {
    -10.0: (
        -0.009322406483726078, -0.027772501591740897, -0.03738611806929453, -0.02972728909974834,
        -0.01249235977615112,
    ),
    -100.0: (
        -0.06879057010786598, -0.21621073091243187, -0.3331923259791208, -0.3367646606556853,
        -0.23092572860198313,
    ),
}  # fmt: skip

# Soft cantilever along +x, radius 5 cm to 3 cm linear, weightless, undamped, Cosserat. Held by a
# dead tip force of 10 N along +z, released at t = 0. The release sends fast shear and axial waves
# through the rod, so a coarse model need not reach the stated accuracy. The density is assumed.
RELEASED_ROD = {
    "E": 2.0e6, "nu": 0.45, "rho": 1000.0, "base_radius": 0.05, "tip_radius": 0.03, "length": 1.0,
    "force": 10.0,
}  # fmt: skip
RELEASED_ACCURACY = 7e-7
RELEASED_STATIC = {
    "x": 0.8679314676822465, "z": 0.42967956030889987, "theta": 0.8107717352070157,
    "base_moment": 8.679314676822456,
}  # fmt: skip
RELEASED_ENERGY = 1.8599500507109035  # elastic energy at t = 0, J
RELEASED_T = (0.0, 0.25, 0.5, 1.0)
RELEASED_X = (0.8679314676822465, 0.9814959705644815, 0.9351042471663666, 0.9994712924331474)
RELEASED_Z = (0.42967956030889987, 0.1669787924915131, -0.3158628523988395, 0.026875614675695873)
# Bending frequencies of the straight unloaded rod, clamped-free, Hz.
RELEASED_HZ = (
    0.7644246022438579, 3.4771797419855366, 8.621838007405467, 15.784782033595699,
    24.58536384611151,
)  # fmt: skip

# Spring steel rod along +x, y up, inextensible, with rotary inertia; drag per length -C q_i |q_i| in
# the body frame. A weight hangs at the tip and is cut off at t = 0. Tip (x, y) over time;
# frequencies in the plane about the sag under the rod's own weight.
WEIGHT_RELEASE_ACCURACY = 1e-6
WEIGHT_RELEASE_ROD = {
    "length": 0.408, "diameter": 1.42e-3, "EI": 0.03803, "rho": 7621.0, "g": 9.81, "drag": 0.003556,
    "weight": 0.02,
}  # fmt: skip
WEIGHT_RELEASE_STATIC = {
    "x": 0.3873921725268153, "y": -0.11694501302297729, "theta": -0.4332291641335101,
}  # fmt: skip
WEIGHT_RELEASE_T = (0.0, 0.25, 0.5)
WEIGHT_RELEASE_TIP = (
    (0.38739225489225965, -0.11694483467943562),
    (0.39724018825506674, 0.08561974039116377),
    (0.39453608285149405, -0.09724853250877587),
)
WEIGHT_RELEASE_FREQUENCIES = (5.96972163, 37.3932091)
