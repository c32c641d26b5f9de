"""Forges the items of liars in a replication, and lets receivers filter invalid ones.

A lie is made once, when its agent contributes: between the learner and the protocol, after noise is added. Hence every
protocol carries it like an honest item, and all agents receive the same lie.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.gaussian import Gaussian
from netbandit.byzantine.adversaries.attack_kinds import Attack, Form
from netbandit.byzantine.adversaries.false_means import View, false_means, place_of
from netbandit.byzantine.adversaries.own_attack import LiarsView, own_lie
from netbandit.byzantine.adversaries.validation import valid_arms, valid_means, valid_pulls
from netbandit.learners.differing_sets import Told
from netbandit.network.message import NUMBER_BYTES
from netbandit.protocols.protocol import Item
from netbandit.simulation.result import Metric

if TYPE_CHECKING:
    from netbandit.simulation.driver import ReplicationContext


class Liars:
    """The liars of a replication, when they start to lie, and the counts of forged and rejected items.

    Args:
        context: The replication.

    Attributes:
        liars: The agents that lie.
        counted: 1 for each agent whose regret counts, 0 for a liar, shape (M,).
    """

    def __init__(self, context: "ReplicationContext") -> None:
        self._plan = plan = context.lies
        self._bandit: Any = context.bandit
        self._clock = context.clock
        self._horizon = context.clock.horizon
        self.liars = plan.liars
        self.counted = np.ones(context.topology.agents)
        self.counted[sorted(plan.liars)] = 0.0
        self._streams = {agent: context.streams.generator("adversary", agent) for agent in sorted(plan.liars)}
        # One each, so that the state of an attack does not depend on which other liars have sent before.
        self._own: Mapping[int, object] = {agent: plan.own() for agent in sorted(plan.liars)} if plan.own else {}
        self._contributed = self._forged = 0
        self._rejected: dict[Any, Any] = {}

    @property
    def _attack(self) -> Attack:
        attack = self._plan.attack
        assert attack is not None, "a liar has an attack, and a user-defined one makes its own lies"
        return attack

    def _own_lie(self, form: Form, truth: Sequence[NDArray[np.float64]], view: LiarsView) -> list[NDArray[np.float64]]:
        """Return the item that a user-defined attack sends in place of the *truth*; see `own_lie`."""
        return own_lie(self._own[view.agent], form, truth, view, self._streams[view.agent])

    @property
    def _lies_now(self) -> bool:
        return self._forges and self._clock.now >= self._plan.begin

    def _tells_a_lie(self, agent: int) -> bool:
        """Count an item sent by *agent*; return whether it is to be forged."""
        if not self.liars:
            return False
        self._contributed += 1
        return agent in self.liars and self._lies_now

    @property
    def _forges(self) -> bool:
        """Whether any agent ever sends a forged item."""
        return bool(self.liars) and self._plan.attack not in ("none", "mute")

    @property
    def _mute_now(self) -> bool:
        return bool(self.liars) and self._plan.attack == "mute" and self._clock.now >= self._plan.begin

    def is_mute(self, agent: int) -> bool:
        """Return whether *agent* no longer sends anything."""
        return self._mute_now and agent in self.liars

    @property
    def mute(self) -> NDArray[np.bool_]:
        """Which agents no longer send anything, shape (M,)."""
        mute: NDArray[np.bool_] = (self.counted == 0.0) & self._mute_now
        return mute

    def speaking(self, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of *agents* that are not mute."""
        return agents[self.counted[agents] > 0] if self._mute_now else agents

    def metrics(self) -> dict[str, Metric]:
        """Return the counts of forged and rejected items; empty without an adversary."""
        if self._plan.attack is None and self._plan.own is None:
            return {}
        lies = self._forged / self._contributed if self._contributed else 0.0
        return {"lies": lies, "rejected": len(self._rejected)}


class MeanLies(Liars):
    """Forges means, and validates received items.

    Args:
        context: The replication.
        bounded: Whether honest agents release means from 0 to 1.
    """

    def __init__(self, context: "ReplicationContext", *, bounded: bool) -> None:
        super().__init__(context)
        self._bounded = bounded and not isinstance(context.bandit, Gaussian)
        self._before: dict[int, dict[int, float]] = {}
        # Such an agent lies on behalf of its group: its own item goes no further.
        self._speakers = frozenset(context.topology.sinks if context.protocol.speaks_for_groups else ())

    def sent(
        self,
        agent: int,
        arms: NDArray[np.int64],
        truth: NDArray[np.float64],
        releases: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the values that *agent* sends for its *arms*, given the honest values *truth*, shape (a,).

        Args:
            agent: The agent.
            arms: The arms, ascending, shape (a,).
            truth: The honest values, shape (a,).
            releases: The honest values of each agent in the round, shape (M, a); None: they are not known yet.
        """
        if not self.liars:
            return truth
        self._contributed += 1
        return truth if agent in self._speakers else self._sent(agent, arms, truth, releases)

    def sent_for_group(self, agent: int, arms: NDArray[np.int64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that *agent* sends on behalf of a group, given the honest values *truth*, shape (a,)."""
        return self._sent(agent, arms, truth, None) if agent in self.liars else truth

    def _sent(
        self,
        agent: int,
        arms: NDArray[np.int64],
        truth: NDArray[np.float64],
        releases: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        if agent not in self.liars or not self._lies_now or not len(arms):  # with no reward yet, it reports no arm
            return truth
        means = self._bandit.global_means[arms]
        honest = [each for each in range(len(releases)) if each not in self.liars] if releases is not None else []
        theirs = np.empty((0, len(arms))) if releases is None else releases[honest]
        if self._own:
            (payload,) = self._own_lie("means", [truth], LiarsView(agent, arms.copy(), means, theirs))
        else:
            view = View(
                arms=arms,
                truth=truth,
                means=means,
                target=place_of(self._plan.target, arms, means),
                before=self._before.get(agent, {}),
                honest=theirs,
                liars=len(self.liars),
                most=1.0 if self._plan.strength is None else self._plan.strength,
            )
            payload = false_means(self._attack, view, self._streams[agent])
        if self._bounded and self._plan.strength is None:
            payload = np.clip(payload, 0.0, 1.0)
        self._before[agent] = dict(zip(arms.tolist(), truth.tolist(), strict=True))
        self._forged += not np.array_equal(payload, truth)
        return payload

    def valid(self, items: Sequence[Item]) -> list[int]:
        """Return the indices of the *items* that pass validation."""
        if not self.liars:
            return list(range(len(items)))
        kept = []
        for index, item in enumerate(items):
            if self._is_valid(item):
                kept.append(index)
            elif item.value is not None:  # None: the aggregate of a node that has rejected all items
                self._rejected[id(item)] = item  # kept, so that no other gets its id
        return kept

    def _is_valid(self, item: Item) -> bool:
        value = item.value
        if isinstance(value, Told):
            return (
                valid_arms(value.arms, len(self._bandit.global_means))
                and valid_means(value.means, len(value.arms), bounded=self._bounded)
                and all(valid_pulls(one, self._horizon) for one in np.atleast_1d(value.pulls).tolist())
            )
        if isinstance(value, np.ndarray):
            return valid_means(value, item.size // NUMBER_BYTES, bounded=self._bounded)
        return value is not None  # aggregated from items that have been checked, if any passed
