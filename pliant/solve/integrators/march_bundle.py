"""Everything that `march_kernels.march` works on, handed to it as one object.

Numba looks at every array of every call, 0.4 us each, and at a function for 15 us: together more than a
step takes. At a bundle it looks once.
"""

from __future__ import annotations

from typing import Any

import numba.core.types
from numba.experimental import structref

from pliant._numba import kernel

types: Any = numba.core.types


@structref.register  # type: ignore[untyped-decorator]
class BundleType(types.StructRef):  # type: ignore[misc]
    """The type of a `Bundle` in kernels."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Types of the fields, without the constants that Numba may have seen in them."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class Bundle(structref.StructRefProxy):  # type: ignore[misc]
    """Functions `strain` and `second` of a `CompiledMap`, and `parts`, a tuple of tuples of arrays."""


structref.define_proxy(Bundle, BundleType, ["strain", "second", "parts"])


@kernel
def bundled(strain, second, parts):  # type: ignore[no-untyped-def]
    """Return a `Bundle`."""
    return Bundle(strain, second, parts)
