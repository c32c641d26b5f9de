"""Builds delay distributions from ``[feedback]``, and checks that table."""

from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from netbandit.bandits.procurement import Procurement
from netbandit.learners.learner import EpochLearner
from netbandit.network.delays import INFINITE, Delay, GeometricDelay, ListedDelay, ParetoDelay
from netbandit.network.jitter import ExponentialJitter, LognormalJitter, UniformJitter
from netbandit.parts.settings import Problem
from netbandit.protocols.pooled import Pooled
from netbandit.scenario import delay as keys
from netbandit.scenario import link_faults
from netbandit.scenario.feedback import FeedbackSettings
from netbandit.scenario.model import RunSettings
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


def feedback_problems(settings: FeedbackSettings, run: RunSettings, known: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield invalid settings of ``[feedback]``, and conflicts with other tables.

    Args:
        settings: ``[feedback]``.
        run: ``[run]``.
        known: The parts known so far, and their kinds.
    """
    learner, protocol, bandit = known["learner"], known["protocol"], known["bandit"]
    windowed = learner is not None and learner.needs_window
    if windowed and settings.window is None:
        kind = show(known["kinds"]["learner"])
        yield ("feedback", "window"), f"is missing: learner.kind = {kind} needs to know how long rewards may take"
    yield from _deadline_problems(settings, learner, protocol, known["kinds"])
    if not settings:
        return
    if learner is not None and (not learner.late_rewards or known["talk"] == "gather"):
        kind = show(known["kinds"]["learner"])
        yield ("feedback",), f"cannot be with learner.kind = {kind}: what it would make of late rewards is not known"
    if isinstance(bandit, Procurement):
        yield ("feedback",), 'cannot be with bandit.kind = "procurement": what late units would mean is not known'
    if isinstance(protocol, Pooled) and protocol.when == "pull":
        text = 'must be "slot" with [feedback]: a reward is not there yet when the next agent decides'
        yield ("protocol", "when"), text
    if getattr(protocol, "absorb", False):
        text = "must be false with [feedback]: a message may hold observations of several arms"
        yield ("protocol", "absorb"), text
    if settings.missing == "zero" and settings.window is None:
        yield ("feedback", "missing"), 'cannot be "zero" without feedback.window: nobody would know that it is missing'
    if settings.reports == "nonzero" and settings.missing == "forgotten" and not windowed:
        text = 'must be "all" with missing = "forgotten": rewards of 0 would be left out of every mean'
        yield ("feedback", "reports"), text
    yield from _law_problems(settings, run.slot_nanoseconds, bandit)


def rewards_may_lack(settings: FeedbackSettings, protocol: Any) -> bool:
    """Return whether agents that explore in phases may go on without some rewards of a phase."""
    forgotten = settings.window is not None and settings.missing == "forgotten"
    return bool(settings) and (forgotten or protocol.feedback_deadline is not None)


def _deadline_problems(
    settings: FeedbackSettings, learner: Any, protocol: Any, kinds: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield a deadline of learners without phases, and privacy where some rewards of a phase may be missing."""
    if learner is None or protocol is None:
        return
    here = ("protocol", "feedback_deadline")
    in_phases = isinstance(learner, EpochLearner)
    if protocol.feedback_deadline is not None and not (in_phases and learner.late_rewards):
        kind = show(kinds["learner"])
        yield here, f"is of elimination, which waits for the rewards of a phase, not of learner.kind = {kind}"
    elif in_phases and rewards_may_lack(settings, protocol) and not learner.bounded_releases:
        noise = "noise is made for all rewards of a phase"
        if protocol.feedback_deadline is not None:
            yield here, f"must be absent with learner.epsilon: {noise}"
        else:
            yield ("feedback", "missing"), f'must be "zero" with feedback.window and learner.epsilon: {noise}'


def _law_problems(settings: FeedbackSettings, slot: int, bandit: Any) -> Iterator[Problem]:
    """Yield invalid delay distributions, and lists whose length is not the number of arms."""
    arms = None if bandit is None else bandit.outline().arms
    for key in ("delay", "by_arm", "by_agent"):
        given = getattr(settings, key)
        for place, law in enumerate(given if isinstance(given, list) else [given]):
            if isinstance(law, keys.UniformDelay):
                shortest, longest = (Duration(end).nanoseconds(slot) for end in law.uniform)
                if shortest > longest:
                    at = ("feedback", key, place) if isinstance(given, list) else ("feedback", key)
                    yield at, "uniform: the longest must not be below the shortest"
    lists = [("by_arm", settings.by_arm), ("never", settings.never if isinstance(settings.never, list) else None)]
    if isinstance(settings.delay, keys.DelayFile):
        here = ("feedback", "delay", "file")
        try:
            by, laws = read_delays(Path(settings.delay.file))
        except TableFileError as error:
            yield here, str(error)
            return
        if by == "arm" and arms is not None and len(laws) != arms:
            yield here, f"lists delays of arms 0 to {len(laws) - 1}, but the bandit has arms 0 to {arms - 1}"
    for key, given in lists:
        if given is not None and arms is not None and len(given) != arms:
            yield ("feedback", key), f"has {len(given)} entries, but the bandit has {arms} arms"


def agent_problems(settings: FeedbackSettings, agents: int) -> Iterator[Problem]:
    """Yield a problem if the number of per-agent distributions is not *agents*."""
    count, key = 0, ("feedback", "by_agent")
    if settings.by_agent is not None:
        count = len(settings.by_agent)
    elif isinstance(settings.delay, keys.DelayFile):
        by, laws = read_delays(Path(settings.delay.file))
        count, key = len(laws) if by == "agent" else 0, ("feedback", "delay", "file")  # type: ignore[assignment]
    if count and count != agents:
        yield key, f"has delays of {count} agents, but there are {agents}"


def feedback_notes(settings: FeedbackSettings, slot: int, learner: Any, protocol: Any) -> Iterator[Problem]:
    """Yield laws without a mean, rewards that never arrive or come too late, phases that may not end, and deadlines.

    Args:
        settings: ``[feedback]``, with the absolute path of a file.
        slot: The length of a slot (ns).
        learner: The learner.
        protocol: The protocol.
    """
    if protocol.feedback_deadline is not None and not settings:
        yield ("protocol", "feedback_deadline"), "has no effect without [feedback]: no reward is late"
    for key in ("delay", "by_arm", "by_agent"):
        given = getattr(settings, key)
        for law in given if isinstance(given, list) else [given]:
            if isinstance(law, keys.ParetoDelay) and law.pareto[1] <= 1:
                yield ("feedback", key), "a Pareto law of a shape of at most 1 has no mean"
                break
    shares = settings.never if isinstance(settings.never, list) else [settings.never]
    if any(shares) and isinstance(learner, EpochLearner) and not (settings.window or protocol.feedback_deadline):
        text = "a phase in which one reward never arrives does not end: give feedback.window or "
        yield ("feedback", "never"), f"{text}protocol.feedback_deadline"
    silent = [arm for arm, share in enumerate(shares) if share == 1]
    if silent:
        which = f"arm {silent[0]}" if isinstance(settings.never, list) else "any arm"
        yield ("feedback", "never"), f"nothing is ever learned of {which}"
    plan = build_feedback(settings, slot)
    if plan is not None:
        yield from _window_notes(plan)
        yield from _spread_notes(plan, slot, learner, protocol)


_QUANTILES = (np.arange(10_000) + 0.5) / 10_000
_MANY = 0.05


def _window_notes(plan: FeedbackPlan) -> Iterator[Problem]:
    """Yield the share of rewards that come after the window, of those that come."""
    if plan.window == INFINITE:
        return
    then = "count as 0" if plan.as_zero else "are not learned"
    if plan.as_zero and plan.by == "arm":
        then += ": the arm looks worse than it is"
    for place, law in enumerate(plan.laws):
        times = law.times(_QUANTILES)
        share = float((times > plan.window).sum() / max(1, int((times != INFINITE).sum())))
        if share > _MANY:
            which = "any arm" if plan.by == "all" else f"{plan.by} {place}"
            yield ("feedback", "window"), f"{share:.0%} of the rewards of {which} come after it and {then}"


def _spread_notes(plan: FeedbackPlan, slot: int, learner: Any, protocol: Any) -> Iterator[Problem]:
    """Yield a deadline that passes before the rewards of the slowest agent have come, in the median."""
    deadline = getattr(protocol, "deadline", None)
    if plan.by != "agent" or deadline is None or not isinstance(learner, EpochLearner):
        return
    waits = [getattr(protocol, "feedback_deadline", None)]
    most = min([plan.window if plan.window != INFINITE else inf, *(one.nanoseconds(slot) for one in waits if one)])
    medians = [min(int(law.times(_MEDIAN)[0]), most) for law in plan.laws]
    spread = max(medians) - min(medians)
    if spread > deadline.nanoseconds(slot):
        text = f"agents wait for their rewards before they contribute, and the slowest {spread / slot:.3g} slots longer"
        yield ("protocol", "deadline"), f"{text} than the fastest, in the median: others go on without it"


_MEDIAN = np.array([0.5])
