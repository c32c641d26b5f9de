"""Agents that decide one after the other within a slot, each knowing all before it: a free reference, out of band."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.bandit_environments import BanditEnvironment
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.communication import CommunicationStrategy
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric
from netbandit.simulation.slot_account import Account
from netbandit.simulation.turns import Turns

Play = Callable[[int, int], int]
"""See `netbandit.simulation.play.Play`."""


class InTurn(CommunicationStrategy):
    """What an agent tells after its pull is heard by all others before the next one decides, in the same slot.

    Args:
        context: All that the driver works with.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        protocol = context.protocol
        assert isinstance(protocol, Pooled)
        agents = len(self.everybody)
        self.in_turn = True
        self.log = protocol.log
        self.members = np.full(agents, agents)
        self.isolated = agents == 1
        self._told = 0
        self._here: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._others: dict[int, NDArray[np.int64]] = {}

    def decide(self, turn: int, turns: Turns, learner: Learner, world: BanditEnvironment, account: Account) -> None:
        """Let all agents of *turn* decide, in order of number; those that are down hear nothing."""
        missed: list[NDArray[np.float64]] = [np.zeros(0)]
        slot, agents = turns.slot(turn), turns.agents(turn)
        if self._here is not turns.here:
            self._here = turns.here
            self._others = {agent: self._here[self._here != agent] for agent in self._here.tolist()}
        for agent in agents.tolist():
            others = self._others[agent]
            who = self.everybody[agent : agent + 1]
            world.show(slot, who)
            arms = learner.choose(slot, who)
            rewards, regret = world.pull(slot, who, arms)
            learner.learn(slot, who, arms, rewards)
            world.digest(account.digests, who, arms, rewards)
            missed.append(regret)
            told = learner.share(slot, who)
            if told is not None and len(others) and not self.lies.is_mute(agent):
                sources, said = np.full(len(others), agent), np.full(len(others), slot)
                told = self.lies.told(slot, who, told)
                if self.lies.sound(who, told, said[:1]) is not None:
                    continue
                learner.hear(slot, others, sources, np.repeat(told, len(others), axis=0), said)
                self._told = slot + 1
        account.add(slot, agents, np.concatenate(missed), ends=turns.ends(turn))

    @property
    def releases(self) -> int:
        """How often agents told others."""
        return self._told

    def metrics(self) -> dict[str, Metric]:
        """Return the slots in which agents shared."""
        return {"rounds": self._told, "round_slots": 0.0, "delay_slots": 0.0 if self._told else None}


def one_after_the_other(
    strategy: InTurn, learner: Learner, world: BanditEnvironment, account: Account, turns: Turns
) -> Play:
    """Return the loop of agents that take turns."""

    def run(first: int, last: int) -> int:
        for turn in range(first, last):
            strategy.decide(turn, turns, learner, world, account)
        return last

    return run
