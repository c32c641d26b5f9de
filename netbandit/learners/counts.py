"""Counting learners: keep the number and the sum of observations of each arm, own and received."""

from abc import abstractmethod
from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.byzantine.aggregation.one_arm import median_of, resilient_of, trimmed_of
from netbandit.compilation.steps import Compiled
from netbandit.learners.defence import more_liars_than_withstood
from netbandit.learners.slots import Learner, largest_mean
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.util.memory import exceeded, shown
from netbandit.util.text import pluralize

Agents = NDArray[np.int64]
Numbers = NDArray[np.float64]

_SLOT, _NUMBER, _LABEL = 8, 8, 4
_BYTES_A_NUMBER = 8

RULES = ("mean", "median", "trimmed", "resilient")
"""The rules by which an agent combines its own and received means of an arm, by number."""

_AHEAD = 1 << 17
"""How many numbers of all agents' streams are drawn in advance."""


def _keep(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("keep", 'must be "all", "degree" or a number from 0 to 1') from None


class Counts(NamedTuple):
    """The counts of all agents; a tuple, so that it can be passed to compiled loops.

    Attributes:
        pulls: N, the number of observations, shape (M, K); no whole number where they are discounted.
        sums: S, the sum of the rewards observed, shape (M, K).
        arms: The agent's own arms, ascending, shape (M, K); only the first ``counts`` of a row mean anything.
        counts: How many arms each agent has, shape (M,).
        decided: How often each agent has decided in its present life, shape (M,).
        open: Its own pulls of each arm of which it has not learned what they paid, shape (M, K); no size where it
            learns that at once.
        since: The slot in which this life began: 0, unless the agent lost its memory later, shape (M,).
    """

    pulls: Numbers
    sums: Numbers
    arms: NDArray[np.int64]
    counts: NDArray[np.int64]
    decided: NDArray[np.int64]
    open: Numbers
    since: NDArray[np.int64]


class Combination(NamedTuple):
    """The N and S that an agent decides by, if these differ from its counts, and work space.

    Attributes:
        rule: The number of the rule in `RULES`; 0: rewards are late, and own outstanding pulls may count in N.
        tolerate: f', the number of liars to withstand.
        kappa: See `netbandit.byzantine.aggregation.one_arm.resilient_of`.
        pulls, sums: N and S of the agent that decides, shape (1, K).
        means, counts: The means and pulls of an arm of which an agent has heard, shape (M,).
    """

    rule: int
    tolerate: int
    kappa: float
    pulls: Numbers
    sums: Numbers
    means: Numbers
    counts: Numbers


class CountingLearner(StepLearner):
    """Keeps N and S of every arm, from its own observations and those of others that it accepts.

    In its first decisions an agent pulls each of its own arms once, in order. After its pull of every slot it sends
    others its observation (arm and reward), as in MP-UCB and RCL-RS (Dubey & Pentland 2020; Madhushani et al. 2021);
    the protocol determines how far that goes.

    State: ``known``, see `Counts`.
    """

    counts_slots: ClassVar[bool] = True
    impossible: ClassVar[Mapping[str, str]] = {
        "adversary": 'no lie is defined for single observations: it must have share = "totals"'
    }

    discount: float = Field(default=1.0, gt=0, le=1)
    """gamma, the factor applied to N and S after every decision, so that the newest observation counts 1 in the next
    (Garivier & Moulines 2008); below 1, ln of the sum of N replaces ln of the slots."""
    sharing: Literal["observations", "totals"] = Field(default="observations", alias="share")
    """What agents send: each observation, or the number and the sum of all their own so far, of which the newest
    counts, so that the next message makes up for a loss."""
    use_after: int = Field(default=1, ge=1)
    """Slots after which others' observations are used, if they have arrived (gamma-bar)."""
    keep: Annotated[Literal["all", "degree"] | Annotated[float, Field(ge=0, le=1)], WrapValidator(_keep)] = "all"
    """The probability with which an agent uses a received observation: 1 (``all``), this number, or the smallest degree
    over its own (``degree``, RCL-LF). It is forwarded in any case."""
    keep_power: int | None = Field(default=None, ge=1, le=1)
    """With ``keep = "degree"``: 1: degrees in the graph; absent: the number of agents within reach of messages."""

    robust: Literal["mean", "median", "trimmed", "resilient"] = "mean"
    """With ``share = "totals"``: how the means that agents have found of an arm are combined: by adding up their sums
    (``mean``); the ``median`` of their means; their ``trimmed`` mean, without the ``tolerate`` smallest and largest; or
    ``resilient``: the own mean, and those of neighbours that have pulled the arm often enough, without the extremes."""
    tolerate: int | None = Field(default=None, ge=0)
    """The number of liars to tolerate; absent: that of ``[adversary]``."""
    kappa: float = Field(default=1.5, ge=1)
    """With ``robust = "resilient"``: an agent uses a neighbour's mean of an arm if it has pulled the arm at most this
    many times as often as the neighbour."""

    counts: Literal["observed", "pulled"] = "observed"
    """N of the width where rewards are late: that of rewards observed, or with one's own outstanding pulls
    (``pulled``)."""

    _combines: ClassVar[bool] = True

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`: totals, or single observations."""
        return "totals" if self.sharing == "totals" else None

    def check(self) -> Checks:
        """Yield ways of sharing that exclude each other, and keys without effect."""
        if self.sharing == "totals" and self.keep != "all":
            yield Mistake("keep", 'must be "all" with share = "totals": a total cannot be kept in parts')
        if self.sharing == "totals" and self.discount < 1:
            yield Mistake("discount", 'must be 1.0 with share = "totals": totals carry no age')
        if self.sharing == "totals" and self.use_after > 1:
            yield Mistake("use_after", 'must be 1 with share = "totals"')
        if self.keep_power is not None and self.keep != "degree":
            yield Note("keep_power", 'is used only with keep = "degree"')
        if self.robust != "mean" and self.sharing != "totals":
            text = "single observations have no mean that could be left out"
            yield Mistake(
                "robust", f'must be "mean" with share = "{self.sharing}": {text}; share = "totals" can be more'
            )
        if self.robust != "mean" and not self._combines:
            yield Mistake(
                "robust", 'must be "mean": this learner draws from a posterior of all it counts, not from a mean'
            )
        if self.counts == "pulled":
            yield from self._check_pulled()
        if self.tolerate is not None and self.robust in ("mean", "median"):
            yield Note("tolerate", f'is not used with robust = "{self.robust}", which needs no number')
        if self.robust != "resilient" and "kappa" in self.model_fields_set:
            yield Note("kappa", 'is used only with robust = "resilient"')

    def _check_pulled(self) -> Checks:
        if not self._combines:
            yield Mistake("counts", 'must be "observed": this learner draws from a posterior, and has no width')
        elif self.discount < 1:
            yield Mistake("counts", 'must be "observed" with discount < 1: what is outstanding does not fade')
        elif self.robust != "mean":
            yield Mistake("counts", f'must be "observed" with robust = "{self.robust}"')

    def check_with(self, others: Others) -> Checks:
        """Yield absorption of totals, which concern all arms."""
        if self.sharing == "totals" and getattr(others.protocol, "absorb", False):
            text = 'must be false with learner.share = "totals": only an observation is of one arm'
            yield Mistake("absorb", text, table="protocol")
        if self.counts == "pulled" and not others.late:
            yield Note("counts", "has no effect without [feedback]: all pulls are observed at once")
        yield from self._check_defence(others)
        if self.sharing == "totals":
            yield from self._check_memory(others)
        yield from fading_notes(self.discount, others)

    def _check_memory(self, others: Others) -> Checks:
        """Yield totals that do not fit the memory: each agent keeps those of all others."""
        agents, arms = others.agents, others.bandit.outline().arms
        if arms is None:  # a world that knows them only when it begins, such as a table
            return
        size = _BYTES_A_NUMBER * agents**2 * (2 * arms + 1)
        if (most := exceeded(size)) is not None:
            text = f"the totals of {arms:,} arms that each of {agents:,} agents keeps of all others take {shown(size)}"
            yield Mistake("share", f'cannot be "totals": {text} of memory; {shown(most)} is available here')

    def _check_defence(self, others: Others) -> Checks:
        if self.robust == "mean":
            return
        if others.protocol.isolated:
            yield Note("robust", "has no effect: agents never communicate")
            return
        tolerate = others.liars if self.tolerate is None else self.tolerate
        if self.robust != "median":
            yield from more_liars_than_withstood(self.tolerate, others.liars)
        reach = others.protocol.ttl if others.kinds["protocol"] == "local" else None
        if reach == 1 and tolerate:
            fewest = min(map(len, others.graph.neighbours)) + (self.robust != "resilient")
            if fewest <= 2 * tolerate:
                needs = "goes by its own mean alone" if self.robust == "resilient" else "may have to do with a majority"
                text = f"some agent hears {fewest}, and with {pluralize(tolerate, 'liar')} among them {needs}"
                yield Note("tolerate", text)

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state; what is kept comes from ``keep``, index: the receiving agent."""
        self.world = world
        own = np.ones((agents, world.arms), dtype=bool) if world.own_arms is None else world.own_arms
        self.known = Counts(
            pulls=np.zeros((agents, world.arms)),
            sums=np.zeros((agents, world.arms)),
            arms=np.argsort(~own, axis=1, kind="stable"),
            counts=own.sum(axis=1),
            decided=np.zeros(agents, dtype=np.int64),
            open=np.zeros((agents, world.arms) if world.late else (0, 0)),
            since=np.zeros(agents, dtype=np.int64),
        )
        self._open = self.known.open if world.late else None
        self._ages = np.zeros(0) if world.ages is None else world.ages
        self._all_known = np.zeros(agents, dtype=np.bool_)  # each own arm, for good
        self._open_count = self.counts == "pulled"
        self._in_turn, self._pulls_count = world.in_turn, world.log == "pulls"
        self._level = np.zeros(1)
        self._level_of = np.full(2, -1)  # the slot, and the one in which the life began of those for whom it is
        self._lives: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self._known_lives: NDArray[np.int64] = np.zeros((agents, agents) if world.forgets else (0, 0), dtype=np.int64)
        self._probabilities = self._kept()
        self._generators: dict[int, np.random.Generator] = {}
        self._ahead: Numbers = np.empty((agents, 0))  # numbers of each agent's stream
        self._used: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)  # how many of these
        self._later: dict[int, list[tuple[Agents, Numbers]]] = {}
        self._told = np.zeros((agents, 2))
        totals = self.sharing == "totals"
        self._own = np.zeros((agents, 2, world.arms)) if totals else np.zeros((0, 2, 0))
        self._totals: Numbers = np.zeros((agents, agents, 2, world.arms)) if totals else np.zeros((0, 0, 2, 0))
        rule = RULES.index(self.robust)
        self._combined: Combination | None = None
        if rule > 0 or (world.late and self._combines):
            pulls, sums = np.zeros((2, 1, world.arms))
            tolerate = world.liars if self.tolerate is None else self.tolerate
            self._combined = Combination(rule, tolerate, self.kappa, pulls, sums, *np.zeros((2, agents)))
        self._robust = self._combined if rule > 0 else None
        self._count, self._count_totals = Compiled(count, {}, "count"), Compiled(count_totals, {}, "count_totals")
        self._begin_lives = Compiled(begin_lives, {}, "begin_lives")
        self._newest: NDArray[np.int64] = np.full((agents, agents) if totals else (0, 0), -1)

    def _kept(self) -> Numbers | None:
        """Return the probability with which each agent uses a received observation; None: 1."""
        world = self.world
        if self.keep == "all":
            return None
        if self.keep != "degree":
            return np.full(world.agents, self.keep)
        assert world.members is not None
        assert world.degrees is not None
        degrees = world.degrees if self.keep_power == 1 else world.members - 1
        known = np.maximum(degrees, 1)  # agents that receive nothing need no probability
        return np.asarray(known[degrees > 0].min(initial=known.max()) / known)

    def why_no_loop(self, *, isolated: bool) -> str | None:
        """See `StepLearner.why_no_loop`."""
        if isolated:
            return None
        if self._open is not None and tells_observations(self):
            return "rewards may be late, and agents send each of them"
        return None if self.use_after == 1 else "observations of others are used later (use_after)"

    @abstractmethod
    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm with the largest index or sample, once *agent* has pulled all of its own."""

    def choose(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Count the observations that are due in *slot*, then choose."""
        if self._later:
            self._use_until(slot)
        return super().choose(slot, agents)

    def choose_one(self, slot: int, agent: int) -> Any:
        """Return the next own arm in the first decisions, then the best; let fade what was known when it decided."""
        decided = self.known.decided[agent]
        self.known.decided[agent] += 1
        # If agents take turns, the first to decide has tried an arm for all.
        if decided < self.known.counts[agent] and not self._in_turn:
            arm = self.known.arms[agent, decided]
        else:
            arm = -1
            if self._open is not None and not self._all_known[agent]:
                arm = self.unknown_one(agent)
            if arm < 0:
                arm = self.best_one(slot, agent)
        if self._open is not None:
            self._open[agent, arm] += 1.0
        if self.discount < 1.0:
            for each in range(self.known.pulls.shape[1]):
                self.known.pulls[agent, each] *= self.discount
                self.known.sums[agent, each] *= self.discount
        return arm

    def unknown_one(self, agent: int) -> Any:
        """Return the least pulled arm without any observation, the lowest among equals; -1: there is none."""
        found = -1
        for place in range(self.known.counts[agent]):
            arm = self.known.arms[agent, place]
            if self.known.pulls[agent, arm] == 0.0 and (
                found < 0 or self.known.open[agent, arm] < self.known.open[agent, found]
            ):
                found = arm
        self._all_known[agent] = found < 0 and self.discount == 1.0  # discounted, N may vanish
        return found

    def combine_one(self, agent: int, combined: Combination) -> None:
        """Write what *agent* takes N and S of all arms to be into *combined*."""
        if self._robust is not None:
            combine_totals(self._robust, agent, self._own[agent], self._totals[agent])
        else:
            for arm in range(self.known.pulls.shape[1]):
                known, total = self.known.pulls[agent, arm], self.known.sums[agent, arm]
                combined.pulls[0, arm] = known
                combined.sums[0, arm] = total
                if self._open_count:
                    combined.pulls[0, arm] += self.known.open[agent, arm]
                    combined.sums[0, arm] = total / max(known, 1.0) * combined.pulls[0, arm]

    def best_upper_one(self, pulls: Numbers, sums: Numbers, row: int, agent: int, width: float) -> Any:
        """Return the own arm of *agent* with the largest ``S/N + width / sqrt(N)``, the lowest index among equals.

        Args:
            pulls: N, shape (n, K).
            sums: S, shape (n, K).
            row: The row of the agent in these.
            agent: The agent.
            width: ``sigma sqrt(2 alpha ln tau)``.
        """
        best = self.known.arms[agent, 0]
        highest = -inf
        for place in range(self.known.counts[agent]):
            arm = self.known.arms[agent, place]
            index = inf
            if pulls[row, arm] > 0.0:
                index = sums[row, arm] / pulls[row, arm] + width / sqrt(pulls[row, arm])
            if index > highest:
                highest = index
                best = arm
        return best

    def level(self, slot: int, agent: int) -> Any:
        """Return `level_of` ln tau, tau the slots since the agent began or the sum of discounted N."""
        since = self.known.since[agent]
        if self._level_of[0] == slot and self._level_of[1] == since:  # the same for all that began together
            return self._level[0]
        passed = float(slot - since)
        if self.discount < 1.0:
            passed = 0.0
            for arm in range(self.known.pulls.shape[1]):
                passed += self.known.pulls[agent, arm]
        elif self._pulls_count:
            passed = float(slot * self.world.agents + agent)
        else:
            self._level_of[0] = slot
            self._level_of[1] = since
        level = self.level_of(log(max(passed, 1.0)))
        self._level[0] = level
        return level

    def level_of(self, log_time: float) -> float:
        """Return the term of the index that depends on ln tau; by default ln tau."""
        return log_time

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the observation, discounted in each decision since its pull."""
        weight = 1.0
        if self._open is not None:
            self._open[agent, arm] -= 1.0
            if self.discount < 1.0:
                weight = self.discount ** float(self._ages[agent])
        self.known.pulls[agent, arm] += weight
        self.known.sums[agent, arm] += weight * reward
        self._told[agent, 0] = arm
        self._told[agent, 1] = reward
        if self._own.shape[0]:
            self._own[agent, 0, arm] += 1.0
            self._own[agent, 1, arm] += reward

    def share(self, slot: int, agents: Agents) -> Numbers:
        """Return the observation of this slot, (arm, reward), or all own numbers and sums, shape (n, 2 K).

        Where agents lose their memory, totals come with the number of the life that they are of.
        """
        if not len(self._own):
            return self._told[agents]
        totals = self._own[agents].reshape(len(agents), -1)
        return np.column_stack([totals, self._lives[agents]]) if self.world.forgets else totals

    def item_bytes(self, numbers: int) -> int:
        """Return a reward, a slot, an arm and the hops left, or pairs of numbers, a slot and the hops left.

        The source is a label that the protocol adds: 28 bytes an observation with it, 16 K + 16 a source's totals.
        """
        if self.sharing == "totals":
            life = numbers % 2  # it comes after pairs; a message's size is asked for before there is a world, too
            return _NUMBER * (numbers - life) + _SLOT + _LABEL * (1 + life)
        return _NUMBER + _SLOT + 2 * _LABEL

    def absorbs(self, agent: int, told: Numbers) -> bool:
        """Return whether *agent* has the arm of an observation that it receives (FwA; Lee, Schmid, Yun 2023)."""
        own = self.world.own_arms
        return own is None or bool(own[agent, int(told[0])])

    def receive(
        self, slot: int, agents: Agents, sources: Agents, payloads: Numbers, sent_slots: NDArray[np.int64]
    ) -> None:
        """Count the observations of others that are accepted, at once or when they are due."""
        if len(self._own):
            known = self.known
            if self.world.forgets:  # the totals of an earlier life stay counted
                self._begin_lives(
                    self._totals, self._newest, self._known_lives, agents, sources, payloads[:, -1], sent_slots
                )
                payloads = np.ascontiguousarray(payloads[:, :-1])
            self._count_totals(
                known.pulls, known.sums, self._totals, self._newest, agents, sources, payloads, sent_slots
            )
            return
        if self._probabilities is not None:
            kept = self._drawn(agents, sources, sent_slots) < self._probabilities[agents]
            agents, payloads, sent_slots = agents[kept], payloads[kept], sent_slots[kept]
        if self.use_after == 1:
            # A column of an array would be one more type to compile for.
            self._count(self.known.pulls, self.known.sums, np.ascontiguousarray(agents), payloads)
            return
        due = sent_slots + self.use_after
        for time in np.unique(due).tolist():
            rows = due == time
            self._later.setdefault(time, []).append((agents[rows], payloads[rows]))
        self._use_until(slot)

    def answers(self, agents: Agents) -> NDArray[np.int64]:
        """See `Learner.answers`: of its own arms, that of the largest mean."""
        pulls, sums = self.known.pulls[agents], self.known.sums[agents]
        if self._robust is not None:
            for row, agent in enumerate(agents.tolist()):
                combine_totals(self._robust, agent, self._own[agent], self._totals[agent])
                pulls[row], sums[row] = self._robust.pulls[0], self._robust.sums[0]
        if self.world.own_arms is not None:
            pulls = pulls * self.world.own_arms[agents]
        return largest_mean(pulls, sums, np.arange(pulls.shape[1])[np.newaxis])

    def forget(self, slot: int, agents: Agents) -> None:
        """Reset to the initial state; the totals of the life before stay counted with others."""
        known = self.known
        known.pulls[agents] = known.sums[agents] = 0.0
        known.decided[agents] = 0
        if self._open is not None:
            self._open[agents] = 0.0
            self._all_known[agents] = False
        known.since[agents] = slot
        self._lives[agents] += 1
        if len(self._own):
            self._own[agents] = self._totals[agents] = 0.0
            self._newest[agents] = -1
        for parts in self._later.values():
            parts[:] = [(heard[kept], told[kept]) for heard, told in parts if len(kept := ~np.isin(heard, agents))]

    def _use_until(self, slot: int) -> None:
        """Count the observations received earlier that are due in *slot*."""
        for time in sorted(time for time in self._later if time <= slot):
            for agents, told in self._later.pop(time):
                self._count(self.known.pulls, self.known.sums, agents, told)

    def _drawn(self, agents: Agents, sources: Agents, said: NDArray[np.int64]) -> Numbers:
        """Return a uniform number for each row, from the stream of its agent, in order of source, then slot."""
        order: NDArray[np.int64] | slice = slice(None)
        if not _ordered(agents, sources, said):
            order = np.lexsort((said, sources, agents))
        numbers = np.bincount(agents, minlength=self.world.agents)
        if numbers.max(initial=0) > self._ahead.shape[1]:
            self._widen(int(numbers.max()))
        for agent in np.flatnonzero(self._used + numbers > self._ahead.shape[1]).tolist():
            self._draw_ahead(agent)
        who = agents[order]
        starts = np.cumsum(numbers) - numbers
        drawn = np.empty(len(agents))
        drawn[order] = self._ahead[who, self._used[who] + np.arange(len(who)) - starts[who]]
        self._used += numbers
        return drawn

    def _widen(self, needed: int) -> None:
        """Draw more numbers of each stream in advance, keeping those not yet used."""
        before, used = self._ahead, self._used
        self._ahead = np.empty((len(before), max(2 * needed, _AHEAD // len(before))))
        width = self._ahead.shape[1]
        for agent in range(len(before)):
            if agent not in self._generators:
                self._generators[agent] = self.world.streams.generator("keep", agent)
            left = before[agent, used[agent] :]
            self._ahead[agent, : len(left)] = left
            self._ahead[agent, len(left) :] = self._generators[agent].random(width - len(left))
        used[:] = 0

    def _draw_ahead(self, agent: int) -> None:
        """Replace the numbers of an agent's stream that have been used by those that follow."""
        used = int(self._used[agent])
        own = self._ahead[agent]
        own[: len(own) - used] = own[used:].copy()
        own[len(own) - used :] = self._generators[agent].random(used)
        self._used[agent] = 0


def tells_observations(learner: Learner) -> bool:
    """Return whether agents of a *learner* send each of their observations."""
    return isinstance(learner, CountingLearner) and learner.sharing == "observations"


def fading_notes(discount: float, others: Others) -> Checks:
    """Yield a *discount* by which agents count no more pulls than there are arms."""
    if discount == 1:
        return
    arms = others.bandit.outline().arms
    most = (1 if others.protocol.isolated else others.agents) / (1 - discount)
    if arms is not None and arms > 1 and most <= arms:
        text = f"so small that an agent counts at most {most:.3g} pulls at a time, of {pluralize(arms, 'arm')}"
        yield Note("discount", f"{text}: nothing that it learns lasts, and it pulls all about equally often")


def _ordered(agents: Agents, sources: Agents, said: NDArray[np.int64]) -> bool:
    """Return whether rows are in order of agent, then source, then slot."""
    same = agents[1:] == agents[:-1]
    later = (sources[1:] > sources[:-1]) | ((sources[1:] == sources[:-1]) & (said[1:] > said[:-1]))
    return bool(((agents[1:] > agents[:-1]) | (same & later)).all())


def count(pulls: Numbers, sums: Numbers, agents: Agents, told: Numbers) -> None:
    """Add the observations *told*, rows of (arm, reward), to the counts of the *agents* that receive them."""
    for row in range(agents.size):
        arm = int(told[row, 0])
        pulls[agents[row], arm] += 1.0
        sums[agents[row], arm] += told[row, 1]


def count_totals(
    pulls: Numbers,
    sums: Numbers,
    totals: Numbers,
    newest: NDArray[np.int64],
    agents: Agents,
    sources: Agents,
    told: Numbers,
    said: NDArray[np.int64],
) -> None:
    """Replace the totals previously received from *sources* by the totals *told*, where these are newer.

    Args:
        pulls: N, shape (M, K).
        sums: S, shape (M, K).
        totals: The numbers and sums that each agent has of each source, shape (M, M, 2, K).
        newest: The slots that these are of, shape (M, M); -1: there are none.
        agents: The receivers, one for each row, shape (n,).
        sources: The agents that the rows are of, shape (n,).
        told: Numbers and sums, shape (n, 2 K).
        said: The slots that these are of, shape (n,).
    """
    arms = pulls.shape[1]
    for row in range(agents.size):
        agent, source = agents[row], sources[row]
        if said[row] <= newest[agent, source]:
            continue
        newest[agent, source] = said[row]
        for arm in range(arms):
            pulls[agent, arm] += told[row, arm] - totals[agent, source, 0, arm]
            sums[agent, arm] += told[row, arms + arm] - totals[agent, source, 1, arm]
            totals[agent, source, 0, arm] = told[row, arm]
            totals[agent, source, 1, arm] = told[row, arms + arm]


def begin_lives(
    totals: Numbers,
    newest: NDArray[np.int64],
    known: NDArray[np.int64],
    agents: Agents,
    sources: Agents,
    lives: Numbers,
    said: NDArray[np.int64],
) -> None:
    """Keep what was counted of a source's earlier incarnation for good where totals of a new one arrive.

    Args:
        totals: The totals that each agent has of the present incarnation of each source, shape (M, M, 2, K); updated.
        newest: The slots that these are of, shape (M, M).
        known: The incarnation of each source that each agent has heard of, shape (M, M); updated.
        agents: The receivers, one for each row, shape (n,), in order of arrival.
        sources: The agents that the rows are of, shape (n,).
        lives: Their incarnations, shape (n,).
        said: The slots that the rows are of, shape (n,).
    """
    for row in range(agents.size):
        agent, source = agents[row], sources[row]
        if said[row] > newest[agent, source] and lives[row] > known[agent, source]:
            known[agent, source] = int(lives[row])
            totals[agent, source] = 0.0


def combine_totals(combined: Combination, agent: int, own: Numbers, totals: Numbers) -> None:
    """Write N and S of each arm as *agent*, which does not trust the totals of others, combines these into *combined*.

    S / N is the robust mean. N counts all pulls received, which determine the width of the index; with
    ``resilient`` it is the agent's own over g, so that the width is ``sqrt(2 g ln(t) / n_i)``.

    Args:
        combined: The rule, and where N and S are written.
        agent: The agent.
        own: Its own numbers and sums, shape (2, K).
        totals: The totals that it has of each source, shape (M, 2, K).
    """
    for arm in range(own.shape[1]):
        own_pulls = own[0, arm]
        heard = 0
        total = 0.0
        if own_pulls > 0.0 and combined.rule != 3:
            combined.means[0] = own[1, arm] / own_pulls
            total = own_pulls
            heard = 1
        for source in range(totals.shape[0]):
            if source != agent and totals[source, 0, arm] > 0.0:
                combined.means[heard] = totals[source, 1, arm] / totals[source, 0, arm]
                combined.counts[heard] = totals[source, 0, arm]
                total += totals[source, 0, arm]
                heard += 1
        if combined.rule == 3:
            combined.pulls[0, arm] = 0.0
            if own_pulls > 0.0:
                mean, factor = resilient_of(
                    own[1, arm] / own_pulls,
                    own_pulls,
                    combined.means,
                    combined.counts,
                    heard,
                    combined.tolerate,
                    combined.kappa,
                )
                combined.pulls[0, arm] = own_pulls / factor
                combined.sums[0, arm] = mean * combined.pulls[0, arm]
            continue
        combined.pulls[0, arm] = total
        if heard > 0:
            combined.means[:heard].sort()
            if combined.rule == 1:
                mean = median_of(combined.means, heard)
            else:
                mean = trimmed_of(combined.means, heard, combined.tolerate)
            combined.sums[0, arm] = mean * total
