"""Laws that users write, asked with care: what they return is checked, and errors name the effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.model import DescriptionError, PliantError
from pliant.rods.contract import Array


class LawError(PliantError):
    """A law has no finite value at a configuration; a shorter step may avoid that configuration."""


Shapes = Mapping[str, Callable[[int], tuple[int, ...]]]
"""Shapes of what the methods of a law return, from the length of their first argument."""


class Law:
    """The law of one effect."""

    def __init__(self, effect: Any, shapes: Shapes) -> None:
        self.effect, self.shapes = effect, shapes

    def __call__(self, name: str, *given: Any) -> Array:
        """What the method `name` returns for the given arguments."""
        shape = self.shapes[name](len(given[0]))
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(getattr(self.effect, name)(*given), dtype=float)
        except ArithmeticError as error:
            raise self._no_value(name, repr(error)) from error
        except PliantError:
            raise
        except Exception as error:
            remedy = "correct the law; the error above shows the line"
            raise DescriptionError(
                self.effect.label, name, repr(error), "a law that does not raise", remedy
            ) from error
        if value.shape != shape and value.size == int(np.prod(shape)) == 1:
            value = value.reshape(shape)
        if value.shape != shape:
            raise DescriptionError(
                self.effect.label,
                name,
                f"an array of shape {value.shape}",
                f"an array of shape {shape}" if shape else "one number",
                "correct what the law returns",
            )
        if not np.isfinite(value).all():
            raise self._no_value(name, "NaN or infinity")
        return value

    def _no_value(self, name: str, value: str) -> LawError:
        return LawError(
            f"the law of {self.effect.label} has no finite value here ({name} gives {value}); make it "
            "finite wherever the robot may go, e.g. by a smallest distance"
        )
