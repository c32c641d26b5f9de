"""Builds delay distributions from ``[feedback]``, and checks that table."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from netbandit.network.delays import INFINITE, Delay, GeometricDelay, ListedDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.scenario import delay as keys
from netbandit.scenario import link_faults
from netbandit.scenario.feedback import FeedbackSettings
from netbandit.util.table_files import Table, finite
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


def build_feedback(settings: FeedbackSettings, slot: int) -> FeedbackPlan | None:
    """Return how rewards are delayed; None if all are learned at once.

    Args:
        settings: ``[feedback]``, with the absolute path of a file.
        slot: The length of a slot (ns).

    Raises:
        TableFileError: The file contains no delays.
    """
    if not settings:
        return None
    by: Literal["all", "arm", "agent"] = "arm" if settings.by_arm else "agent" if settings.by_agent else "all"
    if isinstance(settings.delay, keys.DelayFile):
        by, laws = read_delays(Path(settings.delay.file))
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


def read_delays(path: Path) -> tuple[Literal["all", "arm", "agent"], list[Delay]]:
    """Return whether a file lists one delay distribution, or one per arm or agent; and the distributions.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    groups = [name for name in table.names if name in _GROUPS]
    if sorted(table.names) != sorted(["DELAY", *groups]) or len(groups) > 1:
        raise table.error(f"must be DELAY, and ARM or AGENT beside it, not {show(','.join(table.names))}")
    found: dict[int, list[int]] = {}
    for line, cells in table:
        row = dict(zip(table.names, cells, strict=True))
        seconds = finite(row["DELAY"]) if row["DELAY"] else None
        if row["DELAY"] and (seconds is None or not 0 <= seconds <= _LATEST):
            raise table.error(f"DELAY must be seconds from 0 to {_LATEST:g}, or empty: never", line)
        group = row[groups[0]] if groups else "0"
        if not (group.isascii() and group.isdigit()):
            raise table.error(f"{groups[0]} must be a number from 0, not {show(group)}", line)
        found.setdefault(int(group), []).append(INFINITE if seconds is None else round(seconds * _NANO))
    if not found:
        raise table.error("lists no delay")
    if sorted(found) != list(range(len(found))):
        missing = next(number for number in range(len(found)) if number not in found)
        raise table.error(f"lists no delay of {groups[0]} {missing}")
    by: Literal["all", "arm", "agent"] = "all" if not groups else "arm" if groups == ["ARM"] else "agent"
    return by, [ListedDelay(tuple(found[group])) for group in sorted(found)]


def rewards_may_lack(settings: FeedbackSettings, protocol: Any) -> bool:
    """Return whether agents that explore in phases may go on without some rewards of a phase."""
    forgotten = settings.window is not None and settings.missing == "forgotten"
    return bool(settings) and (forgotten or protocol.feedback_deadline is not None)
