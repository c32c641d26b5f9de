"""P-FCB: agents procure optimistically, share noisy statistics rarely, and accept only plausible ones.

Source: Solanki et al. 2022, Algorithms 1 and 2. Notation: n agents, m producers, T slots; of producer i an agent has
W units in all (own and accepted), Y of them good, and w and y own ones that it has not shared yet.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.compilation.steps import Compiled
from netbandit.learners.pfcb_schedule import exploration_rounds, round_epsilon, sharing_slots
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.parts.settings import PositiveOrInfinite
from netbandit.privacy.accountant import PrivacySpent, account_statistics
from netbandit.privacy.gaussian import gaussian, noise_multiplier

Numbers = NDArray[np.float64]


def _explore(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("explore", 'must be a number of slots, at least 1, or "theory"') from None


class Pfcb(StepLearner):
    """Buys at the least cost above a threshold of quality, from estimates that agents share in private (P-FCB).

    The state of all agents; row j of every array is agent j.

    Slots are numbered from 0, as in the listings; the first decision explores, so no W is zero from then on.

    State: ``units`` and ``good``, W and Y, shape (n, m); ``fresh_units`` and ``fresh_good``, w and y, same shape;
    ``slots``, those in which all agents share; ``explored``, for each agent the decisions in which it explores at
    first, shape (n,); ``decided`` and ``since``, how often it has decided in its present life, and the slot in which
    this began (0, unless it lost its memory later), shape (n,);
    ``sharers``, for each agent the number of agents it shares with, itself included, shape (n,); ``factors``, what t is
    multiplied with in its logarithm, shape (n,): n if all agents share all observations (Algorithm 1).
    """

    plays: ClassVar[Literal["arms", "vectors", "market"]] = "market"
    counts_slots: ClassVar[bool] = True
    late_rewards: ClassVar[bool] = False
    impossible: ClassVar[Mapping[str, str]] = {
        "robust": "messages are weighed one at a time, and not combined: band and weight are the defence"
    }

    epsilon: PositiveOrInfinite = 1.0
    """Privacy budget of all rounds together; ``inf``: no noise."""
    delta: float = Field(default=0.01, gt=0, lt=1)
    """The privacy parameter delta, of one release."""
    begin: int = Field(default=200, ge=0, alias="start")
    """The first slot in which agents may share."""
    stop: int = Field(default=40_000, ge=0)
    """The last slot in which agents may share."""
    band: float = Field(default=10.0, ge=0)
    """Half-width of the band in which an agent accepts received statistics, in confidence widths (omega_1)."""
    weight: float = Field(default=0.1, ge=0)
    """The weight of a received unit, compared with an own one (omega_2)."""
    explore: Annotated[Annotated[int, Field(ge=1)] | Literal["theory"], WrapValidator(_explore)] = 1
    """Slots in which one unit of each producer is procured, or ``theory`` for the paper's bound."""
    zeta: float | None = Field(default=None, gt=0)
    """With ``theory``: the required precision of qualities."""
    margin: float = Field(default=0.0, ge=0, le=1)
    """Added to the threshold when quantities are chosen (gamma of Algorithm 1 and Theorem 1)."""
    sharing: Literal["private", "exact", "never"] = Field(default="private", alias="share")
    """``private``: with noise, accepted within the band; ``exact``: without noise, all accepted; ``never``: agents
    alone."""
    communicate: Literal["doubling", "every", "literal"] = "doubling"
    """When agents share: ``doubling``: in slots that double; ``every``: in every slot; ``literal``: doubling exactly as
    in the paper's listing."""

    def check(self) -> Checks:
        """Yield an exploration without its precision, a window that ends before it begins, and keys without effect."""
        if self.explore == "theory" and self.zeta is None:
            yield Mistake("zeta", 'is missing: explore = "theory" needs it, a number > 0')
        if self.stop < self.begin:
            key = "stop" if "stop" in self.model_fields_set else "start"
            yield Mistake(key, f"the window ends (stop = {self.stop}) before it begins")
        unused: dict[str, str] = {}
        if self.explore != "theory":
            unused["zeta"] = 'is used only with explore = "theory"'
        if self.epsilon == inf:
            unused["delta"] = "is not used with epsilon = inf"
        if self.communicate == "every":
            unused |= dict.fromkeys(("begin", "stop"), 'is not used with communicate = "every"')
        if self.sharing != "private":
            text = f'is not used with share = "{self.sharing}"'
            unused |= dict.fromkeys(("epsilon", "delta", "band", "weight"), text)
        if self.sharing == "never":
            unused |= dict.fromkeys(("begin", "stop", "communicate"), 'is not used with share = "never"')
        for key, text in unused.items():
            if key in self.model_fields_set and getattr(self, key) is not None:
                yield Note("start" if key == "begin" else key, text)

    def check_with(self, others: Others) -> Checks:
        """Yield a margin with which no quality suffices."""
        if getattr(others.protocol, "when", "slot") == "pull":
            yield Mistake("when", 'must be "slot": agents that procure share all at once', table="protocol")
        threshold = getattr(others.bandit, "quality_threshold", None)
        if threshold is not None and threshold + self.margin > 1:
            yield Mistake("margin", f"must be at most {1 - threshold:g}: no quality is above 1")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state; noise comes from ``noise``, index: the round."""
        assert world.costs is not None
        assert world.capacities is not None
        assert world.members is not None
        from netbandit.learners.greedy import choose

        self._procure, self._weigh = choose, Compiled(weigh, {}, "weigh")
        self.world = world
        self.costs, self.capacities = world.costs, world.capacities
        self.aim = world.quality_threshold + self.margin
        self._optimistic, self._believed = np.empty((2, self.costs.shape[1]))  # room
        self._order = np.empty(self.costs.shape[1], dtype=np.int64)
        never = self.sharing == "never"
        self.sharers: NDArray[np.int64] = np.ones_like(world.members) if never else world.members
        self.units = np.zeros(self.costs.shape)
        self.good = np.zeros(self.costs.shape)
        self.fresh_units = np.zeros(self.costs.shape)
        self.fresh_good = np.zeros(self.costs.shape)
        pooled = self.sharing == "exact" and self.communicate == "every"
        self.factors = self.sharers if pooled else np.ones_like(self.sharers)
        self.slots = self._sharing_slots(world.horizon)
        self.explored: NDArray[np.int64] = np.array([self._exploration(count) for count in self.sharers.tolist()])
        self.decided: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self.since: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        private = self.sharing == "private"
        self._band, self._weight = (self.band, self.weight) if private else (inf, 1.0)
        self._rounds = 0
        self.accepted = 0
        self.heard = 0

    def _sharing_slots(self, horizon: int) -> Sequence[int]:
        return () if self.sharing == "never" else sharing_slots(self.communicate, self.begin, self.stop, horizon)

    def _exploration(self, sharers: int) -> int:
        if self.explore == "theory":
            assert self.zeta is not None  # said by check
            return exploration_rounds(sharers, self.world.horizon, self.zeta)
        return self.explore

    def explored_slots(self) -> NDArray[np.int64]:
        """Return the slots each agent explores, shape (n,)."""
        return self.explored

    def choose_one(self, slot: int, agent: int, units: NDArray[np.float64]) -> None:
        """Write the quantities that *agent* procures, whole numbers, into *units* (Algorithm 2)."""
        if self.decided[agent] < self.explored[agent]:
            for producer in range(units.shape[0]):
                units[producer] = 1.0
            return
        spread = sqrt(1.5 * log(self.factors[agent] * max(slot - self.since[agent], 1)))
        trust(
            self.units[agent],
            self.good[agent],
            spread,
            self.world.rho,
            self.costs[agent],
            self._optimistic,
            self._believed,
        )
        self._procure(self._optimistic, self._believed, self.capacities[agent], self.aim, self._order, units)

    def learn_one(self, slot: int, agent: int, units: NDArray[Any], good: NDArray[Any]) -> None:
        """Count the units that were procured, and those of them that were good."""
        self.decided[agent] += 1
        for producer in range(units.shape[0]):
            self.units[agent, producer] += units[producer]
            self.good[agent, producer] += good[producer]
            self.fresh_units[agent, producer] += units[producer]
            self.fresh_good[agent, producer] += good[producer]

    def next_share(self, slot: int) -> int | None:
        """Return the next slot of the schedule."""
        place = bisect_left(self.slots, slot)
        return self.slots[place] if place < len(self.slots) else None

    def share(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the release of every agent in the next round z, shape (n, 2 m): w~ and y~; then w = y = 0.

        Equations 10 and 11: noise of standard deviation ``k sqrt(2 ln(1.25 / delta)) / epsilon_z`` on both.
        """
        self._rounds += 1
        told = np.stack([self.fresh_units, self.fresh_good], axis=1)
        multiplier = self._multiplier(self._rounds, len(self.slots))
        if multiplier:
            scale = np.repeat(multiplier * self.capacities[:, None, :], 2, axis=1)
            told += gaussian(self.world.streams.generator("noise", self._rounds), scale)
        self.fresh_units[agents] = 0.0
        self.fresh_good[agents] = 0.0
        return told.reshape(len(told), -1)[agents]

    def _multiplier(self, number: int, rounds: int) -> float:
        if self.sharing != "private" or self.epsilon == inf:
            return 0.0
        return noise_multiplier(round_epsilon(self.epsilon, self.world.horizon, rounds, number), self.delta)

    def receive(
        self,
        slot: int,
        agents: NDArray[np.int64],
        sources: NDArray[np.int64],
        payloads: NDArray[np.float64],
        sent_slots: NDArray[np.int64],
    ) -> None:
        """Accept or reject received statistics, one message after another, by the estimates of the slot before."""
        latest = np.maximum(slot - 1 - self.since, 1).tolist()
        counts = self.sharers.tolist()
        spreads = np.array([sqrt(1.5 * log(count * slots)) for count, slots in zip(counts, latest, strict=True)])
        statistics = payloads.reshape(len(payloads), 2, -1)
        self.accepted += self._weigh(self.units, self.good, agents, statistics, spreads, self._band, self._weight)
        self.heard += statistics.shape[0] * statistics.shape[2]

    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent in so many rounds, per producer: no quantity is released in two of them."""
        private = self.sharing == "private" and self.epsilon < inf
        spent = [
            round_epsilon(self.epsilon, self.world.horizon, len(self.slots), number) if private else inf
            for number in range(1, releases + 1)
        ]
        claimed = 0.0 if self.sharing == "never" else self.epsilon if private else inf
        return account_statistics(spent, self.delta, claimed=claimed)

    def forget(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Explore again."""
        for known in (self.units, self.good, self.fresh_units, self.fresh_good):
            known[agents] = 0.0
        self.decided[agents] = 0
        self.since[agents] = slot

    def figures(self) -> dict[str, float | int | None]:
        """Return the share of received statistics that was accepted."""
        return {"accepted": self.accepted / self.heard if self.heard else None}

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return "statistics"

    @property
    def bounded_releases(self) -> bool:
        """See `AnyLearner.bounded_releases`: they are where no noise is added."""
        return self.sharing != "private" or self.epsilon == inf

    def remarks(self) -> tuple[str, ...]:
        """Warn if agents never exploit."""
        longest, horizon = int(self.explored.max()), self.world.horizon
        if longest < horizon:
            return ()
        return (f"agents that explore for {longest:,} slots never exploit: the horizon is {horizon:,}",)


def trust(
    units: Numbers, good: Numbers, spread: float, rho: float, costs: Numbers, qualities: Numbers, revenues: Numbers
) -> None:
    """Write the optimistic qualities, and the revenue of a unit of each producer at these.

    ``q+ = min(1, Y/W + sqrt(3 ln t / (2 W)))`` (Solanki et al. 2022, Algorithm 2 line 23), ``r = rho q+ - c``.

    Args:
        units: W, own and accepted, shape (m,).
        good: Y, shape (m,).
        spread: ``sqrt(1.5 ln t)``, or with ln(n t) where all observations of all agents are pooled.
        rho: The value of a good unit.
        costs: c, shape (m,).
        qualities: Where q+ is written, shape (m,).
        revenues: Where r is written, shape (m,).
    """
    for producer in range(units.shape[0]):
        quality = good[producer] / units[producer] + spread / sqrt(units[producer])
        qualities[producer] = min(1.0, quality)
        revenues[producer] = rho * qualities[producer] - costs[producer]


def weigh(
    units: Numbers, good: Numbers, agents: NDArray[np.int64], heard: Numbers, spreads: Numbers, band: float,
    weight: float,
) -> int:  # fmt: skip
    """Add the statistics that are accepted, one message after another; return how many were.

    Procedure 1 of Solanki et al.: accepted if the received quality lies within *band* confidence widths of the own one.

    Args:
        units: W of all agents, own and accepted, shape (M, m); updated.
        good: Y, shape (M, m); updated.
        agents: The receiver of each message, in order of arrival, shape (messages,).
        heard: w~ and y~ of each message, shape (messages, 2, m).
        spreads: ``sqrt(1.5 ln(n t))`` of all agents, shape (M,).
        band: Half-width of the band, in confidence widths; ``inf`` accepts all, also w~ = 0.
        weight: The weight of a received unit, compared with an own one.
    """
    accepted = 0
    for message in range(heard.shape[0]):
        agent = agents[message]
        for producer in range(units.shape[1]):
            heard_units, heard_good = heard[message, 0, producer], heard[message, 1, producer]
            if band < inf:
                if not heard_units > 0.0 or not units[agent, producer] > 0.0:
                    continue  # there is nothing to compare
                distance = abs(heard_good / heard_units - good[agent, producer] / units[agent, producer])
                if distance > band * spreads[agent] / sqrt(units[agent, producer]):
                    continue
            units[agent, producer] += weight * heard_units
            good[agent, producer] += weight * heard_good
            accepted += 1
    return accepted
