"""``[feedback]``: when agents receive the rewards of their pulls."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from netbandit.bandits.bandit import Bandit
from netbandit.bandits.procurement import Procurement
from netbandit.conditions.condition import Condition
from netbandit.conditions.facts import Facts
from netbandit.conditions.feedback_plan import FeedbackPlan, may_lack, names_of_arms, not_each_arm, read_delays
from netbandit.conditions.laws import delay_law
from netbandit.conditions.replication_plan import ReplicationPlan
from netbandit.learners.learner import AnyLearner, EpochLearner
from netbandit.network.delays import INFINITE
from netbandit.network.delays import Delay as DelayLaw
from netbandit.parts.settings import PositiveDuration, Probability, Problem
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario import delay as keys
from netbandit.scenario.delay import Delay, DelayOrFile
from netbandit.scenario.link_faults import number_or_list
from netbandit.util.table_files import TableFileError
from netbandit.util.text import pluralize
from netbandit.util.units import Duration
from netbandit.util.wording import Allowed, show

_NEVER = "a probability from 0 to 1, or a list of them, one an arm"


def _never(value: Any) -> float | list[float]:
    return number_or_list(value, lambda share: 0 <= share <= 1, _NEVER)


class Feedback(Condition):
    """``[feedback]``: how late rewards are learned; by default at once."""

    delay: DelayOrFile | None = Field(
        default=None, description="From a pull to the moment its reward is learned; absent: none."
    )
    by_arm: list[Delay] | None = Field(
        default=None, min_length=1, description="Instead of delay: one for each arm, as for delay, without a file."
    )
    by_agent: list[Delay] | None = Field(
        default=None, min_length=1, description="Instead of delay: one for each agent."
    )
    never: Annotated[Probability | list[Probability], BeforeValidator(_never), Allowed(_NEVER)] = Field(
        default=0.0, description="Share of pulls whose reward is never learned; or a list, one an arm."
    )
    window: PositiveDuration | None = Field(
        default=None, description="Rewards that come later than this after their pull are not learned; absent: all are."
    )
    missing: Literal["forgotten", "zero"] = Field(
        default="forgotten",
        description='What stands for a reward that has not come by the end of its window: nothing, or "zero".',
    )
    reports: Literal["all", "nonzero"] = Field(
        default="all", description='Which rewards are reported at all: "nonzero", as clicks are, or "all".'
    )

    @model_validator(mode="after")
    def _one_law(self) -> Self:
        given = [key for key in ("delay", "by_arm", "by_agent") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"has {given[0]} and {given[1]}: one of them says how late feedback is")
        return self

    def plan(self, slot: int, agents: Sequence[str], arms: Sequence[str] | None) -> FeedbackPlan | None:
        """Return how rewards are delayed; None if all are learned at once.

        Args:
            slot: The length of a slot (ns).
            agents: What agents are called.
            arms: What arms are called; None: it is not known yet.

        Raises:
            ValueError: The file contains no delays, or those of other agents or arms, or a list has not one for each
                arm.
        """
        if not self:
            return None
        by: Literal["all", "arm", "agent"] = "arm" if self.by_arm else "agent" if self.by_agent else "all"
        laws: Sequence[DelayLaw]
        if isinstance(self.delay, keys.DelayFile):
            listed = read_delays(Path(self.delay.file))
            by, laws = listed.by, listed.in_order(agents, arms)
        else:
            laws = [delay_law(one, slot) for one in self.by_arm or self.by_agent or [self.delay or "0 ms"]]
        for key, count in (
            ("by_arm", len(self.by_arm or ())),
            ("never", len(self.never) if isinstance(self.never, list) else 0),
        ):
            if count and arms is not None and count != len(arms):
                raise ValueError(f"feedback.{key}: {not_each_arm(count, len(arms))}")
        return FeedbackPlan(
            laws=tuple(laws),
            by=by,
            never=tuple(self.never) if isinstance(self.never, list) else (self.never,),
            window=INFINITE if self.window is None else max(1, Duration(self.window).nanoseconds(slot)),
            as_zero=self.missing == "zero",
            nonzero=self.reports == "nonzero",
        )

    def prepare(self, plan: ReplicationPlan) -> None:
        """See `Condition.prepare`: how late rewards are; or that they are at once, or never come."""
        slot = plan.clock.slot
        plan.feedback = self.plan(slot, plan.topology.names, names_of_arms(plan.bandit))
        if plan.feedback is None and plan.bandit.discards:
            plan.feedback = FeedbackPlan((delay_law("0 ms", slot),), counts=False)

    def may_lack(self, protocol: NetworkProtocol) -> bool:
        """Return whether agents that explore in phases may go on without some rewards of a phase."""
        forgotten = self.window is not None and self.missing == "forgotten"
        return bool(self) and may_lack(protocol, forgotten=forgotten)

    def known(self, facts: Facts) -> Mapping[str, Any]:
        """See `Condition.known`: whether rewards may be late, or never come."""
        lack = {"may_lack": self.may_lack(facts.protocol)} if facts.knows("protocol") else {}
        return {"late": bool(self) or (facts.knows("bandit") and facts.bandit.discards), **lack}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield invalid settings of ``[feedback]``, and conflicts with other tables."""
        run = facts.run
        learner = facts.learner if facts.knows("learner") else None
        protocol = facts.protocol if facts.knows("protocol") else None
        bandit = facts.bandit if facts.knows("bandit") else None
        windowed = learner is not None and learner.needs_window
        kind = show(facts.kinds["learner"])
        if windowed and self.window is None:
            yield ("feedback", "window"), f"is missing: learner.kind = {kind} needs to know how long rewards may take"
        if learner is not None and protocol is not None:
            yield from self._deadline_problems(learner, protocol, kind)
        discards = bandit is not None and bandit.discards
        if not (self or discards):
            return
        here, table, rewards = (
            (("feedback",), "[feedback]", "late rewards")
            if self
            else (("bandit", "logged"), "bandit.logged", "decisions without a reward")
        )
        gathers = facts.knows("talk") and facts.talk == "gather"
        if learner is not None and (not learner.late_rewards or gathers):
            yield here, f"cannot be with learner.kind = {kind}: what it would make of {rewards} is not known"
        if isinstance(bandit, Procurement):
            yield ("feedback",), 'cannot be with bandit.kind = "procurement": what late units would mean is not known'
        if getattr(protocol, "when", None) == "pull":
            text = f'must be "slot" with {table}: a reward may not be there when the next agent decides'
            yield ("protocol", "when"), text
        if getattr(protocol, "absorb", False):
            text = f"must be false with {table}: a message may not hold the observation of one arm"
            yield ("protocol", "absorb"), text
        if self.missing == "zero" and learner is not None and not learner.zero_for_missing:
            yield (
                ("feedback", "missing"),
                f'must be "forgotten" with learner.kind = {kind}, whose bounds are of real rewards',
            )
        if self.missing == "zero" and self.window is None:
            yield (
                ("feedback", "missing"),
                'cannot be "zero" without feedback.window: nobody would know that it is missing',
            )
        if self.reports == "nonzero" and self.missing == "forgotten" and not windowed:
            text = 'must be "all" with missing = "forgotten": rewards of 0 would be left out of every mean'
            yield ("feedback", "reports"), text
        yield from self._law_problems(run.slot_nanoseconds, bandit)

    def _deadline_problems(self, learner: AnyLearner, protocol: NetworkProtocol, kind: str) -> Iterator[Problem]:
        """Yield a deadline of learners without phases, and privacy where some rewards of a phase may be missing."""
        here = ("protocol", "feedback_deadline")
        in_phases = isinstance(learner, EpochLearner)
        if protocol.feedback_deadline is not None and not (in_phases and learner.late_rewards):
            yield here, f"is of elimination, which waits for the rewards of a phase, not of learner.kind = {kind}"
        elif in_phases and self.may_lack(protocol) and not learner.bounded_releases:
            noise = "noise is made for all rewards of a phase"
            if protocol.feedback_deadline is not None:
                yield here, f"must be absent with learner.epsilon: {noise}"
            else:
                yield ("feedback", "missing"), f'must be "zero" with feedback.window and learner.epsilon: {noise}'

    def _law_problems(self, slot: int, bandit: Bandit | None) -> Iterator[Problem]:
        """Yield invalid delay distributions, and lists whose length is not the number of arms."""
        arms = None if bandit is None else _arms(bandit)
        for key in ("delay", "by_arm", "by_agent"):
            given = getattr(self, key)
            for index, law in enumerate(given if isinstance(given, list) else [given]):
                if isinstance(law, keys.UniformDelay):
                    shortest, longest = (Duration(end).nanoseconds(slot) for end in law.uniform)
                    if shortest > longest:
                        at = ("feedback", key, index) if isinstance(given, list) else ("feedback", key)
                        yield at, "uniform: the longest must not be below the shortest"
        lists = [("by_arm", self.by_arm), ("never", self.never if isinstance(self.never, list) else None)]
        if isinstance(self.delay, keys.DelayFile):
            here = ("feedback", "delay", "file")
            try:
                read_delays(Path(self.delay.file)).in_order(None, arms)
            except TableFileError as error:
                yield here, str(error)
        for key, given in lists:
            if given is not None and arms is not None and len(given) != len(arms):
                yield ("feedback", key), not_each_arm(len(given), len(arms))

    def graph_problems(self, facts: Facts) -> Iterator[Problem]:
        """Yield a problem if per-agent distributions are not those of the agents."""
        agents = facts.agents
        if self.by_agent is not None and len(self.by_agent) != agents:
            yield ("feedback", "by_agent"), f"has delays of {len(self.by_agent)} agents, but there are {agents}"
        if isinstance(self.delay, keys.DelayFile):
            try:
                read_delays(Path(self.delay.file)).in_order(facts.graph.names, None)
            except TableFileError as error:
                yield ("feedback", "delay", "file"), str(error)

    def graph_notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield how many listed delays are empty, and rewards that come too late."""
        slot = facts.run.slot_nanoseconds
        if any(self.graph_problems(facts)):
            return
        if isinstance(self.delay, keys.DelayFile):
            listed = [time for law in read_delays(Path(self.delay.file)).laws for time in law.delays]
            never, rows = listed.count(INFINITE), len(listed)
            if never:
                yield ("feedback", "delay", "file"), f"{never} of {rows} rows are empty: rewards that never arrive"
        plan = self.plan(slot, facts.graph.names, _arms(facts.bandit))
        if plan is not None:
            yield from _window_notes(plan, facts.graph.names)
            yield from _fading_notes(plan, slot, facts.learner, facts.protocol)
            yield from _spread_notes(plan, slot, facts.learner, facts.protocol)

    def notes(self, facts: Facts) -> Iterator[Problem]:
        """Yield laws without a mean, rewards that never arrive, phases that may not end, and deadlines."""
        learner, protocol = facts.learner, facts.protocol
        if protocol.feedback_deadline is not None and not self:
            yield ("protocol", "feedback_deadline"), "has no effect without [feedback]: no reward is late"
        for key in ("delay", "by_arm", "by_agent"):
            given = getattr(self, key)
            for law in given if isinstance(given, list) else [given]:
                if isinstance(law, keys.ParetoDelay) and law.pareto[1] <= 1:
                    yield ("feedback", key), "a Pareto distribution with a shape of at most 1 has no mean"
                    break
        shares = self.never if isinstance(self.never, list) else [self.never]
        if any(shares) and isinstance(learner, EpochLearner) and not (self.window or protocol.feedback_deadline):
            text = "a phase in which one reward never arrives does not end: give feedback.window or "
            yield ("feedback", "never"), f"{text}protocol.feedback_deadline"
        silent = [arm for arm, share in enumerate(shares) if share == 1]
        if silent:
            which = f"arm {silent[0]}" if isinstance(self.never, list) else "any arm"
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
    for index, law in enumerate(plan.laws):
        times = law.times(_QUANTILES)
        share = float((times > plan.window).sum() / max(1, int((times != INFINITE).sum())))
        if share > _MANY:
            which = "any arm" if plan.by == "all" else f"{plan.by} {agents[index] if plan.by == 'agent' else index}"
            yield ("feedback", "window"), f"{share:.0%} of the rewards of {which} come after it and {then}"


def _fading_notes(plan: FeedbackPlan, slot: int, learner: Any, protocol: Any) -> Iterator[Problem]:
    """Yield rewards that come so late that a discount leaves nothing of them when an agent decides."""
    discount = getattr(learner, "discount", 1.0)
    if discount == 1:
        return
    from netbandit.learners.counts import tells_observations

    if tells_observations(learner) and not protocol.isolated:  # those of others count 1 on arrival
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
        longer = f"{pluralize(f'{spread / slot:.3g}', 'slot')} longer than the fastest, in the median"
        text = f"agents wait for their rewards before they contribute, and the slowest {longer}"
        yield ("protocol", "deadline"), f"{text}: others go on without it"


_MEDIAN = np.array([0.5])


def _arms(bandit: Bandit) -> Sequence[str] | None:
    """Return what arms are called; None: it is not known before the start, or the check of the bandit says why not."""
    try:
        names, count = bandit.arm_names(), bandit.outline().arms
    except ValueError:
        return None
    return names if names is not None or count is None else list(map(str, range(count)))
