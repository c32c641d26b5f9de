"""How rewards are delayed, and delays in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from netbandit.network.delays import INFINITE, Delay, ListedDelay
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.util.agent_rows import agent_numbers
from netbandit.util.table_files import Table, TableFileError, finite
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
        counts: Whether metrics say what becomes of rewards.
    """

    laws: tuple[Delay, ...]
    by: Literal["all", "arm", "agent"] = "all"
    never: tuple[float, ...] = (0.0,)
    window: int = INFINITE
    as_zero: bool = False
    nonzero: bool = False
    counts: bool = True

    def may_lack(self, protocol: NetworkProtocol) -> bool:
        """Return whether agents that explore in phases may go on without some rewards of a phase."""
        return may_lack(protocol, forgotten=self.window != INFINITE and not self.as_zero)


def may_lack(protocol: NetworkProtocol, *, forgotten: bool) -> bool:
    """Return `FeedbackPlan.may_lack`; *forgotten*: rewards that come after a window are not learned."""
    return forgotten or protocol.feedback_deadline is not None


def not_each_arm(count: int, arms: int) -> str:
    """Return the message that a list has another number of entries than there are arms."""
    return f"has {count} entries, but the bandit has {arms} arms"


def names_of_arms(bandit: Any) -> Sequence[str] | None:
    """Return what the arms of a *bandit* that is started are called; None of a market, which has producers."""
    count: int | None = getattr(bandit, "arm_count", None)
    return bandit.arm_names() or (None if count is None else list(map(str, range(count))))


class ListedDelays(NamedTuple):
    """The delays in a file.

    Attributes:
        path: The file.
        by: Whether it lists those of each arm or agent.
        labels: What it calls the arms or agents.
        laws: The delay distribution of each.
    """

    path: Path
    by: Literal["all", "arm", "agent"]
    labels: list[str]
    laws: list[ListedDelay]

    def in_order(self, agents: Sequence[str] | None, arms: Sequence[str] | None) -> list[ListedDelay]:
        """Return the distributions, if they are those of agents or arms in the order of these.

        Args:
            agents: What agents are called; None: it is not known yet.
            arms: What arms are called; None: it is not known yet.

        Raises:
            TableFileError: They are those of others.
        """
        names = {"all": None, "agent": agents, "arm": arms}[self.by]
        if names is None:
            return self.laws
        try:
            numbers = agent_numbers(self.labels, names, "delays", self.by, "bandit" if self.by == "arm" else "network")
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
        found.setdefault(group, []).append(INFINITE if seconds is None else round(seconds * _NANO))
    if not found:
        raise table.error("lists no delay")
    by: Literal["all", "arm", "agent"] = "all" if not groups else "arm" if groups == ["ARM"] else "agent"
    return ListedDelays(path, by, list(found), [ListedDelay(tuple(delays)) for delays in found.values()])
