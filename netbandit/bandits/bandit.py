"""What every bandit is: a world that pays for actions, drawn from its settings."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.settings import Problem, Settings

GeneratorOf = Callable[[str, int], np.random.Generator]
"""Gives the generator for a purpose (``"bandit.means"``) and an index; asked twice, it starts afresh."""

Watch = Callable[[str, int, int], None]
"""Told what is read, how much of it has been, and how much there is."""


class BanditSettings(Settings):
    """The keys that every bandit has.

    Attributes:
        kind: Which bandit.
        seed: Fixes the instance across replications; absent, each replication draws its own.
    """

    kind: str
    seed: int | None = Field(default=None, ge=0)

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between keys of a raw *table*, paths relative to it.

        The table is the raw one, so that these mistakes are shown together with those of single keys; what is
        wrong with a key alone is reported by the model and must be passed over here.
        """
        yield from ()

    def problems_among(self, agents: int) -> Iterator[Problem]:
        """Yield the mistakes between these keys and the number of *agents*, paths relative to the bandit's table."""
        yield from ()

    def files(self) -> dict[str, str]:
        """Return the files whose content decides the numbers, by the key that names each; none by default.

        A relative path starts at the scenario that it is written in; the bandit is built with absolute ones.
        """
        return {}

    def facts(self) -> dict[str, Any]:
        """Return what is known of the bandit before anything is drawn, for the learner's cross-checks."""
        return {}


class Bandit(ABC):
    """One instance of a bandit, fixed for a replication."""

    Settings: ClassVar[type[BanditSettings]]

    @classmethod
    @abstractmethod
    def build(cls, settings: Any, agents: int, generator: GeneratorOf) -> Self:
        """Draw the instance.

        Args:
            settings: The validated keys, an instance of ``cls.Settings``.
            agents: The number M of agents.
            generator: Streams of the instance; purposes start with ``bandit.``. Where ``settings.seed`` is
                given, the caller makes these streams from it.
        """

    @classmethod
    def examine(cls, settings: Any, agents: int, horizon: int, watch: Watch) -> Iterator[Problem]:
        """Yield the mistakes that only a look into the settings' files shows, paths from the top of the scenario.

        Args:
            settings: The validated keys, with absolute paths.
            agents: The number M of agents.
            horizon: The slots each agent plays.
            watch: Told of what takes time.
        """
        yield from ()


class FiniteBandit(Bandit):
    """A bandit with finitely many arms that can pay for a block of pulls at once.

    Attributes:
        arms: The number K of arms.
        agents: The number M of agents.
        means: The mean reward of each agent and arm, shape (M, K), read-only.
        global_means: The mean of each arm over all agents, shape (K,), read-only; regret is measured with it.
        gaps: How much worse than the best arm each arm is by the global means, shape (K,), read-only.
    """

    arms: int
    agents: int
    means: NDArray[np.float64]
    global_means: NDArray[np.float64]
    gaps: NDArray[np.float64]

    @property
    def smallest_gap(self) -> float | None:
        """The smallest gap above zero, or None where no arm is worse than another."""
        worse = self.gaps[self.gaps > 0]
        return float(worse.min()) if worse.size else None

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
