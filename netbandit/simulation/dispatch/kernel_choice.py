"""Decides whether a part of a run is compiled or goes in bulk, by asking a kernel for reasons against it.

Each question returns None if there is no reason, else the reason, in words for users.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal, NamedTuple

from netbandit.simulation.execution import VARIABLE, execution

RunPart = Literal["messages", "decisions"]
"""The parts of a run."""


NONE_FOR_PROTOCOL = "there is none for this protocol"
"""The reason if a kernel does not support the kind of protocol."""

FATES_OPEN = "what becomes of a message depends on what else is sent, which only shows event by event"
"""The reason if the outcomes of messages are deferred, which no kernel supports."""

SOME_MUTE = "some agents tell nothing (adversary.attack)"
"""The reason if a kernel needs all agents to send."""


class KernelChoice(ABC):
    """A fast alternative to event-by-event processing of a part of a run, with the same numbers.

    What it does not support has two halves, because the second may take seconds: it is skipped if the kernel would not
    pay off.
    """

    part: ClassVar[RunPart] = "messages"
    """The part of a run that it processes."""
    name: ClassVar[str]
    """Its name, for users."""

    def reason_against(self) -> str | None:
        """Return why it cannot run, by either half."""
        return self.unsupported_reason() or self.unsupported_event()

    @abstractmethod
    def unsupported_reason(self) -> str | None:
        """Return why it does not support parts of these kinds and sizes; a fast check."""

    def unsupported_event(self) -> str | None:
        """Return a possible event of this run that it does not support."""
        return None

    @abstractmethod
    def unprofitable_reason(self) -> str | None:
        """Return why it would not pay off; asked only of parts that it supports."""


class Choice(NamedTuple):
    """The choice for a part of a run.

    Attributes:
        part: The part.
        kernel: The name of the kernel that was asked.
        reason: Why it is not used; None if it is.
    """

    part: RunPart
    kernel: str
    reason: str | None


_explained: list[Choice] | None = None


def chosen(kernel: KernelChoice) -> bool:
    """Return whether this *kernel* processes a part of a run."""
    if _explained is not None:
        _explained.append(Choice(kernel.part, kernel.name, kernel.reason_against() or _unprofitable_reason(kernel)))
        return False
    # Ask first whether it pays off: to find all possible events may take longer than a short run.
    return (kernel.unsupported_reason() or _unprofitable_reason(kernel) or kernel.unsupported_event()) is None


def _unprofitable_reason(kernel: KernelChoice) -> str | None:
    """Return why a *kernel* that can run should not; the environment overrides it."""
    how = execution()
    if how == "plain":
        return f"{VARIABLE}={how}"
    return None if how == "compiled" else kernel.unprofitable_reason()


@contextmanager
def explained() -> Iterator[list[Choice]]:
    """Record all choices in a list, and let all go event by event: for drivers that are started but never run."""
    global _explained
    before, _explained = _explained, []
    try:
        yield _explained
    finally:
        _explained = before
