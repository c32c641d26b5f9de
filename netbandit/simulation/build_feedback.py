"""Builds delay distributions from ``[feedback]``, and checks that table."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from netbandit.network.delays import INFINITE, Delay, GeometricDelay, ListedDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.scenario import delay as keys
from netbandit.scenario import link_faults
from netbandit.scenario.feedback import FeedbackSettings
from netbandit.util.agent_rows import agent_numbers
from netbandit.util.table_files import Table, TableFileError, finite
from netbandit.util.units import Duration
from netbandit.util.wording import show

_NANO = 10**9
_LATEST = 1e9  # seconds
_GROUPS = ("ARM", "AGENT")


class FeedbackPlan(NamedTuple):
    """How rewards are delayed or lost.

    Attributes:
        laws: The delay distributions: one, or one per arm or agent.
        by: Whether there is one per arm or per agent.
        never: The share of pulls whose reward never arrives: one, or one per arm.
        window: The time (ns) after which a reward is no longer learned; `INFINITE` if there is no limit.
        as_zero: Whether a reward of 0 is learned instead at the end of the window.
        nonzero: Whether rewards of 0 never arrive.
    """

    laws: tuple[Delay, ...]
    by: Literal["all", "arm", "agent"]
    never: tuple[float, ...]
    window: int
    as_zero: bool
    nonzero: bool


def build_feedback(settings: FeedbackSettings, slot: int, agents: Sequence[str]) -> FeedbackPlan | None:
    """Return how rewards are delayed; None if all are learned at once.

    Args:
        settings: ``[feedback]``, with the absolute path of a file.
        slot: The length of a slot (ns).
        agents: What agents are called.

    Raises:
        TableFileError: The file contains no delays, or those of other agents.
    """
    if not settings:
        return None
    by: Literal["all", "arm", "agent"] = "arm" if settings.by_arm else "agent" if settings.by_agent else "all"
    laws: Sequence[Delay]
    if isinstance(settings.delay, keys.DelayFile):
        listed = read_delays(Path(settings.delay.file))
        by, laws = listed.by, listed.in_order(agents)
    else:
        laws = [delay_law(one, slot) for one in settings.by_arm or settings.by_agent or [settings.delay or "0 ms"]]
    return FeedbackPlan(
        laws=tuple(laws),
        by=by,
        never=tuple(settings.never) if isinstance(settings.never, list) else (settings.never,),
        window=INFINITE if settings.window is None else max(1, Duration(settings.window).nanoseconds(slot)),
        as_zero=settings.missing == "zero",
        nonzero=settings.reports == "nonzero",
    )


def delay_law(delay: Any, slot: int) -> Delay:
    """Return the delay distribution that a key describes; *slot* is the length of a slot (ns)."""
    match delay:
        case keys.UniformDelay():
            shortest, longest = (Duration(end).nanoseconds(slot) for end in delay.uniform)
            return UniformJitter(longest, shortest)
        case keys.GeometricDelay():
            return GeometricDelay(delay.geometric, slot)
        case link_faults.ExponentialJitter():
            return ExponentialJitter(Duration(delay.exponential).nanoseconds(slot))
        case link_faults.LognormalJitter():
            return LognormalJitter(Duration(delay.lognormal[0]).nanoseconds(slot), delay.lognormal[1])
        case keys.ParetoDelay():
            return ParetoDelay(Duration(delay.pareto[0]).nanoseconds(slot), delay.pareto[1])
    constant = Duration(delay).nanoseconds(slot)
    return UniformJitter(constant, constant)


class ListedDelays(NamedTuple):
    """The delays in a file.

    Attributes:
        path: The file.
        by: Whether it lists those of each arm or agent.
        labels: The arms, or what it calls the agents.
        laws: The delay distribution of each.
    """

    path: Path
    by: Literal["all", "arm", "agent"]
    labels: list[str]
    laws: list[ListedDelay]

    def in_order(self, agents: Sequence[str]) -> list[ListedDelay]:
        """Return the distributions, if they are those of agents in the order of these.

        Args:
            agents: What agents are called.

        Raises:
            TableFileError: They are those of others.
        """
        if self.by != "agent":
            return self.laws
        try:
            numbers = agent_numbers(self.labels, agents, "delays")
        except ValueError as error:
            raise TableFileError(self.path, str(error)) from None
        order = sorted(range(len(self.labels)), key=lambda row: numbers[self.labels[row]])
        return [self.laws[row] for row in order]


def read_delays(path: Path) -> ListedDelays:
    """Return the delays in a file.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    groups = [name for name in table.names if name in _GROUPS]
    if sorted(table.names) != sorted(["DELAY", *groups]) or len(groups) > 1:
        raise table.error(f"must be DELAY, and ARM or AGENT beside it, not {show(','.join(table.names))}")
    found: dict[str, list[int]] = {}
    for line, cells in table:
        row = dict(zip(table.names, cells, strict=True))
        seconds = finite(row["DELAY"]) if row["DELAY"] else None
        if row["DELAY"] and (seconds is None or not 0 <= seconds <= _LATEST):
            raise table.error(f"DELAY must be seconds from 0 to {_LATEST:g}, or empty: never", line)
        group = row[groups[0]] if groups else ""
        if groups and not group:
            raise table.error(f"the {groups[0]} is missing", line)
        if groups == ["ARM"] and not re.fullmatch("0|[1-9][0-9]{0,9}", group):
            raise table.error(f"ARM must be a number from 0, not {show(group)}", line)
        found.setdefault(group, []).append(INFINITE if seconds is None else round(seconds * _NANO))
    if not found:
        raise table.error("lists no delay")
    if groups == ["ARM"]:
        missing = next((str(arm) for arm in range(len(found)) if str(arm) not in found), None)
        if missing is not None:
            raise table.error(f"lists no delay of ARM {missing}")
        found = dict(sorted(found.items(), key=lambda item: int(item[0])))
    by: Literal["all", "arm", "agent"] = "all" if not groups else "arm" if groups == ["ARM"] else "agent"
    return ListedDelays(path, by, list(found), [ListedDelay(tuple(delays)) for delays in found.values()])


def rewards_may_lack(settings: FeedbackSettings, protocol: Any) -> bool:
    """Return whether agents that explore in phases may go on without some rewards of a phase."""
    forgotten = settings.window is not None and settings.missing == "forgotten"
    return bool(settings) and (forgotten or protocol.feedback_deadline is not None)
