"""The epoch driver for agents with differing state: each explores and concludes individually.

State may differ if agents wait only until a deadline, receive only from nearby agents, or lose their memory when down.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from simpy import Event

from netbandit.learners.differing_sets import Answer, DifferingSets, Told
from netbandit.learners.elimination_pooled import Pooled
from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.adapters import round_protocol
from netbandit.protocols.protocol import SERVER, Item
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.epochs import EXPLOIT, EXPLORE, Epochs
from netbandit.simulation.return_validation import checked

_POOLED_BYTES = LABEL_BYTES + 4 * NUMBER_BYTES
"""Bytes per arm of an item pooled over several agents: its label, the mean, N_k, and the sums of 1/S and 1/S^2."""


class EpochsApart(Epochs):
    """As `Epochs`, but each agent has its own learner, which draws its rewards alone.

    An item names its arms and how often each was pulled. An agent that commits announces this once, and keeps
    forwarding the items of others.

    If agents lose their memory, each of an agent's incarnations starts with the first epoch in the first slot after it
    comes back up, and ends when it goes down. Others keep the items it has sent.

    Args:
        context: As for `Epochs`; the active sets of the learner may differ between agents.
    """

    apart = True

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        self._forgets = context.network.forgets
        self._learners: list[Any] = [None] * self._agents
        self._sharing = [self._participating] * self._agents
        self._concluded: dict[int, set[int]] = {}
        self._committed: set[int] = set()
        self._lives = [0] * self._agents
        self._latest: tuple[list[Item], Item] | None = None

    def start(self) -> None:
        """Start a process for every agent that is up."""
        network = self.context.network
        # Who goes down is forgotten before the clock that ends rounds looks at who is left.
        down = set(network.watch_agents(self._changed)) if self._forgets else set()
        self._protocol = round_protocol(self.context.protocol, network, self)
        self._let_sinks_lie()
        reach = self._protocol.reach
        if reach is not None:
            self._sharing = list(reach)
        self._server = self._new_learner(self._participating, self._agents)
        for agent in network.acting:
            if agent not in down:
                self._clock.environment.process(self._live(agent))

    def _new_learner(self, participants: int, members: int) -> Any:
        learner = checked(self._learner.fresh())
        assert isinstance(learner, EpochLearner)
        assert isinstance(learner, DifferingSets)
        self._prepare(learner)
        learner.start_apart(
            arms=self._bandit.arm_count,
            horizon=self._clock.horizon,
            participants=participants,
            members=members,
            smallest_gap=self._bandit.smallest_gap,
        )
        return learner

    def _live(self, agent: int) -> Generator[Event, Any, None]:
        """Run one incarnation of an agent: explore, contribute, wait, and repeat; finally commit to one arm."""
        clock = self._clock
        limit = self._life_end(agent)
        sharing = self._sharing[agent]
        drawn = self._participating < self._agents and not self._isolated and self._protocol.chooses
        learner = self._learners[agent] = self._new_learner(sharing, self._agents if drawn else sharing)
        learner.agent = agent  # for who watches
        start, number, informed, released = clock.boundary(clock.now), 1, True, False
        while (start := (yield from self._until_present(agent, start))) < limit:
            action = learner.begin(number)
            self._look_for_best(agent, action)
            if isinstance(action, Commit):
                yield clock.wait_until(start)
                self._committed.add(agent)
                self._fingerprint.record(start * clock.slot, agent, EXPLOIT.code, action.arm)
                self._count_to_the_end(agent, partial(self._exploit, agent, 0, start, limit, action.arm))
                self._protocol.done(agent, number)
                return
            self._fingerprint.record(start * clock.slot, agent, EXPLORE.code, action.slots)
            explore = partial(self._explore_for_itself, agent, start, limit, action)
            end = yield from self._until_explored(agent, start, action.slots, explore)
            self._note("explore", agent, number, start, min(end, limit), arms=len(action.arms))
            if end >= clock.horizon:
                self._exploring[agent] = number
                return
            end = yield from self._until_present(agent, end)
            if end >= limit:
                return
            rewards, noise = self._own[agent]
            itself = np.array([agent], dtype=np.int64)
            learner.observe(self._bandit.pull_blocks(rewards, itself, action.arms, action.pulls), noise)
            best = int(learner.best_arms[0])
            yield clock.wait_until(end)
            if self._lies.is_mute(agent):
                return
            item = None
            if self._takes_part(agent, number) and (informed or not drawn):
                item = Item(
                    LABEL_BYTES * len(action.arms) + NUMBER_BYTES * (len(action.arms) + 1),
                    self._told(agent, learner.tell()),
                )
                learner.note_shared(agent, number, action.arms, learner.releases[0])
                self._contributions[agent] += 1
                self._lives[agent] += not released
                released = True
            self._waiting[agent] = number, end, best
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, best)
            if item is not None and not (yield from self._compute(agent, "item")):
                return
            answer = yield self._protocol.contribute(number, agent, item)
            if answer is not None and not self._protocol.served:
                yield from self._compute(agent, "aggregate")
            del self._waiting[agent]
            start = clock.boundary(clock.now)
            self._exploit(agent, number, end, min(start, limit), best)
            self._wait_ended(number, end, start)
            if clock.now <= clock.end:
                self._concluded.setdefault(number, set()).add(agent)
            informed = answer is not None
            if answer is None:
                learner.keep()
            elif isinstance(answer.value, Answer):
                learner.adopt(answer.value)
            number += 1

    def _told(self, agent: int, truth: Told) -> Told:
        """Return the item that *agent* sends, given the honest item *truth*."""
        if self._isolated:
            return truth
        return replace(truth, means=self._lies.told(agent, truth.arms, truth.means))

    def _uploaded(self, sink: int, round: int, item: Item) -> Item:
        """See `Epochs`."""
        pooled: Pooled = item.value
        if sink not in self._lies.liars or not len(pooled.arms):
            return item
        means = self._lies.told_of_group(sink, pooled.arms, pooled.means)
        return Item(item.size, replace(pooled, means=means))

    def _explore_for_itself(self, agent: int, start: int, limit: int, phase: Phase) -> int:
        """Count what *agent* plays in a phase from slot *start* on; return the boundary at which it ends."""
        for place, arm in enumerate(phase.arms.tolist()):
            if start >= limit:  # what the horizon cuts may be of any length
                return start + phase.pulls * (len(phase.arms) - place)
            end = start + phase.pulls if self._presence is None else self._presence[agent].end(start, phase.pulls)
            self._count(agent, start, min(end, limit), arm)
            start = end
        return start

    def _life_end(self, agent: int) -> int:
        """Return the first slot that *agent* no longer plays in the incarnation that it begins now."""
        horizon = self._clock.horizon
        outages = self.context.network.outages
        if not self._forgets or outages is None:
            return horizon
        down = outages.node(agent).down(self._clock.now)
        return horizon if down == inf else min(horizon, self._clock.boundary(int(down)))

    def _changed(self, agent: int, up: bool) -> None:
        """Start a new incarnation of *agent*, or let it forget its state."""
        if up:
            self._clock.environment.process(self._live(agent))
            return
        self._committed.discard(agent)
        self._exploring.pop(agent, None)
        waiting = self._waiting.pop(agent, None)
        if waiting is not None:
            number, since, arm = waiting
            self._exploit(agent, number, since, min(self._clock.boundary(self._clock.now), self._clock.horizon), arm)
        self._protocol.forget(agent)

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Let the learner pool *items*, each of which contains the number of agents it represents."""
        items = [items[place] for place in self._lies.sound(items)]
        latest = self._latest  # agents that hold the same items usually conclude one after another
        if latest is not None and list(map(id, latest[0])) == list(map(id, items)):
            return latest[1]
        assert isinstance(self._learner, DifferingSets)
        pooled = self._learner.pool([item.value for item in items])
        found = Item(_POOLED_BYTES * len(pooled.arms), pooled)
        self._latest = items, found
        return found

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Let an agent adopt the aggregate of all items it holds; or the server, which returns its answer."""
        if group != SERVER:
            learner = self._learners[group]
            learner.conclude_pooled(learner.pool([aggregate.value]))  # a protocol may give an agent's own item back
            return Item(0, None)
        answer: Answer = self._server.answer(round, aggregate.value)
        choice = self._participating if answer.commit is None and not self._everybody else 0
        return Item(LABEL_BYTES * (len(answer.active) + choice), answer)

    def _ended_rounds(self) -> list[int]:
        """Return the rounds that nobody is in any more who is up; see `Epochs`."""
        ended = set(super()._ended_rounds())
        if self._isolated:
            return sorted(ended)
        last = self._clock.horizon - 1
        here = {agent for agent in range(self._agents) if self._next_present(agent, last) == last}
        ended |= {number for number, agents in self._concluded.items() if here <= agents | self._committed}
        return sorted(ended)

    def _spent(self, releases: int) -> PrivacySpent:
        """Account for the agent that shares with most others, of those that released anything, in all its lives."""
        sharing = max(
            (size for size, made in zip(self._sharing, self._contributions.tolist(), strict=True) if made),
            default=max(self._sharing),
        )
        spent = self._learner.account(participants=sharing, members=self._agents, releases=releases)
        return spent.after_lost_memory() if releases and max(self._lives) > 1 else spent

    def _remarks(self) -> tuple[str, ...]:
        remarks = super()._remarks() if self._protocol.chooses else ()
        epsilon = getattr(self._learner, "epsilon", inf)
        fewest, most = min(self._sharing), max(self._sharing)
        if fewest < most and epsilon < inf:
            remarks += (
                f"agents share with {fewest} to {most} agents, and the fewer they are, the more noise each adds: the "
                f"widths take the noise of others to be as small as an agent's own",
            )
        return remarks
