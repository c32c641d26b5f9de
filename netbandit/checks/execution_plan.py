"""Reports which parts of a run are compiled or executed in bulk, and why others are not, without running it."""

from collections.abc import Sequence

from netbandit.simulation.dispatch.kernel_choice import NONE_FOR_PROTOCOL, Choice
from netbandit.simulation.drivers.choice import pattern_of
from netbandit.simulation.replication import RunnablePoint
from netbandit.user_code.errors import complaint
from netbandit.user_code.loading import kept_alive


def execution_plan(point: RunnablePoint) -> list[str]:
    """Return how the first replication of a point would be executed without a trace, one line per part of the run.

    Nothing is run or compiled.
    """
    try:
        with kept_alive():
            choices = point.simulation(0).choices()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code may raise anything
        return [f"it cannot be started: {complaint(error)}"]
    messages = [choice for choice in choices if choice.part == "messages"]
    decisions = [choice for choice in choices if choice.part == "decisions"]
    lines = [_line("messages", messages)] if _talks(point) else []
    return lines + ([_line("decisions", decisions)] if decisions else [])


def _talks(point: RunnablePoint) -> bool:
    """Return whether agents send anything at all."""
    protocol = type(point.protocol)
    return (protocol.uses_peer_links or protocol.uses_uplinks) and pattern_of(
        type(point.bandit), type(point.learner)
    ) is not None


def _line(part: str, asked: Sequence[Choice]) -> str:
    """Return which of the kernels *asked* is used, or why none is."""
    for choice in asked:
        if choice.reason is None:
            return f"{part}: {choice.kernel}"
    reasons = dict.fromkeys(
        f"; not {choice.kernel}: {choice.reason}" for choice in asked if choice.reason != NONE_FOR_PROTOCOL
    )
    return f"{part}: event by event{''.join(reasons) or '; there is no other way for these parts'}"
