"""What is wrong in a robot file: one line per problem, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.model import PliantError


@dataclass(frozen=True)
class Problem:
    """One fault: where it stands, which part and field it concerns, and what to do.

    line and column count from 1 and are None when the file as a whole is meant.
    """

    file: str
    line: int | None
    column: int | None
    part: str
    field: str
    message: str

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}: {self.message}"
        lead = "" if self.part == "file" else f"{self.part}: "
        return f"{self.file}:{self.line}:{self.column}: {lead}{self.message}"


class FileError(PliantError):
    """A robot file cannot be used; ``problems`` lists everything that is wrong in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        order = sorted(problems, key=lambda item: (item.line or 0, item.column or 0))
        # entries shared through an alias would be reported once per use
        self.problems: list[Problem] = list(dict.fromkeys(order))
        super().__init__("\n".join(str(item) for item in self.problems))

    def __reduce__(self) -> tuple[type[FileError], tuple[list[Problem]]]:
        """Pickle by problems, so that the error crosses process borders."""
        return type(self), (self.problems,)
