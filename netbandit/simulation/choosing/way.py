"""The two questions that decide whether a part of a run is compiled, or goes in bulk: can it, and should it.

Each answer is None for yes, else the reason against it: a sentence for users.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal, NamedTuple

from netbandit.simulation.execution import VARIABLE, execution

RunPart = Literal["messages", "decisions"]
"""What a part of a run handles."""


NONE_FOR_PROTOCOL = "there is none for this protocol"
"""Why a way cannot run with protocols that are of another kind."""

FATES_OPEN = "what becomes of a message depends on what else is sent, which only shows event by event"
"""Why no way can run in networks that decide as it happens what becomes of messages."""

SOME_MUTE = "some agents tell nothing (adversary.attack)"
"""Why a way in which all agents tell something cannot run."""


class Way(ABC):
    """A way for a part of a run to go other than event by event, with the same numbers.

    `can_run` is asked in two halves, because the second may take seconds: it is left out where the way is not worth it.
    """

    part: ClassVar[RunPart] = "messages"
    """The part of a run that it is for."""
    name: ClassVar[str]
    """What it is, for users."""

    def can_run(self) -> str | None:
        """Return why it cannot run; None: it can."""
        return self.unsuited() or self.unknown()

    @abstractmethod
    def unsuited(self) -> str | None:
        """Return why it cannot run with parts of these kinds and sizes, which is found out at once."""

    def unknown(self) -> str | None:
        """Return what may happen in this run that it does not know; None: nothing."""
        return None

    @abstractmethod
    def should_run(self) -> str | None:
        """Return why it is not worth it, if it can run; None: it is. It is asked only if the way is not unsuited."""


class Choice(NamedTuple):
    """What was chosen for a part of a run.

    Attributes:
        part: The part.
        way: The name of the way that was asked.
        why_not: Why it is not taken; None: it is.
    """

    part: RunPart
    way: str
    why_not: str | None


_explained: list[Choice] | None = None


def chosen(way: Way) -> bool:
    """Return whether a part of a run goes this *way*."""
    if _explained is not None:
        _explained.append(Choice(way.part, way.name, way.can_run() or _should_run(way)))
        return False
    # Whether it is worth it is asked first: to find out all that can happen may take longer than a short run.
    return (way.unsuited() or _should_run(way) or way.unknown()) is None


def _should_run(way: Way) -> str | None:
    """Return why a *way* should not be taken, even if it can; None: it should. The environment has the last word."""
    how = execution()
    if how == "plain":
        return f"{VARIABLE}={how}"
    return None if how == "compiled" else way.should_run()


@contextmanager
def explained() -> Iterator[list[Choice]]:
    """Have what is chosen noted in a list, and have all go event by event: for drivers that are started, never run."""
    global _explained
    before, _explained = _explained, []
    try:
        yield _explained
    finally:
        _explained = before
