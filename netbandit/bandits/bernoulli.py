"""A bandit whose arms pay 0 or 1."""

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.bandits.bandit import BanditSettings, FiniteBandit, GeneratorOf
from netbandit.settings import Problem

MOST_ARMS = 10**6

Mean = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
_MEANS: TypeAdapter[list[float]] = TypeAdapter(Annotated[list[Mean], Field(min_length=1)])


def _means(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # A union reports a mistake once for each alternative; the user made it once, and in one element.
    if isinstance(value, list):
        return _MEANS.validate_python(value)
    if value == "uniform":
        return handler(value)
    raise PydanticCustomError("means", 'must be "uniform" or a list of numbers from 0 to 1')


class BernoulliSettings(BanditSettings):
    """The keys of the ``bernoulli`` bandit.

    Attributes:
        arms: The number K of arms; may be left out where *means* is a list.
        means: ``"uniform"``: drawn from U[0, 1]; or the mean of each arm.
        heterogeneity: Half-width h of the interval in which an agent's means vary around the common ones.
        averaged: Whether each agent has the average of all agents' means: the homogeneous partner of the
            heterogeneous instance that the same seed and replication have without it.
    """

    kind: str = "bernoulli"
    arms: int | None = Field(default=None, ge=1, le=MOST_ARMS)
    means: Annotated[Literal["uniform"] | list[Mean], WrapValidator(_means)] = "uniform"
    heterogeneity: float = Field(default=0.0, ge=0, le=1)
    averaged: bool = False

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield *averaged* where the agents do not differ."""
        if self.averaged and self.heterogeneity == 0:
            yield "averaged", "has no effect: with heterogeneity = 0 all agents have the same means"

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a missing number of arms, or one that is not that of the means."""
        arms, means = table.get("arms"), table.get("means", "uniform")
        if arms is None and means == "uniform":
            yield ("arms",), 'is missing: with means = "uniform" the number of arms must be given'
        if type(arms) is int and arms >= 1 and isinstance(means, list) and means and len(means) != arms:
            yield ("arms",), f"is {arms}, but means lists {len(means)}: they must be the same, or leave arms out"

    def facts(self) -> dict[str, Any]:
        """Return ``arms``, and ``has_gap``: False where it is certain that no arm is worse than another."""
        if self.means == "uniform":
            return {"arms": self.arms, "has_gap": self.arms != 1}
        can_differ = len(set(self.means)) > 1 or (self.heterogeneity > 0 and len(self.means) > 1)
        return {"arms": len(self.means), "has_gap": can_differ}


class Bernoulli(FiniteBandit):
    """Arms that pay 1 with the probability of their mean, else 0.

    The means of agent i are ``clip(mean + U(-h, h), 0, 1)``, drawn independently for each agent and arm; the
    global mean of an arm is the average of these realised means (papers/li-2022-dpmab, Section VI). The average
    is summed exactly: gaps decide the length of phases when the learner knows the smallest one.

    Args:
        means: The mean of each agent and arm, shape (M, K), or of each arm, shape (K,), the same for all.
        agents: The number M of agents.

    Raises:
        ValueError: Means outside [0, 1], no arm, no agent, or a shape that does not fit.
    """

    Settings: ClassVar[type[BanditSettings]] = BernoulliSettings

    def __init__(self, means: NDArray[np.float64], agents: int) -> None:
        given = np.array(means, dtype=np.float64)
        if agents < 1 or given.ndim not in (1, 2) or given.shape[-1] < 1:
            raise ValueError(f"no bandit of {agents} agents and means of shape {given.shape}")
        if given.ndim == 2 and given.shape[0] != agents:
            raise ValueError(f"means of {given.shape[0]} agents were given, but there are {agents}")
        if not (np.all(given >= 0) and np.all(given <= 1)):
            raise ValueError("a mean must be a number from 0 to 1")
        self.agents = agents
        self.arms = int(given.shape[-1])
        if given.ndim == 1:
            self.global_means = given
        else:
            self.global_means = np.array([fsum(column) / agents for column in given.T.tolist()])
        self.means = np.broadcast_to(given, (agents, self.arms))
        self.gaps = self.global_means.max() - self.global_means
        for array in (given, self.global_means, self.gaps):
            array.setflags(write=False)

    @classmethod
    def build(cls, settings: BernoulliSettings, agents: int, generator: GeneratorOf) -> Self:
        """Draw the common means, and around them those of each agent.

        Streams: ``bandit.means`` and ``bandit.heterogeneity``, row i of the latter for agent i. The common means
        do not depend on the heterogeneity.
        """
        if settings.means == "uniform":
            if settings.arms is None:
                raise ValueError("the number of arms must be given")
            common = generator("bandit.means", 0).random(settings.arms)
        else:
            common = np.array(settings.means, dtype=np.float64)
        if settings.heterogeneity == 0:
            return cls(common, agents)
        spread = settings.heterogeneity
        shifts = generator("bandit.heterogeneity", 0).uniform(-spread, spread, size=(agents, common.size))
        differing = cls(np.clip(common + shifts, 0.0, 1.0), agents)
        return cls(differing.global_means, agents) if settings.averaged else differing

    def pull_blocks(
        self, rng: np.random.Generator, agents: NDArray[np.int64], arms: NDArray[np.int64], pulls: int
    ) -> NDArray[np.int64]:
        """Draw the number of ones in *pulls* pulls of each agent and arm: a binomial draw each.

        See :meth:`FiniteBandit.pull_blocks` for shapes. Raises ValueError for a number of pulls that is negative
        or does not fit 63 bits.
        """
        if not 0 <= pulls < 2**63:
            raise ValueError(f"cannot draw a block of {pulls} pulls")
        drawn: NDArray[np.int64] = rng.binomial(pulls, self.means[np.ix_(agents, arms)])
        return drawn

    def pull(self, rng: np.random.Generator, agent: int, arm: int) -> int:
        """Draw one reward, 0 or 1, of the *arm* for the *agent*."""
        return int(rng.random() < self.means[agent, arm])
