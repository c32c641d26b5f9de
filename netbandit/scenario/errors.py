"""The errors of a scenario, one line each."""

from collections.abc import Iterable
from dataclasses import dataclass

from netbandit.util.text import one_line


@dataclass(frozen=True, order=True)
class Place:
    """Where a mistake stands.

    Attributes:
        layer: 0 for the file that was named, then the files it extends, then each ``--set``: the order of messages.
        line: From 1; 0 for ``--set``.
        column: From 1, in characters; 0 for ``--set``.
        name: The file as the user gave it, or ``--set KEY``.
    """

    layer: int
    line: int
    column: int
    name: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.line else self.name


class ScenarioError(Exception):
    """A scenario has mistakes.

    Attributes:
        lines: One a mistake: ``FILE:LINE:COLUMN: key.path: the mistake, the allowed values``.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = [one_line(line) for line in lines]
        super().__init__("\n".join(self.lines))

    def __reduce__(self) -> tuple[type["ScenarioError"], tuple[list[str]]]:
        return type(self), (self.lines,)
