"""Which arms each agent sees and pulls."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import GeneratorOf
from netbandit.parts.component import Checks, Mistake, Others, Part

_TRIES = 1_000


class ArmSets(Part):
    """The keys of a world in which agents have arms of their own; at most one of them."""

    arms_per_agent: int | None = Field(default=None, ge=1)
    """Number of arms of each agent, a uniform random subset; all subsets are redrawn until they cover all arms."""
    arm_sets: list[list[int]] | None = Field(default=None, min_length=1)
    """The arms of each agent, by number from 0."""

    def check_sets(self, arms: int | None) -> Checks:
        """Yield what is wrong with these keys; *arms* is the number K of arms, if it is known."""
        if self.arms_per_agent is not None and self.arm_sets is not None:
            yield Mistake("arm_sets", "excludes arms_per_agent: sets are either given or drawn")
        if arms is None:
            return
        if self.arms_per_agent is not None and self.arms_per_agent > arms:
            yield Mistake("arms_per_agent", f"must be at most the number of arms, {arms}, not {self.arms_per_agent}")
        for agent, own in enumerate(self.arm_sets or []):
            if not own or len(set(own)) != len(own) or not all(0 <= arm < arms for arm in own):
                yield Mistake(("arm_sets", agent), f"must list some arms from 0 to {arms - 1}, each once, not {own}")

    def check_agents(self, others: Others, arms: int | None) -> Checks:
        """Yield sets for another number of agents, and too few arms an agent for all arms to be assigned."""
        if self.arm_sets is not None and len(self.arm_sets) != others.agents:
            yield Mistake("arm_sets", f"lists {len(self.arm_sets)} sets, but there are {others.agents} agents")
        if self.arms_per_agent is not None and arms is not None and self.arms_per_agent * others.agents < arms:
            least = -(-arms // others.agents)
            text = f"must be at least {least}: with {others.agents} agents every arm must belong to some agent"
            yield Mistake("arms_per_agent", text)

    def own_arms_of(self, arms: int, agents: int, generator: GeneratorOf) -> NDArray[np.bool_] | None:
        """Return which arms each agent has, shape (M, K); None: all.

        Raises:
            ValueError: No draw assigned every arm to an agent.
        """
        if self.arm_sets is not None:
            own = np.zeros((agents, arms), dtype=bool)
            for agent, chosen in enumerate(self.arm_sets):
                own[agent, chosen] = True
            return own
        if self.arms_per_agent is None:
            return None
        rng = generator("bandit.arm_sets", 0)
        for _ in range(_TRIES):
            ranks = rng.random((agents, arms)).argsort(axis=1).argsort(axis=1)
            own = ranks < self.arms_per_agent
            if own.any(axis=0).all():
                return own
        raise ValueError(f"no {_TRIES:,} draws of {self.arms_per_agent} arms for each agent covered all arms")
