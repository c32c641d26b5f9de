"""P-FCB: agents that procure optimistically, share noisy statistics rarely, and believe only what fits.

Source: Solanki et al. 2022, Algorithms 1 and 2. Notation: n agents, m producers, T slots; of producer i an agent has
W units in all (own and accepted), Y of them good, and w and y own ones that it has not told anybody yet.
"""

from collections.abc import Iterator, Mapping
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.learners.learner import Learner, LearnerSettings, Rhythm, Talk
from netbandit.learners.pfcb_schedule import exploration_rounds, round_epsilon, sharing_slots
from netbandit.privacy.accountant import PrivacySpent, account_statistics
from netbandit.privacy.gaussian import gaussian, noise_multiplier
from netbandit.settings import PositiveOrInfinite, Problem


def _explore(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("explore", 'must be a number of slots, at least 1, or "theory"') from None


class PfcbSettings(LearnerSettings):
    """The keys of the ``pfcb`` learner.

    Attributes:
        epsilon: Privacy budget of all rounds together; ``inf``: no noise.
        delta: The other privacy parameter, of one release.
        start: The first slot in which agents may share.
        stop: The last one.
        band: Half-width of what an agent believes, in confidence widths (omega_1).
        weight: What a unit that is heard of counts, compared with an own one (omega_2).
        explore: Slots in which one unit of each producer is procured, or ``theory`` for the paper's bound.
        zeta: With ``theory``: the precision of qualities that is asked for.
        margin: Added to the threshold when quantities are chosen.
        share: ``private``: noisy, within the band; ``exact``: all, as it is; ``never``: agents alone.
        communicate: When agents share: rounds that double, every slot, or doubling as the listing is printed.
    """

    kind: str = "pfcb"
    epsilon: PositiveOrInfinite = 1.0
    delta: float = Field(default=0.01, gt=0, lt=1)
    start: int = Field(default=200, ge=0)
    stop: int = Field(default=40_000, ge=0)
    band: float = Field(default=10.0, ge=0)
    weight: float = Field(default=0.1, ge=0)
    explore: Annotated[Annotated[int, Field(ge=1)] | Literal["theory"], WrapValidator(_explore)] = 1
    zeta: float | None = Field(default=None, gt=0)
    margin: float = Field(default=0.0, ge=0, le=1)
    share: Literal["private", "exact", "never"] = "private"
    communicate: Literal["doubling", "every", "literal"] = "doubling"

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield an exploration without its precision, and a window that ends before it begins."""
        if table.get("explore") == "theory" and table.get("zeta") is None:
            yield ("zeta",), 'is missing: explore = "theory" needs it, a number > 0'
        start, stop = table.get("start", 200), table.get("stop", 40_000)
        if type(start) is int and type(stop) is int and 0 <= stop < start:
            yield ("stop" if "stop" in table else "start",), f"the window ends (stop = {stop}) before it begins"

    def problems_with(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a margin with which nothing could be procured."""
        threshold = facts.get("quality_threshold")
        if threshold is not None and threshold + self.margin > 1:
            yield ("margin",), f"must be at most {1 - threshold:g}: no quality is above 1"

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield the keys that the chosen mode does not use."""
        unused: dict[str, str] = {}
        if self.explore != "theory":
            unused["zeta"] = 'is used only with explore = "theory"'
        if self.epsilon == inf:
            unused["delta"] = "is not used with epsilon = inf"
        if self.communicate == "every":
            unused |= dict.fromkeys(("start", "stop"), 'is not used with communicate = "every"')
        if self.share != "private":
            text = f'is not used with share = "{self.share}"'
            unused |= dict.fromkeys(("epsilon", "delta", "band", "weight"), text)
        if self.share == "never":
            unused |= dict.fromkeys(("start", "stop", "communicate"), 'is not used with share = "never"')
        for key, text in unused.items():
            if key in self.model_fields_set and getattr(self, key) is not None:
                yield key, text


class Pfcb(Learner):
    """The state of all agents; row j of every array is agent j.

    Slots are numbered from 0, as in the listings; row 0 explores, so no W is zero from then on.

    Args:
        settings: The keys.
        costs: c, shape (n, m).
        capacities: k, shape (n, m).
        horizon: T, in slots.
        sharers: For each agent the number of agents it shares with, itself included, shape (n,).

    Attributes:
        units, good: W and Y, shape (n, m).
        fresh_units, fresh_good: w and y, shape (n, m).
        explore: For each agent the slots it explores, shape (n,).
        slots: The slots in which all agents share.
        pooled: Whether everything everybody observes is everybody's (Algorithm 1): then ln(n t) stands for ln t.
        accepted, heard: Statistics of single producers that were taken in, and all that were heard.
    """

    Settings: ClassVar[type[LearnerSettings]] = PfcbSettings
    rhythm: ClassVar[Rhythm] = "slots"
    talks: ClassVar[frozenset[Talk]] = frozenset({"broadcast"})

    def __init__(
        self,
        settings: PfcbSettings,
        *,
        costs: NDArray[np.float64],
        capacities: NDArray[np.int64],
        horizon: int,
        sharers: NDArray[np.int64],
    ) -> None:
        from netbandit.learners.pfcb_steps import weigh

        self._weigh = weigh
        self._settings = settings
        self._horizon = horizon
        self._capacities = capacities
        self.sharers = np.ones_like(sharers) if settings.share == "never" else sharers
        self.units = np.zeros(costs.shape)
        self.good = np.zeros(costs.shape)
        self.fresh_units = np.zeros(costs.shape)
        self.fresh_good = np.zeros(costs.shape)
        self.pooled = settings.share == "exact" and settings.communicate == "every"
        self.slots = (
            ()
            if settings.share == "never"
            else sharing_slots(settings.communicate, settings.start, settings.stop, horizon)
        )
        self.explore: NDArray[np.int64] = np.array([self._exploration(count) for count in self.sharers.tolist()])
        self._band = settings.band if settings.share == "private" else inf
        self._weight = settings.weight if settings.share == "private" else 1.0
        self._spreads = [0.0] * len(self.sharers)
        self._spreads_at = -1
        self.accepted = 0
        self.heard = 0

    def _exploration(self, sharers: int) -> int:
        settings = self._settings
        if settings.explore == "theory":
            assert settings.zeta is not None  # checked by PfcbSettings.problems
            return exploration_rounds(sharers, self._horizon, settings.zeta)
        return settings.explore

    def share(self, number: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return what every agent tells in round z = *number*, shape (n, 2, m): w~ and y~; then w = y = 0.

        Equations 10 and 11: noise of standard deviation ``k sqrt(2 ln(1.25 / delta)) / epsilon_z`` on both.
        """
        told = np.stack([self.fresh_units, self.fresh_good], axis=1)
        multiplier = self._multiplier(number, len(self.slots))
        if multiplier:
            scale = np.repeat(multiplier * self._capacities[:, None, :], 2, axis=1)
            told += gaussian(rng, scale)
        self.fresh_units[:] = 0.0
        self.fresh_good[:] = 0.0
        return told

    def _multiplier(self, number: int, rounds: int) -> float:
        settings = self._settings
        if settings.share != "private" or settings.epsilon == inf:
            return 0.0
        return noise_multiplier(round_epsilon(settings.epsilon, self._horizon, rounds, number), settings.delta)

    def weigh(self, agent: int, heard: NDArray[np.float64], slot: int) -> None:
        """Let *agent*, whose latest decision was that of *slot*, weigh what it hears, one message after the other.

        Args:
            agent: The agent.
            heard: w~ and y~ of each message in order of arrival, shape (messages, 2, m).
            slot: The slot.
        """
        if slot != self._spreads_at:
            self._spreads_at = slot
            self._spreads = [sqrt(1.5 * log(count * max(slot, 1))) for count in self.sharers.tolist()]
        spread = self._spreads[agent]
        self.accepted += self._weigh(self.units[agent], self.good[agent], heard, spread, self._band, self._weight)
        self.heard += heard.shape[0] * heard.shape[2]

    def account(self, rounds: int) -> PrivacySpent:
        """Return the privacy spent in *rounds* rounds, per producer."""
        settings = self._settings
        private = settings.share == "private" and settings.epsilon < inf
        epsilons = [
            round_epsilon(settings.epsilon, self._horizon, len(self.slots), number) if private else inf
            for number in range(1, rounds + 1)
        ]
        claimed = 0.0 if settings.share == "never" else settings.epsilon if private else inf
        return account_statistics(epsilons, settings.delta, claimed=claimed)
