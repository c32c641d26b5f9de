"""Base of all bandits: an environment, drawn from its keys, that returns rewards for actions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.parts.component import Part, state
from netbandit.user_code.errors import ReturnedError

GeneratorOf = Callable[[str, int], np.random.Generator]
"""Gives the generator for a purpose (``"bandit.means"``) and an index; asked twice, it starts afresh."""

Watch = Callable[[str, int, int], None]
"""Told what is read, how much of it has been, and how much there is."""


class Outline(NamedTuple):
    """Facts about a bandit that are known before anything is drawn; None where they are not.

    Attributes:
        arms: The number K of arms.
        dimension: The length d of an action vector or a context.
        has_gap: False where it is certain that no arm is worse than another.
    """

    arms: int | None = None
    dimension: int | None = None
    has_gap: bool = True


class Bandit(Part, ABC):
    """A world: its keys, and once it is started one instance of it, fixed for a replication."""

    seed: int | None = Field(default=None, ge=0)
    """Fixes the instance across replications; absent, each replication draws its own."""
    horizon: int = state(default=1)
    """T, in slots; known before the start."""
    agents: int = state()
    """The number M of agents; known before the start."""
    agent_names: Callable[[], list[str]] | None = state(default=None)
    """Returns the name of each agent; known before the start of a run."""

    @property
    def discards(self) -> bool:
        """Whether some choices, as those that a log cannot judge, have no reward: it is NaN, and nothing is learned."""
        return False

    @abstractmethod
    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the instance.

        Args:
            agents: The number M of agents.
            generator: Streams of the instance; purposes start with ``bandit.``. Where `seed` is given, the caller
                makes these streams from it.
        """

    def outline(self) -> Outline:
        """Return what is known before anything is drawn, for the learner's and the protocol's checks."""
        return Outline()

    def arm_names(self) -> Sequence[str] | None:
        """Return what its arms are called in files, also before it is started; None, the default: numbers from 0.

        Raises:
            ValueError: It cannot be known.
        """
        return None

    def figures(self) -> dict[str, float | int | None]:
        """Return additional metrics, at the end of a run; by default there are none."""
        return {}

    def files(self) -> dict[str, str]:
        """Return the files whose content decides the numbers, by the key that names each; none by default.

        A relative path starts at the scenario that it is written in; `start` finds absolute ones in the keys.
        """
        return {}


class ArmBandit(Bandit):
    """A bandit with finitely many arms, whose means may change from slot to slot.

    The least that one of your own needs is `means_at`::

        class Shift(ArmBandit):
            before: list[float] = [0.2, 0.8]
            after: list[float] = [0.8, 0.2]
            at: int = 5_000

            def means_at(self, slot):
                return np.array(self.before if slot < self.at else self.after)
    """

    @abstractmethod
    def means_at(self, slot: int) -> NDArray[np.float64] | None:
        """Return the mean reward of each arm in a slot, shape (K,), or of each agent and arm, shape (M, K).

        None, in every slot: they are unknown. Then `arm_count` and `pull` must be overridden, there is no regret, and
        runs are compared by ``reward``.
        """

    def known_means(self, slot: int) -> NDArray[np.float64]:
        """Return `means_at`, for what cannot do without.

        Raises:
            ReturnedError: They are unknown.
        """
        means = self.means_at(slot)
        if means is None:
            text = "must return means, or its class override arm_count and pull, and its scenario have no [adversary]"
            raise ReturnedError(f"{type(self).__qualname__}.means_at {text}", "bandit")
        return means

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the instance; there is nothing to draw by default, and nothing to call where it is overridden."""
        self.agents = agents

    @property
    def arm_count(self) -> int:
        """The number K of arms, once it is started."""
        return int(self.known_means(0).shape[-1])

    @property
    def law(self) -> str:
        """The law of rewards as learners distinguish it: ``bernoulli`` (0 or 1), ``gaussian``, or any ``other``."""
        return "bernoulli"

    @property
    def sub_gaussian(self) -> float:
        """The sub-Gaussian constant sigma of the rewards, the largest of all arms; by default that of [0, 1]."""
        return 0.5

    @property
    def own_arms(self) -> NDArray[np.bool_] | None:
        """Which arms each agent sees and pulls, shape (M, K); None, the default: all of them."""
        return None

    def draw(self, rng: np.random.Generator, slots: int) -> NDArray[np.float64]:
        """Return the numbers that decide an agent's rewards in its next slots, one each, shape (slots,).

        They do not depend on what is pulled, so all learners meet the same luck. By default they are uniform in [0, 1).
        Drawn in blocks of any length, they must be the same.
        """
        return rng.random(slots)

    def pull(
        self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Let each of the *agents* pull its arm once; by default it pays 1 with the probability of its mean, else 0.

        Args:
            slot: The slot.
            agents: The agents that pull, shape (n,).
            arms: The arm of each, shape (n,).
            numbers: What decides each agent's reward in this slot, from :meth:`draw`, shape (n,).

        Returns:
            The rewards, shape (n,).
        """
        paid: NDArray[np.float64] = self.paid(arms, self.mean_of(slot, agents, arms), numbers)
        return paid

    def mean_of(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean of the arm of each agent in a slot, shape (n,)."""
        means = self.known_means(slot)
        found: NDArray[np.float64] = means[arms] if means.ndim == 1 else means[agents, arms]
        return found

    def paid(self, arm: Any, mean: Any, number: Any) -> Any:
        """Return what an arm of this mean pays where *number* decides: of one pull, or of an array of them."""
        return (number < mean) * 1.0

    def regrets(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the pseudo-regret of each choice, shape (n,): by the mean of each arm over all agents.

        None, in every slot: it is unknown; so it is by default where the means are.

        Args:
            slot: The slot.
            agents: The agents that pull, shape (n,).
            arms: The arm of each, shape (n,).
        """
        means = self.means_at(slot)
        if means is None:
            return None
        means = means if means.ndim == 1 else means.mean(axis=0)
        regrets: NDArray[np.float64] = means.max() - means[arms]
        return regrets


class FiniteBandit(ArmBandit):
    """A bandit whose arms' means never change, so that it can pay for a block of pulls at once.

    Its `start` calls `settle`.
    """

    agent_means: NDArray[np.float64] = state()
    """The mean reward of each agent and arm, shape (M, K), read-only."""
    global_means: NDArray[np.float64] = state()
    """The mean of each arm over all agents, shape (K,), read-only; regret is measured with it."""
    gaps: NDArray[np.float64] = state()
    """How much worse than the best arm each arm is by the global means, shape (K,), read-only."""

    def settle(self, means: NDArray[np.float64], agents: int) -> None:
        """Fix the means.

        The global means are summed exactly: gaps decide the length of phases when the learner knows the smallest one.

        Args:
            means: The mean of each agent and arm, shape (M, K), or of each arm, shape (K,), the same for all.
            agents: The number M of agents.

        Raises:
            ValueError: No arm, no agent, or a shape that does not fit.
        """
        given = np.array(means, dtype=np.float64)
        if agents < 1 or given.ndim not in (1, 2) or given.shape[-1] < 1:
            raise ValueError(f"no bandit of {agents} agents and means of shape {given.shape}")
        if given.ndim == 2 and given.shape[0] != agents:
            raise ValueError(f"means of {given.shape[0]} agents were given, but there are {agents}")
        self.agents = agents
        self.global_means = given if given.ndim == 1 else column_means(given)
        self.agent_means = np.broadcast_to(given, (agents, given.shape[-1]))
        self.gaps = self.global_means.max() - self.global_means
        for array in (given, self.global_means, self.gaps):
            array.setflags(write=False)

    @property
    def smallest_gap(self) -> float | None:
        """The smallest gap above zero, or None where no arm is worse than another."""
        worse = self.gaps[self.gaps > 0]
        return float(worse.min()) if worse.size else None

    def means_at(self, slot: int) -> NDArray[np.float64]:
        """Return `agent_means`, whatever the slot."""
        return self.agent_means

    def regrets(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the gap of each arm, shape (n,)."""
        return self.gaps[arms]

    @abstractmethod
    def pull_blocks(
        self, rng: np.random.Generator, agents: NDArray[np.int64], arms: NDArray[np.int64], pulls: int
    ) -> NDArray[np.int64]:
        """Let each of the *agents* pull each of the *arms* *pulls* times.

        Args:
            rng: The stream of these rewards.
            agents: The agents that pull, shape (m,).
            arms: The arms they pull, shape (a,).
            pulls: Pulls of each arm by each agent, from 0 to 2^63 - 1.

        Returns:
            The sums of the rewards, shape (m, a).
        """


def column_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column, summed exactly, shape (K,)."""
    from math import fsum

    return np.array([fsum(column) / len(means) for column in means.T.tolist()])
