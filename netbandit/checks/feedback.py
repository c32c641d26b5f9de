"""Checks of ``[feedback]``: see `netbandit.checks.facts`."""

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from netbandit.bandits.bandit import Bandit
from netbandit.bandits.procurement import Procurement
from netbandit.checks.facts import Facts
from netbandit.learners.counts import tells_observations
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.network.delays import INFINITE
from netbandit.parts.settings import Problem
from netbandit.protocols.pooled import Pooled
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario import delay as keys
from netbandit.scenario.feedback import FeedbackSettings
from netbandit.simulation.build_feedback import FeedbackPlan, build_feedback, read_delays, rewards_may_lack
from netbandit.util.table_files import TableFileError
from netbandit.util.units import Duration
from netbandit.util.wording import show


def problems(facts: Facts) -> Iterator[Problem]:
    """Yield invalid settings of ``[feedback]``, and conflicts with other tables."""
    settings, run = facts.feedback, facts.run
    learner = facts.learner if facts.knows("learner") else None
    protocol = facts.protocol if facts.knows("protocol") else None
    bandit = facts.bandit if facts.knows("bandit") else None
    windowed = learner is not None and learner.needs_window
    kind = show(facts.kinds["learner"])
    if windowed and settings.window is None:
        yield ("feedback", "window"), f"is missing: learner.kind = {kind} needs to know how long rewards may take"
    if learner is not None and protocol is not None:
        yield from _deadline_problems(settings, learner, protocol, kind)
    if not settings:
        return
    gathers = facts.knows("talk") and facts.talk == "gather"
    if learner is not None and (not learner.late_rewards or gathers):
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


def _deadline_problems(
    settings: FeedbackSettings, learner: AnyLearner, protocol: NetworkProtocol, kind: str
) -> Iterator[Problem]:
    """Yield a deadline of learners without phases, and privacy where some rewards of a phase may be missing."""
    here = ("protocol", "feedback_deadline")
    in_phases = isinstance(learner, EpochLearner)
    if protocol.feedback_deadline is not None and not (in_phases and learner.late_rewards):
        yield here, f"is of elimination, which waits for the rewards of a phase, not of learner.kind = {kind}"
    elif in_phases and rewards_may_lack(settings, protocol) and not learner.bounded_releases:
        noise = "noise is made for all rewards of a phase"
        if protocol.feedback_deadline is not None:
            yield here, f"must be absent with learner.epsilon: {noise}"
        else:
            yield ("feedback", "missing"), f'must be "zero" with feedback.window and learner.epsilon: {noise}'


def _law_problems(settings: FeedbackSettings, slot: int, bandit: Bandit | None) -> Iterator[Problem]:
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
            listed = read_delays(Path(settings.delay.file))
        except TableFileError as error:
            yield here, str(error)
            return
        if listed.by == "arm" and arms is not None and len(listed.laws) != arms:
            yield here, f"lists delays of arms 0 to {len(listed.laws) - 1}, but the bandit has arms 0 to {arms - 1}"
    for key, given in lists:
        if given is not None and arms is not None and len(given) != arms:
            yield ("feedback", key), f"has {len(given)} entries, but the bandit has {arms} arms"


def graph_problems(facts: Facts) -> Iterator[Problem]:
    """Yield a problem if per-agent distributions are not those of the agents."""
    settings, agents = facts.feedback, facts.agents
    if settings.by_agent is not None and len(settings.by_agent) != agents:
        yield ("feedback", "by_agent"), f"has delays of {len(settings.by_agent)} agents, but there are {agents}"
    if isinstance(settings.delay, keys.DelayFile):
        try:
            read_delays(Path(settings.delay.file)).in_order(facts.graph.names)
        except TableFileError as error:
            yield ("feedback", "delay", "file"), str(error)


def graph_notes(facts: Facts) -> Iterator[Problem]:
    """Yield how many listed delays are empty, and rewards that come too late."""
    settings, slot = facts.feedback, facts.run.slot_nanoseconds
    if any(graph_problems(facts)):
        return
    if isinstance(settings.delay, keys.DelayFile):
        listed = [time for law in read_delays(Path(settings.delay.file)).laws for time in law.delays]
        never, rows = listed.count(INFINITE), len(listed)
        if never:
            yield ("feedback", "delay", "file"), f"{never} of {rows} rows are empty: rewards that never arrive"
    plan = build_feedback(settings, slot, facts.graph.names)
    if plan is not None:
        yield from _window_notes(plan, facts.graph.names)
        yield from _fading_notes(plan, slot, facts.learner, facts.protocol)
        yield from _spread_notes(plan, slot, facts.learner, facts.protocol)


def notes(facts: Facts) -> Iterator[Problem]:
    """Yield laws without a mean, rewards that never arrive, phases that may not end, and deadlines."""
    settings = facts.feedback
    learner, protocol = facts.learner, facts.protocol
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


_QUANTILES = (np.arange(10_000) + 0.5) / 10_000
_MANY = 0.05


def _window_notes(plan: FeedbackPlan, agents: Sequence[str]) -> Iterator[Problem]:
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
            which = "any arm" if plan.by == "all" else f"{plan.by} {agents[place] if plan.by == 'agent' else place}"
            yield ("feedback", "window"), f"{share:.0%} of the rewards of {which} come after it and {then}"


def _fading_notes(plan: FeedbackPlan, slot: int, learner: Any, protocol: Any) -> Iterator[Problem]:
    """Yield rewards that come so late that a discount leaves nothing of them when an agent decides."""
    discount = getattr(learner, "discount", 1.0)
    if discount == 1 or (tells_observations(learner) and not protocol.isolated):  # those of others count 1 on arrival
        return
    for law in plan.laws:
        decisions = np.maximum(np.ceil(law.times(_QUANTILES) / slot) - 1, 0)  # between a pull and its reward
        counted = float((discount**decisions).mean()) / (1 - discount)
        if counted <= 1:
            text = f"with rewards so late an agent counts {counted:.2g} pulls in all: at most 1 is no exploration"
            yield ("learner", "discount"), text
            return


def _spread_notes(plan: FeedbackPlan, slot: int, learner: Any, protocol: Any) -> Iterator[Problem]:
    """Yield a deadline that passes before the rewards of the slowest agent have come, in the median."""
    deadline = getattr(protocol, "deadline", None)
    if plan.by != "agent" or deadline is None or not isinstance(learner, EpochLearner):
        return
    patience = protocol.feedback_deadline
    most = min(
        inf if plan.window == INFINITE else plan.window,
        inf if patience is None else Duration(patience).nanoseconds(slot),
    )
    medians = [min(int(law.times(_MEDIAN)[0]), most) for law in plan.laws]
    spread = max(medians) - min(medians)
    if spread > deadline.nanoseconds(slot):
        text = f"agents wait for their rewards before they contribute, and the slowest {spread / slot:.3g} slots longer"
        yield ("protocol", "deadline"), f"{text} than the fastest, in the median: others go on without it"


_MEDIAN = np.array([0.5])
