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
"""Why a kernel cannot run with protocols that are of another kind."""

FATES_OPEN = "what becomes of a message depends on what else is sent, which only shows event by event"
"""Why no kernel can run in networks that decide as it happens what becomes of messages."""

SOME_MUTE = "some agents tell nothing (adversary.attack)"
"""Why a kernel in which all agents tell something cannot run."""


class Kernel(ABC):
    """What may process a part of a run other than event by event, with the same numbers.

    `can_run` is asked in two halves, because the second may take seconds: it is left out where that is not worth it.
    """

    part: ClassVar[RunPart] = "messages"
    """The part of a run that it is for."""
    name: ClassVar[str]
    """What it is, for users."""

    def can_run(self) -> str | None:
        """Return why it cannot run; None: it can."""
        return self.unsupported_reason() or self.unknown()

    @abstractmethod
    def unsupported_reason(self) -> str | None:
        """Return why it cannot run with parts of these kinds and sizes, which is found out at once."""

    def unknown(self) -> str | None:
        """Return what may happen in this run that it does not know; None: nothing."""
        return None

    @abstractmethod
    def should_run(self) -> str | None:
        """Return why it is not worth it, if it can run; None: it is. It is asked only if nothing is unsupported."""


class Choice(NamedTuple):
    """What was chosen for a part of a run.

    Attributes:
        part: The part.
        kernel: The name of the kernel that was asked.
        why_not: Why it is not taken; None: it is.
    """

    part: RunPart
    kernel: str
    why_not: str | None


_explained: list[Choice] | None = None


def chosen(kernel: Kernel) -> bool:
    """Return whether this *kernel* processes a part of a run."""
    if _explained is not None:
        _explained.append(Choice(kernel.part, kernel.name, kernel.can_run() or _should_run(kernel)))
        return False
    # Whether it is worth it is asked first: to find out all that can happen may take longer than a short run.
    return (kernel.unsupported_reason() or _should_run(kernel) or kernel.unknown()) is None


def _should_run(kernel: Kernel) -> str | None:
    """Return why a *kernel* should not be taken, even if it can; None: it should. The environment has the last word."""
    how = execution()
    if how == "plain":
        return f"{VARIABLE}={how}"
    return None if how == "compiled" else kernel.should_run()


@contextmanager
def explained() -> Iterator[list[Choice]]:
    """Have what is chosen noted in a list, and have all go event by event: for drivers that are started, never run."""
    global _explained
    before, _explained = _explained, []
    try:
        yield _explained
    finally:
        _explained = before
